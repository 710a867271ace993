#!/usr/bin/python3
"""A second implementation in plain numpy: GPT-2's golden checkpoint, and what `export`, `lens`, `patch`, `heads --effect`
and `why` answer about it. oracle.py PROGRAM FOLDER; exit status 77 where numpy is missing. It shares no line with the
program: the formulas are those of Radford et al. 2019, in double precision."""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
CLEAN, CORRUPT, ANSWERS = [5, 9, 50, 33, 9, 17], [5, 9, 7, 33, 9, 17], (3, 7)
CONFIG = json.loads((FOLDER / 'config.json').read_text())
LAYERS, HEADS, D = CONFIG['n_layer'], CONFIG['n_head'], CONFIG['n_embd']
D_K = D // HEADS
faults = 0


def read_weights():
    data = (FOLDER / 'model.safetensors').read_bytes()
    size = struct.unpack('<Q', data[:8])[0]
    header = json.loads(data[8:8 + size])
    arrays = {}
    for name, one in header.items():
        if name == '__metadata__' or one['dtype'] != 'F32':
            continue
        begin, end = one['data_offsets']
        array = np.frombuffer(data[8 + size + begin:8 + size + end], '<f4').reshape(one['shape'])
        arrays[name.removeprefix('transformer.')] = array.astype(np.float64)
    return arrays


W = read_weights()


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def spread(x):
    return np.sqrt(((x - x.mean(-1, keepdims=True)) ** 2).mean(-1, keepdims=True) + CONFIG['layer_norm_epsilon'])


def norm(x, name):
    return (x - x.mean(-1, keepdims=True)) / spread(x) * W[name + '.weight'] + W[name + '.bias']


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def columns(head, part=0):
    return slice(part * D + head * D_K, part * D + (head + 1) * D_K)


def run(ids, heads=None):
    """The whole model; `heads`: z of (layer, head) that stand in place of its own. Gives what is compared."""
    tokens = len(ids)
    x = W['wte.weight'][ids] + W['wpe.weight'][:tokens]
    kept = {'x': [x], 'weights': [], 'scores': [], 'z': {}, 'written': {'embedding': W['wte.weight'][ids]}}
    for layer in range(LAYERS):
        h = f'h.{layer}.'
        qkv = norm(x, h + 'ln_1') @ W[h + 'attn.c_attn.weight'] + W[h + 'attn.c_attn.bias']
        out = W[h + 'attn.c_proj.bias'].copy()
        for head in range(HEADS):
            q, k, v = (qkv[:, columns(head, part)] for part in range(3))
            scores = q @ k.T / np.sqrt(D_K)
            weights = softmax(np.where(np.tri(tokens, dtype=bool), scores, -np.inf))
            z = (heads or {}).get((layer, head), weights @ v)
            kept['z'][layer, head] = z
            kept['weights'].append(weights)
            kept['scores'].append(scores)
            written = z @ W[h + 'attn.c_proj.weight'][columns(head)]
            kept['written'][f'L{layer}·H{head}'] = written
            out = out + written
        x = x + out
        inner = gelu(norm(x, h + 'ln_2') @ W[h + 'mlp.c_fc.weight'] + W[h + 'mlp.c_fc.bias'])
        x = x + inner @ W[h + 'mlp.c_proj.weight'] + W[h + 'mlp.c_proj.bias']
        kept['x'].append(x)
    kept['logits'] = norm(x, 'ln_f') @ W['wte.weight'].T
    return kept


def ask(*words):
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True).stdout


def agrees(what, found, expected, within=2e-5):
    global faults
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    difference = np.abs(found - expected).max() if found.shape == expected.shape else np.inf
    print(f'{what}: {found.size} numbers, largest difference {difference:.1e}')
    if not difference <= within:
        print(f'{what}: expected {expected.ravel()[:6]}, found {found.ravel()[:6]}', file=sys.stderr)
        faults += 1


def text_of(ids):
    return ','.join(map(str, ids))


clean, corrupt = run(CLEAN), run(CORRUPT)
request = [str(FOLDER), '--ids', text_of(CLEAN)]
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, 'a.npz')
    ask('export', *request, '--with', 'scores', '-o', str(file))
    export = dict(np.load(file))
seen = np.tri(len(CLEAN), dtype=bool)
agrees('attentions', export['attentions'].reshape(-1, *seen.shape), clean['weights'])
agrees('scores', export['scores'].reshape(-1, *seen.shape)[:, seen], np.array(clean['scores'])[:, seen])
agrees('hidden states', export['hidden_states'][:LAYERS], clean['x'][:LAYERS])
agrees('logits', export['logits'], clean['logits'])

# The guess after each layer, by the last norm and the output layer.
lens = json.loads(ask('lens', *request, '--top', '53', '--format', 'json'))
for layer in lens['layers']:
    guess = softmax(norm(clean['x'][layer['layer'] + 1][-1], 'ln_f') @ W['wte.weight'].T)
    agrees(f'lens of layer {layer["layer"]}', [one['probability'] for one in layer['top']],
           [guess[one['id']] for one in layer['top']])

# z of each head of the clean question in the corrupt one: the share of the metric that it brings back.
metric = lambda answer: answer['logits'][-1, ANSWERS[0]] - answer['logits'][-1, ANSWERS[1]]
patch = json.loads(ask('patch', *request, '--from', '--ids ' + text_of(CORRUPT), '--at', 'heads', '--answers',
                       text_of(ANSWERS), '--format', 'json'))
agrees('patch, both ends', [patch['clean'], patch['corrupt']], [metric(clean), metric(corrupt)])
places = [(cell['layer'], cell['head']) for cell in patch['cells']]
restored = [(metric(run(CORRUPT, {place: clean['z'][place]})) - metric(corrupt)) / (metric(clean) - metric(corrupt))
            for place in places]
agrees('patch of heads', [cell['restored'] for cell in patch['cells']], restored, 1e-4)

# Measures, and the divergence of the next word without a head.
heads = json.loads(ask('heads', *request, '--effect', '--sort', 'layer', '--format', 'json'))['heads']
for row in heads:
    layer, head = row['layer'], row['head']
    weights = clean['weights'][layer * HEADS + head]
    entropy = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(-1)
    previous = np.diagonal(weights, -1)
    off = softmax(run(CLEAN, {(layer, head): np.zeros_like(clean['z'][layer, head])})['logits'])
    before = softmax(clean['logits'])
    effect = (before * np.log(before / off)).sum(-1)
    agrees(f'measures of {layer}.{head}', [row['entropy'], row['previous'], row['first'], row['largest'], row['effect']],
           [entropy.mean(), previous.mean(), weights[:, 0].mean(), weights.max(), effect[-1]])

# A score of layer 1, split over what wrote its query and its key; the norm is linear once its spread is taken as given.
why = json.loads(ask('why', *request, '--head', '1.1', '--query', '4', '--key', '2', '--format', 'json'))
agrees('why: the score and the sum', [why['score'], why['sum']], [clean['scores'][HEADS + 1][4, 2]] * 2)


def part(writer, token, which):
    vector = clean['written'][writer][token]
    normed = (vector - vector.mean()) / spread(clean['x'][1][token]) * W['h.1.ln_1.weight']
    return normed @ W['h.1.attn.c_attn.weight'][:, columns(1, which)]


terms = [term for term in why['terms'] if {term['query'], term['key']} <= set(clean['written'])]
agrees('why: terms', [term['value'] for term in terms],
       [part(term['query'], 4, 0) @ part(term['key'], 2, 1) / np.sqrt(D_K) for term in terms])
sys.exit(faults > 0)
