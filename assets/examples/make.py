#!/usr/bin/env python3
"""Writes the worked examples of this folder: tensors files, as docs/formats.md describes them.

ticket-embeddings.safetensors  ten words of four numbers each, one head, no projections: scores are x·xᵀ / √4
ticket-scores.safetensors      one row of ten scores as a tutorial prints them, its softmax, and what it makes of the
                               ten vectors; query is the number 1 and key the scores, so that q·kᵀ are the scores
wrong-scale.safetensors        inputs, weights and result of an attention of two heads whose author divides by
                               `scale = d_k ** -0.5`, so multiplies the scores by √d_k: for `headlight diagnose`
"""
import json
import math
import pathlib
import random
import struct

WORDS = ["我", "请", "李雷", "帮", "我", "订了", "去", "北京", "的", "机票"]
VECTORS = {
    "我": [0.2, 0.1, 0.4, 0.5], "请": [0.6, 0.3, 0.2, 0.1], "李雷": [0.9, 0.7, 0.4, 0.2],
    "帮": [0.3, 0.8, 0.6, 0.3], "订了": [0.8, 0.4, 0.3, 0.2], "去": [0.5, 0.6, 0.4, 0.1],
    "北京": [0.9, 0.8, 0.5, 0.3], "的": [0.1, 0.2, 0.1, 0.2], "机票": [0.8, 0.9, 0.6, 0.4],
}
SCORES = [1.1, 1.4, 1.6, 1.9, 1.1, 2.8, 1.5, 2.2, 0.5, 2.0]


def shape_of(array):
    return [len(array)] + shape_of(array[0]) if isinstance(array, list) else []


def numbers_of(array):
    return [number for part in array for number in numbers_of(part)] if isinstance(array, list) else [array]


def write(name, arrays, metadata):
    header, data = {"__metadata__": metadata}, b""
    for key, array in arrays.items():
        raw = b"".join(struct.pack("<f", number) for number in numbers_of(array))
        header[key] = {"dtype": "F32", "shape": shape_of(array), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    (pathlib.Path(__file__).parent / name).write_bytes(struct.pack("<Q", len(text)) + text + data)


def names(words):
    return json.dumps(words, ensure_ascii=False)


VALUES = [VECTORS[word] for word in WORDS]
write("ticket-embeddings.safetensors", {"query": VALUES}, {"num_heads": "1", "tokens": names(WORDS)})
write("ticket-scores.safetensors", {"query": [[1.0]], "key": [[score] for score in SCORES], "value": VALUES},
      {"num_heads": "1", "tokens": names(["机票"]), "key_tokens": names(WORDS)})


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def transposed(a):
    return [list(column) for column in zip(*a)]


def softmax(row):
    powers = [math.exp(score - max(row)) for score in row]
    return [power / sum(powers) for power in powers]


def wrong_scale(words, d_model=8, num_heads=2):
    draw = random.Random(1)
    matrix = lambda rows: [[draw.gauss(0, 1) / math.sqrt(d_model) for _ in range(d_model)] for _ in range(rows)]
    arrays = {"query": [[draw.gauss(0, 1) for _ in range(d_model)] for _ in words]}
    arrays.update({name + "_proj.weight": matrix(d_model) for name in ("q", "k", "v", "out")})
    q, k, v = (product(arrays["query"], transposed(arrays[name + "_proj.weight"])) for name in "qkv")
    d_k = d_model // num_heads
    scale = d_k ** -0.5
    attentions, z = [], []
    for head in range(num_heads):
        own = slice(head * d_k, (head + 1) * d_k)
        scores = product([row[own] for row in q], transposed([row[own] for row in k]))
        attentions.append([softmax([score / scale for score in row]) for row in scores])  # the mistake: / for *
        z.append(product(attentions[-1], [row[own] for row in v]))
    concat = [[number for head in z for number in head[token]] for token in range(len(words))]
    arrays["attentions"] = attentions
    arrays["output"] = product(concat, transposed(arrays["out_proj.weight"]))
    return arrays


write("wrong-scale.safetensors", wrong_scale(["the", "cat", "sat", "on", "the", "mat"]),
      {"num_heads": "2", "tokens": names(["the", "cat", "sat", "on", "the", "mat"])})
