// Vocabularies of bytes with ranks: tiktoken's files (Llama 3's tokenizer.model, qwen.tiktoken), Mistral's tekken.json,
// and ByT5, whose bytes are its vocabulary.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "read/tokenizer/vocabulary_files.h"

namespace headlight {

/// Whether bytes are lines of Base64 and a number, as tiktoken writes its tables.
bool is_rank_table(std::string_view bytes);

/// tiktoken's table in the text of a file: pieces are merged by the rank of what they make; a piece that is in the
/// table is left whole. It is cut as Llama 3 does (https://github.com/meta-llama/llama3, tokenizer.py), of `qwen` as
/// Qwen does (tokenization_qwen.py), whose special tokens follow the table.
Result<UnfinishedTokenizer> rank_tokenizer(const std::filesystem::path& path, std::string_view text, bool qwen);

/// tekken.json: ids begin behind its special tokens; <s> before the text (mistral-common, tokens/tokenizers/tekken.py).
Result<UnfinishedTokenizer> read_tekken(const std::filesystem::path& path);

/// Xue et al. 2022: ids of bytes begin behind <pad>, </s> and <unk>; </s> after the text.
Result<UnfinishedTokenizer> byte_tokenizer(const std::filesystem::path& path, const TokenizerSettings& settings);

}  // namespace headlight
