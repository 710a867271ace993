"""Texts of the any-sentence model: what is a sentence, and one clear line where a package cannot be had."""
import hashlib
import importlib.util
import json
import os
import re
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
corpus, copulas, pronouns = (program(path) for path in (PATH, COPULAS, os.path.join(RECIPE, "pronouns.py")))


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


class Pronouns(unittest.TestCase):
    """Sentences in which a pronoun stands for a noun: what teaches, what is held out, and how a model is measured on them."""

    DATA = os.path.join(RECIPE, "pronouns.json")

    def taught(self):
        return [[line.split("\t") for line in one.strip().split("\n")] for one in pronouns.sentences(pronouns.read(self.DATA), 300)]

    def test_the_recipe_gives_this_file(self):
        """Of the same words the same bytes: what taught the model that comes along."""
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out.conllu")
            subprocess.run([sys.executable, "-I", os.path.join(RECIPE, "pronouns.py"), self.DATA, out, "20000"],
                           check=True, capture_output=True)
            with open(out, "rb") as file:
                self.assertEqual(hashlib.sha256(file.read()).hexdigest(), "e1c1a17dc55aa50d010d9b5fed322798774cd876704d580b862f4225f35d80cd")

    def test_the_pronoun_looks_at_one_noun_and_agrees(self):
        for words in self.taught():
            arcs = [(word[1].lower(), words[int(word[6]) - 1][1]) for word in words if word[7] == "IT"]
            self.assertLessEqual(len(arcs), 1, words)
            self.assertEqual([word[4] for word in words].count("X"), len(words) - 2 * len(arcs), words)
            for it, noun in arcs:
                if noun in ("Mary", "queen", "princess"): self.assertIn(it, ("she", "her"), words)
                if noun in ("dogs", "streets"): self.assertIn(it, ("they", "them", "their"), words)
                if noun in ("马路", "狗"): self.assertIn(it, ("它", "它们"), words)

    def test_what_is_held_out_teaches_nothing(self):
        with open(self.DATA, encoding="utf-8") as file:
            data = json.load(file)
        with open(os.path.join(ROOT, "assets", "grammar.json"), encoding="utf-8") as file:
            grammar = file.read()
        texts = {"".join(word[1] for word in words) for words in self.taught()}
        words_taught = {word[1] for words in self.taught() for word in words}
        kept = [noun for name in ("en", "zh")
                for nouns in data[name]["nouns"].values() for noun in nouns.partition("|")[2].split()]
        for noun in (noun.split(":")[-1].split("/")[0] for noun in kept):
            self.assertNotIn(noun, words_taught)
            self.assertIsNone(re.search(rf"(?<![a-z]){noun}(?![a-z])", grammar), noun)
        for text in texts:
            self.assertFalse(text.startswith(("Although", "虽然")) or "animal" in text and "street" in text, text)
        self.assertTrue(any(line.startswith("Although") for line in pronouns.sentences(data, 300, 1, "frames")))

    def test_scores_of_a_head(self):
        """A head that looks at the second word from everywhere: right in the sentences whose noun that is."""
        with tempfile.TemporaryDirectory() as folder:
            program, asked = os.path.join(folder, "headlight"), os.path.join(folder, "asked.txt")
            with open(program, "w", encoding="utf-8") as file:
                file.write("""#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    words, at = ["<s>"] + line.split(), 0
    tokens = [{"raw": "<s>", "special": True, "bytes": [0, 0]}]
    for word in words[1:]:
        tokens.append({"raw": word, "special": False, "bytes": [max(0, at - 1), at + len(word)]})
        at += len(word) + 1
    row = [.25, 0, .75] + [0] * (len(words) - 3)
    print(json.dumps({"tokens": tokens, "attention": [{"attn": [[[row] * len(words)]]}]}))
""")
            os.chmod(program, 0o755)
            with open(asked, "w", encoding="utf-8") as file:
                file.write("# a note\nThe {dog} left the (road) because *it* was <tired|wide> .\nThe {cat} slept where *it* lay .\n")
            done = subprocess.run([sys.executable, "-I", os.path.join(RECIPE, "pronoun_scores.py"), program, "model", "0.0", asked],
                                  check=True, capture_output=True, text=True)
            self.assertEqual(done.stdout.strip().split("\n")[-1].split(),
                             "asked.txt, en 3 0.667 0.500 0.500 0.000 0.500 0.500 0.333".split())


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
