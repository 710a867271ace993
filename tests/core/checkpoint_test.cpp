// The tensors of checkpoints: under which names they may stand, and what happens to those that do not fit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/checkpoints.h"
#include "math/forward.h"
#include "math/output.h"

namespace headlight {
namespace {

using namespace checkpoints;

std::shared_ptr<const Trace> ask(const Parts& parts, const std::vector<std::int64_t>& ids,
                                 const std::vector<std::int64_t>& target = {}) {
  const auto checkpoint = parts.load();
  if (!checkpoint) {
    ADD_FAILURE() << checkpoint.error().message();
    return nullptr;
  }
  const auto answer = forward(request_for(checkpoint->model, tokens_of_ids(ids), tokens_of_ids(target)));
  if (answer) return *answer;
  ADD_FAILURE() << answer.error().message();
  return nullptr;
}

void expect_same_answer(const Parts& a, const Parts& b, const std::vector<std::int64_t>& target = {}) {
  const auto left = ask(a, {1, 5, 9}, target), right = ask(b, {1, 5, 9}, target);
  ASSERT_TRUE(left && right);
  EXPECT_TRUE(same(left->last_hidden_state(), right->last_hidden_state()));
}

TEST(Checkpoint, KnowsTheShapeOfItsModel) {
  const auto llama = Parts("llama-gqa").load();
  ASSERT_TRUE(llama) << llama.error().message();
  EXPECT_TRUE(llama->warnings.empty());
  EXPECT_EQ(llama->model->name, "m");
  const Config& config = llama->model->config;
  EXPECT_EQ(config.arch, Arch::decoder);
  EXPECT_EQ(config.num_heads, 6);
  EXPECT_EQ(config.kv_heads(), 3);
  EXPECT_EQ(config.d_k(), 4);
  EXPECT_EQ(config.norm_kind, NormKind::rms_norm);
  EXPECT_TRUE(config.gated);
  EXPECT_FALSE(config.tied);
  EXPECT_FALSE(config.bias.any());
  const auto marian = Parts("marian").load();
  ASSERT_TRUE(marian) << marian.error().message();
  EXPECT_EQ(marian->model->config.position, Position::sinusoidal_halves);
  EXPECT_EQ(marian->model->embeddings.tokens, marian->model->encoder->embeddings.tokens);
  EXPECT_EQ(marian->model->output->weight, marian->model->embeddings.tokens);
  EXPECT_FLOAT_EQ(marian->model->embeddings.scale, std::sqrt(24.0f));
}

TEST(Checkpoint, ThePrefixMayBeMissing) {
  for (const auto& [name, prefix] :
       {std::pair{"gpt2", "transformer."}, {"llama-gqa", "model."}, {"bert-prefixed-f16", "bert."}}) {
    Parts bare(name);
    bare.strip(prefix);
    expect_same_answer(Parts(name), bare);
  }
}

TEST(Checkpoint, TensorsWithoutUseAreTold) {
  const auto bert = Parts("bert").load();
  ASSERT_TRUE(bert);
  EXPECT_EQ(messages_of(bert->warnings),
            std::vector<std::string>{"some/m/model.safetensors: pooler.*: needed neither for attention "
                                     "nor for the next word, not used"});
  EXPECT_FALSE(bert->model->output);
  const auto gpt2 = Parts("gpt2").load();  // its stored causal masks are computed anew
  ASSERT_TRUE(gpt2);
  EXPECT_TRUE(gpt2->warnings.empty());
  Parts more("gpt2");
  more.file.arrays.emplace("transformer.h.7.ln_1.weight", filled({24}, 0));
  more.file.arrays.emplace("odd\nname", filled({2}, 0));
  const auto warned = more.load();
  ASSERT_TRUE(warned);
  const std::vector<std::string> warnings = {
      "some/m/model.safetensors: odd?name: no part of a gpt2 with this configuration, not used",
      "some/m/model.safetensors: transformer.h.7.ln_1.weight: no part of a gpt2 with this configuration, not used"};
  EXPECT_EQ(messages_of(warned->warnings), warnings);
  for (int i = 0; i < 100; ++i) more.file.arrays.emplace("x" + std::to_string(i), filled({2}, 0));
  EXPECT_EQ(more.load()->warnings.size(), 17u);
  EXPECT_NE(more.load()->warnings.back().message().find("86 more tensors"), std::string::npos);
}

TEST(Checkpoint, TheNameOfTheClassSaysWhetherThereIsAnOutputLayer) {
  Parts gpt2("gpt2");
  EXPECT_TRUE(gpt2.load()->model->output);
  gpt2.config["architectures"] = {"GPT2Model"};
  EXPECT_FALSE(gpt2.load()->model->output);
  gpt2.config.erase("architectures");
  EXPECT_TRUE(gpt2.load()->model->output);
  Parts llama("llama-gqa");
  llama.file.arrays.erase("lm_head.weight");
  EXPECT_EQ(llama.refusal(), "some/m/model.safetensors: lm_head.weight: expected a tensor (47, 24), found none");
  llama.config.erase("architectures");
  ASSERT_TRUE(llama.load());
  EXPECT_FALSE(llama.load()->model->output);
  EXPECT_EQ(llama.load()->warnings.size(), 1u);
  llama.config["tie_word_embeddings"] = true;
  ASSERT_TRUE(llama.load());
  const auto tied = llama.load();
  EXPECT_EQ(tied->model->output->weight, tied->model->embeddings.tokens);
  EXPECT_TRUE(tied->warnings.empty());
}

TEST(Checkpoint, TiedTensorsMayBeStoredTwiceOrUnderTheOtherName) {
  Parts twice("gpt2");
  twice.file.arrays.emplace("lm_head.weight", twice.file.arrays.at("transformer.wte.weight"));
  expect_same_answer(Parts("gpt2"), twice);
  EXPECT_TRUE(twice.load()->warnings.empty());
  twice.file.arrays.at("lm_head.weight").values[3] += 1;
  const std::vector<std::string> warnings = {
      "some/m/model.safetensors: lm_head.weight: differs from "
      "transformer.wte.weight, which the model has in its place; not used"};
  EXPECT_EQ(messages_of(twice.load()->warnings), warnings);
  twice.file.arrays.erase("transformer.wte.weight");
  twice.file.arrays.at("lm_head.weight").values[3] -= 1;
  ASSERT_TRUE(twice.load()) << twice.refusal();
  Parts marian("marian");
  marian.rename("model.shared.weight", "lm_head.weight");
  expect_same_answer(Parts("marian"), marian, {49, 3});
}

TEST(Checkpoint, AMaskedLanguageModelsHeadTransformsFirst) {
  Parts bert("bert-prefixed-f16");
  EXPECT_FALSE(bert.load()->model->output);
  const std::vector<std::string> warnings = {
      "some/m/model.safetensors: cls.predictions.*: not stored, so the model has no output layer",
      "some/m/model.safetensors: bert.pooler.*: needed neither for attention nor for the next word, not used"};
  EXPECT_EQ(messages_of(bert.load()->warnings), warnings);
  bert.file.arrays.emplace("cls.predictions.transform.dense.weight", filled({24, 24}, 1));
  EXPECT_EQ(bert.refusal(),
            "some/m/model.safetensors: cls.predictions.transform.dense.bias: expected a tensor (24,), found none");
  bert.file.arrays.emplace("cls.predictions.transform.dense.bias", filled({24}, 2));
  bert.file.arrays.emplace("cls.predictions.transform.LayerNorm.gamma", filled({24}, 3));
  bert.file.arrays.emplace("cls.predictions.transform.LayerNorm.beta", filled({24}, 4));
  bert.file.arrays.emplace("cls.predictions.bias", filled({61}, 5));
  const auto trace = ask(bert, {2, 17, 4});
  ASSERT_TRUE(trace);
  const Matrix logits = logit_rows(*trace, 0, 3);
  ASSERT_EQ(logits.cols(), 61);
  // The same in double precision: dense, gelu, norm, the token vectors, the bias.
  const auto column = [](const Array& array) {
    return Eigen::Map<const Vector>(array.values.data(), static_cast<Index>(array.values.size())).cast<double>().eval();
  };
  const auto& arrays = bert.file.arrays;
  const Eigen::Map<const Matrix> dense(arrays.at("cls.predictions.transform.dense.weight").values.data(), 24, 24);
  const Eigen::Map<const Matrix> words(arrays.at("bert.embeddings.word_embeddings.weight").values.data(), 61, 24);
  Eigen::RowVectorXd x = trace->last_hidden_state().row(1).cast<double>() * dense.cast<double>().transpose() +
                         column(arrays.at("cls.predictions.transform.dense.bias"));
  x = x.unaryExpr([](double v) { return 0.5 * v * std::erfc(-v / std::sqrt(2.0)); });
  const double mean = x.mean(), variance = (x.array() - mean).square().mean();
  x = ((x.array() - mean) / std::sqrt(variance + 1e-12) *
       column(arrays.at("cls.predictions.transform.LayerNorm.gamma")).array())
          .matrix() +
      column(arrays.at("cls.predictions.transform.LayerNorm.beta"));
  const Eigen::RowVectorXd expected = x * words.cast<double>().transpose() + column(arrays.at("cls.predictions.bias"));
  EXPECT_LT((logits.row(1).cast<double>() - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff(), 1e-5);
}

TEST(Checkpoint, LlamaMayHaveBiasesAndItsOwnHeadWidth) {
  Parts llama("llama-gqa");
  const auto extra = [&](const std::string& name, Index size) {
    for (int layer = 0; layer < 2; ++layer)
      llama.file.arrays.emplace("model.layers." + std::to_string(layer) + "." + name, filled({size}, 1));
  };
  extra("self_attn.q_proj.bias", 24);
  EXPECT_EQ(llama.load()->warnings.size(), 2u);  // attention_bias is false
  llama.config["attention_bias"] = true;
  EXPECT_NE(llama.refusal().find("k_proj.bias: expected a tensor (12,), found none"), std::string::npos);
  extra("self_attn.k_proj.bias", 12);
  extra("self_attn.v_proj.bias", 12);
  extra("self_attn.o_proj.bias", 24);
  ASSERT_TRUE(llama.load()) << llama.refusal();
  EXPECT_EQ(llama.load()->model->blocks[1].self.key.bias.size(), 12);
  llama.config["head_dim"] = 8;
  EXPECT_NE(llama.refusal().find("q_proj.weight: expected (48, 24), found (24, 24)"), std::string::npos);
  llama.config["num_attention_heads"] = 3;
  llama.config["num_key_value_heads"] = nullptr;
  EXPECT_NE(llama.refusal().find("k_proj.weight: expected (24, 24), found (12, 24)"), std::string::npos);
}

TEST(Checkpoint, PositionsThatAreNoSinusoidsAreUsedAsStored) {
  Parts marian("marian");
  const auto computed = ask(marian, {1, 5}, {49, 3});
  for (const char* name : {"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"})
    marian.file.arrays.erase(name);
  const auto without = ask(marian, {1, 5}, {49, 3});
  ASSERT_TRUE(computed && without);
  EXPECT_TRUE(same(computed->last_hidden_state(), without->last_hidden_state()));
  marian.file.arrays.emplace("model.encoder.embed_positions.weight", filled({32, 24}, 2));
  const auto checkpoint = marian.load();
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->warnings.size(), 1u);
  EXPECT_EQ(checkpoint->model->config.position, Position::learned);
  const auto stored = ask(marian, {1, 5}, {49, 3});
  ASSERT_TRUE(stored);
  EXPECT_FALSE(same(stored->encoder->embedding, without->encoder->embedding));
  EXPECT_LT((stored->embedding - without->embedding).cwiseAbs().maxCoeff(), 1e-6f);
  marian.file.arrays.erase("final_logits_bias");
  EXPECT_NE(marian.load()->warnings.front().message().find("final_logits_bias: missing, taken as zero"),
            std::string::npos);
}

TEST(Checkpoint, RefusesTensorsThatDoNotFit) {
  const std::string query = "encoder.layer.1.attention.self.query.weight", line = "some/m/model.safetensors: " + query;
  Parts bert("bert");
  bert.file.arrays.at(query).values[30] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(bert.refusal(), line + "[1, 6]: expected a finite number, found nan");
  bert.file.arrays.at(query) = filled({24, 23}, 0);
  EXPECT_EQ(bert.refusal(), line + ": expected (24, 24), found (24, 23)");
  bert.file.arrays.at(query) = filled({576}, 0);
  EXPECT_EQ(bert.refusal(), line + ": expected (24, 24), found (576,)");
  bert.file.arrays.at(query) = {.dtype = Dtype::i8, .shape = {24, 24}, .values = std::vector<float>(576)};
  EXPECT_EQ(bert.refusal(), line + ": expected floating-point numbers, found int8");
  bert.file.arrays.erase(query);
  EXPECT_EQ(bert.refusal(), line + ": expected a tensor (24, 24), found none");
  Parts gpt2("gpt2");
  gpt2.file.arrays.at("transformer.h.0.attn.c_attn.weight").shape = {72, 24};
  EXPECT_EQ(gpt2.refusal(),
            "some/m/model.safetensors: transformer.h.0.attn.c_attn.weight: expected (24, 72), found (72, 24)");
  Parts norm("bert");
  norm.file.arrays.at("embeddings.LayerNorm.weight") = filled({25}, 0);
  EXPECT_EQ(norm.refusal(), "some/m/model.safetensors: embeddings.LayerNorm.weight: expected (24,), found (25,)");
}

}  // namespace
}  // namespace headlight
