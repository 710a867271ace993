// What the reader changed, as one value; every view draws from it. An edit makes a new value, undo goes back to an old
// one.

import { changesOf, headKey, headText, STACK_NAMES } from './data.js';
import { taste } from './look.js';

/** Heads of so many cells together are named by measures. */
const MOST_MEASURED = 2 ** 21;

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

/** `kept`: the A of a comparison, or null. `largest`: the largest weight of all. */
export function createStore(core, answer, kept, largest) {
  const written = writtenEdits(answer), masks = new Map(), folds = new Map(), names = new Map();
  const keyOf = (stack, layer, head) => `${stack.side} ${stack.index} ${headKey(layer, head)}`;

  const store = {
    core, answer, kept, written, edits: written, change: core.change, undone: [], done: [], version: 0,
    isOwnStart: true,  // head and cell are those that the answer began with
    view: {
      view: 'sentence', stack: 0, layer: 0, head: 0, pinned: null, viewport: null,
      hovered: null, hoveredHead: null, pointer: null, pointed: null,
      log: false, ownRange: false, range: null, foldSpecial: false, mergeWords: false, order: 'layer', painting: false,
      threshold: 0.05, flowAll: false, explain: false, textColumns: false, textHeads: 'head', textWords: [],
    },

    /** Hears of every change; main.js takes its place, and draws. */
    notify() {},
    /** Changes what is looked at; `isOwn`: the reader does, whose head and cell are then kept. */
    look(change, isOwn = true) {
      if (isOwn && ['layer', 'head', 'pinned'].some((name) => name in change)) store.isOwnStart = false;
      const before = store.view;
      if (Object.keys(change).every((key) => JSON.stringify(before[key]) === JSON.stringify(change[key]))) return;
      store.view = {...before, ...('pinned' in change && {textWords: []}), ...change};
      if ('stack' in change || 'layer' in change || 'head' in change) settle();
      store.notify(change);
    },

    /** Looks where the core says that an answer shows most, as a window begins (app/view/start_cell.h). */
    begin(start) {
      store.isOwnStart = true;
      const at = start && answer.stacks.findIndex(({number}) => number === start.stack);
      store.look(start ? {...start, stack: at} : {pinned: null}, false);
    },
    /** Pins a cell again in a new answer, where its words, those of before, stand at the same places. */
    pinAgain(pinned, {queryTokens, keyTokens}) {
      const isAt = (from, to, i) => from[i].text === to[i]?.text, now = store.stack();
      if (pinned && isAt(queryTokens, now.queryTokens, pinned.query) && isAt(keyTokens, now.keyTokens, pinned.key))
        store.look({pinned}, false);
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
    isAllowed: ({query, key}) => store.allowed(store.stack(), store.view.layer, store.view.head, query)[key] !== 0,
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
      Object.assign(store.view, {pinned: null, hovered: null, hoveredHead: null, pointer: null, textWords: []});
      settle();
    },

    stack: () => answer.stacks[store.view.stack],
    isOff: (stack, layer, head) => store.edits.off.has(headText(stack, layer, head)),
    /** 1 where a query may attend in the head, T × S; of one query S. */
    allowed(stack, layer, head, query = null) {
      const key = keyOf(stack, layer, head);
      if (!masks.has(key)) masks.set(key, core.allowed(stack, layer, head));
      return query === null ? masks.get(key) : masks.get(key).subarray(query * stack.S, (query + 1) * stack.S);
    },

    /** Drops all computed weights: they are no longer valid. */
    forget() {
      for (const cache of [masks, folds, names]) cache.clear();
      store.version += 1;
    },

    /** All weights of a head; as they are shown: folded where the reader folds. */
    weights: (stack, layer, head) => core.weights(stack, layer, head, 0, stack.T),
    shown(stack, layer, head) {
      const fold = store.fold(stack);
      return fold.isFolded ? core.folded(stack, layer, head, fold).map((weight) => Math.max(0, weight))
        : store.weights(stack, layer, head);
    },
    /** How the stack is folded (app/derived/fold.h): `queries` and `keys`, of each group its first token, their number
        and its text; `foldable`: what there is to fold. */
    fold(stack) {
      const {foldSpecial: special, mergeWords: words} = store.view, key = keyOf(stack, special, words);
      if (!folds.has(key)) {
        // Sums of numbers that are no shares mean nothing.
        const {foldable, fold} = answer.isSigned ? {foldable: {}} : core.fold(stack, {special, words});
        folds.set(key, {...fold, foldable, isFolded: Boolean(fold)});
      }
      return folds.get(key);
    },

    /** What scenes are asked with: the view, and how it looks. */
    asked() {
      const stack = store.stack(), {S, T, heads} = stack, {theme, language, map} = taste;
      return {...store.view, order: [], stack: stack.number, theme, language, map, largest, signed: answer.isSigned,
        edited: store.isEdited() || store.edits.off !== store.written.off,
        measured: T * S * heads.length <= MOST_MEASURED, windowWidth: innerWidth, windowHeight: innerHeight};
    },
    /** What the pixels of maps depend on besides their head. */
    stamp() {
      const {stack, foldSpecial, mergeWords, log, ownRange, range, viewport} = store.view;
      return [store.version, stack, foldSpecial, mergeWords, log, ownRange, range, ...Object.values(viewport ?? {}),
        taste.theme, taste.map].join(' ');
    },
    /** What a head does in this sentence: {words, brief, named}. */
    nameOf({layer, head}) {
      const key = `names ${store.version} ${store.view.stack} ${taste.language} ${store.edits.off.size}`;
      if (!names.has(key)) {
        names.clear();
        names.set(key, new Map(store.core.names(store.asked()).map((one) => [headKey(one.layer, one.head), one])));
      }
      return names.get(key).get(headKey(layer, head)) ?? {words: '', brief: '', named: false};
    },
    /** Where a cell stands on the map. */
    shownCell({query, key}) {
      const {queries, keys} = store.fold(store.stack());
      const of = (groups, token) =>
        groups ? groups.findIndex(([first, count]) => token >= first && token < first + count) : token;
      return {row: of(queries, query), col: of(keys, key)};
    },

    scale: () => store.edits.scale ?? store.stack().scale(store.view.layer),
    chosen() { return {stack: store.stack(), layer: store.view.layer, head: store.view.head}; },
    isChosen: ({layer, head}) => layer === store.view.layer && head === store.view.head,
    /** The cell that is read: pointed at, else pinned. */
    cell() { return store.view.hovered ?? store.view.pinned; },
    /** The cell of that query at which the chosen head looks most. */
    strongest(query) {
      const {stack, layer, head} = store.chosen(), row = core.weights(stack, layer, head, query, 1);
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
