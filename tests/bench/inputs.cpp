#include "bench/inputs.h"

#include <bit>

#include "base/random.h"
#include "math/attention.h"

namespace headlight {
namespace {

constexpr Config kBase{.d_model = 768, .num_heads = 12, .num_layers = 12, .ffn = 3072, .position = Position::learned};
constexpr Index kWordsOfGpt2 = 50257;

std::shared_ptr<const Vocabulary> numbered_words(Index count) {
  auto vocabulary = std::make_shared<Vocabulary>();
  for (Index i = 0; i < count; ++i) vocabulary->words.push_back("w" + std::to_string(i));
  return vocabulary;
}

/// To bfloat16, towards zero.
Matrix rounded(const Matrix& numbers) {
  return numbers.unaryExpr(
      [](float number) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) & 0xFFFF0000); });
}

}  // namespace

Tokens bench_tokens(Index count) {
  Tokens tokens;
  for (Index i = 0; i < count; ++i) {
    const std::string text = "w" + std::to_string(i % 977);
    tokens.tokens.push_back({.id = i % 977,
                             .text = text,
                             .raw = text,
                             .begin = tokens.text.size(),
                             .end = tokens.text.size() + text.size()});
    tokens.text += text;
  }
  return tokens;
}

Matrix drawn_matrix(Index rows, Index cols, std::uint64_t seed, float limit) {
  Random random(seed);
  Matrix matrix(rows, cols);
  for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = random.symmetric(limit);
  return matrix;
}

Config bert_base() {
  Config config = kBase;
  config.activation = Activation::gelu;
  return config;
}

Config gpt2_small() {
  Config config = kBase;
  config.arch = Arch::decoder;
  config.norm = Norm::pre;
  config.activation = Activation::gelu_tanh;
  return config;
}

std::shared_ptr<const Model> packed_model(const Config& config, std::shared_ptr<const Vocabulary> words) {
  auto model = random_model(config, std::move(words));
  pack(*model);
  return model;
}

std::shared_ptr<const Model> random_half_gpt2_small() {
  auto model = random_model(gpt2_small(), numbered_words(kWordsOfGpt2));
  for (BlockWeights& block : model->blocks)
    for (Linear* linear : {&block.self.query, &block.self.key, &block.self.value, &block.self.output, &block.gate,
                           &block.up, &block.down})
      linear->weight = rounded(linear->weight);
  model->output->weight = table_of(rounded(model->output->weight->weight));
  pack(*model);
  return model;
}

std::shared_ptr<const Model> random_gpt2_small() { return packed_model(gpt2_small(), numbered_words(kWordsOfGpt2)); }

std::shared_ptr<const Model> random_llama() {
  constexpr Config kLlama{.arch = Arch::decoder,
                          .d_model = 2048,
                          .num_heads = 32,
                          .num_kv_heads = 4,
                          .num_layers = 22,
                          .ffn = 5632,
                          .position = Position::rotary,
                          .norm = Norm::pre,
                          .norm_kind = NormKind::rms_norm,
                          .activation = Activation::silu,
                          .gated = true,
                          .tied = false};
  return packed_model(kLlama, numbered_words(32000));
}

std::shared_ptr<const Model> computed_patterns(std::size_t layers, std::size_t heads, Index tokens) {
  auto model = std::make_shared<Model>();
  model->name = "computed patterns";
  model->config = {.num_heads = static_cast<Index>(heads), .num_layers = static_cast<Index>(layers), .ffn = 0};
  ExternalStack given{.query = {},
                      .key = {},
                      .value = {},
                      .query_tokens = bench_tokens(tokens),
                      .key_tokens = bench_tokens(tokens),
                      .patterns = {}};
  for (std::size_t layer = 0; layer < layers; ++layer) {
    std::vector<Matrix>& patterns = given.patterns.emplace_back();
    for (std::size_t head = 0; head < heads; ++head) {
      Matrix pattern = drawn_matrix(tokens, tokens, layer * heads + head, 4);
      Vector largest(tokens), sums(tokens);
      softmax_rows(pattern, largest, sums);
      patterns.push_back(std::move(pattern));
    }
  }
  model->given = ExternalInputs{.stacks = {{Stack::self, std::move(given)}}};
  return model;
}

}  // namespace headlight
