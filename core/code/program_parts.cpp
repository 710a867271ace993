// The parts of a program: an attention step by step or as a module, the feed-forward, the comparison at the end.
#include <cmath>

#include "code/program_writer.h"
#include "write/number.h"

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

/// The weights copied into torch.nn.MultiheadAttention, which then computes everything between x and the output.
void ProgramWriter::emit_module() {
  const AttentionTrace& attention = trace_.attention(head_.stack, head_.layer);
  const Index heads = attention.num_heads(), group = heads / attention.num_kv_heads;
  const Index d_k = attention.query.cols() / heads, width = heads * d_k;
  const Recipe query = recipe(trace_, at(Q::query)), key = recipe(trace_, at(Q::key)),
               value = recipe(trace_, at(Q::value));
  const Tensor inputs[] = {tensor(query.operands[0]), tensor(key.operands[0]), tensor(value.operands[0])};
  const std::string prefix = options_.block && head_.stack == Stack::cross ? "cross_" : "";
  const std::string module = prefix + "attention";
  const Index key_width = inputs[1].shape.back(), value_width = inputs[2].shape.back();
  const bool one_width = key_width == width && value_width == width;
  const auto weight_of = [&](const Recipe& made) {
    return made.operation == Op::projection ? tensor(made.operands[1]).name
                                            : "torch.eye(" + std::to_string(width) + ")";
  };
  const auto bias_of = [&](Q bias) {
    return has(bias) ? tensor(at(bias)).name : "torch.zeros(" + std::to_string(width) + ")";
  };
  std::string weights[] = {weight_of(query), weight_of(key), weight_of(value)};
  std::string biases[] = {bias_of(Q::query_bias), bias_of(Q::key_bias), bias_of(Q::value_bias)};
  const bool biased = has(Q::query_bias) || has(Q::key_bias) || has(Q::value_bias) || has(Q::output_bias);
  if (group > 1) {
    say("# Each key and value for the " + std::to_string(group) + " heads of its group.");
    for (int i : {1, 2}) {
      const bool of_key = i == 1;
      const Tensor& source = tensor(at(of_key ? Q::key_weight : Q::value_weight));
      const std::string apart = std::to_string(attention.num_kv_heads) + ", " + std::to_string(d_k);
      const std::string again_all = ".repeat_interleave(" + std::to_string(group) + ", dim=0).reshape(";
      Tensor whole_weight{prefix + (of_key ? "W_K_all" : "W_V_all"), {width, source.shape.back()}, "out in"};
      again(whole_weight,
            source.name + ".view(" + apart + ", " + std::to_string(source.shape.back()) + ")" + again_all +
                joined_sizes(whole_weight.shape) + ")",
            at(of_key ? Q::key_weight : Q::value_weight));
      weights[i] = whole_weight.name;
      if (!has(of_key ? Q::key_bias : Q::value_bias)) continue;
      Tensor whole_bias{prefix + (of_key ? "b_K_all" : "b_V_all"), {width}, "out"};
      again(whole_bias, biases[i] + ".view(" + apart + ")" + again_all + std::to_string(width) + ")",
            at(of_key ? Q::key_bias : Q::value_bias));
      biases[i] = whole_bias.name;
    }
  }
  if (const float usual = 1.0f / std::sqrt(static_cast<float>(d_k)); attention.scale != usual) {
    std::string factor;
    append_number(factor, attention.scale / usual);
    say("# The module divides by sqrt(d_k); the rest of the scale goes into the queries.");
    weights[0] = factor + " * " + weights[0];
    biases[0] = factor + " * " + biases[0];
  }
  say(module + " = nn.MultiheadAttention(" + std::to_string(width) + ", " + std::to_string(heads) +
      (biased ? "" : ", bias=False") +
      (one_width ? "" : ", kdim=" + std::to_string(key_width) + ", vdim=" + std::to_string(value_width)) +
      ", batch_first=True)");
  if (one_width) {
    say(module + ".in_proj_weight.copy_(torch.cat([" + weights[0] + ", " + weights[1] + ", " + weights[2] + "]))");
  } else {
    const char* names[] = {".q_proj_weight", ".k_proj_weight", ".v_proj_weight"};
    for (int i : {0, 1, 2}) say(module + names[i] + ".copy_(" + weights[i] + ")");
  }
  if (biased) say(module + ".in_proj_bias.copy_(torch.cat([" + biases[0] + ", " + biases[1] + ", " + biases[2] + "]))");
  const std::string output =
      has(Q::output_weight) ? tensor(at(Q::output_weight)).name : "torch.eye(" + std::to_string(width) + ")";
  say(module + ".out_proj.weight.copy_(" + output + ")");
  for (Index head = 0; head < heads; ++head)
    if (is_off(trace_.request.edits, {head_.layer, head, head_.stack}))
      say(module + ".out_proj.weight[:, " + std::to_string(head * d_k) + ":" + std::to_string((head + 1) * d_k) +
          "] = 0  # head " + std::to_string(head) + " is off");
  if (biased) say(module + ".out_proj.bias.copy_(" + bias_of(Q::output_bias) + ")");
  std::string masked;
  const bool open = mask_is_open(), bias = has(Q::relative_bias);
  const std::string all_heads =
      std::to_string(batch() * heads) + ", " + std::to_string(queries()) + ", " + std::to_string(keys());
  std::string added;
  if (bias) {
    const HeadRef of = head_;
    const auto of_head = [all = all_, of](Index h) {
      return whole(*all->front(), matrix_id(Q::relative_bias, {of.layer, h, of.stack}));
    };
    added = per_head_input("relative", of_head, queries(), keys(), at(Q::relative_bias)).name;
  }
  if (!open || bias) {
    const bool boolean = !open && mask_is_boolean();
    const std::string mask = open ? "" : tensor(at(Q::mask)).name;
    const std::string spread = mask + ".unsqueeze(1)";
    std::string expression;
    if (open) expression = added;
    else if (bias && boolean) expression = added + ".masked_fill(" + spread + " == 0, float(\"-inf\"))";
    else if (bias) expression = added + " + " + spread;
    else expression = boolean ? spread + " == 0" : spread;
    if (!open) say_given_mask();
    say("# One mask for each sentence and head; where it is boolean, True blocks.");
    Tensor blocked{prefix + "blocked", {batch() * heads, queries(), keys()}, "bh i j"};
    again(blocked,
          "(" + expression + ").expand(" + joined_sizes({batch(), heads, queries(), keys()}) + ").reshape(" +
              all_heads + ")",
          at(bias ? Q::relative_bias : Q::mask));
    masked = ", attn_mask=" + blocked.name;
  }
  const MatrixId made = at(Q::attention_output);
  lines_.push_back({.text = "returned = " + module + "(" + inputs[0].name + ", " + inputs[1].name + ", " +
                            inputs[2].name + masked + ", average_attn_weights=False)",
                    .shows = made});
  const bool empty = !empty_rows().empty();
  const Tensor result = make(made, base_name(made), "returned[0]", tokens_shape(queries(), width), "b i d_model");
  lines_.back().kind = LineKind::takes_part;
  if (empty)
    again(result,
          "torch.where(" + result.name + ".isnan(), " + (biased ? module + ".out_proj.bias" : "torch.zeros(1)") + ", " +
              result.name + ")",
          made);
  const MatrixId weighting = at(Q::weights);
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
  const auto rows = empty_rows();
  if (rows.empty() || !keeps_heads()) return;
  const std::string sentence = std::to_string(rows.front().first), query = std::to_string(rows.front().second);
  const std::string at_row =
      tokens_first() ? "[" + query + ", :, " + sentence + ", 0]" : "[" + sentence + ", 0, " + query + "]";
  const std::string row = scaled_name_ + at_row;
  say("");
  say("# Query " + query + " of sentence " + sentence +
      " may attend to nothing. Three answers to such a row of head 0:");
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
