// Quantized weights of several tensors: in blocks where they can be, else in float32, and one line where they are
// damaged. What they stand for is compared with numpy in tests/golden/quantized.py.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "read/array/quantized.h"

namespace headlight {
namespace {

using nlohmann::json;
using Method = Quantization::Method;

/// Tensors in memory; each is made of whole numbers.
class Tensors {
 public:
  template <class Number>
  Tensors& with(const std::string& name, Dtype dtype, std::vector<Index> shape, std::vector<Number> numbers) {
    auto kept = std::make_shared<std::vector<Number>>(std::move(numbers));
    const std::string_view bytes(reinterpret_cast<const char*>(kept->data()), kept->size() * sizeof(Number));
    stored.arrays[name] = {.dtype = dtype, .shape = std::move(shape), .bytes = bytes, .where = "m", .owner = kept};
    return *this;
  }
  Tensors& words(const std::string& name, std::vector<Index> shape, std::uint32_t word = 0x76543210) {
    const auto count = static_cast<std::size_t>(shape[0] * shape[1]);
    return with(name, Dtype::i32, std::move(shape), std::vector<std::uint32_t>(count, word));
  }
  Tensors& floats(const std::string& name, std::vector<Index> shape, float number = 0.5f) {
    std::size_t count = 1;
    for (const Index size : shape) count *= static_cast<std::size_t>(size);
    return with(name, Dtype::f32, std::move(shape), std::vector<float>(count, number));
  }
  std::string refused(const Quantization& how) const {
    const auto result = put_together(stored, how);
    EXPECT_FALSE(result);
    return result ? "" : result.error().message();
  }

  StoredArrays stored;
};

constexpr Quantization kGptq{.method = Method::gptq, .zeros_less_one = true};

/// 64 inputs in two groups, 8 outputs.
Tensors gptq() {
  Tensors tensors;
  tensors.words("a.qweight", {8, 8}).words("a.qzeros", {2, 1}, 0x77777777).floats("a.scales", {2, 8});
  return tensors;
}

TEST(Quantized, IsInBlocksWhereNeighboursShareAScale) {
  const auto whole = put_together(gptq().stored, kGptq);
  ASSERT_TRUE(whole) << whole.error().message();
  ASSERT_EQ(whole->arrays.size(), 1u);
  const StoredArray& weight = whole->arrays.at("a.weight");
  EXPECT_EQ(weight.dtype, Dtype::grouped_4);
  EXPECT_EQ(weight.shape, (std::vector<Index>{8, 64}));
  const ArrayFile numbers = in_memory(*whole);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(numbers.arrays.at("a.weight").values[i], (i % 8 - 8.0f) * 0.5f) << i;
  // Groups in an order of their own: no blocks, the same numbers.
  std::vector<std::int32_t> order(64);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i % 2 == 0 ? 0 : 1;
  const auto mixed = put_together(gptq().with("a.g_idx", Dtype::i32, {64}, order).stored, kGptq);
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->arrays.at("a.weight").dtype, Dtype::f32);
  EXPECT_EQ(in_memory(*mixed).arrays.at("a.weight").values, numbers.arrays.at("a.weight").values);
}

TEST(Quantized, TensorsThatDoNotFitAreOneLine) {
  EXPECT_EQ(gptq().words("a.qzeros", {2, 3}).refused(kGptq),
            "m: a.qzeros: expected 2, 4 or 8 bits for each of 8 numbers, found (2, 3) words");
  EXPECT_EQ(gptq().floats("a.scales", {2, 7}).refused(kGptq), "m: a.scales: expected (2, 8), found (2, 7)");
  EXPECT_EQ(gptq().floats("a.scales", {2, 8}, std::numeric_limits<float>::infinity()).refused(kGptq),
            "m: a.scales[0]: expected a finite number, found inf");
  EXPECT_EQ(gptq().floats("a.qweight", {8, 8}).refused(kGptq), "m: a.qweight: expected int32 numbers, found float32");
  EXPECT_EQ(gptq().with("a.g_idx", Dtype::i32, {64}, std::vector<std::int32_t>(64, 2)).refused(kGptq).substr(0, 42),
            "m: a.g_idx[0]: expected a group from 0 to ");
  Tensors none;
  none.words("a.qweight", {8, 8}).floats("a.scales", {2, 8});
  EXPECT_EQ(none.refused(kGptq), "m: a.qzeros: expected a tensor of a quantized weight, found none");
  Tensors three;
  three.words("a.qweight", {8, 8}).words("a.qzeros", {3, 1}).floats("a.scales", {3, 8});
  EXPECT_EQ(three.refused(kGptq), "m: a.scales: expected groups that divide 64 inputs, found (3, 8)");
}

TEST(Quantized, NumbersOfEightBitsThatAreNotFiniteAreRefused) {
  Tensors tensors;
  tensors.with("a.weight", Dtype::f8, {1, 32}, std::vector<std::uint8_t>(32, 0x7F))
      .floats("a.weight_scale_inv", {1, 1});
  EXPECT_EQ(tensors.refused({.method = Method::fp8, .scale_rows = 128, .scale_cols = 128}),
            "m: a.weight: expected finite numbers, found one that is not");
}

/// The tensors of a weight of bitsandbytes, whose state says `change`.
Tensors nf4(const json& change = json::object()) {
  json state = {{"quant_type", "nf4"}, {"blocksize", 64}, {"shape", {2, 64}}};
  state.update(change);
  const std::string text = state.dump();
  Tensors tensors;
  tensors.with("a.weight", Dtype::u8, {64, 1}, std::vector<std::uint8_t>(64, 0xF7))
      .with("a.weight.quant_state.bitsandbytes__nf4", Dtype::u8, {static_cast<Index>(text.size())},
            std::vector<char>(text.begin(), text.end()))
      .with("a.weight.quant_map", Dtype::f32, {16}, std::vector<float>(kNf4Levels.begin(), kNf4Levels.end()))
      .floats("a.weight.absmax", {2}, 2);
  return tensors;
}

TEST(Quantized, TheStateOfBitsandbytesIsNotTrusted) {
  constexpr Quantization how{.method = Method::bitsandbytes};
  const auto whole = put_together(nf4().stored, how);
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(whole->arrays.at("a.weight").dtype, Dtype::nf4);
  EXPECT_EQ(in_memory(*whole).arrays.at("a.weight").values[0], 2);
  EXPECT_EQ(in_memory(*whole).arrays.at("a.weight").values[1], 0);
  for (const json& change : std::vector<json>{{{"shape", {2, 66}}},
                                              {{"shape", {1 << 24, 1 << 24}}},
                                              {{"shape", {2, -64}}},
                                              {{"shape", 128}},
                                              {{"blocksize", 0}},
                                              {{"blocksize", 48}},
                                              {{"nested_blocksize", 256}},
                                              {{"blocksize", "x"}}})
    EXPECT_NE(nf4(change).refused(how).find("expected "), std::string::npos) << change;
  EXPECT_EQ(nf4().floats("a.weight.quant_map", {16}).refused(how),
            "m: a.weight.quant_map: expected the levels of nf4 or fp4, found others");
  EXPECT_EQ(nf4().floats("a.weight.absmax", {3}).refused(how), "m: a.weight.absmax: expected a scale a block, found 3");
  EXPECT_NE(nf4()
                .with("a.weight.quant_state.bitsandbytes__nf4", Dtype::u8, {1}, std::vector<char>{'{'})
                .refused(how)
                .find("valid JSON"),
            std::string::npos);
}

TEST(Quantized, ConfigurationsOfOtherLibrariesAreNotRead) {
  for (const char* config :
       {"{}", R"("gptq")", R"({"quant_method": "hqq"})", R"({"quant_method": "fp8"})",
        R"({"quant_method": "awq", "version": "gemv"})", R"({"quant_method": "fp8", "weight_block_size": [0, 128]})",
        R"({"group_size": 32, "bits": 4, "mode": "mxfp4"})", R"({"group_size": -32, "bits": 4})"})
    EXPECT_FALSE(quantization_of(json::parse(config))) << config;
  EXPECT_EQ(quantization_of(json::parse(R"({"group_size": 32, "bits": 4})"))->group_size, 32);
  const json second = json::parse(R"({"quant_method": "gptq", "checkpoint_format": "gptq_v2"})");
  EXPECT_FALSE(quantization_of(second)->zeros_less_one);
}

}  // namespace
}  // namespace headlight
