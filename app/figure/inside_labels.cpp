#include "figure/inside_labels.h"

#include <cmath>

#include "base/formatted.h"
#include "base/utf8.h"
#include "figure/labels.h"
#include "words/explain_words.h"
#include "words/inside_words.h"

namespace headlight {

std::string shape_text(const Shape& shape) { return std::to_string(shape.rows) + " × " + std::to_string(shape.cols); }

std::string index_label(const Trace& trace, const MatrixId& id, Axis axis, Index index) {
  const auto at = static_cast<std::size_t>(index);
  if (const Tokens* tokens = tokens_along(trace, id, axis); tokens && at < tokens->size())
    return axis_label(tokens->tokens[at]);
  if (axis == Axis::vocabulary && trace.model->vocabulary && at < trace.model->vocabulary->words.size())
    return trace.model->vocabulary->words[at];
  return std::to_string(index);
}

std::string place_label(const Trace& trace, const MatrixId& id, Index row, Index col) {
  const Axes along = axes(trace, id);
  const std::string of_row = along.rows == Axis::one ? "" : index_label(trace, id, along.rows, row) + ", ";
  return symbol(id) + "[" + of_row + index_label(trace, id, along.cols, col) + "]";
}

std::string matrix_number(float value) {
  const float size = std::abs(value);
  return formatted(size >= 1000 ? "%.0f" : size >= 10 ? "%.1f" : "%.2f", static_cast<double>(value));
}

std::string operation_line(Language language, const Cell& cell) {
  std::string line = words_of(language, cell.operation);
  for (const Constant& number : cell.constants)
    line += "   " + constant_name(language, number.name) + " " + brief_number(static_cast<float>(number.value));
  return line;
}

float term_length(const Term& term, bool adds_up) { return adds_up ? term.contribution : term.from.value; }

std::string cut_to(const std::string& text, float size, float room, const TextWidth& measure) {
  if (measure(text, size) <= room) return text;
  std::string cut;
  for (const char32_t c : code_points(text)) {
    std::string more = cut;
    append_utf8(more, c);
    if (measure(more + "…", size) > room) break;
    cut = std::move(more);
  }
  while (!cut.empty() && cut.back() == ' ') cut.pop_back();
  return cut + "…";
}

ColourScale writers_scale(Theme theme, const WriterSplit& split) {
  return {.theme = theme, .top = nice_range(split.largest), .diverging = true};
}

std::vector<Token> writer_labels(Language language, const WriterAxis& axis) {
  std::vector<Token> labels;
  const auto add = [&](std::string text) {
    labels.emplace_back();
    labels.back().text = std::move(text);
  };
  for (const Writer& writer : axis.writers) add(writer_name(writer));
  if (axis.others > 0) add(filled(words(language, kInsideWords.other_writers), {std::to_string(axis.others)}));
  return labels;
}

ColourScale picture_scale(Theme theme, const Picture& picture, bool is_signed) {
  return {.theme = theme, .top = nice_range(picture.largest), .diverging = is_signed};
}

}  // namespace headlight
