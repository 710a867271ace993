"""Writes tests/golden/ggml-blocks.json: what ggml makes of 10,000 random blocks of each kind, as a checksum.

  npm install @node-llama-cpp/linux-x64@3.22.1
  python3 tests/golden/ggml_blocks.py node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/libggml-base.so

The blocks are those of tests/core/weight_blocks_test.cpp: numbers of SplitMix64 (Steele et al. 2014), scales finite. Only
Python's own library is needed.
"""

import ctypes
import json
import pathlib
import struct
import sys
import zlib

BLOCKS = 10000
# Name, bytes and numbers of a block, places of its float16 scales, ggml's function.
KINDS = [
    ("Q4_0", 18, 32, [0], "q4_0"),
    ("Q4_1", 20, 32, [0, 2], "q4_1"),
    ("Q5_0", 22, 32, [0], "q5_0"),
    ("Q5_1", 24, 32, [0, 2], "q5_1"),
    ("Q8_0", 34, 32, [0], "q8_0"),
    ("Q2_K", 84, 256, [80, 82], "q2_K"),
    ("Q3_K", 110, 256, [108], "q3_K"),
    ("Q4_K", 144, 256, [0, 2], "q4_K"),
    ("Q5_K", 176, 256, [0, 2], "q5_K"),
    ("Q6_K", 210, 256, [208], "q6_K"),
    ("IQ4_NL", 18, 32, [0], "iq4_nl"),
    ("IQ4_XS", 136, 256, [0], "iq4_xs"),
]
MASK = (1 << 64) - 1


def random_bytes(seed, count):
    state, parts = seed, []
    for _ in range((count + 7) // 8):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        parts.append(struct.pack("<Q", z ^ (z >> 31)))
    return bytearray(b"".join(parts)[:count])


def main():
    ggml = ctypes.CDLL(sys.argv[1])
    checksums = {}
    for seed, (name, size, numbers, scales, function) in enumerate(KINDS):
        data = random_bytes(seed, BLOCKS * size)
        for block in range(BLOCKS):
            for scale in scales:
                data[block * size + scale + 1] &= 0xBF
        widened = (ctypes.c_float * (BLOCKS * numbers))()
        source = (ctypes.c_char * len(data)).from_buffer(data)
        getattr(ggml, "dequantize_row_" + function)(source, widened, ctypes.c_int64(BLOCKS * numbers))
        checksums[name] = zlib.crc32(bytes(widened))
    target = pathlib.Path(__file__).parent / "ggml-blocks.json"
    document = {"made by": "ggml_blocks.py, ggml of @node-llama-cpp/linux-x64 3.22.1", "blocks": BLOCKS, "crc32": checksums}
    target.write_text(json.dumps(document, indent=1) + "\n")


main()
