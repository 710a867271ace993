"""A transformer in plain numpy and double precision, which shares no line with the program: decoders with grouped heads,
rotary positions, windows, sinks and caps, encoders, encoder-decoders; every number of a pass can be replaced, and every
stream is also kept as the sum of what wrote it. After Vaswani et al. 2017, Su et al. 2021 (rotary), Ainslie et al. 2023
(groups), Xiao et al. 2023 (sinks), Elhage et al. 2021 (writers)."""

import json
import math
import struct

import numpy as np


def softmax(scores, sink=None):
    """Of rows; a row of -inf alone gives zeros. A sink is a score of no key."""
    most = scores.max(-1, keepdims=True)
    most = np.where(np.isfinite(most), most, 0)
    e = np.exp(scores - most)
    total = e.sum(-1, keepdims=True) + (0 if sink is None else np.exp(sink - most))
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


def safetensors(path):
    """The arrays of a file, and its metadata."""
    data = path.read_bytes()
    size = struct.unpack('<Q', data[:8])[0]
    header = json.loads(data[8:8 + size])
    notes, kinds = header.pop('__metadata__', {}), {'F32': '<f4', 'F16': '<f2'}
    return {name: np.frombuffer(data[8 + size:][slice(*one['data_offsets'])], kinds[one['dtype']]).reshape(
        one['shape']).astype(float) for name, one in header.items()}, notes


ACTIVATIONS = {'relu': lambda x: np.maximum(x, 0), 'silu': lambda x: x / (1 + np.exp(-x)),
               'gelu': lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
               'gelu-tanh': lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))}


def is_allowed(mask, queries, keys, window=0):
    """(queries, keys) of a mask in words: causal+window:N+chunk:N+prefix:N; a layer's own window where it names none."""
    words = {word.split(':')[0]: int((word + ':0').split(':')[1]) for word in mask.split('+')}
    i, j = np.arange(queries)[:, None], np.arange(keys)[None, :]
    allowed = np.ones((queries, keys), bool)
    if 'causal' in words:
        allowed &= j <= i
    if words.get('window', window):
        allowed &= abs(i - j) < words.get('window', window)
    if words.get('chunk'):
        allowed &= i // words['chunk'] == j // words['chunk']
    return allowed | (j < words.get('prefix', 0))


class Edits:
    """What a question changes: as the options of the program name it; a mask also the numbers of each head."""

    def __init__(self, mask=None, off=(), off_as='zero', weights=None, scale=None, parts=()):
        self.mask, self.off, self.off_as, self.scale, self.parts = mask, off, off_as, scale, parts
        self.weights = weights or {}  # (stack, layer, head, query, key): weight


class Pass:
    """Every number of one answer: of[part, stack, layer, head], and `logits` (tokens, words)."""

    def __init__(self):
        self.of, self.writers, self.streams, self.logits, self.last = {}, {}, {}, None, {}


class Model:
    """Fresh weights, wide enough for a wrong scale, mask or norm to show."""

    def __init__(self, random, arch):
        pick = lambda *values: values[random.integers(len(values))]
        self.arch, self.random, self.w = arch, random, {}
        self.family = 'headlight' if arch != 'decoder' else pick('headlight', 'mistral', 'qwen2', 'qwen3')
        self.own = self.family == 'headlight'
        self.d, self.heads, self.layers, self.ffn, self.words = 12, pick(2, 3), 2, 10, 23
        self.d_k = pick(4, 6)
        if self.own:
            self.kv, self.pre, self.rms, self.act = self.heads, pick(True, False), pick(True, False), pick(*ACTIVATIONS)
            self.bias, self.tied, self.sinks = pick(True, False), pick(True, False), pick(True, False)
            self.position, self.cap, self.eps = pick('none', 'sinusoidal', 'learned'), pick(0, 3.0), 1e-5
            self.scale_of_words, self.window, self.gated, self.norm_of_heads = pick(1, 2.0), 0, False, False
            self.sinks &= arch != 'encoder-decoder'
        else:
            self.heads, self.kv = pick((4, 2), (4, 1), (6, 3), (2, 1))
            self.pre, self.rms, self.act, self.bias, self.tied = True, True, 'silu', False, pick(True, False)
            self.sinks, self.position, self.cap, self.eps, self.gated = False, 'rotary', 0, 1e-6, True
            self.scale_of_words, self.window = 1, pick(2, 3) if self.family == 'mistral' else 0
            self.norm_of_heads = self.family == 'qwen3'
            if self.family != 'qwen3':
                self.d = self.d_k * self.heads
        self.main_mask = 'none' if arch == 'encoder' else 'causal'
        self.draw()

    def draw(self):
        def linear(name, out, ins, bias):
            self.w[name + '.weight'] = self.random.standard_normal((out, ins)) * 1.5 / math.sqrt(ins)
            if bias:
                self.w[name + '.bias'] = self.random.standard_normal(out) * 0.3

        def norm(name, width):
            self.w[name + '.weight'] = 1 + 0.2 * self.random.standard_normal(width)
            if not self.rms:
                self.w[name + '.bias'] = 0.3 * self.random.standard_normal(width)

        two = self.arch == 'encoder-decoder'
        linear('embeddings.tokens', self.words, self.d, False)
        for stack in ('encoder.', '') if two else ('',):
            if self.position == 'learned':
                linear(stack + 'embeddings.positions', 16, self.d, False)
            for layer in range(self.layers):
                block = f'{stack}layers.{layer}.'
                for name in ('attention', 'cross_attention') if two and not stack else ('attention',):
                    for part, heads in (('query', self.heads), ('key', self.kv), ('value', self.kv)):
                        linear(f'{block}{name}.{part}', heads * self.d_k, self.d, self.bias or self.family == 'qwen2')
                    linear(f'{block}{name}.output', self.d, self.heads * self.d_k, self.bias)
                    norm(block + name.replace('attention', 'norm') if name != 'attention' else block + 'attention_norm', self.d)
                if self.sinks:
                    self.w[block + 'attention.sinks'] = self.random.standard_normal(self.heads)
                for part in ('query', 'key') if self.norm_of_heads else ():
                    norm(f'{block}attention.{part}_norm', self.d_k)
                for part in ('gate', 'up') if self.gated else ('up',):
                    linear(block + 'ffn.' + part, self.ffn, self.d, self.bias)
                linear(block + 'ffn.down', self.d, self.ffn, self.bias)
                norm(block + 'ffn_norm', self.d)
            if self.pre:
                norm(stack + 'final_norm', self.d)
        if not self.tied:
            linear('output', self.words, self.d, False)
        if self.own:
            self.w['output.bias'] = 0.3 * self.random.standard_normal(self.words)
        self.w = {name: one.astype(np.float32).astype(float) for name, one in self.w.items()}

    def save(self, folder):
        """In the layout of trained models here, or in that of the family's published ones."""
        config = {'model_type': self.family, 'vocab_size': self.words, 'hidden_size': self.d, 'head_dim': self.d_k,
                  'num_attention_heads': self.heads, 'num_hidden_layers': self.layers, 'intermediate_size': self.ffn,
                  'hidden_act': self.act.replace('gelu-tanh', 'gelu_new'), 'tie_word_embeddings': self.tied}
        if self.own:
            config |= {'arch': self.arch, 'position': self.position, 'norm': 'pre' if self.pre else 'post',
                       'norm_type': 'rms' if self.rms else 'layer', 'bias': self.bias, 'norm_eps': self.eps,
                       'encoder_layers': self.layers, 'embedding_scale': self.scale_of_words,
                       'attention_sinks': self.sinks, 'attn_logit_softcapping': self.cap, 'max_position_embeddings': 16}
        else:
            kind = {'mistral': 'Mistral', 'qwen2': 'Qwen2', 'qwen3': 'Qwen3'}[self.family]
            config |= {'architectures': [kind + 'ForCausalLM'], 'num_key_value_heads': self.kv, 'rope_theta': 10000.0,
                       'rms_norm_eps': self.eps, 'max_position_embeddings': 64,
                       'sliding_window': self.window or None}
        (folder / 'config.json').write_text(json.dumps(config))
        names = {} if self.own else {
            'embeddings.tokens': 'model.embed_tokens', 'final_norm': 'model.norm', 'output': 'lm_head'}
        parts = {'attention.query': 'self_attn.q_proj', 'attention.key': 'self_attn.k_proj',
                 'attention.value': 'self_attn.v_proj', 'attention.output': 'self_attn.o_proj',
                 'attention.query_norm': 'self_attn.q_norm', 'attention.key_norm': 'self_attn.k_norm',
                 'attention_norm': 'input_layernorm', 'ffn_norm': 'post_attention_layernorm',
                 'ffn.gate': 'mlp.gate_proj', 'ffn.up': 'mlp.up_proj', 'ffn.down': 'mlp.down_proj'}
        for layer in range(0 if self.own else self.layers):
            names |= {f'layers.{layer}.{own}': f'model.layers.{layer}.{theirs}' for own, theirs in parts.items()}
        header, data = {}, b''
        for name, array in self.w.items():
            stem, dot, last = name.rpartition('.')
            values = array.astype('<f4').tobytes()
            header[names.get(stem, stem) + dot + last] = {
                'dtype': 'F32', 'shape': list(array.shape), 'data_offsets': [len(data), len(data) + len(values)]}
            data += values
        text = json.dumps(header).encode()
        (folder / 'model.safetensors').write_bytes(struct.pack('<Q', len(text)) + text + data)

    def stacks(self):
        return ('encoder', 'self', 'cross') if self.arch == 'encoder-decoder' else ('self',)

    def linear(self, x, name):
        return x @ self.w[name + '.weight'].T + self.w.get(name + '.bias', 0)

    def norm(self, x, name, by=None):
        """Of x; with its scale, mean and width taken from `by` linear in x, without the shift."""
        middle = 0 if self.rms else 1
        whole = x if by is None else by
        centred = whole - middle * whole.mean(-1, keepdims=True)
        size = np.sqrt((centred ** 2).mean(-1, keepdims=True) + self.eps)
        y = (x - middle * x.mean(-1, keepdims=True)) / size * self.w[name + '.weight']
        return y if by is not None else y + self.w.get(name + '.bias', 0)

    def norm_parts(self, parts, x, name):
        parts = {writer: self.norm(one, name, x) for writer, one in parts.items()}
        return added(parts, {'bias': np.broadcast_to(self.w.get(name + '.bias', np.zeros(x.shape[-1])), x.shape)})

    def turned(self, x):
        """Rotary positions: column c and c + d_k/2 by an angle."""
        half = self.d_k // 2
        angles = np.arange(len(x))[:, None] * 10000.0 ** (-np.arange(half) / half)[None, :]
        a, b = x[:, :half], x[:, half:]
        return np.concatenate([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], -1)

    def positions(self, prefix, count):
        if self.position == 'learned':
            return self.w[prefix + 'embeddings.positions.weight'][:count]
        angles = np.arange(count)[:, None] * 10000.0 ** (-2 * (np.arange(self.d) // 2) / self.d)[None, :]
        return np.where(np.arange(self.d) % 2 == 0, np.sin(angles), np.cos(angles)) * (self.position == 'sinusoidal')

    def projected(self, x, name, part, head):
        """The query or key of a head, as the scores use it, and whether it is turned."""
        rows = slice(head * self.d_k, (head + 1) * self.d_k)
        y = x @ self.w[f'{name}.{part}.weight'][rows].T + self.w.get(f'{name}.{part}.bias', np.zeros(99999))[rows]
        if self.norm_of_heads and part != 'value':
            y = self.norm(y, f'{name}.{part}_norm')
        return self.turned(y) if self.position == 'rotary' and part != 'value' else y

    def attend(self, stack, layer, name, x, memory, edits, put, out):
        group = self.heads // self.kv
        keys = [put('k', stack, layer, g, self.projected(memory, name, 'key', g)) for g in range(self.kv)]
        values = [put('v', stack, layer, g, self.projected(memory, name, 'value', g)) for g in range(self.kv)]
        window = self.window if stack == 'self' else 0
        given = edits.mask if isinstance(edits.mask, np.ndarray) and stack == 'self' else None     # of each head
        mask = 'none' if given is not None or stack != 'self' else edits.mask or self.main_mask
        allowed = is_allowed(mask, len(x), len(memory), window)
        made, written = np.zeros((len(x), self.d)), {}
        for head in range(self.heads):
            at = stack, layer, head
            q = put('q', *at, self.projected(x, name, 'query', head))
            k, v = put('own k', *at, keys[head // group]), put('own v', *at, values[head // group])
            scale = 1 / math.sqrt(self.d_k) if edits.scale is None else edits.scale
            scores = q @ k.T * (1 if ('scale', layer) in edits.parts and stack == 'self' else scale)
            if self.cap:
                scores = self.cap * np.tanh(scores / self.cap)
            scores = np.where(allowed, scores, -np.inf) + (0 if given is None else given[head])
            pattern = softmax(scores, self.w[f'layers.{layer}.attention.sinks'][head] if self.sinks else None)
            for row in {cell[3] for cell in edits.weights if cell[:3] == at}:
                own = {cell[4]: weight for cell, weight in edits.weights.items() if cell[:4] == (*at, row)}
                left = 1 - sum(own.values())
                rest = pattern[row].sum() - sum(pattern[row, key] for key in own)
                pattern[row] *= left / rest if left > 0 and rest > 0 else 0
                for key, weight in own.items():
                    pattern[row, key] = weight
            out.of['scores', *at], out.of['group', *at] = scores, (k, v)
            pattern = put('pattern', *at, pattern)
            z = pattern @ v
            if at in edits.off:
                z = z * 0 + (z.mean(0) if edits.off_as == 'mean' else 0)
            z = put('heads', *at, z)
            columns = self.w[name + '.output.weight'][:, head * self.d_k:(head + 1) * self.d_k]
            written[f'{prefix_of(stack)}L{layer}·H{head}'] = z @ columns.T
            made += z @ columns.T
        bias = self.w.get(name + '.output.bias', np.zeros(self.d))
        return made + bias, added(written, {'bias': np.broadcast_to(bias, made.shape)})

    def stream(self, of, ids, memory, edits, put, out):
        """One stack: `memory` is what its cross-attention reads, the encoder's stream and its writers."""
        prefix, label = ('encoder.', 'encoder:') if of == 'encoder' else ('', '')
        embedded = self.w['embeddings.tokens.weight'][list(ids)] * self.scale_of_words
        x, parts = embedded, {label + 'embedding': embedded}
        if self.position in ('sinusoidal', 'learned'):
            parts[label + 'position'] = self.positions(prefix, len(ids))
            x = x + parts[label + 'position']
        out.streams[of, 0] = x
        is_off = lambda part, layer: (part, layer) in edits.parts and of == 'self'

        def sublayer(layer, norm, made_of):
            nonlocal x, parts
            normed = not is_off('norm', layer)
            read, read_parts = x, parts
            if self.pre and normed:
                read, read_parts = self.norm(x, norm), self.norm_parts(parts, x, norm)
            made, made_parts = made_of(read, read_parts)
            kept = not is_off('residual', layer)
            x, parts = made + x * kept, added(parts, made_parts) if kept else made_parts
            if not self.pre and normed:
                x, parts = self.norm(x, norm), self.norm_parts(parts, x, norm)

        for layer in range(self.layers):
            block = f'{prefix}layers.{layer}.'

            def own(read, read_parts):
                out.writers[of, layer] = read_parts, read_parts
                return self.attend(of, layer, block + 'attention', read, read, edits, put, out)

            def cross(read, read_parts):
                out.writers['cross', layer] = read_parts, memory[1]
                return self.attend('cross', layer, block + 'cross_attention', read, memory[0], edits, put, out)

            def feed_forward(read, read_parts):
                act = ACTIVATIONS[self.act]
                up = self.linear(read, block + 'ffn.up')
                hidden = act(self.linear(read, block + 'ffn.gate')) * up if self.gated else act(up)
                hidden = put('neurons', of, layer, 0, hidden)
                made = put('ffn', of, layer, 0, self.linear(hidden, block + 'ffn.down'))
                return made, {f'{label}L{layer}·ffn': made}

            sublayer(layer, block + 'attention_norm', own)
            if memory is not None:
                sublayer(layer, block + 'cross_norm', cross)
            if not is_off('ffn', layer):
                sublayer(layer, block + 'ffn_norm', feed_forward)
            x = put('residual', of, layer, 0, x)
            out.streams[of, layer + 1] = x
        if self.pre:
            x, parts = self.norm(x, prefix + 'final_norm'), self.norm_parts(parts, x, prefix + 'final_norm')
        out.last[of] = x, parts
        return x, parts

    def logits_of(self, hidden):
        return hidden @ self.w['embeddings.tokens.weight' if self.tied else 'output.weight'].T + \
            self.w.get('output.bias', 0)

    def run(self, ids, target=None, edits=None, put=None):
        """`put(part, stack, layer, head, numbers)` may give other numbers in place of any part."""
        out, edits = Pass(), edits or Edits()

        def kept(part, stack, layer, head, numbers):
            numbers = put(part, stack, layer, head, numbers) if put else numbers
            out.of[part, stack, layer, head] = numbers
            return numbers

        memory = self.stream('encoder', ids, None, edits, kept, out) if target is not None else None
        hidden, _ = self.stream('self', ids if target is None else target, memory, edits, kept, out)
        out.logits = self.logits_of(hidden)
        return out


def prefix_of(stack):
    return '' if stack == 'self' else stack + ':'


def added(parts, more):
    total = dict(parts)
    for writer, one in more.items():
        total[writer] = total[writer] + one if writer in total else one
    return total
