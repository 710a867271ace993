// A lesson's text points at what it describes: `[it|it→animal]` is the word “it”, which lights a cell of the chosen
// head, `[北京|北京]` a row of it, `[Hide padding|@padding]` a control of the window, `[4 heads|@heads=4]` a value of it,
// `[wide for tired|tired=wide]` a change of the sentence. `[#undo]` is the name and the keys of an action.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headlight {

/// A piece of a text; `target` is empty where it points at nothing. That of an action, `#undo`, has no text.
struct LessonSpan {
  std::string text, target;
  friend bool operator==(const LessonSpan&, const LessonSpan&) = default;
};

/// The pieces of a text, in order. Brackets without a bar are text.
std::vector<LessonSpan> spans_of(std::string_view text);

/// The object that a target names: an action; a control and perhaps its value; a word of the sentence and the text in
/// its stead (`=` alone before it: the whole sentence); or a word and perhaps the word it looks at (lesson_claim.h:
/// `我#2`).
struct LessonTarget {
  std::string action = {}, control = {}, value = {}, replaced = {}, text = {}, query = {}, key = {};
  friend bool operator==(const LessonTarget&, const LessonTarget&) = default;
};
LessonTarget target_of(std::string_view target);

}  // namespace headlight
