// One map of the atlas: its title, its switch, and what the pointer shows of it.
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "figure/head_name.h"
#include "figure/labels.h"
#include "gui/frame/draw.h"
#include "gui/frame/relation_labels.h"
#include "gui/frame/scene.h"
#include "model/head_text.h"
#include "session/head_grid.h"
#include "views/heads/panel/derived_maps.h"
#include "views/heads/panel/grid_parts.h"
#include "words/chosen_head_words.h"

namespace headlight {
namespace {

/// The switch of a head, behind its title: a disc while the head is on and the pointer is on its map, a ring
/// while it is off.
void draw_on_off(Gui& gui, const Box& box, bool off, bool hovered) {
  const ImVec2 middle{box.right() - 6 * gui.unit, box.y + box.h / 2};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(top_left(box), bottom_right(box), gui.colours().background);  // over the end of a long name
  const ImU32 colour = hovered ? gui.colours().action : gui.colours().outline;
  if (off) list.AddCircle(middle, 4.5f * gui.unit, colour, 20, 1.5f * gui.unit);
  else list.AddCircleFilled(middle, 5 * gui.unit, colour, 20);
}

/// What the pointer is at in a map: the word of its column, and where this stands.
struct PointedColumn {
  std::string word;
  float middle = 0;
};

/// The word of the column under the pointer, as columns have no labels: above it where it lies neither on the title nor
/// on the switch behind that, else before the switch; the title is shortened for it.
void column_word(Gui& gui, HeadTitle& title, const PointedColumn& column, const Box& line, const Box& button) {
  const float gap = 8 * gui.unit, wide = shown_width(gui, column.word);
  const auto width = [&](const std::string& words) { return shown_width(gui, words); };
  const float right = line.right(), behind = std::max(line.x + width(title.first_line()), button.right()) + gap;
  float x = std::max(behind, std::min(column.middle - wide / 2, right - wide)), end = right;
  if (x + wide > right) {
    const float name = line.x + width(title.head + title.value + "  ");
    end = button.w > 0 && button.right() + gap + wide > right ? button.x - gap : right;
    x = std::max(name, end - wide);
    title.beside = x - gap - name > 3 * ImGui::GetFontSize() ? cut_to(title.beside, x - gap - name, width) : "";
    title.below.clear();
  }
  const std::string shown = cut_to(column.word, end - x, width);
  if (shown.empty()) return;
  ImGui::GetWindowDrawList()->AddText({std::round(x), line.y}, gui.colours().accent, gui.fonts.shown(shown).c_str());
  gui.name_box("column word", {x, line.y, width(shown), ImGui::GetFontSize()}, BoxKind::label);
}

/// Above a map: the head, its number in the order, what it does; as much as there is room for.
void title_line(Gui& gui, const Atlas& atlas, std::size_t number, const Box& box, bool hovered, const Box& button,
                const std::optional<PointedColumn>& column) {
  const AppState& state = gui.state;
  const HeadRef& head = atlas.heads[number];
  HeadTitle title = atlas.titles[number];
  const bool of_head = !atlas.by_layer;
  const bool faint = of_head && (is_passed_over(state, head) || is_off(state.document.edits, head));
  const bool chosen = of_head ? head == state.view.chosen : head.layer == state.view.chosen.layer;
  TitleInks inks = inks_of_title(gui, title, chosen || hovered, faint);
  if (const Index by_hand = of_head ? weights_by_hand(state, head) : 0; by_hand > 0) {
    const auto width = [&](const std::string& words) { return shown_width(gui, words); };
    title.beside = " " + cut_to(words_by_hand(gui, by_hand), box.w - width(title.head + title.value), width);
    inks.beside = to_rgb(gui.colours().action);
    if (atlas.layout.flows) title.below.clear();
  }
  if (column) column_word(gui, title, *column, {box.x, box.y, box.w, atlas.title_line()}, button);
  paint_head_title(gui, title, box, inks);
  gui.name_box("words " + head_text({head.layer, head.head}),
               {box.x, box.y, shown_width(gui, title.first_line()), atlas.title_line()}, BoxKind::label);
  gui.name_box("title " + head_text({head.layer, head.head}), box, BoxKind::label);
}

/// For heads that are not ordered by layer, on maps without titles: the head in a corner; at the foot the number that
/// orders it, as a share of the largest, and in digits where these leave more than half of the map.
void corner_words(Gui& gui, const Atlas& atlas, const HeadRef& head, const Box& box) {
  if (!atlas.own_order || is_passed_over(gui.state, head)) return;
  const float text = ImGui::GetFontSize(), pad = gui.unit;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (const auto value = order_value(gui.state, head); value && atlas.most > 0) {
    const float height = 3 * gui.unit, share = std::clamp(*value / atlas.most, 0.0f, 1.0f);
    list.AddRectFilled({box.x, box.bottom() - height}, bottom_right(box), gui.colours().background);
    list.AddRectFilled({box.x, box.bottom() - height}, {box.x + share * box.w, box.bottom()}, gui.colours().dim);
  }
  std::vector<std::string> lines{map_label(gui.state.settings.language, *gui.state.trace, head)};
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
  if (!is_of_layers(content.kind)) {  // which is no head's
    const HeadName name = name_of_head(gui, head);
    const std::string measured = gui.fonts.shown(name.words);
    if (!measured.empty() && !name.named) dim_text(gui, measured);
    else if (!measured.empty()) ImGui::TextUnformatted(measured.c_str());
    if (const std::string value = order_value_text(gui.state, head); !value.empty()) dim_text(gui, value);
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float side = 240 * gui.unit;
  const float rows = static_cast<float>(content.weights->rows()), keys = static_cast<float>(content.weights->cols());
  const float cell = side / std::max(rows, keys);
  const Box map{at.x + (side - keys * cell) / 2, at.y + (side - rows * cell) / 2, keys * cell, rows * cell};
  content.slot = 0;  // the small map alone fades
  draw_cells(gui, *ImGui::GetWindowDrawList(), content, {.plot = map, .cell = cell}, head_opacity(gui, head));
  ImGui::Dummy({side, side});
  ImGui::EndTooltip();
}

/// The column under the pointer.
std::optional<PointedColumn> pointed_column(const Atlas& atlas, const MapLayout& layout, const MapContent& content,
                                            const std::optional<CellRef>& cell) {
  const auto column = cell ? map_column(content, cell->key) : std::nullopt;
  if (!column || static_cast<std::size_t>(*column) >= atlas.labels.keys.words.size()) return std::nullopt;
  return PointedColumn{atlas.labels.keys.words[static_cast<std::size_t>(*column)],
                       layout.plot.x + (static_cast<float>(*column) + 0.5f) * layout.cell};
}

}  // namespace

void draw_atlas_map(Gui& gui, const Atlas& atlas, std::size_t number, const Box& box, const Box& title) {
  const AppState& state = gui.state;
  const HeadRef& head = atlas.heads[number];
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::string id = map_name(head, atlas.by_layer);
  const bool switches = !atlas.by_layer && title.h > 0, off = is_off(state.document.edits, head);
  const float title_end =
      switches ? title.x + shown_width(gui, atlas.titles[number].first_line()) + 20 * gui.unit : title.right();
  const Box button{std::min(title_end, title.right()) - 17 * gui.unit, title.y, 17 * gui.unit, atlas.title_line()};
  const std::string called = "on off " + id;
  bool over_button = false;
  if (switches) {  // asked before the map's button, over which it lies
    ImGui::SetCursorScreenPos(top_left(button));
    if (ImGui::InvisibleButton(called.c_str(), {button.w, button.h})) gui.push_once(SwitchHead{head, !off});
    over_button = ImGui::IsItemHovered();
    explain_item(gui, kChosenHeadWords.tip_on_off);
  }
  const ImGuiID switch_item = ImGui::GetItemID();
  ImGui::SetCursorScreenPos(top_left(title));
  if (ImGui::InvisibleButton(id.c_str(), {std::max(box.w, title.w), title.h + box.h}) && !over_button)
    gui.push(ChooseHead{head});
  const ImGuiID map_item = ImGui::GetItemID();
  const bool hovered = ImGui::IsItemHovered() && !over_button;
  MapContent content = whole_content(state, head);
  content.slot = 2 + (static_cast<std::uint64_t>(head.layer) << 32) + static_cast<std::uint64_t>(head.head);
  MapLayout layout;
  layout.plot = box;
  layout.cell = box.w / static_cast<float>(content.region.num_keys);
  const float opacity = atlas.by_layer ? answer_opacity(gui) : head_opacity(gui, head);
  const auto cell = draw_map(gui, list, content, {}, layout, opacity);
  if (title.h > 0)
    title_line(gui, atlas, number, title, hovered, switches ? button : Box{},
               hovered ? pointed_column(atlas, layout, content, cell) : std::nullopt);
  else corner_words(gui, atlas, head, box);
  const bool seen = off || hovered || over_button;
  if (switches) gui.name_box(called, button, seen ? BoxKind::button : BoxKind::none, {}, switch_item);
  if (switches && seen) draw_on_off(gui, button, off, over_button);
  const bool chosen = atlas.by_layer ? head.layer == state.view.chosen.layer : head == state.view.chosen;
  if (chosen || (hovered && title.h <= 0)) {
    const float edge = title.h > 0 ? 2 * gui.unit : gui.unit;
    list.AddRect({box.x - edge, box.y - edge}, {box.right() + edge, box.bottom() + edge}, gui.colours().accent, 0, 0,
                 edge);
  }
  gui.name_box(id, box, BoxKind::thumbnail, head, map_item);
  if (!hovered) return;
  gui.push(Hover{head, cell});
  if (title.h <= 0) enlarged(gui, head, content);
}

}  // namespace headlight
