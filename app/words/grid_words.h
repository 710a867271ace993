// The words about the ways in which the grid shows all heads.
#pragma once

#include "words/words.h"

namespace headlight {

struct GridWords {
  Words all_heads{"All % heads", "全部 % 个头"};
  Words grid_maps{"Maps", "大图"};
  Words tip_grid_maps{"Every head as a map with its words. Key: %, which steps through the forms.",
                      "每个头一张带词的图。按键：%，在各种形式之间切换。"};
  Words grid_glance{"At a glance", "一览"};
  Words tip_grid_glance{
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
      "Each head's colours go up to its own largest weight; otherwise all heads share one "
      "range. Key: %",
      "每个头的颜色到它自己的最大权重为止；否则所有头共用一个范围。按键：%"};
  Words tip_colours{"Click to choose other colours.", "点击以选择其他颜色。"};
  /// By ColourMap.
  Words colour_words[4]{{"teal to violet", "青到紫"},
                        {"hues of viridis", "viridis 色相"},
                        {"hues of cividis", "cividis 色相"},
                        {"greys", "灰度"}};
};
inline constexpr GridWords kGridWords;

}  // namespace headlight
