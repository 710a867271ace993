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

PROGRAM = os.environ["HEADLIGHT"]
GOLDEN = os.path.join(common.ROOT, "tests", "golden")
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
        self.assertIn("sink", refused(*SMALL, "--sinks", "--dialect", "module"))

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

    def test_refusals(self):
        def refused(*words):
            done = headlight("code", *words)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertEqual(done.stdout, "")
            return done.stderr
        self.assertIn("rotary", refused(*SMALL, "--position", "rotary", "--dialect", "module"))
        self.assertIn("dropout", refused(*SMALL, "--dropout", "0.5", "--dialect", "module"))
        self.assertIn("--layer", refused(*SMALL, "--layer", "9"))
        self.assertIn(".py", refused(*SMALL, "-o", self.path("x.txt")))
        tensors = os.path.join(GOLDEN, "tensors-self-6", "input.safetensors")
        self.assertIn("--block", refused(tensors, "--block"))
        attention = self.path("attention.json")
        headlight("export", *SMALL, "-o", attention)
        self.assertIn("another program", refused(attention))


if __name__ == "__main__":
    unittest.main()
