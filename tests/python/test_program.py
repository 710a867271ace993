"""The program from Python: its answers as arrays, the stream of lines, logs of a training, pages."""
import os
import pickle
import sys
import tempfile
import threading
import types
import unittest
from unittest import mock

import numpy as np

from common import torch
import headlight
from split_attention import SplitAttention

T, H, D = 7, 2, 8


class Program(unittest.TestCase):
    def test_answers_as_arrays_and_dicts(self):
        arrays = headlight.export("我请李雷", mask="causal", with_="qkv,scores")
        self.assertEqual(arrays["attentions"].shape, (2, 8, 3, 3))
        self.assertEqual(arrays["attentions"][0, 0, 0, 1], 0)
        self.assertIn("queries", arrays)
        own = headlight.export("我请李雷", mask=np.tri(3, dtype=bool))
        np.testing.assert_array_equal(own["attentions"], arrays["attentions"])
        self.assertGreater(headlight.next("我请", arch="decoder", top=3)["next_token"][0]["probability"], 0)
        steps = headlight.explain("我请李雷", layer=0, head=1, query=2, key=0)["steps"]
        self.assertTrue(any(step["name"] == "scores" for step in steps))
        self.assertEqual(len(headlight.heads("我请李雷")["heads"]), 16)
        with self.assertRaisesRegex(headlight.Error, "nothing-here"):
            headlight.export(source="nothing-here")

    def test_a_missing_program_is_an_error_of_one_line(self):
        with mock.patch.dict(os.environ, {"HEADLIGHT": "/nothing/here"}):
            with self.assertRaisesRegex(headlight.Error, "HEADLIGHT: expected the path"):
                headlight.program()
        with mock.patch.dict(os.environ, {"HEADLIGHT": "", "PATH": ""}):
            with self.assertRaisesRegex(headlight.Error, "found none of them"):
                headlight.program()

    def test_an_error_has_the_code_of_the_program(self):
        for code, text, options in (("file_absent", "a", {"source": "nothing-here"}), ("no_tokens", "", {"source": "shipped:decoder"}),
                                    ("file_absent", "我", {"source": "shipped:decoder", "mask": "nothing.npy"})):
            ways = [lambda: headlight.export(text, **options),
                    lambda: headlight.open(options["source"])(text, **{name: one for name, one in options.items() if name != "source"}).attentions]
            for way in ways:
                with self.assertRaises(headlight.Error) as raised:
                    way()
                self.assertEqual((raised.exception.code, str(raised.exception).count("\n")), (code, 0), options)
        self.assertEqual(pickle.loads(pickle.dumps(raised.exception)).code, code)
        with self.assertRaises(headlight.Error) as raised:
            headlight.Page("<html>").save("/nothing/here.html")
        self.assertEqual(raised.exception.code, "file_absent")

    def test_a_program_that_says_something_else_is_an_error(self):
        with self.assertRaisesRegex(headlight.Error, "expected json"):
            list(headlight.lines(["我"], help=True))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "headlight")
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\ncat >/dev/null\nhead -c 100000 /dev/zero | tr '\\0' '['\necho\n")
            os.chmod(path, 0o755)
            with mock.patch.dict(os.environ, {"HEADLIGHT": path, "HEADLIGHT_LIBRARY": ""}):
                for asks in (lambda: list(headlight.lines(["我"])), lambda: headlight.next("我"), lambda: headlight.open()("我").tokens):
                    self.assertRaises(headlight.Error, asks)
        with mock.patch.dict(os.environ, {"HEADLIGHT": "x" * 100000}):
            with self.assertRaises(headlight.Error) as raised:
                headlight.next("我")
            self.assertLess(len(str(raised.exception)), 5000)

    def test_files_are_read_and_copied_within_a_bound(self):
        live = types.SimpleNamespace(config={"model_type": "bert"}, state_dict=dict)
        with headlight.watch() as seen, tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tokenizer.json")
            with open(path, "wb") as file:
                file.truncate(1 << 36)
            for asks in (lambda: headlight.open(live, path), lambda: headlight.open(live, folder), lambda: seen.check(expect=path)):
                with self.assertRaises(headlight.Error) as raised:
                    asks()
                self.assertEqual(raised.exception.code, "too_large")

    def test_lines(self):
        sentences = ["我请李雷", "", "the cat sat", "two\nlines", "北京"] * 3
        answers = list(headlight.lines(iter(sentences)))
        self.assertEqual(len(answers), len(sentences))
        for sentence, answer in zip(sentences, answers):
            if "error" in answer:
                self.assertIn(sentence, ("", "two\nlines"))
            else:
                self.assertEqual(answer["request"]["text"], sentence)
        self.assertEqual(list(headlight.lines([])), [])

    def test_lines_are_a_stream(self):
        asked = []

        def sentences():
            for number in range(10**9):
                asked.append(number)
                yield f"the cat sat {number}"
        stream = headlight.lines(sentences())
        for number in range(5):
            self.assertEqual(next(stream)["request"]["text"], f"the cat sat {number}")
        stream.close()
        self.assertLess(len(asked), 100000)

        def failing():
            yield "我"
            raise KeyError("mine")
        with self.assertRaisesRegex(KeyError, "mine"):
            list(headlight.lines(failing()))

    def test_the_next_sentence_may_depend_on_the_last_answer(self):
        told = threading.Event()

        def sentences():
            for number in range(5):
                yield f"the cat sat {number}"
                self.assertTrue(told.wait(60), "the answer came before the next sentence was there")
                told.clear()
        for answer in headlight.lines(sentences()):
            self.assertNotIn("error", answer)
            told.set()

    def test_a_program_that_ends_early_loses_no_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "headlight")
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nwhile read -r line; do\n  if [ \"$line\" = bad ]; then echo \"/Unicode/model: bad\" >&2; exit 2; fi\n"
                           "  printf '{\"text\": \"%s\"}\\n' \"$line\"\ndone\n")
            os.chmod(path, 0o755)
            with mock.patch.dict(os.environ, {"HEADLIGHT": path}):
                answers = list(headlight.lines(["a", "bad", "b", "", "bad", "\ud800", "Unicode\n", "c"]))
        self.assertEqual([answer.get("text") for answer in answers], ["a", "bad", "b", "", "bad", "\ud800", "Unicode\n", "c"])
        self.assertEqual([answer.get("code") for answer in answers],
                         [None, "bad_value", None, "bad_value", "bad_value", "not_utf8", "bad_value", None])
        self.assertEqual(answers[1]["error"], "/Unicode/model: bad")

    def test_log_and_tracker(self):
        with tempfile.TemporaryDirectory() as folder:
            weights = torch.softmax(torch.randn(5, 5, 2, 3), 1)
            headlight.tracker.folder = folder
            headlight.tracker.set_global_step(10)
            headlight.tracker.debug("attn", weights)
            headlight.tracker.debug("attn", weights)
            headlight.tracker.debug("loss", torch.tensor(1.0))
            headlight.tracker.add_global_step()
            self.assertEqual(os.listdir(folder), ["step-000010.safetensors"])
            arrays = headlight.export(source=os.path.join(folder, "step-000010.safetensors"))
            np.testing.assert_array_equal(arrays["attentions"][1], weights[:, :, 0].permute(2, 0, 1).numpy())
            module = SplitAttention(D, H).eval()
            with headlight.watch() as seen:
                module(*[torch.randn(3, T, D)] * 3)
            path = headlight.log(200, seen, folder)
            self.assertEqual(headlight.export(source=str(path))["attentions"].shape, (1, H, T, T))

    def test_a_page_is_shut_off_and_guarded(self):
        page = headlight.Page("<!doctype html><p title=\"a\">&amp;</p>")
        self.assertIn('sandbox="allow-scripts"', page._repr_html_())
        self.assertIn('srcdoc="&lt;!doctype html&gt;&lt;p title=&quot;a&quot;&gt;&amp;amp;&lt;/p&gt;"', page._repr_html_())
        self.assertIn("too large", headlight.Page("x" * (9 << 20))._repr_html_())


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
