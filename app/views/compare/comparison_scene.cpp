#include "views/compare/comparison_scene.h"

#include <algorithm>
#include <cmath>

#include "figure/page.h"
#include "words/compare_words.h"

namespace headlight {
namespace {

constexpr ComparisonLayout kMaps{
    ComparedMap{JointSide::a, "A", "map A", &PatternPair::a}, ComparedMap{JointSide::b, "B", "map B", &PatternPair::b},
    ComparedMap{JointSide::difference, "B − A", "map difference", &PatternPair::difference}};

}  // namespace

Rgb joint_ink(JointSide side, Theme theme) {
  const auto& ends = diverging_map(theme);
  return side == JointSide::a ? ends.front() : side == JointSide::b ? ends.back() : ink_colours(theme).text;
}

ComparisonLayout comparison_layout(const Box& area, Index rows, Index columns, const LabelMetrics& row_labels,
                                   const LabelMetrics& column_labels, const ComparisonSizes& sizes) {
  constexpr float kTitle = 1.5f, kGap = 2, kLeast = 12;  // ems of a title
  constexpr float kHighest = 1.4f;                       // of a map's width
  const float top = kTitle * sizes.title, gap = kGap * sizes.title;
  ComparisonLayout maps = kMaps;
  for (std::size_t in_row = maps.size(); in_row > 0; --in_row) {
    const float count = static_cast<float>(in_row), lines = std::ceil(static_cast<float>(maps.size()) / count);
    // The row labels of the first map take width from its cells.
    float words = 0, width = 0;
    MapLayout first;
    for (int i = 0; i < 2; ++i) {
      width = std::floor((area.w - words + gap) / count - gap);
      const float high = std::min((area.h + gap) / lines - gap - top, kHighest * (words + width));
      first = layout_map({area.x, area.y + top, words + width, high}, rows, columns, row_labels, column_labels,
                         sizes.line, sizes.largest_cell);
      words = first.plot.x - area.x;
    }
    // Where they are low they stand close together, as far as their titles have room.
    const float across = std::ceil(std::min(width, std::max(first.plot.w, 2 * gap)) + gap),
                down = std::ceil(first.plot.bottom() + gap - area.y);
    const bool is_larger = first.cell > maps.front().layout.cell;
    for (std::size_t i = 0; is_larger && i < maps.size(); ++i) {
      const float x = across * static_cast<float>(i % in_row), y = down * static_cast<float>(i / in_row);
      maps[i].at = {first.plot.x + x, area.y + y + sizes.title / 2};
      maps[i].layout = first;
      maps[i].layout.rows = first.rows && x == 0;
      maps[i].layout.plot.x += x, maps[i].layout.plot.y += y;
    }
    if (width >= kLeast * sizes.title) break;
  }
  return maps;
}

void add_titles(Drawing& scene, const ComparisonLayout& maps, float size, Theme theme, const TextWidth& measure) {
  for (const ComparedMap& map : maps) {
    scene.add(text_of(map.at, map.title, size, joint_ink(map.side, theme), measure, Anchor::left, Role::title));
    scene.hits.push_back({map.name, map.layout.plot});
  }
}

MapInks joint_inks(const JointStack& stack, const Viewport& part, Theme theme, Rgb word, Rgb pad) {
  const auto inks = [&](const JointAxis& axis, const std::vector<Token>& tokens, Index first) -> LabelInk {
    return [=, &axis, &tokens, in_both = stack.in_both](Index label) {
      const auto i = static_cast<std::size_t>(first + label);
      if (in_both && !axis[i].in_both()) return joint_ink(axis[i].a ? JointSide::a : JointSide::b, theme);
      return tokens[i].pad ? pad : word;
    };
  };
  return {inks(stack.axes.queries, stack.queries, part.first_query), inks(stack.axes.keys, stack.keys, part.first_key)};
}

void add_nothing_differs(Drawing& scene, const Matrix& difference, const Box& plot, Language language,
                         const MapStyle& style) {
  if (difference.size() == 0 || !(difference.array() == 0).all()) return;
  const auto lines = wrapped(words(language, kCompareWords.nothing_differs), style.em, plot.w, style.measure);
  float y = plot.y + (plot.h - style.line * static_cast<float>(lines.size() - 1)) / 2;
  for (const std::string& line : lines) {
    scene.add(text_of({plot.x + plot.w / 2, y}, line, style.em, style.ink.dim, style.measure, Anchor::middle));
    y += style.line;
  }
}

std::optional<ComparedPictures> compared_pictures(const Trace& a, const Trace& b, const PatternPair& maps) {
  const Tokens &of_a = a.key_tokens(), &of_b = b.key_tokens();
  if (!of_a.picture || !of_b.picture) return std::nullopt;
  const PatchGrid& grid = of_b.picture->grid;
  if (!(of_a.picture->grid == grid) || maps.a.rows() != grid.tokens() || maps.a.cols() != grid.tokens())
    return std::nullopt;
  return ComparedPictures{ComparedPicture{JointSide::a, "A", of_a, maps.a},
                          ComparedPicture{JointSide::b, "B", of_b, maps.b},
                          ComparedPicture{JointSide::difference, "B − A", of_b, maps.difference}};
}

std::array<PictureLayout, 3> compared_layouts(const ComparedPictures& pictures, const Box& area, float em, float step,
                                              float gap, const TextWidth& measure) {
  const float third = (area.w - 2 * gap) / 3, title = kPictureTitle * em;
  const auto laid_out = [&](float width) {
    return picture_layout(pictures.front().tokens.picture->grid, width, area.h, em, step, measure);
  };
  const PictureLayout narrow = laid_out(third);
  const bool stacked = narrow.width() > third;
  const PictureLayout one = stacked ? laid_out(std::max(narrow.width(), area.w / 2)) : narrow;
  const Point next = stacked ? Point{0, one.height() + gap + title} : Point{third + gap, 0};
  std::array<PictureLayout, 3> layouts;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const auto steps = static_cast<float>(i);
    layouts[i] = moved(one, {area.x + steps * next.x, area.y + title + steps * next.y});
  }
  return layouts;
}

void add_compared_picture(Drawing& scene, const PictureLayout& layout, const ComparedPicture& shown,
                          const ComparedMarks& marks, const TextWidth& measure) {
  const Vector weights = shown.cells.row(marks.query);
  const std::vector<Index> chosen{marks.query};
  const std::string hits = "picture " + std::string(shown.title) + " token ";
  const Theme theme = marks.scale.theme;
  add_shaded_picture(
      scene, layout, shown.tokens,
      {.shades = &weights, .scale = marks.scale, .chosen = &chosen, .hits = hits, .outline = marks.outline},
      marks.cover, ink_colours(theme));
  const Box& top = layout.chips.empty() ? layout.image : layout.chips.front();
  scene.add(text_of({top.x, top.y - kPictureTitle * layout.em / 2}, shown.title, layout.em,
                    joint_ink(shown.side, theme), measure, Anchor::left, Role::title));
}

}  // namespace headlight
