"""The layout of the models that Headlight trains (docs/formats.md), with what no training makes: sinks (Xiao et al. 2023,
section 3.3; OpenAI 2025) and a soft cap of the scores."""

import math

import torch
from torch.nn import functional as F

from .common import *


def sinusoids(count):
    """Vaswani et al. 2017, section 3.5: sine and cosine by turns."""
    angles = torch.arange(count, dtype=torch.float64)[:, None] / 10000.0 ** (
        torch.arange(0, D, 2, dtype=torch.float64) / D)
    return torch.stack([torch.sin(angles), torch.cos(angles)], -1).flatten(-2)


def own(w, **more):
    heads, epsilon = 3, 1e-5
    config = {"model_type": "headlight", "architectures": ["HeadlightModel"], "arch": "decoder", "hidden_size": D,
              "num_attention_heads": heads, "num_hidden_layers": LAYERS, "intermediate_size": FFN,
              "position": "sinusoidal", "norm": "pre", "norm_type": "layer", "hidden_act": "gelu", "bias": True,
              "tie_word_embeddings": True, "norm_eps": epsilon, "embedding_scale": 2.0, "vocab_size": WORDS,
              "attention_sinks": True, **more}
    words = w.table("embeddings.tokens.weight", WORDS, D)
    x, patterns = 2.0 * words[torch.tensor(IDS)] + sinusoids(len(IDS)), []
    for layer in range(LAYERS):
        name = f"layers.{layer}."
        y = w.layer_norm(x, name + "attention_norm", epsilon)
        q, k, v = (w.linear(y, f"{name}attention.{part}", D) for part in ("query", "key", "value"))
        weights, z = attend(q, k, v, heads, causal=True, cap=config.get("attn_logit_softcapping"),
                            sinks=w.draw(name + "attention.sinks", (heads,), 1.5))
        patterns.append(weights)
        x = x + w.linear(z, name + "attention.output", D)
        y = w.layer_norm(x, name + "ffn_norm", epsilon)
        x = x + w.linear(F.gelu(w.linear(y, name + "ffn.up", FFN)), name + "ffn.down", D)
    x = w.layer_norm(x, "final_norm", epsilon)
    return config, {"ids": IDS}, w, {"attentions": torch.stack(patterns), "last_hidden_state": x,
                                     "logits": x @ words.T + w.draw("output.bias", (WORDS,), 0.3)}


def sinks():
    return own(Weights(50))


def sinks_capped():
    return own(Weights(51, halves=True), attn_logit_softcapping=5.0)
