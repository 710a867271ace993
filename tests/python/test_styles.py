"""Attention as people write it now (styles.py): a right one has no mistake, a wrong one is named or said to be taken as given;
docs/python.md has the table that `test_styles.py --table` prints."""
import os
import re
import sys
import unittest

from common import ROOT, torch
import headlight
import styles
import torch2

torch.nn.functional.scaled_dot_product_attention = torch2.scaled_dot_product_attention


def report_of(style):
    torch.manual_seed(0)
    module = (style.module or (lambda: styles.Attention(style.kv, **style.steps)))().eval()
    x = torch.randn(styles.B, style.tokens, styles.D)
    torch.manual_seed(1)
    with torch.set_grad_enabled("learned" in style.said):
        right = module(x)
        torch.manual_seed(1)
        with headlight.watch() as seen:
            watched = module(x)
    return seen.check(expect=style.expect), torch.equal(right, watched), seen.check(expect=style.expect, language="zh")


def lines_of(report):
    """Without the lines of the code, and their modules; and without the comparison of the output."""
    lines = [re.sub(r"^\S+:\d+(?: \([\w.]+\))?(?:: |：)", "", line) for line in str(report).splitlines()]
    return [line for line in lines if not line.startswith(("no attention seen", "没有看到注意力", "output as", "输出与"))]


def table():
    rows = ["| attention | | what the report says |", "| --- | --- | --- |"]
    for style in styles.STYLES:
        lines = lines_of(report_of(style)[0])
        rows.append(f"| {style.name} | {'right' if style.right else 'wrong'} | {'; '.join(lines)} |".replace("`", ""))
    return "\n".join(rows)


class Styles(unittest.TestCase):
    def test_each_is_named(self):
        for style in styles.STYLES:
            with self.subTest(style.name):
                report, same, chinese = report_of(style)
                self.assertEqual([one.code for one in chinese.mistakes], [one.code for one in report.mistakes])
                self.assertEqual(len(lines_of(chinese)), len(lines_of(report)), str(chinese))
                for line in lines_of(chinese):
                    self.assertNotRegex(line, r"\b(of|the|in|and|not|no|is|are|given|calls?)\b", str(chinese))
                self.assertTrue(same, "the forward pass")
                self.assertTrue(any(re.fullmatch(style.said, line) for line in lines_of(report)), str(report))
                self.assertEqual(not report.mistakes, style.right, str(report))
                self.assertEqual(report.ok, style.right and "mistake found" in style.said and not report.unchecked, str(report))

    def test_the_document(self):
        with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
            self.assertTrue(table() in file.read(), "docs/python.md: expected the table of test_styles.py --table")


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        print(table())
        sys.exit()
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
