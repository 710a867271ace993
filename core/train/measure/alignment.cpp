#include "train/measure/alignment.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/formatted.h"
#include "math/attention.h"
#include "model/head_text.h"
#include "train/grammar/speller.h"
#include "train/measure/head_scores.h"

namespace headlight {
namespace {

/// A sentence with its English.
struct Pair {
  std::vector<std::int32_t> words;
  Translation english;
  int kind = 0;
};

/// A word of some pair's English that was made of a word of its sentence.
struct Aligned {
  const Pair* of;
  int place, source;
};

std::vector<Pair> pairs_of(const Grammar& grammar, const RelationOptions& options, std::uint64_t seed,
                           std::set<std::vector<std::int32_t>>& seen) {
  Random random(derive_seed(seed, "alignment"));
  std::vector<Pair> pairs;
  const Index most_tries = options.sentences * 40;
  for (Index tries = 0; tries < most_tries && static_cast<Index>(pairs.size()) < options.sentences; ++tries) {
    Sentence sentence = draw_sentence(grammar, CorpusPart::held_out, random);
    Translation english = translation_of(grammar, sentence);
    if (english.words.empty() || !seen.insert(sentence.words).second) continue;
    pairs.push_back({std::move(sentence.words), std::move(english), sentence.kind});
  }
  return pairs;
}

std::vector<Aligned> aligned_words(const std::vector<Pair>& pairs) {
  std::vector<Aligned> words;
  for (const Pair& pair : pairs)
    for (std::size_t i = 0; i < pair.english.words.size(); ++i)
      if (pair.english.made_of[i] >= 0) words.push_back({&pair, static_cast<int>(i), pair.english.made_of[i]});
  return words;
}

/// Where a sentence says a word twice, both are it.
bool is_source(const Pair& pair, Index place, int source) {
  const auto count = static_cast<Index>(pair.words.size());
  return place >= 0 && place < count && pair.words[at(place)] == pair.words[at(source)];
}

HeadLook look(const Matrix& weights, Index row, const Pair& pair, int source) {
  Index strongest = 0;
  weights.row(row).maxCoeff(&strongest);
  HeadLook look{.right = is_source(pair, strongest, source)};
  for (Index place = 0; place < weights.cols(); ++place)
    if (is_source(pair, place, source)) look.weight += weights(row, place);
  return look;
}

std::size_t num_aligned(const Pair& pair) {
  const auto& made_of = pair.english.made_of;
  return at(std::count_if(made_of.begin(), made_of.end(), [](int place) { return place >= 0; }));
}

/// All cross heads on all pairs; empty where it was stopped. Of a head the columns 2·head (the word's own row) and
/// 2·head + 1 (the row before). `foretold`, if not null, is given what each pair's English foretells of itself.
Result<HeadLooks> looks_of(const std::shared_ptr<const Model>& model, const Speller& speller,
                           const std::vector<Pair>& pairs, int threads, Progress& progress, float share,
                           std::vector<Foretold>* foretold = nullptr) {
  std::vector<Request> requests;
  std::vector<std::size_t> num_golds;
  for (const Pair& pair : pairs) {
    requests.push_back(speller.request(model, pair.words, pair.english.words));
    num_golds.push_back(num_aligned(pair));
  }
  const auto rows = foretold ? rows_of_ids(*model) : std::unordered_map<std::int64_t, Index>();
  if (foretold) foretold->resize(pairs.size());
  const auto read = [&](const Trace& trace, std::size_t p, std::span<std::vector<HeadLook>> golds) {
    const Pair& pair = pairs[p];
    const Index layers = trace.num_layers(Stack::cross), heads = trace.num_heads(Stack::cross);
    for (Index column = 0; column < layers * heads; ++column) {
      const HeadRef head{.layer = column / heads, .head = column % heads, .stack = Stack::cross};
      const Matrix weights = attention_rows(trace, head, 0, trace.queries(Stack::cross));
      std::size_t word = 0;
      for (std::size_t i = 0; i < pair.english.words.size(); ++i) {
        const int source = pair.english.made_of[i];
        if (source < 0) continue;
        const Index row = static_cast<Index>(i) + speller.first();
        golds[word].resize(at(layers * heads * 2));
        golds[word][at(2 * column)] = look(weights, row, pair, source);
        golds[word][at(2 * column + 1)] = look(weights, std::max<Index>(0, row - 1), pair, source);
        ++word;
      }
    }
    if (foretold) (*foretold)[p] = foretold_words(trace, rows);
  };
  return look_at_all(requests, num_golds, read, threads, progress, share);
}

/// As far along the sentence as the word stands in the English.
bool on_diagonal(const Aligned& word) {
  const double share =
      static_cast<double>(word.place) / std::max(1.0, static_cast<double>(word.of->english.words.size()) - 1.0);
  return is_source(*word.of, std::lround(share * (static_cast<double>(word.of->words.size()) - 1.0)), word.source);
}

std::vector<GoldPair> places_of(const std::vector<Aligned>& words) {
  std::vector<GoldPair> places;
  for (const Aligned& word : words) places.push_back({word.source - word.place, word.of->kind});
  return places;
}

std::vector<std::size_t> all_of(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

std::string english_text(const Grammar& grammar, const std::vector<std::int32_t>& words) {
  std::string text;
  for (const std::int32_t word : words) text += (text.empty() ? "" : " ") + std::string(target_word(grammar, word));
  return text;
}

}  // namespace

Result<std::optional<RelationReport>> measure_alignment(const std::shared_ptr<const Model>& model,
                                                        const Grammar& grammar, const RelationOptions& options,
                                                        Progress& progress) {
  if (!has_translations(grammar)) return bad_input("alignment", "grammar", "sentences with English", "none");
  const Speller speller(*model, grammar);
  const auto untrained = untrained_model(*model);
  std::set<std::vector<std::int32_t>> seen;
  const std::vector<Pair> validation = pairs_of(grammar, options, options.validation_seed, seen);
  const std::vector<Pair> test = pairs_of(grammar, options, options.test_seed, seen);
  std::vector<Pair> literals;
  for (const Literal& literal : grammar.literals)
    if (!literal.english.words.empty()) literals.push_back({literal.words, literal.english, 0});
  HeadLooks looks[5];
  std::vector<Foretold> foretold;
  const std::pair<const std::shared_ptr<const Model>*, const std::vector<Pair>*> wanted[] = {
      {&model, &validation}, {&model, &test}, {&untrained, &validation}, {&untrained, &test}, {&model, &literals}};
  for (std::size_t i = 0; i < std::size(wanted); ++i) {
    const float share = i < 4 ? 0.22f : 0.02f;
    auto found = looks_of(*wanted[i].first, speller, *wanted[i].second, options.threads, progress, share,
                          i == 1 && model->output ? &foretold : nullptr);
    if (!found) return found.error();
    if (progress.stop) return std::optional<RelationReport>();
    looks[i] = *std::move(found);
  }
  const auto& [of_validation, of_test, fresh_validation, fresh_test, of_literals] = looks;

  const std::vector<Aligned> chosen_on = aligned_words(validation), scored_on = aligned_words(test);
  const auto leads_to_source = [&](std::size_t word, int distance) {
    return is_source(*scored_on[word].of, scored_on[word].place + distance, scored_on[word].source);
  };
  const PositionScores positions = position_scores(places_of(chosen_on), places_of(scored_on), leads_to_source);
  const std::vector<std::size_t> validation_golds = all_of(chosen_on.size()), test_golds = all_of(scored_on.size());
  std::optional<RelationReport> result;
  RelationReport& report = result.emplace();
  report.test_seed = options.test_seed;
  report.unknown_words = speller.unknown;
  AlignmentReport& alignment = report.alignment;
  alignment.words = static_cast<Index>(scored_on.size());
  alignment.diagonal = static_cast<double>(std::count_if(scored_on.begin(), scored_on.end(), on_diagonal)) /
                       std::max<double>(1, static_cast<double>(scored_on.size()));
  const Index heads = model->config.num_heads, columns = heads * model->config.num_layers;
  for (Index column = 0; column < columns; ++column)
    alignment.heads.push_back({column / heads, column % heads,
                               score_of(of_test, test_golds, at(2 * column), positions.hard),
                               score_of(of_test, test_golds, at(2 * column + 1), positions.hard)});
  double validated[2];
  for (const bool next : {false, true}) {
    RelationScore score{.relation = next ? "NEXT" : "OWN",
                        .en = next ? "next word → its source" : "word → its source",
                        .zh = next ? "下一个词 → 原词" : "词 → 原词",
                        .stack = Stack::cross};
    double best = -1, best_untrained = -1;
    for (Index column = 0; column < columns; ++column) {
      const std::size_t rows = at(2 * column) + next;
      const CrossHead& head = alignment.heads[at(column)];
      score.directed.push_back({head.layer, head.head, false});
      score.heads.push_back(next ? head.next : head.own);
      if (const double one = score_of(of_validation, validation_golds, rows, {}).accuracy; one > best) {
        best = one;
        score.chosen = score.directed.back();
        score.score = score.heads.back();
      }
      if (const double one = score_of(fresh_validation, validation_golds, rows, {}).accuracy; one > best_untrained) {
        best_untrained = one;
        score.random = score_of(fresh_test, test_golds, rows, {}).accuracy;
      }
    }
    score.offset = positions.offset;
    score.kind_offset = positions.kind_offset;
    score.sentences = static_cast<Index>(test.size());
    validated[next ? 1 : 0] = best;
    report.relations.push_back(std::move(score));
  }
  const bool next = validated[1] > validated[0];
  if (next) std::swap(report.relations[0], report.relations[1]);
  const DirectedHead& chosen = report.relations.front().chosen;
  const std::size_t column = at(2 * (chosen.layer * heads + chosen.head)) + next;
  std::size_t word = 0;
  for (const Pair& literal : literals) {
    LiteralAlignment one{.text = text_of(grammar, Sentence{.words = literal.words}),
                         .english = english_text(grammar, literal.english.words)};
    one.words = static_cast<Index>(num_aligned(literal));
    for (Index i = 0; i < one.words; ++i) one.right += of_literals[word++][column].right;
    alignment.literals.push_back(std::move(one));
  }
  report.next_word = next_word_score(foretold);
  return result;
}

std::string alignment_text(const AlignmentReport& report) {
  std::string text = "cross head   its own row: right  weight   the row before: right  weight\n";
  for (const CrossHead& head : report.heads)
    text += formatted("  %-19s      %.3f   %.3f                    %.3f   %.3f\n",
                      head_label({head.layer, head.head}).c_str(), head.own.accuracy, head.own.weight,
                      head.next.accuracy, head.next.weight);
  text += formatted("a diagonal: %.3f of %ld words\n", report.diagonal, static_cast<long>(report.words));
  for (const LiteralAlignment& one : report.literals)
    text +=
        std::to_string(one.right) + " of " + std::to_string(one.words) + ": " + one.text + " / " + one.english + "\n";
  return text;
}

std::string next_word_text(const NextWordScore& score) {
  return formatted("next word: right %.3f, perplexity %.3f, of %ld words\n", score.accuracy, score.perplexity,
                   static_cast<long>(score.words));
}

}  // namespace headlight
