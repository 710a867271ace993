#include "diagnose/file_comparison.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "cli/commands.h"
#include "cli/values.h"
#include "diagnose/capture.h"
#include "diagnose/diagnosis.h"
#include "read/array/safetensors.h"

namespace headlight {
namespace {

struct DiagnoseArguments {
  std::string a, b, format = "text", right = "a";
  float tolerance = kCompareTolerance;
  Index num_heads = 0;
};

/// `0.25`, `-inf`, `nan`.
std::string number(float value) { return spelled(value).text(); }

/// How well something fits.
std::string two_digits(double value) { return formatted("%.2g", value); }

std::string first_line(const Examination& answer) {
  const ComparedArray& array = answer.comparison.arrays[*answer.comparison.first];
  std::string line = "first difference: " + printable(array.name);
  if (!array.same_shape())
    return line + ": shape: expected " + shape_text(array.expected_shape) + ", found " + shape_text(array.found_shape) +
           "\n";
  return line + ", " + cell_text(array.name, array.first->at, answer.a, answer.b) + ": expected " +
         number(array.first->expected) + ", found " + number(array.first->found) + "\n";
}

constexpr const char* kIndent = "           ";

/// The first verdict with its proof, and the others that explain as much.
std::string verdict_lines(const Diagnosis& diagnosis) {
  std::string lines = diagnosis.line() + "\n";
  const Verdict& verdict = diagnosis.first();
  for (const ArrayProof& one : verdict.proof) {
    if (!(one.before > 0)) continue;
    const bool layered = axes_of(parse_array_name(one.array).kind).size() == 4;
    lines += kIndent + std::string("explains ") + printable(one.array) +
             (layered ? " of layer " + std::to_string(diagnosis.layer) : "");
    lines += one.after
                 ? " to within " + two_digits(*one.after) + ", of a difference of " + two_digits(one.before) + "\n"
                 : ", as far as it follows: it is not computed\n";
  }
  if (verdict.layers.size() > 1) lines += kIndent + std::to_string(verdict.layers.size()) + " layers have it\n";
  for (std::size_t i = 1; i < diagnosis.verdicts.size(); ++i)
    lines += kIndent + std::string("as well explained by: ") + diagnosis.verdicts[i].text() + "\n";
  return lines;
}

std::string diagnosis_lines(const Examination& answer) {
  const Diagnosis &diagnosis = answer.diagnosis, &otherwise = answer.otherwise;
  std::string lines = "diagnosis: ";
  if (diagnosis.named()) lines += verdict_lines(diagnosis);
  else lines += "none of the usual mistakes explains it\n";
  if (answer.hidden_by > 0)
    lines += kIndent + std::string("the inputs are so small that the difference is below the tolerance, ") +
             two_digits(answer.hidden_by) + "\n";
  if (otherwise.named()) lines += kIndent + std::string("or, if B is right: ") + verdict_lines(otherwise);
  if (diagnosis.stopped)
    lines += kIndent + std::string("the search ended after ") + two_digits(kSearchSeconds) +
             " seconds: not all pairs of mistakes were tried\n";
  for (const std::string& line : diagnosis.unchecked) lines += kIndent + line + "\n";
  return lines;
}

std::string array_lines(const Examination& answer) {
  std::size_t width = 0;
  for (const auto& array : answer.comparison.arrays) width = std::max(width, printable(array.name).size());
  std::string lines;
  for (const auto& array : answer.comparison.arrays) {
    std::string name = printable(array.name);
    name.resize(width, ' ');
    lines += name + (array.equal() ? "  equal    " : "  differs  ");
    if (!array.same_shape()) {
      lines += "shape " + shape_text(array.expected_shape) + " and " + shape_text(array.found_shape);
    } else if (array.largest) {
      lines += "max |difference| " + number(array.largest->difference());
      if (array.largest->difference() > 0)
        lines += " at " + cell_text(array.name, array.largest->at, answer.a, answer.b) + ": expected " +
                 number(array.largest->expected) + ", found " + number(array.largest->found);
    }
    if (array.norm_apart) lines += "; the last state is before the final norm in one file, compared behind it";
    lines += "\n";
  }
  return lines;
}

std::string only_line(const char* side, const ExportFile& file, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  return std::string("only in ") + side + " (" + printable(file.name) + "): " + joined_texts(names, ", ", printable) +
         "\n";
}

std::string as_text(const Examination& answer) {
  const FileComparison& comparison = answer.comparison;
  std::string text = "A: " + printable(answer.a.name) + "\nB: " + printable(answer.b.name) + "\n";
  if (comparison.equal()) text += "equal\n";
  else text += first_line(answer) + diagnosis_lines(answer);
  return text + "\n" + array_lines(answer) + only_line("A", answer.a, comparison.only_a) +
         only_line("B", answer.b, comparison.only_b);
}

/// `call`: of a capture.
Value json_mistake(const Mistake& mistake, std::optional<Index> call = {}) {
  Members members{{"code", mistake.code.name},
                  {"text", mistake.text},
                  {"array", mistake.array.empty() ? Value() : Value(mistake.array)},
                  {"before", mistake.before},
                  {"after", mistake.after}};
  if (!mistake.role.empty()) members.emplace_back("role", mistake.role);
  if (call) members.emplace_back("call", *call);
  return json_object(members);
}

Value json_proof(const Verdict& verdict) {
  return json_list(verdict.proof, [](const ArrayProof& one) {
    return json_object({{"array", one.array}, {"before", one.before}, {"after", one.after}});
  });
}

/// Mistakes of one verdict are made together; those of another one are an alternative.
Value json_verdict(const Verdict& verdict) {
  return json_object({{"text", verdict.text()},
                      {"codes", json_list(verdict.mistakes, [](const Mistake& one) { return Value(one.code.name); })},
                      {"heads", json_list(verdict.heads)},
                      {"layers", json_list(verdict.layers)},
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

Value as_json(const Examination& answer) {
  const FileComparison& comparison = answer.comparison;
  Members members{{"equal", comparison.equal()},
                  {"arrays", json_list(comparison.arrays, json_array)},
                  {"first", comparison.first ? Value(comparison.arrays[*comparison.first].name) : Value()},
                  {"only_a", json_list(comparison.only_a)},
                  {"only_b", json_list(comparison.only_b)},
                  {"diagnosis", answer.diagnosis.named() ? Value(answer.diagnosis.line()) : Value()}};
  const Diagnosis& diagnosis = answer.diagnosis;
  if (diagnosis.named()) {
    const Mistake& mistake = diagnosis.first().mistakes.front();
    members.emplace_back("explains", json_object({{"array", mistake.array},
                                                  {"layer", diagnosis.layer},
                                                  {"difference", mistake.before},
                                                  {"left", mistake.after}}));
  }
  members.emplace_back("verdicts", json_list(diagnosis.verdicts, json_verdict));
  if (diagnosis.rounding) members.emplace_back("rounding", json_verdict(*diagnosis.rounding));
  if (answer.otherwise.named()) members.emplace_back("otherwise", answer.otherwise.line());
  std::vector<std::string> unchecked = diagnosis.unchecked;
  if (diagnosis.stopped) unchecked.push_back("pairs of mistakes: the search ended at its limit of time");
  for (const auto* only : {&comparison.only_a, &comparison.only_b})
    for (const std::string& array : *only) unchecked.push_back(array + ": in one file only");
  members.emplace_back("mistakes", json_list(answer.mistakes(), [](const Mistake& one) { return json_mistake(one); }));
  members.emplace_back("unchecked", json_list(unchecked));
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
  auto file = read_safetensors(options.a);
  if (!file) return file.error();
  const auto calls = capture_from(options.a, std::move(*file));
  if (!calls) return calls.error();
  const auto report = judge(*calls);
  if (!report) return report.error();
  const int status = report->mistakes.empty() ? 0 : 1;
  if (options.format == "json")
    return print_json(
        json_object({{"equal", status == 0},
                     {"calls", report->calls},
                     {"judged", report->judged},
                     {"mistakes",
                      json_list(report->mistakes, [](const auto& one) { return json_mistake(one.mistake, one.call); })},
                     {"unchecked", json_list(report->unchecked)}}),
        status);
  std::string text;
  for (const CapturedMistake& one : report->mistakes)
    text += "call " + std::to_string(one.call) + ": " + printable(one.mistake.text) + "\n";
  for (const std::string& line : report->unchecked) text += printable(line) + "\n";
  return print(text + std::to_string(report->judged) + " of " + std::to_string(report->calls) + " calls judged\n",
               status);
}

Result<int> run_diagnose(const DiagnoseArguments& options) {
  if (!(options.tolerance >= 0) || !std::isfinite(options.tolerance))
    return bad_input("--tolerance", "", "a number, 0 or more", number(options.tolerance));
  if (options.b.empty() && is_capture(options.a)) return run_on_capture(options);
  const auto heads = options.num_heads > 0 ? std::optional(options.num_heads) : std::optional<Index>();
  auto read = read_export(options.a, heads);
  if (!read) return read.error();
  auto other = options.b.empty() ? answers_to(*read) : read_export(options.b, heads);
  if (!other) return other.error();
  if (options.b.empty()) std::swap(*read, *other);  // Headlight's answers are right
  const auto right = options.right == "b" ? RightSide::b : options.right == "either" ? RightSide::either : RightSide::a;
  if (right != RightSide::a && options.b.empty())
    return bad_input("--right", "", "two files, or a without a second one", options.right);
  Examination answer = examine(std::move(*read), std::move(*other), options.tolerance, right);
  if (options.b.empty()) answer.comparison.only_b.clear();  // the inputs
  if (answer.comparison.arrays.empty())
    return bad_input(options.b, "arrays", "one of those in " + options.a, "none of them");

  for (const ExportFile* file : {&answer.a, &answer.b}) print_warnings(file->warnings);
  if (options.tolerance <= kCompareTolerance) print_warnings(half_precision_lines(answer));
  const int status = answer.comparison.equal() ? 0 : 1;
  return options.format == "json" ? print_json(as_json(answer), status) : print(as_text(answer), status);
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
  return [options] { return run_diagnose(*options); };
}

}  // namespace

const NamedCommand kDiagnose{"diagnose", "Whether an attention is computed right, and if not, which mistake it is", R"(
headlight diagnose mine.npz        your inputs and weights are computed here and compared with your own answer
headlight diagnose attention.json mine.safetensors
Arrays in both files are compared: attentions cell by cell, all others relative to max(1, largest |expected|
of the row). Masked scores (-inf, -1e9, the smallest float …) are equal whatever number stands there.
Arrays in one file only are listed and are no difference. A is taken to be right, and is accused only with
--right b or --right either. A mistake is named only if all arrays agree once it is made on the right side too.
Exit status: 0 equal, 1 different, 2 wrong use or bad input.)",
                             add_diagnose};

}  // namespace headlight
