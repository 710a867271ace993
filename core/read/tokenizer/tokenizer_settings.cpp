#include "read/tokenizer/tokenizer_settings.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"
#include "read/tokenizer/tokenizer_classes.h"
#include "read/tokenizer/tokenizer_json.h"

namespace headlight {
namespace {

constexpr std::size_t kMostSettings = 64 << 20;
/// In the order in which transformers adds those that the vocabulary lacks.
constexpr std::array kRoles{"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};
constexpr const char* kMoreRoles[] = {"additional_special_tokens", "extra_special_tokens"};

/// A token, written as a string or as an object.
RoleToken role_from(const std::string& role, const JsonField& field) {
  RoleToken read{.role = role, .token = {.content = "", .id = -1, .normalized = false, .special = true}};
  read.described = field.value().is_object();
  if (read.described) {
    read.token = added_token_from(field, -1);
    read.token.normalized = field.flag("normalized", false);
    read.token.special = true;
  } else {
    read.token.content = field.text();
  }
  return read;
}

AddedToken listed_from(const std::string& name, const JsonField& field) {
  const std::int32_t id = parse_number<std::int32_t>(name).value_or(-1);
  const AddedToken token = added_token_from(field, id);
  if (id < 0 || id >= kMostTokenIds) field.problem("under an id from 0 to " + std::to_string(kMostTokenIds - 1));
  return token;
}

/// Replaces the token of a role, or adds one more of a role that has several.
void set_role(TokenizerSettings& settings, RoleToken token, bool one_of_many) {
  const auto same = [&](const RoleToken& other) {
    return one_of_many ? other.token.content == token.token.content : other.role == token.role;
  };
  if (!one_of_many) settings.specials[token.role] = token.token.content;
  const auto there = std::find_if(settings.roles.begin(), settings.roles.end(), same);
  if (there == settings.roles.end()) settings.roles.push_back(std::move(token));
  else if (!one_of_many) *there = std::move(token);
}

void take_roles(const JsonField& root, const std::string& file, TokenizerSettings& settings) {
  for (const char* role : kRoles) {
    if (!root.contains(role)) continue;
    settings.roles_from = file;
    if (!root.at(role).is_null()) {
      set_role(settings, role_from(role, root.at(role)), false);
      continue;
    }
    settings.specials[role] = "";
    std::erase_if(settings.roles, [role](const RoleToken& other) { return other.role == role; });
  }
  for (const char* role : kMoreRoles) {
    if (!root.has(role)) continue;
    settings.roles_from = file;
    const JsonField field = root.at(role);
    if (field.value().is_object())
      for (const auto& [name, item] : field.fields()) set_role(settings, role_from(role, item), true);
    else
      for (const JsonField& item : field.items()) set_role(settings, role_from(role, item), true);
  }
}

void take_class(const JsonField& root, const char* file, TokenizerSettings& settings) {
  if (!settings.tokenizer_class.empty() || !root.has("tokenizer_class")) return;
  settings.tokenizer_class = root.text("tokenizer_class");
  settings.class_from = file;
  if (settings.tokenizer_class.ends_with("Fast")) settings.tokenizer_class.resize(settings.tokenizer_class.size() - 4);
}

void take_version(const JsonField& root, TokenizerSettings& settings) {
  if (root.has("transformers_version") && root.at("transformers_version").value().is_string())
    settings.version_5 = root.text("transformers_version").starts_with("5.");
}

void take_keys(const JsonField& root, TokenizerSettings& settings) {
  for (const auto& [name, field] : root.fields()) {
    if (field.value().is_boolean()) settings.flags[name] = field.flag();
    else if (field.value().is_null() && (name == "add_bos_token" || name == "add_eos_token"))
      settings.flags[name] = false;  // None is not the default of Python's parameter, and false
    else if (is_whole(field.value(), 0, std::uint64_t{1} << 40))
      settings.numbers[name] = field.value().get<std::int64_t>();
    else if (field.value().is_string()) settings.words[name] = field.text();
  }
}

/// Hands the document to `take`, where there is such a file.
template <class Take>
Status read_document(const std::filesystem::path& path, TokenizerSettings& settings, Take take) {
  if (!path_exists(path)) return Done{};
  const auto text = TRY(read_file(path, kMostSettings));
  const auto document = parse_python_json(path.string(), text);
  if (!document) return document.error();
  if (!document->is_object()) return bad_input(path.string(), "", "an object", found_text(*document));
  JsonProblems problems{.where = path.string()};
  take(JsonField(*document, "", problems));
  if (problems.first) return *problems.first;
  settings.any = true;
  return Done{};
}

/// {"<e1>": 170, …}: special where a role names it.
void take_added_tokens(const JsonField& root, TokenizerSettings& settings) {
  std::set<std::string> special;
  for (const RoleToken& role : settings.roles) special.insert(role.token.content);
  for (const auto& [content, field] : root.fields()) {
    const auto id = static_cast<std::int32_t>(field.integer(0, kMostTokenIds - 1));
    const bool is_special = special.contains(content);
    settings.added.push_back({.content = content, .id = id, .normalized = !is_special, .special = is_special});
  }
  settings.added_from = "added_tokens.json";
}

}  // namespace

bool TokenizerSettings::flag(const std::string& name, bool fallback) const {
  const auto found = flags.find(name);
  return found == flags.end() ? fallback : found->second;
}

std::string TokenizerSettings::word(const std::string& name, const std::string& fallback) const {
  const auto found = words.find(name);
  return found == words.end() ? fallback : found->second;
}

std::string TokenizerSettings::special(const std::string& name, const std::string& fallback) const {
  const auto found = specials.find(name);
  return found == specials.end() ? fallback : found->second;
}

Result<TokenizerSettings> read_tokenizer_settings(const std::filesystem::path& folder) {
  TokenizerSettings settings;
  TRY(read_document(folder / "tokenizer_config.json", settings, [&](const JsonField& root) {
    settings.stored = true;
    take_class(root, "tokenizer_config.json", settings);
    take_keys(root, settings);
    take_roles(root, "tokenizer_config.json", settings);
    take_version(root, settings);
    if (!root.has("added_tokens_decoder")) return;
    settings.added_from = "tokenizer_config.json";
    for (const auto& [id, field] : root.at("added_tokens_decoder").fields())
      settings.added.push_back(listed_from(id, field));
  }));
  if (settings.added_from.empty()) {
    TRY(read_document(folder / "special_tokens_map.json", settings,
                      [&](const JsonField& root) { take_roles(root, "special_tokens_map.json", settings); }));
    TRY(read_document(folder / "added_tokens.json", settings,
                      [&](const JsonField& root) { take_added_tokens(root, settings); }));
  }
  // What is wrong with config.json is told where the model is read.
  (void)read_document(folder / "config.json", settings, [&](const JsonField& root) {
    if (root.has("model_type") && root.at("model_type").value().is_string())
      settings.model_type = root.text("model_type");
    if (root.has("tokenizer_class") && root.at("tokenizer_class").value().is_string())
      take_class(root, "config.json", settings);
    if (!settings.version_5) take_version(root, settings);
  });
  if (settings.tokenizer_class.empty() && !settings.model_type.empty()) {
    settings.tokenizer_class = class_of_model_type(settings.model_type);
    settings.class_from = "the model type " + settings.model_type;
  }
  std::erase_if(settings.roles, [](const RoleToken& role) { return role.token.content.empty(); });
  std::erase_if(settings.added, [](const AddedToken& token) { return token.content.empty(); });
  std::stable_sort(settings.roles.begin(), settings.roles.end(), [](const RoleToken& a, const RoleToken& b) {
    const auto rank = [](const RoleToken& one) { return std::find(kRoles.begin(), kRoles.end(), one.role); };
    return rank(a) < rank(b);
  });
  std::stable_sort(settings.added.begin(), settings.added.end(),
                   [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  return settings;
}

}  // namespace headlight
