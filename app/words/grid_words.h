// The words over the maps: all heads, the stage and the kinds of maps.
#pragma once

#include "words/words.h"

namespace headlight {

/// The words about the ways in which the grid shows all heads.
struct GridWords {
  Words all_heads{"All % heads", "全部 % 个头"};
  Words one_head{"One head", "一个头"};
  Words all_layers{"All % layers", "全部 % 层"};
  Words some_heads{"% of % heads", "% / % 个头"};
  Words tip_some_heads{
      "The heads that show most of this sentence: those whose words look at other words rather than rest, sharply, and "
      "in relations that are known. They stand in the order of layers, and are chosen anew with a new sentence.",
      "最能说明这句话的头：其中的词看向别的词而不是停着，看得集中，或有已知的关系。按层排列，换句子时重新选择。"};
  Words more_heads{"% more ▸", "其余 % 个 ▸"};
  Words tip_more_heads{"All heads, in order. Key: %", "依次显示所有的头。按键：%"};
  Words fewer_heads{"◂ fewer", "◂ 少些"};
  Words tip_fewer_heads{"Only the heads that show most of this sentence.", "只显示最能说明这句话的头。"};
  Words grid_maps{"Maps", "大图"};
  Words tip_grid_maps{
      "Large maps with their words; of more than 16 heads those that show most of this sentence. Key: %, which steps "
      "through the forms.",
      "带词的大图；超过 16 个头时只显示最能说明这句话的那些。按键：%，在各种形式之间切换。"};
  Words grid_all{"All heads", "所有头"};
  Words tip_grid_all{
      "All layers from top to bottom, all heads from left to right, each as small as it must be. A small map shows the "
      "largest weight under each of its dots. Key: %",
      "从上到下是各层，从左到右是各头，按需缩小。小图的每个点显示其下最大的权重。按键：%"};
  Words grid_relations{"Relations by layer", "逐层关系"};
  Words tip_grid_relations{
      "How well each layer shows each relation of the grammar, by its best head, on sentences kept from training. Key: "
      "%",
      "每一层以其最好的头表现语法中各种关系的程度，在未训练过的句子上测得。按键：%"};
  Words relations_of_layers{
      "Each layer's best head, and how often it finds the right word. Tick: position alone. →: first word to second.",
      "每层最好的头，及其最强目标恰为正确的词的比例。短竖线：只靠位置可达。→：从关系的第一个词看向第二个词。"};
  Words relation{"relation", "关系"};
  Words position_alone{"position", "只靠位置"};
  Words random_weights{"random", "随机权重"};
  Words measuring_layers{"Each relation is being measured in each layer …", "正在逐层测量每种关系…"};
  Words nothing_learned{"These weights are random: they have learned no relation. Choose a trained model.",
                        "这些权重是随机的，没有学到任何关系。请选用训练好的模型。"};
  Words translates{
      "A model that translates has no relations within one sentence. Its heads are named by what they align.",
      "翻译模型不测一句话之内的关系，它的头按所对齐的词命名。"};
  Words own_range{"each map its own scale", "每张图自己的色标"};
  Words tip_own_range{
      "Each head's colours go up to its own largest weight; otherwise all heads share one range. Key: %",
      "每个头的颜色到它自己的最大权重为止；否则所有头共用一个范围。按键：%"};
  Words tip_colours{"Click to choose other colours.", "点击以选择其他颜色。"};
  /// By ColourMap.
  Words colour_words[4]{{"teal to violet", "青到紫"},
                        {"hues of viridis", "viridis 色相"},
                        {"hues of cividis", "cividis 色相"},
                        {"greys", "灰度"}};
};
inline constexpr GridWords kGridWords;

/// Words of the stage about the chosen head: one plain sentence, the model's prediction, and what to try.
struct StageWords {
  Words looks_at{"“%” looks at “%”, %", "“%”看向“%”，%"};
  Words looks_at_itself{"“%” looks at itself, %", "“%”看向自己，%"};
  Words cannot_look{"“%” may not look at “%”: the mask hides it", "“%”不能看“%”：掩码遮住了它"};
  Words strongest{"Strongest between words: ", "词与词之间最强的："};
  Words rests{"“%” rests on “%”, %", "“%”停在“%”上，%"};
  Words relation{": % (right in % of 100)", "：%（100 次里对 % 次）"};
  /// The same where there is less room, and least.
  Words points_at{"“%” → “%”, %", "“%”→“%”，%"};
  Words relation_close{": % (right in %)", "：%（对 %）"};
  Words relation_alone{": %", "：%"};
  Words by_hand{", set by hand", "，手动设定"};
  Words full_stop{".", "。"};
  /// Other words in the sentence, and where the row then looks.
  Words change_a_word{"Change a word:", "换一个词："};
  Words trying_words{"trying other words …", "正在试别的词……"};
  Words none_moves{"None of % words tried moves “%”.", "试过的 % 个词都没有让“%”改看别处。"};
  Words own_word{"one of yours", "你的词"};
  Words tip_own_word{"Stands in place of the word of the sentence that it is most like; the answer comes as you type.",
                     "代替句中与它最相近的词；边输入边看结果。"};
  Words own_fits_nowhere{"“%” stands for no word here", "“%”代替不了这里的词"};
  Words moved{"% → %: %", "% → %：%"};
  Words tip_moved{"With “%” in place of “%”, “%” looks at “%” %, not %.",
                  "把“%”换进“%”的位置，“%”看向“%”的比例是 %，原来是 %。"};
  Words tip_moved_itself{"With “%” in place of “%”, “%” looks there %, not %.",
                         "把“%”换进“%”的位置，“%”看向那里的比例是 %，原来是 %。"};
  Words tip_changes{
      "Of % changes of one word that were tried, % move this row: its largest weight goes to another word and is % or "
      "more there. In each position the model's own guesses were tried, whole words of the kind of the word that "
      "stands "
      "there, no less than a 20th as probable as the likeliest. A click takes the sentence; the cell stays pinned.",
      "只换一个词，共试了 % 种改法，其中 % 种使这一行改看别处：最大权重落到另一个词上，且不小于 "
      "%。每个位置试的是模型自己的猜测，"
      "都是与原词同类的整词，概率不低于最可能者的二十分之一。点击就换成那个句子，单元格仍固定着。"};
  Words off_in_last_layer{"% is off. It is in the last layer: only the guess changes.",
                          "%已关闭。它在最后一层：变的只有猜测。"};
  Words off_in_last_layer_brief{"% is off: only the guess changes.", "%已关闭：变的只有猜测。"};
  Words off_without_guess{"% is off: no later layer reads it.", "%已关闭：后面没有层会读它。"};
  Words off_below{"% is off: every later layer reads what is left.", "%已关闭：后面各层读到的是剩下的部分。"};
  Words weights_by_hand{"% set by hand", "手动设定 % 处"};
  Words tip_weights_by_hand{"Weights of this head are set by hand; corners mark their cells. A click takes them back.",
                            "这个头有手动设定的权重，其单元格带角标。点击就恢复计算值。"};
  Words switch_off{"Switch this head off", "关掉这个头"};
  Words switch_on{"Switch it on again", "重新打开"};
  Words tip_switch_off{"Then look at the guess: what the model still knows without this head.",
                       "然后看看猜测：没有这个头，模型还知道什么。"};
  /// Before the guessed words, by what is asked: of trained weights, of random ones, where there is little room.
  struct Lead {
    Words trained, random, brief;
  };
  Lead hidden{{"“%” hidden, the model gives", "遮住“%”，模型给出"},
              {"“%” hidden, by chance", "遮住“%”，纯属随机"},
              {"“%” hidden:", "遮住“%”："}};
  Lead after{
      {"After “%” comes", "“%”之后是"}, {"After “%”, by chance", "“%”之后，纯属随机"}, {"After “%”:", "“%”之后："}};
  Lead in_place{{"In place of “%” stands", "“%”处是"},
                {"In place of “%”, by chance", "“%”处，纯属随机"},
                {"In place of “%”:", "“%”处："}};
  Words guessing{"guessing …", "正在猜……"};
  Words tip_guess{"What stands before the arrow is the guess without your changes.", "箭头前是没有这些改动时的猜测。"};
  Words tip_hidden{
      "This word is hidden from the model in a second pass, and it says what belongs there. Pin another row to hide "
      "another word.",
      "在另一次计算中把这个词遮住，由模型说出那里该是什么词。固定另一行，就遮住另一个词。"};
};
inline constexpr StageWords kStageWords;

/// The words of the maps' kinds that only the window has; what a square is stands in figure/map_kinds.h.
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
  Words tip_numbers_other{"The way to the weight of this cell, which the map's number is made of.",
                          "通向该单元格权重的每一步，图中的数由它而来。"};
};
inline constexpr MapWords kMapWords;

}  // namespace headlight
