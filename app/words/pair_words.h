// The words about pairs of sentences, in both languages.
#pragma once

#include "words/words.h"

namespace headlight {

/// A part of the pairs of words: its name, what it says above the maps, and its tooltip.
struct PairPartWords {
  Words name, done, tip;
};
inline constexpr int kPairParts = 5;

struct PairWords {
  Words second_hint{"Second sentence (B)", "第二句（B）"};
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
