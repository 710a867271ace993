// The dialogs that open and write files.
#pragma once

#include "words/words.h"

namespace headlight {

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

}  // namespace headlight
