// The words of the maps' kinds that only the window has; what a square is stands in figure/map_kinds.h.
#pragma once

#include "gui/frame/strings.h"

namespace headlight {

inline constexpr Words kWeightMaps{"weights", "权重"};
inline constexpr Words kNormMaps{"norms", "范数"};
inline constexpr Words kRolloutMaps{"rollout", "累积"};
inline constexpr Words kTipMapKinds{"The same attention, read in another way. Keys: \\ and Shift \\",
                                    "同一注意力的另一种读法。按键：\\ 与 Shift \\"};
inline constexpr Words kTakesFrom{"takes from", "取自"};
inline constexpr Words kContains{"contains", "含有"};
inline constexpr Words kWhatItTakes{"what this word takes:", "这个词取自："};
inline constexpr Words kWhatItContains{"what this word contains:", "这个词含有："};
inline constexpr Words kWeightByHand{"its weight by hand", "手动设定其权重"};
inline constexpr Words kTipFoldKinds{
    "Only weights can be folded: lengths of vectors do not add up, and a rollout goes "
    "through every token. Key to the weights: \\",
    "只有权重可以折叠：向量的长度不能相加，累积则经过每个词元。回到权重的按键：\\"};
inline constexpr Words kTipWhyOther{"The way to the weight of this cell, which the map's number is made of.",
                                    "通向该单元格权重的每一步，图中的数由它而来。"};

/// All of them, for the fonts.
inline constexpr Words kMapWords[] = {kWeightMaps,   kNormMaps,     kRolloutMaps, kTipMapKinds,
                                      kTakesFrom,    kContains,     kWhatItTakes, kWhatItContains,
                                      kWeightByHand, kTipFoldKinds, kTipWhyOther};

}  // namespace headlight
