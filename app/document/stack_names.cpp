#include "document/stack_names.h"

#include <charconv>

namespace headlight {

std::string_view stack_name(Stack stack) {
  switch (stack) {
    case Stack::encoder: return "encoder";
    case Stack::cross: return "cross";
    case Stack::self: break;
  }
  return "self";
}

std::optional<Stack> parse_stack(std::string_view name) {
  for (const Stack stack : kStacks)
    if (stack_name(stack) == name) return stack;
  return std::nullopt;
}

std::optional<Stack> take_stack(std::string_view& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return Stack::self;
  const auto stack = parse_stack(text.substr(0, colon));
  text.remove_prefix(colon + 1);
  return stack;
}

std::optional<Index> parse_index(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return static_cast<Index>(number);
}

std::string head_text(const HeadRef& head) {
  std::string text = head.stack == Stack::self ? std::string() : std::string(stack_name(head.stack)) + ":";
  return text + std::to_string(head.layer) + "." + std::to_string(head.head);
}

std::optional<HeadRef> parse_head(std::string_view text) {
  const auto stack = take_stack(text);
  const std::size_t dot = text.find('.');
  if (!stack || dot == std::string_view::npos) return std::nullopt;
  const auto layer = parse_index(text.substr(0, dot)), head = parse_index(text.substr(dot + 1));
  if (!layer || !head) return std::nullopt;
  return HeadRef{*layer, *head, *stack};
}

}  // namespace headlight
