#!/usr/bin/env python3
"""How quick a page is in Chromium, of GPT-2-small's shape (12 layers × 12 heads, d_model 768) with random weights.

    page.py PROGRAM [--tokens 256,1024] [--rounds 3] [--site] [--peer FILE.html --peer-ready EXPRESSION]

For each number of tokens: the size of the page, and in milliseconds the median of the rounds of
    opened    from the address to the first picture, in a browser that has finished its own start
    hover     one frame while the pointer moves over the map
    mask      from a new mask to the second frame after it: the map and every thumbnail in sight
`--site`: a site too, from a web server of this machine, without a cache: to its first picture, to its first answer by a model, and
the bytes that came; and from a key in a sentence of ten words, answered by the model for any sentence, to the second frame after it. `--peer`: another page of the same sentence, as BertViz writes it; opened until the JavaScript expression is true.
"""

import argparse
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'page'))
import browsers  # noqa: E402
from page_setting import Setting  # noqa: E402

WORDS = 'the a cat dog sat ran on in mat park and then it was very tired big small red blue house tree'.split()

STARTED = 3  # seconds after which a browser does nothing of its own

HOVER = '''new Promise(done => {
  const map = document.getElementById('stage-map'), box = map.getBoundingClientRect(), begin = performance.now();
  let moves = 0;
  const move = () => {
    if (moves === 30) return done((performance.now() - begin) / moves);
    const at = 0.1 + 0.8 * ++moves / 30;
    map.dispatchEvent(new PointerEvent('pointermove', {clientX: box.x + box.width * at, clientY: box.y + box.height * at,
      bubbles: true, pointerType: 'mouse'}));
    requestAnimationFrame(move);
  };
  requestAnimationFrame(move);
})'''

MASK = '''new Promise(done => {
  const begin = performance.now();
  headlight.set({mask: '%s'});
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begin)));
})'''


TYPED = """new Promise(done => {
  const input = document.getElementById('ask'), begin = performance.now();
  input.focus();
  input.value = %s;
  input.dispatchEvent(new Event('input'));
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begin)));
})"""
TEN_WORDS = 'the big dog ran on the small mat near houses'


def measure_keys(browser):
    """From a key to the second frame after it, of ten words: the median and the longest of twenty keys."""
    browser.js(f'headlight.ask({json.dumps(TEN_WORDS)})')
    keys = [browser.js(TYPED % json.dumps(TEN_WORDS[:-1 - i % 2])) for i in range(20)]
    return statistics.median(keys), max(keys)


def measure_site(program, rounds):
    seen, answered, keys = [], [], []
    for _ in range(rounds):
        setting = Setting(program, '', browsers.Chromium())
        folder = setting.folder / 'site'
        setting.run('site', '-o', folder)
        setting.browser.size(1280, 800)
        time.sleep(STARTED)
        begin = time.monotonic()
        setting.browser.open(f'http://127.0.0.1:{setting.server.server_port}/site/')
        seen.append(1000 * (time.monotonic() - begin))
        browsers.wait_until(lambda: setting.browser.js('headlight.state().live'), 'an answer')
        answered.append(1000 * (time.monotonic() - begin))
        keys.append(measure_keys(setting.browser))
        came = sum((folder / (path.removeprefix('/site/') or 'index.html')).stat().st_size for path in set(setting.asked))
        setting.browser.close()
        setting.server.shutdown()
        shutil.rmtree(setting.folder)
    print(f'site: first picture {statistics.median(seen):.0f} ms, first answer {statistics.median(answered):.0f} ms, {came / 1e6:.2f} MB')
    print(f'a key: median {statistics.median(one for one, _ in keys):.0f} ms, longest {max(one for _, one in keys):.0f} ms')


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('program')
    options.add_argument('--tokens', default='256,1024')
    options.add_argument('--rounds', type=int, default=3)
    options.add_argument('--site', action='store_true')
    options.add_argument('--peer', type=pathlib.Path)
    options.add_argument('--peer-ready', default='document.readyState === "complete"')
    options = options.parse_args()
    if not browsers.Chromium.program:
        print('page: chromium is not installed')
        return 77
    print(f'{"tokens":>8} {"MB":>7} {"opened":>8} {"hover":>7} {"mask":>7}')
    with tempfile.TemporaryDirectory() as folder:
        for tokens in map(int, options.tokens.split(',')):
            file = pathlib.Path(folder) / f'{tokens}.html'
            draw = random.Random(tokens)
            subprocess.run([options.program, 'page', '--random', '--arch', 'decoder', '--layers', '12', '--num-heads', '12', '--d-model', '768',
                            '--text', ' '.join(draw.choice(WORDS) for _ in range(tokens)), '-o', file], check=True, stderr=subprocess.DEVNULL)
            opened, hover, mask = [], [], []
            for _ in range(options.rounds):
                browser = browsers.Chromium()
                browser.size(1280, 800)
                time.sleep(STARTED)
                begin = time.monotonic()
                browser.open(file.as_uri())
                browser.settled()
                opened.append(1000 * (time.monotonic() - begin))
                hover.append(browser.js(HOVER))
                browser.js(MASK % 'none')  # q·k of the chosen head are kept from here on
                mask += [browser.js(MASK % kind) for kind in ('causal', 'none', 'causal')]
                browser.close()
            print(f'{tokens:8} {file.stat().st_size / 1e6:7.1f} {statistics.median(opened):8.0f} {statistics.median(hover):7.1f} {statistics.median(mask):7.0f}')
    if options.site:
        measure_site(options.program, options.rounds)
    if options.peer:
        browser = browsers.Chromium()
        begin = time.monotonic()
        browser.go(options.peer.absolute().as_uri())
        browsers.wait_until(lambda: browser.js(f'Boolean({options.peer_ready})'), options.peer_ready)
        print(f'{options.peer.name}: {1000 * (time.monotonic() - begin):.0f} ms')
        browser.close()
    return 0


if __name__ == '__main__':
    sys.exit(main())
