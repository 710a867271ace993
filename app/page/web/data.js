// What the page holds: the tokens, and of every head q and k (or its weights, where another program computed them).
// An Answer is immutable but for what a new sentence puts in (live.js).

import { bytesOf, float16Of, float32Of, unpacked } from './bytes.js';

/** `1.4` for layer 1, head 4: how scripts and options name a head. */
export function headKey(layer, head) { return `${layer}.${head}`; }
/** The same with its stack, as edits name it: `cross:1.4`. */
export function headText(stack, layer, head) { return ['', 'encoder:', 'cross:'][stack.number] + headKey(layer, head); }

/** A mask in a session's spelling, with its cells by `query,key`. */
function maskOf(mask) {
  return {...mask, painted: new Map((mask.painted ?? []).map(([query, key, allowed]) => [`${query},${key}`, allowed !== 0]))};
}

/** Gives the biases of a head for each distance from −(T − 1) to S − 1; null where its layer has none. */
function relativeOf(stack) {
  const tables = (stack.relative ?? []).map((table) => float32Of(bytesOf(table.by_offset)));
  return (layer, head) => tables[stack.relative_of_layer?.[layer]]?.filter((_, i) => i % stack.heads === head) ?? null;
}

/** Blocks of `size` numbers, read as they are asked for: a page of 1,024 tokens has 25 million of them. */
function blocksOf(stored, size) {
  if (stored === undefined) return null;
  const kept = new Map();
  let bytes = null;  // of packed numbers
  return {
    packed: Array.isArray(stored),
    async unpack() {
      const parts = [];
      for (const part of stored) parts.push(await unpacked(part));
      bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
    },
    read(index) {
      const first = 2 * size * index;
      if (!kept.has(index))
        kept.set(index, float16Of(bytes ? bytes.subarray(first, first + 2 * size) : bytesOf(stored, first, 2 * size)));
      return kept.get(index);
    },
  };
}

function stackOf(stack, index, page, edits) {
  const queryTokens = page[stack.queries], keyTokens = page[stack.keys], T = queryTokens.length, S = keyTokens.length;
  const heads = stack.only ? stack.only.map((key) => key.split('.').map(Number))
    : Array.from({length: stack.layers * stack.heads}, (_, i) => [Math.floor(i / stack.heads), i % stack.heads]);
  const groupOf = (layer, head) => layer * stack.kv_heads + Math.floor(head * stack.kv_heads / stack.heads);
  // Which block of q a head has, and which block of k and v its group has.
  const blockOf = new Map(heads.map(([layer, head], i) => [headKey(layer, head), i]));
  const blockOfGroup = new Map([...new Set(heads.map((one) => groupOf(...one)))].map((group, i) => [group, i]));
  const q = blocksOf(stack.q, T * stack.d_k), k = blocksOf(stack.k, S * stack.d_k);
  const v = blocksOf(stack.v, S * stack.d_v), weights = blocksOf(stack.weights, T * S);
  const ofHead = (blocks) => (layer, head) => blocks.read(blockOf.get(headKey(layer, head)));
  const ofGroup = (blocks) => (layer, head) => blocks.read(blockOfGroup.get(groupOf(layer, head)));
  const named = ['self', 'encoder', 'cross'][stack.number];
  return {
    name: stack.name, index, number: stack.number, edits, queryTokens, keyTokens, T, S,
    layers: stack.layers, headCount: stack.heads, kvHeads: stack.kv_heads, dk: stack.d_k, dv: stack.d_v,
    heads: heads.map(([layer, head]) => ({layer, head, key: headKey(layer, head)})),
    hasHead: (layer, head) => blockOf.has(headKey(layer, head)),
    given: weights !== null, hasValues: v !== null,
    q: ofHead(q), k: ofGroup(k), v: ofGroup(v), weights: ofHead(weights),
    scale: (layer) => Array.isArray(stack.scale) ? stack.scale[layer] : stack.scale,
    relative: relativeOf(stack),
    mask: maskOf(stack.mask),
    layerMasks: new Map(edits.layers.filter((one) => one.stack === named && one.mask).map((one) => [one.layer, maskOf(one.mask)])),
    thumbnails: stack.thumbnails ? {side: stack.thumbnails.side, bytes: bytesOf(stack.thumbnails.data)} : null,
    packed: [q, k, v, weights].filter((blocks) => blocks?.packed),
  };
}

/** The answer that a page, or the A of its comparison, holds. */
export function answerOf(page) {
  const {edits} = page;
  const written = {
    off: new Set(edits.off), offAs: edits.off_as, layers: edits.layer_edits ?? [],
    weights: (edits.weights ?? []).map(([head, query, key, weight]) => ({head, query, key, weight})),
    dropout: edits.dropout ? {rate: edits.dropout, seed: BigInt(edits.seed)} : null,
  };
  const stacks = page.stacks.map((stack, index) => stackOf(stack, index, page, written)), packed = stacks.flatMap((stack) => stack.packed);
  return {
    stacks, edits: written, error: page.error, relations: page.relations ?? [], warnings: page.warnings ?? [],
    packed: packed.length > 0,
    async unpack() { for (const blocks of packed) await blocks.unpack(); },
  };
}

/** The page's data, from its script element. Throws where it is cut off or is of another kind. */
export function readPage(documentOfPage) {
  const element = documentOfPage.getElementById('headlight-data');
  if (!element) throw new Error('headlight-data: expected a script element, found nothing');
  const page = JSON.parse(element.textContent);
  if (page.schema !== 'headlight.page/1')
    throw new Error(`schema: expected headlight.page/1, found ${String(page.schema).slice(0, 60)}`);
  return page;
}
