// A lesson's text points at what it describes: `[it|it→animal]` is the word “it”, which lights a cell of the chosen
// head, `[北京|北京]` a row of it, `[padding|@padding]` a control of the window.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headlight {

/// A piece of a text; `target` is empty where it points at nothing.
struct LessonSpan {
  std::string text, target;
  friend bool operator==(const LessonSpan&, const LessonSpan&) = default;
};

/// The pieces of a text, in order. Brackets without a bar are text.
std::vector<LessonSpan> spans_of(std::string_view text);

/// The text as it is read.
std::string plain_text(std::string_view text);

/// The object that a target names: a control, or a word and perhaps the word it looks at (lesson_claim.h: `我#2`).
struct LessonTarget {
  std::string control = {}, query = {}, key = {};
  friend bool operator==(const LessonTarget&, const LessonTarget&) = default;
};
LessonTarget target_of(std::string_view target);

}  // namespace headlight
