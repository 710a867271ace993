#!/usr/bin/python3
"""Sentences of the documents that state a number of the sources, of a model or of an answer: facts.py SOURCE_TREE PROGRAM

Each row is a document, the sentence with {} where its numbers stand, and what they are. Every key that a document names is
one of the table of actions."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from faults import told

TREE, PROGRAM = pathlib.Path(sys.argv[1]), sys.argv[2]
WORDS = 'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen'.split()
OTHER_KEYS = 'Ctrl Enter', 'Ctrl Shift Enter', 'Shift Tab'  # of a training's form, and between controls
faults = []


def text(path):
    return (TREE / path).read_text(encoding='utf-8')


def constant(path, name):
    """The value of a constant in the sources: numbers, products and shifts."""
    found = re.search(rf'\b{name}\b(?: =|\{{)\s*([^;]*?)(?:, k[A-Z]|, \w+ =|;|\}};)', text(path))
    if not found:
        faults.append(f'{path}: expected the constant {name}, found none')
        return 0
    value = re.sub(r"within_memory\((.*)\)|(?:std::\w+|Index)\{(\d+)\}|(?<=\d)'(?=\d)", lambda m: m.group(1) or m.group(2) or '', found[1])
    value = re.sub(r'(?:std::\w+|Index)\{(\d+)\}|(?<=[\d.])[uf]\b', r'\1', value)
    if not re.fullmatch(r'[\d.e \-*/<()]+', value):
        faults.append(f'{path}: {name}: expected a number, found {value}')
        return 0
    return eval(value)  # digits and operators alone


def of(path, *names):
    return [constant(path, name) for name in names]


def counted(number):
    return f'{number:,}'


def mib(size):
    return f'{size >> 20} MiB' if size < 1 << 30 else f'{size >> 30} GiB'


def answer(*words):
    ran = subprocess.run([PROGRAM, *words], capture_output=True, env={**os.environ, 'OMP_NUM_THREADS': '1', 'HEADLIGHT_DATA': str(TREE)})
    return json.loads(ran.stdout)


def precision(head, relation, language):
    card = json.loads(text('assets/models/any-sentence/training.json'))
    one = next(arc for arc in card['arcs'] if (arc['head'], arc['relation'], arc['language']) == (head, relation, language))
    return round(100 * one['right'] / one['named']), one['named']


def weight(sentence, head, query, key):
    """In hundredths, of the shipped encoder: of a head from one word to another."""
    found = answer('export', '--text', sentence)
    tokens = [token['text'] for token in found['tokens']]
    layer, head = head
    return 100 * found['attention'][0]['attn'][layer][head][tokens.index(query)][tokens.index(key)]


def page_size(*words):
    """In MB; nothing where this build has no core for pages."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, 'page.html')
        subprocess.run([PROGRAM, 'page', *words, '-o', str(page)], capture_output=True, env={**os.environ, 'OMP_NUM_THREADS': '1'})
        return page.stat().st_size / 1e6 if page.exists() else None


def facts():
    formats, guide = 'docs/formats.md', 'docs/guide.md'
    lessons = len(list((TREE / 'assets/lessons').glob('*.json')))
    yield 'README.md', 'with {} short lessons', WORDS[lessons]
    config = lambda *names: (counted(constant('core/model/config.h', name)) for name in names)
    yield formats, '| d_model; heads; layers; columns of a feed-forward and of a head; fresh weights | {}; {}; {}; {}; {}; {} |', *config(
        'kMaxDModel', 'kMaxHeads', 'kMaxLayers', 'kMaxFfn', 'kMaxHeadDim', 'kMaxParameters')
    sizes = [('arrays of an `.npz`, as float32 | {}, or {} times the file where that is more; never more than {} |', mib(constant(
        'core/read/array/npz.h', 'kAnyNpzBytes')), *of('core/read/array/npz.h', 'kMostNpzInflation'),
        mib(constant('core/read/array/npz.h', 'kMostNpzBytes'))),
             ('objects and lists in a JSON file | {}, {} levels deep |', counted(constant('core/read/json/json_document.cpp', 'kMostJsonContainers')),
              constant('core/read/json/json_document.h', 'kMostJsonDepth')),
             ('a JSON file: attention, session, mask | {}, {}, {} |', *map(mib, (
                 *of('core/read/external/attention_json.cpp', 'kMostAttentionBytes'),
                 *of('app/question/json/document_json.h', 'kLargestSession'), *of('core/read/external/mask_file.cpp', 'kMostJsonBytes')))),
             ('header of a `.safetensors` file | {} |', mib(constant('core/read/array/safetensors.cpp', 'kMostHeaderBytes'))),
             ("`config.json`, a grammar; an index of shards, `tokenizer_config.json`; a tokenizer's other files | {}; {}; {} |", *map(mib, (
                 *of('core/read/hub/config_file.cpp', 'kMostConfigBytes'), *of('core/read/hub/weight_files.cpp', 'kMostIndexBytes'),
                 *of('core/read/tokenizer/vocabulary_files.h', 'kMostTokenizerBytes')))),
             ('a lesson; its steps; a text of a step | {}; {}; {} bytes |', mib(constant('app/lesson/lesson.cpp', 'kLargestLesson')),
              *map(counted, of('app/lesson/lesson.cpp', 'kMostSteps', 'kMostText'))),
             ('a text to train on with a tokenizer; a treebank; words of a sentence in it | {}; {}; {} |', mib(constant(
                 'tools/train/corpus/tokenized.h', 'kMostTextBytes')), mib(constant('tools/train/corpus/teaching.h', 'kMostTreebankBytes')),
              counted(constant('tools/train/corpus/teaching.cpp', 'kMostWords'))),
             ('where `only` some heads are in it | {}; {} |', mib(constant('tools/page/page.h', 'kMostPageBytes')),
              counted(constant('core/read/external/page_attention.cpp', 'kMostPartNumbers'))),
             ('files of weights that are open at a time | {} |', counted(constant('core/base/posix/mapped_file.cpp', 'kMostMappedFiles'))),
             ('a regular expression of a tokenizer | {} KiB, {} KiB once translated for ICU', *(size >> 10 for size in of(
                 'core/text/pattern.cpp', 'kMostPattern', 'kMostTranslated'))),
             ('a word of a WordPiece or Unigram vocabulary | {} bytes; ids below {} |', *map(counted, of(
                 'core/text/subwords.h', 'kLongestWord', 'kMostTokenIds'))),
             ('tokens of a sentence, of a tensors file, of a page | {}; {}; {}.', mib(constant('app/question/text_input.h', 'kMaxTextBytes')),
              counted(constant('app/question/text_input.h', 'kMaxSentences')), counted(constant('core/model/tokens.h', 'kMaxTokens'))),
             ("numbers of one's own; all numbers of a table | {}; {} |", mib(constant('core/read/external/own_numbers.cpp', 'kMostNumbersBytes')),
              counted(constant('core/read/external/own_numbers.h', 'kMostTableCells')))]
    yield from ((formats, *row) for row in sizes)
    yield guide, 'answered when it rests: {} seconds after the last key', constant('app/session/typing.h', 'kTextRests')
    yield guide, 'the new one in {} seconds', constant('app/gui/frame/motion.h', 'kFade')
    yield guide, 'Maps | of up to {} heads all, of more the {} to {} that show most', *(of('app/session/head_grid.h', name)[0] for name in (
        'kMostShown', 'kLeastShownHeads', 'kMostShown'))
    changes = lambda name: constant('app/derived/word_changes.h', name)
    yield guide, 'Below the guess stand up to {} changes', WORDS[changes('kMostOffered')]
    yield guide, 'than {:.0f} of 100 pairs of words are to each other; up to {} a position, none less than a {}th as probable', 100 * changes(
        'kNearerThan'), changes('kMostWordsTried'), round(1 / (changes('kLeastOfLikeliest') or 1))
    yield guide, 'At most {} answers', changes('kMostAnswers')
    yield guide, 'no mark, and is {:.0f} % or more there', 100 * changes('kMovedWeight')
    yield guide, 'gains or loses {:.0f} points or more', 100 * changes('kLeastShift')
    yield guide, 'works for up to {} tokens and {} MB of maps', constant('app/derived/fold.h', 'kMostFolded'), constant(
        'app/derived/fold.h', 'kMostFoldedCells') * 4 // 10 ** 6
    yield guide, 'both need a sentence of at most {} tokens', constant('core/model/trace.h', 'kThumbnail')
    yield guide, 'where the weight is at least {}, at least {:.0f} of 10 such cells', constant('core/heads/arc_labels.h', 'kLeastPointing'), \
        10 * constant('core/heads/arc_labels.h', 'kLeastPrecision')
    yield guide, 'more than {} tokens, nor', constant('core/heads/arc_labels.h', 'kMostArcTokens')
    shares = of('app/figure/head_name.h', 'kLeastShare', 'kLeastSpread', 'kEven')
    yield guide, 'the largest above {}; *spread out* where the normalised entropy is above {}, and always above {} (', *shares
    yield guide, 'print their weight from {} on', f'{constant("app/gui/frame/map_view.h", "kLeastPrinted"):g}'.lstrip('0')
    yield guide, 'No type is smaller than {} pt', constant('app/figure/page.h', 'kLeastType')
    sentence = 'The teacher gave the students a difficult test.'
    claims = answer('claims', 'shipped:any-sentence', '--text', sentence, '--format', 'json')
    arc = next(arc for arc in claims['arcs'] if arc['relation'] == 'det')
    yield guide, 'right in {} of 100 ({} measured)*', *precision(arc['head'], 'det', 'en')
    yield guide, '“The” → “teacher”, {:.0f} %', 100 * arc['weight']
    yield guide, 'Right in {} of 100 in real texts*', precision('3.7', 'IT', 'en')[0]
    tired = "The animal didn't cross the street because it was "
    yield guide, '`tired → wide: street {:.1f} → {:.0f} %`', *(weight(tired + word, (1, 5), 'it', 'street') for word in ('tired', 'wide'))
    yield 'docs/studies.md', 'the middle 95 % of {} samples of the pairs', counted(constant('tools/study/kept/summary.h', 'kDraws'))
    yield 'docs/studies.md', 'exact without ties up to {} pairs', constant('tools/study/kept/summary.cpp', 'kMostExact')
    yield 'docs/page.md', 'refuse a page of more than 10 MB; default: {:.0f} |', constant('tools/page/page.h', 'kMostPageBytes') / 1e6
    ten, english = ('--text', '我请李雷帮我订了去北京的机票'), ('shipped:any-sentence', '--text', 'The teacher gave the students a difficult test and')
    pages = [page_size(*words, *live) for words in (ten, english) for live in ((), ('--live',))]
    if all(pages):
        yield 'docs/page.md', '(2 layers × 8 heads) | {:.1f} MB, of which the core is 0.5; with `--live` {:.1f} MB |', *pages[:2]
        yield 'docs/page.md', '(4 × 9 heads) | {:.1f} MB; with `--live` {:.0f} MB |', *pages[2:]
    yield guide, 'The smallest window is {} × {}', *re.search(r'kLeastWindow\{(\d+), (\d+)\}', text('app/view/settings.h')).groups()
    words, most = constant('app/session/shown.h', 'kMostWords'), constant('app/view/view_state.h', 'kMostWordsOfStage')
    yield guide, '*Sentence* up to {} words; more than {} open as *Text*', most, constant('app/view/view_state.h', 'kUsualWordsOfStage')
    yield guide, 'Of more than {} tokens the axes show the indices', words
    yield guide, 'texts of more than {} tokens begin with the logarithmic one', words
    thin = constant('app/views/sentence/sentence_scene.h', 'kMostThinArcs')
    yield guide, 'where more than {} would stand, from more up', thin
    yield guide, 'which up to {} words open on, has the words of both with an arc for each weight that changed by {} or more, at most the {} largest', \
        words, f"{constant('app/views/compare/changes_scene.h', 'kLeastChange'):g}".lstrip('0'), thin
    yield guide, 'Of more than {} terms the largest are listed', constant('app/views/inside/matrix_figure.cpp', 'kMostTerms')
    yield (guide, 'all others come to more than {:.0f} % of the difference',
           100 * (1 - round(constant('app/derived/writer_split.h', 'kCarried'), 1)))
    yield guide, 'Sentences may have up to {} tokens. Patterns larger than', constant('app/session/state.h', 'kDetail')
    yield guide, '`--width column` is {} mm, `slide` {} mm, any other number millimetres; a PNG has {} dots an inch', *(of(
        'app/view/view_state.h', 'kColumnMm', 'kSlideMm') + of('app/paper/figure_file.h', 'kFigureDpi'))
    known = json.loads(text('assets/models/encoder/tokenizer.json'))['model']['vocab']
    yield guide, 'The shipped encoder knows {} words', sum(not word.startswith('<') for word in known)
    yield 'docs/pictures.md', 'more than {} pixels along a side or {} million in all', counted(constant('core/read/picture/resample.h', 'kMostPictureSide')), \
        constant('core/read/picture/resample.h', 'kMostPicturePixels') // 10 ** 6
    yield 'docs/agents.md', 'a message {};', constant('tools/mcp/mcp_tool.cpp', 'kMostMessage')
    yield 'docs/studies.md', 'a line may have {} MB', constant('tools/study/kept/rows.cpp', 'kMostLineBytes') >> 20
    yield 'docs/library.md', '`app/library/headlight.h` has {} functions', len(re.findall(r'^[^/\n]*\bheadlight_\w+\([^{]*?\);', text('app/library/headlight.h'), re.M))
    kept = {name: eval(re.search(rf'^    {name}: int = ([\d <]+)', text('python/headlight/follow.py'), re.M)[1]) for name in ('calls', 'memory')}
    yield 'docs/python.md', 'kept: {} calls and 2³⁰ bytes', counted(kept['calls'] if kept['memory'] == 1 << 30 else 0)
    yield 'docs/python.md', '{} sentences are read ahead', counted(int(re.search(r'^_AHEAD = (\d+)', text('python/headlight/engine.py'), re.M)[1]))
    shape = json.loads(text('assets/models/any-sentence/config.json'))
    yield 'docs/models.md', 'an encoder of {} layers, {} heads of d_k {}, d_model {}, feed-forward {},', *(shape[name] for name in (
        'num_hidden_layers', 'num_attention_heads', 'head_dim', 'hidden_size', 'intermediate_size'))
    yield 'docs/models.md', '{} MB in float16 with {} rows of words and pieces', round(os.path.getsize(
        TREE / 'assets/models/any-sentence/model.safetensors') / 1e6, 1), counted(shape['vocab_size'])


def chords():
    """The keys of the table of actions, as the documents write them."""
    names = {'slash': '?', 'left_bracket': '[', 'right_bracket': ']', 'equal': '=', 'minus': '-', 'backslash': '\\', 'semicolon': ';',
             'period': '.', 'up': '↑', 'down': '↓', 'left': '←', 'right': '→', 'escape': 'Esc'}
    ways = {'bare': '', 'shift': 'Shift ', 'ctrl': 'Ctrl ', 'ctrl_shift': 'Ctrl Shift ', 'alt': 'Alt ', 'alt_shift': 'Alt Shift '}
    for way, letter, name in re.findall(r"\b(bare|shift|ctrl|ctrl_shift|alt|alt_shift)\(Key(?:\{'(.)'\}|::(\w+))\)", text('app/gui/actions/actions.cpp')):
        yield ways[way] + (letter or names.get(name) or name.replace('_', ' ').title())


def check_walks():
    """Each room of the walks through the house has the names that are said to be in it."""
    rows = re.findall(r'^\| [^|]+ \| (`\w+/.*) \|$', text('docs/architecture.md').partition('## Ten walks')[2].partition('\n## ')[0], re.M)
    for room, names in re.findall(r'`(\w+/[\w/]+)` ((?:`\w+`(?:, )?)+)', ' · '.join(rows)):
        code = ''.join(path.read_text(encoding='utf-8') for path in (TREE / room).glob('*') if path.suffix in ('.h', '.cpp', '.py'))
        for name in re.findall(r'`(\w+)`', names):
            if not re.search(rf'\b{name}\b', code):
                faults.append(f'docs/architecture.md: expected {name} in {room}, found none')
    return len(rows)


def main():
    all_ = list(facts())
    if (walks := check_walks()) != 10:
        faults.append(f'docs/architecture.md: expected ten walks, found {walks}')
    for document, sentence, *values in all_:
        if sentence.format(*values) not in re.sub(r'\s+', ' ', text(document)):
            faults.append(f'{document}: expected {sentence.format(*values)!r}, found another sentence')
    known = {*chords(), *OTHER_KEYS}
    for document in sorted(TREE.glob('docs/*.md')) + [TREE / 'README.md', TREE / 'README.zh.md']:
        for key in re.findall(r'`((?:(?:Alt|Ctrl|Shift) )+(?:\S|[A-Z]\w+(?: [A-Z]\w+)?)|F\d)`', document.read_text(encoding='utf-8')):
            if key not in known:
                faults.append(f'{document.name}: expected a key of app/gui/actions/actions.cpp, found {key}')
    return told(faults, f'facts: {len(all_)} sentences, {len(known)} keys')


if __name__ == '__main__':
    sys.exit(main())
