// What the reader changed, as one value; every view draws from it. An edit makes a new value, undo goes back to an old
// one. Weights are computed when a view asks for them, and kept as long as there is room.

import { allProducts, resolveMask, prepareHead, headWeights, weightRows, writtenKind } from './attention.js';
import { niceTop } from './colour.js';
import { headKey, headText } from './data.js';
import { foldOf, folded } from './fold.js';

/** Weights that are kept: 128 MB. */
const MOST_KEPT = 32 * 1024 * 1024;
/** Patterns of so many cells are computed at once; larger ones in slices of rows. */
export const AT_ONCE = 128 * 128, SLICE_ROWS = 32;

export const MASK_KINDS = ['file', 'none', 'causal', 'padding', 'causal+padding'];

/** What decides the weights, as an answer was written: a mask for each stack, the scale (null: the layers' own), and the
    heads that are off. Of a mask 'file' the painted cells are in the data. */
function writtenEdits(answer) {
  return {masks: answer.stacks.map((stack) => {
    const kind = writtenKind(stack);
    return {kind, painted: kind === 'file' ? new Map() : stack.mask.painted};
  }), scale: null, off: answer.edits.off};
}

/** `kept`: the A of a comparison, or null. `largest`: the largest weight of all. */
export function createStore(answer, kept, largest) {
  const listeners = [], written = writtenEdits(answer), writtenOfKept = kept && writtenEdits(kept);
  let weightsKept = new Map(), cellsKept = 0, masks = new Map(), products = {key: '', numbers: null};
  const isKept = (stack) => kept !== null && kept.stacks.includes(stack);
  const wantedOf = (stack) => isKept(stack) ? writtenOfKept : store.edits;
  const keyOf = (stack, layer, head) => `${isKept(stack) ? 'A' : 'B'}${stack.index} ${headKey(layer, head)}`;

  /** Keeps the weights of a head, and as many others as there is room for. */
  function keep(key, map) {
    cellsKept += map.weights.length;
    weightsKept.set(key, map);
    for (const [old, {weights}] of weightsKept) {
      if (cellsKept <= MOST_KEPT || old === key) break;
      cellsKept -= weights.length;
      weightsKept.delete(old);
    }
    return map;
  }

  const store = {
    answer, kept, written, edits: written, recompute: null, undone: [], done: [], version: 0,
    /** What colours go up to: one range for every head of every stack, so that maps can be compared. */
    top: niceTop(largest),
    view: {
      view: 'heads', stack: 0, layer: 0, head: 0, pinned: null, hovered: null,
      log: false, ownRange: false, foldSpecial: false, mergeWords: false, order: 'layer', painting: false,
      viewport: null, threshold: 0.05, flowAll: false, explain: false, textColumns: false, textHeads: 'head', textWords: [],
    },

    listen(listener) { listeners.push(listener); },
    notify(change) { for (const listener of listeners) listener(change); },

    /** Changes what is looked at. */
    look(change) {
      const before = store.view;
      if (Object.keys(change).every((key) => JSON.stringify(before[key]) === JSON.stringify(change[key]))) return;
      store.view = {...before, ...('pinned' in change && {textWords: []}), ...change};
      if ('stack' in change || 'layer' in change || 'head' in change) settle();
      store.notify(change);
    },

    /** Changes what is computed; `gesture`: goes on with the edit before, as a stroke of the pointer does. */
    edit(change, gesture = false) {
      if (!gesture) store.done.push(store.edits);
      if (store.done.length > 200) store.done.shift();
      store.undone = [];
      takeEdits({...store.edits, ...change});
    },
    undo() { travel(store.done, store.undone); },
    redo() { travel(store.undone, store.done); },
    reset() { store.edit(store.written); },
    /** Changes the mask of one stack: its kind, or cells painted by hand. */
    editMask(index, change, gesture) {
      store.edit({masks: store.edits.masks.map((mask, i) => i === index ? {...mask, ...change} : mask)}, gesture);
    },
    /** Switches a head off, or on again. */
    switchHead({stack, layer, head}) {
      const off = new Set(store.edits.off), name = headText(stack, layer, head);
      if (!off.delete(name)) off.add(name);
      store.edit({off});
    },

    /** The answer is about to be one to another sentence: the reader's kind of mask stays, painted cells are those of the data. */
    renew() {
      const written = writtenEdits(answer), kinds = store.edits.masks.map(({kind}) => kind);
      const masks = written.masks.map((mask, i) => ['file', mask.kind].includes(kinds[i]) ? mask : {...mask, kind: kinds[i]});
      const isChanged = masks.some((mask, i) => mask !== written.masks[i]);
      store.edits = {...store.edits, masks: isChanged ? masks : written.masks};
      Object.assign(store, {written, done: [], undone: []});
      store.view = {...store.view, pinned: null, hovered: null, viewport: null, textWords: []};
    },

    stack: (index = store.view.stack) => answer.stacks[index],
    isOff: (stack, layer, head) => store.edits.off.has(headText(stack, layer, head)),
    mask(stack, layer) {
      // Layers without a mask of their own share one.
      const key = keyOf(stack, stack.layerMasks.has(layer) ? layer : 'all', '');
      if (!masks.has(key)) masks.set(key, resolveMask(stack, layer, wantedOf(stack).masks[stack.index]));
      return masks.get(key);
    },
    prepared(stack, layer, head) { return prepareHead(stack, layer, head, wantedOf(stack), store.mask(stack, layer)); },

    /** Nothing that was computed holds any longer. */
    forget() {
      weightsKept = new Map();
      masks = new Map();
      cellsKept = 0;
      store.version += 1;
    },

    /** All weights of a head: {weights, allowed, T, S}. */
    head(stack, layer, head) {
      const key = keyOf(stack, layer, head), found = weightsKept.get(key);
      if (found) {
        weightsKept.delete(key);  // and put it behind all others
        weightsKept.set(key, found);
        return found;
      }
      const prepared = store.prepared(stack, layer, head);
      if (!stack.given && !store.recompute && layer === store.view.layer && head === store.view.head) {
        if (products.key !== key) products = {key, numbers: allProducts(prepared)};  // q and k stay as they are
        prepared.products = products.numbers;
      }
      return keep(key, {weights: headWeights(prepared), allowed: prepared.mask.allowed, T: stack.T, S: stack.S});
    },
    /** Computes the same a slice of rows at a time. */
    *headInSlices(stack, layer, head) {
      const {T, S} = stack, key = keyOf(stack, layer, head);
      if (T * S <= AT_ONCE || weightsKept.has(key)) return;
      const prepared = store.prepared(stack, layer, head), weights = new Float32Array(T * S);
      for (let first = 0; first < T; first += SLICE_ROWS) {
        yield;
        const count = Math.min(SLICE_ROWS, T - first);
        weightRows(prepared, first, count, weights.subarray(first * S, (first + count) * S));
      }
      if (!weightsKept.has(key)) keep(key, {weights, allowed: prepared.mask.allowed, T, S});
    },

    /** The same as it is shown: folded where the reader folds. */
    shown(stack, layer, head) {
      const whole = store.head(stack, layer, head), fold = store.fold(stack);
      return fold ? folded(whole, stack, fold) : whole;
    },
    fold: (stack) => foldOf(stack, {special: store.view.foldSpecial, words: store.view.mergeWords}),

    /** One row of a head, without the others. */
    row(stack, layer, head, query) {
      const {S} = stack, found = weightsKept.get(keyOf(stack, layer, head));
      if (found) return found.weights.subarray(query * S, (query + 1) * S);
      const row = new Float32Array(S);
      weightRows(store.prepared(stack, layer, head), query, 1, row);
      return row;
    },

    chosen() { return {stack: store.stack(), layer: store.view.layer, head: store.view.head}; },
    isChosen: ({layer, head}) => layer === store.view.layer && head === store.view.head,
    /** The cell that is read: pointed at, else pinned. */
    cell() { return store.view.hovered ?? store.view.pinned; },
    /** The cell of that query at which the chosen head looks most. */
    strongest(query) {
      const {stack, layer, head} = store.chosen(), row = store.row(stack, layer, head, query);
      return {query, key: row.indexOf(row.reduce((a, b) => Math.max(a, b)))};
    },
    /** Whether the weights may be others than those that were written. */
    isEdited: () => store.edits.masks !== store.written.masks || store.edits.scale !== store.written.scale,
  };

  function takeEdits(edits) {
    const before = store.edits;
    store.edits = edits;
    // A head that is off has the same weights: only what it hands over changes.
    if (store.recompute) store.recompute();
    else if (before.masks !== edits.masks || before.scale !== edits.scale) store.forget();
    store.notify({edits: true});
  }

  function travel(from, to) {
    if (from.length === 0) return;
    to.push(store.edits);
    takeEdits(from.pop());
  }

  /** A choice that the stack does not have gives way to one that it has; so does a cell outside it. */
  function settle() {
    const {view} = store;
    if (!answer.stacks[view.stack]) view.stack = 0;
    const stack = store.stack();
    if (!stack.hasHead(view.layer, view.head)) ({layer: view.layer, head: view.head} = stack.heads[0]);
    const inside = (cell) => cell && cell.query < stack.T && cell.key < stack.S ? cell : null;
    view.pinned = inside(view.pinned);
    view.hovered = inside(view.hovered);
    view.textWords = view.textWords.filter((at) => at < (view.textColumns ? stack.S : stack.T));
    view.viewport = null;
  }
  settle();
  return store;
}
