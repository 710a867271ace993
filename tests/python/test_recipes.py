"""The recipes of docs/python.md run as they stand, and say what they say, those of the shell too; the module installs without a network; Dask loses
no sentence when a worker is killed; a notebook keeps the page."""
import html
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from common import ROOT
import headlight

HAS = {name: importlib.util.find_spec(name) is not None for name in ("distributed", "dask", "nbclient", "ipykernel", "pip",
                                                                     "setuptools", "wheel")}


def recipes():
    with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
        return re.findall(r"```python\n(.*?)```", file.read(), re.S)


class Recipes(unittest.TestCase):
    def run_recipe(self, piece):
        code = [code for code in recipes() if piece in code]
        self.assertEqual(len(code), 1, f"recipes with {piece}")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(code[0])
            environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
            environment["PYTHONPATH"] = os.path.join(ROOT, "python")
            done = subprocess.run([sys.executable, "mine.py"], cwd=folder, env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout, sorted(os.listdir(folder)), code[0]

    def test_nine_recipes(self):
        self.assertEqual(len(recipes()), 9)      # one of them in test_library.py, one in test_notebook.py

    def test_a_model_that_is_running(self):
        from test_live import Gpt2, Tokenizer
        names = {}
        exec(next(code for code in recipes() if "headlight.open(model" in code), names)
        with mock.patch("headlight.engine.open_window") as shown:
            heads = names["look"](Gpt2(), Tokenizer())["heads"]
        self.assertEqual((len(heads), shown.call_count), (2, 1))

    def test_mistake(self):
        said, _, code = self.run_recipe("def attention(q, k, v)")
        self.assertEqual(said.strip(), re.search(r"# (mine\.py:.*)", code).group(1))

    def test_numpy(self):
        said, _, code = self.run_recipe("WQ, WK, WV")
        self.assertEqual(said.strip(), code.strip().splitlines()[-1][2:])

    def test_arrays(self):
        said, _, _ = self.run_recipe("as transformers returns them")
        self.assertIn("found neither", said)

    def test_lines(self):
        said, _, _ = self.run_recipe("for answer in headlight.lines")
        self.assertEqual(said.split(), ["10", "4"])  # of the model that knows cat: <s> before its words

    def test_training(self):
        _, files, _ = self.run_recipe("my-training")
        self.assertIn("my-training", files)

    @unittest.skipUnless(HAS["distributed"] and HAS["dask"], "python3-distributed is not installed")
    def test_dask(self):
        said, _, _ = self.run_recipe("map_partitions")
        self.assertEqual(said.strip().splitlines()[-1], "True")


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def shell_line(piece):
    """The line of the document's shell blocks with this piece."""
    with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
        blocks = re.findall(r"```console\n(.*?)```", file.read(), re.S)
    lines = [line for block in blocks for line in block.splitlines() if piece in line]
    assert len(lines) == 1, lines
    return lines[0]


# Slurm's sbatch for one machine: each task of the array, one after the other, with the variables that Slurm sets.
SBATCH = r"""#!/bin/bash
set -e
for argument; do
  case $argument in --array=*) IFS=- read -r first last <<<"${argument#--array=}" ;; esac
done
[[ $2 == --wrap ]]
for ((SLURM_ARRAY_TASK_ID = first; SLURM_ARRAY_TASK_ID <= last; ++SLURM_ARRAY_TASK_ID)); do
  export SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_MIN=$first SLURM_ARRAY_TASK_MAX=$last SLURM_ARRAY_TASK_COUNT=$((last - first + 1))
  bash -c "$3"
done
"""
# ssh to a machine that is this one. sshd sets SHELL, with which GNU parallel runs its command there: without it nothing runs.
SSH = r"""#!/bin/bash
export SHELL=/bin/bash
while [[ $1 == -* ]]; do [[ $1 == -[lp] ]] && shift; shift; done
echo "$1" >>"$HOSTS"
shift
[[ $1 == -- ]] && shift
exec bash -c "$*"
"""


class OfTheShell(unittest.TestCase):
    """Recipes without Python give the bytes of one process, whatever the number of machines."""

    def answers(self, line, stand_in, script, count):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in ((stand_in, script), ("headlight", '#!/bin/sh\nexec "$HEADLIGHT" "$@"\n')):
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                os.chmod(path, 0o755)
            sentences = [f"我请李雷帮我订了去北京的机票 {number}" if number % 7 else "the cat sat" for number in range(count)]
            with open(os.path.join(folder, "in"), "w", encoding="utf-8") as file:
                file.writelines(sentence + "\n" for sentence in sentences)
            hosts = os.path.join(folder, "hosts")
            environment = {**os.environ, "PATH": folder + os.pathsep + os.environ["PATH"], "HEADLIGHT": headlight.program(),
                           "HOME": folder, "HOSTS": hosts}
            one = subprocess.run("headlight export --text - --lines <in", shell=True, cwd=folder, env=environment,
                                 capture_output=True, check=True).stdout
            done = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(one.count(b"\n"), count)
            parts = sorted((name for name in os.listdir(folder) if re.fullmatch(r"out(\.\d+)?", name)))
            many = b"".join(contents(os.path.join(folder, name)) for name in parts)
            used = set(contents(hosts).decode().split()) if os.path.exists(hosts) else set()
            told = done.stderr + contents(os.path.join(folder, "jobs")).decode() if "--joblog jobs" in line else done.stderr
            return one, many, parts, used, told

    def test_slurm(self):
        one, many, parts, _, told = self.answers(shell_line("sbatch"), "sbatch", SBATCH, 43)
        self.assertEqual(parts, [f"out.{task}" for task in range(10)])
        self.assertTrue(many == one, told)

    @unittest.skipUnless(shutil.which("parallel"), "parallel is not installed")
    def test_parallel_over_ssh(self):
        # Small blocks, so that 60 sentences are several; one at a time for each machine, since all three are this one.
        line = shell_line("parallel").replace("--block 1M", "--block 500 --jobs 1 --joblog jobs")
        one, many, _, used, told = self.answers(line, "ssh", SSH, 60)
        self.assertTrue(many == one, f"{many.count(bytes([10]))} of 60 answers\n{told}")
        self.assertEqual(used, {"host1", "host2"})


KILLED = """
import os, signal, sys
import dask.bag
from distributed import Client, LocalCluster
import headlight

def answers(sentences, marker):
    answers = []
    for answer in headlight.lines(sentences):
        if len(answers) == 2 and not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        answers.append(answer)
    return answers

if __name__ == "__main__":
    sentences = [f"the cat sat {n}" for n in range(40)]
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        bag = dask.bag.from_sequence(sentences, npartitions=8).map_partitions(answers, marker=sys.argv[1])
        texts = [answer["request"]["text"] for answer in bag.compute()]
    assert os.path.exists(sys.argv[1])
    print(texts == sentences)
"""


class Elsewhere(unittest.TestCase):
    @unittest.skipUnless(HAS["distributed"] and HAS["dask"], "python3-distributed is not installed")
    def test_a_killed_worker_loses_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "killed.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(KILLED)
            done = subprocess.run([sys.executable, path, os.path.join(folder, "marker")], capture_output=True, text=True,
                                  cwd=folder, env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.strip().splitlines()[-1], "True")

    @unittest.skipUnless(HAS["pip"] and HAS["setuptools"] and HAS["wheel"],
                         "python3-pip, python3-setuptools or python3-wheel is not installed")
    def test_installs_offline(self):
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "python"), os.path.join(folder, "site")
            subprocess.run(["cp", "-r", os.path.join(ROOT, "python"), source], check=True)
            done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--no-build-isolation", "--no-deps",
                                   "--target", target, source], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            said = subprocess.run([sys.executable, "-c", "import headlight; print(headlight.__file__)"], cwd=folder,
                                  env={**os.environ, "PYTHONPATH": target}, capture_output=True, text=True, check=True)
            self.assertEqual(said.stdout.strip(), os.path.join(target, "headlight", "__init__.py"))

    @unittest.skipUnless(HAS["nbclient"] and HAS["ipykernel"], "python3-nbclient or python3-ipykernel is not installed")
    def test_a_notebook_keeps_the_page(self):
        import nbclient
        import nbformat
        cells = ["import sys; sys.path.insert(0, r'%s')" % os.path.join(ROOT, "python"),
                 "import headlight, torch\nx = torch.randn(1, 2, 4, 8)",
                 "with headlight.watch() as seen:\n    torch.softmax(x @ x.transpose(-2, -1), -1) @ x\nseen.check()",
                 "seen", "headlight.show(seen.attentions(), tokens='the cat sat down'.split())"]
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3").execute()
        said = notebook.cells[2].outputs[0]["data"]["text/plain"]
        self.assertTrue(said.startswith("In[3]:2: scores not divided by sqrt(d_k)"), said)
        for cell in notebook.cells[3:]:
            shown = re.fullmatch(r"<iframe sandbox=\"allow-scripts\" [^<>]* srcdoc=\"([^\"]*)\"></iframe>",
                                 cell.outputs[-1]["data"]["text/html"])
            self.assertIsNotNone(shown)
            page = html.unescape(shown.group(1))
            self.assertTrue(page.lower().startswith("<!doctype html>"), page[:60])
            self.assertIn("headlight.page/1", page)
        self.assertIn('"text":"down"', page)


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
