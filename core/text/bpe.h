// Byte-pair encoding: the characters of a piece, merged two by two in the order in which the merges were learned
// (Sennrich, Haddow & Birch 2016).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/word_table.h"

namespace headlight {

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
  /// `merges` in the order of their rank, as the words to be merged; of two equal ones the later counts. Errors: a
  /// merge of words, or to a word, that the vocabulary lacks.
  static Result<Bpe> make(std::string_view where, WordTable words, BpeOptions options,
                          const std::vector<std::pair<std::string_view, std::string_view>>& merges);

  const WordTable& words() const { return words_; }
  bool has_byte_fallback() const { return options_.byte_fallback; }
  const std::string& end_suffix() const { return options_.end_suffix; }
  const std::string& continuing_prefix() const { return options_.continuing_prefix; }

  /// Time n·log n in the piece. Errors: an unknown character where the word for it is not in the vocabulary.
  Status tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const;

 private:
  struct Merge {
    std::uint64_t pair = 0;  // both ids
    std::int32_t rank = 0, id = 0;
  };
  struct Symbol;
  const Merge* merge_of(std::int32_t left, std::int32_t right) const;
  Status symbols_of(std::string_view piece, std::vector<Symbol>& symbols) const;
  void merge_all(std::vector<Symbol>& symbols) const;

  WordTable words_;
  BpeOptions options_;
  std::vector<Merge> merges_;           // by pair
  std::vector<std::int32_t> byte_ids_;  // of <0x00> … <0xFF>; -1: not in the vocabulary
};

/// The ids of <0x00> … <0xFF>, −1 where the vocabulary lacks one.
std::vector<std::int32_t> byte_word_ids(const WordTable& words);

}  // namespace headlight
