// Adapters that cannot be merged: one line each. What merging computes is held against numpy's answer
// (tests/golden/adapters.py).
#include "read/hub/adapter.h"

#include "core/checkpoints.h"

namespace headlight::adapter_test {
namespace {

using nlohmann::json;
using namespace checkpoints;

constexpr const char* kModule = "model.layers.0.self_attn.q_proj";

Array filled(std::vector<Index> shape, float value) {
  const std::size_t count = *num_elements(shape);
  return {.shape = std::move(shape), .values = std::vector<float>(count, value)};
}

std::string bytes_of(const std::map<std::string, Array>& arrays) {
  json header = json::object();
  std::string data;
  for (const auto& [name, array] : arrays) {
    const std::size_t size = array.values.size() * sizeof(float);
    header[name] = {{"dtype", "F32"}, {"shape", array.shape}, {"data_offsets", {data.size(), data.size() + size}}};
    data.append(reinterpret_cast<const char*>(array.values.data()), size);
  }
  const std::string text = header.dump();
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>((text.size() >> (8 * i)) & 0xFF);
  return file + text + data;
}

/// A golden Llama with an adapter beside its weights.
class AdapterFolder : public testing::Test {
 protected:
  AdapterFolder()
      : folder_(std::filesystem::path(testing::TempDir()) /
                (std::string("adapter_") + testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::copy(kGolden / "llama-gqa", folder_);
    arrays_[std::string("base_model.model.") + kModule + ".lora_A.weight"] = filled({2, 24}, 0.5f);
    arrays_[std::string("base_model.model.") + kModule + ".lora_B.weight"] = filled({24, 2}, 0.25f);
  }
  ~AdapterFolder() override { std::filesystem::remove_all(folder_); }

  Result<Checkpoint> read(AdapterChoice choice = {}) {
    EXPECT_TRUE(write_file(folder_ / "adapter_config.json", config_.dump()));
    EXPECT_TRUE(write_file(folder_ / "adapter_model.safetensors", bytes_of(arrays_)));
    Progress progress;
    return read_checkpoint(folder_, progress, kMostWidenedBytes, Reading::whole, choice);
  }
  void expect_refused(std::string_view part) {
    const auto checkpoint = read();
    ASSERT_FALSE(checkpoint) << part;
    const std::string message = checkpoint.error().message();
    EXPECT_NE(message.find(part), message.npos) << message;
    EXPECT_EQ(message.find('\n'), message.npos);
  }

  std::filesystem::path folder_;
  json config_{{"peft_type", "LORA"}, {"r", 2}, {"lora_alpha", 4}};
  std::map<std::string, Array> arrays_;
};

TEST_F(AdapterFolder, IsMergedUnlessItIsLeftOut) {
  const auto merged = read(), base = read({.none = true});
  ASSERT_TRUE(merged) << merged.error().message();
  ASSERT_TRUE(base);
  EXPECT_TRUE(merged->warnings.empty());
  const auto& [with, without] = std::pair(merged->model->blocks[0].self.query, base->model->blocks[0].self.query);
  const Matrix moved = weight_rows(with, 0, 24) - weight_rows(without, 0, 24);
  EXPECT_NEAR(moved.minCoeff(), 0.5f, 1e-6f);  // (4 / 2) · 2 · 0.25 · 0.5
  EXPECT_NEAR(moved.maxCoeff(), 0.5f, 1e-6f);
}

TEST_F(AdapterFolder, IsTurnedAsItsLayerIsWhateverTheFlagSays) {
  arrays_[std::string("base_model.model.") + kModule + ".lora_B.weight"].values[0] = 9;
  const auto plain = read();
  config_["fan_in_fan_out"] = true;  // peft puts it right for a linear layer
  const auto flagged = read();
  ASSERT_TRUE(plain && flagged);
  const auto query = [](const auto& read) { return weight_rows(read->model->blocks[0].self.query, 0, 24); };
  EXPECT_EQ(query(plain), query(flagged));
}

TEST_F(AdapterFolder, ThatIsNoLoraIsRefusedByName) {
  config_["peft_type"] = "IA3";
  expect_refused("peft_type: expected LORA, the kind of adapter that is merged, found 'IA3'");
  config_["peft_type"] = "LORA";
  config_["target_parameters"] = json::array({"mlp.experts"});
  expect_refused("target_parameters");
  config_.erase("target_parameters");
  arrays_["base_model.model.model.layers.0.self_attn.k_proj.ia3_l"] = filled({12, 1}, 1);
  expect_refused("a tensor of another kind");
}

TEST_F(AdapterFolder, OfOtherSizesIsRefused) {
  config_["r"] = 0;
  expect_refused("r: expected");
  config_["r"] = 3;
  expect_refused("lora_A: expected (3, 24), as the base and the rank have it, found (2, 24)");
  config_["r"] = 2;
  config_["rank_pattern"] = {{"q_proj", 2.5}};
  expect_refused("rank_pattern: expected whole ranks of 1 or more, found 2.5");
  config_.erase("rank_pattern");
  arrays_[std::string("base_model.model.") + kModule + ".lora_B.weight"] = filled({23, 2}, 1);
  expect_refused("lora_B: expected (24, 2)");
  arrays_.erase(std::string("base_model.model.") + kModule + ".lora_B.weight");
  expect_refused("found no lora_B");
  arrays_ = {{"base_model.model.model.layers.9.self_attn.q_proj.lora_A.weight", filled({2, 24}, 1)}};
  expect_refused("a module of the base, found none of this name");
}

TEST_F(AdapterFolder, WithoutItsNumbersIsRefused) {
  config_["lora_alpha"] = nullptr;
  ASSERT_TRUE(read());  // peft's own default
  EXPECT_TRUE(write_file(folder_ / "adapter_config.json", R"({"peft_type": "LORA", "r": 2, "lora_alpha": NaN})"));
  EXPECT_FALSE(read_checkpoint(folder_));
  config_["lora_alpha"] = 4;
  ASSERT_TRUE(read());
  std::filesystem::remove(folder_ / "adapter_model.safetensors");
  const auto checkpoint = read_checkpoint(folder_);
  ASSERT_FALSE(checkpoint);
  EXPECT_NE(checkpoint.error().message().find("adapter_model.safetensors or adapter_model.bin"), std::string::npos);
}

TEST_F(AdapterFolder, OfNumbersThatAreNoneIsNamedItself) {
  arrays_[std::string("base_model.model.") + kModule + ".lora_A.weight"] = filled({2, 24}, NAN);
  expect_refused("adapter_model.safetensors: model.layers.0.self_attn.q_proj.lora_A[0, 0]: expected a finite number");
  arrays_.clear();
  expect_refused("adapter: expected tensors of LoRA (lora_A, lora_B, …), found none");
}

// As peft computes: an entry of modules_to_save, and what LoRA changes, has an array of its own.
TEST_F(AdapterFolder, ChangesOneOfTwoTiedLayersAlone) {
  auto file = read_safetensors(folder_ / "model.safetensors");
  ASSERT_TRUE(file);
  file->arrays.erase("lm_head.weight");
  EXPECT_TRUE(write_file(folder_ / "model.safetensors", bytes_of(file->arrays)));
  json config = *parse_json("c", *read_file(folder_ / "config.json"));
  config["tie_word_embeddings"] = true;
  EXPECT_TRUE(write_file(folder_ / "config.json", config.dump()));
  const auto expect = [&](float tokens, float words, bool tied = false) {  // 0: the base's
    const auto merged = read(), base = read({.none = true});
    ASSERT_TRUE(merged) << merged.error().message();
    EXPECT_TRUE(merged->warnings.empty()) << merged->warnings.front().message();
    EXPECT_EQ(merged->model->config.tied, tied);
    const Matrix table = weight_rows(*base->model->embeddings.tokens, 0, 47);
    const auto is = [&](const Linear& weight, float value) {
      return weight_rows(weight, 0, 47).isApprox(value == 0 ? table : Matrix::Constant(47, 24, value).eval());
    };
    EXPECT_TRUE(is(*merged->model->embeddings.tokens, tokens));
    EXPECT_TRUE(is(*merged->model->output->weight, words));
  };
  const std::string tokens = "base_model.model.model.embed_tokens", words = "base_model.model.lm_head";
  expect(0, 0, true);
  arrays_[words + ".weight"] = filled({47, 24}, 2);
  config_["modules_to_save"] = {"lm_head"};
  expect(0, 2);
  arrays_[tokens + ".weight"] = filled({47, 24}, 3);
  config_["modules_to_save"] = {"lm_head", "embed_tokens"};
  expect(3, 2);
  arrays_.erase(words + ".weight");
  config_["modules_to_save"] = {"embed_tokens"};
  expect(3, 0);
  config_["ensure_weight_tying"] = true;
  expect(3, 3, true);
  config_.erase("modules_to_save"), config_.erase("ensure_weight_tying");
  expect(3, 3, true);  // the base's table itself, saved beside the adapter
  arrays_[words + ".lora_A.weight"] = filled({2, 24}, 0.5f);
  arrays_[words + ".lora_B.weight"] = filled({47, 2}, 0.25f);
  expect(3, 3.5f);
}

TEST_F(AdapterFolder, OfAnotherPartIsNotMergedIntoTheText) {
  const auto put = [&](const std::string& before) {
    arrays_.clear();
    for (const auto& [side, shape] : {std::pair{"A", std::vector<Index>{2, 24}}, {"B", {24, 2}}})
      arrays_["base_model.model." + before + "layers.0.self_attn.q_proj.lora_" + side + ".weight"] = filled(shape, 1);
  };
  for (const char* other : {"vision_tower.vision_model.encoder.", "model.visual.", "audio_tower."}) {
    put(other);
    expect_refused("a module of the base, found none of this name");
  }
  for (const char* wrapper : {"", "model.", "language_model.model.", "model.language_model.", "_orig_mod.model."}) {
    put(wrapper);
    EXPECT_TRUE(read()) << wrapper;
  }
}

TEST_F(AdapterFolder, TensorsOfLoraAreNeverNotUsed) {
  auto file = read_safetensors(folder_ / "model.safetensors");
  ASSERT_TRUE(file);
  file->arrays[std::string(kModule) + ".lora_A.weight"] = filled({2, 24}, 0.5f);
  file->arrays[std::string(kModule) + ".lora_B.weight"] = filled({24, 2}, 0.25f);
  EXPECT_TRUE(write_file(folder_ / "model.safetensors", bytes_of(file->arrays)));
  const auto checkpoint = read_checkpoint(folder_);
  ASSERT_FALSE(checkpoint);
  EXPECT_NE(checkpoint.error().message().find("adapter_config.json beside it"), std::string::npos);
}

TEST_F(AdapterFolder, ABiasThatTheBaseLacksIsRefused) {
  arrays_[std::string("base_model.model.") + kModule + ".bias"] = filled({24}, 1);
  expect_refused("q_proj.bias: expected a bias in the base, which it changes, found none");
}

TEST_F(AdapterFolder, OfAMethodThatChangesTheBaseIsToldOf) {
  config_["init_lora_weights"] = "pissa_niter_4";
  const auto checkpoint = read();
  ASSERT_TRUE(checkpoint);
  ASSERT_EQ(checkpoint->warnings.size(), 1u);
  EXPECT_NE(checkpoint->warnings[0].message().find("pissa_niter_4"), std::string::npos);
}

}  // namespace
}  // namespace headlight::adapter_test
