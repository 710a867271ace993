// The words of the window: its bars and menus, files, the palette and changes that are undone.
#pragma once

#include "words/words.h"

namespace headlight {

/// The bars at the top and the bottom of the window: files, views, the model, notices, the colours.
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
  Words more_menu{"Menu", "菜单"};
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
  Words attention_file{"attention from", "注意力来自"};
  Words checkpoint{"checkpoint", "检查点"};
  Words trained_here{"trained here:", "在此训练："};
  Words check_agrees{"loaded right: agrees with its reference", "加载正确：与参考结果一致"};
  Words check_passed{"sanity checks passed, no reference", "基本检查通过，无参考结果"};
  Words check_doubtful{"perhaps loaded wrong", "加载可能有误"};
  Words check_wrong{"loaded wrong", "加载有误"};
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
      "heads rest, are drawn paler; their numbers are as they are.",
      "对数颜色能同时显示很小与很大的权重。<s> 等特殊词元的列画得较淡：许多头停在那里；数值不变。"};
};
inline constexpr WindowWords kWindowWords;

/// The dialogs that open and write files.
struct FileWords {
  Words shipped{"Shipped", "自带模型"};
  Words recent{"Recent", "最近"};
  Words trained{"Trained here", "在此训练"};
  Words on_disk{"On this disk", "在此磁盘"};
  Words folders{"Folders", "文件夹"};
  Words looking{"Looking for models …", "正在查找模型……"};
  Words none_here{"Nothing here yet.", "这里还没有内容。"};
  Words nothing_opens{"Nothing in this folder can be opened; folders can be entered.",
                      "这个文件夹里没有能打开的内容；可以进入子文件夹。"};
  Words unfinished{"unfinished", "未完成"};
  Words encoder{"encoder", "编码器"};
  Words decoder{"decoder, says the next word", "解码器，预测下一个词"};
  Words translator{"translator, Chinese to English", "翻译，中文到英文"};
  Words session{"session", "会话"};
  Words lesson{"lesson", "课程"};
  Words page{"page", "网页"};
  Words tensors{"tensors", "张量"};
  Words mask{"mask or attention", "掩码或注意力"};
  Words text{"text", "文本"};
  Words folder{"folder", "文件夹"};
  Words format{"Format", "格式"};
  Words width{"Width", "宽度"};
  Words theme{"Theme", "主题"};
  Words millimetres{"mm", "毫米"};
  Words about{"about ", "约 "};
  Words page_computes{"A page shows every view and still computes; it opens in any browser.",
                      "网页包含所有视图并且仍能计算；用任何浏览器打开。"};
  Words theme_of_window{"as here", "同窗口"};
  Words light{"light", "浅色"};
  Words dark{"dark", "深色"};
  Words numbers_in_all{"numbers of attention", "个注意力数值"};
  Words folder_up{"one folder up", "上一级文件夹"};
  Words do_open{"Open", "打开"};
  Words do_save{"Save", "保存"};
  Words do_replace{"Replace", "替换"};
  Words do_export{"Export", "导出"};
  Words do_train_on{"Train on it", "用它训练"};
  Words unknown_format{"The ending says the format: .json, .npz, .safetensors or .csv; .py is the layer as a program",
                       "扩展名决定格式：.json、.npz、.safetensors 或 .csv；.py 是该层的程序"};
  Words figure_format{"The ending says the format: .svg, .pdf or .png; .html is a page that still computes",
                      "扩展名决定格式：.svg、.pdf 或 .png；.html 是仍能计算的网页"};
  Words figure_grid{"All heads", "所有头"};
  Words figure_head{"Chosen head", "所选的头"};
  Words figure_layers{"All layers, small", "所有层，缩略"};
  Words figure_matrix{"Matrix", "矩阵"};
  Words column{"Column, 85", "单栏 85"};
  Words slide{"Slide, 254", "幻灯片 254"};
  Words export_all{"All heads", "所有头"};
  Words export_head{"Chosen head", "所选的头"};
};
inline constexpr FileWords kFileWords;

/// The words of the palette; the names of the actions are in their table (gui/actions/actions.cpp).
struct PaletteWords {
  Words hint{"What do you want to do? Type a word of it.", "想做什么？输入其中的字词。"};
  Words nothing_found{"Nothing is called that.", "没有这样的操作。"};
  Words open_recent{"Open again", "再次打开"};
  Words take_sample{"Example", "例句"};
  Words take_model{"Trained model", "训练好的模型"};
  Words begin_lesson{"Lesson", "课程"};
  Words order_heads{"Order of the heads", "头的顺序"};
  Words choose_colours{"Colours", "颜色"};
};
inline constexpr PaletteWords kPaletteWords;

/// The names of changes in the line that offers to undo them.
struct ChangeWords {
  Words trained{"Trained weights", "训练好的权重"};
  Words random{"Random weights", "随机权重"};
  Words part_off{"%, layer %: off", "%，层 %：已关闭"};
  Words part_on{"%, layer %: on", "%，层 %：已打开"};
  Words head_off{"% off", "% 已关闭"};
  Words head_on{"% on", "% 已打开"};
  Words all_on{"All heads on", "所有头已打开"};
  Words weight{"Weight set by hand", "手动设定权重"};
  Words anything{"Changed", "已改动"};
};
inline constexpr ChangeWords kChangeWords;

struct FailureWords {
  Words cannot_open{"This could not be opened", "打不开"};
  Words cannot_ask{"This model cannot be asked this", "无法这样询问这个模型"};
  Words choose_another{"Choose another …", "另选一个……"};
  Words details{"Details", "详情"};
  Words go_back{"Go back", "返回"};
  Words undo_opening{"Back to the model before", "回到之前的模型"};
  Words one_word{"One word can only look at itself: every map is one square. Type a word more.",
                 "只有一个词，它只能看自己：每张图只有一格。请再输入一个词。"};

  Words where_is_model{"Where is it now? …", "它现在在哪里？……"};
  Words read_first{"Read the first % tokens", "只读前 % 个词元"};
};
inline constexpr FailureWords kFailureWords;

}  // namespace headlight
