"""Attention in many forms: right ones are never accused, wrong ones are named or unchecked, and none is called right.

A sample of them; all with HEADLIGHT_ALL_FORMS=1; `--count [SEED]` has the counts alone, `--table right|wrong` what is
said of each step and kind, `--write` puts both tables into the document."""
import collections
import os
import re
import sys
import unittest

from common import ROOT, torch
import field_forms
import forms
import headlight
from headlight.flow import NAMED
import programs
import public_forms
import wrong

SEED = int((sys.argv + ["0"])[2]) if sys.argv[1:2] == ["--count"] and sys.argv[2:] else 0
ALL = bool(os.environ.get("HEADLIGHT_ALL_FORMS")) or sys.argv[1:2] in (["--count"], ["--table"], ["--write"])
RIGHT = 600 if ALL else 90
DOCUMENT = os.path.join(ROOT, "docs", "check-your-attention.md")
HEADS = ("| step | how it is done: forms, and in brackets those that are not decided |\n| --- | --- |",
         "| kind | forms | named | not checked | names |\n| --- | --- | --- | --- | --- |")
PUBLIC = "public code: "


def judged(form):
    """accused (or named), unchecked or right; and the report."""
    with headlight.watch(keep=headlight.Keep(sentences=4)) as seen:
        form.run()
    report = seen.check(expect=form.expect)
    return "named" if report.mistakes else "right" if report.ok else "unchecked", report


def wrong_forms():
    """Kinds and forms: all, or each kind at one place and under one mask, another one for each kind."""
    kinds = collections.defaultdict(list)
    for kind, form in wrong.wrong_forms(2 + SEED):
        kinds[kind].append(form)
    for kind, right, form in programs.all_programs(SEED):
        if not right:
            kinds[kind].append(form)
    known = []      # those that were judged wrongly once
    for kind, right, form in field_forms.field_forms():
        if not right:
            (known if ": !" in form.name else kinds[PUBLIC + kind]).append(form)
    return [(kind, form) for at, (kind, several) in enumerate(kinds.items())
            for form in (several if ALL else [several[at % len(several)]])] + [(PUBLIC + form.name.split(":")[0], form) for form in known]


def right_programs():
    return [(kind, form) for at, (kind, right, form) in enumerate(programs.all_programs(SEED))
            if right and (ALL or kind == "unusual" or at % 5 == 0)]


def right_public():
    return [(kind, form) for at, (kind, right, form) in enumerate(field_forms.field_forms())
            if right and (ALL or ": !" in form.name or at % 7 == 0)]


def family(kind):
    """Of a kind of mistake, as the table has it."""
    return re.sub(r"^[qkv] (?=of|shift|rev|past|times|with|sort)", "q, k or v ", re.sub(r" \((kv|k|v)\)", "", kind))


def right_table():
    """A row for each step: how it is done, and in how many forms; of how many of them something is not checked."""
    done = collections.defaultdict(collections.Counter)
    for number, way in enumerate(forms.drawn(600, 1)):
        verdict, _ = judged(forms.program(way, number))
        for part, choice in [*way.items(), ("all of them", "forms")]:
            done[part][str(choice).replace("torch.", ""), verdict] += 1
    for what, several in (("programs", right_programs()), ("public code", right_public())):
        for kind, form in several:
            verdict, report = judged(form)
            assert verdict != "named", f"{form.name}: {report}"
            done[what][kind, verdict] += 1
    rows = [HEADS[0]]
    for part, counts in done.items():
        choices = sorted({choice for choice, _ in counts})
        of = [(one, counts[one, "right"], counts[one, "unchecked"], counts[one, "named"]) for one in choices]
        assert not any(named for *_, named in of), part
        rows.append(f"| {part} | {', '.join(f'{one} {right + rest}' + f' ({rest})' * (rest > 0) for one, right, rest, _ in of)} |")
    return "\n".join(rows)


def wrong_table():
    """A row for each kind: forms, how many are named, how many have a line that says what is not checked; the names."""
    done = collections.defaultdict(lambda: (collections.Counter(), collections.Counter()))
    for kind, form in wrong_forms():
        verdict, report = judged(form)
        done[family(kind)][0][verdict] += 1
        done[family(kind)][1].update({one.code for one in report.mistakes})
    rows, done["all of them"] = [HEADS[1]], (sum((counts for counts, _ in done.values()), collections.Counter()), collections.Counter())
    for kind, (verdicts, codes) in done.items():
        assert not verdicts["right"], kind
        names = ", ".join(f"`{code}`" for code, _ in codes.most_common(3))
        rows.append(f"| {kind} | {sum(verdicts.values())} | {verdicts['named'] or ''} | {verdicts['unchecked'] or ''} | {names} |")
    return "\n".join(rows)


def document():
    with open(DOCUMENT, encoding="utf-8") as file:
        return file.read()


def rows_of(text, head):
    """First cells of a table of the document."""
    return [row.split(" | ")[0][2:] for row in text.split(head + "\n")[1].split("\n\n")[0].splitlines()]


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
        for kind, form in wrong_forms():
            with self.subTest(form.name):
                verdict, report = judged(form)
                self.assertNotEqual(verdict, "right", str(report))

    def test_right_programs_are_not_accused(self):
        for kind, form in right_programs():
            with self.subTest(form.name):
                verdict, report = judged(form)
                self.assertIn(verdict, ("right", "unchecked") if kind == "unusual" else ("right",), str(report))

    def test_public_code_is_not_accused(self):
        for kind, form in right_public():
            with self.subTest(form.name):
                verdict, report = judged(form)
                self.assertNotEqual(verdict, "named", str(report))
                self.assertGreater(report.judged, -int(kind in field_forms.OTHERS), str(report))
                self.assertTrue(verdict == "right" or report.unchecked, str(report))      # with its reason

    def test_codes_and_kinds_stand_in_the_document(self):
        text = document()
        for code in NAMED:
            self.assertIn(f"`{code}`", text)
        steps = [*forms.PARTS, "all of them", "programs", "public code"]
        self.assertEqual(rows_of(text, HEADS[0]), steps)
        kinds = [family(kind) for kind, _ in wrong_forms()]
        self.assertEqual(rows_of(text, HEADS[1]), [*dict.fromkeys(kinds), "all of them"], "test_forms.py --write")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--count"]:
        right = [*forms.right_forms(RIGHT, 1 + SEED), *(form for _, form in right_programs() + right_public())]
        for what, some in (("right", right), ("wrong", [form for _, form in wrong_forms()])):
            print(what, dict(collections.Counter(judged(form)[0] for form in some)))
        sys.exit()
    if sys.argv[1:2] == ["--table"]:
        print(right_table() if sys.argv[2:] == ["right"] else wrong_table())
        sys.exit()
    if sys.argv[1:2] == ["--write"]:
        text = document()
        for head, table in zip(HEADS, (right_table(), wrong_table())):
            before, rest = text.split(head + "\n")
            text = before + table + "\n\n" + rest.split("\n\n", 1)[1]
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(text)
        sys.exit()
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
