"""headlight.widget in a real Jupyter server (Debian's Notebook 6) and a browser without a display: what is clicked is
in Python, what Python sets is in the picture, and a notebook that was saved shows it without a kernel."""
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import types
import unittest
import urllib.request
from pathlib import Path
from unittest import mock

import common
import headlight

common.need("traitlets", "notebook", "ipykernel")
import traitlets  # noqa: E402
from test_recipes import recipes  # noqa: E402

sys.path.append(os.path.join(common.ROOT, "tests", "page"))
import browsers  # noqa: E402

JUPYTER, PYTHON = "/usr/bin/jupyter-notebook", "/usr/bin/python3"
CELLS = ["import headlight\nmodel = headlight.open('shipped:decoder')\n"
         "widget = headlight.widget(model('我请李雷帮我订了去北京的机票', off=['0.2']))", "widget"]
EXECUTE = """new Promise((done) => {{ let heard = '';
  Jupyter.notebook.kernel.execute({code} + "\\nprint(end='*')", {{iopub: {{output: ({{content}}) => {{
    heard += content.text ?? content.ename ?? '';
    if (content.ename || heard.endsWith('*')) done(heard.replace('*', ''));
  }}}}}}, {{silent: false}}); }})"""


class Server:
    """Jupyter of this machine about one folder, with nothing of the user's."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/"
        home = {name: folder for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
        self.environment = {**os.environ, **home, "PYTHONPATH": os.path.join(common.ROOT, "python"), "PATH": "/usr/bin:/bin"}
        self.process = subprocess.Popen(
            [PYTHON, JUPYTER, "--no-browser", f"--port={port}", "--ip=127.0.0.1", "--allow-root", "--NotebookApp.token=",
             f"--notebook-dir={folder}"], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        browsers.wait_until(self.answers, "Jupyter to answer")

    def answers(self):
        with contextlib.suppress(OSError), urllib.request.urlopen(self.url + "api", timeout=5) as answer:
            return answer.status == 200
        if self.process.poll() is not None:
            raise EOFError("Jupyter ended")
        return False

    def close(self):
        self.process.terminate()
        self.process.wait()


class Page:
    """The page in its frame, which is a process of its own in the browser, and its place in the notebook."""

    def __init__(self, browser):
        def found():
            frames = [one for one in browser.command("Target.getTargets")["targetInfos"] if one["type"] == "iframe"]
            return [one["targetId"] for one in frames if one["url"] == "about:srcdoc"]
        browsers.wait_until(found, "the frame of the page")
        self.browser, self.top = browser, browser.session
        self.session = browser.command("Target.attachToTarget", targetId=found()[-1], flatten=True)["sessionId"]
        browsers.wait_until(lambda: self.js("document.documentElement?.dataset.ready === 'true'"), "the page to be drawn")

    def js(self, expression):
        self.browser.session = self.session
        try:
            return self.browser.js(expression)
        finally:
            self.browser.session = self.top

    def state(self):
        """What of the page's state the widget's traits say: head, query, key, mask, off."""
        state = self.js("headlight.state()")
        return [f"{state['layer']}.{state['head']}", *(state["pinned"] or [None, None]), state["mask"], sorted(state["off"])]

    def click(self, across, down):
        """With the mouse, on the large map."""
        self.js("headlight.set({view: 'heads'})")
        self.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
        box = "((box) => [box.left, box.top, box.width, box.height])(document.querySelector('%s').getBoundingClientRect())"
        frame, self_box = self.browser.js(box % "#notebook iframe"), self.js(box % "#stage-map")
        self.browser.click(frame[0] + self_box[0] + across * self_box[2], frame[1] + self_box[1] + down * self_box[3])


def notebook_of(cells):
    return {"nbformat": 4, "nbformat_minor": 4, "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
            "cells": [{"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": one} for one in cells]}


class Widget(unittest.TestCase):
    """Without a notebook."""

    def test_the_recipe(self):
        names = {}
        exec(next(code for code in recipes() if "headlight.widget" in code), names)
        widget = names["widget"]
        self.assertEqual([widget.head, widget.query, widget.mask, widget.off], ["1.4", None, "none", ["0.3"]])
        self.assertIn("headlight.page/1", widget.page.html)
        with self.assertRaises(traitlets.TraitError):
            widget.query = "last"

    def test_a_step_of_generation_is_shown_with_its_words(self):
        for _, step in headlight.open("shipped:decoder").generate("我请李雷", count=2):
            html = headlight.widget(step).page.html
            tokens = json.loads(html[html.index('id="headlight-data">') + 20:].split("</script>")[0])["tokens"]
            self.assertEqual([one["text"] for one in tokens], step.tokens)

    def test_bad_input_is_an_error_of_one_line(self):
        with mock.patch("headlight.seen._MOST_PAGE", 1000):
            with self.assertRaisesRegex(headlight.Error, "widget: expected a page of at most 8 MB .*, found"):
                headlight.widget("我请李雷")
        for bad in ({"text": "我", "source": "nothing-here"}, {"text": 5}, {"text": "我", "only": "9.9"}):
            with self.assertRaises(headlight.Error) as raised:
                headlight.widget(**bad)
            self.assertNotIn("\n", str(raised.exception))

    def test_with_anywidget_it_is_one_of_its_widgets(self):
        """The package is a stand-in here, with what it promises (anywidget/widget.py): traits with `sync`, `_esm`, a bundle."""
        class AnyWidget(traitlets.HasTraits):
            def _repr_mimebundle_(self, **_):
                return {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}}, {}
        stand_in = types.ModuleType("anywidget")
        stand_in.AnyWidget = AnyWidget
        kind = headlight.notebook._kind.__wrapped__
        with mock.patch.dict(sys.modules, {"anywidget": stand_in}), mock.patch("headlight.notebook._kind", kind):
            widget = headlight.widget("我请李雷")
        self.assertIsInstance(widget, AnyWidget)
        self.assertEqual(set(widget.trait_names(sync=True)), {"head", "query", "key", "mask", "off", "error", "html"})
        self.assertIn("export default {render}", widget._esm)
        self.assertEqual(widget.html, widget.page.html)
        bundle, _ = widget._repr_mimebundle_()
        self.assertIn("application/vnd.jupyter.widget-view+json", bundle)
        self.assertRegex(bundle["text/html"], '^<img [^<>]*src="data:image/svg[+]xml;base64,[^"]*">$')


@unittest.skipUnless(browsers.Chromium.program, "chromium is not installed")
class InJupyter(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="headlight-notebook-")
        cls.file = Path(cls.folder, "seen.ipynb")
        cls.file.write_text(json.dumps(notebook_of(CELLS)))
        cls.server, cls.browser = Server(cls.folder), browsers.Chromium()
        cls.browser.size(1280, 1000)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.server.close()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def execute(self, code):
        return self.browser.js(EXECUTE.format(code=json.dumps(code)))

    def open(self, name, ready):
        self.browser.go(f"{self.server.url}notebooks/{name}")
        browsers.wait_until(lambda: self.browser.js(f"Boolean(globalThis.Jupyter?.notebook?._fully_loaded && {ready})"), name)

    def traits(self):
        return json.loads(self.execute("import json; print(json.dumps([widget.head, widget.query, widget.key, widget.mask, widget.off]))"))

    def agreed(self, page, what):
        """What page and Python say, as soon as they say the same."""
        browsers.wait_until(lambda: what(self.traits()) and self.traits() == page.state(), f"{self.traits()} and {page.state()} to agree")
        return page.state()

    def test_both_ways_and_without_a_kernel(self):
        self.open("seen.ipynb", "Jupyter.notebook.kernel?.is_connected()")
        self.browser.js("Jupyter.notebook.execute_all_cells()")
        browsers.wait_until(lambda: self.browser.js("document.querySelector('.unconnected')?.hidden === true"), "a connection")
        page = Page(self.browser)
        with self.subTest("the page begins with what was asked for"):
            begun = self.agreed(page, lambda traits: traits[0] is not None)
            self.assertEqual(begun[3:], ["causal", ["0.2"]])
        with self.subTest("a click is in Python"):
            page.click(0.45, 0.6)
            clicked = self.agreed(page, lambda traits: traits[1:3] != begun[1:3])
            self.assertNotIn(None, clicked)
        with self.subTest("what Python sets is in the picture"):
            before = self.browser.screenshot()
            self.execute("widget.head, widget.mask, widget.off, widget.query, widget.key = '0.3', 'none', ['0.1', '1.1'], 7, 4")
            self.assertEqual(self.agreed(page, lambda traits: traits[0] == "0.3"), ["0.3", 7, 4, "none", ["0.1", "1.1"]])
            page.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
            self.assertNotEqual(self.browser.screenshot(), before)
            self.execute("widget.query = None")
            self.assertEqual(self.agreed(page, lambda traits: traits[1] is None)[1:3], [None, None])
        with self.subTest("what it has not is a line, and Python is told what it shows"):
            self.execute("widget.head = '9.9'")
            browsers.wait_until(lambda: self.execute("print(widget.error)").startswith("layer: expected 0 to 1, found 9"), "an error")
            self.assertEqual(self.agreed(page, lambda traits: traits[0] != "9.9")[0], "0.3")
        self.browser.js("Jupyter.notebook.save_notebook().then(() => true)")
        self.browser.js("new Promise((done) => Jupyter.notebook.session.delete(() => done(true)))")
        saved = json.loads(self.file.read_text())
        html = "".join(saved["cells"][1]["outputs"][0]["data"]["text/html"])
        self.assertIn("data:image/svg+xml;base64,", html)
        with self.subTest("a new kernel does not know the widget: the page is there, and says that it is alone"):
            self.open("seen.ipynb", "Jupyter.notebook.kernel?.is_connected()")
            self.assertEqual(Page(self.browser).state()[3:], ["causal", ["0.2"]])
            browsers.wait_until(lambda: self.browser.js("document.querySelector('.unconnected').hidden === false"), "the line")
        with self.subTest("without a kernel and not trusted, as any other copy: the picture is there"):
            saved["metadata"] = {"kernelspec": {"name": "none", "display_name": "none", "language": "none"}}
            Path(self.folder, "copy.ipynb").write_text(json.dumps(saved))
            self.open("copy.ipynb", "document.querySelector('.output_area img')?.complete")
            self.assertFalse(self.browser.js("Boolean(Jupyter.notebook.kernel || document.querySelector('#notebook iframe'))"))
            self.assertGreater(self.browser.js("document.querySelector('.output_area img').naturalWidth"), 300)
        if os.environ.get("HEADLIGHT_PICTURES"):
            Path(os.environ["HEADLIGHT_PICTURES"], "notebook.png").write_bytes(self.browser.screenshot())


if __name__ == "__main__":
    unittest.main()
