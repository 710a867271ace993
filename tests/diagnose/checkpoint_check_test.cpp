// What the check of a checkpoint reports of good ones, and of each way of loading wrong.
#include "diagnose/check/checkpoint_check.h"

#include <gtest/gtest.h>
#include <zip.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#include "core/checkpoints.h"
#include "math/forward.h"
#include "read/array/npz.h"
#include "read/array/safetensors.h"
#include "write/npz.h"

namespace headlight {
namespace {

using namespace checkpoints;

/// The lines of one severity.
std::vector<std::string> lines(const std::vector<Finding>& findings, Severity severity) {
  std::vector<std::string> result;
  for (const Finding& finding : findings)
    if (finding.severity == severity) result.push_back(finding.line);
  return result;
}

bool any_has(const std::vector<std::string>& all, std::string_view text) {
  return std::any_of(all.begin(), all.end(), [&](const std::string& line) { return line.find(text) != line.npos; });
}

class CheckpointCheck : public testing::Test {
 protected:
  CheckpointCheck()
      : folder_(std::filesystem::path(testing::TempDir()) /
                (std::string("checkpoint_check_") + testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(folder_);
  }
  ~CheckpointCheck() override { std::filesystem::remove_all(folder_); }

  /// A golden folder, its answers beside it as a reference's.
  void take(const std::string& golden) {
    std::filesystem::remove_all(folder_);
    std::filesystem::copy(kGolden / golden, folder_);
    std::filesystem::rename(folder_ / "expected.npz", folder_ / "reference.npz");
  }

  std::vector<Finding> check() const {
    Progress progress;
    return check_checkpoint(folder_, progress);
  }

  void change_config(const std::string& key, const nlohmann::json& value) const {
    auto config = *parse_json("config.json", *read_file(folder_ / "config.json"));
    config[key] = value;
    std::ofstream(folder_ / "config.json") << config;
  }

  std::filesystem::path folder_;
};

TEST_F(CheckpointCheck, FindsNothingWrongWithWhatAnswersAsItsReference) {
  for (const char* name :
       {"family-roberta", "family-qwen3",    "family-t5",        "family-llama3-sharded",  "family-bart",
        "family-opt",     "family-opt-post", "family-bloom",     "family-gpt_neox",        "family-gptj",
        "family-phi",     "family-phi3",     "family-falcon-7b", "family-falcon-40b",      "family-gemma",
        "family-gemma2",  "family-olmo2",    "family-mixtral",   "family-gemma3-pictures", "family-qwen2_moe",
        "family-albert",  "family-ernie",    "family-mpnet",     "family-modernbert",      "family-deberta-v2",
        "family-pegasus", "family-m2m_100",  "family-mt5-gated", "family-falcon-rw",       "family-headlight-sinks"}) {
    take(name);
    const auto findings = check();
    EXPECT_LE(gravest(findings), Severity::note) << name << " " << findings.back().line;
    const auto good = lines(findings, Severity::good);
    EXPECT_TRUE(any_has(good, "reference.npz: last_hidden_state: as the reference, to within ")) << name;
    EXPECT_TRUE(any_has(good, "reference.npz: logits: as the reference")) << name;
    EXPECT_TRUE(any_has(good, "attentions: as the reference")) << name;
    EXPECT_TRUE(any_has(good, "tensors: none is missing, and none is unknown")) << name;
  }
}

// A small model built by hand has norms that no training touched; answers that agree are proof all the same.
TEST_F(CheckpointCheck, AgreementIsProofWhateverTheNormsLookLike) {
  take("family-qwen3");
  auto bytes = *read_file(folder_ / "model.safetensors");
  const auto stored = *locate_safetensors("m", bytes);
  for (const auto& [name, array] : stored.arrays)
    if (name.find("norm") != std::string::npos) {
      const std::vector<float> ones(array.bytes.size() / sizeof(float), 1.0f);
      std::memcpy(bytes.data() + (array.bytes.data() - bytes.data()), ones.data(), array.bytes.size());
    }
  ASSERT_TRUE(write_file(folder_ / "model.safetensors", bytes));
  EXPECT_FALSE(agrees_with_reference(check()));
  EXPECT_TRUE(any_has(lines(check(), Severity::warning), "norms: expected trained ones, found 1 and 0"));

  const auto file = read_npz(folder_ / "reference.npz");
  const auto checkpoint = read_checkpoint(folder_);
  const auto asked = request_of("r", *file, checkpoint->model);
  ASSERT_TRUE(asked) << asked.error().message();
  const auto trace = forward(*asked);
  ASSERT_TRUE(trace);
  // Of the reference the ids stay, and the answer becomes that of the changed model.
  const Matrix state = (*trace)->last_hidden_state();
  const std::string answer =
      npy_header({state.rows(), state.cols()}) +
      std::string(reinterpret_cast<const char*>(state.data()), static_cast<std::size_t>(state.size()) * sizeof(float));
  zip_t* archive = zip_open((folder_ / "reference.npz").string().c_str(), 0, nullptr);
  ASSERT_NE(archive, nullptr);
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive, 0); ++i)
    if (zip_get_name(archive, i, 0) != std::string("ids.npy")) zip_delete(archive, i);
  zip_source_t* source = zip_source_buffer(archive, answer.data(), answer.size(), 0);
  ASSERT_GE(zip_file_add(archive, "last_hidden_state.npy", source, ZIP_FL_OVERWRITE), 0);
  ASSERT_EQ(zip_close(archive), 0);
  const auto findings = check();
  EXPECT_TRUE(agrees_with_reference(findings));
  EXPECT_LE(gravest(findings), Severity::note) << lines(findings, Severity::warning).front();
  EXPECT_TRUE(any_has(lines(findings, Severity::note), "norms: expected trained ones, found 1 and 0"));
}

TEST_F(CheckpointCheck, NamesTheMistakeThatExplainsOtherAnswers) {
  take("family-roberta");
  EXPECT_FALSE(any_has(lines(check(), Severity::note), "with this mistake"));
  auto bytes = *read_file(folder_ / "model.safetensors");
  const auto stored = *locate_safetensors("m", bytes);
  const std::string of = "roberta.encoder.layer.1.attention.self.";
  for (const char* part : {".weight", ".bias"}) {
    const std::string_view query = stored.arrays.at(of + "query" + part).bytes;
    const std::string_view key = stored.arrays.at(of + "key" + part).bytes;
    ASSERT_EQ(query.size(), key.size());
    std::swap_ranges(bytes.data() + (query.data() - bytes.data()),
                     bytes.data() + (query.data() - bytes.data()) + query.size(),
                     bytes.data() + (key.data() - bytes.data()));
  }
  ASSERT_TRUE(write_file(folder_ / "model.safetensors", bytes));
  const auto findings = check();
  EXPECT_EQ(gravest(findings), Severity::error);
  EXPECT_TRUE(any_has(lines(findings, Severity::note),
                      "reference.npz: attentions: layer 1 here is as with this mistake: query and key swapped"));
}

TEST_F(CheckpointCheck, SeesEveryOptionThatIsReadWrong) {
  const std::tuple<const char*, const char*, nlohmann::json> mistakes[] = {
      {"family-roberta", "pad_token_id", 2},
      {"family-roberta", "layer_norm_eps", 0.1},
      {"family-qwen3", "rope_theta", 10000.0},
      {"family-qwen3", "rope_scaling", nullptr},
      {"family-llama3-sharded", "rope_scaling", nullptr},
      {"family-qwen2", "rope_scaling", {{"type", "linear"}, {"factor", 2.0}}},
      {"family-t5", "relative_attention_max_distance", 30},
      {"family-t5", "tie_word_embeddings", true},  // as it is: nothing is found
      {"family-mt5-gated", "feed_forward_proj", "gated-silu"},
      {"family-bart", "scale_embedding", false},
      {"family-distilbert", "activation", "relu"},
      {"family-opt", "activation_function", "gelu"},
      {"family-opt-post", "activation_function", "silu"},
      {"family-bloom", "layer_norm_epsilon", 0.1},
      {"family-gpt_neox", "use_parallel_residual", false},
      {"family-gptj", "activation_function", "relu"},
      {"family-falcon-7b", "rope_theta", 100.0},
      {"family-falcon-40b", "rope_theta", 100.0},
      {"family-phi", "partial_rotary_factor", 1.0},
      {"family-phi3", "sliding_window", 3},
      {"family-gemma", "hidden_activation", "relu"},
      {"family-gemma2", "attn_logit_softcapping", nullptr},
      {"family-gemma2", "final_logit_softcapping", 4.0},
      {"family-gemma3", "rope_local_base_freq", 10000.0},
      {"family-gemma3", "query_pre_attn_scalar", 10},
      {"family-olmo2", "rope_theta", 10000.0},
      {"family-mixtral", "num_experts_per_tok", 1},
      {"family-qwen2_moe", "norm_topk_prob", true},
      {"family-qwen3_moe", "norm_topk_prob", false},
      {"family-modernbert", "local_attention", 20},
      {"family-deberta-v3", "pos_att_type", "c2p"},
      {"family-albert", "hidden_act", "relu"},
      {"family-ernie", "hidden_act", "relu"},
      {"family-electra", "hidden_act", "relu"},
      {"family-mpnet", "layer_norm_eps", 0.1},
      {"family-pegasus", "scale_embedding", false},
      {"family-m2m_100", "scale_embedding", false},
  };
  for (const auto& [name, key, value] : mistakes) {
    take(name);
    const bool changed = (*parse_json("", *read_file(folder_ / "config.json")))[key] != value;
    change_config(key, value);
    EXPECT_EQ(any_has(lines(check(), Severity::error), "expected differences of at most "), changed)
        << name << " " << key;
  }
}

TEST_F(CheckpointCheck, SaysWithoutAReferenceWhatCanBeSeen) {
  take("family-mistral");
  std::filesystem::remove(folder_ / "reference.npz");
  const auto findings = check();
  EXPECT_LE(gravest(findings), Severity::note);
  EXPECT_TRUE(any_has(lines(findings, Severity::note), "reference.npz: not beside the model"));
  EXPECT_TRUE(any_has(lines(findings, Severity::good), "attention: "));
}

TEST_F(CheckpointCheck, TellsSurplusTensorsAndWordsWithoutAVector) {
  take("bert");
  std::filesystem::remove(folder_ / "reference.npz");  // has no ids
  std::ofstream vocabulary(folder_ / "vocab.txt");
  for (const char* word : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) vocabulary << word << "\n";
  for (int i = 5; i < 61; ++i) vocabulary << "w" << i << "\n";
  vocabulary.flush();
  auto findings = check();
  EXPECT_TRUE(any_has(lines(findings, Severity::good), "vocab.txt: ids: all 61 have a vector")) << findings.back().line;
  EXPECT_TRUE(any_has(lines(findings, Severity::note), "pooler.*: needed neither"));
  EXPECT_LE(gravest(findings), Severity::note);
  vocabulary << "one more\n";
  vocabulary.close();
  findings = check();
  EXPECT_TRUE(any_has(lines(findings, Severity::error),
                      "vocab.txt: ids: expected less than the 61 token vectors, found 61, which has none"));
  change_config("num_hidden_layers", 1);
  EXPECT_TRUE(any_has(lines(check(), Severity::warning), "encoder.layer.1.attention.self.query.weight: no part of"));
  change_config("num_hidden_layers", 3);
  findings = check();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::error);
  EXPECT_NE(findings[0].line.find("encoder.layer.2"), std::string::npos);
}

/// A checkpoint in memory whose numbers were changed.
std::vector<Finding> findings_of(const Parts& parts) {
  const auto checkpoint = parts.load();
  if (!checkpoint) return {{Severity::error, checkpoint.error().message()}};
  Progress progress;
  return check_checkpoint("nowhere", checkpoint->model, checkpoint->warnings, progress);
}

TEST(CheckpointSanity, UntrainedWeightsAreSeen) {
  Parts llama("llama-gqa");
  EXPECT_LE(gravest(findings_of(llama)), Severity::note);
  for (auto& [name, array] : llama.file.arrays) {
    if (name.find("norm") != std::string::npos) std::fill(array.values.begin(), array.values.end(), 1.0f);
    else if (name.find("embed") == std::string::npos)
      for (float& value : array.values) value *= 0.01f;  // as they are drawn before a training
  }
  auto& zeros = llama.file.arrays.at("model.layers.1.mlp.up_proj.weight").values;
  std::fill(zeros.begin(), zeros.end(), 0.0f);
  const auto warnings = lines(findings_of(llama), Severity::warning);
  EXPECT_TRUE(any_has(warnings, "attention: expected heads that choose, found 12 of 12 heads almost uniform"));
  EXPECT_TRUE(any_has(warnings, "norms: expected trained ones, found 1 and 0 in all 4"));
  EXPECT_TRUE(any_has(warnings, "layer 1 up: expected weights, found the same number everywhere"));
  EXPECT_EQ(warnings.size(), 3u);
}

TEST(CheckpointSanity, ALayerWhoseHeadsSayNothingIsSeenAmongOthers) {
  Parts llama("llama-gqa");
  for (float& value : llama.file.arrays.at("model.layers.1.self_attn.q_proj.weight").values) value *= 0.01f;
  const auto warnings = lines(findings_of(llama), Severity::warning);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            "attention: expected heads that choose, found 6 of 12 heads almost uniform, all those of "
            "layer 1 among them: weights that were never filled?");
}

TEST(CheckpointSanity, AnOutputLayerThatIsTiedAgainstItsConfigurationIsTold) {
  Parts llama("llama-gqa");
  llama.file.arrays.at("lm_head.weight") = llama.file.arrays.at("model.embed_tokens.weight");
  EXPECT_TRUE(any_has(lines(findings_of(llama), Severity::note), "output layer: config.json says it is not the token"));
  Parts gpt2("gpt2");
  EXPECT_TRUE(any_has(lines(findings_of(gpt2), Severity::good), "output layer: the token vectors themselves"));
  gpt2.file.arrays.emplace("lm_head.weight", filled({53, 24}, 1));
  EXPECT_TRUE(any_has(lines(findings_of(gpt2), Severity::warning), "lm_head.weight: differs from"));
}

TEST(ReferenceAnswers, MayHaveAxesOfOneElementAndTheirStateBeforeTheFinalNorm) {
  const auto model = Parts("llama-gqa").load()->model;
  const auto trace = *forward(request_of_ids(model, {3, 9, 4}, {}, {}));
  ArrayFile reference;
  const auto array_of = [](const std::vector<Matrix>& parts, std::vector<Index> shape) {
    Array array{.dtype = Dtype::f32, .shape = std::move(shape), .values = {}};
    for (const Matrix& part : parts) array.values.insert(array.values.end(), part.data(), part.data() + part.size());
    return array;
  };
  const std::vector<Matrix> states = {trace->embedding, trace->blocks[0].output, trace->blocks[1].output};
  reference.arrays["ids"] = {.dtype = Dtype::i64, .shape = {1, 3}, .values = {3, 9, 4}};
  reference.arrays["last_hidden_state"] = array_of({trace->last_hidden_state()}, {1, 3, 24});
  reference.arrays["hidden_states"] = array_of(states, {3, 1, 3, 24});
  const auto asked = request_of("r", reference, model);
  ASSERT_TRUE(asked) << asked.error().message();
  EXPECT_EQ(asked->tokens.size(), 3u);
  auto findings = compare_answers("r", reference, *trace);
  EXPECT_EQ(findings.size(), 2u);
  EXPECT_EQ(gravest(findings), Severity::good) << findings[0].line;
  reference.arrays["hidden_states"] = array_of({states[0], states[1], trace->last_hidden_state()}, {3, 1, 3, 24});
  EXPECT_EQ(gravest(compare_answers("r", reference, *trace)), Severity::good);
  reference.arrays["hidden_states"].values[30] += 1;
  reference.arrays["pooler_output"] = {.dtype = Dtype::f32, .shape = {1}, .values = {0}};
  findings = compare_answers("r", reference, *trace);
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_TRUE(any_has(lines(findings, Severity::error), " at (0, 1, 6)")) << findings[0].line;
  EXPECT_FALSE(any_has(lines(findings, Severity::error), "the first")) << "of one there is no other";
  reference.arrays["hidden_states"].values[100] += 5;
  EXPECT_TRUE(any_has(lines(compare_answers("r", reference, *trace), Severity::error),
                      " at (1, 1, 4), the first at (0, 1, 6)"));
  reference.arrays["hidden_states"].values[100] = std::nanf("");
  EXPECT_TRUE(any_has(lines(compare_answers("r", reference, *trace), Severity::error), "found nan at (1, 1, 4)"));
  reference.arrays["hidden_states"].values[100] = states[1](1, 4);
  EXPECT_TRUE(any_has(lines(findings, Severity::note), "r: pooler_output: no answer of this model, not compared"));
  reference.arrays["last_hidden_state"].shape = {1, 24, 3};
  EXPECT_TRUE(any_has(lines(compare_answers("r", reference, *trace), Severity::error),
                      "r: last_hidden_state: expected (3, 24), found (1, 24, 3)"));
}

TEST(ReferenceAnswers, AskWithIds) {
  const auto model = Parts("marian").load()->model;
  ArrayFile reference;
  const auto refusal = [&] {
    const auto asked = request_of("r", reference, model);
    return asked ? std::string{} : asked.error().message();
  };
  EXPECT_EQ(refusal(), "r: ids: expected an array of ids, found none");
  reference.arrays["ids"] = {.dtype = Dtype::i64, .shape = {2}, .values = {3, -1}};
  EXPECT_EQ(refusal(), "r: ids: expected ids from 0 on, found -1");
  reference.arrays["ids"].values[1] = 2.5f;
  EXPECT_EQ(refusal(), "r: ids: expected ids from 0 on, found 2.5");
  reference.arrays["ids"].values.resize(4097);
  EXPECT_EQ(refusal(), "r: ids: expected at most 4096 ids, found 4097");
  reference.arrays["ids"].values = {3, 2};
  reference.arrays["ids"].values[1] = 2;
  EXPECT_EQ(refusal(), "r: decoder_ids: expected an array of ids, found none");
  reference.arrays["decoder_ids"] = reference.arrays["ids"];
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(request_of("r", reference, model)->target.tokens[1].id, 2);
}

}  // namespace
}  // namespace headlight
