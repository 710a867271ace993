#include "read/external/held_numbers.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace headlight {
namespace {

bool sums_to_one(const Array& array, std::size_t axis) {
  Index stride = 1;
  for (std::size_t later = axis + 1; later < array.shape.size(); ++later) stride *= array.shape[later];
  const Index size = array.shape[axis], count = static_cast<Index>(array.values.size());
  for (Index first = 0; first < count;
       first = (first + 1) % stride == 0 ? first + 1 + stride * (size - 1) : first + 1) {
    using Numbers = Eigen::Map<const Eigen::ArrayXf, Eigen::Unaligned, Eigen::InnerStride<>>;
    const float* const begin = array.values.data() + first;
    const double sum = stride == 1 ? Eigen::Map<const Eigen::ArrayXf>(begin, size).cast<double>().sum()
                                   : Numbers(begin, size, Eigen::InnerStride<>(stride)).cast<double>().sum();
    if (!(std::abs(sum - 1) < 0.05)) return false;
  }
  return true;
}

}  // namespace

std::string axis_of_keys(const Array& array, std::size_t keys) {
  if (sums_to_one(array, keys)) return {};
  for (std::size_t axis = 0; axis < array.shape.size(); ++axis)
    if (array.shape[axis] > 1 && sums_to_one(array, axis))
      return "the weights sum to 1 over axis " + std::to_string(axis) +
             ", not over S: --axes with S there (T,S,batch,heads and the like)";
  return {};
}

std::optional<Array> numbers_of_bits(const Array& array) {
  if (array.dtype != Dtype::u16 && array.dtype != Dtype::i16) return std::nullopt;
  std::string bytes;
  for (const float value : array.values) {
    const auto bits = static_cast<std::uint16_t>(static_cast<std::int32_t>(value));
    bytes += static_cast<char>(bits & 255);
    bytes += static_cast<char>(bits >> 8);
  }
  for (const Dtype dtype : {Dtype::bf16, Dtype::f16}) {
    Array read{.dtype = dtype, .shape = array.shape, .values = {}};
    append_widened(dtype, false, bytes, read.values);
    if (sums_to_one(read, read.shape.size() - 1)) return read;
  }
  return std::nullopt;
}

}  // namespace headlight
