"""The programs that `headlight code` writes, run: in every dialect they compute what Headlight computes."""
import contextlib
import io
import itertools
import json
import os
import pathlib
import runpy
import subprocess
import sys
import tempfile
import unittest

import common  # noqa: F401
import numpy as np
import torch
from einsum_attention import EinsumAttention
from split_attention import SplitAttention

PROGRAM = os.environ["HEADLIGHT"]
GOLDEN = os.path.join(common.ROOT, "tests", "golden")
CLASSES = os.path.join(common.HERE, "classes")
DIALECTS = ("numpy", "einsum", "matmul", "module")
SENTENCE = "我请李雷帮我订了去北京的机票"
SMALL = ["--random", "--d-model", "16", "--num-heads", "4", "--ffn", "24"]


def headlight(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True)


class Code(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, *words):
        file = self.path("program.py")
        done = headlight("code", *words, "-o", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        return file

    def run_file(self, file, status=0):
        """In this process, which has imported torch already."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), self.assertRaises(SystemExit) as ended:
            runpy.run_path(file, run_name="__main__")
        self.assertEqual(ended.exception.code, status, f"{printed.getvalue()}\n{pathlib.Path(file).read_text()}")
        return printed.getvalue()

    def test_a_file_runs_by_itself(self):
        for dialect in DIALECTS:
            file = self.write("--text", SENTENCE, "--layer", "1", "--dialect", dialect)
            done = subprocess.run([sys.executable, file], capture_output=True, text=True, cwd="/")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("largest difference", done.stdout)

    def agrees(self, *words, dialects=DIALECTS, block=(False, True)):
        for dialect, whole in itertools.product(dialects, block):
            with self.subTest(dialect=dialect, block=whole, words=words):
                flags = ["--dialect", dialect] + (["--block"] if whole else [])
                self.assertIn("largest difference", self.run_file(self.write(*words, *flags)))

    def test_encoder(self):
        self.agrees(*SMALL, "--text", SENTENCE, "--layer", "1")

    def test_the_shipped_model(self):
        self.agrees("--text", SENTENCE, "--layer", "1")

    def test_the_shipped_model_of_any_sentence(self):
        self.agrees("--text", "The cat sat on the mat.", "--layer", "3")

    def test_decoder_is_causal(self):
        self.agrees(*SMALL, "--arch", "decoder", "--norm", "pre", "--activation", "gelu", "--text", SENTENCE)

    def test_encoder_decoder(self):
        words = [*SMALL, "--arch", "encoder-decoder", "--text", SENTENCE, "--target", "I asked Li Lei"]
        for stack in ("encoder", "self", "cross"):
            self.agrees(*words, "--stack", stack, "--layer", "1")

    def test_batch_with_padding(self):
        self.agrees(*SMALL, "--text", "我爱你\n" + SENTENCE + "\n他要走了")

    def test_batch_of_a_decoder(self):
        self.agrees(*SMALL, "--arch", "decoder", "--mask", "causal+padding", "--text", "我爱你\n" + SENTENCE)

    def test_batch_of_an_encoder_decoder(self):
        self.agrees(*SMALL, "--arch", "encoder-decoder", "--stack", "cross", "--text", "我爱你\n" + SENTENCE,
                    "--target", "I love you\nhe said it to me")

    def test_sinks_caps_and_partial_rotation(self):
        words = [*SMALL, "--arch", "decoder", "--sinks", "--softcap", "1.5", "--scale", "2", "--text",
                 "我爱你\n" + SENTENCE]
        self.agrees(*words, dialects=DIALECTS[:3])
        self.agrees(*words, "--position", "rotary", "--rotary-columns", "2", dialects=DIALECTS[:3])

    def test_grouped_queries_and_rotary_positions(self):
        words = [*SMALL, "--arch", "decoder", "--num-kv-heads", "2", "--norm-type", "rms", "--norm", "pre", "--gated",
                 "--activation", "silu", "--no-bias", "--text", SENTENCE]
        self.agrees(*words)
        self.agrees(*words, "--position", "rotary", dialects=DIALECTS[:3])

    def test_biases(self):
        for bias in ("query", "value,output", "key,ffn"):
            self.agrees(*SMALL, "--bias", bias, "--text", SENTENCE, block=(True,))
        self.agrees(*SMALL, "--no-bias", "--activation", "gelu-tanh", "--text", SENTENCE)

    def test_scale_and_heads_off(self):
        self.agrees(*SMALL, "--scale", "0.9", "--off", "0.1,0.3", "--text", SENTENCE)
        self.agrees(*SMALL, "--off", "0.1", "--off-as", "mean", "--text", SENTENCE, dialects=DIALECTS[:3])

    def test_dropout_and_weights_set_by_hand(self):
        self.agrees(*SMALL, "--dropout", "0.3", "--dropout-seed", "5", "--text", SENTENCE, dialects=DIALECTS[:3])
        self.agrees(*SMALL, "--weight", "0.1.2.3=0.75", "--weight", "0.1.2.4=0.5", "--weight", "0.0.1.1=0.25",
                    "--dropout", "0.2", "--text", SENTENCE, dialects=DIALECTS[:3])

    def test_given_masks(self):
        tokens = len(json.loads(headlight("export", *SMALL, "--text", SENTENCE).stdout)["tokens"])
        allowed = np.tri(tokens, dtype=bool)
        allowed[3] = False  # a query that may attend to nothing
        added = np.linspace(-2, 2, tokens, dtype=np.float32)[None].repeat(tokens, 0)
        for mask in (allowed, added):
            np.save(self.path("mask.npy"), mask)
            self.agrees(*SMALL, "--mask", self.path("mask.npy"), "--text", SENTENCE)

    def test_a_row_that_may_attend_to_nothing_has_three_answers(self):
        tokens = len(json.loads(headlight("export", *SMALL, "--text", SENTENCE).stdout)["tokens"])
        allowed = np.ones((tokens, tokens), dtype=bool)
        allowed[2] = False
        np.save(self.path("mask.npy"), allowed)
        for dialect in DIALECTS[:3]:
            file = self.write(*SMALL, "--mask", self.path("mask.npy"), "--text", SENTENCE, "--dialect", dialect)
            lines = self.run_file(file).replace("\n       ", " ").splitlines()
            said = {line.split(":")[0]: line for line in lines if ":" in line}
            self.assertIn("nan", said["-inf and the softmax"])
            self.assertNotIn("nan", said["zeros, as here"])
            self.assertIn(str(round(1 / tokens, 4)), said["-1e9 and the softmax"])

    def test_checkpoints(self):
        for name, ids in (("bert", "2,5,9,4"), ("gpt2", "3,7,7,1"), ("llama-gqa", "3,7,2,1")):
            dialects = DIALECTS[:3] if name.startswith("llama") else DIALECTS
            self.agrees(os.path.join(GOLDEN, name), "--ids", ids, "--layer", "1", dialects=dialects)
        for name in ("gpt_neox", "falcon-7b", "phi", "olmo2"):
            self.agrees(os.path.join(GOLDEN, "family-" + name), "--ids", "3,7,2,1", "--layer", "1",
                        dialects=DIALECTS[:3], block=(True,))
        self.agrees(os.path.join(GOLDEN, "family-t5"), "--ids", "3,7,2", "--decoder-ids", "0,4,6",
                    dialects=DIALECTS[:3])

    def test_tensors_files(self):
        for name in ("tensors-self-6", "tensors-cross-4x6", "tensors-pad-8", "tensors-causal-7"):
            self.agrees(os.path.join(GOLDEN, name, "input.safetensors"), dialects=DIALECTS, block=(False,))

    def test_a_changed_input_is_noticed(self):
        for dialect in DIALECTS:
            file = self.write(*SMALL, "--text", SENTENCE, "--dialect", dialect)
            with np.load(self.path("program.npz")) as stored:
                arrays = dict(stored)
            arrays["W_Q"] = arrays["W_Q"] * 1.01
            np.savez(self.path("program.npz"), **arrays)
            self.run_file(file, status=1)

    def test_every_line_states_the_shape_that_its_tensor_has(self):
        words = [*SMALL, "--num-kv-heads", "2", "--text", "我爱你\n" + SENTENCE, "--block"]
        for dialect in DIALECTS:
            file = self.write(*words, "--dialect", dialect)
            checked = []
            for line in pathlib.Path(file).read_text().splitlines(keepends=True):
                checked.append(line)
                statement, _, comment = line.partition("  # (")
                if comment and " = " in statement and not statement.startswith("#"):
                    names = statement.split(" = ")[0].split("[")[0].split(", ")[0]
                    checked.append(f"assert tuple({names}.shape) == ({comment.partition(')')[0]}), {names!r}\n")
            pathlib.Path(file).write_text("".join(checked))
            self.assertGreater(sum(line.startswith("assert") for line in checked), 20)
            self.run_file(file)

    def test_odd_sizes(self):
        for tokens, words in (("|".join(f"w{i}" for i in range(33)), ["--d-model", "12", "--num-heads", "3"]),
                              ("我|😀|\"", ["--d-model", "5", "--num-heads", "1"]),
                              ("我", ["--d-model", "12", "--num-heads", "3", "--head-dim", "5"])):
            self.agrees("--random", "--layers", "1", "--ffn", "7", *words, "--tokens", tokens, block=(True,),
                        dialects=DIALECTS[:3] if "--head-dim" in words else DIALECTS)

    def test_large_scores_and_masks_that_add(self):
        np.save(self.path("mask.npy"), np.float32([[0, -np.inf, 2], [-1e9, 0, 0], [-np.inf] * 3]))
        for scale in ("3000", "-300", "0"):
            self.agrees(*SMALL, "--scale", scale, "--tokens", "我|爱|你", "--mask", self.path("mask.npy"),
                        block=(False,))

    def test_masks_with_an_axis_for_sentences(self):
        words = [*SMALL, "--text", "我爱你\n小猫饿坏了"]
        sentences, tokens = 2, len(json.loads(headlight("export", *words).stdout)["batch"][0]["tokens"])
        each = np.stack([np.tril(np.ones((tokens, tokens), bool), k) for k in range(sentences)])
        for mask in (each.transpose(1, 2, 0), each[:1], each[:, :1], each.astype(np.float32) * 3):
            np.save(self.path("mask.npy"), mask)
            self.agrees(*words, "--mask", self.path("mask.npy"), block=(False,))

    def test_masks_of_heads(self):
        words = [*SMALL, "--text", "我爱你\n小猫饿坏了"]
        tokens = len(json.loads(headlight("export", *words).stdout)["batch"][0]["tokens"])
        random = np.random.default_rng(3)
        each = random.normal(size=(2, 4, tokens, tokens)).astype(np.float32)
        each[(random.random(each.shape) < 0.3) & ~np.eye(tokens, dtype=bool)] = -np.inf
        rows = random.normal(size=(4, 1, tokens)).astype(np.float32)      # as of ALiBi
        for mask in (each, each[:1], each[0], rows, np.isfinite(each).reshape(-1, tokens, tokens)):
            np.save(self.path("mask.npy"), mask)
            self.agrees(*words, "--mask", self.path("mask.npy"), block=(False,))
        each[1, 2, 2] = -np.inf      # a query that may attend to nothing, in one head
        np.save(self.path("mask.npy"), each)
        self.agrees(*words, "--mask", self.path("mask.npy"), dialects=DIALECTS[:3])
        done = headlight("code", *words, "--mask", self.path("mask.npy"), "--dialect", "module")
        self.assertIn("query 2, which may attend in some heads", done.stderr)

    def traced(self, module, *inputs):
        """Every tensor that a line of the module's methods makes."""
        made = []

        def look(frame, event, _):
            made.extend(value.detach().clone() for value in frame.f_locals.values() if torch.is_tensor(value))
            return look if frame.f_code.co_filename.startswith(CLASSES) else None

        def enter(frame, event, _):
            return look if frame.f_code.co_filename.startswith(CLASSES) else None
        sys.settrace(enter)
        try:
            with torch.no_grad():
                made.append(module(*inputs))
        finally:
            sys.settrace(None)
        return [one[0] if isinstance(one, tuple) else one for one in made]

    def test_the_classes_agree_line_by_line(self):
        """What a line of the einsum class, or of the class that splits heads, makes is what a line of the program makes,
        and of each sentence it is what the view shows."""
        batch = [*SMALL, "--text", "我爱你\n小猫饿坏了\n他请李雷帮他订了去上海的机票", "--mask", "causal+padding"]
        cross = [*SMALL, "--arch", "encoder-decoder", "--text", "我爱你\n小猫饿坏了", "--target", "I love you\nthe cat",
                 "--stack", "cross"]
        for words, dialect in itertools.product((batch, cross), ("einsum", "matmul")):
            with self.subTest(words=words, dialect=dialect):
                file = self.write(*words, "--dialect", dialect)
                program, steps = {"__file__": file}, []
                for line in pathlib.Path(file).read_text().split("\nweights_difference")[0].split("\n"):
                    exec(line, program)
                    if "  # (" in line and not line.startswith(("#", "assert")):
                        steps.append((line, program[line.split(" = ")[0]].clone()))
                x, memory, mask = program["x"], program.get("memory", program["x"]), program.get("mask")
                if dialect == "einsum":
                    module = EinsumAttention(4, 16, 0)
                    layers = [module.query.linear, module.key.linear, module.value.linear, module.output]
                else:
                    module = SplitAttention(16, 4, 0)
                    layers = [module.W_q, module.W_k, module.W_v, module.W_o]
                    mask = None if mask is None else mask.unsqueeze(1)
                with torch.no_grad():
                    for layer, name in zip(layers, "QKVO"):
                        layer.weight.copy_(program["W_" + name])
                        layer.bias.copy_(program["b_" + name])
                of_class = self.traced(module, x, memory, memory, mask)
                checked = 0
                for line, tensor in steps:
                    if "data[" in line or ".masked_fill" in line and dialect == "matmul":
                        continue  # inputs; -1e9 there, -inf here, the same weights
                    alike = [other for other in of_class if other.shape == tensor.shape and other.dtype == tensor.dtype]
                    near = min((float((other - tensor).abs().nan_to_num(0).max()) for other in alike), default=9)
                    # The product before the scale is no line of its own in a class that scales at once.
                    if near > 2e-5 and line.startswith("dot"):
                        continue
                    self.assertLess(near, 2e-5, line)
                    checked += 1
                self.assertGreaterEqual(checked, 10)
                self.assert_shown(words, program, dialect)

    def assert_shown(self, words, program, dialect):
        """q, k, v, scores and weights of each sentence are those of the views."""
        stack = words[words.index("--stack") + 1] + "_" if "--stack" in words else ""
        words = [word for word in words if word not in ("--stack", "cross")]
        file = self.path("shown.npz")
        done = headlight("export", *words, "--with", "qkv,scores", "-o", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = np.load(file)
        names = {"queries": "q", "keys": "k", "values": "v", "attentions": "weights"}
        for array, tensor in names.items():
            values = program[tensor].numpy()
            values = values.transpose((2, 3, 0, 1) if array == "attentions" else (1, 2, 0, 3)) \
                if dialect == "einsum" else values
            for b, sentence in enumerate(values):
                expected = shown[f"{b}.{stack}{array}"][0]
                self.assertLess(float(np.abs(sentence - expected).max()), 2e-5, f"{array} of sentence {b}")

    def test_refusals(self):
        def refused(*words):
            done = headlight("code", *words)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertEqual(done.stdout, "")
            return done.stderr
        self.assertIn("sink", refused(*SMALL, "--sinks", "--dialect", "module"))
        self.assertIn("rotary", refused(*SMALL, "--position", "rotary", "--dialect", "module"))
        self.assertIn("dropout", refused(*SMALL, "--dropout", "0.5", "--dialect", "module"))
        moe = os.path.join(GOLDEN, "family-qwen3_moe")
        self.assertIn("a mixture of experts", refused(moe, "--ids", "3,7,2,1", "--block"))
        self.assertIn("DeBERTa", refused(os.path.join(GOLDEN, "family-deberta-v2"), "--ids", "3,7,2,1"))
        np.save(self.path("w_o.npy"), np.ones((4, 5)))
        with open(self.path("x.txt"), "w") as file:
            file.write("1 2 3 4\n5 6 7 8\n")
        self.assertIn("W_O with 5", refused("--x", self.path("x.txt"), "--w-o", self.path("w_o.npy"),
                                            "--dialect", "module"))
        self.assertIn("--layer", refused(*SMALL, "--layer", "9"))
        self.assertIn(".py", refused(*SMALL, "-o", self.path("x.txt")))
        tensors = os.path.join(GOLDEN, "tensors-self-6", "input.safetensors")
        self.assertIn("--block", refused(tensors, "--block"))
        attention = self.path("attention.json")
        headlight("export", *SMALL, "-o", attention)
        self.assertIn("another program", refused(attention))


if __name__ == "__main__":
    unittest.main()
