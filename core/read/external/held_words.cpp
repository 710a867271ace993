#include "read/external/held_words.h"

#include <algorithm>

#include "base/formatted.h"
#include "read/external/patterns.h"
#include "read/external/table_markup.h"
#include "read/json/json_document.h"

namespace headlight {
namespace {

/// The metadata's tokens for one side of an attention: the first list that the file has.
Result<Tokens> take_tokens(std::string_view where, const ArrayFile& file, std::initializer_list<const char*> keys,
                           Index count) {
  for (const char* key : keys)
    if (const auto list = metadata_text(file, key)) return parse_tokens(where, key, list, count);
  return numbered_tokens(count);
}

/// Whether it is `tokens` and its like, perhaps of a sentence: `0.tokens`.
bool names_side(std::string_view name) {
  name.remove_prefix(name.rfind('.') + 1);
  return name == "tokens" || name == "key_tokens" || name == "target_tokens";
}

void ids_to_texts(nlohmann::json& words) {
  for (auto& word : words)
    if (word.is_array()) ids_to_texts(word);
    else if (word.is_number_integer()) word = word.dump();
}

std::string one_form(const std::string& text) {
  auto words = nlohmann::json::parse(text, nullptr, false);
  if (words.is_object() || (words.is_discarded() && text.find_first_of("[{\"") == 0)) return text;  // an error
  if (!words.is_array()) {
    const std::string plain = words.is_string() ? words.get<std::string>() : text;
    words = nlohmann::json::array();
    for (std::size_t at = 0; at < plain.size();) {
      const std::size_t end = std::min(plain.find_first_of(kTableSpaces, at), plain.size());
      if (end > at) words.push_back(plain.substr(at, end - at));
      at = end + 1;
    }
  }
  if (words.size() == 1 && words[0].is_array()) words = nlohmann::json(words[0]);
  ids_to_texts(words);
  return words.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void take_words(ArrayFile& file) {
  for (const auto& [name, array] : file.arrays) {
    if (!names_side(name) || array.shape.empty() || array.shape.back() != static_cast<Index>(array.values.size()))
      continue;
    const std::vector<std::int64_t> ids(array.values.begin(), array.values.end());
    file.metadata.emplace(name, nlohmann::json(ids).dump());
  }
  std::erase_if(file.arrays,
                [&](const auto& one) { return names_side(one.first) && file.metadata.contains(one.first); });
  std::map<std::string, nlohmann::json> lists;  // of `tokens.0`, `tokens.1`, one of each sentence
  for (const auto& [name, text] : file.metadata) {
    const std::string side = name.substr(0, std::min(name.rfind('.'), name.size()));
    if (side != name && names_side(side) && !names_side(name))
      lists[side].push_back(nlohmann::json::parse(text, nullptr, false));
  }
  std::erase_if(file.metadata, [&](const auto& one) {
    return !names_side(one.first) &&
           lists.contains(one.first.substr(0, std::min(one.first.rfind('.'), one.first.size())));
  });
  for (const auto& [side, list] : lists) file.metadata[side] = list.dump();
  for (auto& [name, text] : file.metadata)
    if (names_side(name)) text = one_form(text);
}

Result<Tokens> parse_tokens(std::string_view where, const std::string& key, const std::optional<std::string>& list,
                            Index count) {
  if (!list) return numbered_tokens(count);
  std::vector<std::string> texts;
  const std::string inside = std::string(where) + ": metadata " + key;
  const auto parsed = parse_json(inside, *list);
  if (!parsed) return parsed.error();
  if (!parsed->is_array()) return bad_input(inside, "", "a JSON list", parsed->type_name());
  for (const auto& text : *parsed) {
    if (!text.is_string()) return bad_input(inside, "", "a list of strings", text.type_name());
    texts.push_back(text.get<std::string>());
  }
  if (texts.size() != static_cast<std::size_t>(count))
    return bad_input(inside, "", std::to_string(count) + " tokens", std::to_string(texts.size()));
  return tokens_of(texts);
}

Status name_sides(std::string_view where, const ArrayFile& file, Stack stack, bool one, ExternalStack& named,
                  Index queries, Index keys) {
  const bool target = file.metadata.contains("target_tokens"), key_words = file.metadata.contains("key_tokens");
  const bool of_target = stack != Stack::encoder && (target || !one);
  const auto count = [&]() -> Index {
    const auto list = metadata_text(file, "tokens");
    auto parsed = parse_json(where, list ? *list : std::string("0"));
    return parsed && parsed->is_array() ? static_cast<Index>(parsed->size()) : -1;
  }();
  const bool of_keys = !target && !key_words && queries != keys && count == keys;
  const bool of_source = !target && !one && of_target && count != queries;
  if (of_keys || of_source) named.query_tokens = numbered_tokens(queries);
  else
    named.query_tokens = TRY(of_target ? take_tokens(where, file, {"target_tokens", "tokens"}, queries)
                                       : take_tokens(where, file, {"tokens"}, queries));
  // The keys of a self-attention are its queries, where they are as many; those of a cross-attention the source.
  const bool source = of_keys || ((stack == Stack::cross || (one && (queries != keys || count == keys))) && target);
  named.key_tokens = TRY(source                                        ? take_tokens(where, file, {"tokens"}, keys)
                         : key_words && (one || stack == Stack::cross) ? take_tokens(where, file, {"key_tokens"}, keys)
                         : stack != Stack::cross && queries == keys    ? Result<Tokens>(named.query_tokens)
                                                                       : numbered_tokens(keys));
  return Done{};
}

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
