// Lists within lists of numbers, all of one shape, as JSON writes an array.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "read/array/array.h"

namespace headlight {

/// The array that stands at `place` of a file, with at most so many axes. Takes no more memory than the numbers that
/// are there, whatever the first lists promise. Errors name the path of an empty or ragged list, and of what is no
/// number.
Result<Array> nested_numbers(std::string_view where, const std::string& place, const nlohmann::json& list,
                             std::size_t most_axes);

}  // namespace headlight
