// The words about the order of the heads and about finding them, in both languages.
#pragma once

#include "derived/head_stats.h"
#include "words/words.h"

namespace headlight {

/// An order: its name, and one sentence that describes the measure it follows, with the source of the measure.
struct OrderWords {
  Words name, tip;
};
struct HeadOrderWords {
  Words order_of_heads{"sorted by", "排序"};
  Words largest_first{"↓", "↓"};
  Words smallest_first{"↑", "↑"};
  Words tip_direction{"The largest or the smallest first.", "从大到小，或从小到大。"};
  Words find_heads{"find heads", "查找头"};
  Words tip_find{"Heads that look from one word at another; the others are dimmed. Key: %",
                 "从一个词看向另一个词的头，其余变暗。按键：%"};
  Words from_hint{"looking word", "在看的词"};
  Words to_hint{"looked-at word", "被看的词"};
  Words looks_at{"looks at", "看向"};
  Words more_than{"more than", "超过"};
  Words tip_above{"The least weight that counts, in any place where the two words stand.",
                  "两个词所在的任一位置上，算数的最小权重。"};
  Words found_of{"of", "/"};
  Words no_such_word{"no such word here", "这里没有这个词"};
  Words pinned_cell{"pinned cell", "固定的单元格"};
  Words tip_pinned_cell{"Takes both words from the pinned cell.", "取固定单元格的两个词。"};
  Words trying{"trying without each head", "逐个关闭每个头"};
  Words tip_order{
      "What the heads stand in order of; the number stands beside each title. It is measured token by token, "
      "before anything is folded. Keys: % and %",
      "头按什么排列；数值在每个标题旁。逐词元测量，在折叠之前。按键：% 与 %"};
  OrderWords layer{{"layer", "层"}, {"Layer by layer, as the data goes.", "按数据经过的层排列。"}};
  OrderWords effect{
      {"effect", "作用"},
      {"What is lost without the head: how far the next or masked word's probabilities move when it is switched off "
       "(KL divergence, nats), or without an output layer how far the last hidden states move (share of their "
       "length). One forward pass a head.",
       "没有这个头会失去什么：关闭它时下一个词或被遮词的概率移动多远（KL "
       "散度，nat）；没有输出层时，最后隐藏状态移动多远"
       "（占其长度的比例）。每个头一次前向计算。"}};
  OrderWords found{{"found", "找到的"},
                   {"The heads that are looked for first, by their largest weight from the one word to the other.",
                    "要查找的头排在最前，按从一个词到另一个词的最大权重。"}};
  OrderWords measures[kMeasures.size()]{
      {{"entropy", "熵"},
       {"How widely a row spreads its weight, in nats: 0 looks at one token (Ghader & Monz 2017).",
        "一行的权重分布得多广（nat）：0 表示只看一个词元（Ghader 与 Monz 2017）。"}},
      {{"normalized entropy", "归一熵"},
       {"The entropy as a share of the most that the mask leaves: 1 looks everywhere alike.",
        "熵占掩码所允许的最大值的比例：1 表示处处一样。"}},
      {{"distance", "距离"},
       {"How many tokens away a row looks, weighted by its weights (Vig & Belinkov 2019).",
        "一行看得多远（词元数），按权重加权（Vig 与 Belinkov 2019）。"}},
      {{"confidence", "置信度"},
       {"The mean of each row's largest weight (Voita et al. 2019).", "每行最大权重的平均（Voita 等 2019）。"}},
      {{"previous word", "前一个词"},
       {"Mean weight on the token before (Clark et al. 2019).", "看向前一个词元的平均权重（Clark 等 2019）。"}},
      {{"next word", "后一个词"},
       {"Mean weight on the token after (Clark et al. 2019).", "看向后一个词元的平均权重（Clark 等 2019）。"}},
      {{"itself", "自身"},
       {"Mean weight of a token on itself: the diagonal (Clark et al. 2019).",
        "词元看向自身的平均权重：对角线（Clark 等 2019）。"}},
      {{"first word", "第一个词"},
       {"Mean weight on the first token, the attention sink (Xiao et al. 2023).",
        "看向第一个词元的平均权重，即注意力汇聚点（Xiao 等 2023）。"}},
      {{"special tokens", "特殊词元"},
       {"Mean weight on special tokens such as [CLS] and [SEP] (Clark et al. 2019).",
        "看向 [CLS]、[SEP] 等特殊词元的平均权重（Clark 等 2019）。"}},
      {{"same word again", "相同的词"},
       {"Mean weight on earlier places of the same token (Wang et al. 2022).",
        "看向同一词元先前位置的平均权重（Wang 等 2022）。"}},
      {{"induction", "归纳"},
       {"Mean weight on what followed the same token earlier (Olsson et al. 2022).",
        "看向同一词元先前出现之后那个词元的平均权重（Olsson 等 2022）。"}},
      {{"largest", "最大"}, {"The largest weight anywhere.", "任意位置上的最大权重。"}},
  };  // by Measure
};
inline constexpr HeadOrderWords kHeadOrderWords;

inline const OrderWords& order_words(const HeadOrder& order) {
  switch (order.by) {
    case HeadOrder::By::measure: return kHeadOrderWords.measures[static_cast<std::size_t>(order.measure)];
    case HeadOrder::By::effect: return kHeadOrderWords.effect;
    case HeadOrder::By::found: return kHeadOrderWords.found;
    case HeadOrder::By::layer: break;
  }
  return kHeadOrderWords.layer;
}

}  // namespace headlight
