#include "diagnose/capture_given.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "base/formatted.h"
#include "diagnose/products.h"

namespace headlight {
namespace {

using namespace mistakes;

bool near(double a, double b, double part = 2e-3) {
  return std::abs(a - b) <= part * std::max(std::abs(a), std::abs(b));
}

/// Columns of `groups` heads as those of `heads`, each repeated in a row.
void repeat_groups(Array& array, Index groups, Index heads, bool in_turn) {
  const Index rows = array.shape[0] * array.shape[1], cols = array.shape[2];
  if (groups <= 0 || groups >= heads || heads % groups != 0 || cols % groups != 0) return;
  const Index width = cols / groups;
  Matrix wide(rows, heads * width);
  const Eigen::Map<const Matrix> narrow(array.values.data(), rows, cols);
  for (Index head = 0; head < heads; ++head) {
    const auto group = static_cast<Index>(group_of(static_cast<std::size_t>(head), static_cast<std::size_t>(heads),
                                                   static_cast<std::size_t>(groups), in_turn));
    wide.middleCols(head * width, width) = narrow.middleCols(group * width, width);
  }
  array.shape[2] = wide.cols();
  array.values.assign(wide.data(), wide.data() + wide.size());
}

/// Whether every row of every head has length 1.
bool are_unit(const Array& array, Index heads) {
  if (heads <= 0 || array.shape[2] % heads != 0) return false;
  const Index width = array.shape[2] / heads, rows = static_cast<Index>(array.values.size()) / width;
  const Eigen::Map<const Matrix> all(array.values.data(), rows, width);
  return ((all.rowwise().norm().array() - 1).abs() < 1e-2f).all();
}

bool has(const std::vector<FactRow>& given, const char* part) {
  return std::any_of(given.begin(), given.end(), [&](const FactRow& one) { return one[0] == part; });
}

/// cap·tanh(s/cap) − s of each head, which makes scores s capped ones where it is added.
void put_softcap(CapturedCall& call) {
  const Array &query = call.arrays["query"], &key = call.arrays["key"];
  const Index count = query.shape[0], rows = query.shape[1], cols = key.shape[1], width = query.shape[2] / call.heads;
  Array bias{.shape = {count, call.heads, rows, cols}, .values = {}};
  const Array* more = call.array("bias");
  for (Index b = 0; b < count; ++b) {
    const Grid q = rows_of(query, b), k = rows_of(key, b);
    for (Index h = 0; h < call.heads; ++h) {
      const double cap = static_cast<double>(call.softcap), root = std::sqrt(static_cast<double>(width));
      const Grid scores = q.middleCols(h * width, width) * k.middleCols(h * width, width).transpose() / root;
      Grid added = (cap * (scores.array() / cap).tanh() - scores.array()).matrix();
      if (more) added += cells_of(*more, b, h);
      const Matrix values = added.cast<float>();
      bias.values.insert(bias.values.end(), values.data(), values.data() + values.size());
    }
  }
  call.arrays["bias"] = std::move(bias);
}

/// Rows of weights without what sinks took of them, and the same of what comes out.
void leave_out_sinks(CapturedCall& call) {
  const auto found = call.arrays.find("attentions");
  if (found == call.arrays.end()) return;
  Array& weights = found->second;
  const Index cols = weights.shape[3], rows = static_cast<Index>(weights.values.size()) / cols;
  Eigen::Map<Matrix> all(weights.values.data(), rows, cols);
  const Eigen::VectorXf sums = all.rowwise().sum();
  for (Index row = 0; row < rows; ++row)
    if (sums(row) > 0) all.row(row) /= sums(row);
  const Array* output = call.array("output");
  if (call.array("merge") || !output || output->shape[2] % call.heads != 0 || output->shape[1] != weights.shape[2]) {
    for (const char* name : {"merge", "output"}) call.arrays.erase(name);
    return;
  }
  Array& out = call.arrays["output"];
  const Index queries = weights.shape[2], width = out.shape[2] / call.heads;
  for (Index row = 0; row < rows; ++row) {
    const Index sentence = row / (call.heads * queries), head = row / queries % call.heads, query = row % queries;
    float* first = out.values.data() + ((sentence * queries + query) * call.heads + head) * width;
    if (sums(row) > 0) std::for_each(first, first + width, [&](float& value) { value /= sums(row); });
  }
}

/// How positions turn pairs of columns: c with c + r/2, or neighbours.
enum class Pairs { half, neighbours };

struct Turned {
  Pairs pairs = Pairs::half;
  Index columns = 0;    // of a head that are turned: r
  double base = 0;      // 0: not known
  double first = 0;     // the position of row 0
  bool steady = false;  // each row is one position further
};

/// The angle by which each pair of columns (rows, pairs) of one head was turned; nothing where they were not.
std::optional<Grid> angles_between(const Grid& before, const Grid& after, Index columns, Pairs pairs) {
  const Index count = columns / 2;
  Grid angles(before.rows(), count);
  for (Index i = 0; i < before.rows(); ++i)
    for (Index p = 0; p < count; ++p) {
      const Index x = pairs == Pairs::half ? p : 2 * p, y = pairs == Pairs::half ? p + count : 2 * p + 1;
      const double length = before(i, x) * before(i, x) + before(i, y) * before(i, y);
      if (!near(length, after(i, x) * after(i, x) + after(i, y) * after(i, y), 2e-2) && length > 1e-6) return {};
      angles(i, p) = std::atan2(before(i, x) * after(i, y) - before(i, y) * after(i, x),
                                before(i, x) * after(i, x) + before(i, y) * after(i, y));
    }
  return angles;
}

/// Whether columns were paired in one way and turned by the angles of the other one: which way they were paired.
std::optional<Pairs> mixed_pairs(const Grid& before, const Grid& after, std::initializer_list<double> bases) {
  const Index columns = before.cols(), count = columns / 2;
  for (const Pairs pairs : {Pairs::half, Pairs::neighbours})
    for (const double base : bases) {
      if (base <= 1 || columns % 2 != 0) continue;
      double apart = 0;
      for (Index i = 0; i < before.rows(); ++i)
        for (Index c = 0; c < columns; ++c) {
          const bool first = pairs == Pairs::half ? c < count : c % 2 == 0;
          const Index step = pairs == Pairs::half ? count : 1, pair = pairs == Pairs::half ? c / 2 : c % count;
          const double angle =
              static_cast<double>(i) * std::pow(base, -static_cast<double>(pair) / static_cast<double>(count));
          const double other = first ? -before(i, c + step) : before(i, c - step);
          apart = std::max(apart, std::abs(before(i, c) * std::cos(angle) + other * std::sin(angle) - after(i, c)));
        }
      if (apart <= 1e-2 * std::max(1.0, before.cwiseAbs().maxCoeff())) return pairs;
    }
  return std::nullopt;
}

double wrapped(double angle) { return std::remainder(angle, 2 * std::numbers::pi); }

/// The positions that turned the first head of a side; nothing where no rotation of pairs explains it.
std::optional<Turned> turned_by(const Grid& before, const Grid& after, double known_base) {
  Index columns = 0;
  for (Index c = 0; c < before.cols(); ++c)
    if (!(before.col(c) - after.col(c)).isZero(1e-6)) columns = c + 1;
  columns += columns % 2;
  for (const Pairs pairs : {Pairs::half, Pairs::neighbours}) {
    const auto angles = angles_between(before, after, columns, pairs);
    if (!angles || columns < 2 || columns > before.cols()) continue;
    Turned turned{.pairs = pairs, .columns = columns, .base = known_base};
    const Index count = columns / 2, middle = std::max<Index>(1, count / 2);
    const auto step = [&](Index row, Index pair) { return wrapped((*angles)(row + 1, pair) - (*angles)(row, pair)); };
    turned.steady = true;
    for (Index i = 0; i + 1 < before.rows(); ++i) turned.steady = turned.steady && std::abs(step(i, 0) - 1) < 2e-2;
    if (before.rows() > 1 && middle < count && turned.steady) {
      double sum = 0;
      for (Index i = 0; i + 1 < before.rows(); ++i) sum += step(i, middle);
      const double frequency = sum / static_cast<double>(before.rows() - 1);
      if (frequency > 0)
        turned.base = std::pow(frequency, -static_cast<double>(columns) / static_cast<double>(2 * middle));
    }
    const double slowest =
        turned.base > 0 ? std::pow(turned.base, -2.0 * static_cast<double>(count - 1) / static_cast<double>(columns))
                        : 0;
    if (slowest > 0) turned.first = wrapped((*angles)(0, count - 1)) / slowest;
    return turned;
  }
  return std::nullopt;
}

std::string pairs_text(Pairs pairs) { return pairs == Pairs::half ? "columns c and c + d/2" : "neighbouring columns"; }

std::optional<double> expected(const CapturedCall& call, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto at = call.expect.find(name); at != call.expect.end()) return at->second;
  return std::nullopt;
}

struct PartsJudge {
  const CapturedCall& call;
  const std::vector<FactRow>& given;
  const Allowed& allowed;
  GivenParts parts = {};

  void add(const MistakeCode& code, const std::string& detail = {}) {
    parts.mistakes.push_back({.code = code, .text = words(code, detail)});
  }
  void take(std::string line) { parts.taken.push_back(std::move(line)); }
  /// Whether a field of the expected config is there; a difference is a mistake.
  bool compare(std::initializer_list<const char*> names, double found, double part = 1e-3) {
    const auto meant = expected(call, names);
    if (!meant) return false;
    if (!near(*meant, found, part))
      add(differs_from_config,
          std::string(*names.begin()) + " " + decimal(*meant) + " expected, " + decimal(found) + " found");
    return true;
  }

  /// The first head of a side, before and after positions turned it; nothing where one of them is not known.
  struct FirstHead {
    Grid before, after;
  };
  std::optional<FirstHead> first_head(const char* name, const Array* before) const {
    const Index width = call.d_k >= 1 ? static_cast<Index>(std::min(call.d_k, 1e6f)) : 0;
    if (!before || width < 2 || before->shape[2] < width) return std::nullopt;
    return FirstHead{rows_of(*before, 0).leftCols(width), rows_of(*call.array(name), 0).leftCols(width)};
  }

  void take_positions() {
    if (!has(given, "positions")) return;
    const Array *query = call.array("query.before"), *key = call.array("key.before");
    const double meant = expected(call, {"rope_theta", "rotary_emb_base"}).value_or(0);
    const auto is_turned = [&](const char* name, const Array* before) {
      return call.array(name)->values != before->values;
    };
    if (query && key && is_turned("query", query) != is_turned("key", key))
      return add(positions_of_one_side, is_turned("query", query) ? "queries" : "keys");
    const std::optional<FirstHead> heads[] = {first_head("query", query), first_head("key", key)};
    const auto turned = [&](const std::optional<FirstHead>& head) {
      return head ? turned_by(head->before, head->after, meant) : std::nullopt;
    };
    const auto q = turned(heads[0]), k = turned(heads[1]);
    for (const std::optional<FirstHead>& head : heads) {
      if (!head || (q && k)) continue;
      const auto mixed = mixed_pairs(head->before, head->after, {meant, 1e4, 5e5, 1e6});
      if (mixed)
        return add(positions_mixed, pairs_text(*mixed) + " with the angles of " +
                                        pairs_text(*mixed == Pairs::half ? Pairs::neighbours : Pairs::half));
    }
    if (!q && !k)
      return take("positions inside q and k: not checked" + std::string(query || key ? ": no rotation of pairs" : ""));
    if (q && k && q->pairs != k->pairs)
      return add(positions_differ, "in queries of " + pairs_text(q->pairs) + ", in keys of " + pairs_text(k->pairs));
    if (q && k && q->base > 0 && k->base > 0 && q->steady && k->steady && !near(q->base, k->base, 2e-2))
      return add(positions_differ, "in queries with base " + decimal(q->base) + ", in keys with " + decimal(k->base));
    const Turned& one = k && k->base > 0 && k->steady ? *k : q ? *q : *k;
    const Index queries = allowed.rows(), keys = allowed.cols();
    const double apart = q && k ? q->first - k->first : q && has(given, "cache") ? q->first : 0;
    const double wanted = queries < keys && (has(given, "cache") || k) ? static_cast<double>(keys - queries) : 0;
    if (q && q->base > 0 && one.base > 0 && (k || has(given, "cache")) && std::abs(apart - wanted) > 0.25)
      add(positions_offset, decimal(std::round(apart)) + " found, " + decimal(wanted) + " expected");
    const bool has_base = one.steady && one.base > 0;
    if (has_base && (compare({"rope_theta"}, one.base, 2e-2) || compare({"rotary_emb_base"}, one.base, 2e-2))) return;
    take("positions inside q and k: rotary, " + pairs_text(one.pairs) +
         (has_base ? ", base " + formatted("%.3g", one.base) : std::string()) + ": taken as given");
  }

  void take_bias() {
    const Array* bias = call.array("bias");
    if (!bias || call.softcap > 0) return;
    std::vector<double> slopes;
    for (Index h = 0; h < bias->shape[1]; ++h) {
      const Grid cells = cells_of(*bias, 0, h);
      double slope = 0;
      bool linear = cells.rows() == cells.cols() && cells.rows() > 2, known = false;
      for (Index i = 1; linear && i < cells.rows(); ++i)
        for (Index j = 0; j < i; ++j) {
          if (!allowed(i, j) || !allowed(i, i)) continue;
          const double one = (cells(i, i) - cells(i, j)) / static_cast<double>(i - j);
          linear = linear && (!known || std::abs(one - slope) < 1e-3 * std::max(1.0, std::abs(slope)));
          slope = one;
          known = true;
        }
      if (!linear || !known || slope == 0) return take("bias of the scores: taken as given");
      slopes.push_back(slope);
    }
    if (std::all_of(slopes.begin(), slopes.end(), [](double slope) { return slope < 0; })) return add(bias_sign);
    const double count = static_cast<double>(slopes.size());
    for (std::size_t h = 0; h < slopes.size(); ++h)
      if (!near(slopes[h], std::exp2(-8.0 * static_cast<double>(h + 1) / count)))
        return take("bias of the scores: ALiBi, slope " + decimal(slopes[0]) + " of head 0: taken as given");
  }

  void take_mask() {
    const Index queries = allowed.rows(), keys = allowed.cols();
    if (queries > 1 && queries < keys && (allowed == causal_mask(queries, keys, 0)).all()) {
      if (has(given, "cache")) return add(cache_offset_missing);
      return take("mask: causal, offset 0 of " + std::to_string(queries) + " × " + std::to_string(keys));
    }
    if (queries != keys) return;
    const auto meant = expected(call, {"sliding_window"});
    if (const Index window = parts_of(allowed).window; window > 0) {
      if (!compare({"sliding_window"}, static_cast<double>(window)))
        take("mask: a window of " + std::to_string(window) + " keys: taken as given");
    } else if (meant && *meant < static_cast<double>(keys) &&
               allowed.rowwise().count().maxCoeff() > static_cast<Index>(*meant))
      parts.taken.push_back("mask: no window of " + decimal(*meant) + " keys (sliding_window)");
  }

  void take_rest() {
    if (has(given, "scale")) take("scale: learned: taken as given");
    if (has(given, "norms")) take("norms of q and k: their weights are taken as given");
    for (const FactRow& one : given)
      if (one[0] == "cache") take("cache: " + one[1] + " keys are new, the others are taken as given");
    if (call.softcap > 0 && !compare({"attn_logit_softcapping"}, static_cast<double>(call.softcap)))
      take("soft cap " + decimal(static_cast<double>(call.softcap)) + ": taken as given");
    if (call.softcap == 0 && expected(call, {"attn_logit_softcapping"}).value_or(0) > 0) add(softcap_missing);
    if (call.array("sinks")) take("sinks: their logits are taken as given");
    compare({"num_attention_heads", "n_head"}, static_cast<double>(call.heads));
    if (call.key_heads > 0) compare({"num_key_value_heads"}, static_cast<double>(call.key_heads));
  }
};

}  // namespace

CapturedCall without_parts(CapturedCall call, bool in_turn) {
  if (!call.array("query")) return call;
  const bool cosine = has(call.given, "norms") && are_unit(call.arrays["query"], call.heads) &&
                      are_unit(call.arrays["key"], call.key_heads > 0 ? call.key_heads : call.heads);
  for (const auto& [name, groups] :
       {std::pair("key", call.key_heads), {"key.before", call.key_heads}, {"value", call.value_heads}})
    if (const auto at = call.arrays.find(name); at != call.arrays.end())
      repeat_groups(at->second, groups, call.heads, in_turn);
  std::vector<float> scales;
  if (const Array* learned = call.array("scales")) scales = learned->values;
  else if (cosine && call.scale != 0) scales = {call.scale};
  Array& query = call.arrays["query"];
  if (!scales.empty() && !call.array("q_proj.weight") && query.shape[2] % call.heads == 0) {
    if (!has(call.given, "scale")) call.given.push_back({"scale", ""});
    const Index width = query.shape[2] / call.heads, rows = static_cast<Index>(query.values.size()) / query.shape[2];
    Eigen::Map<Matrix> all(query.values.data(), rows, query.shape[2]);
    for (Index h = 0; h < call.heads; ++h)
      all.middleCols(h * width, width) *=
          scales[std::min(static_cast<std::size_t>(h), scales.size() - 1)] * std::sqrt(static_cast<float>(width));
    call.scale = 0;
  }
  const bool fits = query.shape[2] == call.arrays["key"].shape[2] && query.shape[2] % call.heads == 0;
  if (call.softcap > 0 && fits && !call.array("q_proj.weight")) put_softcap(call);
  if (call.array("sinks")) leave_out_sinks(call);
  return call;
}

GivenParts judge_parts(const CapturedCall& call, const std::vector<FactRow>& given, const Allowed& allowed) {
  PartsJudge judge{.call = call, .given = given, .allowed = allowed};
  judge.take_positions();
  judge.take_bias();
  judge.take_mask();
  judge.take_rest();
  return std::move(judge.parts);
}

}  // namespace headlight
