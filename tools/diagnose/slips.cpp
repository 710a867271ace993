#include "diagnose/slips.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"

namespace headlight {
namespace {

using namespace mistakes;
using Table = std::vector<SlipRow>;

/// What a slip edits. Projections have a bit a role, and so have splits into heads.
enum Part : unsigned {
  kProjection = 1,
  kSplit = 1 << 4,
  kScale = 1 << 7,
  kMask = 1 << 8,
  kSoftmax = 1 << 9,
  kOrder = 1 << 10,
  kDropout = 1 << 11,
  kMerge = 1 << 12,
  kSides = 1 << 13,
  kGroups = 1 << 14,
  kCap = 1 << 15,
  kContext = 1 << 16,
  kStored = 1 << 17
};

enum class Made { in_any_heads, in_all_heads };

SlipRow& add(Table& table, const MistakeCode& code, Steps touches, unsigned part, Made made,
             std::function<bool(const Known&, Variant&)> apply) {
  table.push_back(
      {.code = code, .touches = touches, .part = part, .apply = std::move(apply), .whole = made == Made::in_all_heads});
  return table.back();
}

void add_scales(Table& table) {
  for (std::size_t row = 0; row < kScales; ++row)
    add(table, scale_factors(4, 4)[row].first, kFromScores, kScale, Made::in_any_heads,
        [row](const Known& known, Variant& v) {
          if (known.d_k < 2 || (row + 1 == kScales && known.d_model == 0)) return false;
          const auto d_k = static_cast<double>(known.d_k), d_model = static_cast<double>(known.d_model);
          v.factor = scale_factors(d_k, d_model / d_k)[row].second;
          return v.factor != 1;
        });
  // Heads may be wider or narrower than their part of d_model.
  add(table, scale_by_d_model, kFromScores, kScale, Made::in_any_heads, [](const Known& known, Variant& v) {
    v.factor = 1 / std::sqrt(static_cast<double>(known.num_heads));
    return known.num_heads > 1 && (known.d_k == 0 || known.d_model != known.num_heads * known.d_k);
  }).text = words(phrases::scale_of_heads);
}

void add_softmaxes(Table& table) {
  const auto add = [&](const MistakeCode& code, SoftmaxKind kind, const Bilingual& detail) {
    const bool of_heads = kind == SoftmaxKind::heads;
    const Made made = of_heads ? Made::in_all_heads : Made::in_any_heads;
    headlight::add(table, code, kFromWeights, kSoftmax, made, [kind, of_heads](const Known& known, Variant& v) {
      v.softmax = kind;
      return !of_heads || known.num_heads > 1;
    }).text = words(code, detail);
  };
  add(softmax_axis, SoftmaxKind::queries, words(phrases::the_queries));
  add(softmax_axis, SoftmaxKind::heads, words(phrases::the_heads));
  add(softmax_replaced, SoftmaxKind::logarithm, "log_softmax");
  table.back().text = words(phrases::of_logarithms, table.back().text);
  add(softmax_twice, SoftmaxKind::twice, "");
  add(softmax_replaced, SoftmaxKind::sigmoid, "sigmoid");
  headlight::add(table, weights_averaged, kFromWeights, kOrder, Made::in_all_heads,
                 [](const Known& known, Variant& v) { return v.averaged = known.num_heads > 1; });
  table.push_back({.code = mask_after_softmax, .touches = kFromWeights, .part = kDropout, .fit = fit_mask_after});
  table.push_back({.code = dropout_left_on, .touches = kFromWeights, .part = kDropout, .fit = fit_dropout});
}

/// Replaces the right mask, where the new one differs from it.
bool put_mask(const Known& known, Variant& v, Grid mask) {
  if (mask == known.mask) return false;
  v.mask = std::move(mask);
  return true;
}
bool put_mask(const Known& known, Variant& v, const Allowed& allowed) {
  if ((allowed == allowed_by(known.mask)).all()) return false;
  const Grid bias = allowed_by(known.mask).select(known.mask.array(), 0.0).matrix();
  return put_mask(known, v, Grid(mask_of(allowed) + bias));
}

void add_mask(Table& table, const MistakeCode& code, std::function<bool(const Known&, Variant&)> apply,
              Bilingual text = {}) {
  table.push_back({.code = code, .part = kMask, .apply = std::move(apply), .text = std::move(text), .masks = true});
}

void add_masks(Table& table) {
  const auto add = [&](auto&&... row) { add_mask(table, row...); };
  add(mask_missing, [](const Known& known, Variant& v) {
    return (known.direct || known.has_mask()) && put_mask(known, v, Grid(Grid::Zero(known.queries(), known.keys())));
  });
  add(mask_inverted, [](const Known& known, Variant& v) {
    return known.has_mask() && put_mask(known, v, Allowed(!allowed_by(known.mask)));
  });
  add(mask_transposed, [](const Known& known, Variant& v) {
    return known.is_square() && (known.direct || known.has_mask()) && put_mask(known, v, Grid(known.mask.transpose()));
  });
  add(mask_after_softmax, [](const Known& known, Variant& v) {
    v.use = MaskUse::after;
    return known.has_mask();
  });
  for (const Index by : {-1, 1})
    for (const bool causal : {true, false})
      add(
          mask_off_by_one,
          [by, causal](const Known& known, Variant& v) {
            const Allowed allowed = allowed_by(known.mask);
            return parts_of(allowed).causal == causal && known.has_mask() && put_mask(known, v, shifted(allowed, by));
          },
          off_by_one_words(causal, by));
  add(diagonal_blocked, [](const Known& known, Variant& v) {
    Allowed allowed = allowed_by(known.mask);
    if (!known.is_square() || parts_of(allowed).causal) return false;
    allowed.matrix().diagonal().setConstant(false);
    return put_mask(known, v, allowed);
  });
}

/// Those of one part of a mask, or of its numbers.
void add_parts_of_masks(Table& table) {
  const auto add = [&](auto&&... row) { add_mask(table, row...); };
  for (const bool padding : {true, false})
    add(padding ? padding_mask_missing : causal_mask_missing, [padding](const Known& known, Variant& v) {
      const MaskParts parts = parts_of(allowed_by(known.mask));
      if (!parts.causal || !parts.padding) return false;
      const Index offset = known.keys() - known.queries();
      return put_mask(known, v, padding ? causal_mask(known.queries(), known.keys(), offset) : parts.keys);
    });
  add(cache_offset_missing, [](const Known& known, Variant& v) {
    const MaskParts parts = parts_of(allowed_by(known.mask));
    if (known.is_square() || (!parts.causal && parts.window == 0)) return false;
    return put_mask(known, v, Allowed(causal_mask(known.queries(), known.keys(), 0) && parts.keys));
  });
  add(window_missing, [](const Known& known, Variant& v) {
    if (parts_of(allowed_by(known.mask)).window == 0) return false;
    return put_mask(known, v, causal_mask(known.queries(), known.keys(), known.keys() - known.queries()));
  });
  add(empty_rows_even,
      [](const Known& known, Variant& v) { return v.even_rows = !allowed_by(known.mask).rowwise().any().all(); });
  add(mask_added_as_numbers, [](const Known& known, Variant& v) {
    v.use = MaskUse::as_numbers;
    return known.has_mask();
  });
  // Of weights alone the number is not known.
  for (const bool exact : {true, false})
    add(
        blocked_scores_weak,
        [exact](const Known& known, Variant& v) {
          v.blocked = 0;
          return known.has_mask() && known.exact == exact;
        },
        words(blocked_scores_weak, exact ? Bilingual("0") : words(phrases::one_number)));
  add(bias_sign, [](const Known& known, Variant& v) {
    const Grid bias = allowed_by(known.mask).select(-known.mask.array(), known.mask.array()).matrix();
    return known.direct && put_mask(known, v, bias);
  });
}

constexpr std::pair<Slip, const MistakeCode*> kProjectionSlips[] = {{Slip::transposed, &projection_not_transposed},
                                                                    {Slip::bias_left_out, &projection_bias_missing},
                                                                    {Slip::left_out, &projection_missing}};
struct SplitRow {
  HeadSplit how;
  const MistakeCode* code;
  const MistakeCode *of_side, *of_value;  // with the name of a side; of values
};
constexpr SplitRow kSplits[] = {
    {HeadSplit::interleaved, &heads_interleaved, &phrases::side_interleaved, &phrases::value_interleaved},
    {HeadSplit::reshaped, &heads_reshaped, &phrases::side_reshaped, &phrases::value_reshaped}};

Steps touched_by(unsigned roles) {
  const bool query = (roles & 1) != 0, key = (roles & 2) != 0, value = (roles & 4) != 0, output = (roles & 8) != 0;
  return (query ? kFromQueries : 0) | (key ? kFromKeys : 0) | (value ? kFromValues : 0) |
         (output ? bit(SlipStep::output) : 0);
}

void add_splits(Table& table) {
  // The roles, and what they are called; those of all three are the commonest.
  const std::pair<unsigned, const char*> roles[] = {
      {7, ""}, {3, "query and key"}, {1, "query"}, {2, "key"}, {4, "value"}};
  for (const SplitRow& row : kSplits)
    for (const auto& [which, name] : roles) {
      SlipRow& added =
          add(table, *row.code, touched_by(which), kSplit * which, Made::in_all_heads,
              [how = row.how, roles = which](const Known& known, Variant& v) {
                for (unsigned role = 0; role < 3; ++role)
                  if ((roles >> role & 1) != 0) v.split[role] = how;
                const bool sides = (roles & 3) == 0 || known.direct;
                return sides && known.num_heads > 1 && (roles != 4 || (known.has_values() && known.num_kv_heads > 1));
              });
      added.role = name;
      if (which != 7) added.text = words(which == 4 ? *row.of_value : *row.of_side, translated(name));
    }
}

void add_projections(Table& table) {
  const std::pair<unsigned, const char*> roles[] = {{1, "query"},
                                                    {2, "key"},
                                                    {3, "query and key"},
                                                    {4, "value"},
                                                    {8, "output"},
                                                    {7, "query, key and value"},
                                                    {15, "query, key, value and output"}};
  for (const auto& [slip, code] : kProjectionSlips)
    for (const auto& [which, name] : roles)
      add(table, *code, touched_by(which), kProjection * which, which >= 8 ? Made::in_all_heads : Made::in_any_heads,
          [s = slip, roles = which](const Known& known, Variant& v) {
            for (unsigned role = 0; role < 4; ++role)
              if ((roles >> role & 1) != 0) v.projection[role] = s;
            return known.inputs.has_value();
          })
          .role = name;
  const std::tuple<std::size_t, std::size_t, const MistakeCode*> swaps[] = {
      {kQuery, kKey, nullptr}, {kQuery, kValue, &phrases::query_and_value}, {kKey, kValue, &phrases::key_and_value}};
  for (const auto& [a, b, names] : swaps) {
    const unsigned part = kProjection * ((1u << a) | (1u << b)) | (names ? 0u : unsigned{kSides});
    SlipRow& added = add(table, names ? roles_swapped : query_key_swapped, touched_by((1u << a) | (1u << b)), part,
                         Made::in_any_heads, [x = a, y = b](const Known& known, Variant& v) {
                           std::swap(v.projected_by[x], v.projected_by[y]);
                           return known.inputs.has_value();
                         });
    if (names) added.text = words(roles_swapped, words(*names));
  }
  add(table, value_from_key, kFromValues, kProjection * 4, Made::in_any_heads, [](const Known& known, Variant& v) {
    v.projected_by[kValue] = kKey;
    return known.inputs.has_value();
  });
}

void add_heads(Table& table) {
  constexpr Steps kOutput = bit(SlipStep::output);
  add(table, query_key_swapped, kFromScores, kSides, Made::in_any_heads, [](const Known& known, Variant& v) {
    return v.swapped = known.is_square() && (known.exact || !known.has_mask());
  });
  add(table, groups_in_blocks, kFromScores | kOutput, kGroups, Made::in_all_heads, [](const Known& known, Variant& v) {
    v.groups_in_blocks = true;
    return known.direct && known.num_kv_heads > 1 && known.num_kv_heads < known.num_heads;
  });
  add(table, softcap_missing, kFromScores, kCap, Made::in_any_heads,
      [](const Known& known, Variant& v) { return v.no_softcap = known.softcap > 0; });
  add(table, sinks_missing, kFromWeights, kCap, Made::in_any_heads,
      [](const Known& known, Variant& v) { return v.no_sinks = !known.sinks.empty(); });
  add(table, query_already_scaled, bit(SlipStep::queries), kStored, Made::in_all_heads,
      [](const Known& known, Variant& v) {
        v.stored_query = 1 / std::sqrt(static_cast<double>(std::max<Index>(known.d_k, 1)));
        return known.d_k > 1 && known.projected[kQuery].size() > 0;
      });
  for (const HeadSplit how : {HeadSplit::reshaped, HeadSplit::interleaved})
    add(table, how == HeadSplit::reshaped ? merge_not_transposed : merge_columns_mixed, kOutput, kMerge,
        Made::in_all_heads, [how](const Known& known, Variant& v) {
          v.merge = how;
          return known.num_heads > 1;
        });
  // Reversed before shifted: two places are exchanged by either.
  for (const auto& [order, how] : {std::pair(Order::reversed, &phrases::order_reversed),
                                   {Order::next, &phrases::order_next},
                                   {Order::before, &phrases::order_before}}) {
    add(table, values_moved, kOutput, kContext, Made::in_all_heads, [moved = order](const Known& known, Variant& v) {
      v.values = moved;
      return known.inputs && known.keys() > 1;
    }).text = words(values_moved, words(*how));
    add(table, values_of_other_heads, kOutput, kContext, Made::in_all_heads,
        [moved = order](const Known& known, Variant& v) {
          v.value_heads = moved;
          return known.inputs && known.num_kv_heads > 1;
        })
        .text = words(values_of_other_heads, words(*how));
  }
  add(table, weights_transposed, kOutput, kContext, Made::in_all_heads,
      [](const Known& known, Variant& v) { return v.transposed = known.is_square(); });
}

void add_general_ones(Table& table) {
  const std::size_t before = table.size();
  table.push_back({.code = heads_permuted, .touches = kFromWeights, .part = kOrder, .fit = fit_order, .whole = true});
  add(table, softmax_missing, kFromWeights, kSoftmax, Made::in_any_heads, [](const Known&, Variant& v) {
    v.softmax = SoftmaxKind::none;
    return true;
  });
  table.push_back({.code = weights_scaled, .touches = kFromWeights, .part = kDropout, .fit = fit_weights_factor});
  table.push_back({.code = blocked_scores_weak, .part = kMask, .fit = fit_blocked});
  table.push_back({.code = scale_constant, .part = kScale, .fit = fit_factor});
  for (std::size_t row = before; row < table.size(); ++row) table[row].general = true;
}

}  // namespace

std::array<std::pair<MistakeCode, double>, kScales> scale_factors(double d_k, double heads) {
  return {{{scale_missing, std::pow(d_k, 0.5)},
           {scale_inverted, d_k},
           {scale_by_d_k, std::pow(d_k, -0.5)},
           {scale_by_d_model, 1 / std::sqrt(heads)}}};
}

std::string decimal(double value) { return formatted("%.4g", value); }

const std::vector<SlipRow>& slips() {
  static const Table table = [] {
    Table rows;
    add_scales(rows);
    add_softmaxes(rows);
    add_masks(rows);
    add_parts_of_masks(rows);
    add_splits(rows);
    add_projections(rows);
    add_heads(rows);
    add_general_ones(rows);
    for (SlipRow& row : rows)
      if (row.text.empty()) row.text = words(row.code, translated(row.role));
    return rows;
  }();
  return table;
}

}  // namespace headlight
