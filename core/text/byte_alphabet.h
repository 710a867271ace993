// The alphabet of byte-level tokenizers: one visible character for every byte (Radford et al. 2019, encoder.py).
#pragma once

#include <cstdint>
#include <optional>

namespace headlight {

/// Printable bytes of Latin-1 stand for themselves, the other 68 are counted up from U+0100: a space is Ġ.
char32_t letter_of_byte(std::uint8_t byte);

/// The reverse; nothing for characters outside the alphabet.
std::optional<std::uint8_t> byte_of_letter(char32_t letter);

}  // namespace headlight
