// The names of changes in the line that offers to undo them.
#pragma once

#include "words/words.h"

namespace headlight {

struct ChangeWords {
  Words sentence{"Another sentence", "换了句子"};
  Words cut{"Words cut anew", "重新切分"};
  Words padding{"Padding", "填充"};
  Words model{"Another model shape", "换了模型形状"};
  Words trained{"Trained weights", "训练好的权重"};
  Words random{"Random weights", "随机权重"};
  Words scale{"Scale", "缩放"};
  Words mask{"Mask", "掩码"};
  Words layer{"One layer", "单独一层"};
  Words part_off{"%, layer %: off", "%，层 %：已关闭"};
  Words part_on{"%, layer %: on", "%，层 %：已打开"};
  Words head_off{"% off", "% 已关闭"};
  Words head_on{"% on", "% 已打开"};
  Words all_on{"All heads on", "所有头已打开"};
  Words off_as{"What heads that are off hand on", "关闭的头输出什么"};
  Words weight{"Weight set by hand", "手动设定权重"};
  Words weights{"Weights as computed", "权重恢复为计算值"};
  Words dropout{"Dropout", "随机失活"};
  Words anything{"Changed", "已改动"};
};
inline constexpr ChangeWords kChangeWords;

}  // namespace headlight
