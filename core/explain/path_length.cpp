#include "explain/path_length.h"

#include <cstdlib>

namespace headlight {

PathLength path_length(const CellRef& cell, Stack stack, Index keys) {
  if (stack == Stack::cross) return {.recurrent = keys - cell.key + cell.query};
  const Index apart = std::abs(cell.query - cell.key);
  Index layers = 0;
  for (Index reach = 1; reach < apart + 1; reach *= kKernel) ++layers;
  return {.recurrent = apart, .convolution = layers};
}

}  // namespace headlight
