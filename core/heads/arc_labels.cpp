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
    return one.head == head && one.relation == relation && one.language == language && one.share() >= kLeastPrecision;
  });
  return found == precisions.end() ? nullptr : &*found;
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
  if (any) return kept;
  std::vector<LabelledPair> sure;
  for (LabelledPair& one : kept) {
    const auto relation = static_cast<Index>(one.relation);
    const double score = static_cast<double>(own.calibration(relation, 0)) * logit(one.probability) +
                         static_cast<double>(own.calibration(relation, 1));
    one.probability = sigmoid(score);
    if (one.probability >= static_cast<double>(std::max(own.least, own.calibration(relation, 2)))) sure.push_back(one);
  }
  return sure;
}

}  // namespace headlight
