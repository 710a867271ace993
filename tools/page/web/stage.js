// The chosen head, large: point to read, click to keep, turn the wheel or pinch to zoom, drag to move, paint the mask.
// And two answers beside each other: A, B and B − A of the chosen head, on the words that both have.

import { make } from './elements.js';
import { axisLabel, cellNumber, colourOf, either, headName, ink, niceTop, percent, quoted, signedCellNumber, textOn,
  wordsOf } from './look.js';
import { cellAt, createPlot, eachCell, largestOf, layoutMap, outline, textOf, wholePart } from './map.js';
import { shownCell } from './state.js';

/** Numbers are printed in cells of so many pixels. */
const PRINTED = 30;
/** The smallest part of a map that can be zoomed to. */
const LEAST_PART = 6;

export function createStage(store, element) {
  const plot = createPlot(element, {tabindex: '0', id: 'stage-map'}), {frame} = plot;
  let layout = null, shown = null, fold = null;
  const pointers = new Map();
  let stroke = null, gesture = null, moved = false;

  function draw(width, height, all) {
    if (!all) return mark();
    frame.style.touchAction = store.view.viewport || store.view.painting ? 'none' : 'pan-y pinch-zoom';
    const {stack, layer, head} = store.chosen(), labels = (groups) => groups.map(({token}) => axisLabel(token));
    fold = store.fold(stack);
    shown = store.shown(stack, layer, head);
    const scale = {log: store.view.log, top: store.view.ownRange ? niceTop(largestOf(shown)) : store.top};
    layout = layoutMap(width, height, store.view.viewport ?? wholePart(shown), labels(fold.queries), labels(fold.keys));
    // Beside each row, as dark as the share is large, what rests on special tokens, which are folded.
    const beside = {...layout, part: {...layout.part, col: 0, cols: 1}};
    const strips = fold.special ? eachCell(beside, {S: 1}, (row, x, y) => make('rect', {class: 'rests', x: x - 3, y,
      width: 2, height: layout.cell, fill: ink().dim, opacity: shown.rests(row)})) : [];
    plot.paint(layout, shown, scale, [...strips, ...(layout.cell >= PRINTED ? numbers(scale) : [])]);
    frame.setAttribute('aria-label', wordsOf('map_of', headName(layer, head), shown.T, shown.S));
    mark();
  }

  /** The weights of the cells, in these. */
  function numbers(scale) {
    const half = layout.cell / 2, size = Math.min(13, Math.floor(layout.cell * 0.36));
    return eachCell(layout, shown, (at, x, y) => {
      const weight = shown.weights[at], place = {x: x + half, y: y + half, 'text-anchor': 'middle', 'font-size': size};
      return shown.allowed[at] && weight >= 0.05
        ? textOf(cellNumber(weight), false, {...place, fill: textOn(colourOf(scale, weight))}) : '';
    });
  }

  /** The pinned cell and the one under the pointer, with their rows and columns. */
  function mark() {
    const outlines = (cell, strong) => {
      if (!cell) return [];
      const col = cell.col - layout.part.col, row = cell.row - layout.part.row, step = Math.max(layout.cell, 1);
      const inRow = row >= 0 && row < layout.part.rows, inColumn = col >= 0 && col < layout.part.cols;
      const x = layout.x + col * layout.cell, y = layout.y + row * layout.cell, faint = strong ? 0.55 : 0.4;
      const pad = layout.cell < 4 ? 3 : 0, side = step + 2 * pad;
      return [inRow && outline(layout.x - 0.5, y - 0.5, layout.w + 1, step + 1, 1, faint),
        inColumn && outline(x - 0.5, layout.y - 0.5, step + 1, layout.h + 1, 1, faint),
        inRow && inColumn && outline(x - pad, y - pad, side, side, strong ? 2.5 : 2)].filter(Boolean);
    };
    const {hovered, pinned} = store.view, [kept, at] = [pinned, hovered].map((cell) => shownCell(fold, cell));
    plot.mark(layout, at ?? kept, ...outlines(kept, true), ...(sameCell(hovered, pinned) ? [] : outlines(at, false)));
  }

  const sameCell = (a, b) => a && b && a.query === b.query && a.key === b.key;
  function cellUnder(event) {
    const cell = layout && cellAt(layout, event.offsetX, event.offsetY);
    return cell && {query: fold.queries[cell.row].first, key: fold.keys[cell.col].first};
  }

  /** Shows a part of the map; the whole where that is all. */
  function showPart({row, rows, col, cols}) {
    const within = (least, value, most) => Math.round(Math.min(most, Math.max(least, value)));
    rows = within(LEAST_PART, rows, shown.T);
    cols = within(LEAST_PART, cols, shown.S);
    const part = {row: within(0, row, shown.T - rows), rows, col: within(0, col, shown.S - cols), cols};
    store.look({viewport: rows >= shown.T && cols >= shown.S ? null : part});
  }
  /** Enlarges a part by `factor`; what stood at `from`, in shares of the plot, then stands at `to`. */
  function zoom(factor, from = {x: 0.5, y: 0.5}, to = from, part = store.view.viewport ?? wholePart(shown)) {
    const rows = part.rows / factor, cols = part.cols / factor;
    const row = part.row + from.y * part.rows - to.y * rows, col = part.col + from.x * part.cols - to.x * cols;
    showPart({row, rows, col, cols});
  }
  const shareOf = (x, y) => ({x: (x - layout.x) / layout.w, y: (y - layout.y) / layout.h});
  function canZoom() { return shown && Math.max(shown.T, shown.S) > 2 * LEAST_PART; }

  function paint(cell) {
    const key = cell && `${cell.query},${cell.key}`;
    if (cell && !stroke.cells.has(key)) store.paint(cell, stroke.allow, stroke.cells.add(key).size > 1);
  }

  /** Where one or two fingers are, how far apart in pixels, and what is shown. */
  function fingers() {
    const [a, b = a] = pointers.values();
    return {at: shareOf((a.x + b.x) / 2, (a.y + b.y) / 2), apart: Math.max(8, Math.hypot(a.x - b.x, a.y - b.y)),
      part: store.view.viewport ?? wholePart(shown)};
  }
  frame.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    const cell = cellUnder(event);
    pointers.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
    [moved, gesture] = [false, fingers()];
    if (store.view.painting && cell && !fold.isFolded) {
      stroke = {allow: !store.isAllowed(cell), cells: new Set()};
      paint(cell);
    }
    if (stroke || store.view.viewport) frame.setPointerCapture(event.pointerId);
  });
  frame.addEventListener('pointermove', (event) => {
    if (stroke) return paint(cellUnder(event));
    const isPressed = pointers.has(event.pointerId), isMoving = store.view.viewport || pointers.size > 1;
    if (!isPressed || !isMoving) return store.look({hovered: cellUnder(event)});
    pointers.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
    const now = fingers(), far = Math.hypot((now.at.x - gesture.at.x) * layout.w, (now.at.y - gesture.at.y) * layout.h);
    moved ||= pointers.size > 1 || far > 3;
    if (moved) zoom(now.apart / gesture.apart, gesture.at, now.at, gesture.part);
  });
  function release(event) {
    const painted = stroke !== null;
    pointers.delete(event.pointerId);
    stroke = null;
    if (pointers.size > 0) gesture = fingers();
    if (event.type !== 'pointerup' || painted || moved || event.button !== 0) return;
    const cell = cellUnder(event);
    store.look({pinned: sameCell(cell, store.view.pinned) ? null : cell});
  }
  frame.addEventListener('pointerup', release);
  frame.addEventListener('pointercancel', release);
  frame.addEventListener('pointerleave', () => store.look({hovered: null}));
  frame.addEventListener('dblclick', (event) => {
    const cell = cellUnder(event);
    if (cell) store.look({pinned: cell, explain: true});
  });
  frame.addEventListener('wheel', (event) => {
    // A short sentence is seen whole: there the wheel scrolls the page.
    if (!canZoom() || (shown.T <= 24 && !store.view.viewport && !event.ctrlKey)) return;
    event.preventDefault();
    zoom(1.0015 ** -event.deltaY, shareOf(event.offsetX, event.offsetY));
  }, {passive: false});

  return {
    draw, zoom: (factor) => canZoom() && zoom(factor), canZoom,
    /** Brings a cell into the part that is shown. */
    reveal(cell) {
      const now = store.view.viewport, at = now && shownCell(fold, cell);
      if (!at) return;
      const into = (begin, count, index) => index < begin ? index : index >= begin + count ? index - count + 1 : begin;
      showPart({...now, row: into(now.row, now.rows, at.row), col: into(now.col, now.cols, at.col)});
    },
  };
}

export function createCompare(store, element, page) {
  const panels = Object.entries({A: 'label_a', B: 'label_b', difference: null}).map(([kind, label]) => {
    const nameOf = () => label ? `${kind} · ${either(page.compare[label])}` : 'B − A';
    const title = make('h3'), area = make('div', {class: 'panel'}, title);
    element.append(area);
    return {kind, nameOf, title, area, ...createPlot(area, {on: {pointermove: (event) => point(event, 'hovered'),
      click: (event) => point(event, 'pinned'), pointerleave: () => { lit = null; mark(); }}})};
  });
  const sentence = make('p', {class: 'sentence', 'aria-live': 'polite'});
  element.append(sentence);
  let lit = null, shown = null;  // what was drawn: {joint, rows, cols, maps, layout}

  /** The joint axes: pairs [index in A, index in B], null where only the other has the word; with the stack of A. */
  function axes(stack) {
    const ofA = store.kept.stacks.find((one) => one.name === stack.name), joint = page.compare.axes[stack.name];
    const alone = (tokens) => tokens.map((_, i) => [null, i]);
    return {ofA, queries: joint?.queries ?? alone(stack.queryTokens), keys: joint?.keys ?? alone(stack.keyTokens)};
  }

  /** The map of a head of one answer on the joint axes; NaN where a word is not in that answer. */
  function jointMap(stack, layer, head, side, {queries, keys}) {
    const T = queries.length, S = keys.length, map = stack?.hasHead(layer, head) && store.head(stack, layer, head);
    const weights = new Float32Array(T * S).fill(NaN), allowed = new Uint8Array(T * S).fill(1);
    queries.forEach((query, r) => keys.forEach((key, c) => {
      if (!map || query[side] === null || key[side] === null) return;
      const at = query[side] * map.S + key[side];
      weights[r * S + c] = map.weights[at];
      allowed[r * S + c] = map.allowed[at];
    }));
    return {weights, allowed, T, S};
  }

  function draw(width, height, all) {
    if (!all) return;
    for (const {area} of panels) area.hidden = !store.kept;
    if (!store.kept) return void (sentence.textContent = wordsOf('site_keep_hint'));
    const {stack, layer, head} = store.chosen(), joint = axes(stack), {ofA, queries, keys} = joint;
    const ofBoth = (pairs, side) => pairs.map(([a, b]) => b === null ? ofA[side][a] : stack[side][b]);
    const rows = ofBoth(queries, 'queryTokens'), cols = ofBoth(keys, 'keyTokens');
    const maps = {A: jointMap(ofA, layer, head, 0, joint), B: jointMap(stack, layer, head, 1, joint)};
    maps.difference = {...maps.B, weights: maps.B.weights.map((weight, i) => weight - maps.A.weights[i])};
    // Three beside each other where there is room, else A and B above their difference.
    const side = width > 900 ? (width - 32) / 3 : width > 480 ? (width - 16) / 2 : width;
    const scale = {log: store.view.log, top: niceTop(Math.max(largestOf(maps.A), largestOf(maps.B)))};
    const far = largestOf({weights: maps.difference.weights.map(Math.abs)});
    const layout = layoutMap(side, Math.min(height, side), wholePart(maps.B), rows.map(axisLabel), cols.map(axisLabel));
    const inks = {A: colourOf({diverging: true, top: 1}, -1), B: colourOf({diverging: true, top: 1}, 1)};
    const inkOf = ([a, b]) => ofA && (b === null ? inks.A : a === null && inks.B);  // of words that one answer has
    [layout.rows.inks, layout.columns.inks] = [queries.map(inkOf), keys.map(inkOf)];
    for (const panel of panels) {
      panel.title.style.color = inks[panel.kind] ?? '';
      panel.title.textContent = `${panel.nameOf()} · ${headName(layer, head)}`;
      panel.paint(layout, maps[panel.kind], panel.kind === 'difference' ? {diverging: true, top: niceTop(far)} : scale);
      panel.frame.setAttribute('aria-label', panel.title.textContent);
    }
    shown = {joint, rows, cols, maps, layout};
    mark();
  }

  /** The cell under the pointer, in all three, and in words. */
  function mark() {
    const {rows, cols, maps, layout} = shown, {x, y, cell} = layout, extent = Math.max(2, cell);
    for (const panel of panels)
      panel.mark(layout, lit, ...(lit ? [outline(x + lit.col * cell, y + lit.row * cell, extent, extent, 2)] : []));
    const at = lit && lit.row * cols.length + lit.col, difference = lit && maps.difference.weights[at];
    const text = ({weights}) => Number.isNaN(weights[at]) ? wordsOf('only_other') : percent(weights[at]);
    sentence.textContent = !lit ? wordsOf('pinned_hint')
      : `${quoted(rows[lit.row])} → ${quoted(cols[lit.col])}: A ${text(maps.A)}, B ${text(maps.B)}` +
        (Number.isNaN(difference) ? '' : `, B − A ${signedCellNumber(difference) || '0'}`);
  }

  function point(event, what) {
    const {joint: {queries, keys}, layout} = shown;
    lit = cellAt(layout, event.offsetX, event.offsetY);
    if (lit && queries[lit.row][1] !== null && keys[lit.col][1] !== null)
      store.look({[what]: {query: queries[lit.row][1], key: keys[lit.col][1]}});
    mark();
  }

  return {draw};
}
