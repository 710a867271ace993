// A conversation as the tokens that an instruct model was trained on: turns between the special tokens of its family. A
// chat_template is a program of the model's authors and is never executed; the families below are known by their tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/tokenizer.h"

namespace headlight {

enum class ChatRole { system, user, assistant };

struct ChatTurn {
  ChatRole role = ChatRole::user;
  std::string text = {};  // UTF-8
};

/// `user:Hello`. Errors: another role, no colon, text that is not UTF-8.
Result<ChatTurn> parse_chat_turn(const std::string& text);

/// The ids of the conversation with the special tokens that the tokenizer puts around a text; behind a turn that is not
/// the assistant's stands the beginning of its answer. Families: ChatML (Qwen), Llama 3, Gemma, Phi-3, Mistral with
/// control tokens, each known by words of the vocabulary.
/// Errors: a tokenizer of none of them, a role that the family does not have.
Result<std::vector<std::int64_t>> chat_ids(const Tokenizer& tokenizer, const std::vector<ChatTurn>& turns);

}  // namespace headlight
