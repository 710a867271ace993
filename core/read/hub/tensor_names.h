// The names under which Hugging Face's checkpoints store their tensors: for each family one list, name → field
// ("tensors" in families.json).
#pragma once

#include <string_view>
#include <vector>

#include "base/index.h"
#include "read/array/array.h"
#include "read/hub/config_file.h"

namespace headlight {

/// The field of model/weights.h that a tensor fills. Names, kinds and shapes, in this order: "fields" in families.json;
/// words is V, buckets and distances are rows of tables, together the rows of queries, keys and values.
// clang-format off
enum class Field {
  // of a stack; relative_bias and distances belong to all blocks, pair_bias to all or to one; the two scales to one
  tokens, positions, token_types, task_types, embedding_norm, embedding_projection, token_projection, relative_bias,
  pair_bias, patches, class_token, distillation_token, registers, attention_scale, ffn_scale,
  distances, distance_norm, final_norm,
  // of a block; query_key_value: the three one below the other; heads_together: the queries of the first key's heads,
  // that key and its value, then those of the second, …; gate_up: the two one below the other
  query, key, value, query_key_value, heads_together, attention_output, query_norm, key_norm, sinks,
  query_bias, value_bias, distance_key, distance_query, attention_norm, cross_query, cross_key, cross_value,
  cross_output, cross_norm, gate, up, gate_up, down, ffn_norm, attention_after_norm, ffn_after_norm, router,
  expert_gate, expert_up, expert_down, shared_gate, shared_up, shared_down, shared_expert_gate,
  // of the output layer
  output, output_bias, transform, transform_norm, output_projection,
  // without a field; derived: follows from config.json and is computed anew (masks, position ids, rotary frequencies);
  // unused: a known part that neither attention nor the next word needs
  derived, unused
};
// clang-format on

/// How many arrays a field is, and under which endings: a linear layer is `.weight` (out, in) and `.bias` (out), a norm
/// `.weight` and `.bias` (older files: `.gamma` and `.beta`); matrices, tables (weights as those of linear layers) and
/// vectors are one array under the whole name.
enum class FieldKind { matrix, table, vector, linear, norm, none };
FieldKind kind(Field field);

/// The shape of a matrix, or of a linear layer's weight; of a vector or norm (1, n).
struct TensorShape {
  Index rows = 0, cols = 0;
};

enum class StackPart { main, encoder, both };  // the stack that a row is about
enum class Form { plain, transposed };         // transposed: weights are stored (in, out)
/// A tensor that is `expected` may be missing with a warning; one that is `optional` need not be stored.
enum class Need { required, expected, optional };

struct Row {
  // {layer} stands for the layer's number, {expert} for the expert's; behind a leading / there is never the family's
  // prefix; a closing * means all that begin so.
  std::string_view name;
  Field field;
  Form form = Form::plain;
  StackPart part = StackPart::main;
  Need need = Need::required;
  bool bias = true;                         // of a linear layer or norm
  std::vector<std::string_view> also = {};  // other names of the same array, of which any one suffices
  Index from_layer = 0;                     // the first layer that has it
  Index expert = 0;                         // of a row of one expert, whose number stands in its name
};

/// The same row of one expert; `name` keeps its name.
Row row_of_expert(const Row& row, Index expert, std::string& name);

/// Whether the row stands for a tensor of every expert.
bool is_of_an_expert(const Row& row);

/// Whether the row stands for a tensor of every layer.
bool is_of_a_block(const Row& row);

/// The prefix of the names of a model that is part of a larger one: all of them have it, or none.
std::string_view prefix(const HubConfig& hub);

/// The tensors of a model of this family and configuration. `with_output`: it has an output layer.
std::vector<Row> tensor_names(const HubConfig& hub, bool with_output);

/// How the names of arrays begin that only a model with an output layer has, where it is not tied.
std::string_view output_marker(const HubConfig& hub);

TensorShape shape(Field field, StackPart part, const HubConfig& hub);

/// The arrays under the names of the family. Training programs put a prefix before the tensor names of the model that
/// they train: `module.`, `_orig_mod.` …; so do models that read pictures too, before those of their text:
/// `language_model.` Such a prefix before the table of token vectors is dropped from every name that begins with it,
/// and so is any other (`student.`) where only one stands before a table of the model's width.
StoredArrays unwrapped(StoredArrays stored, const HubConfig& hub);

/// Whether a text is a row of such prefixes that are known, or empty.
bool is_wrapping(std::string_view text);

/// Whether a tensor of this name is a part of a LoRA adapter.
bool is_of_adapter(std::string_view name);

}  // namespace headlight
