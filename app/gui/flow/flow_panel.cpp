#include <algorithm>
#include <cmath>

#include "figure/flow.h"
#include "figure/head_name.h"
#include "figure/labels.h"
#include "gui/actions/actions.h"
#include "gui/actions/fold_switches.h"
#include "gui/actions/look.h"
#include "gui/flow/flow.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/looks.h"
#include "gui/frame/map_view.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/relation_labels.h"
#include "gui/frame/special_columns.h"
#include "gui/frame/stacks.h"
#include "model/head_text.h"
#include "words/flow_words.h"

namespace headlight {
namespace {

/// More would be neither told apart nor drawn in time.
constexpr std::size_t kMostLines = 800;
/// Lines of text from one word to the next; where there is room for so many words are larger.
constexpr float kMostPitch = 5, kLargePitch = 1.6f;
/// Pieces of all lines together, and of one: few lines are drawn rounder. A frame's corners must fit 16-bit numbers.
constexpr int kMostSegments = 11000, kLeastOfLine = 12, kMostOfLine = 32;

bool is_shown(const AppState& state, Index head) {
  const auto heads = flow_heads(state);
  return std::any_of(heads.begin(), heads.end(), [&](const HeadRef& shown) { return shown.head == head; });
}

void toggle(Gui& gui, Index head) {
  FlowLook flow = gui.state.view.flow;
  std::vector<Index> heads;
  for (const HeadRef& shown : flow_heads(gui.state)) heads.push_back(shown.head);
  const auto place = std::lower_bound(heads.begin(), heads.end(), head);
  if (place != heads.end() && *place == head) heads.erase(place);
  else heads.insert(place, head);
  flow.heads = std::move(heads);
  gui.say(SetFlow{flow});
}

void head_choices(Gui& gui) {
  FlowLook flow = gui.state.view.flow;
  const auto all = all_heads_of_layer(gui.state);
  if (flat_button(gui, "flow all heads", gui.word(kFlowWords.all_heads), flow.heads == all)) {
    flow.heads = all;
    gui.say(SetFlow{flow});
  }
  explain_item(gui, kFlowWords.tip_heads);
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "flow chosen head", gui.word(kFlowWords.chosen_head), !flow.heads)) {
    flow.heads.reset();
    gui.say(SetFlow{flow});
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
        gui.say(ChooseHead{{at, chosen.head, chosen.stack}});
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
    gui.say(SetFlow{flow});
  }
  ImGui::EndGroup();
}

/// Every head of the layer beside its colour; a click shows or hides its lines.
void legend(Gui& gui) {
  const AppState& state = gui.state;
  const FontScope small(gui, TextSize::small);
  const float swatch = 16 * gui.unit, gap = 14 * gui.unit;
  const float right = ImGui::GetWindowPos().x + ImGui::GetContentRegionMax().x;
  const HeadRef& chosen = state.view.chosen;
  for (Index head = 0; head < state.trace->num_heads(chosen.stack); ++head) {
    const HeadRef of{chosen.layer, head, chosen.stack};
    const HeadName called = name_of_head(gui, of);
    const std::string label = head_label(of) + (called.words.empty() ? "" : " ");
    const std::string words = gui.fonts.shown(called.words);
    const float begin = ImGui::CalcTextSize(label.c_str()).x, text = begin + ImGui::CalcTextSize(words.c_str()).x;
    const float height = ImGui::GetTextLineHeight() + 6 * gui.unit;
    const float width = swatch + 6 * gui.unit + text;
    if (head > 0 && ImGui::GetItemRectMax().x + gap + width <= right) ImGui::SameLine(0, gap);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::string name = "flow head " + std::to_string(head);
    if (ImGui::InvisibleButton(name.c_str(), {width, height})) toggle(gui, head);
    const bool hovered = ImGui::IsItemHovered(), shown = is_shown(state, head);
    gui.name_item(name);
    explain_item(gui, kFlowWords.tip_head);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float y = at.y + height / 2;
    const ImU32 colour = to_imgui(head_colour(state.settings.theme, static_cast<std::size_t>(head)));
    if (shown) list.AddRectFilled({at.x, y - 2 * gui.unit}, {at.x + swatch, y + 2 * gui.unit}, colour);
    else list.AddRect({at.x, y - 2 * gui.unit}, {at.x + swatch, y + 2 * gui.unit}, gui.colours().faint);
    const ImVec2 line{at.x + swatch + 6 * gui.unit, at.y + 3 * gui.unit};
    const ImU32 ink = hovered || head == chosen.head ? gui.colours().accent
                      : shown                        ? gui.colours().text
                                                     : gui.colours().dim;
    list.AddText(line, ink, label.c_str());
    list.AddText({line.x + begin, line.y}, called.doubtful ? gui.colours().dim : ink, words.c_str());
  }
}

/// The words of both sides: tokens, or groups of them where they are folded.
struct Sides {
  const std::vector<Token>& queries;
  const std::vector<Token>& keys;
  const FoldedStack* folded = nullptr;

  /// The row and the column of a cell of the pattern; nothing where it is folded away.
  std::optional<CellRef> place(const std::optional<CellRef>& cell) const {
    if (!cell || !folded) return cell;
    const auto row = folded->fold.queries.group(cell->query), column = folded->fold.keys.group(cell->key);
    return row && column ? std::optional(CellRef{*row, *column}) : std::nullopt;
  }
  /// The cell of the pattern that a row and a column stand for: of groups the first tokens.
  CellRef cell(const CellRef& place) const {
    if (!folded) return place;
    return {folded->fold.queries.groups[static_cast<std::size_t>(place.query)].first,
            folded->fold.keys.groups[static_cast<std::size_t>(place.key)].first};
  }
};

Sides sides_of(const AppState& state) {
  const Stack stack = state.view.chosen.stack;
  if (const FoldedStack* folded = shown_fold(state, stack))
    return {folded->fold.queries.tokens, folded->fold.keys.tokens, folded};
  return {state.trace->query_tokens(stack).tokens, state.trace->key_tokens(stack).tokens};
}

std::vector<std::string> labels_of(Gui& gui, const std::vector<Token>& tokens, float& widest) {
  std::vector<std::string> labels;
  labels.reserve(tokens.size());
  for (const Token& token : tokens) {
    labels.push_back(gui.fonts.shown(axis_label(token)));
    widest = std::max(widest, ImGui::CalcTextSize(labels.back().c_str()).x);
  }
  return labels;
}

/// The heads of the last answer about lines that are still wanted: it may be about another model, of other stacks, or about
/// tokens folded otherwise.
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

void draw_line(const Gui& gui, ImDrawList& list, const Curve& curve, float opacity, int segments) {
  const float middle = (curve.from.x + curve.to.x) / 2;
  // A line of less than a pixel is a pixel wide and so much fainter.
  const float faint = std::clamp(curve.width / gui.unit, 0.4f, 1.0f);
  list.AddBezierCubic({curve.from.x, curve.from.y}, {middle, curve.from.y}, {middle, curve.to.y},
                      {curve.to.x, curve.to.y}, to_imgui(curve.colour, curve.opacity * faint * opacity),
                      std::max(curve.width, gui.unit), segments);
}

/// Lines to these keys would cover all others.
std::vector<bool> resting_places(const std::vector<Token>& keys) {
  std::vector<bool> resting(keys.size());
  std::transform(keys.begin(), keys.end(), resting.begin(), is_resting_place);
  return resting;
}

/// The columns of words at the edges of the area; rows as high as there is room for.
FlowLayout flow_layout(const Sides& sides, float query_width, float key_width, ImVec2 room, float unit) {
  FlowLayout layout{.queries = static_cast<Index>(sides.queries.size()), .keys = static_cast<Index>(sides.keys.size())};
  const float line = ImGui::GetTextLineHeight(), gap = 0.4f * line;
  const auto rows = static_cast<float>(std::max(layout.queries, layout.keys));
  layout.size = line / 1.25f;
  layout.pitch = std::clamp(std::floor(room.y / rows), std::ceil(line * 1.05f), kMostPitch * line);
  const float between = std::max(4 * line, room.x - query_width - key_width - 2 * gap - 24 * unit);
  const float begin = std::max(0.0f, (room.x - between - query_width - key_width - 2 * gap) / 2);
  layout.left = std::floor(begin + query_width + gap);
  layout.right = std::floor(layout.left + between);
  return layout;
}

struct SideNames {
  std::string query, key;
};

SideNames side_names(const Gui& gui) {
  const bool cross = gui.state.view.chosen.stack == Stack::cross;
  const auto name = [&](const Words& sentence, const Words& side) {
    return (cross ? gui.word(sentence) : std::string()) + gui.word(side);
  };
  return {name(kFlowWords.target, kFlowWords.looks), name(kFlowWords.source, kFlowWords.is_looked_at)};
}

void draw_side_names(Gui& gui, const FlowLayout& layout) {
  const auto [query, key] = side_names(gui);
  const float x = ImGui::GetWindowPos().x, y = ImGui::GetCursorScreenPos().y, gap = 0.4f * ImGui::GetTextLineHeight();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddText({std::max(x, x + layout.left - gap - ImGui::CalcTextSize(query.c_str()).x), y}, gui.colours().dim,
               query.c_str());
  list.AddText({x + layout.right + gap, y}, gui.colours().dim, key.c_str());
  ImGui::Dummy({0, ImGui::GetTextLineHeight() * 1.2f});
}

/// The word under the pointer: left of the lines the queries', right of them the keys'.
std::optional<FlowWord> pointed_word(const Gui& gui, const FlowLayout& layout) {
  if (!ImGui::IsWindowHovered()) return std::nullopt;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool query = mouse.x <= layout.left, key = mouse.x >= layout.right;
  if (!query && !key) return std::nullopt;
  if (mouse.x < layout.left - 200 * gui.unit || mouse.x > layout.right + 200 * gui.unit) return std::nullopt;
  const auto row = layout.row_at(mouse.y, query ? layout.queries : layout.keys);
  return row ? std::optional(FlowWord{query, *row}) : std::nullopt;
}

/// The cell that a pointed word means, in every view: its strongest weight.
void point_at_word(Gui& gui, const std::vector<FlowHead>& heads, const FlowWord& word, const Sides& sides) {
  const auto place = strongest_of(heads, word);
  if (!place) return;
  HeadRef head = gui.state.view.chosen;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const auto& lines = *heads[i].lines;
    const auto is_cell = [&](const FlowLine& line) { return line.query == place->query && line.key == place->key; };
    const auto found = std::find_if(lines.begin(), lines.end(), is_cell);
    if (found == lines.end()) continue;
    head = gui.state.flow->question.heads[i];
    break;
  }
  const CellRef cell = sides.cell(*place);
  gui.say(Hover{head, cell});
  const bool is_pinned = sides.place(gui.state.view.pinned) == place;
  if (ImGui::IsMouseClicked(0)) gui.say(Pin{is_pinned ? std::nullopt : std::optional(cell)});
}

void no_lines(Gui& gui, const std::vector<FlowHead>& heads) {
  if (heads.empty()) return dim_text(gui, gui.word(kFlowWords.no_head_shown));
  float largest = 0;
  for (const FlowHead& head : heads)
    if (!head.lines->empty()) largest = std::max(largest, head.lines->front().weight);
  dim_text(gui, std::string(gui.word(kFlowWords.no_line)) + " " + weight_text(largest));
}

void name_words(Gui& gui, const FlowLayout& layout) {
  const float width = 40 * gui.unit;
  const auto top = [&](Index row) { return layout.top + layout.pitch * static_cast<float>(row); };
  for (Index i = 0; i < layout.queries; ++i)
    gui.name_box("flow query " + std::to_string(i), {layout.left - width, top(i), width, layout.pitch}, BoxKind::label);
  for (Index j = 0; j < layout.keys; ++j)
    gui.name_box("flow key " + std::to_string(j), {layout.right, top(j), width, layout.pitch}, BoxKind::label);
}

void words_and_lines(Gui& gui, FlowLayout layout, const std::vector<FlowHead>& heads, const Sides& sides,
                     const std::vector<std::string>& queries, const std::vector<std::string>& keys) {
  const AppState& state = gui.state;
  const ImVec2 window = ImGui::GetWindowPos(), origin = ImGui::GetCursorScreenPos();
  layout.left += window.x, layout.right += window.x, layout.top = origin.y;
  const auto word = pointed_word(gui, layout);
  const FlowWishes wishes{.threshold = state.view.flow.threshold,
                          .thickest = 0.5f * layout.size,
                          .most_lines = kMostLines,
                          .from_y = window.y,
                          .to_y = window.y + ImGui::GetWindowHeight(),
                          .word = word,
                          .lit = sides.place(state.view.hovered ? state.view.hovered : state.view.pinned),
                          .pale = resting_places(sides.keys)};
  const auto measure = [](std::string_view text, float) {
    return ImGui::CalcTextSize(text.data(), text.data() + text.size()).x;
  };
  const FlowItems items = flow_items(layout, heads, queries, keys, wishes, ink_colours(state.settings.theme), measure);
  const bool stale = is_stale(state) || !state.flow || !(state.flow->question == *flow_question(state));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const int lines = std::max(1, static_cast<int>(items.lines.size()));
  const int segments = std::clamp(kMostSegments / lines, kLeastOfLine, kMostOfLine);
  for (const Curve& line : items.lines) draw_line(gui, list, line, stale ? kStaleOpacity : 1.0f, segments);
  if (const auto pinned = sides.place(state.view.pinned))
    draw_line(gui, list,
              {.from = {layout.left, layout.middle(pinned->query)},
               .to = {layout.right, layout.middle(pinned->key)},
               .width = 1.5f * gui.unit,
               .colour = ink_colours(state.settings.theme).accent},
              1, kMostOfLine);
  for (const Text& text : items.words) {
    const Box box = bounds(text);
    list.AddText({std::round(box.x), std::round(text.at.y - ImGui::GetTextLineHeight() / 2)}, to_imgui(text.colour),
                 text.text.c_str());
  }
  if (gui.probe) name_words(gui, layout);
  if (word) point_at_word(gui, heads, *word, sides);
  ImGui::Dummy({1, layout.bottom() - layout.top});
}

/// The words and the lines, in what is left of the panel; they scroll where the words are many.
void flow_area(Gui& gui, const std::vector<FlowHead>& heads) {
  const AppState& state = gui.state;
  const Sides sides = sides_of(state);
  // Words are smaller where there are many of them, and larger where there are few.
  const auto rows = static_cast<float>(std::max(sides.queries.size(), sides.keys.size()) + 2);
  const auto fits = [&](TextSize size, float pitch) {
    return rows * pitch * gui.fonts.pixels(size) <= ImGui::GetContentRegionAvail().y;
  };
  const FontScope size(gui, fits(TextSize::title, kLargePitch) ? TextSize::title
                            : fits(TextSize::body, 1.1f)       ? TextSize::body
                                                               : TextSize::small);
  // The words' sides are at least as wide as their names.
  const SideNames names = side_names(gui);
  float query_width = ImGui::CalcTextSize(names.query.c_str()).x, key_width = ImGui::CalcTextSize(names.key.c_str()).x;
  const auto queries = labels_of(gui, sides.queries, query_width);
  const auto keys = labels_of(gui, sides.keys, key_width);
  ImVec2 room = ImGui::GetContentRegionAvail();
  room.x -= ImGui::GetStyle().ScrollbarSize, room.y -= 1.4f * ImGui::GetTextLineHeight();
  const FlowLayout layout = flow_layout(sides, query_width, key_width, room, gui.unit);
  // Names and words hang from windows of the same width: what is inside the one is inside the other.
  ImGui::BeginChild("flow frame", {0, 0}, false, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  draw_side_names(gui, layout);
  ImGui::BeginChild("flow lines");
  words_and_lines(gui, layout, heads, sides, queries, keys);
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
  if (const std::string folds = folds_in_words(gui); !folds.empty()) wrapped_dim(gui, folds);
  const bool special = has_pale_columns(gui) && !shown_fold(state, state.view.chosen.stack);
  if (!problem)
    wrapped_dim(gui, std::string(gui.word(kFlowWords.hint)) + (special ? gui.word(kFlowWords.hint_special) : ""));
  const std::vector<FlowHead> heads = drawn_heads(state);
  const auto above = [&](const FlowHead& head) {
    return !head.lines->empty() && head.lines->front().weight >= state.view.flow.threshold;
  };
  if (state.flow && std::none_of(heads.begin(), heads.end(), above)) no_lines(gui, heads);
  flow_area(gui, heads);
}

}  // namespace headlight
