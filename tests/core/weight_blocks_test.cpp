// Numbers in blocks, to the bit: against a second implementation, number by number from the description of each block,
// and against ggml's own answers (golden/ggml_blocks.py).
#include "model/weight_blocks.h"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "base/file.h"
#include "math/ops.h"
#include "math/stored_weight.h"
#include "model/weights.h"
#include "read/json/json_document.h"

namespace headlight {
namespace {

constexpr Index kRandomBlocks = 10000;
constexpr WeightKind kAllBlocks[] = {WeightKind::q4_0, WeightKind::q4_1, WeightKind::q5_0,   WeightKind::q5_1,
                                     WeightKind::q8_0, WeightKind::q2_k, WeightKind::q3_k,   WeightKind::q4_k,
                                     WeightKind::q5_k, WeightKind::q6_k, WeightKind::iq4_nl, WeightKind::iq4_xs};

/// SplitMix64, bytes from the lowest on; with finite scales.
std::string random_blocks(WeightKind kind, std::uint64_t seed, Index count) {
  const WeightBlocks& blocks = blocks_of(kind);
  std::string bytes(static_cast<std::size_t>(count * blocks.bytes), '\0');
  std::uint64_t state = seed;
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    std::memcpy(bytes.data() + at, &z, std::min<std::size_t>(8, bytes.size() - at));
  }
  for (Index block = 0; block < count; ++block)
    for (const Index scale : blocks.scales)
      if (scale >= 0) bytes[static_cast<std::size_t>(block * blocks.bytes + scale + 1)] &= '\xBF';
  return bytes;
}

/// One block as a string of bits, the lowest of each byte first.
struct BlockBits {
  const unsigned char* bytes;
  int bits(int byte, int first, int count) const { return bytes[byte] >> first & ((1 << count) - 1); }
  float half(int byte) const {
    const int all = bytes[byte] | bytes[byte + 1] << 8, exponent = all >> 10 & 31, fraction = all & 1023;
    const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return static_cast<float>(all >> 15 ? -size : size);
  }
};

/// The six bits of scale s (0 to 7: scales, 8 to 15: least numbers) of Q4_K and Q5_K: the lower of eight bytes' six
/// bits for the groups 0 to 3; of groups 4 to 7 four bits stand in the last four bytes, two in the upper bits of the
/// others.
int packed_six(const BlockBits& b, int group, bool least) {
  const int at = 4 + (least ? 4 : 0) + group % 4;
  if (group < 4) return b.bits(at, 0, 6);
  return b.bits(12 + group % 4, least ? 4 : 0, 4) + 16 * b.bits(at, 6, 2);
}

/// Number i of a block.
float number_of_block(WeightKind kind, const BlockBits& b, int i) {
  static constexpr int kSteps[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  const int byte16 = i % 16, upper16 = i % 32 / 16 * 4;       // four bits in 16 bytes
  const int half = i / 128, part = i % 128 / 32, l = i % 32;  // 256 numbers as halves of four rows of 32
  const int group32 = i / 32, group16 = i / 16;
  const auto f = [](int whole) { return static_cast<float>(whole); };
  switch (kind) {
    case WeightKind::q4_0: return b.half(0) * f(b.bits(2 + byte16, upper16, 4) - 8);
    case WeightKind::q4_1: return b.half(0) * f(b.bits(4 + byte16, upper16, 4)) + b.half(2);
    case WeightKind::q5_0: return b.half(0) * f(b.bits(6 + byte16, upper16, 4) + 16 * b.bits(2 + i / 8, i % 8, 1) - 16);
    case WeightKind::q5_1:
      return b.half(0) * f(b.bits(8 + byte16, upper16, 4) + 16 * b.bits(4 + i / 8, i % 8, 1)) + b.half(2);
    case WeightKind::q8_0: return b.half(0) * f(static_cast<signed char>(b.bytes[2 + i]));
    case WeightKind::iq4_nl: return b.half(0) * f(kSteps[b.bits(2 + byte16, upper16, 4)]);
    case WeightKind::iq4_xs: {
      const int six = b.bits(4 + group32 / 2, group32 % 2 * 4, 4) + 16 * b.bits(2 + group32 / 4, group32 % 4 * 2, 2);
      return b.half(0) * f(six - 32) * f(kSteps[b.bits(8 + group32 * 16 + byte16, upper16, 4)]);
    }
    case WeightKind::q2_k: {
      const float scale = b.half(80) * f(b.bits(group16, 0, 4)), least = b.half(82) * f(b.bits(group16, 4, 4));
      return scale * f(b.bits(16 + half * 32 + l, 2 * part, 2)) - least;
    }
    case WeightKind::q3_k: {
      const int six = b.bits(96 + group16 % 8, group16 / 8 * 4, 4) + 16 * b.bits(104 + group16 % 4, group16 / 4 * 2, 2);
      const int three = b.bits(32 + half * 32 + l, 2 * part, 2) + 4 * b.bits(l, half * 4 + part, 1);
      return b.half(108) * f(six - 32) * f(three - 4);
    }
    case WeightKind::q4_k:
    case WeightKind::q5_k: {
      const bool five = kind == WeightKind::q5_k;
      const float scale = b.half(0) * f(packed_six(b, group32, false)),
                  least = b.half(2) * f(packed_six(b, group32, true));
      const int four = b.bits((five ? 48 : 16) + group32 / 2 * 32 + l, group32 % 2 * 4, 4);
      return scale * f(four + (five ? 16 * b.bits(16 + l, group32, 1) : 0)) - least;
    }
    default: {
      const int four = b.bits(64 * half + part % 2 * 32 + l, part / 2 * 4, 4),
                two = b.bits(128 + 32 * half + l, 2 * part, 2);
      return b.half(208) * f(static_cast<signed char>(b.bytes[192 + group16])) * f(four + 16 * two - 32);
    }
  }
}

std::uint32_t crc32_of(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

TEST(BlocksOfWeights, AreGgmlsToTheBit) {
  const auto golden =
      parse_json("ggml-blocks.json", *read_file(std::string(HEADLIGHT_TEST_DATA) + "/golden/ggml-blocks.json"));
  ASSERT_TRUE(golden);
  ASSERT_EQ((*golden)["blocks"], kRandomBlocks);
  std::uint64_t seed = 0;
  for (const WeightKind kind : kAllBlocks) {
    const WeightBlocks& blocks = blocks_of(kind);
    SCOPED_TRACE(blocks.name);
    const std::string bytes = random_blocks(kind, seed++, kRandomBlocks);
    std::vector<float> numbers(static_cast<std::size_t>(kRandomBlocks * blocks.numbers));
    blocks.widen(bytes.data(), kRandomBlocks, numbers.data());
    std::size_t different = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto in_block = static_cast<std::size_t>(blocks.numbers);
      const auto* at =
          reinterpret_cast<const unsigned char*>(bytes.data()) + i / in_block * static_cast<std::size_t>(blocks.bytes);
      const float expected = number_of_block(kind, {at}, static_cast<int>(i % in_block));
      different += std::memcmp(&expected, &numbers[i], sizeof expected) != 0;
    }
    EXPECT_EQ(different, 0u);
    EXPECT_EQ(crc32_of({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)}),
              (*golden)["crc32"][std::string(blocks.name)]);
  }
}

// Products of a weight in blocks are those of its numbers as float32, in the file or packed, whatever the stretch of
// columns that is read at a time and the number of threads.
TEST(BlocksOfWeights, GiveTheProductsOfTheirNumbers) {
  for (const WeightKind kind : kAllBlocks)
    for (const Index columns : {256, 512, 2304}) {  // 2304: stretches of 461 columns
      const Index rows = 70;
      SCOPED_TRACE(std::string(blocks_of(kind).name) + " " + std::to_string(columns));
      const std::string bytes = "x" + random_blocks(kind, 9, rows * columns / blocks_of(kind).numbers);
      const StoredMatrix stored{.kind = kind, .rows = rows, .cols = columns, .bytes = bytes.data() + 1};
      Linear in_file, whole, panels;
      in_file.stored = std::make_shared<const StoredMatrix>(stored);
      whole.weight = widened(stored, 0, rows);
      panels.panels = packed(stored);
      EXPECT_TRUE(same(widened(stored, 3, 2, 17, 101), whole.weight.block(3, 17, 2, 101)));
      const Matrix x = Matrix::Random(5, columns);
      const Matrix expected = linear(x, whole, Threads(1));
      for (const int threads : {1, 2, 3}) EXPECT_TRUE(same(linear(x, in_file, Threads(threads)), expected));
      EXPECT_TRUE(same(linear(x, panels, Threads(2)), expected));
    }
}

TEST(BlocksOfWeights, AreFiniteWhereTheirScalesAre) {
  for (const WeightKind kind : kAllBlocks) {
    const WeightBlocks& blocks = blocks_of(kind);
    std::string bytes = random_blocks(kind, 1, 5000);
    const auto count = static_cast<std::size_t>(5000 * blocks.numbers);
    EXPECT_TRUE(all_finite(kind, bytes.data(), count, Threads(2)));
    for (const Index scale : blocks.scales) {
      if (scale < 0) continue;
      std::string broken = bytes;
      broken[static_cast<std::size_t>(4999 * blocks.bytes + scale + 1)] = '\x7C';
      EXPECT_FALSE(all_finite(kind, broken.data(), count, Threads(2))) << blocks.name;
      std::vector<float> numbers(static_cast<std::size_t>(blocks.numbers));
      blocks.widen(broken.data() + 4999 * blocks.bytes, 1, numbers.data());
      EXPECT_FALSE(std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); }));
    }
  }
}

}  // namespace
}  // namespace headlight
