#!/usr/bin/python3
"""Follows the recipes of docs/contributing.md: follow.py [--check] SOURCE_TREE [FOLDER]

Copies the tree into FOLDER, adds to it a test, a tool, a command, a view, an analysis and a family by doing what each
recipe says and nothing else (recipes.py), builds, and runs the tests that came with them beside those that such a change
can break. `--check` builds nothing: whether the places of each recipe are there, and whether the document names each file
that it touches. Exit status 77: python3-torch, which writes the golden answers of the family, is not installed."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from recipes import CHANGES, HEADINGS

HERE = pathlib.Path(__file__).resolve().parent
# Programs with the tests of each recipe, beside those that a list that is not complete fails.
TESTS = {'tests_core': 'Followed.*:Checkpoint.RefusesConfigurations*', 'tests_session': 'WordCount.*:NewAnalysis.*',
         'tests_math': '*family_followed*',
         'tests_app': 'FollowedTool.*:Largest.*:FollowedViewTest.*:Words*:Keys*:SceneTest.*'}


def added(recipe):
    return sorted(file.relative_to(HERE / recipe) for file in (HERE / recipe).rglob('*') if file.is_file())


def section(document, heading):
    found = re.search(rf'^### {heading}$(.*?)(?=^##)', document, re.M | re.S)
    return found.group(1) if found else ''


def is_named(path, text, is_new):
    """By its path from a room on, or, what is new, by its folder, in which NAME stands for its own."""
    general = pathlib.PurePath(re.sub('followed|largest|word_count', 'NAME', str(path)))
    if is_new:
        return f'`{general.parent}`' in text or f'`{general}`' in text or f'`{general.with_suffix("")}' in text
    return any('/'.join(general.parts[begin:]) in text for begin in range(len(general.parts)))


def faults(source):
    document = (source / 'docs/contributing.md').read_text()
    for recipe, changes in CHANGES.items():
        text = section(document, HEADINGS[recipe])
        if not text:
            yield f'docs/contributing.md: expected the heading {HEADINGS[recipe]}, found none'
        for path, old, _ in changes:
            count = (source / path).read_text().count(old)
            if count != 1:
                yield f'{recipe}: {path}: expected {old!r} once, found it {count} times'
        new = set(added(recipe))
        for path in sorted({pathlib.PurePath(path) for path, _, _ in changes} | new):
            if not is_named(path, text, path in new):
                yield f'docs/contributing.md: {HEADINGS[recipe]}: expected {path}, found no word of it'


def copy(source, house):
    files = subprocess.run(['git', '-C', source, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], check=True,
                           capture_output=True).stdout.decode().split('\0')
    for file in filter(None, files):
        if (source / file).is_file():
            (house / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / file, house / file)


def raised(house):
    """The limits of the house, which each recipe raises by its lines."""
    file = house / 'tests/smoke/sizes.sh'
    more = lambda found: f'{found.group(1)}{int(found.group(2)) + 200}'
    text = re.sub(r'(\[(?:core|app)\]=)(\d+)', more, file.read_text())
    file.write_text(text.replace('most_files=30', 'most_files=31'))


def follow(house):
    raised(house)
    for recipe, changes in CHANGES.items():
        for path in added(recipe):
            (house / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(HERE / recipe / path, house / path)
        for path, old, new in changes:
            text = (house / path).read_text()
            (house / path).write_text(text.replace(old, new))


def run(house, *words, **environment):
    subprocess.run(list(map(str, words)), cwd=house, check=True, env={**os.environ, **environment})


def main():
    words = sys.argv[1:]
    check = '--check' in words
    source, *rest = [pathlib.Path(word).resolve() for word in words if word != '--check']
    found = list(faults(source))
    print(*found, sep='\n', end='\n' * bool(found), file=sys.stderr)
    if check or found:
        sys.exit(bool(found))
    if subprocess.run(['/usr/bin/python3', '-c', 'import torch'], capture_output=True).returncode:
        print('follow: expected python3-torch, found none')
        sys.exit(77)
    house = rest[0]
    copy(source, house)
    follow(house)
    run(house, '/usr/bin/python3', 'tests/golden/make_families.py', 'followed')
    run(house, 'cmake', '--preset', 'release')
    run(house, 'cmake', '--build', '--preset', 'release', '--target', 'headlight', *TESTS)
    build = house / 'build/release'
    for program, filter_ in TESTS.items():
        run(house, build / 'tests' / program, '--gtest_filter=' + filter_, '--gtest_brief=1')
    run(house, 'tests/smoke/sizes.sh', house)
    run(house, 'tests/smoke/contract.sh', build / 'headlight')
    run(house, 'tests/smoke/named.sh', build / 'headlight', house)
    run(house, 'ctest', '--test-dir', build, '-R', '^direction|^unique_names', '--output-on-failure')


if __name__ == '__main__':
    main()
