#include "heads/arc_labels.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/utf8.h"
#include "math/attention.h"
#include "text/characters.h"
#include "text/tokenizer.h"

namespace headlight {
namespace {

constexpr Index kDistances = 5;                // 1, 2, 3–4, 5–7, more; of each side
constexpr Index kOfHead = 6, kOfSentence = 7;  // further features

/// What a sentence has beside its patterns.
struct SentenceRows {
  std::vector<Vector> low, high;  // of each word: the input of the last layer and its output, the mean over its pieces
  std::vector<std::size_t> breaks, ends;  // commas and the like, and ends of sentences, before each word
};

Vector mean_of(const Matrix& rows, const SpeltWord& word) {
  return rows.middleRows(word.first, word.count).colwise().mean();
}

/// The input of the last layer.
const Matrix& low_rows(const Trace& trace) {
  return trace.blocks.size() > 1 ? trace.blocks[trace.blocks.size() - 2].output : trace.embedding;
}

SentenceRows rows_of(const Trace& trace, const std::vector<SpeltWord>& words) {
  constexpr std::string_view kBreaks[] = {",", "，", "、", ";", "；", ":", "：", "(", "（", "“"};
  constexpr std::string_view kEnds[] = {".", "。", "!", "！", "?", "？"};
  const std::string_view text = trace.query_tokens().text;
  SentenceRows rows;
  std::size_t breaks = 0, ends = 0;
  for (const SpeltWord& word : words) {
    rows.low.push_back(mean_of(low_rows(trace), word));
    rows.high.push_back(mean_of(trace.last_hidden_state(), word));
    rows.breaks.push_back(breaks);
    rows.ends.push_back(ends);
    const std::string_view own = text.substr(word.begin, word.end - word.begin);
    breaks += std::find(std::begin(kBreaks), std::end(kBreaks), own) != std::end(kBreaks);
    ends += std::find(std::begin(kEnds), std::end(kEnds), own) != std::end(kEnds);
  }
  return rows;
}

/// The words' weights on each other, and on the first token.
struct WordWeights {
  Matrix words;
  Vector first;
};

WordWeights word_weights(const Trace& trace, const HeadRef& head, const std::vector<SpeltWord>& words) {
  const Matrix weights = attention_rows(trace, head, 0, trace.queries());
  const auto count = static_cast<Index>(words.size());
  WordWeights result{Matrix(count, count), Vector(count)};
  for (Index from = 0; from < count; ++from) {
    const SpeltWord& query = words[static_cast<std::size_t>(from)];
    const Vector row = mean_of(weights, query);
    result.first(from) = row(0);
    for (Index to = 0; to < count; ++to) {
      const SpeltWord& key = words[static_cast<std::size_t>(to)];
      result.words(from, to) = row.segment(key.first, key.count).sum();
    }
  }
  return result;
}

Index distance_bucket(Index from, Index to) {
  const Index apart = std::abs(to - from);
  const Index bucket = apart <= 1 ? 0 : apart <= 2 ? 1 : apart <= 4 ? 2 : apart <= 7 ? 3 : 4;
  return to > from ? bucket : kDistances + bucket;
}

Vector features_of(const SentenceRows& rows, const std::vector<WordWeights>& weights,
                   const std::vector<SpeltWord>& words, Index from, Index to) {
  const auto query = static_cast<std::size_t>(from), key = static_cast<std::size_t>(to);
  const Index width = rows.low.front().size(), heads = static_cast<Index>(weights.size());
  Vector features = Vector::Zero(arc_features(width, weights.size()));
  features(0) = 1;
  features.segment(1, width) = rows.low[query];
  features.segment(1 + width, width) = rows.low[key];
  features.segment(1 + 2 * width, width) = rows.high[query];
  features.segment(1 + 3 * width, width) = rows.high[key];
  Index next = 1 + 4 * width;
  for (Index head = 0; head < heads; ++head) {
    const WordWeights& own = weights[static_cast<std::size_t>(head)];
    Vector others = own.words.row(from);
    others(to) = 0;
    Index at = next + head;
    for (const float one : {own.words(from, to), own.first(from), own.first(to), own.words(to, from), others.maxCoeff(),
                            own.words.col(to).sum() - own.words(from, to)})
      features(at) = one, at += heads;
  }
  next += kOfHead * heads;
  features(next + distance_bucket(from, to)) = 1;
  next += 2 * kDistances;
  const std::size_t left = std::min(query, key), right = std::max(query, key);
  const std::size_t breaks = rows.breaks[right] - rows.breaks[left + 1];
  features(next) = breaks > 0;
  features(next + 1) = static_cast<float>(std::min<std::size_t>(breaks, 3));
  features(next + 2) = rows.ends[right] > rows.ends[left + 1];
  features(next + 3) = words[query].count > 1;
  features(next + 4) = words[key].count > 1;
  features(next + 5) = std::log(static_cast<float>(words.size()));
  features(next + 6) = std::log(static_cast<float>(1 + right - left));
  return features;
}

/// Of a copula's form in -ing: the most that "auxiliary" may have of the probability of "copula" (is interesting .008,
/// is raining .05, is singing .14).
constexpr float kMostAuxiliary = 0.013f;

/// The labels of an English text, sure ones and others.
struct LabelsOfText {
  const ArcLabels& labels;
  const std::vector<PointedPair>& pairs;
  std::vector<LabelledPair> all;
  std::string_view text;
  const std::vector<SpeltWord>& words;

  bool is(const LabelledPair& label, std::string_view relation) const {
    return labels.relations[label.relation] == relation;
  }

  /// The label of the arc from this word; null: none.
  const LabelledPair* from(Index word) const {
    for (const LabelledPair& one : all)
      if (pairs[one.pair].from == word) return &one;
    return nullptr;
  }

  /// Whether a word between an adjective or the like and its noun cannot belong to that noun.
  bool spans_strangers(const LabelledPair& label) const {
    const bool adjective = is(label, "amod");
    if (!adjective && !is(label, "det") && !is(label, "nummod") && !is(label, "nmod:poss")) return false;
    const auto [first, last] = std::minmax(pairs[label.pair].from, pairs[label.pair].to);
    for (Index between = first + 1; between < last; ++between) {
      const LabelledPair* own = from(between);
      if (own ? is(*own, "nsubj") : adjective) return true;
      const Index to = own ? pairs[own->pair].to : first + 1;
      if (adjective && (to <= first || to > last)) return true;
    }
    return false;
  }

  /// Whether a label "copula" is of an auxiliary: before a form in -ing, or across one that stands beside it.
  bool is_progressive(const LabelledPair& label) const {
    const PointedPair& arc = pairs[label.pair];
    if (!is(label, "cop") || arc.to < arc.from) return false;
    for (Index at = arc.from + 1; at <= arc.to; ++at) {
      const SpeltWord& word = words[static_cast<std::size_t>(at)];
      if (text.substr(word.begin, word.end - word.begin).ends_with("ing"))
        return at < arc.to || auxiliary_too(label) > kMostAuxiliary;
      const LabelledPair* own = from(at);
      if (!own || (!is(*own, "advmod") && !is(*own, "nsubj"))) break;
    }
    return false;
  }

  /// The probability of "auxiliary" beside that of the label.
  float auxiliary_too(const LabelledPair& label) const {
    const auto aux = std::find(labels.relations.begin(), labels.relations.end(), "aux");
    if (aux == labels.relations.end()) return 0;
    const Vector scores = pairs[label.pair].features * labels.languages.front().weights.transpose();
    return std::exp(scores(aux - labels.relations.begin() + 1) - scores(static_cast<Index>(label.relation) + 1));
  }
};

/// Those with at least the probability that the language wants, calibrated.
std::vector<LabelledPair> sure_pairs(const ArcLabels::OfLanguage& own, std::vector<LabelledPair> all) {
  std::vector<LabelledPair> sure;
  for (LabelledPair& one : all) {
    const auto relation = static_cast<Index>(one.relation);
    one.probability = sigmoid(static_cast<double>(own.calibration(relation, 0)) * logit(one.probability) +
                              static_cast<double>(own.calibration(relation, 1)));
    if (one.probability >= static_cast<double>(std::max(own.least, own.calibration(relation, 2)))) sure.push_back(one);
  }
  return sure;
}

}  // namespace

std::vector<SpeltWord> spelt_words(const Tokens& tokens) {
  const std::vector<bool> later = later_parts(tokens);
  std::vector<SpeltWord> words;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens.tokens[i];
    if (token.special || token.pad) continue;
    std::size_t begin = token.begin;
    while (begin < token.end && tokens.text[begin] == ' ') ++begin;
    if (!later[i]) words.push_back({static_cast<Index>(i), 0, begin, token.end});
    ++words.back().count;
    words.back().end = token.end;
  }
  return words;
}

bool is_in_chinese(const Tokens& tokens) {
  Index chinese = 0, letters = 0;
  for (const SpeltWord& word : spelt_words(tokens)) {
    const auto first = code_points(std::string_view(tokens.text).substr(word.begin, word.end - word.begin));
    if (first.empty() || !is_word_character(first[0]) || is_numeric(first[0])) continue;
    ++(is_chinese_character(first[0]) ? chinese : letters);
  }
  return chinese > letters;
}

const ArcPrecision* ArcLabels::precision(const HeadRef& head, const std::string& relation, ArcLanguage language) const {
  const auto found = std::find_if(precisions.begin(), precisions.end(), [&](const ArcPrecision& one) {
    return one.head == head && one.relation == relation && one.language == language && one.least() >= kLeastPrecision;
  });
  return found == precisions.end() ? nullptr : &*found;
}

double ArcPrecision::least() const {
  constexpr double kQuantile = 1.96, kSquare = kQuantile * kQuantile;
  const auto n = static_cast<double>(named);
  if (n == 0) return 0;
  const double p = share();
  return (p + kSquare / (2 * n) - kQuantile * std::sqrt((p * (1 - p) + kSquare / (4 * n)) / n)) / (1 + kSquare / n);
}

double logit(double probability) {
  const double inside = std::clamp(probability, 1e-4, 1 - 1e-4);
  return std::log(inside / (1 - inside));
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Index arc_features(Index d_model, std::size_t heads) {
  return 1 + 4 * d_model + kOfHead * static_cast<Index>(heads) + 2 * kDistances + kOfSentence;
}

Index order_features(Index d_model) { return 2 + 3 * d_model; }

bool fit(const ArcLabels& labels, const Config& config) {
  const auto features = arc_features(config.d_model, labels.heads.size());
  return std::all_of(labels.heads.begin(), labels.heads.end(),
                     [&](const HeadRef& head) {
                       return head.stack == Stack::self && head.layer < config.num_layers &&
                              head.head < config.num_heads;
                     }) &&
         std::all_of(labels.languages.begin(), labels.languages.end(), [&](const ArcLabels::OfLanguage& one) {
           return (one.weights.size() == 0 || one.weights.cols() == features) &&
                  (one.order.size() == 0 || one.order.cols() == order_features(config.d_model));
         });
}

Vector order_features(const Trace& trace, const std::vector<SpeltWord>& words) {
  const Index width = trace.embedding.cols();
  const auto count = static_cast<float>(words.size());
  Vector features = Vector::Zero(order_features(width));
  features(0) = 1;
  features(1) = std::log(std::max(1.0f, count));
  Index first = 2;
  for (const Matrix& rows : {trace.embedding, low_rows(trace), Matrix(trace.last_hidden_state())}) {
    for (const SpeltWord& word : words) features.segment(first, width) += mean_of(rows, word) / count;
    first += width;
  }
  return features;
}

bool are_in_order(const ArcLabels& labels, ArcLanguage language, const Trace& trace,
                  const std::vector<SpeltWord>& words) {
  const Matrix& order = labels.languages[static_cast<std::size_t>(language)].order;
  return order.size() == 0 || words.size() < kFewestInOrder || order.row(0).dot(order_features(trace, words)) >= 0;
}

std::vector<PointedPair> pointed_pairs(const Trace& trace, const std::vector<HeadRef>& heads,
                                       const std::vector<SpeltWord>& words) {
  if (words.size() < 2 || heads.empty()) return {};
  std::vector<WordWeights> weights;
  std::map<std::pair<Index, Index>, std::vector<char>> pointed;
  for (std::size_t head = 0; head < heads.size(); ++head) {
    WordWeights& own = weights.emplace_back(word_weights(trace, heads[head], words));
    for (Index from = 0; from < own.words.rows(); ++from) {
      Index to = 0;
      Vector others = own.words.row(from);
      others(from) = -1;
      if (others.maxCoeff(&to) < kLeastPointing) continue;
      auto& by = pointed[{from, to}];
      by.resize(heads.size());
      by[head] = 1;
    }
  }
  std::vector<PointedPair> pairs;
  const SentenceRows rows = rows_of(trace, words);
  for (auto& [pair, by] : pointed)
    pairs.push_back(
        {pair.first, pair.second, std::move(by), features_of(rows, weights, words, pair.first, pair.second)});
  return pairs;
}

std::vector<LabelledPair> labelled_pairs(const ArcLabels& labels, ArcLanguage language,
                                         const std::vector<PointedPair>& pairs, bool any) {
  const ArcLabels::OfLanguage& own = labels.languages[static_cast<std::size_t>(language)];
  std::vector<LabelledPair> labelled;
  if (own.weights.size() == 0) return labelled;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Vector scores = pairs[i].features * own.weights.transpose();
    Index best = 0;
    const float most = scores.maxCoeff(&best);
    if (best == 0) continue;
    const double probability = 1 / static_cast<double>((scores.array() - most).exp().sum());
    labelled.push_back({i, static_cast<std::size_t>(best - 1), probability});
  }
  std::stable_sort(labelled.begin(), labelled.end(),
                   [](const auto& a, const auto& b) { return a.probability > b.probability; });
  std::vector<LabelledPair> kept;
  for (const LabelledPair& one : labelled) {
    const PointedPair& pair = pairs[one.pair];
    const bool taken = std::any_of(kept.begin(), kept.end(), [&](const LabelledPair& earlier) {
      const PointedPair& other = pairs[earlier.pair];
      return other.from == pair.from || (other.from == pair.to && other.to == pair.from);
    });
    if (!taken) kept.push_back(one);
  }
  return any ? std::move(kept) : sure_pairs(own, std::move(kept));
}

std::vector<LabelledPair> agreeing_pairs(const ArcLabels& labels, ArcLanguage language,
                                         const std::vector<PointedPair>& pairs, std::string_view text,
                                         const std::vector<SpeltWord>& words) {
  const LabelsOfText of{labels, pairs, labelled_pairs(labels, language, pairs, true), text, words};
  std::vector<LabelledPair> kept;
  const ArcLabels::OfLanguage& own = labels.languages[static_cast<std::size_t>(language)];
  for (const LabelledPair& one : sure_pairs(own, of.all)) {  // the most probable first
    const PointedPair& arc = pairs[one.pair];
    const auto crosses = [&](const LabelledPair& other) {
      const auto [a, b] = std::minmax(arc.from, arc.to);
      const auto [c, d] = std::minmax(pairs[other.pair].from, pairs[other.pair].to);
      return (a < c && c < b && b < d) || (c < a && a < d && d < b);
    };
    const bool strange = language == ArcLanguage::english && (of.spans_strangers(one) || of.is_progressive(one));
    if (!strange && std::none_of(kept.begin(), kept.end(), crosses)) kept.push_back(one);
  }
  return kept;
}

}  // namespace headlight
