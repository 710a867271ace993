// Every head at a glance. A thumbnail is a button; a cell that is pointed at lights up in all of them.

import { ink, niceTop } from './colour.js';
import { headKey } from './data.js';
import { make, fill } from './elements.js';
import { headName, headNotes } from './labels.js';
import { measure } from './measures.js';
import { pooled, drawKept, fitted } from './raster.js';
import { weightRows } from './attention.js';
import { doLater, stopWork } from './work.js';
import { say } from './words.js';

/** A thumbnail's longer side in cells, at most. */
const SIDE = 96;
/** Patterns of so many cells are computed at once; larger ones in slices of rows. */
const AT_ONCE = 128 * 128, SLICE_ROWS = 32;
/** Of all heads together so many cells; more are computed a head at a time. */
const ALL_AT_ONCE = 2 ** 19;
/** Measures of longer sentences are computed when the heads are put in order by one. */
const MEASURED = 300 * 300;

export function createAtlas(store, element, colourTop, changed) {
  const grid = make('div', {class: 'grid', role: 'group'});
  const overlay = make('canvas', {class: 'overlay', 'aria-hidden': 'true'});
  element.append(grid, overlay);
  let cells = new Map(), known = new Map(), version = -1, foldKey = '', width = 0, height = 0, thumb = 64, columns = 1;
  let visible = new Set(), owed = new Set(), size = {width: 1, height: 1};
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const key = entry.target.dataset.key;
      if (entry.isIntersecting) visible.add(key);
      else visible.delete(key);
    }
    drawOwed();
    ask();
  }, {rootMargin: '200px'});

  const keyOf = (stack, layer, head) => `${stack.index} ${headKey(layer, head)}`;

  /** What is known of a head: {picture, largest, measures}, perhaps of edits before. */
  const entryOf = (stack, layer, head) => known.get(keyOf(stack, layer, head));

  function forgetIfOld() {
    const {foldSpecial, mergeWords} = store.view, key = `${foldSpecial} ${mergeWords}`;
    if (version === store.version && key === foldKey) return;
    version = store.version;
    foldKey = key;
    stopWork();
    open = new Map();
    for (const entry of known.values()) entry.stale = true;
  }

  /** Of the page as it was written thumbnails of long sentences lie in the file. */
  function writtenPicture(stack, layer, head) {
    const {thumbnails} = stack;
    if (!thumbnails || store.isEdited() || store.fold(stack)) return null;
    const place = stack.heads.findIndex((one) => one.layer === layer && one.head === head);
    const {side, bytes} = thumbnails, rows = Math.min(stack.T, side), cols = Math.min(stack.S, side), first = place * rows * cols;
    const values = new Float32Array(rows * cols);
    for (let i = 0; i < values.length; ++i) values[i] = bytes[first + i] === 255 ? -1 : bytes[first + i] / 254;
    return {values, rows, cols};
  }

  function keep(stack, layer, head, map, picture) {
    let largest = 0;
    for (const value of picture.values) if (value > largest) largest = value;
    const measures = map && stack.T * stack.S <= MEASURED ? measure(stack, map.weights, map.allowed)
      : entryOf(stack, layer, head)?.measuresOf === version ? entryOf(stack, layer, head).measures : {largest};
    known.set(keyOf(stack, layer, head), {picture, largest, measures, measuresOf: map ? version : -1, stale: false});
  }

  function computeNow(stack, layer, head) {
    const fold = store.fold(stack), whole = store.head(store.answer, stack, layer, head);
    const shown = fold ? store.shown(store.answer, stack, layer, head) : whole;
    keep(stack, layer, head, whole, pooled(shown, {row: 0, rows: shown.T, col: 0, cols: shown.S}, SIDE, SIDE));
  }

  function* computeSoon(stack, layer, head) {
    yield;
    computeNow(stack, layer, head);
    drawHead(stack, layer, head);
    changed();
  }

  /** Row by row, so that no pattern is held whole. */
  function* computeInSlices(stack, layer, head) {
    const prepared = store.prepared(store.answer, stack, layer, head), {T, S} = stack;
    const rows = Math.min(T, SIDE), cols = Math.min(S, SIDE), values = new Float32Array(rows * cols).fill(-1);
    for (let first = 0; first < T; first += SLICE_ROWS) {
      const count = Math.min(SLICE_ROWS, T - first), block = new Float32Array(count * S);
      weightRows(prepared, first, count, block);
      for (let i = 0; i < count; ++i) {
        const row = Math.floor(((first + i + 1) * rows - 1) / T) * cols;
        for (let c = 0; c < cols; ++c) {
          const end = Math.floor((c + 1) * S / cols);
          for (let j = Math.floor(c * S / cols); j < end; ++j) {
            const weight = block[i * S + j];
            if (weight > values[row + c] && (weight > 0 || prepared.mask.allowed[(first + i) * S + j])) values[row + c] = weight;
          }
        }
      }
      yield;
    }
    keep(stack, layer, head, null, {values, rows, cols});
    drawHead(stack, layer, head, false);
    changed();
  }

  function* measureInSlices(stack, layer, head) {
    yield;
    const whole = store.head(store.answer, stack, layer, head);
    const measures = measure(stack, whole.weights, whole.allowed), entry = entryOf(stack, layer, head);
    if (entry) Object.assign(entry, {measures, measuresOf: version});
    changed(true);
  }

  /** Has the thumbnails made that are on the screen, the chosen head first. */
  function ask() {
    forgetIfOld();
    const stack = store.stack(), large = stack.T * stack.S > AT_ONCE, many = stack.T * stack.S * stack.heads.length > ALL_AT_ONCE;
    stack.heads.forEach(({layer, head, key}, i) => {
      const entry = entryOf(stack, layer, head);
      if (large && store.view.order !== 'layer' && entry && !entry.stale && entry.measuresOf !== version)
        doLater(`measure ${key}`, 1000 + i, measureInSlices(stack, layer, head));
      if (entry && !entry.stale) return;
      const written = writtenPicture(stack, layer, head);
      if (written) keep(stack, layer, head, null, written);
      else if (!many && !large) computeNow(stack, layer, head);
      else if (!large) return void doLater(`thumbnail ${key}`, visible.has(key) ? i : 500 + i, computeSoon(stack, layer, head));
      else if (visible.has(key) || store.view.order !== 'layer')
        doLater(`thumbnail ${key}`, layer === store.view.layer && head === store.view.head ? -1 : i, computeInSlices(stack, layer, head));
      else return;
      drawHead(stack, layer, head);
    });
  }

  let open = new Map();  // of this version, by the mask's own array: which cells of a thumbnail may be attended

  /** Of thumbnails of edits before: what the mask is now, so that it is seen at once; the weights follow. */
  function openPicture(stack, layer, {rows, cols}) {
    if (store.fold(stack)) return null;
    const {allowed} = store.mask(store.answer, stack, layer);
    if (open.get(allowed)?.rows !== rows) {
      const ones = {weights: allowed, allowed, T: stack.T, S: stack.S};
      const picture = pooled(ones, {row: 0, rows: stack.T, col: 0, cols: stack.S}, rows, cols), {values} = picture;
      for (let i = 0; i < values.length; ++i) if (values[i] > 0) values[i] = 0;
      open.set(allowed, picture);
    }
    return open.get(allowed);
  }

  function orderedHeads(stack) {
    const {order} = store.view;
    if (order === 'layer') return stack.heads;
    const value = ({layer, head}) => entryOf(stack, layer, head)?.measures[order] ?? -Infinity;
    return [...stack.heads].sort((a, b) => value(b) - value(a));
  }

  /** The columns with which the thumbnails are largest, all of a layer in whole rows; a row a layer where they are hardly smaller. */
  function chooseColumns(stack) {
    const perLayer = store.view.order === 'layer' ? stack.headCount : stack.heads.length;
    const layers = store.view.order === 'layer' ? new Set(stack.heads.map((one) => one.layer)).size : 1;
    const room = width - (store.view.order === 'layer' ? 28 : 0);
    let best = {side: 0, columns: 1};
    for (let count = 1; count <= perLayer; ++count) {
      if (store.view.order === 'layer' && perLayer % count !== 0) continue;
      const rows = layers * Math.ceil(perLayer / count), title = titleHeight(room / count);
      const side = Math.min((room - (count - 1) * 8) / count, Math.max(40, (height - rows * (title + 8)) / rows), 220);
      if (side > (count === perLayer && layers > 1 ? 0.8 : 1) * best.side + 0.5) best = {side, columns: count};
    }
    // Below that a thumbnail says little: the atlas scrolls.
    const least = Math.min(44, (room - 8 * (perLayer - 1)) / perLayer);
    if (best.side < least) best = {side: least, columns: Math.max(1, Math.floor((room + 8) / (least + 8)))};
    return best;
  }
  const titleHeight = (room) => room < 76 ? 18 : 46;

  function build() {
    const stack = store.stack(), order = orderedHeads(stack);
    ({side: thumb, columns} = chooseColumns(stack));
    thumb = Math.floor(thumb);
    const byLayer = store.view.order === 'layer';
    grid.style.gridTemplateColumns = `${byLayer ? '20px ' : ''}repeat(${columns}, ${thumb}px)`;
    grid.setAttribute('aria-label', say('all_heads', stack.heads.length));
    observer.disconnect();
    visible = new Set();
    owed = new Set();
    cells = new Map();
    const children = [];
    let layerNow = -1, column = 0;
    for (const {layer, head, key} of order) {
      if (byLayer && (layer !== layerNow || column === columns)) {
        while (layer !== layerNow && layerNow >= 0 && column < columns) children.push(make('span')), ++column;
        children.push(make('span', {class: 'layer', text: layer === layerNow ? '' : `L${layer}`, 'aria-hidden': 'true'}));
        layerNow = layer;
        column = 0;
      }
      ++column;
      const canvas = make('canvas', {'aria-hidden': 'true'});
      const title = make('span', {class: 'name'}), note = make('span', {class: 'note'});
      const button = make('button', {type: 'button', class: 'head', data: {key, head: key}, title: '', on: {
        click: () => store.look({layer, head}),
        dblclick: () => store.look({layer, head, explain: true}),
        pointerenter: () => store.look({hoveredHead: {layer, head}}),
        pointerleave: () => store.look({hoveredHead: null}),
      }}, canvas, title, thumb >= 76 ? note : null);
      cells.set(key, {button, canvas, title, note});
      children.push(button);
      observer.observe(button);
    }
    fill(grid, ...children);
    // Those below the window's edge are drawn when they come into sight.
    const rowsInSight = Math.ceil((height + 200) / (thumb + titleHeight(thumb)));
    order.forEach(({layer, head, key}, i) => {
      if (i < rowsInSight * columns) return drawHead(stack, layer, head);
      const cell = cells.get(key), {across, down} = sidesOf(stack);
      Object.assign(cell.canvas.style, {width: `${across}px`, height: `${down}px`});
      drawTexts(stack, layer, head, cell, entryOf(stack, layer, head));
      owed.add(key);
    });
    // Measured once: the pointer moves often, and asking the browser each time makes it lay out the page again.
    const area = grid.getBoundingClientRect();
    size = {width: area.width, height: Math.min(area.height, 8000)};
    for (const cell of cells.values()) {
      const box = cell.canvas.getBoundingClientRect();
      cell.box = {x: box.left - area.left, y: box.top - area.top, width: box.width, height: box.height};
    }
    mark();
  }

  const sidesOf = ({T, S}) => ({across: S >= T ? thumb : Math.max(8, Math.round(thumb * S / T)),
    down: T >= S ? thumb : Math.max(8, Math.round(thumb * T / S))});

  function drawHead(stack, layer, head, texts = true) {
    const cell = cells.get(headKey(layer, head)), entry = entryOf(stack, layer, head);
    if (!cell) return;
    const {across, down} = sidesOf(stack);
    const {context, w, h} = fitted(cell.canvas, across, down);
    if (entry) {
      const top = store.view.ownRange ? niceTop(entry.largest) : colourTop();
      drawKept(context, entry.picture, w, h, {log: store.view.log, top}, entry.stale ? openPicture(stack, layer, entry.picture) : null);
    } else {
      context.fillStyle = ink().gap;
      context.fillRect(0, 0, w, h);
    }
    cell.button.classList.toggle('stale', entry?.stale === true);
    if (texts) drawTexts(stack, layer, head, cell, entry);
  }

  function drawOwed() {
    const stack = store.stack();
    for (const {layer, head, key} of stack.heads) if (visible.has(key) && owed.delete(key)) drawHead(stack, layer, head);
  }

  function drawTexts(stack, layer, head, cell, entry) {
    const off = store.isOff(stack, layer, head), name = headName(layer, head);
    const notes = headNotes(store.answer, stack, layer, head);
    const value = store.view.order === 'layer' ? null : entry?.measures[store.view.order];
    cell.title.textContent = thumb < 76 && store.view.order === 'layer' ? `H${head}` : name;
    const text = value !== null && value !== undefined ? value.toFixed(2) : notes[0] ? notes[0].name : telling(entry?.measures);
    cell.note.textContent = off ? say('head_is_off') : text;
    cell.note.classList.toggle('doubted', notes[0]?.doubted === true);
    cell.button.classList.toggle('off', off);
    cell.button.setAttribute('aria-label', [name, ...notes.map((one) => `${one.name} ${one.score.toFixed(2)}`),
      off ? say('head_is_off') : ''].filter(Boolean).join(', '));
    cell.button.title = [name, ...notes.map((one) => `${one.name} ${one.score.toFixed(2)}`), notes[0] ? '' : text].filter(Boolean).join(' · ');
  }

  /** What a head without a measured relation does most: said where it is plain, as the window does. */
  function telling(measures) {
    if (!measures) return '';
    let largest = 0.5, told = '';
    for (const name of ['previous', 'next', 'same', 'special', 'first', 'duplicate'])
      if (measures[name] > largest) [largest, told] = [measures[name], name];
    return told ? say(`does_${told}`) : measures.normalized > 0.85 ? say('does_spread') : '';
  }

  function mark() {
    const {layer, head} = store.view;
    for (const [key, {button}] of cells) {
      const chosen = key === headKey(layer, head);
      button.classList.toggle('chosen', chosen);
      button.setAttribute('aria-pressed', String(chosen));
    }
  }

  /** The cell that is read, in every thumbnail. */
  function drawOverlay() {
    const {context, ratio} = fitted(overlay, size.width, size.height);
    const cell = store.cell();
    if (!cell) return;
    context.scale(ratio, ratio);
    context.strokeStyle = ink().accent;
    const stack = store.stack(), fold = store.fold(stack);
    const at = (groups, token, count) => fold
      ? [groups.findIndex((group) => token >= group.first && token < group.first + group.count), groups.length] : [token, count];
    const [row, rows] = at(fold?.queries, cell.query, stack.T), [col, cols] = at(fold?.keys, cell.key, stack.S);
    if (row < 0 || col < 0) return;
    for (const key of visible) {
      const box = cells.get(key)?.box;
      if (!box) continue;
      const {x, y} = box;
      const w = box.width / cols, h = box.height / rows, left = x + col * w, top = y + row * h;
      context.globalAlpha = 0.45;
      context.lineWidth = 1;
      context.strokeRect(x + 0.5, top, box.width - 1, Math.max(h, 1));
      context.globalAlpha = 1;
      context.lineWidth = 1.5;
      const size = Math.max(w, h, 4);
      context.strokeRect(left + w / 2 - size / 2, top + h / 2 - size / 2, size, size);
    }
  }

  return {
    build, ask, mark, drawOverlay,
    /** The thumbnails in sight again, the others when they come into sight; their texts too where they may have changed. */
    redraw(texts) {
      const stack = store.stack(), short = stack.T * stack.S <= AT_ONCE;
      for (const {layer, head, key} of stack.heads) {
        if (visible.has(key)) drawHead(stack, layer, head, texts || short);
        else owed.add(key);
      }
      drawOverlay();
    },
    resize(w, h) { width = w; height = h; },
    order: () => orderedHeads(store.stack()),
    measures: (stack, layer, head) => entryOf(stack, layer, head)?.measures,
    largest(stack) {
      let largest = 0;
      for (const {layer, head} of stack.heads) largest = Math.max(largest, entryOf(stack, layer, head)?.largest ?? 0);
      return largest;
    },
    forget() { known = new Map(); version = -1; },
    focusChosen: () => cells.get(headKey(store.view.layer, store.view.head))?.button.focus(),
  };
}
