// Words about the model for any sentence, and about heads that were taught.
#pragma once

#include "words/words.h"

namespace headlight {

struct AnySentenceWords {
  Words model{"model for any sentence, some heads taught", "任意句子模型，部分头是教的"};
  Words tip_chosen{
      "The sentence has a word that the grammar's model does not know, so the model for any sentence answers. Where "
      "the "
      "grammar's model knows every word, that one answers.",
      "句中有语法模型不认识的词，所以由任意句子模型回答。语法模型认识全部词时由它回答。"};
  Words taught_head{
      "This head was taught where to look, on annotated sentences. It did not find it by itself. A word without such a "
      "relation is to look at <s>. Taught by:",
      "这个头在标注句子上被教过该看哪里，并非自己学会。没有这种关系的词应看向 <s>。教材："};
};
inline constexpr AnySentenceWords kAnySentenceWords;

}  // namespace headlight
