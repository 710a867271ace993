#include "figure/inside_parts.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "base/utf8.h"
#include "figure/labels.h"
#include "words/explain_words.h"

namespace headlight {
namespace {

/// As many of the numbers as fit into a line.
std::string numbers_that_fit(const Matrix& values, float size, float room, const TextWidth& measure) {
  if (values.size() == 1) return exact_number(values(0, 0));
  std::string line;
  for (Index i = 0; i < values.size(); ++i) {
    const std::string more = line + (i > 0 ? "   " : "") + brief_number(values.data()[i]);
    if (measure(more + "   …", size) > room) return line + "   …";
    line = more;
  }
  return line;
}

bool is_number(const Step& step) { return step.value.size() == 1; }

float strip_height(const Picture& picture, float unit) {
  return std::clamp(static_cast<float>(picture.rows) * 2, 8.0f, 24.0f) * unit;
}

Text text_at(float x, float y, std::string text, float size, Rgb colour, const TextWidth& measure,
             Anchor anchor = Anchor::left) {
  const float width = measure(text, size);
  return {.at = {x, y},
          .text = std::move(text),
          .size = size,
          .width = width,
          .role = Role::label,
          .colour = colour,
          .anchor = anchor};
}

}  // namespace

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

ColourScale picture_scale(Theme theme, const Picture& picture, bool is_signed) {
  return {.theme = theme, .top = nice_range(picture.largest), .diverging = is_signed};
}

float step_height(const Step& step, const Picture& picture, const InsideType& type) {
  return type.title_line + 2 * type.small_line + (is_number(step) ? 0 : strip_height(picture, type.unit)) +
         16 * type.unit;
}

InsideParts step_parts(Language language, const Trace& trace, const Step& step, const Picture& picture,
                       std::size_t index, const Box& box, const InsideType& type, const InkColours& ink,
                       const TextWidth& measure) {
  InsideParts parts;
  const float inset = 6 * type.unit, left = box.x + inset, room = box.w - 2 * inset;
  float y = box.y + 4 * type.unit + type.title_line / 2;
  const std::string dims = step.shape.rows == 1 && step.shape.cols == 1 ? std::string{} : shape_text(step.shape);
  const float dims_width = dims.empty() ? 0 : measure(dims, type.small) + inset;
  const std::string title = std::to_string(index + 1) + "  " + step_title(language, trace, step);
  parts.texts.push_back(
      text_at(left, y, cut_to(title, type.title, room - dims_width, measure), type.title, ink.text, measure));
  parts.texts.back().role = Role::title;
  if (!dims.empty()) parts.texts.push_back(text_at(left + room, y, dims, type.small, ink.dim, measure, Anchor::right));
  y += (type.title_line + type.small_line) / 2 + type.unit;
  parts.texts.push_back(text_at(left, y, cut_to(step_formula(language, trace, step), type.small, room, measure),
                                type.small, ink.dim, measure));
  y += type.small_line / 2 + 2 * type.unit;
  if (!is_number(step)) {
    parts.picture = Box{left, y, room, strip_height(picture, type.unit)};
    y += parts.picture->h + 2 * type.unit;
  }
  parts.texts.push_back(text_at(left, y + type.small_line / 2, numbers_that_fit(step.value, type.small, room, measure),
                                type.small, ink.text, measure));
  return parts;
}

InsideParts node_parts(Language language, const Trace& trace, const Node& node, const Picture& picture, const Box& box,
                       const InsideType& type, const InkColours& ink, const TextWidth& measure) {
  InsideParts parts;
  const float inset = 5 * type.unit, room = box.w - 2 * inset, y = box.y + 2 * type.unit + type.small_line / 2;
  const std::string title = cut_to(node_title(language, node), type.small, room + 0.8f * inset, measure);
  parts.texts.push_back(text_at(box.x + inset, y, title, type.small, ink.text, measure));
  if (exists(trace, node.shows)) {
    const Shape size = shape(trace, node.shows);
    const std::string dims = std::to_string(size.rows) + "×" + std::to_string(size.cols);
    if (parts.texts.front().width + measure(dims, type.small) + inset <= room)
      parts.texts.push_back(text_at(box.right() - inset, y, dims, type.small, ink.dim, measure, Anchor::right));
  }
  if (picture.values.size() == 0) return parts;
  Box place{box.x + inset, box.y + type.small_line + 4 * type.unit, room, box.h - type.small_line - 8 * type.unit};
  // Cells of attention are as high as wide, as everywhere; of vectors a strip is enough.
  if (node.shows.quantity == Quantity::weights)
    place.w =
        std::min(room, std::round(place.h * static_cast<float>(picture.columns) / static_cast<float>(picture.rows)));
  parts.picture = place;
  return parts;
}

}  // namespace headlight
