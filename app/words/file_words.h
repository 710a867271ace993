// The dialogs that open and write files.
#pragma once

#include "words/words.h"

namespace headlight {

struct FileWords {
  Words recent{"Recent", "最近"};
  Words folder_up{"one folder up", "上一级文件夹"};
  Words do_open{"Open", "打开"};
  Words do_save{"Save", "保存"};
  Words do_replace{"Replace", "替换"};
  Words do_export{"Export", "导出"};
  Words do_train_on{"Train on it", "用它训练"};
  Words unknown_format{"The ending says the format: .json, .npz, .safetensors or .csv",
                       "扩展名决定格式：.json、.npz、.safetensors 或 .csv"};
  Words figure_format{"The ending says the format: .svg, .pdf or .png; .html is a page that still computes",
                      "扩展名决定格式：.svg、.pdf 或 .png；.html 是仍能计算的网页"};
  Words figure_grid{"All heads", "所有头"};
  Words figure_head{"Chosen head", "所选的头"};
  Words figure_layers{"All layers, small", "所有层，缩略"};
  Words figure_matrix{"Matrix", "矩阵"};
  Words column{"Column, 85 mm", "单栏 85 毫米"};
  Words slide{"Slide, 254 mm", "幻灯片 254 毫米"};
  Words export_all{"All heads", "所有头"};
  Words export_head{"Chosen head", "所选的头"};
};
inline constexpr FileWords kFileWords;

}  // namespace headlight
