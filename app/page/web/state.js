// What the reader changed, as one value; every view draws from it. An edit makes a new value, undo goes back to an old
// one. Weights are computed when a view asks for them, and kept as long as there is room.

import { allProducts, resolveMask, prepareHead, headWeights, weightRows, writtenKind } from './attention.js';
import { headKey } from './data.js';
import { foldOf, folded } from './fold.js';

/** Weights that are kept: 128 MB. */
const MOST_KEPT = 32 * 1024 * 1024;

export const MASK_KINDS = ['file', 'none', 'causal', 'padding', 'causal+padding'];

/** What decides the weights, as an answer was written: a mask for each stack, the scale (null: the layers' own), the
    heads that are off, and whether dropout and weights set by hand are as written. */
function writtenEdits(answer) {
  return {masks: answer.stacks.map((stack) => ({kind: writtenKind(stack), painted: stack.mask.painted})),
    scale: null, off: answer.edits.off, edited: true};
}

export function createStore(answer, kept) {
  const listeners = [];
  let weightsKept = new Map(), cellsKept = 0, masks = new Map(), products = {key: '', numbers: null};
  const store = {
    answer, kept,  // `kept`: the A of a comparison, or null
    edits: null, written: null, recompute: null,
    undone: [], done: [], version: 0, computing: false,
    view: {
      view: 'heads', stack: 0, layer: 0, head: 0, pinned: null, hovered: null, hoveredHead: null,
      log: false, ownRange: false, foldSpecial: false, mergeWords: false, order: 'layer', painting: false,
      viewport: null, threshold: 0.05, flowAll: false, explain: false,
    },

    listen(listener) { listeners.push(listener); },
    tell(change) { for (const listener of listeners) listener(change); },

    /** Changes what is looked at. */
    look(change) {
      const before = store.view;
      if (Object.keys(change).every((key) => sameLook(before[key], change[key]))) return;
      store.view = {...before, ...change};
      if ('stack' in change || 'layer' in change || 'head' in change) settle();
      store.tell(change);
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

    /** The answer has other numbers, or other tokens: after the reader's own sentence. */
    renewed() {
      settle();
      forget();
      products = {key: '', numbers: null};
      store.tell({edits: true, answer: true});
    },

    stack: (index = store.view.stack) => store.answer.stacks[index],
    isOff: (stack, layer, head) => store.edits.off.has(offKey(stack, layer, head)),
    mask(answerOf, stack, layer) {
      // Layers without a mask of their own share one.
      const key = `${answerOf === store.kept ? 'A' : 'B'}${stack.index} ${stack.layerMasks.has(layer) ? layer : 'all'}`;
      if (!masks.has(key)) masks.set(key, resolveMask(stack, layer, wantedOf(answerOf).masks[stack.index]));
      return masks.get(key);
    },
    prepared(answerOf, stack, layer, head) {
      return prepareHead(answerOf, stack, layer, head, wantedOf(answerOf), store.mask(answerOf, stack, layer));
    },

    /** All weights of a head: {weights, allowed, T, S}. */
    head(answerOf, stack, layer, head) {
      const key = `${answerOf === store.kept ? 'A' : 'B'}${stack.index} ${headKey(layer, head)}`;
      let found = weightsKept.get(key);
      if (found) weightsKept.delete(key);
      else {
        const prepared = store.prepared(answerOf, stack, layer, head);
        if (!stack.given && !store.recompute && layer === store.view.layer && head === store.view.head) {
          if (products.key !== key) products = {key, numbers: allProducts(prepared)};
          prepared.products = products.numbers;
        }
        found = {weights: headWeights(prepared), allowed: prepared.mask.allowed, T: stack.T, S: stack.S};
        cellsKept += found.weights.length;
      }
      weightsKept.set(key, found);
      for (const [old, map] of weightsKept) {
        if (cellsKept <= MOST_KEPT || old === key) break;
        cellsKept -= map.weights.length;
        weightsKept.delete(old);
      }
      return found;
    },
    hasHead: (answerOf, stack, layer, head) =>
      weightsKept.has(`${answerOf === store.kept ? 'A' : 'B'}${stack.index} ${headKey(layer, head)}`),

    /** The same as it is shown: folded where the reader folds. */
    shown(answerOf, stack, layer, head) {
      const whole = store.head(answerOf, stack, layer, head), fold = store.fold(stack);
      return fold ? folded(whole.weights, whole.allowed, stack, fold) : whole;
    },
    fold: (stack) => foldOf(stack, {special: store.view.foldSpecial, words: store.view.mergeWords}),

    /** One row of a head, without the others. */
    row(answerOf, stack, layer, head, query) {
      if (store.hasHead(answerOf, stack, layer, head))
        return store.head(answerOf, stack, layer, head).weights.subarray(query * stack.S, (query + 1) * stack.S);
      const row = new Float32Array(stack.S);
      weightRows(store.prepared(answerOf, stack, layer, head), query, 1, row);
      return row;
    },
    weight(stack, layer, head, query, key) { return store.row(store.answer, stack, layer, head, query)[key]; },

    chosen() { return {stack: store.stack(), layer: store.view.layer, head: store.view.head}; },
    /** The cell that is read: pointed at, else pinned. */
    cell() { return store.view.hovered ?? store.view.pinned; },
    /** Whether the weights may be others than those that were written. */
    isEdited: () => ['masks', 'scale', 'edited'].some((part) => store.edits[part] !== store.written[part]),
  };

  store.edits = store.written = writtenEdits(answer);
  const writtenOfKept = kept && writtenEdits(kept);
  const wantedOf = (answerOf) => answerOf === store.kept && kept ? writtenOfKept : store.edits;

  function forget() {
    weightsKept = new Map();
    masks = new Map();
    cellsKept = 0;
    store.version += 1;
  }

  function takeEdits(edits) {
    const before = store.edits;
    store.edits = edits;
    // A head that is off has the same weights: only what it hands over changes.
    if (store.recompute || ['masks', 'scale', 'edited'].some((part) => before[part] !== edits[part])) forget();
    store.recompute?.();
    store.tell({edits: true, off: before.off !== edits.off});
  }

  function travel(from, to) {
    if (from.length === 0) return;
    to.push(store.edits);
    takeEdits(from.pop());
  }

  /** A choice that the stack does not have gives way to one that it has; so does a cell outside it. */
  function settle() {
    const view = store.view;
    if (!store.answer.stacks[view.stack]) view.stack = 0;
    const stack = store.stack();
    if (!stack.hasHead(view.layer, view.head)) ({layer: view.layer, head: view.head} = stack.heads[0]);
    const inside = (cell) => cell && cell.query < stack.T && cell.key < stack.S ? cell : null;
    view.pinned = inside(view.pinned);
    view.hovered = inside(view.hovered);
    view.viewport = null;
  }
  settle();
  return store;
}

/** How the edits name a head: `1.2`, in other stacks than the first of the model `cross:1.2`. */
export function offKey(stack, layer, head) {
  const prefix = {1: 'encoder:', 2: 'cross:'}[stack.number] ?? '';
  return prefix + headKey(layer, head);
}

function sameLook(a, b) {
  if (a === b) return true;
  return a && b && typeof a === 'object' && typeof b === 'object' && a.query === b.query && a.key === b.key &&
    a.row === b.row && a.rows === b.rows && a.col === b.col && a.cols === b.cols && a.layer === b.layer && a.head === b.head;
}
