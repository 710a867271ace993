// What checkpoints add to the scores, or put beside them: relative distances, biases of places, sinks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "core/checkpoints.h"
#include "math/embedding.h"
#include "math/forward.h"
#include "math/position.h"

namespace headlight {
namespace {

using namespace checkpoints;

TEST(RelativeBiases, OfFalconAreThoseOfPlacesInBfloat16) {
  const auto falcon = Parts("family-falcon-rw").load();
  ASSERT_TRUE(falcon) << Parts("family-falcon-rw").refusal();
  const auto& bias = falcon->model->blocks[1].self.relative_bias;
  ASSERT_TRUE(bias);
  EXPECT_EQ(falcon->model->config.position, Position::none);
  for (const auto& [head, place, product] :
       {std::tuple{0, 257, 64.0}, {1, 301, 18.75}, {4, 1001, 500.0}, {5, 5001, 624.0}, {2, 8191, 128.0}})
    EXPECT_EQ(bias->table(place, head), static_cast<float>(product / std::sqrt(4.0))) << head << " " << place;
  const Matrix rows = relative_bias_rows(*bias, 1, 3, 2, 5);
  for (Index row = 0; row < 2; ++row)
    EXPECT_TRUE(same(rows.row(row), bias->table.col(1).head(5).transpose())) << "whatever the query";
  const auto refused = forward(request_for(falcon->model, tokens_of_ids(std::vector<std::int64_t>(8193, 3))));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "text: tokens: expected at most 8192, the longest for which a bias of each distance is kept, found 8193");
}

TEST(Sinks, AreReadWhereTheConfigurationSaysSo) {
  Parts sinks("family-headlight-sinks-bf16");
  const auto checkpoint = sinks.load();
  ASSERT_TRUE(checkpoint) << sinks.refusal();
  EXPECT_TRUE(checkpoint->model->config.sinks);
  EXPECT_EQ(checkpoint->model->config.softcap, 5.0f);
  for (const BlockWeights& block : checkpoint->model->blocks) {
    EXPECT_EQ(block.self.sinks.size(), 3);
    EXPECT_EQ(block.self.softcap, 5.0f);
  }
  const std::string second = "layers.1.attention.sinks";
  Parts without = sinks, plain = sinks;
  without.file.arrays.erase(second);
  EXPECT_NE(without.refusal().find(second + ": expected a tensor (3,), found none"), std::string::npos)
      << without.refusal();
  plain.config["attention_sinks"] = false;
  ASSERT_TRUE(plain.load()) << plain.refusal();
  EXPECT_EQ(plain.load()->model->blocks[0].self.sinks.size(), 0);
  EXPECT_FALSE(plain.load()->warnings.empty()) << "tensors of no known part";
  EXPECT_EQ(Parts("family-gemma2").load()->model->config.softcap, 5.0f);
  EXPECT_EQ(Parts("family-phi").load()->model->config.rotary_columns, 4);
  EXPECT_EQ(Parts("family-gptj").load()->model->config.rotary_columns, 4);
  EXPECT_EQ(Parts("family-gpt_neox").load()->model->config.rotary_columns, 2);
  EXPECT_EQ(Parts("llama-gqa").load()->model->config.rotary_columns, 0);
}

TEST(RelativeBiases, BelongToTheFirstBlockAndAreSharedByAll) {
  const auto t5 = Parts("family-t5").load();
  ASSERT_TRUE(t5) << Parts("family-t5").refusal();
  const Model& model = *t5->model;
  const auto& encoder = model.encoder->blocks;
  ASSERT_TRUE(encoder[0].self.relative_bias);
  EXPECT_EQ(encoder[0].self.relative_bias, encoder[1].self.relative_bias);
  EXPECT_TRUE(encoder[0].self.relative_bias->bidirectional);
  EXPECT_FALSE(model.blocks[0].self.relative_bias->bidirectional);
  EXPECT_FALSE(model.blocks[0].cross->relative_bias);
  EXPECT_EQ(model.blocks[0].cross->scale, 1.0f);
  EXPECT_EQ(model.config.position, Position::none);
  Parts old("family-t5");  // the first T5 models store a bias that nothing adds
  const std::string self = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight";
  old.file.arrays.emplace("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
                          old.file.arrays.at(self));
  ASSERT_TRUE(old.load());
  EXPECT_EQ(old.load()->warnings.size(), 1u);
  old.file.arrays.erase(self);
  EXPECT_NE(old.refusal().find(self + ": expected a tensor (8, 3), found none"), std::string::npos);
}

TEST(RelativeBiases, BucketsWidenWithTheDistance) {
  const RelativeBias both{.table = Matrix::Zero(32, 1)};
  RelativeBias back = both;
  back.bidirectional = false;
  // From the code of the published model: an offset, its bucket looking both ways, and looking back.
  const std::tuple<Index, Index, Index> known[] = {
      {0, 0, 0},      {-1, 1, 1},     {-7, 7, 7},      {-8, 8, 8},    {-11, 8, 11},  {-12, 9, 12},  {-15, 9, 15},
      {-16, 10, 16},  {-22, 10, 18},  {-23, 11, 18},   {-32, 12, 21}, {-63, 13, 26}, {-64, 14, 26}, {-91, 15, 29},
      {-127, 15, 31}, {-128, 15, 31}, {-9999, 15, 31}, {1, 17, 0},    {8, 24, 0},    {64, 30, 0},   {9999, 31, 0}};
  for (const auto& [offset, in_both, in_back] : known) {
    EXPECT_EQ(relative_bucket(both, offset), in_both) << offset;
    EXPECT_EQ(relative_bucket(back, offset), in_back) << offset;
  }
}

}  // namespace
}  // namespace headlight
