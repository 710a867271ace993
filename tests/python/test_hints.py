"""The hints (`__init__.pyi`) are those of the module, and shapes are those of arrays."""
import ast
import unittest
from pathlib import Path

import common
import headlight
from stubs import SHAPES, stub

FILE = Path(common.ROOT, "python", "headlight", "__init__.pyi")


class Hints(unittest.TestCase):
    def test_are_made_of_the_signatures(self):
        self.assertEqual(FILE.read_text(), stub(), "python3 tests/python/stubs.py > python/headlight/__init__.pyi")
        self.assertTrue((FILE.parent / "py.typed").is_file())

    def test_name_all_that_is_public(self):
        body = ast.parse(FILE.read_text()).body
        named = {one.name for one in body if isinstance(one, (ast.FunctionDef, ast.ClassDef))}
        named |= {one.targets[0].id for one in body if isinstance(one, ast.Assign)} | {
            one.target.id for one in body if isinstance(one, ast.AnnAssign)}
        self.assertEqual(set(headlight.__all__) - named, set())
        for one in ast.walk(ast.Module(body, [])):
            if isinstance(one, ast.FunctionDef) and not one.name.startswith("__"):
                doc = ast.get_docstring(one)
                self.assertTrue(doc or one.name in ("show", "debug", "add"), one.name)

    def test_shapes_are_those_of_answers(self):
        for source, text, causal in ((None, "the cat sat", False), ("shipped:decoder", "我请李雷帮", True)):
            answer = headlight.open(source)(text)
            layers, heads, queries, keys = answer.attentions.shape
            d_k, d_model, words = answer.q.shape[-1], answer.hidden_states.shape[-1], answer.logits.shape[-1]
            known = {"L": layers, "H": heads, "T": queries, "S": keys, "d_k": d_k, "d_model": d_model, "words": words,
                     "L + 1": layers + 1}
            for name, shape in SHAPES.items():
                axes = shape[1:shape.index(")")].split(", ")
                self.assertEqual(getattr(answer, name).shape, tuple(known[axis] for axis in axes), name)
                self.assertEqual(getattr(answer, name).dtype, "float32")
            self.assertEqual(answer.attentions[0, 0, 0, 1] == 0, causal)


if __name__ == "__main__":
    unittest.main()
