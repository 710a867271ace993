#!/usr/bin/env python3
"""shuffled.py FILE.conllu: its sentences of four words and more, their words in another order, without arcs."""
import random
import sys


def write(words, spaces):
    end = len(words) - (words[-1] in ".?!。？！")
    others = words[:end]
    random.shuffle(others)
    for i, word in enumerate(others + words[end:], 1):
        head, relation = ("0", "root") if i == 1 else ("1", "dep")
        print(i, word, "_", "X", "_", "_", head, relation, "_", "_" if spaces else "SpaceAfter=No", sep="\t")
    print()


random.seed(1)
words = []
for line in open(sys.argv[1], encoding="utf-8"):
    fields = line.rstrip("\n").split("\t")
    if fields[0].isdigit():
        words.append(fields[1])
    elif len(fields) == 1 and not fields[0]:
        if len(words) > 3:
            write(words, not any("一" <= word[0] <= "鿿" for word in words))
        words = []
