// What tokenizer_config.json, special_tokens_map.json and config.json say of a tokenizer whose vocabulary is in other
// files.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/added_tokens.h"

namespace headlight {

struct TokenizerSettings {
  bool stored = false;                               // there is a tokenizer_config.json
  std::string tokenizer_class = {};                  // without "Fast"; empty: not said
  std::string model_type = {};                       // of config.json; empty: not said
  std::map<std::string, bool> flags = {};            // do_lower_case, add_prefix_space, legacy, …
  std::map<std::string, std::string> specials = {};  // bos_token, unk_token, …: their contents
  std::vector<AddedToken> added = {};                // added_tokens_decoder, by id

  bool flag(const std::string& name, bool fallback) const;
  std::string special(const std::string& name, const std::string& fallback) const;
};

/// Files that are not there say nothing. Errors name the file and the field.
Result<TokenizerSettings> read_tokenizer_settings(const std::filesystem::path& folder);

}  // namespace headlight
