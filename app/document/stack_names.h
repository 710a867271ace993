// Attentions and heads as people write them: `cross:0.3` is head 3 of layer 0, `0.3` the same of the main stack.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/head.h"

namespace headlight {

/// self | encoder | cross.
std::string_view stack_name(Stack stack);
std::optional<Stack> parse_stack(std::string_view name);

/// Takes `cross:` off the front of `text`; Stack::self where there is no such prefix, nothing where it is another word.
std::optional<Stack> take_stack(std::string_view& text);

/// A whole number, 0 or more, and nothing else.
std::optional<Index> parse_index(std::string_view text);

std::string head_text(const HeadRef& head);
std::optional<HeadRef> parse_head(std::string_view text);

}  // namespace headlight
