#!/usr/bin/env python3
"""Writes checkpoints of the shapes of well-known models, with random weights: make_large.py FOLDER [NAME…]

NAMEs: gpt2-small (float32), bert-base (float32), llama-1.1b (bfloat16, 2.2 GB). Needs NumPy. Each becomes a folder in
the Hugging Face layout with config.json and model.safetensors, to measure how long such a model takes to open and to
answer, and how much memory."""

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


def llama():
    d, layers, ffn, keys, words = 2048, 22, 5632, 256, 32000
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": words, "hidden_size": d,
              "num_hidden_layers": layers, "num_attention_heads": 32, "num_key_value_heads": 4,
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


MODELS = {"gpt2-small": gpt2_small, "bert-base": bert_base, "llama-1.1b": llama}


def main():
    if len(sys.argv) < 2 or any(name not in MODELS for name in sys.argv[2:]):
        sys.exit(__doc__)
    for name in sys.argv[2:] or MODELS:
        write(pathlib.Path(sys.argv[1]) / name, *MODELS[name]())


if __name__ == "__main__":
    main()
