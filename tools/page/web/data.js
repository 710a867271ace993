// What the page holds: the tokens, and of every head q and k (or its weights, where another program computed them),
// which the core takes. An Answer is immutable but for what a new sentence puts in (live.js). Numbers are texts in
// base64 (RFC 4648, section 4), which the writer may have packed.

import { byId } from './elements.js';

/** The bytes that a base64 text stands for; of a number, the text of the page's script element with that position. */
export function bytesOf(text) {
  if (typeof text === 'number') text = document.querySelectorAll('script[type="text/plain"]')[text].textContent;
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const decoded = atob(text), bytes = new Uint8Array(decoded.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = decoded.charCodeAt(i);
  return bytes;
}

/** What is wrong with the data, with the code that the core has for it (docs/formats.md). */
export function wrong(line, code = 'bad_value') { return Object.assign(new Error(line), {code}); }

/** Not by way of a Blob or a Response, whose bytes leave the process and come back. */
const streamOf = (text) => new ReadableStream({start(to) { to.enqueue(bytesOf(text)); to.close(); }});
async function partsOf(stream, format) {
  const parts = [], reader = stream.pipeThrough(new DecompressionStream(format)).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
  return parts;
}

export const sizeOf = (parts) => parts.reduce((sum, part) => sum + part.length, 0);

/** The parts one after another, in `all`. */
export function joined(parts, all = new Uint8Array(sizeOf(parts))) {
  parts.reduce((at, part) => { all.set(part, at); return at + part.length; }, 0);
  return all;
}

/** The same, inflated (RFC 1951); or {file} beside the page, with its checksum (RFC 1950). `told` hears of bytes. */
export async function inflated(packed, told = () => {}) {
  if (!packed.file) return joined(await partsOf(streamOf(packed), 'deflate-raw'));
  const answer = await fetch(packed.file).catch(() => null);
  const found = answer ? `status ${answer.status}` : 'no network';
  if (!answer?.ok) throw new Error(`${packed.file}: expected a file beside this page, found ${found}`);
  const counted = new TransformStream({transform(part, to) { told(part.length); to.enqueue(part); }});
  return partsOf(answer.body.pipeThrough(counted), 'deflate').then((parts) => joined(parts)).catch(async () => {
    // The next visit fetches it again.
    for (const name of await window.caches?.keys() ?? []) await (await caches.open(name)).delete(packed.file);
    throw new Error(`${packed.file}: expected the file as it was written, found a damaged one`);
  });
}

/** Numbers of two bytes, in parts: of a list, of each layer all low bytes, then all high bytes. */
async function numbersOf(stored, field) {
  try {
    if (!Array.isArray(stored)) return [bytesOf(stored)];
    const layers = [];
    for (const part of stored) layers.push(...await partsOf(streamOf(part), 'deflate-raw'));
    return layers;
  } catch { throw new Error(`${field}: expected numbers in base64, found another text`); }
}

/** `1.4` for layer 1, head 4: how scripts and options name a head. */
export function headKey(layer, head) { return `${layer}.${head}`; }
/** The same with its stack, as edits name it: `cross:1.4`. */
export function headText(stack, layer, head) { return ['', 'encoder:', 'cross:'][stack.number] + headKey(layer, head); }

/** How edits of layers name a stack, by its number; and the masks of a request. */
export const STACK_NAMES = ['self', 'encoder', 'cross'];
const MOST_HEADS = 2 ** 16;
const MASK_FIELDS = ['mask', 'encoder_mask', 'cross_mask'], NUMBERS = ['q', 'k', 'v', 'weights'];

/** What of a stack follows from an answer. */
export function sidesOf(stack, answer) {
  const queryTokens = answer[stack.queries], keyTokens = answer[stack.keys];
  return {queryTokens, keyTokens, T: queryTokens.length, S: keyTokens.length,
    scale: (layer) => Array.isArray(stack.scale) ? stack.scale[layer] : stack.scale};
}

export function stackOf(stack, index, page, side) {
  const count = stack.layers * stack.heads;
  if (!(count <= MOST_HEADS))
    throw wrong(`layers, heads: expected at most ${MOST_HEADS} heads, found ${count}`, 'too_large');
  const heads = stack.only ? stack.only.map((key) => key.split('.').map(Number))
    : Array.from({length: stack.layers * stack.heads}, (_, i) => [Math.floor(i / stack.heads), i % stack.heads]);
  const known = new Set(heads.map((one) => headKey(...one)));
  return {
    name: stack.name, index, side, number: stack.number, mask: stack.mask, ...sidesOf(stack, page),
    layers: stack.layers, headCount: stack.heads, dk: stack.d_k, given: stack.given === true,
    heads: heads.map(([layer, head]) => ({layer, head, key: headKey(layer, head)})),
    hasHead: (layer, head) => known.has(headKey(layer, head)),
  };
}

/** The answer of a page (side 0), or of A in its comparison (1). Its seed is text: a number would be rounded. */
export function answerOf(page, side) {
  const stacks = page.stacks.map((stack, index) => stackOf(stack, index, page, side));
  const isSigned = page.signed === true, summedUp = page.summed_up ?? null;
  return {stacks, edits: editsOf(page), error: page.error, warnings: page.warnings ?? [], isSigned, summedUp};
}

const editsOf = ({edits: {dropout_seed: rounded, ...edits}}) => edits;

/** A pixel that nothing is seen of. */
const EMPTY_PICTURE = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

/** Gives the core the numbers of an answer, which says what is wrong with them; then they are no longer in the data. */
export async function openAnswer(core, page, side) {
  if (page.picture) {
    const {png} = page.picture;  // of a grid of squares alone: nothing
    core.pictures[side] = png ? `data:image/png;base64,${png}` : EMPTY_PICTURE;
    const pixels = png ? new Blob([bytesOf(png)], {type: 'image/png'}) : new ImageData(1, 1);
    core.bitmaps[side] = await createImageBitmap(pixels);
  }
  const {stacks: all, edits, error, relations, resting, rest, largest, summed_up} = page, stacks = [], sides = {};
  for (const stack of all) {
    const own = {...stack};
    for (const name of [stack.queries, stack.keys]) sides[name] = page[name];
    for (const field of NUMBERS) {
      if (own[field]) core.put(`${side}/${stack.number}/${field}`, await numbersOf(own[field], field));
      if (!Array.isArray(own[field])) delete own[field];  // a list stays: its numbers are planes
    }
    stacks.push(own);
  }
  const picture = page.picture && {...page.picture, png: undefined};
  const names = {relations, resting, rest, summed_up};
  core.open(side, {...sides, ...names, picture, stacks, edits: editsOf(page), error, largest});
  for (const stack of all) {
    stack.given = stack.weights !== undefined;
    for (const field of NUMBERS) delete stack[field];
  }
}

/** The masks and edits of a request, as the reader wants them (state.js). A mask 'file' is that of the data. */
export function changesOf({stacks, edits}, {masks, scale, off}) {
  const painted = (mask) => [...mask.painted].map(([cell, open]) => [...cell.split(',').map(Number), open ? 1 : 0]);
  const wanted = (own, mask) => mask.kind === 'file' ? {...own, painted: [...(own.painted ?? []), ...painted(mask)]}
    : {causal: mask.kind.includes('causal'), padding: mask.kind.includes('padding'), painted: painted(mask)};
  const maskOf = (name) => masks[stacks.findIndex(({number}) => STACK_NAMES[number] === name)];
  const layers = (edits.layer_edits ?? []).map(({mask, ...edit}) => {
    if (scale !== null) delete edit.scale;
    return mask && maskOf(edit.stack)?.kind === 'file' ? {...edit, mask: wanted(mask, maskOf(edit.stack))} : edit;
  }).filter((edit) => Object.keys(edit).length > 2);
  return {...edits, ...(scale === null ? {} : {scale}), off: [...off], layer_edits: layers,
    ...Object.fromEntries(stacks.map((stack, i) => [MASK_FIELDS[stack.number], wanted(stack.mask, masks[i])]))};
}

function parsed(text) {
  try { return JSON.parse(text); }
  catch { throw wrong('headlight-data: expected JSON, found another text', 'file_damaged'); }
}

/** What every page has. */
const FIELDS = {core: 'string or object', card: 'object', 'card.shape': 'string', 'card.name': 'object', stacks: 'list',
  edits: 'object', view: 'object', look: 'object', request: 'object', tables: 'list', words: 'object',
  'words.en': 'object', colours: 'object'};

/** The page's data, from its script element. Throws where it is cut off or is of another kind. */
export function readPage() {
  const element = byId('headlight-data');
  if (!element) throw wrong('headlight-data: expected a script element, found nothing', 'unknown_kind');
  const page = parsed(element.textContent), schema = String(page?.schema).slice(0, 60);
  if (schema !== 'headlight.page/1')
    throw wrong(`schema: expected headlight.page/1, found ${schema}`, 'unknown_schema');
  page.edits ??= {};
  for (const [name, like] of Object.entries(FIELDS)) {
    const found = name.split('.').reduce((of, key) => of?.[key], page);
    const is = Array.isArray(found) ? 'list' : typeof found;
    if (!found || !like.split(' or ').includes(is))
      throw new Error(`${name}: expected ${like}, found ${found ? is : 'nothing'}`);
  }
  return page;
}
