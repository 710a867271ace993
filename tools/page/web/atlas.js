// Every head at a glance. A thumbnail is a button; a cell that is pointed at lights up in all of them.

import { make, fill, noticer } from './elements.js';
import { headName, headNote, ink, niceTop, taste, wordsOf } from './look.js';
import { largestOf, paint, pooled, wholePart } from './map.js';
import { AT_ONCE, shownCell } from './state.js';

/** A thumbnail's longer side in cells, at most. */
const SIDE = 96;
/** Heads of more cells are measured only where their order asks for it. */
const MEASURED = 300 * 300;
/** Of all heads together so many cells are computed at once; more a head at a time. */
const ALL_AT_ONCE = 2 ** 19;
/** A side of a thumbnail from which on there is room for what the head does. */
const WITH_NOTE = 76;

/** Heads are computed for so many milliseconds at a time: the page answers to the reader between them. */
const SLICE = 9;

/** `redraw`: when the heads that were asked for are there. */
export function createAtlas(store, element, redraw) {
  const grid = make('div', {class: 'grid', role: 'group'});
  const drawing = make('svg', {class: 'drawing', 'aria-hidden': 'true'});
  element.append(grid, drawing);
  // What is known of a head, perhaps of edits before: {picture, measures, of}; and its button.
  const known = new Map(), visible = new Set(), isOther = noticer();
  let knownOf = '', cells = new Map(), thumb = 64, queue = [], isBusy = false;
  const observer = new IntersectionObserver((entries) => {
    for (const {target: {dataset: {key}}, isIntersecting} of entries) {
      visible[isIntersecting ? 'add' : 'delete'](key);
      if (isIntersecting && cells.has(key)) draw(cells.get(key).one);
    }
    ask();
  }, {rootMargin: '200px'});

  const byLayer = () => store.view.order === 'layer';
  const nameOf = (stack, {key}) => `${stack.index} ${key}`, entryOf = (one) => known.get(nameOf(store.stack(), one));
  function keep(stack, one, picture, measures) { known.set(nameOf(stack, one), {picture, measures, of: knownOf}); }

  /** Of the page as it was written thumbnails of long sentences lie in the file. */
  function writtenPicture(stack, index) {
    if (!stack.thumbnails || store.isEdited() || store.fold(stack).isFolded) return null;
    const {side, bytes} = stack.thumbnails, rows = Math.min(stack.T, side), cols = Math.min(stack.S, side);
    const cellsOf = bytes.subarray(index * rows * cols, (index + 1) * rows * cols);
    return {values: Float32Array.from(cellsOf, (byte) => byte === 255 ? -1 : byte / 254), rows, cols};
  }

  function* compute(stack, one) {
    const {layer, head} = one;
    if (!store.fold(stack).isFolded) yield* store.headInSlices(stack, layer, head);  // a folded map is computed whole
    const shown = store.shown(stack, layer, head), picture = pooled(shown, wholePart(shown), SIDE, SIDE);
    yield;
    const isMeasured = !byLayer() || stack.T * stack.S <= MEASURED;
    keep(stack, one, picture, isMeasured ? store.core.measures(stack, layer, head) : null);
    draw(one);
    yield;
  }

  /** Has the thumbnails made that are on the screen, the chosen head first; all where their order asks for it. */
  function ask() {
    const stack = store.stack();
    knownOf = `${store.version} ${store.view.foldSpecial} ${store.view.mergeWords}`;
    const size = stack.T * stack.S, atOnce = size <= AT_ONCE && size * stack.heads.length <= ALL_AT_ONCE;
    queue = [];
    for (const [i, one] of stack.heads.entries()) {
      const isNew = () => entryOf(one)?.of === knownOf, written = !isNew() && writtenPicture(stack, i), {key} = one;
      if (written) keep(stack, one, written, null);
      if (isNew() && (byLayer() || entryOf(one).measures)) continue;
      if (atOnce) for (const step of compute(stack, one)) void step;
      else if (visible.has(key) || !byLayer()) queue[store.isChosen(one) ? 'unshift' : 'push'](compute(stack, one));
    }
    if (queue.length > 0 && !isBusy) setTimeout(goOn);
    isBusy ||= queue.length > 0;
  }
  function goOn() {
    const end = performance.now() + SLICE;
    while (queue.length > 0 && performance.now() < end) if (queue[0].next().done) queue.shift();
    isBusy = queue.length > 0;
    if (isBusy) setTimeout(goOn);
    else redraw();
  }

  function order() {
    const {heads} = store.stack(), value = (one) => entryOf(one)?.measures?.[store.view.order] ?? -Infinity;
    return byLayer() ? heads : [...heads].sort((a, b) => value(b) - value(a));
  }

  const titleHeight = (room) => room < WITH_NOTE ? 18 : 46;

  /** The columns that make thumbnails largest, layers in whole rows; a row a layer where they are hardly smaller. */
  function chooseColumns(stack, width, height) {
    const perLayer = byLayer() ? stack.headCount : stack.heads.length, room = width - (byLayer() ? 28 : 0);
    const layers = byLayer() ? new Set(stack.heads.map((one) => one.layer)).size : 1;
    const counts = Array.from({length: perLayer}, (_, i) => i + 1)
      .filter((count) => !byLayer() || perLayer % count === 0);
    let best = {side: 0, columns: 1};
    for (const count of counts) {
      const rows = layers * Math.ceil(perLayer / count), title = titleHeight(room / count);
      const side = Math.min((room - (count - 1) * 8) / count, Math.max(40, (height - rows * (title + 8)) / rows), 220);
      if (side > (count === perLayer && layers > 1 ? 0.8 : 1) * best.side + 0.5) best = {side, columns: count};
    }
    // Below that a thumbnail shows little: the atlas scrolls.
    const least = Math.min(44, (room - 8 * (perLayer - 1)) / perLayer);
    if (best.side < least) best = {side: least, columns: Math.max(1, Math.floor((room + 8) / (least + 8)))};
    // On a phone it scrolls anyway: as many columns as are legible.
    if (best.side <= 40 && room < 480) {
      const columns = counts.findLast((count) => (room + 8) / count - 8 >= 72) ?? 1;
      best = {side: (room + 8) / columns - 8, columns};
    }
    return {side: Math.floor(best.side), columns: best.columns};
  }

  function build(heads, columns, height) {
    grid.setAttribute('aria-label', wordsOf('all_heads', heads.length));
    observer.disconnect();
    visible.clear();
    cells = new Map();
    const buttonOf = (one) => {
      const {layer, head, key} = one, canvas = make('canvas', {'aria-hidden': 'true'});
      const title = make('span', {class: 'name'}), note = make('span', {class: 'note'});
      const button = make('button', {type: 'button', class: 'head', data: {key}, on: {
        click: () => store.look({layer, head}), dblclick: () => store.look({layer, head, explain: true})}},
      canvas, title, thumb >= WITH_NOTE && note);
      cells.set(key, {one, button, canvas, title, note, isOther: noticer()});
      return button;
    };
    const style = {gridTemplateColumns: `repeat(${columns}, ${thumb}px)`};
    const rowOf = (row) => make('div', {class: 'row', style}, ...row.map(buttonOf));
    const layerOf = (layer) => [make('span', {class: 'layer', text: `L${layer}`, 'aria-hidden': 'true'}),
      rowOf(heads.filter((one) => one.layer === layer))];
    grid.style.gridTemplateColumns = byLayer() ? '20px 1fr' : '1fr';
    fill(grid, ...(byLayer() ? [...new Set(heads.map((one) => one.layer))].flatMap(layerOf) : [rowOf(heads)]));
    // Those below the window's edge are drawn when they come into sight.
    const inSight = columns * Math.ceil((height + 200) / (thumb + titleHeight(thumb)));
    heads.slice(0, inSight).forEach(({key}) => visible.add(key));
    for (const cell of cells.values()) {
      Object.assign(cell.canvas.style, {width: `${sideOf('S')}px`, height: `${sideOf('T')}px`});
      draw(cell.one);
      observer.observe(cell.button);
    }
    // Measured once: the pointer moves often, and asking the browser each time makes it lay out the page again.
    for (const cell of cells.values()) cell.place = [cell.canvas.offsetLeft, cell.canvas.offsetTop];
  }

  function sideOf(count) {
    const stack = store.stack();
    return Math.max(Math.min(thumb, 8), Math.round(thumb * stack[count] / Math.max(stack.T, stack.S)));
  }

  /** The texts of a head's button, and its picture where it is in sight and was drawn otherwise. */
  function draw(one) {
    const cell = cells.get(one.key), entry = entryOf(one), scale = {log: store.view.log, top: store.top};
    if (!cell) return;
    drawTexts(one, cell, entry);
    if (entry && store.view.ownRange) scale.top = niceTop(largestOf({weights: entry.picture.values}));
    if (!entry || !visible.has(one.key)) return;
    if (cell.isOther(entry.picture, scale.log, scale.top, taste.theme, taste.map))
      paint(cell.canvas, entry.picture, scale, {w: sideOf('S'), h: sideOf('T')});
  }

  function drawTexts(one, {button, title, note}, entry) {
    const stack = store.stack(), {layer, head} = one, off = store.isOff(stack, layer, head);
    const name = headName(layer, head), own = headNote(store, stack, layer, head), chosen = store.isChosen(one);
    const value = byLayer() ? null : entry?.measures?.[store.view.order];
    const text = value?.toFixed(2) ?? own?.brief ?? strongestMeasure(entry?.measures?.ofWords);
    title.textContent = thumb < WITH_NOTE && byLayer() ? `H${head}` : name;
    note.textContent = off ? wordsOf('head_is_off') : text;
    const kinds = {off, chosen, stale: entry && entry.of !== knownOf};
    for (const [kind, is] of Object.entries(kinds)) button.classList.toggle(kind, Boolean(is));
    button.setAttribute('aria-pressed', String(chosen));
    button.setAttribute('aria-label', [name, own?.name, off && wordsOf('head_is_off')].filter(Boolean).join(', '));
    button.title = [name, own?.name ?? text].filter(Boolean).join(' · ');
  }

  /** The main behaviour of a head without a measured relation: with the rules and words of figure/head_name. */
  function strongestMeasure(measures) {
    if (!measures || measures.confidence === null) return '';
    const {normalized: spread} = measures, names = ['previous', 'next', 'same', 'special', 'first', 'duplicate'];
    const best = names.reduce((best, one) => measures[one] > (measures[best] ?? 0.5) ? one : best, 'mixed');
    return wordsOf(`does_${best !== 'mixed' && spread <= 0.95 ? best : spread > 0.85 ? 'spread' : 'mixed'}`);
  }

  /** The cell that is read, and its row, in every thumbnail. */
  function mark() {
    const fold = store.fold(store.stack()), cell = shownCell(fold, store.cell());
    if (!cell) return drawing.replaceChildren();
    const width = sideOf('S'), w = width / fold.keys.length, h = sideOf('T') / fold.queries.length;
    const side = Math.max(w, h, 4), stroke = ink().accent;
    const outlines = (x, y, wide, tall) => [...visible].map((key) => cells.get(key)).filter(Boolean)
      .map(({place: [left, top]}) => `M${left + x} ${top + y}h${wide}v${tall}h${-wide}z`).join('');
    const path = (d, strength, opacity) => make('path', {d, fill: 'none', stroke, 'stroke-width': strength, opacity});
    drawing.replaceChildren(path(outlines(0.5, cell.row * h, width - 1, Math.max(h, 1)), 1, 0.45),
      path(outlines((cell.col + 0.5) * w - side / 2, (cell.row + 0.5) * h - side / 2, side, side), 1.5, 1));
  }

  return {
    order, mark,
    /** Everything, in an area of that size; the buttons anew where they are others or stand elsewhere. */
    draw(width, height) {
      ask();
      const stack = store.stack(), heads = order(), {side, columns} = chooseColumns(stack, width, height);
      thumb = side;
      if (isOther(stack, stack.T, stack.S, width, height, taste.language, ...heads)) build(heads, columns, height);
      else heads.forEach(draw);
      mark();
    },
  };
}
