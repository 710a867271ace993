#include "text/byte_alphabet.h"

#include <array>

namespace headlight {
namespace {

constexpr char32_t kFirstOther = 0x100;

constexpr bool is_printable(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
}

struct Alphabet {
  std::array<char32_t, 256> letters{};
  std::array<std::uint8_t, 68> others{};  // the bytes of U+0100 …

  constexpr Alphabet() {
    std::size_t count = 0;
    for (unsigned byte = 0; byte < 256; ++byte) {
      letters[byte] = is_printable(byte) ? byte : kFirstOther + static_cast<char32_t>(count);
      if (!is_printable(byte)) others[count++] = static_cast<std::uint8_t>(byte);
    }
  }
};

constexpr Alphabet kAlphabet;

}  // namespace

char32_t letter_of_byte(std::uint8_t byte) { return kAlphabet.letters[byte]; }

std::optional<std::uint8_t> byte_of_letter(char32_t letter) {
  if (letter < kFirstOther) {
    if (is_printable(letter)) return static_cast<std::uint8_t>(letter);
    return std::nullopt;
  }
  if (letter - kFirstOther < kAlphabet.others.size()) return kAlphabet.others[letter - kFirstOther];
  return std::nullopt;
}

}  // namespace headlight
