#include "write/arrays.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "math/attention.h"

namespace headlight {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

using RowsOf = Matrix (*)(const Trace&, Index layer, Index head, Index first, Index count);

/// (layers, heads, queries, keys), a piece for every block of rows.
ArrayStream pattern(const Trace& trace, std::string name, RowsOf rows_of) {
  const Index blocks = (trace.queries() + kRowBlock - 1) / kRowBlock;
  ArrayStream array;
  array.name = std::move(name);
  array.shape = {trace.num_layers(), trace.num_heads(), trace.queries(), trace.keys()};
  array.axes = {"layer", "head", "query", "key"};
  array.pieces = trace.num_layers() * trace.num_heads() * blocks;
  array.piece = [&trace, blocks, rows_of](Index piece) {
    const Index head = piece / blocks % trace.num_heads(), layer = piece / blocks / trace.num_heads();
    const Index first = piece % blocks * kRowBlock;
    return rows_of(trace, layer, head, first, std::min(kRowBlock, trace.queries() - first));
  };
  return array;
}

/// (layers, heads, tokens, d_k), a piece for every head.
ArrayStream projected(const Trace& trace, std::string name, Matrix AttentionTrace::*field) {
  const Matrix& first = trace.blocks.front().self.*field;
  ArrayStream array;
  array.name = std::move(name);
  array.shape = {trace.num_layers(), trace.num_heads(), first.rows(), first.cols() / trace.num_heads()};
  array.axes = {"layer", "head", "token", "dimension"};
  array.pieces = trace.num_layers() * trace.num_heads();
  array.piece = [&trace, field](Index piece) {
    const auto layer = static_cast<std::size_t>(piece / trace.num_heads());
    return Matrix{head_columns(trace.blocks[layer].self.*field, piece % trace.num_heads(), trace.num_heads())};
  };
  return array;
}

/// A matrix that the trace holds.
ArrayStream whole(std::string name, std::string_view rows, const Matrix& matrix) {
  ArrayStream array;
  array.name = std::move(name);
  array.shape = {matrix.rows(), matrix.cols()};
  array.axes = {rows, "dimension"};
  array.pieces = 1;
  array.piece = [&matrix](Index) { return matrix; };
  return array;
}

ArrayStream hidden_states(const Trace& trace) {
  ArrayStream array;
  array.name = "hidden_states";
  array.shape = {trace.num_layers() + 1, trace.embedding.rows(), trace.embedding.cols()};
  array.axes = {"layer", "token", "dimension"};
  array.pieces = trace.num_layers() + 1;
  array.piece = [&trace](Index piece) {
    return piece == 0 ? trace.embedding : trace.blocks[static_cast<std::size_t>(piece - 1)].output;
  };
  return array;
}

}  // namespace

std::size_t ArrayStream::num_elements() const {
  std::size_t product = 1;
  for (const Index size : shape) product *= static_cast<std::size_t>(size);
  return product;
}

std::vector<ArrayStream> attention_arrays(const Trace& trace, const ExportOptions& options) {
  assert(!trace.blocks.empty());
  std::vector<ArrayStream> arrays;
  arrays.push_back(pattern(trace, "attentions", attention_rows));
  if (options.queries_keys_values) {
    arrays.push_back(projected(trace, "queries", &AttentionTrace::query));
    arrays.push_back(projected(trace, "keys", &AttentionTrace::key));
    arrays.push_back(projected(trace, "values", &AttentionTrace::value));
  }
  if (options.scores) {
    arrays.push_back(pattern(trace, "scores", score_rows));
    arrays.back().minus_infinity = true;
  }
  return arrays;
}

std::vector<ArrayStream> all_arrays(const Trace& trace, const ExportOptions& options) {
  auto arrays = attention_arrays(trace, options);
  if (trace.model->given) {
    arrays.push_back(whole("output", "query", trace.blocks.front().self.output));
  } else {
    arrays.push_back(hidden_states(trace));
    arrays.push_back(whole("last_hidden_state", "token", trace.last_hidden_state));
  }
  return arrays;
}

std::vector<ArrayStream> all_arrays(const std::vector<std::shared_ptr<const Trace>>& traces,
                                    const ExportOptions& options) {
  std::vector<ArrayStream> arrays;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    for (auto& array : all_arrays(*traces[i], options)) {
      if (traces.size() > 1) array.name.insert(0, std::to_string(i) + ".");
      arrays.push_back(std::move(array));
    }
  }
  return arrays;
}

std::size_t num_elements(const std::vector<ArrayStream>& arrays) {
  std::size_t sum = 0;
  for (const auto& array : arrays) sum += array.num_elements();
  return sum;
}

Error not_finite(const ArrayStream& array, std::size_t at, float found) {
  std::string place;
  for (std::size_t axis = array.shape.size(); axis-- > 0;) {
    const auto size = static_cast<std::size_t>(array.shape[axis]);
    place = std::string(array.axes[axis]) + " " + std::to_string(at % size) + (place.empty() ? "" : " ") + place;
    at /= size;
  }
  return bad_input(array.name, place, "a finite number", std::isnan(found) ? "nan" : found > 0 ? "inf" : "-inf");
}

Result<Matrix> ArrayReader::next() {
  assert(!at_end());
  if (work_.stopped()) return Error{"export: cancelled"};
  Matrix piece = array_.piece(next_++);
  for (Index i = 0; i < piece.size(); ++i) {
    const float value = piece.data()[i];
    if (std::isfinite(value)) continue;
    if (array_.minus_infinity && value == -std::numeric_limits<float>::infinity()) continue;
    return not_finite(array_, offset_ + static_cast<std::size_t>(i), value);
  }
  offset_ += static_cast<std::size_t>(piece.size());
  work_.did(static_cast<std::size_t>(piece.size()));
  return piece;
}

std::string_view bytes_of(const Matrix& piece) {
  return {reinterpret_cast<const char*>(piece.data()), static_cast<std::size_t>(piece.size()) * sizeof(float)};
}

}  // namespace headlight
