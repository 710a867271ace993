// A linear layer's product, however its weight is kept.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>

#include "core/asking.h"
#include "core/reference.h"
#include "math/ops.h"
#include "math/output.h"

namespace headlight {
namespace {

using reference::grid;
using reference::random_matrix;

/// With no more digits than bfloat16 has.
Matrix shortened(const Matrix& numbers) {
  return numbers.unaryExpr(
      [](float number) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) & 0xFFFF0000); });
}

TEST(Linear, AgreesWithPlainLoops) {
  Random random(5);
  using Shape = std::array<Index, 3>;
  for (const auto& [tokens, in, out] : {Shape{1, 1, 1}, {1, 7, 5}, {10, 64, 64}, {33, 5, 48}, {9, 50, 1}}) {
    const Linear weights{random_matrix(random, out, in), random_matrix(random, 1, out)};
    const Matrix x = random_matrix(random, tokens, in);
    EXPECT_LE(reference::difference(linear(x, weights), reference::linear(grid(x), reference::layer_of(weights))),
              1e-5);
    const Linear no_bias{weights.weight, {}};
    EXPECT_LE(reference::difference(linear(x, no_bias), reference::linear(grid(x), reference::layer_of(no_bias))),
              1e-5);
  }
}

TEST(Linear, GivesTheSameBitsHoweverItsWeightIsKept) {
  Random random(55);
  using Shape = std::array<Index, 3>;
  for (const auto& [tokens, in, out] :
       {Shape{1, 1, 1}, {3, 7, 5}, {10, 64, 64}, {33, 600, 130}, {9, 1030, 63}, {1030, 5, 70}}) {
    for (const bool half : {false, true}) {
      Linear stored{random_matrix(random, out, in), random_matrix(random, 1, out)};
      if (half) stored.weight = shortened(stored.weight);
      Model model;
      model.blocks.emplace_back().self.query = stored;
      pack(model);
      const Linear& packed = model.blocks.front().self.query;
      ASSERT_TRUE(packed.panels && packed.weight.size() == 0 && !packed.is_identity());
      EXPECT_EQ(packed.panels->halves != nullptr, half) << "what fits bfloat16 takes half the memory";
      EXPECT_EQ(packed.outputs(), out);
      EXPECT_EQ(packed.inputs(), in);
      EXPECT_TRUE(same(weight_rows(packed, 0, out), stored.weight));
      EXPECT_TRUE(same(weight_rows(packed, out / 2, out - out / 2), stored.weight.bottomRows(out - out / 2)));
      const Matrix x = random_matrix(random, tokens, in), y = linear(x, stored);
      EXPECT_TRUE(same(linear(x, packed), y)) << out;
      EXPECT_TRUE(same(linear(x, packed, Threads(3)), y)) << "threads change no bit";
      EXPECT_TRUE(same(linear(x.bottomRows(1), packed), y.bottomRows(1))) << "a row alone is the row among others";
    }
  }
}

TEST(Linear, WithoutAWeightIsTheIdentity) {
  Random random(6);
  const Matrix x = random_matrix(random, 4, 6);
  EXPECT_TRUE(same(linear(x, {}), x));
  const Vector bias = random_matrix(random, 1, 6);
  EXPECT_TRUE(same(linear(x, {{}, bias}), x.rowwise() + bias));
}

TEST(Table, GivesTheSameVectorsAndLogitsPacked) {
  Random random(56);
  const Config config{.arch = Arch::decoder, .d_model = 24, .num_heads = 2, .num_layers = 1};
  for (const Index words : {1, 63, 64, 130})
    for (const bool half : {false, true})
      for (const bool tied : {false, true}) {
        const auto table = [&] {
          const Matrix vectors = random_matrix(random, words, config.d_model);
          return table_of(half ? shortened(vectors) : vectors);
        };
        auto plain = std::make_shared<Model>(*random_model(config));
        plain->embeddings.tokens = table();
        plain->output = OutputWeights{.weight = tied ? plain->embeddings.tokens : table()};
        const auto packed = std::make_shared<Model>(*plain);
        pack(*packed);
        EXPECT_GT(plain->embeddings.tokens->weight.size(), 0) << "other owners of the table keep it unchanged";
        EXPECT_EQ(packed->output->weight == packed->embeddings.tokens, tied);
        for (const auto& [theirs, ours] : {std::pair{plain->embeddings.tokens, packed->embeddings.tokens},
                                           std::pair{plain->output->weight, packed->output->weight}}) {
          ASSERT_TRUE(ours->panels && ours->weight.size() == 0);
          EXPECT_EQ(ours->panels->halves != nullptr, half);
          EXPECT_TRUE(same_weights(*ours, *theirs));
        }
        EXPECT_EQ(same_weights(*packed->output->weight, *packed->embeddings.tokens), tied);
        Request request = reference::request_for(plain);
        request.tokens = reference::counted(7);
        for (Token& token : request.tokens.tokens) token.id = reference::draw(random, 0, words - 1);
        const auto expected = reference::ask(request);
        request.model = packed;
        const auto trace = reference::ask(request);
        ASSERT_TRUE(expected && trace);
        EXPECT_TRUE(same(trace->embedding, expected->embedding)) << words;
        EXPECT_TRUE(same(trace->logits, expected->logits)) << words;
        EXPECT_TRUE(same(logit_rows(*trace, 0, 7, Threads(3)), logit_rows(*expected, 0, 7))) << words;
      }
}

TEST(Table, OfTwoStacksAndAnOutputLayerStaysOne) {
  Random random(57);
  Model model = *random_model({.arch = Arch::encoder_decoder});
  const auto table = table_of(random_matrix(random, 70, model.config.d_model));
  model.embeddings.tokens = model.encoder->embeddings.tokens = model.output.emplace().weight = table;
  pack(model);
  const auto packed = model.embeddings.tokens;
  EXPECT_TRUE(packed->panels && same_weights(*packed, *table));
  EXPECT_EQ(model.encoder->embeddings.tokens, packed);
  EXPECT_EQ(model.output->weight, packed);
  pack(model);
  EXPECT_EQ(model.embeddings.tokens, packed) << "once and for all";
  EXPECT_FALSE(same_weights(*packed, *table_of(Matrix::Zero(70, model.config.d_model))));
  EXPECT_FALSE(same_weights(*packed, *table_of(random_matrix(random, 71, model.config.d_model))));
}

}  // namespace
}  // namespace headlight
