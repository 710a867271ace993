#!/usr/bin/env python3
"""Writes the worked examples of this folder: tensors files, as the README describes them.

ticket-embeddings.safetensors  ten words of four numbers each, one head, no projections: scores are x·xᵀ / √4
ticket-scores.safetensors      one row of ten scores as a tutorial prints them, its softmax, and what it makes of the
                               ten vectors; query is the number 1 and key the scores, so that q·kᵀ are the scores
"""
import json
import pathlib
import struct

WORDS = ["我", "请", "李雷", "帮", "我", "订了", "去", "北京", "的", "机票"]
VECTORS = {
    "我": [0.2, 0.1, 0.4, 0.5], "请": [0.6, 0.3, 0.2, 0.1], "李雷": [0.9, 0.7, 0.4, 0.2],
    "帮": [0.3, 0.8, 0.6, 0.3], "订了": [0.8, 0.4, 0.3, 0.2], "去": [0.5, 0.6, 0.4, 0.1],
    "北京": [0.9, 0.8, 0.5, 0.3], "的": [0.1, 0.2, 0.1, 0.2], "机票": [0.8, 0.9, 0.6, 0.4],
}
SCORES = [1.1, 1.4, 1.6, 1.9, 1.1, 2.8, 1.5, 2.2, 0.5, 2.0]


def write(name, arrays, metadata):
    header, data = {"__metadata__": metadata}, b""
    for key, rows in arrays.items():
        raw = b"".join(struct.pack("<f", number) for row in rows for number in row)
        header[key] = {"dtype": "F32", "shape": [len(rows), len(rows[0])], "data_offsets": [len(data), len(data) + len(raw)]}
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
