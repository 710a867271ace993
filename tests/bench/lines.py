#!/usr/bin/env python3
"""headlight.lines beside the program it keeps open: how many sentences a second, and whether memory stays where it is.

    lines.py PROGRAM [--lines 3000] [--rounds 5] [--memory 1000000] [EXPORT OPTIONS…]

Rounds alternate, so that what else the machine does falls on both: `headlight export --lines` from a file into a file, then
headlight.lines over the same sentences, each answer taken as a dict. `--memory N`: N short sentences through a small model, and
the memory of both processes (resident, MB) at every tenth of the way.
"""

import argparse
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'python'))
import headlight  # noqa: E402

WORDS = 'the a cat dog girl boy sat ran on in mat park and then it was very big small red'.split()


def sentences(count, words):
    draw = random.Random(count)
    for _ in range(count):
        yield ' '.join(draw.choice(WORDS) for _ in range(words))


def resident(pid):
    with open(f'/proc/{pid}/status', encoding='ascii') as status:
        return sum(int(line.split()[1]) / 1e3 for line in status if line.startswith('VmRSS'))


def children(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as file:
        return [int(child) for child in file.read().split()]


def throughput(program, count, rounds, options):
    print(f'{"engine":>9} {"lines":>9} {"ratio":>6}   sentences a second')
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = pathlib.Path(folder) / 'in', pathlib.Path(folder) / 'out'
        asked.write_text(''.join(line + '\n' for line in sentences(count, 10)), encoding='utf-8')
        for _ in range(rounds):
            begin = time.monotonic()
            with open(asked, 'rb') as source, open(answered, 'wb') as sink:
                subprocess.run([program, 'export', *options, '--text', '-', '--lines'], stdin=source, stdout=sink, check=True)
            engine = count / (time.monotonic() - begin)
            begin = time.monotonic()
            answers = sum('error' not in answer for answer in headlight.lines(sentences(count, 10), **keywords(options)))
            ours = count / (time.monotonic() - begin)
            assert answers == count, f'expected {count} answers, found {answers}'
            ratios.append(ours / engine)
            print(f'{engine:9.0f} {ours:9.0f} {ratios[-1]:6.2f}', flush=True)
    print(f'median ratio {statistics.median(ratios):.2f}')


def keywords(options):
    """`--layers 1 --random` as layers="1", random=True."""
    found, name = {}, None
    for word in options:
        if word.startswith('--'):
            name = word[2:].replace('-', '_')
            found[name] = True
        elif name:
            found[name] = word
    return found


def memory(count):
    print(f'{"lines":>9} {"Python MB":>10} {"program MB":>11}')
    small = {'random': True, 'arch': 'encoder', 'layers': 1, 'num_heads': 1, 'd_model': 8}
    for number, _ in enumerate(headlight.lines(sentences(count, 2), **small), 1):
        if number == 1000 or number % max(1, count // 10) == 0:
            program = sum(resident(child) for child in children(os.getpid()))
            print(f'{number:9} {resident(os.getpid()):10.1f} {program:11.1f}', flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('program')
    options.add_argument('--lines', type=int, default=3000)
    options.add_argument('--rounds', type=int, default=5)
    options.add_argument('--memory', type=int, default=0)
    options, given = options.parse_known_args()
    os.environ['HEADLIGHT'] = options.program
    if options.rounds:
        throughput(options.program, options.lines, options.rounds, given)
    if options.memory:
        memory(options.memory)


if __name__ == '__main__':
    main()
