"""Patches and paths again: what a part of one answer does in the pass of another."""

import itertools

import numpy as np

from transformer import Edits
from case import METRICS, PARTS, Metric, has, joined, numbers, prefixed


def two_answers(case, metric_names=METRICS, same_length=False):
    """Draws the corrupt text and a metric by which both differ."""
    longer = not same_length and case.pick(0, 0, 1)
    which = case.pick(0, 1) if case.two else 0
    texts = [list(text) if text else None for text in case.clean]
    texts[which] = case.changed(texts[which], longer)
    if case.two and case.pick(0, 1):
        texts[1 - which] = case.changed(texts[1 - which], False)
    case.corrupt = tuple(texts)
    clean, corrupt = case.run(case.clean), case.run(case.corrupt)
    for _ in range(20):
        metric = Metric(case, clean, corrupt, case.pick(*metric_names))
        ends = metric.on_scale(clean.logits[-1]), metric.on_scale(corrupt.logits[-1])
        if abs(ends[0] - ends[1]) > 0.02 and all(metric.is_sure(one.logits[-1]) for one in (clean, corrupt)):
            return clean, corrupt, metric, ends
    return None


def pairs(case, stack, of_keys):
    """Tokens of the clean and of the corrupt text that stand for each other: by position, else by their words."""
    a, b = (case.places(stack)(text)[of_keys] for text in (case.clean, case.corrupt))
    if len(a) == len(b):
        return [(i, i) for i in range(len(a))]
    return [(a.index(word), b.index(word)) for word in a if word in b]


def put_in(case, source, at, stack, rows, share=1.0):
    """A hook that gives the source's numbers to rows of a part: at is {(part, layer, head)}; `share` of the way."""
    def put(part, own, layer, head, numbers):
        if own != stack or (part, layer, head) not in at:
            return numbers
        numbers = numbers.copy()
        for there, here in rows:
            numbers[here] += share * (source.of[part, own, layer, head][there] - numbers[here])
        return numbers
    return put


def patch_question(case, metric, *words):
    both = [word for text in (case.clean, case.corrupt) for word in [case.question(text)]]
    return case.ask('patch', *both[0], '--from', ' '.join(both[1]), *metric.options, *words)


def check_patch(case, estimate=False):
    drawn = two_answers(case, METRICS[:3] if estimate else METRICS)
    if not drawn:
        return
    clean, corrupt, metric, (of_clean, of_corrupt) = drawn
    model, noise, part = case.model, case.pick(False, True), case.pick(*PARTS)
    stack = case.pick(*model.stacks())
    stream = part in ('residual', 'ffn')
    if stream and (stack == 'cross' or ('ffn', 0) in case.edits.parts or ('ffn', 1) in case.edits.parts):
        stack, part, stream = case.pick(*model.stacks()), 'heads', False
    if part == 'pattern' and len(pairs(case, stack, False)) != len(case.places(stack)(case.corrupt)[0]):
        part = 'q'
    matches = [pair[::-1] if noise else pair for pair in pairs(case, stack, part in 'kv')]
    one_by_one = stream or case.pick(False, True)
    words = ['--at', part, '--direction', 'noise' if noise else 'denoise', '--stack', stack]
    words += ['--at-tokens', 'all'] if one_by_one and not stream else []
    found = patch_question(case, metric, *words, *(['--estimate', '2'] if estimate else ['--control', 'random:2']))
    if not found:
        return
    case.agrees('patch of ends', [found['clean'], found['corrupt']], [metric(clean.logits[-1]), metric(corrupt.logits[-1])])
    base, source, text = (clean, corrupt, case.clean) if noise else (corrupt, clean, case.corrupt)
    begin, end = (of_clean, of_corrupt) if noise else (of_corrupt, of_clean)
    column, within = 'lost' if noise else 'restored', 3e-5 + 3e-6 * metric.size / abs(end - begin)
    tokens = [[pair] for pair in matches] if one_by_one else [matches]
    heads = 1 if stream else model.kv if part in 'kv' else model.heads
    cells = list(itertools.product(range(model.layers), range(heads), tokens))
    case.agrees('patch of places', [[c['layer'], c['head'] or 0, -1 if c['token'] is None else c['token']] for c in found['cells']],
                [[layer, h, rows[0][1] if one_by_one else -1] for layer, h, rows in cells])
    for cell, (layer, h, rows) in zip(found['cells'], cells):
        value = lambda share: metric.on_scale(case.run(text, put_in(
            case, source, {(part, layer, h)}, stack, rows, share)).logits[-1])
        if estimate:
            slope = (value(1e-4) - value(-1e-4)) / 2e-4 / (end - begin)
            case.agrees('estimate', cell['estimate'], slope, within * 10)
        if cell[column] is not None and metric.name != 'rank':
            case.agrees('patch', cell[column], (value(1) - begin) / (end - begin), within)
    if estimate:
        best = sorted(found['cells'], key=lambda one: -abs(one['estimate']))[:2]
        case.agrees('estimate of the largest', [one['patched'] == 'largest' for one in best], [True] * len(best))


def check_estimate(case):
    if has('patch', '--estimate') and not case.model.sinks:
        check_patch(case, True)


def other_sentences(case):
    """The answers to other sentences, and their file."""
    texts = [case.random.integers(0, case.model.words, n).tolist() for n in (4, 6, 5)]
    file = case.folder / 'others'
    file.write_text('\n'.join(' '.join(map(str, ids)) for ids in texts) + '\n')
    return [case.run((ids, None)) for ids in texts], str(file)


def replaced(own, others, key, kind):
    """What a baseline puts in place of a part: of resampling one for each sentence."""
    parts = [one.of[key] for one in others]
    if kind == 'resample:':
        return [np.concatenate([one[:len(own)], own[len(one):]]) for one in parts]
    if kind == 'mean:':
        return [own * 0 + np.concatenate(parts).mean(0)]
    return [np.array([np.mean([one[i] for one in parts if i < len(one)], 0) for i in range(len(own))])]


def check_baseline(case):
    drawn = None if case.two else two_answers(case, METRICS[:3])
    if not drawn:
        return
    clean, _, metric, (begin, end) = drawn
    model, kind, part = case.model, case.pick('mean:', 'resample:', 'position:'), case.pick('heads', 'residual', 'q', 'k', 'v')
    others, file = other_sentences(case)
    found = patch_question(case, metric, '--at', part, '--baseline', kind + file)
    for cell in found['cells'] if found else []:
        key, values = (part, 'self', cell['layer'], cell['head'] or 0), []
        for new in replaced(clean.of[key], others, key, kind):
            rows = slice(None) if cell['token'] is None else slice(cell['token'], cell['token'] + 1)

            def put(*of):
                numbers = of[-1].copy()
                if of[:-1] == key:
                    numbers[rows] = new[rows]
                return numbers
            values.append((metric.on_scale(case.run(case.clean, put).logits[-1]) - begin) / (end - begin))
        case.agrees('baseline', cell['lost'], np.mean(values), 3e-5 + 3e-6 * metric.size / abs(end - begin))


def check_neurons(case):
    """Single neurons of feed-forwards in place of their own: of the other answer, or of a baseline."""
    drawn = two_answers(case, METRICS[:3])
    if not drawn or not has('patch', '--at-neurons'):
        return
    clean, corrupt, metric, (of_clean, of_corrupt) = drawn
    kind = '' if case.two else case.pick('', 'mean:', 'resample:', 'position:')
    stack = case.pick(*(one for one in case.model.stacks() if one != 'cross'))
    noise, each = bool(kind) or case.pick(False, True), case.pick(False, True)
    base, source, text = (clean, corrupt, case.clean) if noise else (corrupt, clean, case.corrupt)
    layers = [layer for layer in range(case.model.layers) if ('neurons', stack, layer, 0) in base.of]
    if not layers:
        return
    count = base.of['neurons', stack, layers[0], 0].shape[1]
    layers = case.pick(layers, [case.pick(*layers)])
    chosen = sorted({(case.pick(*layers), int(case.random.integers(count))) for _ in range(3)})
    words = ['--at', 'neurons', '--stack', stack, '--at-neurons', ','.join('%d.%d' % one for one in chosen)]
    others, file = other_sentences(case) if kind else ([], '')
    words += ['--baseline', kind + file] if kind else ['--direction', 'noise' if noise else 'denoise']
    control = kind != 'resample:' and not each and len({layer for layer, _ in chosen}) == 1
    found = patch_question(case, metric, *words, *(['--at-tokens', 'all'] if each else []),
                           *(['--control', 'random:2'] if control else []))
    if not found:
        return
    matches = [(i, i) for i in range(len(text[0]))] if kind else [
        pair[::-1] if noise else pair for pair in pairs(case, stack, False)]
    tokens = [[pair] for pair in matches] if each else [matches]
    cells = [(*one, rows) for one in chosen for rows in tokens]
    case.agrees('neurons of places', [[c['layer'], c['neuron']] for c in found['cells']], [cell[:2] for cell in cells])
    begin, end = (of_clean, of_corrupt) if noise else (of_corrupt, of_clean)
    within = 3e-5 + 3e-6 * metric.size / abs(end - begin)

    def restored(places, rows):
        """With these neurons patched together."""
        values = []
        for draw in range(len(others) if kind == 'resample:' else 1):
            def put(*of):
                numbers = of[-1].copy()
                if of[:-1] in [('neurons', stack, layer, 0) for layer, _ in places]:
                    new = replaced(base.of[of[:-1]], others, of[:-1], kind)[draw] if kind else source.of[of[:-1]]
                    for there, here in rows:
                        for layer, neuron in places:
                            if layer == of[2]:
                                numbers[here, neuron] = new[there, neuron]
                return numbers
            values.append((metric.on_scale(case.run(text, put).logits[-1]) - begin) / (end - begin))
        return np.mean(values)

    for cell, (layer, neuron, rows) in zip(found['cells'], cells):
        case.agrees('neurons', cell['lost' if noise else 'restored'], restored([(layer, neuron)], rows), within)
    if control:
        case.agrees('neurons of several', found['control']['together'], restored(chosen, matches), within)


def check_firing(case):
    """Where each neuron is most active in several sentences."""
    if case.two or not has('neurons', '--top'):
        return
    texts = [case.two_texts()[0] for _ in range(3)]
    found = case.ask('neurons', '--ids', '\n'.join(map(joined, texts)),
                     '--at-layers', 0, '--top', 3)
    answers = [case.run((ids, None), edits=Edits()) for ids in texts]
    if not found or ('neurons', 'self', 0, 0) not in answers[0].of:
        return
    all_of = [answer.of['neurons', 'self', 0, 0] for answer in answers]
    mean = np.concatenate(all_of).mean(0)
    case.agrees('neurons of a layer', [len(found['neurons']), found['sentences']], [len(mean), 3])
    for one in found['neurons']:
        values = np.sort(np.concatenate(all_of)[:, one['neuron']])[::-1]
        case.agrees('firing', [one['mean'], *(top['activation'] for top in one['top'])], [mean[one['neuron']], *values[:3]])
        case.agrees('firing of places', [all_of[top['sentence']][top['token'], one['neuron']] for top in one['top']], values[:3])


def place(head):
    return head[1] if head[0] == 'encoder' else 10 + 2 * head[1] + (head[0] == 'cross')


def all_heads(model):
    return [(stack, layer, h) for stack in model.stacks() for layer in range(model.layers) for h in range(model.heads)]


def check_path(case):
    drawn = two_answers(case, METRICS[:3])
    if not drawn:
        return
    noise, heads = case.pick(False, True), all_heads(case.model)
    sender = case.pick(*heads)
    readers = [head for head in heads if place(head) > place(sender)]
    to = case.pick(None, *readers, *readers)
    part = case.pick('', ':q', ':k', ':v', ':k@group', ':v@group') if to else ''
    found = patch_question(case, drawn[2], '--from-head', prefixed(*sender), '--to', prefixed(*to) + part if to else 'output',
                           '--direction', 'noise' if noise else 'denoise')
    if found:
        agrees_with_path(case, drawn, found['cells'][0], sender, to, part, noise)


def check_readers(case):
    """Every reader of one head: each is a path of its own."""
    drawn = two_answers(case, METRICS[:3])
    if not drawn:
        return
    noise, heads = case.pick(False, True), all_heads(case.model)
    sender = case.pick(*heads)
    found = patch_question(case, drawn[2], '--from-head', prefixed(*sender), '--to', 'all', '--direction',
                           'noise' if noise else 'denoise')
    if not found:
        return
    readers = sorted((place(head), part, head) for head in heads if place(head) > place(sender) for part in 'qkv')
    where = lambda cell: (cell.get('stack', 'self'), cell['layer'], cell['head'])
    cells = {(place(where(cell)), cell['part'], where(cell)): cell for cell in found['cells'] if cell['head'] is not None}
    case.agrees('readers', [sorted(cells) == readers, len(found['cells'])], [True, len(readers) + 1])
    for _ in range(4):
        if readers:
            at = readers[case.random.integers(len(readers))]
            agrees_with_path(case, drawn, cells[at], sender, at[2], ':' + at[1], noise)
    agrees_with_path(case, drawn, found['cells'][-1], sender, None, '', noise)


def agrees_with_path(case, drawn, cell, sender, to, part, noise):
    clean, corrupt, metric, (of_clean, of_corrupt) = drawn
    model = case.model
    base, source, text = (clean, corrupt, case.clean) if noise else (corrupt, clean, case.corrupt)
    begin, end = (of_clean, of_corrupt) if noise else (of_corrupt, of_clean)
    rows = [pair[::-1] if noise else pair for pair in pairs(case, sender[0], False)]
    send = put_in(case, source, {('heads', *sender[1:])}, sender[0], rows)

    def alone(of, stack, layer, h, now):
        head = stack, layer, h
        if of != 'heads' or head == sender or place(head) < place(sender) or (to and place(head) >= place(to)):
            return send(of, stack, layer, h, now)
        return base.of[of, stack, layer, h]

    answer = case.run(text, alone)
    if to:
        group, own = model.heads // model.kv, part.removesuffix('@group')
        wanted = {(':q', 'q'): [to], (':k', 'own k'): [to], (':v', 'own v'): [to]}
        if part.endswith('@group'):
            first = to[2] // group * group
            wanted = {key: [(*to[:2], first + i) for i in range(group)] for key in wanted}
        changed = {(of, *head) for (name, of), them in wanted.items() if own in ('', name) for head in them}
        answer = case.run(text, lambda of, *rest: answer_of(of, rest, changed, answer))
    case.agrees('path', cell['lost' if noise else 'restored'],
                (metric.on_scale(answer.logits[-1]) - begin) / (end - begin), 3e-5 + 3e-6 * metric.size / abs(end - begin))


def answer_of(part, rest, changed, read):
    return read.of[(part, *rest[:3])] if (part, *rest[:3]) in changed else rest[3]
