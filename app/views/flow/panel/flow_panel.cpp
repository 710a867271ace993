#include <algorithm>
#include <cmath>

#include "figure/head_name.h"
#include "figure/labels.h"
#include "gui/actions/actions.h"
#include "gui/actions/buttons.h"
#include "gui/actions/look.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/frame/map_view.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/relation_labels.h"
#include "gui/frame/scene.h"
#include "gui/frame/special_columns.h"
#include "gui/frame/stacks.h"
#include "model/head_text.h"
#include "views/flow/flow.h"
#include "views/flow/panel/flow.h"
#include "words/text_words.h"

namespace headlight {
namespace {

/// More could be neither distinguished nor drawn in time.
constexpr std::size_t kMostLines = 800;
/// Distances from one word to the next, in lines of text; where kLargePitch fits, words have a larger font.
constexpr float kMostPitch = 5, kLargePitch = 1.6f;

bool is_shown(const AppState& state, Index head) {
  const auto heads = flow_heads(state);
  return std::ranges::any_of(heads, [&](const HeadRef& shown) { return shown.head == head; });
}

void toggle(Gui& gui, Index head) {
  FlowLook flow = gui.state.view.flow;
  std::vector<Index> heads;
  for (const HeadRef& shown : flow_heads(gui.state)) heads.push_back(shown.head);
  const auto at = std::lower_bound(heads.begin(), heads.end(), head);
  if (at != heads.end() && *at == head) heads.erase(at);
  else heads.insert(at, head);
  flow.heads = std::move(heads);
  gui.push(SetFlow{flow});
}

void head_choices(Gui& gui) {
  FlowLook flow = gui.state.view.flow;
  const auto all = all_heads_of_layer(gui.state);
  if (flat_button(gui, "flow all heads", gui.word(kFlowWords.all_heads), flow.heads == all)) {
    flow.heads = all;
    gui.push(SetFlow{flow});
  }
  explain_item(gui, kFlowWords.tip_heads);
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "flow chosen head", gui.word(kFlowWords.chosen_head), !flow.heads)) {
    flow.heads.reset();
    gui.push(SetFlow{flow});
  }
  explain_item(gui, kFlowWords.tip_heads);
}

/// The layer whose heads have lines, as a menu of all of them.
void layer_menu(Gui& gui) {
  const HeadRef& chosen = gui.state.view.chosen;
  const Index layers = gui.state.trace->num_layers(chosen.stack);
  const auto title = [&](Index layer) { return layer_title(gui.state.settings.language, layer); };
  if (layers < 2) return;
  if (menu_button(gui, "flow layer", title(chosen.layer).c_str())) ImGui::OpenPopup("flow layers");
  explain_item(gui, with_keys(gui, kFlowWords.tip_layer, {Act::previous_layer, Act::next_layer}));
  if (begin_menu_below(gui, "flow layers")) {
    for (Index at = 0; at < layers; ++at)
      if (menu_line(gui, ("flow layer " + std::to_string(at)).c_str(), title(at).c_str(), {}, at == chosen.layer))
        gui.push(ChooseHead{{at, chosen.head, chosen.stack}});
    ImGui::EndPopup();
  }
  ImGui::SameLine(0, 12 * gui.unit);
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + 2 * gui.unit);
}

/// Small weights have most of the slider.
void threshold_slider(Gui& gui) {
  FlowLook flow = gui.state.view.flow;
  ImGui::SameLine(0, 16 * gui.unit);
  ImGui::AlignTextToFramePadding();
  const auto above = [&](double share) { return filled(gui.word(kFlowWords.threshold), {share_text(share)}); };
  coloured_text(gui.colours().dim, above(static_cast<double>(flow.threshold)));
  const float width = ImGui::CalcTextSize(above(0.0999).c_str()).x;
  ImGui::SameLine(ImGui::GetItemRectMin().x - ImGui::GetWindowPos().x + width + 8 * gui.unit);
  float root = std::sqrt(flow.threshold);
  ImGui::BeginGroup();  // what follows on this line begins at its top again
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + (ImGui::GetFrameHeight() - gui.fonts.pixels(TextSize::small)) / 2);
  if (slider(gui, "threshold", root, 0.0f, 1.0f, kFlowWords.tip_threshold, 160 * gui.unit)) {
    flow.threshold = std::clamp(root * root, 0.0f, 1.0f);
    gui.push(SetFlow{flow});
  }
  ImGui::EndGroup();
}

/// Every head of the layer beside its colour; a click shows or hides its lines.
void legend(Gui& gui) {
  const AppState& state = gui.state;
  const Palette& colours = gui.colours();
  const HeadRef& chosen = state.view.chosen;
  const float height = gui.fonts.pixels(TextSize::small) + 6 * gui.unit, room = ImGui::GetContentRegionAvail().x;
  const FlowLegendSizes sizes{.text = gui.fonts.pixels(TextSize::small) / kLineOfEm,
                              .swatch = 16 * gui.unit,
                              .thick = 4 * gui.unit,
                              .gap = 6 * gui.unit,
                              .between = 14 * gui.unit,
                              .line = height + ImGui::GetStyle().ItemSpacing.y,
                              .height = height,
                              .outline = to_rgb(colours.faint)};
  const ImVec2 at = ImGui::GetCursorScreenPos();
  float last = 0;
  const auto scene_with = [&](std::optional<std::size_t> hovered) {
    std::vector<FlowLegendEntry> entries;
    for (Index head = 0; head < state.trace->num_heads(chosen.stack); ++head) {
      const HeadRef of{chosen.layer, head, chosen.stack};
      const HeadName name = name_of_head(gui, of);
      const bool shown = is_shown(state, head), lit = head == chosen.head || hovered == static_cast<std::size_t>(head);
      const Rgb ink = to_rgb(lit ? colours.accent : shown ? colours.text : colours.dim);
      entries.push_back({head, head_label(of), name.words,
                         head_colour(state.settings.theme, static_cast<std::size_t>(head)), ink,
                         name.named ? ink : to_rgb(colours.dim), shown});
    }
    Drawing scene;
    last = add_flow_legend(scene, entries, sizes, 0, room, height / 2, window_measure(gui));
    return scene;
  };
  Drawing scene = scene_with(std::nullopt);
  const auto [hovered, clicked] = scene_buttons(gui, scene, at);
  if (hovered) {
    scene = scene_with(hovered);
    show_tip(gui, gui.word(kFlowWords.tip_head));
  }
  if (clicked) toggle(gui, static_cast<Index>(*clicked));
  paint_scene(gui, scene, {.origin = at});
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({room, last + height / 2});
}

/// The words of both sides: tokens, or groups of them where they are folded.
struct Sides {
  const std::vector<Token>& queries;
  const std::vector<Token>& keys;
  const FoldedStack* folded = nullptr;

  /// The row and the column of a cell of the pattern; nothing where it is folded away.
  std::optional<CellRef> groups_of(const std::optional<CellRef>& cell) const {
    return cell && folded ? folded->fold.groups_of(*cell) : cell;
  }
  /// The cell of the pattern for a row and a column: of groups that of the first tokens.
  CellRef cell(const CellRef& groups) const { return folded ? folded->fold.cell_of(groups) : groups; }
};

Sides sides_of(const AppState& state) {
  const Stack stack = state.view.chosen.stack;
  if (const FoldedStack* folded = shown_fold(state, stack))
    return {folded->fold.queries.tokens, folded->fold.keys.tokens, folded};
  return {state.trace->query_tokens(stack).tokens, state.trace->key_tokens(stack).tokens};
}

/// A column of words, at least as wide as its name.
struct FlowColumn {
  std::string name;
  std::vector<std::string> labels = {};
  float width = 0;
};

FlowColumn column_of(const std::string& name, const std::vector<Token>& tokens, float em, const TextWidth& measure) {
  FlowColumn column{name, {}, measure(name, em)};
  column.labels.reserve(tokens.size());
  for (const Token& token : tokens) {
    column.labels.push_back(axis_label(token));
    column.width = std::max(column.width, measure(column.labels.back(), em));
  }
  return column;
}

/// The heads of the last answer about lines that are still wanted: it may be about another model, of other stacks, or
/// about tokens folded otherwise.
std::vector<FlowHead> drawn_heads(const AppState& state) {
  std::vector<FlowHead> heads;
  const Stack stack = state.view.chosen.stack;
  if (!state.flow || state.flow->question.heads.empty() || state.flow->question.heads.front().stack != stack)
    return heads;
  const Trace& drawn = *state.flow->question.trace;
  if (!drawn.has(stack) || drawn.queries(stack) != state.trace->queries(stack) ||
      drawn.keys(stack) != state.trace->keys(stack))
    return heads;
  const FoldedStack *of_drawn = fold_of(state.flow->question, stack), *shown = shown_fold(state, stack);
  if (of_drawn ? !shown || !(of_drawn->fold == shown->fold) : shown != nullptr) return heads;
  for (std::size_t i = 0; i < state.flow->heads.size(); ++i)
    heads.push_back({&state.flow->heads[i],
                     head_colour(state.settings.theme, static_cast<std::size_t>(state.flow->question.heads[i].head))});
  return heads;
}

/// Lines to these keys would cover all others.
std::vector<bool> resting_tokens(const std::vector<Token>& keys) {
  std::vector<bool> resting(keys.size());
  std::transform(keys.begin(), keys.end(), resting.begin(), is_resting_token);
  return resting;
}

/// `target · looks`, of one sentence `looks`.
std::string side_name(const Gui& gui, const Words& sentence, const Words& side) {
  const bool cross = gui.state.view.chosen.stack == Stack::cross;
  return (cross ? gui.word(sentence) : std::string()) + gui.word(side);
}

/// Points at the cell of the strongest weight of a word under the pointer; all views show it.
void point_at_word(Gui& gui, const std::vector<FlowHead>& heads, const FlowWord& word, const Sides& sides) {
  const auto strongest = strongest_of(heads, word);
  if (!strongest) return;
  HeadRef head = gui.state.view.chosen;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const auto& lines = *heads[i].lines;
    const auto is_cell = [&](const FlowLine& line) {
      return line.query == strongest->query && line.key == strongest->key;
    };
    const auto found = std::ranges::find_if(lines, is_cell);
    if (found == lines.end()) continue;
    head = gui.state.flow->question.heads[i];
    break;
  }
  const CellRef cell = sides.cell(*strongest);
  gui.push(Hover{head, cell});
  const bool is_pinned = sides.groups_of(gui.state.view.pinned) == strongest;
  if (ImGui::IsMouseClicked(0)) gui.push(Pin{is_pinned ? std::nullopt : std::optional(cell)});
}

void no_lines(Gui& gui, const std::vector<FlowHead>& heads) {
  if (heads.empty()) return dim_text(gui, gui.word(kFlowWords.no_head_shown));
  float largest = 0;
  for (const FlowHead& head : heads)
    if (!head.lines->empty()) largest = std::max(largest, head.lines->front().weight);
  dim_text(gui, std::string(gui.word(kFlowWords.no_line)) + " " + weight_text(largest));
}

void words_and_lines(Gui& gui, FlowLayout layout, const std::vector<FlowHead>& heads, const Sides& sides,
                     const FlowColumn& queries, const FlowColumn& keys, const TextWidth& measure) {
  const AppState& state = gui.state;
  const ImVec2 window = ImGui::GetWindowPos(), origin = ImGui::GetCursorScreenPos();
  const bool stale = is_stale(state) || !state.flow || !(state.flow->question == *flow_question(state));
  FlowWishes wishes{.threshold = state.view.flow.threshold,
                    .thickest = 0.5f * layout.size,
                    .most_lines = kMostLines,
                    .from_y = window.y - origin.y,
                    .to_y = window.y - origin.y + ImGui::GetWindowHeight(),
                    .lit = sides.groups_of(state.view.hovered ? state.view.hovered : state.view.pinned),
                    .pale = resting_tokens(sides.keys),
                    .pinned = sides.groups_of(state.view.pinned),
                    .pin = 1.5f * gui.unit,
                    .opacity = stale ? kStaleOpacity : 1.0f};
  Drawing scene;
  scene.hits = flow_hits(layout);
  if (const auto hit = pointed_hit(gui, scene, origin)) {
    const auto index = static_cast<Index>(*hit);
    wishes.word = index < layout.queries ? FlowWord{true, index} : FlowWord{false, index - layout.queries};
  }
  add_flow(scene, layout, heads, queries.labels, keys.labels, wishes, ink_colours(state.settings.theme), measure);
  paint_scene(gui, scene, {.origin = origin});
  if (wishes.word) point_at_word(gui, heads, *wishes.word, sides);
  ImGui::Dummy({1, layout.bottom()});
}

/// The words and the lines, in what is left of the panel; they scroll where the words are many.
void flow_area(Gui& gui, const std::vector<FlowHead>& heads) {
  const Sides sides = sides_of(gui.state);
  const auto rows = static_cast<float>(std::max(sides.queries.size(), sides.keys.size()));
  ImVec2 room = ImGui::GetContentRegionAvail();
  // Words are smaller where there are many of them, and larger where there are few.
  const auto fits = [&](TextSize size, float pitch) { return (rows + 2) * pitch * gui.fonts.pixels(size) <= room.y; };
  const TextSize size = fits(TextSize::title, kLargePitch) ? TextSize::title
                        : fits(TextSize::body, 1.1f)       ? TextSize::body
                                                           : TextSize::small;
  const float line = gui.fonts.pixels(size), em = line / kLineOfEm;
  const TextWidth measure = window_measure(gui);
  const FlowColumn queries = column_of(side_name(gui, kFlowWords.target, kFlowWords.looks), sides.queries, em, measure);
  const FlowColumn keys =
      column_of(side_name(gui, kFlowWords.source, kFlowWords.is_looked_at), sides.keys, em, measure);
  room.x -= ImGui::GetStyle().ScrollbarSize, room.y -= 1.4f * line;
  FlowLayout layout{.queries = static_cast<Index>(sides.queries.size()),
                    .keys = static_cast<Index>(sides.keys.size()),
                    .pitch = std::clamp(std::floor(room.y / rows), std::ceil(line * 1.05f), kMostPitch * line),
                    .size = em};
  const float between = room.x - queries.width - keys.width - 2 * layout.gap() - 24 * gui.unit;
  layout.centre(room.x, queries.width, keys.width, std::max(4 * line, between), 0);
  // Names and words hang from windows of the same width: what is inside the one is inside the other.
  ImGui::BeginChild("flow frame", {0, 0}, false, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  Drawing names;
  add_flow_sides(names, layout, queries.name, keys.name, line / 2, em, 0, layout.end, to_rgb(gui.colours().dim),
                 measure);
  paint_scene(gui, names, {.origin = ImGui::GetCursorScreenPos()});
  ImGui::Dummy({0, 1.2f * line});
  ImGui::BeginChild("flow lines");
  words_and_lines(gui, layout, heads, sides, queries, keys, measure);
  ImGui::EndChild();
  ImGui::EndChild();
}

}  // namespace

void flow_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (state_card(gui)) return;
  const bool problem = problem_line(gui);
  if (stack_tabs(gui)) ImGui::SameLine(0, 16 * gui.unit);
  head_choices(gui);
  threshold_slider(gui);
  fold_switches(gui, true);
  layer_menu(gui);
  {
    const FontScope title(gui, TextSize::title);
    ImGui::TextUnformatted(head_words(gui, state.view.chosen).c_str());
  }
  if (!state.view.flow.heads && !name_of_head(gui, state.view.chosen).words.empty()) {
    ImGui::SameLine(0, 12 * gui.unit);
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + 4 * gui.unit);  // both stand on one line
    measured_line(gui, state.view.chosen, ImGui::GetContentRegionAvail().x);
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + 4 * gui.unit);
  }
  legend(gui);
  for (const std::string& fold : folds_in_words(gui)) wrapped_dim(gui, fold);
  const bool special = has_pale_columns(gui) && !shown_fold(state, state.view.chosen.stack);
  if (!problem)
    wrapped_dim(gui, std::string(gui.word(kFlowWords.hint)) + (special ? gui.word(kFlowWords.hint_special) : ""));
  const std::vector<FlowHead> heads = drawn_heads(state);
  const auto above = [&](const FlowHead& head) {
    return !head.lines->empty() && head.lines->front().weight >= state.view.flow.threshold;
  };
  if (state.flow && std::ranges::none_of(heads, above)) no_lines(gui, heads);
  flow_area(gui, heads);
}

}  // namespace headlight
