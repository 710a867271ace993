#include "words/explain_words.h"

#include <algorithm>
#include <iterator>

#include "explain/path_length.h"
#include "explain/recipe.h"

namespace headlight {
namespace {

template <class Key>
struct NamedWords {
  Key key;
  const char* en;
  const char* zh;
};

using Q = Quantity;

constexpr NamedWords<Quantity> kQuantities[] = {
    {Q::token_lookup, "token vectors as stored", "存储的词向量"},
    {Q::token_vectors, "token vectors", "词向量"},
    {Q::position_vectors, "position vectors", "位置向量"},
    {Q::type_vectors, "sentence type vectors", "句子类型向量"},
    {Q::embedding_sum, "sum of the vectors", "各向量之和"},
    {Q::embedding_norm_scale, "scale of the norm", "归一化的缩放"},
    {Q::embedding_norm_shift, "shift of the norm", "归一化的平移"},
    {Q::embedding, "embedding", "嵌入"},
    {Q::embedding_normed, "sum after its norm", "归一化后的和"},
    {Q::embedding_projection_weight, "projection of the embedding", "嵌入的投影矩阵"},
    {Q::embedding_projection_bias, "its bias", "投影的偏置"},
    {Q::relative_bias, "bias of the distance", "相对位置偏置"},
    {Q::sink, "the sink of the head", "该头的注意力汇"},
    {Q::capped, "scores within the soft cap", "软上限内的打分"},
    {Q::distance_keys, "keys of the distances", "各距离的键"},
    {Q::distance_queries, "queries of the distances", "各距离的查询"},
    {Q::content_to_position, "content to position", "内容对位置"},
    {Q::position_to_content, "position to content", "位置对内容"},
    {Q::attention_after_norm_scale, "scale of the norm behind attention", "注意力之后归一化的缩放"},
    {Q::attention_after_norm_shift, "shift of the norm behind attention", "注意力之后归一化的平移"},
    {Q::attention_after_normed, "attention output after its norm", "归一化后的注意力输出"},
    {Q::router_weight, "router of the experts", "专家路由矩阵"},
    {Q::router_scores, "scores of the experts", "各专家的打分"},
    {Q::routing, "weights of the experts", "各专家的权重"},
    {Q::shared_output, "output of the shared expert", "共享专家的输出"},
    {Q::ffn_after_norm_scale, "scale of the norm behind the feed-forward", "前馈之后归一化的缩放"},
    {Q::ffn_after_norm_shift, "shift of the norm behind the feed-forward", "前馈之后归一化的平移"},
    {Q::ffn_after_normed, "feed-forward output after its norm", "归一化后的前馈输出"},
    {Q::uncapped_logits, "logits before the soft cap", "软上限之前的 logits"},
    {Q::transform_weight, "transform before the words", "输出前的变换矩阵"},
    {Q::transform_bias, "its bias", "变换的偏置"},
    {Q::transform, "transformed", "变换结果"},
    {Q::activated_transform, "transformed and activated", "激活后的变换"},
    {Q::transform_norm_scale, "scale of its norm", "变换归一化的缩放"},
    {Q::transform_norm_shift, "shift of its norm", "变换归一化的平移"},
    {Q::transformed, "what the words are compared with", "与各词相比的向量"},
    {Q::given_query, "query from the file", "文件中的 query"},
    {Q::given_key, "key from the file", "文件中的 key"},
    {Q::given_value, "value from the file", "文件中的 value"},
    {Q::attention_norm_scale, "scale of the norm", "归一化的缩放"},
    {Q::attention_norm_shift, "shift of the norm", "归一化的平移"},
    {Q::attention_input, "what attention reads", "注意力的输入"},
    {Q::query_weight, "query projection", "查询投影矩阵"},
    {Q::query_bias, "bias of the query", "查询的偏置"},
    {Q::query_projected, "query before it is turned", "旋转前的查询"},
    {Q::query_norm_scale, "scale of the query's norm", "查询归一化的缩放"},
    {Q::query_norm_shift, "shift of the query's norm", "查询归一化的平移"},
    {Q::query_normed, "query after its norm", "归一化后的查询"},
    {Q::query, "query", "查询"},
    {Q::key_weight, "key projection", "键投影矩阵"},
    {Q::key_bias, "bias of the key", "键的偏置"},
    {Q::key_projected, "key before it is turned", "旋转前的键"},
    {Q::key_norm_scale, "scale of the key's norm", "键归一化的缩放"},
    {Q::key_norm_shift, "shift of the key's norm", "键归一化的平移"},
    {Q::key_normed, "key after its norm", "归一化后的键"},
    {Q::key, "key", "键"},
    {Q::value_weight, "value projection", "值投影矩阵"},
    {Q::value_bias, "bias of the value", "值的偏置"},
    {Q::value, "value", "值"},
    {Q::given_weights, "weights from the file", "文件中的权重"},
    {Q::log_weights, "logarithms of the weights", "权重的对数"},
    {Q::dot, "dot products", "点积"},
    {Q::scaled, "scaled products", "缩放后的点积"},
    {Q::mask, "what the mask adds", "掩码所加的数"},
    {Q::scores, "scores", "打分"},
    {Q::exponentials, "exponentials", "指数"},
    {Q::softmax, "softmax", "softmax"},
    {Q::dropped, "weights after dropout", "随机失活后的权重"},
    {Q::weights, "attention weights", "注意力权重"},
    {Q::head_output, "what the head would say", "该头本来的输出"},
    {Q::z, "output of the head", "头的输出"},
    {Q::contribution, "the head's part of the output", "该头对输出的贡献"},
    {Q::concat, "all heads side by side", "各头拼接"},
    {Q::output_weight, "output projection", "输出投影矩阵"},
    {Q::output_bias, "bias of the output", "输出的偏置"},
    {Q::attention_output, "output of attention", "注意力的输出"},
    {Q::attention_sum, "residual sum", "残差相加"},
    {Q::after_attention, "after attention", "注意力之后"},
    {Q::ffn_norm_scale, "scale of the norm", "归一化的缩放"},
    {Q::ffn_norm_shift, "shift of the norm", "归一化的平移"},
    {Q::ffn_input, "what the feed-forward reads", "前馈层的输入"},
    {Q::gate_weight, "gate projection", "门控投影矩阵"},
    {Q::gate_bias, "bias of the gate", "门控的偏置"},
    {Q::gate, "gate", "门控"},
    {Q::activated_gate, "gate after its activation", "激活后的门控"},
    {Q::up_weight, "first feed-forward layer", "前馈第一层矩阵"},
    {Q::up_bias, "its bias", "第一层的偏置"},
    {Q::up, "widened", "升维结果"},
    {Q::hidden, "hidden layer", "隐藏层"},
    {Q::down_weight, "second feed-forward layer", "前馈第二层矩阵"},
    {Q::down_bias, "its bias", "第二层的偏置"},
    {Q::ffn_output, "output of the feed-forward", "前馈层的输出"},
    {Q::ffn_sum, "residual sum", "残差相加"},
    {Q::block_output, "output of the block", "模块的输出"},
    {Q::final_norm_scale, "scale of the last norm", "最后归一化的缩放"},
    {Q::final_norm_shift, "shift of the last norm", "最后归一化的平移"},
    {Q::last_hidden_state, "last hidden state", "最后的隐藏状态"},
    {Q::vocabulary_weight, "output embeddings", "输出词向量"},
    {Q::vocabulary_bias, "bias of each word", "各词的偏置"},
    {Q::unscaled_logits, "products with every word", "与各词的点积"},
    {Q::logits, "logits", "logits"},
    {Q::logit_exponentials, "exponentials", "指数"},
    {Q::probabilities, "probabilities", "概率"},
};

using O = Operation;

constexpr NamedWords<Operation> kOperations[] = {
    {O::given, "A number as it was learned, looked up or read from a file: nothing comes before it.",
     "学到的、查到的或从文件读入的数：它之前没有别的数。"},
    {O::sine, "The sine of position × frequency.", "位置 × 频率 的正弦。"},
    {O::cosine, "The cosine of position × frequency.", "位置 × 频率 的余弦。"},
    {O::copy, "The same number, handed on.", "同一个数，原样传下去。"},
    {O::sum, "The numbers in the same place, added up.", "同一位置的数相加。"},
    {O::scale, "One number times a factor.", "一个数乘以一个系数。"},
    {O::soft_cap, "The score held within the cap: cap × tanh(score / cap).",
     "打分限制在上限之内：上限 × tanh(打分 / 上限)。"},
    {O::distance, "The vector of the word times the vector of the distance, component by component, added up.",
     "词的向量与距离的向量逐分量相乘，再相加。"},
    {O::routing, "The softmax of the experts' scores where the expert is among the largest, else 0.",
     "各专家打分的 softmax；不在最大几个之内的为 0。"},
    {O::mixture, "The outputs of the chosen experts, each times its weight, added up.",
     "选中的各专家的输出，各乘以其权重，再相加。"},
    {O::shared_expert, "The output of the expert that every word goes through, times its weight.",
     "每个词都经过的专家的输出，乘以其权重。"},
    {O::projection, "Each number of the row times its weight, added up.", "这一行的每个数乘以对应的权重，再相加。"},
    {O::columns, "Taken over as it is: this projection is the identity.", "原样取来：这个投影是恒等的。"},
    {O::dot_product, "Query and key multiplied component by component, and added up.",
     "查询与键逐个分量相乘，再相加。"},
    {O::mask, "The score, and what the mask adds to it.", "打分加上掩码的数。"},
    {O::logarithm, "The logarithm of the weight.", "权重的对数。"},
    {O::exponential, "e to the power of the score minus the row's largest.", "e 的（打分减去该行最大值）次方。"},
    {O::softmax, "The cell's own exponential divided by the sum of its row.", "本格的指数除以这一行的总和。"},
    {O::dropout, "The weight times 0, or times 1/(1 - p).", "权重乘以 0，或乘以 1/(1 - p)。"},
    {O::set_by_hand, "Set by hand.", "手动设定。"},
    {O::share_of_rest, "What the weights set by hand leave of 1, in the old proportion.",
     "手动设定之外剩下的部分，按原来的比例分配。"},
    {O::weighted_sum, "The values of all words, each times its attention weight, added up.",
     "所有词的值乘以各自的注意力权重，再相加。"},
    {O::zero_off, "The head is switched off.", "该头已关闭。"},
    {O::mean_off, "The head is switched off: the mean over all rows stands here.", "该头已关闭：这里是各行的平均值。"},
    {O::concatenation, "Taken over from one of the heads.", "取自其中一个头。"},
    {O::layer_norm, "The row brought to mean 0 and variance 1, then scaled and shifted.",
     "把这一行化为均值 0、方差 1，再缩放与平移。"},
    {O::rms_norm, "The row divided by the root of its mean square, then scaled.", "这一行除以其均方根，再缩放。"},
    {O::rotation, "A pair of numbers turned by position × frequency.", "一对数按 位置 × 频率 旋转。"},
    {O::activation, "One number through the activation function.", "一个数经过激活函数。"},
    {O::product, "Two numbers in the same place, multiplied.", "同一位置的两个数相乘。"},
};

/// Not the name of a step: z of a head that is switched off.
constexpr std::string_view kOffStep = "z off";

constexpr NamedWords<std::string_view> kSteps[] = {
    {"x_query", "The word that looks, as a vector", "在看的词的向量"},
    {"x_key", "The word that is looked at, as a vector", "被看的词的向量"},
    {"x_value", "The same word, for its value", "同一个词，用于求值"},
    {"W_Q", "Query weights of this head", "该头的查询权重"},
    {"b_Q", "Query bias", "查询偏置"},
    {"q_projected", "Query before it is turned", "旋转前的查询"},
    {"q_normed", "Query after its norm", "归一化后的查询"},
    {"q", "Query", "查询"},
    {"W_K", "Key weights of this head", "该头的键权重"},
    {"b_K", "Key bias", "键偏置"},
    {"k_projected", "Key before it is turned", "旋转前的键"},
    {"k_normed", "Key after its norm", "归一化后的键"},
    {"k", "Key", "键"},
    {"products", "Query times key, component by component", "查询与键逐分量相乘"},
    {"dot", "Their sum: the dot product", "相加：点积"},
    {"scaled", "Scaled", "缩放"},
    {"capped", "Within the soft cap", "软上限之内"},
    {"content_to_position", "Content to position: the query times the distance", "内容对位置：查询乘以距离"},
    {"position_to_content", "Position to content: the key times the distance", "位置对内容：键乘以距离"},
    {"relative_bias", "What the distance adds", "距离所加的数"},
    {"mask", "What the mask adds", "掩码所加的数"},
    {"given", "The weight as it was given", "给定的权重"},
    {"logarithm", "Its logarithm, in place of the unknown score", "它的对数，代替未知的打分"},
    {"scores", "The score", "打分"},
    {"sink", "The sink: a learned logit that takes a part of the softmax",
     "注意力汇：占去 softmax 一部分的学到的 logit"},
    {"exponentials", "The exponentials of the row", "这一行的指数"},
    {"sum", "The sum of the row", "这一行的总和"},
    {"softmax", "Softmax", "softmax"},
    {"dropped", "After dropout", "随机失活之后"},
    {"weight", "The attention weight", "注意力权重"},
    {"gradient", "How strongly the row answers to its scores: ∂A/∂score", "这一行对打分有多敏感：∂A/∂打分"},
    {"gradient_unscaled", "The same without the scale", "不缩放时的同一个数"},
    {"gradient_scaled", "The same with scores scaled by 1/√d_k", "按 1/√d_k 缩放时的同一个数"},
    {"W_V", "Value weights of this head", "该头的值权重"},
    {"b_V", "Value bias", "值偏置"},
    {"v", "Value of the word that is looked at", "被看的词的值"},
    {"share", "Weight times value: its share of z", "权重乘以值：它在 z 中的份额"},
    {"head_output", "What the head would say", "该头本来的输出"},
    {"z", "z: all shares added up", "z：所有份额相加"},
    {kOffStep, "z: the head is switched off", "z：该头已关闭"},
    {"concat", "All heads side by side", "各头拼接"},
    {"W_O", "Output weights", "输出权重"},
    {"b_O", "Output bias", "输出偏置"},
    {"contribution", "What this head adds to the output", "该头对输出的贡献"},
    {"output", "Output of attention for this word", "这个词的注意力输出"},
};

constexpr NamedWords<std::string_view> kNodes[] = {
    {"query", "Query from the file", "文件中的 query"},
    {"key", "Key from the file", "文件中的 key"},
    {"value", "Value from the file", "文件中的 value"},
    {"Token vectors", "Token vectors", "词向量"},
    {"Positions", "Positions", "位置向量"},
    {"Types", "Sentence types", "句子类型"},
    {"Add", "Add", "相加"},
    {"Norm", "Norm", "归一化"},
    {"Q", "Query", "查询"},
    {"K", "Key", "键"},
    {"V", "Value", "值"},
    {"Attention", "Attention weights", "注意力权重"},
    {"z", "Output of the head", "头的输出"},
    {"Concat", "All heads side by side", "各头拼接"},
    {"W_O", "Output projection W_O", "输出投影 W_O"},
    {"Up", "Feed-forward: up", "前馈：升维"},
    {"Gate", "Gate", "门控"},
    {"Gate · up", "Gate · up", "门控 · 升维"},
    {"Activation", "Activation", "激活函数"},
    {"Down", "Feed-forward: down", "前馈：降维"},
    {"Logits", "Logits", "logits"},
    {"Softmax", "Probabilities", "概率"},
};

constexpr NamedWords<std::string_view> kConstants[] = {
    {"scale", "scale", "缩放"},
    {"factor", "factor", "系数"},
    {"largest", "largest", "最大值"},
    {"sum", "sum", "总和"},
    {"sink", "e^(sink − largest)", "e^(注意力汇 − 最大值)"},
    {"set", "set", "设定"},
    {"left", "left", "剩余"},
    {"others", "others", "其余之和"},
    {"mean", "mean", "均值"},
    {"variance", "variance", "方差"},
    {"mean square", "mean square", "均方"},
    {"epsilon", "ε", "ε"},
    {"position", "position", "位置"},
    {"frequency", "frequency", "频率"},
    {"angle", "angle", "角度"},
};

template <class Key, std::size_t N>
const NamedWords<Key>* find(const NamedWords<Key> (&table)[N], const Key& key) {
  const auto at = std::find_if(std::begin(table), std::end(table), [&](const auto& entry) { return entry.key == key; });
  return at == std::end(table) ? nullptr : at;
}

template <class Key>
const char* in(Language language, const NamedWords<Key>* words) {
  return !words ? "" : language == Language::zh ? words->zh : words->en;
}

}  // namespace

const char* words_of(Language language, Quantity quantity) { return in(language, find(kQuantities, quantity)); }
const char* words_of(Language language, Operation operation) { return in(language, find(kOperations, operation)); }

std::string constant_name(Language language, std::string_view constant) {
  const auto* words = find(kConstants, constant);
  return words ? in(language, words) : std::string(constant);
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
  const auto* words = find(kNodes, std::string_view(node.label));
  return words ? in(language, words) : node.label;
}

std::string step_title(Language language, const Trace& trace, const Step& step) {
  const Operation made = recipe(trace, step.id).operation;
  const bool off = step.name == "z" && (made == O::zero_off || made == O::mean_off);
  const auto* words = find(kSteps, off ? kOffStep : std::string_view(step.name));
  return words ? in(language, words) : step.title;
}

std::string step_formula(Language language, const Trace& trace, const Step& step) {
  if (language == Language::en) return step.formula;
  if (step.name == "sum") return "该行总和";
  if (step.name == "share") return "权重 · v";
  if (step.name.starts_with("gradient")) return "|对角(a) - aᵀ·a|";
  return step.formula == formula(trace, step.id) ? formula_in(language, trace, step.id) : step.formula;
}

std::string path_in_words(Language language, const Trace& trace, const HeadRef& head, const CellRef& cell) {
  const PathLength path = path_length(cell, head.stack, trace.keys(head.stack));
  if (path.recurrent == 0) return {};
  const bool blocked = !trace.mask(head.stack, head.layer).allowed(cell.query, cell.key);
  const auto counted = [](Index count, const char* one) {
    return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
  };
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
  const auto add = [&](const auto& table) {
    for (const auto& entry : table) all.append(entry.en).append(entry.zh);
  };
  add(kQuantities);
  add(kOperations);
  add(kSteps);
  add(kNodes);
  add(kConstants);
  all +=
      "经步宽的卷积层这里被遮住对角学到的给定位置正弦与余弦该行最大值总和或部分手动设定其余按比例各头并排成对旋转频率已"
      "关闭平均第层缩放系数权重：，"
      "（）";
  return all;
}

}  // namespace headlight
