#include "lesson/lesson_text.h"

#include <utility>

namespace headlight {

std::vector<LessonSpan> spans_of(std::string_view text) {
  std::vector<LessonSpan> spans;
  const auto add = [&](std::string_view piece, std::string_view target) {
    if (piece.empty() && target.empty()) return;
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
    if (inside.starts_with('#')) {
      add(text.substr(0, open), {});
      add({}, inside);
    } else if (bar == std::string_view::npos) {
      add(text.substr(0, close + 1), {});
    } else {
      add(text.substr(0, open), {});
      add(inside.substr(0, bar), inside.substr(bar + 1));
    }
    text.remove_prefix(close + 1);
  }
  return spans;
}

LessonTarget target_of(std::string_view target) {
  constexpr std::string_view kArrow = "→";
  const auto cut = [](std::string_view text, std::size_t at, std::size_t length) {
    const bool found = at != std::string_view::npos;
    return std::pair(std::string(text.substr(0, at)), std::string(found ? text.substr(at + length) : ""));
  };
  if (target.starts_with('#')) return {.action = std::string(target.substr(1))};
  const auto [before, after] = cut(target, target.find('='), 1);
  if (target.starts_with('@')) return {.control = before.substr(1), .value = after};
  if (before != target) return {.replaced = before, .text = after};
  const auto [query, key] = cut(target, target.find(kArrow), kArrow.size());
  return {.query = query, .key = key};
}

}  // namespace headlight
