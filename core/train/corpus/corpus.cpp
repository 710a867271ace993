#include "train/corpus/corpus.h"

#include <algorithm>
#include <unordered_map>

#include "base/names.h"

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
  Sentence sentence = draw_sentence(*corpus.grammar, CorpusPart::training, random);
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

/// Row after row, each filled up to `length`.
std::vector<std::int32_t> rows_of(const std::vector<std::vector<std::int32_t>>& sentences, Index length,
                                  std::int32_t filling) {
  std::vector<std::int32_t> rows;
  for (const auto& sentence : sentences) {
    rows.insert(rows.end(), sentence.begin(), sentence.end());
    rows.insert(rows.end(), static_cast<std::size_t>(length) - sentence.size(), filling);
  }
  return rows;
}

Sentences side_by_side(const std::vector<std::vector<std::int32_t>>& sentences) {
  Sentences result{.count = static_cast<Index>(sentences.size()), .length = 1, .ids = {}, .lengths = {}};
  for (const auto& sentence : sentences) {
    result.length = std::max(result.length, static_cast<Index>(sentence.size()));
    result.lengths.push_back(static_cast<std::int32_t>(sentence.size()));
  }
  result.ids = rows_of(sentences, result.length, kPadRow);
  return result;
}

/// What a model reads, what it is asked for in each place, and what the encoder of an encoder-decoder reads.
struct Asked {
  std::vector<std::int32_t> input, targets, source = {};
};

Asked asked_in_place(const Corpus& corpus, const Corruption& corruption, Random& random) {
  Drawn sentence = draw(corpus, random);
  std::vector<std::int32_t> targets = corrupt(corpus, sentence, corruption, random);
  return {std::move(sentence.rows), std::move(targets)};
}

Asked asked_to_go_on(const Corpus& corpus, Random& random) {
  Asked asked{.input = {kStartRow}, .targets = draw(corpus, random).rows};
  asked.input.insert(asked.input.end(), asked.targets.begin(), asked.targets.end());
  asked.targets.push_back(kStartRow);  // a sentence ends where the next begins
  return asked;
}

/// Another word in the place of one of a translation.
std::int32_t slip(const Corpus& corpus, const Translation& english, std::size_t i, float family_share, Random& random) {
  const bool in_family = random.uniform() < family_share;
  if (in_family && english.families[i] >= 0) {
    const auto& family = corpus.grammar->dictionary.families[static_cast<std::size_t>(english.families[i])];
    if (family.size() > 1) return kFirstWordRow + family[random.next() % family.size()];
  }
  return random_row(corpus, random);
}

Asked asked_to_translate(const Corpus& corpus, const Corruption& corruption, Random& random) {
  Asked asked{.input = {kStartRow}, .targets = {}};
  Sentence sentence;
  Translation english;
  do {
    sentence = draw_sentence(*corpus.grammar, CorpusPart::training, random);
    english = translation_of(*corpus.grammar, sentence);
  } while (english.words.empty());
  for (const std::int32_t word : sentence.words) asked.source.push_back(word + kFirstWordRow);
  for (const std::int32_t word : english.words) asked.targets.push_back(word + kFirstWordRow);
  asked.targets.push_back(static_cast<std::int32_t>(corpus.rows()) - 1);
  for (std::size_t i = 0; i < english.words.size(); ++i) {
    const std::int32_t right = english.words[i] + kFirstWordRow;
    const float draw = random.uniform();
    std::int32_t read = right;
    if (draw < corruption.mask) read = kMaskRow;
    else if (draw < corruption.mask + corruption.swap) read = slip(corpus, english, i, corruption.family, random);
    asked.input.push_back(read);
    if (read != right) asked.targets[i + 1] = right;
  }
  return asked;
}

constexpr std::string_view kTaskNames[] = {"masked", "causal", "translation"};

}  // namespace

std::string_view name(Task task) { return name_in(kTaskNames, task); }

Task task_of(Arch arch) {
  switch (arch) {
    case Arch::encoder: break;
    case Arch::decoder: return Task::causal;
    case Arch::encoder_decoder: return Task::translation;
  }
  return Task::masked;
}

Corpus corpus_of(std::shared_ptr<const Grammar> grammar, Task task) {
  Corpus corpus{.name = "grammar", .words = grammar->words};
  if (task == Task::translation) {
    const std::vector<std::string>& english = grammar->dictionary.words;
    corpus.words.insert(corpus.words.end(), english.begin(), english.end());
    corpus.words.emplace_back(kEndWord);
  }
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
  std::vector<std::vector<std::int32_t>> inputs, targets, sources;
  for (Index i = 0; i < count; ++i) {
    Asked asked;
    switch (task) {
      case Task::masked: asked = asked_in_place(corpus, corruption, random); break;
      case Task::causal: asked = asked_to_go_on(corpus, random); break;
      case Task::translation: asked = asked_to_translate(corpus, corruption, random); break;
    }
    inputs.push_back(std::move(asked.input));
    targets.push_back(std::move(asked.targets));
    if (task == Task::translation) sources.push_back(std::move(asked.source));
  }
  Batch batch;
  batch.input = side_by_side(inputs);
  if (!sources.empty()) batch.source = side_by_side(sources);
  batch.targets = rows_of(targets, batch.input.length, -1);
  return batch;
}

}  // namespace headlight
