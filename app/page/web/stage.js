// The chosen head, large: point to read, click to keep, turn the wheel or pinch to zoom, drag to move, paint the mask.

import { ink, niceTop, colourOf, textOn } from './colour.js';
import { make, byId } from './elements.js';
import { cellNumber } from './labels.js';
import { layoutMap, cellAt, drawLabels } from './layout.js';
import { pooled, drawPicture, fitted } from './raster.js';
import { say } from './words.js';

/** Numbers are printed in cells of so many pixels. */
const PRINTED = 30;
/** The smallest part of a map that can be zoomed to. */
const LEAST_PART = 6;

export function createStage(store, element, colourTop) {
  const canvas = make('canvas', {class: 'map', tabindex: '0', role: 'img', id: 'stage-map'});
  const overlay = make('canvas', {class: 'overlay', 'aria-hidden': 'true'});
  const frame = make('div', {class: 'frame'}, canvas, overlay);
  element.append(frame);
  let layout = null, shown = null, size = {width: 0, height: 0};
  const pointers = new Map();
  let stroke = null, drag = null, moved = false;

  /** The tokens along the sides as they are shown, and which cell of the tokens a shown cell is. */
  function sides() {
    const {stack} = store.chosen(), fold = store.fold(stack);
    return fold ? {fold, rows: fold.queries.map((group) => group.token), cols: fold.keys.map((group) => group.token)}
      : {fold: null, rows: stack.queryTokens, cols: stack.keyTokens};
  }
  function tokenCell({row, col}, {fold}) {
    return fold ? {query: fold.queries[row].first, key: fold.keys[col].first} : {query: row, key: col};
  }
  function shownCell(cell, {fold}) {
    if (!cell) return null;
    if (!fold) return {row: cell.query, col: cell.key};
    const at = (groups, token) => groups.findIndex((group) => token >= group.first && token < group.first + group.count);
    const row = at(fold.queries, cell.query), col = at(fold.keys, cell.key);
    return row < 0 || col < 0 ? null : {row, col};
  }
  function wholePart(map) { return {row: 0, rows: map.T, col: 0, cols: map.S}; }
  function part(map) { return store.view.viewport ?? wholePart(map); }

  function draw() {
    const {stack, layer, head} = store.chosen();
    const side = sides();
    shown = store.shown(store.answer, stack, layer, head);
    const scale = {log: store.view.log, top: store.view.ownRange ? niceTop(largestOf(shown)) : colourTop()};
    layout = layoutMap(size.width, size.height, part(shown), side.rows, side.cols);
    const {context, ratio} = fitted(canvas, size.width, layout.height);
    const box = {x: Math.round(layout.x * ratio), y: Math.round(layout.y * ratio),
      w: Math.round(layout.w * ratio), h: Math.round(layout.h * ratio)};
    drawPicture(context, pooled(shown, layout.part, box.h, box.w), box, scale);
    context.scale(ratio, ratio);
    drawLabels(context, layout, ink(), null);
    if (layout.cell >= PRINTED) drawNumbers(context, scale);
    canvas.setAttribute('aria-label', say('map_of', `L${layer}·H${head}`, shown.T, shown.S));
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
    const {context, ratio} = fitted(overlay, size.width, layout.height);
    context.scale(ratio, ratio);
    const colours = ink(), side = sides();
    drawLabels(context, layout, colours, shownCell(store.cell(), side), false);
    const mark = (cell, strong) => {
      if (!cell) return;
      const col = cell.col - layout.part.col, row = cell.row - layout.part.row;
      const inside = col >= 0 && row >= 0 && col < layout.part.cols && row < layout.part.rows;
      context.strokeStyle = colours.accent;
      context.globalAlpha = strong ? 0.55 : 0.4;
      context.lineWidth = 1;
      const x = layout.x + col * layout.cell, y = layout.y + row * layout.cell, step = Math.max(layout.cell, 1);
      if (row >= 0 && row < layout.part.rows) context.strokeRect(layout.x - 0.5, y - 0.5, layout.w + 1, step + 1);
      if (col >= 0 && col < layout.part.cols) context.strokeRect(x - 0.5, layout.y - 0.5, step + 1, layout.h + 1);
      context.globalAlpha = 1;
      if (!inside) return;
      context.lineWidth = strong ? 2.5 : 2;
      const pad = layout.cell < 4 ? 3 : 0;
      context.strokeRect(x - pad, y - pad, step + 2 * pad, step + 2 * pad);
    };
    const {hovered, pinned} = store.view;
    if (pinned) mark(shownCell(pinned, side), true);
    if (hovered && !(pinned && pinned.query === hovered.query && pinned.key === hovered.key)) mark(shownCell(hovered, side), false);
  }

  function positionOf(event) {
    const box = canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  }
  function cellUnder(event) {
    const {x, y} = positionOf(event), cell = layout && cellAt(layout, x, y);
    return cell ? tokenCell(cell, sides()) : null;
  }

  /** Shows a part of the map; the whole where that is all. */
  function showPart({row, rows, col, cols}) {
    const map = shown;
    rows = Math.round(Math.min(map.T, Math.max(LEAST_PART, rows)));
    cols = Math.round(Math.min(map.S, Math.max(LEAST_PART, cols)));
    row = Math.round(Math.min(map.T - rows, Math.max(0, row)));
    col = Math.round(Math.min(map.S - cols, Math.max(0, col)));
    store.look({viewport: rows >= map.T && cols >= map.S ? null : {row, rows, col, cols}});
  }
  /** Zooms by `factor` around the cell at (across, down), shares of the part that is shown. */
  function zoom(factor, across = 0.5, down = 0.5) {
    const now = part(shown);
    const rows = now.rows / factor, cols = now.cols / factor;
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
    pointers.set(event.pointerId, positionOf(event));
    moved = false;
    const cell = cellUnder(event);
    if (store.view.painting && cell && !sides().fold) {
      canvas.setPointerCapture(event.pointerId);
      const {stack, layer} = store.chosen();
      stroke = {allow: store.mask(store.answer, stack, layer).allowed[cell.query * stack.S + cell.key] === 0, cells: new Set(), begun: false};
      paint(cell);
    } else if (pointers.size === 1 && store.view.viewport) {
      canvas.setPointerCapture(event.pointerId);
      drag = {from: positionOf(event), part: store.view.viewport};
    }
  });
  canvas.addEventListener('pointermove', (event) => {
    const before = pointers.get(event.pointerId), now = positionOf(event);
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
    const cell = cellUnder(event), {pinned} = store.view;
    store.look({pinned: cell && pinned && cell.query === pinned.query && cell.key === pinned.key ? null : cell});
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
    const {x, y} = positionOf(event);
    zoom(1.0015 ** -event.deltaY, share(x, layout.x, layout.w), share(y, layout.y, layout.h));
  }, {passive: false});

  return {
    draw, drawOverlay, zoom: (factor) => canZoom() && zoom(factor), whole: () => store.look({viewport: null}),
    canZoom, focus: () => canvas.focus(), canvas,
    resize(width, height) {
      size = {width, height};
      canvas.style.touchAction = store.view.viewport || store.view.painting ? 'none' : 'pan-y pinch-zoom';
    },
    /** Brings a cell into the part that is shown. */
    reveal(cell) {
      const now = store.view.viewport, at = shownCell(cell, sides());
      if (!now || !at) return;
      const into = (begin, count, index) => index < begin ? index : index >= begin + count ? index - count + 1 : begin;
      showPart({...now, row: into(now.row, now.rows, at.row), col: into(now.col, now.cols, at.col)});
    },
    box: () => layout && {x: layout.x, y: layout.y, w: layout.w, h: layout.h, cell: layout.cell},
  };
}

/** The largest weight of a map. */
export function largestOf(map) {
  let largest = 0;
  for (let i = 0; i < map.weights.length; ++i) if (map.weights[i] > largest) largest = map.weights[i];
  return largest;
}
