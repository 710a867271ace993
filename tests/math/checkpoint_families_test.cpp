// What differs between families that share their tables: positions behind padding, windows, biases, relative distances.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/checkpoints.h"
#include "math/embedding.h"
#include "math/forward.h"
#include "read/hub/tensor_names.h"

namespace headlight {
namespace {

using namespace checkpoints;

std::string refusal_of(const std::shared_ptr<const Model>& model, std::size_t tokens, std::int64_t id = 3) {
  const auto ids = tokens_of_ids(std::vector<std::int64_t>(tokens, id));
  const auto answer = forward(request_for(model, ids, model->encoder ? tokens_of_ids({1, 2}) : Tokens{}));
  return answer ? std::string{} : answer.error().message();
}

TEST(Families, ThePrefixMayBeMissing) {
  for (const auto& [name, prefix] : {std::pair{"family-roberta", "roberta."},
                                     {"family-distilbert", "distilbert."},
                                     {"family-electra", "electra."},
                                     {"family-mistral", "model."},
                                     {"family-qwen3", "model."},
                                     {"family-bart", "model."}}) {
    Parts bare(name);
    bare.strip(prefix);
    const auto one = Parts(name).load(), other = bare.load();
    ASSERT_TRUE(one && other) << name << " " << bare.refusal();
    EXPECT_TRUE(one->warnings.empty()) << name << " " << one->warnings.front().message();
    const auto ask = [](const Checkpoint& checkpoint) {
      const auto& model = checkpoint.model;
      return *forward(request_for(model, tokens_of_ids({5, 9}), model->encoder ? tokens_of_ids({4}) : Tokens{}));
    };
    EXPECT_TRUE(same(ask(*one)->last_hidden_state(), ask(*other)->last_hidden_state())) << name;
  }
  Parts t5("family-t5");  // as a sequence classifier stores it
  const auto plain = std::exchange(t5.file.arrays, {});
  for (const auto& [name, array] : plain) t5.file.arrays.emplace("transformer." + name, array);
  t5.config["architectures"] = {"T5ForSequenceClassification"};
  t5.file.arrays.emplace("classification_head.dense.weight", filled({24, 24}, 1));
  ASSERT_TRUE(t5.load()) << t5.refusal();
  EXPECT_FALSE(t5.load()->model->output);
  EXPECT_EQ(t5.load()->warnings.size(), 1u);
}

TEST(Families, TheTextOfAModelThatReadsPicturesIsThatModel) {
  const auto last_of = [](const Checkpoint& checkpoint) {
    return (*forward(request_for(checkpoint.model, tokens_of_ids({5, 9, 44}))))->last_hidden_state();
  };
  const auto alone = Parts("family-gemma3").load();
  Parts pictures("family-gemma3-pictures");
  const auto first = pictures.load();
  ASSERT_TRUE(alone && first) << pictures.refusal();
  EXPECT_TRUE(same(last_of(*alone), last_of(*first)));
  EXPECT_TRUE(first->model->output);
  EXPECT_EQ(first->warnings.size(), 2u) << "one of each part that reads pictures";
  const auto plain = std::exchange(pictures.file.arrays, {});  // as later files name them
  for (const auto& [name, array] : plain) {
    const std::string_view text = "language_model.model.";
    pictures.file.arrays.emplace(
        name.starts_with(text) ? "model.language_model." + name.substr(text.size()) : "model." + name, array);
  }
  const auto later = pictures.load();
  ASSERT_TRUE(later) << pictures.refusal();
  EXPECT_TRUE(same(last_of(*alone), last_of(*later)));
  EXPECT_EQ(later->warnings.size(), 2u);
  pictures.config["text_config"]["model_type"] = "llama";
  EXPECT_TRUE(pictures.refusal().ends_with("text_config.model_type: expected gemma3_text, found \"llama\""))
      << pictures.refusal();
  pictures.config.erase("text_config");
  EXPECT_TRUE(pictures.refusal().ends_with("text_config: expected an object, found none")) << pictures.refusal();
  Parts sinks("llama-gqa");
  sinks.config["model_type"] = "gpt_oss";
  EXPECT_TRUE(sinks.refusal().ends_with(
      "model_type: expected experts with plain gates and weights of 16 or 32 bits, unlike those of gpt-oss, found "
      "\"gpt_oss\""))
      << sinks.refusal();
}

TEST(Families, OptHasItsNormsBeforeOrBehindTheSums) {
  const auto before = Parts("family-opt").load(), behind = Parts("family-opt-post").load();
  ASSERT_TRUE(before && behind);
  EXPECT_TRUE(before->model->final_norm && before->model->config.tied);
  EXPECT_FALSE(behind->model->final_norm || behind->model->config.tied);
  EXPECT_EQ(behind->model->config.norm, Norm::post);
  EXPECT_EQ(behind->model->embeddings.tokens->inputs(), 24);
  EXPECT_TRUE(behind->warnings.empty());
  Parts narrow("family-opt-post");
  narrow.config["word_embed_proj_dim"] = 12;
  EXPECT_NE(narrow.refusal().find("embed_tokens.weight: expected (53, 12), found (53, 10)"), std::string::npos)
      << narrow.refusal();
  narrow.config["word_embed_proj_dim"] = 10;
  narrow.file.arrays.erase("model.decoder.project_out.weight");
  EXPECT_NE(narrow.refusal().find("project_out.weight: expected a tensor (10, 24), found none"), std::string::npos)
      << narrow.refusal();
}

TEST(Families, PaddingHasAPlaceOfItsOwn) {
  const auto roberta = Parts("family-roberta").load();
  ASSERT_TRUE(roberta);
  const Model& model = *roberta->model;
  const Matrix places = position_vectors(model, model, tokens_of_ids({5, 1, 6, 1}));
  const Matrix& table = model.embeddings.positions;
  for (const auto& [token, row] : {std::pair{0, 2}, {1, 1}, {2, 3}, {3, 1}})
    EXPECT_TRUE(same(places.row(token), table.row(row))) << token;
  EXPECT_EQ(refusal_of(roberta->model, 18), "");     // of 20 rows two come before the first position
  EXPECT_EQ(refusal_of(roberta->model, 40, 1), "");  // padding is not counted
  EXPECT_EQ(refusal_of(roberta->model, 19),
            "text: tokens: expected at most 18, the positions that the model knows, found 19");
}

/// The window of each layer.
std::vector<Index> windows_of(Parts& parts) {
  const auto checkpoint = parts.load();
  EXPECT_TRUE(checkpoint) << parts.refusal();
  std::vector<Index> windows;
  for (const BlockWeights& block : checkpoint->model->blocks) windows.push_back(block.self.window);
  return windows;
}

TEST(Families, LayersSeeNoFurtherThanTheirWindow) {
  using Windows = std::vector<Index>;
  Parts mistral("family-mistral");
  EXPECT_EQ(windows_of(mistral), (Windows{16, 16}));
  EXPECT_EQ(refusal_of(mistral.load()->model, 17), "");
  mistral.config["sliding_window"] = nullptr;
  EXPECT_EQ(windows_of(mistral), (Windows{0, 0}));
  mistral.config.erase("sliding_window");  // the meaning of a file that leaves it out
  EXPECT_EQ(windows_of(mistral), (Windows{4096, 4096}));
  Parts dynamic("family-mistral-base");
  EXPECT_EQ(refusal_of(dynamic.load()->model, 65),
            "text: tokens: expected at most 64, as longer ones change the rotation, found 65");
  Parts qwen("family-qwen2");
  EXPECT_EQ(windows_of(qwen), (Windows{0, 0}));
  qwen.config["use_sliding_window"] = true;
  EXPECT_EQ(windows_of(qwen), (Windows{0, 0})) << "no layer is beyond the usual 28";
  qwen.config["max_window_layers"] = 1;
  EXPECT_EQ(windows_of(qwen), (Windows{0, 4}));
  qwen.config["max_window_layers"] = 2;
  EXPECT_EQ(windows_of(qwen), (Windows{0, 0}));
  qwen.config["layer_types"] = {"full_attention", "sliding_attention"};
  EXPECT_EQ(windows_of(qwen), (Windows{0, 4}));
  qwen.config["layer_types"] = {"full_attention", "chunked_attention"};
  EXPECT_TRUE(qwen.refusal().ends_with(
      "layer_types: expected full_attention or sliding_attention, found \"chunked_attention\""))
      << qwen.refusal();
  Parts smol("family-smollm3");
  smol.config["sliding_window"] = 4;
  EXPECT_EQ(windows_of(smol), (Windows{0, 0, 0, 0}));
  smol.config["use_sliding_window"] = true;
  EXPECT_EQ(windows_of(smol), (Windows{0, 4, 0, 4})) << "those that do not rotate";
  smol.config["layer_types"] = {"sliding_attention", "full_attention", "full_attention", "full_attention"};
  EXPECT_EQ(windows_of(smol), (Windows{4, 0, 0, 0}));
  Parts gemma("family-gemma3");
  EXPECT_EQ(windows_of(gemma), (Windows{4, 4, 0, 4}));
  EXPECT_EQ(gemma.load()->model->blocks[2].self.rotary, nullptr);
  EXPECT_NE(gemma.load()->model->blocks[3].self.rotary, nullptr);
  Parts modern("family-modernbert");
  EXPECT_EQ(windows_of(modern), (Windows{0, 4, 4, 0}));
}

TEST(Families, AWindowIsAMaskOfTheLayer) {
  Parts parts("family-gemma2");
  const auto model = parts.load()->model;
  Request request = request_for(model, tokens_of_ids({1, 2, 3, 4, 5, 6}));
  const auto asked = *forward(request);
  EXPECT_EQ(asked->mask(Stack::self, 0).kind(), "causal+window:3");
  EXPECT_EQ(asked->mask(Stack::self, 1).kind(), "causal");
  EXPECT_FALSE(asked->mask(Stack::self, 0).allowed(5, 2));
  EXPECT_TRUE(asked->mask(Stack::self, 0).allowed(5, 3));
  request.mask.window = 0;
  EXPECT_EQ((*forward(request))->mask(Stack::self, 0).kind(), "causal");
  request.mask.window = 2;
  EXPECT_EQ((*forward(request))->mask(Stack::self, 1).kind(), "causal+window:2");
}

TEST(Families, AnOptionOfAnotherFamilyIsRefusedByName) {
  for (const char* option : {"attn_logit_softcapping", "clip_qkv", "attention_multiplier", "use_qk_norm"}) {
    Parts llama("llama-gqa");
    llama.config[option] = 2;
    EXPECT_TRUE(llama.refusal().ends_with(std::string(option) + ": expected none in this family, found 2"))
        << llama.refusal();
    llama.config[option] = nullptr;
    EXPECT_TRUE(llama.load()) << llama.refusal();
  }
  for (const auto& [family, option, value] : {std::tuple{"family-phi", "qk_layernorm", nlohmann::json(true)},
                                              {"llama-gqa", "attention_sinks", nlohmann::json(true)},
                                              {"family-deberta-v3", "relative_attention", nlohmann::json(false)},
                                              {"family-deberta-v3", "conv_kernel_size", nlohmann::json(3)},
                                              {"family-deberta-v3", "embedding_size", nlohmann::json(12)},
                                              {"family-deberta-v3", "pos_att_type", nlohmann::json("c2p|p2p")},
                                              {"family-qwen2_moe", "decoder_sparse_step", nlohmann::json(2)},
                                              {"family-qwen2_moe", "mlp_only_layers", nlohmann::json({0})},
                                              {"family-gemma3", "use_bidirectional_attention", nlohmann::json(true)},
                                              {"family-gpt_neox", "rotary_pct", nlohmann::json(0.4)},
                                              {"family-gptj", "rotary_dim", nlohmann::json(3)}}) {
    Parts parts(family);
    parts.config[option] = value;
    EXPECT_FALSE(parts.load()) << family << " " << option;
  }
}

TEST(Families, APrunedHeadAddsNothingAndTheOthersKeepTheirNumbers) {
  const auto pruned = Parts("family-bert-pruned").load();
  ASSERT_TRUE(pruned) << Parts("family-bert-pruned").refusal();
  ASSERT_EQ(pruned->warnings.size(), 1u);
  EXPECT_NE(pruned->warnings.front().message().find("pruned_heads: 2 of layer 0 are not stored"), std::string::npos);
  const AttentionWeights& first = pruned->model->blocks[0].self;
  EXPECT_TRUE(weight_rows(first.value, 6, 12).isZero());
  EXPECT_FALSE(weight_rows(first.value, 18, 6).isZero());
  const auto trace = *forward(request_for(pruned->model, tokens_of_ids({5, 9, 44, 7})));
  EXPECT_TRUE(attention_rows(*trace, {0, 1}, 0, 4).isApproxToConstant(0.25f)) << "even rows";
  Parts whole("family-bert-pruned");
  whole.config.erase("pruned_heads");
  EXPECT_NE(whole.refusal().find("expected (24, 24), found (12, 24)"), std::string::npos) << whole.refusal();
}

TEST(Families, LayersOfSmolLmMayNotRotate) {
  Parts smol("family-smollm3");
  const auto model = smol.load()->model;
  EXPECT_FALSE(model->blocks[0].self.rotary);
  ASSERT_TRUE(model->blocks[1].self.rotary);
  EXPECT_TRUE(model->blocks[1].self.rotary->frequencies.isZero());
  smol.config.erase("no_rope_layers");
  EXPECT_TRUE(smol.load()->model->blocks[3].self.rotary) << "each second";
  smol.config.erase("no_rope_layer_interval");
  EXPECT_FALSE(smol.load()->model->blocks[1].self.rotary) << "each fourth";
}

TEST(Families, HeadsOfClassesAndSpansAreKnownParts) {
  for (const auto& [golden, prefix, tensors] :
       {std::tuple{"bert", "", std::vector{"classifier.weight", "qa_outputs.weight"}},
        {"gpt2", "", {"score.weight", "qa_outputs.weight", "classifier.weight"}},
        {"family-gpt_neo", "", {"score.weight", "qa_outputs.weight", "classifier.weight"}},
        {"family-bloom", "", {"score.weight", "qa_outputs.weight", "classifier.weight"}},
        {"family-modernbert", "", {"classifier.weight", "qa_outputs.weight"}},
        {"family-electra", "", {"classifier.dense.weight", "qa_outputs.weight"}},
        {"family-deberta", "", {"pooler.dense.weight", "classifier.weight", "qa_outputs.weight"}},
        {"family-starcoder2", "", {"score.weight", "qa_outputs.weight"}},
        {"family-mbart", "", {"classification_head.dense.weight", "qa_outputs.weight"}},
        {"family-mistral", "", {"score.weight", "qa_outputs.weight"}}}) {
    Parts parts(golden);
    for (const char* tensor : tensors) parts.file.arrays.emplace(prefix + std::string(tensor), filled({2, 24}, 1));
    const auto loaded = parts.load();
    ASSERT_TRUE(loaded) << golden << " " << parts.refusal();
    for (const Error& warning : loaded->warnings)
      EXPECT_NE(warning.code, ErrorCode::foreign_tensor) << golden << " " << warning.message();
  }
}

TEST(Families, FewerKeysAndValuesWhereTheConfigurationDoesNotSay) {
  Parts mistral("family-mistral");
  mistral.config["hidden_size"] = 48;
  mistral.config["num_attention_heads"] = 8;
  mistral.config["head_dim"] = 4;
  mistral.config.erase("num_key_value_heads");
  const auto hub = parse_hub_config("config.json", mistral.config.dump());
  ASSERT_TRUE(hub);
  EXPECT_EQ(hub->config.kv_heads(), 8);
  mistral.config["num_attention_heads"] = 4;
  mistral.config["num_key_value_heads"] = nullptr;
  EXPECT_EQ(parse_hub_config("config.json", mistral.config.dump())->config.kv_heads(), 4);
  Parts qwen3("family-qwen3");
  qwen3.config.erase("head_dim");
  EXPECT_EQ(parse_hub_config("config.json", qwen3.config.dump())->config.d_k(), 128);
}

TEST(Families, BiasesAndHeadNormsAreWhereTheFamilyHasThem) {
  const auto qwen2 = Parts("family-qwen2").load(), qwen3 = Parts("family-qwen3").load();
  ASSERT_TRUE(qwen2 && qwen3);
  const AttentionWeights& two = qwen2->model->blocks[0].self;
  EXPECT_EQ(two.query.bias.size(), 24);
  EXPECT_EQ(two.key.bias.size(), 8);
  EXPECT_EQ(two.output.bias.size(), 0);
  EXPECT_FALSE(two.query_norm);
  const AttentionWeights& three = qwen3->model->blocks[0].self;
  EXPECT_EQ(three.query.bias.size(), 0);
  ASSERT_TRUE(three.query_norm && three.key_norm);
  EXPECT_EQ(three.key_norm->scale.size(), 16);
  EXPECT_EQ(three.key_norm->kind, NormKind::rms_norm);
  EXPECT_NEAR(qwen3->model->rotary->factor, 1.1386294f, 1e-6f);
  Parts without("family-qwen3");
  without.file.arrays.erase("model.layers.1.self_attn.k_norm.weight");
  EXPECT_EQ(without.refusal(),
            "some/m/model.safetensors: model.layers.1.self_attn.k_norm.weight: expected a tensor (16,), found none");
}

TEST(Families, AnElectraWithoutAProjectionIsABertWithItsNames) {
  Parts electra("family-electra");
  EXPECT_FALSE(electra.load()->model->embeddings.projection.is_identity());
  EXPECT_EQ(electra.load()->model->output->transform.outputs(), 16);
  electra.config["architectures"] = {"ElectraForPreTraining"};
  electra.config["embedding_size"] = 24;
  for (const char* table : {"word", "position", "token_type"}) {
    Array& array = electra.file.arrays.at("electra.embeddings." + std::string(table) + "_embeddings.weight");
    array = filled({array.shape[0], 24}, 1);
  }
  for (const char* part : {"weight", "bias"})
    electra.file.arrays.at("electra.embeddings.LayerNorm." + std::string(part)) = filled({24}, 2);
  ASSERT_TRUE(electra.load()) << electra.refusal();
  EXPECT_TRUE(electra.load()->model->embeddings.projection.is_identity());
  EXPECT_FALSE(electra.load()->model->output);
  // The parts that are now unknown: the projection and the generator's layers.
  EXPECT_EQ(electra.load()->warnings.size(), 2u + 5u);
}

TEST(Families, TiedOrNot) {
  for (const auto& [name, stored, head] :
       {std::tuple{"family-roberta", "roberta.embeddings.word_embeddings.weight", "lm_head.decoder.weight"},
        {"family-distilbert", "distilbert.embeddings.word_embeddings.weight", "vocab_projector.weight"},
        {"family-electra", "electra.embeddings.word_embeddings.weight", "generator_lm_head.weight"},
        {"family-qwen2", "model.embed_tokens.weight", "lm_head.weight"},
        {"family-bart", "model.shared.weight", "lm_head.weight"},
        {"family-t5", "shared.weight", "lm_head.weight"}}) {
    Parts parts(name);
    parts.file.arrays.emplace(head, parts.file.arrays.at(stored));
    ASSERT_TRUE(parts.load()) << name << " " << parts.refusal();
    EXPECT_TRUE(parts.load()->warnings.empty()) << name;
    parts.file.arrays.at(head).values[1] += 1;
    ASSERT_EQ(parts.load()->warnings.size(), 1u) << name;
    EXPECT_NE(parts.load()->warnings.front().message().find(": differs from "), std::string::npos);
    parts.config["tie_word_embeddings"] = false;
    const auto untied = parts.load();
    ASSERT_TRUE(untied) << name << " " << parts.refusal();
    EXPECT_TRUE(untied->warnings.empty()) << name << " " << untied->warnings.front().message();
    ASSERT_TRUE(untied->model->output) << name;
    EXPECT_NE(untied->model->output->weight, untied->model->embeddings.tokens);
  }
  // Newer files of T5 state only whether there is a scale.
  Parts t5("family-mt5-gated");
  t5.config["tie_word_embeddings"] = true;
  t5.config["scale_decoder_outputs"] = false;
  ASSERT_TRUE(t5.load()) << t5.refusal();
  EXPECT_EQ(t5.load()->model->output->scale, 1.0f);
  EXPECT_TRUE(t5.load()->warnings.empty());
}

/// What another program answers for slopes of six heads, and for positions that are equal in bfloat16.
/// Every family's table names each of its fields, and each name once.
TEST(NameTables, AreWhole) {
  for (const char* name : {"bert",
                           "gpt2",
                           "llama-gqa",
                           "marian",
                           "family-roberta",
                           "family-distilbert",
                           "family-electra",
                           "family-mistral",
                           "family-qwen2",
                           "family-qwen3",
                           "family-bart",
                           "family-t5",
                           "family-mt5-gated",
                           "family-gpt_neo",
                           "family-granite",
                           "family-smollm3",
                           "family-starcoder2",
                           "family-mbart",
                           "family-qwen2_vl",
                           "family-clip_text_model",
                           "family-siglip_text_model"}) {
    const auto hub = parse_hub_config("config.json", Parts(name).config.dump());
    ASSERT_TRUE(hub) << hub.error().message();
    const std::vector<Row> rows = tensor_names(*hub, true);
    std::set<std::string> names;
    for (const Row& row : rows) {
      EXPECT_TRUE(names.insert(std::string(row.name)).second) << name << " " << row.name;
      for (const auto other : row.also) EXPECT_TRUE(names.insert(std::string(other)).second) << name << " " << other;
      const TensorShape size = shape(row.field, row.part, *hub);
      EXPECT_TRUE(kind(row.field) == FieldKind::none || (size.rows > 0 && size.cols > 0)) << name << " " << row.name;
    }
    for (const Field field : {Field::tokens, Field::attention_output, Field::attention_norm, Field::up, Field::down})
      EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.field == field; })) << name;
  }
}

}  // namespace
}  // namespace headlight
