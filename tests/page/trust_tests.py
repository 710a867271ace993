"""A page asks for nothing, runs nothing of others, and is refused where it cannot be right."""

import json
import os
import pathlib
import random
import subprocess
import sys

from browsers import wait_until
from page_setting import SENTENCE, expect, float32_safetensors

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'hostile'))
from pages import broken_pages  # noqa: E402


HOSTILE = ['</script><img src=x onerror="window.entered=1">', '\u202etfel ot thgir\u2069', '<b>bold</b>', '&amp;', '"]}', '\u2028', 'plain']


def hostile_page(s):
    tokens = HOSTILE + ['x' * 1_000_000]
    count = len(tokens)
    file = float32_safetensors(s.folder / 'hostile.safetensors', {'attentions': ([1, 1, count, count], [1 / count] * count ** 2)},
                               {'tokens': json.dumps(tokens)})
    return s.page('hostile', file)


def test_hostile_text(s):
    s.open(hostile_page(s))
    expect(s.browser.js('window.entered === undefined'), 'a token ran as a script')
    expect(s.browser.js('document.images.length') == 0, 'a token became an image')
    expect(s.browser.js('document.querySelectorAll("b").length') == 0, 'a token became markup')
    expect(s.browser.js('headlight.state().tokens[0]') == HOSTILE[0], 'a token is not the text that it was')
    for view in ('sentence', 'heads', 'text', 'flow'):
        s.browser.js(f'headlight.set({{view: "{view}"}})')
        s.browser.settled()
        expect(s.browser.js('[...document.querySelectorAll("#stage-map text, #row-table th")].every(one => one.textContent.length < 40)'), f'{view}: a word shows a million letters')
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


def test_damaged_pages_say_what_is_wrong(s):
    """A page that cannot be right shows the core's line, in the words of the program where it reads the same file."""
    text = s.page('whole', '--text', SENTENCE).read_text(encoding='utf-8')
    begin = text.index('>', text.index('id="headlight-data"')) + 1
    end = text.index('</script>', begin)
    shown = 'document.getElementById("loading")'

    def change(act):
        data = json.loads(text[begin:end])
        act(data)
        return text[:begin] + json.dumps(data).replace('<', '\\u003c') + text[end:]

    def shows(name, page):
        """The line of a page that says why it cannot be shown; None where it is drawn."""
        file = s.folder / f'wrong-{name}.html'
        file.write_text(page, encoding='utf-8')
        s.browser.go(file.as_uri())
        wait_until(lambda: s.browser.js(f"{shown} !== null && ({shown}.textContent.startsWith('headlight') || document.documentElement.dataset.ready === 'true')"), f'{name}: a line, or a page')
        if s.browser.js(f'{shown}.hidden'):
            return None
        said = s.browser.js(f'{shown}.textContent')
        expect(': expected ' in said and len(said) < 400, f'{name}: expected a line, found {said!r}')
        return said

    stack = lambda name, value: lambda data: data['stacks'][0].__setitem__(name, value)
    own = lambda name, value: lambda data: data.__setitem__(name, value)
    half = lambda data: data['stacks'][0].__setitem__('q', data['stacks'][0]['q'][:len(data['stacks'][0]['q']) // 2])
    cases = {'q': half, 'd_k': stack('d_k', 7), 'heads': stack('heads', 3), 'layers': stack('layers', 2 ** 31), 'k': stack('k', '?'),
             'error': own('error', 'x'), 'tokens': own('tokens', 5), 'card': own('card', None), 'shape': own('card', {}), 'stacks': own('stacks', 1),
             'core': own('core', ''), 'view': own('view', None), 'words': own('words', {}), 'relations': own('relations', 3)}
    for name, act in cases.items():
        said = shows(name, change(act))
        if name == 'relations':  # what no number depends on is left out
            continue
        expect(said is not None, f'{name}: expected a line, found a page')
    drawn, draws, rolls = 0, 40, random.Random(1)
    for i in range(draws):
        data = json.loads(text[begin:end])
        of = rolls.choice([data, data['stacks'][0], rolls.choice([data[name] for name in ('view', 'look', 'card', 'edits', 'request', 'words') if data[name]])])
        field = rolls.choice(sorted(of))
        if rolls.random() < 0.2:
            del of[field]
        else:
            of[field] = rolls.choice([None, True, -1, 3, 1e9, 'x', [], {}, [1, 'x'], {'x': 1}])
        drawn += shows(f'{i}-{field}', change(lambda all: (all.clear(), all.update(data)))) is None
    cut = s.folder / 'cut-off.html'
    cut.write_text(text[:begin + 3000], encoding='utf-8')
    s.browser.go(cut.as_uri())
    wait_until(lambda: 'cut off' in (s.browser.js(f'{shown}?.textContent') or ''), 'a word about the file')
    return f'{len(cases)} kinds, and {draws} fields at random, of which {drawn} matter to no picture'


def test_hostile_pages_have_the_code_of_the_program(s):
    """Where the model of a page is gone, page and program read the same numbers, and refuse the same."""
    faults, counts = [], {}
    for name, page in broken_pages(s.page('read', '--text', SENTENCE).read_text(encoding='utf-8'), 1, 40):
        file = s.folder / f'hostile-{name}.html'
        file.write_text(page, encoding='utf-8')
        done = subprocess.run([s.program, 'export', file, '--format', 'json'], capture_output=True, check=False,
                              env={**os.environ, 'HEADLIGHT_PROGRESS': '0', 'HEADLIGHT_ERRORS': 'json'})
        code = 'ok' if done.returncode == 0 else json.loads(done.stderr.splitlines()[-1])['code']
        s.browser.go(file.as_uri())
        wait_until(lambda: s.browser.js("['error', 'ready'].some((name) => name in (document.documentElement?.dataset ?? {}))"), f'{name}: a page, or a line')
        found = s.browser.js('document.documentElement.dataset.error ?? "ok"')
        counts[code] = counts.get(code, 0) + 1
        if found != code:
            said = s.browser.js('document.getElementById("loading").textContent')
            faults.append(f'{name}: program {code} ({done.stderr.decode()[-300:]}), page {found} ({said[:300]})')
    expect(not faults, '\n'.join(faults))
    return ', '.join(f'{count} {code}' for code, count in sorted(counts.items()))


def test_page_is_a_source(s):
    request = ['--text', SENTENCE, '--mask', 'causal', '--off', '1.2']
    expect(s.export(s.page('source', *request)) == s.export(*request), 'the page opens as another question')


def test_too_large(s):
    file = s.folder / 'large.html'
    _, line = s.run('page', '--text', SENTENCE, '--most', '0.1', '-o', file, status=2)
    expect('--only' in line and 'kB' in line and line.count('\n') == 1 and not file.exists(), f'expected a line that names --only, found {line!r}')


def test_counts_one(s):
    for only, ids, counts in (('0.0', '5', '1 head, 1 token'), ('0.0,0.1', '5,9', '2 heads, 2 tokens')):
        _, line = s.run('page', s.golden / 'llama-gqa', '--ids', ids, '--only', only, '-o', s.folder / 'one.html')
        expect(line.endswith(f'of {counts}\n'), f'expected {counts}, found {line!r}')


def test_small(s):
    size = s.page('small', '--text', SENTENCE).stat().st_size
    expect(size <= 788_000, f'expected at most 788 kB, the core among them, found {size}')
    live = s.page('small-live', '--text', SENTENCE, '--live').stat().st_size
    expect(live <= 3_000_000, f'expected at most 3 MB, found {live}')
    return f'{size // 1000} kB, live {live // 1000} kB'
