// The view of one block.
#pragma once

#include "words/words.h"

namespace headlight {

struct InsideWords {
  Words steps_of_weight{"Step by step", "逐步计算"};
  Words tip_steps{"Every step behind the pinned weight.", "固定的权重背后的每一步。"};
  Words way_of_data{"Diagram", "结构图"};
  Words tip_way{"The block as a diagram with its matrices; click one to look at it.",
                "模块的结构图与各矩阵；点击查看。"};
  Words pin_for_steps{"Click a cell of a head first: its steps are told here.",
                      "先在某个头上点击一个单元格：这里会逐步说明它的计算。"};
  Words back{"Back", "返回"};
  Words tip_back{"To what was looked at before.", "回到之前查看的内容。"};
  Words click_for_terms{"Click a cell to see the numbers it was made of.", "点击单元格，查看它由哪些数得来。"};
  Words no_such_matrix{"This model has no such matrix.", "这个模型没有这个矩阵。"};
};
inline constexpr InsideWords kInsideWords;

}  // namespace headlight
