// The views between and of the words: the lines of Flow, and the sentence coloured by a row.
#pragma once

#include "words/words.h"

namespace headlight {

struct TextWords {
  Words sentence{"Sentence", "句子"};
  Words map{"Map", "图"};
  Words text{"Text", "文本"};
  Words tip_form{
      "The sentence with arcs of all heads, the map of the chosen head, or the text itself, each word shaded by its "
      "weight. Key: %",
      "句子和所有头的弧线，所选的头的图，或者文本本身，每个词按权重着色。按键：%"};
  Words too_long{"More than % words: no arcs can be told apart. Map and Text show any length.",
                 "超过 % 个词：弧线无法分辨。“图”和“文本”不限长度。"};
  /// Of the scene of a sentence.
  Words looks{"“%” looks at", "“%”看向"};
  Words share_rests{"% rests", "% 停着"};
  Words off{"off", "已关"};
  Words more_head{"% more head", "另有 % 个头"};
  Words more_heads_here{"% more heads", "另有 % 个头"};
  Words head_rests{"% head rests", "% 个头停着"};
  Words heads_rest{"% heads rest", "% 个头停着"};
  Words head_on_itself{"% looks at the word itself", "% 个看词自己"};
  Words heads_on_itself{"% look at the word itself", "% 个看词自己"};
  Words weights_above{"% weights above %", "% 个权重大于 %"};
  Words names_only{"names alone", "只有名称"};
  Words all_above{"above %", "大于 %"};
  Words as_many{"as many as can be told apart", "能分清的那些"};
  Words tip_arcs{
      "Bold: cells that have names, and the pinned one. Grey: the largest weight of any head between two words that "
      "are "
      "no neighbours.",
      "粗弧：有名称的单元格和固定的单元格。灰弧：不相邻的两个词之间任意一个头的最大权重。"};
  Words no_name{"no name for such a pair", "这样的一对没有名称"};
  Words right_in{"%, right in % of 100", "%，100 次里对 % 次"};
  Words right_in_texts{"%? Right in % of 100 in real texts", "%？在真实文本里 100 次对 % 次"};
  Words rests_here{"% of this row rests on %", "这一行有 % 停在%上"};
  Words sums_to{"set by hand: the row sums to %", "手动设定：这一行的和为 %"};
  Words nothing_learned{"random weights: nothing was learned", "随机权重：什么也没学到"};
  Words rows{"looks at", "看向"};
  Words columns{"is looked at by", "被谁看"};
  Words tip_direction{"Shades the words that the chosen words look at, or the words that look at them. Key: %",
                      "着色所选的词看向的词，或者看向所选词的词。按键：%"};
  /// By ShadeHeads.
  Words heads[3]{{"this head", "这个头"}, {"mean of layer", "本层平均"}, {"mean of all", "全部平均"}};
  Words tip_heads{"The weights of this head, or the mean of the heads of its layer or of all layers. Key: %",
                  "这个头的权重，或者它所在层、所有层的头的平均。按键：%"};
  Words choose{"Click a word to shade what it looks at; drag over several; Shift adds, Esc lets go.",
               "点击一个词，着色它看向的词；可拖过几个词，按住 Shift 增选，Esc 取消。"};
  Words looks_at{"Shaded: where “%” looks", "着色：“%”看向哪里"};
  Words looks_at_several{"Shaded: where % words look, mean of their rows", "着色：% 个词看向哪里，取各行的平均"};
  Words looked_at{"Shaded: how much each word looks at “%”", "着色：各个词看“%”多少"};
  Words looked_at_several{"Shaded: how much each word looks at % words, their sum",
                          "着色：各个词看这 % 个词多少，取其和"};
  Words nothing{"Nothing is shaded: the chosen word is not shown", "没有着色：所选的词没有显示"};
  Words adds_up{"adding up rows …", "正在累加各行……"};
  Words mean_of_layer{"mean of the % heads of layer %", "第 % 层（共 % 个头）的平均"};
  Words mean_of_all{"mean of all % heads", "全部 % 个头的平均"};
};
inline constexpr TextWords kTextWords;

struct FlowWords {
  Words all_heads{"All heads", "所有头"};
  Words chosen_head{"Chosen head", "所选的头"};
  Words tip_heads{"The lines of every head of this layer, or of the chosen one alone.",
                  "画出本层所有头的连线，或只画所选的头。"};
  Words tip_layer{"Another layer. Keys: % and %", "换一层。按键：% 与 %"};
  Words tip_head{"Shows or hides the lines of this head.", "显示或隐藏这个头的连线。"};
  Words threshold{"lines above %", "连线大于 %"};
  Words tip_threshold{"Weights below this have no line.", "小于此值的权重不画线。"};
  Words looks{"looks", "在看"};
  Words is_looked_at{"is looked at", "被看"};
  Words target{"target · ", "目标句 · "};
  Words source{"source · ", "源句 · "};
  Words no_line{"no line: the largest weight is", "没有连线：最大的权重是"};
  Words no_head_shown{"No head is shown: click one above.", "没有显示任何头：请点击上方的一个头。"};
  Words hint{
      "A line goes from the word that looks to the word it looks at; thicker, more attention. Point at a word to see "
      "its lines alone.",
      "连线从在看的词到被看的词；越粗，注意力越多。指向一个词以只看它的连线。"};
  Words hint_special{" Lines to special tokens are thin.", "指向特殊词元的连线画得细。"};
};
inline constexpr FlowWords kFlowWords;

}  // namespace headlight
