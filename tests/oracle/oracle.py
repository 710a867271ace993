#!/usr/bin/python3
"""A second opinion on every analysis: oracle.py PROGRAM [SEED [MODELS]]

Draws models and questions (case.py), asks the program, and computes each answer again in numpy (transformer.py,
patches.py). Exit status 77 where numpy is missing. A seed draws the same questions."""

import itertools
import json
import pathlib
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

from case import MODELS, METRICS, SEED, Case, Metric, effective, faults, has, joined, numbers, prefixed, worst
from circuits import check_circuits, check_two_models
from patches import (check_baseline, check_estimate, check_firing, check_neurons, check_patch, check_path, check_readers, other_sentences, pairs,
                     patch_question, put_in, replaced, two_answers)
from transformer import Edits, added, safetensors, softmax


def check_export(case):
    edits, options = case.edits, list(case.options)
    if edits.mask is None and case.model.heads > 1 and case.pick(0, 1):
        mask, option = case.mask_of_heads(case.clean)
        edits, options = Edits(mask, scale=edits.scale, parts=edits.parts), options + option
    cell = case.any_head()
    tokens = case.places(cell[0])(case.clean)
    query, key = case.random.integers(len(tokens[0])), case.random.integers(len(tokens[1]))
    if case.pick(0, 1):
        edits = Edits(edits.mask, [case.any_head()], case.pick('zero', 'mean'), {(*cell, query, key): 0.25}, edits.scale,
                      edits.parts)
        options += ['--off', prefixed(*edits.off[0]), '--off-as', edits.off_as, '--weight',
                    f'{prefixed(*cell)}.{query}.{key}=0.25']
    answer, file = case.run(case.clean, edits=edits), case.folder / 'a.npz'
    with_ = ['--with', 'qkv,scores,norms,gradient' + (',rollout' if not case.two else '')]
    if case.ask('export', *case.question(case.clean, options), *with_, '-o', file, format='npz') is None:
        return
    found, model = dict(np.load(file)), case.model
    for stack in model.stacks():
        name = {'self': 'decoder_' if case.two else ''}.get(stack, stack + '_')
        for array, part, heads in (('attentions', 'pattern', model.heads), ('queries', 'q', model.heads),
                                   ('keys', 'k', model.kv), ('values', 'v', model.kv)):
            mine = [[answer.of[part, stack, layer, h] for h in range(heads)] for layer in range(model.layers)]
            case.agrees('export', found[name + array], mine)
        scores = np.array([[answer.of['scores', stack, layer, h] for h in range(model.heads)] for layer in range(model.layers)])
        seen = np.isfinite(scores)
        case.agrees('export of scores', np.isfinite(found[name + 'scores']), seen)
        case.agrees('export of scores', found[name + 'scores'][seen], scores[seen])
        for layer, h in itertools.product(range(model.layers), range(model.heads)):
            weights = effective(answer, edits, (stack, layer, h))
            block = 'cross_attention' if stack == 'cross' else 'attention'
            output = model.w[f'{"encoder." * (stack == "encoder")}layers.{layer}.{block}.output.weight']
            v = answer.of['group', stack, layer, h][1] @ output[:, h * model.d_k:(h + 1) * model.d_k].T
            case.agrees('norms', found[name + 'norms'][layer, h], weights * np.linalg.norm(v, axis=1))
            if not edits.weights:
                jacobian = [np.linalg.norm(np.diag(row) - np.outer(row, row)) for row in answer.of['pattern', stack, layer, h]]
                case.agrees('gradient', found[name + 'gradient'][layer, h, :, 0], jacobian)
    if 'rollout' in found:
        map_ = np.eye(len(case.clean[0]))
        for layer in range(model.layers):
            mean = np.mean([effective(answer, edits, ('self', layer, h)) for h in range(model.heads)], 0)
            step = mean / 2 + np.eye(len(mean)) / 2 * (('residual', layer) not in edits.parts)
            map_ = step / np.maximum(step.sum(1, keepdims=True), 1e-300) @ map_
            case.agrees('rollout', found['rollout'][layer], map_)
    case.agrees('hidden states', found['decoder_hidden_states' if case.two else 'hidden_states'],
                [answer.streams['self', layer] for layer in range(model.layers + 1)])
    case.agrees('logits', found['logits'], answer.logits)


def check_next(case):
    head = case.any_head()
    off = case.run(case.clean, edits=Edits(case.edits.mask, [head], 'zero', None, case.edits.scale, case.edits.parts))
    answer = case.ask('next', *case.question(case.clean), '--off', prefixed(*head), '--top', 30)
    guess = softmax(off.logits[-1])
    if answer:
        case.agrees('next', [one['probability'] for one in answer['next_token']], [guess[one['id']] for one in answer['next_token']])


def check_lens(case):
    query = int(case.random.integers(len(case.clean[1] or case.clean[0])))
    answer = case.run(case.clean)
    metric = Metric(case, answer, answer, query=(query, query))
    found = case.ask('lens', *case.question(case.clean), '--top', 30, '--query', query, *metric.options)
    if not found:
        return
    model = case.model
    for layer in found['layers']:
        x = answer.streams['self', layer['layer'] + 1]
        logits = model.logits_of(model.norm(x, 'final_norm') if model.pre else x)[query]
        guess = softmax(logits)
        case.agrees('lens', [one['probability'] for one in layer['top']], [guess[one['id']] for one in layer['top']])
        if metric.is_sure(logits):
            case.agrees('lens of a metric', layer['metric'], metric(logits))
    table = model.w['embeddings.tokens.weight' if model.tied else 'output.weight']
    of, bias = table[metric.right] - table[metric.wrong], model.w.get('output.bias', np.zeros(model.words))
    parts = {name: part[query] @ of for name, part in answer.last['self'][1].items()}
    parts['bias'] = parts.get('bias', 0) + bias[metric.right] - bias[metric.wrong]
    case.agrees('lens of terms', [term['logit'] for term in found['attribution']],
                [parts[term['from']] for term in found['attribution']])
    case.agrees('lens of a sum', [found['logit'], found['sum']], [sum(parts.values())] * 2)


def split(case, answer, head, query, key):
    """A score, (writer, writer): value."""
    model, (stack, layer, h) = case.model, head
    name = {'encoder': 'encoder.', 'self': '', 'cross': ''}[stack] + f'layers.{layer}.{"cross_" * (stack == "cross")}attention'
    sides = []
    for part, token, own, parts in zip(('query', 'key'), (query, key), (h, h * model.kv // model.heads),
                                       answer.writers[stack, layer]):
        rows = slice(own * model.d_k, (own + 1) * model.d_k)
        table, bias = model.w[f'{name}.{part}.weight'][rows], model.w.get(f'{name}.{part}.bias')
        parts = {writer: vectors @ table.T for writer, vectors in parts.items()}
        if bias is not None:
            parts = added(parts, {'bias': 0 * sum(parts.values()) + bias[rows]})
        whole = sum(parts.values())
        if model.norm_of_heads:
            parts = {writer: model.norm(one, f'{name}.{part}_norm', whole) for writer, one in parts.items()}
        sides.append({w: (model.turned(one) if model.position == 'rotary' else one)[token] for w, one in parts.items()})
    off = ('scale', layer) in case.edits.parts and stack == 'self'
    scale = 1 if off else case.edits.scale or model.d_k ** -0.5
    return {(a, b): sides[0][a] @ sides[1][b] * scale for a in sides[0] for b in sides[1]}


def check_why(case):
    if case.model.cap:
        return
    head = case.any_head()
    answer, (queries, keys) = case.run(case.clean), case.places(head[0])(case.clean)
    query, key = case.random.integers(len(queries)), case.random.integers(len(keys))
    found = case.ask('why', *case.question(case.clean), '--head', prefixed(*head), '--query', query, '--key', key)
    rows = [query]
    for sink in (False, True):
        if sink and has('why', '--sink'):
            found = case.ask('why', *case.question(case.clean), '--head', prefixed(*head), '--sink')
            weights = answer.of['pattern', *head]
            key = weights.sum(0).argmax()
            rows = [row for row in range(len(queries)) if np.isfinite(answer.of['scores', *head][row, key])]
            case.agrees('why of a sink', [found['key'], found['rows']], [key, len(rows)])
        splits = [split(case, answer, head, row, key) for row in rows]
        mean = {pair: np.mean([one[pair] for one in splits]) for pair in splits[0]}
        case.agrees('why', [term['value'] for term in found['terms']],
                    [mean[term['query'], term['key']] for term in found['terms']])
        case.agrees('why of a sum', [found['score'], found['sum']], [sum(mean.values())] * 2)


def direction_of(case, clean, corrupt, noise):
    return ((case.clean, clean), (case.corrupt, corrupt))[::1 if noise else -1]


def measures(weights, same, ids):
    """The measures of a head's pattern (guide.md), of rows with any weight."""
    rows = [i for i in range(len(weights)) if weights[i].sum() > 0]
    p = weights / np.where(weights.sum(1, keepdims=True) > 0, weights.sum(1, keepdims=True), 1)
    entropy, seen = -(p * np.log(np.where(p > 0, p, 1))).sum(1), (weights > 0).sum(1)
    mean = lambda values: np.mean(values) if len(values) else None
    of = {'entropy': mean(entropy[rows]), 'confidence': mean(weights[rows].max(1)), 'first': mean(weights[rows, 0]),
          'largest': weights.max(), 'sink': weights[rows].mean(0).max(),
          'normalized': mean([entropy[i] / np.log(seen[i]) for i in rows if seen[i] > 1])}
    if same:
        j = np.arange(len(weights[0]))
        of['distance'] = mean([(p[i] * abs(i - j)).sum() for i in rows])
        of['same'] = mean([weights[i, i] for i in rows])
        of['previous'] = mean([weights[i, i - 1] for i in rows if i > 0])
        of['next'] = mean([weights[i, i + 1] for i in rows if i + 1 < len(j)])
        earlier = {i: [k for k in range(i) if ids[k] == ids[i]] for i in rows}
        of['duplicate'] = mean([weights[i, them].sum() for i, them in earlier.items() if them])
        of['induction'] = mean([weights[i, np.array(them) + 1].sum() for i, them in earlier.items() if them])
    return of


def check_heads(case):
    for text in case.clean:
        if text and case.pick(0, 1):
            text[-1] = text[0]
    answer = case.run(case.clean)
    metric = Metric(case, answer, answer, case.pick(*METRICS[:3]))
    kind = case.pick('zero', 'mean', 'mean:', 'resample:', 'position:')
    words, others = ['--off-as', kind], []
    if kind.endswith(':'):
        if case.two or not has('heads', kind + 'FILE'):
            return
        others, file = other_sentences(case)
        words = ['--baseline', kind + file]
    chosen = case.any_head()
    if has('heads', '--at-heads') and case.pick(0, 1):
        words += ['--at-heads', prefixed(*chosen)]
    found = case.ask('heads', *case.question(case.clean), '--effect', *words, *metric.options, '--value-norms')
    if found and '--at-heads' in words:
        case.agrees('effect of chosen', [[row['layer'], row['head']] for row in found['heads']], [chosen[1:]])
    for row in found['heads'] if found else []:
        head = {'Encoder': 'encoder', 'Cross': 'cross'}.get(row['stack'], 'self'), row['layer'], row['head']
        ids = case.places(head[0])(case.clean)[0]
        mine = {name: value for name, value in measures(answer.of['pattern', *head], head[0] != 'cross', ids).items()
                if value is not None and (name in row or name != 'sink')}
        case.agrees('measures', [row[name] for name in mine], list(mine.values()))
        z = answer.of['heads', *head]
        if others:
            puts = replaced(z, others, ('heads', *head), kind)
        else:
            puts = [z * 0 + (z.mean(0) if kind == 'mean' else 0)]
        before, changes = softmax(answer.logits[-1]), []
        for new in puts:
            logits = case.run(case.clean, lambda of, *rest: new if (of, *rest[:3]) == ('heads', *head) else rest[3]).logits[-1]
            after = softmax(logits)
            changes.append([(before * np.log(before / after)).sum(), after[before.argmax()] - before.max(),
                            metric(logits) - metric(answer.logits[-1])])
        case.agrees('effect', [row.get(name, np.nan) for name in ('effect', 'top_word', 'metric')], np.mean(changes, 0), 6e-5)
        if len(puts) > 1:
            case.agrees('effect of spread', row['spread'], np.std(changes, 0)[0], 1e-4)
        values = np.linalg.norm(answer.of['v', head[0], head[1], head[2] * case.model.kv // case.model.heads], axis=1)
        case.agrees('value norms', [row['value_first'], row['value_others']], [values[0], values[1:].mean()])


def check_effect_of_several(case):
    """Each sentence has its own answer and its own place; a table has the means."""
    if case.two:
        return
    texts, name = [case.clean[0], case.two_texts()[0][:3]], case.pick('kl', 'probability')
    found = case.ask('heads', '--ids', '\n'.join(map(joined, texts)), '--effect', '--metric', name)
    for row in found['heads'] if found else []:
        changes = []
        for ids in texts:
            answer = case.run((ids, None), edits=Edits())
            after = case.run((ids, None), edits=Edits(off=[('self', row['layer'], row['head'])]))
            p, q = (softmax(one.logits[-1]) for one in (answer, after))
            change = (p * np.log(p / q)).sum()
            changes.append([change, change if name == 'kl' else q[p.argmax()] - p.max()])
        case.agrees('effect of several', [row['effect'], row.get('metric')], np.mean(changes, 0), 6e-5)


def check_control(case):
    """One place that is chosen, and others at random beside it: never itself, and not always the same."""
    drawn = two_answers(case, METRICS[:2])
    if not drawn:
        return
    places = [(layer, h) for layer in range(case.model.layers) for h in range(case.model.heads)]
    chosen = case.pick(*places)
    whole = patch_question(case, drawn[2], '--at', 'heads')
    found = patch_question(case, drawn[2], '--at', 'heads', '--at-heads', '%d.%d' % chosen, '--control', 'random:8')
    if whole and found:
        restored = {(one['layer'], one['head']): one['restored'] for one in whole['cells']}
        own = restored.pop(chosen)
        random = found['control']['random']
        nearest = [min(restored.values(), key=lambda other: abs(other - one)) for one in random]
        case.agrees('control', [found['control']['together'], *random], [own, *nearest])
        if len(set(restored.values())) == len(restored):
            case.agrees('control of draws', len(set(random)) > 1, True)


def check_study(case):
    rows, how = [], case.pick('total', 'pairs', 'none')
    for _ in range(3):
        drawn = two_answers(case, ['logit-difference'], True)
        if not drawn or case.two:
            return
        clean, corrupt, metric, (end, begin) = drawn
        values = [metric(case.run(case.corrupt, put_in(case, clean, {('heads', layer, h)}, 'self', pairs(
            case, 'self', False))).logits[-1]) - begin for layer in range(case.model.layers) for h in range(case.model.heads)]
        rows.append((case.clean[0], case.corrupt[0], metric.right, metric.wrong, end - begin, values))
        case.clean = case.two_texts()
    file = case.folder / 'pairs.csv'
    file.write_text('clean,corrupt,right,wrong\n' + ''.join(
        f'{" ".join(map(str, a))},{" ".join(map(str, b))},{right},{wrong}\n' for a, b, right, wrong, *_ in rows))
    found = case.ask('patch', *case.options, '--pairs', file, '--at', 'heads', '--normalise', how)
    wholes, values = np.array([row[4] for row in rows]), np.array([row[5] for row in rows])
    shares = values if how == 'none' else values / wholes[:, None]
    mean = values.mean(0) / wholes.mean() if how == 'total' else shares.mean(0)
    cells = [cell for cell in found['cells'] if cell['what'] == 'restored'] if found else []
    for name, mine in (('mean', mean), ('difference', values.mean(0)), ('median', np.median(shares, 0)),
                       ('lower_quartile', np.quantile(shares, 0.25, axis=0)), ('upper_quartile', np.quantile(shares, 0.75, axis=0))):
        if cells:
            case.agrees('study', [cell[name] for cell in cells], mine, 3e-4 if how == 'none' else 3e-5 / min(1, abs(wholes).min(), abs(wholes.mean())))


WORDS = {'en': ('The my two', 'teacher old doctor women', 'gave sold showed will', 'the her three', 'students friends child',
                'a another some', 'difficult red small', 'test book house', 'in before with', 'the our', 'garden school', '. ?'),
         'zh': ('老师 我 一个', '昨天 今天 常常', '给了 看了 买了', '学生 朋友 我们', '一个 一些 很多', '新 难 有趣', '的', '书 考试 问题', '。 ，')}


def arc_features(low, high, weights, texts, a, b):
    """Of words a and b: their rows below and above the last layer, how the heads look, distance, marks between."""
    others = weights[:, a].copy()
    others[:, b] = 0
    far = min(np.searchsorted([1, 2, 4, 7], abs(b - a)), 4) + 5 * (b < a)
    marks = lambda known: sum(text in known for text in texts[min(a, b) + 1:max(a, b)])
    breaks = marks(',，、;；:：(（“')
    return np.concatenate([[1], low[a], low[b], high[a], high[b], weights[:, a, b], weights[:, a, -1], weights[:, b, -1],
                           weights[:, b, a], others[:, :-1].max(1), weights[:, :, b].sum(1) - weights[:, a, b],
                           np.eye(10)[far], [breaks > 0, min(breaks, 3), marks('.。!！?？') > 0, 0, 0,
                                             np.log(len(texts)), np.log(1 + abs(a - b))]])


def check_arcs(case):
    """The names of cells: a linear classifier of the pairs at which heads point, calibrated, and how often it was right."""
    language = case.pick('en', 'zh')
    words = [case.pick(*slot.split()) for slot in WORDS[language] if case.pick(0, 1, 1, 1)]
    text = (' ' if language == 'en' else '').join(words)
    case.folder = 'shipped:any-sentence'
    tokens, claims = (case.ask(command, '--text', text) for command in ('export', 'claims'))
    if not tokens or not claims:
        return
    with tempfile.TemporaryDirectory() as folder:
        case.ask('export', '--text', text, '-o', folder + '/a.npz', format='npz')
        found = dict(np.load(folder + '/a.npz'))
    home = pathlib.Path(__file__).parents[2] / 'assets/models/any-sentence'
    arcs, notes = safetensors(home / 'arcs.safetensors')
    least = {}
    for one in json.loads((home / 'training.json').read_text())['arcs']:
        n, share = one['named'], one['right'] / max(one['named'], 1)
        low = (share + 1.92079 / max(n, 1) - 1.96 * np.sqrt(share * (1 - share) / max(n, 1) + 0.9604 / max(n, 1) ** 2)) / (
            1 + 3.8416 / max(n, 1))
        if one['language'] == language and low >= 0.6:
            least[one['head'], one['relation']] = share, n
    heads, relations = notes['heads'].split(','), notes['relations'].split(',')
    spoken = [i for i, token in enumerate(tokens['tokens']) if not token['special']]
    texts = [tokens['tokens'][i]['text'].strip() for i in spoken]
    low, high = found['hidden_states'][-2][spoken], found['last_hidden_state'][spoken]
    weights = np.array([found['attentions'][int(head[0]), int(head[2])][np.ix_(spoken, [*spoken, 0])] for head in heads])
    order = np.concatenate([[1, np.log(len(texts))], *(rows.mean(0) for rows in (found['hidden_states'][0][spoken], low, high))])
    pointed = {}
    for head, own in zip(heads, weights[:, :, :-1]):
        for a, row in enumerate(own - 2 * np.eye(len(own))):
            if row.max() >= 0.3:
                pointed.setdefault((a, int(row.argmax())), []).append(head)
    labelled = []
    for a, b in pointed if len(texts) < 4 or arcs[language + '.order'][0] @ order >= 0 else ():
        share = softmax(arcs[language + '.weights'] @ arc_features(low, high, weights, texts, a, b))
        best = share.argmax()
        if best:
            labelled.append((share[best], a, b, best - 1))
    kept, sure = [], []
    for share, a, b, relation in sorted(labelled, key=lambda one: (-one[0], one[1], one[2])):
        if any(x == a or (x, y) == (b, a) for _, x, y, _ in kept):
            continue
        kept.append((share, a, b, relation))
        slope, shift, own_least = arcs[language + '.calibration'][relation]
        share = min(max(share, 1e-4), 1 - 1e-4)
        right = 1 / (1 + np.exp(-slope * np.log(share / (1 - share)) - shift))
        if right >= max(float(notes[language + '.least']), own_least):
            sure.append((a, b, relations[relation]))
    crosses = lambda a, b: any(min(a, b) < min(x, y) < max(a, b) < max(x, y) or min(x, y) < min(a, b) < max(x, y) < max(a, b)
                               for x, y, _ in sure)
    mine = {(spoken[a], spoken[b], head, relation): least[head, relation] for a, b, relation in sure
            for head in pointed[a, b] if (head, relation) in least}
    # Of arcs that cross, and of an English adjective or auxiliary, further rules take some away.
    must = {(spoken[a], spoken[b]) for a, b, relation in sure if not crosses(a, b) and (
        language == 'zh' or relation not in ('amod', 'det', 'nummod', 'nmod:poss', 'cop'))}
    named = {(arc['query'], arc['key'], arc['head'], arc['relation']): (arc['precision'], arc['measured']) for arc in claims['arcs']}
    places = {cell[:3] for cell in named}
    named = {cell: how for cell, how in named.items() if cell[3] in relations}
    case.agrees('arcs', len([cell for cell in named if cell not in mine]), 0)
    case.agrees('arcs', len([cell for cell in mine if cell[:2] in must and cell[:3] not in places]), 0)
    case.agrees('arcs of shares', [named[cell] for cell in named if cell in mine], [mine[cell] for cell in named if cell in mine])


def main():
    checks = [check_export, check_next, check_lens, check_why, check_patch, check_estimate, check_path, check_heads,
              check_effect_of_several, check_control, check_study, check_arcs]  # in the order that seeds draw by
    for number in range(MODELS):
        for at, check in enumerate([*checks, *[check_path] * 3, check_baseline, check_baseline, check_readers,
                                   check_circuits, check_two_models, check_neurons, check_neurons, check_firing]):
            with tempfile.TemporaryDirectory() as folder:
                check(Case(np.random.default_rng([SEED, number, at]), pathlib.Path(folder)))
    for kind in sorted(numbers):
        print(f'{kind}: {numbers[kind]} numbers, the largest difference {worst[kind]:.2f} of what is allowed')
    for fault in faults[:20]:
        print(fault, file=sys.stderr)
    print(f'oracle: seed {SEED}, {MODELS} models a check, {len(faults)} faults')
    return faults != []


if __name__ == '__main__':
    sys.exit(main())
