// Lines from each word to the words it looks at; thicker, more attention.

import { ink, headColour } from './colour.js';
import { make } from './elements.js';
import { axisLabel, percent, wordsOf } from './labels.js';
import { clipped, fitted, labelFont, textWidth } from './map.js';

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
    const {context, ratio} = fitted(canvas, width, height);
    context.scale(ratio, ratio);
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
      context.strokeStyle = headColour(line.head);
      context.globalAlpha = Math.min(1, 0.18 + 0.82 * line.weight) * (lit ? 1 : 0.1);
      context.lineWidth = Math.max(0.6, THICKEST * line.weight);
      context.beginPath();
      context.moveTo(left, middle(line.query));
      context.bezierCurveTo(left + bend, middle(line.query), right - bend, middle(line.key), right, middle(line.key));
      context.stroke();
    }
    context.globalAlpha = 1;
    context.textBaseline = 'middle';
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
