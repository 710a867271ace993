"""The engine in process: the same bytes as by process, a millisecond a call, and nothing ends the interpreter."""
import contextlib
import copy
import gc
import io
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

import common  # noqa: F401  (where the module is)
import headlight
from headlight.library import _load, library
from in_process import measured
from test_recipes import recipes

QUESTIONS = [("我请李雷帮我订了去北京的机票", {}), ("the cat sat", {"mask": "causal", "off": ["1.1", "0.2"]}),
             ("我请李雷\n北京", {"mask": "causal+padding"}), ("-", {"off": []}), ("我请李雷", {"weight": "0.1.2.0=0.5"}),
             ("我请李雷", {"mask": np.tri(3, dtype=bool), "scale": 2.0, "off_as": "mean"})]      # with three tokens


def by_process():
    return mock.patch.dict(os.environ, {"HEADLIGHT_LIBRARY": ""})


class Library(unittest.TestCase):
    def test_it_is_there(self):
        self.assertIsNotNone(library())
        with by_process():
            self.assertIsNone(library())
        with mock.patch.dict(os.environ, {"HEADLIGHT_LIBRARY": "/nothing.so"}):
            with self.assertRaisesRegex(headlight.Error, "HEADLIGHT_LIBRARY: expected the path"):
                headlight.open()
        with mock.patch.dict(os.environ, {"HEADLIGHT_LIBRARY": __file__}), self.assertRaises(headlight.Error):
            headlight.open()

    def test_one_without_the_interface_is_left_aside(self):
        for source in (np.random.bit_generator.__file__, __file__):
            with tempfile.TemporaryDirectory() as folder:      # of its own: what is loaded stays mapped
                other = shutil.copy(source, os.path.join(folder, "libheadlight.so.1"))
                with mock.patch("headlight.library._places", lambda: iter([Path(folder)])):
                    self.assertIsNone(_load.__wrapped__(None))
                with self.assertRaises(headlight.Error):
                    _load.__wrapped__(other)

    def test_the_process_gives_the_same_bytes(self):
        for source in (None, "shipped:decoder", "shipped:translator"):
            with by_process():
                process = headlight.open(source)
            inside = headlight.open(source)
            for text, options in QUESTIONS[:{"shipped:decoder": -1, "shipped:translator": 2}.get(source)]:
                with self.subTest(source=source, text=text):
                    answer = inside(text, **options)
                    with by_process():
                        other = process(text, **options)
                        self.assertEqual(answer.keys(), other.keys())
                        for name in answer.keys():
                            self.assertEqual(answer[name].dtype, np.float32)
                            self.assertEqual(answer[name].shape, other[name].shape)
                            self.assertEqual(answer[name].tobytes(), other[name].tobytes(), name)
                        self.assertEqual(answer.tokens, other.tokens)
        name = "decoder_ffn.hidden"      # of the translator
        with by_process():
            self.assertEqual(inside("我请李雷")[name].tobytes(), process("我请李雷")[name].tobytes())

    def test_reduced_maps_are_the_means_of_numpy_both_ways(self):
        text = "the cat sat on the mat"
        all_ = headlight.export(text, mask="causal")["attentions"]
        for reduce, expected in (("mean:heads", all_.mean(1, keepdims=True)), ("max:layers", all_.max(0, keepdims=True)),
                                 ("sum:heads,layers", all_.sum((0, 1), keepdims=True))):
            found = headlight.export(text, mask="causal", reduce=reduce)
            self.assertEqual(json.loads(str(found["reduce"][0]))["by"], reduce.split(":")[0])
            answers = [found["attentions"], headlight.open()(text, mask="causal", reduce=reduce).attentions]
            with by_process():
                answers.append(headlight.open()(text, mask="causal", reduce=reduce).attentions)
            for answer in answers:
                self.assertEqual(answer.shape, expected.shape)
                np.testing.assert_allclose(answer, expected, rtol=1e-6, atol=1e-6)
        for bad in ("mean", "heads:mean"):
            with self.assertRaisesRegex(headlight.Error, f"expected .*mean.*, found '{bad}'"):
                headlight.open()(text, reduce=bad)
        weights = np.full((1, 2, 3, 3), 1 / 3, np.float32)
        with tempfile.TemporaryDirectory() as folder:
            headlight.save(weights, Path(folder, "mean.npz"), tokens=["a", "b", "c"], reduce="mean:heads")
            with np.load(Path(folder, "mean.npz")) as saved:
                self.assertEqual(saved["attentions"].shape, (1, 1, 3, 3))
                self.assertEqual(list(saved["tokens"]), ["a", "b", "c"])

    def test_names_of_arrays(self):
        answer = headlight.open("shipped:decoder")("我请李雷")
        self.assertEqual(answer.attentions.shape, answer.scores.shape)
        self.assertIs(answer.q, answer["queries"])
        self.assertEqual(answer.hidden_states.shape[0], answer.attentions.shape[0] + 1)
        self.assertEqual(answer.logits.shape[0], len(answer.tokens))
        for name in ("nothing", "__wrapped__", "attention"):
            with self.assertRaises(AttributeError):
                getattr(answer, name)
        with self.assertRaises(KeyError):
            answer["3.logits"]
        with self.assertRaises(ValueError):
            answer.attentions[0] = 1

    def test_bad_input_is_an_error_of_one_line(self):
        with self.assertRaisesRegex(headlight.Error, "nothing-here"):
            headlight.open("nothing-here")
        model = headlight.open("shipped:decoder")
        for options in ({"of": ["0.1"]}, {"off": ["9.9"]}, {"seed": 3}, {"mask": "casual"}, {"scale": "much"},
                        {"mask": np.ones((2, 5, 7))}):
            with self.subTest(options=str(options)), self.assertRaises(headlight.Error) as raised:
                model("我请李雷", **options)
            self.assertNotIn("\n", str(raised.exception))
        for text in ("\ud800", "", "\0"):
            with self.assertRaises(headlight.Error):
                model(text)

    def test_heads_masks_and_ids_as_python_has_them(self):
        model, torch = headlight.open("shipped:decoder"), common.torch
        expected, plain = model("我请李雷", off="1.1").logits.tobytes(), model("我请李雷").logits.tobytes()
        for off in ((1, 1), [(1, 1)], [(np.int64(1), 1)], np.array([[1, 1]]), {"1.1"}, np.array(["1.1"]), {1: [1]}, (one for one in ["1.1"]),
                    torch.tensor([[1, 1]])):
            self.assertEqual(model("我请李雷", off=off).logits.tobytes(), expected, off)
        for off in (None, [], False, np.zeros((0, 2), int)):
            self.assertEqual(model("我请李雷", off=off).logits.tobytes(), plain)
        with by_process():
            answer = headlight.open("shipped:decoder")("我请李雷", off=(one for one in ["1.1"]))
            self.assertEqual([answer.logits.tobytes(), answer["ffn.hidden"].shape[0]], [expected, 2])
            self.assertEqual(headlight.export("我请李雷", "shipped:decoder", off=[(1, 1)])["logits"].tobytes(), expected)
        tri = np.tri(4, dtype=bool)
        expected = model("我请李雷", mask=tri).attentions.tobytes()
        for mask in (tri.tolist(), tuple(map(tuple, tri.astype(int).tolist())), torch.tensor(tri), tri[None, None]):
            self.assertEqual(model("我请李雷", mask=mask).attentions.tobytes(), expected)
        expected = model(ids=[5, 6]).logits.tobytes()
        for ids in (np.array([5, 6]), np.array([[5, 6]], np.int32), torch.tensor([[5, 6]]), range(5, 7)):
            self.assertEqual(model(ids=ids).logits.tobytes(), expected)
        self.assertEqual(model("我请李雷", scale=torch.tensor(2.0)).logits.tobytes(), model("我请李雷", scale=2.0).logits.tobytes())

    def test_misuse_is_an_error_of_one_line(self):
        model = headlight.open("shipped:decoder")
        number = lambda value: lambda of: value
        for expected, ask in {
                "found 1.1$": lambda: model("我", off=[1.1]), "found True$": lambda: model("我", off=True),
                "found b'1.1'": lambda: model("我", off=b"1.1"), "ids: expected at least one": lambda: model(ids=[]),
                "reduce: ": lambda: model("我", reduce=3), "text: .* found bytes": lambda: model(b"cat"),
                "text: .* found int": lambda: model(3), "text 0: .* found int": lambda: model([3]),
                "text 1: expected one line, found none": lambda: model(["我", ""]), "one line, found several": lambda: model(["我\n请"]),
                r"text: expected no character U\+0000": lambda: model("a\0b"), "^two.lines.: kind": lambda: headlight.open("two\nlines\udcff"), "threads: .* found -1": lambda: headlight.open(threads=-1),
                "threads: .* found '2'": lambda: headlight.open(threads="2"), "open: .* found ''": lambda: headlight.open(""),
                "a path, a name, or a model .* found int": lambda: headlight.open(3), "open: .* found 'a": lambda: headlight.open("a\0b"),
                "metric: .* found None": lambda: model.sweep("我", number(None), ["0.1"]),
                "metric: .* found array": lambda: model.sweep("我", lambda answer: answer.logits, ["0.1"]),
                "metric: .* found 'x'": lambda: model.patch("我", "请", number("x")),
                "metric: expected a function": lambda: model.patch("我", "请", None), "place: .* found None": lambda: model.patch("我", "请", max, None),
                "one each": lambda: model.patch(["我", "请"], ["请", "我"], max), "heads: .* found 0": lambda: model.sweep("我", len, range(2)),
                "count: .* found 1.5": lambda: list(model.generate("我", 1.5)), "count: .* found -1": lambda: list(model.generate("我", -1)),
                "temperature: ": lambda: list(model.generate("我", temperature="x")), "seed: ": lambda: list(model.generate("我", seed=2 ** 64)),
                "expected one line, found none": lambda: headlight.export(["我", ""])}.items():
            with self.subTest(expected), self.assertRaisesRegex(headlight.Error, expected) as raised:
                ask()
            self.assertNotIn("\n", str(raised.exception))
        self.assertEqual(list(model.generate("我", 0)), [])
        off = model.sweep("我请李雷", lambda answer: answer.logits[-1, 7], [(0, 1), "1.0"], off=["1.1"])
        self.assertEqual(off[0], model("我请李雷", off=["1.1", "0.1"]).logits[-1, 7])
        self.assertEqual(model.sweep(["我请", "李雷"], len).shape, (2, 8))

    def test_an_answer_is_a_mapping_that_can_be_copied(self):
        answer = headlight.open("shipped:decoder", threads=1)("我请李雷", off=["0.1"], mask=np.tri(4))
        self.assertEqual(list(answer), answer.keys())
        self.assertEqual((len(answer), "logits" in answer, "ffn.hidden" in answer), (8, True, True))
        for name in ("nothing", 0, None):
            self.assertNotIn(name, answer)
            with self.assertRaises(KeyError):
                answer[name]
        self.assertIn("logits", dir(answer))
        self.assertRegex(repr(answer), "^<Answer of <Loaded 'shipped:decoder'>: attentions, .*logits>$")
        for other in (copy.copy(answer), copy.deepcopy(answer), pickle.loads(pickle.dumps(answer))):
            self.assertEqual(other.attentions.tobytes(), answer.attentions.tobytes())
        _, step = next(headlight.open("shipped:decoder").generate("我请李雷"))
        self.assertEqual(copy.deepcopy(step).logits.tobytes(), step.logits.tobytes())

    def test_arrays_outlive_answer_and_model(self):
        answer = headlight.open("shipped:decoder")("我请李雷", mask="causal")
        arrays = [answer[name] for name in answer.keys()]
        kept = [array.copy() for array in arrays]
        del answer
        gc.collect()
        for _ in range(20):
            headlight.open("shipped:decoder")("北京")
        for array, copy in zip(arrays, kept):
            np.testing.assert_array_equal(array, copy)

    def test_faults_of_the_process_stay_its_own(self):
        """Of the signals of a fault only SIGBUS has a handler, which knows mapped files and hands on what is none."""
        asks = r"""
            import faulthandler, os, re, headlight
            faulthandler.enable()
            caught = lambda: int(re.search("SigCgt:\s*(\w+)", open("/proc/self/status").read())[1], 16) % 2**31
            before = caught()
            headlight.open(MODEL)("我请李雷").attentions
            assert before == caught(), (before, caught())
            os.kill(os.getpid(), 7)"""
        decoder = os.path.join(common.ROOT, "assets", "models", "decoder")
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(asks).replace("MODEL", repr(decoder))],
                              capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual(done.returncode, -signal.SIGBUS, done.stderr)
        self.assertIn("Fatal Python error: Bus error", done.stderr)
        self.assertNotIn("headlight 1", done.stderr)

    def test_a_session_is_a_source(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "own.headlight.json")
            session = {"schema": "headlight.session/1", "request": {"source": "shipped:decoder", "text": "我请李雷", "off": ["0.1"]}}
            for schema, request, code in ((1, {}, None), (9, {}, "unknown_schema"), (1, {"off": 5}, "bad_value"), (1, {"source": "gone"}, "source_gone")):
                held = {"schema": f"headlight.session/{schema}", "request": {**session["request"], **request}}
                Path(path).write_text(json.dumps(held), encoding="utf-8")
                found = []
                for way in (contextlib.nullcontext(), by_process()):
                    with way:
                        try:
                            found.append(headlight.open(path)().attentions.tobytes())
                        except headlight.Error as error:
                            found.append(error.code)
                self.assertEqual(found[0], found[1])
                self.assertTrue(code is None or found[0] == code, found)

    def test_a_file_that_vanishes_or_shrinks_while_it_is_open(self):
        with tempfile.TemporaryDirectory() as folder:
            for how, change in (("gone", os.unlink), ("short", lambda path: os.truncate(path, 100))):
                decoder = os.path.join(common.ROOT, "assets", "models", "decoder")
                copy = shutil.copytree(decoder, os.path.join(folder, how))
                model = headlight.open(copy)
                before = model("我请李雷").logits.tobytes()
                change(os.path.join(copy, "model.safetensors"))
                if how == "gone":
                    self.assertEqual(model("我请李雷").logits.tobytes(), before)
                else:
                    with self.assertRaisesRegex(headlight.Error, "shortened meanwhile"):
                        model("我请李雷")

    def test_generation_and_patches_of_a_metric(self):
        model = headlight.open("shipped:decoder")
        steps = list(model.generate("我请李雷", count=4))
        told = headlight.generate("我请李雷", "shipped:decoder", count=4)["steps"]
        self.assertEqual([word for word, _ in steps], [step["text"] for step in told])
        self.assertEqual(steps[0][1].attentions.shape[2], len(model("我请李雷").tokens) + 1)
        clean, corrupt = model("我请李雷"), model("我爱北京")
        self.assertEqual(len(clean.tokens), len(corrupt.tokens))
        values = model.patch(clean, corrupt, metric=lambda logits: logits[-1, 7])
        self.assertEqual(values.shape, clean.attentions.shape[:2])
        self.assertGreater(np.ptp(values), 0)
        whole = model.patch(clean, corrupt, metric=lambda logits: logits[-1, 7], at="residual")
        np.testing.assert_allclose(whole[-1], clean.logits[-1, 7], rtol=1e-5)
        translator = headlight.open("shipped:translator")
        values = translator.patch(*(translator("我请李雷", target=text) for text in ("I ask", "I see")), metric=np.max)
        self.assertEqual(values.shape, translator("我请李雷").decoder_attentions.shape[:2])
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            model.patch(clean, corrupt, metric=lambda logits: 1 / 0)

    def test_a_sweep_is_a_question_a_head(self):
        with by_process():
            process = headlight.open("shipped:decoder")
        inside = headlight.open("shipped:decoder")
        found = [model.sweep("我请李雷", lambda answer: answer.logits[-1, 7], heads, mask="causal")
                 for model, heads in ((inside, None), (inside, ["0.1", "1.0"]), (process, ["0.1", "1.0"]))]
        self.assertEqual(found[0].shape, inside("我请李雷").attentions.shape[:2])
        np.testing.assert_array_equal(found[1], [found[0][0, 1], found[0][1, 0]])
        np.testing.assert_array_equal(found[1], found[2])
        self.assertEqual(found[0][1, 0], inside("我请李雷", off="1.0").logits[-1, 7])

    def test_the_recipe(self):
        names = {}
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(next(code for code in recipes() if 'headlight.open("shipped' in code), names)
        self.assertEqual(len(said.getvalue().splitlines()), 3)
        self.assertEqual(names["restored"].shape, names["answer"].attentions.shape[:2])
        self.assertEqual(names["off"].shape, names["restored"].shape)

    def test_a_call_takes_a_millisecond_and_little_of_what_a_process_takes(self):
        times, tokens, arrays, inside, process = measured(calls=300, masks=300, processes=10)
        print(f"{tokens} tokens, {arrays} arrays: {1e3 * np.median(times):.2f} ms a call, best {1e3 * min(times):.2f}; of "
              f"processor time {process / inside:.0f} times less than a process")
        self.assertLess(min(times), 5e-3)      # other processes may run; tests/bench/in_process.py has the figures of one alone
        self.assertGreater(process, 10 * inside)


if __name__ == "__main__":
    unittest.main()
