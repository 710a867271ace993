// The keyboard: the window's keys, as far as the page has what they do.

import { byId, make, fill } from './elements.js';
import { switchHead } from './bars.js';
import { ORDERS } from './controls.js';
import { say } from './words.js';

/** What the overlay lists: keys, and the name of the words that say what they do. */
const HELP = [['← → ↑ ↓', 'key_move'], ['Enter', 'key_pin'], ['Esc', 'key_let_go'], ['[ ]   { }', 'key_heads'], ['1 2 3 4', 'key_views'],
  ['Y', 'key_why'], ['M', 'key_causal'], ['Shift M', 'key_padding'], ['P', 'key_paint'], ['X', 'key_block'], ['Backspace', 'key_clear'],
  ['V   Shift V   0', 'key_scale'], ['Space', 'key_off'], ['G   Shift G', 'key_colours'], ['Z   Shift Z', 'key_fold'], [';', 'key_order'],
  ['=   -   Home', 'key_zoom'], ['Ctrl Z   Ctrl Shift Z', 'key_undo'], ['T', 'key_theme'], ['?', 'key_help']];

export function createKeys(store, actions) {
  const dialog = byId('help');

  function showHelp() {
    fill(dialog, make('h2', {text: say('help')}), make('dl', {class: 'keys'}, ...HELP.flatMap(([keys, name]) =>
      [make('dt', {text: keys}), make('dd', {text: say(name)})])),
    make('p', {class: 'quiet', text: say('touch_help')}),
    make('button', {type: 'button', class: 'primary', text: say('close'), on: {click: () => dialog.close()}}));
    dialog.showModal();
  }

  function move(queries, keys) {
    const stack = store.stack(), from = store.view.pinned ?? store.view.hovered;
    const to = from ? {query: Math.min(stack.T - 1, Math.max(0, from.query + queries)), key: Math.min(stack.S - 1, Math.max(0, from.key + keys))}
      : {query: 0, key: 0};
    store.look({pinned: to, hovered: null});
    actions.reveal(to);
  }
  function chooseHead(step) {
    const heads = actions.order(), at = heads.findIndex(({layer, head}) => layer === store.view.layer && head === store.view.head);
    const next = heads[(at + step + heads.length) % heads.length];
    store.look({layer: next.layer, head: next.head});
  }
  function chooseLayer(step) {
    const {heads} = store.stack(), layers = [...new Set(heads.map((one) => one.layer))];
    const layer = layers[(layers.indexOf(store.view.layer) + step + layers.length) % layers.length];
    const same = heads.find((one) => one.layer === layer && one.head === store.view.head) ?? heads.find((one) => one.layer === layer);
    store.look({layer: same.layer, head: same.head});
  }
  function maskKind(part) {
    const parts = new Set(store.edits.masks[store.view.stack].kind.split('+').filter((kind) => kind === 'causal' || kind === 'padding'));
    if (!parts.delete(part)) parts.add(part);
    store.editMask(store.view.stack, {kind: ['causal', 'padding'].filter((kind) => parts.has(kind)).join('+') || 'none'});
  }
  function blockPinned() {
    const {pinned, stack: index, layer} = store.view, stack = store.stack();
    if (!pinned || store.fold(stack)) return;
    const painted = new Map(store.edits.masks[index].painted), at = pinned.query * stack.S + pinned.key;
    painted.set(`${pinned.query},${pinned.key}`, store.mask(store.answer, stack, layer).allowed[at] === 0);
    store.editMask(index, {painted});
  }
  function scaleBy(factor) {
    store.edit({scale: factor === null ? null : (store.edits.scale ?? store.stack().scale(store.view.layer)) * factor});
  }
  const {look} = store;
  const plain = {
    ArrowLeft: () => move(0, -1), ArrowRight: () => move(0, 1), ArrowUp: () => move(-1, 0), ArrowDown: () => move(1, 0),
    Enter: () => store.view.hovered && look({pinned: store.view.hovered}), '[': () => chooseHead(-1), ']': () => chooseHead(1),
    '{': () => chooseLayer(-1), '}': () => chooseLayer(1), y: () => look({explain: !store.view.explain}),
    m: () => maskKind('causal'), M: () => maskKind('padding'), p: () => look({painting: !store.view.painting}), x: blockPinned,
    Backspace: () => store.editMask(store.view.stack, {painted: new Map()}),
    v: () => scaleBy(2 ** 0.25), V: () => scaleBy(2 ** -0.25), 0: () => scaleBy(null),
    ' ': () => switchHead(store, store.stack(), store.view.layer, store.view.head),
    g: () => look({log: !store.view.log}), G: () => look({ownRange: !store.view.ownRange}),
    z: () => look({foldSpecial: !store.view.foldSpecial, viewport: null}), Z: () => look({mergeWords: !store.view.mergeWords, viewport: null}),
    ';': () => look({order: ORDERS[(ORDERS.indexOf(store.view.order) + 1) % ORDERS.length]}),
    '=': () => actions.zoom(1.5), '+': () => actions.zoom(1.5), '-': () => actions.zoom(1 / 1.5), Home: () => look({viewport: null}),
    t: actions.theme, T: actions.theme, '?': showHelp, F1: showHelp,
    Escape: () => store.view.painting ? look({painting: false}) : store.view.explain ? look({explain: false}) : look({pinned: null, hovered: null}),
    1: () => look({view: 'heads'}), 2: () => look({view: 'row'}), 3: () => look({view: 'flow'}), 4: () => actions.compare && look({view: 'compare'}),
  };

  document.addEventListener('keydown', (event) => {
    if (dialog.open || event.altKey || event.target.closest('input[type=text], select, textarea')) return;
    if (event.ctrlKey || event.metaKey) {
      if (event.key.toLowerCase() !== 'z' && event.key !== 'y') return;
      event.preventDefault();
      if (event.shiftKey || event.key === 'y') store.redo();
      else store.undo();
      return;
    }
    // What has the focus keeps the keys that belong to it.
    if (event.target.closest('input') && /^(Arrow|Home)/.test(event.key)) return;
    if (event.target.closest('button, summary, a') && (event.key === ' ' || event.key === 'Enter')) return;
    const action = plain[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  return {showHelp};
}
