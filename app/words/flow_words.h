// The lines between the words.
#pragma once

#include "words/words.h"

namespace headlight {

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
