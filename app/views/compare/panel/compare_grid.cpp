// The difference of every head that two answers have.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "figure/labels.h"
#include "gui/actions/actions.h"
#include "gui/actions/buttons.h"
#include "gui/frame/draw.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/relation_labels.h"
#include "gui/frame/scene.h"
#include "gui/frame/stacks.h"
#include "model/head_text.h"
#include "session/shown.h"
#include "views/compare/panel/compare.h"
#include "views/compare/panel/joint_map.h"
#include "views/heads/heads_scene.h"
#include "words/compare_words.h"

namespace headlight {
namespace {

constexpr const char* kOrderNames[] = {"differences by layer", "differences by largest", "differences by mean",
                                       "differences by divergence"};

constexpr float kLeastSide = 80, kMostSide = 180;  // of a head's map
constexpr std::size_t kMany = 32;  // heads: a table where titled maps are not all in sight; of fewer they scroll

void order_buttons(Gui& gui) {
  ImGui::AlignTextToFramePadding();
  coloured_text(gui.colours().dim, gui.word(kCompareWords.order_of_differences));
  for (std::size_t i = 0; i < std::size(kCompareWords.orders); ++i) {
    same_line_if_room(button_width(gui.word(kCompareWords.orders[i].name)), i == 0 ? 4 * gui.unit : 0);
    const auto order = static_cast<DifferenceOrder>(i);
    if (flat_button(gui, kOrderNames[i], gui.word(kCompareWords.orders[i].name), gui.state.view.differences == order))
      gui.push(OrderDifferences{order});
    explain_item(gui, kCompareWords.orders[i].tip, {Act::next_difference_order});
  }
}

/// The meaning of the maps, and the heads without one.
void headline(Gui& gui) {
  const ComparedHeads& compared = *gui.state.comparison->heads;
  const JointStack* stack = compared.stack(gui.state.view.chosen.stack);
  const bool none = stack && shares_no_cell(*stack);
  const bool same = !none && !compared.heads.empty() && compared.largest == 0;
  std::string line =
      gui.word(none                                                       ? kCompareWords.nothing_aligned
               : !same                                                    ? kCompareWords.compare_hint
               : is_of_now(gui.state) && only_unread_heads_off(gui.state) ? kCompareWords.off_in_last_layer
                                                                          : kCompareWords.no_head_differs);
  const auto& words = gui.state.comparison->words;
  if (same && std::ranges::any_of(words, [](const ComparedWord& word) { return word.a != word.b; }))
    line += std::string(gui.chinese() ? "" : " ") + gui.word(kCompareWords.only_the_guess);
  if (compared.only_a > 0)
    line += std::string("  ") + gui.word(kCompareWords.heads_only_a) + " " + std::to_string(compared.only_a);
  if (compared.only_b > 0)
    line += std::string("  ") + gui.word(kCompareWords.heads_only_b) + " " + std::to_string(compared.only_b);
  std::vector<std::string> sentences = folds_in_words(gui);
  sentences.insert(sentences.begin(), line);
  const FontScope small(gui, TextSize::small);
  const float room = ImGui::GetContentRegionAvail().x;
  cut_text(gui, whole_sentences(sentences, room), gui.colours().dim, room);
}

/// The maps of all heads, laid out as in the atlas.
struct Differences {
  Gui& gui;
  const JointStack& stack;
  const AppState& state = gui.state;
  HeadsLayout layout = {};
  Point origin = {};
  std::vector<HeadRef> order = {};
  std::vector<HeadTitle> titles = {};  // where maps have any

  float width(const std::string& text) const { return shown_width(gui, text); }
  std::string value_of(const HeadRef& head) const {
    const auto value = order_value(*state.comparison->heads->head(head), state.view.differences);
    return value ? "  " + order_number_text(*value) : std::string();
  }

  void arrange(ImVec2 room) {
    order = heads_by(*state.comparison->heads, state.view.chosen.stack, state.view.differences);
    const bool by_layer = state.view.differences == DifferenceOrder::layer;
    const Index groups = by_layer && !order.empty() ? order.back().layer + 1 : 1;
    HeadsSizes sizes{.text = ImGui::GetFontSize(), .most = kMostSide * gui.unit, .unit = gui.unit};
    if (order.size() <= kMany) sizes.form = HeadsForm::titles;
    if (groups > 1) sizes.layers = width("L" + std::to_string(groups - 1));
    sizes.title = kLeastSide * gui.unit;
    for (const HeadRef& head : order) sizes.title = std::max(sizes.title, width(head_label(head) + value_of(head)));
    const Viewport all = shown_part(stack);
    layout = heads_layout(room.x, room.y, {groups, std::ssize(order) / groups, all.num_queries, all.num_keys}, sizes);
    for (const HeadRef& head : order)
      if (layout.titles)
        titles.push_back(head_title(head, name_of_head(gui, head), value_of(head), layout, gui.unit,
                                    [&](const std::string& text) { return width(text); }));
  }

  /// A map without a title has its name under the pointer.
  void draw(std::size_t number) const {
    const HeadRef& head = order[number];
    const Index group = static_cast<Index>(number) / layout.content.heads,
                at = static_cast<Index>(number) % layout.content.heads;
    const Box box = moved(layout.map_of(group, at), origin);
    const Box title = moved(layout.title_of(group, at, longest_name(layout, titles, group, at)), origin);
    const ImVec2 window = ImGui::GetWindowPos();
    if (box.bottom() < window.y || title.y > window.y + ImGui::GetWindowHeight()) return;
    const std::string id = "difference " + head_text({head.layer, head.head});
    ImGui::SetCursorScreenPos(top_left(title));
    if (ImGui::InvisibleButton(id.c_str(), {std::max(box.w, title.w), title.h + box.h})) gui.push(ChooseHead{head});
    const bool hovered = ImGui::IsItemHovered(), chosen = state.view.chosen == head;
    if (layout.titles)
      paint_head_title(gui, titles[number], title, inks_of_title(gui, titles[number], chosen || hovered));
    else if (hovered) explain_item(gui, head_label(head) + value_of(head));
    const MapLayout cells{.plot = box, .cell = box.w / static_cast<float>(layout.content.keys)};
    const JointMap map{stack, head, state.comparison->heads->head(head)->map};
    const auto cell = draw_joint_map(gui, map, cells, is_fresh(state));
    const float edge = gui.unit;
    if (chosen || (hovered && !layout.titles))
      ImGui::GetWindowDrawList()->AddRect({box.x - edge, box.y - edge}, {box.right() + edge, box.bottom() + edge},
                                          gui.colours().accent, 0, 0, edge);
    gui.name_box(id, box, BoxKind::thumbnail, head);
    if (hovered) hover_joint_cell(gui, head, stack, cell);
  }
};

void all_heads(Gui& gui) {
  const FontScope small(gui, TextSize::small);
  const JointStack* stack = gui.state.comparison->heads->stack(gui.state.view.chosen.stack);
  if (!stack) return wrapped_dim(gui, gui.word(kCompareWords.no_head_in_both));
  Differences all{gui, *stack};
  const ImVec2 room = ImGui::GetContentRegionAvail(), corner = ImGui::GetCursorScreenPos();
  const float edge = 2 * gui.unit;  // for the outline of the chosen one
  all.arrange({room.x - 2 * edge, room.y - 2 * edge});
  if (all.order.empty()) return wrapped_dim(gui, gui.word(kCompareWords.no_head_in_both));
  all.origin = {corner.x + edge, corner.y + edge};
  const TextWidth measure = window_measure(gui);
  Drawing scene;
  add_layer_names(scene, all.layout, all.origin, {}, gui.state.view.chosen.layer, gui.unit, map_style(gui, measure));
  paint_scene(gui, scene, {});
  for (std::size_t i = 0; i < all.order.size(); ++i) all.draw(i);
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy({1, all.layout.content_height});
}

}  // namespace

void compare_grid_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (!state.comparison) return nothing_yet(gui);
  if (const auto& too_long = state.comparison->heads->too_long)
    return wrapped_small(gui,
                         std::string(gui.word(kCompareWords.too_long_to_compare)) + " " + std::to_string(*too_long),
                         gui.colours().warning);
  stack_tabs(gui);
  order_buttons(gui);
  headline(gui);
  ImGui::BeginChild("differences");
  all_heads(gui);
  ImGui::EndChild();
}

}  // namespace headlight
