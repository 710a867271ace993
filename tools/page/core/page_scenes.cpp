#include "page/core/page_scenes.h"

#include <algorithm>
#include <cmath>

#include "figure/head_name.h"
#include "figure/labels.h"
#include "figure/map_scene.h"
#include "math/attention.h"
#include "model/head_text.h"
#include "views/sentence/sentence_scene.h"
#include "views/text/picture_scene.h"
#include "views/text/text_scene.h"
#include "words/text_words.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr float kMapType = 12.5f, kMapLine = 1.3f * kMapType, kTextOfPage = 15.5f;  // pixels
/// Numbers are printed in cells of so many pixels.
constexpr float kPrinted = 28;

std::optional<CellRef> cell_in(const json& object, const char* name) {
  const json cell = object.value(name, json());
  if (!cell.is_object()) return std::nullopt;
  return CellRef{cell.value("query", Index{0}), cell.value("key", Index{0})};
}

template <class Enum, std::size_t count>
Enum named_in(const json& object, const char* name, const std::string_view (&names)[count]) {
  const std::string found = object.value(name, "");
  const auto* const at = std::find(std::begin(names), std::end(names), found);
  return static_cast<Enum>(at == std::end(names) ? 0 : at - std::begin(names));
}

json cell_json(const CellRef& cell) { return {{"query", cell.query}, {"key", cell.key}}; }

Viewport whole_part(const PageLook& look, const Matrix& map) {
  if (look.part.num_queries > 0) return look.part;
  return {0, map.rows(), 0, map.cols()};
}

/// What is drawn around cells: the pinned one and the one under the pointer, with their rows and columns.
void add_marks(Drawing& scene, const MapLayout& layout, const Viewport& part, const std::optional<CellRef>& shown,
               bool strong, Rgb accent, Rgb faint) {
  if (!shown) return;
  const Index row = shown->query - part.first_query, column = shown->key - part.first_key;
  const bool in_row = row >= 0 && row < part.num_queries, in_column = column >= 0 && column < part.num_keys;
  const Box& plot = layout.plot;
  const float x = plot.x + static_cast<float>(column) * layout.cell, y = plot.y + static_cast<float>(row) * layout.cell,
              thin = std::max(layout.cell, 1.0f);
  // Rows and columns are framed, not tinted: their colours are weights.
  const auto line = [&](const Box& box) { scene.add(Rectangle{.box = box, .line = faint, .width = 1}); };
  if (in_row) line({plot.x, y, plot.w, thin});
  if (in_column) line({x, plot.y, thin, plot.h});
  if (in_row && in_column) scene.add(cell_outline(cell_box(layout, row, column), 5, accent, strong ? 2.5f : 2));
}

/// Beside each row, as dark as the share is large, what rests on special tokens that are left out.
void add_rests(Drawing& scene, const Vector& rests, const MapLayout& layout, const Viewport& part, Rgb colour) {
  for (Index i = 0; i < part.num_queries; ++i)
    scene.add(Rectangle{.box = {layout.plot.x - 4, layout.plot.y + static_cast<float>(i) * layout.cell, 2, layout.cell},
                        .fill = colour,
                        .opacity = rests(part.first_query + i)});
}

}  // namespace

PageLook look_of(const json& object) {
  PageLook look;
  look.head = {object.value("layer", Index{0}), object.value("head", Index{0}),
               static_cast<Stack>(object.value("stack", 0))};
  look.pinned = cell_in(object, "pinned");
  look.hovered = cell_in(object, "hovered");
  if (const json at = object.value("pointer", json()); at.is_array() && at.size() == 2)
    look.pointer = Point{at[0].get<float>(), at[1].get<float>()};
  look.fold = {.special = object.value("foldSpecial", false), .words = object.value("mergeWords", false)};
  if (const json part = object.value("viewport", json()); part.is_object())
    look.part = {part.value("row", Index{0}), part.value("rows", Index{0}), part.value("col", Index{0}),
                 part.value("cols", Index{0})};
  look.scale = {.theme = named_in<Theme>(object, "theme", kThemeNames),
                .scale = object.value("log", false) ? Scale::log : Scale::linear,
                .top = nice_top(object.value("largest", 1.0f)),
                .colours = named_in<ColourMap>(object, "map", kColourNames)};
  if (object.value("signed", false))
    look.scale.diverging = true, look.scale.scale = Scale::linear,
    look.scale.top = nice_range(object.value("largest", 1.0f));
  if (const json range = object.value("range", json()); range.is_string())
    if (const auto known = parse_range(range.get<std::string>())) look.range = *known;
  look.scale = in_range(look.scale, look.range);
  look.own_range = object.value("ownRange", false) && !look.range;
  look.edited = object.value("edited", false);
  look.language = named_in<Language>(object, "language", kLanguageNames);
  look.width = object.value("width", 0.0f);
  look.height = object.value("height", 0.0f);
  look.window_width = object.value("windowWidth", 0.0f);
  look.window_height = object.value("windowHeight", 0.0f);
  for (const json& one : object.value("order", json::array()))
    look.order.push_back({one[0].get<Index>(), one[1].get<Index>(), look.head.stack});
  for (const json& one : object.value("numbers", json::array()))
    look.numbers.push_back(one.is_number() ? std::optional(one.get<float>()) : std::nullopt);
  look.measured = object.value("measured", false);
  look.shades = {look.head, named_in<ShadeHeads>(object, "textHeads", kShadeHeadNames),
                 object.value("textColumns", false), object.value("textWords", std::vector<Index>{})};
  look.all_heads = object.value("flowAll", false);
  look.threshold = object.value("threshold", 0.05f);
  return look;
}

ColourScale own_scale_of(ColourScale scale, const Matrix& map) {
  if (scale.diverging) return of_numbers(scale, map);
  scale.top = nice_top(map.maxCoeff());
  return scale;
}

AxisText axis_of(const std::vector<Token>& tokens, Index first, Index count, float size, const TextWidth& measure) {
  constexpr Index kMostLabels = 4096;  // more would not be drawn
  AxisText axis;
  if (count > kMostLabels) return axis;
  axis.words =
      AxisWords(count, [&tokens, first](Index at) { return axis_label(tokens[static_cast<std::size_t>(first + at)]); });
  for (std::size_t at = 0; at < axis.words.size(); ++at)
    axis.metrics.add(axis.words[at], measure(axis.words[at], size));
  return axis;
}

PageScene scene_of_map(PageMaps& maps, const PageLook& look, const TextWidth& measure) {
  const Trace& trace = maps.trace();
  const HeadRef& head = look.head;
  const FoldedStack* folded = maps.folded(head.stack, look.fold, {head});
  const auto& rows = folded ? folded->fold.queries.tokens : trace.query_tokens(head.stack).tokens;
  const auto& columns = folded ? folded->fold.keys.tokens : trace.key_tokens(head.stack).tokens;
  const Matrix& map = maps.map(head, look.fold);
  const Viewport part = whole_part(look, map);
  ColourScale scale = look.scale;
  if (look.own_range && map.size() > 0) scale = own_scale_of(scale, map);
  const MapStyle style{.measure = measure, .ink = ink_colours(scale.theme), .em = kMapType, .line = kMapLine, .gap = 6};
  const AxisText row_words = axis_of(rows, part.first_query, part.num_queries, kMapType, measure),
                 column_words = axis_of(columns, part.first_key, part.num_keys, kMapType, measure);
  const MapLayout layout = layout_map({0, 2, look.width, look.height - 2}, part.num_queries, part.num_keys,
                                      row_words.metrics, column_words.metrics, style.line);
  PageScene scene;
  Drawing& drawing = scene.drawing;
  drawing.width = look.width, drawing.height = layout.plot.bottom() + 2;
  drawing.add(
      Cells{layout.plot, shared(map.block(part.first_query, part.first_key, part.num_queries, part.num_keys)), scale});
  drawing.add(Pen{1, 0.5f}.frame(layout.plot, style.ink.line));
  if (folded && !folded->rests.empty())
    add_rests(drawing, folded->rests[folded->index_of(head)], layout, part, style.ink.dim);
  if (layout.cell >= kPrinted)
    add_numbers(drawing, map, layout, scale,
                {.size = std::min(13.0f, 0.36f * layout.cell), .first = {part.first_query, part.first_key}}, style);
  const auto shown = [&](const std::optional<CellRef>& cell) {
    return cell && folded ? folded->fold.groups_of(*cell) : cell;
  };
  const auto kept = shown(look.pinned), at = shown(look.hovered), lit = at ? at : kept;
  const auto ink = [&](const std::vector<Token>& tokens, Index first) -> LabelInk {
    return [&tokens, first, &style](Index i) {
      const Token& token = tokens[static_cast<std::size_t>(first + i)];
      return token.pad || token.special ? style.ink.dim : style.ink.text;
    };
  };
  const auto of_part = [](std::optional<CellRef> cell, Index CellRef::*side, Index first, Index count) {
    const bool in = cell && (*cell).*side >= first && (*cell).*side < first + count;
    return in ? std::optional((*cell).*side - first) : std::nullopt;
  };
  add_row_labels(drawing, row_words, layout, style, ink(rows, part.first_query),
                 of_part(lit, &CellRef::query, part.first_query, part.num_queries));
  add_column_labels(drawing, column_words, layout, style, ink(columns, part.first_key),
                    of_part(lit, &CellRef::key, part.first_key, part.num_keys));
  add_marks(drawing, layout, part, kept, true, style.ink.accent, style.ink.dim);
  if (at != kept) add_marks(drawing, layout, part, at, false, style.ink.accent, style.ink.dim);
  scene.keys.push_back(head_text(head));
  scene.beside = {
      {"layout",
       {{"x", layout.plot.x}, {"y", layout.plot.y}, {"w", layout.plot.w}, {"h", layout.plot.h}, {"cell", layout.cell}}},
      {"rows", map.rows()},
      {"cols", map.cols()}};
  scene.at = [layout, part, fold = folded ? std::optional(folded->fold) : std::nullopt](Point point) -> json {
    auto cell = cell_at(layout, part.num_queries, part.num_keys, point.x, point.y);
    if (!cell) return {};
    *cell = {cell->query + part.first_query, cell->key + part.first_key};
    return {{"cell", cell_json(fold ? fold->cell_of(*cell) : *cell)}};
  };
  return scene;
}

std::optional<PageScene> scene_of_sentence(PageMaps& maps, const PageLook& look, const TextWidth& measure) {
  const Trace& trace = maps.trace();
  const Stack stack = look.head.stack;
  const auto own = maps.heads(stack);
  if (std::max(trace.queries(stack), trace.keys(stack)) > kThumbnail || trace.is_signed) return std::nullopt;
  maps.complete(stack);
  const FoldedStack* folded = maps.folded(stack, look.fold, heads_of(trace, stack));
  const SentenceArcs& arcs = maps.arcs(look.edited);
  auto content = sentence_content(trace, folded, arcs, look.head, look.pinned, &own);
  if (!content) return std::nullopt;
  SentenceWishes wishes{.ground = background_of(look.scale.theme),
                        .theme = look.scale.theme,
                        .language = look.language,
                        .colours = look.scale.colours};
  for (const SentenceHead& head : content->heads)
    wishes.names.push_back(name_of_row(look.language, maps.name(look.language, head.head, look.edited, look.measured)));
  for (const SentenceWord& word : content->queries)
    wishes.unknown.push_back(!trace.query_tokens(stack).tokens[static_cast<std::size_t>(word.token)].known);
  const SentenceFrame frame = sentence_frame({0, 0, look.width, look.height}, look.window_width, look.window_height);
  PageScene scene;
  scene.drawing.width = look.width, scene.drawing.height = look.height;
  DrawnSentence drawn = add_sentence(scene.drawing, *content, frame, wishes, 1, measure);
  constexpr float kNear = 6;
  if (look.pointer) {
    const PointedSentence pointed = pointed_at(*content, drawn, *look.pointer, kNear);
    if (pointed.word || pointed.arc) {
      wishes.word = pointed.word, wishes.arc = pointed.arc;
      scene.drawing.items.clear(), scene.drawing.hits.clear();
      add_sentence(scene.drawing, *content, frame, wishes, 1, measure);
    }
  }
  if (content->keys.size() > 1) scene.beside["legend"] = pairs_above(look.language, drawn.above, drawn.threshold);
  const auto all = std::make_shared<const std::pair<SentenceContent, DrawnSentence>>(*std::move(content), drawn);
  scene.at = [all](Point point) -> json {
    const SentenceContent& of = all->first;
    const PointedSentence pointed = pointed_at(of, all->second, point, kNear);
    std::optional<SentenceArc> arc = pointed.arc;
    if (pointed.bar && of.pinned) arc = of.arc_of(*of.of(of.pinned->head), of.query, *pointed.bar);
    if (pointed.word) arc = of.heaviest_of(*pointed.word);
    if (!arc) return {};
    json found{{"cell", cell_json(arc->cell)}, {"layer", arc->head.layer}, {"head", arc->head.head}};
    if (pointed.word) found["word"] = *pointed.word;
    return found;
  };
  return scene;
}

PageScene scene_of_text(PageMaps& maps, const PageLook& look, const TextWidth& measure) {
  const Trace& trace = maps.trace();
  const Stack stack = look.head.stack;
  ShadeChoice choice = look.shades;
  if (choice.words.empty() && look.pinned)
    choice.words.push_back(choice.columns ? look.pinned->key : look.pinned->query);
  std::ranges::sort(choice.words);
  const FoldedStack* folded = maps.folded(stack, look.fold, shading_heads(trace, choice));
  const ShadedTexts texts = shaded_texts(trace, folded, stack);
  const Vector shades = shades_of(trace, folded, choice, kNeverStops);
  const std::vector<Index> chosen = words_of_tokens(folded_axis(folded, !choice.columns), choice.words);
  ColourScale scale = look.scale;
  if (shades.size() > 0) scale = in_range(shade_scale(shades, texts.shaded(choice.columns).words, scale), look.range);
  PageScene scene;
  Drawing& drawing = scene.drawing;
  const float between = 24, width = texts.one ? look.width : (look.width - between) / 2;
  const auto& picture = trace.query_tokens().picture;
  for (const bool keys : {false, true}) {
    if (keys && texts.one) break;
    if (picture) {
      TextMarks marks{.shades = shades.size() > 0 ? &shades : nullptr, .scale = scale, .chosen = &chosen};
      const PictureLayout laid_out =
          picture_layout(picture->grid, look.width - 4, look.height - 4, kTextOfPage, 1, measure);
      add_shaded_picture(drawing, moved(laid_out, {2, 2}), trace.query_tokens(), marks, kUsualCover,
                         ink_colours(scale.theme));
      drawing.height = laid_out.height() + 4;
      json tokens = json::array();
      for (Index i = 0; i < picture->grid.tokens(); ++i) tokens.push_back(i);
      scene.beside["tokens"].push_back(std::move(tokens));
      break;
    }
    const ShadedTexts::Side& side = keys ? texts.keys : texts.queries;
    TextLines lines = text_lines(side.words, side.typed, width - 4, kTextOfPage, measure);
    lines.corner = {(keys ? width + between : 0) + 2, 2};
    const bool is_chosen = texts.one || &side == &texts.chosen(choice.columns);
    TextMarks marks{.scale = scale, .hits = keys ? "text key " : "text word "};
    if (texts.one || !is_chosen) marks.shades = shades.size() > 0 ? &shades : nullptr;
    if (is_chosen) marks.chosen = &chosen;
    add_shaded_text(drawing, lines, side.words, marks, ink_colours(scale.theme));
    drawing.height = std::max(drawing.height, lines.corner.y + lines.height() + 2);
    json tokens = json::array();
    for (Index i = 0; i < std::ssize(side.words); ++i)
      tokens.push_back(!folded ? i : (keys ? folded->fold.keys : folded->fold.queries).tokens_of(i).first);
    scene.beside["tokens"].push_back(std::move(tokens));
  }
  drawing.width = look.width;
  scene.beside["shades"] = shades.size() > 0 ? json(std::vector<float>(shades.begin(), shades.end())) : json::array();
  scene.beside["shaded"] = !texts.one && !choice.columns ? 1 : 0;
  scene.beside["one"] = texts.one;
  scene.beside["chosen"] = choice.words;
  if (shades.size() > 0)
    scene.beside["legend"] = shades_in_words(look.language, trace, choice, texts.chosen(choice.columns).words, chosen);
  return scene;
}

std::string line_of_cell(PageMaps& maps, const PageLook& look, const CellRef& cell) {
  const FoldedStack* folded = maps.folded(look.head.stack, look.fold, {look.head});
  const SentenceArcs& arcs = maps.arcs(look.edited);
  // Of a folded cell the name of any of its tokens' cells.
  const NamedArc* arc = nullptr;
  for (const NamedArc* one : arcs.of(look.head))
    if (one->cell == cell || (folded && folded->fold.queries.together(one->cell.query, cell.query) &&
                              folded->fold.keys.together(one->cell.key, cell.key)))
      arc = one;
  const FoldedStack* shown = folded && folded->fold.groups_of(cell) ? folded : nullptr;
  std::string line = lines_of_cell(look.language, cell_of(maps.trace(), look.head, cell, shown), arc, true).front();
  if (const NamedArc* refers = arc ? nullptr : arcs.referring_at(look.head, cell))
    line += " " + measured_in_words(look.language, kTextWords.right_in_texts, *refers) + ".";
  return line;
}

}  // namespace headlight
