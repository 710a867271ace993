"""The widget in anywidget's own front end, as Lab, Colab and VS Code load it: widget_front.py PROGRAM GOLDEN PACKAGES

The module `anywidget` of npm, with the classes of Jupyter's widgets (manager.js, bundled by anywidget.sh); only the comm, which
leads to Python, is a stand-in that keeps what is sent."""

import json
import shutil
import sys
from pathlib import Path

from browsers import Chromium, wait_until
from page_setting import SENTENCE, Setting, expect

MODULE = Path(__file__).resolve().parents[2] / 'python' / 'headlight' / 'widget.js'
AROUND = """<!DOCTYPE html><meta charset="utf-8"><div id="widget"></div><script src="manager.js"></script>
<script>let own; const define = (_, made) => { own = made(jupyter.base); };</script><script src="anywidget.js"></script><script type="module">
class Manager extends jupyter.ManagerBase {
  async loadClass(name, module) { return module === 'anywidget' ? own[name] : jupyter.base[name]; }
  async _create_comm() { throw new Error('a comm of its own'); }
  async _get_comm_info() { return {}; }
}
const [_esm, html] = await Promise.all(['widget.js', 'page.html'].map(async (file) => (await fetch(file)).text()));
window.sent = {};
const comm = {comm_id: 'one', target_name: 'jupyter.widget', on_msg() {}, on_close() {}, close() {},
  send(data, {iopub}) { Object.assign(sent, data.state);
    setTimeout(() => iopub?.status?.({content: {execution_state: 'idle'}})); return 'sent'; }};
const of = {model_module: 'anywidget', model_module_version: 'VERSION', view_module: 'anywidget', view_module_version: 'VERSION'};
const manager = new Manager();
const model = await manager.new_model({...of, model_name: 'AnyModel', view_name: 'AnyView', model_id: 'one', comm},
  {...of, _model_module: 'anywidget', _model_name: 'AnyModel', _view_module: 'anywidget', _view_name: 'AnyView', _model_module_version: 'VERSION',
    _view_module_version: 'VERSION', _esm, html, _anywidget_id: 'headlight', head: '0.3', query: null, key: null, mask: null, off: null, error: '-'});
const view = await manager.create_view(model);
document.getElementById('widget').append(view.el);
window.model = model;
</script>"""


def main():
    program, golden, packages = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    module = packages / 'node_modules/anywidget'
    version = json.loads((module / 'package.json').read_text(encoding='utf-8'))['version']
    s = Setting(program, golden, Chromium())
    s.page('page', '--text', SENTENCE)
    for file, name in ((MODULE, 'widget.js'), (module / 'dist/index.js', 'anywidget.js'), (packages / 'manager.js', 'manager.js')):
        shutil.copy(file, s.folder / name)
    (s.folder / 'around.html').write_text(AROUND.replace('VERSION', version), encoding='utf-8')
    s.browser.go(f'http://127.0.0.1:{s.server.server_port}/around.html')
    traits = '(globalThis.model ? ["head", "query", "key", "mask", "off", "error"].map((name) => model.get(name)) : [null])'
    wait_until(lambda: s.browser.js(traits)[-1] == '', 'the page in the widget')
    begun = s.browser.js(traits)
    expect(begun[0] == '0.3' and None not in begun, f'expected what Python set and what the page shows, found {begun}')
    wait_until(lambda: s.browser.js('sent.mask') == 'none', 'what the page shows to be sent to Python')
    s.browser.js('void model.set({head: "1.1", query: 7, key: 4, mask: "causal", off: ["0.2"]})')      # as a message of Python does
    s.browser.js('new Promise((done) => setTimeout(done, 500))')
    expect(s.browser.js(traits) == ['1.1', 7, 4, 'causal', ['0.2'], ''], f'expected what was set, found {s.browser.js(traits)}')
    s.browser.js('void model.set("head", "9.9")')
    wait_until(lambda: s.browser.js(traits)[::5] == ['1.1', 'layer: expected 0 to 1, found 9'], 'an error')
    wait_until(lambda: s.browser.js('[sent.head, sent.error]') == ['1.1', 'layer: expected 0 to 1, found 9'], 'Python to hear it')
    print(f'good: anywidget {version}: {s.browser.js(traits)}')
    s.browser.close()


main()
