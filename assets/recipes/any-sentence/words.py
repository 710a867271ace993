#!/usr/bin/env python3
"""Makes tokenizer.json of the any-sentence model: the words it knows, and how text is cut into words.

  words.py OUT.json --english FILE … --chinese FILE … --list DICT --keep GRAMMAR [--whole WORD …] [--english-words 8000] [--pieces 1500]
           [--chinese-words 8000] [--characters 3500] [--cut-words 60000]

--list: a word list with frequencies, a line each: word, count, anything (jieba's dict.txt). Chinese is cut along the
likeliest path over its --cut-words most frequent words and those of --keep; the model has rows for the --chinese-words most frequent of two
characters and more. English rows are the words that are frequent in every text, not in one of them: the mean, over the
texts, of the share of each word. Pieces are made of rarer words by byte-pair encoding (Sennrich et al. 2016) and
spelt as WordPiece has them (Wu et al. 2016): ##ing goes on. --keep: a grammar (assets/grammar.json), whose words always
have rows and are never cut, but for verbs with 了 着 过 得 and words with 的 or 地, which treebanks cut. --whole: words
that are not cut all the same. The same files give the same bytes.
"""
import argparse
import collections
import json
import math
import re
import sys
import unicodedata

SPECIALS = ['<pad>', '<s>', '<mask>', '<unk>']  # rows 0 to 3 of every model that is trained here
MARKS = list('.,;:!?\'"()-[]{}<>/\\@#$%^&*_+=|~`') + ['...', '--', '``', "''"] + list('，。、；：！？“”‘’（）《》【】〈〉「」『』—…·–') + ['——', '……']
CLITICS = ["n't", "'s", "'m", "'re", "'ve", "'ll", "'d"]
OTHER_LETTERS = 'ßæøœđðþłŋħıŧ'  # Latin letters that are no letter with a mark
HAN = re.compile('[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0002ffff]+')
EIGHTH = 8  # costs are kept in eighths of a nat


def folded(text):
    """As the tokenizer's normalizer: without marks above letters, in lower case, with straight apostrophes."""
    text = unicodedata.normalize('NFD', text.replace('’', "'").replace('‘', "'"))
    return ''.join(c for c in text if not unicodedata.combining(c)).lower()


def english_words(text):
    """As core/text/likely_words.h cuts Latin text."""
    for word in re.findall(r"[^\W_]+(?:'[^\W_]+)*", folded(text)):
        if word == 'cannot':
            yield from ('can', 'not')
            continue
        found = re.fullmatch(r"(.+)(n't|'s|'m|'re|'ve|'ll|'d)", word)
        yield from (found.groups() if found else (word,))


def merged(counts, size):
    """Byte-pair encoding: `size` pieces, the most frequent pair of neighbours joined again and again."""
    words = [(list(word), count) for word, count in counts.items()]
    pairs, places = collections.Counter(), collections.defaultdict(set)
    for index, (parts, count) in enumerate(words):
        for left, right in zip(parts, parts[1:]):
            pairs[left, right] += count
            places[left, right].add(index)
    pieces = []
    while len(pieces) < size and pairs:
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        if pairs[best] <= 0:
            break
        pieces.append(best[0] + best[1])
        for index in sorted(places.pop(best)):
            parts, count = words[index]
            for left, right in zip(parts, parts[1:]):
                pairs[left, right] -= count
            new, at = [], 0
            while at < len(parts):
                if tuple(parts[at:at + 2]) == best:
                    new.append(parts[at] + parts[at + 1])
                    at += 2
                else:
                    new.append(parts[at])
                    at += 1
            words[index] = new, count
            for left, right in zip(new, new[1:]):
                pairs[left, right] += count
                places[left, right].add(index)
        del pairs[best]
    return pieces


def grammar_words(path):
    """Every word of a grammar's sentences, as its file writes them."""
    def strings(value):
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for key, item in value.items():
                if key not in ('about', 'english', 'name', 'language', 'relations', 'choose'):
                    yield from strings(item)
        elif isinstance(value, list):
            for item in value:
                yield from strings(item)
    with open(path, encoding='utf-8') as file:
        grammar = json.load(file)
    words = []
    for text in strings({key: grammar[key] for key in ('lists', 'links', 'literals', 'kinds')}):
        for word in re.sub(r"\{[^}:]*:'([^']*)'[^}]*\}", r'\1', text).split():
            if not re.search(r'[\[\]{}.:=~\d]', word):
                words.append(word)
    return list(dict.fromkeys(words))


def read_lines(path):
    try:
        with open(path, encoding='utf-8') as file:
            return file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f'words.py: {path}: expected a text in UTF-8, found: {error}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out')
    parser.add_argument('--english', nargs='+', required=True)
    parser.add_argument('--chinese', nargs='+', required=True)
    parser.add_argument('--list', required=True)
    parser.add_argument('--keep', required=True)
    parser.add_argument('--whole', nargs='*', default=[])
    parser.add_argument('--english-words', type=int, default=8000)
    parser.add_argument('--pieces', type=int, default=1500)
    parser.add_argument('--chinese-words', type=int, default=8000)
    parser.add_argument('--characters', type=int, default=3500)
    parser.add_argument('--cut-words', type=int, default=60000)
    options = parser.parse_args()

    kept = [folded(word) for word in grammar_words(options.keep)]
    kept = [word for word in kept if "'" not in word and not re.search('.[了着过得的地]$', word)] + options.whole

    shares, total = collections.Counter(), collections.Counter()
    for path in options.english:
        counts = collections.Counter(word for line in read_lines(path) for word in english_words(line))
        size = sum(counts.values())
        for word, count in counts.items():
            shares[word] += count / size
        total.update(counts)
    latin = re.compile('[a-z]{2,}')
    english = CLITICS + ['a', 'i'] + [word for word in kept if re.fullmatch("[a-z']+", word)]
    english += sorted((word for word in shares if latin.fullmatch(word)), key=lambda word: (-shares[word], word))
    english = list(dict.fromkeys(english))[:options.english_words]
    rare = {word: count for word, count in total.items() if latin.fullmatch(word) and word not in set(english)}
    letters = [chr(c) for c in range(ord('a'), ord('z') + 1)] + [str(d) for d in range(10)] + list(OTHER_LETTERS)
    pieces = letters + ['##' + letter for letter in letters]
    made = merged(rare, options.pieces)
    # A piece that begins words is seldom one that goes on, and the other way round: both are counted.
    begins, goes_on = collections.Counter(), collections.Counter()
    for word, count in rare.items():
        for piece_end in range(2, len(word)):
            begins[word[:piece_end]] += count
        for at in range(1, len(word)):
            for end in range(at + 2, min(len(word), at + 12) + 1):
                goes_on[word[at:end]] += count
    ranked = [(goes_on[piece], '##' + piece) for piece in made]
    ranked += [(begins[piece], piece) for piece in made if piece not in set(english)]
    pieces += [piece for _, piece in sorted(ranked, key=lambda item: (-item[0], item[1]))[:max(0, options.pieces - len(pieces))]]

    frequency = {}
    for line in read_lines(options.list):
        fields = line.split()
        if len(fields) >= 2 and HAN.fullmatch(fields[0]):
            frequency[fields[0]] = max(frequency.get(fields[0], 0), int(fields[1]))
    corpus_characters = collections.Counter()
    for path in options.chinese:
        for line in read_lines(path):
            corpus_characters.update(c for run in HAN.findall(line) for c in run)
    ranked_words = sorted(frequency, key=lambda word: (-frequency[word], word))
    chinese_kept = [word for word in kept if HAN.fullmatch(word)]
    cut = set(ranked_words[:options.cut_words]) | set(chinese_kept)
    chinese = [word for word in chinese_kept if len(word) > 1]
    chinese += [word for word in ranked_words if len(word) > 1]
    chinese = list(dict.fromkeys(chinese))[:options.chinese_words]
    character = collections.Counter()
    for word, count in frequency.items():
        for c in word:
            character[c] += count
    listed, own = sum(character.values()), sum(corpus_characters.values())
    weight = {c: character[c] / listed + corpus_characters[c] / max(1, own) for c in set(character) | set(corpus_characters)}
    characters = sorted(weight, key=lambda c: (-weight[c], c))[:options.characters]

    # A word that is kept costs less than the likeliest way to cut it.
    whole = sum(frequency[word] for word in cut if word in frequency)
    cost = {word: -math.log(max(1, frequency[word]) / whole) for word in cut if word in frequency}
    highest = max(cost.values())

    def cheapest(word):
        best = [0.0] + [math.inf] * len(word)
        for end in range(1, len(word) + 1):
            for begin in range(end):
                part = word[begin:end]
                if part != word:
                    one = cost.get(part, highest + 2 if len(part) == 1 else math.inf)
                    best[end] = min(best[end], best[begin] + one)
        return best[len(word)]

    for word in sorted(chinese_kept):
        if len(word) > 1:
            cost[word] = min(cost.get(word, math.inf), max(1.0, cheapest(word) - 1))
    classes = collections.defaultdict(list)
    for word, value in cost.items():
        classes[round(value * EIGHTH)].append(word)

    rows = SPECIALS + MARKS
    rows += [f'<0x{byte:02X}>' for byte in [*range(0x80, 0xC0), *range(0xE3, 0xEA), 0xF0]]
    rows += english + pieces + chinese + characters
    rows += [word for word in kept if not re.fullmatch("[a-z']+", word) and not HAN.fullmatch(word)]
    rows = list(dict.fromkeys(rows))
    tokenizer = {
        'version': '1.0', 'truncation': None, 'padding': None,
        'added_tokens': [{'id': row, 'content': word, 'single_word': False, 'lstrip': False, 'rstrip': False,
                          'normalized': False, 'special': True} for row, word in enumerate(SPECIALS)],
        'normalizer': {'type': 'Sequence', 'normalizers': [
            {'type': 'Replace', 'pattern': {'String': '’'}, 'content': "'"},
            {'type': 'Replace', 'pattern': {'String': '‘'}, 'content': "'"},
            {'type': 'NFD'}, {'type': 'StripAccents'}, {'type': 'NFC'}, {'type': 'Lowercase'}]},
        'pre_tokenizer': {'type': 'Words', 'costs': [
            [steps / EIGHTH, ' '.join(sorted(words))] for steps, words in sorted(classes.items())]},
        'post_processor': {
            'type': 'TemplateProcessing',
            'single': [{'SpecialToken': {'id': '<s>', 'type_id': 0}}, {'Sequence': {'id': 'A', 'type_id': 0}}],
            'pair': [{'SpecialToken': {'id': '<s>', 'type_id': 0}}, {'Sequence': {'id': 'A', 'type_id': 0}},
                     {'SpecialToken': {'id': '<s>', 'type_id': 0}}, {'Sequence': {'id': 'B', 'type_id': 0}}],
            'special_tokens': {'<s>': {'id': '<s>', 'ids': [1], 'tokens': ['<s>']}}},
        'decoder': None,
        'model': {'type': 'WordPiece', 'unk_token': '<unk>', 'continuing_subword_prefix': '##',
                  'max_input_chars_per_word': 100, 'character_fallback': True,
                  'vocab': {word: row for row, word in enumerate(rows)}}}
    with open(options.out, 'w', encoding='utf-8') as file:
        json.dump(tokenizer, file, ensure_ascii=False, separators=(',', ':'))
        file.write('\n')
    print(f'{len(rows)} rows: {len(english)} English words, {len(pieces)} pieces, {len(chinese)} Chinese words, '
          f'{len(characters)} characters; {len(cost)} words to cut by')


if __name__ == '__main__':
    main()
