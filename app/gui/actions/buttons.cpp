#include "gui/actions/buttons.h"

#include <algorithm>

#include "derived/derived_maps.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "session/shown.h"
#include "words/answer_words.h"
#include "words/compare_words.h"
#include "words/enum_words.h"
#include "words/grid_words.h"
#include "words/sentence_words.h"

namespace headlight {
namespace {

/// Why nothing can be folded in what is shown: maps of another kind, a text too long for it.
struct Fixed {
  bool other = false, too_long = false;

  explicit operator bool() const { return other || too_long; }
};

/// True where it was pressed; where nothing can be folded it is dimmed and its tooltip gives the reason.
bool fold_switch(Gui& gui, Fixed fixed, const char* name, const char* label, bool on, const char* tip) {
  const float alpha = ImGui::GetStyle().Alpha * (fixed ? 0.5f : 1.0f);
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, alpha);
  const bool pressed = flat_button(gui, name, label, on && !fixed);
  ImGui::PopStyleVar();
  explain_item(gui, fixed.other      ? with_keys(gui, kMapWords.tip_fold_kinds, {Act::next_maps})
                    : fixed.too_long ? std::string(gui.word(kAnswerWords.tip_fold_too_long))
                                     : tip);
  return pressed && !fixed;
}

/// Draws the switches of a pair: which of the two sentences attends to which.
void pair_switches(Gui& gui, bool beside, Fixed fixed) {
  FoldChoice fold = gui.state.view.fold;
  const PairPart shown = fold.pair;
  float width = 0;  // they stay together
  for (const auto& part : kPairWords.parts) width += button_width(gui.word(part.name));
  if (beside) same_line_if_room(width, 12 * gui.unit);
  for (int i = 0; i < kPairParts; ++i) {
    fold.pair = static_cast<PairPart>(i);
    const auto& words = pair_words(fold.pair);
    const std::string id = "pair " + std::string(name(fold.pair));
    if (i > 0) ImGui::SameLine(0, 0);
    if (fold_switch(gui, fixed, id.c_str(), gui.word(words.name), shown == fold.pair,
                    with_keys(gui, words.tip, {Act::next_pair_part}).c_str()))
      gui.push(SetFold{fold});
  }
}

}  // namespace

void act_line(Gui& gui, const char* name, const Words& label, Act act) {
  const Action& one = action(act);
  if (menu_line(gui, name, gui.word(label), keys_of(act), false, is_possible(gui, one))) perform(gui, one);
}

void keep_button(Gui& gui, const Words& label) {
  if (flat_button(gui, "keep", gui.word(label))) gui.push(KeepAnswer{});
  explain_item(gui, kCompareWords.tip_keep_as_a, {Act::keep_answer});
}

std::vector<std::string> folds_in_words(const Gui& gui) {
  const Fold* fold = fold_in_view(gui.state);
  std::vector<std::string> sentences;
  if (!fold) return sentences;
  const FoldChoice& done = fold->done;
  const std::vector<Index>& columns = fold->keys.group_of;  // without one that is left out no row has a strip
  const bool strips = gui.state.view.view == View::heads && std::ranges::count(columns, -1) > 0;
  if (done.special)
    sentences.emplace_back(gui.word(strips ? kAnswerWords.special_folded : kAnswerWords.special_left_out));
  if (done.words) sentences.emplace_back(gui.word(kAnswerWords.words_merged));
  if (done.pair != PairPart::all) sentences.emplace_back(gui.word(only_words(done.pair)));
  return sentences;
}

void fold_switches(Gui& gui, bool beside) {
  const AppState& state = gui.state;
  if (!state.folded) return;
  const auto& possible = state.folded->possible[static_cast<std::size_t>(state.view.chosen.stack)];
  const Fixed fixed{shown_maps(state, state.view.chosen.stack) != nullptr, possible.too_long};
  const auto choice = [&](const char* name, const Words& label, const std::string& tip, bool there,
                          bool FoldChoice::*which) {
    if (!there) return;
    if (beside) same_line_if_room(button_width(gui.word(label)), 12 * gui.unit);
    beside = true;
    FoldChoice fold = state.view.fold;
    const bool on = fold.*which;
    fold.*which = !on;
    if (fold_switch(gui, fixed, name, gui.word(label), on, tip.c_str())) gui.push(SetFold{fold});
  };
  choice("fold special", kAnswerWords.fold_special, with_keys(gui, kAnswerWords.tip_fold_special, {Act::fold_special}),
         possible.choice.special, &FoldChoice::special);
  choice("merge words", kAnswerWords.merge_words, gui.word(kAnswerWords.tip_merge_words), possible.choice.words,
         &FoldChoice::words);
  if (possible.choice.pair != PairPart::all) pair_switches(gui, beside, fixed);
}

}  // namespace headlight
