#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "derived/guess.h"
#include "figure/head_name.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/question/question.h"
#include "gui/question/text_boxes.h"
#include "question/tokenizers.h"
#include "session/shown.h"
#include "words/chosen_head_words.h"
#include "words/sentence_words.h"
#include "words/words.h"

namespace headlight {
namespace {

/// Which side the rows and the columns of the chosen pattern are.
bool is_along(const AppState& state, TextSide side, bool rows) {
  const Stack stack = state.view.chosen.stack;
  if (!state.trace || !state.trace->has(Stack::encoder)) return side == TextSide::source;
  const bool target = stack == Stack::self || (stack == Stack::cross && rows);
  return target == (side == TextSide::target);
}

/// The typed text of a token, the spaces before it included.
std::string_view written(const Tokens& tokens, const Token& token) {
  return std::string_view(tokens.text).substr(token.begin, token.end - token.begin);
}

/// A chip's text. The one space before a word is what parts words; more of them are shown, so that nothing typed is
/// invisible.
std::string chip_text(Gui& gui, const Tokens& tokens, const Token& token) {
  const std::string_view typed = written(tokens, token);
  const bool spaces = without_leading_space(typed).size() + 1 < typed.size();
  return gui.fonts.shown((spaces && !token.special ? "␣" : "") + axis_label(token));
}

/// Where a token can be cut; a piece of one character, as tokenizers of bytes make it, nowhere.
std::vector<std::size_t> cuts_inside(const Gui& gui, std::string_view typed) {
  if (first_invalid_utf8(typed)) return {};
  return cut_points(typed, Split::characters, *gui.state.lexicon);
}

/// The cut inside a token that lies nearest to `x`, as a byte offset into the token, with its position on the screen.
struct InnerCut {
  std::size_t offset = 0;
  float x = 0;
};
std::optional<InnerCut> nearest_inner_cut(Gui& gui, std::string_view typed, float text_x, float x) {
  std::optional<InnerCut> best;
  const auto clusters = cuts_inside(gui, typed);
  for (const std::size_t cut : clusters) {
    const float at = text_x + shown_width(gui, typed.substr(0, cut));
    if (!best || std::abs(at - x) < std::abs(best->x - x)) best = InnerCut{cut, at};
  }
  return best;
}

/// Whether a word begins with the token, by spaces and special tokens; else it is a piece of the one before.
bool begins_word(const Tokens& tokens, std::size_t i) {
  if (tokens.tokens[i].special || tokens.tokens[i - 1].special) return true;
  const std::string_view typed = written(tokens, tokens.tokens[i]);
  return without_leading_space(typed).size() < typed.size();
}

/// The English of a Chinese word of the examples, in the English window; empty where there is none.
std::string_view shown_gloss(const Gui& gui, const Token& token) {
  return gui.chinese() || token.special ? std::string_view{} : gloss_of(token.text);
}

/// The room of a word's gloss behind it, the space before it included.
float gloss_width(const Gui& gui, const Token& token) {
  const std::string gloss(shown_gloss(gui, token));
  if (gloss.empty()) return 0;
  const FontScope small(gui, TextSize::small);
  return ImGui::CalcTextSize(gloss.c_str()).x + 5 * gui.unit;
}

void draw_gloss(const Gui& gui, ImDrawList& list, const Token& token, ImVec2 at, const Box& box) {
  const FontScope small(gui, TextSize::small);
  const float y = std::round(box.y + (box.h - ImGui::GetFontSize()) / 2);
  list.AddText({at.x + 5 * gui.unit, y}, gui.colours().dim, std::string(shown_gloss(gui, token)).c_str());
}

void chip(Gui& gui, TextSide side, const Tokens& tokens, std::size_t i, const Box& box, const std::string& text,
          std::size_t begin, bool unknown) {
  const Token& token = tokens.tokens[i];
  const Palette& colours = gui.colours();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  ImGui::SetCursorScreenPos(top_left(box));
  ImGui::PushID(static_cast<int>(i));
  const bool clicked = ImGui::InvisibleButton("chip", {box.w, box.h});
  const bool hovered = ImGui::IsItemHovered(), cuttable = cuts_words(gui.state.document, side);
  gui.name_box(named(side, "chip " + std::to_string(i)), box, BoxKind::button);
  if (unknown && hovered) explain_item(gui, unknown_hint(gui, token));
  else if (!cuttable && !reads_ids(gui.state.document, side) && !token.special)
    explain_item(gui, kSentenceWords.tip_own_cuts);
  const auto& cell = gui.state.view.hovered ? gui.state.view.hovered : gui.state.view.pinned;
  const bool is_row = is_along(gui.state, side, true), is_column = is_along(gui.state, side, false);
  const Fold* fold = fold_in_view(gui.state);
  const auto is_lit = [&](Index of_cell, bool queries) {
    const auto index = static_cast<Index>(i);
    return of_cell == index || (fold && (queries ? fold->queries : fold->keys).together(of_cell, index));
  };
  const bool lit = cell && ((is_row && is_lit(cell->query, true)) || (is_column && is_lit(cell->key, false)));
  const bool left_out = fold && fold->done.special && token.special;
  const bool faint = token.pad || left_out;
  list.AddRectFilled(top_left(box), bottom_right(box), faint ? colours.panel : colours.button, 4 * gui.unit);
  if (unknown) {
    hatch_unknown(gui, list, box);
    list.AddRect(top_left(box), bottom_right(box), colours.caution, 4 * gui.unit, 0, gui.unit);
  }
  if (lit || hovered)
    list.AddRect(top_left(box), bottom_right(box), lit ? colours.accent : colours.outline, 4 * gui.unit, 0, gui.unit);
  const float pad = 6 * gui.unit;
  const float gloss = gloss_width(gui, token), text_width = ImGui::CalcTextSize(text.c_str()).x;
  const ImVec2 at{std::round(box.x + (box.w - text_width - gloss) / 2),
                  std::round(box.y + (box.h - ImGui::GetFontSize()) / 2)};
  list.AddText(at, faint ? colours.faint : unknown ? colours.caution : colours.text, text.c_str());
  if (gloss > 0) draw_gloss(gui, list, token, {at.x + text_width, at.y}, box);
  if (token.pad) {
    const float y = box.y + box.h / 2;
    list.AddLine({box.x + pad, y}, {box.right() - pad, y}, colours.faint, gui.unit);
  }
  ImGui::PopID();
  if (!hovered) return;
  const CellRef beside = gui.state.view.pinned.value_or(CellRef{});
  const auto index = static_cast<Index>(i);
  if (is_row || is_column)
    gui.push(Hover{std::nullopt, CellRef{is_row ? index : beside.query, is_column ? index : beside.key}});
  if (token.special || has_own_inputs(gui.state.document) || reads_ids(gui.state.document, side)) return;
  const auto cut =
      cuttable ? nearest_inner_cut(gui, written(tokens, token), at.x, ImGui::GetIO().MousePos.x) : std::nullopt;
  if (cut) {
    list.AddLine({cut->x, box.y}, {cut->x, box.bottom()}, colours.action, gui.unit);
    if (clicked) gui.push_once(ToggleCut{begin + token.begin + cut->offset, side});
  }
  // Padding reaches from here to the end of what was typed; on its first token it is taken back.
  if (!ImGui::IsMouseClicked(1) || side == TextSide::target) return;
  const std::size_t own = own_tokens(gui.state.document, tokens), from_here = own - std::min(i, own);
  gui.push_once(SetPad{gui.state.document.pad == from_here ? 0 : from_here});
}

/// The words with which a decoder would go on, behind the last one; a click writes one. Gives their width.
float ghost_chips(Gui& gui, ImVec2 at, float height) {
  constexpr std::size_t kGhosts = 3;
  const AppState& state = gui.state;
  const Guess* guess = state.guess.get();
  if (!state.guess.to({state.trace}) || is_stale(state) || state.trace->request.config.arch == Arch::encoder ||
      state.prefix)
    return 0;
  const float begin = at.x, gap = 6 * gui.unit;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < std::min(kGhosts, guess->words.size()); ++i) {
    const Candidate& word = guess->words[i].word;
    const std::string text = gui.fonts.shown(axis_label({.text = word.text, .raw = {}}));
    const std::string share = share_text(static_cast<double>(word.probability));
    const float text_width = ImGui::CalcTextSize(text.c_str()).x;
    const FontScope small(gui, TextSize::small);
    const float width = text_width + ImGui::CalcTextSize(share.c_str()).x + 16 * gui.unit;
    const Box box{at.x, at.y, width, height};
    ImGui::SetCursorScreenPos(at);
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::InvisibleButton("ghost", {width, height})) gui.push_once(AppendWord{word});
    ImGui::PopID();
    const bool hovered = ImGui::IsItemHovered();
    gui.name_box("ghost " + std::to_string(i), box, BoxKind::button);
    explain_item(gui, kChosenHeadWords.tip_append);
    list.AddRect(top_left(box), bottom_right(box), hovered ? gui.colours().action : gui.colours().line, 4 * gui.unit, 0,
                 gui.unit);
    const float y = std::round(box.y + (box.h - ImGui::GetFontSize()) / 2);
    list.AddText({box.right() - ImGui::CalcTextSize(share.c_str()).x - 5 * gui.unit, y}, gui.colours().dim,
                 share.c_str());
    const FontScope body(gui, TextSize::body);
    list.AddText({box.x + 6 * gui.unit, std::round(box.y + (box.h - ImGui::GetFontSize()) / 2)}, gui.colours().dim,
                 text.c_str());
    at.x += width + gap;
  }
  return at.x - begin;
}

void chips(Gui& gui, TextSide side, const Cursor& cursor) {
  const Tokens* tokens = shown_tokens(gui.state, side);
  if (!tokens) return;
  const bool editable = cuts_words(gui.state.document, side);
  const std::size_t begin = sentence_begin(gui.state, side);
  const float height = ImGui::GetFontSize() + 8 * gui.unit, gap = 8 * gui.unit;
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float left = ImGui::GetWindowPos().x, right = left + ImGui::GetWindowWidth();
  float x = origin.x;
  std::vector<float> begins;
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    const std::string text = chip_text(gui, *tokens, tokens->tokens[i]);
    const float width =
        std::max(ImGui::CalcTextSize(text.c_str()).x + gloss_width(gui, tokens->tokens[i]) + 12 * gui.unit, height);
    if (i > 0) x += editable || begins_word(*tokens, i) ? gap : 3 * gui.unit;
    begins.push_back(x);
    const Box box{x, origin.y, width, height};
    if (box.right() >= left && box.x <= right) {
      if (i > 0 && editable) gap_before(gui, side, *tokens, i, {x - gap, origin.y, gap, height}, begin);
      chip(gui, side, *tokens, i, box, text, begin, is_unknown(gui.state, side, tokens->tokens[i], cursor));
    }
    x += width;
  }
  x += gap;
  // A word that is pinned comes into sight once; then the user scrolls.
  int* const shown = ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("word in sight"), -1);
  const int wanted =
      is_along(gui.state, side, true) && gui.state.view.pinned ? static_cast<int>(gui.state.view.pinned->query) : -1;
  if (std::exchange(*shown, wanted) != wanted && wanted >= 0 && wanted < static_cast<int>(begins.size())) {
    const float at = begins[static_cast<std::size_t>(wanted)] - left;
    if (at < 0 || at > right - left - 4 * height) ImGui::SetScrollFromPosX(at, 0.3f);
  }
  if (side == main_side(gui.state.document)) x += ghost_chips(gui, {x, origin.y}, height);
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({x - origin.x, height});
}

}  // namespace

bool has_chips(const AppState& state) {
  if (reads_picture(state.document)) return false;
  return state.view.view != View::heads || reads_chat(state.document);
}

void gap_before(Gui& gui, TextSide side, const Tokens& tokens, std::size_t i, const Box& gap, std::size_t begin) {
  const Token& left = tokens.tokens[i - 1];
  const Token& right = tokens.tokens[i];
  if (left.special || right.special) return;
  ImGui::SetCursorScreenPos(top_left(gap));
  ImGui::PushID(static_cast<int>(i));
  const ImGuiIO& io = ImGui::GetIO();
  const bool dragged = io.MouseDragMaxDistanceSqr[0] > io.MouseDragThreshold * io.MouseDragThreshold;
  if (ImGui::InvisibleButton("gap", {gap.w, gap.h}) && !dragged) gui.push_once(ToggleCut{begin + right.begin, side});
  gui.name_box(named(side, "gap " + std::to_string(i)), gap, BoxKind::button);
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  if (hovered || active) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    const float x = gap.x + gap.w / 2;
    ImGui::GetWindowDrawList()->AddLine({x, gap.y}, {x, gap.bottom()}, gui.colours().action, 2 * gui.unit);
  }
  if (active && ImGui::IsMouseDragging(0)) {
    // The boundary follows the pointer over whole characters, and never past its neighbours.
    const float moved = ImGui::GetMouseDragDelta(0).x;
    const Token& into = moved < 0 ? left : right;
    const std::string_view typed = written(tokens, into);
    const auto clusters = cuts_inside(gui, typed);
    if (!clusters.empty()) {
      const std::size_t cut = moved < 0 ? clusters.back() : clusters.front();
      const std::string_view part = moved < 0 ? typed.substr(cut) : typed.substr(0, cut);
      if (std::abs(moved) > shown_width(gui, part)) {
        gui.push(ToggleCut{begin + right.begin, side});
        gui.push(ToggleCut{begin + into.begin + cut, side});
        ImGui::ResetMouseDragDelta(0);
      }
    }
  }
  if (ImGui::IsItemDeactivated()) gui.push(EndGesture{});
  ImGui::PopID();
}

std::size_t own_tokens(const Document& document, const Tokens& tokens) {
  std::size_t count = tokens.size();
  const auto fills = [&](const Token& token) {
    return token.special && token.pad && (!document.tokenizers || token.id == document.tokenizers->padding.id);
  };
  while (count > 0 && fills(tokens.tokens[count - 1])) --count;
  return count;
}

void chips_of(Gui& gui, TextSide side, float width, const Cursor& cursor) {
  const float bar = 6 * gui.unit;
  ImGui::PushStyleVar(ImGuiStyleVar_ScrollbarSize, bar);
  const ImVec2 size{width, ImGui::GetFontSize() + 8 * gui.unit + bar};
  ImGui::BeginChild(side == TextSide::target ? "target chips" : "chips", size, false,
                    ImGuiWindowFlags_HorizontalScrollbar);
  chips(gui, side, cursor);
  ImGui::EndChild();
  ImGui::PopStyleVar();
}

void all_chips(Gui& gui, float room) {
  const Document& document = gui.state.document;
  const float gap = 16 * gui.unit, begin = ImGui::GetCursorPosX();
  const bool two = config_of(document).arch == Arch::encoder_decoder && !has_own_inputs(document);
  chips_of(gui, TextSide::source, two ? std::floor((room - gap) / 2) : room, gui.cursor);
  if (!two) return;
  ImGui::SameLine(0, gap);
  chips_of(gui, TextSide::target, begin + room - ImGui::GetCursorPosX(), gui.cursor);
}

}  // namespace headlight
