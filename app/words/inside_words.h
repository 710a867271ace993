// The view of one block.
#pragma once

#include "words/words.h"

namespace headlight {

struct InsideWords {
  Words steps_of_weight{"Step by step", "逐步计算"};
  Words tip_steps{"Where the pinned weight comes from, in five lines; each opens to its steps.",
                  "固定的权重从哪里来：五行，每行都能展开看各步。"};
  Words tip_line{"Opens the steps of this line, and its matrix beside it.", "展开这一行的各步，旁边显示它的矩阵。"};
  Words asks{"“%” asks", "“%”发问"};
  Words answers{"“%” answers", "“%”应答"};
  Words matches{"How well the two match: the score", "两者有多匹配：打分"};
  Words share{"Its share among % words: softmax", "在 % 个词里占多少：softmax"};
  Words hands_over{"“%” hands over its value", "“%”交出它的值"};
  Words weight_times_v{"weight × v", "权重 × v"};
  Words mask{"mask", "掩码"};
  Words way_of_data{"Diagram", "结构图"};
  Words tip_way{"The block as a diagram with its matrices; click one to look at it.",
                "模块的结构图与各矩阵；点击查看。"};
  Words pin_for_steps{"Click a cell of a head first: its steps are told here.",
                      "先在某个头上点击一个单元格：这里会逐步说明它的计算。"};
  Words back{"Back", "返回"};
  Words tip_back{"To what was looked at before.", "回到之前查看的内容。"};
  Words click_for_terms{"Click a cell to see the numbers it was made of.", "点击单元格，查看它由哪些数得来。"};
  Words empty_row{"This row may attend to nothing. Each of its weights, depending on what masks:",
                  "这一行不能看任何词。每个权重取决于掩码的做法："};
  Words empty_zeros{"zeros, as here", "置零（本程序）"};
  Words empty_infinite{"−∞, then softmax", "−∞ 再 softmax"};
  Words empty_large{"−1e9, then softmax", "−1e9 再 softmax"};
  Words no_such_matrix{"This model has no such matrix.", "这个模型没有这个矩阵。"};
};
inline constexpr InsideWords kInsideWords;

}  // namespace headlight
