// The words of a vocabulary, found by their text, by their id, and by what a text begins with.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headlight {

/// The number of ids that are accepted.
inline constexpr std::int64_t kMostTokenIds = std::int64_t{1} << 21;

/// Bytes of the longest word that a model may have whose words are looked up by what a text begins with: at each
/// position of the text that takes as many steps.
inline constexpr std::size_t kLongestWord = 1024;

/// A token that a model makes of a piece.
struct ModelToken {
  std::int32_t id = 0;
  std::uint32_t begin = 0, end = 0;  // bytes of the piece
  bool known = true;                 // false: the id stands for whatever is not in the vocabulary
  bool as_written = false;           // its word is the bytes of the piece, whatever the vocabulary has for the id
};

class WordTable {
 public:
  struct Word {
    std::string text;
    std::int32_t id = 0;
  };

  WordTable() = default;
  /// Ids are at least 0 and below kMostTokenIds. Of words of the same text the last one counts, as it does of ids.
  explicit WordTable(std::vector<Word> words);

  std::size_t size() const { return words_.size(); }
  /// The largest id, plus one.
  std::size_t ids() const { return word_of_id_.size(); }
  std::optional<std::int32_t> id(std::string_view text) const;
  /// Empty where no word has the id.
  std::string_view text(std::int32_t id) const;

  /// Calls visit(length, id) for every word that is `head` with one or more of the first bytes of `rest`, the shortest
  /// first; length counts the bytes of `rest`. Takes a binary search for each byte.
  template <class Visit>
  void each_prefix(std::string_view head, std::string_view rest, Visit visit) const;

 private:
  std::vector<Word> words_;               // in the order of their bytes
  std::vector<std::int32_t> word_of_id_;  // its place in words_; none: -1
  std::array<std::size_t, 257> first_{};  // where the words begin that begin with a byte; words_[0] may be empty
};

template <class Visit>
void WordTable::each_prefix(std::string_view head, std::string_view rest, Visit visit) const {
  std::size_t low = 0, high = words_.size();
  for (std::size_t depth = 0; depth < head.size() + rest.size(); ++depth) {
    const auto byte = static_cast<unsigned char>(depth < head.size() ? head[depth] : rest[depth - head.size()]);
    if (depth == 0) {
      low = first_[byte];
      high = first_[byte + 1u];
    } else {
      const auto at = [this, depth](std::size_t i) { return static_cast<unsigned char>(words_[i].text[depth]); };
      const auto first_not = [&](auto before) {
        std::size_t from = low, to = high;
        while (from < to) {
          const std::size_t middle = from + (to - from) / 2;
          if (before(at(middle))) from = middle + 1;
          else to = middle;
        }
        return from;
      };
      low = first_not([byte](unsigned char c) { return c < byte; });
      high = first_not([byte](unsigned char c) { return c <= byte; });
    }
    if (low == high) return;
    // The word that ends here sorts before those that go on.
    if (words_[low].text.size() == depth + 1) {
      if (depth >= head.size()) visit(depth + 1 - head.size(), words_[low].id);
      if (++low == high) return;
    }
  }
}

}  // namespace headlight
