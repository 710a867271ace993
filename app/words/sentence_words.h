// The words of the question: sentences, the model for any sentence, conversations and pairs.
#pragma once

#include "model/tokens.h"
#include "words/words.h"

namespace headlight {

/// The text boxes and the tokens below them.
struct SentenceWords {
  Words sentence_hint{"Type a sentence. Shift Enter: the next line of a batch",
                      "输入一个句子。Shift Enter：批次中的下一句"};
  Words target_hint{"What the decoder reads", "解码器读的句子"};
  Words ids_hint{"Token ids: 1,2,3; 4,5", "词元编号：1,2,3; 4,5"};
  Words sentence_number{"sentence", "句"};
  Words samples{"Examples", "例句"};
  Words words{"words", "按词"};
  Words characters{"characters", "按字"};
  Words automatic{"undo my cuts", "撤销我的切分"};
  Words tip_split{"What a token is: a word, or a single character.", "词元是什么：一个词，或一个字。"};
  Words tip_own_cuts{"Cut by the model's own tokenizer: it learned these pieces, so they cannot be moved by hand.",
                     "由模型自带的分词器切分：这些片段是学来的，不能手动移动。"};
  Words as_text{"text", "文本"};
  Words as_ids{"ids", "编号"};
  Words tip_as_ids{"Ask by the text, or by the token ids that it comes to.",
                   "用文本提问，或用文本对应的词元编号提问。"};
  Words tip_unknown{"Not in this model's vocabulary: it is read as “unknown”. A click inside it cuts it.",
                    "不在这个模型的词表里：按“未知词”处理。点击词内可以切开它。"};
  Words words_known{"Words that it knows: ", "它认识的词数："};
  Words knows_for_example{"For example: ", "例如："};
  Words tip_pad_here{"right click: padding from here on", "右键：从这里起为填充"};
};
inline constexpr SentenceWords kSentenceWords;

/// Words about the model for any sentence, and about heads that were taught.
struct AnySentenceWords {
  Words model{"model for any sentence, some heads taught", "任意句子模型，部分头是教的"};
  Words of_short{"model learnt from sentences of 3 to 40 words", "模型只学过 3 到 40 个词的句子"};
  Words tip_chosen{
      "The sentence has a word that the grammar's model does not know, so the model for any sentence answers. Where "
      "the grammar's model knows every word, that one answers. It learnt from sentences of 3 to 40 words: in longer "
      "texts its heads point less and less.",
      "句中有语法模型不认识的词，所以由任意句子模型回答。语法模型认识全部词时由它回答。它学的是 3 到 40 "
      "个词的句子：文本越长，它的头指得越少。"};
  Words taught_head{
      "This head was taught where to look, on annotated sentences. It did not find it by itself. A word without such a "
      "relation is to look at <s>. Taught by:",
      "这个头在标注句子上被教过该看哪里，并非自己学会。没有这种关系的词应看向 <s>。教材："};
};
inline constexpr AnySentenceWords kAnySentenceWords;

/// The words about conversations with instruct models, in both languages.
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

/// A part of the pairs of words: its name, the text above the maps, and its tooltip.
struct PairPartWords {
  Words name, done, tip;
};
inline constexpr int kPairParts = 5;

struct PairWords {
  Words second_hint{"Second sentence (B)", "第二句（B）"};
  Words add_second{"Add a second sentence (B)", "添加第二句（B）"};
  Words tip_second{
      "If there is one, it is read beside the first as the tokenizer puts a pair together, with token types where the "
      "model has them. Each line goes with the line of the first box that has its number.",
      "可以不填。按分词器的句对模板与第一句一起读入；模型有句子类型时一并给出。每一行与第一个框中同序号的一行配对。"};
  Words other_part{"not in the part of the pair that is shown", "不在所显示的句对部分中"};
  Words show_pair_part{"Of the two sentences show", "句对显示"};
  PairPartWords parts[kPairParts]{
      // by PairPart
      {{"A+B", "A+B"}, {"", ""}, {"Both sentences. Key: %", "两句都显示。按键：%"}},
      {{"A→A", "A→A"},
       {"Only A looking at A; rows are not scaled.", "只显示 A 看 A；各行没有重新缩放。"},
       {"How the first sentence looks at itself. Weights stay as they are: rows are not scaled back to 1. Key: %",
        "第一句怎样看自己。权重保持原样：各行不重新缩放到 1。按键：%"}},
      {{"A→B", "A→B"},
       {"Only A looking at B; rows are not scaled.", "只显示 A 看 B；各行没有重新缩放。"},
       {"How the first sentence looks at the second. Weights stay as they are: rows are not scaled back to 1. Key: %",
        "第一句怎样看第二句。权重保持原样：各行不重新缩放到 1。按键：%"}},
      {{"B→A", "B→A"},
       {"Only B looking at A; rows are not scaled.", "只显示 B 看 A；各行没有重新缩放。"},
       {"How the second sentence looks at the first. Weights stay as they are: rows are not scaled back to 1. Key: %",
        "第二句怎样看第一句。权重保持原样：各行不重新缩放到 1。按键：%"}},
      {{"B→B", "B→B"},
       {"Only B looking at B; rows are not scaled.", "只显示 B 看 B；各行没有重新缩放。"},
       {"How the second sentence looks at itself. Weights stay as they are: rows are not scaled back to 1. Key: %",
        "第二句怎样看自己。权重保持原样：各行不重新缩放到 1。按键：%"}},
  };
};
inline constexpr PairWords kPairWords;

inline const PairPartWords& pair_words(PairPart part) { return kPairWords.parts[static_cast<std::size_t>(part)]; }

}  // namespace headlight
