#include "model/weights.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/pages.h"
#include "base/random.h"
#include "model/half.h"
#include "model/weight_tree.h"

namespace headlight {
namespace {

/// (out, in) of a layer and whether it has a bias; 0 outputs where the model has no such layer.
struct LayerShape {
  Index out = 0, in = 0;
  bool biased = false;
};

/// Fresh weights are drawn wide enough for heads to differ visibly; see random_model in the header.
Linear random_linear(const Config& config, const std::string& name, const LayerShape& shape,
                     const std::atomic<bool>& stop) {
  const auto& [out, in, biased] = shape;
  Linear linear;
  if (stop) return linear;
  Random weights(derive_seed(config.seed, name + ".weight"));
  const float limit = std::sqrt(6.0f / static_cast<float>(in + out));
  linear.weight.resize(out, in);
  for (Index row = 0; row < out && !stop; ++row)
    for (Index i = 0; i < in; ++i) linear.weight(row, i) = weights.symmetric(limit);
  if (!biased) return linear;
  Random biases(derive_seed(config.seed, name + ".bias"));
  const float bias_limit = 1.0f / std::sqrt(static_cast<float>(in));
  linear.bias.resize(out);
  for (Index i = 0; i < out; ++i) linear.bias(i) = biases.symmetric(bias_limit);
  return linear;
}

NormWeights fresh_norm(const Config& config) {
  NormWeights norm{.scale = Vector::Ones(config.d_model), .shift = {}, .kind = config.norm_kind};
  if (config.norm_kind == NormKind::layer_norm) norm.shift = Vector::Zero(config.d_model);
  return norm;
}

LayerShape shape_of(const Config& config, LayerKind kind) {
  const Index d = config.d_model, queries = config.num_heads * config.d_k(), keys = config.kv_heads() * config.d_k();
  switch (kind) {
    case LayerKind::query: return {queries, d, config.bias.query};
    case LayerKind::key: return {keys, d, config.bias.key};
    case LayerKind::value: return {keys, d, config.bias.value};
    case LayerKind::output: return {d, queries, config.bias.output};
    case LayerKind::gate: return {config.gated ? config.ffn : 0, d, config.bias.ffn};
    case LayerKind::up: return {config.ffn, d, config.bias.ffn};
    case LayerKind::down: return {config.ffn > 0 ? d : 0, config.ffn, config.bias.ffn};
    case LayerKind::norm: break;
  }
  return {};
}

/// Draws a layer of fresh weights; of the feed-forward nothing where the model has none.
struct LayerDrawing {
  const Config& config;
  std::string prefix;
  const std::atomic<bool>& stop;

  void operator()(const LayerName& layer, Linear& linear) const {
    const LayerShape shape = shape_of(config, layer.kind);
    if (shape.out > 0) linear = random_linear(config, prefix + layer.name, shape, stop);
  }
  void operator()(const LayerName& layer, NormWeights& norm) const {
    if (config.ffn > 0 || std::string_view(layer.name) != "ffn_norm") norm = fresh_norm(config);
  }
};

/// Within ±1, as far apart as scores of fresh weights are: a sink takes about as much as a word.
Vector random_sinks(const Config& config, const std::string& name) {
  Random logits(derive_seed(config.seed, name));
  Vector sinks(config.num_heads);
  for (Index head = 0; head < sinks.size(); ++head) sinks(head) = logits.symmetric(1.0f);
  return sinks;
}

/// `prefix` keeps the streams of an encoder apart from those of its decoder.
StackWeights random_stack(const Config& config, const std::string& prefix, Index layers, bool cross,
                          const std::atomic<bool>& stop) {
  StackWeights stack;
  for (Index layer = 0; layer < layers; ++layer) {
    BlockWeights& block = stack.blocks.emplace_back();
    block.self.num_heads = config.num_heads;
    block.self.num_kv_heads = config.kv_heads();
    block.self.softcap = config.softcap;
    if (cross) block.cross = block.self;
    const std::string own = prefix + "layer." + std::to_string(layer) + ".";
    for_each_layer(block, LayerDrawing{config, own, stop});
    if (config.sinks) block.self.sinks = random_sinks(config, own + "sinks");
    if (config.sinks && cross) block.cross->sinks = random_sinks(config, own + "cross_sinks");
  }
  if (config.norm == Norm::pre) stack.final_norm = fresh_norm(config);
  if (config.position == Position::rotary) {
    const Index pairs = config.rotated_columns() / 2;
    Rotary rotary{.frequencies = Vector(pairs)};
    for (Index i = 0; i < pairs; ++i)
      rotary.frequencies(i) =
          static_cast<float>(std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(pairs)));
    stack.rotary = std::move(rotary);
  }
  return stack;
}

Vector random_vector(std::uint64_t seed, Index size, float variance) {
  Random stream(seed);
  Vector vector(size);
  for (Index i = 0; i < size; ++i) vector(i) = stream.symmetric(std::sqrt(3.0f * variance));
  return vector;
}

OutputWeights random_output(const Config& config, const Vocabulary& vocabulary) {
  Matrix vectors(static_cast<Index>(vocabulary.words.size()), config.d_model);
  for (Index row = 0; row < vectors.rows(); ++row) {
    const std::string& word = vocabulary.words[static_cast<std::size_t>(row)];
    vectors.row(row) = config.tied
                           ? random_embedding(config, word)
                           : random_vector(derive_seed(derive_seed(config.seed, "output"), word), config.d_model, 1.0f);
  }
  return {.weight = table_of(std::move(vectors)), .scale = 1.0f / std::sqrt(static_cast<float>(config.d_model))};
}

/// The layers of the blocks whose weight is stored row by row.
void append_plain(StackWeights& stack, std::vector<Linear*>& to) {
  for (BlockWeights& block : stack.blocks)
    for_each_layer(block, [&](const LayerName&, auto& layer) {
      if constexpr (std::is_same_v<decltype(layer), Linear&>)
        if (layer.weight.size() > 0) to.push_back(&layer);
    });
}

/// The pointers to tables that are stored row by row; several point to a shared table.
std::vector<std::shared_ptr<const Linear>*> plain_tables(Model& model) {
  std::vector<std::shared_ptr<const Linear>*> pointers{&model.embeddings.tokens};
  if (model.encoder) pointers.push_back(&model.encoder->embeddings.tokens);
  if (model.output) pointers.push_back(&model.output->weight);
  std::erase_if(pointers, [](const auto* table) { return !*table || (*table)->weight.size() == 0; });
  return pointers;
}

constexpr Index kPanel = PanelMatrix::kPanel;

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

/// Whether the lower 16 bits of all numbers are 0, as in a file that stores bfloat16.
bool is_half(const Matrix& rows) {
  std::uint32_t lower = 0;
  for (Index i = 0; i < rows.size() && (lower & 0xFFFF) == 0; ++i) lower |= bits_of(rows.data()[i]);
  return (lower & 0xFFFF) == 0;
}

Index packed_size(Index rows, Index cols) { return (rows + kPanel - 1) / kPanel * kPanel * cols; }

/// Calls visit(first, rows) for the rows of one panel after the other, until it returns false.
template <class Visit>
bool for_each_panel(Index rows, const RowsOf& rows_of, const Visit& visit) {
  for (Index first = 0; first < rows; first += kPanel)
    if (!visit(first, rows_of(first, std::min(kPanel, rows - first)))) return false;
  return true;
}

template <class Number, class Write>
void write_panel(const Matrix& rows, Number* to, const Write& write) {
  constexpr Index kColumns = 16;  // a cache line of a row
  for (Index begin = 0; begin < rows.cols(); begin += kColumns)
    for (Index row = 0; row < rows.rows(); ++row)
      for (Index i = begin; i < std::min(begin + kColumns, rows.cols()); ++i)
        to[i * kPanel + row] = write(rows(row, i));
}

}  // namespace

void widen_row(const StoredMatrix& stored, Index row, Index column, Index count, float* to) {
  static_assert(std::endian::native == std::endian::little, "files are read as little-endian memory");
  assert(!stored.transposed);
  const WeightBlocks& blocks = stored.blocks();
  float block[kMostInBlock];
  while (count > 0) {
    const Index inside = column % blocks.numbers;
    const char* const from = stored.at(row, column);
    Index read = count / blocks.numbers * blocks.numbers;
    if (inside == 0 && read > 0) {
      blocks.widen(from, read / blocks.numbers, to);
    } else {  // a part of a block
      blocks.widen(from, 1, block);
      read = std::min(count, blocks.numbers - inside);
      std::copy_n(block + inside, read, to);
    }
    column += read, count -= read, to += read;
  }
}

Matrix widened(const StoredMatrix& stored, Index first, Index count, Index column, Index columns) {
  assert(first >= 0 && count >= 0 && first + count <= stored.rows);
  assert(column >= 0 && columns >= 0 && column + columns <= stored.cols);
  if (stored.transposed) {
    Matrix across(columns, count);  // runs of stored numbers, not one at a time
    for (Index i = 0; i < columns; ++i)
      stored.blocks().widen(stored.at(first, column + i), count, across.row(i).data());
    return across.transpose();
  }
  Matrix block(count, columns);
  for (Index row = 0; row < count; ++row) widen_row(stored, first + row, column, columns, &block(row, 0));
  return block;
}

Matrix widened(const StoredMatrix& stored, Index first, Index count) {
  return widened(stored, first, count, 0, stored.cols);
}

Matrix weight_rows(const Linear& linear, Index first, Index count) {
  if (linear.stored) return widened(*linear.stored, first, count);
  if (!linear.panels) return linear.weight.middleRows(first, count);
  const PanelMatrix& panels = *linear.panels;
  Matrix rows(count, panels.cols);
  for (Index row = 0; row < count; ++row) {
    const Index column = panels.panel((first + row) / PanelMatrix::kPanel) + (first + row) % PanelMatrix::kPanel;
    for (Index i = 0; i < panels.cols; ++i) {
      const Index at = column + i * PanelMatrix::kPanel;
      rows(row, i) = panels.halves ? from_bfloat16(panels.halves.get()[at]) : panels.numbers.get()[at];
    }
  }
  return rows;
}

bool same_weights(const Linear& a, const Linear& b) {
  if (&a == &b) return true;
  if (a.outputs() != b.outputs() || a.inputs() != b.inputs()) return false;
  for (Index first = 0; first < a.outputs(); first += PanelMatrix::kPanel) {
    const Index count = std::min(PanelMatrix::kPanel, a.outputs() - first);
    if (!same(weight_rows(a, first, count), weight_rows(b, first, count))) return false;
  }
  return true;
}

const Rotary* rotary_of(const StackWeights& stack, const AttentionWeights& attention, Stack which) {
  if (which == Stack::cross) return nullptr;
  if (attention.rotary) return attention.rotary.get();
  return stack.rotary ? &*stack.rotary : nullptr;
}

std::shared_ptr<const Linear> table_of(Matrix vectors) {
  return std::make_shared<const Linear>(Linear{.weight = std::move(vectors), .bias = {}});
}

void pack(Model& model, const std::atomic<bool>& stop) {
  std::vector<Linear*> all;
  append_plain(model, all);
  if (model.encoder) append_plain(*model.encoder, all);
  const auto tables = plain_tables(model);
  if (all.empty() && tables.empty()) return;
  std::size_t bytes = 0;  // at most
  for (const Linear* linear : all) bytes += packed_bytes(linear->weight.rows(), linear->weight.cols());
  for (const auto* table : tables) bytes += packed_bytes((*table)->outputs(), (*table)->inputs());
  const auto pages = fresh_pages(bytes);
  // The heap does not return freed weights to the system by itself: the model would take its memory twice.
  constexpr std::size_t kGiveBack = std::size_t{64} << 20;
  std::size_t begin = 0, freed = 0;
  const auto panels = [&](const Matrix& weight) {
    const auto rows_of = [&](Index first, Index count) -> Matrix {
      return stop ? Matrix() : weight.middleRows(first, count);
    };
    return packed(weight.rows(), weight.cols(), rows_of, pages, begin);
  };
  for (Linear* linear : all) {
    freed += static_cast<std::size_t>(linear->weight.size()) * sizeof(float);
    linear->panels = panels(linear->weight);
    linear->weight.resize(0, 0);
    if (freed >= kGiveBack) give_back_memory(), freed = 0;
  }
  for (const auto* pointer : tables) {
    const auto plain = *pointer;
    if (plain->weight.size() == 0) continue;  // packed already, through another pointer
    const auto table =
        std::make_shared<const Linear>(Linear{.weight = {}, .bias = plain->bias, .panels = panels(plain->weight)});
    for (auto* other : tables)
      if (*other == plain) *other = table;
  }
}

std::shared_ptr<Model> random_model(const Config& config, std::shared_ptr<const Vocabulary> vocabulary,
                                    const std::atomic<bool>& stop) {
  auto model = std::make_shared<Model>();
  const bool two_stacks = config.arch == Arch::encoder_decoder;
  static_cast<StackWeights&>(*model) =
      random_stack(config, two_stacks ? "decoder." : "", config.num_layers, two_stacks, stop);
  if (two_stacks) model->encoder = random_stack(config, "", config.layers_of_encoder(), false, stop);
  model->name = "random weights, seed " + std::to_string(config.seed);
  model->config = config;
  if (vocabulary && !vocabulary->words.empty()) {
    model->output = random_output(config, *vocabulary);
    model->vocabulary = std::move(vocabulary);
  }
  return model;
}

Vector random_embedding(const Config& config, std::string_view token_text) {
  return random_vector(derive_seed(derive_seed(config.seed, "embedding"), token_text), config.d_model, 1.0f);
}

Vector random_position(const Config& config, Index position) {
  return random_vector(derive_seed(derive_seed(config.seed, "position"), std::to_string(position)), config.d_model,
                       0.5f);
}

std::size_t packed_bytes(Index rows, Index cols) {
  return static_cast<std::size_t>(packed_size(rows, cols)) * sizeof(float);
}

std::shared_ptr<const PanelMatrix> packed(Index rows, Index cols, const RowsOf& rows_of,
                                          const std::shared_ptr<std::byte>& pages, std::size_t& begin) {
  auto panels = std::make_shared<PanelMatrix>(PanelMatrix{.rows = rows, .cols = cols});
  const auto fill = [&](auto* to, const auto& write) {
    for_each_panel(rows, rows_of, [&](Index first, const Matrix& of_panel) {
      write_panel(of_panel, to + first * cols, write);
      return true;
    });
    begin += static_cast<std::size_t>(packed_size(rows, cols)) * sizeof *to;
  };
  std::byte* const bytes = pages.get() + begin;
  if (for_each_panel(rows, rows_of, [](Index, const Matrix& of_panel) { return is_half(of_panel); })) {
    panels->halves = {pages, reinterpret_cast<std::uint16_t*>(bytes)};
    fill(reinterpret_cast<std::uint16_t*>(bytes), [](float x) { return static_cast<std::uint16_t>(bits_of(x) >> 16); });
  } else {
    panels->numbers = {pages, reinterpret_cast<float*>(bytes)};
    fill(reinterpret_cast<float*>(bytes), [](float x) { return x; });
  }
  return panels;
}

}  // namespace headlight
