// The parts of a program: an attention step by step or as a module, the feed-forward, the comparison at the end.
#include <cmath>

#include "base/formatted.h"
#include "code/program_writer.h"

namespace headlight {
namespace {

using Q = Quantity;
using Op = Operation;

Error not_in_module(const std::string& wanted, const std::string& found) {
  return bad_input("--dialect module", "", wanted, found + ": numpy, einsum and matmul have it");
}

}  // namespace

Status check_module(const Trace& trace, const HeadRef& head) {
  const auto at = [&](Q quantity) { return matrix_id(quantity, head); };
  const AttentionTrace& attention = trace.attention(head.stack, head.layer);
  const Index d_model = MatrixSource(trace, at(Q::attention_input)).bare ? shape(trace, at(Q::given_query)).cols
                                                                         : trace.model->config.d_model;
  const Index heads = attention.num_heads(), width = attention.query.cols();
  const Index values = attention.value.cols() / attention.num_kv_heads * heads;
  if (const Index given = shape(trace, at(Q::attention_output)).cols; width == d_model && given != d_model)
    return not_in_module("an output as wide as the input, " + std::to_string(d_model) + " columns",
                         "W_O with " + std::to_string(given));
  if (width != d_model || values != d_model)
    return not_in_module("heads that together are as wide as their input, " + std::to_string(d_model) + " columns",
                         std::to_string(heads) + " heads of " + std::to_string(width / heads) + " columns, values of " +
                             std::to_string(values / heads));
  if (exists(trace, at(Q::query_projected)) || exists(trace, at(Q::key_projected)))
    return not_in_module("queries and keys as they are projected", "rotary positions, or norms of queries and keys");
  if (attention.softcap > 0) return not_in_module("scores as they are", "a soft cap");
  if (attention.sinks.size() > 0) return not_in_module("a softmax of the scores alone", "a sink of each head");
  if (has_dropout(trace)) return not_in_module("no dropout, which it draws by itself", "a dropout of a seed");
  for (const WeightEdit& edit : trace.request.edits.weights)
    if (edit.head.layer == head.layer && edit.head.stack == head.stack)
      return not_in_module("weights as they are computed", "a weight set by hand");
  for (const HeadRef& off : trace.request.edits.off)
    if (off.layer == head.layer && off.stack == head.stack && trace.request.edits.off_as == OffAs::mean)
      return not_in_module("heads that are on, or off as zero", "a head that is off as the mean");
  for (Index query = 0; attention.mask->heads() > 0 && query < attention.mask->queries(); ++query) {
    Index empty = 0;
    for (Index own = 0; own < heads; ++own) empty += may_attend(attention.mask_of(own), query) ? 0 : 1;
    if (empty > 0 && empty < heads)  // its NaN would reach the other heads through W_O
      return not_in_module("rows that attend to something in every head or in none",
                           "query " + std::to_string(query) + ", which may attend in some heads");
  }
  return Done{};
}

void ProgramWriter::emit_attention(const HeadRef& head) {
  head_ = head;
  if (options_.block) emit(Q::attention_input);
  if (keeps_heads()) emit_attention_steps();
  else emit_module();
  if (head_.stack == options_.head.stack) weights_name_ = tensors_.at(at(Q::weights)).name;
  result_ = tensors_.at(at(Q::attention_output)).name;
  const bool asked = head_.stack == options_.head.stack;
  if (asked) add_expected_weights();
  if (!options_.block) {
    add_expected(at(Q::attention_output));
    return;
  }
  emit(Q::attention_after_normed);
  emit(Q::attention_sum);
  emit(Q::after_attention);
  say("");
}

void ProgramWriter::emit_attention_steps() {
  for (const Q quantity : {Q::query_projected, Q::query_normed, Q::query}) emit(quantity);
  for (const Q quantity : {Q::key_projected, Q::key_normed, Q::key}) emit(quantity);
  share_among_groups(Q::key);
  emit(Q::value);
  share_among_groups(Q::value);
  say("");
  emit_scores();
  emit_softmax();
  emit_edits();
  emit_values();
  emit(Q::attention_output);
}

/// Each key and value for the heads of its group: `weights` and `biases` (of query, key, value) become the repeated
/// ones.
void ProgramWriter::repeat_groups(std::array<std::string, 3>& weights, std::array<std::string, 3>& biases) {
  const AttentionTrace& attention = trace_.attention(head_.stack, head_.layer);
  const Index heads = attention.num_heads(), group = heads / attention.num_kv_heads;
  if (group == 1) return;
  const Index d_k = attention.query.cols() / heads, width = heads * d_k;
  const std::string apart = std::to_string(attention.num_kv_heads) + ", " + std::to_string(d_k);
  const std::string repeated = ".repeat_interleave(" + std::to_string(group) + ", dim=0).reshape(";
  say("# Each key and value for the " + std::to_string(group) + " heads of its group.");
  struct Side {
    std::size_t at;
    const char *weight_name, *bias_name;
    Q weight, bias;
  };
  for (const Side& side : {Side{1, "W_K_all", "b_K_all", Q::key_weight, Q::key_bias},
                           {2, "W_V_all", "b_V_all", Q::value_weight, Q::value_bias}}) {
    const Tensor& source = tensor(at(side.weight));
    const Index in = source.shape.back();
    const Tensor weight{module_prefix() + side.weight_name, {width, in}, "out in"};
    again(
        weight,
        source.name + ".view(" + apart + ", " + std::to_string(in) + ")" + repeated + joined_sizes(weight.shape) + ")",
        at(side.weight));
    weights[side.at] = weight.name;
    if (!has(side.bias)) continue;
    const Tensor bias{module_prefix() + side.bias_name, {width}, "out"};
    again(bias, biases[side.at] + ".view(" + apart + ")" + repeated + std::to_string(width) + ")", at(side.bias));
    biases[side.at] = bias.name;
  }
}

/// The module's argument: what its mask adds or blocks, with the bias of distances; empty where it has neither.
std::string ProgramWriter::module_mask() {
  const Index heads = trace_.attention(head_.stack, head_.layer).num_heads();
  const bool open = mask_is_open(), bias = has(Q::relative_bias);
  if (open && !bias) return "";
  const std::string added = bias ? per_head_input("relative", Q::relative_bias, queries(), keys()).name : "";
  const bool boolean = !open && mask_is_boolean();
  const std::string spread = open ? "" : tensor(mask_id()).name + (has(Q::head_mask) ? "" : ".unsqueeze(1)");
  std::string expression;
  if (open) expression = added;
  else if (bias && boolean) expression = added + ".masked_fill(" + spread + " == 0, float(\"-inf\"))";
  else if (bias) expression = added + " + " + spread;
  else expression = boolean ? spread + " == 0" : spread;
  if (!open) say_given_mask();
  say("# One mask for each sentence and head; where it is boolean, True blocks.");
  const Tensor blocked{module_prefix() + "blocked", {batch() * heads, queries(), keys()}, "bh i j"};
  again(blocked,
        "(" + expression + ").expand(" + joined_sizes({batch(), heads, queries(), keys()}) + ").reshape(" +
            joined_sizes(blocked.shape) + ")",
        bias ? at(Q::relative_bias) : mask_id());
  return ", attn_mask=" + blocked.name;
}

/// The statements that make the module and copy the weights into it. `key_width`, `value_width`: of its inputs.
void ProgramWriter::emit_module_weights(const std::string& module, Index key_width, Index value_width) {
  const AttentionTrace& attention = trace_.attention(head_.stack, head_.layer);
  const Index heads = attention.num_heads(), width = attention.query.cols(), d_k = width / heads;
  const std::string wide = std::to_string(width);
  const bool one_width = key_width == width && value_width == width;
  const auto weight_of = [&](Q weight) { return has(weight) ? tensor(at(weight)).name : "torch.eye(" + wide + ")"; };
  const auto bias_of = [&](Q bias) { return has(bias) ? tensor(at(bias)).name : "torch.zeros(" + wide + ")"; };
  std::array<std::string, 3> weights{weight_of(Q::query_weight), weight_of(Q::key_weight), weight_of(Q::value_weight)};
  std::array<std::string, 3> biases{bias_of(Q::query_bias), bias_of(Q::key_bias), bias_of(Q::value_bias)};
  const bool biased = module_is_biased();
  repeat_groups(weights, biases);
  if (const float usual = 1.0f / std::sqrt(static_cast<float>(d_k)); attention.scale != usual) {
    std::string factor;
    append_number(factor, attention.scale / usual);
    say("# The module divides by sqrt(d_k); the rest of the scale goes into the queries.");
    weights[0] = factor + " * " + weights[0];
    biases[0] = factor + " * " + biases[0];
  }
  say(module + " = nn.MultiheadAttention(" + wide + ", " + std::to_string(heads) + (biased ? "" : ", bias=False") +
      (one_width ? "" : ", kdim=" + std::to_string(key_width) + ", vdim=" + std::to_string(value_width)) +
      ", batch_first=True)");
  if (one_width) {
    say(module + ".in_proj_weight.copy_(torch.cat([" + joined_texts(weights, ", ") + "]))");
  } else {
    const char* names[] = {".q_proj_weight", ".k_proj_weight", ".v_proj_weight"};
    for (std::size_t i = 0; i < 3; ++i) say(module + names[i] + ".copy_(" + weights[i] + ")");
  }
  if (biased) say(module + ".in_proj_bias.copy_(torch.cat([" + joined_texts(biases, ", ") + "]))");
  say(module + ".out_proj.weight.copy_(" + weight_of(Q::output_weight) + ")");
  for (Index head = 0; head < heads; ++head)
    if (is_off(trace_.request.edits, {head_.layer, head, head_.stack}))
      say(module + ".out_proj.weight[:, " + std::to_string(head * d_k) + ":" + std::to_string((head + 1) * d_k) +
          "] = 0  # head " + std::to_string(head) + " is off");
  if (biased) say(module + ".out_proj.bias.copy_(" + bias_of(Q::output_bias) + ")");
}

/// The weights copied into torch.nn.MultiheadAttention, which then computes everything between x and the output.
void ProgramWriter::emit_module() {
  const auto input = [&](Q quantity) { return tensor(recipe(trace_, at(quantity)).operands[0]); };
  const Tensor query = input(Q::query), key = input(Q::key), value = input(Q::value);
  const std::string module = module_prefix() + "attention";
  emit_module_weights(module, key.shape.back(), value.shape.back());
  const std::string mask = module_mask();
  const MatrixId made = at(Q::attention_output), weighting = at(Q::weights);
  lines_.push_back({.text = "returned = " + module + "(" + query.name + ", " + key.name + ", " + value.name + mask +
                            ", average_attn_weights=False)",
                    .shows = made});
  const bool empty = empty_row().has_value();
  const Index width = trace_.attention(head_.stack, head_.layer).query.cols();
  const Tensor result = make(made, base_name(made), "returned[0]", tokens_shape(queries(), width), "b i d_model");
  lines_.back().kind = LineKind::takes_part;
  if (empty)
    again(result,
          "torch.where(" + result.name + ".isnan(), " +
              (module_is_biased() ? module + ".out_proj.bias" : "torch.zeros(1)") + ", " + result.name + ")",
          made);
  const Tensor pattern = make(weighting, base_name(weighting), "returned[1]", pattern_shape(), "b h i j");
  lines_.back().kind = LineKind::takes_part;
  if (empty) again(pattern, pattern.name + ".nan_to_num(0.0)", weighting);
}

void ProgramWriter::emit_ffn() {
  head_ = {options_.head.layer, 0, options_.head.stack == Stack::cross ? Stack::self : options_.head.stack};
  for (const Q quantity : {Q::ffn_input, Q::gate, Q::activated_gate, Q::up, Q::hidden, Q::ffn_output,
                           Q::ffn_after_normed, Q::ffn_sum, Q::block_output})
    emit(quantity);
  const MatrixId made = origin(trace_, at(Q::block_output));
  result_ = tensors_.at(made).name;
  add_expected(made);
}

void ProgramWriter::emit_comparison() {
  head_ = options_.head;
  emit_empty_rows();
  say("");
  say("weights_difference = abs(" + weights_name_ + " - data[\"expected_weights\"]).max()");
  say("output_difference = abs(" + result_ +
      " - data[\"expected_output\"]).max() / max(1, abs(data[\"expected_output\"]).max())");
  say("print(f\"largest difference from Headlight: weights {weights_difference:.1e}, output "
      "{output_difference:.1e}\")");
  say("raise SystemExit(0 if weights_difference < 2e-5 and output_difference < 2e-5 else 1)");
}

/// The tutorials mask in different ways: three answers to the first row that may attend to nothing.
void ProgramWriter::emit_empty_rows() {
  const auto found = empty_row();
  if (!found || !keeps_heads()) return;
  const std::string sentence = std::to_string(found->sentence), query = std::to_string(found->query),
                    head = std::to_string(found->head);
  const std::string at_row = tokens_first() ? "[" + query + ", :, " + sentence + ", " + head + "]"
                                            : "[" + sentence + ", " + head + ", " + query + "]";
  const std::string row = scaled_name_ + at_row;
  say("");
  say("# Query " + query + " of sentence " + sentence + " may attend to nothing. Three answers to such a row of head " +
      head + ":");
  say("print(\"zeros, as here:       \", " + weights_name_ + at_row + ")");
  if (torch()) {
    say("print(\"-inf and the softmax: \", torch.softmax(torch.full_like(" + row + ", float(\"-inf\")), dim=-1))");
    say("print(\"-1e9 and the softmax: \", torch.softmax(torch.full_like(" + row + ", -1e9), dim=-1))");
  } else {
    say("with np.errstate(invalid=\"ignore\"):");
    say("    infinite = np.exp(np.full_like(" + row + ", -np.inf) - -np.inf)");
    say("print(\"-inf and the softmax: \", infinite / infinite.sum())");
    say("large = np.exp(np.full_like(" + row + ", -1e9) - -1e9)");
    say("print(\"-1e9 and the softmax: \", large / large.sum())");
  }
}

}  // namespace headlight
