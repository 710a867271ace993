// The words about conversations with instruct models, in both languages.
#pragma once

#include "model/tokens.h"
#include "words/words.h"

namespace headlight {

struct ChatWords {
  // By ChatRole; the first letters stand where the whole has no room.
  Words roles[3]{{"system", "系统"}, {"user", "用户"}, {"assistant", "助手"}};
  Words short_roles[3]{{"S", "系"}, {"U", "用"}, {"A", "助"}};
  Words as_chat{"conversation", "对话"};
  Words tip_as_chat{"Ask by a conversation: turns between the special tokens that the model was trained with.",
                    "用对话提问：各轮写在模型训练时所用的特殊词元之间。"};
  Words add_turn{"+ turn", "+ 一轮"};
  Words tip_add_turn{"One more turn of the conversation.", "为对话添加一轮。"};
  Words remove_turn{"Remove this turn.", "删去这一轮。"};
  Words role{"Which role says this.", "这一轮由哪个角色说。"};
  Words open{"goes on", "未说完"};
  Words tip_open{"The answer has no end yet: the model goes on with it.", "回答还没有结束：模型接着往下写。"};
  Words turn_hint{"What this role says", "这个角色说的话"};
};
inline constexpr ChatWords kChatWords;

inline const Words& role_words(ChatRole role) { return kChatWords.roles[static_cast<std::size_t>(role)]; }
inline const Words& short_role_words(ChatRole role) { return kChatWords.short_roles[static_cast<std::size_t>(role)]; }

}  // namespace headlight
