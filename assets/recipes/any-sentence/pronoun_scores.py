#!/usr/bin/env python3
"""Where a head looks from a pronoun: scores on sentences that say which noun is right.

  pronoun_scores.py HEADLIGHT MODEL LAYER.HEAD           those of pronouns.py that taught nothing, and schemas.txt
  pronoun_scores.py HEADLIGHT MODEL LAYER.HEAD FILE …    each sentence of these files, too

A line of a FILE: The {animal} didn't cross the (street) because *it* was tired. In {} the right noun, in () the other
candidate, if there is one. With <tired|wide> the line is a pair of sentences, and in the second the nouns change places.
Of each file and language: right: the head's strongest word is the right one; of two: of both nouns it is the stronger; weight:
the mean weight on it; both: pairs with both sentences right; nearest, first: what the nearer or the first of the
two gives; distance: what the best fixed distance of the file gives, in words.
"""
import collections
import json
import os
import re
import subprocess
import sys

MARKS = re.compile(r'\{(.+?)\}|\((.+?)\)|\*(.+?)\*')


def sentences_of(line):
    """(text, {'right' 'other' 'it': (first byte, end)}) of a line, two of a pair."""
    pair = re.search(r'<(.*?)\|(.*?)>', line)
    for reading in (1, 2) if pair else (0,):
        marked = line if not pair else line[:pair.start()] + pair.group(reading) + line[pair.end():]
        text, spans, at = '', {}, 0
        for found in MARKS.finditer(marked):
            text += marked[at:found.start()]
            name = ('right', 'other', 'it')[found.lastindex - 1]
            if reading == 2: name = {'right': 'other', 'other': 'right', 'it': 'it'}[name]
            begin = len(text.encode())
            text += found.group(found.lastindex)
            spans[name] = begin, len(text.encode())
            at = found.end()
        yield text + marked[at:], spans


def answers_of(headlight, model, head, texts):
    """What a head's export says of each text."""
    run = subprocess.run([headlight, 'export', model, '--text', '-', '--lines', '--only', head], text=True,
                         input=''.join(text + '\n' for text in texts), stdout=subprocess.PIPE, check=True)
    return map(json.loads, run.stdout.splitlines())


def bytes_of_token(token, text):
    """Where a token stands in the bytes of the text, without spaces before it."""
    begin, end = token['bytes']
    while begin < end and text[begin:begin + 1] == b' ': begin += 1
    return begin, end


def words_of(tokens, text):
    """The word that each token belongs to, -1 for special ones; of each word its bytes, without spaces before it."""
    word, bytes_of = [], []
    for token in tokens:
        begin, end = bytes_of_token(token, text)
        if not token['special'] and not (token['raw'].startswith('##') and bytes_of): bytes_of.append([begin, end])
        if not token['special']: bytes_of[-1][1] = end
        word.append(-1 if token['special'] else len(bytes_of) - 1)
    return word, bytes_of


def measure(name, lines, headlight, model, head, each):
    asked = [one for line in lines for one in sentences_of(line)]
    sums, distances, before, pairs = collections.Counter(), collections.Counter(), None, []
    for (text, spans), answer in zip(asked, answers_of(headlight, model, head, [text for text, _ in asked])):
        word, bytes_of = words_of(answer['tokens'], text.encode())
        at = {role: [i for i, (b, e) in enumerate(bytes_of) if max(b, begin) < min(e, end)]
              for role, (begin, end) in spans.items()}
        if not all(at.values()): sys.exit(f'{name}: {text}: expected the marked words, found {at}')
        rows = [row for i, row in enumerate(answer['attention'][0]['attn'][0][0]) if word[i] in at['it']]
        weights = collections.Counter()
        for row in rows:
            for i, weight in enumerate(row): weights[word[i]] += weight / len(rows)
        right, other = (sum(weights[w] for w in at.get(role, [])) for role in ('right', 'other'))
        sums['count'] += 1
        sums['right'] += max((w for w in weights if w >= 0 and w not in at['it']), key=lambda w: weights[w]) in at['right']
        sums['weight'] += right
        distances[at['right'][-1] - at['it'][0]] += 1
        if 'other' in at:
            sums['two'] += 1
            sums['of two'] += right > other
            sums['nearest'] += abs(at['right'][0] - at['it'][0]) < abs(at['other'][0] - at['it'][0])
            sums['first'] += at['right'][0] < at['other'][0]
            nouns = [text.encode()[slice(*spans[role])] for role in ('right', 'other')]
            if before and before[0] == nouns[::-1]: pairs.append(before[1] and right > other)
            before = None if before and before[0] == nouns[::-1] else (nouns, right > other)
        if each: print(f'{"+" if right > other else "-"} {right:.3f} {other:.3f}  {text}')
    count, two = sums['count'], sums['two'] or 1
    print(f'{name:<20} {count:5} {sums["right"] / count:6.3f} {sums["of two"] / two:7.3f} {sums["weight"] / count:7.3f} '
          f'{sum(pairs) / (len(pairs) or 1):6.3f} {sums["nearest"] / two:8.3f} {sums["first"] / two:6.3f} '
          f'{max(distances.values()) / count:9.3f}')


def main():
    if len(sys.argv) < 4: sys.exit(__doc__)
    headlight, model, head, *files = sys.argv[1:]
    here = os.path.dirname(os.path.abspath(__file__))
    parts = {}
    if not files:
        sys.dont_write_bytecode = True
        sys.path.insert(0, here)
        import pronouns
        data = pronouns.read(os.path.join(here, 'pronouns.json'))
        parts = {f'held out: {what}': pronouns.sentences(data, 400, 7, what) for what in ('none', 'words', 'frames')}
    for path in files or [os.path.join(here, 'schemas.txt')]:
        with open(path, encoding='utf-8') as file: parts[os.path.basename(path)] = file.readlines()
    print(f'{"sentences":<20} count  right  of two  weight   both  nearest  first  distance')
    for name, lines in parts.items():
        lines = [line.strip() for line in lines if line.strip() and not line.startswith('#')]
        for language, of_it in (('en', False), ('zh', True)):
            part = [line for line in lines if bool(re.search('[\u4e00-\u9fff]', line)) == of_it]
            if part: measure(f'{name}, {language}', part, headlight, model, head, files)


if __name__ == '__main__':
    main()
