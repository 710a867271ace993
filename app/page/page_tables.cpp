#include "page/page_template.h"

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "figure/drawing/colour.h"
#include "words/answer_words.h"
#include "words/chosen_head_words.h"
#include "words/compare_words.h"
#include "words/grid_words.h"
#include "words/head_words.h"
#include "words/inside_words.h"
#include "words/mask_words.h"
#include "words/model_words.h"
#include "words/relation_words.h"
#include "words/text_words.h"
#include "words/window_words.h"
#include "words/words.h"

namespace headlight {
namespace {

using nlohmann::json;

/// The texts of the page by name: the window's words where it has them. `{0}` stands for a value.
struct PageWord {
  const char* name;
  Words words;
};

constexpr PageWord kPageWords[] = {
    {"language", kWindowWords.language},
    {"light", kWindowWords.light},
    {"dark", kWindowWords.dark},
    {"print", {"Print", "打印"}},
    {"help", kWindowWords.help},
    {"close", kWindowWords.close},
    {"skip", {"To the map", "跳到图"}},
    {"views", {"View", "视图"}},
    {"view_heads", {"Map", "图"}},
    {"view_row", {"One word", "一个词"}},
    {"view_flow", kWindowWords.view_flow},
    {"view_compare", kCompareWords.view_compare},
    {"view_text", kTextWords.text},
    {"text_rows", kTextWords.rows},
    {"text_columns", kTextWords.columns},
    {"text_head", kTextWords.heads[0]},
    {"text_layer", kTextWords.heads[1]},
    {"text_all", kTextWords.heads[2]},
    {"text_choose", kTextWords.choose},
    {"text_top", {"Colours up to {0}", "颜色到 {0} 为止"}},
    {"tip_view_heads", {"The chosen head, large.", "放大所选的头。"}},
    {"tip_view_row", {"Where one word looks in every head.", "一个词在每个头中看向哪里。"}},
    {"tip_view_flow", kWindowWords.tip_view_flow},
    {"tip_view_compare", {"Two answers and their difference.", "两个结果及其差别。"}},
    {"tip_view_text", {"The text itself, each word on the shade of its weight.", "文本本身，每个词按权重着色。"}},
    {"stack", {"Attention", "注意力"}},
    {"stack_Self", {"self-attention", "自注意力"}},
    {"stack_Encoder", kModelWords.encoder},
    {"stack_Decoder", kModelWords.decoder},
    {"stack_Cross", {"cross-attention", "交叉注意力"}},
    {"tip_stack", {"Which of the model's attentions is shown.", "显示模型的哪一种注意力。"}},
    {"section_mask", kMaskWords.section_mask},
    {"mask_file", {"as written", "原样"}},
    {"mask_none", kModelWords.position_none},
    {"mask_causal", kMaskWords.causal},
    {"mask_padding", kMaskWords.padding},
    {"mask_causal_padding", {"causal + padding", "因果 + 填充"}},
    {"tip_mask_file", {"The mask that the page was written with.", "页面写入时的掩码。"}},
    {"tip_mask_none", {"Every word may look at every word.", "每个词都可以看每个词。"}},
    {"tip_mask_causal", {"A word may not look at later words.", "词不能看后面的词。"}},
    {"tip_mask_padding", {"Padding tokens are not looked at.", "不看填充词元。"}},
    {"tip_mask_causal_padding", {"Neither later words nor padding are looked at.", "既不看后面的词，也不看填充。"}},
    {"paint", kMaskWords.paint},
    {"paint_hint", kMaskWords.paint_hint},
    {"clear_paint", kMaskWords.clear_paint},
    {"scale", kMaskWords.scale},
    {"scale_again", {"as written", "恢复"}},
    {"off_count", {"{0} heads off", "已关闭 {0} 个头"}},
    {"all_on", kMaskWords.all_on},
    {"undo", kWindowWords.undo},
    {"redo", kWindowWords.redo},
    {"reset", kWindowWords.reset},
    {"all_heads", {"All {0} heads", "全部 {0} 个头"}},
    {"heads", kWindowWords.view_heads},
    {"order", kCompareWords.order_of_differences},
    {"order_layer", kHeadOrderWords.layer.name},
    {"does_previous", kHeadNameWords.previous},
    {"does_next", kHeadNameWords.next},
    {"does_same", kHeadNameWords.same},
    {"does_special", kHeadNameWords.special},
    {"does_first", kHeadNameWords.first},
    {"does_duplicate", kHeadNameWords.duplicate},
    {"does_spread", kHeadNameWords.spread},
    {"colours", {"Colours", "颜色"}},
    {"linear", kWindowWords.linear},
    {"logarithmic", kWindowWords.logarithmic},
    {"tip_colour_scale",
     {"How weights become colours: evenly, or by their logarithm, which shows small ones.",
      "权重如何变成颜色：线性，或按对数以显示小的权重。"}},
    {"own_range", kGridWords.own_range},
    {"tip_own_range", {"Each map's colours go up to its own largest weight.", "每张图的颜色以自己的最大权重为上限。"}},
    {"colour_map", {"colour map", "色图"}},
    {"map_teal", {"teal", "青色"}},
    {"map_viridis", {"viridis", "viridis"}},
    {"map_cividis", {"cividis", "cividis"}},
    {"map_grey", {"grey", "灰色"}},
    {"fold_special", kAnswerWords.fold_special},
    {"tip_fold_special",
     {"Leaves special tokens out of the maps and divides each row by what is left of it.",
      "在图中略去特殊词元，并把每行剩下的权重重新缩放到总和 1。"}},
    {"merge_words", kAnswerWords.merge_words},
    {"tip_merge_words", {"The tokens of one word become one row and one column.", "同一个词的词元成为一行和一列。"}},
    {"tip_fold_too_long", {"Only for sentences of up to 512 tokens.", "只用于不超过 512 个词元的句子。"}},
    {"special_folded", {"Special tokens left out, rows scaled back to 1.", "已略去特殊词元，每行重新缩放到总和 1。"}},
    {"words_merged", kAnswerWords.words_merged},
    {"map_of", {"Attention of {0}: {1} rows, {2} columns", "{0} 的注意力：{1} 行 {2} 列"}},
    {"attends", kAnswerWords.attends},
    {"blocked", kAnswerWords.blocked},
    {"blocked_short", {"blocked", "屏蔽"}},
    {"other_words", {"{0} others", "其余 {0} 个"}},
    {"only_other", {"not there", "无"}},
    {"pinned_hint", kChosenHeadWords.pinned_hint},
    {"head_is_on", kChosenHeadWords.head_is_on},
    {"head_is_off", kChosenHeadWords.head_is_off},
    {"tip_on_off", kChosenHeadWords.tip_on_off},
    {"arc", {"{0} (right in {1} of 100)", "{0}（100 次里对 {1} 次）"}},
    {"numbers", kInsideWords.numbers},
    {"numbers_title", {"The numbers behind {0} → {1} in {2}", "{2} 中 {0} → {1} 背后的各个数"}},
    {"step_products", {"q of {0} · k of {1}", "{0} 的 q · {1} 的 k"}},
    {"terms_of", {"the {0} products", "{0} 个乘积"}},
    {"rest_of_terms", {"and {0} smaller ones, together {1}", "另有 {0} 个较小的，合计 {1}"}},
    {"step_scale", {"× scale {0}", "× 缩放 {0}"}},
    {"step_cap", {"soft cap {0}", "软上限 {0}"}},
    {"step_relative", {"+ bias of distance {0}", "+ 距离 {0} 的偏置"}},
    {"step_open", {"+ mask: this word may be looked at", "+ 掩码：可以看这个词"}},
    {"step_softmax", {"softmax: e^({0} − {1}) / {2}", "softmax：e^({0} − {1}) / {2}"}},
    {"step_edits", {"after dropout and weights set by hand", "经过失活与手动设定的权重之后"}},
    {"step_hands", {"hands over that share of v of {0}", "交出 {0} 的 v 的这一份"}},
    {"hands_in_all", {"Of all {0} words together: ‖z‖ = {1}.", "全部 {0} 个词合计：‖z‖ = {1}。"}},
    {"hands_nothing", {"The head is off: it hands over nothing.", "这个头已关闭：不交出任何东西。"}},
    {"rows_of", {"Where {0} looks in every head", "{0} 在每个头中看向哪里"}},
    {"flow_chosen_head", {"chosen head", "所选的头"}},
    {"flow_all_heads", {"all {0} heads of layer {1}", "第 {1} 层的全部 {0} 个头"}},
    {"tip_flow_heads", kFlowWords.tip_heads},
    {"threshold", kFlowWords.threshold},
    {"no_line", {"No weight is that large.", "没有这么大的权重。"}},
    {"lines_shown", {"{0} lines, from {1} on", "{0} 条连线，不小于 {1}"}},
    {"flow_hint",
     {"A line goes from the word that looks to the word it looks at; thicker, more attention.",
      "连线从在看的词到被看的词；越粗，注意力越多。"}},
    {"zoom_in", {"Closer", "放大"}},
    {"zoom_out", {"Farther", "缩小"}},
    {"whole_pattern", kAnswerWords.whole_pattern},
    {"queries", {"the words that look", "在看的词"}},
    {"keys", {"the words that are looked at", "被看的词"}},
    {"tip_unknown", {"This word is not in the model's vocabulary.", "这个词不在模型的词表中。"}},
    {"unknown_words",
     {"The model does not know {0}: what its heads do with it says nothing.",
      "模型不认识 {0}：头对它的注意力没有意义。"}},
    {"ask", {"Ask", "计算"}},
    {"ask_hint", {"Type a sentence of your own", "输入自己的句子"}},
    {"empty_text", kAnswerWords.empty_text},
    {"too_many_words", {"expected at most {0} words, found {1}", "最多 {0} 个词，现有 {1} 个"}},
    {"guess_next", {"after {0}:", "{0} 之后："}},
    {"guess_masked", {"in place of the hidden word:", "被遮住的词："}},
    {"guess_same", {"the model's word at {0}:", "模型在 {0} 处的词："}},
    {"computed_here", {"Weights are computed here, from q and k.", "权重在此页面中由 q 与 k 计算。"}},
    {"computed_live",
     {"The whole model is computed here: every change reaches the layers above.",
      "整个模型在此页面中计算：每个改动都会影响其上各层。"}},
    {"given_weights", {"Weights as another program computed them.", "权重由其他程序计算。"}},
    {"layers_as_written",
     {"q and k stay as they were written: a change does not reach the layers above.",
      "q 与 k 保持写入时的值：改动不影响其上各层。"}},
    {"rounding_error",
     {"Rounded to float16: no weight is off by more than {0}.", "已舍入为 float16：任何权重的误差不超过 {0}。"}},
    {"written_by", {"Headlight {0}", "Headlight {0}"}},
    {"key_move", {"move the pinned cell", "移动固定的单元格"}},
    {"key_pin", {"pin the cell under the pointer", "固定指针下的单元格"}},
    {"key_let_go", {"let a pinned cell go, stop painting", "取消固定，停止绘制"}},
    {"key_heads", {"previous, next head / layer", "上一个、下一个头 / 层"}},
    {"key_block", {"block or allow the pinned cell", "屏蔽或允许固定的单元格"}},
    {"key_scale", {"larger / smaller scale / as written", "缩放 增 / 减 / 恢复"}},
    {"touch_help",
     {"By touch: tap a cell to keep it, two fingers zoom, one finger moves a zoomed map.",
      "触摸：点按单元格以固定，双指缩放，单指移动放大的图。"}},
};

std::string css(Rgb colour) {
  return "rgb(" + std::to_string(colour.r) + " " + std::to_string(colour.g) + " " + std::to_string(colour.b) + ")";
}

std::string table_of(const std::array<Rgb, 256>& map) {
  std::string bytes;
  for (const Rgb& colour : map)
    bytes += {static_cast<char>(colour.r), static_cast<char>(colour.g), static_cast<char>(colour.b)};
  return encode_base64(bytes);
}

json theme_object(Theme theme) {
  json object;
  for (int i = 0; i < kColourMaps; ++i) {
    const auto map = static_cast<ColourMap>(i);
    object["maps"][std::string(name(map))] = table_of(colour_map(theme, map));
  }
  object["diverging"] = table_of(diverging_map(theme));
  const InkColours ink = ink_colours(theme);
  const BlockedColours blocked = blocked_colours(theme);
  object["ink"] = {{"background", css(background_of(theme))},
                   {"text", css(ink.text)},
                   {"dim", css(ink.dim)},
                   {"line", css(ink.line)},
                   {"accent", css(ink.accent)},
                   {"on_accent", css(text_on(ink.accent))},
                   {"blocked_line", css(blocked.line)},
                   {"blocked_tint", css(blocked.tint)},
                   {"gap", css(gap_colour(theme))},
                   {"below", css(diverging_map(theme)[40])},
                   {"above", css(diverging_map(theme)[215])}};
  for (std::size_t i = 0; i < kHeadColours; ++i) object["heads"].push_back(css(head_colour(theme, i)));
  return object;
}

}  // namespace

std::string page_words_json() {
  json all;
  const auto add = [&](const std::string& name, const Words& words) {
    all["en"][name] = words.en;
    all["zh"][name] = words.zh;
  };
  for (const PageWord& word : kPageWords) add(word.name, word.words);
  for (const Measure measure : kMeasures) {
    const OrderWords& words = kHeadOrderWords.measures[static_cast<std::size_t>(measure)];
    add("order_" + std::string(name(measure)), words.name);
    add("tip_order_" + std::string(name(measure)), words.tip);
  }
  return all.dump();
}

std::string page_colours_json() {
  return json{{"light", theme_object(Theme::light)}, {"dark", theme_object(Theme::dark)}}.dump();
}

}  // namespace headlight
