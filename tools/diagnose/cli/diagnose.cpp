#include "diagnose/file_comparison.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "cli/frame/commands.h"
#include "cli/frame/values.h"
#include "cli/options/view_options.h"
#include "diagnose/capture/capture.h"
#include "diagnose/diagnosis.h"
#include "read/array/safetensors.h"

namespace headlight {
namespace {

struct DiagnoseArguments {
  std::string a, b, format = "text", right = "a";
  float tolerance = kCompareTolerance;
  Index num_heads = 0;
  Language language = Language::en;
};

/// `0.25`, `-inf`, `nan`.
std::string number(float value) { return spelled(value).text(); }

/// How well something fits.
std::string two_digits(double value) { return formatted("%.2g", value); }

/// What is printed of a report, in both languages.
struct Lines {
  Bilingual all = {};

  void add(const Bilingual& line) { all.en += line.en + "\n", all.zh += line.zh + "\n"; }
  /// Below the first line of the diagnosis.
  void add_below(const Bilingual& line) { add({std::string(11, ' ') + line.en, std::string(6, ' ') + line.zh}); }
};

Bilingual first_line(const Examination& answer) {
  const ComparedArray& array = answer.comparison.arrays[*answer.comparison.first];
  const std::string name = printable(array.name);
  if (!array.same_shape())
    return words(phrases::first_shapes, name, shape_text(array.expected_shape), shape_text(array.found_shape));
  return words(phrases::first_difference, name, cell_text(array.name, array.first->at, answer.a, answer.b),
               number(array.first->expected), number(array.first->found));
}

/// The first verdict with its proof, and the others that explain as much.
void add_verdict(Lines& lines, const Diagnosis& diagnosis) {
  const Verdict& verdict = diagnosis.first();
  for (const ArrayProof& one : verdict.proof) {
    if (!(one.before > 0)) continue;
    const bool layered = axes_of(parse_array_name(one.array).kind).size() == 4;
    const Bilingual name = layered
                               ? words(phrases::array_of_layer, printable(one.array), std::to_string(diagnosis.layer))
                               : Bilingual(printable(one.array));
    if (one.after) lines.add_below(words(phrases::explains, name, two_digits(*one.after), two_digits(one.before)));
    else lines.add_below(words(phrases::explains_partly, name));
  }
  if (verdict.decoys > 0) lines.add_below(words(phrases::decoys, std::to_string(verdict.decoys)));
  if (verdict.layers.size() > 1) lines.add_below(words(phrases::layers_have_it, std::to_string(verdict.layers.size())));
  for (std::size_t i = 1; i < diagnosis.verdicts.size(); ++i)
    lines.add_below(words(phrases::as_well, diagnosis.verdicts[i].text()));
}

void add_diagnosis(Lines& lines, const Examination& answer) {
  const Diagnosis &found = answer.diagnosis, &otherwise = answer.otherwise;
  const bool unjudged = !found.named() && !found.unchecked.empty();
  const Bilingual none = unjudged ? found.unchecked.front() : words(phrases::no_diagnosis);
  lines.add(words(phrases::diagnosis, found.named() ? found.line() : none));
  if (found.named()) add_verdict(lines, found);
  if (answer.hidden_by > 0) lines.add_below(words(phrases::so_small, two_digits(answer.hidden_by)));
  if (otherwise.named()) {
    lines.add_below(words(phrases::or_of_a, otherwise.line()));
    add_verdict(lines, otherwise);
  }
  if (found.stopped) lines.add_below(words(phrases::search_ended));
  for (std::size_t i = unjudged ? 1 : 0; i < found.unchecked.size(); ++i) lines.add_below(found.unchecked[i]);
}

void add_arrays(Lines& lines, const Examination& answer) {
  std::size_t width = 0;
  for (const auto& array : answer.comparison.arrays) width = std::max(width, printable(array.name).size());
  for (const auto& array : answer.comparison.arrays) {
    std::string name = printable(array.name);
    name.resize(width, ' ');
    std::vector<Bilingual> line{words(array.equal() ? phrases::is_equal : phrases::differs, name)};
    if (!array.same_shape()) {
      line.push_back(words(phrases::shapes, shape_text(array.expected_shape), shape_text(array.found_shape)));
    } else if (array.largest) {
      line.push_back(words(phrases::largest, number(array.largest->difference())));
      if (array.largest->difference() > 0)
        line.push_back(words(phrases::at_cell, cell_text(array.name, array.largest->at, answer.a, answer.b),
                             number(array.largest->expected), number(array.largest->found)));
    }
    if (array.norm_apart) line.push_back(words(phrases::before_norm));
    lines.add(joined(line, ""));
  }
}

Bilingual as_text(const Examination& answer) {
  const FileComparison& comparison = answer.comparison;
  Lines lines;
  lines.add("A: " + printable(answer.a.name));
  lines.add("B: " + printable(answer.b.name));
  if (comparison.equal()) {
    lines.add(words(phrases::equal_line));
  } else {
    lines.add(first_line(answer));
    add_diagnosis(lines, answer);
  }
  lines.add("");
  add_arrays(lines, answer);
  for (const auto& [side, file, names] :
       {std::tuple("A", &answer.a, &comparison.only_a), std::tuple("B", &answer.b, &comparison.only_b)})
    if (!names->empty())
      lines.add(words(phrases::only_in, side, printable(file->name), joined_texts(*names, ", ", printable)));
  return lines.all;
}

/// Bilingual in one language, as JSON has it.
struct Json {
  Language language = Language::en;

  const std::string& said(const Bilingual& text) const { return language == Language::zh ? text.zh : text.en; }
  Value list(const std::vector<Bilingual>& lines) const {
    return json_list(lines, [&](const Bilingual& line) { return Value(said(line)); });
  }

  /// `call`: of a capture.
  Value mistake(const Mistake& mistake, std::optional<Index> call = {}) const {
    Members members{{"code", mistake.code.name},
                    {"text", said(mistake.text)},
                    {"array", mistake.array.empty() ? Value() : Value(mistake.array)},
                    {"before", mistake.before},
                    {"after", mistake.after}};
    if (!mistake.role.empty()) members.emplace_back("role", mistake.role);
    if (call) members.emplace_back("call", *call);
    return json_object(members);
  }
};

Value json_proof(const Verdict& verdict) {
  return json_list(verdict.proof, [](const ArrayProof& one) {
    return json_object({{"array", one.array}, {"before", one.before}, {"after", one.after}});
  });
}

/// Mistakes of one verdict are made together; those of another one are an alternative.
Value json_verdict(const Verdict& verdict, const Json& json) {
  return json_object({{"text", json.said(verdict.text())},
                      {"codes", json_list(verdict.mistakes, [](const Mistake& one) { return Value(one.code.name); })},
                      {"heads", json_list(verdict.heads)},
                      {"layers", json_list(verdict.layers)},
                      {"decoys", verdict.decoys},
                      {"arrays", json_proof(verdict)}});
}

Value json_cell(const ComparedCell& cell) {
  return json_object({{"at", json_list(cell.at)}, {"expected", cell.expected}, {"found", cell.found}});
}

Value json_array(const ComparedArray& array) {
  Members members{{"name", array.name},
                  {"equal", array.equal()},
                  {"max_abs", array.largest ? Value(array.largest->difference()) : Value()},
                  {"at", array.largest ? json_list(array.largest->at) : Value()},
                  {"tolerance", array.tolerance}};
  if (array.largest) members.emplace_back("largest", json_cell(*array.largest));
  if (array.first) members.emplace_back("first", json_cell(*array.first));
  if (!array.same_shape())
    members.emplace_back("shapes",
                         json_list(std::vector{json_list(array.expected_shape), json_list(array.found_shape)}));
  return json_object(members);
}

Value as_json(const Examination& answer, const Json& json) {
  const FileComparison& comparison = answer.comparison;
  Members members{{"equal", comparison.equal()},
                  {"arrays", json_list(comparison.arrays, json_array)},
                  {"first", comparison.first ? Value(comparison.arrays[*comparison.first].name) : Value()},
                  {"only_a", json_list(comparison.only_a)},
                  {"only_b", json_list(comparison.only_b)},
                  {"diagnosis", answer.diagnosis.named() ? Value(json.said(answer.diagnosis.line())) : Value()}};
  const Diagnosis& diagnosis = answer.diagnosis;
  if (diagnosis.named()) {
    const Mistake& mistake = diagnosis.first().mistakes.front();
    members.emplace_back("explains", json_object({{"array", mistake.array},
                                                  {"layer", diagnosis.layer},
                                                  {"difference", mistake.before},
                                                  {"left", mistake.after}}));
  }
  const auto verdict_of = [&](const Verdict& verdict) { return json_verdict(verdict, json); };
  members.emplace_back("verdicts", json_list(diagnosis.verdicts, verdict_of));
  if (diagnosis.rounding) members.emplace_back("rounding", verdict_of(*diagnosis.rounding));
  if (answer.otherwise.named()) members.emplace_back("otherwise", json.said(answer.otherwise.line()));
  std::vector<Bilingual> unchecked = diagnosis.unchecked;
  if (diagnosis.stopped) unchecked.push_back(words(phrases::pairs_left));
  for (const auto* only : {&comparison.only_a, &comparison.only_b})
    for (const std::string& array : *only) unchecked.push_back(words(phrases::in_one_file, array));
  members.emplace_back("mistakes", json_list(answer.mistakes(), [&](const Mistake& one) { return json.mistake(one); }));
  members.emplace_back("unchecked", json.list(unchecked));
  return json_object(members);
}

/// Of arrays that differ and that a file stores in half precision: rounding alone may be more than the tolerance.
std::vector<Error> half_precision_lines(const Examination& answer) {
  std::vector<Error> lines;
  for (const ComparedArray& array : answer.comparison.arrays)
    for (const ExportFile* file : {&answer.a, &answer.b}) {
      const auto stored = file->arrays.find(array.name);
      if (array.equal() || stored == file->arrays.end()) continue;
      const Dtype dtype = stored->second.dtype;
      if (dtype != Dtype::f16 && dtype != Dtype::bf16) continue;
      lines.emplace_back(ErrorCode::bad_value, file->name,
                         array.name + ": numbers of " + std::string(name(dtype)) +
                             " are rounded to more than the tolerance; --tolerance " +
                             (dtype == Dtype::f16 ? kFloat16Tolerance : kBfloat16Tolerance) + " allows for it");
    }
  return lines;
}

/// The calls of a program that was watched.
Result<int> run_on_capture(const DiagnoseArguments& options) {
  auto file = TRY(read_safetensors(options.a));
  const auto capture = TRY(capture_from(options.a, std::move(file)));
  const auto report = TRY(judge(capture));
  const Json json{options.language};
  const int status = report.mistakes.empty() ? 0 : 1;
  if (options.format == "json")
    return print_json(
        json_object({{"equal", status == 0},
                     {"calls", report.calls},
                     {"judged", report.judged},
                     {"mistakes",
                      json_list(report.mistakes, [&](const auto& one) { return json.mistake(one.mistake, one.call); })},
                     {"unchecked", json.list(report.unchecked)},
                     {"notes", json.list(report.notes)},
                     {"summary", json.list(report.summary())},
                     {"some_calls", json.list({words(phrases::some_call, "{}", "{}", "{}"),
                                               words(phrases::some_calls, "{}", "{}", "{}")})}}),
        status);
  Lines lines;
  const auto printed = [](const Bilingual& line) {
    return Bilingual(printable_message(line.en), printable_message(line.zh));
  };
  for (const CapturedMistake& one : report.mistakes)
    lines.add(printed(words(phrases::call_number, std::to_string(one.call), one.mistake.text)));
  for (const auto* list : {&report.unchecked, &report.notes})
    for (const Bilingual& line : *list) lines.add(printed(line));
  lines.add(words(phrases::calls_judged, std::to_string(report.judged), std::to_string(report.calls)));
  return print(json.said(lines.all), status);
}

Result<int> run_diagnose(const DiagnoseArguments& options) {
  if (!(options.tolerance >= 0) || !std::isfinite(options.tolerance))
    return bad_input("--tolerance", "", "a number, 0 or more", number(options.tolerance));
  if (options.b.empty() && is_capture(options.a)) return run_on_capture(options);
  const auto heads = options.num_heads > 0 ? std::optional(options.num_heads) : std::optional<Index>();
  auto read = TRY(read_export(options.a, heads));
  auto other = TRY(options.b.empty() ? answers_to(read) : read_export(options.b, heads));
  if (options.b.empty()) std::swap(read, other);  // Headlight's answers are right
  const auto right = options.right == "b" ? RightSide::b : options.right == "either" ? RightSide::either : RightSide::a;
  if (right != RightSide::a && options.b.empty())
    return bad_input("--right", "", "two files, or a without a second one", options.right);
  Examination answer = examine(std::move(read), std::move(other), options.tolerance, right);
  if (options.b.empty()) answer.comparison.only_b.clear();  // the inputs
  if (answer.comparison.arrays.empty())
    return bad_input(options.b, "arrays", "one of those in " + options.a, "none of them");

  for (const ExportFile* file : {&answer.a, &answer.b}) print_warnings(file->warnings);
  if (options.tolerance <= kCompareTolerance) print_warnings(half_precision_lines(answer));
  const int status = answer.comparison.equal() ? 0 : 1;
  const Json json{options.language};
  return options.format == "json" ? print_json(as_json(answer, json), status)
                                  : print(json.said(as_text(answer)), status);
}

ParsedCommand add_diagnose(Parser& parser, const Frontend&) {
  auto options = std::make_shared<DiagnoseArguments>();
  parser.option("A", options->a, "What is right: an export (.json, .npz, .safetensors, .pt) or a tensors file")
      .required();
  parser.option("B", options->b,
                "What is to be checked. Without it: A holds inputs and its author's own "
                "`attentions` or `output`, which Headlight's are compared with");
  parser.option("--tolerance", options->tolerance,
                "The largest difference that counts as equal, 2e-5 by default; for arrays other than attentions "
                "relative to max(1, largest |expected| of the row)",
                "X");
  parser
      .option("--right", options->right,
              "Which file is taken to be right: a (default), b, or either: what is wrong with B, and with A")
      .one_of({"a", "b", "either"});
  parser.option("--num-heads", options->num_heads, "Heads of a tensors file that does not state them", "N")
      .within(1, 4096);
  parser.option("--format", options->format, "text (default) or json").one_of({"text", "json"});
  add_choice<Language>(parser, "--language", options->language, kLanguageNames, "en (default) or zh: of the report");
  return [options] { return run_diagnose(*options); };
}

}  // namespace

extern const NamedCommand kDiagnose{"diagnose",
                                    "Whether an attention is computed right, and if not, which mistake it is", R"(
headlight diagnose mine.npz        your inputs and weights are computed here and compared with your own answer
headlight diagnose attention.json mine.safetensors
Arrays in both files are compared: attentions cell by cell, all others relative to max(1, largest |expected|
of the row). Masked scores (-inf, -1e9, the smallest float …) are equal whatever number stands there.
Arrays in one file only are listed and are no difference. A is taken to be right, and is accused only with
--right b or --right either. A mistake is named only if all arrays agree once it is made on the right side too.
Exit status: 0 equal, 1 different, 2 wrong use or bad input.)",
                                    add_diagnose};

}  // namespace headlight
