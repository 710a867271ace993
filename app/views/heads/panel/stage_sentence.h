// The stage in words: what its lit cell shows, what the model guesses, and one thing to try.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/frame/gui.h"

namespace headlight {

/// The lit cell in two lines: of the hovered cell, else the pinned one, else the strongest of the chosen head.
struct StageLines {
  std::string headline = {};              // “it” looks at “animal”, 93 %
  std::vector<std::string> details = {};  // its relation and how often that is right; what of the row rests; …
  std::string measured = {};              // how often that is right, in short
};
/// Empty without an answer, and of a long sentence without a lit cell.
StageLines stage_sentence(Gui& gui);

/// One thing to try with what is on the stage: its label, and shorter ones; `run` does it, as one step of undo.
struct StageTry {
  std::string name, tip;
  std::vector<std::string> labels;
  void (*run)(Gui& gui);
};
/// The first label of which a button has room; empty where none has: it is left out, never cut.
std::string label_within(const std::vector<std::string>& labels, float room);
/// At the first start the switch of the head; else nothing.
std::optional<StageTry> stage_try(Gui& gui);

/// The best change of one word that was found for the row of the pinned cell; nothing where none was.
std::optional<StageTry> best_change(Gui& gui);

/// One guessed word: its text, its share as a bar and in digits; a click writes it where it can be appended. Underlined
/// where it is the `right` one. Gives its width, 0 where it has no room.
float guessed_word(Gui& gui, const GuessedWord& guessed, ImVec2 at, float room, bool can_append, bool right = false);

/// The model's guess as words with bars, before → after where something was changed by hand, as many as fit into the
/// box; of a decoder a click writes one. Nothing where the model predicts no words.
void guess_bars(Gui& gui, const Box& box);

}  // namespace headlight
