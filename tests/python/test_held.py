"""Arrays as people hold them: every row of docs/arrays.md is taken for what it says, and what is wrong gets one line."""
import array
import collections
import contextlib
import csv
import decimal
import io
import os
import pathlib
import re
import tempfile
import time
import unittest
from unittest import mock

import numpy as np
import torch

import common
import headlight

ROW = re.compile(r"^\| `(.+?)`(?:,[^|]*)? \| (.+?) \|(?: `(.+?)`: (.+?))? ?\|$")


def w(*shape):
    powers = np.exp(np.random.default_rng(0).normal(size=shape))
    return (powers / powers.sum(-1, keepdims=True)).astype(np.float32)


def t(*shape):
    return torch.from_numpy(w(*shape))


def taken(held, **options):
    """What the module says that arrays were taken for, or why not."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            headlight.heads(held, **options)
        except headlight.Error as error:
            return str(error)
    return said.getvalue()


class Held(unittest.TestCase):
    def test_the_table_of_the_document(self):
        with open(os.path.join(common.ROOT, "docs", "arrays.md"), encoding="utf-8") as file:
            lines = file.read().split("## Forms")[1].split("## In Python")[0].splitlines()
        rows = [line for line in lines if line.startswith("| `")]
        self.assertGreater(len(rows), 15)
        for line in rows:
            with self.subTest(line):
                form, expected, options, otherwise = ROW.match(line).groups()
                held = eval(form, {"w": w, "t": t, "torch": torch})
                self.assertIn(expected, taken(held))
                if options:
                    self.assertIn(otherwise, taken(held, **eval(f"dict({options})")))

    def test_what_was_saved_opens(self):
        layers = tuple(t(2, 3, 4, 4) for _ in range(2))
        words = ["Val", "halla", "Ġis", "."]
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            for ending in ("npz", "safetensors", "json"):
                path = os.path.join(folder, "saved." + ending)
                headlight.save(layers, path, sentence=1, tokens=words)
                found = headlight.export(source=path)["attentions"]
                np.testing.assert_array_equal(found, np.stack([layer[1].numpy() for layer in layers]))
                self.assertIn("halla", headlight.engine.run(["export", path, "--format", "csv"]).decode())
            torch.save(layers, path := os.path.join(folder, "layers.pt"))
            np.testing.assert_array_equal(headlight.export(source=path, sentence=1)["attentions"], found)
            with headlight.watch() as seen:
                query = torch.randn(1, 2, 4, 8)
                torch.softmax(query @ query.transpose(-2, -1) / 8 ** 0.5, -1) @ query
            seen.save(path := os.path.join(folder, "seen.npz"), tokens=list("abcd"))
            self.assertEqual(list(np.load(path)["tokens"]), list("abcd"))
            with self.assertRaisesRegex(headlight.Error, "expected a sentence below 1, found 9"):
                seen.save(path, sentence=9)

    def test_what_stands_beside_a_tensor_of_a_file_is_kept(self):
        words, ids = ["Val", "halla", "Ġis", "."], {"attn": t(1, 3, 4, 4), "tokens": [7, 8, 9, 10]}
        layers = {"attn": [t(1, 3, 4, 4), t(1, 3, 4, 4)], "logits": torch.ones(4, 9)}
        cross = {"encoder_attentions": [t(1, 3, 4, 4)], "decoder_attentions": t(1, 1, 3, 5, 5), "cross_attentions": [t(1, 3, 5, 4)]}
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            for held, said in (({"attentions": t(1, 3, 4, 4), "tokens": words}, "halla"), (ids, "10"), (layers, "Self,1,"),
                               ({"attentions": t(1, 3, 4, 4), "tokens": [words]}, "halla"), (cross, "Cross,"),
                               ({"attentions": t(1, 3, 4, 4), "tokens": "Val halla is ."}, "halla")):
                torch.save(held, path := os.path.join(folder, "held.pt"))
                self.assertIn(said, headlight.engine.run(["export", path, "--format", "csv"]).decode())
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertIn("halla", headlight.page({"attentions": w(1, 3, 4, 4), "tokens": "Val halla is ."}).html)

    def test_words_of_each_sentence(self):
        with contextlib.redirect_stderr(io.StringIO()):
            page = headlight.page(w(2, 2, 2), sentence=1, tokens=[["a", "b"], ["see", "dee"]])
        self.assertIn("dee", page.html)

    def test_figures_show_themselves(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            figure = headlight.figure(w(5, 5), output=os.path.join(folder, "a.png"), view="head", head="0.0")
            self.assertTrue(figure._repr_png_().startswith(b"\x89PNG"))
            self.assertIn("data:image/png", figure._repr_html_())

    def test_numbers_that_are_no_weights(self):
        numbers = w(2, 2, 3, 3)
        numbers[1, 0, 2, 1] = np.nan
        self.assertIn("1 NaN in 1 row (the first, L1·H0 query 2 key 1): counted as 0, and hatched in figures and the window", taken(numbers))
        self.assertIn("attentions sentence 1: 1 NaN", taken(numbers, axes="batch,heads,T,S", sentence=1))
        self.assertIn("below 0 (the first, L0·H0 query 0 key", taken(np.log(w(1, 2, 3, 3))))
        self.assertIn("expected 9x9 = 81 keys", taken(w(4, 4), grid="9x9"))
        self.assertNotIn("expected", taken(w(5, 5), grid="2x2"))

    def test_a_dictionary_with_any_attribute_is_no_list_of_texts(self):
        class Answers(dict):
            __getattr__ = dict.get
        self.assertEqual(len(headlight.heads(Answers(logits=w(1, 3, 9), attentions=[w(1, 2, 3, 3)]))["heads"]), 2)
        with self.assertRaisesRegex(headlight.Error, "attentions: expected arrays, found None"):
            headlight.heads(Answers(attentions=None))

    def test_errors_of_arrays_are_about_these(self):
        for arrays, line in (([[1.0], [0.5, 0.5]], "array: expected rows of one length, found 1, 2"), (w(5), r"array: expected \(T, S\), "),
                             (np.full((2, 2), np.inf), "attentions: L0·H0 query 0 key 0: expected a finite number, found inf")):
            with self.assertRaisesRegex(headlight.Error, "^" + line):
                headlight.heads(arrays)

    def test_tensors_of_other_layouts(self):
        for tensor in (torch.eye(3).to_sparse(), torch.eye(3).to_sparse_csr(), torch.quantize_per_tensor(torch.eye(3), 1.0, 0, torch.quint8)):
            self.assertEqual(headlight.heads(tensor)["heads"][0]["same"], 1)

    def test_what_would_be_shown_in_place_of_arrays_is_refused(self):
        for ask in (headlight.heads, headlight.page):
            with self.assertRaisesRegex(headlight.Error, "attentions: expected a text or arrays, found None: was output_attentions"):
                ask(None)
        with tempfile.TemporaryDirectory() as folder:
            np.save(path := os.path.join(folder, "w.npy"), w(3, 3))
            with self.assertRaisesRegex(headlight.Error, "expected a text or arrays, found a file, which is a source: source='"):
                headlight.export(path)
            with self.assertRaisesRegex(headlight.Error, "expected a text or arrays, found a file, which is a source: source='"):
                headlight.page(pathlib.Path(path))

    def test_masked_and_foreign_arrays(self):
        self.assertIn("3 NaNs in 2 rows", taken(np.ma.masked_array(w(3, 3), np.triu(np.ones((3, 3), bool), 1))))
        foreign = type("Foreign", (), {"__array__": lambda self, *_: w(2, 3, 3)})
        self.assertIn("2 heads, 3 queries", taken(foreign()))
        self.assertIn("sum to neither 1 nor 0", taken(100 * w(3, 3)))
        self.assertIn("all weights are 0", taken(np.zeros((2, 3, 3))))
        self.assertIn("2 layers, 4 heads", taken(t(4, 3, 3) for _ in range(2)))
        self.assertIn("1 layer, 1 head, 3 queries", taken(t(3, 3).to_sparse()))
        output = collections.namedtuple("Output", "logits attentions")
        self.assertIn("2 layers, 4 heads", taken(output(t(1, 3, 9), (t(1, 4, 3, 3),) * 2)))
        self.assertIn("2 layers, 4 heads", taken({"encoder": {f"layer{i}": {"attn": w(4, 3, 3)} for i in range(2)}}))

    def test_what_modules_return_beside_their_weights(self):
        """Hooks of nn.MultiheadAttention, Keras and transformers, and outputs without names."""
        out, weights, layers = torch.randn(1, 5, 8), t(1, 4, 5, 5), tuple(t(1, 4, 5, 5) for _ in range(2))
        cache = ((torch.zeros(1, 4, 5, 2),) * 2,) * 2
        for held, line in (((out, weights), "weights: 1"), ((out, weights, None), "weights: 1"), ([out, weights], "weights: 1"),
                           ((weights, out), "weights: 0"), ((torch.tensor(1.0), out, cache, layers), "weights: 3"),
                           ((out, (out,) * 3, layers), "weights: 2")):
            said = taken(held)
            self.assertIn(line, said)
            self.assertIn(f"taken for {2 if held[-1] is layers else 1} layer", said)
        hooked = {f"h.{i}.attn": (out, weights, None) for i in range(3)}
        self.assertEqual(taken(hooked).count("results"), 1)
        self.assertIn("3 layers, 4 heads", taken(hooked))
        self.assertIn("cross_attentions: 2 layers", taken((out, cache, layers, (t(1, 4, 5, 7),) * 2, out, (t(1, 4, 7, 7),) * 2)))
        self.assertIn("expected layers of one shape", taken([weights, 1.2 * t(1, 4, 6, 5)]), "no layer is left out")
        self.assertIn("of 2 layers those that are None are left out", taken((weights, None)))
        self.assertIn("layers 0, 2 of the file", taken((weights, None, weights)))

    def test_numbers_in_any_container(self):
        rows = [[0.5, 0.5], [0.25, 0.75]]
        exact, bits = np.array(rows, np.float32), np.array(rows, np.float32).view(np.uint32) >> 16
        shared = type("Shared", (), {"__dlpack__": lambda self, **_: exact.__dlpack__(), "__dlpack_device__": lambda self: (1, 0)})
        arrays, whole = np.empty(2, object), (4 * exact).astype(">i4")
        arrays[:] = [exact, exact]
        for held in ([array.array("f", row) for row in rows], memoryview(exact), [[decimal.Decimal(str(x)) for x in row] for row in rows],
                     [[str(x) for x in row] for row in rows], [list(map(torch.tensor, row)) for row in rows], list(exact), shared(),
                     bits.astype(np.uint16), bits.astype(np.uint16).view("V2"), exact.astype(np.float16), exact.astype(">f8"), whole,
                     torch._neg_view(torch.from_numpy(-exact)), collections.deque(rows), arrays, {0: exact, 1: exact}.values(),
                     {"loss": {}, "layer": {"attn": exact}}, [np.float32(row) for row in rows]):
            with self.subTest(str(held)[:60]), contextlib.redirect_stderr(io.StringIO()) as said:
                found = headlight.export(held)["attentions"][0, 0]
                np.testing.assert_array_equal(found, exact * (4 if held is whole else 1))
                self.assertEqual("neither" in said.getvalue(), held is whole)
        self.assertIn("1 NaN in 1 row (the first, L0·H0 query 0 key 1)", taken([[1, None], [0.1, 0.9]]))
        self.assertIn("array: expected rows of one length, found 1, 2", taken([np.ones(1), np.ones(2)]))
        self.assertIn("expected a text or arrays, found a file", taken("absent.npy"))

    def test_data_frames_have_their_words(self):
        def frame(columns, index):
            return type("Frame", (), {"__array__": lambda self, *_: w(2, 2), "columns": columns, "index": index})()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            for columns, index, first in ((["a", "b"], ["c", "d"], "c,a"), (["a", "b"], range(2), "a,a"), (range(2), range(2), "0,0")):
                headlight.save(frame(columns, index), path := os.path.join(folder, "w.csv"))
                with open(path, encoding="utf-8") as file:
                    self.assertIn(f"Self,0,0,0,0,{first},", file.read())

    def test_a_data_frame_with_a_weight_a_row(self):
        class Frame:
            columns = ["layer", "query", "key", "weight"]

            def to_csv(self, path):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(",layer,query,key,weight\n0,0,0,0,0.25\n1,0,0,1,0.75\n2,1,0,0,1\n3,1,0,1,0\n")
        np.testing.assert_array_equal(headlight.export(Frame())["attentions"], [[[[0.25, 0.75]]], [[[1, 0]]]])

    def test_outputs_in_a_list_are_sentences_and_said(self):
        outputs = [{"attentions": w(1, 4, size, size)} for size in (3, 5)]
        self.assertIn("a batch of 2 sentences: the first is shown", taken(outputs))
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(headlight.export(outputs, sentence=1)["attentions"].shape, (1, 4, 5, 5))

    def test_words_are_kept_by_every_format(self):
        three = [t(1, 4, 3, 3)], [t(1, 4, 2, 2)], [t(1, 4, 2, 3)]
        words = {"tokens": ['say "hi"', "a,b", "c\nd"], "target_tokens": [b"x", "Ġy"]}
        square = {"tokens": ["a", "b"], "target_tokens": ["c", "d"]}
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            for held, names in ((three, words), (w(1, 4, 2, 3), words), (w(1, 4, 2, 2), square), (w(1, 4, 2, 2), {"tokens": torch.tensor([[7, 9]])})):
                kept = []
                for kind in ("npz", "safetensors", "json", "csv"):
                    headlight.save(held, path := os.path.join(folder, "w." + kind), **names)
                    kept.append(headlight.engine.run(["export", path, "--format", "csv"]).decode())
                self.assertEqual(kept[1:], kept[:1] * 3)
                rows = [row[5:7] for row in csv.reader(io.StringIO(kept[0])) if row[0] in ("Self", "Cross")]
                self.assertIn(rows[-1], (["y", "c\nd"], ["d", "b"], ["9", "9"]))

    def test_tokens_of_the_dictionary(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            headlight.save({"attn": w(4, 3, 3), "tokens": ["a", "b", "c"]}, path := os.path.join(folder, "w.npz"))
            self.assertEqual(list(np.load(path)["tokens"]), ["a", "b", "c"])

    def test_maps_that_sum_up_others_are_the_same_everywhere(self):
        held = w(2, 3, 4, 4)
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            mean = headlight.export(held, reduce="mean:heads")["attentions"]
            np.testing.assert_allclose(mean, held.mean(1, keepdims=True), atol=1e-6)
            headlight.save(held, path := os.path.join(folder, "w.npz"), reduce="mean:heads")
            np.testing.assert_array_equal(np.load(path)["attentions"], mean)
            heads = [{name: value for name, value in one.items()} for one in headlight.heads(held, reduce="mean:heads")["heads"]]
            self.assertEqual(heads, headlight.heads(source=path)["heads"])

    def test_show_without_a_display_advises_what_works(self):
        with mock.patch.dict(os.environ, {"DISPLAY": "", "WAYLAND_DISPLAY": ""}), \
                self.assertRaises(headlight.Error) as caught:
            headlight.show(w(3, 3))
        advice = re.search(r"headlight\.(page\(…\))\.save", str(caught.exception)).group(1).replace("…", "w(3, 3)")
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertIn("<html", eval("headlight." + advice, {"headlight": headlight, "w": w}).html)

    def test_many_weights_are_a_picture_in_a_notebook(self):
        kept = headlight.seen._MOST_HELD, headlight.seen.notebook_shell
        headlight.seen._MOST_HELD, headlight.seen.notebook_shell = 1000, lambda: type("Shell", (), {"kernel": 1})
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                still, page = headlight.show(w(2, 2, 20, 20)), headlight.show(w(2, 2, 20, 20), only="0.1")
                strongest = headlight.show(w(2, 2, 4, 4), reduce="strongest:heads")
                mean = headlight.show(w(2, 2, 4, 4), reduce="mean:heads")
        finally:
            headlight.seen._MOST_HELD, headlight.seen.notebook_shell = kept
        self.assertTrue(still._repr_png_().startswith(b"\x89PNG"))
        self.assertIn("data:image/png", still._repr_html_())
        self.assertIn("only=", still._repr_html_())
        self.assertTrue(strongest._repr_png_().startswith(b"\x89PNG"))
        self.assertNotIn("too many", strongest._repr_html_())
        self.assertIn('"summed_up":{"by":"mean:heads"', mean.html)
        self.assertIn("iframe", page._repr_html_())

    def test_too_many_weights_are_refused_before_they_are_written(self):
        begin = time.process_time()
        for held in (torch.zeros(1, 1, 1, 1).expand(24, 16, 2560, 2560), np.broadcast_to(np.float32(0), (24, 16, 2560, 2560)),
                     [torch.zeros(1, 1, 1, 1).expand(1, 16, 2560, 2560)] * 24):
            self.assertIn("expected at most 4294967296 bytes (a layer of them), found 10066329600", taken(held))
        self.assertLess(time.process_time() - begin, 1)

    def test_what_is_refused_is_one_line(self):
        ragged = (t(1, 4, 5, 5), t(1, 4, 6, 5))
        shrinking = [[t(1, 2, 1, 9 - s)] * 2 for s in range(3)]
        objects = np.array([object(), object()])
        for held, text in ((ragged, "layers of one shape"), (shrinking, "at least 9 keys"), ((None, None), "found None"),
                           ((), "found none"), (object(), "found object"), (objects, "found object"), (w(5), r"\(5,\)"),
                           (np.zeros(3, [("a", "f4")]), "found")):
            said = taken(held)
            self.assertRegex(said, text)
            self.assertEqual(len(said.strip().splitlines()), 1, said)
            self.assertLess(len(said), 300)


if __name__ == "__main__":
    unittest.main(verbosity=2)
