// The words and merges of a large tokenizer.json, kept in a file beside the settings: its next reading parses what is
// left of it alone. A file that is missing, damaged or not writable costs time and nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "text/subwords.h"

namespace headlight {

/// Bytes of the smallest tokenizer.json whose words are kept, and how many files of them.
inline constexpr std::size_t kLeastKeptTokenizer = std::size_t{4} << 20;
inline constexpr std::size_t kMostKeptTokenizers = 8;

struct KeptWords {
  std::string rest;  // the document without them, as JSON
  Bpe bpe;           // without its options
};

/// Those of the tokenizer.json with this text, found by its hash and length; none where they are not kept.
std::optional<KeptWords> kept_words(std::string_view text);

/// The document with empty `model.vocab` and `model.merges`; empty where the words of this text are not to be kept: it
/// is small, or no byte-pair encoding.
std::string without_words(nlohmann::json& document, std::string_view text);

/// Keeps them, in place of the longest unused ones.
void keep_words(std::string_view text, std::string_view rest, const Bpe& bpe);

}  // namespace headlight
