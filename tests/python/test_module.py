"""The module itself: capturing, threads, gradients, files."""
import gc
import json
import math
import os
import pickle
import sys
import tempfile
import threading
import unittest
import weakref
from unittest import mock

import numpy as np

from common import torch
import headlight
from headlight import engine
from split_attention import SplitAttention

nn, functional = torch.nn, torch.nn.functional
B, T, H, D = 3, 7, 2, 8
CAUSAL = torch.ones(T, T).tril().bool()


def torch_of_two():
    """The function of torch 2, as if it stood in a file of torch."""
    with open(os.path.join(os.path.dirname(__file__), "classes", "torch2.py"), encoding="utf-8") as file:
        text = file.read()
    names = {}
    exec(compile(text, os.path.join(os.path.dirname(torch.__file__), "nn", "functional.py"), "exec"), names)
    return names["scaled_dot_product_attention"]


class Fused(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.q, self.kv, self.o = nn.Linear(D, D), nn.Linear(D, 2 * D), nn.Linear(D, D)
        self.options = options

    def forward(self, x, mask=None):
        q, k, v = (part.view(B, T, H, -1).transpose(1, 2) for part in (self.q(x), *self.kv(x).chunk(2, -1)))
        z = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, **self.options)
        return self.o(z.transpose(1, 2).reshape(B, T, D))


class Watching(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.module, self.x = SplitAttention(D, H).eval(), torch.randn(B, T, D)

    def run_once(self):
        return self.module(self.x, self.x, self.x, CAUSAL)

    def test_what_is_kept(self):
        with headlight.watch() as seen:
            _, weights = self.run_once()
        call = seen[0]
        q = self.module.W_q(self.x).view(B, T, H, -1).transpose(1, 2).detach().numpy()
        np.testing.assert_array_equal(call.query, q)
        self.assertEqual((call.key.shape, call.value.shape), ((B, H, T, 4), (B, H, T, 4)))
        np.testing.assert_array_equal(call.mask, np.broadcast_to(CAUSAL.numpy(), (B, 1, T, T)))
        self.assertAlmostEqual(call.scale, 0.5)
        np.testing.assert_array_equal(call.weights(), weights.detach().numpy())
        self.assertRegex(call.where, r"split_attention\.py:\d+ \(SplitAttention\)$")
        self.assertEqual(call.weights().dtype, np.float32)

    def test_a_report_has_both_languages_and_can_be_sent(self):
        with headlight.watch() as seen:
            self.module(self.x, self.x, self.x, CAUSAL.T)
        english, chinese = seen.check(), seen.check(language="zh")
        self.assertEqual([one.code for one in chinese.mistakes], ["mask_transposed"])
        self.assertEqual((english.mistakes[0].text, chinese.mistakes[0].text), ("mask transposed", "掩码被转置"))
        again = pickle.loads(pickle.dumps(chinese))
        self.assertEqual((str(again), again.ok, again.judged), (str(chinese), False, 1))
        self.assertIn("没有看到注意力", headlight.watch().notes("zh")[0])
        q = np.random.default_rng(0).standard_normal((2, 5, 4))
        weights = np.exp(q @ q.transpose(0, 2, 1))
        report = headlight.check(query=q, weights=weights / weights.sum(-1, keepdims=True), language="zh")
        self.assertEqual(str(report), "打分没有除以 √d_k")
        with self.assertRaisesRegex(headlight.Error, "language"):
            seen.check(language="fr")

    def test_weights_that_were_not_kept_are_computed(self):
        with headlight.watch(keep=headlight.Keep(sentences=1)) as seen:
            _, weights = self.run_once()
        np.testing.assert_allclose(seen[0].weights(), weights.detach().numpy(), atol=2e-5)
        x = torch.randn(40, H, T, 4)
        padding = torch.rand(40, 1, 1, T) < 0.8
        for mask, runs in ((None, 1), (CAUSAL, 1), (padding | (torch.arange(T) == 0), 40)):      # one, where all have one mask
            with headlight.watch(keep=headlight.Keep(sentences=1)) as seen:
                scores = x @ x.transpose(-1, -2) / 2
                weights = torch.softmax(scores if mask is None else scores.masked_fill(~mask, -math.inf), -1)
                weights @ x
            with mock.patch("headlight.nodes.answer_to", wraps=engine.answer_to) as asked:
                np.testing.assert_allclose(seen[0].weights(), weights.numpy(), atol=2e-5)
            self.assertEqual(asked.call_count, runs)

    def test_fused(self):
        with mock.patch.object(functional, "scaled_dot_product_attention", torch_of_two(), create=True):
            for options, mask, text in (({}, None, None), ({"is_causal": True}, None, None), ({}, CAUSAL, None),
                                        ({}, torch.zeros(T, T).masked_fill(~CAUSAL, -math.inf), None),
                                        ({}, ~CAUSAL, "mask inverted"), ({"scale": 0.25}, None, "scores divided by d_k"),
                                        ({"scale": 1.0}, None, "scores not divided"),
                                        ({}, CAUSAL.float(), "a mask of 0 and 1 is added"),
                                        ({"dropout_p": 0.3}, None, "dropout left on")):
                with self.subTest(options, text=text):
                    with headlight.watch() as seen:
                        Fused(**options).eval()(self.x, mask)
                    report = seen.check()
                    said = "scale" in options      # a number of the program's own
                    self.assertEqual((len(seen), len(report.mistakes)), (1, int(text is not None and not said)), str(report))
                    if said:
                        self.assertTrue(f": {text}" in str(report) and "intended?" in str(report), str(report))
                    elif text is not None:
                        self.assertTrue(report.mistakes[0].text.startswith(text), str(report))
                        with open(__file__, encoding="utf-8") as file:
                            self.assertIn("functional.scaled", file.read().splitlines()[report.mistakes[0].line - 1])
            q, k, v = torch.randn(B, 4, T, 4), torch.randn(B, 2, T, 4), torch.randn(B, 2, T, 4)
            with headlight.watch() as seen:
                functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
            self.assertTrue(seen.check().ok)
            again = torch.softmax(q @ k.repeat_interleave(2, 1).transpose(-2, -1) / 2, -1)
            np.testing.assert_allclose(seen[0].weights(), again.numpy(), atol=2e-5)

    def test_fused_in_half_precision(self):
        with mock.patch.object(functional, "scaled_dot_product_attention", torch_of_two(), create=True):
            for kind in (torch.float16, torch.bfloat16):
                q, k, v = (torch.randn(B, H, T, 4).to(kind) for _ in range(3))
                for options, text in (({}, None), ({"is_causal": True}, None), ({"scale": 1.0}, "scores not divided"),
                                      ({"scale": 0.25}, "scores divided by d_k"), ({"attn_mask": ~CAUSAL}, "mask inverted"),
                                      ({"attn_mask": CAUSAL.to(kind)}, "a mask of 0 and 1 is added")):
                    with self.subTest(kind, **options), headlight.watch() as seen:
                        functional.scaled_dot_product_attention(q, k, v, **options)
                    found = seen.check().unchecked if "scale" in options else seen.check().mistakes
                    self.assertEqual([str(text) in str(one) for one in found], [True] if text else [], str(seen.check()))

    def test_gradients_are_the_same_bits(self):
        for module in (SplitAttention(D, H), nn.MultiheadAttention(D, H, batch_first=True, dropout=0.2)):
            gradients = []
            for watched in (False, True):
                torch.manual_seed(1)
                module.zero_grad()
                if watched:
                    with headlight.watch():
                        module(self.x, self.x, self.x)[0].square().sum().backward()
                else:
                    module(self.x, self.x, self.x)[0].square().sum().backward()
                gradients.append([parameter.grad.clone() for parameter in module.parameters()])
            for one, other in zip(*gradients):
                self.assertTrue(torch.equal(one, other))

    def test_a_thousand_calls_leave_nothing_behind(self):
        def live():
            gc.collect()
            return sum(isinstance(thing, torch.Tensor) for thing in gc.get_objects())
        self.run_once()
        before = live()
        with torch.no_grad():
            seen = headlight.watch(keep=10)
            with seen:
                for _ in range(1000):
                    self.run_once()
                self.assertLess(len(seen._tags), 100)
        self.assertEqual(len(seen), 10)
        self.assertIn("990 further calls not kept", str(seen.check()))
        self.assertEqual(seen._tags, {})
        del seen
        self.assertLessEqual(live(), before)

    def test_the_caller_s_weights_are_let_go(self):
        kept = []

        def attend(q, k, v):
            weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(D), -1)
            kept.append(weakref.ref(weights))
            return weights @ v
        with headlight.watch() as seen:
            attend(self.x, self.x, self.x)
        gc.collect()
        self.assertIsNone(kept[0]())
        self.assertTrue(seen.check().ok, str(seen.check()))

    def test_threads_see_their_own(self):
        counts = {}

        def work(number):
            with headlight.watch() as seen:
                for _ in range(number):
                    self.run_once()
            counts[number] = len(seen)
        threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2, 3, 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(counts, {1: 1, 2: 2, 3: 3, 4: 4})

    def test_nested_and_again(self):
        with headlight.watch() as outer:
            self.run_once()
            with headlight.watch() as inner:
                self.run_once()
            self.run_once()
            with self.assertRaisesRegex(headlight.Error, "not open"):
                outer.__enter__()
        self.assertEqual((len(outer), len(inner)), (3, 1))
        self.assertTrue(outer.check().ok and inner.check().ok)
        with inner:
            self.run_once()
        self.assertEqual(len(inner), 2)

    def test_an_exception_ends_the_block_as_it_should(self):
        with self.assertRaises(ZeroDivisionError):
            with headlight.watch() as seen:
                self.run_once()
                1 / 0
        self.assertEqual(len(seen), 1)
        with headlight.watch() as seen:
            pass
        self.run_once()
        self.assertEqual(len(seen), 0)

    def test_keep(self):
        layers = nn.ModuleList([SplitAttention(D, H) for _ in range(3)]).eval()

        class Stack(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = layers

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x, x, x)[0]
                return x
        stack = Stack().eval()
        with headlight.watch(keep=headlight.Keep(layers=[0, 2])) as seen:
            stack(self.x)
            stack(self.x)
        self.assertEqual([call.module for call in seen], ["layers.0", "layers.2"] * 2)
        with headlight.watch(layers[1]) as seen:
            stack(self.x)
        self.assertEqual(len(seen), 1)
        seen = headlight.watch(keep=headlight.Keep(every=3))
        for _ in range(7):
            with seen:
                stack(self.x)
        self.assertEqual(len(seen), 9)

    def test_several_calls_that_differ_are_each_named(self):
        def attend(scale):
            return torch.softmax(self.x @ self.x.transpose(1, 2) * scale, -1) @ self.x
        with headlight.watch() as seen:
            for scale in (1 / math.sqrt(D), 1.0, 1 / math.sqrt(D), 1 / D):
                attend(scale)
        report = seen.check()
        self.assertEqual([mistake.calls for mistake in report.mistakes], [(1,), (3,)])
        self.assertIn("(call 1 of 4)", str(report))

    def test_long_sentences_are_checked_in_rows(self):
        x = torch.randn(1, 1200, 16)
        module = SplitAttention(16, 4).eval()
        with torch.no_grad(), headlight.watch() as seen:
            module(x, x, x)
        self.assertLess(seen[0]._parts[0].found[0].numel(), (1 << 20) + 1)
        self.assertTrue(seen.check().ok, str(seen.check()))
        module.scale = 1.0
        with torch.no_grad(), headlight.watch() as seen:
            module(x, x, x)
        self.assertIn("scores not divided by sqrt(d_k)", str(seen.check()))

    def test_saved_files_open(self):
        whole = nn.Transformer(D, H, 1, 1, 16, batch_first=True).eval()
        with tempfile.TemporaryDirectory() as folder:
            with headlight.watch() as seen:
                self.run_once()
            for name in ("run.safetensors", "run.npz"):
                path = os.path.join(folder, name)
                seen.save(path, sentence=1)
                np.testing.assert_array_equal(headlight.export(source=path)["attentions"], seen[0].weights()[1][None])
            seen.save(path := os.path.join(folder, "words.safetensors"), tokens=list("我请李雷帮我订"))
            self.assertIn("李", json.dumps(json.loads(engine.run(["export", path])), ensure_ascii=False))
            with self.assertRaisesRegex(headlight.Error, "expected 7 words, found 2"):
                seen.save(path, tokens=["a", "b"])
            with headlight.watch() as seen:
                whole(torch.randn(1, 5, D), torch.randn(1, 6, D))
            seen.save(path)
            self.assertEqual({name: array.shape for name, array in headlight.export(source=path).items()},
                             {"encoder_attentions": (1, H, 5, 5), "decoder_attentions": (1, H, 6, 6),
                              "cross_attentions": (1, H, 6, 5)})


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
