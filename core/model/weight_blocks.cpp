#include "model/weight_blocks.h"

#include <cstdint>
#include <cstring>

#include "model/half.h"

namespace headlight {
namespace {

using Byte = std::uint8_t;

constexpr Index kSmall = 32, kLarge = 256;  // numbers of a block

float half_at(const Byte* at) {
  std::uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return from_float16(bits);
}

template <class Stored, class Widen>
void widen_single(const char* from, Index count, float* to, const Widen& widen) {
  for (Index i = 0; i < count; ++i) {
    Stored bits;
    std::memcpy(&bits, from + static_cast<std::size_t>(i) * sizeof bits, sizeof bits);
    to[i] = widen(bits);
  }
}

void widen_float16(const char* from, Index count, float* to) {
  widen_single<std::uint16_t>(from, count, to, from_float16);
}
void widen_bfloat16(const char* from, Index count, float* to) {
  widen_single<std::uint16_t>(from, count, to, from_bfloat16);
}
void widen_float32(const char* from, Index count, float* to) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof *to);
}

/// Calls one(block, numbers) for each block of so many bytes and numbers.
template <Index bytes, Index numbers, class One>
void each_block(const char* from, Index blocks, float* to, const One& one) {
  const auto* at = reinterpret_cast<const Byte*>(from);
  for (Index block = 0; block < blocks; ++block) one(at + block * bytes, to + block * numbers);
}

// Blocks of 32. The lower halves of 16 bytes are numbers 0 to 15, the upper halves 16 to 31; fifth bits stand apart,
// the bit of number j at j.

/// scale·(q − 8)
void widen_q4_0(const char* from, Index blocks, float* to) {
  each_block<18, kSmall>(from, blocks, to, [](const Byte* at, float* x) {
    const float scale = half_at(at);
    for (int j = 0; j < 16; ++j) {
      x[j] = scale * static_cast<float>((at[2 + j] & 15) - 8);
      x[j + 16] = scale * static_cast<float>((at[2 + j] >> 4) - 8);
    }
  });
}

/// scale·q + least of 32 numbers of 4 bits
void widen_levels_4(const Byte* from, float scale, float least, float* to) {
  for (int j = 0; j < 16; ++j) {
    to[j] = from_level(from[j] & 15, scale, least);
    to[j + 16] = from_level(from[j] >> 4, scale, least);
  }
}

void widen_q4_1(const char* from, Index blocks, float* to) {
  each_block<20, kSmall>(from, blocks, to,
                         [](const Byte* at, float* x) { widen_levels_4(at + 4, half_at(at), half_at(at + 2), x); });
}

/// The five-bit numbers j and j + 16 of a block.
struct FiveBits {
  int low, high;
};
FiveBits five_bits(const Byte* fifth, const Byte* four, int j) {
  std::uint32_t bits;
  std::memcpy(&bits, fifth, sizeof bits);
  return {(four[j] & 15) | static_cast<int>((bits >> j & 1) << 4),
          (four[j] >> 4) | static_cast<int>((bits >> (j + 16) & 1) << 4)};
}

/// scale·(q − 16)
void widen_q5_0(const char* from, Index blocks, float* to) {
  each_block<22, kSmall>(from, blocks, to, [](const Byte* at, float* x) {
    const float scale = half_at(at);
    for (int j = 0; j < 16; ++j) {
      const FiveBits q = five_bits(at + 2, at + 6, j);
      x[j] = static_cast<float>(q.low - 16) * scale;
      x[j + 16] = static_cast<float>(q.high - 16) * scale;
    }
  });
}

/// scale·q + least
void widen_q5_1(const char* from, Index blocks, float* to) {
  each_block<24, kSmall>(from, blocks, to, [](const Byte* at, float* x) {
    const float scale = half_at(at), least = half_at(at + 2);
    for (int j = 0; j < 16; ++j) {
      const FiveBits q = five_bits(at + 4, at + 8, j);
      x[j] = static_cast<float>(q.low) * scale + least;
      x[j + 16] = static_cast<float>(q.high) * scale + least;
    }
  });
}

/// scale·q
void widen_q8_0(const char* from, Index blocks, float* to) {
  each_block<34, kSmall>(from, blocks, to, [](const Byte* at, float* x) {
    const float scale = half_at(at);
    for (int j = 0; j < 32; ++j) x[j] = static_cast<float>(static_cast<std::int8_t>(at[2 + j])) * scale;
  });
}

/// The steps of the non-linear four-bit numbers.
constexpr float kSteps[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

void widen_steps(float scale, const Byte* at, float* x) {
  for (int j = 0; j < 16; ++j) {
    x[j] = scale * kSteps[at[j] & 15];
    x[j + 16] = scale * kSteps[at[j] >> 4];
  }
}

void widen_iq4_nl(const char* from, Index blocks, float* to) {
  each_block<18, kSmall>(from, blocks, to, [](const Byte* at, float* x) { widen_steps(half_at(at), at + 2, x); });
}

// Blocks of 256: groups of 16 or 32 numbers, each with a scale in few bits, times the block's own.

/// Eight groups of 32, their scales minus 32 in six bits: two of them in scale_high, four in scale_low.
void widen_iq4_xs(const char* from, Index blocks, float* to) {
  each_block<136, kLarge>(from, blocks, to, [](const Byte* at, float* x) {
    const float scale = half_at(at);
    const int high = at[2] | at[3] << 8;
    for (int group = 0; group < 8; ++group) {
      const int low = at[4 + group / 2] >> (group % 2 * 4) & 15;
      const int own = (low | (high >> (2 * group) & 3) << 4) - 32;
      widen_steps(scale * static_cast<float>(own), at + 8 + 16 * group, x + 32 * group);
    }
  });
}

/// Sixteen groups of 16: scale·q − least, a byte with four bits of each for every group. Two bits a number: byte l
/// of a half has those of its numbers l, l + 32, l + 64 and l + 96.
void widen_q2_k(const char* from, Index blocks, float* to) {
  each_block<84, kLarge>(from, blocks, to, [](const Byte* at, float* x) {
    const float scale = half_at(at + 80), least = half_at(at + 82);
    for (int group = 0; group < 16; ++group, x += 16) {
      const float own = scale * static_cast<float>(at[group] & 15),
                  own_least = least * static_cast<float>(at[group] >> 4);
      const Byte* const q = at + 16 + group / 8 * 32 + group % 2 * 16;
      const int shift = group % 8 / 2 * 2;
      for (int l = 0; l < 16; ++l) x[l] = own * static_cast<float>(q[l] >> shift & 3) - own_least;
    }
  });
}

/// Sixteen groups of 16 with scales minus 32 in six bits, the lower four in eight bytes, the upper two in four. Two
/// bits a number as in Q2_K; a third one, of which byte l has those of numbers l, l + 32, …; without it 4 is
/// subtracted.
void widen_q3_k(const char* from, Index blocks, float* to) {
  each_block<110, kLarge>(from, blocks, to, [](const Byte* at, float* x) {
    const Byte* const scales = at + 96;
    const float scale = half_at(at + 108);
    for (int group = 0; group < 16; ++group, x += 16) {
      const int low = scales[group % 8] >> (group / 8 * 4) & 15, high = scales[8 + group % 4] >> (group / 4 * 2) & 3;
      const float own = scale * static_cast<float>((low | high << 4) - 32);
      const Byte *const third = at + group % 2 * 16, *const q = at + 32 + group / 8 * 32 + group % 2 * 16;
      const int shift = group % 8 / 2 * 2, bit = group / 2;
      for (int l = 0; l < 16; ++l) x[l] = own * static_cast<float>((q[l] >> shift & 3) - 4 + (third[l] >> bit & 1) * 4);
    }
  });
}

/// Six bits each for the scale and the least number of a group of 32, eight groups in twelve bytes.
struct GroupScale {
  float scale, least;
};
GroupScale group_scale(const Byte* at, int group) {
  const Byte* const six = at + 4;
  const float scale = half_at(at), least = half_at(at + 2);
  const int own = group < 4 ? six[group] & 63 : (six[group + 4] & 15) | six[group - 4] >> 6 << 4;
  const int own_least = group < 4 ? six[group + 4] & 63 : six[group + 4] >> 4 | six[group] >> 6 << 4;
  return {scale * static_cast<float>(own), least * static_cast<float>(own_least)};
}

/// scale·q − least; 32 bytes hold two groups.
void widen_q4_k(const char* from, Index blocks, float* to) {
  each_block<144, kLarge>(from, blocks, to, [](const Byte* at, float* x) {
    for (int pair = 0; pair < 4; ++pair, x += 64) {
      const GroupScale low = group_scale(at, 2 * pair), high = group_scale(at, 2 * pair + 1);
      const Byte* const q = at + 16 + 32 * pair;
      for (int l = 0; l < 32; ++l) x[l] = low.scale * static_cast<float>(q[l] & 15) - low.least;
      for (int l = 0; l < 32; ++l) x[l + 32] = high.scale * static_cast<float>(q[l] >> 4) - high.least;
    }
  });
}

/// The same with a fifth bit: bit g of byte l is that of number l of group g.
void widen_q5_k(const char* from, Index blocks, float* to) {
  each_block<176, kLarge>(from, blocks, to, [](const Byte* at, float* x) {
    const Byte* const fifth = at + 16;
    for (int pair = 0; pair < 4; ++pair, x += 64) {
      const GroupScale low = group_scale(at, 2 * pair), high = group_scale(at, 2 * pair + 1);
      const Byte* const q = at + 48 + 32 * pair;
      for (int l = 0; l < 32; ++l) {
        x[l] = low.scale * static_cast<float>((q[l] & 15) + (fifth[l] >> (2 * pair) & 1) * 16) - low.least;
        x[l + 32] = high.scale * static_cast<float>((q[l] >> 4) + (fifth[l] >> (2 * pair + 1) & 1) * 16) - high.least;
      }
    }
  });
}

/// Sixteen groups of 16 with scales of a signed byte: scale·(q − 32). Of each half, 64 bytes hold the lower four
/// bits, 32 bytes the upper two.
void widen_q6_k(const char* from, Index blocks, float* to) {
  each_block<210, kLarge>(from, blocks, to, [](const Byte* at, float* x) {
    const float scale = half_at(at + 208);
    for (int group = 0; group < 16; ++group, x += 16) {
      const int half = group / 8, part = group % 8 / 2, side = group % 2 * 16;
      const Byte* const four = at + half * 64 + part % 2 * 32 + side;
      const Byte* const two = at + 128 + half * 32 + side;
      const int four_shift = part / 2 * 4, two_shift = part * 2;
      const float own = scale * static_cast<float>(static_cast<std::int8_t>(at[192 + group]));
      for (int l = 0; l < 16; ++l)
        x[l] = own * static_cast<float>(((four[l] >> four_shift & 15) | (two[l] >> two_shift & 3) << 4) - 32);
    }
  });
}

// Blocks of 32 that begin with their scale in float32.

float float_at(const Byte* at) {
  float number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

void widen_grouped_4(const char* from, Index blocks, float* to) {
  each_block<24, kSmall>(from, blocks, to,
                         [](const Byte* at, float* x) { widen_levels_4(at + 8, float_at(at), float_at(at + 4), x); });
}

void widen_grouped_8(const char* from, Index blocks, float* to) {
  each_block<40, kSmall>(from, blocks, to, [](const Byte* at, float* x) {
    for (int j = 0; j < kSmall; ++j) x[j] = from_level(at[8 + j], float_at(at), float_at(at + 4));
  });
}

void widen_int8(const char* from, Index blocks, float* to) {
  each_block<36, kSmall>(from, blocks, to, [](const Byte* at, float* x) {
    for (int j = 0; j < kSmall; ++j) x[j] = from_int8(static_cast<std::int8_t>(at[4 + j]), float_at(at));
  });
}

void widen_float8(const char* from, Index blocks, float* to) {
  each_block<36, kSmall>(from, blocks, to, [](const Byte* at, float* x) {
    for (int j = 0; j < kSmall; ++j) x[j] = from_float8(at[4 + j]) * float_at(at);
  });
}

/// Of each byte the upper half is the first number.
void widen_levels(const char* from, Index blocks, float* to, const std::array<float, 16>& levels) {
  each_block<20, kSmall>(from, blocks, to, [&](const Byte* at, float* x) {
    const float scale = float_at(at);
    for (int j = 0; j < 16; ++j) {
      x[2 * j] = levels[at[4 + j] >> 4] * scale;
      x[2 * j + 1] = levels[at[4 + j] & 15] * scale;
    }
  });
}
void widen_nf4(const char* from, Index blocks, float* to) { widen_levels(from, blocks, to, kNf4Levels); }
void widen_fp4(const char* from, Index blocks, float* to) { widen_levels(from, blocks, to, kFp4Levels); }

constexpr WeightBlocks kBlocks[kWeightKinds] = {  // in the order of WeightKind
    {"float16", 1, 2, {0, -1}, widen_float16},        {"bfloat16", 1, 2, {-1, -1}, widen_bfloat16},
    {"float32", 1, 4, {-1, -1}, widen_float32},       {"Q4_0", kSmall, 18, {0, -1}, widen_q4_0},
    {"Q4_1", kSmall, 20, {0, 2}, widen_q4_1},         {"Q5_0", kSmall, 22, {0, -1}, widen_q5_0},
    {"Q5_1", kSmall, 24, {0, 2}, widen_q5_1},         {"Q8_0", kSmall, 34, {0, -1}, widen_q8_0},
    {"Q2_K", kLarge, 84, {80, 82}, widen_q2_k},       {"Q3_K", kLarge, 110, {108, -1}, widen_q3_k},
    {"Q4_K", kLarge, 144, {0, 2}, widen_q4_k},        {"Q5_K", kLarge, 176, {0, 2}, widen_q5_k},
    {"Q6_K", kLarge, 210, {208, -1}, widen_q6_k},     {"IQ4_NL", kSmall, 18, {0, -1}, widen_iq4_nl},
    {"IQ4_XS", kLarge, 136, {0, -1}, widen_iq4_xs},   {"int4", kSmall, 24, {-1, -1}, widen_grouped_4},
    {"uint8", kSmall, 40, {-1, -1}, widen_grouped_8}, {"int8", kSmall, 36, {-1, -1}, widen_int8},
    {"float8", kSmall, 36, {-1, -1}, widen_float8},   {"nf4", kSmall, 20, {-1, -1}, widen_nf4},
    {"fp4", kSmall, 20, {-1, -1}, widen_fp4}};

}  // namespace

const WeightBlocks& blocks_of(WeightKind kind) { return kBlocks[static_cast<std::size_t>(kind)]; }

}  // namespace headlight
