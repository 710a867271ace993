"""Each seeded mistake is named, at the line where it stands, and nothing else is; the correct classes have none."""
import contextlib
import importlib.util
import os
import re
import sys
import tempfile
import unittest

from common import HERE, torch
import headlight
import mistakes

BATCH, TOKENS, HEADS, D_MODEL = 2, 5, 3, 12
CAUSAL = torch.ones(TOKENS, TOKENS).tril()


@contextlib.contextmanager
def computed_in(precision):
    """float32; bfloat16, parameters and masks too; or float32 whose products torch rounds to bfloat16."""
    torch.set_default_dtype(torch.bfloat16 if precision == "bfloat16" else torch.float32)
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "autocast"):
            yield
    finally:
        torch.set_default_dtype(torch.float32)


def einsum_call(module, mask):
    attention = module.EinsumAttention(HEADS, D_MODEL).eval()
    x = torch.randn(TOKENS, BATCH, D_MODEL)
    return lambda: attention(x, x, x, mask[:, :, None] if mask is not None else None)


def split_call(module, mask):
    attention = module.SplitAttention(D_MODEL, HEADS).eval()
    x = torch.randn(BATCH, TOKENS, D_MODEL)
    return lambda: attention(x, x, x, mask)


def list_call(module, mask):
    attention = module.ListAttention(D_MODEL, HEADS)
    x = torch.randn(TOKENS, D_MODEL) / 2
    return lambda: attention(x, x, mask.bool())


def packed_call(module, mask):
    attention = module.PackedAttention(D_MODEL, HEADS).eval()
    x = torch.randn(TOKENS, BATCH, D_MODEL)
    return lambda: attention(x, ~mask.bool())


CLASSES = {"einsum_attention": (einsum_call, mistakes.EINSUM), "split_attention": (split_call, mistakes.SPLIT),
           "list_attention": (list_call, mistakes.LISTS), "packed_attention": (packed_call, mistakes.PACKED)}


def line_of(text, piece):
    return text[:text.index(piece)].count("\n") + 1


class SeededMistakes(unittest.TestCase):
    def found_in(self, name, text, call, precision, masked=True):
        """What the report says of a class with this text: (text, file, line) of each mistake."""
        path = os.path.join(self.folder, f"{name}_{abs(hash(text))}.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        torch.manual_seed(3)
        with computed_in(precision):
            run = call(module, CAUSAL.to(torch.get_default_dtype()) if masked else None)
            with headlight.watch(keep=headlight.Keep(sentences=1)) as seen:
                run()
        report = seen.check()
        self.assertEqual(len(seen), 1, f"{name}: {seen!r}")
        lines = [line for line in report.unchecked if "NaN in the weights" not in line]      # (their place)
        meant = [line for line in lines if line.endswith(": intended? taken as given")]
        self.assertEqual([line for line in lines if line not in meant], [])
        return [(mistake.text, mistake.file == path, mistake.line) for mistake in report.mistakes] + [
            (line.split(": ", 1)[1], line.startswith(path), None) for line in meant], report.ok

    def test_each_mistake_is_named_at_its_line(self):
        self.look("float32")

    def test_in_half_precision(self):
        self.look("bfloat16")
        self.look("autocast")

    def look(self, precision):
        for name, (call, table) in CLASSES.items():
            with open(os.path.join(HERE, "classes", name + ".py"), encoding="utf-8") as file:
                right = file.read()
            self.assertGreaterEqual(len(table), 20)
            with self.subTest(name, precision=precision, mistake="none"):
                self.assertEqual(self.found_in(name, right, call, precision), ([], True))
            for seeded in table:
                with self.subTest(name, precision=precision, mistake=seeded.name):
                    self.assertIn(seeded.right, right)
                    wrong = right.replace(seeded.right, seeded.wrong, 1)
                    line = line_of(wrong, seeded.at) if seeded.at else line_of(right, seeded.right)
                    found, ok = self.found_in(name, wrong, call, precision, seeded.masked)
                    self.assertFalse(ok)
                    self.assertEqual(len(found), 1, found)
                    text, in_file, at = found[0]
                    self.assertRegex(text, re.compile(seeded.found + r"\Z"))
                    self.assertTrue(in_file)
                    self.assertEqual(at, None if "intended" in seeded.found else line)

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()


T = TOKENS
UPPER = CAUSAL == 0
BOTH = torch.stack([UPPER, UPPER | (torch.arange(T) == 0)[None] & (torch.arange(T)[:, None] > 0)])

# Calls of torch.nn.MultiheadAttention and of layers of torch.nn.Transformer with a mistake in how they are used.
USES = [
    ("attn_mask true where it may attend", {"attn_mask": CAUSAL.bool()}, "mask inverted"),
    ("attn_mask transposed", {"attn_mask": UPPER.T}, "causal mask off by one: the diagonal is blocked|mask inverted"
                                                     "|mask transposed"),
    ("attn_mask of the other triangle", {"attn_mask": torch.ones(T, T).tril(-1).bool()}, "mask transposed"),
    ("attn_mask blocks the diagonal", {"attn_mask": torch.ones(T, T).triu(0).bool()},
     "causal mask off by one: the diagonal is blocked"),
    ("attn_mask shows the next token", {"attn_mask": torch.ones(T, T).triu(2).bool()},
     "causal mask off by one: each query attends to the next token"),
    ("attn_mask of 0 and 1", {"attn_mask": CAUSAL}, "a mask of 0 and 1 is added to the scores, .*"),
    ("attn_mask of 0 and 1, upper", {"attn_mask": UPPER.float()}, "a mask of 0 and 1 is added to the scores, .*"),
    ("attn_mask of 0 and -1", {"attn_mask": -UPPER.float()}, "blocked scores are -1 lower, in place of -inf"),
    ("attn_mask of 0 and -1e-9", {"attn_mask": -1e-9 * UPPER.float()}, "blocked scores are -1e-09 lower, in place of -inf"),
    ("attn_mask of 0 and -10", {"attn_mask": -10 * UPPER.float()}, "blocked scores are -10 lower, in place of -inf"),
    ("float attn_mask inverted", {"attn_mask": torch.zeros(T, T).masked_fill(CAUSAL.bool(), -torch.inf)}, "mask inverted"),
    ("float attn_mask transposed", {"attn_mask": torch.zeros(T, T).masked_fill(UPPER.T, -torch.inf)}, "mask transposed"),
    ("float attn_mask off by one", {"attn_mask": torch.zeros(T, T).masked_fill(torch.ones(T, T).triu(2).bool(), -torch.inf)},
     "causal mask off by one: each query attends to the next token"),
    ("masks in the order of heads", {"attn_mask": BOTH.repeat(HEADS, 1, 1)}, "masks of other sentences: .*"),
    ("key_padding_mask true where it may attend",
     {"key_padding_mask": torch.tensor([[True] * 5, [True, True, True, False, False]])}, "mask inverted"),
    ("a sentence of nothing but padding", {"key_padding_mask": torch.tensor([[False] * 5, [True] * 5])},
     "5 queries may attend to nothing: the weights are NaN"),
    ("causal and inverted padding", {"attn_mask": UPPER, "key_padding_mask": torch.tensor([[True] * 2 + [False] * 3] * 2)},
     r"2 queries may attend to nothing: the weights are NaN"),
    ("padding on the queries", {"attn_mask": torch.tensor([[False] * 5] * 3 + [[True] * 5] * 2)}, "mask transposed"),
]


class Wrapped(torch.nn.Module):
    """A block as it is usually written, in which the masks can be forgotten."""

    def __init__(self, uses_mask, trains=False):
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(D_MODEL, HEADS, dropout=0.3, batch_first=True)
        self.eval()
        self.attention.train(trains)
        self.uses_mask = uses_mask

    def forward(self, x, mask):
        given = mask if self.uses_mask else None
        return self.attention(x, x, x, attn_mask=given)[0]


class UsesOfTorch(unittest.TestCase):
    def report(self, run):
        torch.manual_seed(0)
        with headlight.watch(keep=headlight.Keep(sentences=2)) as seen:
            run()
        self.assertEqual(len(seen), 1)
        return seen.check()

    def named_here(self, report, text):
        self.assertEqual(len(report.mistakes), 1, str(report))
        self.assertRegex(report.mistakes[0].text, re.compile(text + r"\Z"))
        self.assertEqual(os.path.basename(report.mistakes[0].file), "test_mistakes.py")
        with open(__file__, encoding="utf-8") as file:
            return file.read().splitlines()[report.mistakes[0].line - 1]

    def test_multihead_attention(self):
        x = torch.randn(BATCH, TOKENS, D_MODEL)
        # From torch 2.5 on the fused kernel has zeros where a query may attend to nothing, and no weights that are NaN.
        safe = torch.__version__ >= "2" and not torch.nn.functional.scaled_dot_product_attention(
            x, x, x, torch.zeros(TOKENS, TOKENS, dtype=torch.bool)).isnan().any()
        for fast in (False, True):
            for name, masks, text in (use for use in USES if not safe or "may attend to nothing" not in use[2]):
                with self.subTest(name, fast=fast), torch.set_grad_enabled(not fast):
                    attention = torch.nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True).eval()
                    report = self.report(lambda: attention(x, x, x, need_weights=False, **masks))
                    self.assertIn("attention(x, x, x, need_weights", self.named_here(report, text))

    def test_layers(self):
        x = torch.randn(BATCH, TOKENS, D_MODEL)
        layer = torch.nn.TransformerEncoderLayer(D_MODEL, HEADS, 16, batch_first=True).eval()
        for mask, text in ((CAUSAL.bool(), "mask inverted"), (UPPER.T, "mask transposed"),
                           (CAUSAL, "a mask of 0 and 1 is added to the scores, .*")):
            report = self.report(lambda: layer(x, src_mask=mask))
            self.assertIn("layer(x, src_mask=mask)", self.named_here(report, text))

    def test_in_a_module(self):
        x = torch.randn(BATCH, TOKENS, D_MODEL)
        right = self.report(lambda: Wrapped(True)(x, UPPER))
        self.assertTrue(right.ok, str(right))
        forgotten = self.report(lambda: Wrapped(False)(x, UPPER))
        self.assertIn("self.attention(x, x, x", self.named_here(forgotten, "mask missing"))
        dropping = self.report(lambda: Wrapped(True, trains=True)(x, UPPER))
        self.assertIn("self.attention(x, x, x", self.named_here(dropping, "dropout left on .*"))


class WithoutAProjection(unittest.TestCase):
    def test_heads_side_by_side(self):
        x, packed = torch.randn(BATCH, TOKENS, D_MODEL), torch.nn.Linear(D_MODEL, 3 * D_MODEL)
        for join, said in ((lambda z: z.transpose(1, 2).reshape(x.shape), ""), (lambda z: z[:, :, -1].flatten(1), ""),
                           (lambda z: z.reshape(x.shape).view(z.shape), ""), (lambda z: z.permute(2, 0, 1, 3).flatten(2), ""),
                           (lambda z: z.reshape(x.shape), "heads not transposed back before they are put side by side")):
            with torch.no_grad(), headlight.watch() as seen:
                q, k, v = (one.view(BATCH, TOKENS, HEADS, -1).transpose(1, 2) for one in packed(x).chunk(3, -1))
                join((q @ k.mT / 2).softmax(-1) @ v)
            report = seen.check()
            self.assertEqual((report.ok, [str(one).split(": ", 1)[-1] for one in report.mistakes]),
                             (not said, [said] * bool(said)), str(report))


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False, verbosity=1).result.wasSuccessful())
