#include "diagnose/file_comparison.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "cli/commands.h"
#include "cli/options/format_option.h"
#include "diagnose/capture.h"
#include "diagnose/diagnosis.h"
#include "read/array/safetensors.h"
#include "write/json.h"
#include "write/number.h"

namespace headlight {
namespace {

struct DiagnoseArguments {
  std::string a, b, format = "text";
  float tolerance = kCompareTolerance;
  Index num_heads = 0;
};

/// `0.25`, `-inf`, `nan`.
std::string number(float value) {
  std::string text;
  if (!append_number(text, value)) text = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  return text;
}

/// Two digits tell how well something fits.
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

std::string diagnosis_lines(const Examination& answer) {
  if (!answer.diagnosis) return "diagnosis: none of the usual mistakes explains it\n";
  const Diagnosis& diagnosis = *answer.diagnosis;
  const Mistake& mistake = diagnosis.mistake;
  const std::string kind = parse_array_name(mistake.array).kind;
  std::string where = printable(mistake.array);
  const bool layered = axes_of(kind).size() == 4;
  if (layered) where += " of layer " + std::to_string(diagnosis.layer);
  if (kind == "scores") where = "the weights that " + where + " come to";
  std::string lines = "diagnosis: " + diagnosis.line() + "\n           explains " + where + " to within " +
                      two_digits(*mistake.after) + ", of a difference of " + two_digits(*mistake.before) + "\n";
  if (answer.hidden_by > 0)
    lines += "           the inputs are so small that the difference is below the tolerance, " +
             two_digits(answer.hidden_by) + "\n";
  if (!diagnosis.otherwise.empty()) lines += "           or, if B is right: " + diagnosis.otherwise + "\n";
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

template <class Values, class ToText>
std::string json_list(const Values& values, ToText to_text) {
  return "[" + joined_texts(values, ",", to_text) + "]";
}

std::string json_shape(const std::vector<Index>& shape) {
  return json_list(shape, [](Index size) { return std::to_string(size); });
}

/// JSON has no infinities: null where a number is not finite.
std::string json_number(float value) {
  std::string text;
  return append_number(text, value) ? text : "null";
}

std::string json_number(std::optional<double> value) {
  return value ? json_number(static_cast<float>(*value)) : "null";
}

/// `call`: of a capture.
std::string json_mistake(const Mistake& mistake, std::optional<Index> call = {}) {
  std::string text = "{\"code\":" + json_string(mistake.code.name) + ",\"text\":" + json_string(mistake.text) +
                     ",\"array\":" + (mistake.array.empty() ? "null" : json_string(mistake.array)) +
                     ",\"before\":" + json_number(mistake.before) + ",\"after\":" + json_number(mistake.after);
  if (!mistake.role.empty()) text += ",\"role\":" + json_string(mistake.role);
  if (call) text += ",\"call\":" + std::to_string(*call);
  return text + "}";
}

std::string json_cell(const ComparedCell& cell) {
  return "{\"at\":" + json_shape(cell.at) + ",\"expected\":" + json_number(cell.expected) +
         ",\"found\":" + json_number(cell.found) + "}";
}

std::string json_array(const ComparedArray& array) {
  std::string text = "{\"name\":" + json_string(array.name) + ",\"equal\":" + (array.equal() ? "true" : "false") +
                     ",\"max_abs\":" + (array.largest ? json_number(array.largest->difference()) : "null") +
                     ",\"at\":" + (array.largest ? json_shape(array.largest->at) : "null") +
                     ",\"tolerance\":" + json_number(array.tolerance);
  if (array.largest) text += ",\"largest\":" + json_cell(*array.largest);
  if (array.first) text += ",\"first\":" + json_cell(*array.first);
  if (!array.same_shape())
    text += ",\"shapes\":[" + json_shape(array.expected_shape) + "," + json_shape(array.found_shape) + "]";
  return text + "}";
}

std::string as_json(const Examination& answer) {
  const FileComparison& comparison = answer.comparison;
  std::string text = std::string("{\"equal\":") + (comparison.equal() ? "true" : "false") +
                     ",\"arrays\":" + json_list(comparison.arrays, json_array);
  text += ",\"first\":" + (comparison.first ? json_string(comparison.arrays[*comparison.first].name) : "null");
  text += ",\"only_a\":" + json_list(comparison.only_a, json_string);
  text += ",\"only_b\":" + json_list(comparison.only_b, json_string);
  text += ",\"diagnosis\":" + (answer.diagnosis ? json_string(answer.diagnosis->line()) : "null");
  if (answer.diagnosis) {
    const Diagnosis& diagnosis = *answer.diagnosis;
    text += ",\"explains\":{\"array\":" + json_string(diagnosis.mistake.array) +
            ",\"layer\":" + std::to_string(diagnosis.layer) +
            ",\"difference\":" + json_number(diagnosis.mistake.before) +
            ",\"left\":" + json_number(diagnosis.mistake.after) + "}";
    if (!diagnosis.otherwise.empty()) text += ",\"otherwise\":" + json_string(diagnosis.otherwise);
  }
  std::vector<std::string> unchecked;
  for (const auto* only : {&comparison.only_a, &comparison.only_b})
    for (const std::string& array : *only) unchecked.push_back(array + ": in one file only");
  text += ",\"mistakes\":" + json_list(answer.mistakes(), [](const Mistake& one) { return json_mistake(one); });
  return text + ",\"unchecked\":" + json_list(unchecked, json_string) + "}\n";
}

/// Of arrays that differ and that a file stores in half precision: rounding alone may be more than the tolerance.
std::vector<std::string> half_precision_lines(const Examination& answer) {
  std::vector<std::string> lines;
  for (const ComparedArray& array : answer.comparison.arrays)
    for (const ExportFile* file : {&answer.a, &answer.b}) {
      const auto stored = file->arrays.find(array.name);
      if (array.equal() || stored == file->arrays.end()) continue;
      const Dtype dtype = stored->second.dtype;
      if (dtype != Dtype::f16 && dtype != Dtype::bf16) continue;
      lines.push_back(file->name + ": " + array.name + ": numbers of " + std::string(name(dtype)) +
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
    return print(std::string("{\"equal\":") + (status == 0 ? "true" : "false") +
                     ",\"calls\":" + std::to_string(report->calls) + ",\"judged\":" + std::to_string(report->judged) +
                     ",\"mistakes\":" +
                     json_list(report->mistakes, [](const auto& one) { return json_mistake(one.mistake, one.call); }) +
                     ",\"unchecked\":" + json_list(report->unchecked, json_string) + "}\n",
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
  Examination answer = examine(std::move(*read), std::move(*other), options.tolerance);
  if (options.b.empty()) answer.comparison.only_b.clear();  // the inputs
  if (answer.comparison.arrays.empty())
    return bad_input(options.b, "arrays", "one of those in " + options.a, "none of them");

  for (const ExportFile* file : {&answer.a, &answer.b}) print_warnings(file->warnings);
  if (options.tolerance <= kCompareTolerance) print_warnings(half_precision_lines(answer));
  return print(options.format == "json" ? as_json(answer) : as_text(answer), answer.comparison.equal() ? 0 : 1);
}

}  // namespace

ParsedCommand add_diagnose(Parser& program) {
  Parser command =
      program.command("diagnose", "Whether an attention is computed right, and if not, which mistake it is");
  command.footer(
      "headlight diagnose mine.npz        your inputs and weights are computed here and compared with your own answer\n"
      "headlight diagnose attention.json mine.safetensors\n"
      "Arrays in both files are compared: attentions cell by cell, all others relative to max(1, largest |expected|\n"
      "of the row). Masked scores (-inf, -1e9, the smallest float …) are equal whatever number stands there.\n"
      "Arrays in one file only are listed and are no difference. A is taken to be right.\n"
      "Exit status: 0 equal, 1 different, 2 wrong use or bad input.");
  auto options = std::make_shared<DiagnoseArguments>();
  command.option("A", options->a, "What is right: an export (.json, .npz, .safetensors) or a tensors file").required();
  command.option("B", options->b,
                 "What is to be checked. Without it: A holds inputs and its author's own "
                 "`attentions` or `output`, which Headlight's are compared with");
  command.option("--tolerance", options->tolerance,
                 "The largest difference that counts as equal, 2e-5 by default; for arrays other than attentions "
                 "relative to max(1, largest |expected| of the row)",
                 "X");
  command.option("--num-heads", options->num_heads, "Heads of a tensors file that does not say it", "N")
      .within(1, 4096);
  add_format(command, options->format);
  return [options] { return run_diagnose(*options); };
}

}  // namespace headlight
