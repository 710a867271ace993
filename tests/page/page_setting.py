"""What the tests of pages are given, and how a page is compared with an export."""

import http.server
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import threading

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
        # A busy machine takes long enough for lines of progress.
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, check=False, env={**os.environ, 'HEADLIGHT_PROGRESS': '0'})
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

    def checkpoint(self, name, split=None, kind='words'):
        """A golden checkpoint with the words of BERT's tokenizer that it has rows for, perhaps cut by an expression."""
        model = self.folder / f'{kind}-{name}'
        shutil.copytree(self.golden / name, model)
        words = json.loads((self.golden / 'tokenizer-bert-uncased' / 'tokenizer.json').read_text(encoding='utf-8'))
        rows = json.loads((model / 'config.json').read_text(encoding='utf-8'))['vocab_size']
        words['model']['vocab'] = {word: at for word, at in words['model']['vocab'].items() if at < rows}
        words['pre_tokenizer'] = split or words['pre_tokenizer']
        (model / 'tokenizer.json').write_text(json.dumps(words), encoding='utf-8')
        return model


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
    wanted = [(attention['name'], layer, head, flat(rows)) for attention in exported['attention'] for layer, layer_heads in enumerate(attention['attn'])
              for head, rows in enumerate(layer_heads) if heads is None or (layer, head) in heads]
    asked = json.dumps([one[:3] for one in wanted])
    found, largest = browser.js(f'{asked}.map((one) => Array.from(headlight.weights(...one)))'), 0
    for (name, layer, head, expected), weights in zip(wanted, found, strict=True):
        expect(len(expected) == len(weights), f'{name} {layer}.{head}: {len(expected)} cells, found {len(weights)}')
        largest = max(largest, max(abs(a - b) for a, b in zip(expected, weights)))
    return largest


def agrees(setting, name, request, change=lambda page: None):
    page = setting.page(name, *request)
    change(page)
    setting.open(page)
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
