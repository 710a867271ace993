#include "views/inside/worksheet.h"

#include <filesystem>

#include "base/file.h"
#include "cli/frame/question_command.h"
#include "cli/options/view_options.h"
#include "paper/figure_file.h"

namespace headlight {
namespace {

struct WorksheetArguments {
  std::vector<std::string> blank{"weights", "output"};
  std::string file, key;
  std::optional<Language> language;
};

Status check(const WorksheetArguments& options) {
  for (const std::filesystem::path file : {options.file, options.key})
    if (!file.empty() && file.extension() != ".pdf")
      return bad_input(file.string(), "ending", ".pdf", file.has_extension() ? file.extension().string() : "none");
  const auto blank = parse_blanks("--blank", options.blank);
  return blank ? Status(Done{}) : blank.error();
}

Result<Answer> answer(const Question& question, const WorksheetArguments& options) {
  WorksheetOptions sheet{.head = question.head,
                         .blank = *parse_blanks("--blank", options.blank),
                         .language = options.language.value_or(default_settings().language)};
  const auto fonts = TRY(PaperFonts::open());
  for (const bool key : {false, true}) {
    const std::string& file = key ? options.key : options.file;
    if (file.empty()) continue;
    sheet.key = key;
    const auto pages = TRY(draw_worksheet(*question.trace, sheet, fonts->measure()));
    const auto bytes = TRY(pdf_of_pages(pages, *fonts));
    TRY(write_file(file, bytes));
  }
  return Answer(Done{});
}

ParsedCommand add_worksheet(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto options = std::make_shared<WorksheetArguments>();
  command.take_head();
  parser.option("-o,--output", options->file, "FILE.pdf, whole or not at all").required();
  parser.option("--key", options->key, "The same with the blanks filled in, FILE.pdf", "FILE");
  parser
      .option("--blank", options->blank,
              "What is left empty, of q, k, v, scaled, scores, weights, z, concat, output; default: weights,output",
              "NAMES")
      .list();
  add_choice<Language>(parser, "--language", options->language, kLanguageNames, "en or zh; default: the system's");
  return command.answers(
      SentencesAsked::one, [options](const Question& question) { return answer(question, *options); },
      [options] { return check(*options); });
}

}  // namespace

const NamedCommand kWorksheet{"worksheet", "A small attention on paper, with blanks to fill in by hand", R"(
headlight worksheet --random --d-model 4 --num-heads 1 --text 我爱你 -o sheet.pdf --key key.pdf
headlight worksheet --x x.txt --w-q q.txt --w-k k.txt --blank scores,weights -o sheet.pdf
The matrices of one head in the order of the computation, at most 16 rows and columns each, on pages of A4.)",
                              add_worksheet};

}  // namespace headlight
