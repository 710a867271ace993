#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace headlight {

/// The parts of a text between separators, one more than there are of these; an empty text has one empty part.
inline std::vector<std::string_view> split_at(char separator, std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace headlight
