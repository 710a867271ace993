// Golden checkpoints as GGUF files of F32, as llama.cpp's converter writes them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/checkpoints.h"
#include "core/gguf_files.h"

namespace headlight::checkpoints {

inline std::string replaced_all(std::string text, const std::vector<std::pair<std::string, std::string>>& pairs) {
  for (const auto& [from, to] : pairs)
    if (const std::size_t at = text.find(from); at != text.npos) text.replace(at, from.size(), to);
  return text;
}

/// transformers' name → GGUF's, by what llama.cpp's converter does.
inline std::string gguf_name(const std::string& name, bool gemma) {
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
inline Array permuted(const Array& array, Index heads) {
  Array result = array;
  const Index columns = array.shape.size() == 2 ? array.shape[1] : 1, rows = array.shape[0] / heads, pairs = rows / 2;
  for (Index head = 0; head < heads; ++head)
    for (Index i = 0; i < pairs; ++i)
      for (Index side = 0; side < 2; ++side)
        std::copy_n(array.values.begin() + (head * rows + i + pairs * side) * columns, columns,
                    result.values.begin() + (head * rows + 2 * i + side) * columns);
  return result;
}

inline Array turned(const Array& array) {
  Array result{.shape = {array.shape[1], array.shape[0]}, .values = std::vector<float>(array.values.size())};
  for (Index row = 0; row < array.shape[0]; ++row)
    for (Index i = 0; i < array.shape[1]; ++i)
      result.values[static_cast<std::size_t>(i * array.shape[0] + row)] =
          array.values[static_cast<std::size_t>(row * array.shape[1] + i)];
  return result;
}

inline std::string bytes_of_values(const std::vector<float>& values) {
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

}  // namespace headlight::checkpoints
