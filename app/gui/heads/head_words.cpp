#include "gui/heads/head_words.h"

#include <iterator>

namespace headlight {
namespace {

constexpr OrderWords kLayer{{"layer", "层"}, {"Layer by layer, as the data goes.", "按数据经过的层排列。"}};
constexpr OrderWords kEffect{
    {"effect", "作用"},
    {"What is lost without the head: how far the next or masked word's probabilities move when it is switched off "
     "(KL divergence, nats), or without an output layer how far the last hidden states move (share of their "
     "length). One forward pass a head.",
     "没有这个头会失去什么：关闭它时下一个词或被遮词的概率移动多远（KL 散度，nat）；没有输出层时，最后隐藏状态移动多远"
     "（占其长度的比例）。每个头一次前向计算。"}};
constexpr OrderWords kSimilar{
    {"similar", "相似"},
    {"Like beside like: heads clustered by the Jensen–Shannon divergence of their rows (Clark et al. 2019). Beside "
     "the title: how far from the head before it, 0 to 0.69.",
     "相似的头放在一起：按各行的 Jensen–Shannon 散度聚类（Clark 等 2019）。标题旁：与前一个头的距离，0 到 0.69。"}};

constexpr OrderWords kMeasureWords[] = {
    {{"entropy", "熵"},
     {"How widely a row spreads its weight, in nats: 0 looks at one token (Ghader & Monz 2017).",
      "一行的权重分布得多广（nat）：0 表示只看一个词元（Ghader 与 Monz 2017）。"}},
    {{"normalized", "归一熵"},
     {"The entropy as a share of the most that the mask leaves: 1 looks everywhere alike.",
      "熵占掩码所允许的最大值的比例：1 表示处处一样。"}},
    {{"distance", "距离"},
     {"How many tokens away a row looks, weighted by its weights (Vig & Belinkov 2019).",
      "一行看得多远（词元数），按权重加权（Vig 与 Belinkov 2019）。"}},
    {{"confidence", "置信度"},
     {"The mean of each row's largest weight (Voita et al. 2019).", "每行最大权重的平均（Voita 等 2019）。"}},
    {{"previous", "前一个"},
     {"Mean weight on the token before (Clark et al. 2019).", "看向前一个词元的平均权重（Clark 等 2019）。"}},
    {{"next", "后一个"},
     {"Mean weight on the token after (Clark et al. 2019).", "看向后一个词元的平均权重（Clark 等 2019）。"}},
    {{"same", "自身"},
     {"Mean weight of a token on itself: the diagonal (Clark et al. 2019).",
      "词元看向自身的平均权重：对角线（Clark 等 2019）。"}},
    {{"first", "首词元"},
     {"Mean weight on the first token, the attention sink (Xiao et al. 2023).",
      "看向第一个词元的平均权重，即注意力汇聚点（Xiao 等 2023）。"}},
    {{"special", "特殊词元"},
     {"Mean weight on special tokens such as [CLS] and [SEP] (Clark et al. 2019).",
      "看向 [CLS]、[SEP] 等特殊词元的平均权重（Clark 等 2019）。"}},
    {{"duplicate", "重复"},
     {"Mean weight on earlier places of the same token (Wang et al. 2022).",
      "看向同一词元先前位置的平均权重（Wang 等 2022）。"}},
    {{"induction", "归纳"},
     {"Mean weight on what followed the same token earlier (Olsson et al. 2022).",
      "看向同一词元先前出现之后那个词元的平均权重（Olsson 等 2022）。"}},
    {{"largest", "最大"}, {"The largest weight anywhere.", "任意位置上的最大权重。"}},
};
static_assert(std::size(kMeasureWords) == kMeasures.size());

}  // namespace

OrderWords order_words(const HeadOrder& order) {
  switch (order.by) {
    case HeadOrder::By::measure: return kMeasureWords[static_cast<std::size_t>(order.measure)];
    case HeadOrder::By::effect: return kEffect;
    case HeadOrder::By::similar: return kSimilar;
    case HeadOrder::By::layer: break;
  }
  return kLayer;
}

std::string all_head_words() {
  std::string all;
  for (const Words& words :
       {kOrderOfHeads, kLargestFirst, kSmallestFirst, kTipDirection, kFindHeads, kTipFind, kFromHint, kToHint, kLooksAt,
        kMoreThan, kTipAbove, kFoundOf, kNoSuchWord, kPinnedCell, kTipPinnedCell, kTrying, kTipOrder})
    all.append(words.en).append(words.zh);
  for (const HeadOrder& order : head_orders())
    for (const Words& words : {order_words(order).name, order_words(order).tip}) all.append(words.en).append(words.zh);
  return all;
}

}  // namespace headlight
