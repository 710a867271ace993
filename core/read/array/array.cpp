#include "read/array/array.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "base/half.h"
#include "base/names.h"

namespace headlight {
namespace {

static_assert(std::endian::native == std::endian::little, "files are read as little-endian memory");

template <class Stored, class Widen>
void append_as(bool big_endian, std::string_view bytes, std::vector<float>& values, const Widen& widen) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Stored)) {
    char element[sizeof(Stored)];
    std::memcpy(element, bytes.data() + at, sizeof(Stored));
    if (big_endian) std::reverse(element, element + sizeof(Stored));
    Stored stored;
    std::memcpy(&stored, element, sizeof(Stored));
    values.push_back(widen(stored));
  }
}

template <class Number>
void append_numbers(bool big_endian, std::string_view bytes, std::vector<float>& values) {
  append_as<Number>(big_endian, bytes, values, [](Number stored) { return static_cast<float>(stored); });
}

constexpr std::string_view kDtypeNames[] = {"bool",   "uint8", "int8",    "uint16",   "int16",   "uint32", "int32",
                                            "uint64", "int64", "float16", "bfloat16", "float32", "float64"};

}  // namespace

std::size_t width(Dtype dtype) {
  switch (dtype) {
    case Dtype::boolean:
    case Dtype::u8:
    case Dtype::i8: return 1;
    case Dtype::u16:
    case Dtype::i16:
    case Dtype::f16:
    case Dtype::bf16: return 2;
    case Dtype::u32:
    case Dtype::i32:
    case Dtype::f32: return 4;
    case Dtype::u64:
    case Dtype::i64:
    case Dtype::f64: return 8;
  }
  return 0;
}

std::string_view name(Dtype dtype) { return name_in(kDtypeNames, dtype); }

bool is_floating(Dtype dtype) {
  return dtype == Dtype::f16 || dtype == Dtype::bf16 || dtype == Dtype::f32 || dtype == Dtype::f64;
}

std::optional<std::size_t> num_elements(const std::vector<Index>& shape) {
  std::size_t product = 1;
  for (const Index size : shape) {
    if (size < 0 || static_cast<std::size_t>(size) > kMostElements) return std::nullopt;
    if (size == 0) product = 0;
    if (product > 0 && static_cast<std::size_t>(size) > kMostElements / product) return std::nullopt;
    product *= static_cast<std::size_t>(size);
  }
  return product;
}

std::string shape_text(const std::vector<Index>& shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ", ";
    if (axis == 8) return text + "…)";
    text += std::to_string(shape[axis]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

void append_widened(Dtype dtype, bool big_endian, std::string_view bytes, std::vector<float>& values) {
  assert(bytes.size() % width(dtype) == 0);
  switch (dtype) {
    case Dtype::boolean:
      return append_as<std::uint8_t>(false, bytes, values, [](std::uint8_t byte) { return byte != 0 ? 1.0f : 0.0f; });
    case Dtype::u8: return append_numbers<std::uint8_t>(big_endian, bytes, values);
    case Dtype::i8: return append_numbers<std::int8_t>(big_endian, bytes, values);
    case Dtype::u16: return append_numbers<std::uint16_t>(big_endian, bytes, values);
    case Dtype::i16: return append_numbers<std::int16_t>(big_endian, bytes, values);
    case Dtype::u32: return append_numbers<std::uint32_t>(big_endian, bytes, values);
    case Dtype::i32: return append_numbers<std::int32_t>(big_endian, bytes, values);
    case Dtype::u64: return append_numbers<std::uint64_t>(big_endian, bytes, values);
    case Dtype::i64: return append_numbers<std::int64_t>(big_endian, bytes, values);
    case Dtype::f16: return append_as<std::uint16_t>(big_endian, bytes, values, from_float16);
    case Dtype::bf16: return append_as<std::uint16_t>(big_endian, bytes, values, from_bfloat16);
    case Dtype::f32: return append_numbers<float>(big_endian, bytes, values);
    case Dtype::f64: return append_numbers<double>(big_endian, bytes, values);
  }
}

}  // namespace headlight
