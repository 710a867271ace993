// The forward pass of a transformer, in plain JavaScript, as the program computes it (core/math): embeddings, blocks of
// attention and feed-forward, the output layer. x holds one token a row: T × d numbers in a Float32Array.

import { float16Of, float32Of, bytesOf } from './bytes.js';

/** The weights of the page: `at` gives a matrix by where it lies, [offset, rows, columns]. */
export function openWeights(live) {
  const bytes = bytesOf(live.numbers), numbers = live.dtype === 'float16' ? float16Of(bytes) : float32Of(bytes);
  return (at) => at && {rows: at[1], cols: at[2], data: numbers.subarray(at[0], at[0] + at[1] * at[2])};
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

/** Each row to mean 0 and variance 1 (Ba et al. 2016). */
function norm(x, layer, at) {
  const {data: scale, cols: d} = at(layer.scale), shift = at(layer.shift)?.data, y = new Float32Array(x.length);
  for (let row = 0; row < x.length; row += d) {
    const numbers = x.subarray(row, row + d), mean = numbers.reduce((sum, number) => sum + number, 0) / d;
    const inverse = 1 / Math.sqrt(numbers.reduce((sum, number) => sum + (number - mean) ** 2, 0) / d + layer.epsilon);
    numbers.forEach((number, i) => { y[row + i] = (number - mean) * inverse * scale[i] + (shift ? shift[i] : 0); });
  }
  return y;
}

/** The error function by its continued series: below 1e-7 everywhere that a float32 can distinguish. */
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

/** The vectors of the tokens, with sines and cosines of their positions (Vaswani et al. 2017, section 3.5). */
function embed(tokens, stack, at) {
  const {data, cols: d} = at(stack.tokens), x = new Float32Array(tokens.length * d);
  tokens.forEach(({id}, t) => {
    for (let i = 0; i < d; ++i) {
      const angle = t * 10000 ** (-2 * (i >> 1) / d);
      x[t * d + i] = data[id * d + i] * stack.embedding_scale + Math.fround(i % 2 === 0 ? Math.sin(angle) : Math.cos(angle));
    }
  });
  return x;
}

/** Columns [h·d, (h + 1)·d) of T rows of `heads`·d numbers. */
function headOf(x, T, head, heads) {
  const d = x.length / T / heads, part = new Float32Array(T * d);
  for (let t = 0; t < T; ++t) part.set(x.subarray((t * heads + head) * d, (t * heads + head + 1) * d), t * d);
  return part;
}

/** One attention, of layers whose names begin with `prefix`: puts q, k and v of every head into the stack, and gives what
    W_O makes of weights · v. The weights are those of the maps, with the reader's edits. */
function attend(store, stack, layer, block, prefix, queryInput, keyInput, at) {
  const {T, S, headCount: heads, kvHeads: groups} = stack;
  const numbers = (name, input, rows, parts) => {
    const x = linear(input, block[prefix + name], at);
    return Array.from({length: parts}, (_, i) => headOf(x, rows, i, parts));
  };
  const v = numbers('value', keyInput, S, groups), dv = v[0].length / S, z = new Float32Array(T * heads * dv);
  stack.numbers[layer] = {q: numbers('query', queryInput, T, heads), k: numbers('key', keyInput, S, groups), v};
  for (let head = 0; head < heads; ++head) {
    const {weights} = store.head(stack, layer, head), values = stack.v(layer, head), part = new Float32Array(T * dv);
    for (let t = 0; t < T; ++t)
      for (let j = 0; j < S; ++j) {
        const weight = weights[t * S + j];
        if (weight !== 0) for (let i = 0; i < dv; ++i) part[t * dv + i] += weight * values[j * dv + i];
      }
    if (store.isOff(stack, layer, head)) switchOff(part, T, dv, stack.edits.offAs);
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

/** Runs the blocks of one stack of the model, pre-norm: x ← x + f(norm(x)). `memory`: what cross-attention reads. */
function runStack(store, weights, tokens, [self, cross], memory, at) {
  const x = embed(tokens, weights, at), gelu = (number) => 0.5 * number * (1 + erf(number * Math.SQRT1_2));
  const sublayer = (layerNorm, f) => f(norm(x, layerNorm, at)).forEach((change, i) => { x[i] += change; });
  weights.blocks.forEach((block, layer) => {
    sublayer(block.attention_norm, (y) => attend(store, self, layer, block, '', y, y, at));
    if (memory) sublayer(block.cross_norm, (y) => attend(store, cross, layer, block, 'cross.', y, memory, at));
    sublayer(block.ffn_norm, (y) => linear(linear(y, block.up, at).map(gelu), block.down, at));
  });
  return norm(x, weights.final_norm, at);
}

/** Scores over the vocabulary of one row of hidden states. */
function logitsOf(x, row, live, at) {
  const {output} = live;
  if (!output) return null;
  const d = at(output.weight).cols, logits = linear(x.slice(row * d, (row + 1) * d), output, at);
  for (let i = 0; i < logits.length; ++i) logits[i] *= output.scale;
  return logits;
}

/** The whole model. `target`: the decoder's tokens of an encoder-decoder. Puts every attention's q, k and v into the stacks
    of the page, and gives the token that answers and its scores over the vocabulary. */
export function forward(store, live, at, {self, encoder, cross}, source, target) {
  const {stacks} = live, tokens = target ?? source;
  const memory = target ? runStack(store, stacks.encoder, source, [encoder], null, at) : null;
  const x = runStack(store, stacks.self, tokens, [self, cross], memory, at);
  const masked = live.arch === 'encoder' ? tokens.findIndex((token) => ['<mask>', '[MASK]'].includes(token.text)) : -1;
  const answering = masked >= 0 ? masked : Math.max(0, tokens.findLastIndex((token) => !token.pad));
  return {answering, logits: logitsOf(x, answering, live, at)};
}

/** The most probable words: softmax over the scores; `wordOf` names the word of an id. */
export function mostProbable(logits, wordOf, count) {
  const largest = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const parts = Float64Array.from(logits, (score) => Math.exp(score - largest));
  const sum = parts.reduce((a, b) => a + b, 0);
  return Array.from(parts.keys()).sort((a, b) => parts[b] - parts[a]).slice(0, count)
    .map((id) => ({id, text: wordOf(id), probability: parts[id] / sum}));
}
