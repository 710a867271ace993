// The words about the order of the heads and about finding them, in both languages.
#pragma once

#include <string>

#include "gui/frame/strings.h"
#include "session/head_stats.h"

namespace headlight {

/// An order: its name, and one sentence that says what it goes by, with the source of the measure.
struct OrderWords {
  Words name, tip;
};
OrderWords order_words(const HeadOrder& order);

inline constexpr Words kOrderOfHeads{"order", "顺序"};
inline constexpr Words kLargestFirst{"↓", "↓"};
inline constexpr Words kSmallestFirst{"↑", "↑"};
inline constexpr Words kTipDirection{"The largest or the smallest first.", "从大到小，或从小到大。"};
inline constexpr Words kFindHeads{"find heads", "查找头"};
inline constexpr Words kTipFind{"Heads that look from one word at another; the others are dimmed. Key: /",
                                "从一个词看向另一个词的头，其余变暗。按键：/"};
inline constexpr Words kFromHint{"who looks", "谁在看"};
inline constexpr Words kToHint{"at whom", "看谁"};
inline constexpr Words kLooksAt{"looks at", "看向"};
inline constexpr Words kMoreThan{"more than", "超过"};
inline constexpr Words kTipAbove{"The least weight that counts, in any place where the two words stand.",
                                 "两个词所在的任一位置上，算数的最小权重。"};
inline constexpr Words kFoundOf{"of", "/"};
inline constexpr Words kNoSuchWord{"no such word here", "这里没有这个词"};
inline constexpr Words kPinnedCell{"pinned cell", "固定的单元格"};
inline constexpr Words kTipPinnedCell{"Takes both words from the pinned cell.", "取固定单元格的两个词。"};
inline constexpr Words kTrying{"trying without each head", "逐个关闭每个头"};
inline constexpr Words kTipOrder{
    "What the heads stand in order of; the number stands beside each title. It is measured token by token, "
    "before anything is folded. Keys: ; and Shift ;",
    "头按什么排列；数值在每个标题旁。逐词元测量，在折叠之前。按键：; 与 Shift ;"};

/// All characters of these words in both languages.
std::string all_head_words();

}  // namespace headlight
