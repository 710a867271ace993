#include "words/failure_words.h"

#include <nlohmann/json.hpp>

namespace headlight {

const Words& failure_words(ErrorCode code) {
  static const std::vector<Words> all = [] {
    std::vector<Words> meanings;
    for (std::size_t i = 0; i < kErrorCodes; ++i) {
      const auto& row = words_table()["failures"][name(static_cast<ErrorCode>(i))];
      const auto text = [&](std::size_t at) { return row[at].get_ref<const std::string&>().c_str(); };
      meanings.push_back({text(0), text(1)});
    }
    return meanings;
  }();
  return all[static_cast<std::size_t>(code)];
}

}  // namespace headlight
