"""Encoders with positions of their own: ModernBERT (Warner et al. 2024), DeBERTa v2 and v3 (He et al. 2021; He, Gao &
Chen 2023)."""

import math

import torch
from torch.nn import functional as F

from .common import *
from .encoders import bert_config


def modernbert():
    """The first layer and every third see all, the others four tokens to either side."""
    w, prefix, epsilon, heads, layers = Weights(50), "model.", 1e-5, 3, 4
    width = D // heads
    config = {"model_type": "modernbert", "architectures": ["ModernBertForMaskedLM"], "vocab_size": WORDS,
              "hidden_size": D, "num_hidden_layers": layers, "num_attention_heads": heads, "intermediate_size": FFN,
              "hidden_activation": "gelu", "norm_eps": epsilon, "norm_bias": False, "attention_bias": False,
              "mlp_bias": False, "global_attn_every_n_layers": 3, "local_attention": 6, "global_rope_theta": 160000.0,
              "local_rope_theta": 10000.0, "classifier_activation": "gelu", "decoder_bias": True,
              "max_position_embeddings": 64}

    def norm(x, name):
        return F.layer_norm(x, x.shape[1:], w.draw(name + ".weight", x.shape[1:], 0.2, 1.0), None, epsilon)

    ids = LONG[:14]
    words = w.table(prefix + "embeddings.tok_embeddings.weight", WORDS, D)
    x = norm(words[torch.tensor(ids)], prefix + "embeddings.norm")
    states, patterns = [x], []
    for layer in range(layers):
        name, near = f"{prefix}layers.{layer}.", layer % 3 != 0
        y = norm(x, name + "attn_norm") if layer > 0 else x
        q, k, v = w.linear(y, name + "attn.Wqkv", 3 * D, False).chunk(3, -1)
        angles, factor = frequencies(width, 10000.0 if near else 160000.0, {}, 64)
        q, k = rotate(q, heads, angles, factor), rotate(k, heads, angles, factor)
        weights, z = attend(q, k, v, heads, window=4 if near else None)  # up to half of six away
        patterns.append(weights)
        x = x + w.linear(z, name + "attn.Wo", D, False)
        gate, up = w.linear(norm(x, name + "mlp_norm"), name + "mlp.Wi", 2 * FFN, False).chunk(2, -1)
        x = x + w.linear(F.gelu(gate) * up, name + "mlp.Wo", D, False)
        states.append(x)
    x = norm(x, prefix + "final_norm")
    y = norm(F.gelu(w.linear(x, "head.dense", D, False)), "head.norm")
    return config, {"ids": ids}, w, {"attentions": torch.stack(patterns), "hidden_states": torch.stack(states),
                                     "last_hidden_state": x,
                                     "logits": y @ words.T + w.draw("decoder.bias", (WORDS,), 0.3)}


def row_of_distance(distance, buckets, most):
    """Near distances as they are, farther ones by their logarithm, in float32 as models were trained with it."""
    if buckets <= 0:
        return distance
    middle, size = buckets // 2, abs(distance)
    if size <= middle:
        return distance
    logs = torch.log(torch.tensor(float(size)) / middle) / torch.log(torch.tensor((most - 1) / middle))
    return int(torch.ceil(logs * (middle - 1)) + middle) * (1 if distance > 0 else -1)


def deberta_like(w, config, ids, types=None):
    prefix, epsilon, heads = "deberta.", config["layer_norm_eps"], config["num_attention_heads"]
    width, count, kinds = D // heads, len(ids), config["pos_att_type"]
    kinds = kinds.split("|") if isinstance(kinds, str) else kinds
    buckets = config["position_buckets"]
    most = config["max_relative_positions"] if config["max_relative_positions"] > 0 else config[
        "max_position_embeddings"]
    span = buckets if buckets > 0 else most
    words = w.table(prefix + "embeddings.word_embeddings.weight", WORDS, D)
    x = words[torch.tensor(ids)]
    if config["position_biased_input"]:
        x = x + w.table(prefix + "embeddings.position_embeddings.weight", config["max_position_embeddings"], D)[:count]
    if config["type_vocab_size"] > 0:
        x = x + w.table(prefix + "embeddings.token_type_embeddings.weight", config["type_vocab_size"], D)[
            torch.tensor(types)]
    x = w.layer_norm(x, prefix + "embeddings.LayerNorm", epsilon)
    table = w.draw(prefix + "encoder.rel_embeddings.weight", (2 * span, D), 0.7)
    if config["norm_rel_ebd"] == "layer_norm":
        table = w.layer_norm(table, prefix + "encoder.LayerNorm", epsilon)
    rows = torch.tensor([[min(max(row_of_distance(i - j, buckets, most) + span, 0), 2 * span - 1)
                          for j in range(count)] for i in range(count)])
    scale, states, patterns = 1 / math.sqrt(width * (1 + len(kinds))), [x], []
    for layer in range(config["num_hidden_layers"]):
        name = f"{prefix}encoder.layer.{layer}."
        own = name + "attention.self."
        q, k, v = (w.linear(x, f"{own}{part}_proj", D) for part in ("query", "key", "value"))
        shared, added = config["share_att_key"], 0
        if "c2p" in kinds:
            keys = split(w.linear(table, own + ("key_proj" if shared else "pos_key_proj"), D), heads)
            added = added + torch.einsum("hid,hijd->hij", split(q, heads), keys[:, rows]) * scale
        if "p2c" in kinds:
            queries = split(w.linear(table, own + ("query_proj" if shared else "pos_query_proj"), D), heads)
            added = added + torch.einsum("hjd,hijd->hij", split(k, heads), queries[:, rows]) * scale
        weights, z = attend(q, k, v, heads, scale=scale, added=added)
        patterns.append(weights)
        x = post_norm_block(w, x, z, name, epsilon)
        states.append(x)
    return words, {"attentions": torch.stack(patterns), "hidden_states": torch.stack(states), "last_hidden_state": x}


def deberta_config(name, **more):
    config = bert_config("deberta-v2", name, type_vocab_size=0, layer_norm_eps=1e-7, relative_attention=True,
                         max_position_embeddings=30, max_relative_positions=-1, position_buckets=8,
                         pos_att_type="p2c|c2p", share_att_key=True, norm_rel_ebd="layer_norm",
                         position_biased_input=False)
    config.update(more)
    return config


def deberta_v3():
    w, config = Weights(51), deberta_config("DebertaV2Model")
    _, answer = deberta_like(w, config, LONG[:24])
    return config, {"ids": LONG[:24]}, w, answer


def deberta_v2():
    """Without buckets, with projections of its own, places, types and a head."""
    w, case = Weights(52), {"ids": IDS, "token_type_ids": [0, 0, 0, 0, 0, 1, 1, 1, 1]}
    config = deberta_config("DebertaV2ForMaskedLM", position_buckets=-1, max_relative_positions=5, share_att_key=False,
                            norm_rel_ebd="none", position_biased_input=True, type_vocab_size=2,
                            pos_att_type=["c2p", "p2c"])
    words, answer = deberta_like(w, config, IDS, case["token_type_ids"])
    x = F.gelu(w.linear(answer["last_hidden_state"], "cls.predictions.transform.dense", D))
    x = w.layer_norm(x, "cls.predictions.transform.LayerNorm", config["layer_norm_eps"])
    answer["logits"] = x @ words.T + w.draw("cls.predictions.bias", (WORDS,), 0.3)
    return config, case, w, answer
