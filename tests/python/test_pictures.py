"""Models that see pictures, of each family: what the program answers to a picture, against PyTorch. The one that comes
along: what was measured of it."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from common import ROOT, need, torch

need("PIL")

import numpy as np  # noqa: E402

import headlight  # noqa: E402

RECIPE, SHAPES = os.path.join(ROOT, "assets", "recipes", "shapes"), os.path.join(ROOT, "assets", "models", "shapes")
sys.path[:0] = [os.path.join(ROOT, "tests", "golden"), RECIPE]

import draw  # noqa: E402  (assets/recipes/shapes/draw.py, examples.py, measure.py, train.py)
import examples  # noqa: E402
import measure  # noqa: E402
import pictures  # noqa: E402  (tests/golden/pictures.py)
import train  # noqa: E402
from PIL import Image  # noqa: E402


class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.work.cleanup)
        cls.names = pictures.make(cls.work.name)

    def export(self, name, picture="picture.png", asked=()):
        out = os.path.join(self.work.name, "answer.npz")
        asked = asked or ["--picture", os.path.join(self.work.name, picture)]
        run = subprocess.run([headlight.program(), "export", os.path.join(self.work.name, name), *asked, "--format", "npz",
                              "--output", out], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        return dict(np.load(out))

    def agree(self, found, expected):
        self.assertEqual(found["attentions"].shape, expected["attentions"].shape)
        self.assertLessEqual(np.abs(found["attentions"] - expected["attentions"]).max(), 1e-5)
        found["embeddings"] = found["hidden_states"][0]
        for name in ("embeddings", "last_hidden_state"):
            self.assertEqual(found[name].shape, expected[name].shape, name)
            self.assertLessEqual(np.abs(found[name] - expected[name]).max(), 2e-5 * np.abs(expected[name]).max(), name)

    def test_every_family(self):
        for name in self.names:
            with self.subTest(name):
                self.agree(self.export(name), np.load(os.path.join(self.work.name, name, "expected.npz")))

    def command(self, *words):
        run = subprocess.run([headlight.program(), *words, "--format", "json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def test_classes_of_every_classifier(self):
        """Their logits and probabilities, under their names; and what each token of the last block brings back of
        another picture's answer, by patching it and by the gradient, is what PyTorch says."""
        path, other = (os.path.join(self.work.name, name) for name in ("picture.png", "grey.png"))
        pictures.picture().convert("L").convert("RGB").save(other)
        seen = 0
        for name in self.names:
            folder = os.path.join(self.work.name, name)
            expected = np.load(os.path.join(folder, "expected.npz"))
            if "logits" not in expected:
                continue
            with self.subTest(name):
                found = self.export(name)
                np.testing.assert_allclose(found["logits"], expected["logits"][None], rtol=1e-4, atol=1e-5)
                with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
                    config = json.load(file)
                shares = {row["text"]: row["probability"] for row in self.command("next", folder, "--picture", path)["classes"]}
                softmax = torch.softmax(torch.tensor(expected["logits"]), 0).numpy()
                for number, label in config["id2label"].items():
                    self.assertAlmostEqual(shares[label], softmax[int(number)], delta=1e-5)
                asked = ["patch", folder, "--picture", path, "--from", f"--picture {other}", "--at", "residual", "--at-layers",
                         str(len(expected["attentions"]) - 1), "--answers", "0,1", "--metric", "logit-difference"]
                cells = self.command(*asked)["cells"]
                clean, corrupt = (torch.tensor(one["hidden_states"][-1], dtype=torch.float64)
                                  for one in (found, self.export(name, "grey.png")))
                patches = expected["pixels"][..., 0].size // config["patch_size"] ** 2

                def apart(hidden):
                    logits = pictures.classes_of(folder, hidden, patches)
                    return logits[0] - logits[1]

                corrupt.requires_grad_()
                begin, end = apart(corrupt), apart(clean)
                begin.backward()
                for cell, guess in zip(cells, self.command(*asked, "--estimate")["cells"], strict=True):
                    mixed = corrupt.detach().clone()
                    mixed[cell["token"]] = clean[cell["token"]]
                    restored = ((apart(mixed) - begin) / (end - begin)).item()
                    self.assertAlmostEqual(cell["restored"], restored, delta=2e-4 * max(1, abs(restored)))
                    slope = corrupt.grad[cell["token"]] @ (clean - corrupt)[cell["token"]] / (end - begin)
                    self.assertAlmostEqual(guess["estimate"], slope.item(), delta=2e-4 * max(1, abs(slope.item())))
                seen += 1
        self.assertEqual(seen, 8)

    def test_check_compares_with_a_reference_of_pixels(self):
        """With pixel_values what PyTorch was given; with a picture what the program makes of it, too."""
        folder, expected = os.path.join(self.work.name, "dinov2-classes"), {}
        for name, array in np.load(os.path.join(folder, "expected.npz")).items():
            expected["pixel_values" if name == "pixels" else name] = array
        expected["pixel_values"] = expected["pixel_values"].transpose(2, 0, 1)[None]
        del expected["embeddings"]
        reference = os.path.join(folder, "reference.npz")
        np.savez(reference, **expected)
        try:
            self.assertTrue(self.command("check", folder)["agrees_with_reference"])
            with_picture = self.command("check", folder, "--picture", os.path.join(self.work.name, "picture.png"))
            self.assertTrue(with_picture["agrees_with_reference"])
            self.assertTrue(any("pixel_values: as the reference" in one["line"] for one in with_picture["findings"]))
            for asked, wrong in ((["--picture", os.path.join(SHAPES, "..", "..", "pictures", "shapes-1.png")], "pixel_values"),
                                 ([], "logits")):
                np.savez(reference, **{**expected, "logits": expected["logits"] + (0.1 if wrong == "logits" else 0)})
                run = subprocess.run([headlight.program(), "check", folder, *asked], capture_output=True, text=True, timeout=60)
                self.assertEqual(run.returncode, 1)
                self.assertRegex(run.stdout, f"error +reference.npz: {wrong}: expected differences of at most")
            del expected["pixel_values"]
            np.savez(reference, **expected)
            run = subprocess.run([headlight.program(), "check", folder], capture_output=True, text=True, timeout=60)
            self.assertRegex(run.stdout, r"pixel_values: expected \(3, 24, 40\), found none")
        finally:
            os.remove(reference)

    def test_the_part_that_reads_texts(self):
        for name in ("clip", "siglip"):
            for source, more in ((name, ["--part", "text"]), (f"{name}#part=text", [])):
                weights = self.export(source, asked=[*more, "--ids", "5,9,3"])["attentions"]
                self.assertEqual(weights.shape, (2, 4, 3, 3))
                self.assertEqual(bool(weights[0, 0, 0, 1] == 0), name == "clip", "CLIP's mask is causal, SigLIP has none")

    def test_a_picture_and_texts_in_the_space_of_clip(self):
        """The formulas of CLIPModel: the class token normed, the text at its largest id, both projected, to length 1."""
        folder, texts = os.path.join(self.work.name, "clip"), ("5,9,3", "7,39,2,1", "1,1,1,1,1,30")
        t = {name: array.astype(np.float64) for name, array in pictures.read_tensors(os.path.join(folder, "model.safetensors")).items()}
        one = np.load(os.path.join(folder, "expected.npz"))["last_hidden_state"][0].astype(np.float64)
        norm = (one - one.mean()) / np.sqrt(one.var() + 1e-5)
        norm = norm * t["vision_model.post_layernorm.weight"] + t["vision_model.post_layernorm.bias"]
        picture = t["visual_projection.weight"] @ norm
        cosines = []
        for ids in texts:
            hidden = self.export("clip", asked=["--part", "text", "--ids", ids])["last_hidden_state"].astype(np.float64)
            text = t["text_projection.weight"] @ hidden[np.argmax(list(map(int, ids.split(","))))]
            cosines.append(text @ picture / np.linalg.norm(text) / np.linalg.norm(picture))
        logits = np.exp(t["logit_scale"].item()) * np.array(cosines)
        shares = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
        words = [headlight.program(), "similarity", folder, "--picture", os.path.join(self.work.name, "picture.png")]
        for ids in texts:
            words += ["--with", f"--ids {ids}"]
        run = subprocess.run([*words, "--format", "json"], capture_output=True, text=True, check=True, timeout=60)
        self.assertNotIn("not used", run.stderr)
        found = json.loads(run.stdout)
        self.assertGreater(np.ptp(logits), 0.2, "texts that are hardly told apart show nothing")
        for name, expected in (("cosine", cosines), ("logit", logits), ("probability", shares)):
            np.testing.assert_allclose([row[name] for row in found], expected, rtol=1e-4, atol=2e-5, err_msg=name)
        refused = subprocess.run([headlight.program(), "similarity", os.path.join(self.work.name, "siglip"), *words[3:]],
                                 capture_output=True, text=True, timeout=60)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("model_type: expected clip", refused.stderr)

    def test_another_picture(self):
        """Higher than wide: where the shorter side is resized to a number, the other way round."""
        path = os.path.join(self.work.name, "high.png")
        pictures.picture().rotate(90, expand=True).save(path)
        for name in ("vit-classes", "dinov2", "dinov3_vit", "clip"):
            with self.subTest(name):
                self.agree(self.export(name, "high.png"), pictures.answer(os.path.join(self.work.name, name), path))


class Shapes(unittest.TestCase):
    def test_what_was_measured(self):
        with open(os.path.join(SHAPES, "measured.json"), encoding="utf-8") as file:
            stored = json.load(file)
        found = measure.measured(train.load(SHAPES), stored["seed"], stored["pictures"])
        self.assertAlmostEqual(found["right"], stored["right"], delta=0.003)
        with open(os.path.join(SHAPES, "README.md"), encoding="utf-8") as file:
            card = file.read()
        for row, known in zip(found["heads"], stored["heads"], strict=True):
            for key in ("shape", "self", "near"):
                self.assertAlmostEqual(row[key], known[key], delta=0.003, msg=known["head"])
            self.assertIn(measure.line(known), card)

    def test_other_pictures_measure_the_same(self):
        with open(os.path.join(SHAPES, "measured.json"), encoding="utf-8") as file:
            stored = json.load(file)
        other = measure.measured(train.load(SHAPES), 5, 200)
        self.assertAlmostEqual(stored["right"], other["right"], delta=0.1)
        for row, own in zip(stored["heads"], other["heads"]):
            for key in ("shape", "self", "near"):
                self.assertAlmostEqual(row[key], own[key], delta=0.1, msg=row["head"])

    def test_example_pictures_are_drawn_and_named(self):
        model = train.load(SHAPES)
        for number, seed in enumerate(examples.SEEDS, 1):
            scene = draw.scenes(seed, 1)
            path = os.path.join(ROOT, "assets", "pictures", f"shapes-{number}.png")
            apart = np.asarray(Image.open(path)).astype(int) - draw.rendered(scene, examples.SIDE)[0][0]
            self.assertLessEqual(np.abs(apart).max(), 1)
            logits = measure.asked(model, scene)[0]
            self.assertEqual(logits.argmax(), scene["kind"][0])

    def test_the_program_agrees(self):
        path = os.path.join(ROOT, "assets", "pictures", "shapes-2.png")
        with tempfile.TemporaryDirectory() as work:
            out = os.path.join(work, "answer.npz")
            subprocess.run([headlight.program(), "export", "shipped:shapes", "--picture", path, "--output", out],
                           check=True, timeout=60)
            found, expected = np.load(out), pictures.answer(SHAPES, path)
            self.assertLessEqual(np.abs(found["attentions"] - expected["attentions"]).max(), 1e-5)
        with torch.no_grad():  # the recipe's own model is a second implementation
            picture = np.asarray(Image.open(path).resize((train.SIDE, train.SIDE), 2))
            logits, attention = train.load(SHAPES)(train.normalised(picture[None]))
        self.assertLessEqual(np.abs(attention[0].numpy() - expected["attentions"]).max(), 1e-5)
        self.assertLessEqual(np.abs(logits[0].numpy() - expected["logits"]).max(), 1e-4)


if __name__ == "__main__":
    unittest.main()
