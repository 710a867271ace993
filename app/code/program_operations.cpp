// Statements, an operation each.
#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "code/program_writer.h"
#include "math/attention.h"

namespace headlight {
namespace {

using Q = Quantity;
using Op = Operation;

std::string number_text(float value) {
  std::string text;
  append_number(text, value);
  return text;
}

/// `first:last` as NumPy and PyTorch slice.
std::string slice_text(Index first, Index last, Index step = 1) {
  return std::to_string(first) + ":" + std::to_string(last) + (step == 1 ? "" : ":" + std::to_string(step));
}

/// Shape and axes of what has one number instead of the last axis.
void keep_one(std::vector<Index>& shape, std::string& axes) {
  shape.back() = 1;
  axes = axes.substr(0, axes.rfind(' ') + 1) + "1";
}

}  // namespace

/// x·Wᵀ + b, of which W and b may be missing.
std::string ProgramWriter::linear(const std::string& x, const Recipe& recipe) {
  const bool weighted = recipe.operation == Op::projection;
  const std::size_t bias = weighted ? 2 : 1;
  const std::string weight = weighted ? tensor(recipe.operands[1]).name : "";
  const std::string added = recipe.operands.size() > bias ? tensor(recipe.operands[bias]).name : "";
  if (weighted && torch()) return "F.linear(" + x + ", " + weight + (added.empty() ? "" : ", " + added) + ")";
  return x + (weighted ? " @ " + weight + ".T" : "") + (added.empty() ? "" : " + " + added);
}

void ProgramWriter::emit(Quantity quantity) {
  const MatrixId id = at(quantity);
  if (!exists(trace_, id) || origin(trace_, id) != id || tensors_.contains(id)) return;
  const Recipe made = recipe(trace_, id);
  switch (made.operation) {
    case Op::layer_norm:
    case Op::rms_norm: return emit_norm(id, made);
    case Op::projection:
    case Op::columns: return is_per_head(quantity) ? emit_head_vectors(id, made) : emit_linear(id, made);
    case Op::rotation: return emit_rotation(id, made);
    case Op::activation: return emit_activation(id, made);
    case Op::sum:
    case Op::product: {
      std::string expression;
      for (const MatrixId& operand : made.operands)
        expression += (expression.empty() ? "" : made.operation == Op::sum ? " + " : " * ") + tensor(operand).name;
      const Tensor first = tensor(made.operands.front());
      make(id, base_name(id), expression, first.shape, first.axes);
      return;
    }
    default: break;
  }
}

void ProgramWriter::emit_linear(const MatrixId& id, const Recipe& recipe) {
  const Index width = shape(trace_, id).cols;
  const bool wide = axes(trace_, id).cols == Axis::ffn;
  const std::string x = tensor(recipe.operands[0]).name;
  make(id, base_name(id), linear(x, recipe), tokens_shape(queries(), width),
       tokens_axes("i", wide ? "ffn" : "d_model"));
}

/// All heads at once, then each head's columns apart: (b, i, h·d) → (b, h, i, d). A norm over all heads together comes
/// between the two.
void ProgramWriter::emit_head_vectors(const MatrixId& id, const Recipe& recipe) {
  const bool of_query = id.quantity == Q::query || id.quantity == Q::query_projected;
  const AttentionTrace& attention = trace_.attention(head_.stack, head_.layer);
  const Index heads = of_query ? attention.num_heads() : attention.num_kv_heads;
  const Index tokens = of_query ? queries() : keys(), width = shape(trace_, id).cols;
  const char* letter = of_query ? "i" : "j";
  const std::string name = base_name(id), x = tensor(recipe.operands[0]).name;
  const std::string expression = linear(x, recipe);
  make(id, name, expression, tokens_shape(tokens, heads * width), tokens_axes(letter, "hd"));
  MatrixId cut = id;
  if (id.quantity == Q::query_projected) cut = at(has(Q::query_normed) ? Q::query_normed : Q::query);
  if (id.quantity == Q::key_projected) cut = at(has(Q::key_normed) ? Q::key_normed : Q::key);
  const NormWeights* norm = cut == id ? nullptr : norm_of(MatrixSource(trace_, cut), cut.quantity);
  if (norm && MatrixSource(trace_, cut).is_wide(*norm)) emit_norm(cut, headlight::recipe(trace_, cut));
  else cut = id;
  Tensor& made = tensors_[cut];
  const std::string apart = joined_sizes(tokens_first() ? std::vector<Index>{tokens, batch(), heads, width}
                                                        : std::vector<Index>{batch(), tokens, heads, width});
  std::string split = made.name + (torch() ? ".view(" : ".reshape(") + apart + ")";
  if (!tokens_first()) split += torch() ? ".permute(0, 2, 1, 3)" : ".transpose(0, 2, 1, 3)";
  made.shape = heads_shape(heads, tokens, width);
  made.axes = heads_axes(letter);
  again(made, split, cut);
}

void ProgramWriter::emit_norm(const MatrixId& id, const Recipe& recipe) {
  const Tensor x = tensor(recipe.operands[0]);
  const std::string scale = tensor(recipe.operands[1]).name;
  const std::string shift = recipe.operands.size() > 2 ? tensor(recipe.operands[2]).name : "";
  const std::string added = shift.empty() ? "" : " + " + shift, name = base_name(id);
  const std::string epsilon = number_text(norm_of(MatrixSource(trace_, id), id.quantity)->epsilon);
  std::vector<Index> narrow = x.shape;
  std::string narrow_axes = x.axes;
  keep_one(narrow, narrow_axes);
  const std::string each = torch() ? "dim=-1, keepdim=True" : "axis=-1, keepdims=True";
  const auto helper = [&](const std::string& text, const std::string& made) {
    lines_.push_back({.text = made + " = " + text, .makes = made, .shape = narrow, .axes = narrow_axes, .shows = id});
  };
  if (recipe.operation == Op::rms_norm) {
    helper("(" + x.name + " * " + x.name + ").mean(" + each + ")", "mean_square");
    make(id, name, x.name + " / (mean_square + " + epsilon + ") ** 0.5 * " + scale + added, x.shape, x.axes);
  } else if (torch()) {
    make(id, name,
         "F.layer_norm(" + x.name + ", " + scale + ".shape, " + scale + ", " + (shift.empty() ? "None" : shift) + ", " +
             epsilon + ")",
         x.shape, x.axes);
  } else {
    helper(x.name + ".mean(" + each + ")", "mean");
    helper("((" + x.name + " - mean) ** 2).mean(" + each + ")", "variance");
    make(id, name, "(" + x.name + " - mean) / (variance + " + epsilon + ") ** 0.5 * " + scale + added, x.shape, x.axes);
  }
}

/// Pairs of columns (a, c) become (a·cos − c·sin, a·sin + c·cos).
void ProgramWriter::emit_rotation(const MatrixId& id, const Recipe& recipe) {
  const Tensor before = tensor(recipe.operands[0]);
  const std::string between = tokens_first() ? "[:, None, None]" : "";
  const std::string cosine = rotary_input("cosine", false).name + between,
                    sine = rotary_input("sine", true).name + between;
  const Rotary& rotary = *MatrixSource(trace_, id).rotary();
  const Index pairs = rotary.frequencies.size();
  const std::string first = "[..., " + (rotary.interleaved ? slice_text(0, 2 * pairs, 2) : slice_text(0, pairs)) + "]";
  const std::string second =
      "[..., " + (rotary.interleaved ? slice_text(1, 2 * pairs, 2) : slice_text(pairs, 2 * pairs)) + "]";
  const std::string a = before.name + first, c = before.name + second;
  const Tensor after =
      make(id, base_name(id), before.name + (torch() ? ".clone()" : ".copy()"), before.shape, before.axes);
  change(after.name + first + " = " + a + " * " + cosine + " - " + c + " * " + sine, after, id);
  change(after.name + second + " = " + c + " * " + cosine + " + " + a + " * " + sine, after, id);
}

void ProgramWriter::emit_activation(const MatrixId& id, const Recipe& recipe) {
  const Tensor x = tensor(recipe.operands[0]);
  const auto numpy = [&](Activation activation) -> std::string {
    switch (activation) {
      case Activation::relu: return "np.maximum(" + x.name + ", 0)";
      case Activation::gelu: return x.name + " * (1 + np.vectorize(erf)(" + x.name + " / 2 ** 0.5)) / 2";
      case Activation::gelu_tanh:
        return x.name + " * (1 + np.tanh((2 / np.pi) ** 0.5 * (" + x.name + " + 0.044715 * " + x.name + " ** 3))) / 2";
      case Activation::quick_gelu: return x.name + " / (1 + np.exp(-1.702 * " + x.name + "))";
      case Activation::silu: break;
    }
    return x.name + " / (1 + np.exp(-" + x.name + "))";
  };
  const auto pytorch = [&](Activation activation) -> std::string {
    switch (activation) {
      case Activation::relu: return "F.relu(" + x.name + ")";
      case Activation::gelu: return "F.gelu(" + x.name + ")";
      case Activation::gelu_tanh: return "F.gelu(" + x.name + ", approximate=\"tanh\")";
      case Activation::quick_gelu: return x.name + " * torch.sigmoid(1.702 * " + x.name + ")";
      case Activation::silu: break;
    }
    return "F.silu(" + x.name + ")";
  };
  const Activation activation = activation_of(MatrixSource(trace_, id), id.quantity);
  make(id, base_name(id), torch() ? pytorch(activation) : numpy(activation), x.shape, x.axes);
}

/// A key and a value for each query head, where groups of heads share them.
void ProgramWriter::share_among_groups(Quantity used) {
  const AttentionTrace& attention = trace_.attention(head_.stack, head_.layer);
  const Index heads = attention.num_heads(), group = heads / attention.num_kv_heads;
  if (group == 1) return;
  Tensor& shared = tensors_.at(at(used));
  const std::string axis = tokens_first() ? "2" : "1";
  shared.shape[tokens_first() ? 2 : 1] = heads;
  again(shared,
        torch() ? shared.name + ".repeat_interleave(" + std::to_string(group) + ", dim=" + axis + ")"
                : "np.repeat(" + shared.name + ", " + std::to_string(group) + ", axis=" + axis + ")",
        at(used));
}

void ProgramWriter::emit_scores() {
  const std::string q = tensor(at(Q::query)).name, k = tensor(at(Q::key)).name;
  const AttentionTrace& attention = trace_.attention(head_.stack, head_.layer);
  const bool open = mask_is_open(), biased = has(Q::relative_bias), capped = has(Q::capped);
  const std::string product = !torch()         ? q + " @ " + k + ".transpose(0, 1, 3, 2)"
                              : tokens_first() ? "torch.einsum(\"ibhd,jbhd->ijbh\", " + q + ", " + k + ")"
                                               : "torch.matmul(" + q + ", " + k + ".transpose(-2, -1))";
  const Tensor dot = make(at(Q::dot), base_name(at(Q::dot)), product, pattern_shape(), pattern_axes());
  const Index d_k = attention.query.cols() / attention.num_heads();
  const bool usual = attention.scale == 1.0f / std::sqrt(static_cast<float>(d_k));
  const std::string scaled =
      dot.name + (usual ? " / " + std::to_string(d_k) + " ** 0.5" : " * " + number_text(attention.scale));
  const MatrixId result = open && !biased && !capped ? at(Q::scores) : at(Q::scaled);
  Tensor scores = make(result, base_name(result), scaled, dot.shape, dot.axes);
  if (capped) {
    const std::string cap = number_text(attention.softcap);
    const MatrixId within = open && !biased ? at(Q::scores) : at(Q::capped);
    scores = make(within, base_name(within),
                  cap + " * " + (torch() ? "torch" : "np") + ".tanh(" + scores.name + " / " + cap + ")", scores.shape,
                  scores.axes);
  }
  if (biased) {
    const Tensor bias = per_head_input("relative", Q::relative_bias, queries(), keys());
    const MatrixId sum = open ? at(Q::scores) : at(Q::scaled);
    scores = make(sum, open ? base_name(sum) : scores.name, scores.name + " + " + bias.name, scores.shape, scores.axes);
  }
  scaled_name_ = scores.name;
  if (open) return;
  const Tensor mask = tensor(mask_id());
  say_given_mask();
  if (tokens_first()) {
    const std::string sizes[] = {std::to_string(queries()), std::to_string(keys()), std::to_string(batch())};
    say("assert " + mask.name + ".shape[0] in (1, " + sizes[0] + ")  # a row for each query, or one for all");
    say("assert " + mask.name + ".shape[1] in (1, " + sizes[1] + ")  # a column for each key, or one for all");
    say("assert " + mask.name + ".shape[2] in (1, " + sizes[2] + ")  # a mask for each sentence, or one for all");
  }
  const std::string spread = mask.name + (has(Q::head_mask) ? ""
                                          : !torch()        ? "[:, None]"
                                          : tokens_first()  ? ".unsqueeze(-1)"
                                                            : ".unsqueeze(1)");
  const std::string masked = !mask_is_boolean() ? scores.name + " + " + spread
                             : torch()          ? scores.name + ".masked_fill(" + spread + " == 0, float(\"-inf\"))"
                                                : "np.where(" + spread + " == 0, -np.inf, " + scores.name + ")";
  make(at(Q::scores), base_name(at(Q::scores)), masked, scores.shape, scores.axes);
}

void ProgramWriter::emit_softmax() {
  const Tensor scores = tensors_.at(at(Q::scores));
  const std::string sinks = has(Q::sink) ? per_head_input("sinks", Q::sink, 1, 1).name : "";
  const bool empty = sinks.empty() && empty_row();
  const MatrixId id = at(has_dropout(trace_) || has(Q::dropped) ? Q::softmax : Q::weights);
  const std::string name = base_name(id);
  if (torch() && !sinks.empty()) {
    // Beside the scores as one more key, which is dropped afterwards.
    const std::string size = scores.name + ".shape[";
    const std::string spread = tokens_first() ? sinks + ".expand(" + size + "0], 1, " + size + "2], -1)], dim=1)"
                                              : sinks + ".expand(" + size + "0], -1, " + size + "2], 1)], dim=-1)";
    make(id, name,
         "torch.softmax(torch.cat([" + scores.name + ", " + spread +
             (tokens_first() ? ", dim=1)[:, :-1]" : ", dim=-1)[..., :-1]"),
         scores.shape, scores.axes);
  } else if (torch()) {
    const Tensor made = make(id, name, "torch.softmax(" + scores.name + ", dim=" + (tokens_first() ? "1" : "-1") + ")",
                             scores.shape, scores.axes);
    if (empty) again(made, made.name + ".nan_to_num(0.0)", id);
  } else {
    std::vector<Index> narrow = scores.shape;
    std::string narrow_axes = scores.axes;
    keep_one(narrow, narrow_axes);
    lines_.push_back({.text = "largest = " + scores.name + ".max(axis=-1, keepdims=True)",
                      .makes = "largest",
                      .shape = narrow,
                      .axes = narrow_axes,
                      .shows = at(Q::scores)});
    if (!sinks.empty()) say("largest = np.maximum(largest, " + sinks + ")");
    if (empty) say("largest[np.isinf(largest)] = 0");
    const Tensor exponentials = make(at(Q::exponentials), base_name(at(Q::exponentials)),
                                     "np.exp(" + scores.name + " - largest)", scores.shape, scores.axes);
    std::string sum = exponentials.name + ".sum(axis=-1, keepdims=True)";
    if (!sinks.empty()) sum = "(" + sum + " + np.exp(" + sinks + " - largest))";
    make(id, name, exponentials.name + " / " + (empty ? "np.maximum(" + sum + ", 1e-38)" : sum), scores.shape,
         scores.axes);
  }
}

/// Dropout as it was drawn, then weights set by hand.
void ProgramWriter::emit_edits() {
  const Edits& edits = trace_.request.edits;
  const Index rows = queries(), cols = keys();
  Tensor weights = tensors_.at(at(has_dropout(trace_) ? Q::softmax : Q::weights));
  if (has_dropout(trace_)) {
    const HeadRef of = head_;
    const auto factors = [all = all_, of, rows, cols](Index head) {
      Matrix kept(rows, cols);
      for (Index query = 0; query < rows; ++query)
        for (Index key = 0; key < cols; ++key)
          kept(query, key) = dropout_factor(all->front()->request.edits, {of.layer, head, of.stack}, query, key);
      return kept;
    };
    const Tensor kept = per_head_input("kept", factors, rows, cols, at(Q::dropped));
    say("# Dropout of " + number_text(edits.dropout) + " as seed " + std::to_string(edits.dropout_seed) +
        " draws it: 0, or 1 / (1 - p).");
    weights = make(at(Q::dropped), weights.name, weights.name + " * " + kept.name, weights.shape, weights.axes);
    tensors_[at(Q::weights)] = weights;
  }
  const auto here = [&](const WeightEdit& edit) {
    return edit.head.layer == head_.layer && edit.head.stack == head_.stack && edit.cell.query < rows &&
           edit.cell.key < cols;
  };
  if (std::none_of(edits.weights.begin(), edits.weights.end(), here)) return;
  const HeadRef of = head_;
  const auto set = [all = all_, of, rows, cols](Index head) {
    Matrix by_hand = Matrix::Constant(rows, cols, -1.0f);
    for (const WeightEdit& edit : all->front()->request.edits.weights)
      if (edit.head == HeadRef{of.layer, head, of.stack} && edit.cell.query < rows && edit.cell.key < cols)
        by_hand(edit.cell.query, edit.cell.key) = edit.weight;
    return by_hand;
  };
  const Tensor by_hand = per_head_input("by_hand", set, rows, cols, at(Q::weights));
  const std::string each =
      torch() ? std::string(tokens_first() ? "dim=1" : "dim=-1") + ", keepdim=True" : "axis=-1, keepdims=True";
  const std::string module = torch() ? "torch" : "np";
  say("# Weights set by hand, -1 where there is none; the others share what is left of 1.");
  say("is_set = " + by_hand.name + " >= 0");
  const std::string sum = "1 - (" + by_hand.name + " * is_set).sum(" + each + ")";
  say("left = " + (torch() ? "(" + sum + ").clamp(min=0)" : "np.maximum(" + sum + ", 0)"));
  say("others = " + weights.name + " * ~is_set");
  say("rest = others.sum(" + each + ")");
  say("others = others * left / " + module + ".where(rest > 0, rest, " + module + ".ones_like(rest))");
  weights = make(at(Q::weights), weights.name,
                 module + ".where(is_set.any(" + each + "), " + module + ".where(is_set, " + by_hand.name +
                     ", others), " + weights.name + ")",
                 weights.shape, weights.axes);
}

void ProgramWriter::emit_values() {
  const std::string weights = tensors_.at(at(Q::weights)).name, v = tensor(at(Q::value)).name;
  const AttentionTrace& attention = trace_.attention(head_.stack, head_.layer);
  const Index heads = attention.num_heads(), d_v = shape(trace_, at(Q::value)).cols;
  std::string off;
  for (Index head = 0; head < heads; ++head)
    if (is_off(trace_.request.edits, {head_.layer, head, head_.stack}))
      off += (off.empty() ? "" : ", ") + std::to_string(head);
  const MatrixId first = at(has(Q::head_output) ? Q::head_output : Q::z);
  const Tensor z = make(first, base_name(first),
                        !torch()         ? weights + " @ " + v
                        : tokens_first() ? "torch.einsum(\"ijbh,jbhd->ibhd\", " + weights + ", " + v + ")"
                                         : "torch.matmul(" + weights + ", " + v + ")",
                        heads_shape(heads, queries(), d_v), heads_axes("i"));
  tensors_[at(Q::z)] = z;
  if (!off.empty()) {
    const std::string rows = z.name + (tokens_first() ? "[:, :, [" : "[:, [") + off + "]]";
    const std::string over =
        torch() ? std::string(tokens_first() ? "dim=0" : "dim=2") + ", keepdim=True" : "axis=2, keepdims=True";
    const bool zero = trace_.request.edits.off_as == OffAs::zero;
    change(rows + " = " + (zero ? "0" : rows + ".mean(" + over + ")"), z, at(Q::z));
  }
  const std::vector<Index> wide = tokens_shape(queries(), heads * d_v);
  const std::string flat = ".reshape(" + joined_sizes(wide) + ")";
  const std::string together = tokens_first() ? "" : torch() ? ".permute(0, 2, 1, 3)" : ".transpose(0, 2, 1, 3)";
  make(at(Q::concat), base_name(at(Q::concat)), z.name + together + flat, wide, tokens_axes("i", "hd"));
}

}  // namespace headlight
