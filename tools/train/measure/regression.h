// A linear classifier of rows of features: softmax regression with weight decay.
#pragma once

#include <vector>

#include "base/matrix.h"

namespace headlight {

/// Rows of features, and the class of each.
struct Cases {
  Matrix features;
  std::vector<Index> classes;
};

/// (classes, features): Adam over all cases at once, on features of mean 0 and deviation 1. Feature 0 is always 1.
Matrix regression(Cases cases, Index classes);

/// As files keep it: in float16.
Matrix rounded(const Matrix& weights);

}  // namespace headlight
