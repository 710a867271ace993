#include "model/config_fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "model/weights.h"

namespace headlight {
namespace {

std::string refused(const Config& config) {
  const auto status = check(config);
  return status ? "" : status.error().message();
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

TEST(ConfigFields, EachFieldIsVisitedOnceUnderNamesOfItsOwn) {
  // As many names as Config has fields, or this does not compile.
  const auto& [arch, d_model, num_heads, num_kv_heads, head_dim, num_layers, encoder_layers, ffn, position,
               rotary_columns, softcap, sinks, norm, norm_kind, activation, gated, bias, tied, seed] = Config{};
  std::vector<const void*> fields{&arch,       &d_model,        &num_heads, &num_kv_heads, &head_dim,
                                  &num_layers, &encoder_layers, &ffn,       &position,     &rotary_columns,
                                  &softcap,    &sinks,          &norm,      &norm_kind,    &activation,
                                  &gated,      &bias,           &tied,      &seed};
  const Config plain;
  std::vector<std::ptrdiff_t> offsets, expected;
  const auto offset = [](const void* base, const void* field) {
    return static_cast<const char*>(field) - static_cast<const char*>(base);
  };
  for (const void* field : fields) expected.push_back(offset(fields.front(), field));
  std::set<std::string> names, options, keys;
  for_each_field([&](const auto& field) {
    offsets.push_back(offset(&plain.arch, &(plain.*field.value)));
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_TRUE(options.insert(field.option).second) << field.option;
    EXPECT_TRUE(!field.key || keys.insert(field.key).second) << field.name;
  });
  EXPECT_EQ(offsets, expected);
}

TEST(ConfigFields, WhatIsDerivedIsSaidByTheOthers) {
  const Config config{.d_model = 48, .num_heads = 6, .num_layers = 3};
  for_each_field([&](const auto& field) {
    if constexpr (std::is_same_v<decltype(field), const SizeField&>) {
      EXPECT_EQ(field.is_derived(), Config{}.*field.value == 0) << field.name;
      EXPECT_TRUE(field.is_derived() ? field.used_by(config) > 0 : field.used_by(config) == config.*field.value)
          << field.name;
    }
  });
}

TEST(ConfigFields, EachNameIsThatOfItsValue) {
  for_each_field([&](const auto& field) {
    if constexpr (requires { field.names; }) {
      for (std::size_t i = 0; i < field.names.size(); ++i) {
        using Enum = std::remove_reference_t<decltype(Config{}.*field.value)>;
        EXPECT_EQ(name(static_cast<Enum>(i)), field.names[i]);
        EXPECT_EQ(value_named<Enum>(field.names, field.names[i]), static_cast<Enum>(i));
      }
      EXPECT_FALSE(value_named<Arch>(field.names, "no such name"));
    }
  });
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

TEST(Config, NamesTheLimitsOfGroupsWidthsAndStacks) {
  EXPECT_EQ(refused({.num_kv_heads = -1}), "model: num_kv_heads: expected 0 to 128, found -1");
  EXPECT_EQ(refused({.head_dim = 1025}), "model: head_dim: expected 0 to 1024, found 1025");
  EXPECT_EQ(refused({.encoder_layers = 129}), "model: encoder_layers: expected 0 to 128, found 129");
  EXPECT_EQ(refused({.head_dim = kMaxHeadDim}), "");
  EXPECT_EQ(refused({.encoder_layers = kMaxLayers}), "") << "of no effect without an encoder beside it";
}

TEST(Config, GroupsMustDivideTheHeads) {
  for (const Index groups : {3, 8})
    EXPECT_EQ(refused({.num_heads = 4, .num_kv_heads = groups}),
              "model: num_kv_heads: expected a divisor of num_heads 4, found " + std::to_string(groups));
  for (const Index groups : {0, 1, 2, 4}) EXPECT_EQ(refused({.num_heads = 4, .num_kv_heads = groups}), "") << groups;
}

TEST(Config, HeadsOfTheirOwnWidthNeedNotDivideTheModel) {
  EXPECT_EQ(refused({.d_model = 64, .num_heads = 5, .head_dim = 16}), "");
  EXPECT_EQ((Config{.d_model = 64, .num_heads = 5, .head_dim = 16}).d_k(), 16);
  EXPECT_EQ((Config{.d_model = 64, .num_heads = 4}).d_k(), 16);
}

TEST(Config, RotaryPositionsTurnPairs) {
  EXPECT_EQ(refused({.d_model = 12, .num_heads = 4, .position = Position::rotary}),
            "model: rotary positions: expected an even d_k, found 3");
  EXPECT_EQ(refused({.d_model = 12, .num_heads = 4, .head_dim = 2, .position = Position::rotary}), "");
  EXPECT_EQ(refused({.d_model = 12, .num_heads = 4, .position = Position::learned}), "");
  Config some{.d_model = 12, .num_heads = 4, .position = Position::rotary, .rotary_columns = 2};
  EXPECT_EQ(refused(some), "") << "of three columns two";
  EXPECT_EQ(random_model(some)->rotary->frequencies.size(), 1);
  for (const Index columns : {1, 4}) {
    some.rotary_columns = columns;
    EXPECT_EQ(refused(some),
              "model: rotary_columns: expected an even number of the 3 of a head, found " + std::to_string(columns));
  }
  some.position = Position::learned;
  EXPECT_EQ(refused(some), "") << "of no effect";
}

TEST(Config, ASoftCapIsANumberFromZeroOn) {
  EXPECT_EQ(refused({.softcap = 30}), "");
  EXPECT_EQ(refused({.softcap = -1}), "model: softcap: expected 0 to 1000000, found -1.000000");
  EXPECT_NE(refused({.softcap = std::nanf("")}), "");
  EXPECT_NE(refused({.softcap = 2e6f}), "");
}

TEST(RandomModel, HasSinksAndASoftCapWhereTheConfigSaysSo) {
  const auto plain = random_model({.arch = Arch::encoder_decoder});
  const auto model = random_model({.arch = Arch::encoder_decoder, .softcap = 4, .sinks = true});
  EXPECT_EQ(plain->blocks[0].self.sinks.size(), 0);
  const AttentionWeights* all[] = {&model->blocks[0].self, &*model->blocks[0].cross, &model->blocks[1].self,
                                   &model->encoder->blocks[0].self};
  for (std::size_t i = 0; i < std::size(all); ++i) {
    EXPECT_EQ(all[i]->softcap, 4.0f);
    ASSERT_EQ(all[i]->sinks.size(), 4);
    EXPECT_LE(all[i]->sinks.cwiseAbs().maxCoeff(), 1.0f);
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(same(all[i]->sinks, all[j]->sinks)) << i << " " << j;
  }
  EXPECT_TRUE(same(model->blocks[0].self.query.weight, plain->blocks[0].self.query.weight)) << "streams of their own";
}

TEST(Config, CountsEveryParameter) {
  const Config most{.d_model = 8192, .num_heads = 128, .num_layers = 2, .ffn = 0};
  EXPECT_EQ(refused(most), "") << "2^29";
  Config more = most;
  more.num_layers = 3;
  EXPECT_EQ(refused(more), "model: parameters: expected 1 to 536870912, found 805306368");
  more.num_kv_heads = 1;
  EXPECT_EQ(refused(more), "") << "keys and values that are shared are not counted again";
  more = most;
  more.ffn = 1;
  EXPECT_EQ(refused(more), "model: parameters: expected 1 to 536870912, found 536903680");
  more.num_layers = 1;
  more.ffn = 16384;
  EXPECT_EQ(refused(more), "");
  more.gated = true;
  EXPECT_EQ(refused(more), "model: parameters: expected 1 to 536870912, found 671088640");
  more = most;
  more.num_layers = 1;
  more.arch = Arch::encoder_decoder;
  EXPECT_EQ(refused(more), "model: parameters: expected 1 to 536870912, found 805306368");
  more.d_model = 4096;
  EXPECT_EQ(refused(more), "");
}

TEST(Config, EveryNameIsItsOwn) {
  EXPECT_EQ(name(Arch::encoder), "encoder");
  EXPECT_EQ(name(Arch::decoder), "decoder");
  EXPECT_EQ(name(Arch::encoder_decoder), "encoder-decoder");
  EXPECT_EQ(name(Position::none), "none");
  EXPECT_EQ(name(Position::sinusoidal), "sinusoidal");
  EXPECT_EQ(name(Position::sinusoidal_halves), "sinusoidal-halves");
  EXPECT_EQ(name(Position::learned), "learned");
  EXPECT_EQ(name(Position::rotary), "rotary");
  EXPECT_EQ(name(Norm::post), "post");
  EXPECT_EQ(name(Norm::pre), "pre");
  EXPECT_EQ(name(NormKind::layer_norm), "layer");
  EXPECT_EQ(name(NormKind::rms_norm), "rms");
  EXPECT_EQ(name(Activation::relu), "relu");
  EXPECT_EQ(name(Activation::gelu), "gelu");
  EXPECT_EQ(name(Activation::gelu_tanh), "gelu-tanh");
  EXPECT_EQ(name(Activation::silu), "silu");
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
  const Biases none{.query = false, .key = false, .value = false, .output = false, .ffn = false};
  EXPECT_FALSE(none.any());
  const auto model = random_model({.bias = none});
  for (const auto& block : model->blocks)
    for (const Linear* linear :
         {&block.self.query, &block.self.key, &block.self.value, &block.self.output, &block.up, &block.down})
      EXPECT_EQ(linear->bias.size(), 0);
}

TEST(RandomModel, HasBiasesWhereTheConfigSaysSo) {
  for (int which = 0; which < 5; ++which) {
    Biases bias{.query = which == 0, .key = which == 1, .value = which == 2, .output = which == 3, .ffn = which == 4};
    EXPECT_TRUE(bias.any());
    const std::shared_ptr<const Model> model =
        random_model({.arch = Arch::encoder_decoder, .gated = true, .bias = bias});
    const BlockWeights& block = model->blocks[0];
    for (const AttentionWeights* attention : {&block.self, &*block.cross, &model->encoder->blocks[0].self}) {
      EXPECT_EQ(attention->query.bias.size() > 0, which == 0);
      EXPECT_EQ(attention->key.bias.size() > 0, which == 1);
      EXPECT_EQ(attention->value.bias.size() > 0, which == 2);
      EXPECT_EQ(attention->output.bias.size() > 0, which == 3);
    }
    for (const Linear* linear : {&block.up, &block.gate, &block.down}) EXPECT_EQ(linear->bias.size() > 0, which == 4);
  }
}

TEST(RandomModel, HasGroupsWidthsStacksAndNormsOfItsConfig) {
  const auto model = random_model({.arch = Arch::encoder_decoder,
                                   .d_model = 10,
                                   .num_heads = 6,
                                   .num_kv_heads = 2,
                                   .head_dim = 4,
                                   .num_layers = 3,
                                   .encoder_layers = 1,
                                   .ffn = 7,
                                   .position = Position::rotary,
                                   .norm_kind = NormKind::rms_norm,
                                   .gated = true});
  ASSERT_TRUE(model->encoder);
  EXPECT_EQ(model->blocks.size(), 3u);
  EXPECT_EQ(model->encoder->blocks.size(), 1u);
  EXPECT_FALSE(model->encoder->blocks[0].cross);
  for (const AttentionWeights* attention :
       {&model->blocks[2].self, &*model->blocks[2].cross, &model->encoder->blocks[0].self}) {
    EXPECT_EQ(attention->query.weight.rows(), 24);
    EXPECT_EQ(attention->key.weight.rows(), 8);
    EXPECT_EQ(attention->value.weight.rows(), 8);
    EXPECT_EQ(attention->output.weight.rows(), 10);
    EXPECT_EQ(attention->output.weight.cols(), 24);
    EXPECT_EQ(attention->num_heads, 6);
    EXPECT_EQ(attention->num_kv_heads, 2);
  }
  const BlockWeights& block = model->blocks[0];
  EXPECT_FALSE(block.ungated());
  EXPECT_EQ(block.gate.weight.rows(), 7);
  for (const NormWeights* norm : {&block.attention_norm, &block.cross_norm, &block.ffn_norm}) {
    EXPECT_EQ(norm->kind, NormKind::rms_norm);
    EXPECT_EQ(norm->scale.size(), 10);
    EXPECT_EQ(norm->shift.size(), 0);
  }
  ASSERT_TRUE(model->rotary && model->encoder->rotary);
  EXPECT_TRUE(same(model->rotary->frequencies, Vector{{1.0f, 0.01f}}));
}

TEST(RandomModel, OfTwoStacksSharesNoNumbersBetweenThem) {
  const auto model = random_model({.arch = Arch::encoder_decoder, .num_layers = 1});
  const Matrix* all[] = {&model->blocks[0].self.query.weight, &model->blocks[0].cross->query.weight,
                         &model->encoder->blocks[0].self.query.weight, &model->blocks[0].self.key.weight};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(same(*all[i], *all[j])) << i << " " << j;
}

TEST(RandomPosition, BelongsToThePlaceAndHasHalfTheVarianceOfAWord) {
  const Config config{.d_model = 8192};
  const Vector place = random_position(config, 3);
  EXPECT_NEAR(place.squaredNorm() / 8192.0f, 0.5f, 0.03f);
  EXPECT_TRUE(same(place, random_position(config, 3)));
  EXPECT_FALSE(same(place, random_position(config, 4)));
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
    for (const Linear* linear :
         {&block.self.query, &block.self.key, &block.self.value, &block.self.output, &block.up, &block.down})
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
  const Config other_shape{.d_model = 16, .num_heads = 8, .num_layers = 7, .ffn = 0, .bias = {.query = false}};
  EXPECT_TRUE(same(random_embedding(small, "李雷"), random_embedding(other_shape, "李雷")));
}

}  // namespace
}  // namespace headlight
