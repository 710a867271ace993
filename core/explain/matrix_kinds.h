// What there is to say about each kind of matrix without knowing a model: a table.
#pragma once

#include "explain/matrices.h"

namespace headlight {

/// Where in a model a kind of matrix has its place; with it the form of its path.
enum class MatrixPart { embedding, attention, head, ffn, block, end, output };

struct Kind {
  Quantity quantity;
  MatrixPart part;
  const char* name;  // the last word of its path
  const char* symbol;
  Axis rows, cols;
  bool learned = false;  // learned, looked up or given
};

const Kind& kind_of(Quantity quantity);

}  // namespace headlight
