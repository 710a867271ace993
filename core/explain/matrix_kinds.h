// The table of all kinds of matrix: what is known about each without a model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "explain/matrices.h"

namespace headlight {

struct MatrixSource;

/// The part of a model that a kind of matrix belongs to; it decides the form of its path.
enum class MatrixPart { embedding, attention, head, ffn, block, end, output };

/// weight, bias: of a linear layer; scale, shift: of a norm; given: looked up, or from a file; computed: all others.
enum class MatrixRole { computed, given, weight, bias, scale, shift };

struct Kind {
  Quantity quantity;
  MatrixPart part;
  const char* name;  // the last word of its path
  const char* symbol;
  Axis rows, cols;
  MatrixRole role = MatrixRole::computed;
  const Linear* (*linear)(const MatrixSource&) = nullptr;     // the layer that it belongs to, of all heads
  const NormWeights* (*norm)(const MatrixSource&) = nullptr;  // the norm that it belongs to, or that computes it
};

const Kind& kind_of(Quantity quantity);

/// embedding, attention, head, ffn, block, end, output.
std::string_view part_name(MatrixPart part);
/// A name that does not depend on a model: `embedding.positions`, `attention.concat`, `head.query`, `ffn.hidden`.
std::string matrix_name(Quantity quantity);
std::optional<Quantity> parse_matrix_name(std::string_view name);

}  // namespace headlight
