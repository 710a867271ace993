// The tokenizer in the metadata of a GGUF file: byte pairs, or SentencePiece's pieces by their scores.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "read/gguf/gguf_file.h"
#include "read/tokenizer/tokenizer_file.h"

namespace headlight {

/// Errors: a kind of tokenizer, or a way to cut a text before it (tokenizer.ggml.pre), that is not known; lists that do
/// not fit each other.
Result<TokenizerFile> gguf_tokenizer(const GgufFile& file);

/// The ids after which nothing is written, and the text of the program that writes conversations.
std::vector<std::int64_t> gguf_ends(const GgufFile& file);
std::string gguf_chat_template(const GgufFile& file);

/// Of a GGUF file, or of a folder.
Result<TokenizerFile> tokenizer_at(const std::filesystem::path& path, ClassRules rules = ClassRules::applied);

}  // namespace headlight
