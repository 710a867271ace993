// A grammar of any bytes is one that sentences and batches can be drawn of, or one line.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/require.h"
#include "fuzz/target.h"
#include "train/corpus/corpus.h"

using namespace headlight;

HEADLIGHT_FUZZ_TARGET(grammar) {
  auto read = parse_grammar("fuzz", {reinterpret_cast<const char*>(data), size});
  if (!read) {
    require_line(read.error().message());
    return;
  }
  const auto grammar = std::make_shared<const Grammar>(*std::move(read));
  Random random(1);
  bool pairs = false;
  for (const SentenceKind& kind : grammar->kinds) pairs = pairs || kind.pair;
  for (int i = 0; i < 20; ++i) {
    for (const CorpusPart part : {CorpusPart::training, CorpusPart::held_out}) {
      const Sentence sentence = draw_sentence(*grammar, part, random);
      require(!sentence.words.empty() && sentence.words.size() <= kLongestSentence);
      require(sentence.held_out == (part == CorpusPart::held_out));
      for (const Gold& gold : sentence.gold)
        require(static_cast<std::size_t>(std::max(gold.query, gold.key)) < sentence.words.size());
      text_of(*grammar, sentence);
      const Translation english = translation_of(*grammar, sentence);
      require(english.words.size() == english.made_of.size());
      for (const std::int32_t word : english.words) require(!target_word(*grammar, word).empty());
      for (const int place : english.made_of) require(place < static_cast<int>(sentence.words.size()));
    }
    if (pairs) require(!draw_minimal_pair(*grammar, random)[1].gold.empty());
  }
  for (const Task task : {Task::masked, Task::causal, Task::translation}) {
    if (task == Task::translation && !has_translations(*grammar)) continue;
    const Corpus corpus = corpus_of(grammar, task);
    const Batch batch = draw_batch(corpus, task, {}, 1, 1, 8);
    for (const std::int32_t row : batch.input.ids) require(row >= 0 && row < corpus.rows());
    for (const std::int32_t row : batch.targets) require(row >= -1 && row < corpus.rows());
  }
}
