// A register of floats, as wide as the compiler flags of the including file allow. Everything has internal linkage: the
// same source is compiled for several kinds of processor, and the linker must not merge their functions.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__clang__)
#define HEADLIGHT_UNROLL _Pragma("unroll")
#else
#define HEADLIGHT_UNROLL _Pragma("GCC unroll 16")
#endif

namespace headlight {
namespace {

#if defined(__AVX512F__)
constexpr int kWidth = 16;
#elif defined(__AVX2__) && defined(__FMA__)
constexpr int kWidth = 8;
#else
constexpr int kWidth = 4;
#endif

typedef float Lanes __attribute__((vector_size(kWidth * 4)));
typedef std::int32_t Ints __attribute__((vector_size(kWidth * 4)));
typedef float LanesAnywhere __attribute__((vector_size(kWidth * 4), aligned(4), may_alias));

[[maybe_unused]] inline Lanes all(float x) { return x - Lanes{}; }

[[maybe_unused]] inline Lanes load(const float* from) { return *reinterpret_cast<const LanesAnywhere*>(from); }
[[maybe_unused]] inline void store(float* to, Lanes x) { *reinterpret_cast<LanesAnywhere*>(to) = x; }

/// 0, 1, 2, …
[[maybe_unused]] inline Ints lane_numbers() {
  Ints x{};
  for (int i = 0; i < kWidth; ++i) x[i] = i;
  return x;
}

/// The first `left` numbers, then zeros; a whole register where `left` is at least its width.
[[maybe_unused]] inline Lanes load(const float* from, Index left) {
  if (left >= kWidth) return load(from);
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << left) - 1u), from);
#elif defined(__AVX2__) && defined(__FMA__)
  return _mm256_maskload_ps(from, (__m256i)(lane_numbers() < static_cast<std::int32_t>(left)));
#else
  Lanes x{};
  __builtin_memcpy(&x, from, static_cast<std::size_t>(left) * sizeof(float));
  return x;
#endif
}

/// A register of bfloat16 numbers, widened.
[[maybe_unused]] inline Lanes load(const std::uint16_t* from, Index) {
  typedef std::uint16_t Halves __attribute__((vector_size(kWidth * 2)));
  Halves halves;
  __builtin_memcpy(&halves, from, sizeof halves);
  return (Lanes)(__builtin_convertvector(halves, Ints) << 16);
}

[[maybe_unused]] inline void store(float* to, Lanes x, Index left) {
  if (left >= kWidth) return store(to, x);
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << left) - 1u), x);
#elif defined(__AVX2__) && defined(__FMA__)
  _mm256_maskstore_ps(to, (__m256i)(lane_numbers() < static_cast<std::int32_t>(left)), x);
#else
  __builtin_memcpy(to, &x, static_cast<std::size_t>(left) * sizeof(float));
#endif
}

/// `x` in the first `left` lanes, `other` in the rest.
[[maybe_unused]] inline Lanes first(Lanes x, Index left, float other) {
  const std::int32_t bound = left > kWidth ? kWidth : left < 0 ? 0 : static_cast<std::int32_t>(left);
  return lane_numbers() < bound ? x : all(other);
}

/// a·b + c, rounded once where the processor has fused multiply-add.
[[maybe_unused]] inline Lanes multiply_add(Lanes a, Lanes b, Lanes c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__AVX2__) && defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}

[[maybe_unused]] inline Lanes square_root(Lanes x) {
#if defined(__AVX512F__)
  return _mm512_maskz_sqrt_ps(0xFFFF, x);  // GCC 12 warns of the plain one (GCC bug 105593)
#elif defined(__AVX2__) && defined(__FMA__)
  return _mm256_sqrt_ps(x);
#else
  for (int i = 0; i < kWidth; ++i) x[i] = __builtin_sqrtf(x[i]);
  return x;
#endif
}

/// Whether a comparison holds in any lane.
[[maybe_unused]] inline bool any(Ints of) {
#if defined(__AVX512F__)
  return _mm512_movepi32_mask((__m512i)of) != 0;
#elif defined(__AVX2__) && defined(__FMA__)
  return _mm256_movemask_ps((__m256)of) != 0;
#else
  for (int i = 0; i < kWidth; ++i)
    if (of[i]) return true;
  return false;
#endif
}

[[maybe_unused]] inline Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }

/// e^x for x ≤ 0; see MathKernels. Method and coefficients: S. Moshier, Cephes library, expf.
[[maybe_unused]] inline Lanes exponential_lanes(Lanes x) {
  const Lanes bounded = x < -87.0f ? all(-87.0f) : x;
  // n = round(x / ln 2): adding and taking away 1.5·2^23 rounds to an integer.
  const Lanes n = (bounded * 1.44269504f + 12582912.0f) - 12582912.0f;
  const Lanes r = multiply_add(n, all(2.12194440e-4f), bounded - n * 0.693359375f);  // x − n·ln 2, ln 2 in two parts
  Lanes p = all(1.9875691500e-4f);
  p = multiply_add(p, r, all(1.3981999507e-3f));
  p = multiply_add(p, r, all(8.3334519073e-3f));
  p = multiply_add(p, r, all(4.1665795894e-2f));
  p = multiply_add(p, r, all(1.6666665459e-1f));
  p = multiply_add(p, r, all(5.0000001201e-1f));
  p = multiply_add(p, r * r, r) + 1.0f;
  const Lanes power = (Lanes)((__builtin_convertvector(n, Ints) + 127) << 23);  // 2^n
  return x < -87.0f ? Lanes{} : p * power;
}

/// x / divisor for many x ≥ 0 and a divisor ≥ 1, to the bit as the processor divides, and several times as fast where
/// it has fused multiply-add: a quotient by the rounded reciprocal, put right by its exact remainder, is the rounded
/// quotient (Markstein 1990, theorem 8.4), but for a divisor all of whose digits are ones, and numbers so small that
/// the remainder is not exact.
class Quotients {
 public:
  explicit Quotients(float divisor) : divisor_(all(divisor)), reciprocal_(all(1.0f / divisor)) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &divisor, sizeof bits);
    constexpr std::uint32_t kDigits = 0x007FFFFF;
    plain_ = (bits & kDigits) == kDigits || !(divisor >= 1.0f && divisor < 1e30f);
  }

  Lanes operator()(Lanes x) const {
#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
    if (!plain_ && !any(x > 0.0f && x < 1e-20f)) {
      const Lanes quotient = x * reciprocal_;
      return multiply_add(multiply_add(-quotient, divisor_, x), reciprocal_, quotient);
    }
#endif
    return x / divisor_;
  }

 private:
  Lanes divisor_, reciprocal_;
  bool plain_ = false;
};

/// Sixteen running results, whatever the width: the same sums on every processor.
struct Sixteen {
  Lanes part[16 / kWidth];
};

template <class Combine>
inline float fold(const Sixteen& x, const Combine& combine) {
  Lanes v = x.part[0];
#if defined(__AVX512F__)
  v = combine(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  v = combine(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
  v = combine(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
  v = combine(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
#elif defined(__AVX2__) && defined(__FMA__)
  v = combine(v, x.part[1]);
  v = combine(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  v = combine(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  v = combine(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
#else
  v = combine(combine(v, x.part[2]), combine(x.part[1], x.part[3]));
  v = combine(v, __builtin_shufflevector(v, v, 2, 3, 0, 1));
  v = combine(v, __builtin_shufflevector(v, v, 1, 0, 3, 2));
#endif
  return v[0];
}

[[maybe_unused]] inline float sum(const Sixteen& x) {
  return fold(x, [](Lanes a, Lanes b) { return a + b; });
}

/// Which of the sixteen the register at column j belongs to.
[[maybe_unused]] inline int part_of(Index j) { return static_cast<int>(j / kWidth % (16 / kWidth)); }

}  // namespace
}  // namespace headlight
