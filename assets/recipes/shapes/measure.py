#!/usr/bin/env python3
"""What the heads of the model that names shapes look at: measure.py [MODEL] [--pictures N] [--seed S] [--json]

Draws pictures that the training did not see (other seeds), at four times the model's side, resizes them as the model's
preprocessor_config.json says (PIL), and prints, of the mean over the pictures:
  right     share of the pictures whose shape is named
  shape     share of the class token's look that lies on the patches of the shape: those of which it covers a quarter
  self      share of the class token's look that stays on the class token
  near      share of the patches' looks that lies on patches at most one row and one column away, themselves among them
A look is a row of attention, all keys together 1. Beside them what a look that is spread evenly over all tokens gives;
and, of the pictures that are named wrong, what the head of the largest `shape` gives the shape there."""
import argparse
import json
import pathlib

import numpy as np
import torch
from PIL import Image

from draw import KINDS, rendered, scenes
from train import GRID, HEADS, LAYERS, PATCH, SIDE, load, normalised

HERE = pathlib.Path(__file__).resolve().parent
SEED = 500_000_001  # of the pictures that measure; those of the training are drawn from [seed, step]


def asked(model, scene):
    """Logits, attention, and how much of each patch the shape covers."""
    pictures, cover = rendered(scene, 4 * SIDE)
    seen = np.stack([np.asarray(Image.fromarray(picture).resize((SIDE, SIDE), 2)) for picture in pictures])
    with torch.no_grad():
        logits, attention = model(normalised(seen))
    covered = cover.reshape(len(cover), GRID, 4 * PATCH, GRID, 4 * PATCH).mean((2, 4)).reshape(len(cover), -1)
    return logits.numpy(), attention.numpy().astype(np.float64), covered


def measured(model, seed, count):
    scene = scenes(seed, count)
    parts = [asked(model, {key: value[at:at + 50] for key, value in scene.items()}) for at in range(0, count, 50)]
    logits, attention, cover = (np.concatenate(part) for part in zip(*parts))
    on_shape = cover >= 0.25
    rows, columns = np.divmod(np.arange(GRID * GRID), GRID)
    near = (np.abs(rows[:, None] - rows) <= 1) & (np.abs(columns[:, None] - columns) <= 1)
    heads = []
    for layer in range(LAYERS):
        for head in range(HEADS):
            weights = attention[:, layer, head]
            heads.append({"head": f"L{layer}·H{head}", "shape": (weights[:, 0, 1:] * on_shape).sum(1).mean(),
                          "self": weights[:, 0, 0].mean(), "near": (weights[:, 1:, 1:] * near).sum(2).mean()})
    even = {"head": "even", "shape": on_shape.sum(1).mean() / (GRID * GRID + 1), "self": 1 / (GRID * GRID + 1),
            "near": near.sum(1).mean() / (GRID * GRID + 1)}
    right = logits.argmax(1) == scene["kind"]
    kinds = {name: round(float(right[scene["kind"] == at].mean()), 4) for at, name in enumerate(KINDS)}
    best = max(range(len(heads)), key=lambda at: heads[at]["shape"])
    found = (attention[:, best // HEADS, best % HEADS, 0, 1:] * on_shape).sum(1)
    return {"pictures": count, "seed": seed, "right": float(right.mean()), "right_of_kind": kinds,
            "best_where_wrong": round(float(found[~right].mean()), 4),
            "area": round(float(cover.mean()), 4), "patches_of_shape": float(on_shape.sum(1).mean()),
            "heads": [{key: value if key == "head" else round(float(value), 4) for key, value in row.items()}
                      for row in [*heads, even]]}


def line(row):
    """A row of the table in the model's README."""
    return f"| {row['head']} | {row['shape']:.3f} | {row['self']:.3f} | {row['near']:.3f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default=HERE.parents[1] / "models" / "shapes")
    parser.add_argument("--pictures", type=int, default=500)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = measured(load(options.model), options.seed, options.pictures)
    if options.json:
        print(json.dumps(found, ensure_ascii=False, indent=1))
        return
    print(", ".join(f"{kind} {right:.2f}" for kind, right in found["right_of_kind"].items()))
    print(f"{found['pictures']} pictures, right {found['right']:.3f}; the shape covers {found['area']:.1%} of a "
          "picture, "
          f"a quarter of {found['patches_of_shape']:.1f} of {GRID * GRID} patches; found where the name is wrong: "
          f"{found['best_where_wrong']:.3f}")
    print("| head | shape | self | near |\n| --- | --- | --- | --- |")
    print("\n".join(line(row) for row in found["heads"]))


if __name__ == "__main__":
    main()
