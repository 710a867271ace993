// Lines from each word to the words it looks at; thicker, more attention.

import { ink, headColour } from './colour.js';
import { make } from './elements.js';
import { axisLabel, percent } from './labels.js';
import { LABEL_FONT, textWidth, clipped } from './layout.js';
import { fitted } from './raster.js';
import { say } from './words.js';

const LINE_PITCH = 27, THICKEST = 9, MOST_LINES = 4000, MOST_HEIGHT = 620;

export function createFlow(store, element) {
  const canvas = make('canvas', {class: 'flow-map', role: 'img'});
  const spacer = make('div', {class: 'spacer'}), sheet = make('div', {class: 'sheet', tabindex: '0'}, canvas, spacer);
  const info = make('p', {class: 'quiet'});
  element.append(sheet, info);
  let geometry = null, width = 600, word = null;

  /** Heads whose lines are drawn: the chosen one, or all of its layer. */
  function heads() {
    const {stack, layer, head} = store.chosen();
    return store.view.flowAll ? stack.heads.filter((one) => one.layer === layer) : [{layer, head}];
  }

  /** Of one query, the lines of all heads above the threshold. */
  function linesOf(stack, query, into) {
    heads().forEach(({layer, head}) => {
      if (store.isOff(stack, layer, head)) return;
      const row = store.row(store.answer, stack, layer, head, query);
      for (let key = 0; key < stack.S; ++key)
        if (row[key] >= store.view.threshold) into.push({query, key, weight: row[key], head});
    });
  }

  function draw(wide = width) {
    width = wide;
    const stack = store.stack(), count = Math.max(stack.T, stack.S), tall = count * LINE_PITCH + 12;
    const height = Math.min(tall, MOST_HEIGHT);
    sheet.style.height = `${height}px`;
    spacer.style.height = `${tall - height}px`;
    const top = Math.min(sheet.scrollTop, tall - height);
    const {context, ratio} = fitted(canvas, width, height);
    context.scale(ratio, ratio);
    const widest = (tokens) => Math.min(width * 0.3, tokens.slice(0, 400).reduce((most, token) => Math.max(most, textWidth(axisLabel(token))), 0) + 18);
    const left = Math.max(60, widest(stack.queryTokens)), right = width - Math.max(60, widest(stack.keyTokens));
    const first = Math.max(0, Math.floor(top / LINE_PITCH) - 1), last = Math.min(count, Math.ceil((top + height) / LINE_PITCH) + 1);
    const middle = (row) => row * LINE_PITCH + LINE_PITCH / 2 + 6 - top;
    geometry = {left, right, top, stack};
    const lines = [];
    const cell = store.cell(), only = word ?? (cell ? {query: cell.query} : null);
    for (let query = 0; query < stack.T; ++query) {
      const seen = query >= first && query < last;
      // A line is drawn where one of its ends is on the screen; of very long sentences where its word is.
      if (seen || (stack.T <= 256 && count * LINE_PITCH > MOST_HEIGHT)) linesOf(stack, query, lines);
    }
    lines.sort((a, b) => a.weight - b.weight);
    const drawn = lines.slice(-MOST_LINES), colours = ink();
    for (const line of drawn) {
      const lit = !only || (only.key === undefined ? line.query === only.query : line.key === only.key);
      context.strokeStyle = store.view.flowAll ? headColour(line.head) : headColour(store.view.head);
      context.globalAlpha = Math.min(1, 0.18 + 0.82 * line.weight) * (lit ? 1 : 0.1);
      context.lineWidth = Math.max(0.6, THICKEST * line.weight);
      const from = middle(line.query), to = middle(line.key), bend = (right - left) * 0.4;
      context.beginPath();
      context.moveTo(left, from);
      context.bezierCurveTo(left + bend, from, right - bend, to, right, to);
      context.stroke();
    }
    context.globalAlpha = 1;
    context.textBaseline = 'middle';
    const write = (tokens, x, align, isLit) => {
      context.textAlign = align;
      for (let i = first; i < Math.min(last, tokens.length); ++i) {
        const on = isLit(i);
        context.font = on ? `600 ${LABEL_FONT}` : LABEL_FONT;
        context.fillStyle = on ? colours.accent : tokens[i].special || tokens[i].pad ? colours.dim : colours.text;
        context.fillText(clipped(axisLabel(tokens[i]), left - 12), x, middle(i));
      }
    };
    write(stack.queryTokens, left - 8, 'right', (i) => only?.query === i);
    write(stack.keyTokens, right + 8, 'left', (i) => only?.key === i || (cell && !word && cell.key === i));
    const strongest = lines.at(-1);
    info.textContent = strongest ? say('lines_shown', drawn.length, percent(store.view.threshold)) : say('no_line');
    canvas.setAttribute('aria-label', say('flow_hint'));
  }

  function wordUnder(event) {
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left;
    const row = Math.floor((event.clientY - box.top + geometry.top - 6) / LINE_PITCH);
    if (x < geometry.left + 20 && row >= 0 && row < geometry.stack.T) return {query: row};
    if (x > geometry.right - 20 && row >= 0 && row < geometry.stack.S) return {key: row};
    return null;
  }
  canvas.addEventListener('pointermove', (event) => {
    const found = wordUnder(event);
    if (found?.query === word?.query && found?.key === word?.key) return;
    word = found;
    draw();
  });
  canvas.addEventListener('pointerleave', () => { word = null; draw(); });
  canvas.addEventListener('click', (event) => {
    const found = wordUnder(event);
    if (!found) return;
    const {stack, layer, head} = store.chosen();
    if (found.query !== undefined) {
      const row = store.row(store.answer, stack, layer, head, found.query);
      store.look({pinned: {query: found.query, key: row.indexOf(Math.max(...row))}});
    } else if (store.view.pinned) {
      store.look({pinned: {query: store.view.pinned.query, key: found.key}});
    }
  });
  sheet.addEventListener('scroll', () => draw());
  return {draw};
}
