#include "figure/labels.h"

#include <cmath>
#include <cstdio>
#include <vector>

#include "document/bundled_models.h"
#include "document/model_choice.h"
#include "figure/taught.h"
#include "model/head_text.h"
#include "train/measure/treebank_scores.h"
#include "train/trained_checkpoint.h"
#include "write/number.h"

namespace headlight {

std::string score_text(double score) {
  char text[16];
  std::snprintf(text, sizeof text, "%.2f", score);
  return text;
}

const std::string& relation_title(Language language, const RelationScore& relation) {
  return language == Language::zh ? relation.zh : relation.en;
}

std::string taught_mark(Language language, const Document& document, const RelationScore& relation) {
  const bool taught = document.card && was_taught(document.card->plan.teaching.heads, relation);
  return taught ? either(language, " taught", " 教的") : "";
}

std::string layer_title(Language language, Index layer) {
  return std::string(either(language, "Layer", "层")) + " " + std::to_string(layer);
}

std::string stack_title(Language language, Stack stack) {
  if (stack == Stack::encoder) return either(language, "encoder", "编码器");
  return stack == Stack::cross ? either(language, "cross-attention", "交叉注意力")
                               : either(language, "decoder", "解码器");
}

std::string mask_title(Language language, std::string_view kind) {
  if (kind == "none") return either(language, "none", "无");
  if (kind == "causal") return either(language, "causal", "因果");
  if (kind == "padding") return either(language, "padding", "填充");
  if (kind == "custom") return either(language, "custom", "自定义");
  return either(language, "causal + padding", "因果 + 填充");
}

std::string model_title(Language language, const Document& document) {
  if (is_any_sentence(document))
    return either(language, "Headlight's model for any sentence, some heads taught",
                  "Headlight 的任意句子模型，部分头是教的");
  if (is_shipped(document)) return either(language, "Headlight's trained model", "Headlight 训练的模型");
  if (document.model && document.model->given) return document.model->name;
  if (document.model) return std::string(either(language, "checkpoint ", "检查点 ")) + document.model->name;
  return std::string(either(language, "random weights, seed ", "随机权重，种子 ")) +
         std::to_string(document.config.seed);
}

MeasuredTitle measured_title(Language language, const Document& document, const HeadRef& head, const std::string& value,
                             float room, const std::function<float(const std::string&)>& width_of) {
  const std::string title = head_label(head);
  std::string labels, first, codes, names, mark;
  for (const RelationScore* one : relations_of(document, head)) {
    const std::string taught = taught_mark(language, document, *one);
    const std::string score = score_text(one->score.accuracy) + taught;
    labels += "  " + relation_title(language, *one) + " " + score;
    codes += "  " + one->relation + " " + score;
    names += "  " + one->relation;
    if (first.empty()) first = labels;
    if (mark.empty()) mark = taught;
  }
  // Many relations are taught to one head. The first of them comes first.
  if (first.size() < labels.size()) first = mark.empty() ? labels : first + " …";
  for (const std::string& relations : {labels, first, codes, names + mark, std::string()})
    if (width_of(title + value + relations) <= room) return {title, value, relations};
  return {title, {}, {}};
}

std::string measured_text(Language language, const Document& document, const HeadRef& head) {
  std::string text;
  for (const RelationScore* one : relations_of(document, head))
    text += (text.empty() ? "" : "  ") + relation_title(language, *one) + " " + score_text(one->score.accuracy) +
            taught_mark(language, document, *one);
  return text;
}

std::string cell_number(float weight) {
  if (weight == 0.0f) return "0";
  if (weight >= 0.995f && weight <= 1.005f) return "1";
  char text[16];
  std::snprintf(text, sizeof text, weight < 9.995f ? "%.2f" : "%.0f", static_cast<double>(weight));
  return text[0] == '0' ? text + 1 : text;
}

std::string signed_cell_number(float difference) {
  const std::string number = cell_number(std::abs(difference));
  if (number == "0" || number == ".00") return number;
  return (difference < 0 ? "−" : "+") + number;
}

std::string brief_number(float value) {
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  char text[32];
  const double size = std::abs(static_cast<double>(value));
  std::snprintf(text, sizeof text, size != 0 && (size < 1e-3 || size >= 1e5) ? "%.2e" : "%.4g",
                static_cast<double>(value));
  return text;
}

std::string exact_number(float value) {
  std::string text;
  return append_number(text, value) ? text : brief_number(value);
}

std::string tick_number(float value) {
  char text[16];
  std::snprintf(text, sizeof text, "%.3g", static_cast<double>(value));
  return text;
}

}  // namespace headlight
