// The unigram language model: of all ways to spell a piece, the one of the highest sum of scores (Kudo 2018), found by
// Viterbi's algorithm.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/word_table.h"

namespace headlight {

class Unigram {
 public:
  struct Entry {
    std::string text;
    double score = 0;  // finite
  };
  /// A word's id is its place; of equal words the last counts. `unknown`: the id for characters that no word spells.
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

}  // namespace headlight
