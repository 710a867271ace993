// The view as JSON: the `view` of a session and of a lesson's step.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "view/view_state.h"

namespace headlight {

nlohmann::json view_json(const ViewState& view);
/// The `view` of a session. It never keeps one from opening: what cannot be used takes its default.
ViewState view_from_json(const nlohmann::json& object, std::size_t num_sentences);

/// A number that was written as an index, 0 for anything else; bounded, so that sums of them are numbers too.
Index index_from_json(const nlohmann::json& value);

}  // namespace headlight
