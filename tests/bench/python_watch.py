#!/usr/bin/env python3
"""python/headlight: which seeded mistakes it names, and what watching costs.

    python_watch.py PROGRAM [--rounds 9] [--skip-mistakes]

The first table: of each class of tests/python/mistakes.py how many mistakes are named with the right text and the right
line, and nothing else, in each precision. The second: CPU milliseconds of a forward pass (and of a training step) without
and with watch(), medians of alternating rounds, and the bytes that the watch keeps.
"""

import argparse
import os
import pathlib
import re
import statistics
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'python'))


def mistakes_table():
    import test_mistakes as seeded

    case = seeded.SeededMistakes()
    precisions = ('float32', 'bfloat16', 'autocast')
    print(f'{"class":18} {"mistakes":>8} ' + ' '.join(f'{name:>9}' for name in precisions) + '   without a mistake')
    for name, (call, table) in seeded.CLASSES.items():
        right = (ROOT / 'python' / 'classes' / f'{name}.py').read_text(encoding='utf-8')
        named, clean = [], []
        for precision in precisions:
            count = 0
            clean.append(case.found_in(name, right, call, precision) == ([], True))
            for one in table:
                wrong = right.replace(one.right, one.wrong, 1)
                line = seeded.line_of(wrong, one.at) if one.at else seeded.line_of(right, one.right)
                found, ok = case.found_in(name, wrong, call, precision, one.masked)
                count += not ok and len(found) == 1 and bool(re.fullmatch(one.found, found[0][0])) and found[0][1:] == (True, line)
            named.append(count)
        print(f'{name:18} {len(table):8} ' + ' '.join(f'{count:9}' for count in named)
              + f'   {"right in all" if all(clean) else "WRONG"}', flush=True)
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(seeded.UsesOfTorch).run(result)
    print(f'torch.nn.MultiheadAttention, Transformer layers: {len(seeded.USES)} wrong uses, slow and fast path: '
          f'{"all named" if result.wasSuccessful() else "NOT all named"}')


def cpu(run):
    begin = time.process_time()
    run()
    return 1e3 * (time.process_time() - begin)


def overhead_table(rounds):
    import headlight
    import torch
    from split_attention import SplitAttention

    nn = torch.nn
    torch.set_num_threads(1)
    torch.manual_seed(0)
    batch, tokens, d_model, heads = 8, 128, 256, 8
    x = torch.randn(batch, tokens, d_model)
    written = SplitAttention(d_model, heads).eval()
    packed = nn.MultiheadAttention(d_model, heads, batch_first=True).eval()
    stack = nn.TransformerEncoder(nn.TransformerEncoderLayer(d_model, heads, 4 * d_model, batch_first=True), 4)

    def forward(run):
        def once():
            with torch.no_grad():
                run()
        return once

    def step():
        stack.train()
        stack(x).square().mean().backward()
        stack.zero_grad()
    cases = {'written by hand': forward(lambda: written(x, x, x)), 'MultiheadAttention': forward(lambda: packed(x, x, x)),
             '4 encoder layers': forward(lambda: stack.eval()(x)), 'the same, a training step': step}
    print(f'\n{batch} × {tokens} tokens, d_model {d_model}, {heads} heads: CPU ms')
    print(f'{"":26} {"without":>8} {"watched":>8} {"ratio":>6} {"kept MB":>8}')
    for name, run in cases.items():
        without, watched, kept = [], [], 0
        for _ in range(rounds):
            without.append(cpu(run))
            seen = headlight.watch()

            def inside():
                with seen:
                    run()
            watched.append(cpu(inside))
            kept = sum(tensor.numel() * tensor.element_size() for call in seen for part in call._parts
                       for tensor in part.tensors.values())
        a, b = statistics.median(without), statistics.median(watched)
        print(f'{name:26} {a:8.1f} {b:8.1f} {b / a:6.2f} {kept / 1e6:8.1f}', flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('program')
    options.add_argument('--rounds', type=int, default=9)
    options.add_argument('--skip-mistakes', action='store_true')
    options = options.parse_args()
    os.environ['HEADLIGHT'] = options.program
    with tempfile.TemporaryDirectory() as folder:
        import common  # noqa: F401  finds the module and its classes
        import test_mistakes
        test_mistakes.SeededMistakes.folder = folder
        if not options.skip_mistakes:
            mistakes_table()
        overhead_table(options.rounds)


if __name__ == '__main__':
    main()
