"""Attention that is right has no mistake, whichever way it is written; what is no attention is not taken for it."""
import math
import sys
import unittest

from common import torch
import headlight
from einsum_attention import EinsumAttention
from list_attention import ListAttention
from packed_attention import PackedAttention
from split_attention import SplitAttention

nn, functional = torch.nn, torch.nn.functional
B, T, S, H, D = 3, 7, 5, 2, 8
CAUSAL = torch.ones(T, T).tril()
PAD = torch.arange(T)[None] < torch.tensor([7, 4, 5])[:, None]
MEMORY_PAD = torch.arange(S)[None] < torch.tensor([2, 5, 3])[:, None]
GIVEN = {"a bias for each head": "the slopes of ALiBi are those of 8 heads, not of 2: taken as given", "one bias": "taken as given",
         "neighbours only": "a window of 3 keys: taken as given",
         "rotary": "rotary, columns c and c + d/2, base 100: taken as given"}
NEAR = CAUSAL.bool() & ~torch.ones(T, T).tril(-3).bool()


def attend(q, k, v, mask=None, bias=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if bias is not None:
        scores = scores + bias
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return functional.softmax(scores, -1) @ v


def heads(x):
    return x.view(*x.shape[:2], H, D // H).transpose(1, 2)


class Rotary(nn.Module):
    """Queries and keys are turned by their position before they meet."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))

    def forward(self, x):
        angle = torch.arange(T)[:, None] / torch.tensor([1.0, 10.0, 1.0, 10.0])

        def turned(y):
            return y * angle.cos() + torch.cat([-y[..., 2:], y[..., :2]], -1) * angle.sin()
        q, k, v = heads(self.q(x)), heads(self.k(x)), heads(self.v(x))
        return self.o(attend(turned(q), turned(k), v, CAUSAL.bool()).transpose(1, 2).reshape(B, T, D))


class Packed(nn.Module):
    """One projection for query, key and value, cut in three."""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(D, 3 * D), nn.Linear(D, D)

    def forward(self, x):
        q, k, v = (heads(part) for part in self.c_attn(x).split(D, dim=2))
        return self.c_proj(attend(q, k, v, CAUSAL.bool()).transpose(1, 2).contiguous().view(B, T, D))


class Scripted(nn.Module):
    def forward(self, x):
        return torch.softmax(x @ x.transpose(1, 2), -1) @ x


class RightAttention(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.x, self.memory = torch.randn(B, T, D), torch.randn(B, S, D)
        self.q, self.k, self.v = (torch.randn(B, H, T, 4) for _ in range(3))

    def right(self, run, calls=1, name="", given=""):
        """No mistake; `given` is what is said to be taken as given."""
        with self.subTest(name):
            with headlight.watch(keep=headlight.Keep(sentences=2)) as seen:
                run()
            self.assertEqual(len(seen), calls, repr(seen))
            report = seen.check()
            self.assertEqual((report.ok, report.mistakes), (not given, []), str(report))
            self.assertEqual([line.split(": ", 2)[-1] for line in report.unchecked], [given] if given else [], str(report))
            self.assertEqual(report.judged, calls)
        return seen

    def test_the_classes(self):
        x, memory = self.x, self.memory
        tokens_first, memory_first = x.transpose(0, 1), memory.transpose(0, 1)
        split, einsum, packed = SplitAttention(D, H), EinsumAttention(H, D), PackedAttention(D, H)
        for training in (False, True):
            for module in (split, einsum, packed):
                module.train(training)
            for name, mask in (("none", None), ("causal", CAUSAL), ("padding", PAD[:, None, None]),
                               ("both", PAD[:, None, None] * CAUSAL),
                               ("queries too", PAD[:, None, None] & PAD[:, None, :, None])):
                self.right(lambda: split(x, x, x, mask), name=f"split {name} {training}")
            self.right(lambda: split(x, memory, memory, MEMORY_PAD[:, None, None]), name=f"split cross {training}")
            for name, mask in (("none", None), ("causal", CAUSAL[:, :, None]), ("padding", PAD.T[None])):
                self.right(lambda: einsum(tokens_first, tokens_first, tokens_first, mask), name=f"einsum {name} {training}")
            self.right(lambda: einsum(tokens_first, memory_first, memory_first, MEMORY_PAD.T[None]), name="einsum cross")
            self.right(lambda: packed(tokens_first, CAUSAL == 0), name=f"packed {training}")
        lists = ListAttention(D, H)
        self.right(lambda: lists(x[0], x[0], CAUSAL.bool()), name="list")
        self.right(lambda: lists(x[0], memory[0]), name="list cross")
        split.eval()
        self.right(lambda: split(split(x, x, x)[0], x, x), 2, "one module twice")
        layers = nn.ModuleList([SplitAttention(D, H) for _ in range(3)]).eval()

        def stack():
            y = x
            for layer in layers:
                y = y + layer(y, y, y, CAUSAL)[0]
        self.right(stack, 3, "several layers")
        half, double = SplitAttention(D, H).eval().bfloat16(), SplitAttention(D, H).eval().double()
        self.right(lambda: half(x.bfloat16(), x.bfloat16(), x.bfloat16(), CAUSAL), name="bfloat16")
        self.right(lambda: double(x.double(), x.double(), x.double(), CAUSAL), name="float64")

    def test_multihead_attention(self):
        for first in (True, False):
            x, memory = (self.x, self.memory) if first else (self.x.transpose(0, 1), self.memory.transpose(0, 1))
            for training in (True, False):
                module = nn.MultiheadAttention(D, H, batch_first=first, dropout=0.1).train(training)
                for masks in ({}, {"attn_mask": CAUSAL == 0}, {"key_padding_mask": ~PAD},
                              {"attn_mask": nn.Transformer.generate_square_subsequent_mask(T)},
                              {"attn_mask": CAUSAL == 0, "key_padding_mask": ~PAD}):
                    self.right(lambda: module(x, x, x, **masks), name=f"{first} {training} {list(masks)}")
                self.right(lambda: module(x, memory, memory, key_padding_mask=~MEMORY_PAD), name="cross")
                with torch.no_grad():
                    self.right(lambda: module(x, x, x, need_weights=False), name="no_grad",
                               given="not judged" if training else "")      # (eval was forgotten)
        for name, module in (("bias_kv", nn.MultiheadAttention(D, H, add_bias_kv=True, batch_first=True)),
                             ("zero", nn.MultiheadAttention(D, H, add_zero_attn=True, batch_first=True))):
            self.right(lambda: module.eval()(self.x, self.memory, self.memory), name=name)
        other = nn.MultiheadAttention(D, H, kdim=6, vdim=4, batch_first=True).eval()
        self.right(lambda: other(self.x, torch.randn(B, S, 6), torch.randn(B, S, 4)), name="kdim")
        self.right(lambda: nn.MultiheadAttention(D, H).eval()(self.x[0], self.x[0], self.x[0]), name="no batch")

    def test_an_empty_cache(self):
        def run():
            keys, values = (torch.cat([torch.tensor([]), heads(part)], -2) for part in (self.k_proj(self.x), self.v_proj(self.x)))
            attend(heads(self.k_proj(self.x)), keys, values)
        self.k_proj, self.v_proj = nn.Linear(D, D), nn.Linear(D, D)
        self.right(run)

    def test_transformers(self):
        encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(D, H, 16, batch_first=True), 2)
        whole = nn.Transformer(D, H, 2, 2, 16, batch_first=True)
        for training in (True, False):
            with torch.set_grad_enabled(training):
                self.right(lambda: encoder.train(training)(self.x), 2, "encoder")
                self.right(lambda: encoder(self.x, src_key_padding_mask=~PAD), 2, "encoder, padding")
                seen = self.right(lambda: whole.train(training)(
                    self.memory, self.x, tgt_mask=whole.generate_square_subsequent_mask(T),
                    src_key_padding_mask=~MEMORY_PAD, memory_key_padding_mask=~MEMORY_PAD), 6, "encoder and decoder")
            self.assertEqual([call.weights().shape[2:] for call in seen], [(5, 5), (5, 5), (7, 7), (7, 5), (7, 7), (7, 5)])
            self.assertEqual(seen[3].module, "decoder.layers.0.multihead_attn")

    def test_written_in_many_ways(self):
        q, k, v = self.q, self.k, self.v
        slopes = torch.tensor([0.5, 0.25])[:, None, None]
        distance = (torch.arange(T)[None] - torch.arange(T)[:, None]).abs()
        left = (torch.arange(T)[None] >= torch.tensor([0, 2, 3])[:, None])[:, None, None]
        four = torch.randn(B, 4, T, 4)
        tokens = [array.transpose(1, 2) for array in (q, k, v)]

        def einsum(scores, weights, order):
            return torch.einsum(weights, torch.softmax(torch.einsum(scores, order[0], order[1]) / 2, -1), order[2])
        for name, run in {
                "plain": lambda: attend(q, k, v), "causal": lambda: attend(q, k, v, CAUSAL.bool()),
                "a bias for each head": lambda: attend(q, k, v, CAUSAL.bool(), -slopes * distance),
                "one bias": lambda: attend(q, k, v, None, torch.randn(1, 1, T, T)),
                "neighbours only": lambda: attend(q, k, v, NEAR), "left padding": lambda: attend(q, k, v, left),
                "two texts in one": lambda: attend(q, k, v, torch.block_diag(torch.ones(3, 3), torch.ones(4, 4)).bool()),
                "a prefix is seen": lambda: attend(q, k, v, (CAUSAL + (torch.arange(T) < 3)).bool()),
                "one new token": lambda: attend(q[:, :, :1], k, v), "one key head": lambda: attend(q, k[:, :1], v[:, :1]),
                "key heads repeated": lambda: attend(four, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)),
                "bhij": lambda: einsum("bihd,bjhd->bhij", "bhij,bjhd->bihd", tokens),
                "bihj": lambda: einsum("bihd,bjhd->bihj", "bihj,bjhd->bihd", tokens),
                "ellipsis": lambda: einsum("...id,...jd->...ij", "...ij,...jd->...id", (q, k, v)),
                "where, of the scores": lambda: torch.softmax((q @ k.mT / 2).where(CAUSAL.bool(), torch.tensor(-1e9)), -1) @ v,
                "scores transposed": lambda: torch.softmax(k @ q.transpose(-2, -1) / 2, -2).transpose(-2, -1) @ v,
                "rotary": lambda: Rotary()(self.x), "one projection": lambda: Packed()(self.x)}.items():
            seen = self.right(run, name=name, given=GIVEN.get(name, ""))
            self.assertEqual(seen[0].weights().shape[0], B)
            self.assertLess(abs(seen[0].weights().sum(-1) - 1).max(), 1e-5)

    def test_what_is_no_attention(self):
        q, k, v, x = self.q, self.k, self.v, self.x
        for name, run in {
                "classifier": lambda: functional.softmax(nn.Linear(D, 10)(x), -1),
                "similarity": lambda: functional.softmax(x[0] @ x[0].T, -1),
                "linear attention": lambda: q @ (k.transpose(-2, -1) @ v),
                "scripted": lambda: torch.jit.script(Scripted())(x)}.items():
            with self.subTest(name):
                with headlight.watch() as seen:
                    run()
                self.assertEqual(len(seen), 0)
                self.assertFalse(seen.check().ok)
                self.assertIn("no attention seen", str(seen.check()))
                if name == "scripted":
                    self.assertIn("Scripted: compiled code", str(seen.check()))

    def test_only_of_a_decoder_it_is_said_that_tokens_see_later_ones(self):
        for name, decodes in {"BertForMaskedLM": False, "GPTEncoder": False, "TinyGPT": True}.items():
            attention = type(name, (SplitAttention,), {})(D, H).eval()
            with self.subTest(name), headlight.watch() as seen, torch.no_grad():
                attention(self.x, self.x, self.x)
            self.assertEqual("see later ones" in str(seen.check()), decodes, name)

    def test_beside_an_object_that_has_every_name(self):
        class Settings:
            __slots__ = ()

            def __getattr__(self, name):
                return None
        settings, packed = Settings(), nn.Linear(D, 3 * D)
        self.right(lambda: settings.mask or attend(*(one.view(B, 1, T, D) for one in packed(self.x).chunk(3, -1))))

    def test_what_cannot_be_judged_is_said(self):
        with headlight.watch() as seen:
            torch.softmax(torch.sin(self.q @ self.k.transpose(-2, -1) / 2), -1) @ self.v
        report = seen.check()
        self.assertFalse(report.ok)
        self.assertIn("scores pass through sin, which is not followed: not judged", str(report))
        with headlight.watch() as seen:      # weights of one head become those of several
            weights = torch.softmax(self.q[:, :1] @ self.k[:, :1].transpose(-2, -1) / 2, -1)
            (weights * torch.rand(1, H, 1, 1)) @ self.v
        self.assertFalse(seen.check().ok, str(seen.check()))
        with headlight.watch() as seen:      # heads in the place of tokens, one key
            torch.softmax(self.x.view(B, T, 4, 2)[:, 0] @ self.memory[:, :1, :2].mT / 2 ** 0.5, -1) @ self.memory[:, :1, :2]
        self.assertNotIn("expected", str(seen.check()))


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
