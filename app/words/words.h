// Every word of the window, in English and in Chinese.
#pragma once

#include <string>

#include "view/settings.h"

namespace headlight {

/// The same in both languages. The words of an area of the window are the members of one struct, `k…Words`.
struct Words {
  const char* en;
  const char* zh;
};
inline const char* words(Language language, const Words& words) {
  return language == Language::zh ? words.zh : words.en;
}

/// All characters that the interface needs in both languages, so that their glyphs are there from the start.
std::string all_words();

/// A line of the help overlay: the keys, and what they do.
struct KeyHelp {
  const char* keys;
  const char* en;
  const char* zh;
};
// clang-format off
inline constexpr KeyHelp kKeyHelp[] = {
    {"Ctrl L", "type in the sentence box", "在句子框中输入"},
    {"Esc", "leave the box, let a pinned cell go, close, stop opening", "离开输入框，取消固定，关闭，停止打开"},
    {"Ctrl Z / Ctrl Shift Z", "undo / redo", "撤销 / 重做"},
    {"Ctrl O / Ctrl S / Ctrl Shift S", "open / save / save as", "打开 / 保存 / 另存为"},
    {"Ctrl E / Ctrl Q", "export the numbers / quit", "导出数值 / 退出"},
    {"1 / 2 / 3 / 4 / 5", "all heads / inside a block / lines between the words / train / compare",
     "所有头 / 模块内部 / 词之间的连线 / 训练 / 对比"},
    {"Shift 5", "keep this answer as A, to compare what comes after it with", "把这个结果留作 A，与之后的对比"},
    {"1 again / Shift 1", "heads as maps, at a glance, one row, one column / back", "大图、一览、一行、一列 / 返回"},
    {"Ctrl P", "everything that can be done, by name", "按名称查找所有操作"},
    {"Ctrl Shift C", "copy the picture that is seen as a command line", "把所见的图复制为命令行"},
    {"Ctrl Enter / Ctrl Shift Enter", "start, pause or go on with a training / stop and keep it", "开始、暂停或继续训练 / 停止并保留"},
    {"Page Up / Page Down / End", "earlier, later step of a training / the newest", "训练中更早、更晚的一步 / 最新"},
    {"Y / U", "steps or diagram / back to what was looked at", "逐步或结构图 / 返回之前查看的"},
    {"Space", "switch the chosen head off or on", "关闭或打开所选的头"},
    {"Tab / Shift Tab", "encoder, decoder, cross-attention", "编码器、解码器、交叉注意力"},
    {"C", "mask and scale: all layers or this one", "掩码与缩放：所有层或本层"},
    {"[ ]   { }", "previous, next head / layer", "上一个、下一个头 / 层"},
    {"← → ↑ ↓", "move the pinned cell, inside the cell that is explained", "移动固定的单元格，内部视图中移动所解释的单元格"},
    {"Enter", "pin the cell under the pointer", "固定指针下的单元格"},
    {"M / Shift M", "causal mask / padding mask", "因果掩码 / 填充掩码"},
    {"P", "paint the mask with the pointer", "用指针绘制掩码"},
    {"X", "block or allow the pinned cell", "屏蔽或允许固定的单元格"},
    {"Backspace", "clear what was painted", "清除绘制的掩码"},
    {"D / Shift D", "d_model up / down", "d_model 增 / 减"},
    {"H / Shift H", "more / fewer heads", "头数 增 / 减"},
    {"L / Shift L", "more / fewer layers", "层数 增 / 减"},
    {"S / Shift S", "next / previous seed", "下一个 / 上一个种子"},
    {"K / R / Q", "encoder, decoder or both / norm before or after / its kind", "编码器、解码器或两者 / 归一化位置 / 方式"},
    {"A / E", "activation / gated feed-forward", "激活函数 / 门控前馈"},
    {"F / Shift F", "wider / narrower feed-forward layer", "前馈层 加宽 / 变窄"},
    {"B", "bias on or off", "偏置 开 / 关"},
    {"V / Shift V / 0", "larger / smaller scale / 1/√d_k again", "缩放 增 / 减 / 恢复 1/√d_k"},
    {", / .", "fewer / more padding tokens", "填充词元 减 / 增"},
    {"J / I", "join the pinned row's token with the next / cut it", "固定行的词元与下一个合并 / 切开"},
    {"Ctrl 1 … 9", "a sample sentence", "例句"},
    {"O / W", "positions / words or characters", "位置编码 / 按词或按字"},
    {"6 / Shift 6", "of a pair of sentences: all, A→A, A→B, B→A, B→B / back", "句对：全部、A→A、A→B、B→A、B→B / 返回"},
    {"Z / Shift Z", "fold special tokens / merge subwords into words", "折叠特殊词元 / 子词合并成词"},
    {"\\ / Shift \\", "maps: weights, norms, rollout / back", "图：权重、范数、累积 / 返回"},
    {"G / Shift G", "linear or logarithmic colours / a range for each map", "线性或对数颜色 / 每张图各自的范围"},
    {"N / Shift N", "next / previous sentence of a batch", "批次中的下一句 / 上一句"},
    {"= / - / Home", "zoom the large head in / out / whole", "大图放大 / 缩小 / 全部"},
    {"Ctrl = / Ctrl -", "everything larger / smaller", "整体放大 / 缩小"},
    {"T / 中", "light or dark / language (Ctrl T)", "浅色或深色 / 语言（Ctrl T）"},
    {"; / Shift ;", "order of the heads: layer, entropy, … / back", "头的顺序：层、熵…… / 返回"},
    {"/", "find heads by the words they look from and at", "按看与被看的词查找头"},
    {"Flow: = / - / Home", "fewer / more lines / all heads or the chosen one", "连线更少 / 更多 / 所有头或所选的头"},
    {"Compare: ; / Home / Del", "order of the heads / swap A and B / let A go", "头的顺序 / 交换 A 与 B / 放下 A"},
    {"Compare: = / - / Home", "zoom the three maps in / out / whole", "三幅图放大 / 缩小 / 全部"},
    {"Ctrl Shift E", "a figure for a paper or a slide", "用于论文或幻灯片的图"},
    {"F2, then 1 … 9, 0", "a lesson", "一课"},
    {"Ctrl Page Down / Ctrl Page Up", "next / previous step of a lesson", "课程的下一步 / 上一步"},
    {"F1 or ?", "these keys", "显示这些按键"},
};
// clang-format on

}  // namespace headlight
