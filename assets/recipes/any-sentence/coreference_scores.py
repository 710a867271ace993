#!/usr/bin/env python3
"""Where a head looks from the pronouns of a treebank with coreference: how often at the same person or thing.

  coreference_scores.py HEADLIGHT MODEL LAYER.HEAD FILE.conllu … [--card]

With --card the count of the window's least weight (.8) goes into MODEL/training.json: the window says it beside such a cell.
The files state entities as UD English-GUM does (Entity= in MISC: CorefUD 1.0, Nedoluzhko et al. 2022). Of the personal pronouns
of the third person those count from which the head points back: the strongest other word of the row stands before it and has at
least `least`. right: that
word is the head of another mention of the same entity; inside: it is one of its words; possible: the sentence has such a mention.
"""
import collections
import json
import pathlib
import re
import sys

from pronoun_scores import answers_of, bytes_of_token

PRONOUNS = set('he she it they him her them his its their himself herself itself themselves'.split())
LEAST = 0.3, 0.5, 0.7, 0.8, 0.9
SHOWN = 0.8


def sentences_of(path):
    text, rows = '', []
    for line in open(path, encoding='utf-8'):
        line = line.rstrip('\n')
        if line.startswith('# text = '): text = line[9:]
        elif line and line[0] != '#': rows.append(line.split('\t'))
        elif not line and rows:
            yield text, rows
            rows = []


def spans_of(text, rows):
    """Of every word its bytes; None where the text has not the words. Words written as one token divide its letters."""
    spans, at, whole = [], 0, None
    for row in rows:
        if '.' in row[0]: continue
        begin = text.find(row[1], at)
        if '-' in row[0]:
            if begin < 0: return None
            whole, at = (begin + len(row[1]), int(row[0].split('-')[1])), begin
            continue
        if begin >= 0 and (not whole or begin + len(row[1]) <= whole[0]): at = begin + len(row[1])
        elif whole: begin, at = at, whole[0]
        else: return None
        spans.append((begin, at))
        if whole and int(row[0]) == whole[1]: at, whole = whole[0], None
    return [(len(text[:begin].encode()), len(text[:end].encode())) for begin, end in spans]


def mentions_of(words):
    """(entity, first word, last word), those alone that begin and end in the sentence."""
    begun, mentions = collections.defaultdict(list), []
    for i, word in enumerate(words):
        for part in re.findall(r'\([^()]*\)?|[^()]+\)', ''.join(re.findall(r'(?:^|\|)Entity=([^|]*)', word[9]))):
            entity = part.strip('()').split('-')[0]
            if part.startswith('('): begun[entity].append(i)
            if part.endswith(')') and begun[entity]: mentions.append((entity, begun[entity].pop(), i))
    return mentions


def asked_of(paths):
    for path in paths:
        for text, rows in sentences_of(path):
            words = [row for row in rows if row[0].isdigit()]
            pronouns = [i for i, word in enumerate(words) if word[3] == 'PRON' and word[1].lower() in PRONOUNS]
            spans = spans_of(text, rows) if pronouns else None
            if spans: yield text, words, pronouns, spans


def looks_of(answer, text, spans, at):
    """The strongest other word of the row of word `at`, and its weight; None where they share a token."""
    letters = text.encode()
    tokens = [[] for _ in spans]
    for number, token in enumerate(answer['tokens']):
        begin, end = bytes_of_token(token, letters)
        for word, (first, last) in enumerate(spans):
            if not token['special'] and max(begin, first) < min(end, last): tokens[word].append(number)
    if not tokens[at]: return None
    rows = [answer['attention'][0]['attn'][0][0][query] for query in tokens[at]]
    weights = {word: sum(row[key] for row in rows for key in keys) / len(rows)
               for word, keys in enumerate(tokens) if keys and not set(keys) & set(tokens[at])}
    return max(weights.items(), key=lambda one: one[1]) if weights else None


def keep(card, head, counts):
    """Puts the count in place of the one that the card has of this head."""
    said = json.loads(card.read_text(encoding='utf-8'))
    row = {'head': head, 'relation': 'IT', 'language': 'en', 'named': counts['points'], 'right': counts['right']}
    others = [one for one in said['arcs'] if any(one[key] != row[key] for key in ('head', 'relation', 'language'))]
    said['arcs'] = others + [row]
    card.write_text(json.dumps(said, ensure_ascii=False, indent=1) + '\n', encoding='utf-8')


def main(headlight, model, head, *paths):
    card = pathlib.Path(model) / 'training.json' if '--card' in paths else None
    paths = [path for path in paths if path != '--card']
    asked = list(asked_of(paths))
    sums = {least: collections.Counter() for least in LEAST}
    for (text, words, pronouns, spans), answer in zip(asked, answers_of(headlight, model, head, [one[0] for one in asked])):
        mentions = mentions_of(words)
        for at in pronouns:
            looked = looks_of(answer, text, spans, at)
            if not looked or looked[0] > at: continue
            same = {entity for entity, first, last in mentions if first == last == at}
            inside = {word for entity, first, last in mentions if entity in same and not first == last == at
                      for word in range(first, last + 1)}
            heads = {word for entity, first, last in mentions if entity in same and not first == last == at
                     for word in range(first, last + 1) if not first <= int(words[word][6]) - 1 <= last}
            for least in LEAST:
                if looked[1] < least: continue
                sums[least].update(points=1, right=looked[0] in heads, inside=looked[0] in inside, possible=bool(heads))
    if card: keep(card, head, sums[SHOWN])
    print('least  points  right  inside  possible')
    for least, of in sums.items():
        count = of['points'] or 1
        print(f"{least:5.1f}  {of['points']:6d}  {of['right'] / count:.3f}   {of['inside'] / count:.3f}     {of['possible'] / count:.3f}")


if __name__ == '__main__':
    if len(sys.argv) < 5: sys.exit(__doc__)
    main(*sys.argv[1:])
