"""The reader's hands: keys, pointer, touch, a screen reader, paper, both languages."""

import json

from page_setting import SENTENCE, expect, page_weights


def center(browser, query, key):
    return browser.js('(() => { const box = document.getElementById("stage-map").getBoundingClientRect(), T = headlight.state().stacks[0].queries;'
                      'const side = (box.bottom - box.top); return [box.left, box.top, box.width, side, T]; })()')


def test_keyboard(s):
    b = s.browser
    s.open(s.page('keys', '--text', SENTENCE))
    b.key('m')
    expect(b.js('headlight.state().mask') == 'causal', 'm: expected the causal mask')
    expect(page_weights(b, 'Self', 1, 0)[1] == 0, 'm: a later word has a weight')
    b.key('m')
    expect(b.js('headlight.state().mask') == 'none', 'm again: expected no mask')
    b.js('headlight.set({pinned: null})')
    b.key('ArrowDown')
    b.key('ArrowDown')
    b.key('ArrowRight')
    expect(b.js('headlight.state().pinned') == [1, 1], f"arrows: expected cell 1, 1, found {b.js('headlight.state().pinned')}")
    b.key('x')
    expect(b.js('headlight.state().painted') == [[1, 1, False]], 'x: expected the pinned cell to be blocked')
    b.key(']')
    b.key('4')
    expect(b.js('headlight.state().view') == 'flow', '4: expected the lines')
    b.key('1')
    expect(b.js('headlight.state().view') == 'sentence', '1: expected the sentence')
    b.key('y')
    b.settled()
    expect(b.js('document.querySelectorAll("#explain .steps li").length') >= 4, 'y: expected the steps behind the weight')


def test_opens_as_the_window(s):
    """On the sentence, with the cell that a window would pin, folded as there."""
    b = s.browser
    s.open(s.page('opens', 'shipped:any-sentence', '--text', 'The trophy does not fit in the suitcase because it is too big.'))
    state = b.js('headlight.state()')
    expect([state['layer'], state['head']] == [3, 7], f"expected L3·H7, found {state['layer']}.{state['head']}")
    line = b.js('document.querySelector(".sentence-line").textContent')
    expect('it' in line and 'trophy' in line and '94 %' in line, f'expected that it looks at trophy, 94 %, found {line}')
    expect(state['view'] == 'sentence', f"expected the sentence, found {state['view']}")
    words = b.js('[...document.querySelectorAll("#stage-map text")].map((one) => one.textContent)')
    expect('trophy' in words and 'tro' not in words, f'expected trophy as one word, found {words}')
    expect(b.js('document.querySelectorAll("#stage-map path").length') >= 8, 'expected arcs over the words')
    s.open(s.page('given', 'shipped:any-sentence', '--text', 'The cat sat.', '--head', '1.2'))
    expect(b.js('headlight.state().pinned') is None, 'expected no pinned cell in a head that was asked for')


def test_pointer(s):
    b = s.browser
    s.open(s.page('pointer', '--text', SENTENCE))
    x, y = b.js('(() => { const box = document.querySelector("#atlas .head[data-key=\\"0.1\\"]").getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 3]; })()')
    b.click(x, y)
    expect(b.js('[headlight.state().layer, headlight.state().head]') == [0, 1], 'a click on a thumbnail chooses the head')
    b.js('headlight.set({view: "heads"})')
    b.settled()
    box = b.js('(() => { const box = document.getElementById("stage-map").getBoundingClientRect(); return [box.x, box.y, box.width, box.height]; })()')
    b.click(box[0] + box[2] * 0.45, box[1] + box[3] * 0.6)
    b.settled()
    pinned = b.js('headlight.state().pinned')
    expect(pinned is not None, 'a click on a cell keeps it')
    expect('%' in b.js('document.querySelector(".sentence").textContent'), 'the cell is told in words')
    expect(b.js('document.querySelectorAll("#row-table tbody tr").length') == 10, 'the row is told as a table')
    b.click(box[0] + box[2] * 0.45, box[1] + box[3] * 0.6)
    b.settled()
    expect(b.js('headlight.state().pinned') == pinned, 'a second click on a cell keeps it')
    expect(b.js('document.querySelectorAll("#explain .steps li").length') >= 4, 'a click on what is kept asks for its numbers')
    b.key('Escape')
    b.key('Escape')
    expect(b.js('headlight.state().pinned') is None, 'Escape lets it go')


def test_sentence(s):
    """An arc is read where the pointer is on it, a click keeps it, and so does one on a word; words are those of the folded maps."""
    b = s.browser
    s.open(s.page('sentence', 'shipped:any-sentence', '--text', 'The trophy does not fit in the suitcase because it is too big.', '--language', 'en'))
    place = '(() => { const word = [...document.querySelectorAll("#stage-map text")].find((one) => one.textContent === %s).getBoundingClientRect(); return [word.x + word.width / 2, word.y + word.height / 2]; })()'
    b.click(*b.js(place % '"suitcase"'))
    b.settled()
    pinned = b.js('headlight.state().pinned')
    tokens = b.js('headlight.state().tokens')
    expect(pinned and 'suitcase'.startswith(tokens[pinned[0]]), f'a click on a word: expected its row, found {pinned} of {tokens}')
    said = b.js('document.querySelector("#row-words .sentence").textContent')
    expect('suitcase' in said and '%' in said, f'expected the cell in words, found {said!r}')
    expect(b.js('document.getElementById("row-table").classList.contains("unseen")'), 'the row stands twice')
    s.open(s.page('long-sentence', '--text', ' '.join(['the', 'cat', 'sat'] * 25), '--language', 'en'))
    expect(b.js('document.querySelectorAll("#stage-map .word").length') >= 75, 'of many words the text is shown')


def table_of(b):
    return b.js('[...document.querySelectorAll(".answer-table tr")].map((row) => [...row.children].map((cell) => cell.textContent))')


def test_lens(s):
    """The words of the table are those of `headlight lens`; what the reader changes hides it."""
    b, asked = s.browser, ['shipped:decoder', '--text', SENTENCE]
    s.open(s.page('lens', *asked, '--view', 'lens'))
    rows, last = table_of(b), json.loads(s.run('lens', *asked, '--format', 'json')[0])['layers']
    expect(len(rows) == len(last) + 1, f'a row a layer: expected {len(last)}, found {len(rows) - 1}')
    for row, layer in zip(rows[1:], last):
        expect(row[-1] == layer['top'][0]['text'], f"expected {layer['top'][0]['text']} behind the last word, found {row[-1]}")
    b.key('m')
    b.settled()
    expect(b.js('document.getElementById("answers").hidden'), 'another mask: the table is of the one that was written')
    s.open(s.page('no-lens', *asked))
    expect(not table_of(b), 'a page that looks at no lens has no table')


def test_patch(s):
    """The shares of the grid are those of `headlight patch`, in both languages."""
    b, other = s.browser, '--text 我请李雷帮我看了最好的'
    asked = ['shipped:decoder', '--text', '我请李雷帮我喝了最好的']
    s.open(s.page('patch', *asked, '--against', f'shipped:decoder {other}', '--view', 'patch', '--language', 'zh'))
    cells = json.loads(s.run('patch', *asked, '--from', other, '--at', 'heads', '--format', 'json')[0])['cells']
    titles = b.js('[...document.querySelectorAll(".answer-table td[title]")].map((cell) => cell.title)')
    expect(len(titles) == len(cells), f'expected {len(cells)} cells, found {len(titles)}')
    for title, cell in zip(titles, cells):
        head, share = title.split(': ')
        expect(head == f"L{cell['layer']} · H{cell['head']}", f'{title}: another head')
        found, expected = float(share[:-2].replace('−', '-')), 100 * cell['restored']
        expect(abs(found - expected) <= 1e-3 * abs(expected) + 1e-3, f'{title}: expected {expected}')
    expect('取自 A' in b.js('document.querySelector(".answer-table figcaption").textContent'), 'the title is Chinese')
    b.js('document.querySelector("#options button").click()')
    b.settled()
    expect('Take from A' in b.js('document.querySelector(".answer-table figcaption").textContent'), 'the title is English')


def test_heads_are_named_as_the_window_names_them(s):
    """Each head without a relation has the name of `headlight heads`: one that the repeated words alone would give is none."""
    b = s.browser
    words = ['我请李雷帮我<mask>去北京的机票', 'The animal did not cross the street because it was too tired']
    for text in words:
        s.open(s.page('named', 'shipped:encoder', '--text', text, '--language', 'en'))
        b.settled()
        expected = {f"{row['layer']}.{row['head']}": row['name'] for row in json.loads(s.run('heads', 'shipped:encoder', '--text', text, '--format', 'json')[0])['heads']}
        found = dict(b.js('[...document.querySelectorAll("#atlas .head")].map((one) => [one.dataset.key, one.title.split(" · ").at(-1)])'))
        expect(found == expected, f'{text}: {[(key, found[key], name) for key, name in expected.items() if found[key] != name]}')


# Of the maps of Compare the colour of each word's label, and what the middle of a cell shows: nothing where it is hatched.
LOOK = """(() => { const of = (canvas) => {
  const context = canvas.getContext("2d"), size = headlight.state().tokens.length + 1;
  const at = (r, c) => [...context.getImageData((c + 0.5) * canvas.width / size, (r + 0.5) * canvas.height / size, 1, 1).data].join();
  return {words: [...document.querySelectorAll("#stage-map text")].map((one) => [one.textContent, one.getAttribute("fill")]),
    missing: [at(6, 0), at(7, 0)], blocked: at(0, 1)}; };
  return [...document.querySelectorAll("#stage-map canvas")].slice(0, 2).map(of); })()"""


def test_compared_words(s):
    """Cells of a word that only the other answer has are grey, not hatched; such words have the colour of their answer."""
    b = s.browser
    s.open(s.page('other-word', 'shipped:decoder', '--text', '我请李雷帮我看了最好的', '--against', '--text 我请李雷帮我喝了最好的', '--theme', 'light'))
    b.settled()
    expect(b.js('headlight.state().view') == 'compare' and b.js('headlight.state().tokens.length') == 8, 'another page')
    over = '(() => { const map = document.querySelector("#stage-map canvas").getBoundingClientRect(); return [...document.querySelectorAll("#stage-map rect")].filter((one) => one.getAttribute("fill") !== "none" && one.getBoundingClientRect().width >= map.width - 1).length; })()'
    expect(b.js(over) == 0, 'something lies over a map')
    panels, gap = b.js(LOOK), b.js('getComputedStyle(document.documentElement).getPropertyValue("--gap").match(/[0-9]+/g).join()') + ',255'
    for one, other, panel in ((6, 7, panels[0]), (7, 6, panels[1])):
        expect(panel['missing'][other - 6] == gap and panel['missing'][one - 6] != gap, f'a missing word: expected {gap}, found {panel}')
        expect(panel['blocked'] == '0,0,0,0', f"a blocked cell: expected no colour, found {panel['blocked']}")
        words = dict(panel['words'])
        expect(len({words['喝了'], words['看了'], words['李雷']}) == 3, f'the words have the colours {words}')


def test_text(s):
    """Each word is shaded by the weight that the page has for it; several words add up."""
    b = s.browser
    s.open(s.page('text', '--text', SENTENCE))
    count = b.js('headlight.state().stacks[0].queries')
    weights = [page_weights(b, 'Self', layer, 0) for layer in (0, 1)]
    head = weights[b.js('headlight.state().layer')] if b.js('headlight.state().head') == 0 else None
    if head is None:
        b.js('headlight.set({layer: 0, head: 0})')
        head = weights[0]
    b.js('headlight.set({pinned: [3, 1], view: "text"})')
    b.settled()
    titles = 'Array.from(document.querySelectorAll("#stage-map .word")).map((word) => Number(word.title.replace("−", "-")))'
    shown = b.js(titles)
    expect(len(shown) == count, f'a word for each token: expected {count}, found {len(shown)}')
    expect(all(abs(number - head[3 * count + key]) < 1e-3 for key, number in enumerate(shown)), 'the row of the pinned word')
    b.js('document.querySelector("#text-controls input[value=columns]").click()')
    b.settled()
    expect(all(abs(number - head[query * count + 3]) < 1e-3 for query, number in enumerate(b.js(titles))), 'the column of the same word')
    box = b.js('(() => { const box = document.querySelectorAll("#stage-map .word")[5].getBoundingClientRect(); return [box.x + 3, box.y + 5]; })()')
    b.click(*box)
    b.settled()
    expect(b.js('headlight.state().pinned[1]') == 5, 'a click chooses a word')


def test_slider(s):
    """A slider follows the pointer as long as it is dragged, and a drag is one edit."""
    b = s.browser
    if b.name != 'chromium':
        return 'not asked of this browser'
    s.open(s.page('slider', '--text', SENTENCE))
    x, y = b.js('(() => { const box = document.getElementById("scale").getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()')
    before, seen = b.js('headlight.state().scale'), []
    for kind, at in (('mousePressed', x), ('mouseMoved', x + 10), ('mouseMoved', x + 20), ('mouseMoved', x + 30), ('mouseReleased', x + 30)):
        b.command('Input.dispatchMouseEvent', type=kind, x=at, y=y, button='left', buttons=1, clickCount=1)
        b.settled()
        seen.append(b.js('headlight.state().scale'))
    expect(before < seen[1] < seen[2] < seen[3], f'expected larger and larger scales, found {seen}')
    b.js('document.querySelector("#mask-controls .end .icon").click()')
    expect(b.js('headlight.state().scale') == before, 'one step back: expected the scale as it was')


def test_touch(s):
    """A tap keeps a cell; two fingers zoom a long sentence."""
    b = s.browser
    if b.name != 'chromium':
        return 'not asked of this browser'
    b.size(390, 844)
    s.open(s.page('touch', '--random', '--layers', '1', '--num-heads', '2', '--text', ' '.join(f'w{i % 37}' for i in range(60))))
    b.js('headlight.set({view: "heads"})')
    b.settled()
    x, y, w, h = b.js('(() => { const map = document.getElementById("stage-map"); map.scrollIntoView({block: "center"}); const box = map.getBoundingClientRect(); return [box.x, box.y, box.width, box.height]; })()')
    middle = (x + w * 0.6, y + h * 0.6)
    b.touch('touchStart', [middle])
    b.touch('touchEnd', [])
    b.settled()
    expect(b.js('headlight.state().pinned') is not None, 'a tap keeps a cell')
    zoomed = 'document.querySelector("#stage-map").style.touchAction'
    before = b.js(zoomed)
    b.touch('touchStart', [(middle[0] - 20, middle[1]), (middle[0] + 20, middle[1])])
    for apart in range(25, 100, 10):
        b.touch('touchMove', [(middle[0] - apart, middle[1]), (middle[0] + apart, middle[1])])
    b.touch('touchEnd', [])
    b.settled()
    found = b.js(zoomed)
    b.size(1280, 800)
    expect(before != 'none' and found == 'none', f'two fingers apart: expected a part of the map, found {before!r}, {found!r}')


def test_read_aloud(s):
    """A screen reader finds a name on everything that can be pressed, the map described, the row as a table in words."""
    b = s.browser
    s.open(s.page('aloud', '--text', SENTENCE, '--language', 'en'))
    b.js('headlight.set({pinned: [4, 0], view: "heads"})')
    b.settled()
    nameless = b.js('[...document.querySelectorAll("button, a, input, select, canvas[role=img]")].filter(one => !one.closest("[hidden]") && '
                    '!(one.getAttribute("aria-label") || one.textContent.trim() || one.title || one.labels?.length)).map(one => one.outerHTML.slice(0, 120))')
    expect(not nameless, f'expected a name on each, found none on {nameless}')
    table = b.js('[...document.querySelectorAll("#row-table tbody tr")].map(row => row.textContent)')
    expect(len(table) == 10 and all('%' in row or '.' in row for row in table), f'expected ten rows with weights, found {table}')
    expect(b.js('document.querySelectorAll("[aria-live]").length') > 0, 'what changes is not announced')
    if b.name == 'chromium':
        nodes = b.command('Accessibility.getFullAXTree')['nodes']
        said = [(node['role']['value'], node.get('name', {}).get('value', '')) for node in nodes if not node.get('ignored') and 'role' in node]
        expect(all(name for role, name in said if role in ('button', 'link', 'image')), 'a button, link or image has no name')
        expect(any(role == 'image' and 'L' in name for role, name in said), 'the map is not described')


def test_print(s):
    """On paper: light, without controls, the map still there."""
    b = s.browser
    if b.name != 'chromium':
        return 'not asked of this browser'
    s.open(s.page('print', '--text', SENTENCE, '--theme', 'dark'))
    b.js('headlight.set({view: "heads"})')
    b.command('Emulation.setEmulatedMedia', media='print')
    b.settled()
    try:
        expect(b.js('document.documentElement.dataset.theme') == 'light', 'expected the light theme on paper')
        shown = b.js('[...document.querySelectorAll("#controls button, #options button")].filter(one => one.offsetParent !== null).length')
        expect(shown == 0, f'expected no control on paper, found {shown}')
        expect(b.js('document.getElementById("stage-map").getBoundingClientRect().width') > 200, 'expected the map on paper')
        words = b.js('[...document.querySelectorAll("#stage-map text")].filter(one => one.getBoundingClientRect().width > 0).length')
        expect(words >= 20, f'expected the words of the map as text on paper, found {words}')
        pdf = b.command('Page.printToPDF')['data']
        expect(len(pdf) > 10_000, 'expected a page of paper')
    finally:
        b.command('Emulation.setEmulatedMedia', media='')


def test_views_and_sizes(s):
    b = s.browser
    file = s.page('views', '--text', SENTENCE, '--mask', 'causal', '--against', '--mask none')
    for width, height in ((390, 844), (1280, 800), (1920, 1080)):
        b.size(width, height)
        s.open(file)
        for view in ('compare', 'sentence', 'heads', 'text', 'flow'):
            b.js(f'headlight.set({{view: "{view}"}})')
            b.settled()
            expect(b.js('document.documentElement.scrollWidth <= innerWidth'), f'{view} at {width} × {height} is wider than the window')
            if s.pictures:
                (s.pictures / f'{b.name}-{view}-{width}x{height}.png').write_bytes(b.screenshot())
    b.size(1280, 800)


def test_both_languages(s):
    b = s.browser
    for language in ('en', 'zh'):
        s.open(s.page(f'language-{language}', '--text', SENTENCE, '--language', language, '--theme', 'dark', '--live'))
        expect(b.js('document.documentElement.lang').startswith(language), f'{language}: expected its own language')
        words = b.js('JSON.parse(document.getElementById("headlight-data").textContent).words')
        named = b.js('[...document.querySelectorAll("button, h2, label, option, p, span")].map(one => one.textContent)')
        expect(not set(named) & set(words['en']) - set(words[language].values()), f'{language}: a name stands where its words should')
        expect(set(words['en']) == set(words['zh']), 'a word is missing in one language')
        shape = b.js('document.querySelector("#model .quiet").textContent')
        expect(shape.startswith('编码器 · 2 × 8 个头 ·' if language == 'zh' else 'encoder · 2 × 8 heads ·'), f'the shape is {shape!r}')


def test_picture(s):
    """A page about a picture: it is there, with a square for each patch; a click on one chooses it in every head."""
    b, question = s.browser, ('shipped:shapes', '--picture', s.golden.resolve().parents[1] / 'assets' / 'pictures' / 'shapes-2.png')
    s.open(s.page('picture', *question))
    expect(b.js('headlight.state().view') == 'text', 'expected the picture first')
    expect(b.js('document.querySelectorAll(".word").length') == 50, 'expected 7 × 7 patches and a class token')
    pixels = b.js('(() => { const one = document.querySelector(".cells canvas"); return [one.width, one.height]; })()')
    expect(pixels == [56, 56], f'expected the pixels that the model saw, found {pixels}')
    x, y = b.js('(() => { const box = document.querySelectorAll(".word")[1 + 2 * 7 + 3].getBoundingClientRect();'
                'return [box.x + box.width / 2, box.y + box.height / 2]; })()')
    b.click(x, y)
    b.settled()
    expect(b.js('headlight.state().pinned[0]') == 18, 'expected the clicked patch to look')
    expect('2,3' in b.js('document.getElementById("stage-area").innerText'), 'expected the patch by its row and column')
    weights, exported = page_weights(b, 'Self', 2, 2), s.export(*question)['attention'][0]['attn'][2][2]
    apart = max(abs(a - c) for a, c in zip(weights, [w for row in exported for w in row]))
    expect(apart <= 1e-3, f'expected the weights of the export, found {apart} apart')
    expect('Sentence' not in b.js('document.body.innerText'), 'expected no word of a sentence')


def test_two_pictures(s):
    """A page of two pictures: the row of a token over A, B and their difference; a click on a patch of any makes it the one that looks."""
    folder = s.golden.resolve().parents[1] / 'assets' / 'pictures'
    b, question = s.browser, ('shipped:shapes', '--picture', folder / 'shapes-2.png')
    s.open(s.page('two-pictures', *question, '--against', f'--picture {folder / "shapes-1.png"}', '--head', '2.2'))
    expect(b.js('headlight.state().view') == 'compare', 'expected the comparison first')
    # Three pictures, A's its own, and a map over each.
    pixels = b.js('''[...document.querySelectorAll("#stage-map .cells canvas")].map((one) =>
      [one.width, one.height, [...one.getContext("2d").getImageData(0, 0, one.width, one.height).data].reduce((a, c) => a + c, 0)].join())''')
    expect(len(pixels) == 6 and pixels[1] == pixels[2] != pixels[0] and pixels[0].startswith('56,56,'), f'expected A, B and B again, found {pixels}')
    expect(all(one.startswith('7,7,') for one in pixels[3:]), f'expected maps of 7 × 7 patches, found {pixels}')
    x, y = b.js('''(() => { const box = document.querySelectorAll("#stage-map .cells canvas")[0].getBoundingClientRect();
      return [box.x + 3.5 * box.width / 7, box.y + 2.5 * box.height / 7]; })()''')
    b.click(x, y)
    b.settled()
    expect(b.js('headlight.state().pinned[0]') == 18, f"expected row 2, column 3 to look, found {b.js('headlight.state().pinned')}")
    line = b.js('document.querySelector("#compare-head .sentence").textContent')
    expect('2,3' in line and line.count('%') >= 2, f'expected the numbers of both in words, found {line!r}')
    if s.pictures:
        (s.pictures / 'two-pictures.png').write_bytes(b.screenshot())
