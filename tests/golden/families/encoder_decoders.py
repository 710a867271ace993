"""BART, Pegasus, M2M-100, T5."""

import math

import torch
from torch.nn import functional as F

from .common import *
from .encoders import counted_behind_padding


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


def norms_before(w, case, config, places, activation=F.relu):
    """BART's layers with their norms before them and one behind the last (Pegasus, M2M-100); without a function of places
    those of BART, and a norm behind them (mBART)."""
    prefix, epsilon, heads = "model.", 1e-5, config["decoder_attention_heads"]
    words = w.table(prefix + "shared.weight", WORDS, D)

    def embed(ids, stack):
        if places:
            return words[torch.tensor(ids)] * math.sqrt(D) + places(ids)
        own = w.table(f"{prefix}{stack}.embed_positions.weight", 18, D)[2:2 + len(ids)]
        return w.layer_norm(words[torch.tensor(ids)] * math.sqrt(D) + own, f"{prefix}{stack}.layernorm_embedding", epsilon)

    def attention(name, x, memory, causal):
        y = w.layer_norm(x, name + "_layer_norm", epsilon)
        memory = y if memory is None else memory
        q, k, v = w.linear(y, name + ".q_proj", D), w.linear(memory, name + ".k_proj", D), w.linear(
            memory, name + ".v_proj", D)
        weights, z = attend(q, k, v, heads, causal)
        return weights, x + w.linear(z, name + ".out_proj", D)

    def feed_forward(name, x):
        y = w.layer_norm(x, name + "final_layer_norm", epsilon)
        return x + w.linear(activation(w.linear(y, name + "fc1", FFN)), name + "fc2", D)

    x, encoder, decoder, cross = embed(case["ids"], "encoder"), [], [], []
    for layer in range(config["encoder_layers"]):
        name = f"{prefix}encoder.layers.{layer}."
        weights, x = attention(name + "self_attn", x, None, False)
        encoder.append(weights)
        x = feed_forward(name, x)
    memory = w.layer_norm(x, prefix + "encoder.layer_norm", epsilon)
    x = embed(case["decoder_ids"], "decoder")
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


def t5():
    return t5_like(Weights(11), {"ids": LONG, "decoder_ids": LONG[::-1][:23]},
                   t5_config("t5", "T5ForConditionalGeneration"), False)


def t5_gated():
    config = t5_config("mt5", "MT5ForConditionalGeneration", feed_forward_proj="gated-gelu",
                       tie_word_embeddings=False, num_decoder_layers=2, relative_attention_num_buckets=32,
                       relative_attention_max_distance=128)
    return t5_like(Weights(12), {"ids": LONG[:9], "decoder_ids": LONG[4:11]}, config, True)
