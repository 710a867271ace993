// A linear layer's product, however its weight is kept.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>

#include "math/ops.h"
#include "reference.h"

namespace headlight {
namespace {

using reference::grid;
using reference::random_matrix;

TEST(Linear, AgreesWithPlainLoops) {
  Random random(5);
  using Shape = std::array<Index, 3>;
  for (const auto& [tokens, in, out] : {Shape{1, 1, 1}, {1, 7, 5}, {10, 64, 64}, {33, 5, 48}, {9, 50, 1}}) {
    const Linear weights{random_matrix(random, out, in), random_matrix(random, 1, out)};
    const Matrix x = random_matrix(random, tokens, in);
    EXPECT_LE(reference::difference(linear(x, weights), reference::linear(grid(x), weights)), 1e-5);
    const Linear no_bias{weights.weight, {}};
    EXPECT_LE(reference::difference(linear(x, no_bias), reference::linear(grid(x), no_bias)), 1e-5);
  }
}

TEST(Linear, GivesTheSameBitsHoweverItsWeightIsKept) {
  Random random(55);
  using Shape = std::array<Index, 3>;
  for (const auto& [tokens, in, out] : {Shape{1, 1, 1}, {3, 7, 5}, {10, 64, 64}, {33, 600, 130}, {9, 1030, 63}, {1030, 5, 70}}) {
    for (const bool half : {false, true}) {
      Linear stored{random_matrix(random, out, in), random_matrix(random, 1, out)};
      if (half) stored.weight = stored.weight.unaryExpr([](float number) {
          return std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) & 0xFFFF0000);
        });
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
      EXPECT_TRUE(same(linear(x, packed, 3), y)) << "threads change no bit";
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

}  // namespace
}  // namespace headlight
