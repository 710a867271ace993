// The keyboard: the window's keys, as far as the page has what they do.

import { button, byId, make, fill } from './elements.js';
import { ORDERS } from './controls.js';
import { wordsOf } from './labels.js';

/** What the overlay lists: keys, and the names of the words about what they do. */
const HELP = [['← → ↑ ↓', 'key_move'], ['Enter', 'key_pin'], ['Esc', 'key_let_go'], ['[ ]   { }', 'key_heads'],
  ['1 2 3 4 5', 'view_heads', 'view_row', 'view_flow', 'view_compare', 'view_text'], ['Y', 'numbers'], ['M', 'section_mask', 'mask_causal'],
  ['Shift M', 'section_mask', 'mask_padding'], ['P', 'paint'], ['X', 'key_block'], ['Backspace', 'clear_paint'],
  ['V   Shift V   0', 'key_scale'], ['Space', 'tip_on_off'], ['G   Shift G', 'logarithmic', 'own_range'],
  ['Z   Shift Z', 'fold_special', 'merge_words'], [';', 'order'], ['=   -   Home', 'zoom_in', 'zoom_out', 'whole_pattern'],
  ['Ctrl Z   Ctrl Shift Z', 'undo', 'redo'], ['T', 'light', 'dark'], ['?', 'help']];

export function createKeys(store, actions) {
  const dialog = byId('help');

  function showHelp() {
    fill(dialog, make('h2', {text: wordsOf('help')}), make('dl', {class: 'keys'}, ...HELP.flatMap(([keys, ...names]) =>
      [make('dt', {text: keys}), make('dd', {text: names.map((name) => wordsOf(name)).join(' / ')})])),
    make('p', {class: 'quiet', text: wordsOf('touch_help')}), button('primary', wordsOf('close'), () => dialog.close()));
    dialog.showModal();
  }

  function move(queries, keys) {
    const {T, S} = store.stack(), from = store.cell(), within = (at, count) => Math.min(count - 1, Math.max(0, at));
    const to = from ? {query: within(from.query + queries, T), key: within(from.key + keys, S)} : {query: 0, key: 0};
    store.look({pinned: to, hovered: null});
    actions.reveal(to);
  }
  const after = (list, at, step) => list[(at + step + list.length) % list.length];
  function chooseHead(step) {
    const heads = actions.order(), {layer, head} = after(heads, heads.findIndex(store.isChosen), step);
    store.look({layer, head});
  }
  function chooseLayer(step) {
    const {heads} = store.stack(), layers = [...new Set(heads.map((one) => one.layer))];
    const layer = after(layers, layers.indexOf(store.view.layer), step), others = heads.filter((one) => one.layer === layer);
    store.look({layer, head: (others.find((one) => one.head === store.view.head) ?? others[0]).head});
  }
  function toggleMask(part) {
    const index = store.view.stack, {kind} = store.edits.masks[index];
    const has = (one) => kind.includes(one) !== (one === part);
    store.editMask(index, {kind: ['causal', 'padding'].filter(has).join('+') || 'none'});
  }
  function blockPinned() {
    const {pinned, stack: index, layer} = store.view, stack = store.stack();
    if (!pinned || store.fold(stack).isFolded) return;
    const painted = new Map(store.edits.masks[index].painted), at = pinned.query * stack.S + pinned.key;
    painted.set(`${pinned.query},${pinned.key}`, store.mask(stack, layer).allowed[at] === 0);
    store.editMask(index, {painted});
  }
  function scaleBy(factor) {
    store.edit({scale: (store.edits.scale ?? store.stack().scale(store.view.layer)) * factor});
  }
  const {look} = store, turn = (name, change = {}) => look({[name]: !store.view[name], ...change});
  const plain = {
    ArrowLeft: () => move(0, -1), ArrowRight: () => move(0, 1), ArrowUp: () => move(-1, 0), ArrowDown: () => move(1, 0),
    Enter: () => store.view.hovered && look({pinned: store.view.hovered}), '[': () => chooseHead(-1), ']': () => chooseHead(1),
    '{': () => chooseLayer(-1), '}': () => chooseLayer(1), y: () => turn('explain'),
    m: () => toggleMask('causal'), M: () => toggleMask('padding'), p: () => turn('painting'), x: blockPinned,
    Backspace: () => store.editMask(store.view.stack, {painted: new Map()}),
    v: () => scaleBy(2 ** 0.25), V: () => scaleBy(2 ** -0.25), 0: () => store.edit({scale: null}),
    ' ': () => store.switchHead(store.chosen()), g: () => turn('log'), G: () => turn('ownRange'),
    z: () => turn('foldSpecial', {viewport: null}), Z: () => turn('mergeWords', {viewport: null}),
    ';': () => look({order: after(ORDERS, ORDERS.indexOf(store.view.order), 1)}),
    '=': () => actions.zoom(1.5), '+': () => actions.zoom(1.5), '-': () => actions.zoom(1 / 1.5), Home: () => look({viewport: null}),
    t: actions.theme, T: actions.theme, '?': showHelp, F1: showHelp,
    Escape: () => store.view.painting ? turn('painting') : store.view.explain ? turn('explain') : look({pinned: null, hovered: null}),
  };
  actions.views.forEach((view, i) => { plain[i + 1] = () => look({view}); });

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
