// What the tests of the tokenizers share: tokenizers from JSON, and their tokens in a form that can be compared.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/file.h"
#include "read/tokenizer/tokenizer_json.h"
#include "temporary_folder.h"
#include "text/tokenizer.h"

namespace headlight {

/// A tokenizer whose words are whole pieces: one that knows no word shows each piece as it was cut.
inline nlohmann::json pieces_json() {
  // A list of pairs between braces would be an object.
  const auto vocabulary = nlohmann::json::array({nlohmann::json::array({"<unk>", 0.0})});
  return {{"version", "1.0"}, {"model", {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocabulary}}}};
}

inline Tokenizer tokenizer_of(const nlohmann::json& json) {
  auto parsed = parse_tokenizer_json("tokenizer.json", json.dump());
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message());
  return parsed ? std::move(parsed->tokenizer) : Tokenizer{};
}

/// The one line by which a tokenizer.json is refused.
inline std::string refused_json(const nlohmann::json& json) {
  const auto parsed = parse_tokenizer_json("tokenizer.json", json.dump());
  EXPECT_FALSE(parsed);
  return parsed ? "" : parsed.error().message();
}

inline Tokens tokens_of_text(const Tokenizer& tokenizer, std::string_view text, bool add_special_tokens = true) {
  auto tokens = encode(tokenizer, text, add_special_tokens);
  EXPECT_TRUE(tokens) << (tokens ? "" : tokens.error().message());
  return tokens ? *std::move(tokens) : Tokens{};
}

template <class Get>
auto each(const Tokens& tokens, Get get) {
  std::vector<std::decay_t<decltype(get(Token{}))>> all;
  for (const Token& token : tokens.tokens) all.push_back(get(token));
  return all;
}
inline std::vector<std::int64_t> ids(const Tokens& tokens) {
  return each(tokens, [](const Token& token) { return token.id; });
}
inline std::vector<std::string> raws(const Tokens& tokens) {
  return each(tokens, [](const Token& token) { return token.raw; });
}
inline std::vector<std::string> texts(const Tokens& tokens) {
  return each(tokens, [](const Token& token) { return token.text; });
}
inline std::vector<std::pair<std::size_t, std::size_t>> ranges(const Tokens& tokens) {
  return each(tokens, [](const Token& token) { return std::pair{token.begin, token.end}; });
}

using Folder = TemporaryFolder;

}  // namespace headlight
