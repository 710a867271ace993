"""A live model of transformers is a source: look-alikes of GPT-2, BERT and Llama answer as the program does."""
import contextlib
import json
import math
import os
import pickle
import shutil
import sys
import tempfile
import types
import unittest
from unittest import mock

import numpy as np

from common import ROOT, torch
import headlight

nn = torch.nn
IDS = [3, 1, 4, 1, 5, 9, 2, 6]


class Config:
    def __init__(self, **fields):
        self.__dict__.update(fields)

    def to_dict(self):
        return dict(self.__dict__, torch_dtype=torch.float32)      # what json does not know


class Named(nn.Module):
    """Parameters with these names and shapes, and the config."""

    def __init__(self, shapes, **fields):
        super().__init__()
        self.config, self.shapes = Config(**fields), shapes
        self.values = {name: torch.randn(shape) / 4 + (1 if "orm.weight" in name or "ln_" in name and "weight" in name else 0)
                       for name, shape in shapes.items()}

    def state_dict(self, *_, **__):
        return self.values


def heads(x, count):
    return x.view(len(x), count, -1).transpose(0, 1)


class Gpt2(Named):
    def __init__(self, d=8):
        layer = {"ln_1.weight": (d,), "ln_1.bias": (d,), "attn.c_attn.weight": (d, 3 * d), "attn.c_attn.bias": (3 * d,),
                 "attn.c_proj.weight": (d, d), "attn.c_proj.bias": (d,), "ln_2.weight": (d,), "ln_2.bias": (d,),
                 "mlp.c_fc.weight": (d, 4 * d), "mlp.c_fc.bias": (4 * d,), "mlp.c_proj.weight": (4 * d, d), "mlp.c_proj.bias": (d,)}
        super().__init__({"transformer.wte.weight": (16, d), "transformer.wpe.weight": (32, d), "transformer.ln_f.weight": (d,),
                          "transformer.ln_f.bias": (d,), **{f"transformer.h.0.{name}": shape for name, shape in layer.items()}},
                         model_type="gpt2", architectures=["GPT2LMHeadModel"], n_embd=d, n_layer=1, n_head=2, vocab_size=16,
                         n_positions=32, n_ctx=32, layer_norm_epsilon=1e-5, activation_function="gelu_new")

    def attentions(self, ids):
        w = {name.split("transformer.")[1]: value for name, value in self.values.items()}
        x = w["wte.weight"][ids] + w["wpe.weight"][:len(ids)]
        x = nn.functional.layer_norm(x, x.shape[-1:], w["h.0.ln_1.weight"], w["h.0.ln_1.bias"])
        q, k, _ = (heads(part, 2) for part in (x @ w["h.0.attn.c_attn.weight"] + w["h.0.attn.c_attn.bias"]).chunk(3, -1))
        scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
        return scores.masked_fill(torch.ones(len(ids), len(ids)).triu(1).bool(), -math.inf).softmax(-1)


class Bert(Named):
    def __init__(self, d=8):
        pair = {"weight": (d,), "bias": (d,)}
        square = {"weight": (d, d), "bias": (d,)}
        parts = {"attention.self.query": square, "attention.self.key": square, "attention.self.value": square,
                 "attention.output.dense": square, "attention.output.LayerNorm": pair,
                 "intermediate.dense": {"weight": (4 * d, d), "bias": (4 * d,)}, "output.dense": {"weight": (d, 4 * d), "bias": (d,)},
                 "output.LayerNorm": pair}
        shapes = {f"bert.encoder.layer.0.{part}.{name}": shape for part, own in parts.items() for name, shape in own.items()}
        shapes.update({f"bert.embeddings.{part}_embeddings.weight": (size, d)
                       for part, size in (("word", 16), ("position", 32), ("token_type", 2))})
        super().__init__({**shapes, **{f"bert.embeddings.LayerNorm.{name}": shape for name, shape in pair.items()}},
                         model_type="bert", architectures=["BertModel"], hidden_size=d, num_hidden_layers=1,
                         num_attention_heads=2, intermediate_size=4 * d, vocab_size=16, max_position_embeddings=32,
                         type_vocab_size=2, layer_norm_eps=1e-12, hidden_act="gelu")

    def attentions(self, ids):
        w = {name[5:]: value for name, value in self.values.items()}
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:len(ids)] + \
            w["embeddings.token_type_embeddings.weight"][0]
        x = nn.functional.layer_norm(x, x.shape[-1:], w["embeddings.LayerNorm.weight"], w["embeddings.LayerNorm.bias"], 1e-12)
        q, k = (heads(nn.functional.linear(x, w[f"encoder.layer.0.attention.self.{name}.weight"],
                                           w[f"encoder.layer.0.attention.self.{name}.bias"]), 2) for name in ("query", "key"))
        return (q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])).softmax(-1)


class Llama(Named):
    def __init__(self, d=16):
        layer = {"input_layernorm.weight": (d,), "self_attn.q_proj.weight": (d, d), "self_attn.k_proj.weight": (d // 2, d),
                 "self_attn.v_proj.weight": (d // 2, d), "self_attn.o_proj.weight": (d, d),
                 "post_attention_layernorm.weight": (d,), "mlp.gate_proj.weight": (32, d), "mlp.up_proj.weight": (32, d),
                 "mlp.down_proj.weight": (d, 32)}
        super().__init__({"model.embed_tokens.weight": (16, d), "model.norm.weight": (d,), "lm_head.weight": (16, d),
                          **{f"model.layers.0.{name}": shape for name, shape in layer.items()}}, model_type="llama",
                         architectures=["LlamaForCausalLM"], hidden_size=d, num_hidden_layers=1, num_attention_heads=4,
                         num_key_value_heads=2, intermediate_size=32, vocab_size=16, max_position_embeddings=64,
                         rms_norm_eps=1e-6, rope_theta=10000.0, hidden_act="silu", tie_word_embeddings=False)
        self.values = {name: value.bfloat16() for name, value in self.values.items()}

    def attentions(self, ids):
        w = {name: value.float() for name, value in self.values.items()}
        x = w["model.embed_tokens.weight"][ids]
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w["model.layers.0.input_layernorm.weight"]
        q = heads(x @ w["model.layers.0.self_attn.q_proj.weight"].T, 4)
        k = heads(x @ w["model.layers.0.self_attn.k_proj.weight"].T, 2).repeat_interleave(2, 0)
        angle = torch.arange(len(ids))[:, None] * 10000.0 ** (-torch.arange(0, 4, 2) / 4)
        angle = torch.cat([angle, angle], -1)
        q, k = (y * angle.cos() + torch.cat([-y[..., 2:], y[..., :2]], -1) * angle.sin() for y in (q, k))
        scores = q @ k.transpose(1, 2) / 2
        return scores.masked_fill(torch.ones(len(ids), len(ids)).triu(1).bool(), -math.inf).softmax(-1)


class Tokenizer:
    """That of the shipped decoder, or its look-alike."""
    TEXT = json.dumps({"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"},
                       "post_processor": None, "decoder": None, "model": {"type": "WordLevel", "unk_token": "u", "vocab": {
                           name: at for at, name in enumerate(["u", *"abcdefghijklmno"])}}})

    def save_pretrained(self, folder):
        with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as file:
            file.write(self.TEXT)


class Live(unittest.TestCase):
    def test_look_alikes(self):
        for kind in (Gpt2, Bert, Llama):
            with self.subTest(kind.__name__):
                torch.manual_seed(3)
                model = kind()
                with headlight.open(model) as source:
                    found = headlight.export(source=source, ids=IDS)["attentions"]
                    folder = str(source)
                wanted = model.attentions(torch.tensor(IDS)).numpy()
                self.assertLess(abs(found.reshape(wanted.shape) - wanted).max(), 1e-5)
                self.assertFalse(os.path.exists(folder))

    def test_a_model_that_saves_itself(self):
        """As transformers 5 does: names and config on disk are not those of the running model."""
        class Saved(Gpt2):
            def save_pretrained(self, folder):
                plain = Gpt2()
                plain.values = self.values
                with headlight.open(plain) as source:
                    shutil.copytree(str(source), folder, dirs_exist_ok=True)

            def state_dict(self, *_, **__):
                return {"fused." + name: value for name, value in self.values.items()}
        torch.manual_seed(3)
        model = Saved()
        wanted = model.attentions(torch.tensor(IDS)).numpy()
        found = headlight.export(source=headlight.open(model), ids=IDS)["attentions"]
        self.assertLess(abs(found.reshape(wanted.shape) - wanted).max(), 1e-5)

    def test_with_its_tokenizer_in_all_functions(self):
        torch.manual_seed(3)
        backend = types.SimpleNamespace(to_str=lambda: Tokenizer.TEXT)
        for tokenizer in (Tokenizer(), types.SimpleNamespace(backend_tokenizer=backend), backend):
            source = headlight.open(Gpt2(), tokenizer)
            self.assertEqual(headlight.export("c a d", source)["attentions"].shape, (1, 2, 3, 3))
        self.assertEqual(len(headlight.next("c a d", source)), len(headlight.next("c a d", source)))
        self.assertEqual(len(headlight.heads("c a d", source)["heads"]), 2)
        self.assertTrue(headlight.generate("c a d", source, count=1))
        self.assertTrue(headlight.lens("c a d", source) and headlight.why("c a d", source, head="0.0", query=2, key=1))
        self.assertTrue(headlight.patch("c a d", source, from_="--text 'c b d'", at="heads"))
        self.assertEqual([len(one["tokens"]) for one in headlight.lines(["c a", "d a b"], source)], [2, 3])
        with tempfile.TemporaryDirectory() as folder:
            path = headlight.figure("c a d", source, view="head", head="0.0", output=os.path.join(folder, "head.svg"))
            self.assertIn("<svg", path.read_text(encoding="utf-8"))

    def test_show(self):
        source = headlight.open(Gpt2())
        with mock.patch.dict(os.environ, {"DISPLAY": ":99"}), mock.patch("subprocess.Popen") as window:
            source.show()
            self.assertEqual(window.call_args[0][0][1:], ["open", str(source)])

    def test_refuses_in_one_line(self):
        source = headlight.open(Gpt2())
        source.close()
        for run in (lambda: headlight.open(nn.Linear(2, 2)), lambda: headlight.open(Gpt2(), 5), lambda: headlight.open(Gpt2(), "/none"),
                    lambda: headlight.export(source=source, ids=IDS)):
            with self.assertRaises(headlight.Error) as caught:
                run()
            self.assertNotIn("\n", str(caught.exception))


class OneLine(unittest.TestCase):
    """Whatever goes wrong is headlight.Error, in one line."""

    def refused(self, run, name=""):
        with self.subTest(name):
            with self.assertRaises(headlight.Error) as caught:
                run()
            self.assertEqual(len(str(caught.exception).splitlines()), 1, str(caught.exception))

    def test_programs_and_folders(self):
        with mock.patch.dict(os.environ, {"HEADLIGHT": "/bin/true"}):
            self.refused(lambda: headlight.export("a"), "a program that writes nothing")
            self.refused(lambda: headlight.heads("a"), "the same, JSON")
            self.refused(lambda: headlight.check(query=np.eye(3), weights=np.eye(3)), "the same, diagnose")
        self.refused(lambda: headlight.export("a", help=True), "help")
        for folder in ("/nonexistent", "/proc", "/dev/full"):
            with mock.patch.object(tempfile, "tempdir", folder):
                self.refused(lambda: headlight.export("a"), folder)
                self.refused(lambda: list(headlight.lines(["a"])), folder)
                self.refused(lambda: headlight.open(Gpt2()), folder)
        for folder in ("/etc/passwd", "/proc/x"):
            self.refused(lambda: headlight.log(1, np.eye(3), folder), folder)

    def test_values(self):
        self.refused(lambda: headlight.export("\ud800"), "surrogate")
        self.refused(lambda: headlight.export("a", text_b="\ud800"), "surrogate in an option")
        self.refused(lambda: headlight.export("a", source="a\0b"), "null")
        with tempfile.TemporaryDirectory() as folder:
            path = headlight.log(1, np.eye(3), folder, tokens=["a", "\ud800", "b"])
            self.assertIn("\ufffd".encode(), path.read_bytes())      # what is no text has the sign for that
        self.refused(lambda: headlight.check(query=np.eye(3), weights=np.eye(3), state_dict=[1]), "state_dict")
        self.refused(lambda: headlight.watch(5), "watch(5)")
        self.refused(lambda: headlight.watch(keep="x"), "keep")
        seen = headlight.watch()
        self.refused(lambda: pickle.dumps(seen), "pickle")
        report = headlight.check(query=np.eye(3), weights=np.full((3, 3), 1 / 3))
        self.assertEqual(str(pickle.loads(pickle.dumps(report))), str(report))
        errors = [one for one in headlight.lines(["the cat sat", "", "\ud800"]) if "error" in one]
        self.assertEqual([one["code"] for one in errors], ["bad_value", "not_utf8"])


    def test_numbers_that_are_none(self):
        ragged = [[0.1, 0.9], [1.0]]
        meta = torch.empty(1, 3, 3, device="meta")
        for name, run in {
                "ragged weights": lambda: headlight.check(query=np.eye(2), weights=ragged),
                "a number as output": lambda: headlight.check(query=np.eye(3), output=5),
                "no language": lambda: headlight.check(query=np.eye(3), weights=np.eye(3), language=None),
                "meta": lambda: headlight.show(meta),
                "half a step": lambda: headlight.log(1.5, np.eye(3), "/proc/x"),
                "lists": lambda: headlight.attention(None, num_heads=1, state_dict={"q": [object()]}),
                "a long path": lambda: headlight.export("a", source="x" * 100000)}.items():
            self.refused(run, name)
            with self.assertRaises(headlight.Error) as caught:
                run()
            self.assertLess(len(str(caught.exception)), 1200, name)
        with headlight.watch() as seen:
            torch.softmax(torch.randn(1, 4, 2) @ torch.randn(1, 2, 4), -1) @ torch.randn(1, 4, 2)
        self.refused(lambda: seen.attentions(float("nan")), "a sentence that is no number")
        self.refused(lambda: seen.attentions(np.eye(2)), "an array as sentence")

    def test_devices_and_links(self):
        with tempfile.TemporaryDirectory() as folder:
            real, link, pipe = (os.path.join(folder, name) for name in ("real.html", "link.html", "pipe"))
            with open(real, "w") as file:
                file.write("old")
            os.symlink("real.html", link)
            os.mkfifo(pipe)
            headlight.Page("<html>").save(link)
            self.assertTrue(os.path.islink(link))
            with open(real) as file:
                self.assertEqual(file.read(), "<html>")
            headlight.Page("<html>").save("/dev/null")
            self.assertFalse(os.path.isfile("/dev/null"))
            self.refused(lambda: headlight.Page("<html>").save("/dev/full"), "a full device")
            self.refused(lambda: headlight.Page("<html>").save(pipe), "a pipe that nothing reads")
            self.refused(lambda: headlight.Page("<html>").save(folder), "a folder")
            self.assertEqual(sorted(os.listdir(folder)), ["link.html", "pipe", "real.html"])
        self.refused(lambda: headlight.open(Gpt2(), "/dev/full"), "a tokenizer without an end")
        seen = headlight.watch()
        self.refused(lambda: seen.check(expect="/dev/zero"), "a config without an end")


class Raises(nn.Module):
    def forward(self, x):
        raise KeyError("mine")


class NothingIsThrown(unittest.TestCase):
    """Whatever happens inside of a watch, the forward pass goes on bit for bit."""

    def same(self, run, name="", exact=True):
        """The caller's numbers, bit for bit; not `exact`: where torch may run a layer as one kernel, which a watch opens."""
        with self.subTest(name):
            torch.manual_seed(0)
            wanted = run()
            torch.manual_seed(0)
            with headlight.watch() as seen:
                found = run()
            self.assertEqual(torch.is_tensor(found), torch.is_tensor(wanted))
            if not wanted.is_meta:
                self.assertTrue(torch.equal(wanted, found) if exact else torch.allclose(wanted, found, atol=1e-6))
            return seen, seen.check()

    def test_modules(self):
        x = torch.randn(2, 5, 16)
        for training in (True, False):
            for grad in (True, False):
                attention = nn.MultiheadAttention(16, 4, 0.3, batch_first=True).train(training)
                layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, 0.3, batch_first=True), 2).train(training)
                with torch.set_grad_enabled(grad):
                    self.same(lambda: attention(x, x, x)[0], f"attention {training} {grad}")
                    self.same(lambda: layers(x), f"layers {training} {grad}", exact=training or grad)

    def test_meta(self):
        x = torch.randn(2, 5, 16, device="meta")
        seen, report = self.same(lambda: torch.softmax(x @ x.transpose(1, 2) / 4, -1) @ x, "by hand")
        self.same(lambda: nn.MultiheadAttention(16, 4, batch_first=True, device="meta")(x, x, x)[0], "a module")
        self.assertFalse(report.ok)
        self.assertIn("tensors on the device meta cannot be followed", str(report))

    def test_a_watch_that_fails(self):
        x = torch.randn(2, 5, 16)
        for name in ("_on_softmax", "_on_product", "_on_move", "_on_other"):
            with mock.patch.object(headlight.seen.Seen, name, side_effect=ZeroDivisionError("inside")):
                seen, report = self.same(lambda: torch.tanh(torch.softmax(x @ x.transpose(1, 2) / 4, -1) @ x.view(2, 5, 16)), name)
                self.assertIn("could not be followed (ZeroDivisionError: inside)", str(report)) if name != "_on_other" else None
        with mock.patch("headlight.follow._opened", side_effect=ZeroDivisionError):
            attention = nn.MultiheadAttention(16, 4, 0.3, batch_first=True)
            self.same(lambda: attention(x, x, x)[0], "an attention that is not opened")
        with mock.patch.object(headlight.seen.Seen, "_keep_call", side_effect=ZeroDivisionError):
            self.same(lambda: torch.softmax(x @ x.transpose(1, 2) / 4, -1), "at the end")
        with mock.patch("headlight.seen._Captured", side_effect=ZeroDivisionError("numbers")):
            _, report = self.same(lambda: torch.softmax(x @ x.transpose(1, 2) / 4, -1) @ x, "in check")
            self.assertIn("could not be read, not judged (numbers)", str(report))

    def test_the_caller_s_own_failures(self):
        x = torch.randn(2, 5, 16)
        with self.assertRaises(KeyError), headlight.watch():
            Raises()(x)
        hook = nn.Linear(16, 16)
        hook.register_forward_hook(lambda *_: 1 / 0)
        with self.assertRaises(ZeroDivisionError), headlight.watch():
            hook(x)
        with self.assertRaises(TypeError), headlight.watch():
            list(iter(torch.tensor(1.0)))
        with self.assertRaises(AssertionError), headlight.watch():
            nn.MultiheadAttention(16, 4)(x[..., :8], x, x)

    def test_autocast_vmap_and_fork(self):
        x = torch.randn(2, 5, 16)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.same(lambda: torch.softmax(x @ x.transpose(1, 2) / 4, -1) @ x, "autocast")
        with contextlib.suppress(ImportError):
            from functorch import vmap
            self.same(lambda: vmap(lambda one: torch.softmax(one @ one.T / 4, -1) @ one)(x), "vmap")
        if hasattr(torch, "compile"):
            def attend(y):
                return torch.softmax(y @ y.transpose(1, 2) / 4, -1) @ y
            self.same(lambda: torch.compile(attend, backend="eager")(x), "compiled", exact=False)
            if hasattr(torch.compiler, "set_stance"):      # as they are written, and so they are judged
                attention = torch.compile(nn.MultiheadAttention(16, 4, batch_first=True).eval(), backend="eager")
                for run in (lambda: torch.compile(attend, backend="eager")(x), lambda: attention(x, x, x)[0]):
                    seen, report = self.same(run, "compiled and judged", exact=False)
                    self.assertEqual((len(seen), report.ok), (1, True), str(report))
        with headlight.watch() as seen:
            child = os.fork()
            if child == 0:
                torch.softmax(x @ x.transpose(1, 2), -1) @ x
                os._exit(len(seen._calls))
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            torch.softmax(x @ x.transpose(1, 2) / 4, -1) @ x
        self.assertEqual(len(seen), 1)

    def test_nested(self):
        if not hasattr(torch, "nested_tensor"):
            return
        x = torch.nested_tensor([torch.randn(3, 4), torch.randn(2, 4)])
        with headlight.watch() as seen:
            self.assertTrue(x.is_nested and torch.nested_tensor([torch.ones(2, 2)]).is_nested)
        self.assertFalse(seen.check().ok)

    def test_memory_is_bounded(self):
        x = torch.randn(2, 64, 32)
        with headlight.watch(keep=headlight.Keep(memory=100_000)) as seen:
            for _ in range(50):
                torch.softmax(x @ x.transpose(1, 2) / 32 ** 0.5, -1) @ x
        self.assertLess(len(seen), 10)
        self.assertIn(f"{50 - len(seen)} further calls not kept", str(seen.check()))


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
