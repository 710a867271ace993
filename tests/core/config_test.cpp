#include "model/config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "model/weights.h"

namespace headlight {
namespace {

std::string refused(const Config& config) {
  const auto status = check(config);
  return status ? "" : status.error().message;
}

TEST(Config, TheDefaultIsAModel) { EXPECT_EQ(refused({}), ""); }

TEST(Config, NamesTheFieldTheRangeAndTheValue) {
  EXPECT_EQ(refused({.d_model = 0}), "model: d_model: expected 1 to 8192, found 0");
  EXPECT_EQ(refused({.d_model = 8193}), "model: d_model: expected 1 to 8192, found 8193");
  EXPECT_EQ(refused({.num_heads = 0}), "model: num_heads: expected 1 to 128, found 0");
  EXPECT_EQ(refused({.num_heads = -4}), "model: num_heads: expected 1 to 128, found -4");
  EXPECT_EQ(refused({.num_layers = 129}), "model: layers: expected 1 to 128, found 129");
  EXPECT_EQ(refused({.ffn = -1}), "model: ffn: expected 0 to 65536, found -1");
}

TEST(Config, HeadsMustDivideTheModel) {
  EXPECT_EQ(refused({.d_model = 64, .num_heads = 6}), "model: num_heads: expected a divisor of d_model 64, found 6");
  EXPECT_EQ(refused({.d_model = 4, .num_heads = 8}), "model: num_heads: expected a divisor of d_model 4, found 8");
  EXPECT_EQ(refused({.d_model = 8, .num_heads = 8}), "");
}

TEST(Config, NoFeedForwardAndTheLimitsThemselvesAreAllowed) {
  EXPECT_EQ(refused({.d_model = 1, .num_heads = 1, .num_layers = 1, .ffn = 0}), "");
  EXPECT_EQ(refused({.d_model = kMaxDModel, .num_heads = kMaxHeads, .num_layers = 1, .ffn = 0}), "");
  EXPECT_EQ(refused({.d_model = 8, .num_heads = 4, .num_layers = kMaxLayers, .ffn = 8}), "");
  EXPECT_EQ(refused({.d_model = 8, .num_heads = 4, .num_layers = 1, .ffn = kMaxFfn}), "");
}

TEST(Config, NearestDivisorIsTheNearestThereIs) {
  for (Index d_model = 1; d_model <= 512; ++d_model) {
    for (Index wanted = 1; wanted <= 16; ++wanted) {
      const Index found = nearest_divisor(d_model, wanted, 16);
      ASSERT_EQ(d_model % found, 0) << d_model << " " << wanted;
      ASSERT_LE(found, 16);
      for (Index other = 1; other <= 16; ++other) {
        if (d_model % other != 0) continue;
        const Index ours = std::abs(found - wanted), theirs = std::abs(other - wanted);
        ASSERT_TRUE(ours < theirs || (ours == theirs && found <= other)) << d_model << " " << wanted << " " << other;
      }
    }
  }
}

TEST(Config, NearestDivisorTakesTheSmallerOfTwoEquallyNear) {
  EXPECT_EQ(nearest_divisor(8, 3, 16), 2);
  EXPECT_EQ(nearest_divisor(12, 5, 16), 4);
  EXPECT_EQ(nearest_divisor(64, 16, 4), 4);
  EXPECT_EQ(nearest_divisor(7, 6, 16), 7);
  EXPECT_EQ(nearest_divisor(509, 16, 16), 1);
}

TEST(RandomModel, HasTheShapesOfItsConfig) {
  const auto model = random_model({.d_model = 12, .num_heads = 3, .num_layers = 3, .ffn = 20, .norm = Norm::pre});
  ASSERT_EQ(model->blocks.size(), 3u);
  for (const auto& block : model->blocks) {
    for (const Linear* linear : {&block.self.query, &block.self.key, &block.self.value, &block.self.output}) {
      EXPECT_EQ(linear->weight.rows(), 12);
      EXPECT_EQ(linear->weight.cols(), 12);
      EXPECT_EQ(linear->bias.size(), 12);
    }
    EXPECT_EQ(block.up.weight.rows(), 20);
    EXPECT_EQ(block.up.weight.cols(), 12);
    EXPECT_EQ(block.down.weight.rows(), 12);
    EXPECT_EQ(block.down.weight.cols(), 20);
  }
  EXPECT_TRUE(model->final_norm);
  EXPECT_FALSE(random_model({.norm = Norm::post})->final_norm);
}

TEST(RandomModel, NoBiasMeansNoneAnywhere) {
  const auto model = random_model({.bias = false});
  for (const auto& block : model->blocks)
    for (const Linear* linear : {&block.self.query, &block.self.key, &block.self.value, &block.self.output, &block.up,
                                 &block.down})
      EXPECT_EQ(linear->bias.size(), 0);
}

TEST(RandomModel, WeightsAreXavierUniform) {
  const auto model = random_model({.d_model = 96, .num_heads = 4, .num_layers = 1, .ffn = 288});
  const auto spread = [](const Matrix& w) { return std::sqrt(w.cast<double>().squaredNorm() / double(w.size())); };
  const double square = std::sqrt(6.0 / 192.0), wide = std::sqrt(6.0 / 384.0);
  EXPECT_LE(model->blocks[0].self.query.weight.cwiseAbs().maxCoeff(), static_cast<float>(square));
  EXPECT_NEAR(spread(model->blocks[0].self.query.weight), square / std::sqrt(3.0), 0.02 * square);
  EXPECT_NEAR(spread(model->blocks[0].up.weight), wide / std::sqrt(3.0), 0.02 * wide);
  EXPECT_NEAR(model->blocks[0].self.value.weight.cast<double>().mean(), 0.0, 0.05 * square);
}

TEST(RandomModel, NoTwoMatricesShareTheirNumbers) {
  const auto model = random_model({.d_model = 8, .num_heads = 2, .num_layers = 2, .ffn = 8});
  std::vector<const Matrix*> all;
  for (const auto& block : model->blocks)
    for (const Linear* linear : {&block.self.query, &block.self.key, &block.self.value, &block.self.output, &block.up,
                                 &block.down})
      all.push_back(&linear->weight);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(same(*all[i], *all[j])) << i << " " << j;
  const auto other = random_model({.d_model = 8, .num_heads = 2, .num_layers = 2, .ffn = 8, .seed = 1});
  EXPECT_FALSE(same(model->blocks[0].self.query.weight, other->blocks[0].self.query.weight));
}

TEST(RandomEmbedding, HasMeanZeroAndUnitVariance) {
  const Vector vector = random_embedding({.d_model = 8192}, "北京");
  EXPECT_NEAR(vector.mean(), 0.0f, 0.06f);
  EXPECT_NEAR(vector.squaredNorm() / 8192.0f, 1.0f, 0.06f);
}

TEST(RandomEmbedding, BelongsToTheWordAndTheSeedAlone) {
  const Config small{.d_model = 16};
  EXPECT_TRUE(same(random_embedding(small, "李雷"), random_embedding(small, "李雷")));
  EXPECT_FALSE(same(random_embedding(small, "李雷"), random_embedding(small, "李")));
  EXPECT_FALSE(same(random_embedding(small, "李雷"), random_embedding({.d_model = 16, .seed = 1}, "李雷")));
  const Config other_shape{.d_model = 16, .num_heads = 8, .num_layers = 7, .ffn = 0, .bias = false};
  EXPECT_TRUE(same(random_embedding(small, "李雷"), random_embedding(other_shape, "李雷")));
}

}  // namespace
}  // namespace headlight
