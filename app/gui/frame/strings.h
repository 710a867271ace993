// Every word of the window, in English and in Chinese.
#pragma once

#include <string>

#include "session/settings.h"

namespace headlight {

// A line holds the words of one panel.
// clang-format off
enum class Str {
  open, save, save_as, export_numbers, samples, reset, undo, redo, help, language, light, dark, larger, smaller,
  sentence_hint, sentence_number, split, words, characters, automatic, section_mask, mask_causal, mask_padding,
  pad_last, paint, paint_hint, clear_paint, mask_from_file, remove, section_model, d_model, heads, layers, seed,
  positions, position_none, position_sinusoidal, position_learned, position_rotary, encoder_layers, decoder_layers,
  kv_heads, own_d_k, d_k, tied, gated, section_scores, scale_automatic, scale, dropout, drop_others, heads_off,
  off_zero, off_mean, all_on, weights_by_hand, clear_weights, section_block, arch, encoder, decoder, encoder_decoder,
  cross, norm, norm_post, norm_pre, norm_kind, norm_layer, norm_rms, feed_forward, activation, bias,
  what_is_a_square, pooled, empty_text, empty_hint, computing, stale, cancel, layer, head, row_of, sum, blocked,
  attends, pinned_hint, linear, logarithmic, random_model, tensors_model, mask_is, opened,
  saved, exported, restored, writing, folder_up, do_open, do_save, do_replace, do_export, close, recent,
  unknown_format, whole_pattern, part_of_pattern, checkpoint, all_layers, clear_layer, target_hint, ids_hint,
  head_is_on, head_is_off, why, set_by_hand, by_hand, view_heads, view_inside, next_word, masked_word, find_word,
  no_such_word, stop, temperature, prefix, steps_of_weight, way_of_data, pin_for_steps, node_add, node_norm,
  node_other_layers, back, click_for_terms, no_such_matrix, check_agrees,
  check_passed, check_doubtful, check_wrong, check_running, tip_d_model, tip_heads, tip_layers, tip_seed,
  tip_positions, tip_scale, tip_causal, tip_padding, tip_arch, tip_norm, tip_feed_forward, tip_activation, tip_bias,
  tip_colour_scale, own_tokenizer, as_text, as_ids, tip_as_ids, trained_model, trained_weights, tip_trained, no_trained_shape,
  nearest_trained, position_alone, random_weights_score, tip_measured, supervised_pronouns,
  tip_own_cuts, tip_unknown, words_known, knows_for_example, held_out_sentences, tip_split, tip_pad_here, tip_scope, tip_norm_kind, tip_gated, tip_kv_heads, tip_own_d_k,
  tip_tied, tip_dropout, tip_off_as, tip_weight, tip_bars, tip_on_off, tip_stack, tip_cross, tip_why, tip_view_heads,
  tip_view_inside, tip_append, tip_find_word, tip_write, tip_temperature, tip_prefix, tip_steps, tip_way, tip_back,
  fold_special, merge_words, special_folded, words_merged, left_out, not_while_folded, tip_fold_special,
  tip_merge_words, tip_fold_too_long, tip_not_while_folded, tip_why_folded,
  view_train, tip_view_train, train_a_model, train_explained, tip_training_shape, task_masked, task_causal, task_translation,
  training_steps, tip_training_steps, training_batch, tip_training_batch, learning_rate, tip_learning_rate, corpus,
  tip_corpus, corpus_grammar, corpus_text, tip_corpus_text, term_hide, tip_term_hide, term_swap, tip_term_swap,
  term_keep, tip_term_keep, term_family, tip_term_family, term_restore, tip_term_restore, tip_term_dropout,
  term_smoothing, tip_term_smoothing, start_training, tip_start_training, pause_training, resume_training,
  tip_pause_training, stop_training, tip_stop_training, show_training, tip_show_training, phase_preparing,
  phase_running, phase_paused, phase_measuring, phase_done, phase_stopped, phase_failed, training_step,
  words_a_second, time_left, seconds, minutes, hours, loss, share_right, scores_of_heads, tip_scores_of_heads,
  tip_time, live, newest, tip_newest, trained_earlier, go_on_with, tip_continue_training, another_training,
  train_this_shape, tip_train_this_shape, trained_here, tip_training_status, do_train_on,
  view_flow, tip_view_flow, flow_all_heads, flow_chosen_head, tip_flow_heads, tip_flow_head, threshold, tip_threshold,
  no_line, no_head_shown, flow_hint, figure, tip_figure, figure_format, figure_grid, figure_head, figure_layers, column,
  slide, copied, export_all, export_head, more_lines, figure_matrix, pooled_folded,
  count
};

/// The same in both languages. Areas of the window that have words of their own keep them beside their code.
struct Words {
  const char* en;
  const char* zh;
};
inline const char* words(Language language, const Words& words) { return language == Language::zh ? words.zh : words.en; }

/// The words in one language; `…` and other characters of the interface included.
const char* words(Language language, Str string);

/// All characters that the interface needs in both languages, so that their glyphs are there from the start.
std::string all_words();

/// A line of the help overlay: the keys, and what they do.
struct KeyHelp {
  const char* keys;
  const char* en;
  const char* zh;
};
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
