// Words of the stage about the chosen head: one plain sentence, the model's prediction, and what to try.
#pragma once

#include "words/words.h"

namespace headlight {

struct StageWords {
  Words looks_at{"“%” looks at “%”, %", "“%”看向“%”，%"};
  Words looks_at_itself{"“%” looks at itself, %", "“%”看向自己，%"};
  Words cannot_look{"“%” may not look at “%”: the mask hides it", "“%”不能看“%”：掩码遮住了它"};
  Words strongest{"Strongest here: ", "这里最强的："};
  Words told{": %.", "：%。"};
  Words takes_for{": this head's “%”, right in %.", "：这个头当作“%”，找对的占 %。"};
  Words rests{": it has no relation “%”.", "：它没有“%”关系。"};
  Words taught_to_rest{" The training taught such words to look there.", "训练教这样的词看向那里。"};
  Words nobody_told{" Nobody told the model.", "没有人告诉过模型。"};
  Words was_told{" The training taught it.", "这是训练教给它的。"};
  Words full_stop{".", "。"};
  Words change{"Change “%” to “%”", "把“%”改成“%”"};
  Words switch_off{"Switch this head off", "关掉这个头"};
  Words switch_on{"Switch it on again", "重新打开"};
  Words tip_switch_off{"Then look at the guess: what the model still knows without this head.",
                       "然后看看猜测：没有这个头，模型还知道什么。"};
  Words english_sentence{"Or in English: %", "或看英文句子：%"};
  Words english_short{"Or in English →", "或看英文句子 →"};
  Words hidden{"“%” hidden, the model guesses", "遮住“%”，模型猜"};
  Words after{"After “%” comes", "“%”之后是"};
  Words after_random{"After “%”, by chance", "“%”之后，纯属随机"};
  Words hidden_random{"“%” hidden, by chance", "遮住“%”，纯属随机"};
  Words guessing{"guessing …", "正在猜……"};
  Words tip_guess{"What stands before the arrow is the guess without your changes.", "箭头前是没有这些改动时的猜测。"};
  Words tip_hidden{
      "This word is hidden from the model in a second pass, and it says what belongs there. Pin another row to hide "
      "another word.",
      "在另一次计算中把这个词遮住，由模型说出那里该是什么词。固定另一行，就遮住另一个词。"};
};
inline constexpr StageWords kStageWords;

}  // namespace headlight
