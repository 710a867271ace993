#include "words/words.h"

#include <nlohmann/json.hpp>

#include "words/explain_words.h"

namespace headlight {
std::string filled(std::string text, std::initializer_list<std::string> parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    at = text.find('%', at);
    if (at == std::string::npos) break;
    text.replace(at, 1, part);
    at += part.size();
  }
  return text;
}

const nlohmann::json& words_table() {
  static const nlohmann::json table = nlohmann::json::parse(words_json());
  return table;
}

const char* words(Language language, const nlohmann::json& row) {
  return row[language == Language::zh ? 1 : 0].get_ref<const std::string&>().c_str();
}

std::optional<std::string> looked_up(Language language, const char* group, std::string_view name) {
  const nlohmann::json& rows = words_table()[group];
  const auto row = rows.find(name);
  return row == rows.end() ? std::nullopt : std::optional<std::string>(words(language, *row));
}

std::string all_words() {
  std::string all(words_json());
  return all + all_explain_words() + "+−→✓▸▾×";
}

std::string_view gloss_of(std::string_view word) {
  const auto& glosses = words_table()["glosses"];
  const auto found = glosses.find(word);
  return found == glosses.end() ? std::string_view{} : found->get_ref<const std::string&>();
}

const Words& failure_words(ErrorCode code) {
  static const std::vector<Words> all = [] {
    std::vector<Words> meanings;
    for (std::size_t i = 0; i < kErrorCodes; ++i) {
      const auto& row = words_table()["failures"][name(static_cast<ErrorCode>(i))];
      meanings.push_back({words(Language::en, row), words(Language::zh, row)});
    }
    return meanings;
  }();
  return all[static_cast<std::size_t>(code)];
}

}  // namespace headlight
