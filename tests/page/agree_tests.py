"""Every cell of a page equals the export, to the error that the page states."""

import base64
import json
import struct
import zlib

from page_setting import CHINESE_AND_ENGLISH, SENTENCE, agrees, expect, flat, float32_safetensors, largest_difference


def test_encoder(s):
    return agrees(s, 'encoder', ['--text', SENTENCE])


def test_decoder(s):
    return agrees(s, 'decoder', ['shipped:decoder', '--text', SENTENCE])


def test_encoder_decoder(s):
    return agrees(s, 'translator', ['shipped:translator', *CHINESE_AND_ENGLISH])


def test_grouped_queries(s):
    return agrees(s, 'grouped', [s.golden / 'llama-gqa', '--ids', '1,5,9,12,7'])


def test_relative_bias(s):
    return agrees(s, 'relative', [s.golden / 'family-t5', '--ids', '5,9,12,7,1', '--decoder-ids', '0,4,6,8'])


def test_post_norm(s):
    return agrees(s, 'bert', [s.golden / 'bert', '--ids', '2,9,50,33,3'])


def test_every_family(s):
    """Windows, soft caps, sinks, scores of distances, a bias of each key's place."""
    families = ('mistral-window', 'gemma2', 'gemma3', 'modernbert', 'headlight-sinks', 'deberta-v2', 'deberta-v3', 'bloom', 'mpnet')
    ids = ['--ids', '5,9,12,7,1,3,4,8,11,6']
    return '; '.join(f'{name} {agrees(s, name, [s.golden / f"family-{name}", *ids])}' for name in families)


def test_masks_of_windows_chunks_and_prefixes(s):
    return '; '.join(agrees(s, f'mask-{i}', ['--text', SENTENCE, '--mask', mask]) for i, mask in enumerate((
        'causal+window:3', 'chunk:4', 'causal+prefix:2')))


def test_given_queries(s):
    return agrees(s, 'given', [s.golden / 'tensors-causal-7' / 'input.safetensors'])


def test_given_cross(s):
    return agrees(s, 'given-cross', [s.golden / 'tensors-cross-4x6' / 'input.safetensors'])


def pack(page):
    """Writes the numbers of a page as one of more than 24 MB has them."""
    html = page.read_text(encoding='utf-8')
    begin = html.index('>', html.index('id="headlight-data"')) + 1
    end = html.index('</script>', begin)
    data, texts = json.loads(html[begin:end]), []
    for stack in data['stacks']:
        for field in 'qkv':
            numbers = base64.b64decode(stack[field])
            size, stack[field] = len(numbers) // stack['layers'], []
            for at in range(0, len(numbers), size):
                layer, deflate = numbers[at:at + size], zlib.compressobj(wbits=-15)
                stack[field].append(len(texts))
                texts.append(base64.b64encode(deflate.compress(layer[::2] + layer[1::2]) + deflate.flush()).decode())
    beside = ''.join('</script>\n<script type="text/plain">' + text for text in texts)
    page.write_text(html[:begin] + json.dumps(data).replace('<', '\\u003c') + beside + html[end:], encoding='utf-8')


def test_packed(s):
    found = agrees(s, 'packed', ['shipped:translator', *CHINESE_AND_ENGLISH], pack)
    s.run('check', s.folder / 'packed.html')
    return found


def test_weights_from_elsewhere(s):
    rows = [[0.7, 0.2, 0.1], [0.05, 0.9, 0.05], [0.3, 0.3, 0.4]]
    file = float32_safetensors(s.folder / 'elsewhere.safetensors', {'attentions': ([1, 2, 3, 3], flat(rows) + flat(rows[::-1]))},
                               {'tokens': '["a", "b", "c"]'})
    return agrees(s, 'elsewhere', [file]) + '; masked ' + agrees(s, 'elsewhere-masked', [file, '--mask', 'causal'])


def test_masked(s):
    mask = s.folder / 'mask.json'
    mask.write_text(json.dumps([[(i * 7 + j * 3) % 4 != 0 for j in range(10)] for i in range(10)]), encoding='utf-8')
    return '; '.join(agrees(s, f'masked-{i}', ['--text', SENTENCE, *request]) for i, request in enumerate((
        ['--mask', 'causal'], ['--mask', mask], ['--pad', '3'], ['--pad', '2', '--mask', 'causal+padding'])))


def test_masked_by_large_numbers(s):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (10, 10), }".ljust(117) + '\n'
    cells = [[-1e9 if (i * 7 + j * 3) % 4 == 0 or i == 5 else 0.5 * (j % 3) for j in range(10)] for i in range(10)]
    mask = s.folder / 'mask.npy'
    mask.write_bytes(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + struct.pack('<100f', *flat(cells)))
    said = agrees(s, 'masked-large', ['--text', SENTENCE, '--mask', mask])
    expected = s.export('--text', SENTENCE, '--mask', mask)['mask']['allowed']
    for i, j in ((0, 0), (0, 1), (5, 5)):
        expect(bool(expected[i][j]) == ((i, j) != (0, 0)), f'query {i} key {j}: {expected[i][j]}')
    return said


def test_edited(s):
    return '; '.join(agrees(s, f'edited-{i}', ['--text', SENTENCE, *request]) for i, request in enumerate((
        ['--scale', '0.7'], ['--dropout', '0.3', '--dropout-seed', '7'], ['--off', '0.3,1.*'])))


def test_two_hundred_tokens(s):
    return agrees(s, 'long', ['--random', '--layers', '1', '--num-heads', '2', '--text', ' '.join(f'w{i % 37}' for i in range(200))])


def test_only_some_heads(s):
    request = ['--text', SENTENCE]
    s.open(s.page('only', *request, '--only', '0.3,1.*'))
    heads = {(0, 3)} | {(1, head) for head in range(8)}
    found = largest_difference(s.browser, s.export(*request), heads)
    expect(found <= s.browser.js('headlight.state().error'), f'off by {found}')
    refused = s.browser.js("(() => { try { headlight.weights('Self', 0, 0); return ''; } catch (error) { return error.message; } })()")
    expect('0.0' in refused, f'expected a line about head 0.0, found {refused}')


def folded(rows, tokens, special, words):
    """Special tokens left out; weights to the pieces of a word summed, those from it averaged."""
    groups = []
    for i, token in enumerate(tokens):
        if special and token.get('special'):
            continue
        if words and token['raw'].startswith('##') and groups and groups[-1][-1] == i - 1:
            groups[-1].append(i)
        else:
            groups.append([i])
    result = []
    for group in groups:
        result.append([sum(rows[i][j] / len(group) for i in group for j in columns) for columns in groups])
    return result


def test_folded(s):
    """What the fold leaves of an export, computed here, is what the page shows."""
    model = s.checkpoint('bert', kind='subwords')
    request = [model, '--text', 'a ba, xa b caa']  # ##a is a piece
    s.open(s.page('folded', *request))
    exported = s.export(*request)
    far, left = 0, set()
    for special, words in ((True, False), (False, True), (True, True)):
        fold = [name for name, wanted in (('special', special), ('words', words)) if wanted]
        s.browser.js(f'headlight.set({{fold: {json.dumps(fold)}}})')
        for attention in exported['attention']:
            for layer, heads in enumerate(attention['attn']):
                for head, rows in enumerate(heads):
                    expected = folded(rows, exported['tokens'], special, words)
                    found = s.browser.js(f'Array.from(headlight.weights({json.dumps(attention["name"])}, {layer}, {head}, {{folded: true}}))')
                    expect(len(found) == len(flat(expected)), f'{fold}: expected {len(flat(expected))} cells, found {len(found)}')
                    far = max(far, max(abs(a - b) for a, b in zip(flat(expected), found)))
                    left.add(len(expected))
    expect(len(left) > 1 or len(exported['tokens']) not in left, f'nothing was folded: {left}')
    # A row without its special tokens is divided by what is left of it, and its rounding with it.
    expect(far <= 20 * s.browser.js('headlight.state().error'), f'off by {far}')
    return f'{far:.2g}'


def test_folded_rows_say_what_rests(s):
    """What a row gives to special tokens, which are folded, stands beside it, as dark as its share, and in words."""
    request = ['--text', 'The trophy does not fit in the suitcase because it is too big', '--language', 'en']
    s.open(s.page('rests', 'shipped:any-sentence', *request))
    s.browser.js('headlight.set({layer: 3, head: 7, pinned: [14, 8], view: "heads"})')
    s.browser.settled()
    rows = s.export('shipped:any-sentence', *request[:2])['attention'][0]['attn'][3][7]
    strips = [float(one) for one in s.browser.js('[...document.querySelectorAll("#stage-map rect[width=\\"2\\"]")].map((one) => one.getAttribute("fill-opacity") ?? 1)')]
    # trophy is three tokens and one row; all others are one.
    expected = [sum(rows[i][0] for i in group) / len(group) for group in ([1], [2, 3, 4], *([i] for i in range(5, len(rows))))]
    expect(len(strips) == len(expected) and max(abs(a - b) for a, b in zip(strips, expected)) <= 0.0051, f'expected {expected}, found {strips}')
    said = s.browser.js('document.querySelector("#row-table caption").textContent')
    expect(f'{100 * rows[14][0]:.0f} % rests on special tokens' in said, f'expected {rows[14][0]}, found {said!r}')
    expect('Grey strip' in s.browser.js('document.getElementById("folded").textContent'), 'what the strip means is not said')
    s.browser.js('headlight.set({fold: []})')
    s.browser.settled()
    expect(s.browser.js('document.querySelectorAll("#stage-map rect[width=\\"2\\"]").length') == 0, 'nothing is folded, and a strip is there')
    expect('rests' not in s.browser.js('document.querySelector("#row-table caption").textContent'), 'nothing is folded, and something rests')


def test_compared(s):
    """A and B of a comparison are the two answers."""
    a, b = ['--text', SENTENCE, '--mask', 'none'], ['--text', SENTENCE, '--mask', 'causal']
    s.open(s.page('compared', *b, '--against', "--mask none --text '%s'" % SENTENCE))
    error = s.browser.js('headlight.state().error')
    for which, request in (('A', a), ('B', b)):
        for layer, heads in enumerate(s.export(*request)['attention'][0]['attn']):
            for head, rows in enumerate(heads):
                found = s.browser.js(f'Array.from(headlight.weights("Self", {layer}, {head}, {{of: "{which}"}}))')
                far = max(abs(x - y) for x, y in zip(flat(rows), found))
                expect(far <= 2 * error, f'{which} {layer}.{head}: off by {far}, the page states {error}')
    refused = s.browser.js("(() => { try { headlight.weights('Self', 0, 0, {of: 'C'}); return ''; } catch (error) { return error.message; } })()")
    expect('A or B' in refused, f'expected a line about C, found {refused}')
