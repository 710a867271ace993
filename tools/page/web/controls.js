// What the reader can change: the mask, the scale, heads, colours, folding, order; and the keyboard. Browsers take keys
// with Alt, so what is Alt M in the window is M here; the overlay lists all. The work is in state.js.

import { button, byId, fill, icon, link, make, quiet, segmented, select, toggle, worded } from './elements.js';
import { MEASURES } from './core.js';
import { briefNumber, MAPS, taste, wordsOf } from './look.js';

const ORDERS = ['layer', ...MEASURES];
/** Those that compare the tokens of one sentence. */
const OF_SELF = ['distance', 'previous', 'next', 'same', 'duplicate', 'induction'];
/** Folding a longer side would take longer than a glance. */
const MOST_FOLDED = 512;

export function createControls(store, redraw) {
  const group = (...children) => make('span', {class: 'group'}, ...children);

  /** A slider; `id` names its words, `text` is of its value. A drag is one edit: `change` hears whether one goes on. */
  function slider(id, range, value, text, change) {
    let going = false;
    const shown = make('span', {class: 'number value', text: text(value)});
    const input = make('input', {type: 'range', id, ...range, value: String(value), 'aria-label': wordsOf(id), on: {
      input: () => {
        shown.textContent = text(Number(input.value));
        change(Number(input.value), going);
        going = true;
      },
      change: () => { going = false; redraw(); }}});
    return [make('label', {class: 'label', for: id, text: wordsOf(id)}), input, shown];
  }

  /** A bar of two choices: whether `name` of the view is off or on. */
  const oneOfTwo = (label, [off, on], tip, name) => segmented(label,
    [[false, off, wordsOf(tip)], [true, on, wordsOf(tip)]], store.view[name], (is) => store.look({[name]: is}));

  function drawMask() {
    const {view, edits: {masks, scale, off}} = store, stack = store.stack(), {index} = stack, mask = masks[index];
    const pads = stack.keyTokens.some((token) => token.pad), isOfFile = store.written.masks[index].kind === 'file';
    const kinds = [isOfFile && 'file', 'none', 'causal', pads && 'padding', pads && 'causal+padding'].filter(Boolean);
    const kindOf = (kind) => [kind, ...['mask', 'tip_mask'].map((of) => wordsOf(`${of}_${kind.replace('+', '_')}`))];
    // The scale's slider is even in octaves around 1/√d_k.
    const usual = 1 / Math.sqrt(stack.dk || 1), octaves = Math.log2(store.scale() / usual);
    const {stacks} = store.answer, isEdited = store.isEdited() || off !== store.written.off;
    fill(byId('mask-controls'),
      stacks.length > 1 && segmented('stack',
        stacks.map(({name}, i) => [i, wordsOf(`stack_${name}`), wordsOf('tip_stack')]), index,
        (i) => store.look({stack: i, pinned: null, hovered: null})),
      group(make('span', {class: 'label', text: wordsOf('section_mask')}),
        segmented('section_mask', kinds.map(kindOf), mask.kind, (kind) => store.editMask(index, {kind})),
        toggle('paint', 'paint_hint', view.painting, (painting) => store.look({painting}), store.fold(stack).isFolded),
        mask.painted.size > 0 && link('clear_paint', store.clearPaint)),
      !stack.given && group(...slider('scale', {min: '-5', max: '5', step: '0.05'}, octaves,
        (at) => briefNumber(usual * 2 ** at), (at, going) => store.edit({scale: usual * 2 ** at}, going)),
      scale !== null && link('scale_again', () => store.edit({scale: null}))),
      off.size > 0 && group(quiet('span', wordsOf('off_count', off.size)),
        link('all_on', () => store.edit({off: new Set()}))),
      make('span', {class: 'group end'}, icon('↶', 'undo', store.undo, store.done.length === 0),
        icon('↷', 'redo', store.redo, store.undone.length === 0), isEdited && link('reset', store.reset)));
  }

  /** From the number farthest below 0 to that above it. */
  function paintSigned(context) {
    const values = [Array.from({length: 256}, (_, i) => i / 127.5 - 1)], columns = values[0].map(String);
    const table = {values, rows: [''], columns, top: 1, diverging: true};
    store.core.table({...store.asked(), range: null, table})[0].forEach(([, , colour], i) => {
      context.fillStyle = colour;
      context.fillRect(i, 0, 1, 1);
    });
  }

  function colourBar() {
    const canvas = make('canvas', {class: 'colour-bar', width: 256, height: 1, 'aria-hidden': 'true'});
    const context = canvas.getContext('2d');
    if (store.answer.isSigned) paintSigned(context);
    else {
      const colours = store.core.colours(taste.theme === 'dark' ? 1 : 0, MAPS.indexOf(taste.map));
      context.putImageData(new ImageData(new Uint8ClampedArray(colours), 256, 1), 0, 0);
    }
    return make('span', {class: 'colours'}, canvas, make('span', {class: 'ticks', 'aria-hidden': 'true'},
      ...store.core.ticks(store.asked()).map((text) => make('span', {text}))));
  }

  function drawLook() {
    const stack = store.stack(), {special, words} = store.fold(stack).foldable, {view} = store;
    const isLong = Math.max(stack.T, stack.S) > MOST_FOLDED;
    const foldToggle = (name, field) => toggle(name, isLong ? 'tip_fold_too_long' : `tip_${name}`,
      view[field] && !isLong, (on) => store.look({[field]: on, painting: false, viewport: null}), isLong);
    const maps = worded('map', MAPS);
    fill(byId('look-controls'), colourBar(),
      !store.answer.isSigned && !view.range && oneOfTwo('colours',
        [wordsOf('linear'), wordsOf('logarithmic')], 'tip_colour_scale', 'log'),
      view.range ? link('fitting_colours', () => store.look({range: null}))
        : toggle('own_range', 'tip_own_range', view.ownRange, (ownRange) => store.look({ownRange})),
      !store.answer.isSigned && select(wordsOf('colour_map'), maps, taste.map, (map) => { taste.map = map; redraw(); }),
      special && foldToggle('fold_special', 'foldSpecial'), words && foldToggle('merge_words', 'mergeWords'));
    const folded = view.view === 'heads' ? 'special_strips' : 'special_folded';
    byId('folded').textContent = [view.foldSpecial && special && wordsOf(folded),
      view.mergeWords && words && wordsOf('words_merged')].filter(Boolean).join(' ');
  }

  function drawAtlasHead() {
    const stack = store.stack(), {order} = store.view, self = stack.queryTokens === stack.keyTokens;
    const orders = worded('order', ORDERS.filter((name) => self || !OF_SELF.includes(name)));
    fill(byId('atlas-head'), make('h2', {text: wordsOf('all_heads', stack.heads.length)}),
      select(wordsOf('order'), orders, order, (name) => store.look({order: name})));
    byId('atlas-head').title = order === 'layer' ? '' : wordsOf(`tip_order_${order}`);
  }

  function drawFlow() {
    const {view} = store, stack = store.stack();
    const names = [wordsOf('flow_chosen_head'), wordsOf('flow_all_heads', stack.headCount, view.layer)];
    fill(byId('flow-controls'), oneOfTwo('heads', names, 'tip_flow_heads', 'flowAll'),
      group(...slider('threshold', {min: '0.01', max: '0.9', step: '0.01'}, view.threshold,
        (part) => `${Math.round(100 * part)} %`, (threshold) => store.look({threshold}))));
  }

  /** All of them; `views` are those that the page has. */
  return {draw(views) {
    const called = (name) => name === 'text' && store.core.pictures.length > 0 ? 'picture' : name;
    const choices = views.map((name) => [name, wordsOf(`view_${called(name)}`), wordsOf(`tip_view_${called(name)}`)]);
    fill(byId('views'), segmented('views', choices, store.view.view, (view) => store.look({view})));
    drawMask();
    drawLook();
    drawAtlasHead();
    if (store.view.view === 'flow') drawFlow();
  }};
}

/** What the overlay lists: keys, and the names of the words about what they do. */
const HELP = [['← → ↑ ↓', 'key_move'], ['Enter', 'key_pin'], ['Esc', 'key_let_go'], ['[ ]   { }', 'key_heads'],
  ['1 2 3 4 5', 'view_sentence', 'view_heads', 'view_text', 'view_flow', 'view_compare'], ['Y', 'numbers'],
  ['M', 'section_mask', 'mask_causal'], ['Shift M', 'section_mask', 'mask_padding'], ['P', 'paint'], ['X', 'key_block'],
  ['Backspace', 'clear_paint'], ['V   Shift V   0', 'key_scale'], ['Space', 'tip_on_off'],
  ['G   Shift G', 'logarithmic', 'own_range'], ['Z   Shift Z', 'fold_special', 'merge_words'], [';', 'order'],
  ['=   -   Home', 'zoom_in', 'zoom_out', 'whole_pattern'], ['Ctrl Z   Ctrl Shift Z', 'undo', 'redo'],
  ['T', 'light', 'dark'], ['?', 'help']];

export function createKeys(store, actions) {
  const dialog = byId('help');

  function showHelp() {
    fill(dialog, make('h2', {text: wordsOf('help')}), make('dl', {class: 'keys'}, ...HELP.flatMap(([keys, ...names]) =>
      [make('dt', {text: keys}), make('dd', {text: names.map((name) => wordsOf(name)).join(' / ')})])),
      quiet('p', wordsOf('touch_help')), button('primary', wordsOf('close'), () => dialog.close()));
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
    const {view} = store, {heads} = store.stack(), layers = [...new Set(heads.map((one) => one.layer))];
    const layer = after(layers, layers.indexOf(view.layer), step), others = heads.filter((one) => one.layer === layer);
    store.look({layer, head: (others.find((one) => one.head === view.head) ?? others[0]).head});
  }
  function toggleMask(part) {
    const index = store.view.stack, {kind} = store.edits.masks[index];
    const has = (one) => kind.includes(one) !== (one === part);
    store.editMask(index, {kind: ['causal', 'padding'].filter(has).join('+') || 'none'});
  }
  function blockPinned() {
    const {pinned} = store.view;
    if (pinned && !store.fold(store.stack()).isFolded) store.paint(pinned, !store.isAllowed(pinned));
  }
  const scaleBy = (factor) => store.edit({scale: store.scale() * factor});
  const {look} = store, turn = (name, change = {}) => look({[name]: !store.view[name], ...change});
  const plain = {
    ArrowLeft: () => move(0, -1), ArrowRight: () => move(0, 1), ArrowUp: () => move(-1, 0), ArrowDown: () => move(1, 0),
    Enter: () => store.view.hovered && look({pinned: store.view.hovered}), y: () => turn('explain'),
    '[': () => chooseHead(-1), ']': () => chooseHead(1), '{': () => chooseLayer(-1), '}': () => chooseLayer(1),
    m: () => toggleMask('causal'), M: () => toggleMask('padding'), p: () => turn('painting'), x: blockPinned,
    v: () => scaleBy(2 ** 0.25), V: () => scaleBy(2 ** -0.25), 0: () => store.edit({scale: null}),
    ' ': () => store.switchHead(store.chosen()), g: () => turn('log'), G: () => turn('ownRange'),
    z: () => turn('foldSpecial', {viewport: null}), Z: () => turn('mergeWords', {viewport: null}),
    ';': () => look({order: after(ORDERS, ORDERS.indexOf(store.view.order), 1)}), Backspace: store.clearPaint,
    '=': () => actions.zoom(1.5), '+': () => actions.zoom(1.5), '-': () => actions.zoom(1 / 1.5),
    t: actions.theme, T: actions.theme, '?': showHelp, F1: showHelp, Home: () => look({viewport: null}),
    Escape: () => store.view.painting ? turn('painting') : store.view.explain ? turn('explain')
      : look({pinned: null, hovered: null}),
  };
  actions.views.forEach((view, i) => { plain[i + 1] = () => look({view}); });

  document.addEventListener('keydown', (event) => {
    if (dialog.open || event.altKey || event.target.closest('input[type=text], select')) return;
    if (event.ctrlKey || event.metaKey) {
      if (event.key.toLowerCase() !== 'z' && event.key !== 'y') return;
      event.preventDefault();
      if (event.shiftKey || event.key === 'y') store.redo();
      else store.undo();
      return;
    }
    // What has the focus keeps the keys that belong to it.
    if (event.target.closest('input:not([type=checkbox])') && /^(Arrow|Home)/.test(event.key)) return;
    if (event.target.closest('button, summary, a, input') && (event.key === ' ' || event.key === 'Enter')) return;
    const action = plain[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  return {showHelp};
}
