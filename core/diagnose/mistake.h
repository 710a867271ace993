// The mistakes that are named: a row each, its stable code, by which scripts and python/headlight distinguish them, and
// its words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headlight {

struct MistakeCode {
  std::string_view name;   // `scale_missing`
  std::string_view words;  // of which {} is a gap

  friend bool operator==(const MistakeCode& a, const MistakeCode& b) { return a.name == b.name; }
};

namespace mistakes {

// The scale.
inline constexpr MistakeCode scale_missing{"scale_missing", "scores not divided by sqrt(d_k)"};
inline constexpr MistakeCode scale_inverted{"scale_inverted", "scores multiplied by sqrt(d_k)"};
inline constexpr MistakeCode scale_by_d_k{"scale_by_d_k", "scores divided by d_k, not by its root"};
inline constexpr MistakeCode scale_by_d_model{"scale_by_d_model", "scores divided by sqrt(d_model), not by sqrt(d_k)"};
inline constexpr MistakeCode scale_constant{"scale_constant", "scores multiplied by {}"};
inline constexpr MistakeCode query_already_scaled{"query_already_scaled", "query already divided by sqrt(d_k)"};
// The softmax and the weights.
inline constexpr MistakeCode softmax_axis{"softmax_axis", "softmax over the wrong axis: over {}"};
inline constexpr MistakeCode softmax_missing{"softmax_missing", "softmax missing: these are the scores"};
inline constexpr MistakeCode softmax_replaced{"softmax_replaced", "{} in place of softmax"};
inline constexpr MistakeCode softmax_twice{"softmax_twice", "softmax applied twice"};
inline constexpr MistakeCode softmax_sums{"softmax_sums",
                                          "rows are divided by the sums of other rows: keepdim is missing"};
inline constexpr MistakeCode dropout_left_on{"dropout_left_on", "dropout left on{}"};
inline constexpr MistakeCode dropout_on_scores{"dropout_on_scores", "dropout on the scores, before the softmax"};
inline constexpr MistakeCode weights_scaled{"weights_scaled", "weights multiplied by {} after the softmax"};
inline constexpr MistakeCode weights_changed{"weights_changed",
                                             "weights changed after the softmax: their rows do not sum to 1"};
inline constexpr MistakeCode weights_transposed{"weights_transposed", "weights transposed before they meet the values"};
inline constexpr MistakeCode weights_averaged{"weights_averaged", "weights averaged over the heads"};
// The mask.
inline constexpr MistakeCode mask_missing{"mask_missing", "mask missing"};
inline constexpr MistakeCode causal_mask_missing{"causal_mask_missing", "causal mask missing"};
inline constexpr MistakeCode padding_mask_missing{"padding_mask_missing", "padding mask missing"};
inline constexpr MistakeCode mask_not_applied{"mask_not_applied", "{} is given and not applied"};
inline constexpr MistakeCode mask_inverted{"mask_inverted", "mask inverted"};
inline constexpr MistakeCode mask_transposed{"mask_transposed", "mask transposed"};
inline constexpr MistakeCode mask_off_by_one{"mask_off_by_one", "mask off by one: {}"};
inline constexpr MistakeCode diagonal_blocked{"diagonal_blocked", "diagonal blocked: no token attends to itself"};
inline constexpr MistakeCode mask_after_softmax{"mask_after_softmax",
                                                "mask applied after the softmax, rows not renormalised"};
inline constexpr MistakeCode mask_of_other_sentences{
    "mask_of_other_sentences",
    "masks of other sentences: (batch, heads) needs each sentence's mask heads times in a row (repeat_interleave)"};
inline constexpr MistakeCode mask_added_as_numbers{"mask_added_as_numbers",
                                                   "a mask of 0 and 1 is added to the scores, in place of 0 and -inf"};
inline constexpr MistakeCode blocked_scores_weak{"blocked_scores_weak", "blocked scores are {} in place of -inf"};
inline constexpr MistakeCode empty_rows_even{
    "empty_rows_even", "rows that may attend to nothing have equal weights: a large number masks in place of -inf"};
inline constexpr MistakeCode empty_rows_nan{"empty_rows_nan", "{} may attend to nothing: the weights are NaN"};
inline constexpr MistakeCode cache_offset_missing{
    "cache_offset_missing", "causal mask without the offset of the cache: query 0 sees key 0 alone"};
inline constexpr MistakeCode window_missing{"window_missing",
                                            "window of the mask missing: all earlier tokens are seen"};
inline constexpr MistakeCode bias_sign{"bias_sign", "bias of the scores added with the wrong sign"};
inline constexpr MistakeCode softcap_missing{"softcap_missing", "soft cap of the scores missing"};
inline constexpr MistakeCode sinks_missing{"sinks_missing", "sinks missing: rows sum to 1"};
// Positions inside queries and keys, and the fields of a config.
inline constexpr MistakeCode positions_of_one_side{"positions_of_one_side", "positions turn the {} alone"};
inline constexpr MistakeCode positions_differ{"positions_differ", "positions turn queries and keys differently: {}"};
inline constexpr MistakeCode positions_mixed{"positions_mixed", "positions turn {}"};
inline constexpr MistakeCode positions_offset{"positions_offset",
                                              "positions of query 0 and key 0 are not as far apart as their rows: {}"};
inline constexpr MistakeCode differs_from_config{"differs_from_config", "{}"};
// Heads, and how they are split and put side by side.
inline constexpr MistakeCode heads_permuted{"heads_permuted", "heads in another order"};
inline constexpr MistakeCode heads_interleaved{
    "heads_interleaved", "heads split in the wrong order: every H-th column in place of d_k neighbours"};
inline constexpr MistakeCode heads_reshaped{"heads_reshaped",
                                            "heads split without transposing: (T, H, d_k) read on as (H, T, d_k)"};
inline constexpr MistakeCode groups_in_blocks{
    "groups_in_blocks", "key and value heads repeated in blocks: query head 1 reads group 1, not 0"};
inline constexpr MistakeCode heads_not_split{
    "heads_not_split", "heads attend to heads: (T, H, d_k) is not transposed to (H, T, d_k) before the product"};
inline constexpr MistakeCode sentences_mixed{
    "sentences_mixed", "tokens of different sentences are mixed: batch and {} are interchanged when heads are split"};
inline constexpr MistakeCode merge_not_transposed{"merge_not_transposed",
                                                  "heads not transposed back before they are put side by side"};
inline constexpr MistakeCode merge_columns_mixed{"merge_columns_mixed",
                                                 "heads are not put side by side: their columns are mixed"};
inline constexpr MistakeCode merge_sentences_mixed{
    "merge_sentences_mixed", "sentences of the batch are mixed when the heads are put side by side"};
inline constexpr MistakeCode merge_axis{
    "merge_axis", "heads are put one after the other along another axis, not side by side along the last one"};
inline constexpr MistakeCode heads_summed{"heads_summed", "heads are {}, not put side by side"};
// Projections.
inline constexpr MistakeCode query_key_swapped{"query_key_swapped", "query and key swapped"};
inline constexpr MistakeCode roles_swapped{"roles_swapped", "{} swapped"};
inline constexpr MistakeCode value_from_key{"value_from_key", "values are projected as keys are"};
inline constexpr MistakeCode projection_not_transposed{"projection_not_transposed",
                                                       "{} projection not transposed (x·W in place of x·Wᵀ)"};
inline constexpr MistakeCode projection_bias_missing{"projection_bias_missing", "bias of the {} projection left out"};
inline constexpr MistakeCode projection_missing{"projection_missing", "{} projection missing"};
inline constexpr MistakeCode projection_replaced{"projection_replaced", "the {} is not used"};
inline constexpr MistakeCode rounding{"rounding", "rounding and no mistake: {}"};
inline constexpr MistakeCode unexplained{"unexplained", "{}; no usual mistake explains it"};

}  // namespace mistakes

/// "query projection not transposed (x·W in place of x·Wᵀ)": the mistake in words, with `detail` in their gap.
std::string words(const MistakeCode& code, std::string_view detail = {});
/// A number of these words, with four digits.
std::string decimal(double value);

/// A mistake as it is reported.
struct Mistake {
  MistakeCode code;
  std::string text;        // words(code, …), with its numbers
  std::string role = {};   // the projection that it is about: query, key, value, output, "query and key"; or empty
  std::string array = {};  // in which it shows; empty where it was seen in the program that was watched
  std::optional<double> before = {};  // the largest difference of that array, and what is left of it with the mistake
  std::optional<double> after = {};   // made on the right side as well
};

}  // namespace headlight
