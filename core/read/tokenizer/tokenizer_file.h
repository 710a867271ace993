// The tokenizer of a checkpoint, from whichever files its folder has.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/likely_words.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer.h"

namespace headlight {

struct TokenizerSettings {
  bool stored = false;                               // there is a tokenizer_config.json
  std::string tokenizer_class = {};                  // without "Fast"; empty: not stated
  std::string model_type = {};                       // of config.json; empty: not stated
  std::map<std::string, bool> flags = {};            // do_lower_case, add_prefix_space, legacy, …
  std::map<std::string, std::string> specials = {};  // bos_token, unk_token, …: their contents
  std::vector<AddedToken> added = {};                // added_tokens_decoder, by id

  bool flag(const std::string& name, bool fallback) const;
  std::string special(const std::string& name, const std::string& fallback) const;
};

/// Files that are not there leave fields empty. Errors name the file and the field.
Result<TokenizerSettings> read_tokenizer_settings(const std::filesystem::path& folder);

struct TokenizerFile {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const Tokenizer> target = nullptr;  // of the decoder's side, where it has another one (Marian)
  std::filesystem::path file = {};                    // where the vocabulary came from
  std::vector<Error> warnings = {};
};

/// The first of these that the folder has: tokenizer.json; vocab.json with merges.txt (GPT-2, RoBERTa, BART, Qwen2);
/// source.spm with vocab.json (Marian); vocab.txt (BERT and its kin); tokenizer.model, spiece.model or
/// sentencepiece.bpe.model (Llama, T5, XLM-R). What those other than tokenizer.json leave open is taken from
/// tokenizer_config.json, special_tokens_map.json and config.json, else it is as transformers has it by default.
/// Errors name the file; a folder with none of them is one.
Result<TokenizerFile> read_tokenizer(const std::filesystem::path& folder);

/// The words and costs of the rule `Words` of a folder's tokenizer.json, which need no model to cut text. An Error
/// where it has none.
Result<std::vector<LikelyWords::Word>> read_word_costs(const std::filesystem::path& folder);

}  // namespace headlight
