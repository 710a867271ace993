// One word's row in every head: a line for each head, a column for each key.

import { ink, niceTop } from './colour.js';
import { make } from './elements.js';
import { axisLabel, headName, headNote, wordsOf } from './labels.js';
import { clipped, drawLabels, drawPicture, fitted, labelFont, layoutMap, pooled, textWidth, wholePart } from './map.js';

export function createRows(store, element, order) {
  const canvas = make('canvas', {class: 'rows', role: 'img', tabindex: '0'});
  element.append(canvas);
  let heads = [], query = 0, plot = null;

  function draw(width) {
    const stack = store.stack(), {S} = stack, lit = store.cell();
    query = lit?.query ?? 0;
    heads = order();
    const names = heads.map(({layer, head}) => {
      const note = headNote(store, stack, layer, head);
      return headName(layer, head) + (note && width > 480 ? `  ${note.brief}` : '');
    });
    const left = Math.min(width * 0.36, Math.max(...names.map(textWidth)) + 10), room = Math.min(40, (width - left) / S);
    const cell = room > 4 ? Math.floor(room) : room, pitch = heads.length > 60 ? 14 : heads.length > 24 ? 19 : 25;
    const labels = layoutMap(cell * S + 5, 300, wholePart({T: 1, S}), [{text: ''}], stack.keyTokens), top = labels.y;
    plot = {left, top, pitch, cell};
    const {context, ratio} = fitted(canvas, width, top + heads.length * pitch + 4);
    // Every row as shares of the top of its range.
    const map = {weights: new Float32Array(heads.length * S), allowed: new Uint8Array(heads.length * S), T: heads.length, S};
    heads.forEach(({layer, head}, i) => {
      const row = store.row(stack, layer, head, query), range = store.view.ownRange ? niceTop(Math.max(...row)) : store.top;
      map.weights.set(row.map((weight) => weight / range), i * S);
      map.allowed.set(store.mask(stack, layer).allowed.subarray(query * S, (query + 1) * S), i * S);
    });
    const picture = pooled(map, wholePart(map), map.T, Math.round(cell * S * ratio));
    heads.forEach((_, i) => drawPicture(context, picture, {x: Math.round(left * ratio), y: Math.round((top + i * pitch) * ratio),
      w: Math.round(cell * S * ratio), h: Math.round((pitch - 3) * ratio)}, {log: store.view.log, top: 1}, i));
    context.scale(ratio, ratio);
    const colours = ink();
    drawLabels(context, {...labels, x: left, cell, rowLabels: []}, colours, lit && {col: lit.key});
    context.textAlign = 'left';
    heads.forEach((one, i) => {
      const chosen = store.isChosen(one);
      context.font = labelFont(chosen);
      context.fillStyle = chosen ? colours.accent : store.isOff(stack, one.layer, one.head) ? colours.dim : colours.text;
      context.fillText(clipped(names[i], left - 8), 0, top + i * pitch + (pitch - 3) / 2);
    });
    if (lit) {
      context.strokeStyle = colours.accent;
      context.globalAlpha = 0.6;
      context.strokeRect(left + lit.key * cell, top - 0.5, Math.max(1, cell), heads.length * pitch - 2);
    }
    canvas.setAttribute('aria-label', wordsOf('rows_of', axisLabel(stack.queryTokens[query])));
  }

  /** The head and the cell of a row under the pointer. */
  function under(event) {
    const one = heads[Math.floor((event.offsetY - plot.top) / plot.pitch)];
    const key = Math.floor((event.offsetX - plot.left) / plot.cell);
    return {one, cell: one && key >= 0 && key < store.stack().S ? {query, key} : null};
  }
  canvas.addEventListener('pointermove', (event) => store.look({hovered: under(event).cell}));
  canvas.addEventListener('pointerleave', () => store.look({hovered: null}));
  canvas.addEventListener('click', (event) => {
    const {one, cell} = under(event);
    if (one) store.look({layer: one.layer, head: one.head, ...(cell && {pinned: cell})});
  });

  return {draw};
}
