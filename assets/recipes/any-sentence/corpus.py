#!/usr/bin/env python3
"""Makes the texts that the any-sentence model is trained on, out of Debian packages: one sentence a line, each once.

  corpus.py OUT [--debs DIR]

Packages are fetched with `apt-get download` into DIR (OUT/debs unless told), compared with the checksums below and
unpacked there; nothing is installed. OUT receives en-story.txt, en-essay.txt, en-manual.txt, zh-story.txt,
zh-manual.txt, and sources.tsv: package, version, licence, checksum, sentences and bytes of each.
The same packages give the same bytes. Needs Debian 12 or its package archive, and Python 3.9; no other package.
"""
import argparse
import glob
import gzip
import hashlib
import html
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib
from collections import namedtuple

Source = namedtuple('Source', 'package version sha256 licence read')
HAN = '\u4e00-\u9fff'


# --- what a sentence is -------------------------------------------------------------------------------------------

PLAIN = str.maketrans({'\u2018': "'", '\u2019': "'", '\u201c': '"', '\u201d': '"', '\u2013': '-', '\u2014': ' - ',
                       '\u2026': '...', '\u00a0': ' ', '\u00ad': '', '\u200b': ''})
ABBREVIATION = re.compile(r'\b(?:Mr|Mrs|Ms|Dr|St|Prof|Capt|Gen|Sir|Jr|Sr|vs|etc|cf|e\.g|i\.e|No|Vol|Fig|approx)\.$')
ENGLISH_WORD = re.compile(r"""["'(]*[A-Za-z][a-z]*(?:['-][A-Za-z]+)*["'),.;:!?]*""")
ENGLISH_MARKUP = re.compile(r'[<>{}\[\]\\=_|@#$%^*~`/+&]|\w\.\w|\(\d\)|::|\.{4}|--|[^\x00-\x7f]')
CHINESE_MARKUP = re.compile(r'[<>{}\[\]\\=_|@#$%^*~`/+&;]|[a-z]{13}|--|::|\w\.\w')


def english(paragraph):
    """Sentences of a paragraph: 3 to 40 words, a capital first, a stop last, nine of ten words plain."""
    parts, pending = re.split(r'(?<=[.!?])["\')]*\s+(?=["\'(]*[A-Z])', paragraph.translate(PLAIN)), ''
    for part in parts:
        pending = f'{pending} {part}'.strip()
        if ABBREVIATION.search(pending):
            continue
        sentence, pending = re.sub(r'\s+', ' ', pending).strip('" '), ''
        words = sentence.split()
        if (3 <= len(words) <= 40 and re.match(r'["\'(]*[A-Z]', sentence) and re.search(r'[.!?]["\')]*$', sentence)
                and not ENGLISH_MARKUP.search(sentence)
                and sum(bool(ENGLISH_WORD.fullmatch(word)) for word in words) >= .9 * len(words)
                and sum(word[0].isupper() for word in words) <= .4 * len(words)):
            yield sentence


def chinese(paragraph):
    """Sentences of a paragraph: 4 to 60 Chinese characters, hardly anything else."""
    text = re.sub(rf'(?<=[{HAN}，。、；：！？]) +| +(?=[{HAN}，。、；：！？])', '', re.sub(r'\s+', ' ', paragraph))
    text = text.replace('「', '“').replace('」', '”').replace('『', '‘').replace('』', '’')
    for sentence in re.findall(r'[^。！？]+[。！？]+[”’）]*', text):
        sentence = sentence.strip()
        if not re.search(r'\d,\d', sentence):
            sentence = sentence.replace(',', '，')
        characters = len(re.findall(f'[{HAN}]', sentence))
        marks = len(re.findall('[，。、；：！？“”‘’（）《》—…]', sentence))
        if 4 <= characters <= 60 and characters + marks >= .88 * len(sentence) and not CHINESE_MARKUP.search(sentence):
            yield sentence


def paragraphs(text):
    return (re.sub(r'\s+', ' ', part).strip() for part in re.split(r'\n\s*\n', text))


def sentences(language, text):
    cut = english if language == 'en' else chinese
    return (sentence for paragraph in paragraphs(text) for sentence in cut(paragraph))


# --- how packages hold text ---------------------------------------------------------------------------------------
# A reader takes the unpacked folder and gives (language, sentence).

def files(root, *patterns):
    return [path for pattern in patterns for path in sorted(glob.glob(os.path.join(root, pattern), recursive=True))]


def text_of(path):
    with (gzip.open if path.endswith(('.gz', '.dz')) else open)(path, 'rb') as file:
        return file.read().decode('utf-8', 'replace')


def without_tags(text):
    text = re.sub(r'(?s)<!--.*?-->|<(script|style|pre|table)\b.*?</\1>', ' ', text)
    text = re.sub(r'(?i)</?(?:p|div|li|h\d|dd|dt|br|title|section|note|item|ul|ol|dl)\b[^>]*>', '\n\n', text)
    return html.unescape(re.sub(r'<[^>]+>', '', text))


def pages(language, *patterns):
    def read(root):
        for path in files(root, *patterns):
            for sentence in sentences(language, without_tags(text_of(path))):
                yield language, sentence
    return read


def texts(language, *patterns, clean=lambda text: text):
    def read(root):
        for path in files(root, *patterns):
            for sentence in sentences(language, clean(text_of(path))):
                yield language, sentence
    return read


def catalogue(path):
    """(English, Chinese) of a compiled message catalogue (GNU gettext, "The Format of GNU MO Files")."""
    data = open(path, 'rb').read()
    order = '<' if data[:4] == b'\xde\x12\x04\x95' else '>'
    count, originals, translations = struct.unpack_from(order + '8xIII', data)
    for index in range(count):
        pair = []
        for table in (originals, translations):
            length, at = struct.unpack_from(order + 'II', data, table + 8 * index)
            pair.append(data[at:at + length].split(b'\0')[0].decode('utf-8', 'replace').split('\x04')[-1])
        if pair[0]:
            yield pair


def translated(*patterns):
    def read(root):
        for path in files(root, *patterns):
            for pair in catalogue(path):
                same = pair[0] == pair[1]
                for language, text in zip(('en', 'zh'), pair[:1] if same else pair):
                    text = re.sub(r'<[^>]+>|\^|\\n', ' ', text)
                    for sentence in sentences(language, text):
                        yield language, sentence
    return read


def portable_catalogue(*patterns):
    """Of .po files, the same."""
    def read(root):
        for path in files(root, *patterns):
            for entry in re.findall(r'msgid ((?:"[^\n]*"\s*)+)msgstr ((?:"[^\n]*"\s*)+)', text_of(path)):
                for language, quoted in zip(('en', 'zh'), entry):
                    text = ''.join(re.findall(r'"([^\n]*)"\s*\n', quoted + '\n')).replace('\\n', '\n\n')
                    for sentence in sentences(language, text.replace('\\"', '"')):
                        yield language, sentence
    return read


def quoted(pattern, *patterns):
    """English between quotation marks of a program's data."""
    def read(root):
        for path in files(root, *patterns):
            for groups in re.findall(pattern, text_of(path)):
                for sentence in sentences('en', ''.join(groups)):
                    yield 'en', sentence
    return read


def wordnet(root):
    """The examples of WordNet's entries; the definitions are no sentences."""
    for path in files(root, '**/data.*'):
        for line in text_of(path).splitlines():
            for example in re.findall(r'"([^"]{12,})"', line.partition(' | ')[2]):
                ended = example[0].upper() + example[1:] + ('' if example[-1] in '.!?' else '.')
                for sentence in english(ended):
                    yield 'en', sentence


def janeausten(root):
    """Lines of novels in a database of R: zlib streams of serialised strings (R internals, section 1.8)."""
    for path in files(root, '**/data/Rdata.rdb'):
        data, at = open(path, 'rb').read(), 0
        while True:
            at = data.find(b'x\x9c', at)
            if at < 0:
                return
            try:
                stream = zlib.decompressobj()
                content = stream.decompress(data[at:])
            except zlib.error:
                at += 1
                continue
            at = len(data) - len(stream.unused_data)
            lines, place = [], 0
            for found in re.finditer(rb'\x00\x04\x00\x09', content):
                if found.start() < place:
                    continue
                length, = struct.unpack_from('>i', content, found.end())
                place = found.end() + 4 + max(0, length)
                lines.append(content[found.end() + 4:place].decode('latin-1'))
            for sentence in sentences('en', re.sub(r'_', '', '\n'.join(lines))):
                yield 'en', sentence


def manual_pages(text):
    text = re.sub(r'(?m)^\.(?:PP|TP|SH|SS|P|LP|IP|br|sp).*$', '\n\n', text)
    text = re.sub(r'(?m)^\.(?:B|I|BR|IR|BI|RB)\s+', '', text)
    return re.sub(r'\\f.|\\(?=[-&])', '', re.sub(r"(?m)^[.'].*$", '', text))


def both(*readers):
    def read(root):
        for reader in readers:
            yield from reader(root)
    return read


# --- the packages -------------------------------------------------------------------------------------------------

KINDS = {
    'story': [
        Source('cataclysm-dda-data', '0.F-3-9', 'cd0c097169fe364fdb6bcdab77663d24920a063387ce2fbf1b5d3be01c141105', 'CC-BY-SA-3.0',
               translated('usr/share/locale/zh_CN/**/*.mo')),
        Source('wesnoth-1.16-data', '1:1.16.9-1', '1012b964bd412a6770685e3324ae3b61e176caff7846192d1ee63d55cd621e26', 'GPL-2+', translated('**/zh_CN/**/*.mo')),
        Source('freeciv-data', '3.0.6-1+deb12u1', '278bed022b87408ca9923aa727bef3d6c97875c811723e93ff95dded1b9b76b2', 'GPL-2+', translated('**/zh_CN/**/*.mo')),
        Source('flare-game', '1.14-1', '4ab6a8298276013d35a0806257e130d992761af1b749041433b409c3dafec508', 'CC-BY-SA-3.0', portable_catalogue('**/languages/data.zh.po')),
        Source('endless-sky-data', '0.9.8-1.2', 'e45835e05a11e84bb1a890a0ded390246a53b8318f21a25925aa70fa54f80c13', 'GPL-3+', quoted(r'[`"]([^`"\n]{15,})[`"]', '**/data/**/*.txt')),
        Source('naev-data', '0.8.2-1', 'a98849cacdfc72779e03ceb68f32af03cb3c3f382ba8b82e3299ef87254b454d', 'GPL-3',
               quoted(r'(?s)\[\[(.{15,}?)\]\]|_\("([^"\n]{15,})"\)|<(?:description|bar|text)>(.*?)</',
                      '**/*.lua', '**/*.xml')),
        Source('wordnet-base', '1:3.0-37', '61060d960f9ada8fa120872312eccd3ecebfbab8c4579e4f5a74e1cf67620752', 'WordNet', wordnet),
        Source('r-cran-janeaustenr', '1.0.0-1', 'df6bddf211906d1ff404f8ff662c21b34e6660e7f54a311084e749050c019c95', 'MIT; the novels are in the public domain', janeausten),
        Source('fortunes-zh', '2.98', '211c5ddee59d0ae74ce01cbfd02f7c8714740bae1835d5661eb2254edd739105', 'GPL-3+',
               texts('zh', '**/fortunes/chinese', clean=lambda text: re.sub(r'\x1b\[[\d;]*m', '', text))),
    ],
    'essay': [
        Source('anarchism', '15.3-3', 'cf21c10948b00e923c62eb31c39a3390413fa26c5ee0e3b925feb0ec7fe42948', 'GPL-2+', pages('en', '**/*.html')),
    ],
    'manual': [
        Source('libreoffice-help-en-us', '4:7.4.7-1+deb12u14', '8faa840285734d6cfe1ed25537b48f07e74bd6412e3917bf8e5f8a653f7b3712', 'MPL-2.0', pages('en', '**/*.html')),
        Source('libreoffice-help-zh-cn', '4:7.4.7-1+deb12u14', 'db867cdece4c2f9c7eebe65e519c6cf386fdcf49d6e061db3dffec893b3e1dee', 'MPL-2.0', pages('zh', '**/*.html')),
        Source('gimp-help-en', '2.10.34-2', 'a2deec76763aaf2fcdd197bac0736cdcb0770ba993d48d233329e1c92b0bfe36', 'GFDL-1.2+', pages('en', '**/*.html')),
        Source('gnome-user-docs', '43.0-2', '0d635a840747958ca84da778b40d341f1155603851f922c9a171f5a181d6a39f', 'CC-BY-SA-3.0',
               both(pages('en', 'usr/share/help/C/**/*.page'), pages('zh', 'usr/share/help/zh_CN/**/*.page'))),
        Source('debian-handbook', '11.20220922', '3d5dbeac1f1afc9c094eab9d0f701f6ecff99c4927d5a4794cf6c85678134faa', 'GPL-2+ or CC-BY-SA-3.0',
               both(pages('en', '**/en-US/**/*.html'), pages('zh', '**/zh-CN/**/*.html'))),
        Source('debian-reference-en', '2.100', '9f31d3a17df505de09689ca255512ea58c1fc47c59bb1b0c7bf1c23362e9743f', 'GPL-2+', pages('en', '**/*.en.html')),
        Source('debian-reference-zh-cn', '2.100', '6d2d8d9a646397e28b04cdff23d2e4374101ebf9be348e35961af62c8a2d0977', 'GPL-2+', pages('zh', '**/*.zh-cn.html')),
        Source('installation-guide-amd64', '20230508+deb12u1', '812c43e1dc906daf671e3efe953dc023205c238e5bd5a3021ce4ca142793573a', 'GPL-2+', pages('zh', '**/zh_CN/**/*.html')),
        Source('manpages-zh', '1.6.4.0-1', '81bae29495f6445db290e3f329f1203eb19b651c2a7ea165b74ebdc853a32ac1', 'GFDL-1.2+',
               texts('zh', 'usr/share/man/zh_CN/**/*.gz', clean=manual_pages)),
    ],
}

# The word list, for words.py.
WORDS = Source('python3-jieba', '0.42.1-3', '44e3fb01421b1710e08245eae02416a2d07e9bb08887d96de5b60d58e3d39caa', 'Expat', lambda root: ())


def stop(line):
    sys.exit(f'corpus.py: {line}')


def unpacked(source, folder):
    """The folder of the unpacked package; one line and an end where it cannot be had."""
    version = source.version.replace(':', '%3a')
    found = glob.glob(os.path.join(glob.escape(folder), f'{source.package}_{version}_*.deb'))
    if not found:
        wanted = f'{source.package}={source.version}'
        try:
            run = subprocess.run(['apt-get', 'download', '-q', wanted], cwd=folder, capture_output=True, text=True)
        except OSError as error:
            stop(f'apt-get: expected a program that fetches {wanted}, found: {error.strerror}')
        found = glob.glob(os.path.join(glob.escape(folder), f'{source.package}_{version}_*.deb'))
        if run.returncode or not found:
            stop(f'{wanted}: expected a package that apt can fetch, found: '
                 f'{(run.stderr.strip().splitlines() or ["nothing"])[-1]}')
    digest = hashlib.sha256()
    with open(found[0], 'rb') as file:
        for block in iter(lambda: file.read(1 << 20), b''):
            digest.update(block)
    if digest.hexdigest() != source.sha256:
        stop(f'{found[0]}: sha256: expected {source.sha256}, found {digest.hexdigest()}')
    target = os.path.join(folder, 'unpacked', source.package)
    if not os.path.isdir(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        half = target + '.part'
        shutil.rmtree(half, ignore_errors=True)
        try:
            run = subprocess.run(['dpkg-deb', '-x', found[0], half], capture_output=True, text=True)
        except OSError as error:
            stop(f'dpkg-deb: expected a program that unpacks {found[0]}, found: {error.strerror}')
        if run.returncode:
            shutil.rmtree(half, ignore_errors=True)
            stop(f'{found[0]}: expected a package that can be unpacked, found: '
                 f'{(run.stderr.strip().splitlines() or ["nothing"])[-1]}')
        os.rename(half, target)
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out')
    parser.add_argument('--debs')
    options = parser.parse_args()
    debs = options.debs or os.path.join(options.out, 'debs')
    os.makedirs(options.out, exist_ok=True)
    os.makedirs(debs, exist_ok=True)
    unpacked(WORDS, debs)
    seen, lines, table = set(), {}, []
    for kind, sources in KINDS.items():
        for source in sources:
            count = {'en': [0, 0], 'zh': [0, 0]}
            for language, sentence in source.read(unpacked(source, debs)):
                if sentence in seen:
                    continue
                seen.add(sentence)
                lines.setdefault(f'{language}-{kind}', []).append(sentence)
                count[language][0] += 1
                count[language][1] += len(sentence.encode())
            for language, (number, size) in count.items():
                if number:
                    table.append((source.package, source.version, source.licence, source.sha256,
                                  f'{language}-{kind}.txt', str(number), str(size)))
                    print('\t'.join(table[-1][i] for i in (0, 4, 5, 6)))
    for name, own in lines.items():
        path = os.path.join(options.out, name + '.txt')
        with open(path + '.part', 'w', encoding='utf-8') as file:
            file.write('\n'.join(own) + '\n')
        os.rename(path + '.part', path)
    with open(os.path.join(options.out, 'sources.tsv'), 'w', encoding='utf-8') as file:
        file.write('package\tversion\tlicence\tsha256\tfile\tsentences\tbytes\n')
        file.writelines('\t'.join(row) + '\n' for row in table)


if __name__ == '__main__':
    main()
