"""A watch changes nothing of what it watches, and proves it."""
import contextlib
import copy
import importlib
import itertools
import math
import random
import sys
import threading
import unittest

from common import torch
import headlight
import numpy
import torch.utils.checkpoint

nn = torch.nn
B, T, D, H = 3, 6, 16, 4
EQUAL = "output as without the watch: equal to the bit"
CAUSAL = torch.ones(T, T).tril().bool()
KEPT = {"maps": [], "calls": 0}


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


class Keeping(Attention):
    """Keeps what it saw outside of itself, and draws numbers of Python and NumPy, as where layers are dropped."""
    calls, last = 0, []

    def forward(self, x):
        KEPT["calls"] += 1
        KEPT["maps"].append(float(x.sum()))
        Keeping.calls += 1
        self.last[:] = [Keeping.calls]
        return super().forward(x) * random.random() * float(numpy.random.rand())


class After(nn.Module):
    def __init__(self, change):
        super().__init__()
        self.change = change

    def forward(self, x):
        return self.change(x)


class Around(nn.Module):
    def __init__(self, attention, change):
        super().__init__()
        self.attention, self.change = attention, change

    def forward(self, x):
        return self.change(self.attention, x)


def equal_parts(value):
    """What is the same for values that are equal to the bit."""
    if isinstance(value, (list, tuple, dict)):
        return [equal_parts(one) for one in (value.items() if isinstance(value, dict) else value)]
    if not torch.is_tensor(value):
        return str(value)
    if value.is_nested:
        return equal_parts(value.unbind())
    value = (value.int_repr() if value.is_quantized else value.to_dense() if value.is_sparse else value).detach()
    return str(value.dtype), tuple(value.shape), value.float().numpy().tobytes()


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

    def test_the_mask_that_was_forgotten(self):
        whole, y = nn.Transformer(D, H, 2, 2, 32, batch_first=True).eval(), torch.randn(B, 5, D)
        pad = torch.arange(T)[None] >= torch.tensor([6, 4, 2])[:, None]
        for more, said in (({}, "memory_key_padding_mask is not handed over (src_key_padding_mask would hide it)"),
                           ({"memory_key_padding_mask": pad}, "")):
            with torch.no_grad():
                _, _, report = report_of(lambda: whole(self.x, y, tgt_mask=~CAUSAL[:5, :5], src_key_padding_mask=pad, **more))
            self.assertEqual((report.mistakes, report.unchecked != []), ([], said != ""), str(report))
            self.assertIn(said, str(report))

    def test_an_empty_sentence_hides_nothing_else(self):
        encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(D, H, 32, batch_first=True), 2).eval()
        pad = torch.arange(T)[None] >= torch.tensor([6, 0, 3])[:, None]
        with torch.no_grad():
            _, _, report = report_of(lambda: encoder(self.x, src_key_padding_mask=pad))
        self.assertNotIn("changes nothing", str(report))

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

    def test_what_is_kept_outside_and_drawn_elsewhere_is_as_without_a_watch(self):
        module, found = Keeping().eval(), []
        for watched in (False, True):
            KEPT.update(maps=[], calls=0)
            Keeping.calls, Keeping.last[:] = 0, []
            random.seed(0)
            numpy.random.seed(0)
            with torch.no_grad(), headlight.watch() if watched else contextlib.nullcontext() as seen:
                out = module(self.x)
            if watched:
                seen.check()
            found.append((out.tolist(), dict(KEPT), Keeping.calls, [*Keeping.last], random.random(), numpy.random.rand()))
        self.assertEqual(found[0], found[1])

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

    def test_what_comes_out_is_the_same(self):
        """Whatever goes in, comes out or is raised; by functions of an attention `a` and an input `x`."""
        nested, many, found = torch.nested.nested_tensor([self.x[0, :3], self.x[1, :5]]), itertools.count(), []

        def within(change, of=lambda x: x):
            """A module around the attention, that is handed `of` the input."""
            return lambda a, x: Around(a, change)(of(x))

        def of_nested(a, n):
            q, k, v = (one(n).view(2, -1, H, D // H).transpose(1, 2) for one in (a.q, a.k, a.v))
            z = (q * 0.5).matmul(k.transpose(-2, -1)).softmax(-1).matmul(v)
            return torch.nested.to_padded_tensor(a.o(z.transpose(1, 2).reshape(2, -1, D)), 0.0)

        def removed(register):
            """A hook that removes itself where it runs, and what the next call gives."""
            def run(a, x):
                hooks = [getattr(a, register)(lambda *_: hooks[0].remove())]
                return a(x), a(x)
            return run

        def counted(a, x):
            hook = nn.modules.module.register_module_forward_hook(lambda *_: found.append(next(many)))
            try:
                before, out = len(found), a(x)
                return out, torch.tensor(len(found) - before)
            finally:
                hook.remove()

        def in_threads(a, x):
            outs = [None] * 3
            threads = [threading.Thread(target=lambda at=at: outs.__setitem__(at, a(x + at))) for at in range(3)]
            for one in threads:
                one.start()
            here = a(x)
            for one in threads:
                one.join()
            return here, *outs

        def trained(a, x):
            a = copy.deepcopy(a).train()
            a(x).square().sum().backward()
            return [one.grad for one in a.parameters()]
        quantized, cell = (lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)), torch.eye(D)[1] == 1
        runs = {
            "nested": lambda a, x: Around(a, of_nested)(nested), "nested out": lambda a, x: Around(a, lambda a, n: n)(nested),
            "complex": within(lambda a, x: (torch.complex(x, x) @ torch.complex(x, x.flip(1)).mT).abs().softmax(-1) @ x),
            "quantized": within(lambda a, x: a(x.dequantize()), quantized), "quantized out": within(lambda a, x: quantized(a(x))),
            "hook": removed("register_forward_hook"), "hook before": removed("register_forward_pre_hook"), "hook of all": counted,
            "threads": in_threads, "gradient": trained, "checkpoint": lambda a, x: torch.utils.checkpoint.checkpoint(a, x),
            "inference": lambda a, x: torch.inference_mode()(a)(x), "autocast": lambda a, x: torch.autocast("cpu", torch.bfloat16)(a)(x),
            "no tensor": within(lambda a, x: a(x) is None), "none": within(lambda a, x: [a(x), None, {"a": (x, "b")}][1:]),
            "sparse": within(lambda a, x: a(x).to_sparse()), "subclass": lambda a, x: a(x.as_subclass(type("Own", (torch.Tensor,), {}))),
            "NaN": lambda a, x: a(x * torch.nan), "NaN in a column": lambda a, x: a(x.masked_fill(cell, torch.nan)),
            "infinite": lambda a, x: a(x * torch.inf), "no sentence": within(lambda a, x: (x @ x.mT).softmax(-1) @ x, lambda x: x[:0]),
            "no token": within(lambda a, x: (x @ x.mT).softmax(-1) @ x, lambda x: x[:, :0]), "in place": within(lambda a, x: a(x.mul_(2)), torch.clone),
            "raised inside": within(lambda a, x: a(x) / (1 // 0)), "another shape": lambda a, x: a(x[..., 1:]), "text": lambda a, x: a("text"),
            "no more": within(lambda a, x: next(iter(()))), "ended": within(lambda a, x: (a(x), sys.exit(3)))}
        if hasattr(torch, "compile"):
            runs["compiled"] = lambda a, x: torch.compile(a, backend="eager")(x)
        if hasattr(torch, "jagged"):
            runs["jagged"] = lambda a, x: Around(a, lambda a, n: n)(torch.nested.nested_tensor([*x], layout=torch.jagged))
        for name, run in runs.items():
            def outcome():
                torch.manual_seed(0)
                try:
                    return run(Attention().eval(), self.x.clone())
                except BaseException as error:      # (that of the caller's, and SystemExit)
                    return repr(error)
            with self.subTest(name):
                plain, watched, report = report_of(outcome)
                self.assertIsNone(torch.overrides._get_current_function_mode())
                self.assertEqual(equal_parts(plain), equal_parts(watched))
                self.assertEqual(report.mistakes, [], str(report))
                self.assertNotIn("could not be followed", str(report))
                if "NaN" in name:
                    self.assertNotIn("changes nothing", str(report))

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

    def test_memory_that_nothing_was_written_to(self):
        """PyTorch before 2.0: small products of baddbmm are added to 0 · the memory as it was found, here NaN."""
        q, k, v = (torch.randn(2, 3, 4) for _ in range(3))
        scores = torch.full((2, 3, 3), math.nan)
        with headlight.watch() as seen:
            torch.baddbmm(torch.zeros(2, 3, 3), q, k.transpose(1, 2), beta=0, alpha=0.5, out=scores)
            torch.softmax(scores, -1) @ v
        report = seen.check()
        self.assertEqual(report.mistakes, [], str(report))
        if scores.isnan().any():
            self.assertIn("what baddbmm(beta=0) gives is not finite", str(report))
        else:
            self.assertEqual(report.judged, 1, str(report))

    def test_memory_that_is_given_back_early(self):
        q, k, v = (torch.randn(2, 3, 4) for _ in range(3))
        with headlight.watch() as seen:
            scores = q @ k.transpose(1, 2) / 2
            q.storage().resize_(0)
            out = torch.softmax(scores, -1) @ v
        self.assertTrue(torch.equal(out, torch.softmax(scores, -1) @ v))
        self.assertIn("expected memory that is still there, found 0 bytes of it", str(seen.check()))

    def test_eval_is_missing(self):
        with torch.no_grad():
            _, _, report = report_of(lambda: nn.MultiheadAttention(D, H, 0.3, batch_first=True)(self.x, self.x, self.x))
        self.assertEqual(report.mistakes, [])
        self.assertIn("dropout of 0.3 was on without a gradient", str(report))

    def test_what_mixes_heads_is_not_judged(self):
        mix, x = nn.Linear(H, H), torch.randn(B, T, D)
        for where in ("before", "behind"):
            with self.subTest(where), torch.no_grad():
                q, k, v = (one.view(B, T, H, -1).transpose(1, 2) for one in nn.Linear(D, 3 * D)(x).chunk(3, -1))
                with headlight.watch() as seen:
                    scores = q @ k.transpose(-2, -1) / (D // H) ** 0.5
                    scores = mix(scores.permute(0, 2, 3, 1)).permute(0, 3, 1, 2) if where == "before" else scores
                    weights = scores.softmax(-1)
                    weights = mix(weights.permute(0, 2, 3, 1)).permute(0, 3, 1, 2) if where == "behind" else weights
                    weights @ v
                report = seen.check()
                self.assertEqual(report.mistakes, [])
                self.assertRegex(str(report), "scores pass through linear, which is not followed: not judged")
                self.assertFalse(report.ok)

    def test_what_is_mapped_is_left_alone(self):
        try:
            vmap = torch.vmap if hasattr(torch, "vmap") else importlib.import_module("functorch").vmap
        except ImportError:
            self.skipTest("vmap")
        module, x = Attention().eval(), torch.randn(B, 1, T, D)
        with headlight.watch() as seen, torch.no_grad():
            mapped = vmap(lambda one: (module.q(one) @ module.k(one).transpose(-2, -1)).softmax(-1) @ module.v(one))(x)
        self.assertEqual(mapped.shape, x.shape)
        self.assertIn("torch.vmap and functorch cannot be followed", str(seen.check()))
        self.assertFalse(seen.check().ok)


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
