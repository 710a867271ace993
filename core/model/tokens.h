// A sentence cut into tokens. Every token keeps its byte range; joined in order the ranges give the text back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/picture.h"

namespace headlight {

/// The speaker of a turn in a conversation with an instruct model.
enum class ChatRole : std::uint8_t { system, user, assistant, none };
inline constexpr std::string_view kChatRoles[]{"system", "user", "assistant"};

struct Token {
  std::int64_t id = 0;    // in the model's vocabulary; a hash of the text where there is no vocabulary
  std::string text;       // for display: without leading spaces, unless it is spaces only
  std::string raw;        // as the vocabulary or the sentence spells it: the bytes of the range
  std::size_t begin = 0;  // byte range [begin, end) in Tokens::text
  std::size_t end = 0;
  bool special = false;  // added by the tokenizer
  bool pad = false;
  bool known = true;       // in the vocabulary
  bool continues = false;  // a later piece of the word that the token before belongs to, where Tokens::has_words
  int type = 0;            // of models that distinguish two sentences (token_type_ids)
  ChatRole role = ChatRole::none;  // the speaker of its turn in a conversation, the marks of the turn included

  friend bool operator==(const Token&, const Token&) = default;
};

/// A sentence of more tokens is refused: its patterns would take too long to compute.
inline constexpr std::size_t kMaxTokens = 16384;

struct Tokens {
  std::string text;
  std::vector<Token> tokens;
  std::size_t second = 0;      // of two sentences, the first token of the second; 0: there is one
  bool has_words = false;      // the tokenizer has words: Token::continues marks their later tokens
  std::int64_t word_rows = 0;  // … and ids below are whole words, not pieces that begin one; 0: not known
  std::shared_ptr<const PatchedPicture> picture = {};  // of which these are the patches; null: a text

  std::size_t size() const { return tokens.size(); }
  friend bool operator==(const Tokens&, const Tokens&) = default;
};

/// The id of a token of a tokenizer without a vocabulary: 31 bits of the hash of its text.
std::int64_t hashed_id(std::string_view token_text);

/// Appends padding tokens until there are `size`.
Tokens padded(Tokens tokens, std::size_t size);

/// Where the second of two sentences begins: at Tokens::second where that is set, else at the first token of type 1
/// behind those of type 0. 0: there is one sentence.
std::size_t second_sentence(const Tokens& tokens);

/// Marks the last `count` tokens as padding (all of them where there are fewer).
Tokens with_padding_marked(Tokens tokens, std::size_t count);

}  // namespace headlight
