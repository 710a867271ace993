#include <algorithm>
#include <string>

#include "base/formatted.h"
#include "cli/frame/commands.h"
#include "cli/frame/tool_commands.h"
#include "cli/frame/values.h"
#include "cli/options/number_options.h"
#include "diagnose/check/checkpoint_check.h"
#include "diagnose/typed_numbers.h"
#include "models/model_sources.h"
#include "question/tokenizers.h"
#include "read/gguf/gguf_model.h"
#include "session/loop/lesson_check.h"

namespace headlight {
namespace {

struct CheckArguments {
  explicit CheckArguments(Parser& of) : command(of) { add_number_options(of, numbers); }
  Parser command;
  std::map<std::string, std::string> numbers;  // files by option
  std::string folder, picture, format = "text";
  bool as_stored = false;
  std::vector<std::string> adapters;
};

std::string as_text(const std::vector<Finding>& findings) {
  constexpr std::size_t kColumn = 9;  // the longest severity and two spaces
  std::string text;
  for (const Finding& finding : findings) {
    std::string severity(name(finding.severity));
    severity.resize(kColumn, ' ');
    text += severity + printable_message(finding.line) + "\n";
  }
  return text;
}

Value as_json(const std::string& model, const std::vector<Finding>& findings) {
  const auto finding_json = [](const Finding& one) {
    return json_object({{"severity", name(one.severity)}, {"line", one.line}});
  };
  const bool alone = std::ranges::find(findings, ErrorCode::no_reference, &Finding::code) != findings.end();
  return json_object({{"model", model},
                      {"worst", name(gravest(findings))},
                      {"agrees_with_reference", alone ? Value() : Value(agrees_with_reference(findings))},
                      {"findings", json_list(findings, finding_json)}});
}

Result<int> print_findings(const CheckArguments& options, const std::string& name,
                           const std::vector<Finding>& findings) {
  const int status = gravest(findings) > Severity::note ? 1 : 0;
  return options.format == "json" ? print_json(as_json(name, findings), status) : print(as_text(findings), status);
}

Result<int> run_lesson(const CheckArguments& options) {
  auto shipped = TRY(read_shipped_models());
  const auto lexicon = TRY(read_lexicon());
  auto lesson = TRY(read_lesson(options.folder, shipped.get()));
  const std::string name = lesson.name;
  return print_findings(options, name, check_lesson(std::move(lesson), lexicon, std::move(shipped)));
}

/// A file that another tool can check.
Result<std::optional<int>> run_of_tool(const CheckArguments& options) {
  for (const Tool* tool : tools()) {
    if (!tool->commands || !tool->commands->check_file) continue;
    const auto findings = TRY(tool->commands->check_file(options.folder));
    if (findings) return std::optional(TRY(print_findings(options, options.folder, *findings)));
  }
  return std::optional<int>();
}

/// Typed numbers: each line that cannot be right is a warning.
Result<int> run_numbers(const CheckArguments& options) {
  const std::string option = given_numbers(options.command);
  if (!option.empty() && !options.folder.empty()) return bad_input(option, "", "no FOLDER beside it", options.folder);
  const auto numbers =
      TRY(option.empty() ? read_own_numbers(options.folder) : read_number_options(options.command, options.numbers));
  TRY(model_of_numbers("numbers", numbers));
  std::vector<Finding> findings;
  for (const Mistake& mistake : check_numbers(numbers))
    findings.push_back({Severity::warning, mistake.text.en, ErrorCode::numbers_mistaken});
  if (findings.empty()) findings.push_back({Severity::good, "numbers: nothing that cannot be right"});
  return print_findings(options, "numbers", findings);
}

/// What a model of pictures is asked about: the given picture, else the one that comes along.
Result<std::optional<AskedPicture>> picture_for(const CheckArguments& options,
                                                const std::shared_ptr<const Model>& model) {
  Document document;
  document.model = model;
  if (!reads_picture(document) && !options.picture.empty())
    return bad_input("--picture", "", "a model that reads pictures", model->name, ErrorCode::needs_text);
  if (!reads_picture(document)) return std::optional<AskedPicture>();
  const auto picture = options.picture.empty() ? example_picture() : TRY(read_picture_input(options.picture));
  TRY(set_picture(document, picture));
  if (!document.seen) return std::optional<AskedPicture>();
  return std::optional(AskedPicture{picture_tokens(document.seen), options.picture.empty()});
}

Result<int> run_check(const CheckArguments& options) {
  if (!given_numbers(options.command).empty() || names_own_numbers(options.folder)) return run_numbers(options);
  if (options.folder.empty()) return bad_input("check", "", "a FOLDER, or numbers (--weights FILE)", "neither");
  if (const auto checked = TRY(run_of_tool(options))) return *checked;
  std::vector<Error> remarks;
  const auto folder = TRY(path_of_source(options.folder, &remarks));
  print_warnings(remarks);
  if (folder.extension() == ".json") return run_lesson(options);
  Progress progress;
  const SourceParts parts{folder, ClassRules::applied, options.adapters};
  const auto places = TRY(checkpoint_places(parts, folder));
  const auto checkpoint =
      TRY(read_any_checkpoint(places.weights, progress, kMostWidenedBytes, Reading::whole, places.choice));
  const auto picture = TRY(picture_for(options, checkpoint.model));
  const auto findings =
      check_checkpoint(places.tokenizer, checkpoint.model, checkpoint.warnings, progress,
                       options.as_stored ? ClassRules::left_out : ClassRules::applied, picture ? &*picture : nullptr);
  return print_findings(options, names_kept_model(options.folder) ? options.folder : checkpoint.model->name, findings);
}

ParsedCommand add_check(Parser& parser, const Frontend&) {
  auto options = std::make_shared<CheckArguments>(parser);
  parser.option("FOLDER", options->folder,
                "A checkpoint folder or the name of a model, a lesson's .json file, a page (.html), or numbers "
                "(.numbers.json)");
  parser.option("--picture", options->picture, "What a model of pictures is asked about; default: one that comes along",
                "FILE");
  parser.option("--as-stored", options->as_stored,
                "Ids of tokenizer.json alone, without what the files beside it and its class change");
  parser
      .option("--adapter", options->adapters,
              "An adapter's folder, merged; or none: without the one beside the weights", "FOLDER")
      .repeated();
  parser.option("--format", options->format, "text (default) or json").one_of({"text", "json"});
  return [options] { return run_check(*options); };
}

}  // namespace

extern const NamedCommand kCheck{"check", "Whether a checkpoint was loaded right, or what a lesson says is true", R"(
headlight check CHECKPOINT --format json
Compares with the answers of a reference in CHECKPOINT/reference.npz: `ids` (for an encoder-decoder
`decoder_ids` too, perhaps `token_type_ids`; of a model of pictures `pixel_values`, unless --picture
says which), and any of attentions, hidden_states, last_hidden_state and logits. Without it only
what can be seen from the files: tensors that are missing, surplus or untouched, attention that is
suspiciously uniform, tying, words without a vector. A line a finding: good, note, warning or error,
and what was found. As JSON one object: `model`, `worst` (one of those), `agrees_with_reference`, null
without one, and `findings`, a list of {severity, line}.
Of a lesson's file: whether every step can be shown, and whether its `claims` hold.
Of numbers of one's own (--scores FILE --weights FILE, or .numbers.json): what cannot be right, as a row
that does not sum to 1.
Of a page (.html): whether its question, asked again, gives the weights that the page computes.
Exit status: 0 nothing worse than a note, 1 a warning or a difference, 2 nothing that can be read.)",
                                 add_check};

}  // namespace headlight
