// The maps of all heads, laid out as in the window: with titles, or as a table of small ones, a row a layer.
#include <algorithm>
#include <cmath>

#include "figure/map_items.h"
#include "figure/map_kinds.h"
#include "views/heads/heads_scene.h"
#include "words/figure_words.h"
#include "words/text_words.h"

namespace headlight {
namespace {

/// Of so many heads every cell of up to 128 tokens is kept; of more so many of all maps together, so that a model with
/// thousands of heads is still a small file.
constexpr Index kMostWhole = 24 * 16;
constexpr double kMostCellsOfAll = 1.0e6;
constexpr Index kLeastSide = 12;
constexpr float kFairShare = 1.15f;  // of a page's fair height: so much more is better than smaller maps
constexpr float kLargestSmall = 72;  // points: of a table's maps
constexpr int kMostTitleLines = 3;
constexpr Index kMostThinned = 2;    // every so many rows have a label
constexpr float kPaleOfOff = 0.65f;  // how much of the page covers a head that is off, in a table

Index cells_a_side(std::size_t maps) {
  if (static_cast<Index>(maps) <= kMostWhole) return kThumbnail;
  return std::clamp(static_cast<Index>(std::sqrt(kMostCellsOfAll / static_cast<double>(maps))), kLeastSide, kThumbnail);
}

struct HeadsFigure {
  Page& page;
  const FigureSubject& subject;
  const FigureOptions& options;
  bool ordered = !options.heads.empty();
  const DerivedMaps* other = other_maps_of(subject, options.head.stack);
  bool of_layers = other && !(other->has_layers(options.head.stack) && other->has_heads(options.head.stack));
  bool small = options.kind == FigureKind::layers;
  bool of_picture = is_of_picture(subject.trace) && kind_of(subject, options.head.stack) == MapKind::weights;
  std::vector<HeadRef> heads = ordered ? options.heads : maps_of_layers(subject, options);
  Index most = cells_a_side(heads.size());
  std::vector<PrintedMap> maps = {};
  ColourScale scale = map_scale(subject, options);
  float unit = page.label / 12;
  std::vector<std::string> values = std::vector<std::string>(heads.size());  // beside the heads' numbers
  std::vector<HeadName> names = {};
  HeadsLayout layout = {};
  MapAxes axes = {};
  MapLayout shape = {};  // of a map and its labels

  float width(const std::string& text) const { return page.measure(text, page.label); }
  std::string number_of(const HeadRef& head) const {
    return of_layers ? summed_title(options.language, other, head) : map_label(options.language, subject.trace, head);
  }
  MapStyle style() const { return page_style(page, page.label); }

  const PrintedMap& first() const { return maps.front(); }
  ColourScale scale_of(const PrintedMap& map) const { return own_scale(scale, map.weights, options); }

  void name_heads() {
    for (std::size_t i = 0; i < heads.size(); ++i) {
      maps.push_back(of_picture ? printed_grid(subject, options, heads[i])
                                : printed_map(subject, heads[i], most, options.language));
      if (i < options.numbers.size() && options.numbers[i]) values[i] = "  " + order_number_text(*options.numbers[i]);
      if (options.own_range) values[i] += "  ≤ " + tick_number(scale_of(maps[i]).top);
    }
    if (of_layers || small || (other && other->kind >= MapKind::mean)) names.resize(heads.size());
    else names = names_of(options.language, subject.document, subject.trace, heads);
  }

  void arrange() {
    const std::vector<Index> layers = layers_of(subject, options);
    const bool by_layer = !ordered && !of_layers;
    const Index groups = by_layer ? static_cast<Index>(layers.size()) : 1;
    const HeadsContent content{groups, static_cast<Index>(heads.size()) / groups, first().num_queries(),
                               first().num_keys()};
    HeadsSizes sizes{.text = style().line,
                     .most = small ? kLargestSmall : 18 * page.title,
                     .unit = unit,
                     .page = true,
                     .form = !by_layer || (options.own_range && !small) ? HeadsForm::titles
                             : small                                    ? HeadsForm::table
                                                                        : HeadsForm::free};
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const float number = width(number_of(heads[i])), value = width(values[i]);
      sizes.title = std::max(sizes.title, small ? std::max(number, value) : number + value);
    }
    if (by_layer) sizes.layers = width("L" + std::to_string(layers.back()));
    const float most_height = page.most_height(), fair = kFairShare * page.fair_height();
    const float height = sizes.form == HeadsForm::table ? most_height : std::min(fair, most_height);
    const auto arranged = [&] { layout = heads_layout(page.room(), height, content, sizes); };
    sizes.title_lines = small && !options.numbers.empty() ? 2 : 1;
    arranged();
    // Labels take room, which their size depends on. Where few of them have room the maps have none.
    for (int i = 0; i < 3 && !small; ++i) {
      const float side = std::max(layout.width, layout.height) + layout.labels;
      axes = map_axes(page, first(), side);
      shape = layout_of(first(), axes, {0, 0, side, side});
      const bool labelled = shape.rows && shape.row_step <= kMostThinned && shape.columns != ColumnLabels::none;
      sizes.labels = labelled ? shape.plot.x : 0;
      sizes.above = labelled ? label_height(axes, shape) : 0;
      arranged();
    }
    while (!small && sizes.title_lines < kMostTitleLines && is_a_name_cut()) {
      const HeadsLayout before = layout;
      ++sizes.title_lines;
      arranged();
      if (layout.content_height <= height) continue;
      layout = before;
      break;
    }
  }

  bool is_a_name_cut() const {
    for (std::size_t i = 0; i < heads.size() && layout.titles; ++i) {
      const HeadTitle title = title_of(i);
      const std::string& end = title.below.empty() ? title.beside : title.below.back();
      if (end.ends_with("…") || (end.empty() && !names[i].brief.empty())) return true;
    }
    return false;
  }

  HeadTitle title_of(std::size_t i) const {
    HeadTitle title;
    if (small || of_layers) title = {.head = number_of(heads[i])};
    else
      title =
          head_title(heads[i], names[i], values[i], layout, unit, [&](const std::string& text) { return width(text); });
    if (is_off(heads[i])) {
      title.beside = std::string("  ") + words(options.language, kFigureWords.off), title.below.clear();
      if (width(title.first_line()) > layout.title_width) title.beside.clear();
    }
    if (small && !values[i].empty()) title.below = {values[i].substr(2)};
    return title;
  }
  bool is_off(const HeadRef& head) const { return !of_layers && headlight::is_off(subject.trace.request.edits, head); }

  /// Adds everything; true: some cells are blocked.
  bool draw() {
    const float used = layout.left + static_cast<float>(layout.columns - 1) * layout.pitch_x + layout.title_width;
    std::vector<HeadTitle> titles;
    for (std::size_t i = 0; layout.titles && i < heads.size(); ++i) titles.push_back(title_of(i));
    const float unused = layout.titles ? layout.title_of(0, 0, longest_name(layout, titles, 0, 0)).y - layout.top : 0;
    const Point origin{page.left() + std::max(0.0f, (page.room() - used) / 2), page.y - unused};
    add_layer_names(page.drawing, layout, origin, layers_of(subject, options), {}, unit, style());
    add_row_words(page.drawing, layout, origin, axes.queries, page_style(page, axes.size),
                  plain_ink(page, *first().queries));
    bool blocks = false;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const Index group = static_cast<Index>(i) / layout.content.heads,
                  head = static_cast<Index>(i) % layout.content.heads;
      const Box box = moved(layout.map_of(group, head), origin);
      if (layout.titles) {
        const Box line = moved(layout.title_of(group, head, longest_name(layout, titles, group, head)), origin);
        const bool off = is_off(heads[i]);
        const Rgb of_name = off || !titles[i].named ? page.ink.dim : page.ink.accent;
        add_head_title(
            page.drawing, titles[i], {line.x, line.y}, unit,
            {.head = off ? page.ink.dim : page.ink.text, .value = page.ink.dim, .beside = of_name, .below = of_name},
            style());
      }
      const PrintedMap& map = maps[i];
      MapLayout cells{.plot = box,
                      .cell = box.w / static_cast<float>(map.num_keys()),
                      .columns = layout.labels > 0 ? shape.columns : ColumnLabels::none};
      thin_labels(cells, kLineOfText * axes.size);
      add_map(page, map, axes, cells, scale_of(map), false);
      // Between the cells and their labels.
      add_role_strips(page, map, box, {box.x, box.y}, (layout.titles ? 2.4f : 1) * unit, options.theme);
      if (!layout.titles && is_off(heads[i]))
        page.drawing.add(Rectangle{.box = box, .fill = page.drawing.background, .opacity = kPaleOfOff});
      page.drawing.hits.push_back({map_name(heads[i], of_layers), box});
      blocks = blocks || has_blocked(scale, map.weights);
    }
    page.y = origin.y + layout.content_height;
    return blocks;
  }
};

}  // namespace

Drawing draw_heads(const FigureSubject& subject, const FigureOptions& asked, const TextWidth& measure) {
  FigureOptions options = asked;
  // The weights of a row over hundreds of patches are small, in each head as small as it likes.
  options.own_range |= is_of_picture(subject.trace) && !options.range;
  Page page = new_page(options, measure);
  HeadsFigure figure{page, subject, options};
  figure.name_heads();
  figure.arrange();
  const bool blocks = figure.draw();
  std::vector<std::string> remarks;
  if (figure.of_picture) {
    const auto& tokens = options.shades.columns ? subject.trace.key_tokens() : subject.trace.query_tokens();
    const Index chosen = options.shades.words.empty() ? first_token(subject.trace) : options.shades.words.front();
    const Words& line = options.shades.columns ? kTextWords.looked_at : kTextWords.looks_at;
    remarks.push_back(
        filled(words(options.language, line), {axis_label(tokens.tokens[static_cast<std::size_t>(chosen)])}));
  }
  if (!figure.layout.titles &&
      std::ranges::any_of(figure.heads, [&](const HeadRef& head) { return figure.is_off(head); }))
    remarks.push_back(words(options.language, kFigureWords.faint_off));
  if (std::max(figure.first().num_queries(), figure.first().num_keys()) > figure.most)
    remarks.push_back(words(options.language, kFigureWords.pooled));
  return finished(std::move(page), subject, options, figure.scale, blocks, remarks);
}

}  // namespace headlight
