"""A watch changes nothing of what it watches, and proves it."""
import copy
import sys
import threading
import unittest

from common import torch
import headlight

nn = torch.nn
B, T, D, H = 3, 6, 16, 4
EQUAL = "output as without the watch: equal to the bit"
CAUSAL = torch.ones(T, T).tril().bool()


class Attention(nn.Module):
    """`inputs` gives what queries and what keys and values are made from, `after` changes what comes out."""

    def __init__(self, inputs=lambda x: (x, x), after=lambda x: x, mask=None, fill=-torch.inf):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
        self.inputs, self.after, self.mask, self.fill = inputs, after, mask, fill
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        self.count += 1
        heads = [one.view(*x.shape[:2], H, -1).transpose(1, 2) for one in
                 (self.q(self.inputs(x)[0]), self.k(self.inputs(x)[1]), self.v(self.inputs(x)[1]))]
        scores = heads[0] @ heads[1].transpose(-2, -1) / (D // H) ** 0.5
        scores = scores if self.mask is None else scores.masked_fill(~self.mask, self.fill)
        return self.after(self.o((scores.softmax(-1) @ heads[2]).transpose(1, 2).reshape(x.shape)))


class After(nn.Module):
    def __init__(self, change):
        super().__init__()
        self.change = change

    def forward(self, x):
        return self.change(x)


def report_of(run):
    """What comes out without a watch and within one, and the report."""
    state = torch.get_rng_state()
    plain = run()
    torch.set_rng_state(state)
    with headlight.watch() as seen:
        watched = run()
    return plain, watched, seen.check()


class Untouched(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.x = torch.randn(B, T, D)

    def same(self, one, two):
        self.assertEqual(one.shape, two.shape)
        self.assertTrue(torch.equal(one.isnan(), two.isnan()) and torch.equal(one.nan_to_num(), two.nan_to_num()))

    def test_the_fast_path_of_an_encoder(self):
        encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(D, H, 32, batch_first=True), 2).eval()
        head, whole = nn.Linear(D, 2), nn.Transformer(D, H, 2, 2, 32, batch_first=True).eval()
        for lengths in ((4, 2, 3), (6, 4, 2), (6, 0, 3)):       # none is full; one is full; one is empty
            pad = torch.arange(T)[None] >= torch.tensor(lengths)[:, None]
            for run in (lambda: encoder(self.x, src_key_padding_mask=pad),
                        lambda: head(encoder(self.x, src_key_padding_mask=pad).mean(1)),
                        lambda: whole(self.x, self.x, tgt_mask=~CAUSAL, src_key_padding_mask=pad)):
                with self.subTest(lengths), torch.no_grad():
                    plain, watched, report = report_of(run)
                    self.same(plain, watched)
                    self.assertEqual(report.mistakes, [], str(report))
                    self.assertIn("output as without the watch", report.output)

    def test_what_runs_again_leaves_no_trace(self):
        module = Attention().train()
        plain, watched, report = report_of(lambda: module(self.x))
        self.assertEqual((report.output, float(module.count)), (EQUAL, 2))
        self.assertTrue(str(report).startswith(EQUAL))
        self.assertIn(EQUAL, report._repr_html_())
        watched.sum().backward()
        self.assertGreater(float(module.q.weight.grad.abs().sum()), 0)
        dropped = nn.Sequential(Attention(), nn.Dropout(0.5)).train()
        plain, watched, report = report_of(lambda: dropped(self.x))
        self.same(plain, watched)
        self.assertEqual(report.output, EQUAL)

    def test_what_has_no_copy_is_left_alone(self):
        hooked, held, calls = Attention(), Attention(), []
        hooked.register_forward_hook(lambda *_: calls.append(1))
        held.lock = threading.Lock()
        for module in (hooked, held):
            plain, watched, report = report_of(lambda: module(self.x))
            self.same(plain, watched)
            self.assertIn("not compared", report.output)
        self.assertEqual(len(calls), 2)

    def test_never_an_exception_of_its_own(self):
        module = Attention().eval()
        runs = {"meta": lambda: copy.deepcopy(module).to("meta")(self.x.to("meta")),
                "fx": lambda: torch.fx.symbolic_trace(nn.Sequential(nn.Linear(D, D), nn.ReLU()))(self.x),
                "traced": lambda: torch.jit.trace(module, self.x)(self.x),
                "parallel": lambda: nn.DataParallel(module)(self.x),
                "complex": lambda: nn.Linear(D, D).to(torch.complex64)(self.x.to(torch.complex64)),
                "quantized": lambda: torch.quantize_per_tensor(self.x, 0.1, 0, torch.qint8).dequantize(),
                "dynamic": lambda: torch.ao.quantization.quantize_dynamic(copy.deepcopy(module), {nn.Linear})(self.x),
                "no tensor": lambda: nn.Identity()("text"), "unlike": lambda: nn.Identity()((1, {"a": None}, [self.x]))}
        for name, run in runs.items():
            with self.subTest(name):
                _, _, report = report_of(run)
                self.assertEqual(report.mistakes, [], str(report))
                str(report)
        with self.assertRaises(ZeroDivisionError), headlight.watch() as seen:
            Attention(after=lambda x: x / (1 // 0))(self.x)
        str(seen.check())
        thread = threading.Thread(target=lambda: module(self.x))
        with headlight.watch() as seen:
            thread.start()
            thread.join()
        self.assertEqual(len(seen), 0)

    def test_what_moves_that_may_not(self):
        mixing, pad = nn.Conv1d(D, D, 3, padding=1), torch.arange(T)[None] >= torch.tensor([6, 4, 2])[:, None]
        sentences, tokens = "change with sentence 2", "that meet are of different tokens"

        def encoder(batch_first, after=lambda x: x):
            layer = nn.TransformerEncoderLayer(D, H, 32, batch_first=batch_first)
            return nn.Sequential(nn.TransformerEncoder(layer, 2), After(after))
        for module, said in (
                (Attention(), ""), (Attention(mask=CAUSAL), ""), (encoder(True), ""), (lambda x: encoder(False).eval()(x.transpose(0, 1)), ""),
                (encoder(False), "sentences are counted along axis 1 of the input, and nothing shows that they stand there"),
                (encoder(False, lambda x: x.mean(0)), ""), (encoder(True, lambda x: x.mean(1)), ""),
                (lambda x: nn.MultiheadAttention(D, H, batch_first=True).eval()(x, x, x, key_padding_mask=pad)[0], ""),
                (encoder(False, lambda x: x.mean(1)), "sentences are counted along axis 1 of the input"),
                (Attention(lambda x: (x, x.flip(0))), "keys of sentence 0 " + sentences),
                (Attention(lambda x: (x - x.mean(0),) * 2), "queries of sentence 0 " + sentences),
                (Attention(after=lambda x: x - x.mean(0)), "outputs of sentence 0 " + sentences),
                (Attention(after=lambda x: x.flip(0)), "outputs of sentence 0 " + sentences),
                (Attention(lambda x: (x, x.flip(1)), mask=CAUSAL), "queries and keys " + tokens),
                (Attention(lambda x: (x, x.roll(1, 1))), "queries and keys " + tokens),
                (Attention(lambda x: (x - x.mean(1, keepdim=True),) * 2, mask=CAUSAL), "outputs of token 0 change with token 3"),
                (Attention(after=lambda x: mixing(x.transpose(1, 2)).transpose(1, 2), mask=CAUSAL),
                 "outputs of token 2 change with token 3")):
            with self.subTest(said), torch.no_grad():
                _, _, report = report_of(lambda: getattr(module, "eval", lambda: module)()(self.x))
                self.assertEqual(report.mistakes, [])
                self.assertEqual(report.unchecked != [], said != "", str(report))
                self.assertIn(said, str(report))

    def test_the_place_of_nan(self):
        mask = CAUSAL[None, None].repeat(B, 1, 1, 1)
        mask[1, :, 2] = False
        _, _, report = report_of(lambda: Attention(mask=mask)(self.x))
        self.assertIn("NaN in the weights: sentences 1, heads 0, 1, 2, 3, queries 2", str(report))

    def test_rows_without_a_key(self):
        mask = CAUSAL[None, None].repeat(B, 1, 1, 1)
        mask[1, :, 2] = False
        _, _, report = report_of(lambda: Attention(mask=mask, fill=-1e9)(self.x))
        self.assertIn("queries that may attend to no key: sentences 1, heads 0, 1, 2, 3, queries 2", str(report))
        self.assertIn("no argument explains: causal (", str(report))

    def test_eval_is_missing(self):
        with torch.no_grad():
            _, _, report = report_of(lambda: nn.MultiheadAttention(D, H, 0.3, batch_first=True)(self.x, self.x, self.x))
        self.assertEqual(report.mistakes, [])
        self.assertIn("dropout of 0.3 was on without a gradient", str(report))


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
