// Tokenizers of the files from before tokenizer.json, each as transformers' converter makes it of the class that the
// settings name.
// https://github.com/huggingface/transformers/blob/v4.57.1/src/transformers/convert_slow_tokenizer.py
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "read/tokenizer/tokenizer_classes.h"
#include "read/tokenizer/tokenizer_settings.h"
#include "text/tokenizer.h"

namespace headlight {

/// A tokenizer before its listed tokens are added (add_tokens): `present` are those of its own vocabulary.
struct UnfinishedTokenizer {
  Tokenizer tokenizer;
  std::filesystem::path file = {};
  std::vector<AddedToken> present = {};
  std::vector<Error> warnings = {};
};

/// Byte-level pairs, vocab.json and merges.txt (or encoder.json and vocab.bpe): GPT-2 and OPT, RoBERTa and BART,
/// DeBERTa, Qwen2, CodeGen.
Result<UnfinishedTokenizer> read_byte_pairs(const std::filesystem::path& vocabulary,
                                            const std::filesystem::path& merges, const TokenizerSettings& settings);

/// vocab.txt, a word a line: BERT and its kin, MPNet.
Result<UnfinishedTokenizer> read_wordpiece(const std::filesystem::path& path, const TokenizerSettings& settings);

/// BERTweet: vocab.txt of pieces with their counts, bpe.codes of merges with theirs.
Result<UnfinishedTokenizer> read_fast_bpe(const std::filesystem::path& vocabulary, const std::filesystem::path& codes,
                                          const TokenizerSettings& settings);

/// A vocabulary {word: id} in a file of its own.
Result<WordTable> read_vocabulary_json(const std::filesystem::path& path);

/// A special token, looked for in the text as it was typed.
AddedToken special_token(std::string content, bool strip_left = false);
/// Drops those that the vocabulary has not, gives the others its ids.
std::vector<AddedToken> those_of_vocabulary(const Tokenizer& tokenizer, std::vector<AddedToken> tokens);
/// A template of these words, which the vocabulary must have; an empty word is none.
Status surround(const std::filesystem::path& path, Tokenizer& tokenizer, const std::string& first,
                const std::string& last, int separators, int type);

/// Lines without their ends; what follows the last end is a line, unless it is empty.
std::vector<std::string_view> lines_of(std::string_view text);
/// The text of a file, which must be UTF-8.
Result<std::string> read_text(const std::filesystem::path& path);

inline constexpr std::size_t kMostTokenizerBytes = std::size_t{256} << 20;
/// How Qwen2's converter cuts a text.
inline constexpr const char* kQwenSplit =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

}  // namespace headlight
