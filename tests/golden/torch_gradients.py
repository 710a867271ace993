#!/usr/bin/python3
"""Writes what torch's autograd answers of two golden checkpoints: torch_gradients.py [--check]

Needs PyTorch 1.13 or later (Debian: python3-torch); the tests need only the files it wrote. Into gpt2/ and llama-gqa/ goes
gradients.safetensors: of the logit of word 6 minus that of word 11 behind the last of the ids 5 14 12 9 7 3, the gradients
by q, k, v (as they are used), z, what each feed-forward gives, and the output of each block. The models are written here
from the formulas of Radford et al. 2019 and Touvron et al. 2023, in double precision.
--check writes nothing: it computes again and says whether that is what is stored, to within 1e-6."""

import json
import pathlib
import struct
import sys

import numpy
import torch
from torch.nn import functional

FOLDER = pathlib.Path(__file__).parent
IDS, RIGHT, WRONG = [5, 14, 12, 9, 7, 3], 6, 11


def arrays_of(file):
    data = file.read_bytes()
    size = struct.unpack('<Q', data[:8])[0]
    found = {}
    for name, one in json.loads(data[8:8 + size]).items():
        if name != '__metadata__' and one['dtype'] == 'F32':
            begin, end = one['data_offsets']
            array = numpy.frombuffer(data[8 + size + begin:8 + size + end], '<f4').reshape(one['shape'])
            found[name.removeprefix('transformer.').removeprefix('model.')] = torch.tensor(array, dtype=torch.float64)
    return found


def kept(gradients, name, tensor):
    tensor.retain_grad()
    gradients[name] = tensor
    return tensor


def attention(gradients, layer, q, k, v, heads, kv_heads):
    """q, k, v: (tokens, heads times d_k), of the groups' heads; causal."""
    tokens, d_k = q.shape[0], q.shape[1] // heads
    q, k, v = (kept(gradients, f'{layer}.{name}', x) for name, x in (('query', q), ('key', k), ('value', v)))
    split = lambda x, count: x.reshape(tokens, count, d_k).transpose(0, 1)
    repeat = lambda x: split(x, kv_heads).repeat_interleave(heads // kv_heads, 0)
    scores = split(q, heads) @ repeat(k).transpose(1, 2) / d_k ** 0.5
    scores = scores.masked_fill(torch.ones(tokens, tokens, dtype=bool).triu(1), -numpy.inf)
    z = (scores.softmax(-1) @ repeat(v)).transpose(0, 1).reshape(tokens, heads * d_k)
    return kept(gradients, f'{layer}.z', z)


def gpt2(w, config, gradients):
    norm = lambda x, name: functional.layer_norm(x, x.shape[-1:], w[name + '.weight'], w[name + '.bias'],
                                                 config['layer_norm_epsilon'])
    x = w['wte.weight'][IDS] + w['wpe.weight'][:len(IDS)]
    x.requires_grad_()
    for layer in range(config['n_layer']):
        conv = lambda x, name: x @ w[f'h.{layer}.{name}.weight'] + w[f'h.{layer}.{name}.bias']
        q, k, v = conv(norm(x, f'h.{layer}.ln_1'), 'attn.c_attn').chunk(3, -1)
        x = x + conv(attention(gradients, layer, q, k, v, config['n_head'], config['n_head']), 'attn.c_proj')
        hidden = functional.gelu(conv(norm(x, f'h.{layer}.ln_2'), 'mlp.c_fc'), approximate='tanh')
        x = kept(gradients, f'{layer}.output', x + kept(gradients, f'{layer}.ffn', conv(hidden, 'mlp.c_proj')))
    return norm(x, 'ln_f') @ w['wte.weight'].T


def llama(w, config, gradients):
    heads, kv_heads = config['num_attention_heads'], config['num_key_value_heads']
    d_k = config['hidden_size'] // heads
    norm = lambda x, name: x / (x.pow(2).mean(-1, keepdim=True) + config['rms_norm_eps']).sqrt() * w[name + '.weight']
    angles = torch.outer(torch.arange(len(IDS), dtype=torch.float64),
                         config['rope_theta'] ** -(torch.arange(0, d_k, 2, dtype=torch.float64) / d_k))

    def turned(x, count):
        a, b = x.reshape(len(IDS), count, d_k).chunk(2, -1)
        cos, sin = angles.cos()[:, None], angles.sin()[:, None]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).reshape(len(IDS), -1)

    x = w['embed_tokens.weight'][IDS].requires_grad_()
    for layer in range(config['num_hidden_layers']):
        linear = lambda x, name: x @ w[f'layers.{layer}.{name}_proj.weight'].T
        y = norm(x, f'layers.{layer}.input_layernorm')
        q, k, v = (linear(y, 'self_attn.' + name) for name in 'qkv')
        x = x + linear(attention(gradients, layer, turned(q, heads), turned(k, kv_heads), v, heads, kv_heads),
                       'self_attn.o')
        y = norm(x, f'layers.{layer}.post_attention_layernorm')
        hidden = functional.silu(linear(y, 'mlp.gate')) * linear(y, 'mlp.up')
        x = kept(gradients, f'{layer}.output', x + kept(gradients, f'{layer}.ffn', linear(hidden, 'mlp.down')))
    return norm(x, 'norm') @ w['lm_head.weight'].T


def gradients_of(name, model):
    gradients = {}
    logits = model(arrays_of(FOLDER / name / 'model.safetensors'),
                   json.loads((FOLDER / name / 'config.json').read_text()), gradients)
    (logits[-1, RIGHT] - logits[-1, WRONG]).backward()
    return {key: tensor.grad.numpy().astype('<f4') for key, tensor in gradients.items()}


def file_of(arrays):
    header, data = {}, b''
    for name, array in arrays.items():
        header[name] = {'dtype': 'F32', 'shape': array.shape, 'data_offsets': [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    return struct.pack('<Q', len(text)) + text + data


faults = 0
for name, model in (('gpt2', gpt2), ('llama-gqa', llama)):
    arrays, file = gradients_of(name, model), FOLDER / name / 'gradients.safetensors'
    if '--check' in sys.argv:
        for key, stored in arrays_of(file).items():
            apart = abs(stored.numpy() - arrays[key]).max()
            if apart > 1e-6:
                faults += 1
                print(f'{name}: {key}: differs by {apart}', file=sys.stderr)
    else:
        file.write_bytes(file_of(arrays))
sys.exit(faults > 0)
