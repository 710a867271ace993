// The scenes of several maps, and of lines: all heads, two answers, Flow.
#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "derived/answer_comparison.h"
#include "derived/flow_lines.h"
#include "figure/labels.h"
#include "figure/map_items.h"
#include "model/head_text.h"
#include "page/core/page_scenes.h"
#include "views/compare/comparison_scene.h"
#include "views/flow/flow.h"
#include "views/heads/heads_scene.h"
#include "views/text/picture_scene.h"
#include "words/figure_words.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr float kSmallType = 12, kSmallLine = 15, kMostRowWord = 88;  // pixels

/// The maps of all heads while they are arranged.
struct HeadsOfPage {
  PageMaps& maps;
  const PageLook& look;
  const TextWidth& measure;
  bool ordered = !look.order.empty();
  std::vector<HeadRef> heads = ordered ? look.order : maps.heads(look.head.stack);
  std::vector<Index> layers = {};
  std::vector<HeadName> names = {};
  HeadsLayout layout = {};
  AxisText beside = {};  // the words at the left of each row of maps
  MapStyle style{
      .measure = measure, .ink = ink_colours(look.scale.theme), .em = kSmallType, .line = kSmallLine, .gap = 4};

  std::shared_ptr<const PatchedPicture> picture = maps.trace().query_tokens().picture;
  ShadeChoice choice = picture_choice();  // of a picture

  /// The tokens that the text's shades are of, else the first.
  ShadeChoice picture_choice() const {
    ShadeChoice chosen = look.shades;
    chosen.heads = ShadeHeads::head;
    if (chosen.words.empty() && look.pinned)
      chosen.words.push_back(chosen.columns ? look.pinned->key : look.pinned->query);
    if (chosen.words.empty() && picture) chosen.words.push_back(first_token(maps.trace()));
    std::ranges::sort(chosen.words);
    return chosen;
  }

  float width(const std::string& text) const { return measure(text, kSmallType); }
  std::string value_of(std::size_t i) const {
    const bool known = i < look.numbers.size() && look.numbers[i];
    return known ? "  " + order_number_text(*look.numbers[i]) : "";
  }

  void arrange() {
    for (const HeadRef& head : heads) {
      if (layers.empty() || layers.back() != head.layer) layers.push_back(head.layer);
      HeadName name = maps.name(look.language, head, look.edited, look.measured);
      // As in the window: that it rests, or does nothing in particular, its map says.
      if (!name.named && (!name.measure || name.measure == Measure::special)) name.words = name.brief = "";
      names.push_back(std::move(name));
    }
    const auto rows = static_cast<Index>(layers.size()), all = static_cast<Index>(heads.size());
    const bool even = !ordered && all % rows == 0 && std::ranges::all_of(layers, [&](Index layer) {
      return std::ranges::count(heads, layer, &HeadRef::layer) * rows == all;
    });
    const FoldedStack* folded = maps.folded(look.head.stack, look.fold, {});
    const Trace& trace = maps.trace();
    HeadsContent content{even ? rows : 1, even ? all / rows : all,
                         folded ? std::ssize(folded->fold.queries.groups) : trace.queries(look.head.stack),
                         folded ? std::ssize(folded->fold.keys.groups) : trace.keys(look.head.stack)};
    if (picture) content.rows = picture->grid.rows, content.keys = picture->grid.cols;
    HeadsSizes sizes{.text = kSmallLine,
                     .layers = content.groups > 1 ? width(content.groups > 10 ? "L00" : "L0") : 0,
                     .most = 320,
                     .title_lines = 2,
                     .form = even ? HeadsForm::free : HeadsForm::titles};
    for (std::size_t i = 0; i < heads.size(); ++i)
      sizes.title = std::max(sizes.title, width(head_label(heads[i]) + value_of(i)));
    if (!picture) beside = row_words(folded ? folded->fold.queries.tokens : trace.query_tokens(look.head.stack).tokens);
    sizes.labels = beside.metrics.widest;
    layout = heads_layout(look.width - 4, look.height - 4, content, sizes);
    if (sizes.labels == 0 || label_step(kSmallType, layout.height / static_cast<float>(content.rows)) == 1) return;
    sizes.labels = 0;  // some of the words say less than larger maps
    layout = heads_layout(look.width - 4, look.height - 4, content, sizes);
  }
  AxisText row_words(const std::vector<Token>& tokens) const {
    AxisText words = axis_of(tokens, 0, std::ssize(tokens), kSmallType, measure);
    words.metrics.widest = std::min(words.metrics.widest, kMostRowWord);
    for (std::size_t i = 0; i < words.words.size(); ++i)
      words.words.set(i, cut_to(words.words[i], kMostRowWord, [&](const std::string& text) { return width(text); }));
    return words;
  }

  HeadTitle title_of(std::size_t i) const {
    return head_title(heads[i], names[i], value_of(i), layout, 1, [&](const std::string& text) { return width(text); });
  }

  /// What the chosen tokens look at, over the picture, in colours up to its largest weight.
  void add_squares(PageScene& scene, const HeadRef& head, const Box& box) const {
    ShadeChoice of_head = choice;
    of_head.head = head;
    Matrix squares = grid_of(picture->grid, shades_of(maps.trace(), nullptr, of_head, kNeverStops));
    ColourScale scale = look.scale;
    scale.top = nice_range(squares.maxCoeff());
    scene.drawing.add(Image{box, picture});
    scene.drawing.add(Cells{box, shared(std::move(squares)), scale, kUsualCover});
    const auto number = [](Index word) { return std::to_string(word); };
    scene.keys.push_back(head_text(head) + (choice.columns ? " of " : " at ") +
                         joined_texts(choice.words, ",", number));
  }

  void draw_map(PageScene& scene, std::size_t i, const Box& box, const std::optional<CellRef>& lit) const {
    Drawing& drawing = scene.drawing;
    const HeadRef& head = heads[i];
    const InkColours& ink = style.ink;
    if (picture) {
      add_squares(scene, head, box);
    } else {
      drawing.add(Cells{box, nullptr, look.scale});
      scene.keys.push_back(head_text(head));
    }
    scene.thumbnails.push_back(head);
    const bool chosen = head.layer == look.head.layer && head.head == look.head.head;
    if (is_off(maps.trace().request.edits, head))
      drawing.add(Rectangle{.box = box, .fill = background_of(look.scale.theme), .opacity = 0.7f});
    drawing.add(Pen{1, 0.5f}.frame(box, ink.line));
    if (chosen) drawing.add(Rectangle{{box.x - 2, box.y - 2, box.w + 4, box.h + 4}, {}, ink.accent, 2});
    if (lit && !picture) {
      const float w = box.w / static_cast<float>(layout.content.keys),
                  h = box.h / static_cast<float>(layout.content.rows);
      drawing.add(
          cell_outline({box.x + static_cast<float>(lit->key) * w, box.y + static_cast<float>(lit->query) * h, w, h}, 5,
                       ink.accent, 1.5f));
    }
    drawing.hits.push_back({map_name(head, false), box});
  }
};

/// The words beside each other, and lines of at most so many pixels between them.
FlowLayout layout_of_flow(const std::vector<std::string>& queries, const std::vector<std::string>& keys, float width,
                          const TextWidth& measure) {
  FlowLayout layout{.queries = std::ssize(queries), .keys = std::ssize(keys), .top = 6, .pitch = 27, .size = 14};
  const auto widest = [&](const std::vector<std::string>& list) {
    float most = 0;
    for (const std::string& label : list) most = std::max(most, measure(label, layout.size));
    return std::min(most, 0.3f * width);
  };
  const float between = width - widest(queries) - widest(keys) - 2 * layout.gap();
  const float rows = static_cast<float>(std::max(queries.size(), keys.size()));
  layout.centre(width, widest(queries), widest(keys), std::min(between, std::max(1.6f * rows * layout.pitch, 240.0f)));
  return layout;
}

/// What two answers have in a cell, and their difference.
std::string line_of_cells(const ComparedHead& compared, const CellRef& cell, const ColourScale& weights) {
  const auto word = [](const std::vector<Token>& tokens, Index at) {
    return "\u2068" + axis_label(tokens[static_cast<std::size_t>(at)]) + "\u2069";
  };
  std::string line = word(compared.stack.queries, cell.query) + " → " + word(compared.stack.keys, cell.key) + ":";
  for (const auto& [name, of] : {std::pair(" A ", &compared.maps.a), {"   B ", &compared.maps.b}})
    if (const float weight = (*of)(cell.query, cell.key); !std::isnan(weight))
      line += name + (is_blocked(weights, weight) ? std::string("—") : share_text(static_cast<double>(weight)));
  const float difference = compared.maps.difference(cell.query, cell.key);
  return std::isfinite(difference) ? line + "   B − A " + signed_cell_number(difference) : line;
}

json cell_beside(const CellRef& cell) { return {{"query", cell.query}, {"key", cell.key}}; }

}  // namespace

PageScene scene_of_heads(PageMaps& maps, const PageLook& look, const TextWidth& measure) {
  HeadsOfPage all{maps, look, measure};
  all.arrange();
  const HeadsLayout& layout = all.layout;
  PageScene scene;
  const Point origin{2, 2};
  const FoldedStack* folded = maps.folded(look.head.stack, look.fold, {});
  auto lit = look.hovered ? look.hovered : look.pinned;
  if (lit && folded) lit = folded->fold.groups_of(*lit);
  add_layer_names(scene.drawing, layout, origin, all.layers, look.head.layer, 1, all.style);
  add_row_words(
      scene.drawing, layout, origin, all.beside, all.style, [&](Index) { return all.style.ink.dim; },
      lit ? std::optional(lit->query) : std::nullopt);
  std::vector<HeadTitle> titles;
  for (std::size_t i = 0; layout.titles && i < all.heads.size(); ++i) titles.push_back(all.title_of(i));
  for (std::size_t i = 0; i < all.heads.size(); ++i) {
    const Index group = static_cast<Index>(i) / layout.content.heads,
                head = static_cast<Index>(i) % layout.content.heads;
    const HeadRef& one = all.heads[i];
    if (layout.titles) {
      const Box line = moved(layout.title_of(group, head, longest_name(layout, titles, group, head)), origin);
      const InkColours& ink = all.style.ink;
      const bool off = is_off(maps.trace().request.edits, one),
                 chosen = one.layer == look.head.layer && one.head == look.head.head;
      const Rgb of_name = off || !titles[i].named ? ink.dim : ink.accent;
      add_head_title(scene.drawing, titles[i], {line.x, line.y}, 1,
                     {.head = off      ? ink.dim
                              : chosen ? ink.accent
                                       : ink.text,
                      .value = ink.dim,
                      .beside = of_name,
                      .below = of_name},
                     all.style);
    }
    all.draw_map(scene, i, moved(layout.map_of(group, head), origin), lit);
  }
  scene.drawing.width = look.width;
  scene.drawing.height = layout.content_height + 4;
  return scene;
}

PageScene scene_of_flow(PageMaps& maps, const PageLook& look, const TextWidth& measure) {
  const Trace& trace = maps.trace();
  const Stack stack = look.head.stack;
  std::vector<HeadRef> heads;
  for (const HeadRef& head : maps.heads(stack))
    if ((look.all_heads ? head.layer == look.head.layer : head == look.head) && !is_off(trace.request.edits, head))
      heads.push_back(head);
  const FoldedStack* folded = maps.folded(stack, look.fold, heads);
  std::vector<std::vector<FlowLine>> lines;
  for (const HeadRef& head : heads)
    lines.push_back(folded ? strongest_lines(folded->map(head)) : strongest_lines(trace, head, kNeverStops));
  std::vector<FlowHead> drawn;
  for (std::size_t i = 0; i < heads.size(); ++i)
    drawn.push_back({&lines[i], head_colour(look.scale.theme, static_cast<std::size_t>(heads[i].head))});
  const auto labels = [](const std::vector<Token>& tokens) {
    std::vector<std::string> list;
    for (const Token& token : tokens) list.push_back(piece_label(token));
    return list;
  };
  const auto queries = labels(folded ? folded->fold.queries.tokens : trace.query_tokens(stack).tokens),
             keys = labels(folded ? folded->fold.keys.tokens : trace.key_tokens(stack).tokens);
  const FlowLayout layout = layout_of_flow(queries, keys, look.width, measure);
  const auto shown = [&](const std::optional<CellRef>& cell) {
    return cell && folded ? folded->fold.groups_of(*cell) : cell;
  };
  FlowWishes wishes{
      .threshold = look.threshold, .thickest = 9, .lit = shown(look.hovered ? look.hovered : look.pinned)};
  PageScene scene;
  scene.drawing.hits = flow_hits(layout);
  const auto word_at = [layout, hits = scene.drawing.hits](Point at) -> std::optional<FlowWord> {
    for (std::size_t i = 0; i < hits.size(); ++i)
      if (hits[i].box.contains(at.x, at.y)) {
        const auto index = static_cast<Index>(i);
        return index < layout.queries ? FlowWord{true, index} : FlowWord{false, index - layout.queries};
      }
    return std::nullopt;
  };
  if (look.pointer) wishes.word = word_at(*look.pointer);
  if (!wishes.word && wishes.lit) wishes.word = FlowWord{true, wishes.lit->query};
  const auto ink = ink_colours(look.scale.theme);
  add_flow(scene.drawing, layout, drawn, queries, keys, wishes, ink, measure);
  scene.drawing.width = look.width;
  scene.drawing.height = layout.bottom() + 6;
  const auto count =
      std::ranges::count_if(scene.drawing.items, [](const Item& item) { return std::holds_alternative<Curve>(item); });
  scene.beside["lines"] = count;
  const auto of_heads = std::make_shared<const std::vector<std::vector<FlowLine>>>(std::move(lines));
  scene.at = [word_at, of_heads, folded](Point at) -> json {
    const auto word = word_at(at);
    std::vector<FlowHead> all;
    for (const auto& list : *of_heads) all.push_back({&list, {}});
    const auto cell = word ? strongest_of(all, *word) : std::nullopt;
    if (!cell) return {};
    return {{"cell", cell_beside(folded ? folded->fold.cell_of(*cell) : *cell)}};
  };
  return scene;
}

/// Two pictures under one head: what the chosen token looks at in each, and the difference. At a token: the row is its
/// own after a click.
PageScene scene_of_pictures(const ComparedPictures& pictures, const ComparedHead& compared, const PageLook& look,
                            const ColourScale& weights, const ColourScale& differences, const TextWidth& measure) {
  constexpr float kGap = 16;
  const Index query = look.pinned ? look.pinned->query : 0;
  const float height = look.height - kPictureTitle * kSmallLine;
  const auto layouts = compared_layouts(pictures, {2, 0, look.width - 4, height}, kSmallLine, 1, kGap, measure);
  PageScene scene{.picture_of_a = pictures.front().tokens.picture};
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const bool is_difference = pictures[i].side == JointSide::difference;
    const ColourScale& scale = is_difference ? differences : weights;
    add_compared_picture(scene.drawing, layouts[i], pictures[i], {.query = query, .scale = scale}, measure);
    scene.keys.push_back(head_text(look.head) + " " + pictures[i].title + " at " + std::to_string(query));
  }
  scene.drawing.width = look.width;
  scene.drawing.height = layouts.back().height() + 4;
  scene.at = [layouts, query, weights, compared](Point at) -> json {
    for (const PictureLayout& layout : layouts)
      for (Index token = 0; token < layout.grid.tokens(); ++token) {
        if (!layout.box(token).contains(at.x, at.y)) continue;
        Index strongest = 0;
        compared.maps.b.row(token).maxCoeff(&strongest);
        return {{"line", line_of_cells(compared, {query, token}, weights)}, {"cell", cell_beside({token, strongest})}};
      }
    return {};
  };
  return scene;
}

std::optional<PageScene> scene_of_comparison(PageMaps& a, PageMaps& b, const PageLook& look, const TextWidth& measure) {
  const auto compared = compare_head(a.trace(), b.trace(), look.head);
  if (!compared) return std::nullopt;
  const JointStack* stack = &compared->stack;
  const PatternPair& pair = compared->maps;
  const ColourScale weights{.theme = look.scale.theme,
                            .scale = look.scale.scale,
                            .top = nice_top(largest_weight(pair)),
                            .colours = look.scale.colours};
  float apart = 0;
  for (Index i = 0; i < pair.difference.size(); ++i)
    if (const float far = std::abs(pair.difference.data()[i]); std::isfinite(far)) apart = std::max(apart, far);
  const ColourScale differences{.theme = look.scale.theme, .top = nice_range(apart), .diverging = true};
  if (const auto pictures = compared_pictures(a.trace(), b.trace(), pair))
    return scene_of_pictures(*pictures, *compared, look, weights, differences, measure);
  PageScene scene;
  Page page{scene.drawing, measure, ink_colours(look.scale.theme), 15, 12.5f, 10, 12, 0, 0, false};
  page.drawing.width = look.width;
  PrintedMap map{pair.a, &stack->queries, &stack->keys};
  const auto layout_with = [&](const MapAxes& axes) {
    constexpr float kLargestCell = 44;
    return comparison_layout({0, 0, look.width, std::numeric_limits<float>::infinity()}, map.num_queries(),
                             map.num_keys(), axes.queries.metrics, axes.keys.metrics,
                             {page.label, kLineOfText * axes.size, kLargestCell});
  };
  const MapAxes axes = map_axes(page, map, [&](const MapAxes& tried) { return layout_with(tried).front().layout; });
  const ComparisonLayout maps = layout_with(axes);
  add_titles(page.drawing, maps, page.label, look.scale.theme, measure);
  const MapInks inks = joint_inks(*stack, {}, look.scale.theme, page.ink.text, page.ink.dim);
  const auto lit = joint_cell(*stack, look.hovered ? look.hovered : look.pinned, {});
  for (const ComparedMap& at : maps) {
    map.weights = pair.*at.cells;
    page.drawing.add(Rectangle{.box = at.layout.plot, .fill = gap_colour(look.scale.theme)});
    add_map(page, map, axes, at.layout, at.side == JointSide::difference ? differences : weights, true, inks);
    scene.keys.push_back(head_text(look.head) + at.name);
    if (lit) page.drawing.add(cell_outline(cell_box(at.layout, lit->query, lit->key), 5, page.ink.accent, 2));
  }
  const MapLayout& last = maps.back().layout;
  add_nothing_differs(page.drawing, pair.difference, last.plot, look.language,
                      {.measure = measure, .ink = page.ink, .em = page.label, .line = kLineOfText * page.label});
  scene.drawing = std::move(page.drawing);
  scene.drawing.height = last.plot.bottom() + 4;
  scene.at = [maps, weights, compared = *compared](Point at) -> json {
    const JointStack& joint = compared.stack;
    for (const ComparedMap& one : maps) {
      const auto cell = cell_at(one.layout, std::ssize(joint.queries), std::ssize(joint.keys), at.x, at.y);
      if (!cell) continue;
      json found{{"line", line_of_cells(compared, *cell, weights)}};
      if (const auto behind = cells_behind(joint, *cell).b) found["cell"] = cell_beside(*behind);
      return found;
    }
    return {};
  };
  return scene;
}

}  // namespace headlight
