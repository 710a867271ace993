// Which heads look from one word at another.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "math/forward.h"

namespace headlight {

/// The words of a query and of a key. An empty one is any word.
struct WordPair {
  std::string from, to;

  friend bool operator==(const WordPair&, const WordPair&) = default;
};

/// The tokens that a word names, padding left out: those with its text, and those that together are a word of it
/// (text/tokenizer.h, word_numbers). An empty word names all.
std::vector<Index> positions_of(const Tokens& tokens, std::string_view word);

/// The largest weight that a head has in the cells of a word pair; no cell where its attention has none of them. Of a
/// word and the same word in self-attention: of one that is there once its weight on itself; else one token's weight on
/// another.
struct StrongestCell {
  HeadRef head;
  std::optional<CellRef> cell = {};
  float weight = 0;

  friend bool operator==(const StrongestCell&, const StrongestCell&) = default;
};

/// Of every head, in the order of heads_of(). Of equal weights the first cell. Nothing when stopped.
std::optional<std::vector<StrongestCell>> strongest_cells(const Trace& trace, const WordPair& words, Progress& progress,
                                                          int threads = 0);

}  // namespace headlight
