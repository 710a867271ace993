// The chosen head, large: point to read, click to keep, turn the wheel or pinch to zoom, drag to move, paint the mask.

import { ink, niceTop, colourOf, textOn } from './colour.js';
import { make } from './elements.js';
import { cellNumber, headName, wordsOf } from './labels.js';
import { cellAt, drawLabels, drawMap, fitted, largestOf, layoutMap, wholePart } from './map.js';
import { shownCell } from './state.js';

/** Numbers are printed in cells of so many pixels. */
const PRINTED = 30;
/** The smallest part of a map that can be zoomed to. */
const LEAST_PART = 6;

export function createStage(store, element) {
  const canvas = make('canvas', {class: 'map', tabindex: '0', role: 'img', id: 'stage-map'});
  const overlay = make('canvas', {class: 'overlay', 'aria-hidden': 'true'});
  element.append(make('div', {class: 'frame'}, canvas, overlay));
  let layout = null, shown = null, fold = null, size = {width: 0, height: 0};
  const pointers = new Map();
  let stroke = null, drag = null, moved = false;

  function draw(width = size.width, height = size.height) {
    size = {width, height};
    canvas.style.touchAction = store.view.viewport || store.view.painting ? 'none' : 'pan-y pinch-zoom';
    const {stack, layer, head} = store.chosen();
    fold = store.fold(stack);
    shown = store.shown(stack, layer, head);
    const scale = {log: store.view.log, top: store.view.ownRange ? niceTop(largestOf(shown)) : store.top};
    layout = layoutMap(width, height, store.view.viewport ?? wholePart(shown),
      fold.queries.map(({token}) => token), fold.keys.map(({token}) => token));
    const context = drawMap(canvas, width, layout, shown, scale);
    drawLabels(context, layout, ink(), null);
    if (layout.cell >= PRINTED) drawNumbers(context, scale);
    canvas.setAttribute('aria-label', wordsOf('map_of', headName(layer, head), shown.T, shown.S));
    drawOverlay();
  }

  function drawNumbers(context, scale) {
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.font = `${Math.min(13, Math.floor(layout.cell * 0.36))}px system-ui, sans-serif`;
    for (let i = 0; i < layout.part.rows; ++i)
      for (let j = 0; j < layout.part.cols; ++j) {
        const at = (layout.part.row + i) * shown.S + layout.part.col + j, text = cellNumber(shown.weights[at]);
        if (!shown.allowed[at] || shown.weights[at] < 0.05 || text === '') continue;
        context.fillStyle = textOn(colourOf(scale, shown.weights[at]));
        context.fillText(text, layout.x + (j + 0.5) * layout.cell, layout.y + (i + 0.5) * layout.cell + 0.5);
      }
  }

  function drawOverlay() {
    if (!layout) return;
    const {context} = fitted(overlay, size.width, layout.height), colours = ink();
    drawLabels(context, layout, colours, shownCell(fold, store.cell()), false);
    const mark = (cell, strong) => {
      if (!cell) return;
      const col = cell.col - layout.part.col, row = cell.row - layout.part.row;
      const inRow = row >= 0 && row < layout.part.rows, inColumn = col >= 0 && col < layout.part.cols;
      context.strokeStyle = colours.accent;
      context.globalAlpha = strong ? 0.55 : 0.4;
      context.lineWidth = 1;
      const x = layout.x + col * layout.cell, y = layout.y + row * layout.cell, step = Math.max(layout.cell, 1);
      if (inRow) context.strokeRect(layout.x - 0.5, y - 0.5, layout.w + 1, step + 1);
      if (inColumn) context.strokeRect(x - 0.5, layout.y - 0.5, step + 1, layout.h + 1);
      context.globalAlpha = 1;
      if (!inRow || !inColumn) return;
      context.lineWidth = strong ? 2.5 : 2;
      const pad = layout.cell < 4 ? 3 : 0;
      context.strokeRect(x - pad, y - pad, step + 2 * pad, step + 2 * pad);
    };
    const {hovered, pinned} = store.view;
    mark(shownCell(fold, pinned), true);
    if (!sameCell(hovered, pinned)) mark(shownCell(fold, hovered), false);
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
    const whole = rows >= shown.T && cols >= shown.S;
    store.look({viewport: whole ? null : {row: within(0, row, shown.T - rows), rows, col: within(0, col, shown.S - cols), cols}});
  }
  /** Zooms by `factor` around the cell at (across, down), shares of the part that is shown. */
  function zoom(factor, across = 0.5, down = 0.5) {
    const now = store.view.viewport ?? wholePart(shown), rows = now.rows / factor, cols = now.cols / factor;
    showPart({rows, cols, row: now.row + (now.rows - rows) * down, col: now.col + (now.cols - cols) * across});
  }
  function canZoom() { return shown && Math.max(shown.T, shown.S) > 2 * LEAST_PART; }

  function paint(cell) {
    if (!cell || !stroke) return;
    const key = `${cell.query},${cell.key}`;
    if (stroke.cells.has(key)) return;
    stroke.cells.add(key);
    const {stack} = store.view, painted = new Map(store.edits.masks[stack].painted);
    painted.set(key, stroke.allow);
    store.editMask(stack, {painted}, stroke.begun);
    stroke.begun = true;
  }

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
    moved = false;
    const cell = cellUnder(event);
    if (store.view.painting && cell && !fold.isFolded) {
      canvas.setPointerCapture(event.pointerId);
      const {stack, layer} = store.chosen();
      stroke = {allow: store.mask(stack, layer).allowed[cell.query * stack.S + cell.key] === 0, cells: new Set(), begun: false};
      paint(cell);
    } else if (pointers.size === 1 && store.view.viewport) {
      canvas.setPointerCapture(event.pointerId);
      drag = {from: pointers.get(event.pointerId), part: store.view.viewport};
    }
  });
  canvas.addEventListener('pointermove', (event) => {
    const before = pointers.get(event.pointerId), now = {x: event.offsetX, y: event.offsetY};
    if (before && pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const apart = (point) => Math.hypot(point.x - other.x, point.y - other.y);
      if (apart(before) > 8) zoom(apart(now) / apart(before), share(now.x, layout.x, layout.w), share(now.y, layout.y, layout.h));
      pointers.set(event.pointerId, now);
      moved = true;
      return;
    }
    if (stroke) return paint(cellUnder(event));
    if (drag) {
      const dx = now.x - drag.from.x, dy = now.y - drag.from.y;
      if (Math.hypot(dx, dy) > 3) moved = true;
      if (moved) showPart({...drag.part, col: drag.part.col - dx / layout.cell, row: drag.part.row - dy / layout.cell});
      return;
    }
    store.look({hovered: cellUnder(event)});
  });
  function share(at, begin, extent) { return Math.min(1, Math.max(0, (at - begin) / extent)); }
  function release(event) {
    pointers.delete(event.pointerId);
    const painted = stroke !== null;
    stroke = null;
    drag = null;
    if (event.type !== 'pointerup' || painted || moved || event.button !== 0) return;
    const cell = cellUnder(event);
    store.look({pinned: sameCell(cell, store.view.pinned) ? null : cell});
  }
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('pointerleave', () => store.look({hovered: null}));
  canvas.addEventListener('dblclick', (event) => {
    const cell = cellUnder(event);
    if (cell) store.look({pinned: cell, explain: true});
  });
  canvas.addEventListener('wheel', (event) => {
    // A short sentence is seen whole: there the wheel scrolls the page.
    if (!canZoom() || (shown.T <= 24 && !store.view.viewport && !event.ctrlKey)) return;
    event.preventDefault();
    zoom(1.0015 ** -event.deltaY, share(event.offsetX, layout.x, layout.w), share(event.offsetY, layout.y, layout.h));
  }, {passive: false});

  return {
    draw, drawOverlay, zoom: (factor) => canZoom() && zoom(factor), canZoom,
    /** Brings a cell into the part that is shown. */
    reveal(cell) {
      const now = store.view.viewport, at = now && shownCell(fold, cell);
      if (!at) return;
      const into = (begin, count, index) => index < begin ? index : index >= begin + count ? index - count + 1 : begin;
      showPart({...now, row: into(now.row, now.rows, at.row), col: into(now.col, now.cols, at.col)});
    },
  };
}
