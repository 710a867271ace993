#include <algorithm>
#include <cmath>
#include <map>

#include "figure/labels.h"
#include "gui/frame/draw.h"
#include "gui/frame/map_view.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/relation_labels.h"
#include "gui/frame/scene.h"
#include "gui/heads/atlas_layout.h"
#include "gui/heads/derived_maps.h"
#include "gui/heads/grid_parts.h"
#include "gui/heads/heads.h"
#include "model/head_text.h"
#include "session/answer_state.h"
#include "session/head_grid.h"
#include "session/shown.h"
#include "words/chosen_head_words.h"
#include "words/relation_words.h"

namespace headlight {
namespace {

// Pixels of the design: the words beside the maps may always be as wide as the first, never wider than the second, and
// between them than this share of the atlas.
constexpr float kFreeLabel = 44, kMostLabel = 88, kLabelShare = 0.0715f;
constexpr float kSide = 8;  // pixels of the design, left and right of the maps

/// All maps of the atlas share these.
struct Atlas {
  AtlasLayout layout;
  ImVec2 origin;
  AxisLabels labels;
  bool by_layer = false;  // a map a layer, in place of its heads
  bool own_order = false;
  std::map<HeadRef, HeadName> names;
  std::map<HeadRef, std::vector<std::string>> name_lines;  // where names have lines of their own
  float most = 0;                                          // the largest number of that order

  Box at(const Box& box) const { return {origin.x + box.x, origin.y + box.y, box.w, box.h}; }
  /// The height of a title's first line.
  float title_line() const { return layout.title - static_cast<float>(layout.name_lines) * ImGui::GetFontSize(); }
  /// Above a map: the titles of a row begin at one height, as low as the longest name lets them.
  Box title_of(Index group, Index head, const std::vector<HeadRef>& heads) const {
    std::size_t longest = 0;
    const Index first = head - head % layout.columns, end = std::min(first + layout.columns, layout.content.heads);
    for (Index i = first; i < end && layout.name_lines > 0; ++i)
      if (const auto it = name_lines.find(heads[static_cast<std::size_t>(group * layout.content.heads + i)]);
          it != name_lines.end())
        longest = std::max(longest, it->second.size());
    Box title = at(layout.title_of(group, head));
    const float unused = static_cast<float>(layout.name_lines - static_cast<int>(longest)) * ImGui::GetFontSize();
    return {title.x, title.y + unused, title.w, title.h - unused};
  }
};

/// The switch of a head: a disc while the head is on, a ring while it is off. Gives whether the pointer is on it.
bool on_off(Gui& gui, const HeadRef& head, const Box& box, bool off, const std::string& name) {
  ImGui::SetCursorScreenPos(top_left(box));
  if (ImGui::InvisibleButton(name.c_str(), {box.w, box.h})) gui.push_once(SwitchHead{head, !off});
  const bool hovered = ImGui::IsItemHovered();
  gui.name_box(name, box, BoxKind::button);
  explain_item(gui, kChosenHeadWords.tip_on_off);
  const ImVec2 middle{box.x + 5 * gui.unit, box.y + box.h / 2};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImU32 colour = hovered ? gui.colours().action : gui.colours().outline;
  if (off) list.AddCircle(middle, 4.5f * gui.unit, colour, 20, 1.5f * gui.unit);
  else list.AddCircleFilled(middle, 5 * gui.unit, colour, 20);
  return hovered;
}

/// `H3` where its layer is named beside it, else the whole name.
std::string short_title(const Gui& gui, const Atlas& atlas, const HeadRef& head, const std::string& whole) {
  if (atlas.by_layer) return layer_title(gui.state.settings.language, head.layer);
  if (atlas.own_order || atlas.layout.content.groups == 1) return whole;
  return "H" + std::to_string(head.head);
}

/// Above a map: the head, its number in the order, what it does; as much as there is room for.
void title_line(Gui& gui, const Atlas& atlas, const HeadRef& head, const Box& line, bool hovered) {
  const AppState& state = gui.state;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool passed_over = !atlas.by_layer && is_passed_over(state, head);
  const bool faint = passed_over || (!atlas.by_layer && is_off(state.document.edits, head));
  const std::string whole = head_label(head), title = short_title(gui, atlas, head, whole);
  // The short name leaves room for the job of the head.
  const float saved = std::max(0.0f, ImGui::CalcTextSize(whole.c_str()).x - ImGui::CalcTextSize(title.c_str()).x);
  const bool below = atlas.layout.name_lines > 0;
  const std::string value = atlas.by_layer ? std::string() : order_value_text(state, head);
  MeasuredTitle measured;
  const auto width = [&](const std::string& words) { return ImGui::CalcTextSize(gui.fonts.shown(words).c_str()).x; };
  if (!atlas.by_layer && !below) measured = measured_title(head, atlas.names.at(head), value, line.w + saved, width);
  const bool chosen = atlas.by_layer ? head.layer == state.view.chosen.layer : head == state.view.chosen;
  const float text = ImGui::GetFontSize(), y = std::round(line.y + (atlas.title_line() - text) / 2);
  float x = line.x;
  const auto put = [&](const std::string& words, ImU32 colour) {
    list.AddText({x, y}, colour, words.c_str());
    x += ImGui::CalcTextSize(words.c_str()).x;
  };
  const auto ink = [&](bool quiet) {
    return faint ? gui.colours().faint : quiet ? gui.colours().dim : gui.colours().text;
  };
  put(title, chosen || hovered ? gui.colours().accent : ink(false));
  put(below ? value : measured.value, ink(true));
  if (const Index by_hand = atlas.by_layer ? 0 : weights_by_hand(state, head); by_hand > 0)
    put(" " + cut_to(words_by_hand(gui, by_hand), line.right() - x, width), gui.colours().action);
  else put(gui.fonts.shown(measured.relations), ink(measured.quiet));
  if (below && !atlas.by_layer) {
    const HeadName& name = atlas.names.at(head);
    float top = y;
    for (const std::string& part : atlas.name_lines.at(head))
      list.AddText({line.right() - atlas.layout.title_width, top += text}, ink(name.doubtful || !name.relation),
                   gui.fonts.shown(part).c_str());
  }
  gui.name_box("title " + head_text({head.layer, head.head}), line, BoxKind::label);
}

/// Heads in an order of their own on maps without titles: in a corner the head, at the foot its number in the order as
/// a share of the largest; the number itself where it leaves more than half of the map.
void corner_words(Gui& gui, const Atlas& atlas, const HeadRef& head, const Box& box) {
  if (!atlas.own_order || is_passed_over(gui.state, head)) return;
  const float text = ImGui::GetFontSize(), pad = gui.unit;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (const auto value = order_value(gui.state, head); value && atlas.most > 0) {
    const float height = 3 * gui.unit, share = std::clamp(*value / atlas.most, 0.0f, 1.0f);
    list.AddRectFilled({box.x, box.bottom() - height}, bottom_right(box), gui.colours().background);
    list.AddRectFilled({box.x, box.bottom() - height}, {box.x + share * box.w, box.bottom()}, gui.colours().dim);
  }
  std::vector<std::string> lines{head_label(head)};
  const auto width = [](const std::string& line) { return ImGui::CalcTextSize(line.c_str()).x; };
  if (width(lines.front()) + 2 * pad > box.w) lines.front() = head_text({head.layer, head.head});
  if (width(lines.front()) + 2 * pad > box.w || text > 0.35f * box.h) return;
  std::string number = order_value_text(gui.state, head);
  number.erase(0, number.find_first_not_of(' '));
  if (!number.empty() && 2 * text <= 0.45f * box.h) lines.push_back(number);
  const bool chosen = head == gui.state.view.chosen;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const float x = std::round(box.right() - width(lines[i]) - pad), y = box.y + static_cast<float>(i) * text;
    list.AddRectFilled({x - pad, y}, {box.right(), y + text}, gui.colours().background);
    list.AddText({x, y},
                 i > 0    ? gui.colours().dim
                 : chosen ? gui.colours().accent
                          : gui.colours().text,
                 lines[i].c_str());
  }
  gui.name_box("corner " + head_text({head.layer, head.head}), {box.x, box.y, box.w, text}, BoxKind::label);
}

/// The map under the pointer where all are small: large enough to be seen, with its title.
void enlarged(Gui& gui, const HeadRef& head, MapContent content) {
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(map_title(gui, head).c_str());
  if (content.kind != MapKind::rollout) {  // which is no head's
    const HeadName name = name_of_head(gui, head);
    const std::string measured = gui.fonts.shown(name_with_score(name));
    if (!measured.empty() && (name.doubtful || !name.relation)) dim_text(gui, measured);
    else if (!measured.empty()) ImGui::TextUnformatted(measured.c_str());
    if (const std::string value = order_value_text(gui.state, head); !value.empty()) dim_text(gui, value);
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float side = 240 * gui.unit;
  const float rows = static_cast<float>(content.weights->rows()), keys = static_cast<float>(content.weights->cols());
  const float cell = side / std::max(rows, keys);
  const Box map{at.x + (side - keys * cell) / 2, at.y + (side - rows * cell) / 2, keys * cell, rows * cell};
  content.slot = 0;  // the small map keeps its own fading
  draw_cells(gui, *ImGui::GetWindowDrawList(), content, {.plot = map, .cell = cell}, head_opacity(gui, head));
  ImGui::Dummy({side, side});
  ImGui::EndTooltip();
}

/// The word of the column under the pointer, above its map: columns have no labels of their own.
void column_word(Gui& gui, const Atlas& atlas, const MapLayout& layout, const MapContent& content,
                 const CellRef& cell) {
  const auto column = map_column(content, cell.key);
  if (!column || static_cast<std::size_t>(*column) >= atlas.labels.keys.words.size()) return;
  const std::string label = gui.fonts.shown(atlas.labels.keys.words[static_cast<std::size_t>(*column)]);
  const float width = ImGui::CalcTextSize(label.c_str()).x, text = ImGui::GetFontSize(), pad = 3 * gui.unit;
  const float middle = layout.plot.x + (static_cast<float>(*column) + 0.5f) * layout.cell;
  const float x = std::round(std::max(layout.plot.x, middle - width / 2)), y = std::round(layout.plot.y - text - pad);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled({x - pad, y - pad}, {x + width + pad, y + text + pad}, gui.colours().background);
  list.AddText({x, y}, gui.colours().accent, label.c_str());
}

void one_map(Gui& gui, const Atlas& atlas, const HeadRef& head, const Box& box, const Box& title) {
  const AppState& state = gui.state;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::string number = head_text({head.layer, head.head});
  const std::string id = atlas.by_layer ? "layer " + std::to_string(head.layer) : "head " + number;
  bool over_button = false;
  Box line = title;
  if (!atlas.by_layer && title.h > 0) {
    const Box button{title.x, title.y, 17 * gui.unit, atlas.title_line()};
    line = {button.right(), title.y, title.w - button.w, title.h};
    over_button = on_off(gui, head, button, is_off(state.document.edits, head), "on off head " + number);
  }
  ImGui::SetCursorScreenPos(top_left(title));
  if (ImGui::InvisibleButton(id.c_str(), {std::max(box.w, title.w), title.h + box.h}) && !over_button)
    gui.push(ChooseHead{head});
  const bool hovered = ImGui::IsItemHovered() && !over_button;
  if (title.h > 0) title_line(gui, atlas, head, line, hovered);

  MapContent content = whole_content(state, head);
  content.slot = 2 + (static_cast<std::uint64_t>(head.layer) << 32) + static_cast<std::uint64_t>(head.head);
  MapLayout layout;
  layout.plot = box;
  layout.cell = box.w / static_cast<float>(content.region.num_keys);
  const float opacity = atlas.by_layer ? answer_opacity(gui) : head_opacity(gui, head);
  const auto cell = draw_map(gui, list, content, {}, layout, opacity);
  if (title.h <= 0) corner_words(gui, atlas, head, box);
  const bool chosen = atlas.by_layer ? head.layer == state.view.chosen.layer : head == state.view.chosen;
  if (chosen || (hovered && title.h <= 0)) {
    const float edge = title.h > 0 ? 2 * gui.unit : gui.unit;
    list.AddRect({box.x - edge, box.y - edge}, {box.right() + edge, box.bottom() + edge}, gui.colours().accent, 0, 0,
                 edge);
  }
  gui.name_box(id, box, BoxKind::thumbnail, head);
  if (!hovered) return;
  gui.push(Hover{head, cell});
  if (title.h <= 0) enlarged(gui, head, content);
  else if (cell) column_word(gui, atlas, layout, content, *cell);
}

void row_words_beside(Gui& gui, const Atlas& atlas, const MapContent& content) {
  if (atlas.layout.labels <= 0) return;
  const auto lit = gui.state.view.hovered ? gui.state.view.hovered : gui.state.view.pinned;
  const auto lit_row = lit ? map_row(content, lit->query) : std::nullopt;
  for (Index group = 0; group < atlas.layout.content.groups; ++group)
    for (Index head = 0; head < atlas.layout.content.heads; head += atlas.layout.columns) {
      MapLayout layout;
      layout.plot = atlas.at(atlas.layout.map_of(group, head));
      layout.cell = layout.plot.h / static_cast<float>(content.region.num_queries);
      layout.rows = true;
      layout.row_step = label_step(ImGui::GetFontSize(), layout.cell);
      const TextWidth measure = window_measure(gui);
      const auto dim = [&](Index) { return to_rgb(gui.colours().dim); };
      Drawing scene;
      add_row_labels(scene, atlas.labels.queries, layout, map_style(gui, measure), dim, lit_row);
      paint_scene(gui, scene, {});
    }
}

/// The layers at the left: with a bracket around their maps, or as the names of a table's rows.
void layer_names(Gui& gui, const Atlas& atlas) {
  const AtlasLayout& layout = atlas.layout;
  if (layout.content.groups < 2) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float text = ImGui::GetFontSize();
  const auto step = layout.titles ? Index{1} : label_step(text, layout.pitch_y);
  for (Index layer = 0; layer < layout.content.groups; layer += step) {
    const Box bracket = atlas.at(layout.bracket(layer));
    const ImU32 colour = layer == gui.state.view.chosen.layer ? gui.colours().text : gui.colours().dim;
    if (!layout.titles) {
      const std::string name = "L" + std::to_string(layer);
      list.AddText({bracket.x, std::round(bracket.y + (layout.height - text) / 2)}, colour, name.c_str());
      continue;
    }
    const std::string name = layer_title(gui.state.settings.language, layer);
    const float line = bracket.x + text, width = ImGui::CalcTextSize(name.c_str()).x;
    const float tick = 2 * gui.unit;
    for (const float y : {bracket.y, bracket.bottom()}) list.AddLine({line, y}, {line + tick, y}, colour, gui.unit);
    list.AddLine({line, bracket.y}, {line, bracket.bottom()}, colour, gui.unit);
    if (width < bracket.h)
      draw_rotated(list, bracket.x + text / 2, std::round(bracket.y + (bracket.h + width) / 2), colour, name);
  }
}

/// The numbers of the heads above a table's columns.
void column_numbers(Gui& gui, const Atlas& atlas) {
  const AtlasLayout& layout = atlas.layout;
  if (layout.titles || layout.content.groups < 2) return;
  const float room = ImGui::CalcTextSize("H00").x + 4 * gui.unit;
  const auto step = std::max<Index>(1, static_cast<Index>(std::ceil(room / layout.pitch_x)));
  for (Index head = 0; head < layout.content.heads; head += step) {
    const std::string name = "H" + std::to_string(head);
    const Box box = atlas.at(layout.map_of(0, head));
    ImGui::GetWindowDrawList()->AddText(
        {std::round(box.x + (box.w - ImGui::CalcTextSize(name.c_str()).x) / 2), atlas.origin.y}, gui.colours().dim,
        name.c_str());
  }
}

/// The maps of these heads, which follow each other group by group, as far as they are not scrolled away.
void maps_in_sight(Gui& gui, const Atlas& atlas, const std::vector<HeadRef>& heads) {
  const ImVec2 window = ImGui::GetWindowPos();
  const AtlasContent& shown = atlas.layout.content;
  for (Index group = 0; group < shown.groups; ++group)
    for (Index head = 0; head < shown.heads; ++head) {
      const Box box = atlas.at(atlas.layout.map_of(group, head));
      if (box.bottom() < window.y || box.y > window.y + ImGui::GetWindowHeight()) continue;
      one_map(gui, atlas, heads[static_cast<std::size_t>(group * shown.heads + head)], box,
              atlas.title_of(group, head, heads));
    }
}

void all_maps(Gui& gui) {
  const AppState& state = gui.state;
  const FontScope small(gui, TextSize::small);
  const Trace& trace = *state.trace;
  const Stack stack = state.view.chosen.stack;
  const MapContent content = whole_content(state, {.stack = stack});
  Atlas atlas;
  atlas.labels = axis_labels(gui, content);
  atlas.by_layer = shown_kind(state, stack) == MapKind::rollout;
  const std::vector<HeadRef> order = atlas.by_layer ? layers_of(state) : shown_order(state);
  atlas.own_order = !atlas.by_layer && !order.empty();
  if (atlas.own_order)
    for (const HeadRef& head : order) atlas.most = std::max(atlas.most, order_value(state, head).value_or(0));
  // In an order of their own the heads follow each other like those of a single layer.
  const AtlasContent shown{.groups = order.empty() ? trace.num_layers(stack) : 1,
                           .heads = order.empty() ? trace.num_heads(stack) : static_cast<Index>(order.size()),
                           .rows = content.region.num_queries,
                           .keys = content.region.num_keys,
                           .words = shown_grid(state) != GridShow::glance};
  const ImVec2 room = ImGui::GetContentRegionAvail(), corner = ImGui::GetCursorScreenPos();
  const float narrow = gui.least_atlas > 0 ? std::min(room.x, gui.least_atlas) : room.x;
  const float most = std::round(std::clamp(kLabelShare * narrow, kFreeLabel * gui.unit, kMostLabel * gui.unit));
  const auto width_of = [&](const std::string& part) { return ImGui::CalcTextSize(gui.fonts.shown(part).c_str()).x; };
  AxisWords& rows = atlas.labels.queries.words;
  // Of rows with numbers one word alone is read.
  for (std::size_t i = 0; !atlas.labels.queries.numbers && i < rows.size(); ++i)
    rows.set(i, cut_to(rows[i], most, width_of));
  const std::vector<HeadRef> heads = order.empty() ? heads_of(trace, stack) : order;
  const float text = ImGui::GetFontSize(), edge = 2 * gui.unit;  // room for the outline of the chosen one
  AtlasSizes sizes{.text = text,
                   .labels = std::min(atlas.labels.queries.metrics.widest, most),
                   .layers = ImGui::CalcTextSize(trace.num_layers(stack) > 10 ? "L00" : "L0").x,
                   .most = 320 * gui.unit,
                   .unit = gui.unit,
                   .least_width = narrow - 2 * edge};
  atlas.layout = atlas_layout(room.x - 2 * edge, room.y - 2 * edge, shown, sizes);
  if (atlas.layout.titles && !atlas.by_layer) {  // a table has no names
    for (const HeadRef& head : heads) {
      const HeadName& name = atlas.names.emplace(head, name_of_head(gui, head)).first->second;
      sizes.name = std::max(sizes.name, ImGui::CalcTextSize(brief_name(name.words).c_str()).x);
    }
    atlas.layout = atlas_layout(room.x - 2 * edge, room.y - 2 * edge, shown, sizes);
  }
  atlas.origin = {corner.x + edge, corner.y + edge};
  const auto width = [&](const std::string& words) { return ImGui::CalcTextSize(gui.fonts.shown(words).c_str()).x; };
  const auto lines = static_cast<std::size_t>(atlas.layout.name_lines);
  for (const auto& [head, name] : atlas.names)
    if (lines > 0) atlas.name_lines[head] = name_in_lines(name, atlas.layout.title_width, lines, width);
  layer_names(gui, atlas);
  column_numbers(gui, atlas);
  row_words_beside(gui, atlas, content);
  maps_in_sight(gui, atlas, heads);
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy({1, atlas.layout.content_height});
}

}  // namespace

std::string order_value_text(const AppState& state, const HeadRef& head) {
  const auto value = order_value(state, head);
  return value ? "  " + order_number_text(*value) : std::string();
}

float head_opacity(const Gui& gui, const HeadRef& head) {
  const float fresh = answer_opacity(gui);
  if (is_off(gui.state.document.edits, head)) return fresh * 0.35f;
  return is_passed_over(gui.state, head) ? fresh * 0.2f : fresh;
}

float atlas_room(const Gui& gui, float width) { return width - 2 * kSide * gui.unit; }

void atlas_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (state.view.view != View::heads && state_card(gui)) return;  // in View::heads the stage has the card
  if (answer_state(state).kind != AnswerState::Kind::shown) return;
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const float side = kSide * gui.unit, header = 64 * gui.unit;
  atlas_header(gui, {at.x + side, at.y, size.x - 2 * side, header});
  const float done = gui.work.computing ? gui.work.computing_progress
                     : gui.work.reading ? gui.work.reading_progress
                                        : 0;
  if (done > 0 && done < 1)
    ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + size.x * done, at.y + 2 * gui.unit}, gui.colours().action);
  ImGui::SetCursorScreenPos({at.x + side, at.y + header});
  const GridShow grid = shown_grid(state);
  const bool wide = grid == GridShow::relations;
  ImGui::BeginChild("grid", {atlas_room(gui, size.x), size.y - header - 4 * gui.unit}, false,
                    wide ? ImGuiWindowFlags_HorizontalScrollbar : ImGuiWindowFlags_None);
  if (grid == GridShow::relations) relation_table(gui);
  else all_maps(gui);
  ImGui::EndChild();
}

}  // namespace headlight
