#include <algorithm>

#include "base/formatted.h"
#include "cli/frame/question_command.h"
#include "cli/options/view_options.h"
#include "model/head_text.h"
#include "question/json/export.h"
#include "question/json/line_answers.h"
#include "question/tokenizers.h"
#include "write/arrays.h"

namespace headlight {
namespace {

struct ExportArguments {
  std::string file, format, special = "show", dtype = "float32", reduce;
  std::vector<std::string> with, only;
  bool lines = false;
  int jobs = 1;
};

Result<ExportOptions> parse_arrays(const std::vector<std::string>& names, const std::string& special) {
  ExportOptions arrays;
  for (const SpecialTokens known : {SpecialTokens::show, SpecialTokens::hide, SpecialTokens::renormalize})
    if (name(known) == special) arrays.special = known;
  if (name(arrays.special) != special) return bad_input("--special", "", "show, hide or renormalize", special);
  for (const auto& name : names) {
    if (name == "qkv") arrays.queries_keys_values = true;
    else if (name == "scores") arrays.scores = true;
    else arrays.matrices.push_back(name);
  }
  TRY(check_matrix_names(arrays.matrices));
  return arrays;
}

/// A file of at least so many bytes is announced before it is written.
constexpr std::size_t kAnnounced = std::size_t{64} << 20;

std::string size_line(const ExportArguments& options, const ExportOptions& wanted, std::size_t bytes) {
  const double count = static_cast<double>(bytes);
  const std::string size = count < 1e9 ? formatted("%.0f MB", count / 1e6) : formatted("%.1f GB", count / 1e9);
  std::string line = (options.file.empty() ? "standard output" : options.file) + ": " + size;
  std::string less = wanted.type == TensorType::float32 ? "--dtype float16 writes half of it" : "";
  if (wanted.only.empty()) less += (less.empty() ? "" : ", ") + std::string("--only L.H,… some of the heads");
  return line + (less.empty() ? "" : " (" + less + ")");
}

/// A checked export: what to write, and where.
struct Export {
  ExportOptions arrays = {};
  Format format = Format::json;
  std::optional<std::filesystem::path> file = {};  // nothing: standard output
};

Result<Export> export_of(const ExportArguments& options) {
  auto arrays = TRY(parse_arrays(options.with, options.special));
  for (const std::string& text : options.only) {
    const auto head = parse_head(text);
    if (!head) return bad_input("--only", "", "LAYER.HEAD or STACK:LAYER.HEAD", text);
    if (std::ranges::find(arrays.only, *head) == arrays.only.end()) arrays.only.push_back(*head);
  }
  if (options.dtype == "float16") arrays.type = TensorType::float16;
  else if (options.dtype != "float32") return bad_input("--dtype", "", "float32 or float16", options.dtype);
  if (!options.reduce.empty()) arrays.reduce = TRY(parse_reduction(options.reduce));
  if (arrays.reduce && arrays.reduce->sentences && options.lines)
    return bad_input("--reduce", "sentences", "the lines as one batch, without --lines", "--lines");
  Export wanted{.arrays = std::move(arrays)};
  if (!options.file.empty() && options.file != "-") wanted.file = options.file;
  wanted.format = TRY(!options.format.empty() ? parse_format(options.format)
                      : wanted.file           ? format_for(*wanted.file)
                                              : Result<Format>(Format::json));
  if (options.lines && wanted.format != Format::json)
    return bad_input("--lines", "", "the format json, an object a line", name(wanted.format));
  if (wanted.arrays.type == TensorType::float16 && wanted.format != Format::npz && wanted.format != Format::safetensors)
    return bad_input("--dtype", "float16", "npz or safetensors", name(wanted.format));
  return wanted;
}

/// Each line of the text by itself, as it is read.
Result<int> run_lines(const RequestOptions& request, const Export& wanted, int jobs) {
  const auto lexicon = TRY(read_lexicon());
  auto start = TRY(request.start_of_lines());
  const auto ids = request.id_lines();
  if (ids) start.session.document.source.text = *ids;
  const LinesAsked asked{wanted.arrays, jobs, request.reads_standard_input(), request.sentence_chooses_model(),
                         ids.has_value()};
  const ProgressReport progress(wanted.file || !prints_on_terminal() ? "export" : "");
  const auto report = TRY(export_lines(start.session.document, lexicon, asked, wanted.file));
  print_warnings(start.warnings);
  print_warnings(report.warnings);
  if (report.refused > 0)
    return bad_input("--lines", "", "sentences that can be answered",
                     std::to_string(report.refused) + " of " + std::to_string(report.lines) +
                         " lines that cannot; the first is " + report.first);
  return 0;
}

Result<Answer> answer(const Question& question, const ExportArguments& options, const Export& wanted) {
  const auto announce = [&](std::size_t bytes) {
    if (bytes >= kAnnounced) print_message(size_line(options, wanted.arrays, bytes));
  };
  TRY(export_document(question.asked.document(), question.asked.requests, wanted.format, wanted.arrays, wanted.file,
                      unwatched(), nullptr, &question.warnings, question.threads, announce));
  return Answer(Done{});
}

ParsedCommand add_export(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto options = std::make_shared<ExportArguments>();
  parser.option("-o,--output", options->file, "The file to write, whole or not at all; default: standard output");
  parser.option("--format", options->format, "json, npz, safetensors or csv; default: by the ending of -o, else json");
  parser
      .option(
          "--with", options->with,
          "Further arrays: qkv (queries, keys, values), scores (before the softmax), norms, rollout, gradient (of the "
          "softmax, row by row), qk and ov (the circuits of the heads' weights, whatever the sentence), a part of the "
          "model (embedding, attention, head, ffn, block, end, output), or a "
          "matrix of it (ffn.hidden)")
      .list();  // what follows is the SOURCE
  parser.option("--special", options->special,
                "Special tokens such as <s>: show (default); hide: left out of the arrays; renormalize: left out, "
                "and the rows scaled back to 1",
                "HOW");
  parser.option("--only", options->only, "The attention of these heads alone, [STACK:]L.H,…", "HEADS").list();
  add_reduce(parser, options->reduce);
  parser.option("--dtype", options->dtype, "Of npz and safetensors: float32 (default), or float16, half as large",
                "TYPE");
  parser.option("--lines", options->lines,
                "Each line of the text is a sentence of its own, not padded: one JSON object a line, in order and at "
                "once; an error object in place of a line that cannot be answered");
  parser
      .option("--jobs", options->jobs, "With --lines: sentences computed at once, 1 by default; 0: all processors", "N")
      .within(0, 1024)
      .needs("--lines");
  return [options, command]() -> Result<int> {
    const auto wanted = TRY(export_of(*options));
    if (options->lines) return run_lines(command.request(), wanted, options->jobs);
    return command.answers(SentencesAsked::all,
                           [&](const Question& question) { return answer(question, *options, wanted); })();
  };
}

}  // namespace

const NamedCommand kExport{"export", "The numbers: attention of every layer and head", R"(
headlight export --text 我请李雷帮我订了去北京的机票 --mask causal -o attention.json
headlight export --text 'the dog chased the cat' --reduce mean:heads -o mean.npz
headlight export weights.safetensors --format npz --with qkv,scores -o attention.npz
headlight export CHECKPOINT --text 'the cat sat' --special hide -o attention.json
headlight export CHECKPOINT --ids 5,9,50,33 -o attention.npz)",
                           add_export};

}  // namespace headlight
