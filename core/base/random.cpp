#include "base/random.h"

#include "base/formatted.h"

namespace headlight {

std::uint64_t Random::next() {
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

float Random::uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

std::string hash_digits(std::string_view text) {
  return formatted("%016llx", static_cast<unsigned long long>(hash_text(text)));
}

std::uint64_t derive_seed(std::uint64_t seed, std::string_view name) {
  return Random(seed ^ Random(hash_text(name)).next()).next();
}

}  // namespace headlight
