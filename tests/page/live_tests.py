"""What the reader changes is computed as the program computes it."""

import json
import random
import subprocess

from page_setting import CHINESE_AND_ENGLISH, SENTENCE, expect, flat, largest_difference, page_weights


def test_mask_is_live(s):
    """The first layer's q and k do not depend on the mask: there the page must say what the program says."""
    s.open(s.page('live-mask', '--text', SENTENCE))
    for mask in ('causal', 'none'):
        s.browser.js(f'headlight.set({{mask: "{mask}"}})')
        expected = s.export('--text', SENTENCE, '--mask', mask)['attention'][0]['attn'][0]
        for head, rows in enumerate(expected):
            found = page_weights(s.browser, 'Self', 0, head)
            far = max(abs(a - b) for a, b in zip(flat(rows), found))
            expect(far <= s.browser.js('headlight.state().error'), f'{mask} 0.{head}: off by {far}')
    s.browser.js('headlight.set({scale: 0.6})')
    expected = s.export('--text', SENTENCE, '--scale', '0.6')['attention'][0]['attn'][0][2]
    far = max(abs(a - b) for a, b in zip(flat(expected), page_weights(s.browser, 'Self', 0, 2)))
    expect(far <= 2 * s.browser.js('headlight.state().error') * 2.4, f'scale: off by {far}')


def test_painted_cell(s):
    s.open(s.page('painted', '--text', SENTENCE))
    s.browser.js('headlight.set({painted: [[0, 1, false], [2, 2, false]]})')
    weights = page_weights(s.browser, 'Self', 0, 0)
    expect(weights[1] == 0 and weights[22] == 0, 'blocked cells still have a weight')
    for row in range(10):
        expect(abs(sum(weights[10 * row:10 * row + 10]) - 1) < 1e-5, f'row {row} does not sum to 1')


def live_agrees(s, name, model, ask, request):
    s.open(s.page(name, *model, '--live'))
    s.browser.js(ask)
    exported = s.export(*model, *request)
    found = largest_difference(s.browser, exported)
    expect(found <= 2e-4, f'{name}: weights off by {found}')
    expected = {word['id']: word['probability'] for word in exported.get('next_token', [])}
    guesses = {word['id']: word['probability'] for word in s.browser.js('headlight.next()')}
    for word in list(expected)[:5]:
        expect(word in guesses and abs(expected[word] - guesses[word]) <= 2e-4, f'{name}: word {word}: {expected[word]}, found {guesses.get(word)}')
    return f'{found:.2g}'


def test_live(s):
    sentence = '老师请小明帮医生买了去上海的车票'
    return ' '.join((
        live_agrees(s, 'live-encoder', [], f'headlight.ask({json.dumps(sentence)})', ['--text', sentence]),
        live_agrees(s, 'live-decoder', ['shipped:decoder'], f'headlight.ask({json.dumps(sentence)})', ['--text', sentence]),
        live_agrees(s, 'live-translator', ['shipped:translator'], f'headlight.ask({json.dumps(SENTENCE)}, "I asked Li Lei")',
                    ['--text', SENTENCE, '--target', 'I asked Li Lei'])))


def test_live_says_no_word_that_is_read(s):
    """An encoder reads the word at each place: only in place of a hidden one it guesses. A decoder guesses what comes next."""
    said = 'document.getElementById("guess-area").innerText'
    s.open(s.page('live-hidden', '--text', SENTENCE, '--live', '--language', 'en'))
    for text, word in ((SENTENCE, ''), ('我请李雷帮我<mask>去北京的机票', 'hidden'), (SENTENCE, '')):
        s.browser.js(f'headlight.ask({json.dumps(text)})')
        s.browser.settled()
        expect(word in s.browser.js(said) and bool(word) == bool(s.browser.js(said).strip()), f'{text}: found {s.browser.js(said)!r}')
    s.browser.js('headlight.ask("我请李雷 hello")')
    s.browser.settled()
    expect('hello' in s.browser.js('document.querySelector("#ask-area .doubt").textContent'), 'an unknown word is not named')
    s.open(s.page('live-next', 'shipped:decoder', '--text', 'the cat sat on the', '--live', '--language', 'en'))
    s.browser.settled()
    expect(s.browser.js(said).startswith('after the:'), f'expected the next word, found {s.browser.js(said)!r}')


# What a tokenizer for any sentence can meet: clitics, numbers, accents, rare characters, other scripts, emoji, its own marks.
ANY = ['The committee postponed its decision.', "They don't know it's o'clock; we can’t 3.14 12:30 1,000!!", '我请李雷帮我订了去北京的机票',
       '今天的图书馆里没有人，他要走了……', 'naïve café Ångström ΣΟΦΟΣ', '林語堂龘靐 hello世界abc', '東京タワーに行きました', '안녕 สวัสดี привет', '😀👍🏽 family 👨‍👩‍👧‍👦',
       'The <mask> sat on the mat.', 'antidisestablishmentarianism xqzzyv']


def own_dictionary(s, text):
    """Whether the browser's own dictionary says where words of this script end; Firefox has another one than the program."""
    return s.browser.name == 'firefox' and any('\u3040' <= c <= '\u30ff' or '\u0e00' <= c <= '\u0eff' for c in text)


def test_live_any_sentence(s):
    """The model that knows any sentence: its page cuts and computes what the program cuts and computes."""
    model = ['shipped:any-sentence']
    file = s.page('live-any', *model, '--text', 'the cat sat', '--live')
    size = file.stat().st_size
    expect(size <= 14_000_000, f'expected at most 14 MB, found {size}')
    s.open(file)
    far = 0
    for text in ANY:
        if own_dictionary(s, text):
            continue
        s.browser.js(f'headlight.ask({json.dumps(text)})')
        exported = s.export(*model, '--text', text)
        tokens = s.browser.js('headlight.state().ids')
        expect(tokens == [token['id'] for token in exported['tokens']], f"{text}: expected {[token['text'] for token in exported['tokens']]}, found {s.browser.js('headlight.state().tokens')}")
        far = max(far, largest_difference(s.browser, exported))
        guesses = {word['id']: word['probability'] for word in s.browser.js('headlight.next()')}
        for word in exported['next_token'][:5]:
            found = guesses.get(word['id'])
            expect(found is not None and abs(found - word['probability']) <= 2e-4, f"{text}: {word['text']}: expected {word['probability']}, found {found}")
    expect(far <= 2e-4, f'weights off by {far}')
    s.browser.js('headlight.ask("xqzzyv sat").then(() => headlight.set({fold: ["words"]}))')
    expect(s.browser.js('Array.from(headlight.weights("Self", 0, 0, {folded: true})).length') == 9, 'the pieces of a word are not one row: <s>, xqzzyv, sat')
    return f'{far:.2g}, {size / 1e6:.1f} MB'


def test_live_names_arcs_of_any_sentence(s):
    """The heads of each sentence are named as the program names them; another mask than the model's own names none."""
    asked = 'Array.from(document.querySelectorAll("#atlas .head"), (one) => [one.dataset.key, one.title.split(" · ").at(-1)])'
    s.open(s.page('live-names', 'shipped:any-sentence', '--text', 'The cat sat on the mat.', '--live', '--language', 'en'))
    for text in ('The cat sat on the mat.', 'The committee postponed its decision.', '老师请小明帮医生买了去上海的车票'):
        s.browser.js(f'headlight.ask({json.dumps(text)})')
        s.browser.settled()
        rows = json.loads(s.run('heads', 'shipped:any-sentence', '--text', text, '--format', 'json')[0])['heads']
        expected = {f"{row['layer']}.{row['head']}": row['name'] for row in rows}
        found = dict(s.browser.js(asked))
        expect(found == expected, f'{text}: {[(key, found[key], name) for key, name in expected.items() if found[key] != name]}')
    relation = 'document.querySelectorAll(".notes .relation").length'
    s.browser.js('headlight.ask("The cat sat on the mat.").then(() => headlight.set({layer: 3, head: 0}))')
    s.browser.settled()
    expect(s.browser.js(relation) == 1, 'a head that looks at subjects has no name')
    s.browser.js('headlight.set({mask: "causal"})')
    s.browser.settled()
    expect(s.browser.js(relation) == 0, 'under another mask a relation is named')


def test_live_cuts_words_as_the_program(s):
    """Words that the grammar's model does not know are cut where the program cuts them."""
    s.open(s.page('live-cuts', 'shipped:encoder', '--text', SENTENCE, '--live'))
    for text in ('我昨天在图书馆看了天安门', '经济发展了，他们可以工作', 'hello世界你好abc', '東京へ行く 北京大学生', '<mask>请小明'):
        if own_dictionary(s, text):
            continue
        s.browser.js(f'headlight.ask({json.dumps(text)})')
        expected = [token['text'] for token in s.export('shipped:encoder', '--text', text)['tokens']]
        found = s.browser.js('headlight.state().tokens')
        expect(found == expected, f'{text}: expected {expected}, found {found}')


def test_live_edits(s):
    """With the whole model in the page an edit reaches the layers above."""
    return live_agrees(s, 'live-edits', [], 'headlight.ask(%s).then(() => headlight.set({mask: "causal", off: ["0.1", "0.4"]}))' % json.dumps(SENTENCE),
                       ['--text', SENTENCE, '--mask', 'causal', '--off', '0.1,0.4'])


def test_live_keeps_the_masks_of_layers(s):
    """Another sentence has the masks of the page's layers; its first sentence has its dropout and painted cells again."""
    text, other = 'the cat sat on the mat', 'the dog ran'
    request = ['shipped:decoder', '--layer-mask', '1=none', '--dropout', '0.3']
    s.open(s.page('live-layers', *request, '--text', text, '--live'))
    for asked, dropout in ((other, '0'), (text, '0.3')):
        s.browser.js(f'headlight.ask({json.dumps(asked)})')
        far = largest_difference(s.browser, s.export(*request[:-1], dropout, '--text', asked))
        expect(far <= 2e-4, f'{asked}: off by {far}')


def test_live_keeps_the_causal_mask(s):
    """A decoder stays one on the first question, also where a layer has another mask."""
    request = ['shipped:decoder', '--layer-mask', '1=none']
    s.open(s.page('live-causal', *request, '--text', 'the cat sat on the mat', '--live'))
    for text in ('the cat sat on the mat', 'the dog ran', 'the cat sat on the mat'):
        s.browser.js(f'headlight.ask({json.dumps(text)})')
        far = largest_difference(s.browser, s.export(*request, '--text', text))
        expect(far <= 2e-4, f'{text}: off by {far}')
        expect(page_weights(s.browser, 'Self', 0, 0)[1] == 0, f'{text}: the first word looks at the second')


# Cut by an expression, as GPT-2 and its followers do.
SPLIT = {'type': 'Split', 'pattern': {'Regex': r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"}, 'behavior': 'Isolated', 'invert': False}


def test_live_of_any_checkpoint(s):
    """A checkpoint with a tokenizer of its own: its family, words and expressions are the program's too."""
    said = []
    for name, split in (('family-mistral-window', None), ('family-gemma2', SPLIT), ('bert', None)):
        model = s.checkpoint(name, split)
        s.open(s.page(f'live-{name}', model, '--text', 'a ba', '--live'))
        for text in ('a ba', "ab a 12 b's", 'b, ba'):
            s.browser.js(f'headlight.ask({json.dumps(text)})')
            exported = s.export(model, '--text', text)
            expect(s.browser.js('headlight.state().ids') == [token['id'] for token in exported['tokens']], f'{name}: {text}: other tokens')
            far = largest_difference(s.browser, exported)
            expect(far <= 2e-4, f'{name}: {text}: off by {far}')
        said.append(f'{name} {far:.2g}')
    return '; '.join(said)


def test_live_random_weights(s):
    """Fresh weights are drawn in the page as in the program."""
    request = ['--random', '--layers', '2', '--num-heads', '4', '--d-model', '32']
    s.open(s.page('live-random', *request, '--text', SENTENCE, '--live'))
    far = 0
    for text in (SENTENCE, 'hello world, 你好'):
        s.browser.js(f'headlight.ask({json.dumps(text)})')
        far = max(far, largest_difference(s.browser, s.export(*request, '--text', text)))
    expect(far <= 2e-4, f'off by {far}')
    return f'{far:.2g}'


PIECES = ['the cat', "don't", 'it’s', 'cannot', '3.14', '12:30', '1,000', '@user', 'a@b.c', 'x:y', '北京大学', '我请李雷帮我', '今天的图书馆', '龘靐', '林語堂',
          'naïve', 'Ångström', 'ΣΟΦΟΣ', 'привет', 'ё', '안녕', '😀', '👨‍👩‍👧', '👍🏽', '…', '——', '!!', '?', '(', ')', '“', '”', '_', '-', '#1', '$5', '%',
          'A\u0301', 'ﬁ', 'Ⅷ', '½', 'אבג', 'عرب', 'हिन्दी', '\u00b8', '：', '，', '。', '\u3000', '<mask>', 'İ', 'ß', '\u200d', '\u00ad', '𠀀']


def random_text(draw):
    return ''.join(draw.choice(PIECES) + draw.choice((' ', ' ', '')) for _ in range(draw.randint(1, 7))).strip() or 'a'


def test_live_words_are_the_programs(s):
    """2,000 random strings are cut alike, to the id."""
    draw, model = random.Random(20), 'shipped:any-sentence'
    texts = [random_text(draw) for _ in range(2000)]
    s.open(s.page('live-words', model, '--text', 'the cat sat', '--live'))
    done = subprocess.run([s.program, 'tokenize', model, '--text', '-', '--format', 'json'], input='\n'.join(texts).encode(), capture_output=True, check=True)
    expected = [[token['id'] for token in json.loads(line)['tokens'] if not token['pad']] for line in done.stdout.splitlines()]
    expect(len(expected) == len(texts), f'expected {len(texts)} lists, found {len(expected)}')
    for first in range(0, len(texts), 100):
        part = texts[first:first + 100]
        found = s.browser.js('(async () => { const all = []; for (const text of %s) { await headlight.ask(text); all.push(headlight.state().ids); } return all; })()' % json.dumps(part))
        for text, ids, wanted in zip(part, found, expected[first:first + 100]):
            expect(ids == wanted, f'{text!r}: expected {wanted}, found {ids}')
    return f'{len(texts)} texts'


def numbers_differ(s, request, layer, head, query, key):
    """How far the numbers behind a weight are from those of `headlight explain`, to the size of each list."""
    steps = json.loads(s.run('explain', *request, '--head', f'{layer}.{head}', '--query', query, '--key', key, '--format', 'json')[0])
    expected = {step['name']: step['value'] for step in steps}
    found, far = s.browser.js(f'headlight.numbers("Self", {layer}, {head}, {query}, {key})'), 0
    for name, other in (('q', 'q'), ('k', 'k'), ('dot', 'dot'), ('scaled', 'scaled'), ('score', 'scores'), ('sum', 'sum'), ('weight', 'weight')):
        if name in found and expected.get(other) is not None:
            wanted = flat(expected[other])
            size = max(1, max(map(abs, wanted)))
            far = max([far, *(abs(a - b) / size for a, b in zip(wanted, flat(found[name]), strict=True))])
    return far


def measures_differ(s, request, layers, heads):
    far, rows = 0, json.loads(s.run('heads', *request, '--format', 'json')[0])['heads']
    asked = json.dumps([['Self', row['layer'], row['head']] for row in rows])
    for row, found in zip(rows, s.browser.js(f'{asked}.map((one) => headlight.measures(...one))'), strict=True):
        for name, value in found.items():
            expect((value is None) == (row.get(name) is None), f'{request}: {name} of {row}: found {value}')
            far = max(far, abs(value - row[name]) if value is not None else 0)
    expect(len(rows) == layers * heads, f'expected {layers * heads} heads, found {len(rows)}')
    return far


def test_live_random_questions(s):
    """One random stream of questions, put to the program and to the page: every weight and the next words; of every third the
    measures and the numbers behind a weight."""
    draw, far, measured, behind = random.Random(3), 0, 0, 0
    for model, layers, heads in (('shipped:any-sentence', 4, 9), ('shipped:decoder', 2, 8), ('shipped:encoder', 2, 8)):
        s.open(s.page(f'live-stream-{layers}-{heads}', model, '--text', 'the cat sat', '--live'))
        for turn in range(12):
            text = draw.choice(('the cat sat on the mat', '我请李雷帮我订了去北京的机票', 'they said that it was tired', '老师请小明帮医生买了车票'))
            mask, scale = draw.choice(('none', 'causal', 'causal', 'none')), draw.choice((None, None, 0.2, 0.7))
            off = sorted({f'{draw.randrange(layers)}.{draw.randrange(heads)}' for _ in range(draw.randrange(4))})
            s.browser.js('headlight.ask(%s)' % json.dumps(text))
            s.browser.js('headlight.set(%s)' % json.dumps({'mask': mask, 'scale': scale, 'off': off}))
            request = [model, '--text', text, '--mask', mask, *(['--scale', str(scale)] if scale else []), *(['--off', ','.join(off)] if off else [])]
            exported = s.export(*request)
            far = max(far, largest_difference(s.browser, exported))
            if turn % 3 == 0:  # each asks the program once more
                measured = max(measured, measures_differ(s, request, layers, heads))
                cell = [draw.randrange(len(exported['tokens'])) for _ in range(2)]
                behind = max(behind, numbers_differ(s, request, draw.randrange(layers), draw.randrange(heads), *cell))
            expect(max(far, measured / 10, behind) <= 2e-4, f'{request}: off by {far}, measures by {measured}, numbers by {behind}')
            guesses = {word['id']: word['probability'] for word in s.browser.js('headlight.next()')}
            for word in exported.get('next_token', [])[:5]:
                expect(abs(guesses.get(word['id'], 9) - word['probability']) <= 2e-4, f'{request}: {word}, found {guesses.get(word["id"])}')
    return f'weights {far:.2g}, measures {measured:.2g}, numbers {behind:.2g}'


def test_live_needs_every_attention(s):
    _, line = s.run('page', 'shipped:translator', *CHINESE_AND_ENGLISH, '--live', '--only', '0.1', '-o', s.folder / 'some.html', status=2)
    expect('--only: expected a head of each attention' in line, f'expected a line about --only, found {line!r}')
    s.open(s.page('live-some', 'shipped:translator', *CHINESE_AND_ENGLISH, '--live', '--only', '0.1,encoder:0.0,cross:1.2'))
