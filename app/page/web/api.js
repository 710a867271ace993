// For scripts: window.headlight. Documented in docs/page.md.

import { MASK_KINDS, offKey } from './state.js';

function whole(value, name, below) {
  if (!Number.isInteger(value) || value < 0 || value >= below) throw new RangeError(`${name}: expected 0 to ${below - 1}, found ${String(value)}`);
  return value;
}

export function createInterface(store, live) {
  function stackOf(name, {stacks} = store.answer) {
    const stack = typeof name === 'number' ? stacks[name] : stacks.find((one) => one.name === name);
    if (!stack) throw new RangeError(`stack: expected ${stacks.map((one) => one.name).join(', ')}, found ${String(name)}`);
    return stack;
  }

  return Object.freeze({
    /** queries × keys weights of a head, as they are now; `of: 'A'`: those of the other answer of a comparison;
        `folded`: on the rows and columns that the reader's fold leaves. */
    weights(stack, layer, head, {of = 'B', folded = false} = {}) {
      if (of !== 'B' && !(of === 'A' && store.kept)) throw new RangeError(`of: expected ${store.kept ? 'A or B' : 'B'}, found ${String(of)}`);
      const answer = of === 'A' ? store.kept : store.answer, own = stackOf(stack, answer);
      whole(layer, 'layer', own.layers);
      whole(head, 'head', own.headCount);
      if (!own.hasHead(layer, head)) throw new RangeError(`head: expected one of this page, found ${layer}.${head}`);
      return (folded ? store.shown : store.head)(answer, own, layer, head).weights.slice();
    },

    set(change) {
      const edits = {}, known = ['mask', 'stack', 'scale', 'off', 'painted', 'layer', 'head', 'pinned', 'view', 'scaleOfColours', 'fold'];
      for (const name of Object.keys(change))
        if (!known.includes(name)) throw new RangeError(`set: expected ${known.join(', ')}, found ${name}`);
      if (change.stack !== undefined) store.look({stack: stackOf(change.stack).index});
      const {stack: index} = store.view, stack = store.stack();
      if (change.layer !== undefined || change.head !== undefined) {
        const layer = whole(change.layer ?? store.view.layer, 'layer', stack.layers), head = whole(change.head ?? store.view.head, 'head', stack.headCount);
        if (!stack.hasHead(layer, head)) throw new RangeError(`head: expected one of this page, found ${layer}.${head}`);
        store.look({layer, head});
      }
      if (change.mask !== undefined && !MASK_KINDS.includes(change.mask))
        throw new RangeError(`mask: expected ${MASK_KINDS.join(', ')}, found ${String(change.mask)}`);
      if (change.mask !== undefined || change.painted !== undefined) {
        const mask = {...store.edits.masks[index]};
        if (change.mask !== undefined) mask.kind = change.mask;
        if (change.painted !== undefined)
          mask.painted = new Map(change.painted.map(([query, key, allowed]) => [`${whole(query, 'query', stack.T)},${whole(key, 'key', stack.S)}`, Boolean(allowed)]));
        edits.masks = store.edits.masks.map((one, i) => i === index ? mask : one);
      }
      if (change.scale !== undefined) {
        if (change.scale !== null && !Number.isFinite(change.scale)) throw new RangeError(`scale: expected a number or null, found ${String(change.scale)}`);
        edits.scale = change.scale;
      }
      if (change.off !== undefined) edits.off = new Set(change.off.map(String));
      if (Object.keys(edits).length > 0) store.edit(edits);
      if (change.pinned !== undefined)
        store.look({pinned: change.pinned && {query: whole(change.pinned[0], 'query', stack.T), key: whole(change.pinned[1], 'key', stack.S)}});
      if (change.view !== undefined) store.look({view: String(change.view)});
      if (change.scaleOfColours !== undefined) store.look({log: change.scaleOfColours === 'log'});
      if (change.fold !== undefined) {
        for (const part of change.fold)
          if (part !== 'special' && part !== 'words') throw new RangeError(`fold: expected special, words, found ${String(part)}`);
        store.look({foldSpecial: change.fold.includes('special'), mergeWords: change.fold.includes('words')});
      }
    },

    state() {
      const {view, edits} = store, stack = store.stack(), mask = edits.masks[view.stack];
      return {
        stack: stack.name, layer: view.layer, head: view.head, view: view.view,
        pinned: view.pinned && [view.pinned.query, view.pinned.key],
        mask: mask.kind, painted: [...mask.painted].map(([cell, allowed]) => [...cell.split(',').map(Number), allowed]),
        scale: edits.scale ?? stack.scale(view.layer), off: [...edits.off],
        stacks: store.answer.stacks.map((one) => ({name: one.name, layers: one.layers, heads: one.headCount, queries: one.T, keys: one.S,
          off: one.heads.filter(({layer, head}) => store.isOff(one, layer, head)).map(({layer, head}) => offKey(one, layer, head))})),
        fold: [...(view.foldSpecial ? ['special'] : []), ...(view.mergeWords ? ['words'] : [])],
        tokens: stack.queryTokens.map((token) => token.text), ids: stack.queryTokens.map((token) => token.id), error: store.answer.error, live: live !== null,
      };
    },

    ...(live ? {ask: (text, target) => live.ask(text, target), next: () => live.guesses(), hidden: () => live.hidden()} : {}),
  });
}
