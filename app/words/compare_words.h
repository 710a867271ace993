// The words of View::compare, in both languages.
#pragma once

#include "words/words.h"

namespace headlight {

/// An order of the differences: a name, and the measure that it follows.
struct DifferenceOrderWords {
  Words name, tip;
};

struct CompareWords {
  Words view_compare{"Compare", "对比"};
  Words tip_view_compare{"An answer that was kept beside the one there is now, and what differs. Key: %",
                         "把保留的结果与现在的结果并排，并显示差异。按键：%"};
  Words keep_as_a{"Compare with this", "与此对比"};
  Words tip_keep_as_a{"Keeps this answer as A. What you change afterwards is B, beside it in Compare. Key: %",
                      "把这个结果作为 A。之后的任何改动就是 B，在“对比”中与它并排。按键：%"};
  Words swap_a_b{"Swap", "交换"};
  Words tip_swap_a_b{"Asks A's question again, and what is on the screen becomes A. Key: %",
                     "重新询问 A 的问题，屏幕上的结果成为 A。按键：%"};
  Words drop_a{"Drop A", "去掉 A"};
  Words tip_drop_a{"Lets A go. Key: %", "不再保留 A。按键：%"};
  Words maps_of_both{"Maps", "图"};
  Words tip_maps_of_both{"A, B and B − A of each head.", "每个头的 A、B 与 B − A。"};
  Words take_from_a{"Take from A", "取自 A"};
  Words tip_take_from_a{"Puts one part of A after another into B: which of them bring A's answer back? Key: %",
                        "把 A 的各部分逐一放进 B：哪些能恢复 A 的答案？按键：%"};
  Words by_words{"by word", "按词"};
  Words tip_by_words{"The same words of A and B belong together.", "A 与 B 中相同的词彼此对应。"};
  Words by_positions{"by position", "按位置"};
  Words tip_by_positions{"The first word of A belongs to the first of B, and so on: for pairs that differ in a word.",
                         "A 的第一个词对应 B 的第一个词，依此类推：用于只差一个词的句对。"};
  /// By PatchForm.
  Words patch_forms[3]{{"layers × heads", "层 × 头"}, {"layers × words", "层 × 词"}, {"heads × words", "头 × 词"}};
  Words tip_patch_forms[3]{
      {"The output z of each head, all words at once.", "每个头的输出 z，所有词一起。"},
      {"The residual stream after each layer, at each word.", "每一层之后、每个词处的残差流。"},
      {"The output z of each head of the chosen layer, at each word.", "所选层中每个头在每个词处的输出 z。"}};
  Words patch_metric{"%: A %, B %", "%：A %，B %"};
  /// By Metric: as a measurement, its short name, and what it is.
  Words metrics[4]{{"logit difference % − %", "% − % 的 logit 差"},
                   {"probability of %", "% 的概率"},
                   {"KL divergence from A's answer", "与 A 的答案的 KL 散度"},
                   {"rank of %", "% 的名次"}};
  Words metric_names[4]{{"logit difference", "logit 差"}, {"probability", "概率"}, {"KL", "KL"}, {"rank", "名次"}};
  Words tip_metrics[4]{
      {"The logit of the right word minus that of the wrong one.", "正确的词的 logit 减去错误的词的 logit。"},
      {"The probability of the right word.", "正确的词的概率。"},
      {"How far all words are from A's answer, in nats.", "所有词与 A 的答案相差多远（纳特）。"},
      {"The place of the right word among all words, 1 the first.", "正确的词在所有词中的名次，1 为第一。"}};
  Words right_word{"A's likeliest", "A 最可能的词"};
  Words wrong_word{"B's likeliest", "B 最可能的词"};
  Words tip_right_word{"The right word, or its id. Empty: A's likeliest.", "正确的词，或其编号。空着：A 最可能的词。"};
  Words tip_wrong_word{"The wrong word, or its id. Empty: B's likeliest.", "错误的词，或其编号。空着：B 最可能的词。"};
  Words at_answer{"at the answer", "在答案处"};
  Words tip_at_answer{"The word that is hidden in the sentence, or that comes next.", "句中遮住的词，或下一个词。"};
  Words at_pinned{"at “%”", "在“%”处"};
  Words tip_at_pinned{
      "The word of the pinned row: an encoder guesses it, hidden in A and in B; others the one behind it.",
      "固定的行的词：编码器在 A 与 B 中都遮住它再猜；其他模型猜它后面的词。"};
  Words at_hidden{", “%” hidden", "，遮住“%”"};
  Words at_word{", at “%”", "，在“%”处"};
  Words patch_alike{". A and B hardly differ in it, so a share is one of almost nothing",
                    "。A 与 B 在这一点上几乎没有差别，因此份额没有意义"};
  Words patch_unaligned{". Tokens of B that keep their own, as none of A is aligned with them: %",
                        "。B 中没有 A 的词元与之对齐、因而保持原样的词元：%"};
  Words patch_share{"share of A's answer restored", "恢复的 A 的答案所占份额"};
  Words patch_hint{
      "Each cell: B is computed again with this part of A in its place. 0: nothing comes back, 1: all of A's answer.",
      "每个单元格：用 A 的这一部分重新计算 B。0：什么也没恢复；1：A 的答案全部恢复。"};
  Words patch_to_why{"Click: why this head looks where it does", "点击：这个头为什么看向那里"};
  Words patch_to_heads{"Click: the heads of this layer", "点击：这一层的各个头"};
  Words patch_go_on{"Go on", "继续"};
  Words patch_time_left{"about % s to go", "还需约 % 秒"};
  Words nothing_kept{"Two answers, side by side", "两个结果，并排对比"};
  Words computing_a{"A is being computed again …", "正在重新计算 A……"};
  Words how_to_compare{
      "This answer becomes A. Then change anything: the sentence, the model, the mask, a head. B is what is then "
      "there, and the head that changed most is shown first.",
      "这个结果成为 A。然后改动任何东西：句子、模型、掩码、一个头。之后屏幕上的就是 B，先显示变化最大的头。"};
  Words same_as_a{"the same as A: change the sentence, the model, the mask or a head",
                  "与 A 相同：改动句子、模型、掩码或一个头"};
  Words no_head_differs{"No head differs.", "没有一个头有差别。"};
  Words off_in_last_layer{
      "No head differs: what is off is in the last layer, and no later layer looks at what it wrote.",
      "没有一个头有差别：关闭的头在最后一层，后面没有层会看它写下的东西。"};
  Words only_the_guess{"The guess differs.", "变的是猜测。"};
  Words hidden_word_of_both{"“%” hidden", "遮住“%”"};
  Words nothing_differs{"Nothing differs in this head", "这个头没有差别"};
  Words kept_answer{"the answer that was kept", "保留的结果"};
  Words without_edits{"without edits", "未修改时"};
  Words compare_hint{"Each square is a head: B − A. Rose: A looks more. Blue: B looks more.",
                     "每个方格是一个头：B − A。玫红：A 看得更多；蓝：B 看得更多。"};
  Words only_one_has{"Words in rose are aligned with none of B, words in blue with none of A.",
                     "玫红的词在 B 中没有对齐的词，蓝色的词在 A 中没有对齐的词。"};
  Words nothing_aligned{"No tokens of A and B are aligned here: there is nothing to subtract.",
                        "此处 A 与 B 没有对齐的词元：没有可以相减的。"};
  Words heads_only_a{"heads only in A:", "只在 A 中的头："};
  Words heads_only_b{"heads only in B:", "只在 B 中的头："};
  Words no_head_in_both{"A has no head like those of B here.", "这里 A 没有与 B 对应的头。"};
  Words no_such_head_in_a{"A has no such head", "A 没有这个头"};
  Words too_long_to_compare{"Sentences of up to 512 tokens can be compared; this one has",
                            "可以对比最多 512 个词元的句子；这一句有"};
  Words point_for_both{"Point at a cell to see what it is in both; click to keep it.",
                       "指向单元格以查看它在两边的值；点击以固定。"};
  Words not_in_a{"not in A", "A 中没有"};
  Words not_in_b{"not in B", "B 中没有"};
  Words weights_of_both{"weights of A and B", "A 与 B 的权重"};
  Words next_word_of_both{"next word", "下一个词"};
  Words masked_word_of_both{"masked word", "被遮住的词"};
  Words unknown_word{"—", "—"};
  Words tip_figure_compare{"The chosen head in A, in B, and B − A.", "所选的头在 A、B 中，以及 B − A。"};
  Words order_of_differences{"sorted by", "排序"};
  DifferenceOrderWords orders[4]{
      // by DifferenceOrder
      {{"layer", "层"}, {"Layer by layer, as the data goes.", "按数据经过的层排列。"}},
      {{"most changed", "变化最大"},
       {"The largest difference of any cell, the most first. Key: %", "任意单元格的最大差异，大者在前。按键：%"}},
      {{"mean change", "平均变化"},
       {"The mean size of the differences, over cells that both have, the most first. Key: %",
        "双方都有的单元格上差异的平均大小，大者在前。按键：%"}},
      {{"divergence", "散度"},
       {"How far the rows are apart as distributions: the mean Jensen–Shannon divergence, 0 to 0.69, the most first. "
        "Key: %",
        "各行作为分布相距多远：平均 Jensen–Shannon 散度，0 到 0.69，大者在前。按键：%"}},
  };
};
inline constexpr CompareWords kCompareWords;

}  // namespace headlight
