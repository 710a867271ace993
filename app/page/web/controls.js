// What the reader can change: the mask, the scale, heads, colours, folding, order. Words only; the work is in state.js.

import { currentMap, mapNames, colourTable, setMap, ticks } from './colour.js';
import { button, byId, fill, icon, make, segmented, select, toggle } from './elements.js';
import { MEASURES } from './core.js';
import { briefNumber, wordsOf } from './labels.js';

export const ORDERS = ['layer', ...MEASURES];
/** Those that compare the tokens of one sentence. */
const OF_SELF = ['distance', 'previous', 'next', 'same', 'duplicate', 'induction'];
/** Folding a longer side would take longer than a glance. */
const MOST_FOLDED = 512;

export function createControls(store, redraw) {
  const group = (...children) => make('span', {class: 'group'}, ...children);

  /** A slider with its words; `text` of its value. A whole drag is one edit: `change` hears whether it goes on with one. */
  function slider(id, words, range, value, text, change) {
    let going = false;
    const shown = make('span', {class: 'number value', text: text(value)});
    const input = make('input', {type: 'range', id, ...range, value: String(value), 'aria-label': words, on: {
      input: () => {
        shown.textContent = text(Number(input.value));
        change(Number(input.value), going);
        going = true;
      },
      change: () => {
        going = false;
        redraw();
      }}});
    return [make('label', {class: 'label', for: id, text: words}), input, shown];
  }

  function drawMask() {
    const stack = store.stack(), {stack: index, layer} = store.view, mask = store.edits.masks[index], {scale, off} = store.edits;
    const pads = stack.keyTokens.some((token) => token.pad);
    const kinds = [store.written.masks[index].kind === 'file' && 'file', 'none', 'causal', pads && 'padding', pads && 'causal+padding'];
    const kindOf = (kind) => [kind, wordsOf(`mask_${kind.replace('+', '_')}`), wordsOf(`tip_mask_${kind.replace('+', '_')}`)];
    // The scale's slider is even in octaves around 1/√d_k.
    const usual = 1 / Math.sqrt(stack.dk || 1), octaves = Math.log2((scale ?? stack.scale(layer)) / usual);
    const {stacks} = store.answer, isEdited = store.isEdited() || off !== store.written.off;
    fill(byId('mask-controls'),
      stacks.length > 1 && segmented(wordsOf('stack'), stacks.map((one, i) => [i, wordsOf(`stack_${one.name}`), wordsOf('tip_stack')]),
        index, (i) => store.look({stack: i, pinned: null, hovered: null})),
      group(make('span', {class: 'label', text: wordsOf('section_mask')}),
        segmented(wordsOf('section_mask'), kinds.filter(Boolean).map(kindOf), mask.kind, (kind) => store.editMask(index, {kind})),
        toggle(wordsOf('paint'), wordsOf('paint_hint'), store.view.painting, (painting) => store.look({painting}), store.fold(stack).isFolded),
        mask.painted.size > 0 && button('link', wordsOf('clear_paint'), () => store.editMask(index, {painted: new Map()}))),
      !stack.given && group(...slider('scale', wordsOf('scale'), {min: '-5', max: '5', step: '0.05'}, octaves,
        (number) => briefNumber(usual * 2 ** number), (number, going) => store.edit({scale: usual * 2 ** number}, going)),
      scale !== null && button('link', wordsOf('scale_again'), () => store.edit({scale: null}))),
      off.size > 0 && group(make('span', {class: 'quiet', text: wordsOf('off_count', off.size)}),
        button('link', wordsOf('all_on'), () => store.edit({off: new Set()}))),
      make('span', {class: 'group end'}, icon('↶', 'undo', store.undo, store.done.length === 0),
        icon('↷', 'redo', store.redo, store.undone.length === 0), isEdited && button('link', wordsOf('reset'), store.reset)));
  }

  function colourBar(scale) {
    const canvas = make('canvas', {class: 'colour-bar', 'aria-hidden': 'true', width: '256', height: '1'});
    const context = canvas.getContext('2d'), image = context.createImageData(256, 1);
    new Uint32Array(image.data.buffer).set(colourTable());
    context.putImageData(image, 0, 0);
    return make('span', {class: 'colours'}, canvas, make('span', {class: 'ticks', 'aria-hidden': 'true'},
      ...ticks(scale).map((number) => make('span', {text: briefNumber(number)}))));
  }

  function drawLook() {
    const stack = store.stack(), possible = store.fold(stack).foldable, {view} = store, long = Math.max(stack.T, stack.S) > MOST_FOLDED;
    const foldToggle = (words, name) => toggle(wordsOf(words), wordsOf(long ? 'tip_fold_too_long' : `tip_${words}`), view[name] && !long,
      (on) => store.look({[name]: on, painting: false, viewport: null}), long);
    fill(byId('look-controls'), colourBar({log: view.log, top: store.top}),
      segmented(wordsOf('colours'), [['linear', wordsOf('linear'), wordsOf('tip_colour_scale')], ['log', wordsOf('logarithmic'), wordsOf('tip_colour_scale')]],
        view.log ? 'log' : 'linear', (name) => store.look({log: name === 'log'})),
      toggle(wordsOf('own_range'), wordsOf('tip_own_range'), view.ownRange, (ownRange) => store.look({ownRange})),
      select(wordsOf('colour_map'), mapNames().map((name) => [name, wordsOf(`map_${name}`)]), currentMap(), (name) => { setMap(name); redraw(); }),
      possible.special && foldToggle('fold_special', 'foldSpecial'), possible.words && foldToggle('merge_words', 'mergeWords'));
    byId('folded').textContent = [view.foldSpecial && possible.special && wordsOf('special_folded'),
      view.mergeWords && possible.words && wordsOf('words_merged')].filter(Boolean).join(' ');
  }

  function drawAtlasHead() {
    const stack = store.stack(), {order} = store.view, self = stack.queryTokens === stack.keyTokens;
    const orders = ORDERS.filter((name) => self || !OF_SELF.includes(name)).map((name) => [name, wordsOf(`order_${name}`)]);
    fill(byId('atlas-head'), make('h2', {text: wordsOf('all_heads', stack.heads.length)}),
      select(wordsOf('order'), orders, order, (name) => store.look({order: name})));
    byId('atlas-head').title = order === 'layer' ? '' : wordsOf(`tip_order_${order}`);
  }

  function drawFlow() {
    const {view} = store, stack = store.stack();
    fill(byId('flow-controls'), segmented(wordsOf('heads'), [['one', wordsOf('flow_chosen_head'), wordsOf('tip_flow_heads')],
      ['all', wordsOf('flow_all_heads', stack.headCount, view.layer), wordsOf('tip_flow_heads')]], view.flowAll ? 'all' : 'one',
    (value) => store.look({flowAll: value === 'all'})),
    group(...slider('threshold', wordsOf('threshold'), {min: '0.01', max: '0.9', step: '0.01'}, view.threshold, (part) => `${Math.round(100 * part)} %`,
      (threshold) => store.look({threshold}))));
  }

  /** All of them; `views` are those that the page has. */
  return {draw(views) {
    const choices = views.map((name) => [name, wordsOf(`view_${name}`), wordsOf(`tip_view_${name}`)]);
    fill(byId('views'), segmented(wordsOf('views'), choices, store.view.view, (view) => store.look({view})));
    drawMask();
    drawLook();
    drawAtlasHead();
    if (store.view.view === 'flow') drawFlow();
  }};
}
