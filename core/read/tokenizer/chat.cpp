#include "read/tokenizer/chat.h"

#include <algorithm>
#include <array>

#include "base/formatted.h"
#include "base/names.h"
#include "base/utf8.h"
#include "text/tokenizer.h"

namespace headlight {

/// How a family writes a conversation, as the authors of the family document it.
struct ChatFamily {
  /// What stands before and behind a turn; null before: the family has no such role.
  struct Around {
    const char *before = nullptr, *behind = "";
  };
  const char* name;
  std::array<const char*, 2> signs;  // words of its vocabulary and template that no other family has both of
  std::array<Around, 3> turns;       // by ChatRole
  bool trims = false;                // white space at the ends of a turn
  const char* again = "";            // before a user's turn that is not the first
  bool in_text = false;              // its marks are text of the template, not words of the vocabulary; the system's
                                     // turn stands behind the opening mark of the first user's turn
};

namespace {

constexpr std::array kChatFamilies{
    // https://github.com/openai/openai-python/blob/v0.28.1/chatml.md
    ChatFamily{.name = "ChatML",
               .signs = {"<|im_start|>", "<|im_end|>"},
               .turns = {{{"<|im_start|>system\n", "<|im_end|>\n"},
                          {"<|im_start|>user\n", "<|im_end|>\n"},
                          {"<|im_start|>assistant\n", "<|im_end|>\n"}}}},
    // https://www.llama.com/docs/model-cards-and-prompt-formats/meta-llama-2
    ChatFamily{
        .name = "Llama 2",
        .signs = {"[INST]", "<<SYS>>"},
        .turns = {{{"[INST] <<SYS>>\n", "\n<</SYS>>\n\n"}, {"[INST] ", " [/INST]"}, {" ", " </s>"}}},
        .trims = true,
        .again = "<s>",
        .in_text = true,
    },
    // https://www.llama.com/docs/model-cards-and-prompt-formats/meta-llama-3
    ChatFamily{.name = "Llama 3",
               .signs = {"<|start_header_id|>", "<|eot_id|>"},
               .turns = {{{"<|start_header_id|>system<|end_header_id|>\n\n", "<|eot_id|>"},
                          {"<|start_header_id|>user<|end_header_id|>\n\n", "<|eot_id|>"},
                          {"<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"}}},
               .trims = true},
    // https://ai.google.dev/gemma/docs/core/prompt-structure
    ChatFamily{
        .name = "Gemma",
        .signs = {"<start_of_turn>", "<end_of_turn>"},
        .turns = {{{}, {"<start_of_turn>user\n", "<end_of_turn>\n"}, {"<start_of_turn>model\n", "<end_of_turn>\n"}}},
        .trims = true},
    // https://huggingface.co/microsoft/Phi-3-mini-4k-instruct, "Chat Format"
    ChatFamily{
        .name = "Phi-3",
        .signs = {"<|user|>", "<|end|>"},
        .turns = {{{"<|system|>\n", "<|end|>\n"}, {"<|user|>\n", "<|end|>\n"}, {"<|assistant|>\n", "<|end|>\n"}}}},
    // https://docs.mistral.ai/guides/tokenization, control tokens of v2 and v3
    ChatFamily{
        .name = "Mistral", .signs = {"[INST]", "[/INST]"}, .turns = {{{}, {"[INST] ", "[/INST]"}, {" ", "</s>"}}}},
};

bool is_a_word(const Tokenizer& tokenizer, const char* word) {
  const auto tokens = encode(tokenizer, word, false);
  return tokens && tokens->size() == 1 && tokens->tokens.front().known && tokens->tokens.front().raw == word;
}

bool holds(std::string_view text, const char* word) { return text.find(word) != text.npos; }

const ChatFamily::Around& around(const ChatFamily& family, ChatRole role) {
  return family.turns[static_cast<std::size_t>(role)];
}

std::string_view trimmed(std::string_view text, bool begin, bool end) {
  constexpr std::string_view kSpace = " \t\r\n";
  if (begin) text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  if (end) text.remove_suffix(text.size() - (text.find_last_not_of(kSpace) + 1));
  return text;
}

std::string roles_of(const ChatFamily& family) {
  std::string roles;
  for (std::size_t i = 0; i < std::size(kChatRoles); ++i)
    if (family.turns[i].before) roles.append(roles.empty() ? "" : ", ").append(kChatRoles[i]);
  return roles;
}

/// A role's text stands from `begins` on, of the mark itself, up to the end of `ends`.
struct Mark {
  std::string_view begins;  // empty: it begins where the turn before ends
  std::string_view ends;
  ChatRole role, next;
};

std::vector<Mark> marks_of(const ChatFamily& family) {
  std::vector<Mark> marks;
  const bool answer_is_unmarked = trimmed(around(family, ChatRole::assistant).before, true, true).empty();
  for (const ChatRole role : {ChatRole::system, ChatRole::user, ChatRole::assistant}) {
    const auto& [before, behind] = around(family, role);
    if (!before) continue;
    const ChatRole next = role == ChatRole::system && family.in_text     ? ChatRole::user
                          : role == ChatRole::user && answer_is_unmarked ? ChatRole::assistant
                                                                         : ChatRole::none;
    marks.push_back({trimmed(before, true, true), trimmed(behind, true, true), role, next});
  }
  return marks;
}

std::vector<ChatRole> roles_of_bytes(const ChatFamily& family, std::string_view text) {
  const std::vector<Mark> marks = marks_of(family);
  std::vector<ChatRole> roles(text.size(), ChatRole::none);
  ChatRole now = ChatRole::none;
  for (std::size_t at = 0; at < text.size();) {
    const Mark *begun = nullptr, *ended = nullptr;
    for (const Mark& mark : marks) {
      const bool longer = !begun || mark.begins.size() > begun->begins.size();
      if (!mark.begins.empty() && longer && text.substr(at).starts_with(mark.begins)) begun = &mark;
      if (mark.role == now && text.substr(at).starts_with(mark.ends)) ended = &mark;
    }
    std::size_t end = at + 1;
    if (begun) now = begun->role, end = at + begun->begins.size();
    else if (ended) end = at + ended->ends.size();
    // The line break behind the end of a turn is a part of the mark.
    if (ended && !begun && ended->next == ChatRole::none)
      while (end < text.size() && text[end] == '\n') ++end;
    std::fill(roles.begin() + static_cast<std::ptrdiff_t>(at), roles.begin() + static_cast<std::ptrdiff_t>(end), now);
    if (ended && !begun) now = ended->next;
    at = end;
  }
  return roles;
}

}  // namespace

Result<ChatTurn> parse_chat_turn(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto role = value_named<ChatRole>(kChatRoles, text.substr(0, colon));
  if (colon == std::string::npos || !role)
    return bad_input("--chat", "", "system:TEXT, user:TEXT or assistant:TEXT", printable(text));
  TRY(check_utf8("--chat", text));
  return ChatTurn{*role, text.substr(colon + 1)};
}

const ChatFamily* chat_family(const Tokenizer& tokenizer, std::string_view chat_template) {
  for (const ChatFamily& family : kChatFamilies) {
    const auto& [first, second] = family.signs;
    const bool said = holds(chat_template, first) && holds(chat_template, second);
    const bool spelt = !family.in_text && is_a_word(tokenizer, first) && is_a_word(tokenizer, second);
    if (family.in_text ? said : spelt && (said || chat_template.empty())) return &family;
  }
  return nullptr;
}

std::string chat_families() { return joined_texts(kChatFamilies, ", ", &ChatFamily::name); }

bool has_role(const ChatFamily& family, ChatRole role) {
  return role != ChatRole::none && around(family, role).before != nullptr;
}

Result<std::string> chat_text(const ChatFamily& family, const Chat& chat) {
  std::string text;
  for (std::size_t i = 0; i < chat.turns.size(); ++i) {
    const auto& [role, said] = chat.turns[i];
    const auto is_of = [&](std::size_t turn, ChatRole one) {
      return turn < chat.turns.size() && chat.turns[turn].role == one;
    };
    if (!has_role(family, role))
      return bad_input("--chat", "", std::string("roles that ") + family.name + " has: " + roles_of(family),
                       std::string(name_in(kChatRoles, role)));
    const bool system = role == ChatRole::system, after_system = i > 0 && is_of(i - 1, ChatRole::system);
    if (family.in_text && system && (i > 0 || !is_of(1, ChatRole::user)))
      return bad_input("--chat", "", std::string("the system's turn of ") + family.name + " first, before a user's",
                       i > 0 ? "it as turn " + std::to_string(i) : "no user's turn behind it");
    const bool inside = family.in_text && after_system, last = i + 1 == chat.turns.size();
    const bool goes_on = last && chat.open && role == ChatRole::assistant;
    if (role == ChatRole::user && i > 0 && !inside) text += family.again;
    const bool unmarked = goes_on && said.empty() && around(family, role).before == std::string_view(" ");
    if (!inside && !unmarked) text += around(family, role).before;
    text += family.trims ? trimmed(said, true, !goes_on) : std::string_view(said);
    if (!goes_on) text += around(family, role).behind;
  }
  // An answer without a mark begins with its first word.
  const std::string_view answer = around(family, ChatRole::assistant).before;
  if (!chat.turns.empty() && chat.turns.back().role != ChatRole::assistant && answer != " ") text += answer;
  return text;
}

void mark_roles(const ChatFamily& family, Tokens& tokens) {
  const std::vector<ChatRole> roles = roles_of_bytes(family, tokens.text);
  for (Token& token : tokens.tokens) {
    // A token that begins with a space belongs to what follows it. What was put around a text has no bytes of it.
    if (token.end > token.begin && token.end <= roles.size()) token.role = roles[token.end - 1];
  }
}

}  // namespace headlight
