// The words of the palette; the names of the actions are in their table (gui/actions/actions.cpp).
#pragma once

#include "words/words.h"

namespace headlight {

struct PaletteWords {
  Words hint{"What do you want to do? Type a word of it.", "想做什么？输入其中的字词。"};
  Words nothing_found{"Nothing is called that.", "没有这样的操作。"};
  Words open_recent{"Open again", "再次打开"};
  Words take_sample{"Example", "例句"};
  Words take_model{"Trained model", "训练好的模型"};
  Words begin_lesson{"Lesson", "课程"};
  Words order_heads{"Order of the heads", "头的顺序"};
  Words choose_colours{"Colours", "颜色"};
};
inline constexpr PaletteWords kPaletteWords;

}  // namespace headlight
