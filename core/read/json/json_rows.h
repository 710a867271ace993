// Rows of numbers in JSON: looked at as a whole before a matrix is made of them.
#pragma once

#include <cstddef>
#include <optional>

#include <nlohmann/json.hpp>

namespace headlight {

/// The first row of a list of lists that is no list as long as the first; nothing where all are, and a matrix of them
/// takes less memory than the parsed document. `rows` is not empty and begins with a list.
inline std::optional<std::size_t> odd_row(const nlohmann::json& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!rows[i].is_array() || rows[i].size() != rows[0].size()) return i;
  return std::nullopt;
}

}  // namespace headlight
