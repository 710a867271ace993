#include "views/inside/inside_labels.h"

#include <cmath>

#include "base/formatted.h"
#include "figure/labels.h"
#include "model/head_text.h"
#include "words/explain_words.h"
#include "words/inside_words.h"
#include "words/words.h"

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

std::string cell_title(const Trace& trace, const MatrixId& id, Index row, Index col) {
  const Axes along = axes(trace, id);
  const std::string of_row = along.rows == Axis::one ? "" : index_label(trace, id, along.rows, row) + ", ";
  return symbol(id) + "[" + of_row + index_label(trace, id, along.cols, col) + "]";
}

std::string matrix_number(float value) {
  const float size = std::abs(value);
  if (size < 9.995f) return value > 0 ? cell_number(size) : signed_cell_number(value);
  return typeset(formatted(size >= 1000 ? "%.0f" : "%.1f", static_cast<double>(value)));
}

std::string operation_line(Language language, const Cell& cell) {
  std::string line = words_of(language, cell.operation);
  for (const Constant& number : cell.constants)
    line += "   " + constant_name(language, number.name) + " " + brief_number(static_cast<float>(number.value));
  return line;
}

float term_length(const Term& term, bool adds_up) { return adds_up ? term.contribution : term.from.value; }

std::string cut_to(const std::string& text, float size, float room, const TextWidth& measure) {
  return cut_to(text, room, [&](const std::string& part) { return measure(part, size); });
}

ColourScale writers_scale(Theme theme, const WriterSplit& split) {
  return {.theme = theme, .top = nice_range(split.largest), .diverging = true};
}

std::string writer_in(Language language, const Writer& writer) {
  // Heads and feed-forwards have the same name in both languages.
  const std::string english = writer_name(writer), stack = stack_prefix(writer.head.stack);
  const auto name = looked_up(language, "writers", english.substr(english.starts_with(stack) ? stack.size() : 0));
  return name ? stack + *name : english;
}

std::vector<Token> writer_labels(Language language, const WriterAxis& axis) {
  std::vector<Token> labels;
  const auto add = [&](std::string text) {
    labels.emplace_back();
    labels.back().text = std::move(text);
  };
  for (const Writer& writer : axis.writers) add(writer_in(language, writer));
  if (axis.others > 0) add(filled(words(language, kInsideWords.other_writers), {std::to_string(axis.others)}));
  return labels;
}

std::string lens_title(Language language, const LayerLens& lens) {
  if (!lens.ranks) return words(language, kInsideWords.lens_next);
  if (classifies(*lens.trace->model)) return words(language, kInsideWords.lens_class);
  const Token& token = lens.trace->query_tokens().tokens[static_cast<std::size_t>(lens.query)];
  const Words& title = lens.hidden.empty() ? kInsideWords.lens_in_place : kInsideWords.lens_hidden;
  return filled(words(language, title), {lens.hidden.empty() ? axis_label(token) : lens.hidden});
}

std::string logit_line(Language language, const LayerLens& lens) {
  const std::string count = std::to_string(lens.split->terms.size());
  const std::string logit = sum_text(lens.split->logit), sum = sum_text(lens.split->sum);
  const std::string line =
      lens.minus ? filled(words(language, kInsideWords.difference_and_sum),
                          {lens.word->text, lens.minus->text, logit, count, sum})
                 : filled(words(language, kInsideWords.logit_and_sum), {lens.word->text, logit, count, sum});
  return lens.trace->model->output->softcap > 0 ? filled(words(language, kInsideWords.before_the_cap), {line}) : line;
}

ColourScale picture_scale(Theme theme, const MatrixPicture& picture, bool is_signed) {
  return {.theme = theme, .top = nice_range(picture.largest), .diverging = is_signed};
}

}  // namespace headlight
