#!/usr/bin/python3
"""README.zh.md says what README.md says: two_languages.py SOURCE_TREE

Block by block (heading, paragraph, point of a list, row of a table, code) both have the same commands, links, keys,
examples and numbers, and a control that one names is the other's name of it (app/words/words.json)."""

import collections
import json
import pathlib
import re
import sys

from faults import told

TREE = pathlib.Path(sys.argv[1])
ONLY_IN_CHINESE = ['以下文档为英文。']  # the documents behind the links are English
DIGITS = {word: at for at, word in enumerate('零 一 二 三 四 五 六 七 八 九 十'.split())} | {'两': 2}
WORDS = {word: at for at, word in enumerate(
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen'.split())}
faults = []


def blocks(name):
    """(kind, text), in order."""
    found, code = [], None
    for line in (TREE / name).read_text(encoding='utf-8').splitlines() + ['']:
        if line.startswith('```'):
            found.append(['code', line]) if code is None else found[-1].__setitem__(1, code)
            code = line if code is None else None
        elif code is not None:
            code += '\n' + re.sub(r'\s+#\s(?!exit status).*', '', line)  # comments are each in their language
        elif not line.strip():
            found.append(['', ''])
        elif line.startswith(('#', '|', '!')) or re.match(r'\d+\. ', line) or not found[-1][1]:
            found.append([re.match(r'#+|\||!|\d+\.|', line).group(0), line])
        else:
            found[-1][1] += ' ' + line.strip()
    return [(kind, text) for kind, text in found if text and text not in ONLY_IN_CHINESE]


def chinese_number(text):
    tens, ten, ones = text.partition('十')
    return (DIGITS.get(tens, 1) * 10 + DIGITS.get(ones, 0)) if ten else DIGITS[text]


def numbers(text):
    """Those of three and more in words, and all in digits."""
    found = [int(digits) for digits in re.findall(r'(?<![\w.])\d+(?![\w.]*\w)', text)]
    found += [WORDS[word] for word in re.findall(r'[a-z]+', text.lower()) if WORDS.get(word, 0) > 2]
    found += [chinese_number(word) for word in re.findall('[一二三四五六七八九]?十[一二三四五六七八九]?|[三四五六七八九]', text)]
    return collections.Counter(found)


def controls():
    """The Chinese names of an English one."""
    names = collections.defaultdict(set)

    def walk(value):
        if isinstance(value, list) and len(value) == 2 and all(isinstance(one, str) for one in value):
            names[value[0].lower()].add(value[1])
        elif isinstance(value, (list, dict)):
            for one in value.values() if isinstance(value, dict) else value:
                walk(one)
    walk(json.loads((TREE / 'app/words/words.json').read_text(encoding='utf-8')))
    return names


def agree(what, english, chinese, at):
    if english != chinese:
        faults.append(f'README.zh.md: {at[:60]!r}: expected {what} {sorted(map(str, (english - chinese)))}, '
                      f'found {sorted(map(str, (chinese - english)))}')


def compare(english, chinese, names):
    spans = lambda text: collections.Counter(re.findall(r'`([^`]+)`', text))
    links = lambda text: collections.Counter(re.findall(r'\]\(([^)]+)\)', text.replace('README.zh.md', 'README.md')))
    agree('the code', spans(english), spans(chinese), chinese)
    agree('the links', links(english), links(chinese), chinese)
    agree('the heads', *(set(re.findall(r'L\d+·H\d+', text)) for text in (english, chinese)), chinese)
    plain = [re.sub(r'`[^`]+`|\]\([^)]+\)|\*\*', '', text) for text in (english, chinese)]
    examples = [collections.Counter(re.findall(r'\*([^*]+)\*', text)) for text in plain]
    quoted = re.findall('“([^”]+)”', plain[1])
    for one in (examples[0] - examples[1]).elements():
        known = names.get(one.lower(), set())
        if known & set(quoted):
            quoted.remove(next(iter(known & set(quoted))))
        else:
            faults.append(f'README.zh.md: {chinese[:60]!r}: expected “{"” or “".join(known) or one}”, found none of *{one}*')
    for one in [*(examples[1] - examples[0]), *quoted]:
        if one not in english:
            faults.append(f'README.md: {english[:60]!r}: expected {one}, found none')
    agree('the numbers', *(numbers(re.sub(r'“[^”]*”|\*[^*]+\*|[\u4e00-\u9fff]+' if which == 0 else '“[^”]*”', '', text))
                           for which, text in enumerate(plain)), chinese)


def main():
    names = controls()
    english, chinese = blocks('README.md'), blocks('README.zh.md')
    for at in range(max(len(english), len(chinese))):
        kinds = [side[at] if at < len(side) else ('none', '') for side in (english, chinese)]
        if kinds[0][0] != kinds[1][0]:
            faults.append(f'README.zh.md: expected a block like {kinds[0][1][:60]!r}, found {kinds[1][1][:60]!r}')
            break
        if kinds[0][0] == 'code':
            agree('the lines', *(collections.Counter(text.splitlines()) for _, text in kinds), kinds[1][1])
        else:
            compare(kinds[0][1], kinds[1][1], names)
    return told(faults, f'two languages: {len(english)} blocks')


if __name__ == '__main__':
    sys.exit(main())
