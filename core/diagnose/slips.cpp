#include "diagnose/slips.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "diagnose/fitted.h"

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

void add_scales(Table& table) {
  for (std::size_t row = 0; row < kScales; ++row)
    table.push_back(
        {.code = scale_factors(4, 4)[row].first, .part = kScale, .apply = [row](const Known& known, Variant& v) {
           if ((row + 1 < kScales ? known.d_k : known.num_heads) < 2) return false;
           const auto d_k = static_cast<double>(known.d_k), heads = static_cast<double>(known.num_heads);
           v.factor = scale_factors(d_k, heads)[row].second;
           return true;
         }});
}

void add_softmaxes(Table& table) {
  const auto add = [&](const MistakeCode& code, SoftmaxKind kind, const char* detail) {
    table.push_back({.code = code,
                     .touches = kFromWeights,
                     .part = kSoftmax,
                     .apply =
                         [kind](const Known& known, Variant& v) {
                           v.softmax = kind;
                           return kind != SoftmaxKind::heads || known.num_heads > 1;
                         },
                     .text = words(code, detail),
                     .whole = kind == SoftmaxKind::heads});
  };
  add(softmax_axis, SoftmaxKind::queries, "the queries");
  add(softmax_axis, SoftmaxKind::heads, "the heads");
  add(softmax_replaced, SoftmaxKind::logarithm, "log_softmax");
  table.back().text += ": these are the logarithms of the weights";
  add(softmax_twice, SoftmaxKind::twice, "");
  add(softmax_replaced, SoftmaxKind::sigmoid, "sigmoid");
  table.push_back({.code = weights_averaged,
                   .touches = kFromWeights,
                   .part = kOrder,
                   .apply = [](const Known& known, Variant& v) { return v.averaged = known.num_heads > 1; },
                   .whole = true});
  table.push_back({.code = dropout_left_on, .touches = kFromWeights, .part = kDropout, .fit = fit_dropout});
}

/// A mask in place of the right one, where it is another one.
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
              std::string text = {}) {
  table.push_back({.code = code, .part = kMask, .apply = std::move(apply), .text = std::move(text)});
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
        words(blocked_scores_weak, exact ? "0" : "one number, such as 0,"));
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
  const char *of_side, *of_value;  // after the name of a side; of values
};
constexpr SplitRow kSplits[] = {
    {HeadSplit::interleaved, &heads_interleaved,
     " heads split in the wrong order: every H-th column in place of d_k neighbours",
     "value heads split in the wrong order: every H-th column"},
    {HeadSplit::reshaped, &heads_reshaped, " heads split in the wrong order: (T, H, d_k) read on as (H, T, d_k)",
     "value heads split without transposing: (T, H, d_k) read on as (H, T, d_k)"}};

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
    for (const auto& [which, name] : roles)
      table.push_back({.code = *row.code,
                       .touches = touched_by(which),
                       .part = kSplit * which,
                       .apply =
                           [how = row.how, roles = which](const Known& known, Variant& v) {
                             for (unsigned role = 0; role < 3; ++role)
                               if ((roles >> role & 1) != 0) v.split[role] = how;
                             const bool sides = (roles & 3) == 0 || known.direct;
                             return sides && known.num_heads > 1 &&
                                    (roles != 4 || (known.has_values() && known.num_kv_heads > 1));
                           },
                       .role = name,
                       .text = which == 7   ? ""
                               : which == 4 ? row.of_value
                                            : name + std::string(row.of_side),
                       .whole = true});
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
      table.push_back({.code = *code,
                       .touches = touched_by(which),
                       .part = kProjection * which,
                       .apply =
                           [s = slip, roles = which](const Known& known, Variant& v) {
                             for (unsigned role = 0; role < 4; ++role)
                               if ((roles >> role & 1) != 0) v.projection[role] = s;
                             return known.inputs.has_value();
                           },
                       .role = name,
                       .whole = (which & 8) != 0});
  const std::tuple<std::size_t, std::size_t, const char*> swaps[] = {
      {kQuery, kKey, ""}, {kQuery, kValue, "query and value"}, {kKey, kValue, "key and value"}};
  for (const auto& [a, b, name] : swaps)
    table.push_back({.code = b == kKey ? query_key_swapped : roles_swapped,
                     .touches = touched_by((1u << a) | (1u << b)),
                     .part = kProjection * ((1u << a) | (1u << b)) | (b == kKey ? unsigned{kSides} : 0u),
                     .apply =
                         [x = a, y = b](const Known& known, Variant& v) {
                           std::swap(v.projected_by[x], v.projected_by[y]);
                           return known.inputs.has_value();
                         },
                     .text = b == kKey ? "" : words(roles_swapped, name)});
  table.push_back({.code = value_from_key,
                   .touches = kFromValues,
                   .part = kProjection * 4,
                   .apply = [](const Known& known, Variant& v) {
                     v.projected_by[kValue] = kKey;
                     return known.inputs.has_value();
                   }});
}

void add_heads(Table& table) {
  table.push_back({.code = query_key_swapped, .part = kSides, .apply = [](const Known& known, Variant& v) {
                     return v.swapped = known.is_square() && (known.exact || !known.has_mask());
                   }});
  table.push_back({.code = groups_in_blocks,
                   .touches = kFromScores | bit(SlipStep::output),
                   .part = kGroups,
                   .apply =
                       [](const Known& known, Variant& v) {
                         v.groups_in_blocks = true;
                         return known.direct && known.num_kv_heads > 1 && known.num_kv_heads < known.num_heads;
                       },
                   .whole = true});
  table.push_back({.code = softcap_missing, .part = kCap, .apply = [](const Known& known, Variant& v) {
                     return v.no_softcap = known.softcap > 0;
                   }});
  table.push_back(
      {.code = sinks_missing, .touches = kFromWeights, .part = kCap, .apply = [](const Known& known, Variant& v) {
         return v.no_sinks = !known.sinks.empty();
       }});
  table.push_back({.code = query_already_scaled,
                   .touches = bit(SlipStep::queries),
                   .part = kStored,
                   .apply =
                       [](const Known& known, Variant& v) {
                         v.stored_query = 1 / std::sqrt(static_cast<double>(std::max<Index>(known.d_k, 1)));
                         return known.d_k > 1 && known.projected[kQuery].size() > 0;
                       },
                   .whole = true});
  for (const HeadSplit how : {HeadSplit::reshaped, HeadSplit::interleaved})
    table.push_back({.code = how == HeadSplit::reshaped ? merge_not_transposed : merge_columns_mixed,
                     .touches = bit(SlipStep::output),
                     .part = kMerge,
                     .apply =
                         [how](const Known& known, Variant& v) {
                           v.merge = how;
                           return known.num_heads > 1;
                         },
                     .whole = true});
  table.push_back({.code = weights_transposed,
                   .touches = bit(SlipStep::output),
                   .part = kContext,
                   .apply = [](const Known& known, Variant& v) { return v.transposed = known.is_square(); },
                   .whole = true});
}

void add_general_ones(Table& table) {
  const std::size_t before = table.size();
  table.push_back({.code = heads_permuted, .touches = kFromWeights, .part = kOrder, .fit = fit_order, .whole = true});
  table.push_back(
      {.code = softmax_missing, .touches = kFromWeights, .part = kSoftmax, .apply = [](const Known&, Variant& v) {
         v.softmax = SoftmaxKind::none;
         return true;
       }});
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

std::string words(const MistakeCode& code, std::string_view detail) {
  std::string text(code.words);
  if (const std::size_t gap = text.find("{}"); gap != std::string::npos) text.replace(gap, 2, detail);
  return text;
}

std::string decimal(double value) { return formatted("%.4g", value); }

std::string text_of(const SlipRow& row) { return row.text.empty() ? words(row.code, row.role) : row.text; }

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
    return rows;
  }();
  return table;
}

}  // namespace headlight
