#!/usr/bin/python3
"""Which branches of the command and question layers the tests take: coverage.py BUILD [--never] [--errors] [--keep]

BUILD is the folder of the preset coverage, which links what ./run built. Build there headlight, asks, tests_app and
tests_session (tests_core, tests_train and tests_diagnose may be there too): those that are there are run, of tests_app
the tests of commands, and the drawn questions (questions.py). Prints a table by folder: branches of conditions in the
source, how many of them were taken at least once, and lines `TRY(…)` of which no error was ever passed on. --never prints
the others, --errors the latter too; --keep runs nothing and adds nothing to what was counted before.

What GCC adds is left out: the ways that only an exception takes, branches of lines without a condition (the end of the life
of lists and objects), and of a line that was reached the conditions that were not, behind an exception or a first half."""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAYERS = re.compile(r'(app/(cli|question)(/.*)?|tools/study(/kept|/cli)?|tools/\w+/cli)$')
CONDITION = re.compile(r'\b(if|for|while|switch|TRY)\b|\?|&&|\|\|')


def run_tests(build):
    for counted in build.rglob('*.gcda'):
        counted.unlink()
    env = os.environ | {'HEADLIGHT_PROGRESS': '0'}
    of_commands = [file.read_text() for folder in ('app', '*/app') for file in (ROOT / 'tests').glob(folder + '/*.cpp')]
    suites = sorted({name for text in of_commands for name in re.findall(r'^TEST(?:_F)?\((\w+),', text, re.M)})
    for name in ('tests_app', 'tests_session', 'tests_core', 'tests_train', 'tests_diagnose'):
        chosen = {'GTEST_FILTER': ':'.join(suite + '.*' for suite in suites)} if name == 'tests_app' else {}
        if (build / 'tests' / name).exists():
            subprocess.run([build / 'tests' / name, '--gtest_brief=1'], env=env | chosen, check=False)
    subprocess.run([ROOT / 'tests/questions/questions.py', build / 'headlight', build / 'tests/asks'], env=env, check=False,
                   stdout=subprocess.DEVNULL)


def of_source(branches):
    """Counts of the branches without the pairs of which one is an exception's."""
    at, counts = 0, []
    while at < len(branches):
        if any(branch['throw'] for branch in branches[at:at + 2]):
            at += 2
        else:
            counts.append(branches[at]['count'])
            at += 1
    return counts


def reached(counts):
    """Without the conditions that were not reached on a line that was: those after an exception, and the right side of one
    whose own other way counts already."""
    if len(counts) % 2 or not any(counts):
        return counts
    return [count for pair in zip(counts[::2], counts[1::2]) if any(pair) for count in pair]


def lines_of(build):
    """For each line of the layers with a condition, the counts of its branches; those of a template's instances are added."""
    found, texts = collections.defaultdict(dict), {}
    for counted in sorted(build.glob('CMakeFiles/*/**/*.gcno')):
        ran = subprocess.run(['gcov', '--json-format', '--branch-probabilities', '--stdout', counted], capture_output=True, check=True)
        for file in json.loads(ran.stdout)['files']:
            path = os.path.relpath(file['file'], ROOT)
            if not LAYERS.match(os.path.dirname(path)):
                continue
            if path not in texts:
                texts[path] = [re.sub(r'"(\\.|[^"\\])*"|//.*', '""', line) for line in (ROOT / path).read_text().split('\n')]
            for line in file['lines']:
                number, counts = line['line_number'], of_source(line['branches'])
                if counts and CONDITION.search(texts[path][number - 1]):
                    same = found[path, number].setdefault(len(counts), [0] * len(counts))
                    found[path, number][len(counts)] = [a + b for a, b in zip(same, counts)]
    of_line = {at: [count for counts in instances.values() for count in reached(counts)] for at, instances in found.items()}
    passes_on = {at for at in of_line if re.search(r'\bTRY\(', texts[at[0]][at[1] - 1])
                 and not CONDITION.search(texts[at[0]][at[1] - 1].replace('TRY(', '('))}
    return of_line, passes_on


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    if '--keep' not in sys.argv:
        run_tests(build)
    lines, passes_on = lines_of(build)
    taken, all_, errors = collections.Counter(), collections.Counter(), collections.Counter()
    for at, counts in lines.items():
        for folder in (os.path.dirname(at[0]), 'all'):
            if at in passes_on:
                errors[folder] += any(counts) and 0 in counts
            else:
                all_[folder] += len(counts)
                taken[folder] += sum(count > 0 for count in counts)
    print('| folder | branches | taken | | errors that were never passed on |\n| --- | --- | --- | --- | --- |')
    for folder in [*sorted(set(all_) - {'all'}), 'all']:
        print(f'| `{folder}` | {all_[folder]} | {taken[folder]} | {100 * taken[folder] / all_[folder]:.1f} % | {errors[folder]} |')
    if '--never' in sys.argv:
        for (path, number), counts in sorted(lines.items()):
            if 0 in counts and ((path, number) not in passes_on or '--errors' in sys.argv):
                print(f'{path}:{number}: {counts} {(ROOT / path).read_text().splitlines()[number - 1].strip()}')


if __name__ == '__main__':
    main()
