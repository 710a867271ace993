// config.json and the folder of a checkpoint: what is understood, and every damage in one line.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "core/checkpoints.h"
#include "math/forward.h"

namespace headlight {
namespace {

using namespace checkpoints;

TEST(Checkpoint, RefusesConfigurationsThatNoModelHas) {
  using nlohmann::json;
  const std::tuple<const char*, const char*, json, const char*> cases[] = {
      {"bert", "model_type", "mamba",
       "model_type: expected a family of docs/models.md, found \"mamba\"; the nearest is bert, which "},
      {"bert", "model_type", 3, "found 3; the nearest is bert"},
      {"gpt2", "pruned_heads", json::object({{"0", {1}}}), "pruned_heads: expected none in this family"},
      {"bert", "pruned_heads", json::object({{"2", {1}}}), "pruned_heads: expected lists of heads below 2"},
      {"bert", "pruned_heads", json::object({{"0", {4}}}), "pruned_heads: expected lists of heads below 2"},
      {"bert", "pruned_heads", json::object({{"0", {0, 1, 2, 3}}}), "not all, by layers below 2"},
      {"family-smollm3", "no_rope_layers", json::array({1, 0}), "no_rope_layers: expected 4 numbers 0 or 1"},
      {"family-gpt_neo", "attention_types", json::array(), "attention_types: expected a kind for each of 3 layers"},
      {"family-deberta", "talking_head", true, "talking_head: expected false"},
      {"family-olmo", "clip_qkv", 8, "clip_qkv: expected none in this family, found 8"},
      {"bert", "hidden_size", -24, "hidden_size: expected a whole number from 1 to 8192, found -24"},
      {"bert", "hidden_size", 0, "hidden_size: expected a whole number from 1 to 8192, found 0"},
      {"bert", "hidden_size", 24.5, "hidden_size: expected a whole number from 1 to 8192, found 24.5"},
      {"bert", "hidden_size", "24", "hidden_size: expected a whole number from 1 to 8192, found \"24\""},
      {"bert", "hidden_size", nullptr, "hidden_size: expected a whole number from 1 to 8192, found none"},
      {"bert", "hidden_size", 18446744073709551615u, "found 18446744073709551615"},
      {"bert", "vocab_size", 1e30, "vocab_size: expected a whole number from 1 to 2097152, found 1e+30"},
      {"bert", "num_hidden_layers", 100000, "num_hidden_layers: expected a whole number from 1 to 128, found 100000"},
      {"bert", "num_attention_heads", 5,
       "num_attention_heads: expected a divisor of the 24 columns of a hidden state, found 5"},
      {"bert", "hidden_act", "mish",
       "hidden_act: expected relu, gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, "
       "quick_gelu, silu or swish, found 'mish'"},
      {"bert", "position_embedding_type", "relative_key",
       "position_embedding_type: expected absolute, found 'relative_key'"},
      {"bert", "layer_norm_eps", -1, "layer_norm_eps: expected a number from 0.0 to 1.0, found -1"},
      {"bert", "layer_norm_eps", "small", "layer_norm_eps: expected a number from 0.0 to 1.0, found \"small\""},
      {"bert", "tie_word_embeddings", 1, "tie_word_embeddings: expected true or false, found 1"},
      {"bert", "quantization_config", json::object(), "quantization_config: expected none"},
      {"gpt2", "n_embd", 25, "n_head: expected a divisor of the 25 columns of a hidden state, found 3"},
      {"gpt2", "scale_attn_by_inverse_layer_idx", true,
       "scale_attn_by_inverse_layer_idx: expected false, found true, unsupported"},
      {"gpt2", "n_inner", 0, "n_inner: expected a whole number from 1 to 65536, found 0"},
      {"llama-gqa", "num_key_value_heads", 4,
       "num_key_value_heads: expected a divisor of the 6 attention heads, found 4"},
      {"llama-gqa",
       "rope_scaling",
       {{"rope_type", "longrope"}},
       "rope_scaling.rope_type: expected default, linear, dynamic, llama3 or yarn, found 'longrope'"},
      {"llama-gqa", "rope_scaling", {{"type", "yarn"}}, "rope_scaling.factor: expected a number from 1.0 to"},
      {"llama-gqa",
       "rope_scaling",
       {{"type", "linear"}, {"factor", 0.5}},
       "rope_scaling.factor: expected a number from 1.0 to 1000000.0, found 0.5"},
      {"llama-gqa",
       "rope_scaling",
       {{"type", "llama3"}, {"factor", 8}, {"low_freq_factor", 4}, {"high_freq_factor", 4}},
       "rope_scaling.high_freq_factor: expected more than low_freq_factor"},
      {"llama-gqa", "partial_rotary_factor", 0.5, "partial_rotary_factor: expected 1, found less"},
      {"family-roberta", "pad_token_id", 19,
       "pad_token_id: expected less than max_position_embeddings 20 - 1, found 19"},
      {"family-roberta", "pad_token_id", -1, "pad_token_id: expected a whole number from 0 to"},
      {"family-electra", "embedding_size", 0, "embedding_size: expected a whole number from 1 to 8192, found 0"},
      {"family-electra", "embedding_size", 24, "word_embeddings.weight: expected (53, 24), found (53, 16)"},
      {"family-qwen3", "head_dim", 8, "q_proj.weight: expected (24, 24), found (48, 24)"},
      {"family-qwen2", "attention_bias", false, ""},  // its biases are not asked for
      {"family-bart", "static_position_embeddings", true, "static_position_embeddings: expected false"},
      {"family-bart", "normalize_embedding", false, "normalize_embedding: expected true, found false, unsupported"},
      {"family-t5", "feed_forward_proj", "gated-tanh",
       "feed_forward_proj: expected relu, gelu, gelu_new, silu, or gated-"},
      {"family-t5", "relative_attention_num_buckets", 3,
       "relative_attention_num_buckets: expected a whole number from 4 to"},
      {"family-t5", "relative_attention_max_distance", 4,
       "relative_attention_max_distance: expected more than half of the buckets, found 4"},
      {"llama-gqa", "rope_scaling", 3, "rope_scaling: expected an object or null, found 3"},
      {"llama-gqa", "rope_theta", 0, "rope_theta: expected a number from"},
      {"llama-gqa", "head_dim", 3, "rotary positions: expected an even d_k, found 3"},
      {"llama-gqa", "intermediate_size", 65536, "mlp.gate_proj.weight: expected (65536, 24), found (40, 24)"},
      {"marian", "normalize_before", true, "normalize_before: expected false, found true, unsupported"},
      {"marian", "decoder_vocab_size", 60, "decoder_vocab_size: expected 50, as the embeddings are shared, found 60"},
      {"marian", "encoder_layers", 0, "encoder_layers: expected a whole number from 1 to 128, found 0"},
  };
  for (const auto& [name, key, value, says] : cases) {
    Parts parts(name);
    parts.config[key] = value;
    const std::string line = parts.refusal();
    EXPECT_EQ(line.empty(), std::string_view(says).empty()) << name << " " << key;
    EXPECT_NE(line.find(says), std::string::npos) << name << " " << key << " " << value << ": '" << line << "'";
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
  Parts large("llama-gqa");
  large.config["hidden_size"] = 8192;
  large.config["intermediate_size"] = 65536;
  large.config["num_hidden_layers"] = 128;
  large.config["num_attention_heads"] = 64;
  large.config["num_key_value_heads"] = 64;
  EXPECT_NE(large.refusal().find("config.json: parameters: expected 1 to 68719476736, found"), std::string::npos)
      << large.refusal();
  large.config["intermediate_size"] = 8192;  // a large model, of which nothing is there
  EXPECT_NE(large.refusal().find("model.safetensors: model.embed_tokens.weight: expected (47, 8192)"),
            std::string::npos)
      << large.refusal();
}

TEST(Checkpoint, OptionsOfTheRotationAreReadInEitherPlace) {
  Parts llama("llama-gqa");
  llama.config["rope_theta"] = 500000;
  const auto once = llama.load();
  ASSERT_TRUE(once) << once.error().message();
  EXPECT_FLOAT_EQ(once->model->rotary->frequencies(1), 1.0f / std::sqrt(500000.0f));
  llama.config.erase("rope_theta");
  llama.config["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 500000}};
  EXPECT_FLOAT_EQ(llama.load()->model->rotary->frequencies(1), once->model->rotary->frequencies(1));
}

/// transformers 5 states of T5 and mT5 that all are tied: the stored weights show it. It has no scale for mT5.
TEST(Checkpoint, OutputLayersOfT5AreTiedWhereNoWeightIsStored) {
  Parts parts("family-mt5-gated");
  parts.config["tie_word_embeddings"] = true;
  const auto scale_and_tied = [&] {
    const auto checkpoint = parts.load();
    EXPECT_TRUE(checkpoint) << (checkpoint ? "" : checkpoint.error().message());
    return std::pair(checkpoint->model->output->scale, checkpoint->model->config.tied);
  };
  const float scaled = 1 / std::sqrt(static_cast<float>(parts.config["d_model"].get<int>()));
  EXPECT_EQ(scale_and_tied(), std::pair(scaled, true)) << "as transformers 4 means it";
  for (const auto& [key, value] : {std::pair<const char*, nlohmann::json>{"transformers_version", "5.17.0"},
                                   std::pair<const char*, nlohmann::json>{"scale_decoder_outputs", false}}) {
    Parts newer = parts;
    std::swap(parts, newer);
    parts.config[key] = value;
    EXPECT_EQ(scale_and_tied(), std::pair(1.0f, false)) << key;
    std::map<std::string, Array> wrapped;
    for (const auto& [name, array] : parts.file.arrays) wrapped.emplace("module." + name, array);
    std::swap(parts.file.arrays, wrapped);
    EXPECT_EQ(scale_and_tied(), std::pair(1.0f, false)) << key << ", as a training program wraps the names";
    std::swap(parts.file.arrays, wrapped);
    parts.file.arrays.erase("lm_head.weight");
    EXPECT_EQ(scale_and_tied(), std::pair(1.0f, true)) << key;
    std::swap(parts, newer);
  }
}

/// transformers 5 writes a rotation for each kind of layer, a list of the kinds, and 0 for a window that is not used.
TEST(Checkpoint, ConfigsOfTransformers5AreThoseOfBefore) {
  using nlohmann::json;
  const auto rotation = [](double theta) { return json{{"rope_type", "default"}, {"rope_theta", theta}}; };
  for (const char* name : {"family-gemma3", "family-modernbert"}) {
    SCOPED_TRACE(name);
    Parts parts(name);
    const auto before = parse_hub_config("config.json", parts.config.dump());
    ASSERT_TRUE(before) << before.error().message();
    json kinds = json::array();
    for (const Index window : before->windows) kinds.push_back(window > 0 ? "sliding_attention" : "full_attention");
    const bool gemma = name == std::string("family-gemma3");
    json full = gemma ? parts.config["rope_scaling"] : rotation(parts.config["global_rope_theta"]);
    if (gemma) full["rope_theta"] = parts.config["rope_theta"];
    const json near = rotation(parts.config[gemma ? "rope_local_base_freq" : "local_rope_theta"]);
    for (const char* key : {"rope_theta", "rope_scaling", "rope_local_base_freq", "sliding_window_pattern",
                            "global_rope_theta", "local_rope_theta", "global_attn_every_n_layers"})
      parts.config.erase(key);
    parts.config["layer_types"] = kinds;
    parts.config["rope_parameters"] = {{"full_attention", full}, {"sliding_attention", near}};
    const auto after = parse_hub_config("config.json", parts.config.dump());
    ASSERT_TRUE(after) << after.error().message();
    EXPECT_EQ(after->rotary->frequencies, before->rotary->frequencies);
    EXPECT_EQ(after->window_rotary->frequencies, before->window_rotary->frequencies);
    EXPECT_EQ(after->windows, before->windows);
    parts.config["rope_parameters"]["sliding_attention"]["rope_type"] = "yarn";
    EXPECT_NE(parts.refusal().find("rope_parameters: expected default, found 'yarn'"), std::string::npos)
        << parts.refusal();
  }
  Parts experts("family-qwen3_moe");
  experts.config["num_local_experts"] = experts.config["num_experts"];
  experts.config.erase("num_experts");
  experts.config["sliding_window"] = 0;
  experts.config["use_sliding_window"] = false;
  EXPECT_EQ(experts.refusal(), "");
}

/// Peng et al. 2023, section 3.2: the passage from kept to stretched pairs begins and ends at pairs that turn 32 times
/// and once within the trained length, here 0.35 and 1.10, rounded apart to 0 and 2. It may end beyond the last pair,
/// which is 1.
TEST(Checkpoint, YarnsPassageMayEndBeyondTheLastPair) {
  Parts llama("llama-gqa");
  llama.config["rope_scaling"] = {{"type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 1000}};
  const auto loaded = llama.load();
  ASSERT_TRUE(loaded) << loaded.error().message();
  const Rotary& rotary = *loaded->model->rotary;
  ASSERT_EQ(rotary.frequencies.size(), 2);
  EXPECT_FLOAT_EQ(rotary.frequencies(0), 1) << "the passage begins there: kept";
  EXPECT_FLOAT_EQ(rotary.frequencies(1), 0.01f * (0.5f / 4 + 0.5f))
      << "in the middle of the passage: half of it stretched";
  EXPECT_FLOAT_EQ(rotary.factor, 1 + 0.1f * std::log(4.0f)) << "section 3.4";
}

TEST(Checkpoint, IdsAndPlacesBeyondTheTablesAreRefused) {
  const auto gpt2 = Parts("gpt2").load();
  ASSERT_TRUE(gpt2);
  const auto refusal = [&](const std::vector<std::int64_t>& ids) {
    const auto answer = forward(request_for(gpt2->model, tokens_of_ids(ids)));
    return answer ? std::string{} : answer.error().message();
  };
  EXPECT_EQ(refusal({5, 53}), "token 1: id: expected 0 to 52, found 53");
  EXPECT_EQ(refusal({-1}), "token 0: id: expected 0 to 52, found -1");
  EXPECT_EQ(refusal(std::vector<std::int64_t>(48, 1)), "");
  EXPECT_NE(refusal(std::vector<std::int64_t>(49, 1)), "");
}

TEST(Checkpoint, TheFamilyMayFollowFromTheNamedClass) {
  for (const auto& [golden, names, family] : {std::tuple{"bert", "BertForQuestionAnswering", "bert"},
                                              {"family-roberta", "XLMRobertaForTokenClassification", "roberta"},
                                              {"family-gemma3", "Gemma3ForCausalLM", "gemma3_text"},
                                              {"family-gpt_neo", "GPTNeoModel", "gpt_neo"},
                                              {"family-deberta-v2", "DebertaV2ForSequenceClassification", "deberta-v2"},
                                              {"gpt2", "GPT2LMHeadModel", "gpt2"}}) {
    Parts parts(golden);
    parts.config.erase("model_type");
    parts.config["architectures"] = {names};
    const auto hub = parse_hub_config("config.json", parts.config.dump());
    ASSERT_TRUE(hub) << names << hub.error().message();
    EXPECT_EQ(name(*hub->family), family);
  }
  Parts none("bert");
  none.config.erase("model_type");
  none.config.erase("architectures");
  EXPECT_NE(none.refusal().find("found none; the nearest is bert"), std::string::npos) << none.refusal();
}

TEST(Checkpoint, NumbersOfPythonThatJsonDoesNotHaveAreWrongWhereTheyAreRead) {
  std::string text = Parts("bert").config.dump();
  text.insert(1, R"("router_jitter": NaN, "a \"NaN": [-Infinity, Infinity], "layer_norm_eps_of": "NaN", )");
  ASSERT_TRUE(parse_hub_config("config.json", text)) << parse_hub_config("config.json", text).error().message();
  EXPECT_FALSE(parse_json("config.json", text)) << "no JSON";
  const auto document = parse_python_json("config.json", text);
  EXPECT_EQ((*document)["router_jitter"], "NaN");
  EXPECT_EQ((*document)["layer_norm_eps_of"], "NaN");
  EXPECT_TRUE((*parse_python_json("a.json", "[NaN]", true))[0].is_null());
  for (const char* number : {"NaN", "Infinity", "-Infinity"}) {
    nlohmann::json config = Parts("llama-gqa").config;
    config["rms_norm_eps"] = "here";
    text = config.dump();
    const auto hub = parse_hub_config("config.json", text.replace(text.find("\"here\""), 6, number));
    ASSERT_FALSE(hub) << number;
    EXPECT_EQ(hub.error().message(),
              std::string("config.json: rms_norm_eps: expected a number from 0.0 to 1.0, found \"") + number + "\"");
  }
}

TEST(Checkpoint, SizesThatATextModelBesidePicturesDoesNotStateAreThoseOfItsClass) {
  Parts llava("family-llava");
  llava.config["text_config"] = {{"model_type", "llama"}, {"vocab_size", 32064}, {"rms_norm_eps", 1e-5}};
  const auto hub = parse_hub_config("config.json", llava.config.dump());
  ASSERT_TRUE(hub) << hub.error().message();
  EXPECT_EQ(hub->config.d_model, 4096);
  EXPECT_EQ(hub->config.ffn, 11008);
  EXPECT_EQ(hub->vocabulary, 32064);
  llava.config["text_config"]["model_type"] = "bert";
  EXPECT_NE(llava.refusal().find("text_config.model_type: expected llama, mistral"), std::string::npos)
      << llava.refusal();
}

TEST(Checkpoint, DamagedFoldersGetOneLine) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "checkpoint_test";
  std::filesystem::remove_all(folder);
  const auto refusal = [&] {
    const auto checkpoint = read_checkpoint(folder);
    return checkpoint ? std::string{} : checkpoint.error().message();
  };
  const std::string expected = folder.string() + ": expected a folder with config.json and model.safetensors, found ";
  EXPECT_EQ(refusal(), expected + "no folder");
  std::filesystem::create_directory(folder);
  EXPECT_EQ(refusal(), expected + "no config.json");
  std::ofstream(folder / "tokenizer.json") << "{}";
  EXPECT_EQ(refusal(), expected + "a tokenizer alone, no config.json");
  std::filesystem::copy_file(kGolden / "gpt2" / "config.json", folder / "config.json");
  EXPECT_EQ(refusal(), expected + "no model.safetensors");
  std::ofstream(folder / "model.onnx") << "x";
  EXPECT_NE(refusal().find("found model.onnx, an ONNX file"), std::string::npos) << refusal();
  std::filesystem::remove(folder / "model.onnx");
  std::ofstream(folder / "model-00001-of-00002.safetensors") << "x";
  EXPECT_EQ(refusal(), folder.string() +
                           ": shards: expected all that model-00001-of-00002.safetensors counts, or "
                           "model.safetensors.index.json, found 1");
  std::filesystem::remove(folder / "model-00001-of-00002.safetensors");
  std::ofstream(folder / "model.safetensors")
      << "version https://git-lfs.github.com/spec/v1\noid sha256:0a\nsize 437955512\n";
  EXPECT_EQ(refusal(),
            (folder / "model.safetensors").string() +
                ": expected weights, found a Git LFS pointer to a file of 438 MB, not the file: run `git lfs "
                "pull` in its folder, or download it again");
  std::filesystem::remove(folder / "model.safetensors");
  std::ofstream(folder / "pytorch_model.bin") << "Entry not found";
  EXPECT_EQ(refusal(), (folder / "pytorch_model.bin").string() +
                           ": expected weights, found a text, not the file: 'Entry not found'");
  std::ofstream(folder / "pytorch_model.bin") << '\0';
  EXPECT_EQ(refusal(),
            (folder / "pytorch_model.bin").string() + ": expected a file that torch.save wrote, found other bytes");
  EXPECT_EQ(refusal().find('\n'), std::string::npos);
  std::ofstream(folder / "model.safetensors") << "no tensors";
  EXPECT_NE(refusal().find("model.safetensors: "), std::string::npos);
  std::ofstream(folder / "config.json") << "{\"model_type\": gpt2}";
  EXPECT_NE(refusal().find("config.json: line 1, column 16: expected valid JSON"), std::string::npos) << refusal();
  std::ofstream(folder / "config.json") << "[]";
  EXPECT_EQ(refusal(), (folder / "config.json").string() + ": expected an object, found array");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace headlight
