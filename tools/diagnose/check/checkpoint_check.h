// Is this checkpoint loaded right? Its answers against those of the reference beside it, and what is visible without a
// reference: weights that nothing filled, attention near uniform, words without a vector.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "math/forward.h"
#include "model/finding.h"
#include "model/trace.h"
#include "read/array/array.h"
#include "read/hub/checkpoint.h"
#include "read/tokenizer/tokenizer_file.h"

namespace headlight {

/// Tolerance of an answer against its reference: weights absolutely, all else relative to the array's largest number.
inline constexpr float kWeightTolerance = 2e-5f, kStateTolerance = 1e-4f;

/// Loads the folder and looks at it. Where the reference's answers agree, what else looks untrained is a note. What
/// makes it unreadable is an error among the findings. Stopped: no findings. `reference.npz` beside the model holds
/// `ids` (T) and, as the model reads them, `decoder_ids`, `token_type_ids`, then the reference's answers under the
/// names that an export gives them; axes of one element are of no consequence. Of a model of pictures it holds
/// `pixel_values` (3, H, W), as the model reads them, instead of ids.
std::vector<Finding> check_checkpoint(const std::filesystem::path& folder, Progress& progress);

/// The same of a model that was loaded from this folder, with these warnings; ids are those of these `rules`.
std::vector<Finding> check_checkpoint(const std::filesystem::path& folder, const std::shared_ptr<const Model>& model,
                                      const std::vector<Error>& warnings, Progress& progress,
                                      ClassRules rules = ClassRules::applied);
/// … asked about a picture (model/picture.h), whose pixels are compared too; where it is only an example, about those
/// of the reference, if there is one. Null: as without it.
struct AskedPicture {
  Tokens tokens;
  bool is_example = false;
};
std::vector<Finding> check_checkpoint(const std::filesystem::path& folder, const std::shared_ptr<const Model>& model,
                                      const std::vector<Error>& warnings, Progress& progress, ClassRules rules,
                                      const AskedPicture* picture);

/// The question that the reference answered: ids without special tokens added, pixels, or `picture`. An Error names the
/// array that is missing or holds something else.
Result<Request> request_of(std::string_view where, const ArrayFile& reference,
                           const std::shared_ptr<const Model>& model, const Tokens* picture = nullptr);

/// One finding for each array of the reference that is an answer.
std::vector<Finding> compare_answers(std::string_view where, const ArrayFile& reference, const Trace& trace);

/// The usual mistake by which this model computes other attention than the reference, where one explains the first
/// layer that differs (tools/diagnose): a note. Nothing where none does, and of more than kMostDiagnosed weights.
std::optional<Finding> diagnose_answers(std::string_view where, const ArrayFile& reference, const Trace& trace);
inline constexpr Index kMostDiagnosed = Index{1} << 24;

/// A request of tokens that are known by their ids alone.
Request request_of_ids(const std::shared_ptr<const Model>& model, const std::vector<std::int64_t>& ids,
                       const std::vector<std::int64_t>& decoder_ids, const std::vector<std::int64_t>& types);

/// A request of a picture.
Request request_of_picture(const std::shared_ptr<const Model>& model, const Tokens& picture);

}  // namespace headlight
