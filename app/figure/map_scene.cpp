#include "figure/map_scene.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "base/names.h"
#include "base/utf8.h"
#include "figure/labels.h"
#include "words/enum_words.h"

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
    const auto touches_lit = [&] { return lit && static_cast<float>(std::abs(i - *lit)) * layout.cell < style.line; };
    if (is_number ? number % step != 0 || touches_lit() : !is_named(i, lit, step)) continue;
    const std::string label = is_number ? std::to_string(number) : axis.words[at];
    const float y = layout.plot.y + (static_cast<float>(i) + 0.5f) * layout.cell;
    scene.add(text_of({layout.plot.x - style.gap, y}, label, style.em, i == lit ? style.ink.accent : ink(i),
                      style.measure, Anchor::right));
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
  // The lit word among numbers stays within the map: what is beside it has words of its own.
  const auto centre = [&](Index j) {
    const float x = layout.plot.x + (static_cast<float>(j) + 0.5f) * layout.cell, half = of_lit / 2;
    return j == lit && half > 0 ? std::max(layout.plot.x + half, std::min(x, layout.plot.right() - half)) : x;
  };
  for (std::size_t at = 0; at < axis.words.size(); ++at) {
    const auto j = static_cast<Index>(at), number = j + axis.first;
    const bool is_number = axis.numbers && j != lit;
    if (is_number ? number % step != 0 : !is_named(j, lit, step)) continue;
    const std::string label = is_number ? std::to_string(number) : axis.words[at];
    const float width = width_of(label);
    // The word of the lit column covers the numbers beside it.
    const float x = centre(j), y = layout.plot.y - style.gap;
    if (is_number && lit && std::abs(x - centre(*lit)) < (width + of_lit) / 2 + 0.3f * style.line) continue;
    const TextRotation turn = turn_of(label, axis, layout.columns);
    scene.add(text_of({x, turn == TextRotation::level ? y - style.em / 2 : y}, label, style.em,
                      j == lit ? style.ink.accent : ink(j), style.measure, Anchor::middle, Role::label, turn));
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
      std::string number = scale.diverging ? signed_cell_number(weight) : cell_number(weight);
      // +3.00 is wider than +.99.
      if (scale.diverging && style.measure(number, numbers.size) > cell.w)
        number = (weight < 0 ? "−" : "+") + formatted("%.1f", std::abs(static_cast<double>(weight)));
      scene.add(text_of({cell.x + cell.w / 2, cell.y + cell.h / 2}, std::move(number), numbers.size,
                        pale ? style.ink.text : text_on(colour_of(scale, weight)), style.measure, Anchor::middle,
                        Role::value));
    }
}

void add_role_bands(Drawing& scene, const std::vector<RoleRun>& rows, const std::vector<RoleRun>& columns,
                    const MapLayout& layout, Point left_top, const RoleBands& bands, const TextWidth& measure) {
  const float gap = std::min(bands.gap, layout.cell / 4);
  const auto add = [&](const RoleRun& run, bool of_rows) {
    const float begin = static_cast<float>(run.first) * layout.cell + gap / 2;
    const float length = static_cast<float>(run.count) * layout.cell - gap;
    const Box box = of_rows ? Box{left_top.x - bands.out, layout.plot.y + begin, bands.width, length}
                            : Box{layout.plot.x + begin, left_top.y - bands.out, length, bands.width};
    const Rgb colour = role_colour(bands.theme, run.role);
    scene.add(Rectangle{.box = box, .fill = colour, .corner = bands.corner});
    scene.hits.push_back({std::string(of_rows ? "rows " : "columns ") + std::string(name_in(kChatRoles, run.role)) +
                              " " + std::to_string(run.first),
                          box});
    const bool stacked = of_rows && bands.language == Language::zh;
    for (const Words* words : {&role_words(run.role), &short_role_words(run.role)}) {
      const std::string name = headlight::words(bands.language, *words);
      const float needed =
          stacked ? bands.size * static_cast<float>(code_points(name).size()) : measure(name, bands.size);
      if (needed + bands.pad > length) continue;
      const float x = box.x + box.w / 2, y = box.y + box.h / 2;
      scene.add(text_of({x, of_rows ? y + needed / 2 : y}, name, bands.size, text_on(colour), measure, Anchor::middle,
                        Role::label,
                        !of_rows  ? TextRotation::level
                        : stacked ? TextRotation::stacked
                                  : TextRotation::upwards));
      break;
    }
  };
  for (const RoleRun& run : rows) add(run, true);
  for (const RoleRun& run : columns) add(run, false);
}

void add_ramp(Drawing& scene, const Ramp& ramp, float size, const InkColours& ink, const Pen& pen,
              const TextWidth& measure) {
  scene.add(ramp);
  scene.add(pen.frame(ramp.box, ink.line));
  const std::vector<float> numbers = ticks(ramp.scale);
  const float gap = 0.3f * size, last_begin = ramp.box.right() - measure(tick_number(numbers.back()), size);
  float taken = ramp.box.x;
  for (const float number : numbers) {
    const std::string text = tick_number(number);
    const float width = measure(text, size), middle = ramp.box.x + ramp.box.w * position_on_map(ramp.scale, number);
    const bool last = number == numbers.back();
    const float begin = last ? last_begin : std::max(ramp.box.x, middle - width / 2);
    if (begin < taken || (!last && begin + width + gap > last_begin)) continue;
    taken = begin + width + gap;
    scene.add(text_of({begin, ramp.box.bottom() + 0.75f * size}, text, size, ink.dim, measure));
  }
}

Rectangle cell_outline(const Box& cell, float least, Rgb colour, float width) {
  const float wider = std::max(0.0f, least - cell.w), higher = std::max(0.0f, least - cell.h);
  return {{cell.x - wider / 2, cell.y - higher / 2, cell.w + wider, cell.h + higher}, {}, colour, width};
}

}  // namespace headlight
