"""GPT-NeoX (Black et al. 2022), GPT-J (Wang & Komatsuzaki 2021), Phi (Li et al. 2023), Falcon (Almazrouei et al. 2023)."""

import math

import torch
from torch.nn import functional as F

from .common import *


def rotate_some(x, heads, columns, theta, interleaved=False):
    """The first columns of each head are rotated: pairs (i, i + columns / 2), or (2i, 2i + 1)."""
    parts = split(x, heads)
    turned, rest = parts[..., :columns], parts[..., columns:]
    angles = theta ** (-torch.arange(0, columns, 2, dtype=torch.float64) / columns)
    places = torch.arange(x.shape[0], dtype=torch.float64)[:, None] * angles
    cosine, sine = torch.cos(places), torch.sin(places)
    if interleaved:
        a, b = turned[..., 0::2], turned[..., 1::2]
        turned = torch.stack([a * cosine - b * sine, a * sine + b * cosine], -1).flatten(-2)
    else:
        a, b = turned[..., :columns // 2], turned[..., columns // 2:]
        turned = torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1)
    return torch.cat([turned, rest], -1).transpose(0, 1).reshape(x.shape)


def result(patterns, x, logits):
    return {"attentions": torch.stack(patterns), "last_hidden_state": x, "logits": logits}


def neox_like(w, parallel, heads, share):
    prefix, epsilon, width = "gpt_neox.", 1e-5, D // heads
    config = {"model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "vocab_size": WORDS, "hidden_size": D,
              "num_hidden_layers": LAYERS, "num_attention_heads": heads, "intermediate_size": FFN,
              "max_position_embeddings": 64, "hidden_act": "gelu", "rotary_pct": share, "rotary_emb_base": 5000,
              "layer_norm_eps": epsilon, "use_parallel_residual": parallel, "tie_word_embeddings": False}
    x, patterns = w.table(prefix + "embed_in.weight", WORDS, D)[torch.tensor(IDS)], []
    for layer in range(LAYERS):
        name = f"{prefix}layers.{layer}."
        y = w.layer_norm(x, name + "input_layernorm", epsilon)
        # Query, key and value of each head stand together.
        fused = w.linear(y, name + "attention.query_key_value", 3 * D).reshape(-1, heads, 3, width)
        q, k, v = (fused[:, :, part].reshape(-1, D) for part in range(3))
        columns = int(width * share)
        q, k = rotate_some(q, heads, columns, 5000.0), rotate_some(k, heads, columns, 5000.0)
        weights, z = attend(q, k, v, heads, causal=True)
        patterns.append(weights)
        attention = w.linear(z, name + "attention.dense", D)
        y = w.layer_norm(x if parallel else x + attention, name + "post_attention_layernorm", epsilon)
        hidden = F.gelu(w.linear(y, name + "mlp.dense_h_to_4h", FFN))
        x = x + attention + w.linear(hidden, name + "mlp.dense_4h_to_h", D)
    x = w.layer_norm(x, prefix + "final_layer_norm", epsilon)
    return config, {"ids": IDS}, w, result(patterns, x, x @ w.draw("embed_out.weight", (WORDS, D), 0.3).T)


def gpt_neox():
    return neox_like(Weights(30), True, 3, 0.25)


def gpt_neox_sequential():
    return neox_like(Weights(31, halves=True), False, 2, 1.0)


def gptj():
    w, prefix, epsilon, heads, columns = Weights(32), "transformer.", 1e-5, 3, 4
    config = {"model_type": "gptj", "architectures": ["GPTJForCausalLM"], "vocab_size": WORDS, "n_embd": D,
              "n_layer": LAYERS, "n_head": heads, "n_inner": None, "n_positions": 64, "rotary_dim": columns,
              "activation_function": "gelu_new", "layer_norm_epsilon": epsilon, "tie_word_embeddings": False}
    x, patterns = w.table(prefix + "wte.weight", WORDS, D)[torch.tensor(IDS)], []
    for layer in range(LAYERS):
        name = f"{prefix}h.{layer}."
        y = w.layer_norm(x, name + "ln_1", epsilon)
        q, k, v = (w.linear(y, f"{name}attn.{part}_proj", D, False) for part in "qkv")
        q, k = (rotate_some(part, heads, columns, 10000.0, interleaved=True) for part in (q, k))
        weights, z = attend(q, k, v, heads, causal=True)
        patterns.append(weights)
        hidden = gelu_tanh(w.linear(y, name + "mlp.fc_in", 4 * D))
        x = x + w.linear(z, name + "attn.out_proj", D, False) + w.linear(hidden, name + "mlp.fc_out", D)
    x = w.layer_norm(x, prefix + "ln_f", epsilon)
    logits = x @ w.draw("lm_head.weight", (WORDS, D), 0.3).T + w.draw("lm_head.bias", (WORDS,), 0.3)
    return config, {"ids": IDS}, w, result(patterns, x, logits)


def phi():
    w, prefix, epsilon, heads, kv_heads = Weights(33), "model.", 1e-5, 3, 1
    width, columns = D // heads, 4
    config = {"model_type": "phi", "architectures": ["PhiForCausalLM"], "vocab_size": WORDS, "hidden_size": D,
              "num_hidden_layers": LAYERS, "num_attention_heads": heads, "num_key_value_heads": kv_heads,
              "intermediate_size": FFN, "max_position_embeddings": 64, "hidden_act": "gelu_new",
              "layer_norm_eps": epsilon, "partial_rotary_factor": 0.5, "rope_theta": 10000.0, "qk_layernorm": False,
              "tie_word_embeddings": False}
    x, patterns = w.table(prefix + "embed_tokens.weight", WORDS, D)[torch.tensor(IDS)], []
    for layer in range(LAYERS):
        name = f"{prefix}layers.{layer}."
        y = w.layer_norm(x, name + "input_layernorm", epsilon)
        q, k, v = (w.linear(y, f"{name}self_attn.{part}_proj", count * width)
                   for part, count in (("q", heads), ("k", kv_heads), ("v", kv_heads)))
        q, k = rotate_some(q, heads, columns, 10000.0), rotate_some(k, kv_heads, columns, 10000.0)
        weights, z = attend(q, k, v, heads, causal=True, kv_heads=kv_heads)
        patterns.append(weights)
        hidden = gelu_tanh(w.linear(y, name + "mlp.fc1", FFN))
        x = x + w.linear(z, name + "self_attn.dense", D) + w.linear(hidden, name + "mlp.fc2", D)
    x = w.layer_norm(x, prefix + "final_layernorm", epsilon)
    logits = x @ w.draw("lm_head.weight", (WORDS, D), 0.3).T + w.draw("lm_head.bias", (WORDS,), 0.3)
    return config, {"ids": IDS}, w, result(patterns, x, logits)


def falcon_like(w, heads, kv_heads, norms, **more):
    """norms: the names of the norms of attention and feed-forward; the same twice: one norm; sequential where a layer's
    second norm is behind the attention."""
    prefix, epsilon, width, group = "transformer.", 1e-5, D // heads, heads // kv_heads
    config = {"model_type": "falcon", "architectures": ["FalconForCausalLM"], "vocab_size": WORDS, "hidden_size": D,
              "num_hidden_layers": LAYERS, "num_attention_heads": heads, "layer_norm_epsilon": epsilon, "alibi": False,
              "bias": False, "rope_theta": 10000.0, **more}
    bias, parallel = config["bias"], norms[1] != "post_attention_layernorm"
    words = w.table(prefix + "word_embeddings.weight", WORDS, D)
    ids, added = LONG if config["alibi"] else IDS, None
    if config["alibi"]:
        # Of the key's place alone, in the precision of the published code, and before the scale.
        places = torch.tensor(slopes(heads), dtype=torch.float32)[:, None].bfloat16() * torch.arange(len(ids))
        added = places.double()[:, None, :] / math.sqrt(width)
    x, patterns = words[torch.tensor(ids)], []
    for layer in range(LAYERS):
        name = f"{prefix}h.{layer}."
        y = w.layer_norm(x, name + norms[0], epsilon)
        # The queries that share a key, the key and its value stand together.
        fused = w.linear(y, name + "self_attention.query_key_value", (heads + 2 * kv_heads) * width, bias)
        fused = fused.reshape(-1, kv_heads, group + 2, width)
        q, k, v = (part.reshape(x.shape[0], -1) for part in (fused[:, :, :group], fused[:, :, group],
                                                              fused[:, :, group + 1]))
        if not config["alibi"]:
            q, k = rotate_some(q, heads, width, 10000.0), rotate_some(k, kv_heads, width, 10000.0)
        weights, z = attend(q, k, v, heads, causal=True, kv_heads=kv_heads, added=added)
        patterns.append(weights)
        attention = w.linear(z, name + "self_attention.dense", D, bias)
        if norms[1] != norms[0]:
            y = w.layer_norm(x if parallel else x + attention, name + norms[1], epsilon)
        hidden = F.gelu(w.linear(y, name + "mlp.dense_h_to_4h", 4 * D, bias))
        x = x + attention + w.linear(hidden, name + "mlp.dense_4h_to_h", D, bias)
    x = w.layer_norm(x, prefix + "ln_f", epsilon)
    return config, {"ids": ids}, w, result(patterns, x, x @ words.T)


def falcon_multi_query():
    return falcon_like(Weights(34), 3, 1, ("input_layernorm", "input_layernorm"), multi_query=True, parallel_attn=True,
                       new_decoder_architecture=False)


def falcon_grouped():
    return falcon_like(Weights(35), 6, 2, ("ln_attn", "ln_mlp"), num_kv_heads=2, new_decoder_architecture=True)


def falcon_sequential():
    return falcon_like(Weights(36), 2, 2, ("input_layernorm", "post_attention_layernorm"), multi_query=False,
                       parallel_attn=False, new_decoder_architecture=False, bias=True)


def falcon_alibi():
    """As the models of RefinedWeb are (Penedo et al. 2023); six heads: the slopes between the powers of two count too."""
    return falcon_like(Weights(37), 6, 6, ("input_layernorm", "post_attention_layernorm"), multi_query=False,
                       parallel_attn=False, new_decoder_architecture=False, bias=True, alibi=True)
