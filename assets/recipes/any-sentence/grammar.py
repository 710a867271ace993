#!/usr/bin/env python3
"""Joins two grammars, and lets a person who is mentioned twice be found from both mentions.

  grammar.py BASE MORE OUT.json

The lists, links and kinds of MORE follow those of BASE (assets/grammar.json). Of every relation CO, "later earlier", OUT has
the opposite too: in 我 请 李雷 帮 我 … each 我 belongs to the other. The same files give the same bytes.
"""
import json
import sys


def both_ways(relations):
    """Adds to CO, a pair or a list of pairs, the opposite of each pair."""
    if 'CO' not in relations:
        return
    pairs = [relations['CO']] if isinstance(relations['CO'], str) else list(relations['CO'])
    relations['CO'] = pairs + [' '.join(reversed(pair.split())) for pair in pairs]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    grammars = []
    for path in sys.argv[1:3]:
        with open(path, encoding='utf-8') as file:
            grammars.append(json.load(file))
    grammar, more = grammars
    for part in ('lists', 'links'):
        twice = grammar[part].keys() & more[part].keys()
        if twice:
            sys.exit(f'grammar.py: {sys.argv[2]}: {part}: expected other names than those of {sys.argv[1]}, '
                     f'found {", ".join(sorted(twice))}')
        grammar[part].update(more[part])
    grammar['kinds'] += more['kinds']
    for kind in grammar['kinds']:
        both_ways(kind.get('relations', {}))
        for variant in kind['variants']:
            both_ways(variant.get('relations', {}))
    with open(sys.argv[3], 'w', encoding='utf-8') as file:
        json.dump(grammar, file, ensure_ascii=False)


if __name__ == '__main__':
    main()
