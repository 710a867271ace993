// The line of the stage that offers to change a word: those changes of one word that move the row of the pinned cell.
#include <algorithm>

#include "figure/change_words.h"
#include "gui/actions/question.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "session/typing.h"
#include "views/heads/panel/stage_parts.h"
#include "views/heads/panel/stage_sentence.h"
#include "words/grid_words.h"

namespace headlight {
namespace {

/// The question about what is on the screen: while a text is being typed that of the answer before, which stays.
std::optional<ChangesQuestion> shown_question(const AppState& state) {
  const auto& last = state.changes.question();
  const bool stays = is_typing(state) && last && last->head == state.view.chosen && state.view.pinned &&
                     last->query == state.view.pinned->query && last->trace == WeakRef<Trace>(state.trace);
  return stays ? last : changes_question(state);
}

constexpr float kOwnWordWidth = 110;

/// As the fonts can write it.
ShownText shown_by(const Gui& gui) {
  return [&gui](const std::string& text) { return gui.fonts.shown(text); };
}

std::string label_of(const Gui& gui, const WordChange& change) {
  return change_label(gui.state.settings.language, change, shown_by(gui));
}

/// What the change does, and what was tried; a change that comes with an example has its note before that.
std::string tip_of(Gui& gui, const WordChanges& changes, const WordChange& change) {
  std::string tip;
  if (change.of_example)
    for (const Sample& sample : gui.samples)
      if (sample.text == gui.state.document.source.text)
        tip = std::string(gui.chinese() ? sample.note_zh : sample.note_en) + "\n\n";
  return tip + change_tip(gui.state.settings.language, changes, change, shown_by(gui));
}

/// Takes the sentence of a change and pins the cell that it is about.
void take(Gui& gui, const WordChange& change) {
  const Index query = gui.state.changes.question()->query;
  const auto& pinned = gui.state.view.pinned;
  take_changed_sentence(gui, change.text, pinned ? *pinned : CellRef{query, change.key});
}

}  // namespace

std::string label_within(const std::vector<std::string>& labels, float room) {
  for (const std::string& label : labels)
    if (primary_width(label.c_str()) <= room) return label;
  return {};
}

std::optional<StageTry> best_change(Gui& gui) {
  const auto question = shown_question(gui.state);
  const WordChanges* changes = question ? gui.state.changes.to(*question) : nullptr;
  if (!changes || changes->best.empty()) return std::nullopt;
  const WordChange& best = changes->best.front();
  return StageTry{"change 0", tip_of(gui, *changes, best), {label_of(gui, best)}, [](Gui& g) {
                    take(g, g.state.changes->best.front());
                  }};
}

void draw_stage_changes(Gui& gui, const Box& slot) {
  if (slot.h <= 0) return;
  const AppState& state = gui.state;
  const auto question = shown_question(state);
  if (!question) return;
  const SlotScope scope("stage changes", slot);
  const FontScope small(gui, TextSize::small);
  const WordChanges* changes = state.changes.to(*question);
  // While the reader's word is tried, what is known of the row stays.
  const auto& last = state.changes.question();
  if (!changes && last && last->trace == question->trace && last->head == question->head &&
      last->query == question->query && state.view.own_word.empty())
    changes = state.changes.get();
  // Nothing is tried for a row that rests.
  const FoldedStack* folded = shown_fold(state, question->head.stack);
  const auto row = folded ? folded->fold.queries.group(question->query) : std::nullopt;
  const bool rests = row && !folded->rests.empty() && folded->rests[folded->index_of(question->head)](*row) >= 0.5f;
  const auto line = [&](const std::string& words) {
    ImGui::AlignTextToFramePadding();
    cut_text(gui, words, gui.colours().dim, slot.w - ImGui::GetCursorPosX());
    gui.name_item("changes", BoxKind::label);
  };
  if (!rests) line(gui.word(kStageWords.change_a_word));
  else return;
  ImGui::SameLine(0, 8 * gui.unit);
  std::string own = state.view.own_word;
  if (word_box(gui, "own word", kStageWords.own_word, own, kOwnWordWidth * gui.unit)) gui.push(TryWord{own});
  explain_item(gui, kStageWords.tip_own_word);
  if (!changes) {
    ImGui::SameLine(0, 8 * gui.unit);
    return line(gui.word(kStageWords.trying_words));
  }
  // As many as have room, whole: what has none is left out, never cut.
  const auto offer = [&](const std::string& name, const WordChange& change) {
    ImGui::SameLine(0, 8 * gui.unit);
    const std::string label = label_within({label_of(gui, change)}, slot.w - ImGui::GetCursorPosX());
    if (label.empty()) return false;
    const bool pressed = change.of_example ? primary_button(gui, name.c_str(), label.c_str())
                                           : flat_button(gui, name.c_str(), label.c_str());
    if (pressed) take(gui, change);
    explain_item(gui, tip_of(gui, *changes, change));
    return true;
  };
  const std::string& typed = state.view.own_word;
  const std::string none = no_change_line(gui.state.settings.language, *changes, typed, shown_by(gui));
  if (!none.empty()) {
    ImGui::SameLine(0, 8 * gui.unit);
    return line(none);
  }
  if (!typed.empty()) {
    offer("change own", *changes->own);
    return;
  }
  for (std::size_t i = 0; i < changes->best.size(); ++i)
    if (!offer("change " + std::to_string(i), changes->best[i])) break;
}

}  // namespace headlight
