#include "model/weights.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

#include "base/pages.h"
#include "base/random.h"

namespace headlight {
namespace {

/// Fresh weights are drawn wide enough for heads to differ visibly; see random_model in the header.
Linear random_linear(const Config& config, const std::string& name, Index out, Index in, bool biased) {
  Linear linear;
  Random weights(derive_seed(config.seed, name + ".weight"));
  const float limit = std::sqrt(6.0f / static_cast<float>(in + out));
  linear.weight.resize(out, in);
  for (Index i = 0; i < linear.weight.size(); ++i) linear.weight.data()[i] = weights.symmetric(limit);
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

AttentionWeights random_attention(const Config& config, const std::string& prefix) {
  const Index d = config.d_model, d_k = config.d_k();
  const Index queries = config.num_heads * d_k, keys = config.kv_heads() * d_k;
  return {.query = random_linear(config, prefix + "query", queries, d, config.bias.query),
          .key = random_linear(config, prefix + "key", keys, d, config.bias.key),
          .value = random_linear(config, prefix + "value", keys, d, config.bias.value),
          .output = random_linear(config, prefix + "output", d, queries, config.bias.output),
          .num_heads = config.num_heads, .num_kv_heads = config.kv_heads()};
}

/// `prefix` keeps the streams of an encoder apart from those of its decoder.
StackWeights random_stack(const Config& config, const std::string& prefix, Index layers, bool cross) {
  StackWeights stack;
  const Index d = config.d_model;
  for (Index layer = 0; layer < layers; ++layer) {
    const std::string name = prefix + "layer." + std::to_string(layer) + ".";
    BlockWeights block;
    block.self = random_attention(config, name);
    block.attention_norm = fresh_norm(config);
    if (cross) {
      block.cross = random_attention(config, name + "cross.");
      block.cross_norm = fresh_norm(config);
    }
    if (config.ffn > 0) {
      block.up = random_linear(config, name + "up", config.ffn, d, config.bias.ffn);
      if (config.gated) block.gate = random_linear(config, name + "gate", config.ffn, d, config.bias.ffn);
      block.down = random_linear(config, name + "down", d, config.ffn, config.bias.ffn);
      block.ffn_norm = fresh_norm(config);
    }
    stack.blocks.push_back(std::move(block));
  }
  if (config.norm == Norm::pre) stack.final_norm = fresh_norm(config);
  if (config.position == Position::rotary) {
    const Index pairs = config.d_k() / 2;
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
    vectors.row(row) = config.tied ? random_embedding(config, word)
                                   : random_vector(derive_seed(derive_seed(config.seed, "output"), word),
                                                   config.d_model, 1.0f);
  }
  return {.weight = table_of(std::move(vectors)), .scale = 1.0f / std::sqrt(static_cast<float>(config.d_model))};
}

constexpr Index kPanel = PanelMatrix::kPanel;

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

/// Whether the upper halves of all numbers say all of them, as in a file that keeps them as bfloat16.
bool is_half(const Matrix& weight) {
  std::uint32_t lower = 0;
  for (Index i = 0; i < weight.size() && (lower & 0xFFFF) == 0; ++i) lower |= bits_of(weight.data()[i]);
  return (lower & 0xFFFF) == 0;
}

Index packed_size(const Matrix& weight) { return (weight.rows() + kPanel - 1) / kPanel * kPanel * weight.cols(); }

/// Writes the numbers of a weight to their places in the panels, which are zeros.
template <class Number, class Write>
void turn_into_panels(const Matrix& weight, Number* to, const Write& write) {
  constexpr Index kColumns = 16;  // a cache line of a row
  for (Index first = 0; first < weight.rows(); first += kPanel)
    for (Index begin = 0; begin < weight.cols(); begin += kColumns)
      for (Index row = first; row < std::min(first + kPanel, weight.rows()); ++row)
        for (Index i = begin; i < std::min(begin + kColumns, weight.cols()); ++i)
          to[first * weight.cols() + i * kPanel + row - first] = write(weight(row, i));
}

/// Packs a weight into `pages`, from this byte on; it is then the byte behind it.
std::shared_ptr<const PanelMatrix> packed(const Matrix& weight, const std::shared_ptr<std::byte>& pages,
                                          std::size_t& begin) {
  auto panels = std::make_shared<PanelMatrix>(PanelMatrix{.rows = weight.rows(), .cols = weight.cols()});
  const auto count = static_cast<std::size_t>(packed_size(weight));
  const bool half = is_half(weight);
  if (half) {
    auto* const to = reinterpret_cast<std::uint16_t*>(pages.get() + begin);
    turn_into_panels(weight, to, [](float x) { return static_cast<std::uint16_t>(bits_of(x) >> 16); });
    panels->halves = {pages, to};
  } else {
    auto* const to = reinterpret_cast<float*>(pages.get() + begin);
    turn_into_panels(weight, to, [](float x) { return x; });
    panels->numbers = {pages, to};
  }
  begin += count * (half ? sizeof(std::uint16_t) : sizeof(float));
  return panels;
}

/// Those of the blocks whose weight is stored as it is.
void append_plain(StackWeights& stack, std::vector<Linear*>& to) {
  const auto append = [&](Linear& linear) {
    if (linear.weight.size() > 0) to.push_back(&linear);
  };
  const auto append_attention = [&](AttentionWeights& attention) {
    for (Linear* linear : {&attention.query, &attention.key, &attention.value, &attention.output}) append(*linear);
  };
  for (BlockWeights& block : stack.blocks) {
    append_attention(block.self);
    if (block.cross) append_attention(*block.cross);
    for (Linear* linear : {&block.gate, &block.up, &block.down}) append(*linear);
  }
}

/// Where a table stands that is stored as it is; one that is shared stands in several places.
std::vector<std::shared_ptr<const Linear>*> plain_tables(Model& model) {
  std::vector<std::shared_ptr<const Linear>*> places{&model.embeddings.tokens};
  if (model.encoder) places.push_back(&model.encoder->embeddings.tokens);
  if (model.output) places.push_back(&model.output->weight);
  std::erase_if(places, [](const auto* place) { return !*place || (*place)->weight.size() == 0; });
  return places;
}

}  // namespace

Matrix widened(const HalfMatrix& half, Index first, Index count, Index column, Index columns) {
  static_assert(std::endian::native == std::endian::little, "files are read as little-endian memory");
  assert(first >= 0 && count >= 0 && first + count <= half.rows);
  assert(column >= 0 && columns >= 0 && column + columns <= half.cols);
  Matrix block(count, columns);
  for (Index row = 0; row < count; ++row) {
    const char* bytes = half.bytes + 2 * ((first + row) * half.cols + column);
    const auto widen_all = [&](const auto& widen) {
      for (Index i = 0; i < columns; ++i) {
        std::uint16_t bits;  // from any address
        std::memcpy(&bits, bytes + 2 * i, sizeof bits);
        block(row, i) = widen(bits);
      }
    };
    if (half.kind == HalfMatrix::Kind::bfloat16)  // the upper half of a float32
      widen_all([](std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); });
    else
      widen_all([](std::uint16_t bits) { return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(bits)); });
  }
  return block;
}

Matrix widened(const HalfMatrix& half, Index first, Index count) { return widened(half, first, count, 0, half.cols); }

Matrix weight_rows(const Linear& linear, Index first, Index count) {
  if (linear.half) return widened(*linear.half, first, count);
  if (!linear.panels) return linear.weight.middleRows(first, count);
  const PanelMatrix& panels = *linear.panels;
  Matrix rows(count, panels.cols);
  for (Index row = 0; row < count; ++row) {
    const Index column = panels.panel((first + row) / kPanel) + (first + row) % kPanel;
    for (Index i = 0; i < panels.cols; ++i) {
      const Index at = column + i * kPanel;
      rows(row, i) = panels.halves ? std::bit_cast<float>(static_cast<std::uint32_t>(panels.halves.get()[at]) << 16)
                                   : panels.numbers.get()[at];
    }
  }
  return rows;
}

bool same_weights(const Linear& a, const Linear& b) {
  if (&a == &b) return true;
  if (a.outputs() != b.outputs() || a.inputs() != b.inputs()) return false;
  for (Index first = 0; first < a.outputs(); first += kPanel) {
    const Index count = std::min(kPanel, a.outputs() - first);
    if (!same(weight_rows(a, first, count), weight_rows(b, first, count))) return false;
  }
  return true;
}

std::shared_ptr<const Linear> table_of(Matrix vectors) {
  return std::make_shared<const Linear>(Linear{.weight = std::move(vectors), .bias = {}});
}

void pack(Model& model) {
  std::vector<Linear*> all;
  append_plain(model, all);
  if (model.encoder) append_plain(*model.encoder, all);
  const auto tables = plain_tables(model);
  if (all.empty() && tables.empty()) return;
  std::size_t bytes = 0;  // at most
  for (const Linear* linear : all) bytes += static_cast<std::size_t>(packed_size(linear->weight)) * sizeof(float);
  for (const auto* table : tables) bytes += static_cast<std::size_t>(packed_size((*table)->weight)) * sizeof(float);
  const auto pages = fresh_pages(bytes);
  // What is freed does not become what is taken: without this a model would need its memory twice.
  constexpr std::size_t kGiveBack = std::size_t{64} << 20;
  std::size_t begin = 0, freed = 0;
  for (Linear* linear : all) {
    freed += static_cast<std::size_t>(linear->weight.size()) * sizeof(float);
    linear->panels = packed(linear->weight, pages, begin);
    linear->weight.resize(0, 0);
    if (freed >= kGiveBack) give_back_memory(), freed = 0;
  }
  for (const auto* place : tables) {
    const auto plain = *place;
    if (plain->weight.size() == 0) continue;  // already, in another place
    const auto table = std::make_shared<const Linear>(
        Linear{.weight = {}, .bias = plain->bias, .panels = packed(plain->weight, pages, begin)});
    for (auto* other : tables)
      if (*other == plain) *other = table;
  }
}

std::shared_ptr<Model> random_model(const Config& config, std::shared_ptr<const Vocabulary> vocabulary) {
  auto model = std::make_shared<Model>();
  const bool two_stacks = config.arch == Arch::encoder_decoder;
  static_cast<StackWeights&>(*model) =
      random_stack(config, two_stacks ? "decoder." : "", config.num_layers, two_stacks);
  if (two_stacks) model->encoder = random_stack(config, "", config.layers_of_encoder(), false);
  model->name = "random weights, seed " + std::to_string(config.seed);
  model->config = config;
  if (vocabulary) {
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

}  // namespace headlight
