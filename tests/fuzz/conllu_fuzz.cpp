// A treebank of any bytes gives sentences whose words lie in their text and whose arcs lead to the root, or one line.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/utf8.h"
#include "fuzz/require.h"
#include "fuzz/target.h"
#include "train/corpus/teaching.h"

using namespace headlight;

HEADLIGHT_FUZZ_TARGET(conllu) {
  const auto treebank = parse_conllu("fuzz", {reinterpret_cast<const char*>(data), size});
  if (!treebank) {
    require_line(treebank.error().message());
    return;
  }
  require(!treebank->empty());
  for (const TreebankSentence& sentence : *treebank) {
    require(!sentence.words.empty());
    std::size_t end = 0;
    for (const TreebankSentence::Word& word : sentence.words) {
      require(word.begin >= end && word.begin <= word.end && word.end <= sentence.text.size());
      require(!first_invalid_utf8(std::string_view(sentence.text).substr(word.begin, word.end - word.begin)));
      end = word.end;
    }
    std::vector<std::int32_t> heads(sentence.words.size(), -1);
    for (const TreebankSentence::Arc& arc : sentence.arcs) {
      require(arc.head >= 0 && static_cast<std::size_t>(arc.head) < heads.size());
      heads[static_cast<std::size_t>(arc.dependent)] = arc.head;
    }
    for (std::size_t word = 0; word < heads.size(); ++word) {
      std::size_t steps = 0;
      for (std::int32_t at = static_cast<std::int32_t>(word); at >= 0; at = heads[static_cast<std::size_t>(at)])
        require(++steps <= heads.size());
    }
  }
}
