#include "diagnose/capture/capture_given.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/formatted.h"
#include "diagnose/capture/positions.h"
#include "math/position.h"

namespace headlight {
namespace {

using namespace mistakes;

bool near(double a, double b, double part = 2e-3) {
  return std::abs(a - b) <= part * std::max(std::abs(a), std::abs(b));
}

/// The first of the heads that are equal to each.
std::vector<Index> groups_of(const Array& array, Index heads) {
  const Index rows = array.shape[0] * array.shape[1], cols = array.shape[2], width = cols / heads;
  const Eigen::Map<const Matrix> all(array.values.data(), rows, cols);
  std::vector<Index> first;
  for (Index head = 0; head < heads; ++head) {
    Index like = 0;
    while (like < head && all.middleCols(like * width, width) != all.middleCols(head * width, width)) ++like;
    first.push_back(like);
  }
  return first;
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

const MistakeCode& pairs_text(Pairs pairs) {
  return pairs == Pairs::half ? phrases::pairs_half : phrases::pairs_neighbours;
}

/// `b` may have more.
bool are_near(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() <= b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return near(x, y); });
}

/// The offset by which row `row` of a sentence is found among the rows of others; row + `offset` is looked at first.
std::optional<Index> offset_of(const Grid& sentence, Index row, const std::vector<Grid>& others, Index offset) {
  const Eigen::RowVectorXd one = sentence.row(row);
  const double apart = 0.05 * one.norm() + 1e-6;
  for (const Grid& other : others)
    if (const Index at = row + offset; at >= 0 && at < other.rows() && (other.row(at) - one).norm() <= apart)
      return offset;
  for (const Grid& other : others)
    for (Index at = 0; at < other.rows(); ++at)
      if ((other.row(at) - one).norm() <= apart) return at - row;
  return std::nullopt;
}

/// The rows of an array of a call that are not among those of an earlier call, in any of its sentences; nothing where
/// too few are for the two to be one cache. `first`, `count`: the rows that are new, which are not looked for.
std::optional<std::vector<Index>> rows_not_in(const Array& later, const Array& earlier, Index first, Index count) {
  constexpr std::size_t kStrange = 4;  // so many rows, and none is there: another cache
  std::vector<Grid> wanted, there;
  for (Index b = 0; b < later.shape[0]; ++b) wanted.push_back(rows_of(later, b));
  for (Index b = 0; b < earlier.shape[0]; ++b) there.push_back(rows_of(earlier, b));
  std::vector<Index> missing;
  Index found = 0, offset = 0;
  for (Index row = 0; row < later.shape[1] && (found > 0 || missing.size() < kStrange); ++row) {
    if (row >= first && row < first + count) continue;
    const bool all = std::all_of(wanted.begin(), wanted.end(), [&](const Grid& sentence) {
      const auto at = offset_of(sentence, row, there, offset);
      offset = at.value_or(offset);
      return at.has_value();
    });
    if (all) ++found;
    else missing.push_back(row);
  }
  return found > 0 && found >= static_cast<Index>(missing.size()) ? std::optional(missing) : std::nullopt;
}

using FieldNames = std::initializer_list<const char*>;
constexpr FieldNames kHeadCounts = {"num_attention_heads", "n_head", "n_heads", "num_heads"};

/// The field of the expected config that has one of these names.
const std::pair<const std::string, double>* expected(const CapturedCall& call, FieldNames names) {
  for (const char* name : names)
    if (const auto at = call.expect.find(name); at != call.expect.end()) return &*at;
  return nullptr;
}

/// Its number; 0 where there is none.
double meant(const CapturedCall& call, FieldNames names) {
  const auto* field = expected(call, names);
  return field ? field->second : 0;
}

bool is_t5(const CapturedCall& call) {
  return meant(call, {"relative_attention_num_buckets"}) > 0 && meant(call, {"d_kv"}) > 0;
}

struct PartsJudge {
  const CapturedCall& call;
  const std::vector<FactRow>& given;
  const std::vector<std::vector<Allowed>>& masks;
  const Allowed& allowed = masks[0][0];
  GivenParts parts = {};

  template <class... Details>
  void add(const MistakeCode& code, const Details&... details) {
    parts.mistakes.push_back({.code = code, .text = words(code, details...)});
  }
  template <class... Details>
  void take(const MistakeCode& line, const Details&... details) {
    parts.taken.push_back(words(line, details...));
  }
  /// Whether such a field is there; a difference is a mistake.
  bool compare(FieldNames names, double found, double part = 1e-3) {
    const auto* field = expected(call, names);
    if (field && !near(field->second, found, part))
      add(differs_from_config, field->first, decimal(field->second), decimal(found));
    return field != nullptr;
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
    const double base = meant(call, {"rope_theta", "rotary_emb_base"});
    const std::optional<FirstHead> heads[] = {first_head("query", query), first_head("key", key)};
    const Index queries = allowed.rows(), keys = allowed.cols();
    if (heads[0] && heads[1] && are_turned(call, base > 0 ? base : 1e4, call.new_keys > 0 ? keys - queries : 0, masks))
      return;
    if (call.dtype.ends_with("float16")) return take(phrases::positions_unchecked);
    const auto turned = [&](const std::optional<FirstHead>& head) {
      return head ? turned_by(head->before, head->after, base) : std::nullopt;
    };
    const auto q = turned(heads[0]), k = turned(heads[1]);
    if (query && key && (call.array("query")->values != query->values) != (call.array("key")->values != key->values)) {
      const auto& one = q ? q : k;  // a bias of the queries alone turns nothing
      if (!one || !one->steady) return take(phrases::positions_no_rotation);
      return add(positions_of_one_side, words(q ? phrases::queries : phrases::keys));
    }
    for (const std::optional<FirstHead>& head : heads) {
      if (!head || (q && k)) continue;
      const auto mixed = mixed_pairs(head->before, head->after, {base, 1e4, 5e5, 1e6});
      if (mixed)
        return add(positions_mixed, words(pairs_text(*mixed)),
                   words(pairs_text(*mixed == Pairs::half ? Pairs::neighbours : Pairs::half)));
    }
    if (!q && !k) return take(query || key ? phrases::positions_no_rotation : phrases::positions_unchecked);
    if (q && k && q->pairs != k->pairs)
      return add(positions_differ, words(phrases::of_columns, words(pairs_text(q->pairs))),
                 words(phrases::of_columns, words(pairs_text(k->pairs))));
    if (q && k && q->base > 0 && k->base > 0 && q->steady && k->steady && !near(q->base, k->base, 2e-2))
      return add(positions_differ, words(phrases::with_base, decimal(q->base)),
                 words(phrases::with_base, decimal(k->base)));
    const Turned& one = k && k->base > 0 && k->steady ? *k : q ? *q : *k;
    const double apart = q && k ? q->first - k->first : q && call.new_keys > 0 ? q->first : 0;
    const double wanted = queries < keys && (call.new_keys > 0 || k) ? static_cast<double>(keys - queries) : 0;
    if (q && q->base > 0 && one.base > 0 && (k || call.new_keys > 0) && std::abs(apart - wanted) > 0.25)
      add(positions_offset, decimal(std::round(apart)), decimal(wanted));
    const bool has_base = one.steady && one.base > 0;
    if (has_base && compare({"rope_theta", "rotary_emb_base"}, one.base, 2e-2)) return;
    if (has_base) take(phrases::positions_given_base, words(pairs_text(one.pairs)), formatted("%.3g", one.base));
    else take(phrases::positions_given, words(pairs_text(one.pairs)));
  }

  void take_bias() {
    const Array* bias = call.array("bias");
    if (!bias || call.softcap > 0) return;
    const auto is = [&](const char* form) { return std::count(given.begin(), given.end(), FactRow{"bias", form}) > 0; };
    const bool subtracted = is("subtracted");
    if (is("learned") && !subtracted) return;
    if (subtracted && meant(call, {"relative_attention_num_buckets"}) > 0) return add(bias_sign);
    const auto slopes = slopes_of(*bias, allowed);
    const auto count = static_cast<Index>(slopes ? slopes->size() : 1);
    const double most = meant(call, {"alibi_bias_max"}) > 0 ? meant(call, {"alibi_bias_max"}) : 8;
    const std::vector<double> right = headlight::alibi_slopes(count, most);
    if (slopes && (are_near(*slopes, right) || are_near(*slopes, geometric_slopes(count, most, count)))) return;
    if (!slopes || bias->shape[3] < 3) return take(subtracted ? phrases::bias_subtracted : phrases::bias_given);
    if (*std::max_element(slopes->begin(), slopes->end()) < 0) return add(bias_sign);
    Bilingual how;
    std::vector<double> sorted = *slopes, all = right;
    for (auto* list : {&sorted, &all}) std::sort(list->begin(), list->end());
    if (are_near(sorted, all)) how = words(phrases::in_order, decimal(slopes->front()), decimal(right.front()));
    for (Index others = 1; count > 1 && others <= 256 && how.empty(); ++others)
      if (are_near(*slopes, geometric_slopes(others, most, count)) ||
          (others > count && are_near(*slopes, headlight::alibi_slopes(others, most))))
        how = words(phrases::of_heads, std::to_string(others), std::to_string(count));
    if (how.empty()) return take(phrases::alibi_given, decimal(slopes->front()));
    // Without a config they may be meant: other powers, some heads of several machines.
    const auto* heads = expected(call, kHeadCounts);
    if (heads && near(heads->second, static_cast<double>(count))) add(mistakes::alibi_slopes, how);
    else take(phrases::alibi_given_as, how);
  }

  /// Whether the rows of a cache that are not new are among those that an earlier call left.
  void take_cache(const std::vector<CapturedCall>& calls, Index index) {
    const Array *keys = call.array("key"), *values = call.array("value");
    const Index count = keys->shape[1], old = count - call.new_keys;
    if (call.new_keys == 0 || old <= 0) return;
    const auto take_given = [&] { take(phrases::cache_given, std::to_string(call.new_keys), std::to_string(count)); };
    const auto is_like = [&](const CapturedCall& one, const char* name, const Array* array) {
      const Array* other = one.array(name);
      return array && other && other->shape[2] == array->shape[2];
    };
    const auto missing = [&](const CapturedCall& one, const char* name, const Array& array) {
      return rows_not_in(array, *one.array(name), call.new_at, call.new_keys);
    };
    constexpr Index kMostBefore = 256;  // calls that are looked through: between them are those of other layers
    const CapturedCall* before = nullptr;
    std::vector<Index> least;
    for (Index i = index; i-- > std::max<Index>(0, index - kMostBefore) && call.block >= 0;) {
      if (before && least.empty()) break;
      const CapturedCall& one = calls[static_cast<std::size_t>(i)];
      if (one.block != call.block || one.where != call.where || !is_like(one, "key", keys)) continue;
      const auto rows = missing(one, "key", *keys);
      if (rows && (!before || rows->size() < least.size())) before = &one, least = *rows;
    }
    if (!before) return take_given();
    const Index left = before->array("key")->shape[1];
    for (const Index row : least) {
      if (row >= left && allowed.col(row).any() && rows_of(*keys, 0).row(row).isZero(0))
        return add(cache_unwritten, std::to_string(row));
    }
    if (!least.empty() && least.front() < left)
      return add(cache_stale, words(phrases::keys), std::to_string(least.front()));
    if (!is_like(*before, "value", values)) return take_given();
    const auto rows = missing(*before, "value", *values);
    if (rows && !rows->empty() && rows->front() < left)
      return add(cache_stale, words(phrases::values), std::to_string(rows->front()));
    if (!rows || !rows->empty() || !least.empty()) return take_given();
    if (old < left) take(phrases::cache_shorter, std::to_string(left - old), std::to_string(left));
  }

  /// Groups of query heads are neighbours.
  void take_groups() {
    for (const char* name : {"key", "value"}) {
      const Array* array = call.array(name);
      if (!array || call.heads < 1 || array->shape[2] % call.heads != 0 ||
          call.array(name[0] + std::string("_proj.weight")))
        continue;
      const std::vector<Index> first = groups_of(*array, call.heads);
      const auto groups = static_cast<Index>(std::set(first.begin(), first.end()).size());
      bool in_turn = groups > 1 && groups < call.heads;
      for (Index head = 0; head < call.heads; ++head)
        in_turn = in_turn && first[static_cast<std::size_t>(head)] == head % groups;
      if (in_turn) add(groups_in_blocks);
      if (array == call.array("key") && groups < call.heads)
        compare({"num_key_value_heads"}, static_cast<double>(groups));
    }
  }

  void take_mask() {
    const Index queries = allowed.rows(), keys = allowed.cols();
    if (queries > 1 && queries < keys && (allowed == causal_mask(queries, keys, 0)).all()) {
      if (call.new_keys > 0) return add(cache_offset_missing);
      return take(phrases::mask_offset, std::to_string(queries), std::to_string(keys));
    }
    if (queries != keys) return;
    const double wanted = meant(call, {"sliding_window"});
    const Index window = parts_of(allowed).window, near = nearness_of(allowed);
    if (near > 0) take(phrases::nearness_given, std::to_string(near));
    if (window > 0) {
      if (!compare({"sliding_window"}, static_cast<double>(window)))
        take(phrases::window_given, std::to_string(window));
    } else if (wanted > 0 && wanted < static_cast<double>(keys) &&
               allowed.rowwise().count().maxCoeff() > static_cast<Index>(wanted))
      take(phrases::no_window, decimal(wanted));
  }

  void take_rest() {
    for (const FactRow& one : given) {
      if (one[0] == "sides") take(phrases::sides_given, one[1], one.back());
      if (one[0] == "norms" && one[1] != "seen") take(phrases::norms_given);
      if (one == FactRow{"scale", "meant"}) {
        const auto code = wrong_scale(call);
        if (code) take(phrases::meant, scale_text(*code, call));
      } else if (one[0] == "scale")
        take(one[1] == "1"        ? phrases::scale_one
             : one[1] == "sum"    ? phrases::scale_sum
             : one[1] == "capped" ? phrases::scale_capped
             : one[1] == "free"   ? phrases::scale_free
                                  : phrases::scale_given);
    }
    if (call.softcap > 0 && !compare({"attn_logit_softcapping"}, static_cast<double>(call.softcap)))
      take(phrases::softcap_given, decimal(static_cast<double>(call.softcap)));
    if (call.softcap == 0 && meant(call, {"attn_logit_softcapping"}) > 0) add(softcap_missing);
    if (call.scale != 0 && call.scale != 1 && is_t5(call))
      take(phrases::scale_of_t5, decimal(static_cast<double>(call.scale)));
    if (call.scale != 0) compare({"query_pre_attn_scalar"}, 1 / std::pow(static_cast<double>(call.scale), 2));
    if (call.array("sinks")) take(phrases::sinks_given);
    compare(kHeadCounts, static_cast<double>(call.heads));
  }
};

/// Whether scores have another scale than 1/√d_k on purpose: as a config states it; without a config as Gemma 2 has it
/// with its soft cap, or no scale, as T5 has it with its bias.
bool is_meant_scale(const CapturedCall& call) {
  const auto scale = static_cast<double>(call.scale);
  if (const double width = meant(call, {"query_pre_attn_scalar"}); width > 0) return near(scale, 1 / std::sqrt(width));
  if (const double factor = meant(call, {"attention_multiplier"}); factor > 0) return near(scale, factor);
  const double root = std::sqrt(static_cast<double>(call.d_k));
  if (call.softcap > 0 && call.expect.empty()) return !near(scale * root, 1);
  if (call.scale == 1 && is_t5(call)) return true;
  if (has(call.given, "scale")) return true;
  if (call.scale != 1 || !call.array("bias")) return false;
  const Array &query = *call.array("query"), &bias = *call.array("bias"), &key = *call.array("key");
  const bool even =
      key.shape[1] > 2 && slopes_of(bias, Allowed::Constant(query.shape[1], key.shape[1], true)).has_value();
  return !even && (call.expect.empty() || meant(call, {"relative_attention_num_buckets"}) > 0);
}

}  // namespace

CapturedCall without_parts(CapturedCall call) {
  if (!call.array("query")) return call;
  const bool cosine = has(call.given, "norms") && are_unit(call.arrays["query"], call.heads) &&
                      are_unit(call.arrays["key"], call.heads);
  const bool own = std::erase(call.given, FactRow{"scale", "meant"}) > 0 &&
                   meant(call, {"query_pre_attn_scalar", "attention_multiplier"}) == 0;  // a number of its own
  const bool known = cosine || is_meant_scale(call);
  std::vector<float> scales;
  if (const Array* learned = call.array("scales")) scales = learned->values;
  else if ((known || own) && call.scale != 0) scales = {call.scale};
  Array& query = call.arrays["query"];
  if (!scales.empty() && !call.array("q_proj.weight") && query.shape[2] % call.heads == 0) {
    if (!has(call.given, "scale") && (cosine || own || call.expect.empty()))
      call.given.push_back({"scale", cosine ? "" : !known ? "meant" : call.softcap > 0 ? "capped" : "1"});
    const Index width = query.shape[2] / call.heads, rows = static_cast<Index>(query.values.size()) / query.shape[2];
    Eigen::Map<Matrix> all(query.values.data(), rows, query.shape[2]);
    for (Index h = 0; h < call.heads; ++h)
      all.middleCols(h * width, width) *=
          scales[std::min(static_cast<std::size_t>(h), scales.size() - 1)] * std::sqrt(static_cast<float>(width));
    call.scale = 0;
  } else if (own && !known) call.given.push_back({"scale", "meant"});  // (of projections the scale stays)
  const bool fits = query.shape[2] == call.arrays["key"].shape[2] && query.shape[2] % call.heads == 0;
  if (call.softcap > 0 && fits && !call.array("q_proj.weight")) put_softcap(call);
  if (call.array("sinks")) leave_out_sinks(call);
  return call;
}

GivenParts judge_parts(const std::vector<CapturedCall>& calls, Index index, const std::vector<FactRow>& given,
                       const std::vector<std::vector<Allowed>>& allowed) {
  PartsJudge judge{.call = calls[static_cast<std::size_t>(index)], .given = given, .masks = allowed};
  judge.take_positions();
  judge.take_bias();
  judge.take_mask();
  judge.take_cache(calls, index);
  judge.take_rest();
  judge.take_groups();
  return std::move(judge.parts);
}

}  // namespace headlight
