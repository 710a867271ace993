#include "lesson/lesson_text.h"

namespace headlight {

std::vector<LessonSpan> spans_of(std::string_view text) {
  std::vector<LessonSpan> spans;
  const auto add = [&](std::string_view piece, std::string_view target) {
    if (piece.empty()) return;
    if (target.empty() && !spans.empty() && spans.back().target.empty()) spans.back().text += piece;
    else spans.push_back({std::string(piece), std::string(target)});
  };
  while (!text.empty()) {
    const std::size_t open = text.find('[');
    const std::size_t close = open == std::string_view::npos ? open : text.find(']', open);
    if (close == std::string_view::npos) {
      add(text, {});
      break;
    }
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    const std::size_t bar = inside.find('|');
    if (bar == std::string_view::npos) {
      add(text.substr(0, close + 1), {});
    } else {
      add(text.substr(0, open), {});
      add(inside.substr(0, bar), inside.substr(bar + 1));
    }
    text.remove_prefix(close + 1);
  }
  return spans;
}

std::string plain_text(std::string_view text) {
  std::string plain;
  for (const LessonSpan& span : spans_of(text)) plain += span.text;
  return plain;
}

LessonTarget target_of(std::string_view target) {
  constexpr std::string_view kArrow = "→";
  if (target.starts_with('@')) return {.control = std::string(target.substr(1))};
  const std::size_t arrow = target.find(kArrow);
  if (arrow == std::string_view::npos) return {.query = std::string(target)};
  return {.query = std::string(target.substr(0, arrow)), .key = std::string(target.substr(arrow + kArrow.size()))};
}

}  // namespace headlight
