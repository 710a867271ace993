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

// The levels of a block are taken out of its bytes first, sixteen at a time, then widened in a loop of their own: both
// are loops that a compiler turns into vectors.

/// As wide as a register, for a processor waits where it reads at once what it wrote in parts.
typedef std::uint64_t Words __attribute__((vector_size(16)));

/// `bits` bits from `shift` on of each of `count` bytes (a multiple of 16) join the levels, `up` bits higher.
inline void take_bits(const Byte* from, int count, int shift, int bits, int up, Byte* levels) {
  const std::uint64_t mask = 0x0101010101010101u * ((1u << bits) - 1u);
  for (int i = 0; i < count; i += 16) {
    Words taken, joined;
    std::memcpy(&taken, from + i, sizeof taken);
    std::memcpy(&joined, levels + i, sizeof joined);
    joined |= (taken >> shift & mask) << up;
    std::memcpy(levels + i, &joined, sizeof joined);
  }
}

/// scale·(q − middle)
template <int count, class Level>
void widen_centred(const Level* q, int middle, float scale, float* x) {
  for (int j = 0; j < count; ++j) x[j] = scale * static_cast<float>(q[j] - middle);
}
/// scale·q + least
template <int count>
void widen_above(const Byte* q, float scale, float least, float* x) {
  for (int j = 0; j < count; ++j) x[j] = from_level(q[j], scale, least);
}

// Blocks of 32. The lower halves of 16 bytes are numbers 0 to 15, the upper halves 16 to 31; fifth bits stand apart,
// the bit of number j at j.

struct SmallLevels {
  Byte q[kSmall] = {};
};
SmallLevels four_bits(const Byte* from) {
  SmallLevels levels;
  take_bits(from, 16, 0, 4, 0, levels.q);
  take_bits(from, 16, 4, 4, 0, levels.q + 16);
  return levels;
}
SmallLevels five_bits(const Byte* fifth, const Byte* four) {
  SmallLevels levels = four_bits(four);
  // Bit i of a byte is put into byte i of a word, at bit i; where it is set, the sum has bit 7.
  std::uint64_t set[kSmall / 8];
  for (int byte = 0; byte < kSmall / 8; ++byte)
    set[byte] = (fifth[byte] * 0x0101010101010101u & 0x8040201008040201u) + 0x7F7F7F7F7F7F7F7Fu;
  take_bits(reinterpret_cast<const Byte*>(set), kSmall, 7, 1, 4, levels.q);
  return levels;
}

void widen_q4_0(const char* from, Index blocks, float* to) {
  each_block<18, kSmall>(from, blocks, to, [](const Byte* at, float* x) {
    widen_centred<kSmall>(four_bits(at + 2).q, 8, half_at(at), x);
  });
}

void widen_q4_1(const char* from, Index blocks, float* to) {
  each_block<20, kSmall>(from, blocks, to, [](const Byte* at, float* x) {
    widen_above<kSmall>(four_bits(at + 4).q, half_at(at), half_at(at + 2), x);
  });
}

void widen_q5_0(const char* from, Index blocks, float* to) {
  each_block<22, kSmall>(from, blocks, to, [](const Byte* at, float* x) {
    widen_centred<kSmall>(five_bits(at + 2, at + 6).q, 16, half_at(at), x);
  });
}

void widen_q5_1(const char* from, Index blocks, float* to) {
  each_block<24, kSmall>(from, blocks, to, [](const Byte* at, float* x) {
    widen_above<kSmall>(five_bits(at + 4, at + 8).q, half_at(at), half_at(at + 2), x);
  });
}

void widen_q8_0(const char* from, Index blocks, float* to) {
  each_block<34, kSmall>(from, blocks, to, [](const Byte* at, float* x) {
    widen_centred<kSmall>(reinterpret_cast<const std::int8_t*>(at + 2), 0, half_at(at), x);
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

/// Sixteen groups of 16: scale·(q − middle), plus a least number of each where there are any. In two passes, and four
/// numbers at a time: a compiler makes no vectors of a loop over 16 bytes, and slow ones of a loop over such loops.
void widen_groups(const Byte* q, int middle, const float* scales, const float* least, float* x) {
  typedef float Four __attribute__((vector_size(16)));
  widen_centred<kLarge>(q, middle, 1, x);
  for (int j = 0; j < kLarge; j += 4) {
    Four numbers;
    std::memcpy(&numbers, x + j, sizeof numbers);
    numbers *= scales[j / 16];
    if (least) numbers += least[j / 16];
    std::memcpy(x + j, &numbers, sizeof numbers);
  }
}

/// Two bits a number: byte l of a half has those of its numbers l, l + 32, l + 64 and l + 96.
void take_two_bits(const Byte* from, int up, Byte* levels) {
  for (int part = 0; part < 8; ++part) take_bits(from + part / 4 * 32, 32, part % 4 * 2, 2, up, levels + 32 * part);
}

/// Sixteen groups of 16: scale·q − least, a byte with four bits of each for every group.
void widen_q2_k(const char* from, Index blocks, float* to) {
  each_block<84, kLarge>(from, blocks, to, [](const Byte* at, float* x) {
    const float scale = half_at(at + 80), least = half_at(at + 82);
    Byte q[kLarge] = {};
    take_two_bits(at + 16, 0, q);
    float own[16], own_least[16];
    for (int group = 0; group < 16; ++group) {
      own[group] = scale * static_cast<float>(at[group] & 15);
      own_least[group] = -(least * static_cast<float>(at[group] >> 4));
    }
    widen_groups(q, 0, own, own_least, x);
  });
}

/// Sixteen groups of 16 with scales minus 32 in six bits, the lower four in eight bytes, the upper two in four. Two
/// bits a number as in Q2_K; a third one, of which byte l has those of numbers l, l + 32, …
void widen_q3_k(const char* from, Index blocks, float* to) {
  each_block<110, kLarge>(from, blocks, to, [](const Byte* at, float* x) {
    const Byte* const scales = at + 96;
    const float scale = half_at(at + 108);
    Byte q[kLarge] = {};
    take_two_bits(at + 32, 0, q);
    for (int part = 0; part < 8; ++part) take_bits(at, 32, part, 1, 2, q + 32 * part);
    float own[16];
    for (int group = 0; group < 16; ++group) {
      const int low = scales[group % 8] >> (group / 8 * 4) & 15, high = scales[8 + group % 4] >> (group / 4 * 2) & 3;
      own[group] = scale * static_cast<float>((low | high << 4) - 32);
    }
    widen_groups(q, 4, own, nullptr, x);
  });
}

/// Levels of eight groups of 32: scale·q − least, six bits each for the scale and the least number of a group, in
/// twelve bytes behind the block's own two.
void widen_by_six_bits(const Byte* at, const Byte* q, float* x) {
  const float scale = half_at(at), least = half_at(at + 2);
  const Byte* const six = at + 4;
  Byte own[8], own_least[8];
  for (int group = 0; group < 4; ++group) {
    own[group] = six[group] & 63;
    own_least[group] = six[group + 4] & 63;
    own[group + 4] = static_cast<Byte>((six[group + 8] & 15) | six[group] >> 6 << 4);
    own_least[group + 4] = static_cast<Byte>(six[group + 8] >> 4 | six[group + 4] >> 6 << 4);
  }
  for (int group = 0; group < 8; ++group)
    widen_above<32>(q + 32 * group, scale * static_cast<float>(own[group]),
                    -(least * static_cast<float>(own_least[group])), x + 32 * group);
}

/// 32 bytes hold two groups, with four bits of each number.
void take_four_bits(const Byte* from, Byte* levels) {
  for (int group = 0; group < 8; ++group)
    take_bits(from + group / 2 * 32, 32, group % 2 * 4, 4, 0, levels + 32 * group);
}

void widen_q4_k(const char* from, Index blocks, float* to) {
  each_block<144, kLarge>(from, blocks, to, [](const Byte* at, float* x) {
    Byte q[kLarge] = {};
    take_four_bits(at + 16, q);
    widen_by_six_bits(at, q, x);
  });
}

/// The same with a fifth bit: bit g of byte l is that of number l of group g.
void widen_q5_k(const char* from, Index blocks, float* to) {
  each_block<176, kLarge>(from, blocks, to, [](const Byte* at, float* x) {
    Byte q[kLarge] = {};
    take_four_bits(at + 48, q);
    for (int group = 0; group < 8; ++group) take_bits(at + 16, 32, group, 1, 4, q + 32 * group);
    widen_by_six_bits(at, q, x);
  });
}

/// Sixteen groups of 16 with scales of a signed byte: scale·(q − 32). Of each half, 64 bytes hold the lower four
/// bits, 32 bytes the upper two.
void widen_q6_k(const char* from, Index blocks, float* to) {
  each_block<210, kLarge>(from, blocks, to, [](const Byte* at, float* x) {
    const float scale = half_at(at + 208);
    Byte q[kLarge] = {};
    take_two_bits(at + 128, 4, q);
    for (int part = 0; part < 8; ++part)
      take_bits(at + part / 4 * 64 + part % 2 * 32, 32, part % 4 / 2 * 4, 4, 0, q + 32 * part);
    float own[16];
    for (int group = 0; group < 16; ++group)
      own[group] = scale * static_cast<float>(static_cast<std::int8_t>(at[192 + group]));
    widen_groups(q, 32, own, nullptr, x);
  });
}

// Blocks of 32 that begin with their scale in float32.

float float_at(const Byte* at) {
  float number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

void widen_grouped_4(const char* from, Index blocks, float* to) {
  each_block<24, kSmall>(from, blocks, to, [](const Byte* at, float* x) {
    widen_above<kSmall>(four_bits(at + 8).q, float_at(at), float_at(at + 4), x);
  });
}

void widen_grouped_8(const char* from, Index blocks, float* to) {
  each_block<40, kSmall>(from, blocks, to, [](const Byte* at, float* x) {
    widen_above<kSmall>(at + 8, float_at(at), float_at(at + 4), x);
  });
}

void widen_int8(const char* from, Index blocks, float* to) {
  each_block<36, kSmall>(from, blocks, to, [](const Byte* at, float* x) {
    const float scale = float_at(at);
    for (int j = 0; j < kSmall; ++j) x[j] = from_int8(static_cast<std::int8_t>(at[4 + j]), scale);
  });
}

/// Of each byte. Computed one by one they cost a hundred cycles where a processor multiplies subnormal numbers slowly.
constexpr auto kFloat8 = [] {
  std::array<float, 256> all{};
  for (unsigned bits = 0; bits < all.size(); ++bits) all[bits] = from_float8(static_cast<Byte>(bits));
  return all;
}();

void widen_float8(const char* from, Index blocks, float* to) {
  each_block<36, kSmall>(from, blocks, to, [](const Byte* at, float* x) {
    const float scale = float_at(at);
    for (int j = 0; j < kSmall; ++j) x[j] = kFloat8[at[4 + j]] * scale;
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
