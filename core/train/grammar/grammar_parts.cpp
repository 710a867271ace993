#include "train/grammar/grammar_parts.h"

#include <algorithm>

#include "base/printable.h"

namespace headlight {

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n", begin), text.size());
    if (end > begin) parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string in_quotes(std::string_view part) { return "\"" + printable(part) + "\""; }

}  // namespace headlight
