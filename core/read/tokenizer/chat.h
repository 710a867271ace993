// A conversation as the text that an instruct model was trained on: turns between the marks of its family. A
// chat_template is a program of the model's authors and is never executed; the families below are known by their words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/tokens.h"

namespace headlight {

struct Tokenizer;

struct ChatTurn {
  ChatRole role = ChatRole::user;
  std::string text = {};  // UTF-8

  friend bool operator==(const ChatTurn&, const ChatTurn&) = default;
};

struct Chat {
  std::vector<ChatTurn> turns = {};
  bool open = false;  // the last turn, the assistant's, has no end: the model goes on with it

  friend bool operator==(const Chat&, const Chat&) = default;
};

/// `user:Hello`. Errors: another role, no colon, text that is not UTF-8.
Result<ChatTurn> parse_chat_turn(const std::string& text);

/// How a family of instruct models writes conversations.
struct ChatFamily;

/// The family of a tokenizer: ChatML (Qwen), Llama 2, Llama 3, Gemma, Phi-3, or Mistral with control tokens. Each is
/// known by words of its vocabulary, and by the same words in `chat_template` where there is one; Llama 2, whose marks
/// are ordinary text, by its template alone. Null: none of them.
const ChatFamily* chat_family(const Tokenizer& tokenizer, std::string_view chat_template);

/// The chat families, for a message.
std::string chat_families();

/// Whether conversations of the family have turns of this role.
bool has_role(const ChatFamily& family, ChatRole role);

/// The text of the conversation, without the special tokens that the tokenizer puts around every text; behind a turn
/// that is not the assistant's stands the beginning of its answer. White space at the ends of a turn is left out where
/// the family's template does so. Errors: a role that the family does not have, one where it cannot stand.
Result<std::string> chat_text(const ChatFamily& family, const Chat& chat);

/// Gives each token the role of the turn that it belongs to, found by the marks of the family in the text, so that a
/// conversation may also have come as text or as ids.
void mark_roles(const ChatFamily& family, Tokens& tokens);

}  // namespace headlight
