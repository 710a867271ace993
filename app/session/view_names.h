// The views of the window as files name them.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "session/view_state.h"

namespace headlight {

/// Of View, in its order.
inline constexpr std::string_view kViewNames[] = {"heads", "inside", "flow", "train", "compare"};

inline std::string_view view_name(View view) { return kViewNames[static_cast<std::size_t>(view)]; }

inline std::optional<View> parse_view(std::string_view name) {
  const auto found = std::find(std::begin(kViewNames), std::end(kViewNames), name);
  if (found == std::end(kViewNames)) return std::nullopt;
  return static_cast<View>(found - std::begin(kViewNames));
}

}  // namespace headlight
