// softmax(q·kᵀ·scale + relative bias + mask), then dropout and what was set by hand (Vaswani et al. 2017, section 3.2):
// the weights of a head, computed from q and k as often as the reader changes something.
// Letters of the field: T queries, S keys, d_k numbers a query.

import { headText } from './data.js';

/** Rows are computed so many at a time: they share each key that is read. */
const ROWS = 4;

/** The kind of mask that a stack was written with, as a choice of the reader: 'file' where no simple one is the same. */
export function writtenKind(stack) {
  if (stack.mask.given || stack.layerMasks.size > 0) return 'file';
  const pads = stack.mask.padding && stack.keyTokens.some((token) => token.pad);
  return stack.mask.causal ? (pads ? 'causal+padding' : 'causal') : pads ? 'padding' : 'none';
}

/** Numbers up to this one mask beside the largest of their row, as −1e9 does in place of −∞ (core/model/mask.h). */
const maskedFrom = (largest) => Math.min(-5000, Math.fround(largest - 4000));

/** The mask of one layer as the reader wants it: {kind, painted}. 'file': as it was written, else none, causal, padding
    or causal+padding; painted cells override everything. Gives 1 where a query may attend, row by row, and what is
    added to the scores, if anything is. */
export function resolveMask(stack, layer, wanted) {
  const {T, S} = stack, allowed = new Uint8Array(T * S).fill(1);
  const asked = wanted.kind === 'file' ? stack.layerMasks.get(layer) ?? stack.mask
    : {causal: wanted.kind.includes('causal'), padding: wanted.kind.includes('padding')};
  let added = null;
  if (asked.given) {
    const rows = asked.given;  // of numbers, and false where a query may not attend; a side of 1 stands for all
    added = new Float32Array(T * S);
    for (let i = 0; i < T; ++i)
      for (let j = 0; j < S; ++j) {
        const row = rows[rows.length === 1 ? 0 : i], number = row[row.length === 1 ? 0 : j];
        if (number === false) allowed[i * S + j] = 0;
        else added[i * S + j] = number;
      }
  }
  if (asked.causal) for (let i = 0; i < T; ++i) allowed.fill(0, Math.min(i * S + i + 1, (i + 1) * S), (i + 1) * S);
  if (asked.padding)
    stack.keyTokens.forEach((token, j) => {
      if (token.pad) for (let i = 0; i < T; ++i) allowed[i * S + j] = 0;
    });
  for (const [cell, may] of [...(asked.painted ?? []), ...wanted.painted]) {
    const [i, j] = cell.split(',').map(Number);
    if (i >= T || j >= S) continue;
    allowed[i * S + j] = may ? 1 : 0;
    if (added) added[i * S + j] = 0;
  }
  for (let at = 0; added && at < T * S; at += S) {
    let largest = -Infinity;
    for (let j = at; j < at + S; ++j) if (allowed[j] && added[j] > largest) largest = added[j];
    for (let j = at, from = maskedFrom(largest); j < at + S; ++j) if (added[j] <= from && added[j] < largest) allowed[j] = 0;
  }
  // Behind which key of each row nothing is allowed: of a causal mask half of the cells need no look.
  const ends = Int32Array.from({length: T}, (_, i) => Math.max(0, allowed.lastIndexOf(1, (i + 1) * S - 1) - i * S + 1));
  return {allowed, added, open: !added && !allowed.includes(0), ends};
}

/** The first random number that a stream with this seed gives: SplitMix64 (Steele, Lea & Flood, OOPSLA 2014). A weight is
    dropped here exactly where the program drops it. */
function firstRandom(seed) {
  let z = BigInt.asUintN(64, seed + 0x9e3779b97f4a7c15n);
  z = BigInt.asUintN(64, (z ^ z >> 30n) * 0xbf58476d1ce4e5b9n);
  z = BigInt.asUintN(64, (z ^ z >> 27n) * 0x94d049bb133111ebn);
  return z ^ z >> 31n;
}

/** The seed of what belongs to these numbers: the stack's number, layer, head, query, key. */
function seedOf(seed, ...numbers) {
  return numbers.reduce((state, number) => firstRandom(state ^ BigInt(number)), seed);
}

/** What a weight is multiplied by: 0 with the probability `rate`, else 1 / (1 − rate). */
function dropoutFactor(rate, seed) {
  return Number(firstRandom(seed) >> 40n) * 2 ** -24 < rate ? 0 : 1 / (1 - rate);
}

/** A head made ready: everything that its rows need. `wanted`: the edits of state.js. */
export function prepareHead(stack, layer, head, wanted, mask) {
  const {edits} = stack, name = headText(stack, layer, head);
  return {
    stack, mask, T: stack.T, S: stack.S,
    pattern: stack.given ? stack.weights(layer, head) : null,
    q: stack.given ? null : stack.q(layer, head), k: stack.given ? null : stack.k(layer, head),
    products: null, scale: wanted.scale ?? stack.scale(layer),
    relative: stack.relative(layer, head),
    dropout: edits.dropout && {rate: edits.dropout.rate, seed: seedOf(edits.dropout.seed, stack.number, layer, head)},
    byHand: edits.weights.filter((edit) => edit.head === name),
  };
}

/** q·k of all rows, T × S: kept for the head that is large, so that a mask or a scale costs a softmax alone. */
export function allProducts(head) {
  const block = new Float32Array(head.T * head.S);
  for (let first = 0; first < head.T; first += ROWS) {
    const count = Math.min(ROWS, head.T - first);
    products(head, first, count, block.subarray(first * head.S, (first + count) * head.S), head.S);
  }
  return block;
}

/** q·k of rows [first, first + count) and keys [0, end) into `block`, count × S. */
function products(head, first, count, block, end) {
  const {q, k, S, stack: {dk}} = head;
  if (count < ROWS) {
    for (let r = 0; r < count; ++r)
      for (let j = 0, at = r * S; j < end; ++j, ++at) {
        let sum = 0;
        for (let d = 0, a = (first + r) * dk, b = j * dk; d < dk; ++d, ++a, ++b) sum += q[a] * k[b];
        block[at] = sum;
      }
    return;
  }
  const r0 = first * dk, r1 = r0 + dk, r2 = r1 + dk, r3 = r2 + dk;
  for (let j = 0; j < end; ++j) {
    let s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (let d = 0, b = j * dk; d < dk; ++d, ++b) {
      const number = k[b];
      s0 += q[r0 + d] * number;
      s1 += q[r1 + d] * number;
      s2 += q[r2 + d] * number;
      s3 += q[r3 + d] * number;
    }
    block[j] = s0;
    block[S + j] = s1;
    block[2 * S + j] = s2;
    block[3 * S + j] = s3;
  }
}

/** Scores of rows [first, first + count), −∞ where blocked. Of weights from elsewhere: their logarithms. */
export function scoreRows(head, first, count, block) {
  const {T, S, mask, scale, relative, pattern} = head;
  if (pattern) for (let i = 0; i < count * S; ++i) block[i] = Math.log(pattern[first * S + i]);
  else if (head.products) block.set(head.products.subarray(first * S, (first + count) * S));
  else products(head, first, count, block, mask.ends.subarray(first, first + count).reduce((a, b) => Math.max(a, b), 0));
  for (let r = 0; r < count; ++r) {
    const query = first + r, row = r * S, cells = query * S, end = row + mask.ends[query], {allowed} = mask;
    if (!pattern) for (let at = row; at < end; ++at) block[at] *= scale;
    if (relative) for (let at = row, by = T - 1 - query; at < end; ++at, ++by) block[at] += relative[by];
    if (mask.added) for (let at = row, by = cells; at < end; ++at, ++by) block[at] += mask.added[by];
    if (!mask.open) {
      for (let at = row, by = cells; at < end; ++at, ++by) if (allowed[by] === 0) block[at] = -Infinity;
      block.fill(-Infinity, end, row + S);
    }
  }
}

/** In the first `end` of a row's S scores; the others are blocked. */
function softmaxRow(block, row, end, S) {
  let largest = -Infinity, sum = 0;
  const last = row + end;
  for (let at = row; at < last; ++at) if (block[at] > largest) largest = block[at];
  if (largest === -Infinity) {
    block.fill(0, row, row + S);
    return;
  }
  for (let at = row; at < last; ++at) {
    const score = block[at], part = score === -Infinity ? 0 : Math.exp(score - largest);
    block[at] = part;
    sum += part;
  }
  const inverse = 1 / sum;
  for (let at = row; at < last; ++at) block[at] *= inverse;
  block.fill(0, last, row + S);
}

/** Weights set by hand: the others of the row share what is left of 1 in their old proportions. */
function setByHand(head, query, block, row) {
  const edits = head.byHand.filter((edit) => edit.query === query && edit.key < head.S);
  if (edits.length === 0) return;
  let set = 0, rest = 0;
  for (const edit of edits) {
    set += edit.weight;
    block[row + edit.key] = 0;
  }
  for (let j = 0; j < head.S; ++j) rest += block[row + j];
  if (rest > 0) for (let j = 0; j < head.S; ++j) block[row + j] *= Math.max(0, 1 - set) / rest;
  for (const edit of edits) block[row + edit.key] = edit.weight;
}

/** Weights of rows [first, first + count) into `block`, count × S. */
export function weightRows(head, first, count, block) {
  const {S, mask, pattern} = head;
  if (pattern && mask.open) {
    block.set(pattern.subarray(first * S, (first + count) * S));
  } else {
    for (let r = 0; r < count; r += ROWS) {
      const rows = Math.min(ROWS, count - r);
      scoreRows(head, first + r, rows, block.subarray(r * S, (r + rows) * S));
    }
    for (let r = 0; r < count; ++r) softmaxRow(block, r * S, mask.ends[first + r], S);
  }
  for (let r = 0; r < count; ++r) {
    const seed = head.dropout && seedOf(head.dropout.seed, first + r);
    if (head.dropout) for (let j = 0; j < S; ++j) block[r * S + j] *= dropoutFactor(head.dropout.rate, seedOf(seed, j));
    if (head.byHand.length > 0) setByHand(head, first + r, block, r * S);
  }
}

/** All weights of a head, T × S. */
export function headWeights(head) {
  const weights = new Float32Array(head.T * head.S);
  weightRows(head, 0, head.T, weights);
  return weights;
}
