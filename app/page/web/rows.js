// One word's row in every head: a line for each head, a column for each key.

import { ink, niceTop } from './colour.js';
import { make } from './elements.js';
import { axisLabel, headName, headNotes } from './labels.js';
import { drawLabels, layoutMap, LABEL_FONT, LABEL_SIZE, textWidth, clipped } from './layout.js';
import { pooled, drawPicture, fitted } from './raster.js';
import { say } from './words.js';

export function createRows(store, element, colourTop, order) {
  const canvas = make('canvas', {class: 'rows', role: 'img', tabindex: '0'});
  element.append(canvas);
  let heads = [], places = null;

  function draw(width) {
    const stack = store.stack(), query = store.cell()?.query ?? 0;
    heads = order();
    const names = heads.map(({layer, head}) => {
      const note = headNotes(store.answer, stack, layer, head)[0];
      return headName(layer, head) + (note && width > 480 ? `  ${note.name}` : '');
    });
    const left = Math.min(width * 0.36, Math.max(...names.map((name) => textWidth(name))) + 10);
    const part = {row: 0, rows: 1, col: 0, cols: stack.S};
    const cell = Math.min(40, (width - left) / stack.S), w = (cell > 4 ? Math.floor(cell) : cell) * stack.S;
    const top = layoutMap(w + left, 300, {row: 0, rows: 1, col: 0, cols: stack.S}, [stack.queryTokens[query]], stack.keyTokens).y;
    const pitch = heads.length > 60 ? 14 : heads.length > 24 ? 19 : 25;
    const {context, ratio} = fitted(canvas, width, top + heads.length * pitch + 4);
    const rows = heads.map(({layer, head}) => ({
      weights: store.row(store.answer, stack, layer, head, query),
      allowed: store.mask(store.answer, stack, layer).allowed.subarray(query * stack.S, (query + 1) * stack.S), T: 1, S: stack.S}));
    rows.forEach((row, i) => {
      const largest = row.weights.reduce((a, b) => Math.max(a, b), 0);
      const scale = {log: store.view.log, top: store.view.ownRange ? niceTop(largest) : colourTop()};
      drawPicture(context, pooled(row, part, 1, Math.round(w * ratio)), {x: Math.round(left * ratio),
        y: Math.round((top + i * pitch) * ratio), w: Math.round(w * ratio), h: Math.round((pitch - 3) * ratio)}, scale);
    });
    context.scale(ratio, ratio);
    const colours = ink(), lit = store.cell();
    drawLabels(context, {x: left, y: top, cell: w / stack.S, columns: labelKind(stack, w / stack.S), rowStep: 1,
      columnStep: Math.max(1, Math.ceil(LABEL_SIZE / (w / stack.S))), part, rowLabels: [],
      columnLabels: stack.keyTokens.map(axisLabel)}, colours, lit && {row: -1, col: lit.key});
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    heads.forEach(({layer, head}, i) => {
      const chosen = layer === store.view.layer && head === store.view.head;
      context.font = chosen ? `600 ${LABEL_FONT}` : LABEL_FONT;
      context.fillStyle = chosen ? colours.accent : store.isOff(stack, layer, head) ? colours.dim : colours.text;
      context.fillText(clipped(names[i], left - 8), 0, top + i * pitch + (pitch - 3) / 2);
    });
    if (lit) {
      context.strokeStyle = colours.accent;
      context.globalAlpha = 0.6;
      context.strokeRect(left + lit.key * w / stack.S, top - 0.5, Math.max(1, w / stack.S), heads.length * pitch - 2);
    }
    canvas.setAttribute('aria-label', say('rows_of', axisLabel(stack.queryTokens[query])));
    places = {left, top, pitch, cell: w / stack.S, query};
  }

  function labelKind(stack, cell) {
    const labels = stack.keyTokens.slice(0, 200).map(axisLabel);
    if (labels.every((label) => textWidth(label) + 5 <= cell)) return 'horizontal';
    return labels.every((label) => [...label].length <= 4 && /^[\u2e80-\u9fff\uff00-\uff60]*$/.test(label)) ? 'stacked' : 'rotated';
  }

  function under(event) {
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const row = Math.floor((y - places.top) / places.pitch), key = Math.floor((x - places.left) / places.cell);
    return {head: heads[row], key: key >= 0 && key < store.stack().S && row >= 0 && row < heads.length ? key : null};
  }
  canvas.addEventListener('pointermove', (event) => {
    const {key} = under(event);
    store.look({hovered: key === null ? null : {query: places.query, key}});
  });
  canvas.addEventListener('pointerleave', () => store.look({hovered: null}));
  canvas.addEventListener('click', (event) => {
    const {head, key} = under(event);
    if (head) store.look({layer: head.layer, head: head.head, ...(key === null ? {} : {pinned: {query: places.query, key}})});
  });

  return {draw, canvas};
}
