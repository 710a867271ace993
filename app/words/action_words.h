// The names of what can be done, as the palette lists it, and the palette's own words.
#pragma once

#include "words/words.h"

namespace headlight {

inline constexpr Words kPaletteHint{"What do you want to do? Type a word of it.", "想做什么？输入其中的字词。"};
inline constexpr Words kNothingFound{"Nothing is called that.", "没有这样的操作。"};

inline constexpr Words kShowHeads{"Show all heads", "显示所有头"};
inline constexpr Words kShowInside{"Look inside a block", "查看模块内部"};
inline constexpr Words kShowFlow{"Lines between the words", "词之间的连线"};
inline constexpr Words kShowTrain{"Train a model", "训练模型"};
inline constexpr Words kOpenFile{"Open a file or a model folder", "打开文件或模型文件夹"};
inline constexpr Words kSaveSession{"Save the session", "保存会话"};
inline constexpr Words kSaveSessionAs{"Save the session under another name", "会话另存为"};
inline constexpr Words kExportNumbers{"Export the numbers: JSON, npz, safetensors, CSV",
                                      "导出数值：JSON、npz、safetensors、CSV"};
inline constexpr Words kMakeFigure{"Make a figure: SVG, PDF, PNG", "出图：SVG、PDF、PNG"};
inline constexpr Words kCopyAsCommand{"Copy the picture as a command line", "把所见的图复制为命令行"};
inline constexpr Words kCopyExport{"Copy the export of the numbers as a command line", "把数值导出复制为命令行"};
inline constexpr Words kCopyExplain{"Copy the explanation of the pinned weight as a command line",
                                    "把所固定权重的解释复制为命令行"};
inline constexpr Words kOpenRecent{"Open again", "再次打开"};
inline constexpr Words kTakeSample{"Sample", "例句"};
inline constexpr Words kTakeModel{"Trained model", "训练好的模型"};
inline constexpr Words kUndo{"Undo", "撤销"};
inline constexpr Words kRedo{"Redo", "重做"};
inline constexpr Words kCausalOn{"Hide the future: causal mask on", "遮住未来：打开因果掩码"};
inline constexpr Words kCausalOff{"Show the future: causal mask off", "看到未来：关闭因果掩码"};
inline constexpr Words kPaddingOn{"Hide padding: padding mask on", "遮住填充：打开填充掩码"};
inline constexpr Words kPaddingOff{"Show padding: padding mask off", "看到填充：关闭填充掩码"};
inline constexpr Words kPaintMask{"Paint the mask, or stop painting", "开始或停止绘制掩码"};
inline constexpr Words kClearPaint{"Clear what was painted", "清除绘制的掩码"};
inline constexpr Words kSwitchOff{"Switch off", "关闭"};
inline constexpr Words kSwitchOn{"Switch on", "打开"};
inline constexpr Words kAllOn{"Switch all heads on again", "重新打开所有头"};
inline constexpr Words kClearEdits{"Take back every change inside the model", "取消模型内部的所有改动"};
inline constexpr Words kStartOver{"Start over", "重新开始"};
inline constexpr Words kTypeSentence{"Type a sentence", "输入句子"};
inline constexpr Words kOrderHeads{"Order of the heads", "头的顺序"};
inline constexpr Words kFindHeadsByWords{"Find heads by the words they look from and at", "按看与被看的词查找头"};
inline constexpr Words kLogColours{"Logarithmic colours", "对数颜色"};
inline constexpr Words kLinearColours{"Linear colours", "线性颜色"};
inline constexpr Words kOwnRangeOn{"A colour range for each map", "每张图各自的颜色范围"};
inline constexpr Words kSharedRange{"One colour range for all maps", "所有图共用一个颜色范围"};
inline constexpr Words kChooseColours{"Colours", "颜色"};
inline constexpr Words kDarkTheme{"Dark theme", "深色主题"};
inline constexpr Words kLightTheme{"Light theme", "浅色主题"};
inline constexpr Words kOtherLanguage{"中文 / Chinese", "English / 英文"};
inline constexpr Words kLarger{"Everything larger", "整体放大"};
inline constexpr Words kSmaller{"Everything smaller", "整体缩小"};
inline constexpr Words kAllKeys{"All keys", "所有按键"};
inline constexpr Words kQuit{"Quit", "退出"};

/// All of them, for the fonts.
inline constexpr const Words* kActionWords[] = {&kPaletteHint,   &kNothingFound,  &kShowHeads,
                                                &kShowInside,    &kShowFlow,      &kShowTrain,
                                                &kOpenFile,      &kSaveSession,   &kSaveSessionAs,
                                                &kExportNumbers, &kMakeFigure,    &kCopyAsCommand,
                                                &kCopyExport,    &kCopyExplain,   &kOpenRecent,
                                                &kTakeSample,    &kTakeModel,     &kUndo,
                                                &kRedo,          &kCausalOn,      &kCausalOff,
                                                &kPaddingOn,     &kPaddingOff,    &kPaintMask,
                                                &kClearPaint,    &kSwitchOff,     &kSwitchOn,
                                                &kAllOn,         &kClearEdits,    &kStartOver,
                                                &kTypeSentence,  &kOrderHeads,    &kFindHeadsByWords,
                                                &kLogColours,    &kLinearColours, &kOwnRangeOn,
                                                &kSharedRange,   &kChooseColours, &kDarkTheme,
                                                &kLightTheme,    &kOtherLanguage, &kLarger,
                                                &kSmaller,       &kAllKeys,       &kQuit};

}  // namespace headlight
