"""The page in a frame, asked and heard by the module of the notebook's widget: the protocol of anywidget, without a notebook."""

import json
import shutil
from pathlib import Path

from browsers import wait_until
from page_setting import SENTENCE, expect

MODULE = Path(__file__).resolve().parents[2] / 'python' / 'headlight' / 'widget.js'
# A model as https://anywidget.dev/en/afm has it: get, set, save_changes, on, off.
AROUND = """<!DOCTYPE html><meta charset="utf-8"><div id="one"></div><div id="two"></div><script type="module">
import widget from './widget.js';
const state = {html: await (await fetch('NAME')).text(), ...BEGIN}, heard = {};
const model = {saved: 0, get: (name) => state[name], save_changes() { ++model.saved; },
  set(name, value) { state[name] = value; for (const one of heard[`change:${name}`] ?? []) one(); },
  on(name, one) { (heard[name] ??= []).push(one); }, off(name, one) { heard[name] = heard[name].filter((other) => other !== one); }};
Object.assign(window, {model, state, heard, view: (id) => widget.render({model, el: document.getElementById(id)}), told: []});
window.end = view('one');
addEventListener('message', ({data}) => told.push(data));
document.documentElement.dataset.ready = 'true';
</script>"""


def around(s, name, request, begin=None):
    """Opens a document with a widget about a page, and waits until that is drawn."""
    page = s.page(f'{name}-page', *request)
    shutil.copy(MODULE, s.folder)
    (s.folder / f'{name}.html').write_text(AROUND.replace('NAME', page.name).replace('BEGIN', json.dumps(begin or {})), encoding='utf-8')
    s.browser.open(f'http://127.0.0.1:{s.server.server_port}/{name}.html')
    wait_until(lambda: s.browser.js('state.error === ""'), 'the page in the frame')


def become(s, change, wanted):
    """Sets traits of the model, and waits until they are what the page says."""
    for one, value in change.items():
        s.browser.js(f'model.set({json.dumps(one)}, {json.dumps(value)})')
    traits = '[state.head, state.query, state.key, state.mask, state.off]'
    wait_until(lambda: s.browser.js(f'{traits}') == wanted and s.browser.js(
        f'JSON.stringify(Object.values(told.at(-1).headlight)) === JSON.stringify({traits})'), f'{change} to become {wanted}')


def test_widget_both_ways(s):
    around(s, 'widget', ['--text', SENTENCE, '--off', '0.2'])
    begun = s.browser.js('[state.head, state.query, state.key, state.mask, state.off]')
    expect(begun[3:] == ['none', ['0.2']] and None not in begun, f'expected how the page begins, found {begun}')
    become(s, {'head': '0.3', 'mask': 'causal', 'off': [], 'key': 4, 'query': 7}, ['0.3', 7, 4, 'causal', []])
    become(s, {'query': None}, ['0.3', None, None, 'causal', []])
    become(s, {'key': 2}, ['0.3', 0, 2, 'causal', []])
    sent = s.browser.js('model.saved')
    s.browser.js('new Promise((done) => setTimeout(done, 300))')
    expect(s.browser.js('model.saved') == sent, 'page and model do not come to rest')
    for bad, line in (({'head': '9.9'}, 'layer: expected 0 to 1, found 9'), ({'head': '<b>'}, 'head: expected L.H, found <b>'),
                      ({'mask': 'casual'}, 'mask: expected file, none'), ({'query': 99}, 'query: expected 0 to'), ({'off': ['7.7']}, 'off: expected heads')):
        before = s.browser.js('[state.head, state.query, state.key, state.mask, state.off]')
        become(s, bad, before)
        expect(s.browser.js('state.error').startswith(line), f"{bad}: expected {line}, found {s.browser.js('state.error')}")
    become(s, {'mask': 'none'}, ['0.3', 0, 2, 'none', []])
    expect(s.browser.js('state.error') == '', 'an error stays after what was right')


def test_widget_begins_with_what_python_set(s):
    around(s, 'begins', ['shipped:translator', '--text', '我请李雷', '--target', 'I asked Li Lei'], {'head': 'cross:1.2', 'off': ['encoder:0.1']})
    become(s, {}, s.browser.js('["cross:1.2", state.query, state.key, "none", ["encoder:0.1"]]'))
    s.browser.js('told.length = 0, window.endTwo = view("two")')  # the same model, seen twice
    wait_until(lambda: s.browser.js('told.some(({begins}) => begins)'), 'the second view')
    become(s, {}, s.browser.js('["cross:1.2", state.query, state.key, "none", ["encoder:0.1"]]'))
    become(s, {'query': 1, 'key': 2}, ['cross:1.2', 1, 2, 'none', ['encoder:0.1']])
    s.browser.js('end(), endTwo()')
    expect(s.browser.js('Object.values(heard).every((one) => one.length === 0)'), 'a view that has ended still listens')


def test_widget_is_of_the_document_that_made_it(s):
    """A page with an address of its own tells nobody, and takes from nobody."""
    page = s.page('addressed', '--text', SENTENCE)
    (s.folder / 'strange.html').write_text(f'''<!DOCTYPE html><iframe src="{page.name}"></iframe><script>
      window.heard = []; addEventListener('message', ({{data}}) => heard.push(data));
      document.querySelector('iframe').onload = ({{target}}) => {{ window.frame = target; document.documentElement.dataset.ready = 'true'; }};
      </script>''', encoding='utf-8')
    s.browser.open(f'http://127.0.0.1:{s.server.server_port}/strange.html')
    wait_until(lambda: s.browser.js('frame.contentWindow.headlight !== undefined'), 'the page in the frame')
    s.browser.js('frame.contentWindow.postMessage({headlight: {mask: "causal"}, number: 1}, "*")')
    s.browser.js('new Promise((done) => setTimeout(done, 200))')
    expect(s.browser.js('[frame.contentWindow.headlight.state().mask, heard.length]') == ['none', 0], 'a document around the page is heard or told')
