// For scripts: window.headlight. Documented in docs/page.md.

import { headText } from './data.js';

const MASK_KINDS = ['file', 'none', 'causal', 'padding', 'causal+padding'];
/** What set() takes. */
const SET = ['mask', 'stack', 'scale', 'off', 'painted', 'layer', 'head', 'pinned', 'view', 'scaleOfColours', 'fold'];

function refuse(name, wanted, found) { throw new RangeError(`${name}: expected ${wanted}, found ${String(found)}`); }

function known(name, list, value) { return list.includes(value) ? value : refuse(name, list.join(', '), value); }

function whole(name, below, value) {
  return Number.isInteger(value) && value >= 0 && value < below ? value : refuse(name, `0 to ${below - 1}`, value);
}

export function createInterface(store, live, views) {
  function stackOf(name, {stacks} = store.answer) {
    const found = stacks.find((one, i) => one.name === name || i === name);
    return found ?? refuse('stack', stacks.map((one) => one.name).join(', '), name);
  }
  function headOf(stack, layer, head) {
    whole('layer', stack.layers, layer);
    whole('head', stack.headCount, head);
    return stack.hasHead(layer, head) ? {layer, head} : refuse('head', 'one of this page', `${layer}.${head}`);
  }

  /** The stack of this name, which has this head. */
  const stackWith = (name, layer, head, answer, stack = stackOf(name, answer)) => headOf(stack, layer, head) && stack;
  const cellOf = (stack, query, key) => ({query: whole('query', stack.T, query), key: whole('key', stack.S, key)});
  const paintOf = (stack, cell) => [Object.values(cellOf(stack, ...cell)).join(), Boolean(cell[2])];

  const namesOf = (stack) => stack.heads.map(({layer, head}) => headText(stack, layer, head));
  const names = () => store.answer.stacks.flatMap(namesOf);

  return Object.freeze({
    /** queries × keys weights of a head, as they are now; `of: 'A'`: those of the other answer of a comparison;
        `folded`: on the rows and columns that the reader's fold leaves. */
    weights(name, layer, head, {of = 'B', folded = false} = {}) {
      if (of !== 'B' && !(of === 'A' && store.kept)) refuse('of', store.kept ? 'A or B' : 'B', of);
      const stack = stackWith(name, layer, head, of === 'A' ? store.kept : store.answer);
      return (folded ? store.shown : store.weights)(stack, layer, head);
    },

    /** What a head does, by the names of measures (`headlight heads`); null where no row has one. */
    measures(name, layer, head) {
      const {ofWords, ...found} = store.core.measures(stackWith(name, layer, head), layer, head);
      return found;
    },
    /** What a weight is computed from: q, k, dot, scaled, score, sum, weight, … */
    numbers(name, layer, head, query, key) {
      const stack = stackWith(name, layer, head);
      return store.core.why(stack, layer, head, cellOf(stack, query, key));
    },

    set(change) {
      for (const name of Object.keys(change)) known('set', SET, name);
      const has = (name) => change[name] !== undefined;
      if (has('stack')) store.look({stack: stackOf(change.stack).index});
      const {view} = store, {scale = null, fold = []} = change, stack = store.stack(), edits = {}, mask = {};
      if (has('layer') || has('head')) store.look(headOf(stack, change.layer ?? view.layer, change.head ?? view.head));
      if (has('mask')) mask.kind = known('mask', MASK_KINDS, change.mask);
      if (has('painted')) mask.painted = new Map(change.painted.map((cell) => paintOf(stack, cell)));
      if (has('mask') || has('painted'))
        edits.masks = store.edits.masks.map((one, i) => i === view.stack ? {...one, ...mask} : one);
      if (scale !== null && !Number.isFinite(scale)) refuse('scale', 'a number or null', scale);
      if (has('scale')) edits.scale = scale;
      for (const one of change.off ?? []) if (!names().includes(String(one))) refuse('off', 'heads of this page', one);
      if (has('off')) edits.off = new Set(change.off.map(String));
      if (Object.keys(edits).length > 0) store.edit(edits);
      if (has('pinned')) store.look({pinned: change.pinned && cellOf(stack, ...change.pinned)});
      if (has('view')) store.look({view: known('view', views, change.view === 'row' ? 'sentence' : change.view)});
      if (has('scaleOfColours')) store.look({log: change.scaleOfColours === 'log'});
      for (const part of fold) known('fold', ['special', 'words'], part);
      if (has('fold')) store.look({foldSpecial: fold.includes('special'), mergeWords: fold.includes('words')});
    },

    state() {
      const {view, edits} = store, stack = store.stack(), mask = edits.masks[view.stack];
      return {
        stack: stack.name, layer: view.layer, head: view.head, view: view.view,
        pinned: view.pinned && [view.pinned.query, view.pinned.key],
        mask: mask.kind, painted: [...mask.painted].map(([cell, allowed]) => [...cell.split(',').map(Number), allowed]),
        scale: store.scale(), off: [...edits.off],
        stacks: store.answer.stacks.map((one) => ({name: one.name, layers: one.layers, heads: one.headCount,
          queries: one.T, keys: one.S, off: namesOf(one).filter((name) => edits.off.has(name))})),
        fold: [view.foldSpecial && 'special', view.mergeWords && 'words'].filter(Boolean),
        tokens: stack.queryTokens.map((token) => token.text), ids: stack.queryTokens.map((token) => token.id),
        error: store.answer.error, live: live?.isStarted() === true,
      };
    },

    ...(live ? {ask: (...texts) => live.ask(...texts), next: live.guesses} : {}),
  });
}
