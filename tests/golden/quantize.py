#!/usr/bin/env python3
"""Writes a checkpoint with its layers' weights quantized: quantize.py FOLDER KIND OUT

KIND: mlx-8, mlx-4, mlx-2 (groups of 32 with a scale and a least number, as MLX rounds them), nf4 (bitsandbytes, blocks of
64), int8 (LLM.int8(), a scale a row). Embeddings, biases and norms stay. Needs NumPy.
"""
import json
import pathlib
import shutil
import struct
import sys

import numpy as np

TYPES = {"float32": "F32", "float16": "F16", "int32": "I32", "uint32": "U32", "int8": "I8", "uint8": "U8"}
NF4 = np.float32([-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
                  -0.18477343022823334, -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725,
                  0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
                  0.7229568362236023, 1])


def read(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    names = {short: dtype for dtype, short in TYPES.items()}
    return {name: np.frombuffer(data[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]],
                                names[entry["dtype"]]).reshape(entry["shape"]) for name, entry in header.items()}


def write(path, tensors):
    """Of bytes with the type F8_E4M3 the name ends with ':f8'."""
    header, parts, at = {}, [], 0
    for name, array in tensors.items():
        data = np.ascontiguousarray(array).tobytes()
        dtype = "F8_E4M3" if name.endswith(":f8") else TYPES[str(array.dtype)]
        header[name.removesuffix(":f8")] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def packed(levels, bits, axis):
    """Levels along an axis as 32-bit words, the first in the lowest bits."""
    levels = np.moveaxis(levels.astype(np.uint64), axis, -1)
    words = levels.reshape(*levels.shape[:-1], -1, 32 // bits)
    words = (words << (np.arange(32 // bits, dtype=np.uint64) * np.uint64(bits))).sum(-1).astype(np.uint32)
    return np.ascontiguousarray(np.moveaxis(words, -1, axis))


def state_of(kind, shape, block, **more):
    """What bitsandbytes stores of a weight beside its numbers."""
    state = {"quant_type": kind, "blocksize": block, "dtype": "float16", "shape": list(shape), **more}
    return np.frombuffer(json.dumps(state).encode(), np.uint8)


def mlx(weight, bits, group=32):
    """The nearest of 2^bits levels between the smallest and the largest number of each group."""
    parts = weight.reshape(len(weight), -1, group)
    least, most = parts.min(-1), parts.max(-1)
    scales = np.maximum((most - least) / (2 ** bits - 1), 1e-7).astype(np.float16)
    least = least.astype(np.float16)
    levels = np.rint((parts - least.astype(np.float32)[..., None]) / scales.astype(np.float32)[..., None])
    levels = levels.clip(0, 2 ** bits - 1).reshape(weight.shape)
    return {"weight": packed(levels, bits, 1), "scales": scales, "biases": least}


def nf4(weight, block=64):
    parts = weight.reshape(-1, block)
    absmax = np.abs(parts).max(-1)
    shares = (parts / np.maximum(absmax, 1e-30)[:, None]).reshape(-1)
    levels = np.abs(shares[:, None] - NF4).argmin(-1).astype(np.uint8)
    return {"weight": (levels[0::2] << 4 | levels[1::2])[:, None], "weight.absmax": absmax, "weight.quant_map": NF4,
            "weight.quant_state.bitsandbytes__nf4": state_of("nf4", weight.shape, block)}


def int8(weight):
    scales = np.abs(weight).max(1)
    return {"weight": np.rint(weight * (127 / scales)[:, None]).astype(np.int8), "SCB": scales}


KINDS = {**{f"mlx-{bits}": ("quantization", {"group_size": 32, "bits": bits}, lambda w, bits=bits: mlx(w, bits))
            for bits in (8, 4, 2)},
         "nf4": ("quantization_config", {"quant_method": "bitsandbytes", "load_in_4bit": True}, nf4),
         "int8": ("quantization_config", {"quant_method": "bitsandbytes", "load_in_8bit": True}, int8)}


def main():
    source, kind, target = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    key, how, quantize = KINDS[kind]
    shutil.copytree(source, target)
    config = json.loads((source / "config.json").read_text())
    (target / "config.json").write_text(json.dumps({**config, key: how}, indent=1))
    tensors = {}
    for name, array in read(source / "model.safetensors").items():
        if array.ndim == 2 and name.startswith("layers.") and name.endswith(".weight"):
            parts = quantize(array.astype(np.float32))
            tensors.update({name.removesuffix("weight") + part: numbers for part, numbers in parts.items()})
        else:
            tensors[name] = array
    write(target / "model.safetensors", tensors)


if __name__ == "__main__":
    main()
