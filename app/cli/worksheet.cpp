#include "cli/commands.h"

#include <filesystem>

#include "base/file.h"
#include "cli/options/head_option.h"
#include "cli/options/request_options.h"
#include "cli/options/view_options.h"
#include "figure/worksheet.h"
#include "math/forward.h"
#include "paper/figure_file.h"

namespace headlight {
namespace {

struct WorksheetArguments {
  explicit WorksheetArguments(Parser& command) : request(command), head(command) {}
  RequestOptions request;
  HeadOption head;
  std::vector<std::string> blank{"weights", "output"};
  std::string file, key;
  std::optional<Language> language;
};

Status check_pdf(const std::string& file) {
  const std::filesystem::path path = file;
  if (path.extension() == ".pdf") return Done{};
  return bad_input(file, "ending", ".pdf", path.has_extension() ? path.extension().string() : "none");
}

Result<std::shared_ptr<const Trace>> answer_for(const WorksheetArguments& options, const HeadRef& head) {
  const auto asked = options.request.ask();
  if (!asked) return asked.error();
  if (asked->requests.size() != 1)
    return bad_input("worksheet", "sentences", "one", std::to_string(asked->requests.size()));
  const Request& request = asked->requests.front();
  if (const auto valid = check_stack_option(request, head); !valid) return valid.error();
  Progress progress;
  auto trace = forward(request, progress, nullptr, options.request.threads());
  if (!trace) return trace;
  if (const auto valid = check_head_options(**trace, head); !valid) return valid.error();
  print_warnings(asked->start.warnings);
  print_warnings((*trace)->warnings);
  return trace;
}

Result<int> run_worksheet(const WorksheetArguments& options) {
  for (const std::string& file : {options.file, options.key})
    if (!file.empty())
      if (const auto valid = check_pdf(file); !valid) return valid.error();
  const auto parts = options.head.parts();
  if (!parts) return parts.error();
  WorksheetOptions sheet{.head = parts->ref()};
  auto blank = parse_blanks("--blank", options.blank);
  if (!blank) return blank.error();
  sheet.blank = std::move(*blank);
  sheet.language = options.language.value_or(default_settings().language);
  const auto trace = answer_for(options, sheet.head);
  if (!trace) return trace.error();
  const auto fonts = PaperFonts::open();
  if (!fonts) return fonts.error();
  for (const bool key : {false, true}) {
    const std::string& file = key ? options.key : options.file;
    if (file.empty()) continue;
    sheet.key = key;
    const auto pages = draw_worksheet(**trace, sheet, (*fonts)->measure());
    if (!pages) return pages.error();
    const auto bytes = pdf_of_pages(*pages, **fonts);
    if (!bytes) return bytes.error();
    if (const auto written = write_file(file, *bytes); !written) return written.error();
  }
  return 0;
}

}  // namespace

ParsedCommand add_worksheet(Parser& program) {
  Parser command = program.command("worksheet", "A small attention on paper, with blanks to fill in by hand");
  command.footer(
      "headlight worksheet --random --d-model 4 --num-heads 1 --text 我爱你 -o sheet.pdf --key key.pdf\n"
      "headlight worksheet --x x.txt --w-q q.txt --w-k k.txt --blank scores,weights -o sheet.pdf\n"
      "The matrices of one head in the order of the computation, at most 16 rows and columns each, on pages of A4.");
  auto options = std::make_shared<WorksheetArguments>(command);
  command.option("-o,--output", options->file, "FILE.pdf, whole or not at all").required();
  command.option("--key", options->key, "The same with the blanks filled in, FILE.pdf", "FILE");
  command
      .option("--blank", options->blank,
              "What is left empty, of q, k, v, scaled, scores, weights, z, concat, output; default: weights,output",
              "NAMES")
      .list();
  add_choice<Language>(command, "--language", options->language, kLanguageNames, "en or zh; default: the system's");
  return [options] { return run_worksheet(*options); };
}

}  // namespace headlight
