// Models in GGUF files: each architecture is written here from a golden checkpoint as llama.cpp's converter does, and
// must answer as that does; tokenizers from the metadata; the stores of other programs.
#include "read/gguf/gguf_model.h"

#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

#include "core/checkpoints.h"
#include "core/gguf_files.h"
#include "math/forward.h"
#include "read/gguf/gguf_tables.h"
#include "read/gguf/gguf_tokenizer.h"
#include "read/hub/kept_models.h"
#include "temporary_folder.h"

namespace headlight {
namespace {

using namespace checkpoints;

std::string replaced_all(std::string text, const std::vector<std::pair<std::string, std::string>>& pairs) {
  for (const auto& [from, to] : pairs)
    if (const std::size_t at = text.find(from); at != text.npos) text.replace(at, from.size(), to);
  return text;
}

/// transformers' name → GGUF's, by what llama.cpp's converter does.
std::string gguf_name(const std::string& name, bool gemma) {
  return replaced_all(name, {{"model.layers.", "blk."},
                             {"transformer.h.", "blk."},
                             {"model.embed_tokens", "token_embd"},
                             {"transformer.wte", "token_embd"},
                             {"transformer.wpe", "position_embd"},
                             {"transformer.ln_f", "output_norm"},
                             {"model.norm", "output_norm"},
                             {"lm_head", "output"},
                             {"self_attn.q_proj", "attn_q"},
                             {"self_attn.k_proj", "attn_k"},
                             {"self_attn.v_proj", "attn_v"},
                             {"self_attn.qkv_proj", "attn_qkv"},
                             {"attn.c_attn", "attn_qkv"},
                             {"self_attn.o_proj", "attn_output"},
                             {"attn.c_proj", "attn_output"},
                             {"self_attn.q_norm", "attn_q_norm"},
                             {"self_attn.k_norm", "attn_k_norm"},
                             {"input_layernorm", "attn_norm"},
                             {"ln_1", "attn_norm"},
                             {"ln_2", "ffn_norm"},
                             {"pre_feedforward_layernorm", "ffn_norm"},
                             {"post_attention_layernorm", gemma ? "post_attention_norm" : "ffn_norm"},
                             {"post_feedforward_layernorm", "post_ffw_norm"},
                             {"mlp.shared_expert_gate", "ffn_gate_inp_shexp"},
                             {"mlp.shared_expert.gate_proj", "ffn_gate_shexp"},
                             {"mlp.shared_expert.up_proj", "ffn_up_shexp"},
                             {"mlp.shared_expert.down_proj", "ffn_down_shexp"},
                             {"mlp.gate_up_proj", "ffn_up"},
                             {"mlp.gate_proj", "ffn_gate"},
                             {"mlp.up_proj", "ffn_up"},
                             {"mlp.down_proj", "ffn_down"},
                             {"mlp.c_fc", "ffn_up"},
                             {"mlp.c_proj", "ffn_down"},
                             {"block_sparse_moe.gate", "ffn_gate_inp"},
                             {"encoder.layer.", "blk."},
                             {"attention.self.query", "attn_q"},
                             {"attention.self.key", "attn_k"},
                             {"attention.self.value", "attn_v"},
                             {"attention.output.LayerNorm", "attn_output_norm"},
                             {"attention.output.dense", "attn_output"},
                             {"intermediate.dense", "ffn_up"},
                             {"output.LayerNorm", "layer_output_norm"},
                             {"output.dense", "ffn_down"},
                             {"embeddings.word_embeddings", "token_embd"},
                             {"embeddings.position_embeddings", "position_embd"},
                             {"embeddings.token_type_embeddings", "token_types"},
                             {"embeddings.LayerNorm", "token_embd_norm"},
                             {"mlp.gate.", "ffn_gate_inp."}});
}

/// Row i + pairs·s of a head becomes row 2·i + s: the order in which Llama's queries and keys are stored in GGUF.
Array permuted(const Array& array, Index heads) {
  Array result = array;
  const Index columns = array.shape.size() == 2 ? array.shape[1] : 1, rows = array.shape[0] / heads, pairs = rows / 2;
  for (Index head = 0; head < heads; ++head)
    for (Index i = 0; i < pairs; ++i)
      for (Index side = 0; side < 2; ++side)
        std::copy_n(array.values.begin() + (head * rows + i + pairs * side) * columns, columns,
                    result.values.begin() + (head * rows + 2 * i + side) * columns);
  return result;
}

Array turned(const Array& array) {
  Array result{.shape = {array.shape[1], array.shape[0]}, .values = std::vector<float>(array.values.size())};
  for (Index row = 0; row < array.shape[0]; ++row)
    for (Index i = 0; i < array.shape[1]; ++i)
      result.values[static_cast<std::size_t>(i * array.shape[0] + row)] =
          array.values[static_cast<std::size_t>(row * array.shape[1] + i)];
  return result;
}

std::string bytes_of_values(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

/// A golden checkpoint as a GGUF file of F32.
class WrittenGguf {
 public:
  WrittenGguf(const Parts& parts, std::string architecture) : config_(parts.config), name_(std::move(architecture)) {
    made_.put("general.architecture", name_).put("tokenizer.ggml.model", "no_vocab");
    gpt2_ = name_ == "gpt2";
    write_sizes();
    std::map<std::string, Array> experts;
    for (const auto& [name, array] : parts.file.arrays) write(name, array, experts);
    for (const auto& [name, array] : experts) put(name, array);
    if (name_ == "llama" && config_.contains("rope_scaling")) {
      const auto hub = parse_hub_config("config.json", config_.dump());
      const Index pairs = hub->rotary->frequencies.size();
      Array factors{.shape = {pairs}, .values = {}};
      const double theta = config_["rope_theta"];
      for (Index i = 0; i < pairs; ++i)
        factors.values.push_back(static_cast<float>(
            std::pow(theta, -static_cast<double>(i) / static_cast<double>(pairs)) / hub->rotary->frequencies(i)));
      put("rope_freqs.weight", factors);
    }
  }

  std::string bytes() const { return made_.bytes(); }
  GgufBytes& made() { return made_; }

 private:
  std::uint32_t of(const char* key, std::uint32_t unsaid = 0) const {
    return config_.contains(key) && config_[key].is_number() ? config_[key].get<std::uint32_t>() : unsaid;
  }
  void size(const char* key, std::uint32_t value) {
    if (value > 0) made_.put(name_ + "." + key, value);
  }
  void number(const char* key, double value) { made_.put(name_ + "." + key, static_cast<float>(value)); }

  void write_sizes() {
    size("vocab_size", of("vocab_size"));
    size("embedding_length", of(gpt2_ ? "n_embd" : "hidden_size"));
    size("block_count", of(gpt2_ ? "n_layer" : "num_hidden_layers"));
    heads_ = of(gpt2_ ? "n_head" : "num_attention_heads");
    size("attention.head_count", heads_);
    size("feed_forward_length", gpt2_ ? 4 * of("n_embd") : of("intermediate_size"));
    size("context_length", of(gpt2_ ? "n_ctx" : "max_position_embeddings"));
    if (gpt2_) return number("attention.layer_norm_epsilon", config_["layer_norm_epsilon"]);
    if (name_ == "bert") return number("attention.layer_norm_epsilon", config_["layer_norm_eps"]);
    kv_heads_ = of("num_key_value_heads", heads_);
    size("attention.head_count_kv", kv_heads_);
    size("attention.key_length", of("head_dim"));
    size("attention.value_length", of("head_dim"));
    number("attention.layer_norm_rms_epsilon", config_.value("rms_norm_eps", 1e-5));
    number("rope.freq_base", config_.value("rope_theta", 10000.0));
    size("attention.sliding_window", of("sliding_window"));
    size("attention.sliding_window_pattern", of("sliding_window_pattern"));
    size("expert_count", of("num_local_experts", of("num_experts")));
    size("expert_used_count", of("num_experts_per_tok"));
    size("expert_feed_forward_length", of("moe_intermediate_size"));
    size("expert_shared_feed_forward_length", of("shared_expert_intermediate_size"));
    for (const auto& [own, stored] : {std::pair{"attn_logit_softcapping", "attn_logit_softcapping"},
                                      {"final_logit_softcapping", "final_logit_softcapping"},
                                      {"rope_local_base_freq", "rope.freq_base_swa"}})
      if (config_.contains(own) && config_[own].is_number()) number(stored, config_[own]);
    if (!config_.contains("rope_scaling") || name_ == "llama") return;
    const auto& scaling = config_["rope_scaling"];
    made_.put(name_ + ".rope.scaling.type", scaling.value("rope_type", scaling.value("type", "")));
    number("rope.scaling.factor", scaling["factor"]);
    if (scaling.contains("original_max_position_embeddings"))
      size("rope.scaling.original_context_length", scaling["original_max_position_embeddings"]);
    if (scaling.contains("beta_fast")) number("rope.scaling.yarn_beta_fast", scaling["beta_fast"]);
  }

  void put(const std::string& name, const Array& array) {
    std::vector<std::uint64_t> sizes(array.shape.rbegin(), array.shape.rend());
    made_.tensor(name, sizes, 0, bytes_of_values(array.values));
  }

  void write(const std::string& name, Array array, std::map<std::string, Array>& experts) {
    if (gpt2_ && name.ends_with(".attn.bias")) return;  // a mask, which is no weight
    if (name.starts_with("pooler.")) return;
    const bool gemma = name_.starts_with("gemma"), behind = name_ == "olmo2";
    if (name.ends_with("norm.weight") && gemma)
      for (float& value : array.values) value += 1;
    if (gpt2_ && name.find(".c_") != name.npos && name.ends_with(".weight")) array = turned(array);
    const bool pairs = name_ == "llama" || name_ == "smollm3";
    if (pairs && name.find("q_proj") != name.npos) array = permuted(array, heads_);
    if (pairs && name.find("k_proj") != name.npos) array = permuted(array, kv_heads_);
    std::string own = gguf_name(name, gemma && name_ != "gemma" ? true : behind);
    if (own == "output.weight" && config_.value("tie_word_embeddings", gpt2_)) return;
    const std::size_t at = name.find("experts.");
    if (own.find("ffn_gate_inp_shexp") != own.npos) array.shape = {array.shape[1]};
    if (at == name.npos) return put(own, array);
    // model.layers.N.mlp.experts.E.gate_proj.weight → blk.N.ffn_gate_exps.weight, the experts one after the other
    const std::string block = own.substr(0, own.find('.', 4) + 1);
    const std::size_t last = name.find('.', at + 8);
    const std::string part = name.substr(last + 1, name.find('.', last + 1) - last - 1);
    const bool gate = part == "gate_proj" || part == "w1", up = part == "up_proj" || part == "w3";
    const std::size_t expert = std::stoul(name.substr(at + 8));
    Array& all = experts[block + (gate ? "ffn_gate" : up ? "ffn_up" : "ffn_down") + "_exps.weight"];
    if (all.shape.empty()) all.shape = {0, array.shape[0], array.shape[1]};
    all.shape[0] = std::max<Index>(all.shape[0], static_cast<Index>(expert) + 1);
    all.values.resize(static_cast<std::size_t>(all.shape[0]) * array.values.size());
    std::copy(array.values.begin(), array.values.end(),
              all.values.begin() + static_cast<std::ptrdiff_t>(expert * array.values.size()));
  }

  const nlohmann::json config_;
  const std::string name_;
  bool gpt2_ = false;
  std::uint32_t heads_ = 1, kv_heads_ = 1;
  GgufBytes made_;
};

float largest_difference(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() ? (a - b).cwiseAbs().maxCoeff() : INFINITY;
}

struct ArchitectureCase {
  const char *golden, *architecture;
};

class GgufModels : public testing::TestWithParam<ArchitectureCase> {};

TEST_P(GgufModels, AnswerAsTheCheckpointThatTheyWereMadeOf) {
  const auto& [golden, architecture] = GetParam();
  Parts parts(golden);
  if (parts.config.contains("query_pre_attn_scalar"))  // which llama.cpp does not store
    parts.config["query_pre_attn_scalar"] = parts.config.value("head_dim", 256);
  parts.config.erase("no_rope_layers"), parts.config.erase("no_rope_layer_interval");  // nor this: every fourth layer
  const auto own = parts.load();
  ASSERT_TRUE(own) << parts.refusal();
  const TemporaryFolder folder;
  const std::string path = folder.with("tiny.gguf", WrittenGguf(parts, architecture).bytes());
  if (const char* kept = std::getenv("HEADLIGHT_KEEP_GGUF"))  // for llama.cpp, to be compared with
    std::filesystem::copy_file(path, std::filesystem::path(kept) / (std::string(golden) + ".gguf"));
  Progress progress;
  const auto read = read_any_checkpoint(path, progress);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_TRUE(read->warnings.empty()) << read->warnings.front().message();
  EXPECT_EQ(read->model->name, "tiny");
  EXPECT_EQ(read->model->output.has_value(), own->model->output.has_value());
  const std::vector<std::int64_t> ids{3, 9, 27, 1, 44, 9, 12};
  const auto one = forward(request_for(own->model, tokens_of_ids(ids)));
  const auto other = forward(request_for(read->model, tokens_of_ids(ids)));
  ASSERT_TRUE(one && other);
  EXPECT_LT(largest_difference((*one)->last_hidden_state(), (*other)->last_hidden_state()), 1e-5f);
  const ListedModel listed = listed_folder_or_file({.name = "tiny", .folder = path});
  EXPECT_TRUE(listed.opens()) << listed.reason;
  EXPECT_EQ(listed.layers, own->model->config.num_layers);
  EXPECT_EQ(listed.heads, own->model->config.num_heads);
  EXPECT_EQ(listed.dtype, "float32");
}

INSTANTIATE_TEST_SUITE_P(
    Each, GgufModels,
    testing::Values(ArchitectureCase{"llama-gqa", "llama"}, ArchitectureCase{"family-mistral", "llama"},
                    ArchitectureCase{"family-qwen2", "qwen2"}, ArchitectureCase{"family-qwen3", "qwen3"},
                    ArchitectureCase{"family-gemma", "gemma"}, ArchitectureCase{"family-gemma2", "gemma2"},
                    ArchitectureCase{"family-gemma3", "gemma3"}, ArchitectureCase{"family-phi3", "phi3"},
                    ArchitectureCase{"gpt2", "gpt2"}, ArchitectureCase{"family-mixtral", "llama"},
                    ArchitectureCase{"family-qwen2_moe", "qwen2moe"}, ArchitectureCase{"family-qwen3_moe", "qwen3moe"},
                    ArchitectureCase{"family-olmo2", "olmo2"}, ArchitectureCase{"family-smollm3", "smollm3"},
                    ArchitectureCase{"bert", "bert"}),
    [](const auto& one) {
      std::string name = one.param.golden;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

/// A small Llama whose weights are in blocks; `kind` by ggml's number.
std::string blocks_model(std::uint32_t number, WeightKind kind, bool floats) {
  constexpr std::uint32_t d = 256, words = 40;
  GgufBytes made;
  made.put("general.architecture", "llama").put("llama.embedding_length", d).put("llama.block_count", 1u);
  made.put("llama.attention.head_count", 4u).put("llama.feed_forward_length", d).put("llama.context_length", 64u);
  made.put("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  std::uint64_t state = 7;
  const auto weight = [&](const std::string& name, std::uint32_t rows) {
    const WeightBlocks& blocks = blocks_of(kind);
    const auto count = static_cast<Index>(rows * d) / blocks.numbers;
    std::string bytes(static_cast<std::size_t>(count * blocks.bytes), '\0');
    for (char& byte : bytes)
      byte = static_cast<char>((state = state * 6364136223846793005u + 1442695040888963407u) >> 56);
    for (Index block = 0; block < count; ++block)
      for (const Index scale : blocks.scales)
        if (scale >= 0) bytes[static_cast<std::size_t>(block * blocks.bytes + scale + 1)] &= '\x8F';
    std::vector<float> numbers(static_cast<std::size_t>(rows * d));
    blocks.widen(bytes.data(), count, numbers.data());
    made.tensor(name, {d, rows}, floats ? 0 : number, floats ? bytes_of_values(numbers) : bytes);
  };
  const std::string ones = bytes_of_values(std::vector<float>(d, 1.0f));
  weight("token_embd.weight", words);
  for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"})
    weight(std::string("blk.0.") + name + ".weight", d);
  for (const char* name : {"blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"})
    made.tensor(std::string(name) + ".weight", {d}, 0, ones);
  return made.bytes();
}

// In blocks or as float32, in the file or packed: the same bits, which are those of exact arithmetic on the numbers.
TEST(GgufBlocks, AnswerAsTheirNumbersDoToTheBit) {
  const TemporaryFolder folder;
  for (const auto& [number, kind] : {std::pair{12u, WeightKind::q4_k},
                                     {14u, WeightKind::q6_k},
                                     {8u, WeightKind::q8_0},
                                     {2u, WeightKind::q4_0},
                                     {23u, WeightKind::iq4_xs}}) {
    SCOPED_TRACE(blocks_of(kind).name);
    const std::string blocks = folder.with("blocks.gguf", blocks_model(number, kind, false));
    const std::string floats = folder.with("floats.gguf", blocks_model(number, kind, true));
    const auto answer = [&](const std::string& path, std::size_t most_widened, Reading reading) {
      Progress progress;
      const auto read = read_any_checkpoint(path, progress, most_widened, reading);
      EXPECT_TRUE(read) << read.error().message();
      const bool in_file = read->model->blocks[0].up.stored != nullptr;
      EXPECT_EQ(in_file, (path == blocks && most_widened == 0) || reading == Reading::as_used);
      return (*forward(request_for(read->model, tokens_of_ids({1, 5, 9, 2}))))->last_hidden_state();
    };
    const Matrix expected = answer(floats, kMostWidenedBytes, Reading::whole);
    ASSERT_TRUE(expected.allFinite());
    EXPECT_TRUE(same(answer(blocks, kMostWidenedBytes, Reading::whole), expected)) << "packed";
    EXPECT_TRUE(same(answer(blocks, 0, Reading::whole), expected)) << "in the file";
    EXPECT_TRUE(same(answer(blocks, kMostWidenedBytes, Reading::as_used), expected)) << "packed when used";
    const ListedModel listed = listed_folder_or_file({.name = "m", .folder = blocks});
    EXPECT_EQ(listed.dtype, blocks_of(kind).name);
    EXPECT_EQ(listed.parameters, 256 * 40 + 7 * 256 * 256 + 3 * 256);
  }
  std::string broken = blocks_model(12, WeightKind::q4_k, false);
  const auto file = locate_gguf("m", broken);
  const auto at = static_cast<std::size_t>(file->stored.arrays.at("blk.0.ffn_up.weight").bytes.data() - broken.data());
  broken[at + 144 * 3 + 1] = '\x7C';
  Progress progress;
  const auto refused = read_any_checkpoint(folder.with("broken.gguf", broken), progress);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("mlp.up_proj.weight[3, 0]: expected a finite number"), std::string::npos)
      << refused.error().message();
}

TEST(GgufModel, IsRefusedByTheKeyThatIsWrong) {
  const TemporaryFolder folder;
  const auto refusal = [&](const GgufBytes& made) {
    Progress progress;
    const auto read = read_any_checkpoint(folder.with("m.gguf", made.bytes()), progress);
    return read ? std::string() : read.error().message();
  };
  const auto expect = [&](const GgufBytes& made, const std::string& line) {
    EXPECT_NE(refusal(made).find(line), std::string::npos) << refusal(made);
  };
  expect(GgufBytes(), "general.architecture: expected bert, gemma, ");
  expect(GgufBytes().put("general.architecture", "mamba"), "found 'mamba'");
  GgufBytes llama;
  llama.put("general.architecture", "llama");
  expect(llama, "llama.embedding_length: expected a number, found none");
  llama.put("llama.embedding_length", 4u).put("llama.feed_forward_length", 4u).put("llama.context_length", 8u);
  GgufBytes other = llama, layers = llama;
  expect(other.put("llama.attention.head_count", "two"),
         "llama.attention.head_count: expected a number, found another value");
  expect(layers.put("llama.attention.head_count", std::vector<std::int32_t>{2, 4}),
         "llama.attention.head_count: expected one number for all layers, found several");
  llama.put("llama.attention.head_count", 2u).put("llama.block_count", 1u);
  llama.put("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  expect(llama, "token_embd.weight: expected a tensor, found none");
  llama.tensor("token_embd.weight", {4, 2}, 0, std::string(32, '\0'));
  expect(llama, "norm.weight: expected a tensor (");
  GgufBytes wide = llama;
  expect(wide.put("llama.attention.value_length", 3u), "llama.attention.value_length: expected as key_length");
}

GgufBytes words_file(const std::string& kind, const std::vector<std::string>& words,
                     const std::vector<std::int32_t>& kinds) {
  GgufBytes made;
  made.put("tokenizer.ggml.model", kind).put("tokenizer.ggml.tokens", words).put("tokenizer.ggml.token_type", kinds);
  return made;
}

std::vector<std::string> raw_tokens(const GgufBytes& made, const std::string& text) {
  const std::string bytes = made.bytes();
  const auto file = locate_gguf("m.gguf", bytes);
  const auto tokenizer = gguf_tokenizer(*file);
  if (!tokenizer) return {tokenizer.error().message()};
  const auto encoded = encode(*tokenizer->tokenizer, text, true);
  if (!encoded) return {encoded.error().message()};
  std::vector<std::string> raw;
  for (const Token& token : encoded->tokens) raw.push_back(token.raw);
  return raw;
}

TEST(GgufTokenizers, AreBytePairsOrScoredPieces) {
  const std::vector<std::string> words{"a", "b", "1", "Ġ", "ab", "Ġab", "11", "<|end|>"};
  GgufBytes pairs = words_file("gpt2", words, {1, 1, 1, 1, 1, 1, 1, 3});
  pairs.put("tokenizer.ggml.merges", std::vector<std::string>{"a b", "Ġ ab", "1 1"});
  pairs.put("tokenizer.ggml.bos_token_id", 7u);
  using Words = std::vector<std::string>;
  GgufBytes gpt2 = pairs, qwen2 = pairs, llama3 = pairs, other = pairs, ended = pairs;
  EXPECT_EQ(raw_tokens(gpt2.put("tokenizer.ggml.pre", "gpt-2"), "ab ab11<|end|>"),
            (Words{"ab", "Ġab", "11", "<|end|>"}));
  EXPECT_EQ(raw_tokens(qwen2.put("tokenizer.ggml.pre", "qwen2"), "ab11"), (Words{"ab", "1", "1"}));
  EXPECT_EQ(raw_tokens(llama3.put("tokenizer.ggml.pre", "llama-bpe"), "ab11"), (Words{"<|end|>", "ab", "11"}));
  EXPECT_NE(raw_tokens(other.put("tokenizer.ggml.pre", "viking"), "a")[0].find("found 'viking'"), std::string::npos);
  ended.put("tokenizer.ggml.add_eos_token", true).put("tokenizer.ggml.eos_token_id", 7u);
  EXPECT_EQ(raw_tokens(ended, "b"), (Words{"b", "<|end|>"}));

  const std::vector<std::string> pieces{"<unk>", "<s>", "</s>", "<0x0A>", "▁", "a", "b", "ab", "ba", "▁a"};
  GgufBytes scored = words_file("llama", pieces, {2, 3, 3, 6, 1, 1, 1, 1, 1, 1});
  scored.put("tokenizer.ggml.bos_token_id", 1u).put("tokenizer.ggml.eos_token_id", 2u);
  EXPECT_NE(raw_tokens(scored, "a")[0].find("tokenizer.ggml.scores: expected 10 numbers, found none"),
            std::string::npos);
  GgufBytes by_score = scored, without = scored;
  scored.put("tokenizer.ggml.scores", std::vector<float>{0, 0, 0, 0, -9, -9, -9, -1, -2, -3});
  EXPECT_EQ(raw_tokens(scored, "ab\nb"), (Words{"<s>", "▁", "ab", "<0x0A>", "b"}));
  EXPECT_EQ(raw_tokens(scored, "bab"), (Words{"<s>", "▁", "b", "ab"}));
  by_score.put("tokenizer.ggml.scores", std::vector<float>{0, 0, 0, 0, -9, -9, -9, -5, -1, -6});
  EXPECT_EQ(raw_tokens(by_score, "bab"), (Words{"<s>", "▁", "ba", "b"})) << "the better piece, though its id is larger";
  without.put("tokenizer.ggml.scores", std::vector<float>{0, 0, 0, 0, -9, -9, -9, -1, -2, -3});
  without.put("tokenizer.ggml.add_bos_token", false).put("tokenizer.ggml.add_space_prefix", false);
  EXPECT_EQ(raw_tokens(without, "ab"), (Words{"ab"}));
}

// A piece that begins a word has ▁ in front, another no ##; what is in brackets is as it was.
TEST(GgufTokenizers, OfBertAreWordPieces) {
  const std::vector<std::string> pieces{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁caf", "e", "▁e", "▁!", "▁我", "[MASK]"};
  GgufBytes made = words_file("bert", pieces, {3, 3, 3, 3, 1, 1, 1, 1, 1, 3});
  made.put("tokenizer.ggml.unknown_token_id", 1u).put("tokenizer.ggml.cls_token_id", 2u);
  made.put("tokenizer.ggml.seperator_token_id", 3u);
  using Words = std::vector<std::string>;
  EXPECT_EQ(raw_tokens(made, "Café e!我 x[MASK]"),
            (Words{"[CLS]", "caf", "##e", "e", "!", "我", "[UNK]", "[MASK]", "[SEP]"}));
  GgufBytes cased = made;
  EXPECT_EQ(raw_tokens(cased.put("tokenizer.ggml.normalizer.lowercase", false), "Cafe cafe"),
            (Words{"[CLS]", "[UNK]", "caf", "##e", "[SEP]"}));
  const std::string bytes = made.bytes();
  const auto tokenizer = gguf_tokenizer(*locate_gguf("m.gguf", bytes));
  std::vector<int> types;
  const auto pair = encode_pair(*tokenizer->tokenizer, "e", "e");
  ASSERT_TRUE(pair);
  for (const Token& token : pair->tokens) types.push_back(token.type);
  EXPECT_EQ(types, (std::vector<int>{0, 0, 0, 1, 1}));
}

TEST(GgufTokenizers, EveryNamedCutIsAnExpression) {
  for (const auto& cut : gguf_table("cuts"))
    for (const auto& name : cut["names"]) {
      GgufBytes made = words_file("gpt2", {"a", "Ġ", "Ġa"}, {1, 1, 1});
      made.put("tokenizer.ggml.merges", std::vector<std::string>{"Ġ a"});
      made.put("tokenizer.ggml.pre", name.get<std::string>());
      EXPECT_EQ(raw_tokens(made, "a a"), (std::vector<std::string>{"a", "Ġa"})) << name;
    }
}

TEST(GgufTokenizers, ThatAreBrokenAreRefused) {
  const auto expect = [](const GgufBytes& made, const std::string& line) {
    const auto raw = raw_tokens(made, "a");
    ASSERT_FALSE(raw.empty());
    EXPECT_NE(raw[0].find(line), std::string::npos) << raw[0];
    EXPECT_EQ(raw[0].find('\n'), std::string::npos);
  };
  expect(GgufBytes(), "tokenizer.ggml.model: expected gpt2, llama or bert, found none");
  expect(words_file("t5", {"a"}, {1}), "found 't5'");
  expect(GgufBytes().put("tokenizer.ggml.model", "gpt2"),
         "tokenizer.ggml.tokens: expected a list of texts, found none");
  expect(words_file("gpt2", {"a"}, {1, 1}), "tokenizer.ggml.token_type: expected 1 numbers, found 2");
  expect(words_file("gpt2", {"a"}, {1}), "tokenizer.ggml.merges: expected a list of texts, found none");
  expect(words_file("gpt2", {"\xff"}, {1}), "tokenizer.ggml.tokens[0]: expected a text in UTF-8");
  expect(words_file("gpt2", {"a"}, {1}).put("tokenizer.ggml.merges", std::vector<std::string>{"a b"}), "merge");
  expect(words_file("llama", {"a"}, {1}).put("tokenizer.ggml.scores", std::vector<float>{NAN}),
         "tokenizer.ggml.scores[0]: expected a finite number");
  expect(words_file("llama", {"a"}, {1})
             .put("tokenizer.ggml.scores", std::vector<float>{0})
             .put("tokenizer.ggml.bos_token_id", 5u),
         "tokenizer.ggml.bos_token_id: expected an id below 1, found 5");
}

TEST(GgufStores, HaveNamesForTheirModels) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const std::string bytes = WrittenGguf(Parts("llama-gqa"), "llama").bytes();
  const auto write = [&](const fs::path& path, const std::string& text) {
    fs::create_directories((folder / "x").parent_path() / path.parent_path());
    std::ofstream((folder / path.string()).string(), std::ios::binary) << text;
    return folder / path.string();
  };
  const std::string digest(64, 'a'), gone(64, 'b');
  const auto manifest = [](const std::string& of) {
    return R"({"layers":[{"mediaType":"application/vnd.ollama.image.template","digest":"sha256:00"},)"
           R"({"mediaType":"application/vnd.ollama.image.model","digest":"sha256:)" +
           of + R"("}]})";
  };
  const fs::path blob = write("ollama/blobs/sha256-" + digest, bytes);
  write("ollama/manifests/registry.ollama.ai/library/tiny/8b", manifest(digest));
  write("ollama/manifests/registry.ollama.ai/library/tiny/latest", manifest(digest));
  write("ollama/manifests/registry.ollama.ai/me/own/1", manifest(gone));
  write("ollama/manifests/hf.co/org/repo/Q4_K_M", manifest("../../etc/passwd"));
  const fs::path studio = write("studio/org/repo/tiny-Q8_0.gguf", bytes);
  write("studio/org/repo/mmproj-f16.gguf", bytes);
  const fs::path shard = write("studio/two-00001-of-00002.gguf", bytes);
  write("studio/two-00002-of-00002.gguf", bytes);
  const ModelRoots roots{.hugging_face = {},
                         .model_scope = {},
                         .folders = {},
                         .ollama = {folder / "ollama", folder / "absent"},
                         .gguf = {folder / "studio"}};
  std::vector<std::string> names;
  for (const KeptModel& model : kept_models(roots)) names.push_back(model.name);
  EXPECT_EQ(names, (std::vector<std::string>{"hf.co/org/repo:Q4_K_M", "tiny:8b", "tiny:latest", "me/own:1", "tiny-Q8_0",
                                             "two"}));
  EXPECT_EQ(find_kept_model(roots, "tiny:8b")->folder, blob);
  EXPECT_EQ(find_kept_model(roots, "tiny")->folder, blob) << "the tag latest";
  EXPECT_EQ(find_kept_model(roots, "tiny-Q8_0")->folder, studio);
  EXPECT_EQ(find_kept_model(roots, "two")->folder, shard);
  const auto gone_blob = find_kept_model(roots, "me/own:1");
  ASSERT_FALSE(gone_blob);
  EXPECT_NE(gone_blob.error().message().find("expected the file of weights, found none"), std::string::npos);
  EXPECT_FALSE(find_kept_model(roots, "hf.co/org/repo:Q4_K_M"));
  const auto absent = find_kept_model(roots, "tiny:9b");
  ASSERT_FALSE(absent);
  EXPECT_NE(absent.error().message().find("(the nearest: tiny:8b"), std::string::npos) << absent.error().message();
  EXPECT_NE(absent.error().message().find("`ollama pull tiny:9b` would fetch it"), std::string::npos);
  Progress progress;
  EXPECT_TRUE(read_any_checkpoint(blob, progress)) << "a file without an ending";
  const auto listed = listed_models(kept_models(roots), 1, listed_folder_or_file);
  EXPECT_TRUE(listed[1].opens()) << listed[1].reason;
  EXPECT_EQ(listed[1].family, "llama");
  for (const char* good : {"qwen3:8b", "a/b:c", "hf.co/a/b:Q4_K_M", "q:latest@main"})
    EXPECT_TRUE(is_model_name(good)) << good;
  for (const char* bad : {"a:", ":b", "a:b:c", "a:b/c", "a/b/c/d:e", "a:.b", "m.gguf"})
    EXPECT_FALSE(is_model_name(bad)) << bad;
}

}  // namespace
}  // namespace headlight
