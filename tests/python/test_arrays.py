"""The arrays of patch, lens, why, generate and figure: their names, their shapes, and numbers that hold among them."""
import os
import tempfile
import unittest

import numpy as np

import common
import headlight

DECODER, CLEAN, CORRUPT = "shipped:decoder", "我请李雷帮我喝了最好的", "我请李雷帮我看了最好的"
PAIRS = [(CLEAN, CORRUPT), (CORRUPT, "我请李雷帮我订了最好的")]


def patch(at, **options):
    return headlight.patch(CLEAN, DECODER, from_=f"--text {CORRUPT}", at=at, **options)


class Arrays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.answer = headlight.export(CLEAN, DECODER, with_="scores")
        cls.layers, cls.heads, cls.tokens = cls.answer["attentions"].shape[:3]

    def test_patch_has_the_maps_of_transformer_lens(self):
        """(layers, heads) of z, q, k, v and pattern, (layers, tokens) of resid_post and mlp_out."""
        for at in ("heads", "q", "k", "v", "pattern"):
            with self.subTest(at):
                found = patch(at)
                self.assertEqual(found["restored_map"].shape, (self.layers, self.heads))
                self.assertEqual(found["restored_map"].dtype, np.float32)
                np.testing.assert_array_equal(found["restored_map"].ravel(), found["restored"])
                np.testing.assert_array_equal(found["places"][:, :2], np.argwhere(np.ones((self.layers, self.heads))))
                self.assertEqual(list(found["tokens"]), list(patch("heads")["tokens"]))
        for at in ("residual", "ffn"):
            with self.subTest(at):
                self.assertEqual(patch(at)["restored_map"].shape, (self.layers, self.tokens))
        every = np.zeros((self.layers, self.tokens))
        every[-1, -1] = 1
        np.testing.assert_allclose(patch("residual")["restored_map"][-1], every[-1], atol=1e-5)
        by_token = patch("heads", at_tokens="all")["restored_map"]
        self.assertEqual(by_token.shape, (self.layers, self.heads, self.tokens))

    def test_patch_says_what_was_measured(self):
        found = patch("heads", metric="probability", answers="牛奶", direction="both", control="random:6")
        self.assertEqual(list(found["metric"]), ["probability of 牛奶"])
        for name in ("restored_map", "lost_map"):
            self.assertEqual(found[name].shape, (self.layers, self.heads))
        self.assertEqual(found["control"].shape, (6,))
        self.assertTrue(set(found["control"]) <= set(found["restored"]), "of a whole map one place at a time")
        token = headlight.next(CLEAN, DECODER, token="牛奶")["tokens"][0]
        self.assertAlmostEqual(float(found["clean"][0]), token["probability"], places=6)

    def test_a_study_has_every_value(self):
        with tempfile.TemporaryDirectory() as folder:
            pairs = os.path.join(folder, "pairs.csv")
            with open(pairs, "w", encoding="utf-8") as file:
                file.writelines(",".join(row) + "\n" for row in [("clean", "corrupt"), *PAIRS])
            rows = os.path.join(folder, "rows")
            found = headlight.patch(source=DECODER, pairs=pairs, at="heads", resume=rows)
            read = headlight.study(rows)
            with self.assertRaisesRegex(headlight.Error, "what --resume wrote"):
                headlight.study(pairs)
        self.assertEqual(list(read["rows"]), [1, 2])
        for name in {*found, *read}:
            np.testing.assert_array_equal(read[name], found[name])
        statistics, values = list(found["statistics"]), found["values"]
        self.assertEqual(values.shape, (len(found["what"]), len(PAIRS)))
        clean, corrupt = (values[found["what"] == name][0] for name in ("clean", "corrupt"))
        shares = ~np.isin(found["what"], ("clean", "corrupt"))
        # A share is that of the mean differences, not the mean of the pairs' shares.
        means = np.where(shares, values @ (clean - corrupt) / (clean - corrupt).sum(), values.mean(1))
        for name, of_rows in (("mean", means), ("median", np.median(values, 1))):
            np.testing.assert_allclose(found["summary"][:, statistics.index(name)], of_rows, rtol=1e-5, atol=1e-6)
        alone = patch("heads")["restored"]
        np.testing.assert_allclose(values[found["what"] == "restored", 0], alone, rtol=1e-5, atol=1e-6)

    def test_lens(self):
        found = headlight.lens(CLEAN, DECODER, top=4, metric="rank")
        self.assertEqual(found["probabilities"].shape, (self.layers, 4))
        self.assertEqual(found["measured"].shape, (self.layers,))
        self.assertEqual(found["measured"][-1], 1)
        words = headlight.next(CLEAN, DECODER, top=4)["next_token"]
        np.testing.assert_array_equal(found["ids"][-1], [word["id"] for word in words])
        np.testing.assert_allclose(found["probabilities"][-1], [word["probability"] for word in words], rtol=1e-6)
        self.assertEqual(found["writers"].shape, (len(found["attribution"]), 4))
        np.testing.assert_allclose(found["attribution"].sum(), found["logit"][0], rtol=1e-4)
        of_heads = found["writers"][:, 0] == 4
        self.assertEqual(of_heads.sum(), self.layers * self.heads)

    def test_why(self):
        found = headlight.why(CLEAN, DECODER, head="1.3", query=4, key=2)
        self.assertEqual(found["terms"].shape, (len(found["query_writers"]), len(found["key_writers"])))
        np.testing.assert_allclose(found["terms"].sum(), found["score"][0], rtol=1e-4)
        np.testing.assert_allclose(found["score"][0], self.answer["scores"][1, 3, 4, 2], rtol=1e-4)
        self.assertEqual(len(found["query_tokens"]), self.tokens)

    def test_generate(self):
        found = headlight.generate(CLEAN, DECODER, count=3, with_="attentions")
        self.assertEqual(len(found["tokens"]), self.tokens + len(found["steps"]))
        word = headlight.next(CLEAN, DECODER, top=1)["next_token"][0]
        self.assertEqual((found["steps"][0]["id"], found["steps"][0]["text"]), (word["id"], word["text"]))
        first = np.array(found["steps"][0]["attention"][0]["attn"], np.float32)
        np.testing.assert_array_equal(first, self.answer["attentions"])

    def test_figure(self):
        with tempfile.TemporaryDirectory() as folder:
            for view, options in (("lens", {}), ("patch", {"against": f"{DECODER} --text {CORRUPT}"}),
                                  ("writers", {"head": "1.3", "query": 4, "key": 2})):
                path = headlight.figure(CLEAN, DECODER, output=os.path.join(folder, f"{view}.pdf"), view=view, **options)
                self.assertEqual(path.read_bytes()[:5], b"%PDF-")

    def test_lists_of_ids_are_sentences(self):
        folder = os.path.join(common.ROOT, "tests", "golden", "gpt2")
        found = headlight.export(source=folder, ids=[[1, 2, 3], [4, 5]])
        self.assertEqual(found["1.attentions"].shape, (2, 3, 3, 3))
        np.testing.assert_array_equal(found["1.attentions"][:, :, :2, :2],
                                      headlight.export(source=folder, ids=[4, 5])["attentions"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
