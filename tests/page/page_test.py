#!/usr/bin/env python3
"""Pages in real browsers: do they say what the program says, and nothing else?

    page_test.py PROGRAM GOLDEN [--browser chromium|firefox] [--only NAME] [--pictures FOLDER]

Exit status 77 where the browser is not installed, with a line that says so; 1 for Chromium where CI or
HEADLIGHT_NO_SKIP forbids skips.
"""

import argparse
import http.server
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import traceback

import browsers

SENTENCE = '我请李雷帮我订了去北京的机票'
CHINESE_AND_ENGLISH = ['--text', SENTENCE, '--target', 'I asked Li Lei to book me a ticket to Beijing']


class Setting:
    """What every test is given: the program, a browser, and a folder served by this process alone."""

    def __init__(self, program, golden, browser):
        self.program, self.golden, self.browser = program, pathlib.Path(golden), browser
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='headlight-page-'))
        self.asked = []
        asked, folder = self.asked, str(self.folder)

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=folder)

            def log_request(self, code='-', size='-'):
                asked.append(self.path)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def run(self, *arguments, status=0):
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, check=False)
        said = done.stderr.decode(errors='replace')
        expect(done.returncode == status, f'{arguments}: expected exit status {status}, found {done.returncode}: {said}')
        return done.stdout, said

    def page(self, name, *request):
        file = self.folder / f'{name}.html'
        self.run('page', *request, '-o', file)
        return file

    def export(self, *request):
        return json.loads(self.run('export', *request)[0])

    def open(self, file):
        self.browser.open(file.as_uri())


def expect(truth, line):
    if not truth:
        raise AssertionError(line)


def flat(numbers):
    if not isinstance(numbers, list):
        return [numbers]
    return [one for part in numbers for one in flat(part)]


def page_weights(browser, stack, layer, head):
    return browser.js(f'Array.from(headlight.weights({json.dumps(stack)}, {layer}, {head}))')


def largest_difference(browser, exported, heads=None):
    """Between the page and an export, over every cell of every head that the page has."""
    largest = 0
    for attention in exported['attention']:
        for layer, layer_heads in enumerate(attention['attn']):
            for head, rows in enumerate(layer_heads):
                if heads is not None and (layer, head) not in heads:
                    continue
                expected, found = flat(rows), page_weights(browser, attention['name'], layer, head)
                expect(len(expected) == len(found), f'{attention["name"]} {layer}.{head}: {len(expected)} cells, found {len(found)}')
                largest = max(largest, max(abs(a - b) for a, b in zip(expected, found)))
    return largest


def agrees(setting, name, request):
    setting.open(setting.page(name, *request))
    stated = setting.browser.js('headlight.state().error')
    found = largest_difference(setting.browser, setting.export(*request))
    expect(found <= stated, f'{name}: weights off by {found}, the page states {stated}')
    return f'{found:.2g} of {stated:.2g}'


def float32_safetensors(file, arrays, metadata=None):
    """A tensors file of lists of numbers."""
    header, data = {}, b''
    if metadata:
        header['__metadata__'] = metadata
    for name, (shape, numbers) in arrays.items():
        part = struct.pack(f'<{len(numbers)}f', *numbers)
        header[name] = {'dtype': 'F32', 'shape': shape, 'data_offsets': [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack('<Q', len(text)) + text + data)
    return file


# Every cell equals the export, to the error that the page states.

def test_encoder(s):
    return agrees(s, 'encoder', ['--text', SENTENCE])


def test_decoder(s):
    return agrees(s, 'decoder', ['shipped:decoder', '--text', SENTENCE])


def test_encoder_decoder(s):
    return agrees(s, 'translator', ['shipped:translator', *CHINESE_AND_ENGLISH])


def test_grouped_queries(s):
    return agrees(s, 'grouped', [s.golden / 'llama-gqa', '--ids', '1,5,9,12,7'])


def test_relative_bias(s):
    return agrees(s, 'relative', [s.golden / 'family-t5', '--ids', '5,9,12,7,1', '--decoder-ids', '0,4,6,8'])


def test_post_norm(s):
    return agrees(s, 'bert', [s.golden / 'bert', '--ids', '2,9,50,33,3'])


def test_given_queries(s):
    return agrees(s, 'given', [s.golden / 'tensors-causal-7' / 'input.safetensors'])


def test_given_cross(s):
    return agrees(s, 'given-cross', [s.golden / 'tensors-cross-4x6' / 'input.safetensors'])


def test_weights_from_elsewhere(s):
    rows = [[0.7, 0.2, 0.1], [0.05, 0.9, 0.05], [0.3, 0.3, 0.4]]
    file = float32_safetensors(s.folder / 'elsewhere.safetensors', {'attentions': ([1, 2, 3, 3], flat(rows) + flat(rows[::-1]))},
                               {'tokens': '["a", "b", "c"]'})
    return agrees(s, 'elsewhere', [file]) + '; masked ' + agrees(s, 'elsewhere-masked', [file, '--mask', 'causal'])


def test_masked(s):
    mask = s.folder / 'mask.json'
    mask.write_text(json.dumps([[(i * 7 + j * 3) % 4 != 0 for j in range(10)] for i in range(10)]), encoding='utf-8')
    return '; '.join(agrees(s, f'masked-{i}', ['--text', SENTENCE, *request]) for i, request in enumerate((
        ['--mask', 'causal'], ['--mask', mask], ['--pad', '3'], ['--pad', '2', '--mask', 'causal+padding'])))


def test_edited(s):
    return '; '.join(agrees(s, f'edited-{i}', ['--text', SENTENCE, *request]) for i, request in enumerate((
        ['--scale', '0.7'], ['--dropout', '0.3'], ['--off', '0.3,1.*'])))


def test_two_hundred_tokens(s):
    return agrees(s, 'long', ['--random', '--layers', '1', '--num-heads', '2', '--text', ' '.join(f'w{i % 37}' for i in range(200))])


def test_only_some_heads(s):
    request = ['--text', SENTENCE]
    s.open(s.page('only', *request, '--only', '0.3,1.*'))
    heads = {(0, 3)} | {(1, head) for head in range(8)}
    found = largest_difference(s.browser, s.export(*request), heads)
    expect(found <= s.browser.js('headlight.state().error'), f'off by {found}')
    refused = s.browser.js("(() => { try { headlight.weights('Self', 0, 0); return ''; } catch (error) { return error.message; } })()")
    expect('0.0' in refused, f'expected a line about head 0.0, found {refused}')


def folded(rows, tokens, special, words):
    """Special tokens left out and rows scaled back to 1; weights to the pieces of a word summed, those from it averaged."""
    groups = []
    for i, token in enumerate(tokens):
        if special and token.get('special'):
            continue
        if words and token['raw'].startswith('##') and groups and groups[-1][-1] == i - 1:
            groups[-1].append(i)
        else:
            groups.append([i])
    kept = [j for group in groups for j in group]
    result = []
    for group in groups:
        share = {i: (sum(rows[i][j] for j in kept) if special else 1) * len(group) for i in group}
        result.append([sum(rows[i][j] / share[i] for i in group for j in columns) for columns in groups])
    return result


def test_folded(s):
    """What the fold leaves of an export, computed here, is what the page shows."""
    model, words = s.folder / 'subwords', json.loads((s.golden / 'tokenizer-bert-uncased' / 'tokenizer.json').read_text(encoding='utf-8'))
    shutil.copytree(s.golden / 'bert', model)
    rows = json.loads((model / 'config.json').read_text(encoding='utf-8'))['vocab_size']
    words['model']['vocab'] = {word: at for word, at in words['model']['vocab'].items() if at < rows}
    (model / 'tokenizer.json').write_text(json.dumps(words), encoding='utf-8')
    request = [model, '--text', 'a ba, xa b caa']  # ##a is a piece
    s.open(s.page('folded', *request))
    exported = s.export(*request)
    far, left = 0, set()
    for special, words in ((True, False), (False, True), (True, True)):
        fold = [name for name, wanted in (('special', special), ('words', words)) if wanted]
        s.browser.js(f'headlight.set({{fold: {json.dumps(fold)}}})')
        for attention in exported['attention']:
            for layer, heads in enumerate(attention['attn']):
                for head, rows in enumerate(heads):
                    expected = folded(rows, exported['tokens'], special, words)
                    found = s.browser.js(f'Array.from(headlight.weights({json.dumps(attention["name"])}, {layer}, {head}, {{folded: true}}))')
                    expect(len(found) == len(flat(expected)), f'{fold}: expected {len(flat(expected))} cells, found {len(found)}')
                    far = max(far, max(abs(a - b) for a, b in zip(flat(expected), found)))
                    left.add(len(expected))
    expect(len(left) > 1 or len(exported['tokens']) not in left, f'nothing was folded: {left}')
    # A row without its special tokens is divided by what is left of it, and its rounding with it.
    expect(far <= 20 * s.browser.js('headlight.state().error'), f'off by {far}')
    return f'{far:.2g}'


def test_compared(s):
    """A and B of a comparison are the two answers."""
    a, b = ['--text', SENTENCE, '--mask', 'none'], ['--text', SENTENCE, '--mask', 'causal']
    s.open(s.page('compared', *b, '--against', "--mask none --text '%s'" % SENTENCE))
    error = s.browser.js('headlight.state().error')
    for which, request in (('A', a), ('B', b)):
        for layer, heads in enumerate(s.export(*request)['attention'][0]['attn']):
            for head, rows in enumerate(heads):
                found = s.browser.js(f'Array.from(headlight.weights("Self", {layer}, {head}, {{of: "{which}"}}))')
                far = max(abs(x - y) for x, y in zip(flat(rows), found))
                expect(far <= 2 * error, f'{which} {layer}.{head}: off by {far}, the page states {error}')
    refused = s.browser.js("(() => { try { headlight.weights('Self', 0, 0, {of: 'C'}); return ''; } catch (error) { return error.message; } })()")
    expect('A or B' in refused, f'expected a line about C, found {refused}')


# What the reader changes is computed as the program computes it.

def test_mask_is_live(s):
    """The first layer's q and k do not depend on the mask: there the page must say what the program says."""
    s.open(s.page('live-mask', '--text', SENTENCE))
    for mask in ('causal', 'none'):
        s.browser.js(f'headlight.set({{mask: "{mask}"}})')
        expected = s.export('--text', SENTENCE, '--mask', mask)['attention'][0]['attn'][0]
        for head, rows in enumerate(expected):
            found = page_weights(s.browser, 'Self', 0, head)
            far = max(abs(a - b) for a, b in zip(flat(rows), found))
            expect(far <= s.browser.js('headlight.state().error'), f'{mask} 0.{head}: off by {far}')
    s.browser.js('headlight.set({scale: 0.6})')
    expected = s.export('--text', SENTENCE, '--scale', '0.6')['attention'][0]['attn'][0][2]
    far = max(abs(a - b) for a, b in zip(flat(expected), page_weights(s.browser, 'Self', 0, 2)))
    expect(far <= 2 * s.browser.js('headlight.state().error') * 2.4, f'scale: off by {far}')


def test_painted_cell(s):
    s.open(s.page('painted', '--text', SENTENCE))
    s.browser.js('headlight.set({painted: [[0, 1, false], [2, 2, false]]})')
    weights = page_weights(s.browser, 'Self', 0, 0)
    expect(weights[1] == 0 and weights[22] == 0, 'blocked cells still have a weight')
    for row in range(10):
        expect(abs(sum(weights[10 * row:10 * row + 10]) - 1) < 1e-5, f'row {row} does not sum to 1')


def live_agrees(s, name, model, ask, request):
    s.open(s.page(name, *model, '--live'))
    s.browser.js(ask)
    exported = s.export(*model, *request)
    found = largest_difference(s.browser, exported)
    expect(found <= 2e-4, f'{name}: weights off by {found}')
    expected = {word['id']: word['probability'] for word in exported.get('next_token', [])}
    guesses = {word['id']: word['probability'] for word in s.browser.js('headlight.next()')}
    for word in list(expected)[:5]:
        expect(word in guesses and abs(expected[word] - guesses[word]) <= 2e-4, f'{name}: word {word}: {expected[word]}, found {guesses.get(word)}')
    return f'{found:.2g}'


def test_live(s):
    sentence = '老师请小明帮医生买了去上海的车票'
    return ' '.join((
        live_agrees(s, 'live-encoder', [], f'headlight.ask({json.dumps(sentence)})', ['--text', sentence]),
        live_agrees(s, 'live-decoder', ['shipped:decoder'], f'headlight.ask({json.dumps(sentence)})', ['--text', sentence]),
        live_agrees(s, 'live-translator', ['shipped:translator'], f'headlight.ask({json.dumps(SENTENCE)}, "I asked Li Lei")',
                    ['--text', SENTENCE, '--target', 'I asked Li Lei'])))


# What a tokenizer for any sentence can meet: clitics, numbers, accents, rare characters, other scripts, emoji, its own marks.
ANY = ['The committee postponed its decision.', "They don't know it's o'clock; we can’t 3.14 12:30 1,000!!", '我请李雷帮我订了去北京的机票',
       '今天的图书馆里没有人，他要走了……', 'naïve café Ångström ΣΟΦΟΣ', '林語堂龘靐 hello世界abc', '東京タワーに行きました', '안녕 สวัสดี привет', '😀👍🏽 family 👨‍👩‍👧‍👦',
       'The <mask> sat on the mat.', 'antidisestablishmentarianism xqzzyv']


def own_dictionary(s, text):
    """Whether the browser's own dictionary says where words of this script end; Firefox has another one than the program."""
    return s.browser.name == 'firefox' and any('\u3040' <= c <= '\u30ff' or '\u0e00' <= c <= '\u0eff' for c in text)


def test_live_any_sentence(s):
    """The model that knows any sentence: its page cuts and computes what the program cuts and computes."""
    model = ['shipped:any-sentence']
    file = s.page('live-any', *model, '--text', 'the cat sat', '--live')
    size = file.stat().st_size
    expect(size <= 14_000_000, f'expected at most 14 MB, found {size}')
    s.open(file)
    far = 0
    for text in ANY:
        if own_dictionary(s, text):
            continue
        s.browser.js(f'headlight.ask({json.dumps(text)})')
        exported = s.export(*model, '--text', text)
        tokens = s.browser.js('headlight.state().ids')
        expect(tokens == [token['id'] for token in exported['tokens']], f"{text}: expected {[token['text'] for token in exported['tokens']]}, found {s.browser.js('headlight.state().tokens')}")
        far = max(far, largest_difference(s.browser, exported))
        guesses = {word['id']: word['probability'] for word in s.browser.js('headlight.next()')}
        for word in exported['next_token'][:5]:
            found = guesses.get(word['id'])
            expect(found is not None and abs(found - word['probability']) <= 2e-4, f"{text}: {word['text']}: expected {word['probability']}, found {found}")
    expect(far <= 2e-4, f'weights off by {far}')
    s.browser.js('headlight.ask("xqzzyv sat").then(() => headlight.set({fold: ["words"]}))')
    expect(s.browser.js('Array.from(headlight.weights("Self", 0, 0, {folded: true})).length') == 9, 'the pieces of a word are not one row: <s>, xqzzyv, sat')
    return f'{far:.2g}, {size / 1e6:.1f} MB'


def test_live_cuts_words_as_the_program(s):
    """Words that the grammar's model does not know are cut where the program cuts them."""
    s.open(s.page('live-cuts', 'shipped:encoder', '--text', SENTENCE, '--live'))
    for text in ('我昨天在图书馆看了天安门', '经济发展了，他们可以工作', 'hello世界你好abc', '東京へ行く 北京大学生', '<mask>请小明'):
        if own_dictionary(s, text):
            continue
        s.browser.js(f'headlight.ask({json.dumps(text)})')
        expected = [token['text'] for token in s.export('shipped:encoder', '--text', text)['tokens']]
        found = s.browser.js('headlight.state().tokens')
        expect(found == expected, f'{text}: expected {expected}, found {found}')


def test_live_edits(s):
    """With the whole model in the page an edit reaches the layers above."""
    return live_agrees(s, 'live-edits', [], 'headlight.ask(%s).then(() => headlight.set({mask: "causal", off: ["0.1", "0.4"]}))' % json.dumps(SENTENCE),
                       ['--text', SENTENCE, '--mask', 'causal', '--off', '0.1,0.4'])


# Trust.

HOSTILE = ['</script><img src=x onerror="window.hacked=1">', '\u202etfel ot thgir\u2069', '<b>bold</b>', '&amp;', '"]}', '\u2028', 'plain']


def hostile_page(s):
    tokens = HOSTILE + ['x' * 1_000_000]
    count = len(tokens)
    file = float32_safetensors(s.folder / 'hostile.safetensors', {'attentions': ([1, 1, count, count], [1 / count] * count ** 2)},
                               {'tokens': json.dumps(tokens)})
    return s.page('hostile', file)


def test_hostile_text(s):
    s.open(hostile_page(s))
    expect(s.browser.js('window.hacked === undefined'), 'a token ran as a script')
    expect(s.browser.js('document.images.length') == 0, 'a token became an image')
    expect(s.browser.js('document.querySelectorAll("b").length') == 0, 'a token became markup')
    expect(s.browser.js('headlight.state().tokens[0]') == HOSTILE[0], 'a token is not the text that it was')
    expect(s.browser.js('[...document.querySelectorAll(".chip")].every(chip => chip.textContent.length < 20)'), 'a chip shows a million letters')
    expect(s.browser.js('document.documentElement.scrollWidth <= innerWidth'), 'the page is wider than the window')


def test_no_request(s):
    file = s.page('quiet', '--text', SENTENCE, '--live')
    s.asked.clear()
    s.browser.open(f'http://127.0.0.1:{s.server.server_port}/{file.name}')
    s.browser.js('headlight.ask("小明看见小红")')
    s.browser.settled()
    expect(s.asked == [f'/{file.name}'], f'expected one request, found {s.asked}')
    if s.browser.requests is not None:
        outside = [url for url in s.browser.requests if not url.startswith(('http://127.0.0.1', 'data:'))]
        expect(not outside, f'expected no request, found {outside}')
    expect(not s.browser.complaints, f'expected silence, found {s.browser.complaints}')


def test_policy(s):
    """What the page does not say itself is not run, not even by a script in it."""
    s.open(s.page('policy', '--text', SENTENCE))
    s.browser.js('(() => { const script = document.createElement("script"); script.textContent = "window.injected = 1"; document.body.append(script); })()')
    expect(s.browser.js('window.injected === undefined'), 'the policy let a foreign script run')
    expect(s.browser.js('fetch("data:text/plain,hello").then(() => "sent", () => "refused")') == 'refused', 'the policy let a request out')
    expect(s.browser.js('(() => { try { return Object.keys(localStorage).length; } catch { return 0; } })()') == 0, 'the page stored something')


def test_check(s):
    file = s.page('checked', '--text', SENTENCE, '--mask', 'causal')
    s.run('check', file)
    text = file.read_text(encoding='utf-8')
    edited, cut = s.folder / 'edited.html', s.folder / 'cut.html'
    at = text.index('"q":"') + 60
    edited.write_text(text[:at] + ('A' if text[at] != 'A' else 'B') + 'wAwAwAw' + text[at + 8:], encoding='utf-8')
    said, _ = s.run('check', edited, status=1)
    expect(b'error' in said, f'expected an error, found {said}')
    cut.write_text(text[:at], encoding='utf-8')
    for command in ('check', 'export'):
        _, line = s.run(command, cut, status=2)
        expect('cut.html' in line and 'cut off' in line and line.count('\n') == 1, f'expected one line, found {line!r}')
    other = s.folder / 'other.html'
    other.write_text('<p>hello</p>', encoding='utf-8')
    s.run('check', other, status=2)


def test_page_is_a_source(s):
    request = ['--text', SENTENCE, '--mask', 'causal', '--off', '1.2']
    expect(s.export(s.page('source', *request)) == s.export(*request), 'the page opens as another question')


def test_too_large(s):
    file = s.folder / 'large.html'
    _, line = s.run('page', '--text', SENTENCE, '--most', '0.1', '-o', file, status=2)
    expect('--only' in line and 'kB' in line and line.count('\n') == 1 and not file.exists(), f'expected a line that names --only, found {line!r}')


def test_small(s):
    size = s.page('small', '--text', SENTENCE).stat().st_size
    expect(size <= 250_000, f'expected at most 250 kB, found {size}')
    live = s.page('small-live', '--text', SENTENCE, '--live').stat().st_size
    expect(live <= 3_000_000, f'expected at most 3 MB, found {live}')
    return f'{size // 1000} kB, live {live // 1000} kB'


# The reader's hands.

def center(browser, query, key):
    return browser.js('(() => { const box = document.getElementById("stage-map").getBoundingClientRect(), T = headlight.state().stacks[0].queries;'
                      'const side = (box.bottom - box.top); return [box.left, box.top, box.width, side, T]; })()')


def test_keyboard(s):
    b = s.browser
    s.open(s.page('keys', '--text', SENTENCE))
    b.key('m')
    expect(b.js('headlight.state().mask') == 'causal', 'm: expected the causal mask')
    expect(page_weights(b, 'Self', 1, 0)[1] == 0, 'm: a later word has a weight')
    b.key('m')
    expect(b.js('headlight.state().mask') == 'none', 'm again: expected no mask')
    b.key('ArrowDown')
    b.key('ArrowDown')
    b.key('ArrowRight')
    expect(b.js('headlight.state().pinned') == [1, 1], f"arrows: expected cell 1, 1, found {b.js('headlight.state().pinned')}")
    b.key('x')
    expect(b.js('headlight.state().painted') == [[1, 1, False]], 'x: expected the pinned cell to be blocked')
    b.key(']')
    b.key('3')
    expect(b.js('headlight.state().view') == 'flow', '3: expected the lines')
    b.key('1')
    b.key('y')
    b.settled()
    expect(b.js('document.querySelectorAll("#explain .steps li").length') >= 4, 'y: expected the steps behind the weight')


def test_pointer(s):
    b = s.browser
    s.open(s.page('pointer', '--text', SENTENCE))
    x, y = b.js('(() => { const box = document.querySelector("#atlas .head[data-key=\\"0.1\\"]").getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 3]; })()')
    b.click(x, y)
    expect(b.js('[headlight.state().layer, headlight.state().head]') == [0, 1], 'a click on a thumbnail chooses the head')
    box = b.js('(() => { const box = document.getElementById("stage-map").getBoundingClientRect(); return [box.x, box.y, box.width, box.height]; })()')
    b.click(box[0] + box[2] * 0.45, box[1] + box[3] * 0.6)
    b.settled()
    pinned = b.js('headlight.state().pinned')
    expect(pinned is not None, 'a click on a cell keeps it')
    expect('%' in b.js('document.querySelector(".sentence").textContent'), 'the cell is told in words')
    expect(b.js('document.querySelectorAll("#row-table tbody tr").length') == 10, 'the row is told as a table')


def test_touch(s):
    """A tap keeps a cell; two fingers zoom a long sentence."""
    b = s.browser
    if b.name != 'chromium':
        return 'not asked of this browser'
    b.size(390, 844)
    s.open(s.page('touch', '--random', '--layers', '1', '--num-heads', '2', '--text', ' '.join(f'w{i % 37}' for i in range(60))))
    x, y, w, h = b.js('(() => { const map = document.getElementById("stage-map"); map.scrollIntoView({block: "center"}); const box = map.getBoundingClientRect(); return [box.x, box.y, box.width, box.height]; })()')
    middle = (x + w * 0.6, y + h * 0.6)
    b.touch('touchStart', [middle])
    b.touch('touchEnd', [])
    b.settled()
    expect(b.js('headlight.state().pinned') is not None, 'a tap keeps a cell')
    zoomed = 'document.querySelector("#stage-map").style.touchAction'
    before = b.js(zoomed)
    b.touch('touchStart', [(middle[0] - 20, middle[1]), (middle[0] + 20, middle[1])])
    for apart in range(25, 100, 10):
        b.touch('touchMove', [(middle[0] - apart, middle[1]), (middle[0] + apart, middle[1])])
    b.touch('touchEnd', [])
    b.settled()
    found = b.js(zoomed)
    b.size(1280, 800)
    expect(before != 'none' and found == 'none', f'two fingers apart: expected a part of the map, found {before!r}, {found!r}')


def test_read_aloud(s):
    """A screen reader finds a name on everything that can be pressed, the map described, the row as a table in words."""
    b = s.browser
    s.open(s.page('aloud', '--text', SENTENCE, '--language', 'en'))
    b.js('headlight.set({pinned: [4, 0]})')
    b.settled()
    nameless = b.js('[...document.querySelectorAll("button, a, input, select, canvas[role=img]")].filter(one => !one.closest("[hidden]") && '
                    '!(one.getAttribute("aria-label") || one.textContent.trim() || one.title || one.labels?.length)).map(one => one.outerHTML.slice(0, 120))')
    expect(not nameless, f'expected a name on each, found none on {nameless}')
    table = b.js('[...document.querySelectorAll("#row-table tbody tr")].map(row => row.textContent)')
    expect(len(table) == 10 and all('%' in row or '.' in row for row in table), f'expected ten rows with weights, found {table}')
    expect(b.js('document.querySelectorAll("[aria-live]").length') > 0, 'what changes is not announced')
    if b.name == 'chromium':
        nodes = b.command('Accessibility.getFullAXTree')['nodes']
        said = [(node['role']['value'], node.get('name', {}).get('value', '')) for node in nodes if not node.get('ignored') and 'role' in node]
        expect(all(name for role, name in said if role in ('button', 'link', 'image')), 'a button, link or image has no name')
        expect(any(role == 'image' and 'L' in name for role, name in said), 'the map is not described')


def test_print(s):
    """On paper: light, without controls, the map still there."""
    b = s.browser
    if b.name != 'chromium':
        return 'not asked of this browser'
    s.open(s.page('print', '--text', SENTENCE, '--theme', 'dark'))
    b.command('Emulation.setEmulatedMedia', media='print')
    b.settled()
    try:
        expect(b.js('document.documentElement.dataset.theme') == 'light', 'expected the light theme on paper')
        shown = b.js('[...document.querySelectorAll("#controls button, #options button")].filter(one => one.offsetParent !== null).length')
        expect(shown == 0, f'expected no control on paper, found {shown}')
        expect(b.js('document.getElementById("stage-map").getBoundingClientRect().width') > 200, 'expected the map on paper')
        pdf = b.command('Page.printToPDF')['data']
        expect(len(pdf) > 10_000, 'expected a page of paper')
    finally:
        b.command('Emulation.setEmulatedMedia', media='')


def test_views_and_sizes(s):
    b = s.browser
    file = s.page('views', '--text', SENTENCE, '--mask', 'causal', '--against', '--mask none')
    for width, height in ((390, 844), (1280, 800), (1920, 1080)):
        b.size(width, height)
        s.open(file)
        for view in ('compare', 'heads', 'row', 'flow'):
            b.js(f'headlight.set({{view: "{view}"}})')
            b.settled()
            expect(b.js('document.documentElement.scrollWidth <= innerWidth'), f'{view} at {width} × {height} is wider than the window')
            if s.pictures:
                (s.pictures / f'{b.name}-{view}-{width}x{height}.png').write_bytes(b.screenshot())
    b.size(1280, 800)


def test_both_languages(s):
    b = s.browser
    for language in ('en', 'zh'):
        s.open(s.page(f'language-{language}', '--text', SENTENCE, '--language', language, '--theme', 'dark', '--live'))
        expect(b.js('document.documentElement.lang').startswith(language), f'{language}: expected its own language')
        words = b.js('JSON.parse(document.getElementById("headlight-data").textContent).words')
        named = b.js('[...document.querySelectorAll("button, h2, label, option, p, span")].map(one => one.textContent)')
        expect(not set(named) & set(words['en']) - set(words[language].values()), f'{language}: a name stands where its words should')
        expect(set(words['en']) == set(words['zh']), 'a word is missing in one language')


def main():
    options = argparse.ArgumentParser()
    options.add_argument('program')
    options.add_argument('golden')
    options.add_argument('--browser', default='chromium', choices=list(browsers.BROWSERS))
    options.add_argument('--only')
    options.add_argument('--pictures', type=pathlib.Path)
    options = options.parse_args()
    kind = browsers.BROWSERS[options.browser]
    if not kind.program:
        print(f'page: {options.browser} is not installed: skipped')
        # Where skips are forbidden, Chromium has been installed; Firefox is one more, where it is there.
        forbidden = options.browser == 'chromium' and (os.environ.get('CI') or os.environ.get('HEADLIGHT_NO_SKIP'))
        return 1 if forbidden else 77
    setting = Setting(options.program, options.golden, kind())
    setting.pictures = options.pictures
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    failed = 0
    try:
        setting.browser.size(1280, 800)
        for name, test in list(globals().items()):
            if not name.startswith('test_') or (options.only and options.only not in name):
                continue
            try:
                note = test(setting)
                print(f'ok      {name[5:]}{": " + note if note else ""}', flush=True)
            except Exception:  # one failure must not hide the others
                failed += 1
                print(f'FAILED  {name[5:]}\n{traceback.format_exc(limit=-2)}', flush=True)
    finally:
        setting.browser.close()
        setting.server.shutdown()
    print(f'{kind.name}: {failed} failed' if failed else f'{kind.name}: all passed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
