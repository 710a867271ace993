#include "gui/draw.h"
#include "gui/grid_parts.h"
#include "gui/map_words.h"
#include "gui/pair_words.h"
#include "session/other_maps.h"

namespace headlight {
namespace {

/// Of two sentences, who looks at whom; dimmed where the maps are of another kind or too long for it.
void pair_switches(Gui& gui, bool beside, bool other, bool too_long) {
  const FoldChoice& fold = gui.state.view.fold;
  float width = 0;  // they stay together
  for (const PairWords& part : kPairWords) width += button_width(gui.word(part.name));
  if (beside) same_line_if_room(width, 12 * gui.unit);
  for (int i = 0; i < kPairParts; ++i) {
    const auto part = static_cast<PairPart>(i);
    const PairWords& words = pair_words(part);
    const std::string id = "pair " + std::string(name(part));
    if (i > 0) ImGui::SameLine(0, 0);
    const float alpha = ImGui::GetStyle().Alpha * (other || too_long ? 0.5f : 1.0f);
    ImGui::PushStyleVar(ImGuiStyleVar_Alpha, alpha);
    const bool on = !other && !too_long && fold.pair == part;
    const bool pressed = flat_button(gui, id.c_str(), gui.word(words.name), on);
    ImGui::PopStyleVar();
    explain_item(gui, std::string(other      ? gui.word(kTipFoldKinds)
                                  : too_long ? gui.word(Str::tip_fold_too_long)
                                             : gui.word(words.tip)));
    if (pressed && !other && !too_long) gui.say(SetFold{{fold.special, fold.words, part}});
  }
}

}  // namespace

std::string folds_in_words(const Gui& gui) {
  const FoldedStack* folded = shown_fold(gui.state, gui.state.view.chosen.stack);
  if (!folded) return {};
  std::string words = folded->fold.done.special ? gui.word(Str::special_folded) : "";
  if (folded->fold.done.words) words += (words.empty() ? "" : "  ") + std::string(gui.word(Str::words_merged));
  if (folded->fold.done.pair != PairPart::all)
    words += (words.empty() ? "" : "  ") + std::string(gui.word(pair_words(folded->fold.done.pair).done));
  return words;
}

void fold_switches(Gui& gui, bool beside) {
  const AppState& state = gui.state;
  if (!state.folded) return;
  const FontScope small(gui, TextSize::small);
  const auto& possible = state.folded->possible[static_cast<std::size_t>(state.view.chosen.stack)];
  const bool other = shown_maps(state, state.view.chosen.stack) != nullptr, off = possible.too_long || other;
  const auto fold_switch = [&](const char* name, Str label, Str tip, bool there, bool FoldChoice::*which) {
    if (!there) return;
    if (beside) same_line_if_room(button_width(gui.word(label)), 12 * gui.unit);
    beside = true;
    const float alpha = ImGui::GetStyle().Alpha * (off ? 0.5f : 1.0f);
    ImGui::PushStyleVar(ImGuiStyleVar_Alpha, alpha);
    const bool pressed = flat_button(gui, name, gui.word(label), !off && state.view.fold.*which);
    ImGui::PopStyleVar();
    explain_item(gui, std::string(other ? gui.word(kTipFoldKinds)
                                        : gui.word(possible.too_long ? Str::tip_fold_too_long : tip)));
    if (!pressed || off) return;
    FoldChoice fold = state.view.fold;
    fold.*which = !(fold.*which);
    gui.say(SetFold{fold});
  };
  fold_switch("fold special", Str::fold_special, Str::tip_fold_special, possible.choice.special, &FoldChoice::special);
  fold_switch("merge words", Str::merge_words, Str::tip_merge_words, possible.choice.words, &FoldChoice::words);
  if (possible.choice.pair != PairPart::all) pair_switches(gui, beside, other, possible.too_long);
}

}  // namespace headlight
