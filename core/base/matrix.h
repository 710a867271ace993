// Eigen's types under the field's names. Row-major, as NumPy and PyTorch lay their arrays out; one row a token.
#pragma once

#include <type_traits>

#include <Eigen/Core>

#include "base/index.h"

namespace headlight {

static_assert(std::is_same_v<Index, Eigen::Index>);
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::Matrix<float, 1, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixRef = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
using ConstMatrixRef = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;

/// Same shape and same values; matrices of different shape are simply different.
inline bool same(const ConstMatrixRef& a, const ConstMatrixRef& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && (a.array() == b.array()).all();
}

}  // namespace headlight
