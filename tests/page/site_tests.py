"""A site: static files that answer any sentence, here in this process's own web server."""

import http.server
import json
import re
import shutil
import threading

from browsers import wait_until
from page_setting import SENTENCE, expect, largest_difference, page_weights

ENGLISH = "The animal didn't cross the street because it was tired"
OTHER, FIRST_BYTES = 'The committee postponed its decision.', 4_000_000
GRAMMAR, ANY = 'shipped:encoder', 'shipped:any-sentence'


def site(s):
    """The folder of the site, written once, and its address."""
    folder = s.folder / 'site'
    if not folder.exists():
        s.run('site', '-o', folder)
    return folder, f'http://127.0.0.1:{s.server.server_port}/site/'


def status(s):
    return s.browser.js('document.querySelector(".of-site[role=status]").textContent')


def is_live(s):
    wait_until(lambda: s.browser.js('window.headlight?.state().live === true'), f'a model that answers; the page has {status(s)!r}')


def visit(s, link=''):
    _, url = site(s)
    s.browser.go('about:blank')  # else only the part behind # changes, and nothing is read again
    s.browser.open(url + link)
    is_live(s)


def agrees(s, what, *request):
    s.browser.settled()
    exported = s.export(*request)
    found = s.browser.js('headlight.state().ids')
    expect(found == [token['id'] for token in exported['tokens']], f'{what}: other tokens, {s.browser.js("headlight.state().tokens")}')
    far = largest_difference(s.browser, exported)
    expect(far <= 2e-4, f'{what}: weights off by {far}')
    return far


def ask(s, text):
    s.browser.js(f'headlight.ask({json.dumps(text)}).then(() => true)')


def test_site_answers_any_sentence(s):
    folder, url = site(s)
    s.asked.clear()
    visit(s)
    agrees(s, 'first', GRAMMAR, '--text', ENGLISH)
    came = sum((folder / path.removeprefix('/site/')).stat().st_size for path in set(s.asked) if path != '/site/') + (folder / 'index.html').stat().st_size
    expect(came <= FIRST_BYTES, f'expected at most {FIRST_BYTES} bytes before the first answer, found {came}: {s.asked}')
    for text in (OTHER, '今天的图书馆里没有人，他要走了……', 'naïve café 😀'):
        ask(s, text)
        agrees(s, text, ANY, '--text', text)
    ask(s, '老师请小明帮医生买了去上海的车票')
    agrees(s, 'again', GRAMMAR, '--text', '老师请小明帮医生买了去上海的车票')
    if s.browser.requests is not None:
        outside = [one for one in s.browser.requests if not one.startswith((url, 'data:', 'blob:'))]
        expect(not outside, f'expected no request, found {outside}')
    expect(not s.browser.complaints, f'expected silence, found {s.browser.complaints}')
    return f'{came / 1e6:.1f} MB before the first answer'


def type_text(s, text):
    s.browser.js('(() => { const input = document.getElementById("ask"); input.focus(); input.value = %s; input.dispatchEvent(new Event("input")); })()' % json.dumps(text))
    s.browser.settled()


def test_site_answers_while_one_types(s):
    """Each key is answered; what the grammar's model does not know is left to the other one without a word of doubt; where the keys
    rest, head and cell are those that a window begins with, unless the reader chose others."""
    visit(s)
    doubt = 'document.querySelector("#ask-area .doubt").textContent + [...document.querySelectorAll(".of-site.doubt")].map((one) => one.textContent)'
    text = '老师请小明帮医生买了去上海的车票'
    for end in range(1, len(text) + 1):
        type_text(s, text[:end])
        # On a busy machine a text rests between two keys: then the other model may have it, whose first token is <s>.
        found = ''.join(s.browser.js('headlight.state().tokens')).removeprefix('<s>')
        expect(found == text[:end], f'expected an answer to {text[:end]}, found {found}')
        expect(not s.browser.js(doubt), f'{text[:end]}: found {s.browser.js(doubt)!r}')
    wait_until(lambda: s.browser.js('headlight.state().tokens')[0] != '<s>', 'the model of the grammar where the text rests')
    agrees(s, 'typed', GRAMMAR, '--text', text)
    for text in (OTHER, 'The trophy does not fit in the suitcase because it is too big.'):
        for end in [*range(1, len(text), 7), len(text)]:
            type_text(s, text[:end])
            expect(not s.browser.js(doubt), f'{text[:end]}: found {s.browser.js(doubt)!r}')
        opening = json.loads(s.run('claims', ANY, '--text', text, '--format', 'json')[0])['opening']
        now = '(({layer, head, pinned}) => [`${layer}.${head}`, ...(pinned ?? [])])(headlight.state())'
        wanted = [opening['head'], opening['query'], opening['key']]
        wait_until(lambda: s.browser.js(now) == wanted, f'{text}: the cell {wanted} of a window; the page has {s.browser.js(now)}')
        agrees(s, text, ANY, '--text', text)
        line = s.browser.js('document.querySelector("#row-words .sentence").textContent').replace('\u2068', '').replace('\u2069', '')
        expect(line == opening['text'], f'expected the line of a window, {opening["text"]!r}, found {line!r}')
        expect(not s.browser.js(doubt), f'{text}: found {s.browser.js(doubt)!r}')
    s.browser.js('headlight.set({layer: 0, head: 3, pinned: [2, 1]})')
    type_text(s, 'The trophy does not fit in the suitcase because it is too small.')
    s.browser.js('new Promise((done) => setTimeout(done, 900))')
    expect(s.browser.js(now) == ['0.3', 2, 1], f'the reader chose 0.3, [2, 1], found {s.browser.js(now)}')


def test_site_says_what_it_cannot_read_in_its_own_room(s):
    """Unknown words, an empty line: one line, not in the red of errors, and nothing below it moves; words from right to left turn
    nothing beside them."""
    visit(s)
    said = 'document.querySelector("#ask-area .doubt")'
    top = 'document.getElementById("stage").getBoundingClientRect().top'
    at = s.browser.js(top)
    for text, wanted in (('I love pizza 😀', '😀'), ('שלום עולם, מה שלומך היום?', 'שלומך'), ('', 'No sentence yet')):
        type_text(s, text)
        wait_until(lambda: wanted in s.browser.js(f'{said}.textContent'), f'{text!r}: a line with {wanted}')
        s.browser.settled()
        expect(s.browser.js(top) == at, f'{text!r}: the stage moved from {at} to {s.browser.js(top)}')
        colour = s.browser.js(f'getComputedStyle({said}).color')
        red, green = (float(number) for number in re.findall(r'[0-9.]+', colour)[:2])
        expect(green > red / 2, f'{text!r}: {colour} is a red')
    line = s.browser.js('document.querySelector("#row-words .sentence").textContent')
    expect(re.search('“\u2068[^“”]+\u2069” looks at “\u2068', line), f'the words of {line!r} are not apart from it')
    expect(not s.browser.complaints, f'expected silence, found {s.browser.complaints}')


def test_site_models(s):
    """The models of the list, and a link that holds a whole question."""
    for name, text in (('decoder', 'the cat sat on the mat'), ('encoder-d32-h2', SENTENCE), ('induction', 'du fa ke du')):
        visit(s, f'#model={name}&text={text}')
        agrees(s, name, f'shipped:{name}', '--text', text)
    visit(s, f'#model=encoder-d64-h4&text={SENTENCE}&mask.Self=causal&scale=0.4&off=0.1,1.2&head=1.3&cell=2,1&view=flow')
    agrees(s, 'link', 'shipped:encoder-d64-h4', '--text', SENTENCE, '--mask', 'causal', '--scale', '0.4', '--off', '0.1,1.2')
    state = s.browser.js('headlight.state()')
    expect((state['layer'], state['head'], state['pinned'], state['view']) == (1, 3, [2, 1], 'flow'), f'the link opens as {state}')
    expect('off=0.1' in s.browser.js('location.hash.replaceAll("%2C", ",")'), 'the address does not hold the question')
    visit(s, f'#model=random&text={SENTENCE}&d_model=32&num_heads=2&layers=3&seed=4')
    agrees(s, 'random', '--random', '--d-model', '32', '--num-heads', '2', '--layers', '3', '--seed', '4', '--text', SENTENCE)
    visit(s, f'#model=translator&text={SENTENCE}')
    stacks = s.browser.js('headlight.state().stacks.map((one) => one.name)')
    expect(stacks == ['Decoder', 'Encoder', 'Cross'] or set(stacks) == {'Decoder', 'Encoder', 'Cross'}, f'the translator has {stacks}')


def test_site_refuses_hostile_links(s):
    for link, named in (('#model=<img src=x>&text=a', 'model'), (f'#model=encoder&text={SENTENCE}&cell=99,99', 'query'),
                        (f'#model=encoder&text={SENTENCE}&view=__proto__', 'view'), (f'#model=encoder&text={SENTENCE}&off=9.9', 'off')):
        _, url = site(s)
        s.browser.go('about:blank')
        s.browser.open(url + link)
        wait_until(lambda: status(s), f'a line about {link}')
        expect(named in status(s), f'{link}: expected a line about {named}, found {status(s)!r}')
    visit(s, '#model=any-sentence&text=%3Cimg src=x onerror="window.entered=1"%3E')
    expect(s.browser.js('window.entered === undefined && document.images.length === 0'), 'a text became an element')


def test_site_opens_with_a_sentence_in_the_readers_language(s):
    if not hasattr(s.browser, 'language'):
        return
    for language, text in (('zh-CN', SENTENCE), ('de-DE', ENGLISH)):
        s.browser.language(language)
        visit(s)
        agrees(s, language, GRAMMAR, '--text', text)
    s.browser.language('en-US')


def test_site_policy(s):
    visit(s)
    refused = s.browser.js('fetch("http://127.0.0.1:1/").then(() => "sent", () => "refused")')
    expect(refused == 'refused', 'the policy let a request out')
    s.browser.js('(() => { const script = document.createElement("script"); script.textContent = "window.injected = 1"; document.body.append(script); })()')
    expect(s.browser.js('window.injected === undefined'), 'the policy let a foreign script run')


def test_site_without_a_network(s):
    """After one visit the site opens where its server is gone, with the models that were asked."""
    folder, _ = site(s)
    handler = type('Handler', (http.server.SimpleHTTPRequestHandler,), {'log_message': lambda *_: None})
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), lambda *all: handler(*all, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f'http://127.0.0.1:{server.server_port}/'
    s.browser.open(url)
    is_live(s)
    expect(s.browser.js('navigator.serviceWorker.controller !== null'), 'no worker keeps the files')
    server.shutdown()
    server.server_close()
    s.browser.go('about:blank')
    s.browser.open(url)
    is_live(s)
    agrees(s, 'offline', GRAMMAR, '--text', ENGLISH)
    s.browser.js(f'headlight.ask({json.dumps(OTHER)}).catch(() => true)')
    expect(s.browser.js('headlight.state().tokens.length') > 3, 'the smaller model does not answer')


def test_site_damaged(s):
    folder, url = site(s)
    for name in ('core.bin', 'models/encoder/model.safetensors.bin'):
        whole = (folder / name).read_bytes()
        other = s.folder / f'damaged-{len(name)}'
        shutil.copytree(folder, other)
        (other / name).write_bytes(whole[:len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 1]) + whole[len(whole) // 2 + 1:])
        s.browser.go('about:blank')
        s.browser.go(url.replace('/site/', f'/{other.name}/'))
        shown = 'document.getElementById("loading")?.textContent + (document.querySelector(".of-site[role=status]")?.textContent ?? "")'
        wait_until(lambda: 'expected' in (s.browser.js(shown) or ''), 'a line about the damage')
        expect(name in s.browser.js(shown), f'{name}: {s.browser.js(shown)}')


OPEN = '''(async () => {
  const transfer = new DataTransfer();
  for (const name of %s) transfer.items.add(new File([await (await fetch('../' + name)).arrayBuffer()], name.split('/').at(-1)));
  const input = document.querySelector('#ask-area input[type=file]');
  input.files = transfer.files;
  input.dispatchEvent(new Event('change'));
})()'''


def test_site_opens_checkpoints_of_the_disk(s):
    """BERT, GPT-2 and Llama from files of the visitor; a damaged one changes nothing."""
    visit(s, '#model=encoder&text=a ba')
    for name in ('bert', 'gpt2', 'llama-gqa'):
        model = s.checkpoint(name, kind='own')
        files = [f'{model.name}/{one.name}' for one in model.iterdir() if one.is_file()]
        s.browser.js('document.querySelector(".of-site[role=status]").textContent = ""')
        s.browser.js(OPEN % json.dumps(files))
        wait_until(lambda: status(s), f'a line about {name}')
        agrees(s, f'{name}: {status(s)}', model, '--text', 'a ba')
    before = page_weights(s.browser, 'Self', 0, 0)
    (model / 'model.safetensors').write_bytes(b'\xff' * 4000)
    s.browser.js(OPEN % json.dumps([f'{model.name}/config.json', f'{model.name}/model.safetensors']))
    wait_until(lambda: 'expected' in status(s), 'a line about the damage')
    expect(page_weights(s.browser, 'Self', 0, 0) == before, 'what was open is gone')
    s.browser.js(OPEN % json.dumps([f'{model.name}/config.json']))
    wait_until(lambda: '.safetensors' in status(s), 'a line about the weights')
    s.browser.js('document.documentElement.lang.startsWith("zh") || document.querySelector("#options .link").click()')
    s.browser.js(OPEN % json.dumps([f'{model.name}/config.json', f'{model.name}/model.safetensors']))
    wait_until(lambda: re.search('[\u4e00-\u9fff].* expected', status(s)), 'what the damage means, in Chinese')


def press(s, text):
    s.browser.js('[...document.querySelectorAll(".of-site button")].find((one) => one.textContent === %s).click()' % json.dumps(text))
    s.browser.settled()


def test_site_exports(s):
    """JSON is the program's own export; an SVG has a cell for each weight, and the words."""
    visit(s, f'#model=encoder&text={SENTENCE}&mask.Self=causal&view=heads')
    s.browser.js('(() => { window.saved = []; const make = URL.createObjectURL; URL.createObjectURL = (blob) => { saved.push(blob); return make(blob); }; })()')
    for name in ('JSON', 'SVG'):
        press(s, name)
    exported, drawn = s.browser.js('Promise.all(saved.map((blob) => blob.text()))')
    file = s.folder / 'from-site.json'
    file.write_text(exported, encoding='utf-8')
    expected, found = s.export(GRAMMAR, '--text', SENTENCE, '--mask', 'causal'), json.loads(exported)
    expect(found['tokens'] == expected['tokens'] and found['request']['source'] == GRAMMAR, 'the export is of another question')
    agrees(s, 'export', GRAMMAR, '--text', SENTENCE, '--mask', 'causal')
    s.run('export', file)
    expect(drawn.count('class="cell"') == 100 and '机票' in drawn, f'the drawing: {drawn[:200]}')


def test_site_compares(s):
    visit(s, f'#model=encoder&text={SENTENCE}')
    before = page_weights(s.browser, 'Self', 1, 5)
    s.browser.js('document.documentElement.lang')
    s.browser.js('[...document.querySelectorAll(".of-site button")].find((one) => ["Keep as A", "留作 A"].includes(one.textContent)).click()')
    ask(s, '老师请小明帮医生买了去上海的车票')
    s.browser.settled()
    expect(s.browser.js('Array.from(headlight.weights("Self", 1, 5, {of: "A"}))') == before, 'A is no longer what was kept')
    shown = s.browser.js('[...document.querySelectorAll("#compare-head h3")].map((one) => one.textContent)')
    expect(SENTENCE in shown[0] and '车票' in shown[1], f'the titles are {shown}')


def test_site_changes_a_word(s):
    """Words are tried for the row of the pinned cell when nothing happens; the reader's own is answered with each key. A click takes the
    sentence, and its number is the one that was promised."""
    line, text = '#changes', (lambda of: s.browser.js(f'document.querySelector("{of}").innerText').replace('\u2068', '').replace('\u2069', ''))
    own = lambda word: s.browser.js('(() => { const input = document.getElementById("own-word"); input.value = %s; input.dispatchEvent(new Event("input")); })()' % json.dumps(word))
    visit(s, f'#model=auto&text={ENGLISH}')
    s.browser.js('document.documentElement.lang === "en" || document.querySelector("#options .link").click()')
    s.browser.settled()
    tokens = s.browser.js('headlight.state().tokens')
    it, animal, street = (tokens.index(word) for word in ('it', 'animal', 'street'))
    s.browser.js(f'headlight.set({{layer: 1, head: 5, pinned: [{it}, {animal}], view: "sentence"}})')
    wait_until(lambda: 'tired → wide: street' in text(line), f'the offer of a window; found {text(line)!r}')
    expect('Change a word:' in text(line), text(line))
    own('zzz')
    s.browser.settled()
    expect('stands for no word here' in text(line), text(line))
    own('wide')
    s.browser.settled()
    expect('→ wide: ' in text(line) and text(line).count('→') == 2, text(line))
    own('')
    s.browser.settled()
    expect('tired → wide: street' in text('#changes button'), f'what was tried stays; found {text(line)!r}')
    promised = text('#changes button').split('→')[-1].strip()
    s.browser.js('document.querySelector("#changes button").click()')
    wait_until(lambda: s.browser.js('document.getElementById("ask").value') == ENGLISH.replace('tired', 'wide'), 'the other sentence')
    s.browser.settled()
    weight = page_weights(s.browser, 'Self', 1, 5)[it * len(tokens) + street]
    expect(promised == f'{100 * weight:.0f} %', f'promised {promised}, found {weight}')
    expect(s.browser.js('headlight.state().pinned') == [it, animal], 'the cell does not stay')
    agrees(s, 'changed', GRAMMAR, '--text', ENGLISH.replace('tired', 'wide'))
    wait_until(lambda: 'wide → tired: animal' in text(line), f'and back; found {text(line)!r}')
    s.browser.js('headlight.set({off: ["1.5"]})')
    s.browser.settled()
    expect(not s.browser.js('document.querySelector("#changes").getBoundingClientRect().height'), 'a head that is off has a line')
    ask(s, OTHER)
    wait_until(lambda: s.browser.js('headlight.state().tokens')[0] == '<s>', 'the model for any sentence')
    for layer, head, pinned, height in ((3, 7, [2, 3], False), (3, 0, [2, 3], True)):  # the row of committee rests; is a subject
        s.browser.js(f'headlight.set({{layer: {layer}, head: {head}, pinned: {pinned}, off: []}})')
        s.browser.settled()
        expect(bool(s.browser.js('document.querySelector("#changes").getBoundingClientRect().height')) == height, f'{layer}.{head}: {text(line)!r}')


def test_site_waits_for_input_methods(s):
    """Enter that confirms a candidate of an input method asks nothing."""
    visit(s, f'#model=encoder&text={SENTENCE}')
    s.browser.js('''(() => { const input = document.getElementById('ask'); input.value = '小明看见小红'; input.dispatchEvent(new CompositionEvent('compositionstart'));
      input.form.requestSubmit(); })()''')
    s.browser.settled()
    expect(len(s.browser.js('headlight.state().tokens')) == 10, 'a composition was asked')
    s.browser.js("(() => { const input = document.getElementById('ask'); input.dispatchEvent(new CompositionEvent('compositionend')); input.form.requestSubmit(); })()")
    wait_until(lambda: len(s.browser.js('headlight.state().tokens')) < 10, 'the sentence to be asked')


def choose_lesson(s, title):
    s.browser.js('''(() => { const list = document.querySelector('header .of-site select'); list.value = [...list.options].find((one) => one.text === %s).value;
      list.dispatchEvent(new Event('change')); })()''' % json.dumps(title))
    shown = 'document.querySelector(".lesson").hidden ? document.querySelector(".of-site[role=status]").textContent : document.querySelector(".lesson h2").textContent'
    wait_until(lambda: (s.browser.js(shown) or '').startswith((title, 'This lesson')), f'the lesson {title}')
    s.browser.settled()
    return s.browser.js('document.querySelector(".lesson").innerText')


def test_site_lessons(s):
    """Every lesson opens as far as a browser can follow it; what a step asks for is seen when it is done."""
    visit(s)
    s.browser.js('document.documentElement.lang === "en" || document.querySelector("#options .link").click()')
    s.browser.settled()
    titles = s.browser.js("Array.from(document.querySelector('header .of-site select').options, (one) => one.text).slice(1)")
    expect(len(titles) >= 12, f"expected twelve lessons, found {titles}")
    steps = {title: choose_lesson(s, title).splitlines()[0].split(' / ')[-1] for title in titles}
    expect('Left out' in choose_lesson(s, titles[4]), 'a lesson of which steps are left out does not say so')
    expect('✓' not in choose_lesson(s, titles[5]), 'the step is done before anything is changed')
    s.browser.js('headlight.set({mask: "causal"})')
    s.browser.settled()
    expect('✓' in s.browser.js('document.querySelector(".lesson").innerText'), 'the step is not seen to be done')
    expect(not s.browser.complaints, f'expected silence, found {s.browser.complaints}')
    return ', '.join(f'{title} {count}' for title, count in steps.items())


def test_site_names_the_model_once(s):
    visit(s, f'#model=encoder&text={SENTENCE}')
    for language, name in (('en', 'encoder2 × 8 heads'), ('zh-CN', '编码器2 × 8 个头')):
        s.browser.js(f'document.documentElement.lang === "{language}" || document.querySelector("#options .link").click()')
        s.browser.settled()
        shown = s.browser.js('document.getElementById("model").textContent')
        expect(shown.startswith(name), f'expected {name}, found {shown}')


def test_site_lists_the_open_lesson(s):
    """The menu shows the lesson that is open, and none after it is closed, there or by its own link."""
    visit(s)
    s.browser.js('document.documentElement.lang === "en" || document.querySelector("#options .link").click()')
    s.browser.settled()
    shown = 'document.querySelector("header .of-site select").selectedOptions[0].text'
    for close in ('document.querySelector(".lesson .link:last-child").click()', '''(() => {
      const list = document.querySelector("header .of-site select"); list.selectedIndex = 0; list.dispatchEvent(new Event("change")); })()'''):
        choose_lesson(s, 'Masks')
        wait_until(lambda: s.browser.js(shown) == 'Masks' and status(s) == '', 'the lesson in the menu')
        s.browser.js('headlight.set({mask: "causal"})')
        s.browser.settled()
        expect(s.browser.js(shown) == 'Masks', 'the menu forgets the lesson')
        s.browser.js(close)
        wait_until(lambda: s.browser.js('document.querySelector(".lesson").hidden') and s.browser.js(shown) == '—', 'no lesson in the menu')


def test_site_lesson_shows_what_its_step_folds(s):
    """A step about special tokens has their rows and columns, and its cell is on the map."""
    visit(s)
    s.browser.js('document.documentElement.lang === "en" || document.querySelector("#options .link").click()')
    s.browser.js('headlight.set({fold: ["special", "words"]})')
    s.browser.settled()
    choose_lesson(s, 'Why does everything look at the first token?')
    wait_until(lambda: s.browser.js('headlight.state().head === 3 && headlight.state().pinned?.[0] === 6'), "the step's cell")
    s.browser.settled()
    expect(s.browser.js('headlight.state().fold') == [], f"the step folds {s.browser.js('headlight.state().fold')}")
    shown = s.browser.js('[...document.querySelectorAll("#stage-map text")].map((one) => one.textContent)')
    expect(shown.count('<s>') == 2, f'expected a row and a column of <s>, found {shown}')
    expect('mat rests on' in s.browser.js('document.querySelector("#row-words .sentence").textContent.replace(/[“”\u2066-\u2069]/g, "")'), 'the pinned cell is not read')


def test_site_looks(s):
    """Nothing is wider than the window, on a phone too; pictures with --pictures."""
    for width, height in ((390, 844), (1280, 800), (1920, 1080)):
        for theme, language in (('light', 'en'), ('dark', 'zh')):
            s.browser.size(width, height)
            s.browser.theme(theme)
            visit(s, f'#model=encoder&text={SENTENCE}&head=1.5&cell=9,4')
            if language == 'zh':
                s.browser.js('document.querySelector("#options .link").click()')
            s.browser.settled()
            # Firefox has no window of less than 450 pixels.
            expect(s.browser.js('document.documentElement.scrollWidth <= innerWidth'), f'{width}: the page is wider than the window')
            if s.pictures:
                (s.pictures / f'site-{width}-{theme}-{language}.png').write_bytes(s.browser.screenshot())
    s.browser.size(1280, 800)
    s.browser.theme('light')
