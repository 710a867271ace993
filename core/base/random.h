// One seeded stream of numbers. The same seed gives the same floats on every machine: integers and exact
// scaling only, no call into the platform's mathematics library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headlight {

/// SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  /// Uniform in [0, 1), a multiple of 2^-24.
  float uniform();
  /// Uniform in [-limit, limit).
  float symmetric(float limit) { return (2.0f * uniform() - 1.0f) * limit; }

 private:
  std::uint64_t state_;
};

/// 64-bit FNV-1a of the bytes: the same text has the same hash everywhere.
std::uint64_t hash_text(std::string_view text);
/// The same in 16 hexadecimal digits.
std::string hash_digits(std::string_view text);

/// An independent seed for a named part of something seeded: the weights of one matrix, the vector of one word.
std::uint64_t derive_seed(std::uint64_t seed, std::string_view name);

}  // namespace headlight
