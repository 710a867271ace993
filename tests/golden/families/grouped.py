"""Gemma 2 and 3 (Gemma Team 2024, 2025), OLMo 2 (OLMo Team 2025), Mixtral (Jiang et al. 2024), Qwen's mixtures of
experts, and Mistral (Jiang et al. 2023) beyond its window."""

import math

import torch
from torch.nn import functional as F

from .common import *
from .decoders import llama_like


def gemma_like(w, config, softcap=None, final_cap=None, windows=(), head_norms=False, local_theta=None):
    prefix, epsilon = "model.", config["rms_norm_eps"]
    heads, kv_heads, width = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]

    def norm(x, name):
        scale = w.draw(name + ".weight", x.shape[-1:], 0.2)
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + epsilon) * (1 + scale)

    words = w.draw(prefix + "embed_tokens.weight", (WORDS, D), 0.2)
    x, patterns = words[torch.tensor(IDS)] * math.sqrt(D), []
    for layer in range(config["num_hidden_layers"]):
        name = f"{prefix}layers.{layer}."
        y = norm(x, name + "input_layernorm")
        q, k, v = (w.linear(y, f"{name}self_attn.{part}_proj", count * width, False, wide=2.5)
                   for part, count in (("q", heads), ("k", kv_heads), ("v", kv_heads)))
        if head_norms:
            q = norm(q.reshape(-1, width), name + "self_attn.q_norm").reshape(q.shape)
            k = norm(k.reshape(-1, width), name + "self_attn.k_norm").reshape(k.shape)
        theta = local_theta if windows[layer] and local_theta else config["rope_theta"]
        scaling = {} if windows[layer] else config.get("rope_scaling") or {}
        angles, factor = frequencies(width, theta, scaling, 64)
        q, k = rotate(q, heads, angles, factor), rotate(k, kv_heads, angles, factor)
        weights, z = attend(q, k, v, heads, causal=True, kv_heads=kv_heads, cap=softcap, window=windows[layer],
                            scale=1 / math.sqrt(config["query_pre_attn_scalar"]))
        patterns.append(weights)
        x = x + norm(w.linear(z, name + "self_attn.o_proj", D, False), name + "post_attention_layernorm")
        y = norm(x, name + "pre_feedforward_layernorm")
        hidden = gelu_tanh(w.linear(y, name + "mlp.gate_proj", FFN, False)) * w.linear(y, name + "mlp.up_proj", FFN,
                                                                                     False)
        x = x + norm(w.linear(hidden, name + "mlp.down_proj", D, False), name + "post_feedforward_layernorm")
    x = norm(x, prefix + "norm")
    logits = x @ words.T
    if final_cap:
        logits = final_cap * torch.tanh(logits / final_cap)
    return config, {"ids": IDS}, w, {"attentions": torch.stack(patterns), "last_hidden_state": x, "logits": logits}


def gemma2():
    """The first layer sees three tokens, the second all."""
    config = llama_config("gemma2", "Gemma2ForCausalLM", num_attention_heads=4, num_key_value_heads=2, head_dim=8,
                          hidden_activation="gelu_pytorch_tanh", query_pre_attn_scalar=6, sliding_window=3,
                          attn_logit_softcapping=5.0, final_logit_softcapping=3.0, tie_word_embeddings=True)
    return gemma_like(Weights(40), config, 5.0, 3.0, (3, None))


def gemma3():
    """Two layers with a window, one without, which is stretched and has another base."""
    config = llama_config("gemma3_text", "Gemma3ForCausalLM", num_attention_heads=3, num_key_value_heads=1, head_dim=10,
                          hidden_activation="gelu_pytorch_tanh", query_pre_attn_scalar=5, sliding_window=4,
                          sliding_window_pattern=3, num_hidden_layers=4, rope_theta=90000.0,
                          rope_local_base_freq=500.0, rope_scaling={"rope_type": "linear", "factor": 4.0},
                          attn_logit_softcapping=None, final_logit_softcapping=None, tie_word_embeddings=True)
    return gemma_like(Weights(41), config, windows=(4, 4, None, 4), head_norms=True, local_theta=500.0)


def gemma3_pictures():
    """The text of a model that reads pictures too."""
    text, case, w, answer = gemma3()
    del text["architectures"]
    config = {"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"], "text_config": text,
              "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 8}}
    renamed = Weights(41)
    for name, tensor in list(w.items()):
        renamed["language_model." + name] = tensor
    renamed.draw("vision_tower.vision_model.post_layernorm.weight", (8,), 0.2)
    renamed.draw("multi_modal_projector.mm_input_projection_weight", (8, D), 0.2)
    return config, case, renamed, answer


def olmo2():
    """Norms behind the sublayers, and over the queries and keys of all heads together."""
    w, prefix, epsilon, heads, kv_heads, width = Weights(42), "model.", 1e-5, 6, 2, 4
    config = llama_config("olmo2", "Olmo2ForCausalLM", rms_norm_eps=epsilon, rope_theta=5e5)
    angles, factor = frequencies(width, 5e5, {}, 64)
    x, patterns = w.table(prefix + "embed_tokens.weight", WORDS, D)[torch.tensor(IDS)], []
    for layer in range(LAYERS):
        name = f"{prefix}layers.{layer}."
        q = w.rms_norm(w.linear(x, name + "self_attn.q_proj", heads * width, False), name + "self_attn.q_norm", epsilon)
        k = w.rms_norm(w.linear(x, name + "self_attn.k_proj", kv_heads * width, False), name + "self_attn.k_norm",
                       epsilon)
        v = w.linear(x, name + "self_attn.v_proj", kv_heads * width, False)
        q, k = rotate(q, heads, angles, factor), rotate(k, kv_heads, angles, factor)
        weights, z = attend(q, k, v, heads, causal=True, kv_heads=kv_heads)
        patterns.append(weights)
        x = x + w.rms_norm(w.linear(z, name + "self_attn.o_proj", D, False), name + "post_attention_layernorm", epsilon)
        hidden = F.silu(w.linear(x, name + "mlp.gate_proj", FFN, False)) * w.linear(x, name + "mlp.up_proj", FFN, False)
        x = x + w.rms_norm(w.linear(hidden, name + "mlp.down_proj", D, False), name + "post_feedforward_layernorm",
                           epsilon)
    x = w.rms_norm(x, prefix + "norm", epsilon)
    return config, {"ids": IDS}, w, {"attentions": torch.stack(patterns), "last_hidden_state": x,
                                     "logits": x @ w.draw("lm_head.weight", (WORDS, D), 0.3).T}


def mixture_like(w, config, router, expert, experts, chosen, ffn, to_one, bias=False, head_norms=False, shared=None):
    """router, expert: names; expert has places for the number and the part (gate, up, down)."""
    prefix, epsilon, heads, kv_heads = "model.", config["rms_norm_eps"], 6, 2
    width = config.get("head_dim", D // heads)
    angles, factor = frequencies(width, config["rope_theta"], {}, 64)

    def through(y, name, size):
        hidden = F.silu(w.linear(y, name("gate"), size, False)) * w.linear(y, name("up"), size, False)
        return w.linear(hidden, name("down"), D, False)

    x, patterns = w.table(prefix + "embed_tokens.weight", WORDS, D)[torch.tensor(IDS)], []
    for layer in range(LAYERS):
        name = f"{prefix}layers.{layer}."
        y = w.rms_norm(x, name + "input_layernorm", epsilon)
        q, k, v = (w.linear(y, f"{name}self_attn.{part}_proj", count * width, bias)
                   for part, count in (("q", heads), ("k", kv_heads), ("v", kv_heads)))
        if head_norms:
            q = w.rms_norm(q.reshape(-1, width), name + "self_attn.q_norm", epsilon).reshape(q.shape)
            k = w.rms_norm(k.reshape(-1, width), name + "self_attn.k_norm", epsilon).reshape(k.shape)
        q, k = rotate(q, heads, angles, factor), rotate(k, kv_heads, angles, factor)
        weights, z = attend(q, k, v, heads, causal=True, kv_heads=kv_heads)
        patterns.append(weights)
        x = x + w.linear(z, name + "self_attn.o_proj", D, False)
        y = w.rms_norm(x, name + "post_attention_layernorm", epsilon)
        share = torch.softmax(w.linear(y, name + router, experts, False), -1)
        best, which = torch.topk(share, chosen, dim=-1)
        if to_one:
            best = best / best.sum(-1, keepdim=True)
        made = torch.stack([through(y, lambda part: name + expert(e, part), ffn) for e in range(experts)], 1)
        added = (torch.gather(made, 1, which[..., None].expand(-1, -1, D)) * best[..., None]).sum(1)
        if shared:
            gate = torch.sigmoid(w.linear(y, name + "mlp.shared_expert_gate", 1, False))
            added = added + gate * through(y, lambda part: f"{name}mlp.shared_expert.{part}_proj", shared)
        x = x + added
    x = w.rms_norm(x, prefix + "norm", epsilon)
    return config, {"ids": IDS}, w, {"attentions": torch.stack(patterns), "last_hidden_state": x,
                                     "logits": x @ w.draw("lm_head.weight", (WORDS, D), 0.3).T}


def mixtral():
    config = llama_config("mixtral", "MixtralForCausalLM", num_local_experts=4, num_experts_per_tok=2,
                          sliding_window=None)
    parts = {"gate": "w1", "up": "w3", "down": "w2"}
    return mixture_like(Weights(43), config, "block_sparse_moe.gate",
                        lambda e, part: f"block_sparse_moe.experts.{e}.{parts[part]}", 4, 2, FFN, True)


def qwen2_moe():
    config = llama_config("qwen2_moe", "Qwen2MoeForCausalLM", num_experts=5, num_experts_per_tok=3,
                          moe_intermediate_size=12, shared_expert_intermediate_size=20, norm_topk_prob=False,
                          decoder_sparse_step=1, mlp_only_layers=[], use_sliding_window=False)
    return mixture_like(Weights(44), config, "mlp.gate", lambda e, part: f"mlp.experts.{e}.{part}_proj", 5, 3, 12, False,
                        bias=True, shared=20)


def qwen3_moe():
    config = llama_config("qwen3_moe", "Qwen3MoeForCausalLM", num_experts=12, num_experts_per_tok=2, head_dim=6,
                          moe_intermediate_size=10, norm_topk_prob=True)
    return mixture_like(Weights(45, halves=True), config, "mlp.gate", lambda e, part: f"mlp.experts.{e}.{part}_proj", 12,
                        2, 10, True, head_norms=True)


def mistral_window():
    config = llama_config("mistral", "MistralForCausalLM", sliding_window=4)
    return llama_like(Weights(46), {"ids": IDS}, config, window=4)
