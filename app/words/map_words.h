// The words of the maps' kinds that only the window has; what a square is stands in figure/map_kinds.h.
#pragma once

#include "words/words.h"

namespace headlight {

struct MapWords {
  Words weight_maps{"weights", "权重"};
  Words norm_maps{"what it brings", "带来多少"};
  Words rollout_maps{"through all layers", "贯穿各层"};
  Words tip_map_kinds{"The same attention, read in another way (norms, rollout). Keys: % and %",
                      "同一注意力的另一种读法（范数、累积）。按键：% 与 %"};
  Words takes_from{"takes from", "取自"};
  Words contains{"contains", "含有"};
  Words what_it_takes{"what this word takes:", "这个词取自："};
  Words what_it_contains{"what this word contains:", "这个词含有："};
  Words weight_by_hand{"its weight by hand", "手动设定其权重"};
  Words tip_fold_kinds{
      "Only weights can be folded: lengths of vectors do not add up, and a rollout goes "
      "through every token. Key to the weights: %",
      "只有权重可以折叠：向量的长度不能相加，累积则经过每个词元。回到权重的按键：%"};
  Words tip_why_other{"The way to the weight of this cell, which the map's number is made of.",
                      "通向该单元格权重的每一步，图中的数由它而来。"};
};
inline constexpr MapWords kMapWords;

}  // namespace headlight
