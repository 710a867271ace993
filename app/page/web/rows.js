// What words look at, beside the map: one word's row in every head, a line for each head, a column for each key; and lines
// from each word to the words it looks at: thicker, more attention.

import { make } from './elements.js';
import { axisLabel, headColour, headName, headNote, ink, niceTop, percent, wordsOf } from './look.js';
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
    const scale = {log: store.view.log, top: 1}, row = {x: left, w: cell * S, h: pitch - 3};
    heads.forEach((_, i) => drawPicture(context, picture, {...row, y: top + i * pitch}, scale, i));
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
      Object.assign(context, {strokeStyle: colours.accent, globalAlpha: 0.6});
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

const LINE_PITCH = 27, THICKEST = 9, MOST_LINES = 4000, MOST_HEIGHT = 620;

export function createFlow(store, element) {
  const canvas = make('canvas', {class: 'flow-map', role: 'img'});
  const spacer = make('div', {class: 'spacer'}), sheet = make('div', {class: 'sheet', tabindex: '0'}, canvas, spacer);
  const info = make('p', {class: 'quiet'});
  element.append(sheet, info);
  let edges = null, width = 600, word = null;

  /** Of one query, the lines above the threshold: of the chosen head, or of all of its layer. */
  function linesOf(query) {
    const {stack, layer, head} = store.chosen();
    const heads = stack.heads.filter((one) => one.layer === layer && (store.view.flowAll || one.head === head) && !store.isOff(stack, layer, one.head));
    return heads.flatMap((one) => Array.from(store.row(stack, layer, one.head, query), (weight, key) => ({query, key, weight, head: one.head}))
      .filter(({weight}) => weight >= store.view.threshold));
  }

  function draw(wide = width) {
    width = wide;
    const stack = store.stack(), count = Math.max(stack.T, stack.S), tall = count * LINE_PITCH + 12;
    const height = Math.min(tall, MOST_HEIGHT), top = Math.min(sheet.scrollTop, tall - height);
    sheet.style.height = `${height}px`;
    spacer.style.height = `${tall - height}px`;
    const {context} = fitted(canvas, width, height);
    const room = (tokens) => Math.max(60, Math.min(width * 0.3, Math.max(...tokens.slice(0, 400).map((token) => textWidth(axisLabel(token)))) + 18));
    const left = room(stack.queryTokens), right = width - room(stack.keyTokens), bend = (right - left) * 0.4;
    const first = Math.max(0, Math.floor(top / LINE_PITCH) - 1), last = Math.min(count, Math.ceil((top + height) / LINE_PITCH) + 1);
    const middle = (row) => row * LINE_PITCH + LINE_PITCH / 2 + 6 - top;
    edges = {left, right, top};
    const cell = store.cell(), only = word ?? (cell && {query: cell.query});
    // A line is drawn where one of its ends is on the screen; of very long sentences where its word is.
    const queries = [...stack.queryTokens.keys()].filter((query) => (query >= first && query < last) || stack.T <= 256);
    const lines = queries.flatMap(linesOf).sort((a, b) => a.weight - b.weight).slice(-MOST_LINES), colours = ink();
    for (const line of lines) {
      const lit = !only || (only.key === undefined ? line.query === only.query : line.key === only.key);
      const globalAlpha = Math.min(1, 0.18 + 0.82 * line.weight) * (lit ? 1 : 0.1);
      const lineWidth = Math.max(0.6, THICKEST * line.weight);
      Object.assign(context, {strokeStyle: headColour(line.head), globalAlpha, lineWidth});
      context.beginPath();
      context.moveTo(left, middle(line.query));
      context.bezierCurveTo(left + bend, middle(line.query), right - bend, middle(line.key), right, middle(line.key));
      context.stroke();
    }
    Object.assign(context, {globalAlpha: 1, textBaseline: 'middle'});
    const write = (tokens, x, align, isLit) => {
      context.textAlign = align;
      for (let i = first; i < Math.min(last, tokens.length); ++i) {
        context.font = labelFont(isLit(i));
        context.fillStyle = isLit(i) ? colours.accent : tokens[i].special || tokens[i].pad ? colours.dim : colours.text;
        context.fillText(clipped(axisLabel(tokens[i]), left - 12), x, middle(i));
      }
    };
    write(stack.queryTokens, left - 8, 'right', (i) => only?.query === i);
    write(stack.keyTokens, right + 8, 'left', (i) => only?.key === i || (!word && cell?.key === i));
    info.textContent = lines.length > 0 ? wordsOf('lines_shown', lines.length, percent(store.view.threshold)) : wordsOf('no_line');
    canvas.setAttribute('aria-label', wordsOf('flow_hint'));
  }

  function wordUnder({offsetX: x, offsetY: y}) {
    const {T, S} = store.stack(), row = Math.floor((y + edges.top - 6) / LINE_PITCH);
    if (x < edges.left + 20 && row >= 0 && row < T) return {query: row};
    return x > edges.right - 20 && row >= 0 && row < S ? {key: row} : null;
  }
  canvas.addEventListener('pointermove', (event) => {
    const found = wordUnder(event);
    if (found?.query === word?.query && found?.key === word?.key) return;
    word = found;
    draw();
  });
  canvas.addEventListener('pointerleave', () => { word = null; draw(); });
  canvas.addEventListener('click', (event) => {
    const found = wordUnder(event), {pinned} = store.view;
    if (found?.query !== undefined) store.look({pinned: store.strongest(found.query)});
    else if (found && pinned) store.look({pinned: {query: pinned.query, key: found.key}});
  });
  sheet.addEventListener('scroll', () => draw());
  return {draw};
}
