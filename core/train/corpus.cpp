#include "train/corpus.h"

#include <algorithm>
#include <unordered_map>

namespace headlight {
namespace {

std::int32_t random_row(const Corpus& corpus, Random& random) {
  return kFirstWordRow + static_cast<std::int32_t>(random.next() % corpus.words.size());
}

/// A sentence with what the grammar knows about its words.
struct Drawn {
  std::vector<std::int32_t> rows;
  std::vector<int> families, stands_for;  // empty where nothing is known
};

Drawn draw(const Corpus& corpus, Random& random) {
  if (!corpus.grammar) return {corpus.lines[random.next() % corpus.lines.size()], {}, {}};
  Sentence sentence = draw_sentence(*corpus.grammar, Part::training, random);
  for (std::int32_t& word : sentence.words) word += kFirstWordRow;
  return {std::move(sentence.words), std::move(sentence.families), std::move(sentence.stands_for)};
}

std::int32_t swapped(const Corpus& corpus, const Drawn& sentence, std::size_t i, float family_share, Random& random) {
  const bool in_family = random.uniform() < family_share;
  if (in_family && !sentence.families.empty() && sentence.families[i] >= 0) {
    const auto& family = corpus.grammar->families[static_cast<std::size_t>(sentence.families[i])];
    if (family.size() > 1) return kFirstWordRow + family[random.next() % family.size()];
  }
  return random_row(corpus, random);
}

/// Hides, swaps and keeps words of one sentence in place; the words that are asked for are the answer, −1 elsewhere.
std::vector<std::int32_t> corrupt(const Corpus& corpus, Drawn& sentence, const Corruption& corruption, Random& random) {
  std::vector<std::int32_t> targets(sentence.rows.size(), -1);
  const Drawn whole = sentence;
  for (std::size_t i = 0; i < sentence.rows.size(); ++i) {
    const float draw = random.uniform();
    const bool is_pronoun = !whole.stands_for.empty() && whole.stands_for[i] >= 0;
    const bool restored = is_pronoun && random.uniform() < corruption.restore;
    if (restored) targets[i] = whole.rows[static_cast<std::size_t>(whole.stands_for[i])];
    if (draw >= corruption.mask + corruption.swap + corruption.keep) continue;
    if (!restored) targets[i] = whole.rows[i];
    if (draw < corruption.mask) {
      sentence.rows[i] = kMaskRow;
    } else if (draw < corruption.mask + corruption.swap) {
      sentence.rows[i] = swapped(corpus, whole, i, corruption.family, random);
    }
  }
  return targets;
}

}  // namespace

Corpus corpus_of(std::shared_ptr<const Grammar> grammar) {
  Corpus corpus{.name = "grammar", .words = grammar->words};
  corpus.grammar = std::move(grammar);
  return corpus;
}

Result<Corpus> corpus_of(std::string_view where, const std::vector<std::vector<std::string>>& sentences,
                         std::size_t most_words, std::size_t longest) {
  struct Count {
    std::size_t times = 0, first = 0;
  };
  std::unordered_map<std::string, Count> counts;
  for (const auto& sentence : sentences) {
    if (sentence.size() > longest) continue;
    for (const std::string& word : sentence) {
      const auto [at, is_new] = counts.emplace(word, Count{0, counts.size()});
      ++at->second.times;
    }
  }
  std::vector<std::pair<std::string, Count>> words(counts.begin(), counts.end());
  std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) {
    return a.second.times != b.second.times ? a.second.times > b.second.times : a.second.first < b.second.first;
  });
  if (words.size() > most_words) words.resize(most_words);
  Corpus corpus{.name = std::string(where)};
  std::unordered_map<std::string_view, std::int32_t> rows;
  for (const auto& [word, count] : words) corpus.words.push_back(word);
  for (const std::string& word : corpus.words)
    rows.emplace(word, kFirstWordRow + static_cast<std::int32_t>(rows.size()));
  for (const auto& sentence : sentences) {
    if (sentence.empty() || sentence.size() > longest) continue;
    auto& line = corpus.lines.emplace_back();
    for (const std::string& word : sentence) {
      const auto row = rows.find(word);
      line.push_back(row == rows.end() ? kUnknownRow : row->second);
    }
  }
  if (corpus.lines.empty() || corpus.words.empty()) {
    return bad_input(where, "sentences", "at least one of 1 to " + std::to_string(longest) + " words", "none");
  }
  return corpus;
}

std::shared_ptr<const Vocabulary> vocabulary_of(const Corpus& corpus) {
  Vocabulary vocabulary;
  for (const std::string_view word : kSpecialWords) vocabulary.words.emplace_back(word);
  vocabulary.words.insert(vocabulary.words.end(), corpus.words.begin(), corpus.words.end());
  return std::make_shared<const Vocabulary>(std::move(vocabulary));
}

Batch draw_batch(const Corpus& corpus, Task task, const Corruption& corruption, std::uint64_t seed, Index step,
                 Index count) {
  Random random(derive_seed(seed, "batch " + std::to_string(step)));
  std::vector<std::vector<std::int32_t>> inputs, targets;
  std::size_t longest = 1;
  for (Index i = 0; i < count; ++i) {
    Drawn sentence = draw(corpus, random);
    std::vector<std::int32_t> input, target;
    if (task == Task::masked) {
      target = corrupt(corpus, sentence, corruption, random);
    } else {
      input = {kStartRow};
      target = sentence.rows;
      target.push_back(kStartRow);  // a sentence ends where the next begins
    }
    input.insert(input.end(), sentence.rows.begin(), sentence.rows.end());
    longest = std::max(longest, input.size());
    inputs.push_back(std::move(input));
    targets.push_back(std::move(target));
  }
  Batch batch;
  batch.input.count = count;
  batch.input.length = static_cast<Index>(longest);
  batch.input.ids.assign(static_cast<std::size_t>(count) * longest, kPadRow);
  batch.targets.assign(static_cast<std::size_t>(count) * longest, -1);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    batch.input.lengths.push_back(static_cast<std::int32_t>(inputs[i].size()));
    std::copy(inputs[i].begin(), inputs[i].end(), batch.input.ids.begin() + static_cast<std::ptrdiff_t>(i * longest));
    std::copy(targets[i].begin(), targets[i].end(), batch.targets.begin() + static_cast<std::ptrdiff_t>(i * longest));
  }
  return batch;
}

}  // namespace headlight
