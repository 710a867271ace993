#include "model/head_text.h"

#include "base/formatted.h"
#include "base/names.h"

namespace headlight {
namespace {

constexpr std::string_view kDot = "·";
constexpr std::string_view kStackNames[] = {"self", "encoder", "cross"};  // of Stack, in its order

/// Takes `prefix` off the front of `text` where it is there.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

std::string_view stack_name(Stack stack) { return name_in(kStackNames, stack); }
std::optional<Stack> parse_stack(std::string_view name) { return value_named<Stack>(kStackNames, name); }

std::string stack_prefix(Stack stack) {
  return stack == Stack::self ? std::string() : std::string(stack_name(stack)) + ":";
}

std::optional<Stack> take_stack(std::string_view& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return Stack::self;
  const auto stack = parse_stack(text.substr(0, colon));
  text.remove_prefix(colon + 1);
  return stack;
}

std::optional<Index> parse_index(std::string_view text) {
  const auto number = parse_number<Index>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

std::string head_label(const HeadRef& head) {
  return "L" + std::to_string(head.layer) + std::string(kDot) + "H" + std::to_string(head.head);
}

std::string head_text(const HeadRef& head) {
  return stack_prefix(head.stack) + std::to_string(head.layer) + "." + std::to_string(head.head);
}

std::optional<LayerHeads> parse_heads(std::string_view text) {
  const auto stack = take_stack(text);
  if (!stack) return std::nullopt;
  take(text, "L");
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == std::string_view::npos) return std::nullopt;
  const auto layer = parse_index(text.substr(0, digits));
  text.remove_prefix(digits);
  if (!layer || (!take(text, ".") && !take(text, kDot))) return std::nullopt;
  if (text == "*") return LayerHeads{*stack, *layer, std::nullopt};
  take(text, "H");
  const auto head = parse_index(text);
  if (!head) return std::nullopt;
  return LayerHeads{*stack, *layer, *head};
}

std::vector<HeadRef> heads_in(const LayerHeads& heads, Index count) {
  std::vector<HeadRef> all;
  for (Index head = heads.head.value_or(0); head < (heads.head ? *heads.head + 1 : count); ++head)
    all.push_back({heads.layer, head, heads.stack});
  return all;
}

std::optional<HeadRef> parse_head(std::string_view text) {
  const auto heads = parse_heads(text);
  if (!heads || !heads->head) return std::nullopt;
  return HeadRef{heads->layer, *heads->head, heads->stack};
}

}  // namespace headlight
