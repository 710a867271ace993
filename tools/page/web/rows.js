// What words look at, beside the map: one word's row in every head, a line for each head, a column for each key; and
// lines from each word to the words it looks at: thicker, more attention.

import { make } from './elements.js';
import { axisLabel, headColour, headName, headNote, ink, niceTop, percent, wordsOf } from './look.js';
import { cellAt, clipped, createPlot, layoutMap, outline, textOf, textWidth, wholePart } from './map.js';

export function createRows(store, element, order) {
  let heads = [], query = 0, layout = null;
  const {frame, paint, mark} = createPlot(element, {tabindex: '0', on: {
    pointermove: (event) => store.look({hovered: under(event).cell}), pointerleave: () => store.look({hovered: null}),
    click: (event) => {
      const {one, cell} = under(event);
      if (one) store.look({layer: one.layer, head: one.head, ...(cell && {pinned: cell})});
    }}});

  function draw(width) {
    const stack = store.stack(), {S} = stack, {view} = store, lit = store.cell();
    query = lit?.query ?? 0;
    heads = order();
    const names = heads.map(({layer, head}) => {
      const note = headNote(store, stack, layer, head);
      const brief = store.isOff(stack, layer, head) ? wordsOf('head_is_off') : note?.brief;
      return headName(layer, head) + (brief && width > 480 ? `  ${brief}` : '');
    });
    // Every row as shares of the top of its range.
    const T = heads.length, map = {weights: new Float32Array(T * S), allowed: new Uint8Array(T * S), T, S};
    heads.forEach(({layer, head}, i) => {
      const row = store.row(stack, layer, head, query), range = view.ownRange ? niceTop(Math.max(...row)) : store.top;
      map.weights.set(row.map((weight) => weight / range), i * S);
      map.allowed.set(store.allowed(stack, layer, query), i * S);
    });
    const pitch = T > 60 ? 14 : T > 24 ? 19 : 25;
    layout = layoutMap(width, 300, wholePart(map), names, stack.keyTokens.map(axisLabel), pitch);
    paint(layout, map, {log: view.log, top: 1});
    frame.style.setProperty('--pitch', `${pitch}px`);  // between rows is a gap
    const {x, y, h, cell} = layout, left = x + cell * (lit?.key ?? 0);
    mark(layout, {row: heads.findIndex(store.isChosen), col: lit?.key},
      ...(lit ? [outline(left, y - 0.5, Math.max(1, cell), h - 2, 1, 0.6)] : []));
    frame.setAttribute('aria-label', wordsOf('rows_of', axisLabel(stack.queryTokens[query])));
  }

  /** The head and the cell of a row under the pointer. */
  function under({offsetX: x, offsetY: y}) {
    const at = cellAt(layout, x, y), named = cellAt(layout, Math.max(x, layout.x), y);
    return {one: named && heads[named.row], cell: at && {query, key: at.col}};
  }

  return {draw};
}

const LINE_PITCH = 27, THICKEST = 9, MOST_LINES = 4000, MOST_HEIGHT = 620;

export function createFlow(store, element) {
  const drawing = make('svg', {role: 'img'}), sheet = make('div', {class: 'sheet', tabindex: '0'}, drawing);
  const info = make('p', {class: 'quiet'});
  element.append(sheet, info);
  let width = 600, word = null;

  /** Of one query, the lines above the threshold: of the chosen head, or of all of its layer. */
  function linesOf(query) {
    const {stack, layer} = store.chosen(), {flowAll, threshold} = store.view;
    const isOn = (one) => (flowAll ? one.layer === layer : store.isChosen(one)) && !store.isOff(stack, layer, one.head);
    return stack.heads.filter(isOn).flatMap(({head}) => Array.from(store.row(stack, layer, head, query),
      (weight, key) => ({query, key, weight, head})).filter(({weight}) => weight >= threshold));
  }

  function draw(wide = width) {
    width = wide;
    const stack = store.stack(), count = Math.max(stack.T, stack.S), tall = count * LINE_PITCH + 12;
    const height = Math.min(tall, MOST_HEIGHT), top = Math.min(sheet.scrollTop, tall - height);
    sheet.style.height = `${height}px`;
    Object.assign(drawing.style, {width: `${width}px`, height: `${tall}px`});
    const widest = (tokens) => Math.max(...tokens.slice(0, 400).map((token) => textWidth(axisLabel(token))));
    const room = (tokens) => Math.max(60, Math.min(width * 0.3, widest(tokens) + 18));
    const left = room(stack.queryTokens), right = width - room(stack.keyTokens), bend = (right - left) * 0.4;
    const first = Math.max(0, Math.floor(top / LINE_PITCH) - 1), middle = (row) => (row + 0.5) * LINE_PITCH + 6;
    const last = Math.min(count, Math.ceil((top + height) / LINE_PITCH) + 1);
    const cell = store.cell(), only = word ?? (cell && {query: cell.query});
    // A line is drawn where one of its ends is on the screen; of very long sentences where its word is.
    const queries = [...stack.queryTokens.keys()].filter((query) => (query >= first && query < last) || stack.T <= 256);
    const lines = queries.flatMap(linesOf).sort((a, b) => a.weight - b.weight).slice(-MOST_LINES);
    const paths = lines.map(({query, key, weight, head}) => {
      const isLit = !only || query === only.query || key === only.key, from = middle(query), to = middle(key);
      return make('path', {fill: 'none', stroke: headColour(head), 'stroke-width': Math.max(0.6, THICKEST * weight),
        opacity: Math.min(1, 0.18 + 0.82 * weight) * (isLit ? 1 : 0.1),
        d: `M${left} ${from} C${left + bend} ${from} ${right - bend} ${to} ${right} ${to}`});
    });
    // A word, and the room around it that hears the pointer.
    const words = (tokens, side, x, anchor, isLit) => tokens.slice(first, last).flatMap((token, i) => {
      const index = first + i, lit = isLit(index), dim = !lit && (token.special || token.pad) && {fill: ink().dim};
      const box = {y: index * LINE_PITCH + 6, width: left + 20, height: LINE_PITCH, fill: 'transparent'};
      return [textOf(clipped(axisLabel(token), left - 12), lit, {x, y: middle(index), 'text-anchor': anchor, ...dim}),
        make('rect', {...box, x: side === 'query' ? 0 : right - 20, data: {side, index}})];
    });
    drawing.replaceChildren(...paths, ...words(stack.queryTokens, 'query', left - 8, 'end', (i) => only?.query === i),
      ...words(stack.keyTokens, 'key', right + 8, 'start', (i) => only?.key === i || (!word && cell?.key === i)));
    info.textContent = wordsOf(lines.length ? 'lines_shown' : 'no_line', lines.length, percent(store.view.threshold));
    drawing.setAttribute('aria-label', wordsOf('flow_hint'));
  }

  const wordUnder = ({target: {dataset: {side, index}}}) => side ? {[side]: Number(index)} : null;
  function point(found) {
    if (found?.query === word?.query && found?.key === word?.key) return;
    word = found;
    draw();
  }
  drawing.addEventListener('pointerover', (event) => point(wordUnder(event)));
  drawing.addEventListener('pointerleave', () => point(null));
  drawing.addEventListener('click', (event) => {
    const found = wordUnder(event), {pinned} = store.view;
    if (found?.query !== undefined) store.look({pinned: store.strongest(found.query)});
    else if (found && pinned) store.look({pinned: {query: pinned.query, key: found.key}});
  });
  sheet.addEventListener('scroll', () => draw());
  return {draw};
}
