// What stands beside a tokenizer's file and changes its ids: tokenizer_config.json, special_tokens_map.json,
// added_tokens.json, and what config.json says of the tokenizer's class.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/pre_tokenizer.h"

namespace headlight {

/// A special token as a role names it (bos_token, …, additional_special_tokens); its id is not known here.
struct RoleToken {
  std::string role;
  AddedToken token;
  bool described = false;  // as an object with its own flags, not as a text alone
};

struct TokenizerSettings {
  bool stored = false;                               // there is a tokenizer_config.json
  bool any = false;                                  // there is any of these files
  std::string tokenizer_class = {};                  // without "Fast"; empty: none is stated
  std::string class_from = {};                       // the file that states it, or config.json's model type
  std::string model_type = {};                       // of config.json; empty: not stated
  bool version_5 = false;                            // written by version 5 of transformers
  std::map<std::string, bool> flags = {};            // do_lower_case, add_prefix_space, legacy, …
  std::map<std::string, std::string> words = {};     // src_lang, word_tokenizer_type, …
  std::map<std::string, std::int64_t> numbers = {};  // extra_ids, …
  std::map<std::string, std::string> specials = {};  // bos_token, unk_token, …: their contents; null: empty
  std::vector<RoleToken> roles = {};                 // the same as tokens, in transformers' order
  std::string roles_from = {};                       // the file that names most of them
  std::vector<AddedToken> added = {};                // by id
  std::string added_from = {};                       // the file that lists them

  bool flag(const std::string& name, bool fallback) const;
  bool states(const std::string& name) const { return flags.contains(name); }
  std::string word(const std::string& name, const std::string& fallback) const;
  /// Empty where the file says null.
  std::string special(const std::string& name, const std::string& fallback) const;
};

/// Files that are not there leave fields empty. As in transformers, added_tokens_decoder of tokenizer_config.json goes
/// before added_tokens.json and special_tokens_map.json; without it special_tokens_map.json goes before
/// tokenizer_config.json. The class is that of tokenizer_config.json, else of config.json, else that of the model type.
/// Errors name the file and the field.
Result<TokenizerSettings> read_tokenizer_settings(const std::filesystem::path& folder);

}  // namespace headlight
