// The chosen head beside the grid, and the next words below it.
#pragma once

#include "words/words.h"

namespace headlight {

struct ChosenHeadWords {
  /// As many of these sentences as there is room for.
  Words what_is_a_square[3]{
      {"Each map is one head.", "每张图是一个注意力头。"},
      {"A row is the word that looks, a column the word it looks at.", "行是在看的词，列是被看的词。"},
      {"Stronger colour, more attention.", "颜色越强，注意力越多。"}};
  /// Instead of the last one, where there are special tokens.
  Words special_is_paler{"Paler columns: special tokens.", "较淡的列：特殊词元。"};
  Words pinned_hint{"Hover a cell to read it, click to keep it.", "指向单元格以读数，点击固定。"};
  Words tip_label{"The layer and the head, both counted from 0. The command line takes L1·H2 as --head 1.2.",
                  "层和头，都从 0 数起。在命令行里，L1·H2 写作 --head 1.2。"};
  Words head_is_on{"on", "开"};
  Words head_is_off{"off", "关"};
  Words tip_on_off{"Switches the head off, or on again.", "关闭或打开这个头。"};
  Words tip_numbers_folded{
      "Shows every number behind the weight between the first tokens of these words, as it is before folding.",
      "显示这两个词的第一个词元之间的权重（折叠之前）背后的每个数。"};
  Words tip_bars{"Click a bar to pin its word. Drag it to set its weight by hand, double-click to type one.",
                 "点击柱条以固定那个词。拖动以手动设定权重，双击以输入数值。"};
  Words tip_bars_click{"Click a bar to pin its word.", "点击柱条以固定那个词。"};
  Words pin_cell{"Pin", "固定"};
  Words type_weight{"Set its weight …", "设定其权重……"};
  Words weight_0_to_1{"Weight, 0 to 1", "权重，0 到 1"};
  Words tip_append{"Click to write this word.", "点击以写下这个词。"};
  Words write_on{"Write on", "续写"};
  Words write{"write", "写"};
  Words write_words{"words", "个词"};
  Words find_word{"find a word", "查找词"};
  Words tip_find_word{"The probability of any word of the vocabulary.", "词表中任意一个词的概率。"};
  Words no_such_word{"not in the vocabulary", "不在词表中"};
  Words tip_write{"Lets the decoder write so many words on.", "让解码器接着写这么多词。"};
  Words stop{"Stop", "停止"};
  Words temperature{"temperature", "温度"};
  Words tip_temperature{"0 always takes the most probable word; larger values take risks.",
                        "0 总取最可能的词；越大越随机。"};
  Words prefix{"after % of % words", "读过 % 个词，共 % 个"};
  Words tip_prefix{"Shows the answer after so many tokens: the decoder word by word.",
                   "显示读过这么多词元后的结果：逐词观察解码器。"};
};
inline constexpr ChosenHeadWords kChosenHeadWords;

}  // namespace headlight
