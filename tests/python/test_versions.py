"""The package is Python 3.9: its syntax, and what each Python of this machine from 3.9 on makes of it.

A Python without numpy imports the module with an empty one in its place and runs what needs no array; one with numpy runs
the recipe for code without torch as well. Looked for in PATH and among the versions of pyenv."""
import ast
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(ROOT, "python", "headlight")
OLDEST = (3, 9)

WITHOUT_ARRAYS = """
import importlib.util, json, sys, types
if importlib.util.find_spec("numpy") is None:
    sys.modules["numpy"] = types.SimpleNamespace(ndarray=type("ndarray", (), {}))
sys.path.insert(0, sys.argv[1])
import headlight
answers = [("error" in answer, len(answer.get("tokens", ()))) for answer in headlight.lines(["the cat sat", "", "我请李雷"])]
guess = headlight.next("我请", arch="decoder", top=3)["next_token"]
with headlight.watch() as seen:
    pass
print(json.dumps([answers, len(guess), len(headlight.heads("我请李雷")["heads"]), str(seen.check())]))
"""


def pythons():
    """The path of one Python for each minor version that is here and may run the module."""
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    candidates = [shutil.which(f"python3.{minor}") for minor in range(OLDEST[1], 30)]
    candidates += sorted(glob.glob(os.path.join(root, "versions", "3.*", "bin", "python3"))) + [sys.executable]
    found = {}
    for path in filter(None, candidates):
        asked = subprocess.run([path, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
        version = tuple(map(int, asked.stdout.split())) if asked.returncode == 0 else (0, 0)
        if version >= OLDEST:
            found.setdefault(version, path)
    return found


class Versions(unittest.TestCase):
    def test_the_syntax_is_that_of_the_oldest(self):
        files = sorted(glob.glob(os.path.join(PACKAGE, "*.py")))
        self.assertEqual([os.path.basename(path) for path in files],
                         ["__init__.py", "engine.py", "flow.py", "follow.py", "library.py", "nodes.py", "notebook.py",
                          "seen.py"])
        for path in files:
            with self.subTest(path), open(path, encoding="utf-8") as file:
                self.look(ast.parse(file.read(), feature_version=OLDEST))

    def look(self, tree):
        annotations = {id(part) for node in ast.walk(tree)
                       for field in ("annotation", "returns") if getattr(node, field, None) is not None
                       for part in ast.walk(getattr(node, field))}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "zip":
                self.assertNotIn("strict", [keyword.arg for keyword in node.keywords], f"line {node.lineno}: Python 3.10")
            if isinstance(node, ast.Subscript) and id(node) not in annotations and isinstance(node.value, ast.Name):
                self.assertNotIn(node.value.id, ("list", "dict", "tuple", "set"), f"line {node.lineno}: typing has it")

    def test_each_python_runs_it(self):
        found = pythons()
        print("Python " + ", ".join(f"{major}.{minor}" for major, minor in found))
        for version, path in found.items():
            with self.subTest(version), tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "PYTHONPATH": os.path.dirname(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1"}
                done = subprocess.run([path, "-W", "error", "-c", WITHOUT_ARRAYS, os.path.dirname(PACKAGE)], cwd=folder,
                                      env=environment, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                answers, guesses, heads, report = json.loads(done.stdout)
                self.assertEqual(answers, [[False, 4], [True, 0], [False, 3]])
                self.assertEqual((guesses, heads), (3, 16))
                self.assertIn("torch is not imported", report)
                if subprocess.run([path, "-c", "import numpy"], capture_output=True).returncode == 0:
                    self.run_recipe(path, folder, environment)

    def run_recipe(self, path, folder, environment):
        with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
            code = next(code for code in re.findall(r"```python\n(.*?)```", file.read(), re.S) if "WQ, WK, WV" in code)
        done = subprocess.run([path, "-c", code], cwd=folder, env=environment, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, code.strip().splitlines()[-1][2:]), done.stderr)


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
