"""Texts of the any-sentence model: what is a sentence, and one clear line where a package cannot be had."""
import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

PATH = os.path.join(ROOT, "assets", "recipes", "any-sentence", "corpus.py")
SPEC = importlib.util.spec_from_file_location("corpus", PATH)
corpus = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(corpus)


class Sentences(unittest.TestCase):
    def test_english(self):
        text = "Mr. Hill sat down. he left. It rained! See <b>this</b> page now. Two words. Why did the old cat go \u2018home\u2019?"
        self.assertEqual(list(corpus.english(text)), ["Mr. Hill sat down. he left.", "Why did the old cat go 'home'?"])

    def test_chinese(self):
        text = "我们 今天,去北京。好。他说：「走吧！」按 Ctrl+C 键退出程序。"
        self.assertEqual(list(corpus.chinese(text)), ["我们今天，去北京。", "他说：“走吧！”"])


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
