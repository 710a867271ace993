#include <algorithm>
#include <cmath>

#include "figure/labels.h"
#include "gui/actions/look.h"
#include "gui/actions/possible.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/frame/map_view.h"
#include "gui/frame/relation_labels.h"
#include "gui/frame/scene.h"
#include "gui/question/question.h"
#include "session/shown.h"
#include "views/sentence/panel/sentence.h"
#include "views/sentence/sentence_scene.h"
#include "words/chosen_head_words.h"
#include "words/text_words.h"

namespace headlight {
namespace {

/// Names of heads that a row of the strip has room for: what a head does at other places than relations.
std::vector<std::string> names_of_rows(const Gui& gui, const SentenceContent& content) {
  std::vector<std::string> names;
  for (const SentenceHead& head : content.heads)
    names.push_back(name_of_row(gui.state.settings.language, name_of_head(gui, head.head)));
  return names;
}

/// The side of the question whose words these are.
TextSide side_of(const AppState& state, bool queries) {
  if (!state.trace->encoder) return TextSide::source;
  const Stack stack = state.view.chosen.stack;
  return stack == Stack::self || (stack == Stack::cross && queries) ? TextSide::target : TextSide::source;
}

/// Between words a click joins what was cut; a right click in a word cuts it.
void cuts_between(Gui& gui, const SentenceContent& content, const std::vector<Box>& boxes, bool queries) {
  const TextSide side = side_of(gui.state, queries);
  const Tokens* tokens = shown_tokens(gui.state, side);
  const auto& words = queries ? content.queries : content.keys;
  if (!tokens || !cuts_words(gui.state.document, side)) return;
  const std::size_t begin = sentence_begin(gui.state, side);
  for (std::size_t i = 1; i < boxes.size(); ++i) {
    const auto token = static_cast<std::size_t>(words[i].token);
    if (token == 0 || token >= tokens->size() || boxes[i].y != boxes[i - 1].y) continue;
    const bool onwards = boxes[i - 1].x < boxes[i].x;  // else from right to left
    const Box &first = boxes[onwards ? i - 1 : i], &second = boxes[onwards ? i : i - 1];
    const float middle = (first.right() + second.x) / 2, half = 3 * gui.unit;
    gap_before(gui, side, *tokens, token, {middle - half, boxes[i].y, 2 * half, boxes[i].h}, begin);
  }
}

/// Pins a cell; of the pinned one it asks why.
void press(Gui& gui, const SentenceArc& arc) {
  const AppState& state = gui.state;
  const FoldedStack* folded = shown_fold(state, state.view.chosen.stack);
  const auto words = [&](const CellRef& cell) { return folded ? folded->fold.groups_of(cell) : cell; };
  const bool pinned =
      state.view.pinned && state.view.chosen == arc.head && words(*state.view.pinned) == words(arc.cell);
  if (pinned) explain_cell(gui, *state.view.pinned, InsideTab::why);
  else pin_arc(gui, arc);
}

/// A drag that began on a bar sets its weight.
bool drag_bar(Gui& gui, const SentenceContent& content, const DrawnSentence& drawn) {
  const ImVec2 from = ImGui::GetIO().MouseClickedPos[0], mouse = ImGui::GetIO().MousePos;
  const auto column = std::ranges::find_if(drawn.columns, [&](const Box& box) { return box.contains(from.x, from.y); });
  if (column == drawn.columns.end() || !content.pinned || !ImGui::IsMouseDragging(0)) return false;
  const SentenceHead& head = *content.of(content.pinned->head);
  const CellRef cell = content.arc_of(head, content.query, column - drawn.columns.begin()).cell;
  gui.push(SetWeight{head.head, cell, std::clamp((drawn.bars.bottom() - mouse.y) / drawn.bars.h, 0.0f, 1.0f)});
  return true;
}

/// What the pointer does in the scene, which the last item covers.
void act_on(Gui& gui, const SentenceContent& content, const DrawnSentence& drawn, const PointedSentence& pointed,
            const std::vector<bool>& unknown, SentenceStage& stage) {
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  std::optional<SentenceArc> arc = pointed.arc;
  if (pointed.bar && content.pinned)
    arc = content.arc_of(*content.of(content.pinned->head), content.query, *pointed.bar);
  if (pointed.word) arc = content.heaviest_of(*pointed.word);
  if (hovered && arc && !pointed.word) gui.push(Hover{arc->head, arc->cell});
  const bool drags = active && drag_bar(gui, content, drawn);
  if (ImGui::IsItemDeactivated()) {
    const ImGuiIO& io = ImGui::GetIO();
    const bool in_place = io.MouseDragMaxDistanceSqr[0] < io.MouseDragThreshold * io.MouseDragThreshold;
    if (!in_place || drags) gui.push(EndGesture{});
    else if (hovered && arc) press(gui, *arc);
  }
  if (hovered && pointed.word && static_cast<std::size_t>(*pointed.word) < unknown.size() &&
      unknown[static_cast<std::size_t>(*pointed.word)])
    explain_item(
        gui,
        unknown_hint(
            gui,
            shown_tokens(gui.state, side_of(gui.state, true))
                ->tokens[static_cast<std::size_t>(content.queries[static_cast<std::size_t>(*pointed.word)].token)]));
  if (hovered && pointed.word && !gui.chinese())  // the English of a Chinese word
    if (const std::string gloss(gloss_of(content.queries[static_cast<std::size_t>(*pointed.word)].label));
        !gloss.empty())
      explain_item(gui, gloss);
  if (hovered && pointed.bar) {
    explain_item(gui, kChosenHeadWords.tip_bars);
    stage.types_weight = ImGui::IsMouseDoubleClicked(0) && possible::has_pinned(gui);
  }
  if (hovered && arc && !pointed.word && ImGui::IsMouseReleased(1)) {
    pin_arc(gui, *arc);
    stage.opens_menu = true;
  }
}

void name_parts(Gui& gui, const SentenceContent& content, const DrawnSentence& drawn) {
  for (std::size_t i = 0; i < drawn.words.size(); ++i)
    gui.name_box("word " + std::to_string(i), drawn.words[i], BoxKind::label);
  for (std::size_t j = 0; j < drawn.keys.size(); ++j)
    gui.name_box("key " + std::to_string(j), drawn.keys[j], BoxKind::label);
  for (const DrawnSentence::Arc& arc : drawn.arcs)
    gui.name_box("arc " + std::to_string(arc.arc.query) + " " + std::to_string(arc.arc.key), arc.box(), BoxKind::arc,
                 arc.arc.head, 0, arc.arc.cell);
  for (std::size_t j = 0; j < drawn.columns.size(); ++j)
    gui.name_box("bar " + std::to_string(j), drawn.columns[j], BoxKind::label);
  for (const DrawnSentence::Row& row : drawn.rows)
    gui.name_box("row " + head_text(row.head), row.box, BoxKind::label, row.head);
  if (drawn.bars.h > 0) gui.name_box("row bars", drawn.bars, BoxKind::slider);
  gui.name_box("stage sentence scene", {}, BoxKind::none, content.heads.front().head);
}

}  // namespace

SentenceStage sentence_stage(Gui& gui, const Box& room) {
  const AppState& state = gui.state;
  SentenceStage stage;
  const auto content = shown_sentence(state);
  if (!content) return stage;
  ImGui::SetCursorScreenPos(top_left(room));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2{});
  ImGui::BeginChild("stage scene", {room.w, room.h}, false,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  const float unit = gui.unit;
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const SentenceFrame frame =
      sentence_frame({room.x / unit, room.y / unit, room.w / unit, room.h / unit}, display.x / unit, display.y / unit);
  SentenceWishes wishes{.threshold = state.view.text.arcs,
                        .names = names_of_rows(gui, *content),
                        .theme = state.settings.theme,
                        .language = state.settings.language,
                        .colours = state.settings.colours,
                        .scale = colour_scale(state),
                        .opacity = answer_opacity(gui)};
  const TextSide side = side_of(state, true);
  if (const Tokens* tokens = shown_tokens(state, side))
    for (const SentenceWord& word : content->queries) {
      const auto token = static_cast<std::size_t>(word.token);
      wishes.unknown.push_back(token < tokens->size() && is_unknown(state, side, tokens->tokens[token], gui.cursor));
    }
  if (state.view.hovered_head && !state.view.hovered) wishes.head = state.view.hovered_head;
  const TextWidth measure = window_measure(gui);
  Drawing scene;
  DrawnSentence drawn = add_sentence(scene, *content, frame, wishes, unit, measure);
  cuts_between(gui, *content, drawn.words, true);
  if (!content->one) cuts_between(gui, *content, drawn.keys, false);
  ImGui::SetCursorScreenPos(top_left(room));
  ImGui::InvisibleButton("sentence", {room.w, room.h});
  PointedSentence pointed;
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    pointed = pointed_at(*content, drawn, {mouse.x, mouse.y}, 6 * unit);
  }
  act_on(gui, *content, drawn, pointed, wishes.unknown, stage);
  if (pointed.word || pointed.arc) {
    wishes.word = pointed.word;
    wishes.arc = pointed.arc;
    if (pointed.head) wishes.head.reset();
    scene.items.clear();
    add_sentence(scene, *content, frame, wishes, unit, measure);
  }
  paint_scene(gui, scene, {});
  name_parts(gui, *content, drawn);
  stage.threshold = drawn.threshold;
  stage.above = content->keys.size() > 1 ? drawn.above : -1;
  ImGui::EndChild();
  return stage;
}

std::string arcs_line(const Gui& gui, const SentenceStage& stage) {
  return pairs_above(gui.state.settings.language, stage.above, stage.threshold) + " ▾";
}

void arcs_menu(Gui& gui, const SentenceStage& stage) {
  if (link_button(gui, "arcs", arcs_line(gui, stage).c_str())) ImGui::OpenPopup("arcs");
  explain_item(gui, kTextWords.tip_arcs);
  if (!begin_menu_below(gui, "arcs")) return;
  const std::optional<float> now = gui.state.view.text.arcs;
  const auto choose = [&](const char* name, const std::string& label, std::optional<float> least) {
    if (menu_line(gui, name, label.c_str(), {}, now == least))
      change_text_look(gui, [&](TextLook& look) { look.arcs = least; });
  };
  choose("arcs usual", gui.word(kTextWords.as_many), std::nullopt);
  choose("arcs named", gui.word(kTextWords.names_only), 1.0f);
  for (const float least : {0.8f, 0.5f, 0.3f, 0.1f})
    choose(("arcs " + cell_number(least)).c_str(), filled(gui.word(kTextWords.all_above), {cell_number(least)}), least);
  ImGui::EndPopup();
}

}  // namespace headlight
