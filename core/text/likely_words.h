// Cutting text into words: scripts with spaces by rules, Chinese by the likeliest path over a list of words.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headlight {

/// A word's cost is −ln of its probability. The cuts of a text, without regard to any other list:
///
///   1. White space is apart from everything else.
///   2. Letters and digits of scripts with spaces stay together; an apostrophe between letters joins them, and one of
///      . , : between digits. Then the endings n't 's 'm 're 've 'll 'd are cut off, and cannot is can and not, as the
///      Penn Treebank has it (Marcus et al. 1993). ’ is an apostrophe too.
///   3. Chinese characters are cut along the path of words with the least sum of costs (a unigram model, solved by
///      Viterbi 1967). A character that is no word of the list costs 2 nats more than the list's rarest word.
///   4. A mark is a word; equal marks that repeat themselves are one (... —— !!), but brackets and quotation marks.
///   5. Kana, Hangul, Thai, emoji and whatever is left are cut by ICU's root locale (UAX #29 and its dictionaries).
class LikelyWords {
 public:
  struct Word {
    std::string text;  // of Chinese characters only; others are never looked up
    double cost = 0;   // nats, 0 to kHighestCost
  };
  static constexpr double kHighestCost = 100;
  static constexpr std::size_t kMostWords = std::size_t{1} << 20, kLongestWord = 64;  // kLongestWord: characters

  /// At most kMostWords words, none longer than kLongestWord. Of equal ones the last counts.
  explicit LikelyWords(const std::vector<Word>& words);
  /// The same of words that are read when the first run of Chinese characters is cut, once.
  explicit LikelyWords(std::function<std::vector<Word>()> read);

  /// Of equal words one; costs as they count, in whole steps of a nat / 1024.
  std::vector<Word> words() const;
  /// Offsets of the cuts, ascending, 0 and text.size() left out; `text` is valid UTF-8. White space is a separate
  /// piece. The time is linear in the text.
  std::vector<std::size_t> cuts(std::string_view text) const;

 private:
  void cut_chinese(std::string_view run, std::size_t begin, std::vector<std::size_t>& cuts) const;

  struct Table;
  const Table& table() const;
  std::shared_ptr<Table> table_;
};

}  // namespace headlight
