// Reasons to doubt a map, and the way out: words that the model does not know, weights that learned nothing.
#pragma once

#include "words/words.h"

namespace headlight {

struct DoubtWords {
  Words unknown{"% of % words are unknown to this model: its maps say little.",
                "% / % 个词是这个模型不认识的：它的图说明不了什么。"};
  Words nearest{"Nearest sentence it knows", "最接近的已知句子"};
  Words its_words{"Its words, by kind", "它认识的词（按类）"};
  Words tip_its_words{"The words that this model knows. A click writes one at the end of the sentence.",
                      "这个模型认识的词。点击一个，就写在句末。"};
  Words open_model{"Open a model…", "打开模型……"};
  Words random{"Random weights: nothing was learned.", "随机权重：什么都没有学到。"};
  Words back_to{"Back to %", "回到 %"};
  Words back_to_trained{"Back to trained weights", "回到训练好的权重"};
  Words heads_of{"% heads", "% 个头"};
  Words layers_of{"% layers", "% 层"};
  Words known{"% of % words known", "% / % 个词认识"};
};
inline constexpr DoubtWords kDoubtWords;

/// Words that stand in the same places of sentences, as people call them.
struct WordKindWords {
  Words people{"People", "人"};
  Words things{"Things", "事物"};
  Words places{"Places", "地点"};
  Words doing{"What is done", "动作"};
  Words qualities{"What things are like", "性质"};
  Words times{"When", "时间"};
  Words manners{"How", "方式"};
  Words small{"Small words", "虚词"};
};
inline constexpr WordKindWords kWordKindWords;

}  // namespace headlight
