#!/usr/bin/env python3
"""Trains the model that names shapes: train.py MODEL [--steps N] [--rate R] [--seed S], MODEL the folder it writes.

Needs PyTorch and numpy. The pictures are drawn as they are needed (draw.py); the model is asked which of five shapes it
sees, and nothing else: nothing is asked of any attention. One thread, so that the same numbers come out on the same
machine."""
import argparse
import json
import math
import pathlib
import struct
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from draw import KINDS, rendered, scenes

SIDE, PATCH, WIDTH, HEADS, LAYERS, INNER = 56, 8, 64, 4, 3, 128
GRID = SIDE // PATCH


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layernorm_before, self.layernorm_after = nn.LayerNorm(WIDTH, 1e-6), nn.LayerNorm(WIDTH, 1e-6)
        self.query, self.key, self.value, self.output = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x):
        normed = self.layernorm_before(x)
        q, k, v = (part(normed).unflatten(-1, (HEADS, -1)).transpose(1, 2)
                   for part in (self.query, self.key, self.value))
        weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(WIDTH // HEADS), -1)
        x = x + self.output((weights @ v).transpose(1, 2).flatten(2))
        return x + self.down(functional.gelu(self.up(self.layernorm_after(x)))), weights


def waves():
    """(tokens, WIDTH): where the table of positions begins: sines of the row and of the column of a patch, 0 for the
    class token. What is near has nearly the same; the training changes it as it likes."""
    turns = torch.exp(torch.linspace(math.log(math.pi / 8), math.log(math.pi / 1.5), WIDTH // 4))
    at = torch.arange(GRID)[:, None] * turns
    one = torch.cat([at.sin(), at.cos()], 1)
    grid = torch.cat([one[:, None].expand(-1, GRID, -1), one[None].expand(GRID, -1, -1)], 2).reshape(GRID * GRID, WIDTH)
    return torch.cat([torch.zeros(1, WIDTH), grid])


class Model(nn.Module):
    """pixels (N, 3, SIDE, SIDE), normalised → logits (N, kinds) and attention (N, layers, heads, tokens, tokens)."""

    def __init__(self):
        super().__init__()
        self.cls_token = nn.Parameter(0.02 * torch.randn(1, 1, WIDTH))
        self.position_embeddings = nn.Parameter(0.3 * waves()[None])
        self.projection = nn.Conv2d(3, WIDTH, PATCH, PATCH)
        self.layer = nn.ModuleList(Block() for _ in range(LAYERS))
        self.layernorm, self.classifier = nn.LayerNorm(WIDTH, 1e-6), nn.Linear(WIDTH, len(KINDS))

    def forward(self, pixels):
        patches = self.projection(pixels).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(len(pixels), -1, -1), patches], 1) + self.position_embeddings
        attention = []
        for block in self.layer:
            x, weights = block(x)
            attention.append(weights)
        return self.classifier(self.layernorm(x[:, 0])), torch.stack(attention, 1)


def stored_name(name):
    """A parameter's name in Hugging Face's files of ViTForImageClassification."""
    for own, theirs in (("query.", "attention.attention.query."), ("key.", "attention.attention.key."),
                        ("value.", "attention.attention.value."), ("output.", "attention.output.dense."),
                        ("up.", "intermediate.dense."), ("down.", "output.dense.")):
        parts = name.split(".", 2)
        if parts[0] == "layer" and parts[2].startswith(own):
            name = ".".join([*parts[:2], theirs + parts[2][len(own):]])
            break
    if name.startswith("classifier"):
        return name
    if name.startswith("projection"):
        name = "patch_embeddings." + name
    place = "encoder." if name.startswith("layer.") else "" if name.startswith("layernorm.") else "embeddings."
    return "vit." + place + name


def save(model, folder):
    header, at, data = {"__metadata__": {"format": "pt"}}, 0, []
    for name, value in sorted((stored_name(name), value) for name, value in model.state_dict().items()):
        data.append(value.numpy().astype(np.float16).tobytes())
        header[name] = {"dtype": "F16", "shape": list(value.shape), "data_offsets": [at, at + len(data[-1])]}
        at += len(data[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))


def load(folder):
    raw = (pathlib.Path(folder) / "model.safetensors").read_bytes()
    size, = struct.unpack("<Q", raw[:8])
    header, model = json.loads(raw[8:8 + size]), Model()
    with torch.no_grad():
        for name, value in model.state_dict().items():
            entry = header[stored_name(name)]
            begin, end = (8 + size + at for at in entry["data_offsets"])
            value.copy_(torch.from_numpy(np.frombuffer(raw[begin:end], np.float16).reshape(entry["shape"]).copy()))
    return model.eval()


def normalised(pictures):
    return torch.from_numpy(pictures.transpose(0, 3, 1, 2).astype(np.float32) / 255 * 2 - 1)


def settings(folder):
    config = {"architectures": ["ViTForImageClassification"], "model_type": "vit", "image_size": SIDE,
              "patch_size": PATCH, "num_channels": 3, "hidden_size": WIDTH, "num_hidden_layers": LAYERS,
              "num_attention_heads": HEADS, "intermediate_size": INNER, "hidden_act": "gelu", "layer_norm_eps": 1e-6,
              "qkv_bias": True, "id2label": {str(at): kind for at, kind in enumerate(KINDS)},
              "label2id": {kind: at for at, kind in enumerate(KINDS)}, "torch_dtype": "float16"}
    processor = {"image_processor_type": "ViTImageProcessor", "do_resize": True,
                 "size": {"height": SIDE, "width": SIDE}, "resample": 2, "do_rescale": True,
                 "rescale_factor": 0.00392156862745098, "do_normalize": True, "image_mean": [0.5] * 3,
                 "image_std": [0.5] * 3}
    for name, value in (("config.json", config), ("preprocessor_config.json", processor)):
        (folder / name).write_text(json.dumps(value, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stop", type=int, help="end behind this step, the rate as it is then")
    parser.add_argument("--go-on", action="store_true", help="begin with the weights of MODEL, the optimizer anew")
    asked = parser.parse_args()
    asked.model.mkdir(parents=True, exist_ok=True)
    settings(asked.model)
    torch.set_num_threads(1)
    torch.manual_seed(asked.seed)
    model = load(asked.model).train() if asked.go_on else Model()
    warm_up = min(150, asked.steps // 10)
    optimizer = torch.optim.AdamW(model.parameters(), asked.rate, betas=(0.9, 0.98), weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / warm_up) * (
        0.02 + 0.49 * (1 + math.cos(math.pi * min(1, step / asked.steps)))))
    began, losses, right = time.process_time(), [], []
    for step in range(asked.stop or asked.steps):
        scene = scenes([asked.seed, step], asked.batch)
        pictures, _ = rendered(scene, SIDE)
        kinds = torch.from_numpy(scene["kind"])
        logits, _ = model(normalised(pictures))
        loss = functional.cross_entropy(logits, kinds)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        schedule.step()
        losses.append(float(loss))
        right.append(float((logits.argmax(1) == kinds).float().mean()))
        if (step + 1) % 100 == 0:
            print(f"{step + 1} steps  loss {np.mean(losses[-100:]):.3f}  right {np.mean(right[-100:]):.3f}  "
                  f"{time.process_time() - began:.0f} s", flush=True)
            save(model, asked.model)


if __name__ == "__main__":
    main()
