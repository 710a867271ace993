// Writes and reads the text of a head, of a layer's heads and of an attention's name.
// Layers and heads count from 0.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/head.h"

namespace headlight {

/// self | encoder | cross.
std::string_view stack_name(Stack stack);
std::optional<Stack> parse_stack(std::string_view name);
/// Before the text of something in a stack: `encoder:` or `cross:`, nothing for self.
std::string stack_prefix(Stack stack);

/// Takes `cross:` off the front of `text`; Stack::self where there is no such prefix, nothing where it is another word.
std::optional<Stack> take_stack(std::string_view& text);

/// A whole number, 0 or more, and nothing else.
std::optional<Index> parse_index(std::string_view text);

/// `L1·H2`: a head as the window, figures, tables and messages show it, without its stack.
std::string head_label(const HeadRef& head);

/// `1.2`, of a stack other than self `cross:1.2`: a head as a script types it and as files store it.
std::string head_text(const HeadRef& head);

/// Reads `1.2`, `L1.H2` and `L1·H2`, with or without a stack before it (`cross:1.2`).
std::optional<HeadRef> parse_head(std::string_view text);

/// One head of a layer, or all of them.
struct LayerHeads {
  Stack stack = Stack::self;
  Index layer = 0;
  std::optional<Index> head = {};  // nothing: all heads
};

/// Reads the texts of parse_head, and `1.*` or `L1·*` for all heads of a layer.
std::optional<LayerHeads> parse_heads(std::string_view text);

/// The one head, or those of a layer of `count` heads.
std::vector<HeadRef> heads_in(const LayerHeads& heads, Index count);

}  // namespace headlight
