"""Texts of the any-sentence model: what is a sentence, and one clear line where a package cannot be had."""
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

PATH = os.path.join(ROOT, "assets", "recipes", "any-sentence", "corpus.py")


def program(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RECIPE = os.path.dirname(PATH)
COPULAS = os.path.join(os.path.dirname(PATH), "copulas.py")
corpus, copulas = program(PATH), program(COPULAS)


class Sentences(unittest.TestCase):
    def test_english(self):
        text = "Mr. Hill sat down. he left. It rained! See <b>this</b> page now. Two words. Why did the old cat go \u2018home\u2019?"
        self.assertEqual(list(corpus.english(text)), ["Mr. Hill sat down. he left.", "Why did the old cat go 'home'?"])

    def test_chinese(self):
        text = "我们 今天,去北京。好。他说：「走吧！」按 Ctrl+C 键退出程序。"
        self.assertEqual(list(corpus.chinese(text)), ["我们今天，去北京。", "他说：“走吧！”"])


class Copulas(unittest.TestCase):
    def arcs(self, text):
        words = [tuple(word.split("/")) for word in text.split()]
        found = copulas.arcs(words)
        return found and {words[i][0]: words[k][0] for i, k in found.items()}

    def test_the_noun_that_ends_the_clause(self):
        self.assertEqual(self.arcs("这/r 是/v 他/r 写/v 的/uj 一/m 本/q 书/n 。/x"), {"是": "书"})
        self.assertEqual(self.arcs("平均/a 收入/n 为/p 九/m 美元/n ，/x 它/r 不是/c 秘密/n"), {"为": "美元", "不是": "秘密"})

    def test_nothing_where_it_is_not_sure(self):
        for text in ("他/r 是/v 昨天/t 来/v 的/uj", "他/r 是/v 老师/n 和/c 作家/n", "不是/c 取消/v 资格/n", "他/r 还是/c 学生/n",
                     "称/v 为/p 英雄/n", "为/p 人民/n 服务/v", "他/r 跑/v 了/ul", "结果/n 是/v"):
            self.assertIsNone(self.arcs(text), text)

    def test_refuses_in_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out.conllu")
            done = subprocess.run([sys.executable, "-I", COPULAS, "--jieba", folder, "--out", out, "none.txt"],
                                  capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertTrue(done.stderr.startswith("copulas.py: "), done.stderr)
            self.assertEqual(os.listdir(folder), [])


class JoinedGrammars(unittest.TestCase):
    """The sentences in which a person is mentioned twice join the grammar, and each mention belongs to the other."""

    def joined(self, more):
        with tempfile.TemporaryDirectory() as folder:
            other, out = os.path.join(folder, "more.json"), os.path.join(folder, "out.json")
            with open(other, "w", encoding="utf-8") as file:
                json.dump(more, file)
            done = subprocess.run([sys.executable, "-I", os.path.join(RECIPE, "grammar.py"),
                                   os.path.join(ROOT, "assets", "grammar.json"), other, out], capture_output=True, text=True)
            if done.returncode:
                self.assertFalse(os.path.exists(out))
                return done.stderr
            with open(out, encoding="utf-8") as file:
                return json.load(file)

    def test_the_recipe(self):
        with open(os.path.join(RECIPE, "mentions.json"), encoding="utf-8") as file:
            more = json.load(file)
        kinds = {kind["name"]: kind for kind in self.joined(more)["kinds"]}
        self.assertEqual(kinds["request, ticket"]["relations"]["CO"], ["a2 a", "a a2"])
        self.assertEqual(kinds["tells"]["relations"]["CO"], ["it a", "a it"])
        self.assertEqual(kinds["state"]["relations"]["SP"], ["n p", "m q"])

    def test_a_name_of_both(self):
        said = self.joined({"lists": {"time": "now"}, "links": {}, "kinds": []})
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn("expected other names than those of", said)
        self.assertIn("found time", said)


class Packages(unittest.TestCase):
    """A package that is not there, not what it should be, or no package at all."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.bin = os.path.join(self.folder.name, "bin")
        self.out = os.path.join(self.folder.name, "out")
        os.mkdir(self.bin)

    def program(self, name, script):
        path = os.path.join(self.bin, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(path, 0o755)

    def refused(self, expected):
        done = subprocess.run([sys.executable, PATH, self.out], env={"PATH": self.bin, "PYTHONDONTWRITEBYTECODE": "1"},
                              capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("corpus.py: "), done.stderr)
        self.assertIn(expected, done.stderr)
        written = [name for _, _, files in os.walk(self.out) for name in files if not name.endswith(".deb")]
        self.assertEqual(written, [])

    def package(self):
        words = corpus.WORDS
        debs = os.path.join(self.out, "debs")
        os.makedirs(debs)
        path = os.path.join(debs, f"{words.package}_{words.version}_all.deb")
        with open(path, "wb") as file:
            file.write(b"no package")
        return path

    def test_no_apt(self):
        self.refused("apt-get: expected a program that fetches python3-jieba=")

    def test_not_found(self):
        self.program("apt-get", "echo 'E: Version of python3-jieba was not found' >&2; exit 100\n")
        self.refused("expected a package that apt can fetch, found: E: Version of python3-jieba was not found")

    def test_other_bytes(self):
        self.package()
        self.refused("sha256: expected " + corpus.WORDS.sha256 + ", found " + hashlib.sha256(b"no package").hexdigest())


if __name__ == "__main__":
    unittest.main()
