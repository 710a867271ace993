"""OPT, BLOOM, Gemma, Phi-3, Llama and those that are built as it is."""

import json
import math

import torch
from torch.nn import functional as F

from .common import *


def opt():
    w, prefix, epsilon = Weights(16), "model.decoder.", 1e-5
    case = {"ids": [2, 44, 12, 12, 7, 51]}
    config = {"model_type": "opt", "architectures": ["OPTForCausalLM"], "vocab_size": WORDS, "hidden_size": D,
              "num_hidden_layers": LAYERS, "num_attention_heads": 4, "ffn_dim": FFN, "max_position_embeddings": 16,
              "activation_function": "relu", "do_layer_norm_before": True, "word_embed_proj_dim": D}
    words = w.table(prefix + "embed_tokens.weight", WORDS, D)
    places = w.table(prefix + "embed_positions.weight", 18, D)[2:2 + len(case["ids"])]  # two rows come before
    x = words[torch.tensor(case["ids"])] + places
    patterns = []
    for layer in range(LAYERS):
        name = f"{prefix}layers.{layer}."
        y = w.layer_norm(x, name + "self_attn_layer_norm", epsilon)
        q, k, v = (w.linear(y, f"{name}self_attn.{part}_proj", D) for part in "qkv")
        weights, z = attend(q, k, v, 4, causal=True)
        patterns.append(weights)
        x = x + w.linear(z, name + "self_attn.out_proj", D)
        y = w.layer_norm(x, name + "final_layer_norm", epsilon)
        x = x + w.linear(F.relu(w.linear(y, name + "fc1", FFN)), name + "fc2", D)
    x = w.layer_norm(x, prefix + "final_layer_norm", epsilon)
    return config, case, w, {"attentions": torch.stack(patterns), "last_hidden_state": x, "logits": x @ words.T}


def opt_post():
    """As the model of 350 million parameters: norms behind the sums, narrower token vectors between two projections."""
    w, prefix, epsilon, narrow = Weights(50), "model.decoder.", 1e-5, 10
    case = {"ids": [2, 44, 12, 12, 7, 51]}
    config = {"model_type": "opt", "architectures": ["OPTForCausalLM"], "vocab_size": WORDS, "hidden_size": D,
              "num_hidden_layers": LAYERS, "num_attention_heads": 3, "ffn_dim": FFN, "max_position_embeddings": 16,
              "activation_function": "relu", "do_layer_norm_before": False, "word_embed_proj_dim": narrow}
    words = w.table(prefix + "embed_tokens.weight", WORDS, narrow)
    places = w.table(prefix + "embed_positions.weight", 18, D)[2:2 + len(case["ids"])]
    x = w.linear(words[torch.tensor(case["ids"])], prefix + "project_in", D, False) + places
    patterns = []
    for layer in range(LAYERS):
        name = f"{prefix}layers.{layer}."
        q, k, v = (w.linear(x, f"{name}self_attn.{part}_proj", D) for part in "qkv")
        weights, z = attend(q, k, v, 3, causal=True)
        patterns.append(weights)
        x = w.layer_norm(x + w.linear(z, name + "self_attn.out_proj", D), name + "self_attn_layer_norm", epsilon)
        hidden = F.relu(w.linear(x, name + "fc1", FFN))
        x = w.layer_norm(x + w.linear(hidden, name + "fc2", D), name + "final_layer_norm", epsilon)
    logits = w.linear(x, prefix + "project_out", narrow, False) @ words.T
    return config, case, w, {"attentions": torch.stack(patterns), "last_hidden_state": x, "logits": logits}


def bloom():
    w, prefix, epsilon, heads = Weights(17), "transformer.", 1e-5, 6
    width, case = D // heads, {"ids": [3, 44, 12, 12, 7, 51, 9, 9, 1]}
    config = {"model_type": "bloom", "architectures": ["BloomForCausalLM"], "vocab_size": WORDS, "hidden_size": D,
              "n_layer": LAYERS, "n_head": heads, "layer_norm_epsilon": epsilon}
    words = w.table(prefix + "word_embeddings.weight", WORDS, D)
    x = w.layer_norm(words[torch.tensor(case["ids"])], prefix + "word_embeddings_layernorm", epsilon)
    places, patterns = torch.arange(len(case["ids"]), dtype=torch.float64), []
    added = torch.tensor(slopes(heads), dtype=torch.float64)[:, None, None] * (places[None, :] - places[:, None])
    for layer in range(LAYERS):
        name = f"{prefix}h.{layer}."
        y = w.layer_norm(x, name + "input_layernorm", epsilon)
        # Query, key and value of each head stand together.
        fused = w.linear(y, name + "self_attention.query_key_value", 3 * D).reshape(-1, heads, 3, width)
        q, k, v = (fused[:, :, part].reshape(-1, D) for part in range(3))
        weights, z = attend(q, k, v, heads, causal=True, added=added)
        patterns.append(weights)
        x = x + w.linear(z, name + "self_attention.dense", D)
        y = w.layer_norm(x, name + "post_attention_layernorm", epsilon)
        x = x + w.linear(gelu_tanh(w.linear(y, name + "mlp.dense_h_to_4h", 4 * D)), name + "mlp.dense_4h_to_h", D)
    x = w.layer_norm(x, prefix + "ln_f", epsilon)
    return config, case, w, {"attentions": torch.stack(patterns), "last_hidden_state": x, "logits": x @ words.T}


def gemma():
    """Norms that store what is added to one, vectors scaled by the root of their width, heads wider than D / heads."""
    w, prefix, heads, width, epsilon = Weights(18), "model.", 3, 16, 1e-6
    config = llama_config("gemma", "GemmaForCausalLM", num_attention_heads=heads, num_key_value_heads=1,
                          head_dim=width, hidden_act="gelu", hidden_activation=None)
    del config["tie_word_embeddings"]
    angles, factor = frequencies(width, 10000.0, {}, 64)

    def norm(x, name):
        scale = w.draw(name + ".weight", (D,), 0.2)
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + epsilon) * (1 + scale)

    words = w.draw(prefix + "embed_tokens.weight", (WORDS, D), 0.2)
    x, patterns = words[torch.tensor(IDS)] * math.sqrt(D), []
    for layer in range(LAYERS):
        name = f"{prefix}layers.{layer}."
        y = norm(x, name + "input_layernorm")
        q, k, v = (w.linear(y, f"{name}self_attn.{part}_proj", count * width, False)
                   for part, count in (("q", heads), ("k", 1), ("v", 1)))
        q, k = rotate(q, heads, angles, factor), rotate(k, 1, angles, factor)
        weights, z = attend(q, k, v, heads, causal=True, kv_heads=1)
        patterns.append(weights)
        x = x + w.linear(z, name + "self_attn.o_proj", D, False)
        y = norm(x, name + "post_attention_layernorm")
        hidden = gelu_tanh(w.linear(y, name + "mlp.gate_proj", FFN, False)) * w.linear(y, name + "mlp.up_proj", FFN,
                                                                                     False)
        x = x + w.linear(hidden, name + "mlp.down_proj", D, False)
    x = norm(x, prefix + "norm")
    return config, {"ids": IDS}, w, {"attentions": torch.stack(patterns), "last_hidden_state": x,
                                     "logits": x @ words.T}


def phi3():
    """Llama, whose projections are stored one below the other."""
    config = llama_config("phi3", "Phi3ForCausalLM", sliding_window=47)
    w = Weights(19, halves=True)
    config, case, w, answer = llama_like(w, {"ids": IDS}, config)
    for layer in range(LAYERS):
        for part, names in (("self_attn.qkv_proj", ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")),
                            ("mlp.gate_up_proj", ("mlp.gate_proj", "mlp.up_proj"))):
            w[f"model.layers.{layer}.{part}.weight"] = torch.cat(
                [w.pop(f"model.layers.{layer}.{name}.weight") for name in names])
    return config, case, w, answer


def llama_like(w, case, config, prefix="model.", bias=False, head_norms=False, window=None,
               unrotated=()):
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    width = config.get("head_dim", D // heads)
    epsilon = config["rms_norm_eps"]
    angles, factor = frequencies(width, config["rope_theta"], config.get("rope_scaling") or {},
                                 config["max_position_embeddings"])
    words = w.table(prefix + "embed_tokens.weight", config["vocab_size"], D)
    x, patterns = words[torch.tensor(case["ids"])], []
    for layer in range(config["num_hidden_layers"]):
        name = f"{prefix}layers.{layer}."
        y = w.rms_norm(x, name + "input_layernorm", epsilon)
        q = w.linear(y, name + "self_attn.q_proj", heads * width, bias)
        k = w.linear(y, name + "self_attn.k_proj", kv_heads * width, bias)
        v = w.linear(y, name + "self_attn.v_proj", kv_heads * width, bias)
        if head_norms:
            q = w.rms_norm(q.reshape(-1, width), name + "self_attn.q_norm", epsilon).reshape(q.shape)
            k = w.rms_norm(k.reshape(-1, width), name + "self_attn.k_norm", epsilon).reshape(k.shape)
        if layer not in unrotated:
            q, k = rotate(q, heads, angles, factor), rotate(k, kv_heads, angles, factor)
        weights, z = attend(q, k, v, heads, causal=True, kv_heads=kv_heads, window=window)
        patterns.append(weights)
        x = x + w.linear(z, name + "self_attn.o_proj", D, False)
        y = w.rms_norm(x, name + "post_attention_layernorm", epsilon)
        hidden = F.silu(w.linear(y, name + "mlp.gate_proj", FFN, False)) * w.linear(y, name + "mlp.up_proj", FFN, False)
        x = x + w.linear(hidden, name + "mlp.down_proj", D, False)
    x = w.rms_norm(x, prefix + "norm", epsilon)
    answer = {"attentions": torch.stack(patterns), "last_hidden_state": x}
    if config["architectures"][0].endswith("ForCausalLM"):
        head = words if config["tie_word_embeddings"] else w.draw("lm_head.weight", (config["vocab_size"], D), 0.3)
        answer["logits"] = x @ head.T
    return config, case, w, answer


def llama3():
    scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 128}
    config = llama_config("llama", "LlamaForCausalLM", num_attention_heads=2, num_key_value_heads=1,
                          rope_scaling=scaling, max_position_embeddings=1024)
    return llama_like(Weights(5, halves=True), {"ids": IDS}, config)


def mistral():
    config = llama_config("mistral", "MistralForCausalLM", sliding_window=16)
    return llama_like(Weights(6), {"ids": IDS}, config)


def mistral_base():
    config = llama_config("mistral", "MistralModel", sliding_window=None, head_dim=6,
                          rope_scaling={"type": "dynamic", "factor": 2.0})
    return llama_like(Weights(7), {"ids": IDS}, config, prefix="")


def qwen2():
    config = llama_config("qwen2", "Qwen2ForCausalLM", tie_word_embeddings=True, rope_theta=1e6,
                          use_sliding_window=False, sliding_window=4, rope_scaling={"type": "linear", "factor": 2.5})
    return llama_like(Weights(8), {"ids": IDS}, config, bias=True)


def qwen2_padded():
    """Tables of 64 rows for 53 words, one of which has no text: rows that no guess may name, though they score highest."""
    words = {f"w{row}": row for row in range(WORDS) if row != 20}
    tokenizer = {"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"},
                 "model": {"type": "WordLevel", "unk_token": "w0", "vocab": words}}
    w = Weights(52)
    table = w.draw("lm_head.weight", (64, D), 0.3)
    table[WORDS:] *= 4
    w["lm_head.weight"] = table.float()
    config = llama_config("qwen2", "Qwen2ForCausalLM", vocab_size=64, use_sliding_window=False)
    return *llama_like(w, {"ids": IDS}, config, bias=True), {"tokenizer.json": json.dumps(tokenizer) + "\n"}


def qwen2_seven():
    """Seven heads of queries on one of keys, together wider than the model."""
    config = llama_config("qwen2", "Qwen2ForCausalLM", num_attention_heads=7, num_key_value_heads=1, head_dim=6,
                          vocab_size=WORDS, use_sliding_window=False)
    return llama_like(Weights(51), {"ids": IDS}, config, bias=True)


def smollm3():
    """Llama, of which each fourth layer rotates nothing."""
    config = llama_config("smollm3", "SmolLM3ForCausalLM", tie_word_embeddings=True, num_hidden_layers=4,
                          rope_theta=5000.0, use_sliding_window=False)
    return llama_like(Weights(60), {"ids": IDS}, config, unrotated=(3,))


def qwen3():
    scaling = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 256, "beta_fast": 8.0}
    config = llama_config("qwen3", "Qwen3ForCausalLM", tie_word_embeddings=True, head_dim=16,
                          num_attention_heads=3, num_key_value_heads=1, attention_bias=False, rope_scaling=scaling,
                          max_position_embeddings=1024, rope_theta=5000.0)
    return llama_like(Weights(9), {"ids": IDS}, config, head_norms=True)
