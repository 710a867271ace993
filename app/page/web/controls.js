// What the reader can change: the mask, the scale, heads, colours, folding, order. Words only; the work is in state.js.

import { currentMap, mapNames, colourTable, setMap, ticks } from './colour.js';
import { make, fill, segmented, toggle } from './elements.js';
import { foldable } from './fold.js';
import { briefNumber, stackTitle } from './labels.js';
import { say } from './words.js';

export const ORDERS = ['layer', 'entropy', 'normalized', 'distance', 'confidence', 'previous', 'next', 'same', 'first', 'special',
  'duplicate', 'induction', 'largest'];
/** Folding a longer side would take longer than a glance. */
const MOST_FOLDED = 512;

function select(label, choices, chosen, change) {
  const list = make('select', {'aria-label': label, on: {change: (event) => change(event.target.value)}},
    ...choices.map(([value, text]) => make('option', {value, text, selected: value === chosen})));
  return make('label', {class: 'field'}, make('span', {text: label}), list);
}

export function createControls(store, elements, colourTop, redraw) {
  /** The scale's slider is even in octaves around 1/√d_k. */
  const octave = (scale, usual) => Math.log2(scale / usual);

  function drawMask() {
    const stack = store.stack(), mask = store.edits.masks[store.view.stack], written = store.written.masks[store.view.stack];
    const pads = stack.keyTokens.some((token) => token.pad);
    const kinds = [written.kind === 'file' ? 'file' : null, 'none', 'causal', pads ? 'padding' : null, pads ? 'causal+padding' : null];
    const own = stack.scale(store.view.layer), usual = 1 / Math.sqrt(stack.dk || 1), scale = store.edits.scale ?? own;
    const slider = make('input', {type: 'range', min: '-5', max: '5', step: '0.05', value: String(octave(scale, usual)),
      'aria-label': say('scale'), id: 'scale', on: {
        input: (event) => store.edit({scale: usual * 2 ** Number(event.target.value)}, event.target.dataset.going === 'true' || !(event.target.dataset.going = 'true')),
        change: (event) => { delete event.target.dataset.going; }}});
    fill(elements.mask,
      store.answer.stacks.length > 1 ? segmented(say('stack'), store.answer.stacks.map((one, i) => [i, stackTitle(one.name), say('tip_stack')]),
        store.view.stack, (i) => store.look({stack: i, pinned: null, hovered: null})) : null,
      make('span', {class: 'group'}, make('span', {class: 'label', text: say('section_mask')}),
        segmented(say('section_mask'), kinds.filter(Boolean).map((kind) => [kind, say(`mask_${kind.replace('+', '_')}`), say(`tip_mask_${kind.replace('+', '_')}`)]),
          mask.kind, (kind) => store.editMask(store.view.stack, {kind})),
        toggle(say('paint'), say('paint_hint'), store.view.painting, (painting) => store.look({painting}), Boolean(store.fold(stack))),
        mask.painted.size > 0 ? make('button', {type: 'button', class: 'link', text: say('clear_paint'),
          on: {click: () => store.editMask(store.view.stack, {painted: new Map()})}}) : null),
      stack.given ? null : make('span', {class: 'group'}, make('label', {class: 'label', for: 'scale', text: say('scale')}), slider,
        make('span', {class: 'number value', text: briefNumber(scale)}),
        store.edits.scale === null ? null : make('button', {type: 'button', class: 'link', text: say('scale_again'), on: {click: () => store.edit({scale: null})}})),
      store.edits.off.size > 0 ? make('span', {class: 'group'}, make('span', {class: 'quiet', text: say('off_count', store.edits.off.size)}),
        make('button', {type: 'button', class: 'link', text: say('all_on'), on: {click: () => store.edit({off: new Set()})}})) : null,
      make('span', {class: 'group end'},
        make('button', {type: 'button', class: 'icon', text: '↶', title: say('undo'), 'aria-label': say('undo'), disabled: store.done.length === 0, on: {click: store.undo}}),
        make('button', {type: 'button', class: 'icon', text: '↷', title: say('redo'), 'aria-label': say('redo'), disabled: store.undone.length === 0, on: {click: store.redo}}),
        make('button', {type: 'button', class: 'link', text: say('reset'), hidden: !store.isEdited() && store.edits.off === store.written.off, on: {click: store.reset}})));
  }

  function drawColourBar(canvas, scale) {
    const table = colourTable(), context = canvas.getContext('2d');
    canvas.width = 256;
    canvas.height = 1;
    const image = context.createImageData(256, 1);
    new Uint32Array(image.data.buffer).set(table);
    context.putImageData(image, 0, 0);
    return ticks(scale);
  }

  function drawLook() {
    const stack = store.stack(), possible = foldable(stack), {view} = store;
    const long = Math.max(stack.T, stack.S) > MOST_FOLDED, bar = make('canvas', {class: 'colour-bar', 'aria-hidden': 'true'});
    const numbers = drawColourBar(bar, {log: view.log, top: colourTop()});
    fill(elements.look,
      make('span', {class: 'colours'}, bar, make('span', {class: 'ticks', 'aria-hidden': 'true'},
        ...numbers.map((number) => make('span', {text: briefNumber(number)})))),
      segmented(say('colours'), [['linear', say('linear'), say('tip_colour_scale')], ['log', say('logarithmic'), say('tip_colour_scale')]],
        view.log ? 'log' : 'linear', (name) => store.look({log: name === 'log'})),
      toggle(say('own_range'), say('tip_own_range'), view.ownRange, (ownRange) => store.look({ownRange})),
      select(say('colour_map'), mapNames().map((name) => [name, say(`map_${name}`)]), currentMap(), (name) => { setMap(name); redraw(); }),
      possible.special ? toggle(say('fold_special'), say(long ? 'tip_fold_too_long' : 'tip_fold_special'), view.foldSpecial && !long,
        (foldSpecial) => store.look({foldSpecial, painting: false, viewport: null}), long) : null,
      possible.words ? toggle(say('merge_words'), say(long ? 'tip_fold_too_long' : 'tip_merge_words'), view.mergeWords && !long,
        (mergeWords) => store.look({mergeWords, painting: false, viewport: null}), long) : null);
    const words = [view.foldSpecial && possible.special ? say('special_folded') : '', view.mergeWords && possible.words ? say('words_merged') : ''];
    elements.folded.textContent = words.filter(Boolean).join(' ');
  }

  function drawAtlasHead() {
    const stack = store.stack(), self = stack.queryTokens === stack.keyTokens;
    const orders = ORDERS.filter((name) => self || !['distance', 'previous', 'next', 'same', 'duplicate', 'induction'].includes(name));
    fill(elements.atlasHead, make('h2', {text: say('all_heads', stack.heads.length)}),
      select(say('order'), orders.map((name) => [name, say(`order_${name}`)]), store.view.order, (order) => store.look({order})));
    elements.atlasHead.title = store.view.order === 'layer' ? '' : say(`tip_order_${store.view.order}`);
  }

  function drawViews(views) {
    fill(elements.views, segmented(say('views'), views.map((name) => [name, say(`view_${name}`), say(`tip_view_${name}`)]),
      store.view.view, (view) => store.look({view})));
  }

  function drawFlow() {
    const {view} = store, stack = store.stack();
    const slider = make('input', {type: 'range', min: '0.01', max: '0.9', step: '0.01', value: String(view.threshold), 'aria-label': say('threshold'),
      on: {input: (event) => store.look({threshold: Number(event.target.value)})}});
    fill(elements.flowControls, segmented(say('heads'), [['one', say('flow_chosen_head'), say('tip_flow_heads')],
      ['all', say('flow_all_heads', stack.headCount, view.layer), say('tip_flow_heads')]], view.flowAll ? 'all' : 'one',
      (value) => store.look({flowAll: value === 'all'})),
    make('label', {class: 'group'}, make('span', {class: 'label', text: say('threshold')}), slider, make('span', {class: 'number value', text: `${Math.round(100 * view.threshold)} %`})));
  }

  return {drawMask, drawLook, drawAtlasHead, drawViews, drawFlow};
}
