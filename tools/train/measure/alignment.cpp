#include "train/measure/relations.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "base/formatted.h"
#include "model/head_text.h"
#include "train/measure/head_scores.h"

namespace headlight {
namespace {

/// A sentence with its English.
struct Pair {
  std::vector<std::int32_t> words;
  Translation english;
  int kind = 0;
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

/// A word of some pair's English that was made of a word of its sentence.
struct Aligned {
  const Pair* of;
  int position, source;
};

std::vector<Aligned> aligned_words(std::span<const Pair> pairs) {
  std::vector<Aligned> words;
  for (const Pair& pair : pairs)
    for (std::size_t i = 0; i < pair.english.words.size(); ++i)
      if (pair.english.made_of[i] >= 0) words.push_back({&pair, static_cast<int>(i), pair.english.made_of[i]});
  return words;
}

/// Where a sentence has a word twice, both are it.
bool is_source(const Pair& pair, Index position, int source) {
  const auto count = static_cast<Index>(pair.words.size());
  return position >= 0 && position < count && pair.words[at(position)] == pair.words[at(source)];
}

HeadLook look(const Matrix& weights, Index row, const Aligned& word) {
  Index strongest = 0;
  weights.row(row).maxCoeff(&strongest);
  HeadLook look{.right = is_source(*word.of, strongest, word.source)};
  for (Index position = 0; position < weights.cols(); ++position)
    if (is_source(*word.of, position, word.source)) look.weight += weights(row, position);
  return look;
}

/// Pairs, each of whose aligned words is read in the row of the word and in the row before. The pairs must stay.
std::vector<MeasuredCase> cases_of(const std::shared_ptr<const Model>& model, const Speller& speller,
                                   const std::vector<Pair>& pairs) {
  std::vector<MeasuredCase> cases;
  for (const Pair& pair : pairs) {
    MeasuredCase& one =
        cases.emplace_back(MeasuredCase{.request = speller.request(model, pair.words, pair.english.words)});
    const std::vector<Aligned> words = aligned_words({&pair, 1});
    for (const Aligned& word : words) one.golds.push_back({0, word.source - word.position, pair.kind});
    one.look = [words, first = speller.first()](const Matrix& weights, std::size_t gold) -> std::array<HeadLook, 2> {
      const Index row = words[gold].position + first;
      return {look(weights, row, words[gold]), look(weights, std::max<Index>(0, row - 1), words[gold])};
    };
  }
  return cases;
}

/// As far along the sentence as the word stands in the English.
bool on_diagonal(const Aligned& word) {
  const double share =
      static_cast<double>(word.position) / std::max(1.0, static_cast<double>(word.of->english.words.size()) - 1.0);
  return is_source(*word.of, std::lround(share * (static_cast<double>(word.of->words.size()) - 1.0)), word.source);
}

std::string english_text(const Grammar& grammar, const std::vector<std::int32_t>& words) {
  std::string text;
  for (const std::int32_t word : words) text += (text.empty() ? "" : " ") + std::string(target_word(grammar, word));
  return text;
}

/// A relation of the rows that read a word, or (`next`) of those before them; its head by validation; `validated` is
/// set to that head's accuracy.
RelationScore score_of_rows(bool next, const RelationMeasure& measure, const std::vector<CrossHead>& heads,
                            double& validated) {
  RelationScore score{.relation = next ? "NEXT" : "OWN",
                      .en = next ? "next word → its source" : "word → its source",
                      .zh = next ? "下一个词 → 原词" : "词 → 原词",
                      .stack = Stack::cross};
  validated = -1;
  for (std::size_t column = 0; column < heads.size(); ++column) {
    score.directed.push_back({heads[column].layer, heads[column].head, false});
    score.heads.push_back(next ? heads[column].next : heads[column].own);
    const double one = measure.validated(2 * column + next);
    if (one <= validated) continue;
    validated = one;
    score.chosen = score.directed.back();
    score.score = score.heads.back();
  }
  measure.add_baselines(score, next, 2);
  return score;
}

/// `looks`: of the aligned words of all literals, of which `column` was chosen.
void add_literals(const Grammar& grammar, const std::vector<Pair>& literals, const HeadLooks& looks, std::size_t column,
                  AlignmentReport& alignment) {
  std::size_t word = 0;
  for (const Pair& literal : literals) {
    LiteralAlignment one{.text = text_of(grammar, Sentence{.words = literal.words}),
                         .english = english_text(grammar, literal.english.words)};
    one.words = static_cast<Index>(aligned_words({&literal, 1}).size());
    for (Index i = 0; i < one.words; ++i) one.right += looks[word++][column].right;
    alignment.literals.push_back(std::move(one));
  }
}

}  // namespace

Result<std::optional<RelationReport>> measure_alignment(const std::shared_ptr<const Model>& model,
                                                        const Grammar& grammar, const RelationOptions& options,
                                                        Progress& progress) {
  if (!has_translations(grammar)) return bad_input("alignment", "grammar", "sentences with English", "none");
  const Speller speller(*model, grammar);
  std::set<std::vector<std::int32_t>> seen;
  const std::vector<Pair> validation = pairs_of(grammar, options, options.validation_seed, seen);
  const std::vector<Pair> test = pairs_of(grammar, options, options.test_seed, seen);
  std::vector<Pair> literals;
  for (const Literal& literal : grammar.literals)
    if (!literal.english.words.empty()) literals.push_back({literal.words, literal.english, 0});
  Measured measured{.validation = cases_of(model, speller, validation), .test = cases_of(model, speller, test)};
  std::vector<Foretold> foretold;
  TRY(measured.look(model, Stack::cross, options.threads, progress, 0.22f, foretells(*model) ? &foretold : nullptr));
  const auto of_literals =
      TRY(looks_of(model, cases_of(model, speller, literals), Stack::cross, options.threads, progress, 0.02f));
  if (progress.stop) return std::optional<RelationReport>();

  const std::vector<Aligned> scored_on = aligned_words(test);
  const RelationMeasure measure(measured, 0, [&](std::size_t word, int distance) {
    return is_source(*scored_on[word].of, scored_on[word].position + distance, scored_on[word].source);
  });
  std::optional<RelationReport> result;
  RelationReport& report = result.emplace();
  report.test_seed = options.test_seed;
  report.unknown_words = speller.unknown;
  AlignmentReport& alignment = report.alignment;
  alignment.words = static_cast<Index>(scored_on.size());
  alignment.diagonal = static_cast<double>(std::count_if(scored_on.begin(), scored_on.end(), on_diagonal)) /
                       std::max<double>(1, static_cast<double>(scored_on.size()));
  const Index heads = model->config.num_heads;
  for (Index head = 0; head < heads * model->config.num_layers; ++head)
    alignment.heads.push_back(
        {head / heads, head % heads, measure.tested(at(2 * head)), measure.tested(at(2 * head + 1))});
  double validated[2];
  for (const bool next : {false, true}) {
    report.relations.push_back(score_of_rows(next, measure, alignment.heads, validated[next ? 1 : 0]));
    report.relations.back().sentences = static_cast<Index>(test.size());
  }
  const bool next = validated[1] > validated[0];
  if (next) std::swap(report.relations[0], report.relations[1]);
  const DirectedHead& chosen = report.relations.front().chosen;
  add_literals(grammar, literals, of_literals, at(2 * (chosen.layer * heads + chosen.head)) + next, alignment);
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
