// The bars at the top and the bottom of the window: files, views, the model, notices, the colours.
#pragma once

#include "words/words.h"

namespace headlight {

struct WindowWords {
  Words view_heads{"Heads", "注意力头"};
  Words tip_view_heads{"Every head of every layer.", "每一层的每一个头。"};
  Words view_inside{"Inside", "内部"};
  Words tip_view_inside{"The data's way through a block, and the terms of every number.",
                        "数据在模块中的路径，以及每个数的来历。"};
  Words view_flow{"Flow", "连线"};
  Words tip_view_flow{"A line from each word to the words it looks at.", "从每个词到它所看的词的连线。"};
  Words view_train{"Train", "训练"};
  Words tip_view_train{"Trains a model of this shape while its heads are drawn.",
                       "训练一个此形状的模型，同时画出它的各个头。"};
  Words open{"Open", "打开"};
  Words save{"Save", "保存"};
  Words save_as{"Save as", "另存为"};
  Words export_numbers{"Export", "导出"};
  Words figure{"Figure", "出图"};
  Words tip_figure{"A picture of what is seen, for a paper or a slide: SVG, PDF or PNG.",
                   "把所看到的做成论文或幻灯片用的图：SVG、PDF 或 PNG。"};
  Words undo{"Undo", "撤销"};
  Words redo{"Redo", "重做"};
  Words motion{"Maps fade", "图渐变"};
  Words tip_motion{"Maps fade from the old answer to the new one, in 0.12 seconds.",
                   "图在 0.12 秒内从旧结果渐变到新结果。"};
  Words share{"Share", "分享"};
  Words tip_share{"Save, numbers, a figure, the command that gives the same.",
                  "保存、导出数值、出图、复制得到同样结果的命令。"};
  Words copy_command{"Copy as command", "复制为命令"};
  Words more_menu{"More", "更多"};
  Words tip_more_menu{"Every command by name, keys, language, theme, size.",
                      "按名称查找命令、按键、语言、主题、大小。"};
  Words reset{"Reset", "重置"};
  Words help{"Keys", "按键"};
  Words language{"中文", "English"};
  Words light{"Light", "浅色"};
  Words dark{"Dark", "深色"};
  Words larger{"Larger", "放大"};
  Words smaller{"Smaller", "缩小"};
  Words close{"Close", "关闭"};
  Words cancel{"Cancel", "取消"};
  Words trained_model{"trained on the grammar", "已在语法例句上训练"};
  Words random_model{"fresh random weights", "随机初始权重"};
  Words tensors_model{"tensors file", "张量文件"};
  Words checkpoint{"checkpoint", "检查点"};
  Words trained_here{"trained here:", "在此训练："};
  Words check_agrees{"loaded right: agrees with its reference", "加载正确：与参考结果一致"};
  Words check_passed{"sanity checks passed, no reference", "基本检查通过，无参考结果"};
  Words check_doubtful{"perhaps loaded wrong", "加载可能有误"};
  Words check_wrong{"loaded wrong", "加载有误"};
  Words check_running{"checking what was loaded …", "正在检查加载结果…"};
  Words opened{"Opened", "已打开"};
  Words saved{"Saved", "已保存"};
  Words exported{"Exported", "已导出"};
  Words restored{"Restored: the last window had not saved this.", "已恢复：上次窗口未保存的内容。"};
  Words copied{"Copied:", "已复制："};
  Words writing{"working on files", "正在处理文件"};
  Words more_lines{"more", "条"};
  Words mask_is{"mask", "掩码"};
  Words linear{"linear", "线性"};
  Words logarithmic{"log", "对数"};
  Words tip_colour_scale{
      "Logarithmic colours show small weights beside large ones. Columns of special tokens such as <s>, at which many "
      "heads "
      "rest, are drawn paler; their numbers are as they are.",
      "对数颜色能同时显示很小与很大的权重。<s> 等特殊词元的列画得较淡：许多头停在那里；数值不变。"};
};
inline constexpr WindowWords kWindowWords;

}  // namespace headlight
