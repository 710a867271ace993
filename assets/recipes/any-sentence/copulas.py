#!/usr/bin/python3
"""Sentences of Chinese texts whose copulas stand in plain clauses, as a treebank (CoNLL-U) that says only where those look.

  copulas.py --jieba FOLDER --out FILE.conllu TEXT ...

A clause ends at a mark. In "X 是 Y" the predicate is the noun that ends the clause: the copula depends on it (cop). A
sentence is taken only if this can be said of every copula in it: no clause joins nouns (first of them would be meant), none
ends in 的 or a verb, no
verb stands behind the copula unless a 的 follows it. FOLDER holds the package jieba, which cuts and tags the words.
"""
import argparse
import os
import sys

COPULAS = {'是', '也是', '就是', '都是', '不是', '便是', '正是', '则是', '仍是', '乃是', '为'}
UNSURE = {'还是', '是否', '是不是', '而是', '但是', '可是', '于是', '要是', '只是', '总是', '若是', '算是', '认为', '作为'}
ENDS = set('，。！？；：,!?;:…—')
JOINS = {'和', '与', '及', '或', '以及', '、', '并', '而', '跟', '同', '/'}
PLACES = {'时', '上', '下', '里', '中', '内', '外', '前', '后', '之后', '之前', '以来', '以后', '时候', '之间'}
BEFORE_WEI = {'称', '成', '作', '以', '视', '认', '改', '定', '设', '命名', '译', '因', '变', '化', '分', '转', '选', '任'}
NOUN = ('n', 'nr', 'ns', 'nt', 'nz', 'ng', 'l', 'eng', 'vn', 'j', 'i')


def arcs(words):
    """Of the (word, tag) pairs of a sentence: {copula: its predicate}; None where it cannot be said of each."""
    found = {}
    for i, (word, _) in enumerate(words):
        if word in UNSURE: return None
        if word not in COPULAS: continue
        end = next((k for k in range(i + 1, len(words)) if words[k][0] in ENDS), len(words))
        clause = words[i + 1:end]
        if not clause or any(w in JOINS or w in COPULAS for w, _ in clause): return None
        last, tag = clause[-1]
        if tag not in NOUN or last in PLACES: return None
        if any(t == 'v' and all(w != '的' for w, _ in clause[k:]) for k, (_, t) in enumerate(clause)): return None
        if word == '为' and (i == 0 or words[i - 1][0] in BEFORE_WEI or words[i - 1][1] in ('v', 'p', 'c')
                            or any(t == 'v' for _, t in clause)): return None
        found[i] = end - 1
    return found or None


def conllu(words, looks):
    """A sentence; words of which nothing is said have no relation."""
    lines = []
    for i, (word, tag) in enumerate(words):
        head, relation = (looks[i] + 1, 'cop') if i in looks else (0, '_')
        lines.append(f'{i + 1}\t{word}\t_\t_\t{tag}\t_\t{head}\t{relation}\t_\tSpaceAfter=No\n')
    return ''.join(lines) + '\n'


def lines_of(path):
    try:
        with open(path, encoding='utf-8') as file:
            return [line.strip() for line in file]
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f'copulas.py: {path}: expected a text in UTF-8, found: {error}')


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--jieba', required=True)
    p.add_argument('--out', required=True)
    p.add_argument('texts', nargs='+')
    o = p.parse_args()
    sys.path.insert(0, o.jieba)
    try:
        import jieba.posseg
    except ImportError:
        sys.exit(f'copulas.py: {o.jieba}: expected the package jieba, found none')
    jieba.setLogLevel(60)
    sentences = []
    for text in (text for path in o.texts for text in lines_of(path)):
        if not any(c in text for c in '是为') or ' ' in text or not 6 <= len(text) <= 60: continue
        words = [(x.word, x.flag) for x in jieba.posseg.cut(text, HMM=False)]
        looks = arcs(words)
        if looks: sentences.append(conllu(words, looks))
    with open(o.out + '.new', 'w', encoding='utf-8') as out:
        out.write(''.join(sentences))
    os.replace(o.out + '.new', o.out)
    print(len(sentences), 'sentences', file=sys.stderr)


if __name__ == '__main__':
    main()
