#include "page/page_template.h"

#include <nlohmann/json.hpp>

#include "figure/drawing/colour.h"
#include "words/answer_words.h"
#include "words/chosen_head_words.h"
#include "words/compare_words.h"
#include "words/enum_words.h"
#include "words/grid_words.h"
#include "words/head_name_words.h"
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

/// The texts of the window that the page has too, by name; its own are in words.json. `{0}` stands for a value.
struct PageWord {
  const char* name;
  Words words;
};

constexpr PageWord kPageWords[] = {
    {"language", kWindowWords.language},
    {"light", kWindowWords.light},
    {"dark", kWindowWords.dark},
    {"help", kWindowWords.help},
    {"close", kWindowWords.close},
    {"view_flow", kWindowWords.view_flow},
    {"change_a_word", kStageWords.change_a_word},
    {"trying_words", kStageWords.trying_words},
    {"own_word", kStageWords.own_word},
    {"tip_own_word", kStageWords.tip_own_word},
    {"view_compare", kCompareWords.view_compare},
    {"view_sentence", kTextWords.sentence},
    {"view_heads", kTextWords.map},
    {"view_text", kTextWords.text},
    {"view_picture", kTextWords.picture},
    {"text_rows", kTextWords.rows},
    {"text_columns", kTextWords.columns},
    {"text_head", kTextWords.heads[0]},
    {"text_layer", kTextWords.heads[1]},
    {"text_all", kTextWords.heads[2]},
    {"text_choose", kTextWords.choose},
    {"tip_view_flow", kWindowWords.tip_view_flow},
    {"stack_Encoder", kModelWords.encoder},
    {"stack_Decoder", kModelWords.decoder},
    {"section_mask", kMaskWords.section_mask},
    {"mask_none", kModelWords.position_none},
    {"mask_causal", kMaskWords.causal},
    {"mask_padding", kMaskWords.padding},
    {"paint", kMaskWords.paint},
    {"paint_hint", kMaskWords.paint_hint},
    {"clear_paint", kMaskWords.clear_paint},
    {"scale", kMaskWords.scale},
    {"all_on", kMaskWords.all_on},
    {"undo", kWindowWords.undo},
    {"redo", kWindowWords.redo},
    {"reset", kWindowWords.reset},
    {"heads", kWindowWords.view_heads},
    {"order", kCompareWords.order_of_differences},
    {"order_layer", kHeadOrderWords.layer.name},
    {"linear", kWindowWords.linear},
    {"logarithmic", kWindowWords.logarithmic},
    {"own_range", kGridWords.own_range},
    {"fold_special", kAnswerWords.fold_special},
    {"merge_words", kAnswerWords.merge_words},
    {"special_folded", kAnswerWords.special_left_out},
    {"special_strips", kAnswerWords.special_folded},
    {"words_merged", kAnswerWords.words_merged},
    {"blocked", kAnswerWords.blocked},
    {"pinned_hint", kChosenHeadWords.pinned_hint},
    {"head_is_on", kChosenHeadWords.head_is_on},
    {"head_is_off", kChosenHeadWords.head_is_off},
    {"tip_on_off", kChosenHeadWords.tip_on_off},
    {"numbers", kInsideWords.numbers},
    {"tip_flow_heads", kFlowWords.tip_heads},
    {"threshold", kFlowWords.threshold},
    {"whole_pattern", kAnswerWords.whole_pattern},
    {"empty_text", kAnswerWords.empty_text},
    {"model_encoder", kModelWords.encoder},
    {"model_decoder", kModelWords.decoder},
    {"model_encoder-decoder", kModelWords.encoder_decoder},
};

std::string css(Rgb colour) {
  return "rgb(" + std::to_string(colour.r) + " " + std::to_string(colour.g) + " " + std::to_string(colour.b) + ")";
}

json theme_object(Theme theme) {
  const InkColours ink = ink_colours(theme);
  const BlockedColours blocked = blocked_colours(theme);
  return {{"background", css(background_of(theme))},
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
}

}  // namespace

std::string page_words_json() {
  json all;
  const auto add = [&](const std::string& name, const Words& words) {
    all["en"][name] = words.en;
    all["zh"][name] = words.zh;
  };
  for (const PageWord& word : kPageWords) add(word.name, word.words);
  const json own = json::parse(page_texts())["page"];
  for (const auto& [name, words] : own.items()) {
    all["en"][name] = words[0];
    all["zh"][name] = words[1];
  }
  for (const Measure measure : kMeasures) {
    if (measure > Measure::largest) continue;  // a page does not measure it
    const OrderWords& words = kHeadOrderWords.measures[static_cast<std::size_t>(measure)];
    add("order_" + std::string(name(measure)), words.name);
    add("tip_order_" + std::string(name(measure)), words.tip);
  }
  for (std::size_t i = 0; i < kErrorCodes; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    add("error_" + std::string(name(code)), {"", failure_words(code).zh});  // an error's line is English
  }
  return all.dump();
}

std::string page_colours_json() {
  return json{{"light", theme_object(Theme::light)}, {"dark", theme_object(Theme::dark)}}.dump();
}

}  // namespace headlight
