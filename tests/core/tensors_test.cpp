// Tensors files: agreement with a reference implementation, and every freedom that the format leaves.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/checkpoints.h"
#include "math/attention.h"
#include "math/forward.h"
#include "read/array/npz.h"
#include "read/external/tensors_file.h"

namespace headlight {
namespace {

using checkpoints::kGolden;

Result<std::shared_ptr<const Trace>> answer(const TensorsFile& file) {
  Request request{.model = file.model, .config = file.model->config};
  request.mask = file.mask;
  return forward(request);
}

const ExternalStack& given(const TensorsFile& file) { return file.model->given->stacks.at(Stack::self); }

/// An array counting 0.1, 0.2, … in a pattern that repeats nowhere soon.
Array array_of(std::vector<Index> shape, float start = 0) {
  Array array{.dtype = Dtype::f32, .shape = std::move(shape), .values = {}};
  for (std::size_t i = 0; i < *num_elements(array.shape); ++i)
    array.values.push_back(std::sin(start + static_cast<float>(i) * 0.7f));
  return array;
}

ArrayFile file_of(std::map<std::string, Array> arrays, std::map<std::string, std::string> metadata = {}) {
  metadata.emplace("num_heads", "2");
  return {.arrays = std::move(arrays), .metadata = std::move(metadata)};
}

void expect_line(const ArrayFile& file, const std::string& says, std::optional<Index> heads = std::nullopt) {
  const auto result = tensors_from("f", file, heads);
  ASSERT_FALSE(result) << "accepted, though it should say: " << says;
  EXPECT_NE(result.error().message().find(says), std::string::npos) << result.error().message();
}

class GoldenTensors : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTensors, AgreeWithTheReference) {
  const auto folder = kGolden / GetParam();
  const auto file = read_tensors(folder / "input.safetensors", std::nullopt);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_TRUE(file->warnings.empty());
  const auto expected = read_npz(folder / "expected.npz");
  ASSERT_TRUE(expected) << expected.error().message();
  const auto result = answer(*file);
  ASSERT_TRUE(result) << result.error().message();
  const Trace& trace = **result;

  const Array& attentions = expected->arrays.at("attentions");
  const std::vector<Index> shape = {1, trace.num_heads(), trace.queries(), trace.keys()};
  ASSERT_EQ(attentions.shape, shape);
  const Index cells = trace.queries() * trace.keys();
  float attention_difference = 0;
  for (Index head = 0; head < trace.num_heads(); ++head) {
    const Matrix weights = attention_rows(trace, HeadRef{.head = head}, 0, trace.queries());
    const Eigen::Map<const Matrix> reference(attentions.values.data() + head * cells, trace.queries(), trace.keys());
    attention_difference = std::max(attention_difference, (weights - reference).cwiseAbs().maxCoeff());
  }
  const Array& last = expected->arrays.at("output");
  ASSERT_EQ(last.shape, (std::vector<Index>{trace.queries(), trace.last_hidden_state().cols()}));
  const Eigen::Map<const Matrix> output(last.values.data(), last.shape[0], last.shape[1]);
  const float output_difference = (trace.blocks[0].output - output).cwiseAbs().maxCoeff();
  RecordProperty("attention_difference", std::to_string(attention_difference));
  std::printf("%s: attention %.2g, output %.2g\n", GetParam().c_str(), static_cast<double>(attention_difference),
              static_cast<double>(output_difference));
  EXPECT_LE(attention_difference, 2e-5f);
  EXPECT_LE(output_difference, 2e-5f);
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenTensors,
                         testing::Values("tensors-self-6", "tensors-causal-7", "tensors-pad-8", "tensors-cross-4x6"),
                         [](const auto& suite) {
                           std::string name = suite.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Tensors, MissingProjectionsAreTheIdentity) {
  const auto file = tensors_from("some/x.safetensors", file_of({{"query", array_of({3, 4})}}), std::nullopt);
  ASSERT_TRUE(file) << file.error().message();
  const Model& model = *file->model;
  EXPECT_EQ(model.name, "x.safetensors");
  EXPECT_EQ(model.config.d_model, 4);
  EXPECT_EQ(model.config.num_heads, 2);
  EXPECT_EQ(model.config.num_layers, 1);
  EXPECT_TRUE(same(given(*file).key, given(*file).query));
  EXPECT_TRUE(same(given(*file).value, given(*file).query));
  EXPECT_EQ(file->mask, MaskSpec{});
  const auto result = answer(*file);
  ASSERT_TRUE(result) << result.error().message();
  const Trace& trace = **result;
  EXPECT_TRUE(same(trace.blocks[0].self.query, given(*file).query));
  // Two heads of two columns each, by hand.
  const Matrix& x = given(*file).query;
  for (Index head = 0; head < 2; ++head) {
    const Matrix part = x.middleCols(head * 2, 2);
    Matrix weights = (part * part.transpose() / std::sqrt(2.0f)).array().exp();
    for (Index row = 0; row < weights.rows(); ++row) weights.row(row) /= weights.row(row).sum();
    const Matrix z = weights * part;
    EXPECT_LT((trace.blocks[0].output.middleCols(head * 2, 2) - z).cwiseAbs().maxCoeff(), 1e-6f);
  }
}

TEST(Tensors, BiasesStandWithOrWithoutWeights) {
  const auto file = tensors_from(
      "f",
      file_of(
          {{"query", array_of({3, 4})}, {"q_proj.weight", array_of({4, 4}, 1)}, {"out_proj.bias", array_of({4}, 2)}}),
      std::nullopt);
  ASSERT_TRUE(file) << file.error().message();
  const AttentionWeights& weights = file->model->blocks[0].self;
  EXPECT_EQ(weights.query.bias.size(), 0);
  EXPECT_EQ(weights.output.weight.size(), 0);
  EXPECT_EQ(weights.output.bias.size(), 4);
  const auto result = answer(*file);
  ASSERT_TRUE(result);
  const AttentionTrace& self = (*result)->blocks[0].self;
  EXPECT_TRUE(same((*result)->last_hidden_state(), Matrix(self.z.rowwise() + weights.output.bias)));
}

TEST(Tensors, KeysAndValuesOfOtherWidths) {
  // kdim 5, vdim 3, projected to 6 and 8 columns; the output has 7.
  const auto file = tensors_from("f",
                                 file_of({{"query", array_of({2, 4})},
                                          {"key", array_of({3, 5}, 1)},
                                          {"value", array_of({3, 3}, 2)},
                                          {"q_proj.weight", array_of({6, 4})},
                                          {"k_proj.weight", array_of({6, 5})},
                                          {"v_proj.weight", array_of({8, 3})},
                                          {"out_proj.weight", array_of({7, 8})}}),
                                 std::nullopt);
  ASSERT_TRUE(file) << file.error().message();
  const auto result = answer(*file);
  ASSERT_TRUE(result) << result.error().message();
  const Trace& trace = **result;
  EXPECT_EQ(trace.queries(), 2);
  EXPECT_EQ(trace.keys(), 3);
  EXPECT_FLOAT_EQ(trace.blocks[0].self.scale, 1.0f / std::sqrt(3.0f));
  EXPECT_EQ(trace.blocks[0].self.z.cols(), 8);
  EXPECT_EQ(trace.blocks[0].output.cols(), 7);
  EXPECT_EQ(trace.query_tokens().tokens[1].text, "1");
  EXPECT_EQ(trace.key_tokens().tokens[2].text, "2");
}

TEST(Tensors, HeadsComeFromTheArgumentTheMetadataOrAnArray) {
  const ArrayFile named = file_of({{"query", array_of({3, 4})}});
  EXPECT_EQ(tensors_from("f", named, std::nullopt)->model->config.num_heads, 2);
  EXPECT_EQ(tensors_from("f", named, 4)->model->config.num_heads, 4);
  ArrayFile scalar{.arrays = {{"query", array_of({3, 4})}}, .metadata = {}};
  expect_line(scalar, "f: num_heads: expected a number in the metadata or --num-heads, found neither");
  scalar.arrays["num_heads"] = {.dtype = Dtype::i64, .shape = {}, .values = {4}};
  const auto from_array = tensors_from("f", scalar, std::nullopt);
  ASSERT_TRUE(from_array) << from_array.error().message();
  EXPECT_EQ(from_array->model->config.num_heads, 4);
  EXPECT_TRUE(from_array->warnings.empty());
  expect_line(named, "num_heads: expected a divisor of the 4 columns of the projected query, found 3", 3);
  expect_line(named, "num_heads: expected 1 to 128, found 0", 0);
  for (const char* text : {"two", "2x", "", "-1", "99999999999999999999", "1000"})
    expect_line(file_of({{"query", array_of({3, 4})}}, {{"num_heads", text}}),
                "num_heads: expected 1 to 128, found '" + std::string(text) + "'");
  for (const float number : {0.0f, 1.5f, 1e30f, -2.0f}) {
    scalar.arrays["num_heads"].values = {number};
    expect_line(scalar, "num_heads: expected 1 to 128, found");
  }
  scalar.arrays["num_heads"] = array_of({2});
  expect_line(scalar, "num_heads: expected 1 to 128, found an array (2,)");
}

TEST(Tensors, TokensComeFromTheMetadata) {
  const ArrayFile named = file_of({{"query", array_of({2, 4})}, {"key", array_of({1, 4})}, {"value", array_of({1, 4})}},
                                  {{"tokens", R"(["我"," can"])"}, {"key_tokens", R"([" "])"}});
  const auto file = tensors_from("f", named, std::nullopt);
  ASSERT_TRUE(file) << file.error().message();
  const Tokens& queries = given(*file).query_tokens;
  EXPECT_EQ(queries.text, "我 can");
  EXPECT_EQ(queries.tokens[1].text, "can");
  EXPECT_EQ(queries.tokens[1].raw, " can");
  EXPECT_EQ(queries.tokens[1].begin, 3u);
  EXPECT_EQ(queries.tokens[1].end, 7u);
  EXPECT_EQ(given(*file).key_tokens.tokens[0].text, " ");

  const auto with = [](const std::string& tokens) {
    return file_of({{"query", array_of({2, 4})}}, {{"tokens", tokens}});
  };
  EXPECT_EQ(given(*tensors_from("f", with(R"(["a","b"])"), std::nullopt)).key_tokens.tokens[1].text, "b");
  expect_line(with(R"(["a"])"), "f: metadata tokens: expected 2 tokens, found 1");
  expect_line(with("[a b"), "f: metadata tokens: line 1, column 2: expected valid JSON");
  expect_line(with("{}"), "expected a JSON list, found object");
  expect_line(with("[1.5,2]"), "expected a list of strings, found number");
  EXPECT_EQ(given(*tensors_from("f", with("[1,2]"), std::nullopt)).key_tokens.tokens[1].text, "2") << "ids";
}

TEST(Tensors, MasksAreAddedOrBlock) {
  ArrayFile file = file_of({{"query", array_of({2, 4})}});
  file.arrays["mask"] = {.dtype = Dtype::boolean, .shape = {2, 2}, .values = {1, 0, 1, 1}};
  const auto blocked = tensors_from("f", file, std::nullopt);
  ASSERT_TRUE(blocked) << blocked.error().message();
  EXPECT_EQ((*blocked->mask.given)(0, 1), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(attention_rows(**answer(*blocked), HeadRef{.head = 1}, 0, 1)(0, 1), 0.0f);
  file.arrays["mask"] = {.dtype = Dtype::f32, .shape = {2}, .values = {0, -1.5f}};
  const auto added = tensors_from("f", file, std::nullopt);
  ASSERT_TRUE(added) << added.error().message();
  EXPECT_EQ((*added->mask.given)(0, 1), -1.5f);
  file.arrays["mask"] = {.dtype = Dtype::f32, .shape = {2, 2}, .values = {1, 0, 1, 1}};
  const auto floats = tensors_from("f", file, std::nullopt);
  ASSERT_TRUE(floats) << floats.error().message();
  EXPECT_EQ((*floats->mask.given)(0, 1), -std::numeric_limits<float>::infinity());
  ASSERT_EQ(floats->warnings.size(), 1u);
  EXPECT_NE(floats->warnings[0].message().find("read as a boolean mask"), std::string::npos)
      << floats->warnings[0].message();
  file.arrays["mask"] = array_of({2, 3});
  expect_line(file, "f: mask: expected (2, 2) (queries, keys), found (2, 3)");
  for (const std::vector<Index>& shape : {std::vector<Index>{2, 2, 1}, {1, 2, 2}, {1, 1, 2, 2}}) {
    file.arrays["mask"] = {.dtype = Dtype::boolean, .shape = shape, .values = {1, 0, 1, 1}};
    const auto batched = tensors_from("f", file, std::nullopt);
    ASSERT_TRUE(batched) << batched.error().message();
    EXPECT_TRUE(batched->mask == blocked->mask) << "a batch of one, as the mask alone";
  }
  file.arrays["mask"] = array_of({3, 2, 2});
  expect_line(
      file,
      "f: mask: expected a batch axis of 1, one mask for all sentences: (keys), (queries, keys), (queries, keys, 1), "
      "(1, queries, keys) or (1, 1, queries, keys), found (3, 2, 2)");
  file.arrays["mask"] = array_of({1, 3, 2, 1});
  expect_line(
      file,
      "f: mask: expected one mask for all heads: (sentences, 1, queries, keys), found (1, 3, 2, 1), whose heads "
      "differ");
  file.arrays["mask"] = array_of({2, 1, 2, 2});
  expect_line(file, "or (1, 1, queries, keys), found (2, 1, 2, 2)");
}

TEST(Tensors, RefusesShapesThatDoNotFit) {
  const auto query = array_of({3, 4});
  expect_line(file_of({}),
              "f: query: expected an array (queries, d_model), or attentions (layers, heads, queries, "
              "keys), found neither");
  expect_line(file_of({{"query", array_of({1, 3, 4})}}), "f: query: expected two axes, none empty, found (1, 3, 4)");
  expect_line(file_of({{"query", array_of({0, 4})}}), "found (0, 4)");
  expect_line(file_of({{"query", query}, {"key", array_of({5, 4})}}),
              "f: value: expected (5, …), as many rows as key, found (3, 4), the query it defaults to");
  expect_line(file_of({{"query", query}, {"value", array_of({5, 4})}}),
              "f: value: expected (3, …), as many rows as key, found (5, 4)");
  expect_line(file_of({{"query", array_of({16385, 1})}}), "f: query: expected at most 16384 tokens, found 16385");
  expect_line(file_of({{"query", query}, {"key", array_of({16385, 4})}, {"value", array_of({16385, 4})}}),
              "f: key: expected at most 16384 tokens, found 16385");
  expect_line(file_of({{"query", query}, {"q_proj.weight", array_of({4, 5})}}),
              "f: q_proj.weight: expected (out, 4) for query of 4 columns, found (4, 5)");
  expect_line(file_of({{"query", query}, {"v_proj.weight", array_of({16})}}), "f: v_proj.weight: expected two axes");
  expect_line(file_of({{"query", query}, {"q_proj.weight", array_of({6, 4})}}),
              "f: key: expected 6 columns after projection, as query, found 4");
  expect_line(file_of({{"query", query}, {"v_proj.weight", array_of({3, 4})}}),
              "a divisor of the 3 columns of the projected value");
  expect_line(file_of({{"query", query}, {"k_proj.bias", array_of({3})}}), "f: k_proj.bias: expected (4,), found (3,)");
  expect_line(file_of({{"query", query}, {"k_proj.bias", array_of({1, 4})}}), "f: k_proj.bias: expected one axis");
  Array overflowed = query;
  overflowed.values[6] = std::numeric_limits<float>::infinity();
  expect_line(file_of({{"query", overflowed}}), "f: query[1, 2]: expected a finite number, found inf");
  Array bias = array_of({4});
  bias.values[3] = std::numeric_limits<float>::quiet_NaN();
  expect_line(file_of({{"query", query}, {"out_proj.bias", bias}}),
              "f: out_proj.bias[3]: expected a finite number, found nan");
}

TEST(Tensors, SurplusArraysAreNamedNotUsed) {
  const auto file =
      tensors_from("f", file_of({{"query", array_of({3, 4})}, {"in_proj_weight", array_of({12, 4})}}), std::nullopt);
  ASSERT_TRUE(file);
  EXPECT_EQ(messages_of(file->warnings),
            std::vector<std::string>{"f: in_proj_weight: no part of a tensors file, not used"});
}

TEST(Tensors, AnswersBesideInputsAreForComparison) {
  const auto file = tensors_from(
      "f", file_of({{"query", array_of({3, 4})}, {"output", array_of({3, 4})}, {"attentions", array_of({1, 2, 3, 3})}}),
      std::nullopt);
  ASSERT_TRUE(file);
  EXPECT_EQ(given(*file).query.cols(), 4);
  EXPECT_TRUE(given(*file).patterns.empty());
  EXPECT_EQ(
      messages_of(file->warnings),
      std::vector<std::string>{"f: attentions, output: answers to compare with (headlight diagnose), not inputs"});
}

TEST(Tensors, LayersUnderNamesOfTheirOwnAreOneAttention) {
  const auto weights = [](std::vector<Index> shape, float value) {
    Array array{.dtype = Dtype::f32, .shape = std::move(shape), .values = {}};
    array.values.assign(*num_elements(array.shape), value);
    return array;
  };
  const auto file = tensors_from(
      "f", file_of({{"layer_0", weights({2, 3, 3}, 0.25f)}, {"layer_1", weights({1, 2, 3, 3}, 0.5f)}}), std::nullopt);
  ASSERT_TRUE(file) << file.error().message();
  const auto& patterns = given(*file).patterns;
  ASSERT_EQ(patterns.size(), 2u);
  ASSERT_EQ(patterns[1].size(), 2u);
  EXPECT_TRUE(patterns[0][1] == Matrix::Constant(3, 3, 0.25f));
  EXPECT_TRUE(patterns[1][0] == Matrix::Constant(3, 3, 0.5f));

  std::map<std::string, Array> many;
  for (int i = 0; i < 12; ++i) many["layer_" + std::to_string(i)] = weights({2, 3, 3}, static_cast<float>(i));
  const auto twelve = tensors_from("f", file_of(many), std::nullopt);
  ASSERT_TRUE(twelve) << twelve.error().message();
  EXPECT_EQ(given(*twelve).patterns[10][0](0, 0), 10) << "in the order of the numbers, not of the names";

  expect_line(file_of({{"layer_0", weights({2, 3, 3}, 0)}, {"layer_1", weights({2, 4, 4}, 0)}}),
              "f: layer_# layer 1: expected layers of one shape, (heads, T, S) = (2, 3, 3), or --sentence of a list of "
              "sentences, found (2, 4, 4)");
}

TEST(Tensors, TheEndingSaysWhatAFileIs) {
  const auto other = read_tensors("x.xyz", std::nullopt);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message(),
            "x.xyz: name: expected a file named .safetensors, .npz, .pt or .json, found 'x.xyz'");
  const auto torch = read_tensors("x.bin", std::nullopt);
  ASSERT_FALSE(torch);
  EXPECT_EQ(torch.error().message(), "x.bin: open: expected a readable file, found No such file or directory");
  const auto npz = read_tensors(kGolden / "tensors-self-6" / "expected.npz", 3);
  ASSERT_TRUE(npz) << npz.error().message();
  EXPECT_EQ(given(*npz).patterns.size(), 1u);
}

}  // namespace
}  // namespace headlight
