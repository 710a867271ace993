#include "read/tokenizer/chat.h"

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "base/utf8.h"

namespace headlight {
namespace {

/// What stands before and behind a turn; null before: the family has no such role.
struct Around {
  const char *before = nullptr, *behind = "";
};

/// How a family writes a conversation, as its authors document it.
struct ChatFamily {
  const char* name;
  std::array<const char*, 2> signs;  // words of its vocabulary that no other family has both of
  std::array<Around, 3> turns;       // by ChatRole
};

constexpr std::array kChatFamilies{
    // https://github.com/openai/openai-python/blob/v0.28.1/chatml.md
    ChatFamily{"ChatML",
               {"<|im_start|>", "<|im_end|>"},
               {{{"<|im_start|>system\n", "<|im_end|>\n"},
                 {"<|im_start|>user\n", "<|im_end|>\n"},
                 {"<|im_start|>assistant\n", "<|im_end|>\n"}}}},
    // https://www.llama.com/docs/model-cards-and-prompt-formats/meta-llama-3
    ChatFamily{"Llama 3",
               {"<|start_header_id|>", "<|eot_id|>"},
               {{{"<|start_header_id|>system<|end_header_id|>\n\n", "<|eot_id|>"},
                 {"<|start_header_id|>user<|end_header_id|>\n\n", "<|eot_id|>"},
                 {"<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"}}}},
    // https://ai.google.dev/gemma/docs/core/prompt-structure
    ChatFamily{"Gemma",
               {"<start_of_turn>", "<end_of_turn>"},
               {{{}, {"<start_of_turn>user\n", "<end_of_turn>\n"}, {"<start_of_turn>model\n", "<end_of_turn>\n"}}}},
    // https://huggingface.co/microsoft/Phi-3-mini-4k-instruct, "Chat Format"
    ChatFamily{"Phi-3",
               {"<|user|>", "<|end|>"},
               {{{"<|system|>\n", "<|end|>\n"}, {"<|user|>\n", "<|end|>\n"}, {"<|assistant|>\n", "<|end|>\n"}}}},
    // https://docs.mistral.ai/guides/tokenization, control tokens of v2 and v3
    ChatFamily{"Mistral", {"[INST]", "[/INST]"}, {{{}, {"[INST] ", "[/INST]"}, {" ", "</s>"}}}},
};

constexpr std::array<const char*, 3> kChatRoles{"system", "user", "assistant"};

bool is_a_word(const Tokenizer& tokenizer, const char* word) {
  const auto tokens = encode(tokenizer, word, false);
  return tokens && tokens->size() == 1 && tokens->tokens.front().known && tokens->tokens.front().raw == word;
}

}  // namespace

Result<ChatTurn> parse_chat_turn(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto role = std::find(kChatRoles.begin(), kChatRoles.end(), text.substr(0, colon));
  if (colon == std::string::npos || role == kChatRoles.end())
    return bad_input("--chat", "", "system:TEXT, user:TEXT or assistant:TEXT", printable(text));
  if (const auto valid = check_utf8("--chat", text); !valid) return valid.error();
  return ChatTurn{static_cast<ChatRole>(role - kChatRoles.begin()), text.substr(colon + 1)};
}

Result<std::vector<std::int64_t>> chat_ids(const Tokenizer& tokenizer, const std::vector<ChatTurn>& turns) {
  const auto family = std::find_if(kChatFamilies.begin(), kChatFamilies.end(), [&](const ChatFamily& one) {
    return is_a_word(tokenizer, one.signs[0]) && is_a_word(tokenizer, one.signs[1]);
  });
  if (family == kChatFamilies.end()) {
    std::string names;
    for (const ChatFamily& one : kChatFamilies) names += (names.empty() ? "" : ", ") + std::string(one.name);
    return bad_input("--chat", "", "an instruct model with the special tokens of " + names,
                     "a tokenizer without them (--text takes the whole prompt)");
  }
  const auto around = [&](ChatRole role) { return family->turns[static_cast<std::size_t>(role)]; };
  std::string text;
  for (const ChatTurn& turn : turns) {
    const Around marks = around(turn.role);
    if (!marks.before)
      return bad_input("--chat", "", std::string("roles that ") + family->name + " has: user, assistant",
                       kChatRoles[static_cast<std::size_t>(turn.role)]);
    text += marks.before + turn.text + marks.behind;
  }
  // Mistral's answer begins behind [/INST] with no mark of its own.
  if (!turns.empty() && turns.back().role != ChatRole::assistant)
    if (const std::string begin = around(ChatRole::assistant).before; begin != " ") text += begin;
  const auto tokens = encode(tokenizer, text, true);
  if (!tokens) return tokens.error();
  std::vector<std::int64_t> ids;
  for (const Token& token : tokens->tokens) ids.push_back(token.id);
  return ids;
}

}  // namespace headlight
