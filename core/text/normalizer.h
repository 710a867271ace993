// Rules that change a text before it is cut, as tokenizer.json names them. Each letter goes on knowing its bytes.
// https://huggingface.co/docs/tokenizers/api/normalizers
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "text/normalized_text.h"
#include "text/pattern.h"

namespace headlight {

class Charsmap {
 public:
  /// `bytes`: four of the trie's size, the trie, the replacements (valid UTF-8). Whatever the trie can reach must lie
  /// inside it, and every offset that it gives inside the replacements, at the beginning of a character.
  static Result<Charsmap> parse(std::string_view where, std::string_view bytes);

  /// Replaces what the trie knows. As in Hugging Face's tokenizers, a grapheme cluster of less than six bytes is looked
  /// up as a whole, else its characters one by one, and the shortest prefix counts.
  void normalize(Letters& letters) const;

 private:
  std::optional<std::string_view> replacement(std::string_view key) const;
  Status check(std::string_view where) const;

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

/// Drops control characters, U+0000 and U+FFFD; white space becomes a space. BertNormalizer's clean_text.
struct CleanText {};
/// Spaces around Chinese characters. BertNormalizer's handle_chinese_chars.
struct SpaceChinese {};
/// Decomposes (NFD) and drops nonspacing marks. BertNormalizer's strip_accents.
struct DropAccents {};
/// Drops every mark, without decomposing.
struct StripAccents {};
struct Lowercase {};
/// A form of UAX #15, of Unicode 9: characters newer than Unicode 9 are not normalised.
enum class UnicodeForm { nfc, nfd, nfkc, nfkd };
/// White space at the ends.
struct Strip {
  bool left = true, right = true;
};
struct Replace {
  Pattern pattern;
  std::u32string content;
};
/// Put before a text that is not empty.
struct Prepend {
  std::u32string text;
};
/// Drops and spaces of Google's neural translation: control characters go, odd spaces become spaces.
struct Nmt {};
/// Every byte becomes a letter of the byte alphabet.
struct SpellBytes {};

using Normalizer = std::variant<CleanText, SpaceChinese, DropAccents, StripAccents, Lowercase, UnicodeForm, Strip,
                                Replace, Prepend, Nmt, SpellBytes, std::shared_ptr<const Charsmap>>;

/// Applies the rules one after the other. Errors: a regular expression that does not come to an end.
Status normalize(const std::vector<Normalizer>& rules, Letters& letters);

/// What rules may make of a text of `count` letters: each grows to 72 under the longest known ones (U+FDFA under NFKC,
/// spelt in bytes), and a few are put before it.
constexpr std::size_t most_letters(std::size_t count) { return 128 * count + 4096; }
/// An Error where there are more: rules that lengthen a text without end must not.
Status check_growth(std::size_t count, std::size_t most);

/// Replaces each letter by the letters of its bytes; a byte of an unchanged character has one byte of the original.
void spell_bytes(Letters& letters);

}  // namespace headlight
