// Every text of the diagnosis in both languages: the mistakes, each with the stable code by which scripts and
// python/headlight distinguish them; what was not checked or not followed; and the parts of their details and reports.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"

namespace headlight {

// The codes of the mistakes, and the names of all other texts. Their words are in words.json, in both languages; {} is
// a gap, and gaps stand in the same order in both.
// clang-format off
#define HEADLIGHT_MISTAKES(F) \
  F(scale_missing) F(scale_inverted) F(scale_by_d_k) F(scale_by_d_model) F(scale_constant) F(query_already_scaled) \
  F(softmax_axis) F(softmax_missing) F(softmax_replaced) F(softmax_twice) F(softmax_sums) F(dropout_left_on) \
  F(dropout_on_scores) F(weights_scaled) F(weights_changed) F(weights_transposed) F(weights_averaged) F(mask_missing) \
  F(causal_mask_missing) F(padding_mask_missing) F(mask_not_applied) F(mask_inverted) F(mask_transposed) \
  F(mask_off_by_one) F(diagonal_blocked) F(mask_after_softmax) F(mask_of_other_sentences) F(mask_added_as_numbers) \
  F(blocked_scores_weak) F(empty_rows_even) F(empty_rows_nan) F(cache_offset_missing) F(cache_stale) \
  F(cache_unwritten) F(window_missing) F(bias_sign) F(alibi_slopes) F(softcap_missing) F(sinks_missing) \
  F(positions_of_one_side) F(positions_differ) F(positions_mixed) F(positions_offset) F(differs_from_config) \
  F(sides_swapped) F(heads_permuted) F(heads_interleaved) F(heads_reshaped) F(groups_in_blocks) F(heads_not_split) \
  F(sentences_mixed) F(merge_not_transposed) F(merge_columns_mixed) F(merge_sentences_mixed) F(merge_axis) \
  F(heads_summed) F(query_key_swapped) F(roles_swapped) F(value_from_key) F(value_from_query) \
  F(values_moved) F(values_of_other_heads) \
  F(projection_not_transposed) F(projection_bias_missing) F(projection_missing) F(projection_replaced) F(rounding) \
  F(unexplained)

#define HEADLIGHT_DIAGNOSIS_TEXTS(F) \
  F(query) F(key) F(value) F(output) F(query_and_key) F(query_and_value) F(key_and_value) F(query_key_and_value) \
  F(all_four) F(queries) F(keys) F(values) F(token) F(tokens) F(heads) F(column) F(layer) F(head) F(sentence) \
  F(the_queries) F(the_keys) F(the_heads) F(the_sentences) F(conjunction) F(comma) F(semicolon_and) F(averaged) \
  F(added_up) F(of_p_in_eval) F(of_logarithms) F(causal_mask) F(diagonal) F(next_token) F(one_few) F(one_many) \
  F(of_batch_heads) F(of_heads_batch) F(order_next) F(order_before) F(order_reversed) F(decoys) \
  F(one_number) F(lower_number) F(queries_one) F(queries_many) F(of_scale) F(scale_in_place) F(scale_unknown) F(of_p) \
  F(scale_of_heads) F(mask_of_heads) \
  F(not_divided) F(side_interleaved) F(side_reshaped) F(value_interleaved) F(value_reshaped) F(not_used) F(in_head) \
  F(in_heads) F(of_columns) F(with_base) F(pairs_half) F(pairs_neighbours) F(of_heads) F(in_order) F(numbers_of) \
  F(in_tf32) F(order_of_sums) F(differ_in_shape) F(differ_by) F(differ_infinitely) F(from_inputs) F(at) \
  F(positions_unchecked) F(positions_no_rotation) F(positions_given) F(positions_given_base) F(bias_given) \
  F(bias_subtracted) F(alibi_given) F(alibi_given_as) F(mask_offset) F(window_given) F(nearness_given) F(no_window) \
  F(scale_sum) F(scale_given) F(scale_one) F(scale_of_t5) F(scale_capped) F(scale_free) F(meant) \
  F(norms_given) F(cache_given) F(cache_shorter) F(sides_given) F(softcap_given) \
  F(sinks_given) F(scores_opaque) F(not_computed) F(layer_left) F(layers_left) F(pairs_left) F(in_one_file) \
  F(compiled) F(not_followed) F(blind) F(blind_compiled) F(blind_vmap) F(blind_graphs) F(blind_meta) F(blind_nested) \
  F(by_blocks) F(unwritten) F(combined) F(axes_unknown) F(mask_unknown) F(times_unknown) F(unread) \
  F(left_out_one) F(left_out) F(none_without_torch) F(none_yet) F(none_among) F(none_found_one) F(none_found) \
  F(unjudged_one) F(unjudged) \
  F(some_call) F(some_calls) F(call_number) F(calls_judged) F(of_a) F(equal_line) F(first_difference) F(first_shapes) \
  F(diagnosis) F(no_diagnosis) F(explains) F(explains_partly) F(array_of_layer) F(layers_have_it) F(as_well) \
  F(or_of_a) F(so_small) F(search_ended) F(is_equal) F(differs) F(shapes) F(largest) F(at_cell) F(before_norm) \
  F(only_in) F(table_row) F(table_shape) F(row_sum) F(row_below_zero) F(row_not_softmax) \
  F(row_not_product) F(row_sees_nothing)
// clang-format on

#define HEADLIGHT_CODE(name) inline constexpr MistakeCode name{#name};
#define HEADLIGHT_ROW(name) MistakeCode{#name},
namespace mistakes {
HEADLIGHT_MISTAKES(HEADLIGHT_CODE)
}
namespace phrases {
HEADLIGHT_DIAGNOSIS_TEXTS(HEADLIGHT_CODE)
}
inline constexpr auto kMistakes = std::to_array<MistakeCode>({HEADLIGHT_MISTAKES(HEADLIGHT_ROW)});
inline constexpr auto kPhrases = std::to_array<MistakeCode>({HEADLIGHT_DIAGNOSIS_TEXTS(HEADLIGHT_ROW)});
#undef HEADLIGHT_CODE
#undef HEADLIGHT_ROW

/// A number of the diagnosis' texts, with four digits.
std::string decimal(double value);

/// words.json, which is part of the program.
std::string_view texts_json();
/// The words of a code, its gaps filled in their order; empty ones where there are fewer parts.
Bilingual filled(const MistakeCode& code, const std::vector<Bilingual>& parts);
template <class... Parts>
Bilingual words(const MistakeCode& code, const Parts&... parts) {
  return filled(code, std::vector<Bilingual>{Bilingual(parts)...});
}
Bilingual joined(const std::vector<Bilingual>& list, const Bilingual& between);
/// The mistake or other text with this name; nothing where there is none.
std::optional<MistakeCode> text_named(std::string_view name);
/// A text of the table without gaps by its English words, or several with "and" between them; any other is the same in
/// both languages.
Bilingual translated(std::string_view english);

}  // namespace headlight
