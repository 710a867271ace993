// Enumerations whose values have names in files and on the command line: an array of them in the enumeration's order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

namespace headlight {

/// The value of this name; nothing where none has it.
template <class Enum, std::size_t N>
std::optional<Enum> value_named(const std::string_view (&names)[N], std::string_view name) {
  const auto found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<Enum>(found - std::begin(names));
}

}  // namespace headlight
