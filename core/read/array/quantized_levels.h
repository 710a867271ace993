// How each library packs the levels of a quantized weight, and the array of blocks, or of float32, that they make
// (quantized.cpp). A source has kind(), block(row, col, to) for 32 columns that share a scale, and value(row, col).
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "model/half.h"
#include "read/array/array.h"

namespace headlight::quantized {

using Byte = std::uint8_t;

inline constexpr Index kTogether = 32;  // numbers of a block

/// Whole numbers of so many bits, packed into the 32 bits of a word from the lowest on.
inline unsigned level_of(std::uint32_t word, Index at, int bits) {
  return word >> (static_cast<int>(at) * bits) & ((1u << bits) - 1);
}

/// The numbers of a tensor that is small beside its weight.
inline std::vector<float> numbers_in(const StoredArray& array) {
  std::vector<float> numbers;
  append_widened(array.dtype, false, array.bytes, numbers);
  return numbers;
}

inline std::uint32_t word_in(const StoredArray& array, Index at) {
  std::uint32_t word;
  std::memcpy(&word, array.bytes.data() + 4 * at, sizeof word);
  return word;
}

inline void put_float(char* to, float number) { std::memcpy(to, &number, sizeof number); }

/// A weight whose levels are multiplied by a scale and moved, both shared by the columns of a group.
/// `Levels` has level(row, col), group(col) and scale(row, group), least(row, group).
template <class Levels>
struct Grouped {
  const Levels& of;
  int bits;

  Dtype kind() const { return bits == 8 ? Dtype::grouped_8 : Dtype::grouped_4; }
  float value(Index row, Index col) const {
    const Index group = of.group(col);
    return from_level(of.level(row, col), of.scale(row, group), of.least(row, group));
  }
  void block(Index row, Index col, char* to) const {
    const Index group = of.group(col);
    put_float(to, of.scale(row, group));
    put_float(to + 4, of.least(row, group));
    const auto byte = [&](Index j) { return static_cast<Byte>(of.level(row, col + j)); };
    for (Index j = 0; j < (bits == 8 ? kTogether : 16); ++j)
      to[8 + j] = static_cast<char>(bits == 8 ? byte(j) : byte(j) | byte(j + 16) << 4);
  }
};

/// (in, out): `qweight` (in / per word, out), `qzeros` (groups, out / per word), `scales` (groups, out), `g_idx` (in).
struct GptqLevels {
  const StoredArray &weight, &zeros;
  std::vector<float> scales;
  std::vector<Index> groups;  // of each input
  Index rows;
  int bits;
  bool less_one;

  Index per_word() const { return 32 / bits; }
  unsigned level(Index row, Index col) const {
    return level_of(word_in(weight, col / per_word() * rows + row), col % per_word(), bits);
  }
  Index group(Index col) const { return groups[static_cast<std::size_t>(col)]; }
  float scale(Index row, Index group) const { return scales[static_cast<std::size_t>(group * rows + row)]; }
  float least(Index row, Index group) const {
    const unsigned zero = level_of(word_in(zeros, (group * rows + row) / per_word()), row % per_word(), bits);
    const unsigned whole = less_one ? (zero + 1) & ((1u << bits) - 1) : zero;
    return -static_cast<float>(whole) * scale(row, group);
  }
};

/// (in, out): `qweight` (in, out / 8), `qzeros` (groups, out / 8), `scales` (groups, out); of the 8 columns of a word
/// those with an even number come first.
struct AwqLevels {
  const StoredArray &weight, &zeros;
  std::vector<float> scales;
  Index rows, group_size;

  static Index place(Index row) { return row % 8 / 2 + row % 2 * 4; }
  unsigned level(Index row, Index col) const {
    return level_of(word_in(weight, (col * rows + row) / 8), place(row), 4);
  }
  Index group(Index col) const { return col / group_size; }
  float scale(Index row, Index group) const { return scales[static_cast<std::size_t>(group * rows + row)]; }
  float least(Index row, Index group) const {
    const unsigned zero = level_of(word_in(zeros, (group * rows + row) / 8), place(row), 4);
    return -static_cast<float>(zero) * scale(row, group);
  }
};

/// (out, in): `weight` (out, in / per word), `scales` and `biases` (out, groups).
struct MlxLevels {
  const StoredArray& weight;
  std::vector<float> scales, leasts;
  Index cols, group_size;
  int bits;

  unsigned level(Index row, Index col) const {
    const Index at = row * cols + col, per_word = 32 / bits;
    return level_of(word_in(weight, at / per_word), at % per_word, bits);
  }
  Index group(Index col) const { return col / group_size; }
  std::size_t at(Index row, Index group) const { return static_cast<std::size_t>(row * (cols / group_size) + group); }
  float scale(Index row, Index group) const { return scales[at(row, group)]; }
  float least(Index row, Index group) const { return leasts[at(row, group)]; }
};

/// (out, in) of bytes with a scale a row or a tile: int8, float8.
struct Scaled {
  const StoredArray& weight;
  std::vector<float> scales;
  Dtype blocks;
  Index cols, scale_rows, scale_cols;

  Dtype kind() const { return blocks; }
  float scale(Index row, Index col) const {
    const Index across = (cols + scale_cols - 1) / scale_cols;
    return scales[static_cast<std::size_t>(row / scale_rows * across + col / scale_cols)];
  }
  float value(Index row, Index col) const {
    const char byte = weight.bytes[static_cast<std::size_t>(row * cols + col)];
    if (blocks == Dtype::float8) return from_float8(static_cast<Byte>(byte)) * scale(row, col);
    return from_int8(static_cast<std::int8_t>(byte), scale(row, col));
  }
  void block(Index row, Index col, char* to) const {
    put_float(to, scale(row, col));
    std::memcpy(to + 4, weight.bytes.data() + row * cols + col, kTogether);
  }
};

/// Of bitsandbytes: two numbers a byte, all rows one after another, a scale for each `block_size` of them.
struct Levels4 {
  const StoredArray& weight;
  std::vector<float> scales;
  Dtype blocks;
  Index cols, block_size;

  Dtype kind() const { return blocks; }
  float scale(Index at) const { return scales[static_cast<std::size_t>(at / block_size)]; }
  float value(Index row, Index col) const {
    const Index at = row * cols + col;
    const auto byte = static_cast<Byte>(weight.bytes[static_cast<std::size_t>(at / 2)]);
    return (blocks == Dtype::nf4 ? kNf4Levels : kFp4Levels)[at % 2 == 0 ? byte >> 4 : byte & 15] * scale(at);
  }
  void block(Index row, Index col, char* to) const {
    const Index at = row * cols + col;
    put_float(to, scale(at));
    std::memcpy(to + 4, weight.bytes.data() + at / 2, kTogether / 2);
  }
};

/// The weight as one array; `even`: each 32 columns have one scale.
template <class Source>
StoredArray array_of_source(const std::string& where, Index rows, Index cols, bool even, const Source& source) {
  const bool blocks = even && cols % kTogether == 0;
  StoredArray array{.dtype = blocks ? source.kind() : Dtype::f32, .shape = {rows, cols}, .bytes = {}, .where = where};
  const std::size_t line = bytes_of(array.dtype, static_cast<std::size_t>(cols));
  const auto bytes = std::make_shared<std::vector<char>>(line * static_cast<std::size_t>(rows));
  constexpr Index kTile = 64;  // rows, whose words are neighbours in files that store (in, out)
  parallel_for((rows + kTile - 1) / kTile, 0, [&](Index tile) {
    const Index end = std::min(rows, (tile + 1) * kTile);
    for (Index col = 0; col < cols; col += blocks ? kTogether : 1)
      for (Index row = tile * kTile; row < end; ++row) {
        char* const to =
            bytes->data() + static_cast<std::size_t>(row) * line + bytes_of(array.dtype, static_cast<std::size_t>(col));
        if (blocks) source.block(row, col, to);
        else put_float(to, source.value(row, col));
      }
  });
  array.bytes = {bytes->data(), bytes->size()};
  array.owner = bytes;
  return array;
}

}  // namespace headlight::quantized
