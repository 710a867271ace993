// Pieces of a text as words of a vocabulary, in the three usual ways: byte-pair encoding, unigrams and WordPiece.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace headlight {

/// The number of ids that are accepted.
inline constexpr std::int64_t kMostTokenIds = std::int64_t{1} << 21;

/// Bytes of the longest word of a model whose words are looked up by the beginning of a text: the look-up takes that
/// many steps at each position of the text.
inline constexpr std::size_t kLongestWord = 1024;

/// A token that a model makes of a piece.
struct ModelToken {
  std::int32_t id = 0;
  std::uint32_t begin = 0, end = 0;  // bytes of the piece
  bool known = true;                 // false: the id stands for whatever is not in the vocabulary
  bool as_written = false;           // its word is the bytes of the piece, whatever the vocabulary has for the id
};

/// The words of a vocabulary, found by their text, by their id, and by what a text begins with.
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
  /// In the order of their bytes.
  const std::vector<Word>& words() const { return words_; }
  /// Empty where no word has the id.
  std::string_view text(std::int32_t id) const;

  /// Calls visit(length, id) for every word that is `head` with one or more of the first bytes of `rest`, the shortest
  /// first; length counts the bytes of `rest`. Takes a binary search for each byte.
  template <class Visit>
  void each_prefix(std::string_view head, std::string_view rest, Visit visit) const;

 private:
  std::vector<Word> words_;               // in the order of their bytes
  std::vector<std::int32_t> word_of_id_;  // its index in words_; none: -1
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

/// Byte-pair encoding: the characters of a piece, merged two by two in the order in which the merges were learned
/// (Sennrich, Haddow & Birch 2016).
struct BpeOptions {
  std::optional<std::string> unknown = {};  // the word for characters that the vocabulary lacks; none: they are dropped
  std::string continuing_prefix = {};       // before every character of a piece but the first
  std::string end_suffix = {};              // after the last
  bool fuse_unknown = false;                // unknown characters that touch are one token
  bool byte_fallback = false;  // an unknown character is its bytes, <0xE6> and so on, where these are known
  bool ignore_merges = false;  // a piece that is a word is left whole
};

class Bpe {
 public:
  struct Merge {
    std::uint64_t pair = 0;  // both ids, the left one in the upper half
    std::int32_t rank = 0, id = 0;
  };

  /// `merges` in the order of their rank, as the words to be merged; of two equal ones the later counts. Errors: a
  /// merge of words, or to a word, that the vocabulary lacks.
  static Result<Bpe> make(std::string_view where, WordTable words, BpeOptions options,
                          const std::vector<std::pair<std::string_view, std::string_view>>& merges);
  /// Of merges as `merges()` has them: by pair, each pair once, of ids that `words` has.
  static Bpe of_merges(WordTable words, BpeOptions options, std::vector<Merge> merges);

  const WordTable& words() const { return words_; }
  const std::vector<Merge>& merges() const { return merges_; }
  bool has_byte_fallback() const { return options_.byte_fallback; }
  const std::string& end_suffix() const { return options_.end_suffix; }
  const std::string& continuing_prefix() const { return options_.continuing_prefix; }

  /// Time n·log n in the piece. Errors: an unknown character where the word for it is not in the vocabulary.
  Status tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const;

 private:
  struct Symbol;
  const Merge* merge_of(std::int32_t left, std::int32_t right) const;
  Status symbols_of(std::string_view piece, std::vector<Symbol>& symbols) const;
  void merge_all(std::vector<Symbol>& symbols) const;

  WordTable words_;
  BpeOptions options_;
  std::vector<Merge> merges_;           // by pair
  std::vector<std::int32_t> byte_ids_;  // of <0x00> … <0xFF>; -1: not in the vocabulary
};

/// The unigram language model: of all ways to spell a piece, the one of the highest sum of scores (Kudo 2018), found by
/// Viterbi's algorithm.
class Unigram {
 public:
  struct Entry {
    std::string text;
    double score = 0;  // finite
  };
  /// A word's id is its index; of equal words the last counts. `unknown`: the id for characters that no word spells.
  /// `byte_fallback`: these are their bytes instead, <0xE6> and so on, where the vocabulary has them all.
  Unigram(std::vector<Entry> vocabulary, std::optional<std::int32_t> unknown, bool byte_fallback);

  const WordTable& words() const { return words_; }
  bool has_byte_fallback() const { return !byte_ids_.empty(); }

  /// Errors: an unknown character where there is no id for it.
  Status tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const;

 private:
  void put(std::string_view piece, std::uint32_t begin, std::uint32_t end, std::vector<ModelToken>& tokens) const;

  WordTable words_;
  std::vector<double> scores_;  // by id
  double unknown_score_ = 0;
  std::optional<std::int32_t> unknown_;
  std::vector<std::int32_t> byte_ids_;  // of <0x00> … <0xFF>; empty without byte fallback
};

/// From the left, always the longest word of the vocabulary (Wu et al. 2016).
struct WordPiece {
  WordTable words;
  std::string unknown = "[UNK]";    // the word for a piece that cannot be spelt
  std::string prefix = "##";        // before words that do not begin a piece
  std::size_t longest_piece = 100;  // characters; a longer piece is unknown
  /// Where no word of the vocabulary goes on: a single character, without the prefix; a Chinese character as its bytes,
  /// <0xE9>; any other is unknown, alone or with unknown neighbours. No piece is too long then.
  bool character_fallback = false;
  /// The smallest id of a word with the prefix. A vocabulary that begins with the words of its text, and goes on with
  /// pieces of words, has whole words alone below. 0: there is none.
  std::int32_t word_rows = 0;

  /// Errors: an unknown piece where the word for it is not in the vocabulary.
  Status tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const;
};

/// A piece is a word or unknown.
struct WordLevel {
  WordTable words;
  std::string unknown = "<unk>";

  /// Errors as above.
  Status tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const;
};

}  // namespace headlight
