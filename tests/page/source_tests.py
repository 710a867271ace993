"""A page opens again without the model that it was made of, and says so."""

import json
import shutil

from page_setting import SENTENCE, expect, float32_safetensors, largest_difference

IDS = ['--ids', '2,9,50,33,3']


def page_without_model(s, name, *request):
    """A page of a checkpoint that is then removed."""
    model = s.folder / f'{name}-model'
    shutil.copytree(s.golden / 'bert', model)
    file = s.page(name, model, *IDS, *request)
    shutil.rmtree(model)
    return model, file


def test_source_without_its_model(s):
    model, file = page_without_model(s, 'alone', '--mask', 'causal')
    out, line = s.run('export', file)
    expect(line.count('\n') == 1 and f'its model is not there ({model})' in line and 'without new words and the next word' in line, f'expected one line, found {line!r}')
    s.open(file)
    stated = s.browser.js('headlight.state().error')
    far = largest_difference(s.browser, json.loads(out))
    expect(far <= 5e-6, f"the program's numbers of the page are off from the page's by {far}")
    for command in (['heads', file], ['explain', file, '--layer', '0', '--head', '1', '--query', '2', '--key', '1'],
                    ['figure', file, '-o', s.folder / 'alone.svg'], ['page', file, '-o', s.folder / 'again.html'],
                    ['screenshot', file, '-o', s.folder / 'alone.png']):
        _, said = s.run(*command)
        expect('its model is not there' in said, f'{command[0]}: expected the line, found {said!r}')
    _, said = s.run('check', file, status=1)
    s.open(s.folder / 'again.html')
    far = largest_difference(s.browser, json.loads(out))
    expect(far <= stated, f'a page of the page: off by {far}')
    for command in (['next', file], ['export', file, '--text', SENTENCE], ['page', file, '--live', '-o', s.folder / 'live.html']):
        _, said = s.run(*command, status=2)
        expect(said.count(': expected ') == 1, f'{command}: expected one error, found {said!r}')


def test_source_of_another_model(s):
    model = s.folder / 'trained-model'
    shutil.copytree(s.golden / 'bert', model)
    file = s.page('trained', model, *IDS)
    _, line = s.run('export', file)
    expect(line == '', f'expected silence, found {line!r}')
    weights = bytearray((model / 'model.safetensors').read_bytes())
    for at in range(len(weights) // 2 + 3 & ~3, len(weights), 4):
        weights[at + 2] ^= 0x10  # a bit of the mantissa
    (model / 'model.safetensors').write_bytes(weights)
    _, line = s.run('export', file)
    expect(line.count('\n') == 1 and 'has other weights' in line, f'expected one line, found {line!r}')
    said, _ = s.run('check', file, status=1)
    expect(b'has other weights' in said and b'error' in said, f'expected an error, found {said}')


def test_source_damaged(s):
    _, file = page_without_model(s, 'damaged')
    text = file.read_text(encoding='utf-8')
    for name, changed in (('cut', text[:text.index('"q":"') + 60]), ('short', text.replace('"q":"', '"q":"AAAA', 1)),
                          ('width', text.replace('"d_k":', '"d_k":"x","was":', 1)), ('empty', '')):
        other = s.folder / f'damaged-{name}.html'
        other.write_text(changed, encoding='utf-8')
        for command in ('export', 'check', 'heads'):
            _, line = s.run(command, other, status=2)
            expect(line.count('\n') == 1 and f'damaged-{name}.html' in line and ': expected ' in line, f'{command} {name}: expected one line, found {line!r}')


def text_of(b, element):
    return b.js(f'document.getElementById("{element}").textContent')


def test_maps_that_sum_up_others(s):
    """They are named and captioned as the window has them, and their numbers are those of export."""
    b, request = s.browser, ['shipped:decoder', '--text', 'the cat chased the dog', '--reduce', 'mean:layers']
    s.open(s.page('summed', *request, '--language', 'en'))
    far = largest_difference(b, s.export(*request))
    expect(far <= b.js('headlight.state().error'), f"the page's means are off by {far}")
    shown = b.js('[...document.querySelectorAll("#atlas .head")].map((one) => one.getAttribute("aria-label").split(",")[0])')
    expect(shown == [f'H{head}' for head in range(8)], f'expected maps named by their heads, found {shown}')
    said = text_of(b, 'warnings')
    expect('mean' in said and 'layers' in said, f'expected what was summed up, found {said!r}')


def test_numbers_below_0_and_none(s):
    """The table of a row has their signs, and names what is no number."""
    b = s.browser
    gaps = [0.5, 0.5, float('nan'), float('nan')]
    for name, rows, pinned, expected in (('signed', [0.5, -0.25, -1, 1], '[0, 1]', ('+.50', '−.25')), ('none', gaps, '[1, 0]', ('NaN', 'NaN'))):
        file = float32_safetensors(s.folder / f'{name}.safetensors', {'attentions': ([1, 1, 2, 2], rows)})
        s.open(s.page(name, file))
        b.js(f'headlight.set({{view: "heads", pinned: {pinned}}})')
        b.settled()
        found = b.js('[...document.querySelectorAll("#row-table tbody .number")].map((one) => one.textContent)')
        expect(found == [*expected], f'{name}: expected {expected}, found {found}')
        ends = b.js('[0, 127, 255].map((x) => [...document.querySelector(".colour-bar").getContext("2d").getImageData(x, 0, 1, 1).data])')
        reddest = [colour[0] - colour[2] for colour in ends]
        expect((name == 'none') != (reddest[0] > 20 and reddest[2] < -20 and abs(reddest[1]) < 9), f'{name}: the colour bar has {ends}')


def test_range_of_colours(s):
    """The colours end where the command says, until the reader lets them fit again."""
    b = s.browser
    s.open(s.page('range', '--text', SENTENCE, '--range', '0,0.5', '--language', 'en'))
    said = text_of(b, 'look-controls')
    expect('0.5' in said and '0.75' not in said, f'expected colours up to 0.5, found {said!r}')
    b.js('[...document.querySelectorAll("#look-controls button")].find((one) => one.textContent.includes("fit")).click()')
    b.settled()
    said = text_of(b, 'look-controls')
    expect('0.5' in said and '1' in said, f'expected colours up to the largest weight, found {said!r}')
