#include "write/arrays.h"

#include <algorithm>
#include <mutex>

#include "explain/matrix_kinds.h"
#include "explain/softmax_gradient.h"
#include "heads/weight_maps.h"
#include "math/attention.h"
#include "write/circuit_arrays.h"

namespace headlight {
namespace {

constexpr std::string_view kNorms = "norms", kRollout = "rollout", kGradient = "gradient";

bool has_layers(Quantity quantity) {
  const MatrixPart part = kind_of(quantity).part;
  return part != MatrixPart::embedding && part != MatrixPart::end && part != MatrixPart::output;
}

/// The kinds that a name stands for: one, or those of a part.
std::vector<Quantity> quantities_named(std::string_view name) {
  std::vector<Quantity> found;
  for (int i = 0; i <= static_cast<int>(Quantity::probabilities); ++i) {
    const auto quantity = static_cast<Quantity>(i);
    if (matrix_name(quantity) == name || part_name(kind_of(quantity).part) == name) found.push_back(quantity);
  }
  return found;
}

/// A kind of matrix in one attention of an answer.
struct Matrices {
  const Trace& trace;
  Quantity quantity;
  Stack stack;
  Index layers, heads;

  Matrices(const Trace& answer, Quantity kind, Stack of)
      : trace(answer),
        quantity(kind),
        stack(of),
        layers(has_layers(kind) ? answer.num_layers(of) : 1),
        heads(is_per_head(kind) ? answer.num_heads(of) : 1) {}

  MatrixId id(Index index) const { return matrix_id(quantity, {index / heads, index % heads, stack}); }

  /// Whether every layer and head has it, in one shape. Feed-forwards belong to no cross-attention.
  bool are_whole() const {
    if (id(0).stack != stack || !exists(trace, id(0))) return false;
    for (Index i = 1; i < layers * heads; ++i)
      if (!exists(trace, id(i)) || shape(trace, id(i)) != shape(trace, id(0))) return false;
    return true;
  }
};

std::string_view row_axis(Axis axis) { return axis == Axis::queries ? "query" : axis == Axis::keys ? "key" : "row"; }

ArrayStream array_of(const Matrices& matrices, std::string name) {
  const Shape one = shape(matrices.trace, matrices.id(0));
  const Axes along = axes(matrices.trace, matrices.id(0));
  const Index blocks = (one.rows + kRowBlock - 1) / kRowBlock;
  ArrayStream array;
  array.name = std::move(name);
  if (has_layers(matrices.quantity)) {
    array.shape.push_back(matrices.layers);
    array.axes.push_back("layer");
  }
  if (is_per_head(matrices.quantity)) {
    array.shape.push_back(matrices.heads);
    array.axes.push_back("head");
  }
  array.shape.insert(array.shape.end(), {one.rows, one.cols});
  array.axes.insert(array.axes.end(), {row_axis(along.rows), along.cols == Axis::keys ? "key" : "dimension"});
  array.pieces = matrices.layers * matrices.heads * blocks;
  array.piece = [matrices, blocks, rows = one.rows](Index piece) {
    const Index first = piece % blocks * kRowBlock;
    return rows_of(matrices.trace, matrices.id(piece / blocks), first, std::min(kRowBlock, rows - first));
  };
  array.minus_infinity =
      is_mask(matrices.quantity) || matrices.quantity == Quantity::scores || matrices.quantity == Quantity::log_weights;
  return array;
}

/// Special tokens are left out; what is left is scaled in attentions alone.
SpecialTokens unscaled(SpecialTokens special) {
  return special == SpecialTokens::renormalize ? SpecialTokens::hide : special;
}

/// Maps that are computed when the first of them is read: all at once, for they build on one another.
ArrayStream maps_of(const Trace& trace, const StackNames& names, bool rollout) {
  struct Maps {
    std::once_flag computed;
    std::vector<Matrix> all;
  };
  const Stack stack = names.stack;
  ArrayStream array;
  array.name = std::string(names.prefix) + std::string(rollout ? kRollout : kNorms);
  array.shape = {trace.num_layers(stack), trace.queries(stack), trace.keys(stack)};
  array.axes = {"layer", "query", "key"};
  array.pieces = trace.num_layers(stack);
  if (!rollout) {
    array.shape.insert(array.shape.begin() + 1, trace.num_heads(stack));
    array.axes.insert(array.axes.begin() + 1, "head");
    array.pieces *= trace.num_heads(stack);
  }
  array.piece = [&trace, stack, rollout, maps = std::make_shared<Maps>()](Index piece) -> Matrix {
    std::call_once(maps->computed, [&] {
      Progress progress;
      auto all = rollout ? rollout_maps(trace, stack, progress, 1) : norm_maps(trace, stack, progress, 1);
      maps->all = *std::move(all);
    });
    return maps->all[static_cast<std::size_t>(piece)].cwiseMax(0.0f);  // -1: blocked, of which nothing passes
  };
  return array;
}

/// (layers, heads, queries, 2), a piece for every head: ∂A/∂score of each row with its scale, and with the other.
ArrayStream gradients_of(const Trace& trace, const StackNames& names) {
  const Index heads = trace.num_heads(names.stack), queries = trace.queries(names.stack);
  ArrayStream array;
  array.name = std::string(names.prefix) + std::string(kGradient);
  array.shape = {trace.num_layers(names.stack), heads, queries, trace.attention(names.stack, 0).patterns ? 1 : 2};
  array.axes = {"layer", "head", "query", "scale"};
  array.pieces = array.shape[0] * heads;
  array.piece = [&trace, stack = names.stack, heads, queries](Index piece) {
    const ScaleEffect effect = scale_effect(trace, {piece / heads, piece % heads, stack}, 0, queries);
    Matrix both(queries, effect.other.size() > 0 ? 2 : 1);
    both.col(0) = effect.gradient.transpose();
    if (both.cols() > 1) both.col(1) = effect.other.transpose();
    return both;
  };
  return array;
}

}  // namespace

Status check_matrix_names(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (!is_circuit(name) && name != kNorms && name != kRollout && name != kGradient && quantities_named(name).empty())
      return bad_input(
          "--with", "",
          "qkv, scores, norms, rollout, gradient, qk, ov, a part of the model (embedding, attention, head, ffn, "
          "block, end, output) or one of its matrices, such as ffn.hidden",
          "'" + name + "'");
  return Done{};
}

Result<std::vector<ArrayStream>> matrix_arrays(const Trace& trace, const ExportOptions& options) {
  TRY(check_matrix_names(options.matrices));
  std::vector<ArrayStream> arrays;
  const SpecialTokens special = unscaled(options.special);
  for (const std::string& name : options.matrices) {
    if (is_circuit(name)) {
      TRY(add_circuits(trace, name, options, arrays));
      continue;
    }
    const std::size_t before = arrays.size();
    const bool rollout = name == kRollout, maps = rollout || name == kNorms;
    std::string expected = !options.only.empty() ? "a matrix of one head" : "one that every layer has";
    std::string why = "none";
    bool again = false;
    for (const StackNames& names : stacks_of(trace, options)) {
      const Stack stack = names.stack;
      const Tokens &queries = trace.query_tokens(stack), &keys = trace.key_tokens(stack);
      if (name == kGradient) {
        arrays.push_back(
            without_special(only_heads(gradients_of(trace, names), options.only), queries, nullptr, special));
        continue;
      }
      if (maps) {
        const auto unavailable = rollout ? why_no_rollout(trace, stack) : why_no_norms(trace, stack);
        if (unavailable) {
          why = headlight::name(*unavailable);
          expected = "an answer that has this map";
        } else if (rollout && !options.only.empty()) {
          why = "maps of whole layers";
        } else {
          ArrayStream array = maps_of(trace, names, rollout);
          if (!rollout) array = only_heads(std::move(array), options.only);
          arrays.push_back(without_special(std::move(array), queries, &keys, special));
        }
        continue;
      }
      for (const Quantity quantity : quantities_named(name)) {
        const Matrices matrices(trace, quantity, stack);
        if (!matrices.are_whole()) continue;
        if (!options.only.empty() && !is_per_head(quantity)) {
          why = "one of all heads";
          continue;
        }
        const bool prefixed = kind_of(quantity).part != MatrixPart::output;
        std::string label = std::string(prefixed ? names.prefix : "") + matrix_name(quantity);
        again = std::any_of(arrays.begin(), arrays.end(), [&](const ArrayStream& a) { return a.name == label; });
        if (again) continue;
        const Axes along = axes(trace, matrices.id(0));
        ArrayStream array = array_of(matrices, std::move(label));
        if (is_per_head(quantity)) array = only_heads(std::move(array), options.only);
        if (const Tokens* rows = tokens_along(trace, matrices.id(0), along.rows))
          array = without_special(std::move(array), *rows, tokens_along(trace, matrices.id(0), along.cols), special);
        arrays.push_back(std::move(array));
      }
    }
    if (arrays.size() == before && !again) return bad_input("--with", name, expected, why);
  }
  return arrays;
}

}  // namespace headlight
