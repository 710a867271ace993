// Numbers of one's own: the dialog that takes a table, and the cells that can be changed.
#pragma once

#include "words/words.h"

namespace headlight {

struct NumberWords {
  Words title{"Numbers of your own", "自己的数值"};
  Words menu{"Numbers of your own …", "自己的数值 …"};
  Words formats{
      "Paste or type a table: NumPy, JSON or CSV; a row a line. Begin with X, scores or weights.",
      "粘贴或输入一张表：NumPy、JSON 或 CSV，一行一行。先给 X、打分或权重。"};
  Words table_hint{"A row a line, for example   0.2  1.0  0.5", "每行一行数，例如   0.2  1.0  0.5"};
  Words tables[7] = {{"X", "X"},     {"W_Q", "W_Q"},     {"W_K", "W_K"},     {"W_V", "W_V"},
                     {"W_O", "W_O"}, {"scores", "打分"}, {"weights", "权重"}};
  Words head{"head", "头"};
  Words one_more{"one more", "再加一个"};
  Words take{"Take", "采用"};
  Words tip_take{"Puts the table in; an empty text takes it away. Undo brings back what was there.",
                 "采用这张表；空文本则去掉它。撤销可恢复。"};
  Words waiting{"What was taken is kept here, and used as soon as all tables fit together.",
                "采用过的表先记在这里，各表能对上时一并使用。"};
  Words samples{"Examples", "示例"};
  Words sample_names[4] = {{"two words, two heads", "两个词、两个头"},
                           {"ten words of four numbers", "十个词，各四个数"},
                           {"a printed row", "一行印出的数"},
                           {"a printed matrix", "印出的矩阵"}};
  Words check{"Check these numbers", "检查这些数值"};
  Words nothing_wrong{"Nothing is wrong with them.", "没有发现问题。"};
  Words no_numbers{"There are none yet.", "还没有数值。"};
  Words set_to{"set to", "改为"};
  Words tip_set{"A number of your own: everything below it follows.", "这是你自己的数：改动后，后面的一切随之改变。"};
};
inline constexpr NumberWords kNumberWords;

}  // namespace headlight
