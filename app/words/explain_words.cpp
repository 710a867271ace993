#include "words/explain_words.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "explain/matrix_kinds.h"
#include "explain/patch/path_length.h"
#include "explain/recipe.h"
#include "words/words.h"

namespace headlight {
namespace {

using O = Operation;
using Q = Quantity;

/// Not the name of a step: z of a head that is switched off.
constexpr std::string_view kOffStep = "z off";

}  // namespace

const char* words_of(Language language, Quantity quantity) {
  return words(language, words_table()["matrices"][matrix_name(quantity)]);
}
const char* words_of(Language language, Operation operation) {
  return words(language, words_table()["operations"][static_cast<std::size_t>(operation)]);
}

std::string constant_name(Language language, std::string_view constant) {
  return looked_up(language, "constants", constant).value_or(std::string(constant));
}

std::string formula_in(Language language, const Trace& trace, const MatrixId& id) {
  if (language == Language::en) return formula(trace, id);
  const Recipe made = recipe(trace, id);
  const auto operand = [&] { return symbol(made.operands.front()); };
  switch (made.operation) {
    case O::given: return formula(trace, id) == "learned" ? "学到的" : "给定的";
    case O::sine:
    case O::cosine: return "位置 / 10000^(2i/d_model) 的正弦与余弦";
    case O::scale: {
      const std::string scaled = operand() + " · " + (id.quantity == Q::scaled ? "缩放" : "系数");
      return made.operands.size() > 1 ? scaled + " + " + symbol(made.operands[1]) : scaled;
    }
    case O::soft_cap: return "上限 · tanh(" + operand() + " / 上限)";
    case O::distance: return operand() + "·" + symbol(made.operands[1]) + "（该距离）";
    case O::routing: return operand() + " 中最大几个的 softmax";
    case O::mixture: return "Σ 路由 · 专家(" + operand() + ")";
    case O::shared_expert: return "共享专家(" + operand() + ")";
    case O::logarithm: return "ln " + operand();
    case O::exponential:
      return "exp(" + operand() + (made.operands.size() > 1 ? " - 该行与注意力汇的最大值)" : " - 该行最大值)");
    case O::softmax: return operand() + (made.operands.size() > 1 ? " / 该行与注意力汇之和" : " / 该行总和");
    case O::dropout: return operand() + " ·（0 或 1 / (1 - p)）";
    case O::set_by_hand: return operand() + "，部分手动设定，其余按比例";
    case O::share_of_rest: return operand() + " 按比例";
    case O::zero_off: return "0：该头已关闭";
    case O::mean_off: return "各行的平均值：该头已关闭";
    case O::concatenation: return "各头的 z 并排";
    case O::layer_norm:
    case O::rms_norm: {
      const std::string shift = made.operands.size() > 2 ? " + " + symbol(made.operands[2]) : "";
      const std::string normed =
          made.operation == O::layer_norm ? "(" + operand() + " - 均值) / √(方差 + ε)" : operand() + " / √(均方 + ε)";
      return normed + " · " + symbol(made.operands[1]) + shift;
    }
    case O::rotation: return operand() + "，成对旋转 位置 · 频率";
    default: return formula(trace, id);
  }
}

std::string node_title(Language language, const Node& node) {
  if (node.kind == NodeKind::other_layers) {
    const std::string range = node.first_layer == node.last_layer
                                  ? std::to_string(node.first_layer)
                                  : std::to_string(node.first_layer) + "–" + std::to_string(node.last_layer);
    return (language == Language::zh ? "层 " : node.first_layer == node.last_layer ? "Layer " : "Layers ") + range;
  }
  return looked_up(language, "nodes", node.label).value_or(node.label);
}

std::string step_title(Language language, const Trace& trace, const Step& step) {
  const Operation made = recipe(trace, step.id).operation;
  const bool off = step.name == "z" && (made == O::zero_off || made == O::mean_off);
  return looked_up(language, "steps", off ? kOffStep : std::string_view(step.name)).value_or(step.title);
}

std::string step_formula(Language language, const Trace& trace, const Step& step) {
  if (language == Language::en) return step.formula;
  if (step.name == "sum") return "该行总和";
  if (step.name == "share") return "权重 · v";
  if (step.name.starts_with("gradient")) return "|对角(a) - aᵀ·a|";
  return step.formula == formula(trace, step.id) ? formula_in(language, trace, step.id) : step.formula;
}

std::string path_in_words(Language language, const Trace& trace, const HeadRef& head, const CellRef& cell) {
  const Index words = std::ranges::count(trace.key_tokens(head.stack).tokens, false, &Token::pad);
  const PathLength path = path_length(cell, head.stack, words);
  if (path.recurrent <= 0) return {};
  const bool blocked = !trace.mask_of(head).allowed(cell.query, cell.key);
  const std::string kernel = std::to_string(kKernel);
  if (language == Language::zh)
    return "经 RNN " + std::to_string(path.recurrent) + " 步" +
           (path.convolution ? "，经宽 " + kernel + " 的卷积 " + std::to_string(*path.convolution) + " 层" : "") +
           (blocked ? "，这里被遮住" : "，这里 1 步");
  return counted(path.recurrent, "step") + " through an RNN" +
         (path.convolution ? ", " + counted(*path.convolution, "layer") + " of convolutions of width " + kernel : "") +
         (blocked ? ", blocked here" : ", 1 here");
}

std::string all_explain_words() {
  std::string all = "·ᵀ×−√Σ→∞₀₁₂½∂";
  all +=
      "经步宽的卷积层这里被遮住对角学到的给定位置正弦与余弦该行最大值总和或部分手动设定其余按比例各头并排成对旋转频率已"
      "关闭平均第层缩放系数权重：，"
      "（）";
  return all;
}

}  // namespace headlight
