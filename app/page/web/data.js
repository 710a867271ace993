// What the page holds: the tokens, and of every head q and k (or its weights, where another program computed them).
// An Answer is immutable but for the numbers that a new sentence puts in (live.js).

import { bytesOf, byteCount, float16Of, float32Of, unpacked } from './bytes.js';
import { halves } from './random.js';

/** `1.4` for layer 1, head 4: how scripts and options name a head. */
export function headKey(layer, head) { return `${layer}.${head}`; }

function maskOf(mask) {
  return {
    causal: mask.causal === true,
    padding: mask.padding === true,
    painted: new Map((mask.painted ?? []).map(([query, key, allowed]) => [`${query},${key}`, allowed !== 0])),
    given: mask.given ? {rows: mask.given.shape[0], cols: mask.given.shape[1], numbers: float32Of(bytesOf(mask.given.data))}
      : null,
  };
}

/** A table of numbers for each distance, and for each layer which of the tables is its own. */
function relativeOf(stack) {
  const tables = (stack.relative ?? []).map((table) => ({
    buckets: table.shape[0], heads: table.shape[1], numbers: float32Of(bytesOf(table.data)),
    bidirectional: table.bidirectional, maxDistance: table.max_distance}));
  const layers = stack.relative_of_layer ?? [];
  return (layer) => tables[layers[layer]] ?? null;
}

/** Reads blocks of numbers as they are asked for: a page of 1,024 tokens has 25 million of them. */
function blocksOf(stored, size) {
  if (stored === undefined) return null;
  let bytes = null, firsts = null;  // of each part of a packed list its first block: layers may have few of their heads
  const kept = new Map();
  return {
    packed: Array.isArray(stored),
    async unpack() {
      if (!Array.isArray(stored) || bytes) return;
      bytes = [];
      for (const part of stored) bytes.push(await unpacked(part));
      let blocks = 0;
      firsts = bytes.map((part) => (blocks += part.length / (2 * size)) - part.length / (2 * size));
    },
    /** Block number `index`, `size` numbers. */
    read(index) {
      if (kept.has(index)) return kept.get(index);
      let numbers;
      if (bytes) {
        const part = firsts.findLastIndex((first) => first <= index), first = 2 * size * (index - firsts[part]);
        numbers = float16Of(bytes[part].subarray(first, first + 2 * size));
      } else {
        numbers = float16Of(bytesOf(stored, 2 * size * index, 2 * size));
      }
      kept.set(index, numbers);
      return numbers;
    },
    put(index, numbers) { kept.set(index, numbers); },
    count: Array.isArray(stored) ? null : byteCount(stored) / (2 * size),
  };
}

/** Which block of q a head has, and which block of k and v its group has. */
function placesOf(stack) {
  const ofHead = new Map(), ofGroup = new Map();
  const heads = stack.only
    ? stack.only.map((key) => key.split('.').map(Number))
    : Array.from({length: stack.layers * stack.heads}, (_, i) => [Math.floor(i / stack.heads), i % stack.heads]);
  const groups = new Set();
  for (const [layer, head] of heads) {
    ofHead.set(headKey(layer, head), ofHead.size);
    groups.add(layer * stack.kv_heads + Math.floor(head * stack.kv_heads / stack.heads));
  }
  for (const group of [...groups].sort((a, b) => a - b)) ofGroup.set(group, ofGroup.size);
  return {heads, ofHead, ofGroup};
}

function stackOf(stack, index, page) {
  const queryTokens = page[stack.queries], keyTokens = page[stack.keys];
  const T = queryTokens.length, S = keyTokens.length;
  const places = placesOf(stack);
  const q = blocksOf(stack.q, T * stack.d_k), k = blocksOf(stack.k, S * stack.d_k);
  const v = blocksOf(stack.v, S * stack.d_v), weights = blocksOf(stack.weights, T * S);
  const group = (layer, head) => places.ofGroup.get(layer * stack.kv_heads + Math.floor(head * stack.kv_heads / stack.heads));
  return {
    name: stack.name, index, number: stack.number, queryTokens, keyTokens, T, S,
    layers: stack.layers, headCount: stack.heads, kvHeads: stack.kv_heads, dk: stack.d_k, dv: stack.d_v,
    heads: places.heads.map(([layer, head]) => ({layer, head, key: headKey(layer, head)})),
    hasHead: (layer, head) => places.ofHead.has(headKey(layer, head)),
    given: weights !== null, hasValues: v !== null,
    q: (layer, head) => q.read(places.ofHead.get(headKey(layer, head))),
    k: (layer, head) => k.read(group(layer, head)),
    v: (layer, head) => v.read(group(layer, head)),
    weights: (layer, head) => weights.read(places.ofHead.get(headKey(layer, head))),
    scale: (layer) => Array.isArray(stack.scale) ? stack.scale[layer] : stack.scale,
    relative: relativeOf(stack),
    mask: maskOf(stack.mask),
    layerMasks: new Map((stack.layer_masks ?? []).map((own) => [own.layer, maskOf(own.mask)])),
    thumbnails: stack.thumbnails ? {side: stack.thumbnails.side, bytes: bytesOf(stack.thumbnails.data)} : null,
    packed: [q, k, v, weights].some((blocks) => blocks?.packed),
    async unpack() { for (const blocks of [q, k, v, weights]) await blocks?.unpack(); },
  };
}

function editsOf(edits) {
  return {
    off: new Set(edits?.off ?? []),
    weights: edits?.weights ?? [],
    dropout: edits?.dropout ? {rate: edits.dropout, seed: halves(edits.dropout_seed)} : null,
  };
}

/** The answer that a page, or the A of its comparison, holds. */
export function answerOf(page) {
  const stacks = page.stacks.map((stack, index) => stackOf(stack, index, page));
  return {
    title: page.title, stacks, edits: editsOf(page.edits), error: page.error,
    relations: page.relations ?? [], nextTokens: page.next_token ?? [], warnings: page.warnings ?? [],
    packed: stacks.some((stack) => stack.packed),
    async unpack() { for (const stack of stacks) await stack.unpack(); },
  };
}

/** The page's own data, from its script element. Throws where it is cut off or is of another kind. */
export function readPage(documentOfPage) {
  const element = documentOfPage.getElementById('headlight-data');
  if (!element) throw new Error('headlight-data: expected a script element, found nothing');
  const page = JSON.parse(element.textContent);
  if (page.schema !== 'headlight.page/1')
    throw new Error(`schema: expected headlight.page/1, found ${String(page.schema).slice(0, 60)}`);
  return page;
}
