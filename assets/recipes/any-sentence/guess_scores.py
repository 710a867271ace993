#!/usr/bin/env python3
"""How well a model guesses hidden words: one word of each sentence of a treebank is hidden, and asked for.

  guess_scores.py HEADLIGHT MODEL FILE.conllu …

Of a sentence of 4 to 60 words the word that its number in the file chooses, if the model has one row for it. Printed: words
and marks, words alone; the share that is the first guess, or among the first five.
"""
import json
import os
import subprocess
import sys


def main():
    if len(sys.argv) < 4: sys.exit(__doc__)
    headlight, model, *files = sys.argv[1:]

    def ask(lines):
        done = subprocess.run([headlight, 'export', model, '--text', '-', '--lines', '--only', '0.0'], text=True,
                              input=''.join(line + '\n' for line in lines), stdout=subprocess.PIPE)
        return map(json.loads, done.stdout.splitlines())

    print(f'{"file":<22} words and marks  first  of five   words  first  of five')
    for path in files:
        with open(path, encoding='utf-8') as file: blocks = file.read().strip().split('\n\n')
        texts, wanted = [], []
        for number, block in enumerate(blocks):
            words = [line.split('\t') for line in block.split('\n') if line[0].isdigit()]
            words = [w for w in words if '.' not in w[0] and '-' not in w[0]]
            if not 4 <= len(words) <= 60: continue
            hidden = (number * 7919) % len(words)
            texts.append(''.join(('<mask>' if i == hidden else w[1]) + ('' if 'SpaceAfter=No' in w[9] else ' ')
                                 for i, w in enumerate(words)).strip())
            wanted.append((words[hidden][1].lower(), words[hidden][3] not in ('PUNCT', 'SYM')))
        asked = sorted({word for word, _ in wanted})
        whole = {word: len(answer.get('tokens', [])) == 2 for word, answer in zip(asked, ask(asked))}
        counts = {True: [0, 0, 0], False: [0, 0, 0]}
        for (word, is_word), answer in zip(wanted, ask(texts)):
            if not whole[word] or 'next_token' not in answer: continue
            guesses = [guess['text'].lower() for guess in answer['next_token']]
            counts[is_word] = [a + b for a, b in zip(counts[is_word], (1, guesses[0] == word, word in guesses[:5]))]
        both = [a + b for a, b in zip(*counts.values())]
        columns = [f'{n:>{width}}  {first / n:.3f}    {five / n:.3f}' for width, (n, first, five) in ((15, both), (5, counts[True]))]
        print(f'{os.path.basename(path):<22} ' + '   '.join(columns))


if __name__ == '__main__':
    main()
