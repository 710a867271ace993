#include "read/tokenizer/tokenizer_settings.h"

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

constexpr std::size_t kMostSettings = 64 << 20;
constexpr std::array kSpecials{"bos_token", "eos_token", "unk_token", "sep_token",
                               "pad_token", "cls_token", "mask_token"};

/// A token's content, written as a string or as an object.
std::string content_of(const JsonField& field) {
  return field.value().is_object() ? field.text("content") : field.text();
}

AddedToken added_from(const std::string& id, const JsonField& field) {
  AddedToken token{.content = field.text("content"),
                   .single_word = field.flag("single_word", false),
                   .strip_left = field.flag("lstrip", false),
                   .strip_right = field.flag("rstrip", false),
                   .normalized = field.flag("normalized", true),
                   .special = field.flag("special", false)};
  token.id = parse_number<std::int32_t>(id).value_or(-1);
  if (token.id < 0 || token.id >= kMostTokenIds)
    field.problem("under an id from 0 to " + std::to_string(kMostTokenIds - 1));
  return token;
}

void take_config(const JsonField& root, TokenizerSettings& settings) {
  for (const auto& [name, field] : root.fields()) {
    if (field.value().is_boolean()) settings.flags[name] = field.flag();
    if (std::find(kSpecials.begin(), kSpecials.end(), name) != kSpecials.end() && !field.is_null())
      settings.specials[name] = content_of(field);
  }
  settings.tokenizer_class = root.text("tokenizer_class", settings.tokenizer_class);
  if (settings.tokenizer_class.ends_with("Fast")) settings.tokenizer_class.resize(settings.tokenizer_class.size() - 4);
  if (root.has("added_tokens_decoder"))
    for (const auto& [id, field] : root.at("added_tokens_decoder").fields())
      settings.added.push_back(added_from(id, field));
  std::sort(settings.added.begin(), settings.added.end(),
            [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  std::erase_if(settings.added, [](const AddedToken& token) { return token.content.empty(); });
}

/// Hands the document to `take`, where there is such a file.
template <class Take>
Status read_document(const std::filesystem::path& path, Take take) {
  if (!path_exists(path)) return Done{};
  const auto text = read_file(path, kMostSettings);
  if (!text) return text.error();
  const auto document = parse_json(path.string(), *text);
  if (!document) return document.error();
  JsonProblems problems{.where = path.string()};
  take(JsonField(*document, "", problems));
  if (problems.first) return *problems.first;
  return Done{};
}

}  // namespace

bool TokenizerSettings::flag(const std::string& name, bool fallback) const {
  const auto found = flags.find(name);
  return found == flags.end() ? fallback : found->second;
}

std::string TokenizerSettings::special(const std::string& name, const std::string& fallback) const {
  const auto found = specials.find(name);
  return found == specials.end() ? fallback : found->second;
}

Result<TokenizerSettings> read_tokenizer_settings(const std::filesystem::path& folder) {
  TokenizerSettings settings;
  Status status = read_document(folder / "special_tokens_map.json", [&](const JsonField& root) {
    for (const char* name : kSpecials)
      if (root.has(name)) settings.specials[name] = content_of(root.at(name));
  });
  if (!status) return status.error();
  status = read_document(folder / "tokenizer_config.json", [&](const JsonField& root) {
    settings.stored = true;
    take_config(root, settings);
  });
  if (!status) return status.error();
  status = read_document(folder / "config.json", [&](const JsonField& root) {
    if (root.has("model_type")) settings.model_type = root.text("model_type");
  });
  if (!status) return status.error();
  return settings;
}

}  // namespace headlight
