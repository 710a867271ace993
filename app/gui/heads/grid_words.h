// The words about the ways in which the grid shows all heads.
#pragma once

#include "gui/frame/strings.h"

namespace headlight {

inline constexpr Words kGridMaps{"Maps", "大图"};
inline constexpr Words kTipGridMaps{"Every head as a map with its words. Key: 1, which steps through these four.",
                                    "每个头一张带词的图。按键：1，在这四种之间切换。"};
inline constexpr Words kGridGlance{"At a glance", "一览"};
inline constexpr Words kTipGridGlance{
    "All layers from top to bottom, all heads from left to right, each as small as it must be. A small map shows the "
    "largest weight under each of its dots. Key: 1",
    "从上到下是各层，从左到右是各头，按需缩小。小图的每个点显示其下最大的权重。按键：1"};
inline constexpr Words kGridQuery{"One row", "一行"};
inline constexpr Words kTipGridQuery{"What one word looks at, in every head: the row of the pinned cell. Key: 1",
                                     "一个词在每个头里看向什么：固定单元格所在的行。按键：1"};
inline constexpr Words kGridKey{"One column", "一列"};
inline constexpr Words kTipGridKey{"Who looks at one word, in every head: the column of the pinned cell. Key: 1",
                                   "在每个头里谁看向一个词：固定单元格所在的列。按键：1"};
inline constexpr Words kLeftOutHere{"is left out while special tokens are folded", "在折叠特殊词元时被略去"};

inline constexpr Words kOwnRange{"own range", "各自范围"};
inline constexpr Words kTipOwnRange{
    "Each head's colours, or bars, go up to its own largest weight; otherwise all heads share one "
    "range. Key: Shift G",
    "每个头的颜色或柱高到它自己的最大权重为止；否则所有头共用一个范围。按键：Shift G"};
inline constexpr Words kTipColours{"Click to choose other colours.", "点击以选择其他颜色。"};
/// By ColourMap.
inline constexpr Words kColourWords[] = {{"teal to violet", "青到紫"},
                                         {"hues of viridis", "viridis 色相"},
                                         {"hues of cividis", "cividis 色相"},
                                         {"greys", "灰度"}};

inline constexpr Words kGridWords[] = {kOwnRange,       kTipOwnRange,    kTipColours,     kColourWords[0],
                                       kColourWords[1], kColourWords[2], kColourWords[3], kGridMaps,
                                       kTipGridMaps,    kGridGlance,     kTipGridGlance,  kGridQuery,
                                       kTipGridQuery,   kGridKey,        kTipGridKey,     kLeftOutHere};

}  // namespace headlight
