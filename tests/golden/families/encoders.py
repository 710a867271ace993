"""BERT and those that are built as it is."""

import math

import torch
from torch.nn import functional as F

from .common import *


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
        x = post_norm_block(w, x, z, name, epsilon)
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
