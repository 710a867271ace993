#include "train/corpus/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "train/grammars.h"

namespace headlight {
namespace {

using grammars::shipped;

/// The sentence of a batch, and what is asked about it.
struct AskedSentence {
  std::vector<std::int32_t> rows, targets;
};

std::vector<AskedSentence> sentences_of(const Batch& batch) {
  std::vector<AskedSentence> sentences;
  for (Index i = 0; i < batch.input.count; ++i) {
    const auto begin = i * batch.input.length;
    const auto length = batch.input.lengths[static_cast<std::size_t>(i)];
    AskedSentence& one = sentences.emplace_back();
    one.rows.assign(batch.input.ids.begin() + begin, batch.input.ids.begin() + begin + length);
    one.targets.assign(batch.targets.begin() + begin, batch.targets.begin() + begin + length);
    for (Index place = length; place < batch.input.length; ++place) {
      EXPECT_EQ(batch.input.ids[static_cast<std::size_t>(begin + place)], kPadRow);
      EXPECT_EQ(batch.targets[static_cast<std::size_t>(begin + place)], -1);
    }
  }
  return sentences;
}

// Without pronouns, each target is the word that was at this position.
TEST(MaskedBatches, HideSwapAndKeepTheSharesThatAreAsked) {
  const Corpus corpus = corpus_of(grammars::parsed(grammars::toy()));
  const Corruption corruption{.mask = 0.2f, .swap = 0.1f, .keep = 0.05f, .family = 0.7f, .restore = 0};
  const auto& names = corpus.grammar->family_names;
  const auto who = std::find(names.begin(), names.end(), "who") - names.begin();
  const auto sentences = sentences_of(draw_batch(corpus, Task::masked, corruption, 3, 1, 2000));
  ASSERT_EQ(sentences.size(), 2000u);
  double words = 0, hidden = 0, swapped = 0, same = 0, first_swapped = 0, of_family = 0;
  for (const AskedSentence& one : sentences) {
    for (std::size_t place = 0; place < one.rows.size(); ++place) {
      ++words;
      const std::int32_t row = one.rows[place], target = one.targets[place];
      EXPECT_LT(row, corpus.rows());
      if (target < 0) {
        EXPECT_GE(row, kFirstWordRow) << "what is not asked for stands as it was";
        continue;
      }
      EXPECT_GE(target, kFirstWordRow);
      hidden += row == kMaskRow;
      same += row == target;
      if (row == kMaskRow || row == target) continue;
      ++swapped;
      const auto& family = corpus.grammar->families[static_cast<std::size_t>(who)];
      const auto is_who = [&](std::int32_t word) {
        return std::find(family.begin(), family.end(), word - kFirstWordRow) != family.end();
      };
      if (place > 0) continue;
      ++first_swapped;
      of_family += is_who(row);
    }
  }
  EXPECT_NEAR(hidden / words, 0.2, 0.02);
  EXPECT_NEAR(swapped / words, 0.1, 0.02);
  EXPECT_NEAR(same / words, 0.05, 0.015);
  // The rest are any words, of which a third are of the family, too.
  const double by_chance = 0.3 * 40 / static_cast<double>(corpus.words.size());
  EXPECT_NEAR(of_family / first_swapped, 0.7 + by_chance, 0.1);
}

TEST(MaskedBatches, OfTheShippedGrammarAskForTheNounsOfPronouns) {
  const Corpus corpus = corpus_of(shipped());
  const Corruption corruption{.mask = 0, .swap = 0, .keep = 0, .family = 0, .restore = 1};
  const auto sentences = sentences_of(draw_batch(corpus, Task::masked, corruption, 5, 1, 2000));
  const auto word = [&](std::int32_t row) { return corpus.words[static_cast<std::size_t>(row - kFirstWordRow)]; };
  const std::vector<std::string> pronouns{"它", "it", "他", "她"};
  int asked = 0;
  for (const AskedSentence& one : sentences) {
    for (std::size_t place = 0; place < one.rows.size(); ++place) {
      if (one.targets[place] < 0) continue;
      ++asked;
      EXPECT_NE(std::find(pronouns.begin(), pronouns.end(), word(one.rows[place])), pronouns.end())
          << word(one.rows[place]);
      EXPECT_NE(one.targets[place], one.rows[place]);
      EXPECT_NE(std::find(one.rows.begin(), one.rows.end(), one.targets[place]), one.rows.end())
          << "the noun stands in the sentence";
    }
  }
  EXPECT_GT(asked, 300);
  Corruption half = corruption;
  half.restore = 0.5f;
  int half_asked = 0;
  for (const AskedSentence& one : sentences_of(draw_batch(corpus, Task::masked, half, 5, 1, 2000)))
    half_asked +=
        static_cast<int>(one.targets.size()) - static_cast<int>(std::count(one.targets.begin(), one.targets.end(), -1));
  EXPECT_NEAR(half_asked, asked / 2.0, asked * 0.1);
}

TEST(CausalBatches, AskForTheNextWordAndTheEnd) {
  const Corpus corpus = corpus_of(shipped());
  for (const AskedSentence& one : sentences_of(draw_batch(corpus, Task::causal, {}, 7, 1, 200))) {
    ASSERT_GE(one.rows.size(), 2u);
    EXPECT_EQ(one.rows.front(), kStartRow);
    EXPECT_EQ(one.targets.back(), kStartRow);
    for (std::size_t place = 0; place + 1 < one.rows.size(); ++place) {
      EXPECT_EQ(one.targets[place], one.rows[place + 1]);
      EXPECT_GE(one.targets[place], kFirstWordRow);
    }
  }
}

TEST(Batches, AreAFunctionOfSeedAndStep) {
  const Corpus corpus = corpus_of(shipped());
  for (const Task task : {Task::masked, Task::causal}) {
    const Batch one = draw_batch(corpus, task, {}, 1, 4, 16), again = draw_batch(corpus, task, {}, 1, 4, 16);
    EXPECT_EQ(one.input.ids, again.input.ids);
    EXPECT_EQ(one.input.lengths, again.input.lengths);
    EXPECT_EQ(one.targets, again.targets);
    EXPECT_NE(draw_batch(corpus, task, {}, 1, 5, 16).input.ids, one.input.ids);
    EXPECT_NE(draw_batch(corpus, task, {}, 2, 4, 16).input.ids, one.input.ids);
  }
}

TEST(TextCorpus, HasTheMostFrequentWordsAndAnUnknownOne) {
  const std::vector<std::vector<std::string>> sentences = {
      {"the", "cat", "sat"}, {"the", "dog", "sat"}, {"a", "bird"}, {}, {"a", "very", "long", "line", "of", "words"}};
  const auto corpus = corpus_of("my.txt", sentences, 4, 5);
  ASSERT_TRUE(corpus);
  EXPECT_EQ(corpus->name, "my.txt");
  EXPECT_EQ(corpus->words, (std::vector<std::string>{"the", "sat", "cat", "dog"})) << "equally frequent: the first";
  EXPECT_EQ(corpus->rows(), 8);
  using Rows = std::vector<std::int32_t>;
  EXPECT_EQ(corpus->lines, (std::vector<Rows>{{4, 6, 5}, {4, 7, 5}, {kUnknownRow, kUnknownRow}}))
      << "neither the empty line nor the long one";
  const auto vocabulary = vocabulary_of(*corpus);
  EXPECT_EQ(vocabulary->words,
            (std::vector<std::string>{"<pad>", "<s>", "<mask>", "<unk>", "the", "sat", "cat", "dog"}));
  EXPECT_TRUE(vocabulary->ids.empty());

  // It is drawn from, each line again and again, and pronouns are nothing special.
  std::vector<int> drawn(3, 0);
  for (const AskedSentence& one : sentences_of(draw_batch(*corpus, Task::causal, {}, 1, 1, 300)))
    for (std::size_t line = 0; line < 3; ++line)
      drawn[line] += std::vector(one.rows.begin() + 1, one.rows.end()) == corpus->lines[line];
  EXPECT_EQ(drawn[0] + drawn[1] + drawn[2], 300);
  for (const int times : drawn) EXPECT_GT(times, 60);
  const Corruption swap_all{.mask = 0, .swap = 1, .keep = 0, .family = 1, .restore = 1};
  for (const AskedSentence& one : sentences_of(draw_batch(*corpus, Task::masked, swap_all, 1, 1, 50)))
    for (const std::int32_t row : one.rows) EXPECT_GE(row, kFirstWordRow) << "never a special word";
}

TEST(TextCorpus, RefusesATextOfNothing) {
  for (const auto& sentences : {std::vector<std::vector<std::string>>{}, {{}}, {{"a", "b", "c"}}}) {
    const auto corpus = corpus_of("my.txt", sentences, 10, 2);
    ASSERT_FALSE(corpus);
    EXPECT_EQ(corpus.error().message(), "my.txt: sentences: expected at least one of 1 to 2 words, found none");
  }
}

// The shipped models are made again by their commands only as long as these stay the same to the bit.
// What followed a word before is the only clue to what follows it: no word says it, and no distance does.
TEST(RepeatedRandom, IsKnownOnlyFromWhatCameBefore) {
  const Corpus corpus = repeated_random_corpus();
  EXPECT_EQ(std::set<std::string>(corpus.words.begin(), corpus.words.end()).size(), 32u);
  const auto sentences = sentences_of(draw_batch(corpus, Task::causal, {}, 1, 1, 500));
  std::map<std::pair<std::int32_t, std::int32_t>, int> pairs;
  std::map<std::size_t, int> distances;
  int again = 0, same = 0;
  for (const AskedSentence& one : sentences) {
    EXPECT_GE(one.rows.size(), 13u);
    EXPECT_LE(one.rows.size(), 36u);
    EXPECT_EQ(one.rows.front(), kStartRow);
    std::map<std::int32_t, std::size_t> last;
    for (std::size_t at = 1; at < one.rows.size(); ++at) {
      EXPECT_GE(one.rows[at], kFirstWordRow);
      const auto before = last.find(one.rows[at]);
      if (before != last.end() && at + 1 < one.rows.size()) {
        ++again;
        same += one.rows[before->second + 1] == one.rows[at + 1];
        ++distances[at - before->second];
      }
      last[one.rows[at]] = at;
      if (at > 1) ++pairs[{one.rows[at - 1], one.rows[at]}];
    }
  }
  EXPECT_GT(same, 0.7 * again) << "within a piece the next word is that of before";
  for (const auto& [distance, count] : distances) EXPECT_LT(count, 0.25 * again) << distance;
  for (const auto& [pair, count] : pairs) EXPECT_LT(count, 60) << "no pair of words in particular";
  EXPECT_GT(pairs.size(), 900u) << "of 32 · 31 any follows any";
}

TEST(Batches, OfTheShippedGrammarAreThoseThatTheModelsLearnedFrom) {
  const Corpus corpus = corpus_of(shipped());
  EXPECT_EQ(corpus.rows(), 619);
  const Corruption corruption{.restore = 0.8f};
  for (const auto& [task, known] : {std::pair(Task::masked, std::uint64_t{8650506947484366940u}),
                                    std::pair(Task::causal, std::uint64_t{14750841636326175019u})}) {
    std::uint64_t sum = 0;
    for (const Index step : {1, 2, 12000}) {
      const Batch batch = draw_batch(corpus, task, corruption, 1, step, 64);
      for (const auto* rows : {&batch.input.ids, &batch.targets, &batch.input.lengths})
        sum = derive_seed(sum, {reinterpret_cast<const char*>(rows->data()), rows->size() * sizeof(std::int32_t)});
      EXPECT_EQ(batch.source.count, 0);
    }
    EXPECT_EQ(sum, known);
  }
}

Corpus translated(const nlohmann::json& grammar) { return corpus_of(grammars::parsed(grammar), Task::translation); }

TEST(Translations, AreAskedWordByWordBehindTheirSentence) {
  const Corpus corpus = translated(grammars::translated_toy());
  const Grammar& grammar = *corpus.grammar;
  EXPECT_TRUE(corpus.translated());
  EXPECT_EQ(corpus.words.back(), kEndWord);
  EXPECT_EQ(corpus.words.size(), grammar.words.size() + grammar.dictionary.words.size() + 1);
  EXPECT_FALSE(corpus_of(corpus.grammar).translated());
  const Corruption none{.mask = 0, .swap = 0};
  const Batch batch = draw_batch(corpus, Task::translation, none, 3, 1, 100);
  const auto english = sentences_of(batch);
  ASSERT_EQ(batch.source.count, 100);
  std::map<std::vector<std::int32_t>, std::vector<std::int32_t>> known;
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    for (const int kind : {0, 1}) {
      const Sentence sentence = sentence_of(grammar, kind, 0, seed);
      known[sentence.words] = translation_of(grammar, sentence).words;
    }
  }
  int found = 0;
  for (Index i = 0; i < 100; ++i) {
    const AskedSentence& one = english[static_cast<std::size_t>(i)];
    EXPECT_EQ(one.rows.front(), kStartRow);
    EXPECT_EQ(one.targets.back(), corpus.rows() - 1) << "the end is asked for";
    EXPECT_TRUE(std::equal(one.rows.begin() + 1, one.rows.end(), one.targets.begin())) << "each row the next word";
    std::vector<std::int32_t> words;
    const auto length = batch.source.lengths[static_cast<std::size_t>(i)];
    for (Index place = 0; place < length; ++place)
      words.push_back(batch.source.ids[static_cast<std::size_t>(i * batch.source.length + place)] - kFirstWordRow);
    const auto translation = known.find(words);
    if (translation == known.end()) continue;
    ++found;
    std::vector<std::int32_t> said;
    for (std::size_t place = 1; place < one.rows.size(); ++place) said.push_back(one.rows[place] - kFirstWordRow);
    EXPECT_EQ(said, translation->second);
  }
  EXPECT_GT(found, 50);
}

TEST(Translations, AskForASlipAgain) {
  const Corpus corpus = translated(grammars::translated_toy());
  const Corruption corruption{.mask = 0.1f, .swap = 0.2f, .family = 0.7f};
  const auto plain = sentences_of(draw_batch(corpus, Task::translation, {.mask = 0, .swap = 0}, 3, 1, 1));
  double words = 0, hidden = 0, slipped = 0;
  for (const AskedSentence& one : sentences_of(draw_batch(corpus, Task::translation, corruption, 3, 1, 2000))) {
    EXPECT_EQ(one.rows.front(), kStartRow) << "which is no word";
    for (std::size_t place = 1; place < one.rows.size(); ++place) {
      ++words;
      // Where nothing was slipped, this word is the target of the row before, or that row was slipped itself.
      if (one.rows[place] == kMaskRow) {
        ++hidden;
        EXPECT_GE(one.targets[place], kFirstWordRow);
        EXPECT_LT(one.targets[place], corpus.rows() - 1) << "a word, not the end";
      } else if (one.targets[place - 1] != one.rows[place] && one.rows[place - 1] == one.targets[place - 1]) {
        ADD_FAILURE() << "a word that stood as it was is followed by itself";
      } else if (one.targets[place - 1] != one.rows[place] && one.rows[place - 1] != kMaskRow) {
        ++slipped;
      }
    }
  }
  EXPECT_NEAR(hidden / words, 0.1, 0.02);
  EXPECT_GT(slipped / words, 0.1);
}

TEST(Translations, OfAStepAreAFunctionOfItsSeed) {
  const Corpus corpus = corpus_of(shipped(), Task::translation);
  const auto drawn = [&](std::uint64_t seed, Index step) {
    return draw_batch(corpus, Task::translation, {}, seed, step, 16);
  };
  EXPECT_EQ(drawn(1, 5).input.ids, drawn(1, 5).input.ids);
  EXPECT_EQ(drawn(1, 5).source.ids, drawn(1, 5).source.ids);
  EXPECT_NE(drawn(1, 5).source.ids, drawn(1, 6).source.ids);
  EXPECT_NE(drawn(1, 5).source.ids, drawn(2, 5).source.ids);
  for (const std::int32_t row : drawn(1, 5).input.ids) EXPECT_LT(row, corpus.rows());
}

}  // namespace
}  // namespace headlight
