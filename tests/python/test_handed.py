"""Arrays that are handed over: those of other libraries, words beside them, weights by name, numpy alone."""
import contextlib
import io
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

import numpy as np

from common import ROOT, torch
import headlight

nn = torch.nn
T, H, D = 7, 2, 8
CAUSAL = torch.ones(T, T).tril().bool()


class Handed(unittest.TestCase):
    def shown(self, attentions, **options):
        """The arrays of the file that `show` opens in the window."""
        opened = {}

        def popen(command, **_):
            with open(command[-1], "rb") as file:
                size = struct.unpack("<Q", file.read(8))[0]
                header = json.loads(file.read(size))
            opened.update(header)
            return mock.Mock()
        with mock.patch.object(subprocess, "Popen", popen), mock.patch.dict(os.environ, DISPLAY=":9"):
            self.assertIsNone(headlight.show(attentions, **options))
        return {name: tuple(entry["shape"]) for name, entry in opened.items() if name != "__metadata__"}

    def taken(self, attentions, **options):
        """The shapes that the program takes out of arrays."""
        with contextlib.redirect_stderr(io.StringIO()):
            return {name: array.shape for name, array in headlight.export(attentions, **options).items()}

    def test_what_other_libraries_hold(self):
        layer = np.random.default_rng(0).random((2, 4, 5, 5), np.float32)
        cross = np.ones((2, 4, 6, 5), np.float32) / 5
        own = np.ones((2, 4, 6, 6), np.float32) / 6
        output = types.SimpleNamespace(attentions=(torch.from_numpy(layer),) * 3)
        cache = {f"blocks.{i}.attn.hook_pattern": torch.from_numpy(layer) for i in range(12)}
        triple = types.SimpleNamespace(encoder_attentions=(layer,), decoder_attentions=(own,), cross_attentions=(cross,))
        for attentions, shape in ((output, (3, 4, 5, 5)), ((layer, layer), (2, 4, 5, 5)), (layer[None], (2, 4, 5, 5)),
                                  (cache, (12, 4, 5, 5)), (layer[0], (1, 4, 5, 5)), ({("pattern", 0): layer}, (1, 4, 5, 5))):
            self.assertEqual(self.taken(attentions), {"attentions": shape})
        self.assertEqual(self.shown((layer, layer)), {"0": layer.shape, "1": layer.shape}, "the program takes them apart")
        three = {"encoder_attentions": (1, 4, 5, 5), "decoder_attentions": (1, 4, 6, 6), "cross_attentions": (1, 4, 6, 5)}
        self.assertEqual(self.taken(triple), three)
        self.assertEqual(self.taken(((layer,), (own,), (cross,)), tokens="abcde", target_tokens="abcdef"), three)
        for wrong, text in (((None, None), "found None"), ((), "found none"), (object(), "found object"),
                            ((layer, cross), "one shape"), (layer[0, 0, 0], r"found \(5,\)")):
            with self.assertRaisesRegex(headlight.Error, text):
                self.taken(wrong)

    def test_words_and_choices_in_any_form(self):
        layer = torch.full((1, 4, 3, 3), 1 / 3)
        self.assertEqual(self.taken((layer, None, layer)), {"attentions": (2, 4, 3, 3)})
        self.assertEqual(self.taken(layer[0].expand(2, 4, 3, 3), axes=("batch", "heads", "T", "S")), {"attentions": (1, 4, 3, 3)})
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as said:
            def words(arrays, **options):
                headlight.save(arrays, path := os.path.join(folder, "a.npz"), **options)
                return np.load(path)["tokens"].tolist()
            square = np.full((3, 3), 1 / 3)
            self.assertEqual(words(square, tokens="the cat sat"), ["the", "cat", "sat"])
            self.assertEqual(words(square, tokens=["a", 5, "\ud83d"])[:2], ["a", "5"])
            self.assertEqual(words({"attn": square, "tokens": ["我".encode(), b"a", b"b"]}), ["我", "a", "b"])
            self.assertEqual(words(square, tokens=list("abcd")), ["a", "b", "c"])
            self.assertIn("tokens: the last of 4 is left out", said.getvalue())
            page = headlight.page(np.full((2, 5, 9), 1 / 9), grid=(3, 3))
            self.assertIn("<html", page.html)
            torch.save((None, None), path := os.path.join(folder, "none.pt"))
            with self.assertRaisesRegex(headlight.Error, "was output_attentions=True asked for"):
                headlight.export(None, path)
        with self.assertRaisesRegex(headlight.Error, "tokens: expected words or their ids, found None"):
            self.taken(layer, tokens=["a", None, "b"])

    def test_without_a_display_nothing_is_opened(self):
        with mock.patch.dict(os.environ, clear=False), mock.patch.object(subprocess, "Popen") as opened:
            for name in ("DISPLAY", "WAYLAND_DISPLAY"):
                os.environ.pop(name, None)
            with self.assertRaisesRegex(headlight.Error, "found neither"):
                headlight.show(np.ones((1, 1, 2, 2), np.float32) / 2)
            opened.assert_not_called()

    def test_state_dicts(self):
        torch.manual_seed(0)
        x, mask = torch.randn(1, T, D), ~CAUSAL
        module = nn.MultiheadAttention(D, H, batch_first=True).eval()
        nn.init.normal_(module.in_proj_bias)
        output, weights = module(x, x, x, attn_mask=mask, average_attn_weights=False)
        state = module.state_dict()
        q, k, v = state["in_proj_weight"].chunk(3)
        bq, bk, bv = state["in_proj_bias"].chunk(3)
        named = {}
        for names in (("W_q", "W_k", "W_v", "W_o"), ("query.linear", "key.linear", "value.linear", "output"),
                      ("q_proj", "k_proj", "v_proj", "o_proj")):
            named[names[0]] = {f"{name}.{kind}": value for name, pair in
                               zip(names, ((q, bq), (k, bk), (v, bv), (state["out_proj.weight"], state["out_proj.bias"])))
                               for kind, value in zip(("weight", "bias"), pair)}
        named["conv"] = {"c_attn.weight": state["in_proj_weight"].T, "c_attn.bias": state["in_proj_bias"],
                         "c_proj.weight": state["out_proj.weight"].T, "c_proj.bias": state["out_proj.bias"]}
        named["deep"] = {"layers.3.self_attn." + name: value for name, value in state.items()}
        for name, one in {"torch": state, **named}.items():
            with self.subTest(name):
                answer = headlight.attention(x[0], num_heads=H, state_dict=one, mask=CAUSAL,
                                             prefix="layers.3.self_attn" if name == "deep" else "")
                np.testing.assert_allclose(answer["attentions"][0], weights[0].detach().numpy(), atol=2e-5)
                np.testing.assert_allclose(answer["output"], output[0].detach().numpy(), atol=2e-5)
                report = headlight.check(query=x[0], weights=weights[0], output=output[0], mask=CAUSAL, num_heads=H,
                                         state_dict=one if name != "deep" else state)
                self.assertTrue(report.ok, str(report))
        with self.assertRaisesRegex(headlight.Error, "twice"):
            headlight.attention(x[0], num_heads=H, state_dict={**named["W_q"], **named["q_proj"]})
        with self.assertRaisesRegex(headlight.Error, "found conv1.weight"):
            headlight.attention(x[0], num_heads=H, state_dict={"conv1.weight": q})

    def test_heads_that_share_keys(self):
        random = np.random.default_rng(0)
        q, k, v = random.standard_normal((4, 6, 8)), random.standard_normal((2, 6, 8)), random.standard_normal((2, 6, 8))
        for repeat, codes in ((lambda x: np.repeat(x, 2, 0), []), (lambda x: np.tile(x, (2, 1, 1)), ["groups_in_blocks"])):
            scores = q @ repeat(k).transpose(0, 2, 1) / math.sqrt(8)
            weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
            report = headlight.check(query=q, key=repeat(k), value=repeat(v), weights=weights)
            self.assertEqual([one.code for one in report.mistakes], codes, str(report))

    def test_numpy_alone(self):
        random = np.random.default_rng(0)
        q, k, v = ([random.standard_normal((6, 4)).astype(np.float32) for _ in range(3)] for _ in range(3))

        def weights(scale):
            found = []
            for one, other in zip(q, k):
                powers = np.exp(one @ other.T * scale)
                found.append(powers / powers.sum(-1, keepdims=True))
            return found
        output = np.concatenate([one @ other for one, other in zip(weights(0.5), v)], -1)
        right = headlight.check(query=q, key=k, value=v, weights=weights(0.5), output=output)
        self.assertTrue(right.ok, str(right))
        self.assertIn("scores not divided by sqrt(d_k)", str(headlight.check(query=q, key=k, weights=weights(1))))
        self.assertIn("multiplied by sqrt(d_k)", str(headlight.check(query=np.stack(q), key=np.stack(k), weights=weights(2))))
        for kind, name in ((np.float16, "numpy"), (torch.float16, "torch"), (torch.bfloat16, "torch")):
            def rounded(arrays):
                return [array.astype(kind) if name == "numpy" else torch.from_numpy(array).to(kind) for array in arrays]
            with self.subTest(kind):
                one, two = rounded(q), rounded(k)
                self.assertTrue(headlight.check(query=one, key=two, weights=rounded(weights(0.5))).ok)
                self.assertIn("scores not divided by sqrt(d_k)",
                              str(headlight.check(query=one, key=two, weights=rounded(weights(1)))))
        exact = headlight.check(query=q, key=k, weights=[one.astype(np.float16) for one in weights(0.5)], tolerance=2e-5)
        self.assertFalse(exact.ok)
        of_heads = np.stack([one @ other for one, other in zip(weights(0.5), v)])
        self.assertTrue(headlight.check(query=q, key=k, value=v, output=of_heads).ok)
        self.assertFalse(headlight.check(query=q, key=k, value=v, output=of_heads[::-1]).ok)
        with self.assertRaisesRegex(headlight.Error, "found neither"):
            headlight.check(query=q)
        named = {f"{name}_proj.weight": np.eye(4) for name in ("q", "k", "v", "out")}
        for said, more in {"num_heads: expected the number of heads": {}, "tolerance: .* found nan": {"tolerance": math.nan, "num_heads": 1},
                           "^check: attentions: ": {"num_heads": 4, "weights": np.eye(6)}}.items():
            with self.assertRaisesRegex(headlight.Error, said):
                headlight.check(query=q[0], state_dict=named, output=q[0], **{"weights": None, **more})
        script = ("import sys; sys.path.insert(0, sys.argv[1]); import headlight; headlight.export('我请李雷'); "
                  "assert 'torch' not in sys.modules\nwith headlight.watch() as seen: pass\n"
                  "assert 'torch is not imported' in str(seen.check()), seen")
        subprocess.run([sys.executable, "-c", script, os.path.join(ROOT, "python")], check=True)


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
