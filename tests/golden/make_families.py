#!/usr/bin/python3
"""Writes small checkpoints of each family and what its published formulas answer: make_families.py [--check | NAME …]

Needs PyTorch 1.13 or later (Debian: python3-torch); the tests need only the files it wrote. Into family-*/ beside this
script go config.json, model.safetensors (or shards), case.json with the ids, and expected.npz, which holds the answers
under the names of Headlight's exports, and the ids once more, as a reference.npz does. --check writes nothing: it computes again and says whether that is what is stored, to within 1e-6.
Every formula is computed in double precision from the papers that core/read/hub_*.cpp names; the names of tensors and
keys are those of Hugging Face's files. Weights are drawn wide, so that attention is far from uniform and a wrong scale,
mask, position or norm shows."""

import json
import math
import pathlib
import struct
import sys

import numpy
import torch
from torch.nn import functional as F

FOLDER = pathlib.Path(__file__).parent
D, FFN, WORDS, LAYERS = 24, 40, 53, 2


class Weights(dict):
    """Tensors by name, drawn when they are first asked for; kept as float32, handed out in double precision."""

    def __init__(self, seed, halves=False):
        super().__init__()
        self.random = numpy.random.default_rng(seed)
        self.halves = halves

    def draw(self, name, shape, scale, middle=0.0):
        if name not in self:
            values = torch.from_numpy((middle + scale * self.random.standard_normal(shape)).astype(numpy.float32))
            self[name] = values.bfloat16() if self.halves else values
        return self[name].double()

    def table(self, name, rows, columns):
        return self.draw(name, (rows, columns), 1.0)

    def linear(self, x, name, out, bias=True, wide=1.4):
        y = x @ self.draw(name + ".weight", (out, x.shape[1]), wide / math.sqrt(x.shape[1])).T
        return y + self.draw(name + ".bias", (out,), 0.3) if bias else y

    def layer_norm(self, x, name, epsilon):
        scale, shift = self.draw(name + ".weight", x.shape[1:], 0.2, 1.0), self.draw(name + ".bias", x.shape[1:], 0.3)
        return F.layer_norm(x, x.shape[1:], scale, shift, epsilon)

    def rms_norm(self, x, name, epsilon):
        scale = self.draw(name + ".weight", x.shape[-1:], 0.2, 1.0)
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + epsilon) * scale


def split(x, heads):
    return x.reshape(x.shape[0], heads, -1).transpose(0, 1)


def attend(q, k, v, heads, causal=False, scale=None, added=None, kv_heads=None):
    """The weights (heads, T, S) and the heads' outputs side by side."""
    q, k, v = split(q, heads), split(k, kv_heads or heads), split(v, kv_heads or heads)
    group = heads // k.shape[0]
    k, v = k.repeat_interleave(group, 0), v.repeat_interleave(group, 0)
    scores = q @ k.transpose(1, 2) * (1 / math.sqrt(q.shape[2]) if scale is None else scale)
    if added is not None:
        scores = scores + added
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[1:], dtype=torch.bool).triu(1), -math.inf)
    weights = torch.softmax(scores, -1)
    return weights, (weights @ v).transpose(0, 1).reshape(q.shape[1], -1)


def gelu_tanh(x):
    return F.gelu(x, approximate="tanh")


# --- Encoders -------------------------------------------------------------------------------------------------------


def bert_like(w, case, config, prefix, places):
    """BERT's blocks over the sum of three tables; the tables may be narrower (ELECTRA)."""
    ids, epsilon = torch.tensor(case["ids"]), config["layer_norm_eps"]
    e = config.get("embedding_size", config["hidden_size"])
    types = torch.tensor(case.get("token_type_ids", [0] * len(ids)))
    words = w.table(prefix + "embeddings.word_embeddings.weight", WORDS, e)
    x = (words[ids]
         + w.table(prefix + "embeddings.position_embeddings.weight", config["max_position_embeddings"], e)[places]
         + w.table(prefix + "embeddings.token_type_embeddings.weight", config["type_vocab_size"], e)[types])
    x = w.layer_norm(x, prefix + "embeddings.LayerNorm", epsilon)
    if e != config["hidden_size"]:
        x = w.linear(x, prefix + "embeddings_project", config["hidden_size"])
    heads, states, patterns = config["num_attention_heads"], [x], []
    for layer in range(config["num_hidden_layers"]):
        name = f"{prefix}encoder.layer.{layer}."
        q, k, v = (w.linear(x, name + "attention.self." + part, D) for part in ("query", "key", "value"))
        weights, z = attend(q, k, v, heads)
        patterns.append(weights)
        x = w.layer_norm(x + w.linear(z, name + "attention.output.dense", D), name + "attention.output.LayerNorm",
                         epsilon)
        hidden = F.gelu(w.linear(x, name + "intermediate.dense", FFN))
        x = w.layer_norm(x + w.linear(hidden, name + "output.dense", D), name + "output.LayerNorm", epsilon)
        states.append(x)
    return words, {"attentions": torch.stack(patterns), "hidden_states": torch.stack(states), "last_hidden_state": x}


def bert_config(model_type, name, **more):
    config = {"model_type": model_type, "architectures": [name], "vocab_size": WORDS, "hidden_size": D,
              "num_hidden_layers": LAYERS, "num_attention_heads": 4, "intermediate_size": FFN,
              "max_position_embeddings": 20, "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-5}
    config.update(more)
    return config


def counted_behind_padding(ids, pad):
    """Liu et al.'s places: the n-th token that is no padding stands at pad + n, padding at pad."""
    places, count = [], 0
    for one in ids:
        count += one != pad
        places.append(pad + count if one != pad else pad)
    return torch.tensor(places)


def roberta():
    w, pad = Weights(1), 1
    case = {"ids": [0, 17, 5, 1, 44, 17, 2, 1, 1]}
    config = bert_config("roberta", "RobertaForMaskedLM", type_vocab_size=1, pad_token_id=pad)
    words, answer = bert_like(w, case, config, "roberta.", counted_behind_padding(case["ids"], pad))
    x = F.gelu(w.linear(answer["last_hidden_state"], "lm_head.dense", D))
    x = w.layer_norm(x, "lm_head.layer_norm", config["layer_norm_eps"])
    answer["logits"] = x @ words.T + w.draw("lm_head.bias", (WORDS,), 0.3)
    return config, case, w, answer


def xlm_roberta():
    w, pad = Weights(2), 3
    case = {"ids": [0, 30, 31, 7, 52, 2]}
    config = bert_config("xlm-roberta", "XLMRobertaModel", type_vocab_size=1, pad_token_id=pad)
    _, answer = bert_like(w, case, config, "", counted_behind_padding(case["ids"], pad))
    w.linear(answer["last_hidden_state"][:1], "pooler.dense", D)
    return config, case, w, answer


def electra():
    w = Weights(3)
    case = {"ids": [2, 11, 40, 3, 12, 3], "token_type_ids": [0, 0, 0, 0, 1, 1]}
    config = bert_config("electra", "ElectraForMaskedLM", embedding_size=16, layer_norm_eps=1e-12)
    words, answer = bert_like(w, case, config, "electra.", torch.arange(len(case["ids"])))
    x = F.gelu(w.linear(answer["last_hidden_state"], "generator_predictions.dense", 16))
    x = w.layer_norm(x, "generator_predictions.LayerNorm", 1e-12)
    answer["logits"] = x @ words.T + w.draw("generator_lm_head.bias", (WORDS,), 0.3)
    return config, case, w, answer


def distilbert():
    w, prefix, epsilon = Weights(4), "distilbert.", 1e-12
    case = {"ids": [2, 33, 8, 9, 10, 33, 3]}
    config = {"model_type": "distilbert", "architectures": ["DistilBertForMaskedLM"], "vocab_size": WORDS, "dim": D,
              "n_layers": LAYERS, "n_heads": 3, "hidden_dim": FFN, "max_position_embeddings": 20,
              "activation": "gelu", "sinusoidal_pos_embds": False}
    ids = torch.tensor(case["ids"])
    words = w.table(prefix + "embeddings.word_embeddings.weight", WORDS, D)
    x = words[ids] + w.table(prefix + "embeddings.position_embeddings.weight", 20, D)[:len(ids)]
    x = w.layer_norm(x, prefix + "embeddings.LayerNorm", epsilon)
    states, patterns = [x], []
    for layer in range(LAYERS):
        name = f"{prefix}transformer.layer.{layer}."
        q, k, v = (w.linear(x, f"{name}attention.{part}_lin", D) for part in "qkv")
        weights, z = attend(q, k, v, 3)
        patterns.append(weights)
        x = w.layer_norm(x + w.linear(z, name + "attention.out_lin", D), name + "sa_layer_norm", epsilon)
        hidden = F.gelu(w.linear(x, name + "ffn.lin1", FFN))
        x = w.layer_norm(x + w.linear(hidden, name + "ffn.lin2", D), name + "output_layer_norm", epsilon)
        states.append(x)
    y = w.layer_norm(F.gelu(w.linear(x, "vocab_transform", D)), "vocab_layer_norm", epsilon)
    logits = y @ words.T + w.draw("vocab_projector.bias", (WORDS,), 0.3)
    return config, case, w, {"attentions": torch.stack(patterns), "hidden_states": torch.stack(states),
                             "last_hidden_state": x, "logits": logits}


def ernie():
    w, task = Weights(13), "ernie.embeddings.task_type_embeddings.weight"
    case = {"ids": [1, 20, 6, 2, 33, 2], "token_type_ids": [0, 0, 0, 0, 1, 1]}
    config = bert_config("ernie", "ErnieForMaskedLM", type_vocab_size=4, use_task_id=True, task_type_vocab_size=3)
    tasks = w.table(task, 3, D)
    # The first task's vector is added to every token: the same as a table of types that has it.
    types = w.table("ernie.embeddings.token_type_embeddings.weight", 4, D).float()
    w["ernie.embeddings.token_type_embeddings.weight"] = types + tasks[0].float()
    words, answer = bert_like(w, case, config, "ernie.", torch.arange(len(case["ids"])))
    w["ernie.embeddings.token_type_embeddings.weight"] = types
    x = F.gelu(w.linear(answer["last_hidden_state"], "cls.predictions.transform.dense", D))
    x = w.layer_norm(x, "cls.predictions.transform.LayerNorm", config["layer_norm_eps"])
    answer["logits"] = x @ words.T + w.draw("cls.predictions.bias", (WORDS,), 0.3)
    return config, case, w, answer


def albert():
    """Three layers, of which the first two share their weights."""
    w, prefix, epsilon, e, layers = Weights(14), "albert.", 1e-12, 10, 4
    case = {"ids": [2, 11, 40, 3, 12, 3], "token_type_ids": [0, 0, 0, 0, 1, 1]}
    config = bert_config("albert", "AlbertForMaskedLM", embedding_size=e, num_hidden_layers=layers,
                         num_hidden_groups=2, inner_group_num=1, hidden_act="gelu_new", layer_norm_eps=epsilon)
    ids, types = torch.tensor(case["ids"]), torch.tensor(case["token_type_ids"])
    words = w.table(prefix + "embeddings.word_embeddings.weight", WORDS, e)
    x = (words[ids] + w.table(prefix + "embeddings.position_embeddings.weight", 20, e)[:len(ids)]
         + w.table(prefix + "embeddings.token_type_embeddings.weight", 2, e)[types])
    x = w.layer_norm(x, prefix + "embeddings.LayerNorm", epsilon)
    x = w.linear(x, prefix + "encoder.embedding_hidden_mapping_in", D)
    states, patterns = [x], []
    for layer in range(layers):
        name = f"{prefix}encoder.albert_layer_groups.{layer * 2 // layers}.albert_layers.0."
        q, k, v = (w.linear(x, name + "attention." + part, D) for part in ("query", "key", "value"))
        weights, z = attend(q, k, v, 4)
        patterns.append(weights)
        x = w.layer_norm(x + w.linear(z, name + "attention.dense", D), name + "attention.LayerNorm", epsilon)
        hidden = gelu_tanh(w.linear(x, name + "ffn", FFN))
        x = w.layer_norm(x + w.linear(hidden, name + "ffn_output", D), name + "full_layer_layer_norm", epsilon)
        states.append(x)
    y = w.layer_norm(gelu_tanh(w.linear(x, "predictions.dense", e)), "predictions.LayerNorm", epsilon)
    return config, case, w, {"attentions": torch.stack(patterns), "hidden_states": torch.stack(states),
                             "last_hidden_state": x,
                             "logits": y @ words.T + w.draw("predictions.bias", (WORDS,), 0.3)}


def mpnet():
    w, prefix, epsilon, pad = Weights(15), "mpnet.", 1e-5, 1
    case = {"ids": [0, 9, 31, 44, 9, 7, 8, 50, 3, 4, 5, 2, 1]}
    config = bert_config("mpnet", "MPNetForMaskedLM", relative_attention_num_buckets=8)
    del config["type_vocab_size"]
    ids, count = torch.tensor(case["ids"]), len(case["ids"])
    words = w.table(prefix + "embeddings.word_embeddings.weight", WORDS, D)
    x = words[ids] + w.table(prefix + "embeddings.position_embeddings.weight", 20, D)[
        counted_behind_padding(case["ids"], pad)]
    x = w.layer_norm(x, prefix + "embeddings.LayerNorm", epsilon)
    table = w.draw(prefix + "encoder.relative_attention_bias.weight", (8, 4), 1.0)
    rows = [[bucket(key - query, 8, 128, True) for key in range(count)] for query in range(count)]
    added, states, patterns = table[torch.tensor(rows)].permute(2, 0, 1), [x], []
    for layer in range(LAYERS):
        name = f"{prefix}encoder.layer.{layer}."
        q, k, v = (w.linear(x, name + "attention.attn." + part, D) for part in "qkv")
        weights, z = attend(q, k, v, 4, added=added)
        patterns.append(weights)
        x = w.layer_norm(x + w.linear(z, name + "attention.attn.o", D), name + "attention.LayerNorm", epsilon)
        hidden = F.gelu(w.linear(x, name + "intermediate.dense", FFN))
        x = w.layer_norm(x + w.linear(hidden, name + "output.dense", D), name + "output.LayerNorm", epsilon)
        states.append(x)
    y = w.layer_norm(F.gelu(w.linear(x, "lm_head.dense", D)), "lm_head.layer_norm", epsilon)
    return config, case, w, {"attentions": torch.stack(patterns), "hidden_states": torch.stack(states),
                             "last_hidden_state": x, "logits": y @ words.T + w.draw("lm_head.bias", (WORDS,), 0.3)}


# --- Decoders -------------------------------------------------------------------------------------------------------


def frequencies(width, theta, scaling, trained):
    """The angle of each pair of columns for one place further, and what sines and cosines are multiplied by."""
    plain = theta ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    trained = scaling.get("original_max_position_embeddings", trained)
    if kind in ("default", "dynamic"):
        return plain, 1.0
    factor = scaling["factor"]
    if kind == "linear":
        return plain / factor, 1.0
    if kind == "llama3":
        low, high = trained / scaling["low_freq_factor"], trained / scaling["high_freq_factor"]
        result = []
        for frequency in plain.tolist():
            wave = 2 * math.pi / frequency
            share = (trained / wave - scaling["low_freq_factor"]) / (
                scaling["high_freq_factor"] - scaling["low_freq_factor"])
            if wave < high:
                result.append(frequency)
            elif wave > low:
                result.append(frequency / factor)
            else:
                result.append((1 - share) * frequency / factor + share * frequency)
        return torch.tensor(result, dtype=torch.float64), 1.0
    assert kind == "yarn"
    def pair(turns):
        return width * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(theta))
    first = max(math.floor(pair(scaling.get("beta_fast", 32))), 0)
    last = min(math.ceil(pair(scaling.get("beta_slow", 1))), width - 1)
    ramp = ((torch.arange(width // 2, dtype=torch.float64) - first) / max(last - first, 0.001)).clamp(0, 1)
    return plain / factor * ramp + plain * (1 - ramp), 0.1 * math.log(factor) + 1


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


def slopes(heads):
    """Press et al.'s numbers: 2^(-8/n), its powers; between them those of twice as many heads."""
    whole = 2 ** int(math.floor(math.log2(heads)))
    base, between = 2 ** (-8 / whole), 2 ** (-8 / (2 * whole))
    return [base ** (i + 1) for i in range(whole)] + [between ** (2 * i + 1) for i in range(heads - whole)]


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


def rotate(x, heads, angles, factor):
    """Columns i and i + width/2 of each head are a pair."""
    parts = split(x, heads)
    half = parts.shape[2] // 2
    places = torch.arange(x.shape[0], dtype=torch.float64)[:, None] * angles
    cosine, sine = torch.cos(places) * factor, torch.sin(places) * factor
    a, b = parts[..., :half], parts[..., half:]
    return torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1).transpose(0, 1).reshape(x.shape)


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


def llama_like(w, case, config, prefix="model.", bias=False, head_norms=False):
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    width = config.get("head_dim", D // heads)
    epsilon = config["rms_norm_eps"]
    angles, factor = frequencies(width, config["rope_theta"], config.get("rope_scaling") or {},
                                 config["max_position_embeddings"])
    words = w.table(prefix + "embed_tokens.weight", WORDS, D)
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
        q, k = rotate(q, heads, angles, factor), rotate(k, kv_heads, angles, factor)
        weights, z = attend(q, k, v, heads, causal=True, kv_heads=kv_heads)
        patterns.append(weights)
        x = x + w.linear(z, name + "self_attn.o_proj", D, False)
        y = w.rms_norm(x, name + "post_attention_layernorm", epsilon)
        hidden = F.silu(w.linear(y, name + "mlp.gate_proj", FFN, False)) * w.linear(y, name + "mlp.up_proj", FFN, False)
        x = x + w.linear(hidden, name + "mlp.down_proj", D, False)
    x = w.rms_norm(x, prefix + "norm", epsilon)
    answer = {"attentions": torch.stack(patterns), "last_hidden_state": x}
    if config["architectures"][0].endswith("ForCausalLM"):
        head = words if config["tie_word_embeddings"] else w.draw("lm_head.weight", (WORDS, D), 0.3)
        answer["logits"] = x @ head.T
    return config, case, w, answer


def llama_config(model_type, name, **more):
    config = {"model_type": model_type, "architectures": [name], "vocab_size": WORDS, "hidden_size": D,
              "num_hidden_layers": LAYERS, "num_attention_heads": 6, "num_key_value_heads": 2,
              "intermediate_size": FFN, "max_position_embeddings": 64, "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
              "hidden_act": "silu", "tie_word_embeddings": False}
    config.update(more)
    return config


IDS = [5, 44, 12, 12, 7, 51, 30, 2, 19]


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


def qwen3():
    scaling = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 256, "beta_fast": 8.0}
    config = llama_config("qwen3", "Qwen3ForCausalLM", tie_word_embeddings=True, head_dim=16,
                          num_attention_heads=3, num_key_value_heads=1, attention_bias=False, rope_scaling=scaling,
                          max_position_embeddings=1024, rope_theta=5000.0)
    return llama_like(Weights(9), {"ids": IDS}, config, head_norms=True)


# --- Encoder-decoders -----------------------------------------------------------------------------------------------


def bart():
    w, prefix, epsilon = Weights(10), "model.", 1e-5
    case = {"ids": [0, 9, 31, 44, 9, 2], "decoder_ids": [2, 0, 17, 40]}
    config = {"model_type": "bart", "architectures": ["BartForConditionalGeneration"], "vocab_size": WORDS,
              "d_model": D, "encoder_layers": 1, "decoder_layers": LAYERS, "encoder_attention_heads": 2,
              "decoder_attention_heads": 3, "encoder_ffn_dim": 32, "decoder_ffn_dim": FFN,
              "max_position_embeddings": 16, "activation_function": "gelu", "scale_embedding": True}
    words = w.table(prefix + "shared.weight", WORDS, D)

    def embed(stack, ids):
        places = w.table(f"{prefix}{stack}.embed_positions.weight", 18, D)[2:2 + len(ids)]  # two rows come before
        return w.layer_norm(words[torch.tensor(ids)] * math.sqrt(D) + places,
                            f"{prefix}{stack}.layernorm_embedding", epsilon)

    def attention(name, x, memory, heads, causal):
        q, k, v = w.linear(x, name + ".q_proj", D), w.linear(memory, name + ".k_proj", D), w.linear(
            memory, name + ".v_proj", D)
        weights, z = attend(q, k, v, heads, causal)
        return weights, w.layer_norm(x + w.linear(z, name + ".out_proj", D), name + "_layer_norm", epsilon)

    def feed_forward(name, x, width):
        return w.layer_norm(x + w.linear(F.gelu(w.linear(x, name + "fc1", width)), name + "fc2", D),
                            name + "final_layer_norm", epsilon)

    x, encoder, decoder, cross = embed("encoder", case["ids"]), [], [], []
    for layer in range(config["encoder_layers"]):
        name = f"{prefix}encoder.layers.{layer}."
        weights, x = attention(name + "self_attn", x, x, 2, False)
        encoder.append(weights)
        x = feed_forward(name, x, 32)
    memory, x = x, embed("decoder", case["decoder_ids"])
    for layer in range(LAYERS):
        name = f"{prefix}decoder.layers.{layer}."
        weights, x = attention(name + "self_attn", x, x, 3, True)
        decoder.append(weights)
        weights, x = attention(name + "encoder_attn", x, memory, 3, False)
        cross.append(weights)
        x = feed_forward(name, x, FFN)
    logits = x @ words.T + w.draw("final_logits_bias", (1, WORDS), 0.3)[0]
    return config, case, w, {"encoder_attentions": torch.stack(encoder), "decoder_attentions": torch.stack(decoder),
                             "cross_attentions": torch.stack(cross), "encoder_last_hidden_state": memory,
                             "last_hidden_state": x, "logits": logits}


def norms_before(w, case, config, places):
    """BART's layers with their norms before them and one behind the last (Pegasus, M2M-100)."""
    prefix, epsilon, heads = "model.", 1e-5, config["decoder_attention_heads"]
    words = w.table(prefix + "shared.weight", WORDS, D)

    def embed(ids):
        return words[torch.tensor(ids)] * math.sqrt(D) + places(ids)

    def attention(name, x, memory, causal):
        y = w.layer_norm(x, name + "_layer_norm", epsilon)
        memory = y if memory is None else memory
        q, k, v = w.linear(y, name + ".q_proj", D), w.linear(memory, name + ".k_proj", D), w.linear(
            memory, name + ".v_proj", D)
        weights, z = attend(q, k, v, heads, causal)
        return weights, x + w.linear(z, name + ".out_proj", D)

    def feed_forward(name, x):
        y = w.layer_norm(x, name + "final_layer_norm", epsilon)
        return x + w.linear(F.relu(w.linear(y, name + "fc1", FFN)), name + "fc2", D)

    x, encoder, decoder, cross = embed(case["ids"]), [], [], []
    for layer in range(config["encoder_layers"]):
        name = f"{prefix}encoder.layers.{layer}."
        weights, x = attention(name + "self_attn", x, None, False)
        encoder.append(weights)
        x = feed_forward(name, x)
    memory = w.layer_norm(x, prefix + "encoder.layer_norm", epsilon)
    x = embed(case["decoder_ids"])
    for layer in range(config["decoder_layers"]):
        name = f"{prefix}decoder.layers.{layer}."
        weights, x = attention(name + "self_attn", x, None, True)
        decoder.append(weights)
        weights, x = attention(name + "encoder_attn", x, memory, False)
        cross.append(weights)
        x = feed_forward(name, x)
    x = w.layer_norm(x, prefix + "decoder.layer_norm", epsilon)
    logits = x @ words.T
    return words, {"encoder_attentions": torch.stack(encoder), "decoder_attentions": torch.stack(decoder),
                   "cross_attentions": torch.stack(cross), "encoder_last_hidden_state": memory,
                   "last_hidden_state": x, "logits": logits}


def stacks_config(model_type, name, **more):
    config = {"model_type": model_type, "architectures": [name], "vocab_size": WORDS, "d_model": D,
              "encoder_layers": 2, "decoder_layers": 1, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
              "encoder_ffn_dim": FFN, "decoder_ffn_dim": FFN, "max_position_embeddings": 16,
              "activation_function": "relu", "scale_embedding": True, "pad_token_id": 0}
    config.update(more)
    return config


def pegasus():
    w, case = Weights(20), {"ids": [9, 31, 44, 9, 7, 1], "decoder_ids": [0, 17, 40]}

    def places(ids):  # all sines, then all cosines (Vaswani et al.'s frequencies)
        angles = torch.arange(len(ids), dtype=torch.float64)[:, None] / 10000 ** (
            torch.arange(0, D, 2, dtype=torch.float64) / D)
        return torch.cat([torch.sin(angles), torch.cos(angles)], -1)

    config = stacks_config("pegasus", "PegasusForConditionalGeneration", normalize_before=True,
                           add_final_layer_norm=True)
    _, answer = norms_before(w, case, config, places)
    answer["logits"] = answer["logits"] + w.draw("final_logits_bias", (1, WORDS), 0.3)[0]
    return config, case, w, answer


def m2m_100():
    w, pad, case = Weights(21), 1, {"ids": [40, 9, 31, 44, 1, 9, 2], "decoder_ids": [2, 41, 17]}

    def places(ids):  # frequencies from 1 to 1/10000; the place of padding is zero
        rows = counted_behind_padding(ids, pad).double()[:, None]
        angles = rows * torch.exp(-math.log(10000) / (D // 2 - 1) * torch.arange(D // 2, dtype=torch.float64))
        return torch.cat([torch.sin(angles), torch.cos(angles)], -1) * (rows != pad)

    config = stacks_config("m2m_100", "M2M100ForConditionalGeneration", pad_token_id=pad)
    _, answer = norms_before(w, case, config, places)
    return config, case, w, answer


def bucket(offset, buckets, most, both_ways):
    """Raffel et al.'s buckets for a key `offset` places after its query."""
    first, distance = 0, -offset
    if both_ways:
        buckets //= 2
        first, distance = (buckets if offset > 0 else 0), abs(offset)
    distance, exact = max(distance, 0), buckets // 2
    if distance < exact:
        return first + distance
    # In float32, as models were trained with it: distances on an edge fall to one side.
    logs = torch.log(torch.tensor(float(distance)) / exact) / math.log(most / exact) * (buckets - exact)
    return first + min(exact + int(logs), buckets - 1)


def t5_like(w, case, config, gated):
    heads, width, epsilon = config["num_heads"], config["d_kv"], config["layer_norm_epsilon"]
    buckets, most = config["relative_attention_num_buckets"], config["relative_attention_max_distance"]
    words = w.table("shared.weight", WORDS, D)

    def bias(stack, length):
        table = w.draw(f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight", (buckets, heads), 1.0)
        rows = [[bucket(key - query, buckets, most, stack == "encoder") for key in range(length)]
                for query in range(length)]
        return table[torch.tensor(rows)].permute(2, 0, 1)

    def attention(name, layer_norm, x, memory, added, causal):
        y = w.rms_norm(x, layer_norm, epsilon)
        memory = y if memory is None else memory
        q = w.linear(y, name + ".q", heads * width, False, wide=0.9)
        k = w.linear(memory, name + ".k", heads * width, False, wide=0.9)
        v = w.linear(memory, name + ".v", heads * width, False)
        weights, z = attend(q, k, v, heads, causal, scale=1.0, added=added)
        return weights, x + w.linear(z, name + ".o", D, False)

    def feed_forward(name, x):
        y = w.rms_norm(x, name + ".layer_norm", epsilon)
        name += ".DenseReluDense."
        if gated:
            hidden = gelu_tanh(w.linear(y, name + "wi_0", FFN, False)) * w.linear(y, name + "wi_1", FFN, False)
        else:
            hidden = F.relu(w.linear(y, name + "wi", FFN, False))
        return x + w.linear(hidden, name + "wo", D, False)

    x, encoder, decoder, cross = words[torch.tensor(case["ids"])], [], [], []
    added = bias("encoder", len(case["ids"]))
    for block in range(config["num_layers"]):
        name = f"encoder.block.{block}.layer."
        weights, x = attention(name + "0.SelfAttention", name + "0.layer_norm", x, None, added, False)
        encoder.append(weights)
        x = feed_forward(name + "1", x)
    memory = w.rms_norm(x, "encoder.final_layer_norm", epsilon)
    x, added = words[torch.tensor(case["decoder_ids"])], bias("decoder", len(case["decoder_ids"]))
    for block in range(config["num_decoder_layers"]):
        name = f"decoder.block.{block}.layer."
        weights, x = attention(name + "0.SelfAttention", name + "0.layer_norm", x, None, added, True)
        decoder.append(weights)
        weights, x = attention(name + "1.EncDecAttention", name + "1.layer_norm", x, memory, None, False)
        cross.append(weights)
        x = feed_forward(name + "2", x)
    x = w.rms_norm(x, "decoder.final_layer_norm", epsilon)
    if config["tie_word_embeddings"]:
        logits = x / math.sqrt(D) @ words.T
    else:
        logits = x @ w.draw("lm_head.weight", (WORDS, D), 0.3).T
    return config, case, w, {"encoder_attentions": torch.stack(encoder), "decoder_attentions": torch.stack(decoder),
                             "cross_attentions": torch.stack(cross), "encoder_last_hidden_state": memory,
                             "last_hidden_state": x, "logits": logits}


def t5_config(model_type, name, **more):
    config = {"model_type": model_type, "architectures": [name], "vocab_size": WORDS, "d_model": D, "d_kv": 5,
              "d_ff": FFN, "num_layers": LAYERS, "num_decoder_layers": 1, "num_heads": 3,
              "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20,
              "layer_norm_epsilon": 1e-6, "feed_forward_proj": "relu", "tie_word_embeddings": True}
    config.update(more)
    return config


LONG = [(7 * i * i + 3) % WORDS for i in range(26)]


def t5():
    return t5_like(Weights(11), {"ids": LONG, "decoder_ids": LONG[::-1][:23]},
                   t5_config("t5", "T5ForConditionalGeneration"), False)


def t5_gated():
    config = t5_config("mt5", "MT5ForConditionalGeneration", feed_forward_proj="gated-gelu",
                       tie_word_embeddings=False, num_decoder_layers=2, relative_attention_num_buckets=32,
                       relative_attention_max_distance=128)
    return t5_like(Weights(12), {"ids": LONG[:9], "decoder_ids": LONG[4:11]}, config, True)


# --- Files ----------------------------------------------------------------------------------------------------------


def safetensors(tensors):
    header, data = {}, b""
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        half = tensor.dtype == torch.bfloat16
        values = (tensor.view(torch.int16) if half else tensor).numpy().tobytes()
        header[name] = {"dtype": "BF16" if half else "F32", "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def weight_files(tensors, shards):
    if shards == 1:
        return {"model.safetensors": safetensors(tensors)}
    files, names = {}, sorted(tensors)
    weight_map = {}
    for shard in range(shards):
        file = f"model-{shard + 1:05}-of-{shards:05}.safetensors"
        part = {name: tensors[name] for name in names[shard::shards]}
        files[file] = safetensors(part)
        weight_map.update({name: file for name in part})
    index = {"metadata": {"total_size": sum(t.numel() * t.element_size() for t in tensors.values())},
             "weight_map": weight_map}
    files["model.safetensors.index.json"] = json.dumps(index, indent=1).encode()
    return files


CASES = {"roberta": roberta, "xlm-roberta": xlm_roberta, "electra": electra, "distilbert": distilbert,
         "llama3-sharded": llama3, "mistral": mistral, "mistral-base": mistral_base, "qwen2": qwen2, "qwen3": qwen3,
         "bart": bart, "t5": t5, "mt5-gated": t5_gated, "ernie": ernie, "albert": albert, "mpnet": mpnet, "opt": opt,
         "bloom": bloom, "gemma": gemma, "phi3": phi3, "pegasus": pegasus, "m2m_100": m2m_100}


def main():
    check = sys.argv[1:] == ["--check"]
    worst = 0.0
    for name, make in CASES.items():
        if sys.argv[1:] and not check and name not in sys.argv[1:]:
            continue
        folder = FOLDER / ("family-" + name)
        config, case, weights, answer = make()
        arrays = {key: value.numpy().astype(numpy.float32) for key, value in answer.items()}
        arrays.update({key: numpy.array(ids, dtype=numpy.int64) for key, ids in case.items()})
        spread = max(float(value.max()) for key, value in arrays.items() if "attentions" in key)
        assert all(numpy.isfinite(value).all() for value in arrays.values()) and spread > 0.8, (name, spread)
        if check:
            stored = numpy.load(folder / "expected.npz")
            assert sorted(stored.files) == sorted(arrays), name
            for key, value in arrays.items():
                worst = max(worst, float(numpy.abs(stored[key] - value).max()) / max(1.0, float(numpy.abs(value).max())))
            continue
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
        (folder / "case.json").write_text(json.dumps(case) + "\n")
        numpy.savez_compressed(folder / "expected.npz", **arrays)
        for file, data in weight_files(weights, 2 if "sharded" in name else 1).items():
            (folder / file).write_bytes(data)
        print(name, {key: value.shape for key, value in arrays.items()})
    if check:
        print("largest difference:", worst)
        return 0 if worst < 1e-6 else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
