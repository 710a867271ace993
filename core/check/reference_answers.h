// The answers that a reference implementation wrote beside a checkpoint, held against Headlight's.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "check/checkpoint_check.h"
#include "model/trace.h"
#include "read/array/array.h"

namespace headlight {

/// The question that the reference answered: ids without special tokens added. An Error names the array that is missing
/// or holds something else than ids.
Result<Request> request_of(std::string_view where, const ArrayFile& reference,
                           const std::shared_ptr<const Model>& model);

/// One finding for each array of the reference that is an answer.
std::vector<Finding> compare_answers(std::string_view where, const ArrayFile& reference, const Trace& trace);

/// The usual mistake by which this model computes other attention than the reference, where one explains the first
/// layer that differs (core/diagnose): a note. Nothing where none does, and of more than kMostDiagnosed weights.
std::optional<Finding> diagnose_answers(std::string_view where, const ArrayFile& reference, const Trace& trace);
inline constexpr Index kMostDiagnosed = Index{1} << 24;

/// A request of tokens that are known by their ids alone.
Request request_of_ids(const std::shared_ptr<const Model>& model, const std::vector<std::int64_t>& ids,
                       const std::vector<std::int64_t>& decoder_ids, const std::vector<std::int64_t>& types);

}  // namespace headlight
