// Encoder, decoder, encoder-decoder and attention over other widths, against the answers of the layers of torch.nn
// (golden/torch_layers.py computes them again).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "core/checkpoints.h"
#include "math/attention.h"
#include "math/forward.h"
#include "read/array/npz.h"
#include "read/array/safetensors.h"
#include "read/external/tensors_file.h"

namespace headlight {
namespace {

using checkpoints::kGolden;

/// The state_dict of torch.nn layers.
class StateDict {
 public:
  explicit StateDict(ArrayFile file) : file_(std::move(file)) {}

  Matrix matrix(const std::string& name) const {
    const Array& array = file_.arrays.at(name);
    return Eigen::Map<const Matrix>(array.values.data(), array.shape.at(0), array.shape.at(1));
  }
  Vector vector(const std::string& name) const {
    const Array& array = file_.arrays.at(name);
    return Eigen::Map<const Vector>(array.values.data(), array.shape.at(0));
  }
  bool has(const std::string& name) const { return file_.arrays.contains(name); }
  const std::string& said(const std::string& key) const { return file_.metadata.at(key); }

  Linear linear(const std::string& name) const { return {matrix(name + ".weight"), vector(name + ".bias")}; }
  NormWeights norm(const std::string& name) const {
    return {.scale = vector(name + ".weight"), .shift = vector(name + ".bias")};
  }

  /// nn.MultiheadAttention keeps query, key and value in one matrix, one below the other.
  AttentionWeights attention(const std::string& name) const {
    const Matrix weight = matrix(name + ".in_proj_weight");
    const Vector bias = vector(name + ".in_proj_bias");
    const Index d = weight.cols();
    const auto part = [&](Index i) { return Linear{weight.middleRows(i * d, d), bias.segment(i * d, d)}; };
    AttentionWeights weights;
    weights.query = part(0);
    weights.key = part(1);
    weights.value = part(2);
    weights.output = linear(name + ".out_proj");
    weights.num_heads = weights.num_kv_heads = 3;
    return weights;
  }

  /// The layers `prefix`0, `prefix`1, … over the vectors `input`, which become the vectors of words 0, 1, …
  StackWeights stack(const std::string& prefix, const std::string& input) const {
    StackWeights stack;
    stack.embeddings.tokens = table_of(matrix(input));
    for (int layer = 0; has(prefix + "layers." + std::to_string(layer) + ".linear1.weight"); ++layer) {
      const std::string name = prefix + "layers." + std::to_string(layer) + ".";
      const bool reads_encoder = has(name + "multihead_attn.in_proj_weight");
      BlockWeights block;
      block.self = attention(name + "self_attn");
      block.attention_norm = norm(name + "norm1");
      if (reads_encoder) {
        block.cross = attention(name + "multihead_attn");
        block.cross_norm = norm(name + "norm2");
      }
      block.ffn_norm = norm(name + (reads_encoder ? "norm3" : "norm2"));
      block.up = linear(name + "linear1");
      block.down = linear(name + "linear2");
      stack.blocks.push_back(std::move(block));
    }
    if (has(prefix + "norm.weight")) stack.final_norm = norm(prefix + "norm");
    return stack;
  }

 private:
  ArrayFile file_;
};

/// Words whose ids are 0, 1, …; the last `pads` are padding.
Tokens places(Index count, std::size_t pads) {
  Tokens tokens;
  for (Index i = 0; i < count; ++i) {
    const std::string text = std::to_string(i);
    const std::size_t begin = tokens.text.size();
    tokens.text += text;
    tokens.tokens.push_back({.id = i, .text = text, .raw = text, .begin = begin, .end = tokens.text.size()});
  }
  return with_padding_marked(std::move(tokens), pads);
}

Request request_of(const StateDict& layers) {
  auto model = std::make_shared<Model>();
  Config& config = model->config;
  config = {.d_model = 24, .num_heads = 3, .num_layers = 2, .ffn = 40, .position = Position::none};
  config.norm = layers.said("norm") == "pre" ? Norm::pre : Norm::post;
  config.activation = layers.said("activation") == "gelu" ? Activation::gelu : Activation::relu;
  const std::size_t pads = std::stoul(layers.said("padded"));
  Request request;
  if (layers.said("arch") == "encoder-decoder") {
    config.arch = Arch::encoder_decoder;
    static_cast<StackWeights&>(*model) = layers.stack("decoder.", "target");
    model->encoder = layers.stack("encoder.", "source");
    request.tokens = places(5, pads);
    request.target = places(7, 0);
  } else {
    config.arch = layers.said("arch") == "decoder" ? Arch::decoder : Arch::encoder;
    static_cast<StackWeights&>(*model) = layers.stack("", "input");
    request.tokens = places(7, pads);
  }
  request.mask.causal = config.arch != Arch::encoder;
  request.config = config;
  request.model = std::move(model);
  return request;
}

/// What the stored answers are held against: the largest differences, attentions absolute and the rest relative to
/// max(1, the largest |expected| of the array).
class Differences {
 public:
  explicit Differences(ArrayFile expected) : expected_(std::move(expected)) {}

  void attentions(const std::string& name, const Trace& trace, Stack stack) {
    const Index layers = trace.num_layers(stack), heads = trace.num_heads(stack);
    const Index queries = trace.queries(stack), keys = trace.keys(stack);
    const Array& array = take(name, {layers, heads, queries, keys});
    const float* at = array.values.data();
    for (Index layer = 0; layer < layers; ++layer)
      for (Index head = 0; head < heads; ++head, at += queries * keys) {
        const Matrix weights = attention_rows(trace, {.layer = layer, .head = head, .stack = stack}, 0, queries);
        const Eigen::Map<const Matrix> stored(at, queries, keys);
        weights_apart = std::max(weights_apart, (weights - stored).cwiseAbs().maxCoeff());
      }
  }

  void states(const std::string& name, const std::vector<const Matrix*>& found, bool layered) {
    std::vector<Index> shape{found[0]->rows(), found[0]->cols()};
    if (layered) shape.insert(shape.begin(), static_cast<Index>(found.size()));
    const Array& array = take(name, shape);
    const Eigen::Map<const Vector> all(array.values.data(), static_cast<Index>(array.values.size()));
    const float magnitude = std::max(1.0f, all.cwiseAbs().maxCoeff());
    const float* at = array.values.data();
    for (const Matrix* matrix : found) {
      const auto expected = Eigen::Map<const Matrix>(at, matrix->rows(), matrix->cols());
      states_apart = std::max(states_apart, (*matrix - expected).cwiseAbs().maxCoeff() / magnitude);
      at += matrix->size();
    }
  }

  void stack(const std::string& hidden_states, const std::string& last, const StackTrace& trace) {
    std::vector<const Matrix*> hidden{&trace.embedding};
    for (const BlockTrace& block : trace.blocks) hidden.push_back(&block.output);
    states(hidden_states, hidden, true);
    states(last, {&trace.last_hidden_state()}, false);
  }

  /// Whether every stored array was compared with something.
  bool all_taken() const { return taken_ == expected_.arrays.size(); }

  float weights_apart = 0, states_apart = 0;

 private:
  const Array& take(const std::string& name, const std::vector<Index>& shape) {
    const Array& array = expected_.arrays.at(name);
    EXPECT_EQ(array.shape, shape) << name;
    ++taken_;
    return array;
  }

  ArrayFile expected_;
  std::size_t taken_ = 0;
};

void expect_small(const std::string& name, const Differences& differences) {
  EXPECT_TRUE(differences.all_taken());
  EXPECT_LE(differences.weights_apart, 2e-5f);
  EXPECT_LE(differences.states_apart, 1e-4f);
  std::printf("%s: attentions %.2g, states %.2g apart from torch.nn\n", name.c_str(),
              static_cast<double>(differences.weights_apart), static_cast<double>(differences.states_apart));
}

class TorchLayers : public testing::TestWithParam<const char*> {};

TEST_P(TorchLayers, Agree) {
  const auto folder = kGolden / GetParam();
  auto layers = read_safetensors(folder / "layers.safetensors");
  auto expected = read_npz(folder / "expected.npz");
  ASSERT_TRUE(layers) << layers.error().message();
  ASSERT_TRUE(expected) << expected.error().message();
  const auto result = forward(request_of(StateDict(std::move(*layers))));
  ASSERT_TRUE(result) << result.error().message();
  const Trace& trace = **result;
  Differences differences(std::move(*expected));
  if (trace.encoder) {
    differences.attentions("encoder_attentions", trace, Stack::encoder);
    differences.attentions("decoder_attentions", trace, Stack::self);
    differences.attentions("cross_attentions", trace, Stack::cross);
    differences.stack("encoder_hidden_states", "encoder_last_hidden_state", *trace.encoder);
    differences.stack("decoder_hidden_states", "last_hidden_state", trace);
  } else {
    differences.attentions("attentions", trace, Stack::self);
    differences.stack("hidden_states", "last_hidden_state", trace);
  }
  expect_small(GetParam(), differences);
}

INSTANTIATE_TEST_SUITE_P(Torch, TorchLayers,
                         testing::Values("torch-encoder", "torch-encoder-prenorm", "torch-decoder",
                                         "torch-decoder-prenorm", "torch-encoder-decoder",
                                         "torch-encoder-decoder-prenorm"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Torch, AttentionOverKeysAndValuesOfOtherWidthsAgrees) {
  const auto file = read_tensors(kGolden / "torch-attention-kdim/layers.safetensors", std::nullopt);
  auto expected = read_npz(kGolden / "torch-attention-kdim/expected.npz");
  ASSERT_TRUE(file) << file.error().message();
  ASSERT_TRUE(expected) << expected.error().message();
  Request request;
  request.model = file->model;
  request.config = file->model->config;
  request.mask = file->mask;
  const auto result = forward(request);
  ASSERT_TRUE(result) << result.error().message();
  Differences differences(std::move(*expected));
  differences.attentions("attentions", **result, Stack::self);
  differences.states("output", {&(*result)->last_hidden_state()}, false);
  expect_small("torch-attention-kdim", differences);
}

}  // namespace
}  // namespace headlight
