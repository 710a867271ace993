#include "views/heads/panel/stage_sentence.h"

#include <algorithm>

#include "base/formatted.h"
#include "derived/guess.h"
#include "derived/head_stats.h"
#include "figure/head_name.h"
#include "math/attention.h"
#include "model/head_text.h"
#include "session/shown.h"
#include "words/grid_words.h"
#include "words/relation_words.h"
#include "words/text_words.h"

namespace headlight {
namespace {

/// A word ready to be drawn in a line of text: one of white space, or with a line break in it, as the labels of maps
/// have it.
std::string word_in_line(Gui& gui, const std::string& text) {
  const auto is_ink = [](char c) { return static_cast<unsigned char>(c) > ' '; };
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
  const bool seen = std::ranges::any_of(text, is_ink) && std::ranges::none_of(text, is_control);
  if (seen) return gui.fonts.shown(text);
  Token token;
  token.text = text;
  return gui.fonts.shown(axis_label(token));
}

constexpr float kChipPad = 7;  // of a guessed word: before its text, before its share, behind it

std::string number_of(const GuessedWord& guessed) {
  const std::string number = share_text(static_cast<double>(guessed.word.probability));
  const std::string before = guessed.before ? share_text(static_cast<double>(*guessed.before)) : number;
  return before == number ? number : before + " → " + number;
}

float guessed_width(Gui& gui, const GuessedWord& guessed) {
  const float text = ImGui::CalcTextSize(word_in_line(gui, guessed.word.text).c_str()).x;
  const FontScope small(gui, TextSize::small);
  return text + ImGui::CalcTextSize(number_of(guessed).c_str()).x + 3 * kChipPad * gui.unit;
}

/// What the cell's line leaves out.
void add_details(Gui& gui, const HeadRef& head, const CellRef& cell, float weight, StageLines& lines) {
  const AppState& state = gui.state;
  std::vector<std::string>& details = lines.details;
  const SentenceArcs& arcs = arcs_of(state);
  const NamedArc* named = weight >= kLeastPointing ? arcs.at(head, cell) : nullptr;
  const NamedArc* arc = named ? named : arcs.referring_at(head, cell);
  if (is_random(state)) {
    details.emplace_back(gui.word(kTextWords.nothing_learned));
  } else if (arc) {
    details.push_back(
        measured_in_words(state.settings.language, named ? kTextWords.right_in : kTextWords.right_in_texts, *arc));
    lines.measured = filled(gui.word(kTextWords.right_in_brief), {formatted("%.0f", 100 * arc->precision)});
  } else if (!arcs.named.empty()) {
    details.emplace_back(gui.word(kTextWords.no_name));
  }
  const Vector sums = attention_rows(*state.trace, head, cell.query, 1).row(0).transpose();
  const float sum = sums.sum();
  if (is_row_edited(state.trace->request.edits, head, cell.query) && std::abs(sum - 1) > 0.005f)
    details.insert(details.begin(),
                   filled(gui.word(kTextWords.sums_to), {formatted("%.2f", static_cast<double>(sum))}));
  const FoldedStack* folded = shown_fold(state, head.stack);
  const auto row = folded ? folded->fold.queries.group(cell.query) : std::nullopt;
  if (!folded || !row || folded->rests.empty()) return;
  const float rests = folded->rests[folded->index_of(head)](*row);
  std::string special = arcs.rest;
  for (const Token& token : state.trace->key_tokens(head.stack).tokens)
    if (special.empty() && token.special && !token.pad) special = token.text;
  if (rests >= 0.005f)
    details.push_back(filled(gui.word(kTextWords.rests_here), {share_text(static_cast<double>(rests)), special}));
}

void toggle_head(Gui& gui) {
  const HeadRef& head = gui.state.view.chosen;
  gui.push_once(SwitchHead{head, !is_off(gui.state.document.edits, head)});
}

}  // namespace

float guessed_word(Gui& gui, const GuessedWord& guessed, ImVec2 at, float room, bool can_append, bool right) {
  const Palette& colours = gui.colours();
  const std::string text = word_in_line(gui, guessed.word.text), number = number_of(guessed);
  const float pad = kChipPad * gui.unit, text_width = ImGui::CalcTextSize(text.c_str()).x;
  const ImVec2 size{guessed_width(gui, guessed), ImGui::GetFrameHeight() + 4 * gui.unit};
  if (size.x > room) return 0;
  ImGui::SetCursorScreenPos(at);
  ImGui::PushID(static_cast<int>(guessed.word.row));  // several words of a vocabulary may read the same
  if (ImGui::InvisibleButton("guessed", size) && can_append) gui.push_once(AppendWord{guessed.word});
  ImGui::PopID();
  gui.name_item("word " + guessed.word.text);
  const bool is_class = classifies(*gui.state.trace->model);
  explain_item(gui, is_class ? kStageWords.tip_class : can_append ? kStageWords.tip_guess : kStageWords.tip_hidden);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 end{at.x + size.x, at.y + size.y};
  list.AddRectFilled(at, end, colours.button, 4 * gui.unit);
  const auto bar = [&](float share, float top, float bottom, ImU32 colour) {
    const float width = (size.x - 2 * gui.unit) * std::clamp(share, 0.0f, 1.0f);
    list.AddRectFilled({at.x + gui.unit, end.y - top}, {at.x + gui.unit + width, end.y - bottom}, colour);
  };
  const ImU32 ink = to_imgui(colour_map(gui.state.settings.theme, gui.state.settings.colours)[170]);
  if (guessed.before) bar(*guessed.before, 4 * gui.unit, 3 * gui.unit, colours.dim);
  bar(guessed.word.probability, guessed.before ? 3 * gui.unit : 4 * gui.unit, gui.unit, ink);
  if (can_append && ImGui::IsItemHovered()) list.AddRect(at, end, colours.action, 4 * gui.unit, 0, gui.unit);
  const float y = at.y + (size.y - 4 * gui.unit - ImGui::GetFontSize()) / 2;
  list.AddText({at.x + pad, y}, colours.text, text.c_str());
  if (right)  // the word that stands there is underlined
    list.AddLine({at.x + pad, y + ImGui::GetFontSize()}, {at.x + pad + text_width, y + ImGui::GetFontSize()},
                 colours.text, gui.unit);
  const FontScope small(gui, TextSize::small);
  list.AddText({at.x + 2 * pad + text_width, y + (ImGui::GetFontSize() * 0.08f)}, colours.dim, number.c_str());
  return size.x;
}

StageLines stage_sentence(Gui& gui) {
  const AppState& state = gui.state;
  if (!state.trace || nothing_asked(state)) return {};
  const auto lit = state.view.hovered ? state.view.hovered : state.view.pinned;
  const HeadRef head = state.view.hovered && state.view.hovered_head ? *state.view.hovered_head : state.view.chosen;
  if (lit && shown_kind(state, head.stack) != MapKind::weights) return {cell_in_words(gui, head, *lit)};
  if (!lit && !has_pixel_of_each_cell(*state.trace, head)) return {};  // the strongest cell is not known
  const FoldedStack* folded = shown_fold(state, head.stack);
  const CellRef cell = lit ? *lit : strongest_cell(*state.trace, head, folded);
  const auto row = folded ? folded->fold.queries.group(cell.query) : cell.query;
  const auto column = folded ? folded->fold.keys.group(cell.key) : cell.key;
  const bool rests = folded && row && !column && folded->fold.done.special && is_of_tokens(folded->fold);
  if (!row || (!column && !rests)) return {cell_in_words(gui, head, cell)};  // of a token that is left out
  CellInWords words = cell_of(*state.trace, head, cell, folded);
  words.query = folded ? group_label(gui, folded->fold.queries, *row) : query_label(gui, cell.query, head.stack);
  words.key = folded && !rests ? group_label(gui, folded->fold.keys, *column) : key_label(gui, cell.key, head.stack);
  StageLines lines;
  const std::string of_head =
      head == state.view.chosen ? "" : map_label(state.settings.language, *state.trace, head) + ": ";
  lines.headline = of_head + lines_of_cell(state.settings.language, words, nullptr, lit.has_value()).front();
  const std::string stop = gui.word(kStageWords.full_stop);
  if (lines.headline.ends_with(stop)) lines.headline.resize(lines.headline.size() - stop.size());
  const bool fresh = !is_off(state.document.edits, head) && lit && words.weight >= 0 && !is_stale(state);
  if (fresh) add_details(gui, head, cell, words.weight, lines);
  return lines;
}

std::optional<StageTry> stage_try(Gui& gui) {
  const AppState& state = gui.state;
  if (!state.trace || nothing_asked(state)) return std::nullopt;
  if (state.trace->request.tokens.text != kDefaultSentence || !state.shipped || is_random(state)) return std::nullopt;
  const bool off = is_off(state.document.edits, state.view.chosen);
  const char* label = gui.word(off ? kStageWords.switch_on : kStageWords.switch_off);
  return StageTry{"try switch", gui.word(kStageWords.tip_switch_off), {label}, toggle_head};
}

void guess_bars(Gui& gui, const Box& box) {
  const AppState& state = gui.state;
  if (!can_say_words(state) || nothing_asked(state)) return;
  // Of another model it is not shown, nor of a row that cannot be guessed.
  const Guess* guess = state.guess.get();
  if (guess && !(guess->model == WeakRef<Model>(state.trace->model))) guess = nullptr;
  const bool of_answer = guess && state.guess.question()->trace == state.trace.answer();
  if (!is_stale(state) && !guess_question(state)) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float gap = 6 * gui.unit, y = box.y + ImGui::GetStyle().FramePadding.y;
  if (of_answer && guess->words.empty()) return;
  if (!guess || guess->words.empty()) {
    list.AddText({box.x, y}, gui.colours().dim, gui.word(kStageWords.guessing));
    return;
  }
  const bool writes = state.trace->request.config.arch != Arch::encoder, random = !state.trace->request.model;
  const auto& leads = classifies(*state.trace->model)  ? kStageWords.of_class
                      : state.guess.question()->hidden ? kStageWords.hidden
                      : writes                         ? kStageWords.after
                                                       : kStageWords.in_place;
  // The word that stands there comes first: what a change does to it is what is asked.
  std::vector<const GuessedWord*> shown;
  if (guess->right) shown.push_back(&*guess->right);
  for (const GuessedWord& one : guess->words)
    if (!guess->right || one.word.row != guess->right->word.row) shown.push_back(&one);
  const auto width = [&](std::size_t i) { return guessed_width(gui, *shown[i]) + gap; };
  // It does not stand alone where another word is likelier.
  const bool both = guess->right && shown.size() > 1 && shown[1]->word.probability > shown[0]->word.probability;
  const auto lead_of = [&](const Words& lead) { return filled(gui.word(lead), {word_in_line(gui, guess->token)}); };
  std::string lead = lead_of(random ? leads.random : leads.trained);
  const auto room = [&] { return box.w - ImGui::CalcTextSize(lead.c_str()).x - 10 * gui.unit; };
  // Where the whole lead leaves no room for them, a shorter one does, or none.
  if (room() < width(0) + (both ? width(1) : 0)) lead = lead_of(leads.brief);
  if (both && room() < width(0) + width(1)) shown.erase(shown.begin());
  if (room() < width(0)) lead.clear();
  list.AddText({box.x, y}, gui.colours().dim, lead.c_str());
  float x = box.right() - room();
  for (const GuessedWord* one : shown) {
    const bool right = guess->right && one == &*guess->right;
    const float drawn = guessed_word(gui, *one, {x, box.y}, box.right() - x, writes && of_answer, right);
    if (drawn == 0) return;
    x += drawn + gap;
  }
}

}  // namespace headlight
