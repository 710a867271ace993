// What transformers' tokenizer classes make of their files beyond what tokenizer.json says: the keys of
// tokenizer_config.json that they read, and tokens that they add. Rules are those of version 4; of files that version 5
// wrote, those of version 5, where tokenizer.json's own template counts.
// https://github.com/huggingface/transformers/tree/v4.57.1/src/transformers/models (tokenization_*_fast.py)
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "read/tokenizer/tokenizer_settings.h"
#include "text/tokenizer.h"

namespace headlight {

/// What a rule decided, and which file or class says so: "bos <s>: by tokenizer_config.json (add_bos_token)".
using AppliedRules = std::vector<std::string>;

/// The class that AutoTokenizer takes for a model type, without "Fast"; empty: none is known here.
std::string class_of_model_type(std::string_view model_type);

/// Whether a class is one of those without rules of its own: the file counts as it is.
bool is_plain_class(std::string_view name);

/// An Error for a class that cuts text with a program that is not here (MeCab, jieba, …), whatever files there are.
Status check_class(std::string_view where, const TokenizerSettings& settings);

/// Changes the document of a tokenizer.json where the class sets a normalizer or a space in front.
void apply_to_document(nlohmann::json& document, const TokenizerSettings& settings, AppliedRules& rules);

/// How tokens that the vocabulary lacks are numbered.
enum class Numbering { as_stated, after_the_last };

/// `tokenizer` gets `present`, the tokens of its own file with their ids, those that the settings list, and those that
/// roles name. Later ones replace the flags of earlier ones; listed in added_tokens.json, the file's own count.
Status add_tokens(std::string_view where, Tokenizer& tokenizer, std::vector<AddedToken> present,
                  const TokenizerSettings& settings, Numbering numbering, AppliedRules& rules,
                  std::vector<Error>& warnings);

/// Sets the template where the class does: begin and end tokens (Llama, Code Llama, Gemma, Cohere, GPT-NeoX), language
/// codes (mBART, mBART-50). A warning where the token that belongs there is not in the vocabulary.
void apply_template(Tokenizer& tokenizer, const TokenizerSettings& settings, AppliedRules& rules,
                    std::vector<Error>& warnings, std::string_view where);

/// The id of a word or an added token.
std::optional<std::int32_t> id_of_token(const Tokenizer& tokenizer, const std::string& word);

}  // namespace headlight
