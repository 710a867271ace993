// What the reader changed, as one value; every view draws from it. An edit makes a new value, undo goes back to an old
// one. Weights are computed when a view asks for them, and kept as long as there is room.

import { changesOf, headKey, headText, STACK_NAMES } from './data.js';
import { niceTop } from './look.js';

/** Weights that are kept: 128 MB. */
const MOST_KEPT = 32 * 1024 * 1024;
/** Patterns of so many cells are computed at once; larger ones in slices of rows. */
export const AT_ONCE = 128 * 128, SLICE_ROWS = 48;

/** The kind of mask that a stack was written with, as the reader chooses it: 'file' where no simple one is the same. */
function writtenKind(answer, stack) {
  const {mask} = stack, isOfLayer = (edit) => edit.mask && edit.stack === STACK_NAMES[stack.number];
  if (mask.given || mask.window !== undefined || mask.chunk || mask.prefix) return 'file';
  if (answer.edits.layer_edits?.some(isOfLayer)) return 'file';
  const pads = mask.padding && stack.keyTokens.some((token) => token.pad);
  return mask.causal ? (pads ? 'causal+padding' : 'causal') : pads ? 'padding' : 'none';
}

/** What decides the weights, as an answer was written: a mask for each stack, the scale (null: as written), and the
    heads that are off. Of a mask 'file' the painted cells are in the data. */
function writtenEdits(answer) {
  const masks = answer.stacks.map((stack) => {
    const kind = writtenKind(answer, stack), painted = kind === 'file' ? [] : stack.mask.painted ?? [];
    return {kind, painted: new Map(painted.map(([query, key, allowed]) => [`${query},${key}`, allowed !== 0]))};
  });
  return {masks, scale: null, off: new Set(answer.edits.off)};
}

/** The groups of tokens {first, count, token} that are the rows and the columns of a map, from the core
    (app/derived/fold.h); where nothing is folded one of each token. `foldable`: what there is to fold. */
function foldOf(core, stack, choice) {
  const {foldable, fold} = core.fold(stack, choice);
  const groups = (side, tokens) => fold
    ? fold[side].map(([first, count, text]) => ({first, count, token: {...tokens[first], text}}))
    : tokens.map((token, first) => ({first, count: 1, token}));
  const queries = groups('queries', stack.queryTokens), keys = groups('keys', stack.keyTokens);
  return {...fold, foldable, isFolded: Boolean(fold), queries, keys};
}

/** The group of a token; -1 where the token is left out. */
export function groupOf(groups, token) {
  return groups.findIndex(({first, count}) => token >= first && token < first + count);
}

/** Where a cell of the tokens stands on the map as it is shown; null where it is left out. */
export function shownCell(fold, cell) {
  const row = cell ? groupOf(fold.queries, cell.query) : -1, col = cell ? groupOf(fold.keys, cell.key) : -1;
  return row < 0 || col < 0 ? null : {row, col};
}

/** `kept`: the A of a comparison, or null. `largest`: the largest weight of all. */
export function createStore(core, answer, kept, largest) {
  const written = writtenEdits(answer), weightsKept = new Map(), masks = new Map(), folds = new Map();
  const keyOf = (stack, layer, head) => `${stack.side} ${stack.index} ${headKey(layer, head)}`;

  /** Keeps the weights of a head, and of those that were asked for before as many as there is room for. */
  function keep(key, map) {
    weightsKept.delete(key);  // and put it behind all others
    weightsKept.set(key, map);
    const [oldest] = weightsKept.keys();
    if (weightsKept.size > Math.max(1, MOST_KEPT / map.weights.length)) weightsKept.delete(oldest);
    return map;
  }

  const store = {
    core, answer, kept, written, edits: written, change: core.change, undone: [], done: [], version: 0,
    /** What colours go up to: one range for every head of every stack, so that maps can be compared. */
    top: niceTop(largest),
    view: {
      view: 'heads', stack: 0, layer: 0, head: 0, pinned: null, hovered: null, viewport: null,
      log: false, ownRange: false, foldSpecial: false, mergeWords: false, order: 'layer', painting: false,
      threshold: 0.05, flowAll: false, explain: false, textColumns: false, textHeads: 'head', textWords: [],
    },

    /** Hears of every change; main.js takes its place, and draws. */
    notify() {},
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
    clearPaint() { store.editMask(store.view.stack, {painted: new Map()}); },
    /** Blocks a cell of the chosen stack, or allows it. */
    paint({query, key}, allow, gesture) {
      const {stack} = store.view, {painted} = store.edits.masks[stack];
      store.editMask(stack, {painted: new Map(painted).set(`${query},${key}`, allow)}, gesture);
    },
    isAllowed: ({query, key}) => store.allowed(store.stack(), store.view.layer, query)[key] !== 0,
    /** Switches a head off, or on again. */
    switchHead({stack, layer, head}) {
      const off = new Set(store.edits.off), name = headText(stack, layer, head);
      if (!off.delete(name)) off.add(name);
      store.edit({off});
    },

    /** Before another answer: the reader's kind of mask stays, painted cells are those of the data. To that of another
        model nothing of before holds. */
    renew(isOtherModel = false) {
      const written = writtenEdits(answer), kinds = store.edits.masks.map(({kind}) => kind);
      const takeKind = (mask, kind) => ['file', mask.kind].includes(kind) ? mask : {...mask, kind};
      const masks = written.masks.map((mask, i) => takeKind(mask, kinds[i]));
      const isChanged = masks.some((mask, i) => mask !== written.masks[i]);
      const edits = isOtherModel ? written : {...store.edits, masks: isChanged ? masks : written.masks};
      Object.assign(store, {written, edits, done: [], undone: []});
      Object.assign(store.view, {pinned: null, hovered: null, textWords: []});
      settle();
    },

    stack: () => answer.stacks[store.view.stack],
    isOff: (stack, layer, head) => store.edits.off.has(headText(stack, layer, head)),
    /** 1 where a query may attend, T × S; of one query S. */
    allowed(stack, layer, query = null) {
      const key = keyOf(stack, layer, '');
      if (!masks.has(key)) masks.set(key, core.allowed(stack, layer));
      return query === null ? masks.get(key) : masks.get(key).subarray(query * stack.S, (query + 1) * stack.S);
    },

    /** Drops all computed weights: they are no longer valid. */
    forget() {
      for (const cache of [weightsKept, masks, folds]) cache.clear();
      store.version += 1;
    },

    /** All weights of a head: {weights, allowed, T, S}. */
    head(stack, layer, head) {
      const key = keyOf(stack, layer, head), {T, S} = stack;
      return keep(key, weightsKept.get(key)
        ?? {weights: core.weights(stack, layer, head, 0, T), allowed: store.allowed(stack, layer), T, S});
    },
    /** Computes the same a slice of rows at a time. */
    *headInSlices(stack, layer, head) {
      const {T, S} = stack, key = keyOf(stack, layer, head);
      if (T * S <= AT_ONCE || weightsKept.has(key)) return;
      const weights = new Float32Array(T * S);
      for (let first = 0; first < T; first += SLICE_ROWS) {
        yield;
        weights.set(core.weights(stack, layer, head, first, Math.min(SLICE_ROWS, T - first)), first * S);
      }
      keep(key, {weights, allowed: store.allowed(stack, layer), T, S});
    },

    /** The same as it is shown: folded where the reader folds, with what each row gives to tokens that are left out. */
    shown(stack, layer, head) {
      const fold = store.fold(stack);
      if (!fold.isFolded) return store.head(stack, layer, head);
      const numbers = core.folded(stack, layer, head, fold), weights = numbers.map((weight) => Math.max(0, weight));
      const allowed = Uint8Array.from(numbers, (weight) => weight < 0 ? 0 : 1);
      const map = {T: fold.queries.length, S: fold.keys.length, weights, allowed};
      const sum = ({weights, S}, row, rows = 1) => weights.subarray(row * S, (row + rows) * S).reduce((a, b) => a + b);
      return {...map, rests: (row, {first, count} = fold.queries[row]) =>
        Math.max(0, sum(store.head(stack, layer, head), first, count) / count - sum(map, row))};
    },
    /** How the stack is folded. */
    fold(stack) {
      const {foldSpecial: special, mergeWords: words} = store.view, key = keyOf(stack, special, words);
      if (!folds.has(key)) folds.set(key, foldOf(core, stack, {special, words}));
      return folds.get(key);
    },

    /** One row of a head, without the others. */
    row(stack, layer, head, query) {
      const {S} = stack, found = weightsKept.get(keyOf(stack, layer, head));
      return found ? found.weights.subarray(query * S, (query + 1) * S) : core.weights(stack, layer, head, query, 1);
    },

    scale: () => store.edits.scale ?? store.stack().scale(store.view.layer),
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
    store.change(changesOf(answer, edits));  // or throws, and nothing has changed
    store.edits = edits;
    // Switching a head off changes its output, not its weights; weights that depend on the output are dropped already.
    if (before.masks !== edits.masks || before.scale !== edits.scale) store.forget();
    store.notify({edits: true});
  }

  function travel(from, to) {
    if (from.length === 0) return;
    to.push(store.edits);
    takeEdits(from.pop());
  }

  /** Replaces a choice that the stack does not have by one that it has, and a cell outside it likewise. */
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
