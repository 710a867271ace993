// What the page holds: the tokens, and of every head q and k (or its weights, where another program computed them), which
// the core takes. An Answer is immutable but for what a new sentence puts in (live.js).

import { bytesOf, numbersOf } from './bytes.js';

/** `1.4` for layer 1, head 4: how scripts and options name a head. */
export function headKey(layer, head) { return `${layer}.${head}`; }
/** The same with its stack, as edits name it: `cross:1.4`. */
export function headText(stack, layer, head) { return ['', 'encoder:', 'cross:'][stack.number] + headKey(layer, head); }

/** Masks of a request, by the number of their stack; and how its edits of layers name the stack. */
const MASK_FIELDS = ['mask', 'encoder_mask', 'cross_mask'], STACK_NAMES = ['self', 'encoder', 'cross'], NUMBERS = ['q', 'k', 'v', 'weights'];

/** What of a stack follows from an answer. */
export function sidesOf(stack, answer) {
  const queryTokens = answer[stack.queries], keyTokens = answer[stack.keys];
  return {queryTokens, keyTokens, T: queryTokens.length, S: keyTokens.length,
    scale: (layer) => Array.isArray(stack.scale) ? stack.scale[layer] : stack.scale};
}

export function stackOf(stack, index, page, side) {
  const heads = stack.only ? stack.only.map((key) => key.split('.').map(Number))
    : Array.from({length: stack.layers * stack.heads}, (_, i) => [Math.floor(i / stack.heads), i % stack.heads]);
  const known = new Set(heads.map((one) => headKey(...one)));
  return {
    name: stack.name, index, side, number: stack.number, ...sidesOf(stack, page),
    layers: stack.layers, headCount: stack.heads, dk: stack.d_k, given: stack.weights !== undefined,
    heads: heads.map(([layer, head]) => ({layer, head, key: headKey(layer, head)})), hasHead: (layer, head) => known.has(headKey(layer, head)),
    mask: stack.mask, thumbnails: stack.thumbnails ? {side: stack.thumbnails.side, bytes: bytesOf(stack.thumbnails.data)} : null,
  };
}

/** The answer of a page (side 0), or of A in its comparison (1). Its seed is text: a number would be rounded. */
export function answerOf(page, side) {
  const {dropout_seed: rounded, ...edits} = page.edits;
  return {
    stacks: page.stacks.map((stack, index) => stackOf(stack, index, page, side)), edits,
    error: page.error, relations: page.relations ?? [], warnings: page.warnings ?? [],
  };
}

/** Gives the core the numbers of an answer. */
export async function openAnswer(core, page, side, {edits}) {
  const stacks = [];
  for (const stack of page.stacks) {
    const rest = {...stack};
    delete rest.thumbnails;
    for (const field of NUMBERS) if (!Array.isArray(rest[field])) delete rest[field];  // a list stays: its numbers are planes
    for (const field of NUMBERS) if (stack[field]) core.put(`${side}/${stack.number}/${field}`, await numbersOf(stack[field]));
    stacks.push(rest);
  }
  const sides = Object.fromEntries(page.stacks.flatMap(({queries, keys}) => [queries, keys]).map((name) => [name, page[name]]));
  core.open(side, {...sides, stacks, edits, error: page.error});
}

/** Whether a layer of this stack has a separate mask. */
export function hasLayerMasks({edits}, {number}) {
  return (edits.layer_edits ?? []).some((one) => one.stack === STACK_NAMES[number] && one.mask);
}

/** The masks and edits of a request, as the reader wants them (state.js). A mask 'file' is that of the data. */
export function changesOf({stacks, edits}, {masks, scale, off}) {
  const painted = (mask) => [...mask.painted].map(([cell, allowed]) => [...cell.split(',').map(Number), allowed ? 1 : 0]);
  const wanted = (own, mask) => mask.kind === 'file' ? {...own, painted: [...(own.painted ?? []), ...painted(mask)]}
    : {causal: mask.kind.includes('causal'), padding: mask.kind.includes('padding'), painted: painted(mask)};
  const maskOf = new Map(stacks.map((stack, i) => [STACK_NAMES[stack.number], masks[i]]));
  const layers = (edits.layer_edits ?? []).map(({mask, ...edit}) => {
    if (scale !== null) delete edit.scale;
    return mask && maskOf.get(edit.stack)?.kind === 'file' ? {...edit, mask: wanted(mask, maskOf.get(edit.stack))} : edit;
  }).filter((edit) => Object.keys(edit).length > 2);
  return {...edits, ...(scale === null ? {} : {scale}), off: [...off], layer_edits: layers,
    ...Object.fromEntries(stacks.map((stack, i) => [MASK_FIELDS[stack.number], wanted(stack.mask, masks[i])]))};
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
