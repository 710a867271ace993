#include "gui/frame/special_columns.h"

#include <algorithm>

#include "math/attention.h"

namespace headlight {
namespace {

/// Special tokens are distinguished up to so many columns: with more of them a column is only a pixel or two wide.
constexpr Index kMostPale = 128;

/// How much of the colours of their columns is covered.
constexpr float kPaleCover = 0.627f;

// Pixels of the design: the strip beside a large map, beside a thumbnail, and its gap to the map.
constexpr float kStrip = 8, kThinStrip = 3, kStripGap = 1;

const Vector* rests_of(const MapContent& content) {
  if (!content.folded || content.folded->rests.empty() || content.kind != MapKind::weights) return nullptr;
  return &content.folded->rests[content.folded->index_of(content.head)];
}

Box strip_of(const Gui& gui, const MapContent& content, const MapLayout& layout) {
  const float width = (content.values ? kStrip : kThinStrip) * gui.unit;
  return {layout.plot.x - width - kStripGap * gui.unit, layout.plot.y, width, layout.plot.h};
}

}  // namespace

std::vector<Index> pale_columns(const Gui& gui, const MapContent& content) {
  std::vector<Index> pale;
  const Region& region = content.region;
  if (region.num_keys > kMostPale || content.grid) return pale;
  const Token* tokens = column_tokens(gui.state, content).data() + region.first_key;
  for (Index j = 0; j < region.num_keys; ++j)
    if (is_resting_token(tokens[j])) pale.push_back(j);
  return pale;
}

bool has_pale_columns(const Gui& gui) {
  return !pale_columns(gui, whole_content(gui.state, {.stack = gui.state.view.chosen.stack})).empty();
}

void add_pale_columns(const Gui& gui, Drawing& map, const MapContent& content, const MapLayout& layout) {
  const Box& plot = layout.plot;
  for (const Index j : pale_columns(gui, content))
    map.add(Rectangle{.box = {plot.x + static_cast<float>(j) * layout.cell, plot.y, layout.cell, plot.h},
                      .fill = to_rgb(gui.colours().background),
                      .opacity = kPaleCover});
}

float resting_room(const Gui& gui, const MapContent& content) {
  return content.values && rests_of(content) ? (kStrip + kStripGap) * gui.unit : 0;
}

void add_resting(const Gui& gui, Drawing& map, const MapContent& content, const MapLayout& layout) {
  const Vector* rests = rests_of(content);
  if (!rests) return;
  constexpr float kLeastSeen = 0.02f, kDarkest = 0.65f;
  const Box strip = strip_of(gui, content, layout);
  const auto row_box = [&](Index row) {
    return Box{strip.x, strip.y + static_cast<float>(row) * layout.cell, strip.w, layout.cell};
  };
  for (Index row = 0; row < rests->size(); ++row)
    if ((*rests)(row) >= kLeastSeen)
      map.add(Rectangle{
          .box = row_box(row), .fill = to_rgb(gui.colours().dim), .opacity = kDarkest * std::min(1.0f, (*rests)(row))});
  for (const auto* lit : {&gui.state.view.pinned, &gui.state.view.hovered}) {
    const auto row = *lit ? map_row(content, (*lit)->query) : std::nullopt;
    if (!row || map_column(content, (*lit)->key)) continue;
    map.add(cell_outline(row_box(*row), 5 * gui.unit, to_rgb(gui.colours().accent), gui.unit));
  }
}

std::optional<CellRef> resting_cell(const Gui& gui, const MapContent& content, const MapLayout& layout, Point at) {
  const Vector* rests = rests_of(content);
  if (!rests || !strip_of(gui, content, layout).contains(at.x, at.y)) return std::nullopt;
  const auto row = static_cast<Index>((at.y - layout.plot.y) / layout.cell);
  if (row < 0 || row >= rests->size()) return std::nullopt;
  const Index query = content.folded->fold.queries.tokens_of(row).first;
  const Matrix weights = attention_rows(*gui.state.trace, content.head, query, 1);
  const auto& left_out = content.folded->fold.rests;
  std::optional<CellRef> cell;
  for (Index key = 0; key < weights.cols(); ++key)
    if (left_out[static_cast<std::size_t>(key)] && (!cell || weights(0, key) > weights(0, cell->key)))
      cell = CellRef{query, key};
  return cell;
}

}  // namespace headlight
