// The text boxes and the tokens below them.
#pragma once

#include "words/words.h"

namespace headlight {

struct SentenceWords {
  Words sentence_hint{"Type a sentence. Shift Enter: the next line of a batch",
                      "输入一个句子。Shift Enter：批次中的下一句"};
  Words target_hint{"What the decoder reads", "解码器读的句子"};
  Words ids_hint{"Token ids: 1, 2, 3", "词元编号：1, 2, 3"};
  Words sentence_number{"sentence", "句"};
  Words samples{"Examples", "例句"};
  Words split{"Words", "词"};
  Words words{"words", "按词"};
  Words characters{"characters", "按字"};
  Words automatic{"undo my cuts", "撤销我的切分"};
  Words tip_split{"What a token is: a word, or a single character.", "词元是什么：一个词，或一个字。"};
  Words own_tokenizer{"as the model cuts them", "按模型的切分"};
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

}  // namespace headlight
