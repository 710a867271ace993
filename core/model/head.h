// Addresses in a model: stack, layer, head, cell of a pattern.
#pragma once

#include <compare>

#include "base/matrix.h"

namespace headlight {

/// The attentions of an architecture. A model of one stack has only `self`; in an encoder-decoder `self` is the
/// decoder's self-attention, `encoder` the encoder's, `cross` the decoder's over the encoder's output.
enum class Stack { self, encoder, cross };
inline constexpr Stack kStacks[] = {Stack::encoder, Stack::self, Stack::cross};  // in the order of the computation

struct HeadRef {
  Index layer = 0, head = 0;
  Stack stack = Stack::self;

  friend auto operator<=>(const HeadRef&, const HeadRef&) = default;
};

/// A cell of a pattern: the query's row, the key's column.
struct CellRef {
  Index query = 0, key = 0;

  friend auto operator<=>(const CellRef&, const CellRef&) = default;
};

}  // namespace headlight
