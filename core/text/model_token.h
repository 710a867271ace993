// A token that a model makes of a piece.
#pragma once

#include <cstdint>

namespace headlight {

struct ModelToken {
  std::int32_t id = 0;
  std::uint32_t begin = 0, end = 0;  // bytes of the piece
  bool known = true;                 // false: the id stands for whatever is not in the vocabulary
  bool as_written = false;           // its word is the piece's own bytes, whatever the id says
};

}  // namespace headlight
