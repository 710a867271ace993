"""Circuits of heads: weights alone, as whole matrices (Elhage et al. 2021)."""

import copy

import numpy as np

from case import prefixed


class Circuits:
    """Linear maps of heads, from stream to stream and from words to words, through the norms on the way."""

    def __init__(self, model):
        self.model, self.w = model, model.w

    def read(self, rows, name):
        rows = rows * self.w[name + '.weight']
        return rows if self.model.rms else rows - rows.mean(1, keepdims=True)

    def written(self, columns, name):
        columns = columns if self.model.rms else columns - columns.mean(0)
        return columns * self.w[name + '.weight'][:, None]

    def block(self, stack, layer):
        return f'{"encoder." * (stack == "encoder")}layers.{layer}.'

    def norms(self, stack, layer):
        names = ['attention_norm'] + ['cross_norm'] * (self.model.arch == 'encoder-decoder' and stack == 'self') + ['ffn_norm']
        return [] if self.model.pre else [self.block(stack, layer) + name for name in names]

    def factors(self, stack, layer, h):
        m, block, cross = self.model, self.block(stack, layer), stack == 'cross'
        name = block + ('cross_attention' if cross else 'attention')
        heads = {'query': h, 'key': h * m.kv // m.heads, 'value': h * m.kv // m.heads}
        rows = {part: self.w[f'{name}.{part}.weight'][at * m.d_k:(at + 1) * m.d_k] for part, at in heads.items()}
        for part in ('query', 'key') if m.norm_of_heads else ():
            rows[part] = self.w[f'{name}.{part}_norm.weight'][:, None] * rows[part]
        if m.pre:
            rows = {part: self.read(own, block + ('cross_norm' if cross else 'attention_norm'))
                    if part == 'query' or not cross else own for part, own in rows.items()}
        return *rows.values(), self.w[name + '.output.weight'][:, h * m.d_k:(h + 1) * m.d_k]

    def below(self, rows, stack, above, layer):
        """Rows that read the stream before block `above`, as they read what the attention of `layer` writes."""
        for at in range(above - 1, layer - 1, -1):
            for norm in self.norms(stack, at)[::-1]:
                rows = self.read(rows, norm)
        return rows

    def of_words(self, layer, h):
        """W_E W_QK W_E and W_U W_OV W_E."""
        q, k, v, o = self.factors('self', layer, h)
        q, k, v = (self.below(rows, 'self', layer, 0) for rows in (q, k, v))
        for at in range(layer, self.model.layers):
            for norm in self.norms('self', at):
                o = self.written(o, norm)
        if self.model.pre:
            o = self.written(o, 'final_norm')
        words = self.w['embeddings.tokens.weight'] * self.model.scale_of_words
        out = self.w['embeddings.tokens.weight' if self.model.tied else 'output.weight']
        return words @ q.T @ k @ words.T, out @ o @ v @ words.T

    def compositions(self, stack, layer, h):
        """Of query, key and value the largest share that a head below writes."""
        q, k, v, o = self.factors(stack, layer, h)
        most = [(0, None)] * 3
        for below in range(layer):
            for from_ in range(self.model.heads):
                _, _, v_of, o_of = self.factors(stack, below, from_)
                moved = o_of @ v_of
                for at, whole in enumerate((k.T @ q, q.T @ k, o @ v)):
                    whole = self.below(whole, stack, layer, below)
                    share = np.linalg.norm(whole @ moved) / np.linalg.norm(whole) / np.linalg.norm(moved)
                    most[at] = max(most[at], (share, f'{prefixed(stack, below, from_)}:{"qkv"[at]}'), key=lambda one: one[0])
        return most


def tuned(case):
    """The model with other weights of the attention, on disk beside it."""
    other = copy.copy(case.model)
    other.w = {name: (one + 0.1 * case.random.standard_normal(one.shape) * ('attention.' in name)).astype(np.float32).astype(float)
               for name, one in case.model.w.items()}
    (case.folder / 'other').mkdir()
    other.save(case.folder / 'other')
    return other


def check_two_models(case):
    """Heads of one model in another, over sentences: the share of the mean differences."""
    if case.two:
        return
    other, texts = tuned(case), [case.clean[0], case.two_texts()[0], case.two_texts()[0]]
    (case.folder / 'pairs.csv').write_text('clean\n' + ''.join(' '.join(map(str, ids)) + '\n' for ids in texts))
    right, wrong = case.random.permutation(case.model.words)[:2]
    metric = lambda answer: answer.logits[-1][right] - answer.logits[-1][wrong]
    heads = [('heads', 'self', layer, h) for layer in range(case.model.layers) for h in range(case.model.heads)]
    wholes, values = [], []
    for ids in texts:
        clean, begin = case.run((ids, None)), metric(other.run(ids, None, edits=case.edits))
        wholes.append(metric(clean) - begin)
        values.append([metric(other.run(ids, None, edits=case.edits, put=lambda *of: clean.of[of[:-1]] if of[:-1] == head else of[-1]))
                       - begin for head in heads])
    found = case.ask('patch', *case.options, '--pairs', case.folder / 'pairs.csv', '--from', case.folder / 'other', '--at', 'heads',
                     '--metric', 'logit-difference', '--answers', f'{right},{wrong}')
    cells = [cell['mean'] for cell in found['cells'] if cell['what'] == 'restored'] if found else []
    if cells:
        case.agrees('two models', cells, np.mean(values, 0) / np.mean(wholes), 3e-5 / min(1, abs(np.mean(wholes))))


def check_circuits(case):
    model, circuits, head = case.model, Circuits(case.model), case.any_head()
    file = case.folder / 'circuits.npz'
    if case.ask('export', *case.question(case.clean), '--with', 'qk,ov', '--only', prefixed(*head), '-o', file, format='npz') is None:
        return
    found, prefix = dict(np.load(file)), {'self': 'decoder_' if case.two else ''}.get(head[0], head[0] + '_')
    q, k, v, o = circuits.factors(*head)
    case.agrees('circuits', found[prefix + 'qk'][0, 0], q.T @ k)
    case.agrees('circuits', found[prefix + 'ov'][0, 0], o @ v)
    if head[0] == 'self':
        qk, ov = circuits.of_words(*head[1:])
        case.agrees('circuits of words', found[prefix + 'qk_words'][0, 0], qk, 3e-5 * max(1, abs(qk).max()))
        case.agrees('circuits of words', found[prefix + 'ov_words'][0, 0], ov, 3e-5 * max(1, abs(ov).max()))
    stacks = {'Encoder': 'encoder', 'Cross': 'cross'}
    where = lambda row: (stacks.get(row['stack'], 'self'), row['layer'], row['head'])
    found = case.ask('heads', *case.question(case.clean), '--sort', 'copying')
    for row in found['heads'] if found else []:
        if where(row)[0] == 'self':
            values = np.linalg.eigvals(circuits.of_words(*where(row)[1:])[1])
            case.agrees('copying', row['copying'], values.real.sum() / abs(values).sum(), 1e-4)
    found = case.ask('heads', *case.question(case.clean), '--sort', 'composition')
    for row in found['heads'] if found else []:
        mine = circuits.compositions(*where(row)) if where(row)[0] != 'cross' and row['layer'] else []
        case.agrees('composition', [row.get(part + '_composition', np.nan) for part in 'qkv'[:len(mine)]], [share for share, _ in mine])
        if mine and np.ptp(np.sort([share for share, _ in mine])[-2:]) > 1e-4:
            case.agrees('composition of which', row['composes_with'] == max(mine, key=lambda one: one[0])[1], True)
    other = tuned(case)
    found = case.ask('heads', *case.question(case.clean), '--against', case.folder / 'other', '--sort', 'moved')
    for row in found['heads'] if found else []:
        (q, k, v, o), (q2, k2, v2, o2) = circuits.factors(*where(row)), Circuits(other).factors(*where(row))
        case.agrees('change', [row['qk_change'], row['ov_change']], [np.linalg.norm(q.T @ k - q2.T @ k2), np.linalg.norm(o @ v - o2 @ v2)])
