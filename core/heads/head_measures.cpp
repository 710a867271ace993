#include "heads/head_measures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/names.h"
#include "base/parallel.h"
#include "math/attention.h"
#include "text/tokenizer.h"

namespace headlight {
namespace {

constexpr Index kNone = -1;

void add(MeasureSums::OfRows& sums, Measure measure, double value) {
  MeasureSums::Mean& mean = sums.means[static_cast<std::size_t>(measure)];
  mean.sum += value;
  ++mean.count;
}

/// Data of one attention that the measures of all its heads share, of tokens or of words.
struct Sides {
  bool one_sequence = false;           // queries and keys are the same tokens
  std::vector<bool> counts = {};       // (T) queries whose rows count
  std::vector<bool> beside = {};       // (T) of one sequence: keys that count as previous or next
  std::vector<Index> special = {};     // indices of the special keys that are not padding
  std::optional<Index> first = {};     // first key that is not padding
  std::vector<Index> earlier = {};     // (T) of one sequence: where the same token stood last, or kNone
  const PatchGrid* patches = nullptr;  // of a picture: the tokens stand in it
};

/// The words of a text, and every token of no word, as tokens.
struct WordTokens {
  Tokens words = {};
  std::vector<Index> word_of = {};  // of every token
};

WordTokens word_tokens(const Tokens& tokens) {
  WordTokens result;
  result.words.picture = tokens.picture;
  const std::vector<bool> later = later_parts(tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens.tokens[i];
    if (later[i]) result.words.tokens.back().text += token.text;
    else result.words.tokens.push_back(token);
    result.word_of.push_back(std::ssize(result.words.tokens) - 1);
  }
  return result;
}

/// What each key gets from the rows of a sentence that count, and what it would get if each spread its weight evenly
/// over the keys that it may attend to.
struct Columns {
  explicit Columns(const Tokens& keys) : weight(keys.size()), even(keys.size()) {}

  std::vector<double> weight, even;
  Index rows = 0;
};

/// One attention, of tokens and of words.
struct Attended {
  WordTokens queries, keys;
  Sides tokens, words;
};

std::vector<Index> earlier_positions(const Tokens& tokens) {
  std::vector<Index> earlier;
  std::map<std::pair<std::int64_t, std::string_view>, Index> last;
  for (const Token& token : tokens.tokens) {
    const auto position = static_cast<Index>(earlier.size());
    earlier.push_back(kNone);
    if (token.pad) continue;
    const auto [at, fresh] = last.try_emplace({token.id, token.text}, position);
    if (!fresh) earlier.back() = std::exchange(at->second, position);
  }
  return earlier;
}

/// `compared`: queries and keys are one sequence.
Sides sides_of(const Tokens& queries, const Tokens& keys, bool compared, bool of_words) {
  Sides sides{.one_sequence = compared};
  for (const Token& token : queries.tokens) sides.counts.push_back(!token.pad && !(of_words && token.special));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Token& token = keys.tokens[i];
    if (token.pad) continue;
    if (!sides.first) sides.first = static_cast<Index>(i);
    if (token.special) sides.special.push_back(static_cast<Index>(i));
  }
  if (!sides.one_sequence) return sides;
  if (keys.picture) {
    sides.patches = &keys.picture->grid;
    sides.beside.assign(queries.size(), false);
    sides.earlier.assign(queries.size(), kNone);
    return sides;
  }
  sides.beside = of_words ? sides.counts : std::vector<bool>(queries.size(), true);
  sides.earlier = earlier_positions(queries);
  return sides;
}

Attended attended(const Trace& trace, Stack stack) {
  const Tokens &queries = trace.query_tokens(stack), &keys = trace.key_tokens(stack);
  const bool compared = is_one_sequence(trace, stack);
  Attended one{word_tokens(queries), word_tokens(keys), sides_of(queries, keys, compared, false), {}};
  one.words = sides_of(one.queries.words, one.keys.words, compared, true);
  return one;
}

/// How many keys each query may attend to, and in how many words they are.
struct AllowedCells {
  std::vector<Index> keys = {}, words = {};
};

AllowedCells allowed_keys(const Mask& mask, const std::vector<Index>& word_of) {
  AllowedCells allowed;
  Matrix added;
  for (Index first = 0; first < mask.queries(); first += kRowBlock) {
    added.setZero(std::min(kRowBlock, mask.queries() - first), mask.keys());
    mask.add_to(added, first);
    for (Index r = 0; r < added.rows(); ++r) {
      Index keys = 0, words = 0, last = kNone;
      for (Index key = 0; key < added.cols(); ++key) {
        if (added(r, key) == -std::numeric_limits<float>::infinity()) continue;
        ++keys;
        words += std::exchange(last, word_of[static_cast<std::size_t>(key)]) != word_of[static_cast<std::size_t>(key)];
      }
      allowed.keys.push_back(keys);
      allowed.words.push_back(words);
    }
  }
  return allowed;
}

/// In tokens; of a picture in patches, along a straight line, and nothing for tokens before them.
std::optional<double> distance_between(const PatchGrid* grid, Index query, Index key) {
  if (!grid) return static_cast<double>(std::abs(query - key));
  const Index a = query - grid->first(), b = key - grid->first();
  if (a < 0 || b < 0) return std::nullopt;
  return std::hypot(static_cast<double>(a / grid->cols - b / grid->cols),
                    static_cast<double>(a % grid->cols - b % grid->cols));
}

void add_positions(const Sides& sides, Index query, const Vector& row, double total, MeasureSums::OfRows& sums) {
  double way = 0, counted = 0;
  for (Index key = 0; key < row.size(); ++key) {
    const auto distance = distance_between(sides.patches, query, key);
    if (!distance) continue;
    way += static_cast<double>(row(key)) * *distance;
    counted += static_cast<double>(row(key));
  }
  if (counted > 0) add(sums, Measure::distance, way / (sides.patches ? counted : total));
  const auto counts = [&](Index position) { return sides.beside[static_cast<std::size_t>(position)]; };
  if (query > 0 && counts(query - 1)) add(sums, Measure::previous, static_cast<double>(row(query - 1)));
  if (query + 1 < row.size() && counts(query + 1)) add(sums, Measure::next, static_cast<double>(row(query + 1)));
  add(sums, Measure::same, static_cast<double>(row(query)));
  const auto before = [&](Index position) { return sides.earlier[static_cast<std::size_t>(position)]; };
  if (before(query) == kNone) return;
  double duplicate = 0, induction = 0;
  for (Index position = before(query); position != kNone; position = before(position)) {
    duplicate += static_cast<double>(row(position));
    induction += static_cast<double>(row(position + 1));
  }
  add(sums, Measure::duplicate, duplicate);
  add(sums, Measure::induction, induction);
}

void add_row(const Sides& sides, Index query, Index allowed, const Vector& row, Columns& columns,
             MeasureSums::OfRows& sums) {
  double total = 0, products = 0;
  Index with_weight = 0;
  for (Index key = 0; key < row.size(); ++key) {
    const auto weight = static_cast<double>(row(key));
    if (weight <= 0) continue;
    total += weight;
    products += weight * std::log(weight);
    ++with_weight;
  }
  if (total <= 0) return;
  // −Σ p ln p with p = A / total; what is below 0 is rounding.
  const double entropy = std::max(0.0, std::log(total) - products / total);
  add(sums, Measure::entropy, entropy);
  // A weight set by hand may lie on a blocked key.
  const auto keys = static_cast<double>(std::max(allowed, with_weight));
  if (keys > 1) add(sums, Measure::normalized, entropy / std::log(keys));
  ++columns.rows;
  for (Index key = 0; key < row.size(); ++key) {
    if (row(key) <= 0) continue;
    columns.weight[static_cast<std::size_t>(key)] += static_cast<double>(row(key));
    columns.even[static_cast<std::size_t>(key)] += 1 / keys;
  }
  const float largest = row.maxCoeff();
  add(sums, Measure::confidence, static_cast<double>(largest));
  sums.largest = std::max(largest, sums.largest.value_or(largest));
  if (sides.first) add(sums, Measure::first, static_cast<double>(row(*sides.first)));
  if (!sides.special.empty()) {
    double special = 0;
    for (const Index key : sides.special) special += static_cast<double>(row(key));
    add(sums, Measure::special, special);
  }
  if (sides.one_sequence) add_positions(sides, query, row, total, sums);
}

/// The most looked-at key of a sentence; of equal ones the first.
void add_sink(const Columns& columns, const Tokens& keys, MeasureSums::OfRows& sums) {
  if (columns.rows == 0) return;
  const auto most = static_cast<std::size_t>(std::ranges::max_element(columns.weight) - columns.weight.begin());
  MeasureSums::Mean& mean = sums.means[static_cast<std::size_t>(Measure::sink)];
  const bool only = mean.count == 0;
  mean.sum += columns.weight[most];
  sums.even.sum += columns.even[most];
  for (MeasureSums::Mean* each : {&mean, &sums.even}) each->count += columns.rows;
  sums.sink = {.key = only ? std::optional(static_cast<Index>(most)) : std::nullopt,
               .text = only ? keys.tokens[most].text : std::string()};
}

/// How long the value of the sink is, and those of the other keys are.
void add_value_norms(const Trace& trace, const HeadRef& head, const Columns& columns, MeasureSums::OfRows& sums) {
  const AttentionTrace& attention = trace.attention(head.stack, head.layer);
  if (columns.rows == 0 || attention.patterns) return;
  const auto sink = std::ranges::max_element(columns.weight) - columns.weight.begin();
  const auto& tokens = trace.key_tokens(head.stack).tokens;
  const auto values = head_columns(attention.value, attention.kv_head(head.head), attention.num_kv_heads);
  MeasureSums::Mean others;
  for (Index key = 0; key < values.rows(); ++key) {
    if (tokens[static_cast<std::size_t>(key)].pad && key != sink) continue;
    MeasureSums::Mean& mean = key == sink ? sums.values : others;
    mean.sum += static_cast<double>(values.row(key).norm());
    ++mean.count;
  }
  if (others.count == 0) return;
  sums.other_values.sum += others.sum / static_cast<double>(others.count);
  ++sums.other_values.count;
}

/// False when stopped.
bool add_head(const Trace& trace, const HeadRef& head, const Attended& sides, const AllowedCells& allowed,
              const std::atomic<bool>& stop, MeasureSums::OfHead& sums) {
  const Index queries = trace.queries(head.stack);
  Vector row, of_word = Vector::Zero(std::ssize(sides.keys.words.tokens));
  const auto word_of = [&](Index query) { return sides.queries.word_of[static_cast<std::size_t>(query)]; };
  Columns columns(trace.key_tokens(head.stack)), word_columns(sides.keys.words);
  Index pieces = 0;
  for (Index first = 0; first < queries; first += kRowBlock) {
    if (stop) return false;
    const Matrix block = attention_rows(trace, head, first, std::min(kRowBlock, queries - first));
    for (Index r = 0; r < block.rows(); ++r) {
      const Index query = first + r, word = word_of(query);
      const auto at = static_cast<std::size_t>(query);
      row = block.row(r);
      if (sides.tokens.counts[at]) add_row(sides.tokens, query, allowed.keys[at], row, columns, sums.tokens);
      for (Index key = 0; key < row.size(); ++key)
        of_word(sides.keys.word_of[static_cast<std::size_t>(key)]) += row(key);
      ++pieces;
      if (query + 1 < queries && word_of(query + 1) == word) continue;
      of_word /= static_cast<float>(std::exchange(pieces, 0));
      if (sides.words.counts[static_cast<std::size_t>(word)])
        add_row(sides.words, word, allowed.words[at], of_word, word_columns, sums.words);
      of_word.setZero();
    }
  }
  add_sink(columns, trace.key_tokens(head.stack), sums.tokens);
  add_sink(word_columns, sides.keys.words, sums.words);
  add_value_norms(trace, head, columns, sums.tokens);
  return true;
}

std::optional<float> mean_of(const MeasureSums::Mean& mean) {
  return mean.count > 0 ? std::optional(static_cast<float>(mean.sum / static_cast<double>(mean.count))) : std::nullopt;
}

/// `least`: the share of the rows that must have a measure.
HeadMeasures::Values values_of(const MeasureSums::OfRows& sums, double least) {
  HeadMeasures::Values values;
  const auto rows = static_cast<double>(sums.means[static_cast<std::size_t>(Measure::confidence)].count);
  for (std::size_t i = 0; i < kMeasures.size(); ++i)
    if (static_cast<double>(sums.means[i].count) >= least * rows) values[i] = mean_of(sums.means[i]);
  values[static_cast<std::size_t>(Measure::largest)] = sums.largest;
  return values;
}

SinkColumn sink_of(const MeasureSums::OfRows& sums) {
  SinkColumn sink = sums.sink;
  sink.even = mean_of(sums.even).value_or(0);
  sink.value = mean_of(sums.values);
  sink.other_values = mean_of(sums.other_values);
  return sink;
}

constexpr std::string_view kMeasureNames[] = {"entropy",   "normalized", "distance", "confidence", "previous",
                                              "next",      "same",       "first",    "special",    "duplicate",
                                              "induction", "largest",    "sink"};

}  // namespace

std::string_view name(Measure measure) { return name_in(kMeasureNames, measure); }

bool rests_on_one(const HeadMeasures& measures) {
  constexpr float kLeast = 0.4f, kTimesEven = 2;
  const float even = measures.sink_of_words.even;
  const auto share = measures.of_word(Measure::sink);
  return share && *share > kTimesEven * even && *share - even > kLeast * (1 - even);
}

bool is_one_sequence(const Trace& trace, Stack stack) {
  const auto &queries = trace.query_tokens(stack).tokens, &keys = trace.key_tokens(stack).tokens;
  return stack != Stack::cross && std::equal(queries.begin(), queries.end(), keys.begin(), keys.end(),
                                             [](const Token& a, const Token& b) { return a.raw == b.raw; });
}

std::vector<HeadRef> heads_of(const Trace& trace, std::optional<Stack> stack) {
  std::vector<HeadRef> heads;
  for (const Stack each : kStacks) {
    if (!trace.has(each) || (stack && each != *stack)) continue;
    for (Index layer = 0; layer < trace.num_layers(each); ++layer)
      for (Index head = 0; head < trace.attention(each, layer).num_heads(); ++head)
        heads.push_back({layer, head, each});
  }
  return heads;
}

bool add_sentence(MeasureSums& sums, const Trace& trace, Progress& progress, int threads) {
  if (sums.heads.empty()) {
    sums.heads = heads_of(trace);
    sums.of_heads.resize(sums.heads.size());
  }
  progress.done = progress.begin;
  if (trace.is_signed) return !progress.stop;
  std::map<Stack, Attended> sides;
  std::map<const Mask*, AllowedCells> allowed;
  for (const HeadRef& head : sums.heads) {
    if (!sides.contains(head.stack)) sides.emplace(head.stack, attended(trace, head.stack));
    const Mask& mask = trace.mask_of(head);
    if (!allowed.contains(&mask)) allowed.emplace(&mask, allowed_keys(mask, sides.at(head.stack).keys.word_of));
  }
  parallel_for(static_cast<Index>(sums.heads.size()), threads, [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    const HeadRef& head = sums.heads[at];
    if (add_head(trace, head, sides.at(head.stack), allowed.at(&trace.mask_of(head)), progress.stop, sums.of_heads[at]))
      progress.advance(progress.share / static_cast<float>(sums.heads.size()));
  });
  return !progress.stop;
}

std::vector<HeadMeasures> measures_of(const MeasureSums& sums) {
  std::vector<HeadMeasures> all;
  for (std::size_t head = 0; head < sums.heads.size(); ++head) {
    const auto& [tokens, words] = sums.of_heads[head];
    all.push_back({sums.heads[head], values_of(tokens, 0), values_of(words, 0.5), sink_of(tokens), sink_of(words)});
  }
  return all;
}

std::optional<std::vector<HeadMeasures>> measure_heads(const Trace& trace, Progress& progress, int threads) {
  MeasureSums sums;
  if (!add_sentence(sums, trace, progress, threads)) return std::nullopt;
  return measures_of(sums);
}

std::vector<std::size_t> ranking(const std::vector<std::optional<float>>& values, bool ascending) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (!values[a] || !values[b]) return values[a].has_value() && !values[b];
    return ascending ? *values[a] < *values[b] : *values[a] > *values[b];
  });
  return order;
}

}  // namespace headlight
