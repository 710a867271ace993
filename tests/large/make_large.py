#!/usr/bin/env python3
"""Writes checkpoints of the shapes of well-known models, with random weights: make_large.py FOLDER [NAME…]

NAMEs: gpt2-small (float32), bert-base (float32), llama-1.1b (bfloat16, 2.2 GB), llama-7b (bfloat16, 13.5 GB), and
llama-1.1b.Q4_K_M.gguf and llama-7b.Q4_K_M.gguf, the same shapes in blocks. Needs NumPy. Each becomes a folder in the
Hugging Face layout with config.json and model.safetensors, or one GGUF file, to measure how long such a model takes to
open and to answer, and how much memory."""

import json
import pathlib
import struct
import sys

import numpy


def gpt2_small():
    d, layers = 768, 12
    config = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 50257, "n_positions": 1024,
              "n_embd": d, "n_layer": layers, "n_head": 12}
    shapes = {"wte.weight": (50257, d), "wpe.weight": (1024, d), "ln_f.weight": (d,), "ln_f.bias": (d,)}
    for layer in range(layers):
        for name, shape in {"ln_1": (d,), "attn.c_attn": (d, 3 * d), "attn.c_proj": (d, d), "ln_2": (d,),
                            "mlp.c_fc": (d, 4 * d), "mlp.c_proj": (4 * d, d)}.items():
            shapes[f"h.{layer}.{name}.weight"] = shape
            shapes[f"h.{layer}.{name}.bias"] = shape[-1:]
    return config, {"transformer." + name: shape for name, shape in shapes.items()}, False


def bert_base():
    d, layers = 768, 12
    config = {"model_type": "bert", "architectures": ["BertModel"], "vocab_size": 30522, "hidden_size": d,
              "num_hidden_layers": layers, "num_attention_heads": 12, "intermediate_size": 4 * d,
              "max_position_embeddings": 512, "type_vocab_size": 2}
    shapes = {"embeddings.word_embeddings.weight": (30522, d), "embeddings.position_embeddings.weight": (512, d),
              "embeddings.token_type_embeddings.weight": (2, d), "embeddings.LayerNorm.weight": (d,),
              "embeddings.LayerNorm.bias": (d,)}
    for layer in range(layers):
        for name, shape in {"attention.self.query": (d, d), "attention.self.key": (d, d),
                            "attention.self.value": (d, d), "attention.output.dense": (d, d),
                            "attention.output.LayerNorm": (d,), "intermediate.dense": (4 * d, d),
                            "output.dense": (d, 4 * d), "output.LayerNorm": (d,)}.items():
            shapes[f"encoder.layer.{layer}.{name}.weight"] = shape
            shapes[f"encoder.layer.{layer}.{name}.bias"] = shape[:1]
    return config, shapes, False


def llama(d=2048, layers=22, ffn=5632, kv_heads=4, words=32000):
    keys = kv_heads * d // 32
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": words, "hidden_size": d,
              "num_hidden_layers": layers, "num_attention_heads": 32, "num_key_value_heads": kv_heads,
              "intermediate_size": ffn, "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "hidden_act": "silu",
              "rope_theta": 10000.0, "tie_word_embeddings": False}
    shapes = {"model.embed_tokens.weight": (words, d), "model.norm.weight": (d,), "lm_head.weight": (words, d)}
    for layer in range(layers):
        for name, shape in {"input_layernorm": (d,), "self_attn.q_proj": (d, d), "self_attn.k_proj": (keys, d),
                            "self_attn.v_proj": (keys, d), "self_attn.o_proj": (d, d),
                            "post_attention_layernorm": (d,), "mlp.gate_proj": (ffn, d), "mlp.up_proj": (ffn, d),
                            "mlp.down_proj": (d, ffn)}.items():
            shapes[f"model.layers.{layer}.{name}.weight"] = shape
    return config, shapes, True


def values(random, name, shape, halves):
    """In parts, so that no tensor is held whole in double precision."""
    count = int(numpy.prod(shape))
    norm = len(shape) == 1 and name.endswith("weight")
    for first in range(0, count, 1 << 22):
        part = random.standard_normal(min(1 << 22, count - first), dtype=numpy.float32)
        part = 1 + 0.1 * part if norm else part / numpy.sqrt(numpy.float32(shape[-1]))
        yield (part.view(numpy.uint32) >> 16).astype(numpy.uint16).tobytes() if halves else part.tobytes()


def write(folder, config, shapes, halves):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    header, at = {}, 0
    for name in sorted(shapes):
        size = int(numpy.prod(shapes[name])) * (2 if halves else 4)
        header[name] = {"dtype": "BF16" if halves else "F32", "shape": list(shapes[name]),
                        "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    random = numpy.random.default_rng(1)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in sorted(shapes):
            for part in values(random, name, shapes[name], halves):
                file.write(part)
    print(folder, at + len(text) + 8, "bytes")


def llama_7b():
    return llama(d=4096, layers=32, ffn=11008, kv_heads=32)


# Of a GGUF file: a text, numbers by their type, a block of 256 weights (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
def gguf_text(text):
    return struct.pack("<Q", len(text)) + text.encode()


def gguf_value(value):
    if isinstance(value, str):
        return struct.pack("<I", 8) + gguf_text(value)
    return struct.pack("<If", 6, value) if isinstance(value, float) else struct.pack("<II", 4, value)


Q4_K, Q6_K = 12, 14
BLOCK_BYTES = {Q4_K: 144, Q6_K: 210}


def blocks(random, kind, count, columns):
    """Random blocks, scaled so that the weights have a variance of about one over the columns."""
    data = random.integers(0, 256, (count, BLOCK_BYTES[kind]), dtype=numpy.uint8)
    scale = numpy.float16(1 / ((255 if kind == Q4_K else 1369) * numpy.sqrt(columns)))
    if kind == Q4_K:
        data[:, 0:4] = numpy.array([scale, numpy.float16(7.5) * scale], numpy.float16).view(numpy.uint8)
    else:
        data[:, 208:210] = numpy.array([scale], numpy.float16).view(numpy.uint8)
    return data.tobytes()


def write_gguf(path, config, shapes):
    """As Q4_K_M: four bits, six for the output, and for the values and `down` of each second layer."""
    own = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
    in_block = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
                "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm",
                "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}
    keys = {"general.architecture": "llama", "tokenizer.ggml.model": "none", "llama.vocab_size": config["vocab_size"],
            "llama.embedding_length": config["hidden_size"], "llama.block_count": config["num_hidden_layers"],
            "llama.attention.head_count": config["num_attention_heads"],
            "llama.attention.head_count_kv": config["num_key_value_heads"],
            "llama.feed_forward_length": config["intermediate_size"],
            "llama.context_length": config["max_position_embeddings"],
            "llama.attention.layer_norm_rms_epsilon": config["rms_norm_eps"]}
    table, at, tensors = b"", 0, []
    for name, shape in shapes.items():
        plain = name.removesuffix(".weight")
        stored = own.get(plain)
        if not stored:
            _, _, layer, rest = plain.split(".", 3)
            stored = f"blk.{layer}.{in_block[rest]}"
            large = in_block[rest] in ("attn_v", "ffn_down") and int(layer) % 2 == 0
        kind = 0 if len(shape) == 1 else Q6_K if stored == "output" or (stored not in own.values() and large) else Q4_K
        count = int(numpy.prod(shape))
        size = 4 * count if kind == 0 else count // 256 * BLOCK_BYTES[kind]
        table += gguf_text(stored + ".weight") + struct.pack("<I", len(shape))
        table += b"".join(struct.pack("<Q", axis) for axis in reversed(shape)) + struct.pack("<IQ", kind, at)
        tensors.append((kind, count, shape[-1], size))
        at += (size + 31) // 32 * 32
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    head += b"".join(gguf_text(key) + gguf_value(value) for key, value in keys.items()) + table
    random = numpy.random.default_rng(1)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % 32))
        for kind, count, columns, size in tensors:
            if kind == 0:
                file.write(numpy.ones(count, numpy.float32).tobytes())
            for first in range(0, count // 256 if kind else 0, 1 << 16):
                file.write(blocks(random, kind, min(1 << 16, count // 256 - first), columns))
            file.write(bytes(-size % 32))
    print(path, path.stat().st_size, "bytes")


MODELS = {"gpt2-small": gpt2_small, "bert-base": bert_base, "llama-1.1b": llama, "llama-7b": llama_7b,
          "llama-1.1b.Q4_K_M.gguf": llama, "llama-7b.Q4_K_M.gguf": llama_7b}


def main():
    if len(sys.argv) < 2 or any(name not in MODELS for name in sys.argv[2:]):
        sys.exit(__doc__)
    for name in sys.argv[2:] or MODELS:
        path, made = pathlib.Path(sys.argv[1]) / name, MODELS[name]()
        write_gguf(path, *made[:2]) if name.endswith(".gguf") else write(path, *made)


if __name__ == "__main__":
    main()
