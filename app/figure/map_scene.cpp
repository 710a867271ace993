#include "figure/map_scene.h"

#include <algorithm>
#include <cmath>

#include "figure/labels.h"

namespace headlight {
namespace {

/// A step between numbers on an axis that is at least so long: 5, 10, 20, 50, 100 …
Index round_step(Index least) {
  for (Index decade = 1;; decade *= 10)
    for (const Index step : {5 * decade, 10 * decade, 20 * decade})
      if (step >= least) return step;
}

/// A thinned-out axis always names the lit row and column; the neighbours it would touch step aside.
bool is_named(Index i, std::optional<Index> lit, Index step) {
  return i == lit || (i % step == 0 && !(lit && std::abs(i - *lit) < step));
}

Text label_at(Point at, const std::string& label, float width, const MapStyle& style, Rgb colour, Anchor anchor,
              TextRotation turn = TextRotation::level) {
  return {.at = at,
          .text = label,
          .size = style.em,
          .width = width,
          .role = Role::label,
          .colour = colour,
          .anchor = anchor,
          .turn = turn};
}

TextRotation turn_of(const std::string& label, const AxisText& axis, ColumnLabels columns) {
  if (axis.numbers || columns == ColumnLabels::horizontal) return TextRotation::level;
  return columns == ColumnLabels::stacked || stands_in_column(label) ? TextRotation::stacked : TextRotation::upwards;
}

}  // namespace

void add_row_labels(Drawing& scene, const AxisText& axis, const MapLayout& layout, const MapStyle& style,
                    const LabelInk& ink, std::optional<Index> lit) {
  const auto numbers = static_cast<Index>(std::ceil(style.line * kThinnedPitch / layout.cell));
  const Index step = axis.numbers ? round_step(numbers) : layout.row_step;
  for (std::size_t at = 0; layout.rows && at < axis.words.size(); ++at) {
    const auto i = static_cast<Index>(at), number = i + axis.first;
    const bool is_number = axis.numbers && i != lit;
    const auto touches_lit = [&] {
      return lit && static_cast<float>(std::abs(i - *lit)) * layout.cell < style.line;
    };
    if (is_number ? number % step != 0 || touches_lit() : !is_named(i, lit, step)) continue;
    const std::string label = is_number ? std::to_string(number) : axis.words[at];
    const float y = layout.plot.y + (static_cast<float>(i) + 0.5f) * layout.cell;
    scene.add(label_at({layout.plot.x - style.gap, y}, label, style.measure(label, style.em), style,
                       i == lit ? style.ink.accent : ink(i), Anchor::right));
  }
}

void add_column_labels(Drawing& scene, const AxisText& axis, const MapLayout& layout, const MapStyle& style,
                       const LabelInk& ink, std::optional<Index> lit) {
  if (layout.columns == ColumnLabels::none) return;
  const auto width_of = [&](const std::string& label) { return style.measure(label, style.em); };
  Index step = layout.column_step;
  if (axis.numbers) {
    const float width = width_of(std::to_string(axis.first + static_cast<Index>(axis.words.size())));
    step = round_step(static_cast<Index>(std::ceil((width + 0.8f * style.line) / layout.cell)));
  }
  const float of_lit = axis.numbers && lit ? width_of(axis.words[static_cast<std::size_t>(*lit)]) : 0;
  for (std::size_t at = 0; at < axis.words.size(); ++at) {
    const auto j = static_cast<Index>(at), number = j + axis.first;
    const bool is_number = axis.numbers && j != lit;
    if (is_number ? number % step != 0 : !is_named(j, lit, step)) continue;
    const std::string label = is_number ? std::to_string(number) : axis.words[at];
    const float width = width_of(label);
    // The word of the lit column covers the numbers beside it.
    if (is_number && lit &&
        std::abs(static_cast<float>(j - *lit)) * layout.cell < (width + of_lit) / 2 + 0.3f * style.line)
      continue;
    const TextRotation turn = turn_of(label, axis, layout.columns);
    const float x = layout.plot.x + (static_cast<float>(j) + 0.5f) * layout.cell, y = layout.plot.y - style.gap;
    scene.add(label_at({x, turn == TextRotation::level ? y - style.em / 2 : y}, label, width, style,
                       j == lit ? style.ink.accent : ink(j), Anchor::middle, turn));
  }
}

void add_numbers(Drawing& scene, const Matrix& weights, const MapLayout& layout, const ColourScale& scale,
                 const MapNumbers& numbers, const MapStyle& style) {
  const auto shown = [&](float length) { return static_cast<Index>(std::lround(length / layout.cell)); };
  for (Index i = 0; i < shown(layout.plot.h); ++i)
    for (Index j = 0; j < shown(layout.plot.w); ++j) {
      const float weight = weights(numbers.first.query + i, numbers.first.key + j);
      if (std::isnan(weight) || is_blocked(scale, weight) || std::abs(weight) < numbers.least) continue;
      const bool pale = std::binary_search(numbers.pale.begin(), numbers.pale.end(), j);
      const Box cell = cell_box(layout, i, j);
      const std::string text = scale.diverging ? signed_cell_number(weight) : cell_number(weight);
      scene.add(Text{.at = {cell.x + cell.w / 2, cell.y + cell.h / 2},
                     .text = text,
                     .size = numbers.size,
                     .width = style.measure(text, numbers.size),
                     .role = Role::value,
                     .colour = pale ? style.ink.text : text_on(colour_of(scale, weight)),
                     .anchor = Anchor::middle});
    }
}

Rectangle cell_outline(const Box& cell, float least, Rgb colour, float width) {
  const float wider = std::max(0.0f, least - cell.w), higher = std::max(0.0f, least - cell.h);
  return {{cell.x - wider / 2, cell.y - higher / 2, cell.w + wider, cell.h + higher}, {}, colour, width};
}

}  // namespace headlight
