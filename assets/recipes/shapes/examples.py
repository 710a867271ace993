#!/usr/bin/env python3
"""Draws the three pictures of assets/pictures that the model of shapes is shown: examples.py FOLDER"""
import pathlib
import sys

from PIL import Image

from draw import rendered, scenes

SIDE = 224
SEEDS = [700_000_023, 700_000_008, 700_000_038]  # seeds of neither training nor measure


def main():
    folder = pathlib.Path(sys.argv[1])
    for number, seed in enumerate(SEEDS, 1):
        pictures, _ = rendered(scenes(seed, 1), SIDE)
        Image.fromarray(pictures[0]).save(folder / f"shapes-{number}.png", optimize=True)


if __name__ == "__main__":
    main()
