// Which relation the two words of a cell have: a linear classifier of what a model knows of the two, fitted beside
// heads that were taught (train/measure/arc_fit.h). It is no parser: it reads pairs at which those heads point, one at
// a time.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace headlight {

/// A smaller weight points at nothing.
inline constexpr float kLeastPointing = 0.3f;

/// Longer sentences are neither learned from nor named.
inline constexpr std::size_t kMostArcTokens = 400;

/// A relation is not named where its cells may be right in a smaller share: by ArcPrecision::least.
inline constexpr double kLeastPrecision = 0.6;

/// Of fewer words nothing can be said about their order.
inline constexpr std::size_t kFewestInOrder = 4;

/// A word as the tokens of a sentence spell it.
struct SpeltWord {
  Index first = 0, count = 0;      // tokens
  std::size_t begin = 0, end = 0;  // bytes of the text, without the space before it
  bool has(Index token) const { return token >= first && token < first + count; }
  friend bool operator==(const SpeltWord&, const SpeltWord&) = default;
};

/// How much a word looks at another: the mean of its pieces' rows, which these are, of the sum over the other's pieces.
inline float word_weight(const Matrix& rows, const SpeltWord& to) {
  return rows.middleCols(to.first, to.count).sum() / static_cast<float>(rows.rows());
}

/// Without special tokens and padding.
std::vector<SpeltWord> spelt_words(const Tokens& tokens);

/// Whether more words begin with a Chinese character than with a letter.
bool is_in_chinese(const Tokens& tokens);

/// The language of a sentence or a treebank, of those in which arcs are labelled.
enum class ArcLanguage { english, chinese, grammar };
inline constexpr const char* kArcLanguages[] = {"en", "zh", "grammar"};

/// Of the cells in which a head points from a word at another with a relation, how many were right.
struct ArcPrecision {
  HeadRef head;
  std::string relation;
  ArcLanguage language = ArcLanguage::english;
  Index named = 0, right = 0;

  double share() const { return named > 0 ? static_cast<double>(right) / static_cast<double>(named) : 0; }
  /// The lower end of the 95 % interval of the share (Wilson 1927, "Probable inference").
  double least() const;
  friend bool operator==(const ArcPrecision&, const ArcPrecision&) = default;
};

struct ArcLabels {
  /// Class 0 is "no relation of these", class r + 1 relation r.
  struct OfLanguage {
    Matrix weights = {};      // (relations + 1, features); empty: no sentence of this language is labelled
    Matrix calibration = {};  // (relations, 3) a, b, least: a label is right with probability σ(a·logit p + b), and is
                              // given from `least` on
    float least = 1;          // of that probability, for a label to be given
    Matrix order = {};        // (1, order_features): below 0 the words stand in no order; empty: not known
  };

  std::vector<HeadRef> heads = {};           // that were taught; their pairs are labelled
  std::vector<std::string> relations;        // as RelationScore::relation names them, without a language
  std::array<OfLanguage, 2> languages = {};  // by ArcLanguage
  std::vector<ArcPrecision> precisions = {};

  /// Null: not measured, or perhaps of less than kLeastPrecision.
  const ArcPrecision* precision(const HeadRef& head, const std::string& relation, ArcLanguage language) const;
};

/// log(p / (1 − p)), of a probability kept between 1e-4 and 1 − 1e-4.
double logit(double probability);
/// 1 / (1 + e⁻ˣ).
double sigmoid(double x);

/// The number of features of a pair of words, in a model of this width with labels for so many heads.
Index arc_features(Index d_model, std::size_t heads);
/// Numbers that the order of a sentence's words has.
Index order_features(Index d_model);

/// Whether the labels are of a model of this shape.
bool fit(const ArcLabels& labels, const Config& config);

/// 1, the logarithm of the number of words, and the mean over the words of embeddings, inputs and outputs of the last
/// layer: from these a linear classifier says whether the words stand as in a sentence.
Vector order_features(const Trace& trace, const std::vector<SpeltWord>& words);

/// Whether they do, as far as is known: not where the words of a sentence were shuffled.
bool are_in_order(const ArcLabels& labels, ArcLanguage language, const Trace& trace,
                  const std::vector<SpeltWord>& words);

/// A pair of words at which a head points: of all words but itself and special tokens the one with the most weight, at
/// least kLeastPointing. Pieces of a word look together (the mean of their rows) and are looked at together (the sum).
struct PointedPair {
  Index from = 0, to = 0;          // of the words
  std::vector<char> pointed = {};  // by which of the heads
  Vector features = {};
};

/// Those of all heads together, ascending. Constant time a pair beside the heads' patterns.
std::vector<PointedPair> pointed_pairs(const Trace& trace, const std::vector<HeadRef>& heads,
                                       const std::vector<SpeltWord>& words);

/// A pair with its most probable relation, and how probable it is that this is right.
struct LabelledPair {
  std::size_t pair = 0, relation = 0;
  double probability = 0;
};

/// The labels of these pairs: those with at least the probability that the language wants (`any`: with any relation,
/// before calibration), of each word only the most probable, of two words not both ways.
std::vector<LabelledPair> labelled_pairs(const ArcLabels& labels, ArcLanguage language,
                                         const std::vector<PointedPair>& pairs, bool any = false);

/// Those of these labels that agree with the other words of the text: of two arcs that cross only the more probable has
/// one (sentences of Universal Dependencies hardly have such), and in English
///  - no determiner, adjective, number or owner across a subject, no adjective across a word without a label;
///  - no copula before a form in -ing that may be an auxiliary's verb, nor across one beside it.
std::vector<LabelledPair> agreeing_pairs(const ArcLabels& labels, ArcLanguage language,
                                         const std::vector<PointedPair>& pairs, std::string_view text,
                                         const std::vector<SpeltWord>& words);

}  // namespace headlight
