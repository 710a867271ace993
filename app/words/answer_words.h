// The words of the answer, and what speaks against it.
#pragma once

#include "words/words.h"

namespace headlight {

/// The words of every view about an answer: its heads and cells, what is folded, what is missing.
struct AnswerWords {
  Words empty_text{"No sentence yet", "还没有句子"};
  Words empty_hint{"Type one above, or choose an example.", "在上方输入，或选择一个例句。"};
  Words computing{"computing", "计算中"};
  Words stale{"the maps are of the sentence before", "图仍是之前的句子"};
  Words cross{"cross", "交叉"};
  Words tip_stack{"The heads with which a sentence looks at itself.", "句子看向自身的头。"};
  Words tip_cross{"Cross-attention: the decoder's words look at the encoder's.",
                  "交叉注意力：解码器的词看向编码器的词。"};
  Words row_of{"where this word looks:", "这个词看向："};
  Words sum{"sum", "总和"};
  Words sum_beside_sink{"sum beside the sink", "汇点以外的总和"};
  Words blocked{"blocked by the mask", "被掩码屏蔽"};
  Words attends{"looks at", "看向"};
  Words left_out{"left out with the special tokens", "随特殊词元略去"};
  Words whole_pattern{"Whole", "全部"};
  Words part_of_pattern{"shown:", "显示："};
  Words pooled{"each dot shows the largest weight of the cells it covers; the wheel zooms the large map",
               "每个点显示其覆盖单元格中的最大权重；在大图上滚动滚轮缩放"};
  Words pooled_folded{"each dot shows the largest weight of the cells it covers", "每个点显示其覆盖单元格中的最大权重"};
  Words fold_special{"Fold special tokens", "折叠特殊词元"};
  Words tip_fold_special{
      "Leaves special tokens such as <s> out of the maps. A grey strip at the left of each row is as dark as the share "
      "of the row that rests there; all other weights stay as they are. Key: %",
      "在图中略去 <s> 之类的特殊词元。每行左边的灰条越深，该行停在特殊词元上的份额越大；其他权重不变。按键：%"};
  Words tip_rests{
      "The grey strip: the share of the row that rests on special tokens, which are folded. Dark: the word looks at no "
      "other word here. Key that shows them: %",
      "灰条：该行停在（已折叠的）特殊词元上的份额。颜色深：这个词在这里没有看向别的词。显示它们的按键：%"};
  Words rests{"% rests", "% 停在特殊词元"};
  Words merge_words{"Merge subwords", "合并子词"};
  Words tip_merge_words{
      "The tokens of one word become one row and one column: weights to a word are summed over its tokens, weights "
      "from a word are the mean over them, so rows still sum to 1.",
      "同一个词的词元成为一行和一列：看向一个词的权重对其词元求和，从它出发的权重取平均，因此每行总和仍为 "
      "1。"};
  Words special_left_out{"Special tokens are folded.", "特殊词元已折叠。"};
  Words special_folded{"Grey strip beside a row: its share on special tokens, which are folded.",
                       "行左边的灰条：该行停在特殊词元上的份额（已折叠）。"};
  Words words_merged{"Subwords merged to words: weights to a word summed, weights from it averaged.",
                     "子词已合并成词：看向一个词的权重相加，从它出发的权重取平均。"};
  Words not_while_folded{"by hand: token by token only", "手动设定：只按词元"};
  Words tip_not_while_folded{"Masks and weights by hand belong to single tokens. Show all tokens first: %.",
                             "掩码与手动权重属于单个词元。请先显示所有词元：%。"};
  Words tip_fold_too_long{"Only for sentences of up to 512 tokens, of large models fewer.",
                          "只用于不超过 512 个词元的句子，大模型更少。"};
  Words supervised_pronouns{"In training, pronouns were asked for the noun they stand for.",
                            "训练时要求代词说出它所指的名词。"};
};
inline constexpr AnswerWords kAnswerWords;

/// Reasons to doubt a map, and the way out: words that the model does not know, weights that learned nothing.
struct DoubtWords {
  Words unknown{"% of % words are unknown to this model: its maps say little.",
                "% / % 个词是这个模型不认识的：它的图说明不了什么。"};
  Words unknown_brief{"% of % words unknown", "% / % 个词不认识"};
  Words nearest{"Nearest sentence it knows", "最接近的已知句子"};
  Words its_words{"Its words", "它认识的词"};
  Words tip_its_words{"The words that this model knows. A click writes one at the end of the sentence.",
                      "这个模型认识的词。点击一个，就写在句末。"};
  Words random{"Random weights: nothing was learned.", "随机权重：什么都没有学到。"};
  Words back_to_trained{"Back to trained weights", "回到训练好的权重"};
};
inline constexpr DoubtWords kDoubtWords;

/// Kinds of words that occur at the same positions of sentences, in plain words.
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
