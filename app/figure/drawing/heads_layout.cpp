#include "figure/drawing/heads_layout.h"

#include <algorithm>
#include <cmath>

namespace headlight {
namespace {

constexpr float kBracket = 5;                         // of a layer: its line, and a gap before the words
constexpr float kLayerName = 20;                      // of a layer in a table, at least
constexpr float kLeastTitled = 48;                    // the side of a map above which there is a title …
constexpr Index kManyHeads = 64;                      // … and of that many heads, of which all titles are not read,
constexpr float kLeastOfMany = 68;                    // it is this one
constexpr float kLeastLabelled = 80;                  // … beside which the words stand
constexpr float kLeast = 8;                           // the side of a map in a table
constexpr float kEvenRows = 0.92f;                    // of the largest size, for rows of the same length
constexpr float kMostSpread = 0.5f;                   // of a map's width, between two columns, …
constexpr float kMostRowSpread = 0.08f;               // … and of its height, between two rows
constexpr float kWideTitle = 150;                     // beside a head's number its name has room
constexpr float kNarrowTitle = 90;                    // … and has none: a line below is kept for it
constexpr float kMostNameLines = 3, kBroken = 1.25f;  // of a name in lines: its length by that of the line
constexpr Index kFewHeads = 3;                        // that many of a layer stand on one line
constexpr float kMostGap = 0.2f;                      // between two maps of a page, of the share of each
constexpr float kAnyHeight = 1e6f;

Index rows_for(Index heads, Index columns) { return (heads + columns - 1) / columns; }

/// Lines for the heads' names, below their numbers, in the height that is spare for each row of maps.
void add_name_lines(HeadsLayout& layout, const HeadsSizes& sizes, float spare) {
  const float wanted = std::clamp(std::ceil(kBroken * sizes.name / layout.title_width), 1.0f, kMostNameLines);
  const float lines = std::clamp(std::floor(spare / sizes.text), 0.0f, wanted);
  layout.name_lines = static_cast<int>(lines);
  layout.title += lines * sizes.text;
}

/// The layout with so many columns; its maps may be too small for it.
HeadsLayout with_columns(float width, float height, const HeadsContent& content, const HeadsSizes& sizes, bool titles,
                         Index columns, float kept = 0) {
  const float unit = sizes.unit;
  HeadsLayout layout{.content = content, .columns = columns, .rows_per_group = rows_for(content.heads, columns)};
  layout.titles = titles;
  layout.text = sizes.text;
  layout.flows = titles && sizes.title_lines > 0;
  if (layout.flows) layout.name_lines = sizes.title_lines - 1;
  layout.title = titles ? static_cast<float>(1 + layout.name_lines) * sizes.text + 3 * unit : 0;
  layout.labels = titles && sizes.labels > 0 ? sizes.labels + 3 * unit : 0;
  layout.above = layout.labels > 0 ? sizes.above : 0;
  layout.named = !titles && sizes.layers > 0;
  if (titles && content.groups > 1) layout.left = layout.labels + kBracket * unit;
  else layout.left = layout.named ? std::max(kLayerName * unit, sizes.layers + 8 * unit) : layout.labels;
  layout.top = layout.named ? sizes.text + 2 * unit : 0;
  const auto across = static_cast<float>(columns);
  const float gap_x = sizes.page ? std::min(4 * unit, kMostGap * width / across) : 4 * unit;
  float gap_y = (titles ? 3 : 2) * unit;
  layout.group_gap = titles ? 4 * unit : 0;
  const auto groups = static_cast<float>(content.groups);
  const float rows = groups * static_cast<float>(layout.rows_per_group);
  const float room_x = (width - layout.left - gap_x * (across - 1)) / across;
  const float room_y = (height - layout.top - gap_y * (rows - 1) - layout.group_gap * (groups - 1)) / rows -
                       layout.title - layout.above - kept;
  const auto map_rows = static_cast<float>(content.rows), map_keys = static_cast<float>(content.keys);
  const float longer = std::max(map_rows, map_keys);
  float side = std::min({room_x * longer / map_keys, room_y * longer / map_rows, sizes.most});
  side = sizes.page ? std::max(side, 0.0f) : std::floor(std::max(side, 0.0f));
  layout.width = side * map_keys / longer;
  layout.height = side * map_rows / longer;
  // Columns stand apart where there is room: for the maps' titles.
  const float spare = width - layout.left - across * layout.width - gap_x * (across - 1);
  const float most_spread = std::max(kMostSpread * layout.width, kWideTitle * unit - layout.width);
  const float spread = titles ? std::floor(std::clamp(spare / across, 0.0f, most_spread)) : 0;
  layout.title_width = layout.width + spread;
  layout.pitch_x = layout.title_width + gap_x;
  const bool below = titles && sizes.title_lines == 0;  // names may stand below the numbers
  if (below && kept <= 0 && sizes.name > 0 && layout.title_width < kNarrowTitle * unit)
    return with_columns(width, height, content, sizes, titles, columns, sizes.text);
  const auto high = [&] {
    return layout.top + rows * (layout.title + layout.above + layout.height + gap_y) - gap_y +
           layout.group_gap * (groups - 1);
  };
  if (below && layout.title_width < kWideTitle * unit) add_name_lines(layout, sizes, (height - high()) / rows);
  if (titles) gap_y += std::floor(std::clamp((height - high()) / rows, 0.0f, kMostRowSpread * layout.height));
  layout.pitch_y = layout.title + layout.above + layout.height + gap_y;
  layout.content_height = high();
  return layout;
}

float side_of(const HeadsLayout& layout) { return std::max(layout.width, layout.height); }

/// The number of columns with the largest maps. Rows of unequal length have maps no larger than those at which rows of
/// equal length would be taken: with a little more room the maps must not become smaller.
HeadsLayout largest(float width, float height, const HeadsContent& content, const HeadsSizes& sizes, bool titles) {
  if (content.heads <= kFewHeads) return with_columns(width, height, content, sizes, titles, content.heads);
  HeadsLayout best, even;
  for (Index columns = 1; columns <= content.heads; ++columns) {
    const HeadsLayout layout = with_columns(width, height, content, sizes, titles, columns);
    if (columns > 1 && titles && layout.title_width < sizes.title) break;
    if (side_of(layout) > side_of(best)) best = layout;
    if (content.heads % columns == 0 && side_of(layout) > side_of(even)) even = layout;
  }
  HeadsSizes less = sizes;
  less.most = std::floor(kEvenRows * side_of(best));
  if (side_of(even) >= less.most) return even;
  return with_columns(width, height, content, less, titles, best.columns);
}

/// A table has a layer in each of its rows; heads that are not ordered by layer fill row after row.
HeadsLayout table_of(float width, float height, const HeadsContent& content, const HeadsSizes& sizes) {
  return content.groups > 1 || sizes.layers > 0 ? with_columns(width, height, content, sizes, false, content.heads)
                                                : largest(width, height, content, sizes, false);
}

/// As many columns as titles have room for, as high as that is.
HeadsLayout high_titles(float width, const HeadsContent& content, const HeadsSizes& sizes) {
  Index columns = content.heads;
  const auto layout = [&] { return with_columns(width, kAnyHeight, content, sizes, true, columns); };
  while (columns > 1 && layout().title_width < sizes.title) --columns;
  return layout();
}

/// The layout of an area, without regard to the size that maps would have in a wider one.
HeadsLayout layout_of(float width, float height, const HeadsContent& content, const HeadsSizes& sizes) {
  if (sizes.form == HeadsForm::table) return table_of(width, height, content, sizes);
  const HeadsLayout titled = largest(width, height, content, sizes, true);
  if (side_of(titled) >= kLeastLabelled * sizes.unit) return titled;
  HeadsSizes bare = sizes;
  bare.labels = 0;
  bare.most = std::min(sizes.most, kLeastLabelled * sizes.unit);
  const HeadsLayout unlabelled = largest(width, height, content, bare, true);
  const float least = (content.groups * content.heads > kManyHeads ? kLeastOfMany : kLeastTitled) * sizes.unit;
  if (side_of(unlabelled) >= least) return unlabelled;
  if (sizes.form == HeadsForm::titles) return high_titles(width, content, bare);
  bare.most = std::min(sizes.most, least);
  return table_of(width, height, content, bare);
}

}  // namespace

Box HeadsLayout::map_of(Index group, Index head) const {
  const Box line = title_of(group, head);
  return {line.x, line.bottom() + above, width, height};
}

Box HeadsLayout::title_of(Index group, Index head, int lines) const {
  const Index row = group * rows_per_group + head / columns;
  const float unused = titles ? static_cast<float>(name_rows() - lines) * text : 0;
  return {left + static_cast<float>(head % columns) * pitch_x,
          top + static_cast<float>(row) * pitch_y + static_cast<float>(group) * group_gap + unused, title_width,
          title - unused};
}

Box HeadsLayout::bracket(Index group) const {
  const Box first = title_of(group, 0), last = map_of(group, content.heads - 1);
  const float right = left - labels;
  return {0, first.y + title + above, right, last.bottom() - first.y - title - above};
}

HeadsLayout heads_layout(float width, float height, const HeadsContent& content, const HeadsSizes& sizes) {
  if (content.heads < 1) return {.content = content, .columns = 1};
  const float decisive = sizes.least_width > 0 ? std::min(width, sizes.least_width) : width;
  const HeadsLayout layout = layout_of(decisive, height, content, sizes);
  if (sizes.page) return layout;
  HeadsSizes decided = sizes;
  decided.labels = layout.labels > 0 ? sizes.labels : 0;
  decided.most = side_of(layout);
  if (side_of(layout) >= kLeast * sizes.unit)
    return with_columns(width, std::max(height, layout.content_height), content, decided, layout.titles,
                        layout.columns);
  decided.most = kLeast * sizes.unit;
  const float wide = 2 * decided.most * static_cast<float>(layout.columns) + sizes.layers + 16 * sizes.unit;
  return with_columns(std::max(width, wide), kAnyHeight, content, decided, false, layout.columns);
}

}  // namespace headlight
