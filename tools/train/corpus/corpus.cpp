#include "train/corpus/corpus.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <unordered_map>

#include "base/formatted.h"
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

/// 0 up to 1, of 53 bits.
double fraction(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

std::size_t sentences_in(const CorpusText& text) { return text.lines.size(); }
std::size_t sentences_in(const TaughtText& text) { return text.sentences.size(); }

/// One of several texts and one of its sentences, each with the probability that the weight of its text gives.
template <class Text>
std::pair<const Text*, std::size_t> draw_sentence(const std::vector<Text>& texts, Random& random) {
  const auto mass = [](const Text& text) {
    return static_cast<double>(text.weight) * static_cast<double>(sentences_in(text));
  };
  double total = 0;
  for (const Text& text : texts) total += mass(text);
  double rest = fraction(random) * total;
  const Text* chosen = &texts.front();
  for (const Text& text : texts) {
    chosen = &text;
    if (rest < mass(text)) break;
    if (&text != &texts.back()) rest -= mass(text);
  }
  const auto sentence = static_cast<std::size_t>(rest / static_cast<double>(chosen->weight));
  return {chosen, std::min(sentence, sentences_in(*chosen) - 1)};
}

std::vector<std::int32_t> draw_repeated(const Corpus& corpus, Random& random) {
  const auto among = [&](std::size_t low, std::size_t high) { return low + random.next() % (high - low + 1); };
  std::vector<std::int32_t> words(corpus.words.size());
  std::iota(words.begin(), words.end(), kFirstWordRow);
  for (std::size_t i = 0; i < 5 * 4; ++i) std::swap(words[i], words[among(i, words.size() - 1)]);
  std::vector<std::span<const std::int32_t>> pieces(among(3, 5));
  std::size_t used = 0;
  for (auto& piece : pieces) {
    piece = std::span(words).subspan(used, among(2, 4));
    used += piece.size();
  }
  std::vector<std::int32_t> sentence;
  for (const std::size_t fewest = among(12, 32); sentence.size() < fewest;) {
    const auto piece = pieces[among(0, pieces.size() - 1)];
    sentence.insert(sentence.end(), piece.begin(), piece.end());
  }
  return sentence;
}

Drawn draw(const Corpus& corpus, Random& random) {
  if (corpus.tokenizer) {
    const auto [text, sentence] = draw_sentence(corpus.texts, random);
    const auto line = text->lines.line(sentence);
    return {{line.begin(), line.end()}, {}, {}};
  }
  if (!corpus.grammar && corpus.lines.empty()) return {draw_repeated(corpus, random), {}, {}};
  if (!corpus.grammar) return {corpus.lines[random.next() % corpus.lines.size()], {}, {}};
  Sentence sentence = draw_sentence(*corpus.grammar, CorpusPart::training, random);
  for (std::int32_t& word : sentence.words) word += kFirstWordRow;
  return {std::move(sentence.words), std::move(sentence.families), std::move(sentence.stands_for)};
}

/// Another word instead of word `i`: out of its family, or out of all. `family_of` has the family of each word among
/// `families` (−1: none), or is empty.
std::int32_t swapped(const Corpus& corpus, const std::vector<std::vector<std::int32_t>>& families,
                     const std::vector<int>& family_of, std::size_t i, float family_share, Random& random) {
  const bool in_family = random.uniform() < family_share;
  if (in_family && !family_of.empty() && family_of[i] >= 0) {
    const auto& family = families[static_cast<std::size_t>(family_of[i])];
    if (family.size() > 1) return kFirstWordRow + family[random.next() % family.size()];
  }
  return random_row(corpus, random);
}

bool continues(std::int32_t row) { return (row & TokenLines::kContinues) != 0; }
std::int32_t plain(std::int32_t row) { return row & ~TokenLines::kContinues; }

/// Where the word that begins at token `begin` ends.
std::size_t end_of_word(const std::vector<std::int32_t>& rows, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < rows.size() && continues(rows[end])) ++end;
  return end;
}

/// Hides, swaps and keeps words of one sentence; the words that are to be predicted are the answer, −1 elsewhere.
/// Special tokens around a sentence and unknown tokens are left alone.
std::vector<std::int32_t> corrupt(const Corpus& corpus, Drawn& sentence, const Corruption& corruption, Random& random) {
  std::vector<std::int32_t> targets(sentence.rows.size(), -1);
  const Drawn whole = sentence;
  static const std::vector<std::vector<std::int32_t>> kNone;
  const auto& families = corpus.grammar ? corpus.grammar->families : kNone;
  for (std::size_t i = 0, end = 0; i < sentence.rows.size(); i = end) {
    end = end_of_word(whole.rows, i);
    if (corpus.tokenizer && whole.rows[i] < kFirstWordRow) continue;
    const float draw = random.uniform();
    const bool is_pronoun = !whole.stands_for.empty() && whole.stands_for[i] >= 0;
    const bool restored = is_pronoun && random.uniform() < corruption.restore;
    if (restored) targets[i] = whole.rows[static_cast<std::size_t>(whole.stands_for[i])];
    if (draw >= corruption.mask + corruption.swap + corruption.keep) continue;
    for (std::size_t piece = i; piece < end; ++piece) {
      const std::int32_t right = plain(whole.rows[piece]);
      if (!restored && !(corpus.tokenizer && right == kUnknownRow)) targets[piece] = right;
      if (draw < corruption.mask) {
        sentence.rows[piece] = kMaskRow;
      } else if (draw < corruption.mask + corruption.swap) {
        sentence.rows[piece] = swapped(corpus, families, whole.families, piece, corruption.family, random);
      }
    }
  }
  for (std::int32_t& row : sentence.rows) row = plain(row);
  return targets;
}

/// Adds what the heads are taught in sentence `number` of the batch.
void ask_heads(const TaughtSentence& sentence, const Teaching& teaching, std::int32_t number,
               std::vector<AttentionTarget>& targets) {
  std::vector<float> share(sentence.rows.size());  // of each token in its word
  for (std::size_t i = 0, end = 0; i < share.size(); i = end) {
    end = end_of_word(sentence.rows, i);
    std::fill(share.begin() + static_cast<std::ptrdiff_t>(i), share.begin() + static_cast<std::ptrdiff_t>(end),
              1.0f / static_cast<float>(end - i));
  }
  auto arc = sentence.arcs.begin();
  for (std::size_t head = 0; head < teaching.heads.size(); ++head) {
    const TaughtHead& taught = teaching.heads[head];
    for (std::size_t query = 0; query < share.size(); ++query) {
      AttentionTarget target{.sentence = number,
                             .layer = static_cast<std::int32_t>(taught.layer),
                             .head = static_cast<std::int32_t>(taught.head),
                             .query = static_cast<std::int32_t>(query)};
      const bool has_arc = arc != sentence.arcs.end() && arc->head == static_cast<std::int32_t>(head) &&
                           arc->query == static_cast<std::int32_t>(query);
      if (has_arc) {
        target.first = arc->first;
        target.end = arc->end;
        target.weight = share[query];
        ++arc;
      } else {
        target.rest = true;  // at position 0, <s>
        target.weight = teaching.rest * share[query];
        if (sentence.asks_rest(head, query) && target.weight > 0) targets.push_back(target);
        continue;
      }
      targets.push_back(target);
    }
  }
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

/// The input of a model, its target at each position, and the encoder's input of an encoder-decoder.
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
  if (corpus.tokenizer) asked.targets.erase(asked.targets.begin());  // it has <s> before it already
  for (std::int32_t& row : asked.targets) row = plain(row);
  asked.input.insert(asked.input.end(), asked.targets.begin(), asked.targets.end());
  asked.targets.push_back(kStartRow);  // a sentence ends where the next begins
  return asked;
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
    else if (draw < corruption.mask + corruption.swap)
      read = swapped(corpus, corpus.grammar->dictionary.families, english.families, i, corruption.family, random);
    asked.input.push_back(read);
    if (read != right) asked.targets[i + 1] = right;
  }
  return asked;
}

TaughtSentence draw_taught(const Corpus& corpus, const Teaching& teaching, Random& random) {
  const bool of_grammar = corpus.taught_grammar && (corpus.taught.empty() || random.uniform() < teaching.grammar);
  if (!of_grammar) {
    const auto [text, sentence] = draw_sentence(corpus.taught, random);
    return text->sentences[sentence];
  }
  const Sentence sentence = draw_sentence(*corpus.taught_grammar, CorpusPart::training, random);
  return taught_sentence(*corpus.taught_grammar, sentence, *corpus.tokenizer, teaching.heads);
}

}  // namespace

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

Corpus repeated_random_corpus() {
  Corpus corpus{.name = std::string(kRepeatedRandom)};
  for (const char consonant : std::string_view("bdfgklmt"))
    for (const char vowel : std::string_view("aeiu")) corpus.words.push_back({consonant, vowel});
  return corpus;
}

Corpus corpus_of(std::shared_ptr<const Tokenizer> tokenizer, std::string tokenizer_json,
                 std::vector<CorpusText> texts) {
  Corpus corpus;
  corpus.name = joined_texts(texts, ", ", &CorpusText::name);
  const auto vocabulary = vocabulary_of(*tokenizer);
  corpus.words.assign(vocabulary->words.begin() + kFirstWordRow, vocabulary->words.end());
  corpus.tokenizer = std::move(tokenizer);
  corpus.tokenizer_json = std::move(tokenizer_json);
  corpus.texts = std::move(texts);
  return corpus;
}

std::shared_ptr<const Vocabulary> vocabulary_of(const Corpus& corpus) {
  Vocabulary vocabulary;
  for (const std::string_view word : kSpecialWords) vocabulary.words.emplace_back(word);
  vocabulary.words.insert(vocabulary.words.end(), corpus.words.begin(), corpus.words.end());
  return std::make_shared<const Vocabulary>(std::move(vocabulary));
}

Batch draw_batch(const Corpus& corpus, Task task, const Corruption& corruption, std::uint64_t seed, Index step,
                 Index count, const TaughtDraw& taught) {
  Random random(derive_seed(seed, "batch " + std::to_string(step)));
  std::vector<std::vector<std::int32_t>> inputs, targets, sources;
  Batch batch;
  const Index teach = taught.teaching ? std::min(taught.count, count) : 0;
  for (Index i = 0; i < count - teach; ++i) {
    Asked asked = task == Task::masked   ? asked_in_place(corpus, corruption, random)
                  : task == Task::causal ? asked_to_go_on(corpus, random)
                                         : asked_to_translate(corpus, corruption, random);
    inputs.push_back(std::move(asked.input));
    targets.push_back(std::move(asked.targets));
    if (task == Task::translation) sources.push_back(std::move(asked.source));
  }
  for (Index i = count - teach; i < count; ++i) {
    const TaughtSentence sentence = draw_taught(corpus, *taught.teaching, random);
    Drawn drawn{sentence.rows, {}, {}};
    const Corruption hidden{.mask = taught.teaching->hide, .swap = 0, .keep = 0};
    targets.push_back(corrupt(corpus, drawn, hidden, random));
    inputs.push_back(std::move(drawn.rows));
    ask_heads(sentence, *taught.teaching, static_cast<std::int32_t>(i), batch.attention);
  }
  batch.input = side_by_side(inputs);
  if (!sources.empty()) batch.source = side_by_side(sources);
  batch.targets = rows_of(targets, batch.input.length, -1);
  return batch;
}

}  // namespace headlight
