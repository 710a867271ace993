// The forward pass of a transformer, in plain JavaScript, as the program computes it (core/math): embeddings, blocks of
// attention and feed-forward, the output layer. x holds one token a row: T × d numbers in a Float32Array.

import { float16Of, float32Of, bytesOf } from './bytes.js';

/** The weights of the page: `at` gives a matrix by where it lies, [offset, rows, columns]. */
export function openWeights(live) {
  const bytes = bytesOf(live.numbers), numbers = live.dtype === 'float16' ? float16Of(bytes) : float32Of(bytes);
  return (place) => place && {rows: place[1], cols: place[2], data: numbers.subarray(place[0], place[0] + place[1] * place[2])};
}

/** x·Wᵀ + b; no weight is the identity. */
function linear(x, layer, at) {
  const weight = at(layer?.weight), bias = at(layer?.bias);
  if (!weight) return x.slice();
  const {rows: outputs, cols: inputs, data: w} = weight, T = x.length / inputs;
  const y = new Float32Array(T * outputs);
  for (let t = 0; t < T; ++t)
    for (let o = 0; o < outputs; ++o) {
      let sum = 0;
      for (let i = 0, a = t * inputs, b = o * inputs; i < inputs; ++i, ++a, ++b) sum += x[a] * w[b];
      y[t * outputs + o] = sum + (bias ? bias.data[o] : 0);
    }
  return y;
}

/** Each row to mean 0 and variance 1 (Ba et al. 2016), or divided by its root mean square (Zhang & Sennrich 2019). */
function norm(x, own, at) {
  const scale = at(own.scale), shift = at(own.shift), d = scale.cols, y = new Float32Array(x.length);
  for (let row = 0; row < x.length; row += d) {
    let mean = 0, square = 0;
    if (own.kind === 'layer') {
      for (let i = 0; i < d; ++i) mean += x[row + i];
      mean /= d;
    }
    for (let i = 0; i < d; ++i) square += (x[row + i] - mean) ** 2;
    const inverse = 1 / Math.sqrt(square / d + own.epsilon);
    for (let i = 0; i < d; ++i) y[row + i] = (x[row + i] - mean) * inverse * scale.data[i] + (shift ? shift.data[i] : 0);
  }
  return y;
}

/** The error function by its continued series: below 1e-7 everywhere that a float32 can tell. */
function erf(x) {
  const size = Math.abs(x);
  if (size > 6) return Math.sign(x);
  if (size < 2.5) {  // Maclaurin
    let term = size, sum = size;
    for (let n = 1; Math.abs(term) > 1e-12; ++n) {
      term *= -size * size / n;
      sum += term / (2 * n + 1);
    }
    return Math.sign(x) * 2 / Math.sqrt(Math.PI) * sum;
  }
  let fraction = 0;  // Laplace's continued fraction of erfc
  for (let n = 40; n > 0; --n) fraction = n / 2 / (size + fraction);
  return Math.sign(x) * (1 - Math.exp(-size * size) / Math.sqrt(Math.PI) / (size + fraction));
}

const activations = {
  relu: (x) => Math.max(0, x),
  gelu: (x) => 0.5 * x * (1 + erf(x * Math.SQRT1_2)),
  gelu_tanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  silu: (x) => x / (1 + Math.exp(-x)),
};

function sinusoidalPositions(T, d, halves) {
  const positions = new Float32Array(T * d), sines = Math.ceil(d / 2);
  for (let column = 0; column < d; ++column) {
    const pair = halves ? column % sines : column >> 1, sine = halves ? column < sines : column % 2 === 0;
    const frequency = 10000 ** (-2 * pair / d);
    for (let t = 0; t < T; ++t) positions[t * d + column] = sine ? Math.sin(t * frequency) : Math.cos(t * frequency);
  }
  return positions;
}

function embed(tokens, stack, live, at) {
  const table = at(stack.tokens), d = table.cols, T = tokens.length, x = new Float32Array(T * d);
  const learned = at(stack.positions);
  const positions = learned ? learned.data.subarray(stack.first_position * d)
    : live.position.startsWith('sinusoidal') ? sinusoidalPositions(T, d, live.position === 'sinusoidal_halves') : null;
  tokens.forEach((token, t) => {
    for (let i = 0; i < d; ++i)
      x[t * d + i] = table.data[token.id * d + i] * stack.embedding_scale + (positions ? positions[t * d + i] : 0);
  });
  return stack.embedding_norm ? norm(x, stack.embedding_norm, at) : x;
}

/** Columns [h·d, (h + 1)·d) of T rows of `heads`·d numbers. */
function headOf(x, T, head, heads) {
  const d = x.length / T / heads, part = new Float32Array(T * d);
  for (let t = 0; t < T; ++t) part.set(x.subarray((t * heads + head) * d, (t * heads + head + 1) * d), t * d);
  return part;
}

/** One attention, of layers whose names begin with `prefix`: q, k, v of every head into `into`, and what W_O makes of
    weights · v. */
function attend(block, prefix, queryInput, keyInput, T, S, into, edits, at) {
  const {heads, groups} = edits.countsOf(into), parted = (x, rows, parts) => Array.from({length: parts}, (_, i) => headOf(x, rows, i, parts));
  into.q = parted(linear(queryInput, block[`${prefix}query`], at), T, heads);
  into.k = parted(linear(keyInput, block[`${prefix}key`], at), S, groups);
  into.v = parted(linear(keyInput, block[`${prefix}value`], at), S, groups);
  const dv = into.v[0].length / S, z = new Float32Array(T * heads * dv);
  for (let head = 0; head < heads; ++head) {
    const group = Math.floor(head * groups / heads), pattern = edits.weights(into, head, into.q[head], into.k[group]);
    const values = into.v[group], part = new Float32Array(T * dv);
    for (let t = 0; t < T; ++t)
      for (let j = 0; j < S; ++j) {
        const weight = pattern[t * S + j];
        if (weight !== 0) for (let i = 0; i < dv; ++i) part[t * dv + i] += weight * values[j * dv + i];
      }
    if (edits.isOff(into, head)) switchOff(part, T, dv, edits.offAs);
    for (let t = 0; t < T; ++t) z.set(part.subarray(t * dv, (t + 1) * dv), (t * heads + head) * dv);
  }
  return linear(z, block[`${prefix}output`], at);
}

/** What a head that is off hands on: nothing, or the mean of its queries. */
function switchOff(z, T, d, offAs) {
  for (let i = 0; i < d; ++i) {
    let mean = 0;
    if (offAs === 'mean') for (let t = 0; t < T; ++t) mean += z[t * d + i] / T;
    for (let t = 0; t < T; ++t) z[t * d + i] = mean;
  }
}

function feedForward(block, x, activation, at) {
  const hidden = linear(x, block.gate ?? block.up, at), up = block.gate ? linear(x, block.up, at) : null;
  for (let i = 0; i < hidden.length; ++i) hidden[i] = activations[activation](hidden[i]) * (up ? up[i] : 1);
  return linear(hidden, block.down, at);
}

/** Runs one stack. Pre-norm: x ← x + f(norm(x)); post-norm: x ← norm(x + f(x)). `memory`: what cross-attention reads. */
function runStack(name, tokens, live, memory, edits, at) {
  const stack = live.stacks[name], pre = live.norm === 'pre', T = tokens.length, layers = [];
  let x = embed(tokens, stack, live, at);
  const sublayer = (own, f) => {
    const change = f(pre ? norm(x, own, at) : x);
    for (let i = 0; i < x.length; ++i) x[i] += change[i];
    if (!pre) x = norm(x, own, at);
  };
  stack.blocks.forEach((block, layer) => {
    const result = {self: {stack: name, layer}, cross: {stack: 'cross', layer}};
    sublayer(block.attention_norm, (y) => attend(block, '', y, y, T, T, result.self, edits, at));
    if (memory)
      sublayer(block.cross_norm, (y) => attend(block, 'cross.', y, memory.x, T, memory.T, result.cross, edits, at));
    if (block.up) sublayer(block.ffn_norm, (y) => feedForward(block, y, live.activation, at));
    layers.push(result);
  });
  return {x: stack.final_norm ? norm(x, stack.final_norm, at) : x, T, layers};
}

/** Scores over the vocabulary of one row of hidden states. */
function logitsOf(x, row, live, at) {
  const {output} = live;
  if (!output) return null;
  const d = at(output.weight).cols, logits = linear(x.slice(row * d, (row + 1) * d), output, at);
  for (let i = 0; i < logits.length; ++i) logits[i] *= output.scale;
  return logits;
}

/** The whole model. `target`: the decoder's tokens of an encoder-decoder. Gives every attention's q, k and v, the last
    hidden state and the scores over the vocabulary of the token that answers. */
export function forward(live, at, source, target, edits) {
  const both = live.arch === 'encoder-decoder', tokens = both ? target : source;
  const encoder = both ? runStack('encoder', source, live, null, edits, at) : null;
  const main = runStack('self', tokens, live, encoder, edits, at);
  const masked = live.arch === 'encoder' ? tokens.findIndex((token) => token.text === '<mask>' || token.text === '[MASK]') : -1;
  const last = Math.max(0, tokens.findLastIndex((token) => !token.pad));
  const answering = masked >= 0 ? masked : last;
  return {encoder, main, answering, hidden: main.x, logits: logitsOf(main.x, answering, live, at)};
}

/** The most probable words: softmax over the scores; `wordOf` names the word of an id. */
export function mostProbable(logits, wordOf, count) {
  const largest = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const parts = Float64Array.from(logits, (score) => Math.exp(score - largest));
  const sum = parts.reduce((a, b) => a + b, 0);
  return Array.from(parts.keys()).sort((a, b) => parts[b] - parts[a]).slice(0, count)
    .map((id) => ({id, text: wordOf(id), probability: parts[id] / sum}));
}
