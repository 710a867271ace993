#include "gui/strings.h"

#include <array>
#include <cstddef>

namespace headlight {
namespace {

struct Pair {
  Str string;
  const char* en;
  const char* zh;
};

constexpr Pair kWords[] = {
    {Str::open, "Open", "打开"},
    {Str::save, "Save", "保存"},
    {Str::save_as, "Save as", "另存为"},
    {Str::export_numbers, "Export", "导出"},
    {Str::samples, "Samples", "例句"},
    {Str::reset, "Start over", "重新开始"},
    {Str::undo, "Undo", "撤销"},
    {Str::redo, "Redo", "重做"},
    {Str::help, "Keys", "按键"},
    {Str::language, "中文", "English"},
    {Str::light, "Light", "浅色"},
    {Str::dark, "Dark", "深色"},
    {Str::larger, "A+", "A+"},
    {Str::smaller, "A-", "A-"},
    {Str::sentence_hint, "Type a sentence; each line is one of a batch", "输入一个句子；每行是批次中的一句"},
    {Str::sentence_number, "sentence", "句"},
    {Str::split, "Tokens", "词元"},
    {Str::words, "words", "按词"},
    {Str::characters, "characters", "按字"},
    {Str::automatic, "automatic again", "恢复自动切分"},
    {Str::section_mask, "Mask", "掩码"},
    {Str::mask_causal, "causal", "因果"},
    {Str::mask_padding, "padding", "填充"},
    {Str::pad_last, "padding tokens", "填充词元数"},
    {Str::paint, "Paint mask", "绘制掩码"},
    {Str::paint_hint, "click or drag over cells to block or allow them", "点击或拖过单元格以屏蔽或允许"},
    {Str::clear_paint, "Clear painted", "清除绘制"},
    {Str::mask_from_file, "from a file", "来自文件"},
    {Str::remove, "Remove", "移除"},
    {Str::section_model, "Model", "模型"},
    {Str::d_model, "d_model", "d_model"},
    {Str::heads, "heads", "头数"},
    {Str::layers, "layers", "层数"},
    {Str::seed, "seed", "随机种子"},
    {Str::positions, "positions", "位置编码"},
    {Str::position_none, "none", "无"},
    {Str::position_sinusoidal, "sinusoidal", "正弦"},
    {Str::section_scores, "Scores", "打分"},
    {Str::scale_automatic, "scale 1/√d_k", "缩放 1/√d_k"},
    {Str::scale, "scale", "缩放"},
    {Str::section_block, "Block", "模块"},
    {Str::arch, "kind", "类型"},
    {Str::encoder, "encoder", "编码器"},
    {Str::decoder, "decoder", "解码器"},
    {Str::norm, "norm", "归一化"},
    {Str::norm_post, "after", "之后"},
    {Str::norm_pre, "before", "之前"},
    {Str::feed_forward, "feed-forward", "前馈宽度"},
    {Str::activation, "activation", "激活函数"},
    {Str::bias, "bias", "偏置"},
    {Str::what_is_a_square,
     "Each map is one head. A row is the word that looks, a column the word it looks at; stronger colour, more attention.",
     "每张图是一个注意力头。行是在看的词，列是被看的词；颜色越强，注意力越多。"},
    {Str::pooled, "each dot shows the largest weight of the cells it covers; turn the wheel over the large head to zoom",
     "每个点显示其覆盖单元格中的最大权重；在大图上滚动滚轮缩放"},
    {Str::empty_text, "No sentence yet", "还没有句子"},
    {Str::empty_hint, "Type one above, or take a sample.", "在上方输入，或选择一个例句。"},
    {Str::computing, "computing", "计算中"},
    {Str::stale, "the maps are of the sentence before", "图仍是之前的句子"},
    {Str::cancel, "Cancel", "取消"},
    {Str::layer, "Layer", "层"},
    {Str::head, "Head", "头"},
    {Str::row_of, "where this word looks:", "这个词看向："},
    {Str::sum, "sum", "总和"},
    {Str::blocked, "blocked by the mask", "被掩码屏蔽"},
    {Str::attends, "looks at", "看向"},
    {Str::pinned_hint, "Hover a cell to read it, click to keep it.", "指向单元格以读数，点击固定。"},
    {Str::linear, "linear", "线性"},
    {Str::logarithmic, "log", "对数"},
    {Str::random_model, "fresh random weights", "随机初始权重"},
    {Str::tensors_model, "tensors file", "张量文件"},
    {Str::mask_is, "mask", "掩码"},
    {Str::mask_none, "none", "无"},
    {Str::mask_custom, "custom", "自定义"},
    {Str::opened, "Opened", "已打开"},
    {Str::saved, "Saved", "已保存"},
    {Str::exported, "Exported", "已导出"},
    {Str::restored, "The last window ended unexpectedly; this is what it held.", "上次窗口意外结束，已恢复其内容。"},
    {Str::writing, "working on files", "正在处理文件"},
    {Str::folder_up, "one folder up", "上一级文件夹"},
    {Str::do_open, "Open", "打开"},
    {Str::do_save, "Save", "保存"},
    {Str::do_replace, "Replace", "替换"},
    {Str::do_export, "Export", "导出"},
    {Str::close, "Close", "关闭"},
    {Str::recent, "Recent", "最近"},
    {Str::unknown_format, "The ending says the format: .json, .npz, .safetensors or .csv",
     "扩展名决定格式：.json、.npz、.safetensors 或 .csv"},
    {Str::whole_pattern, "Whole", "全部"},
    {Str::part_of_pattern, "shown:", "显示："},
    {Str::tip_d_model, "Width of the vectors: how many numbers describe one token between the layers.",
     "向量宽度：层与层之间用多少个数描述一个词元。"},
    {Str::tip_heads, "How many heads share the width; each works on d_k = d_model / heads numbers.",
     "多少个头共享这个宽度；每个头处理 d_k = d_model / 头数 个数。"},
    {Str::tip_layers, "How many blocks stand one above the other.", "上下堆叠多少个模块。"},
    {Str::tip_seed, "Which random weights: the same seed gives the same numbers every time.",
     "哪一组随机权重：相同的种子每次给出相同的数。"},
    {Str::tip_positions, "What tells the model where a word stands: nothing, or sines and cosines added to its vector.",
     "告诉模型词在哪里的方式：没有，或在向量上加正弦与余弦。"},
    {Str::tip_scale, "What the products q·k are multiplied by before the softmax; larger makes attention sharper.",
     "点积 q·k 在 softmax 之前乘以的数；越大注意力越集中。"},
    {Str::tip_causal, "No word may look at words after it.", "任何词都不能看它后面的词。"},
    {Str::tip_padding, "No word may look at padding tokens.", "任何词都不能看填充词元。"},
    {Str::tip_arch, "An encoder looks both ways; a decoder begins with the causal mask.",
     "编码器向两边看；解码器默认使用因果掩码。"},
    {Str::tip_norm, "Whether each sublayer's sum is normalised after it, or its input before it.",
     "归一化在残差相加之后，还是在子层输入之前。"},
    {Str::tip_feed_forward, "Width of the feed-forward layer that follows attention; 0 leaves it out.",
     "注意力之后前馈层的宽度；0 表示不用。"},
    {Str::tip_activation, "The curve inside the feed-forward layer.", "前馈层中的非线性函数。"},
    {Str::tip_bias, "Whether the projections Q, K, V, O add a constant vector.", "Q、K、V、O 投影是否加常数向量。"},
    {Str::tip_colour_scale, "Logarithmic colours show small weights beside large ones.", "对数颜色能同时显示很小与很大的权重。"},
    {Str::tip_split, "What a token is: a word, or a single character.", "词元是什么：一个词，或一个字。"},
    {Str::tip_pad_here, "right click: padding from here on", "右键：从这里起为填充"},
};

consteval bool in_order() {
  for (std::size_t i = 0; i < std::size(kWords); ++i)
    if (static_cast<std::size_t>(kWords[i].string) != i) return false;
  return std::size(kWords) == static_cast<std::size_t>(Str::count);
}
static_assert(in_order(), "one pair for each Str, in its order");

}  // namespace

const char* words(Language language, Str string) {
  const Pair& pair = kWords[static_cast<std::size_t>(string)];
  return language == Language::zh ? pair.zh : pair.en;
}

std::string all_words() {
  std::string all;
  for (const Pair& pair : kWords) all.append(pair.en).append(pair.zh);
  for (const KeyHelp& help : kKeyHelp) all.append(help.keys).append(help.en).append(help.zh);
  return all;
}

}  // namespace headlight
