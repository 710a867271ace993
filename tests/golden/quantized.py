#!/usr/bin/env python3
"""Quantized weights of safetensors files, unpacked by numpy as the libraries that write them do it, against the program.

quantized.py HEADLIGHT : for GPTQ (2, 4, 8 bits, both formats, shuffled groups), AWQ, bitsandbytes (nf4, fp4, nested scales,
int8), fp8 in tiles and MLX (2, 4, 8 bits) writes a small Llama with quantized weights, and the same model with the numbers
that they stand for in float32; the answers of both are equal to the bit.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

from quantize import NF4, packed, state_of, write

D, FFN, HEADS, KV_HEADS, LAYERS, WORDS, GROUP = 128, 192, 4, 2, 2, 50, 64
FP4 = np.float32([0, 0.005208333333, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25,
                  -0.0, -0.005208333333, -0.66666667, -1, -0.33333333, -0.5, -0.16666667, -0.25])


def checkpoint(folder, config, tensors):
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    write(folder / "model.safetensors", tensors)


def model(random):
    """Names and shapes of the matrices that are quantized, and the other tensors."""
    keys = D // HEADS * KV_HEADS
    linear, other = {}, {"model.embed_tokens.weight": (WORDS, D), "model.norm.weight": (D,), "lm_head.weight": (WORDS, D)}
    for layer in range(LAYERS):
        own = f"model.layers.{layer}."
        for name, shape in {"self_attn.q_proj": (D, D), "self_attn.k_proj": (keys, D), "self_attn.v_proj": (keys, D),
                            "self_attn.o_proj": (D, D), "mlp.gate_proj": (FFN, D), "mlp.up_proj": (FFN, D),
                            "mlp.down_proj": (D, FFN)}.items():
            linear[own + name] = shape
        for name in ("input_layernorm", "post_attention_layernorm"):
            other[own + name + ".weight"] = (D,)
    return linear, {name: random.standard_normal(shape).astype(np.float32) for name, shape in other.items()}


def halves(random, shape):
    return (random.random(shape) * .02 + .01).astype(np.float16)


def gptq(bits, version_2, shuffled):
    def one(random, name, shape):
        out, inputs = shape
        levels = random.integers(0, 1 << bits, (inputs, out))
        groups = np.arange(inputs) // GROUP
        if shuffled:
            groups = random.permutation(groups)
        zeros = random.integers(0, 1 << bits, (inputs // GROUP, out))
        scales = halves(random, (inputs // GROUP, out))
        stored = zeros if version_2 else (zeros - 1) % (1 << bits)
        scale = scales.astype(np.float32)[groups]
        numbers = (levels - zeros[groups]).astype(np.float32) * scale
        return {name + ".qweight": packed(levels, bits, 0).view(np.int32), name + ".qzeros": packed(stored, bits, 1).view(np.int32),
                name + ".scales": scales, name + ".g_idx": groups.astype(np.int32)}, numbers.T
    config = {"quant_method": "gptq", "bits": bits, "group_size": GROUP, "desc_act": shuffled}
    return dict(config, **({"checkpoint_format": "gptq_v2"} if version_2 else {})), one


def awq():
    order = [0, 2, 4, 6, 1, 3, 5, 7]

    def words(levels):
        return packed(levels.reshape(len(levels), -1, 8)[:, :, order].reshape(len(levels), -1), 4, 1).view(np.int32)

    def one(random, name, shape):
        out, inputs = shape
        levels, zeros = random.integers(0, 16, (inputs, out)), random.integers(0, 16, (inputs // GROUP, out))
        scales = halves(random, (inputs // GROUP, out))
        groups = np.arange(inputs) // GROUP
        numbers = (levels - zeros[groups]).astype(np.float32) * scales.astype(np.float32)[groups]
        return {name + ".qweight": words(levels), name + ".qzeros": words(zeros), name + ".scales": scales}, numbers.T
    return {"quant_method": "awq", "bits": 4, "group_size": GROUP, "version": "gemm", "zero_point": True}, one


def bitsandbytes4(kind, table, nested):
    def one(random, name, shape):
        levels = random.integers(0, 16, shape[0] * shape[1])
        blocks = len(levels) // GROUP
        tensors, more = {".quant_map": table}, {}
        if nested:
            outer, codes = np.linspace(-1, 1, 256, dtype=np.float32), random.integers(0, 256, blocks)
            steps = (random.random(-(-blocks // 256)) * .01).astype(np.float32)
            offset = np.float32(.03)
            absmax = outer[codes] * steps[np.arange(blocks) // 256] + offset
            tensors.update({".absmax": codes.astype(np.uint8), ".nested_absmax": steps, ".nested_quant_map": outer})
            more = {"nested_blocksize": 256, "nested_dtype": "float32", "nested_offset": float(offset)}
        else:
            absmax = (random.random(blocks) * .05 + .01).astype(np.float32)
            tensors[".absmax"] = absmax
        tensors[f".quant_state.bitsandbytes__{kind}"] = state_of(kind, shape, GROUP, **more)
        tensors[""] = (levels[0::2] << 4 | levels[1::2]).astype(np.uint8)[:, None]
        numbers = (table[levels] * np.repeat(absmax, GROUP)).reshape(shape)
        return {name + ".weight" + ending: array for ending, array in tensors.items()}, numbers
    return {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": kind}, one


def int8():
    def one(random, name, shape):
        levels = random.integers(-127, 128, shape).astype(np.int8)
        scales = (random.random(shape[0]) * .1 + .05).astype(np.float32)
        numbers = levels.astype(np.float32) * scales[:, None] * np.float32(7.874015718698502e-3)
        return {name + ".weight": levels, name + ".SCB": scales}, numbers
    return {"quant_method": "bitsandbytes", "load_in_8bit": True}, one


def fp8():
    bits = np.arange(256)
    exponent, rest = bits >> 3 & 15, (bits & 7) / 8
    sizes = np.where(exponent > 0, (1 + rest) * 2. ** (exponent - 7), rest * 2. ** -6)
    table = np.where(bits & 128, -sizes, sizes).astype(np.float32)

    def one(random, name, shape):
        levels = random.integers(0, 0x70, shape) | random.integers(0, 2, shape) << 7
        scales = (random.random([-(-size // 128) for size in shape]) * 1e-3 + 1e-4).astype(np.float32)
        tiles = scales[np.arange(shape[0])[:, None] // 128, np.arange(shape[1]) // 128]
        return {name + ".weight:f8": levels.astype(np.uint8), name + ".weight_scale_inv": scales}, table[levels] * tiles
    return {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}, one


def mlx(bits):
    def one(random, name, shape):
        levels = random.integers(0, 1 << bits, shape)
        scales, biases = halves(random, (shape[0], shape[1] // GROUP)), -halves(random, (shape[0], shape[1] // GROUP))
        wide = [np.repeat(part.astype(np.float32), GROUP, 1) for part in (scales, biases)]
        return {name + ".weight": packed(levels, bits, 1), name + ".scales": scales, name + ".biases": biases}, \
            levels.astype(np.float32) * wide[0] + wide[1]
    return {"group_size": GROUP, "bits": bits}, one


KINDS = {f"gptq {bits} bits{', second format' * new}{', shuffled groups' * order}": gptq(bits, new, order)
         for bits, new, order in ((4, False, False), (4, True, False), (4, False, True), (8, False, False), (2, False, False))}
KINDS.update({"awq": awq(), "nf4": bitsandbytes4("nf4", NF4, False), "nf4, nested scales": bitsandbytes4("nf4", NF4, True),
              "fp4": bitsandbytes4("fp4", FP4, False), "int8": int8(), "fp8": fp8(),
              **{f"mlx {bits} bits": mlx(bits) for bits in (2, 4, 8)}})


def answers(program, folder):
    target = folder / "answer.npz"
    subprocess.run([program, "export", folder, "--ids", "1,7,3,9,20,49", "-o", target], check=True)
    return dict(np.load(target))


def main():
    program, wrong = sys.argv[1], 0
    for seed, (kind, (how, one)) in enumerate(KINDS.items()):
        random = np.random.default_rng(seed)
        linear, other = model(random)
        config = {"model_type": "llama", "vocab_size": WORDS, "hidden_size": D, "intermediate_size": FFN,
                  "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS,
                  "hidden_act": "silu", "rms_norm_eps": 1e-5, "max_position_embeddings": 64}
        quantized, plain = dict(other), dict(other)
        for name, shape in linear.items():
            tensors, numbers = one(random, name, shape)
            quantized.update(tensors)
            plain[name + ".weight"] = np.float32(numbers)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            checkpoint(folder / "quantized", dict(config, **{"quantization" if kind.startswith("mlx") else "quantization_config": how}),
                  quantized)
            checkpoint(folder / "plain", config, plain)
            a, b = answers(program, folder / "quantized"), answers(program, folder / "plain")
            what = subprocess.run([program, "what", folder / "quantized"], capture_output=True, text=True, check=True).stdout
            wrong += what != "a checkpoint of the family llama, 2 layers of 4 heads, quantized\n"
        same = a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)
        finite = all(np.isfinite(array).all() for array in a.values() if array.dtype.kind == "f")
        print(f"{kind}: {'equal to the bit' if same and finite else 'differs'}")
        wrong += not (same and finite)
    return 1 if wrong else 0


sys.exit(main())
