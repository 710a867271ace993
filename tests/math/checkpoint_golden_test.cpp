// Checkpoints in the Hugging Face layout: what published implementations answer for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>

#include "core/checkpoints.h"
#include "math/attention.h"
#include "math/forward.h"
#include "math/output.h"
#include "read/array/npz.h"

namespace headlight {
namespace {

using namespace checkpoints;

Request request_of_case(const std::shared_ptr<const Model>& model, const std::filesystem::path& folder) {
  const auto text = read_file(folder / "case.json");
  const auto document = parse_json("case.json", *text);
  const auto ids = [&](const char* key) {
    return document->contains(key) ? (*document)[key].get<std::vector<std::int64_t>>() : std::vector<std::int64_t>{};
  };
  std::vector<int> types;
  for (const std::int64_t type : ids("token_type_ids")) types.push_back(static_cast<int>(type));
  return request_for(model, tokens_of_ids(ids("ids"), types), tokens_of_ids(ids("decoder_ids")));
}

/// What the trace has under the name that an export gives it.
std::vector<Matrix> named(const Trace& trace, const std::string& name) {
  std::vector<Matrix> parts;
  const auto weights = [&](Stack stack) {
    for (Index layer = 0; layer < trace.num_layers(stack); ++layer)
      for (Index head = 0; head < trace.num_heads(stack); ++head)
        parts.push_back(attention_rows(trace, {.layer = layer, .head = head, .stack = stack}, 0, trace.queries(stack)));
  };
  if (name == "attentions" || name == "decoder_attentions") weights(Stack::self);
  if (name == "encoder_attentions") weights(Stack::encoder);
  if (name == "cross_attentions") weights(Stack::cross);
  if (name == "hidden_states") {
    parts.push_back(trace.embedding);
    for (const BlockTrace& block : trace.blocks) parts.push_back(block.output);
  }
  if (name == "last_hidden_state") parts.push_back(trace.last_hidden_state());
  if (name == "encoder_last_hidden_state") parts.push_back(trace.encoder->last_hidden_state());
  if (name == "logits") parts.push_back(logit_rows(trace, 0, trace.queries()));
  return parts;
}

/// The largest |difference|; infinite where the number of elements is another, or one is NaN.
float largest_difference(const std::vector<Matrix>& parts, const Array& expected) {
  std::size_t at = 0;
  float largest = 0;
  for (const Matrix& part : parts) {
    for (Index i = 0; i < part.size(); ++i, ++at) {
      const float apart = at < expected.values.size() ? std::abs(part.data()[i] - expected.values[at]) : NAN;
      if (std::isnan(apart)) return std::numeric_limits<float>::infinity();
      largest = std::max(largest, apart);
    }
  }
  return at == expected.values.size() ? largest : std::numeric_limits<float>::infinity();
}

class GoldenCheckpoint : public testing::TestWithParam<std::string> {};

TEST_P(GoldenCheckpoint, AgreesWithTheReference) {
  const auto folder = kGolden / GetParam();
  const auto checkpoint = read_checkpoint(folder);
  ASSERT_TRUE(checkpoint) << checkpoint.error().message();
  EXPECT_EQ(checkpoint->model->name, GetParam());
  const auto answer = forward(request_of_case(checkpoint->model, folder));
  ASSERT_TRUE(answer) << answer.error().message();
  const auto expected = read_npz(folder / "expected.npz");
  ASSERT_TRUE(expected) << expected.error().message();
  ASSERT_FALSE(expected->arrays.empty());
  for (const auto& [name, array] : expected->arrays) {
    if (name.ends_with("ids")) continue;  // the question
    const float difference = largest_difference(named(**answer, name), array);
    float magnitude = 1;
    for (const float value : array.values) magnitude = std::max(magnitude, std::abs(value));
    const bool weights = name.find("attentions") != std::string::npos;
    const float shown = weights ? difference : difference / magnitude;
    std::cout << GetParam() << " " << name << ": " << shown << (weights ? "" : " relative") << "\n";
    RecordProperty(name, std::to_string(shown));
    EXPECT_LE(shown, weights ? 2e-5f : 1e-4f) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, GoldenCheckpoint,
    testing::Values("bert", "bert-prefixed-f16", "gpt2", "llama-gqa", "llama-gqa-bf16", "marian", "family-roberta",
                    "family-xlm-roberta", "family-distilbert", "family-electra", "family-llama3-sharded",
                    "family-mistral", "family-mistral-base", "family-qwen2", "family-qwen3", "family-bart", "family-t5",
                    "family-mt5-gated", "family-ernie", "family-albert", "family-mpnet", "family-opt", "family-bloom",
                    "family-gemma", "family-phi3", "family-pegasus", "family-m2m_100", "family-gpt_neox",
                    "family-gpt_neox-sequential", "family-gptj", "family-phi", "family-falcon-7b", "family-falcon-40b",
                    "family-falcon-sequential", "family-gemma2", "family-gemma3", "family-olmo2", "family-mixtral",
                    "family-qwen2_moe", "family-qwen3_moe", "family-mistral-window", "family-modernbert",
                    "family-deberta-v3", "family-deberta-v2", "family-opt-post", "family-gemma3-pictures",
                    "family-qwen2-seven", "family-qwen2-padded", "family-falcon-rw", "family-headlight-sinks",
                    "family-headlight-sinks-bf16", "family-gpt_neo", "family-olmo", "family-granite", "family-smollm3",
                    "family-starcoder2", "family-deberta", "family-mbart", "family-llava", "family-mistral3",
                    "family-qwen2_vl", "family-qwen2_5_vl", "family-bert-pruned", "family-clip_text_model",
                    "family-siglip_text_model"),
    [](const auto& suite) {
      std::string name = suite.param;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace
}  // namespace headlight
