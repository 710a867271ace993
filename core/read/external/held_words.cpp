#include "read/external/held_words.h"

#include <algorithm>

#include "base/formatted.h"
#include "read/json/json_document.h"

namespace headlight {

Status choose_words(std::string_view where, const ArrayChoice& choice, const std::map<std::string, Array>& arrays,
                    std::map<std::string, std::string>& metadata, std::vector<Error>& notes) {
  for (auto& [key, text] : metadata) {
    if (key != "tokens" && key != "key_tokens" && key != "target_tokens") continue;
    auto parsed = parse_json(where, text);
    if (!parsed || !parsed->is_array() || parsed->empty()) continue;
    nlohmann::json words = *parsed;
    if (words.front().is_array()) {
      TRY(check_within(where, "--sentence: " + key, choice.sentence.value_or(0), static_cast<Index>(words.size())));
      words = nlohmann::json(words[static_cast<std::size_t>(choice.sentence.value_or(0))]);
    }
    const auto& shape = arrays.begin()->second.shape;
    const std::size_t most = static_cast<std::size_t>(std::max(shape[2], shape[3]));
    if (arrays.size() == 1 && words.size() == most + 1 && words.is_array()) {
      notes.emplace_back(
          ErrorCode::bad_value, where,
          key + ": the last of " + std::to_string(words.size()) + " is left out: generate() did not read it");
      words.erase(words.size() - 1);
    }
    text = words.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return Done{};
}

bool lists_sentences(const ArrayFile& held) {
  const auto tokens = metadata_text(held, "tokens");
  return tokens && tokens->starts_with("[[");
}

std::vector<Error> words_of_no_side(std::string_view where, const ArrayFile& file) {
  std::vector<Error> warnings;
  for (const auto& [name, text] : file.metadata)
    if (text.starts_with("[\"") && !name.ends_with("tokens"))
      warnings.emplace_back(ErrorCode::foreign_tensor, where,
                            printable(name) + ": words that are not used; tokens, key_tokens and target_tokens are");
  return warnings;
}

}  // namespace headlight
