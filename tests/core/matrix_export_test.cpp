// Exports of matrices by their names: every number of the computation, of all layers and heads together.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/output_matrices.h"
#include "explain/matrix_kinds.h"
#include "explain/softmax_gradient.h"
#include "exported.h"
#include "heads/weight_maps.h"
#include "read/array/npz.h"
#include "read/json/json_document.h"

namespace headlight {
namespace {

using namespace exported;

std::map<std::string, Array> arrays_with(const TracePtr& trace, const ExportOptions& options) {
  auto file = parse_npz("f", bytes_written({trace}, Format::npz, options));
  EXPECT_TRUE(file) << file.error().message();
  return std::move(file->arrays);
}

std::vector<float> values(const Matrix& matrix) { return {matrix.data(), matrix.data() + matrix.size()}; }

std::vector<float> part(const Array& array, std::size_t index, std::size_t size) {
  const auto first = array.values.begin() + static_cast<std::ptrdiff_t>(index * size);
  return {first, first + static_cast<std::ptrdiff_t>(size)};
}

std::string failure(const TracePtr& trace, const ExportOptions& options) {
  const Folder folder;
  const Status written = write({trace}, Format::npz, folder / "x", options);
  EXPECT_TRUE(folder.empty());
  return written ? "written" : written.error().message();
}

TEST(MatrixExport, EveryMatrixOfTheWayIsAnArray) {
  const auto trace = trace_of({"a", "b", "c"}, true);
  const auto found = arrays_with(trace, {.matrices = {"embedding", "attention", "head", "ffn", "block", "end"}});
  std::set<std::string> seen;
  for (const HeadRef head : {HeadRef{0, 0}, HeadRef{1, 2}}) {
    auto ids = matrices_of(*trace, Stack::self, head.layer, head.head);
    for (const auto& more : {matrices_of_embedding(*trace, Stack::self), matrices_of_output(*trace, Stack::self)})
      ids.insert(ids.end(), more.begin(), more.end());
    for (const MatrixId& id : ids) {
      const std::string name = matrix_name(id.quantity);
      ASSERT_TRUE(found.contains(name)) << name;
      seen.insert(name);
      const Array& array = found.at(name);
      const Matrix matrix = whole(*trace, id);
      std::size_t index = 0;
      if (array.shape.size() > 2) index = static_cast<std::size_t>(id.layer);
      if (is_per_head(id.quantity)) index = index * 3 + static_cast<std::size_t>(id.head);
      EXPECT_EQ(part(array, index, static_cast<std::size_t>(matrix.size())), values(matrix)) << name;
      EXPECT_EQ((std::vector<Index>{array.shape.end() - 2, array.shape.end()}),
                (std::vector<Index>{matrix.rows(), matrix.cols()}));
    }
  }
  for (const char* name :
       {"embedding.positions", "attention.concat", "head.contribution", "ffn.hidden", "block.output"})
    EXPECT_TRUE(seen.contains(name)) << name;
  EXPECT_EQ(found.at("ffn.hidden").shape, (std::vector<Index>{2, 3, 8}));
  EXPECT_EQ(found.at("head.query.weight").shape, (std::vector<Index>{2, 3, 4, 12}));
}

TEST(MatrixExport, NormsAndRolloutAreTheMapsOfTheWindow) {
  const auto trace = trace_of({"a", "b", "c"}, true);
  const auto found = arrays_with(trace, {.matrices = {"norms", "rollout"}});
  Progress progress;
  const auto norms = norm_maps(*trace, Stack::self, progress), rollout = rollout_maps(*trace, Stack::self, progress);
  ASSERT_EQ(found.at("norms").shape, (std::vector<Index>{2, 3, 3, 3}));
  ASSERT_EQ(found.at("rollout").shape, (std::vector<Index>{2, 3, 3}));
  EXPECT_EQ(part(found.at("norms"), 5, 9), values((*norms)[5].cwiseMax(0)));
  EXPECT_EQ(found.at("norms").values[1], 0) << "blocked";
  EXPECT_EQ(part(found.at("rollout"), 1, 9), values((*rollout)[1].cwiseMax(0)));
}

TEST(MatrixExport, GradientsAreThoseOfEachRow) {
  const auto trace = trace_of({"a", "b", "c"}, true);
  const auto found = arrays_with(trace, {.matrices = {"gradient"}});
  ASSERT_EQ(found.at("gradient").shape, (std::vector<Index>{2, 3, 3, 2}));
  const ScaleEffect effect = scale_effect(*trace, {1, 2}, 0, 3);
  for (Index row = 0; row < 3; ++row)
    EXPECT_EQ(part(found.at("gradient"), static_cast<std::size_t>(15 + row), 2),
              (std::vector<float>{effect.gradient(row), effect.other(row)}));
  EXPECT_EQ(found.at("gradient").values[0], 0) << "the first row of a decoder has one key";
  const auto one = arrays_with(trace, {.matrices = {"gradient"}, .only = {HeadRef{1, 2}}});
  EXPECT_EQ(one.at("gradient").shape, (std::vector<Index>{1, 1, 3, 2}));
  EXPECT_EQ(part(one.at("gradient"), 0, 6), part(found.at("gradient"), 5, 6));
  EXPECT_EQ(arrays_with(pattern_trace(2), {.matrices = {"gradient"}}).at("gradient").shape.back(), 1);
}

TEST(MatrixExport, OneHeadAndOneNameOnce) {
  const auto trace = trace_of({"a", "b"});
  const auto found = arrays_with(trace, {.matrices = {"head.z", "head.z", "norms"}, .only = {HeadRef{1, 2}}});
  EXPECT_EQ(found.at("head.z").shape, (std::vector<Index>{1, 1, 2, 4}));
  EXPECT_EQ(found.at("head.z").values, values(whole(*trace, {Quantity::z, Stack::self, 1, 2})));
  EXPECT_EQ(found.at("norms").shape, (std::vector<Index>{1, 1, 2, 2}));
  EXPECT_EQ(found.size(), 3u);
  EXPECT_EQ(failure(trace, {.matrices = {"ffn.hidden"}, .only = {HeadRef{0, 0}}}),
            "--with: ffn.hidden: expected a matrix of one head, found one of all heads");
}

TEST(MatrixExport, AnEncoderDecoderHasThemOfEachStack) {
  const auto trace = answered(encoder_decoder_request({"a", "b"}, {"x", "y", "z"}));
  const auto found = arrays_with(trace, {.matrices = {"ffn.hidden", "head.dot", "norms", "rollout", "output.logits"}});
  EXPECT_EQ(found.at("encoder_ffn.hidden").shape, (std::vector<Index>{1, 2, 8}));
  EXPECT_EQ(found.at("decoder_ffn.hidden").shape, (std::vector<Index>{2, 3, 8}));
  EXPECT_FALSE(found.contains("cross_ffn.hidden"));
  EXPECT_EQ(found.at("cross_head.dot").shape, (std::vector<Index>{2, 3, 3, 2}));
  EXPECT_EQ(found.at("cross_norms").shape, (std::vector<Index>{2, 3, 3, 2}));
  EXPECT_EQ(found.at("decoder_rollout").shape, (std::vector<Index>{2, 3, 3}));
  EXPECT_FALSE(found.contains("cross_rollout"));
  EXPECT_EQ(found.at("output.logits").shape, found.at("logits").shape);
}

TEST(MatrixExport, SpecialTokensAreLeftOutAndOnlyAttentionsScaled) {
  Request request = trace_of({"<s>", "b", "c"})->request;
  request.tokens.tokens[0].special = true;
  const auto trace = answered(request);
  const auto found = arrays_with(
      trace, {.matrices = {"ffn.hidden", "head.dot", "head.query.weight"}, .special = SpecialTokens::renormalize});
  EXPECT_EQ(found.at("ffn.hidden").shape, (std::vector<Index>{2, 2, 8}));
  ASSERT_EQ(found.at("head.dot").shape, (std::vector<Index>{2, 3, 2, 2}));
  EXPECT_EQ(found.at("head.dot").values[0], whole(*trace, {Quantity::dot, Stack::self, 0, 0})(1, 1));
  EXPECT_EQ(found.at("head.query.weight").shape, (std::vector<Index>{2, 3, 4, 12}));
}

TEST(MatrixExport, WhatIsNotThereIsNamed) {
  const auto trace = trace_of({"a", "b"});
  EXPECT_EQ(failure(trace, {.matrices = {"ffn.gate"}}),
            "--with: ffn.gate: expected one that every layer has, found none");
  EXPECT_EQ(failure(trace, {.matrices = {"hidden"}}).substr(0, 40), "--with: expected qkv, scores, norms, rol");
  EXPECT_EQ(
      failure(pattern_trace(2), {.matrices = {"norms"}}),
      "--with: norms: expected an answer that has this map, found " + std::string(name(MapUnavailable::no_values)));
  const Folder folder;
  EXPECT_FALSE(write({trace}, Format::csv, folder / "x", {.matrices = {"ffn.hidden"}}));
}

TEST(MatrixExport, JsonHasThemUnderTheirNames) {
  const auto trace = trace_of({"a", "b"});
  const auto object = parse_json("f", bytes_written({trace}, Format::json, {.matrices = {"ffn.hidden", "end"}}));
  ASSERT_TRUE(object) << object.error().message();
  EXPECT_EQ((*object)["ffn.hidden"][1][0][3].get<float>(), whole(*trace, {Quantity::hidden, Stack::self, 1, 0})(0, 3));
  EXPECT_EQ((*object)["end.last_hidden_state"].size(), 2u);
}

}  // namespace
}  // namespace headlight
