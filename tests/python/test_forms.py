"""Attention in many forms: right ones are never accused, wrong ones are named or unchecked, and none is called right.

A sample of them; all with HEADLIGHT_ALL_FORMS=1, and with `--count` the counts alone."""
import collections
import os
import sys
import unittest

from common import torch
import forms
import headlight
import public_forms
import wrong

ALL = bool(os.environ.get("HEADLIGHT_ALL_FORMS")) or "--count" in sys.argv
RIGHT = 600 if ALL else 160


def judged(form):
    """accused (or named), unchecked or right; and the report."""
    with headlight.watch(keep=headlight.Keep(sentences=4)) as seen:
        form.run()
    report = seen.check()
    return "named" if report.mistakes else "right" if report.ok else "unchecked", report


def wrong_forms():
    """All, or each kind at one place and under one mask, another one for each kind."""
    kinds = collections.defaultdict(list)
    for kind, form in wrong.wrong_forms():
        kinds[kind].append(form)
    return [form for at, several in enumerate(kinds.values()) for form in (several if ALL else [several[at % len(several)]])]


class Forms(unittest.TestCase):
    def test_right_ones_are_not_accused(self):
        unchecked = 0
        for form in forms.right_forms(RIGHT):
            with self.subTest(form.name):
                verdict, report = judged(form)
                unchecked += verdict == "unchecked"
                self.assertNotEqual(verdict, "named", str(report))
                self.assertGreater(report.judged, 0, str(report))
        self.assertLess(unchecked, RIGHT // 20)

    def test_those_of_public_code(self):
        for name, module, given in public_forms.public_forms():
            with self.subTest(name), torch.no_grad():
                verdict, report = judged(forms.Form(name, lambda: module.eval()(*given)))
                self.assertEqual(verdict, "right", str(report))

    def test_wrong_ones_are_not_called_right(self):
        self.assertGreaterEqual(len(wrong.WRONG), 60)
        for form in wrong_forms():
            with self.subTest(form.name):
                verdict, report = judged(form)
                self.assertNotEqual(verdict, "right", str(report))


if __name__ == "__main__":
    if "--count" in sys.argv:
        for what, some in (("right", forms.right_forms(RIGHT)), ("wrong", wrong_forms())):
            print(what, dict(collections.Counter(judged(form)[0] for form in some)))
        sys.exit()
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
