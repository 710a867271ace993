// The kinds of errors and remarks: they choose the explanation (`failures` of app/words/words.json).
#pragma once

#include <cstddef>
#include <string_view>

namespace headlight {

/// All codes, in groups: files; models; tokenizers and texts; questions; masks; tables of numbers and what is wrong in
/// them; training; sessions; what the check of a checkpoint finds. bad_value is that of every other error.
// clang-format off
#define HEADLIGHT_ERROR_CODES(F)                                                                                       \
  F(bad_value)                                                                                                         \
  F(cancelled) F(file_absent) F(permission_denied) F(not_writable) F(no_space) F(no_memory) F(file_empty)              \
  F(file_too_short) F(file_damaged) F(too_large) F(unknown_kind) F(unknown_schema)                                     \
  F(not_a_model) F(half_downloaded) F(unknown_model_type) F(bad_config) F(missing_tensor) F(wrong_shape)               \
  F(whole_numbers) F(quantized_weights) F(not_finite) F(overflow) F(heads_unknown)                                     \
  F(no_tokenizer) F(bad_tokenizer) F(no_unknown_token) F(unknown_token_id) F(not_utf8) F(no_tokens) F(too_many_tokens) \
  F(no_target) F(lines_differ) F(too_many_sentences) F(batch_too_long)                                                 \
  F(needs_picture) F(needs_text)                   \
  F(attention_alone) F(attention_not_code) F(block_not_code) F(not_a_command) F(empty_row) F(weights_above_one)        \
  F(not_a_mask) F(mask_shape) F(mask_of_several) F(mask_not_boolean) F(mask_not_finite)                                \
  F(not_a_number) F(no_numbers) F(numbers_left_out) F(ragged_rows) F(open_bracket) F(more_than_a_table)                \
  F(needs_scores) F(needs_x) F(wrong_rows) F(wrong_columns) F(heads_divide)                                            \
  F(sum_not_one) F(weight_below_zero) F(numbers_mistaken)                                                              \
  F(folder_in_use) F(training_goes_on) F(no_training) F(hides_more_than_all) F(hides_nothing) F(biases_differ)         \
  F(newer_session) F(source_gone) F(step_not_kept) F(lesson_gone) F(page_alone) F(other_weights)                       \
  F(tensors_complete) F(tensor_not_needed) F(foreign_tensor) F(tensor_as_zero) F(tensor_stored_twice)                  \
  F(positions_stored) F(no_output_layer) F(output_tied) F(output_equal) F(ids_have_vectors) F(ids_without_vectors)     \
  F(weights_constant) F(norms_untrained) F(heads_choose) F(heads_uniform) F(no_reference) F(not_compared)              \
  F(as_reference) F(differs_from_reference) F(as_with_mistake) F(reference_without_answers)
// clang-format on

enum class ErrorCode {
#define HEADLIGHT_ENUMERATOR(code) code,
  HEADLIGHT_ERROR_CODES(HEADLIGHT_ENUMERATOR)
#undef HEADLIGHT_ENUMERATOR
};

#define HEADLIGHT_ONE(code) +1
inline constexpr std::size_t kErrorCodes = HEADLIGHT_ERROR_CODES(HEADLIGHT_ONE);
#undef HEADLIGHT_ONE

/// `bad_value`, `file_absent`, …: as scripts read it.
std::string_view name(ErrorCode code);

}  // namespace headlight
