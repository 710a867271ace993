// The tokenizer of a checkpoint, from whichever files its folder has.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/likely_words.h"
#include "text/tokenizer.h"

namespace headlight {

struct TokenizerFile {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const Tokenizer> target = nullptr;  // of the decoder's side, where it has another one (Marian)
  std::filesystem::path file = {};                    // where the vocabulary came from
  std::vector<std::string> rules = {};                // what files beside it, or its class, decided
  std::vector<Error> warnings = {};
};

/// Whether rules of transformers' classes and of the files beside a tokenizer.json are applied.
enum class ClassRules { applied, left_out };

/// The first of these that the folder has: tokenizer.json; vocab.json with merges.txt, or encoder.json with vocab.bpe;
/// source.spm with vocab.json (Marian); vocab.txt, perhaps with bpe.codes; a SentencePiece model (tokenizer.model,
/// spiece.model, sentencepiece.bpe.model, spm.model), or tiktoken's table under the first of these names;
/// qwen.tiktoken; tekken.json; nothing but the class ByT5Tokenizer. What they leave open is taken from
/// tokenizer_config.json, special_tokens_map.json, added_tokens.json and config.json, else it is as transformers has it
/// by default; so is what transformers' class changes of a tokenizer.json (tokenizer_classes.h), unless it is left out.
/// Errors name the file; a folder with none of them is one.
Result<TokenizerFile> read_tokenizer(const std::filesystem::path& folder, ClassRules rules = ClassRules::applied);

/// Whether the folder has a file that the ids can be read from.
bool has_tokenizer(const std::filesystem::path& folder);

/// The words and costs of the rule `Words` of a folder's tokenizer.json, which need no model to cut text. An Error
/// where it has none.
Result<std::vector<LikelyWords::Word>> read_word_costs(const std::filesystem::path& folder);

}  // namespace headlight
