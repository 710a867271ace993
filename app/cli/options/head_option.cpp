#include "cli/options/head_option.h"

#include <algorithm>

#include "base/formatted.h"
#include "base/result.h"
#include "model/head_text.h"

namespace headlight {

HeadOption::HeadOption(Parser& command, bool required) : required_(required) {
  command.section("The head (layers and heads count from 0)");
  command.option("--layer", layer_, "Its layer; not needed with --head L.H", "L").not_negative();
  Option head = command.option("--head", head_, "Its number in the layer, or both: 1.2, L1.H2, cross:1.2", "HEAD");
  if (required) head.required();
  command
      .option("--stack", stack_, "Of an encoder-decoder, which attention: self (the decoder's own), encoder or cross")
      .one_of({"self", "encoder", "cross"});
  command.section();
}

Result<HeadParts> HeadOption::parts() const {
  HeadParts parts;
  parts.layer = layer_;
  if (!stack_.empty()) parts.stack = parse_stack(stack_);
  if (const auto number = parse_index(head_)) {
    parts.head = *number;
  } else if (!head_.empty()) {
    const auto head = parse_head(head_);
    if (!head) return bad_input("--head", "", "HEAD, LAYER.HEAD or STACK:LAYER.HEAD, as 2, 1.2 or cross:1.2", head_);
    if (parts.layer && *parts.layer != head->layer)
      return bad_input("--head", "", "a head of --layer " + std::to_string(*parts.layer), head_);
    const bool names_stack = head_.find(':') != std::string::npos;
    if (names_stack && parts.stack && *parts.stack != head->stack)
      return bad_input("--head", "", "a head of --stack " + stack_, head_);
    if (names_stack) parts.stack = head->stack;
    parts.layer = head->layer;
    parts.head = head->head;
  }
  if (required_ && !parts.layer) return bad_input("--head", "", "LAYER.HEAD, or --layer beside it", head_);
  return parts;
}

Status check_stack_option(const Request& request, const HeadRef& head) {
  if (has_stack(request, head.stack)) return Done{};
  return bad_input("--stack", "", "self, the only attention of this model", stack_name(head.stack));
}

Status check_head_options(const Trace& trace, const HeadRef& head) {
  TRY(check_within("--layer", "", head.layer, trace.num_layers(head.stack)));
  return check_within("--head", "", head.head, trace.num_heads(head.stack));
}

Result<std::vector<Index>> numbers_of(const char* option, const std::string& what,
                                      const std::vector<std::string>& texts, Index count) {
  std::vector<Index> tokens;
  for (const std::string& text : texts) {
    const std::size_t dash = std::min(text.find('-'), text.size());
    const auto first = parse_number<Index>(std::string_view(text).substr(0, dash));
    const auto last = dash < text.size() ? parse_number<Index>(std::string_view(text).substr(dash + 1)) : first;
    if (!first || !last || *first < 0 || *last < *first || *last >= count)
      return bad_input(option, "", what + " from 0 to " + std::to_string(count - 1) + ", as 3,7-9", text);
    for (Index token = *first; token <= *last; ++token) tokens.push_back(token);
  }
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

}  // namespace headlight
