// Two answers beside each other: A, B and B − A of the chosen head, on the words that both have.

import { ink, niceTop } from './colour.js';
import { make } from './elements.js';
import { axisLabel, headName, signedCellNumber, percent } from './labels.js';
import { cellAt, drawLabels, layoutMap } from './layout.js';
import { drawPicture, fitted, pooled, pooledDifference } from './raster.js';
import { largestOf } from './stage.js';
import { say } from './words.js';

export function createCompare(store, element, page) {
  const panels = ['A', 'B', 'difference'].map((kind) => {
    const canvas = make('canvas', {class: 'map', role: 'img'}), title = make('h3');
    const panel = make('div', {class: 'panel'}, title, canvas);
    element.append(panel);
    canvas.addEventListener('pointermove', (event) => point(event, kind, false));
    canvas.addEventListener('click', (event) => point(event, kind, true));
    canvas.addEventListener('pointerleave', () => { lit = null; draw(); });
    return {kind, canvas, title, layout: null};
  });
  const sentence = make('p', {class: 'sentence', 'aria-live': 'polite'});
  element.append(sentence);
  let lit = null, width = 600, height = 400, maps = null;

  /** The joint axes: pairs [place in A, place in B], null where only the other has the word. */
  function axes(stack) {
    const own = page.compare.axes[stack.name];
    return own ?? {queries: stack.queryTokens.map((_, i) => [null, i]), keys: stack.keyTokens.map((_, j) => [null, j])};
  }

  function stackOfA(stack) { return store.kept.stacks.find((one) => one.name === stack.name); }

  /** Maps of a head on the joint axes; NaN where a word is not in that answer. */
  function mapsOf(stack, layer, head) {
    const {queries, keys} = axes(stack), ofA = stackOfA(stack), T = queries.length, S = keys.length;
    const inA = ofA?.hasHead(layer, head) ? store.head(store.kept, ofA, layer, head) : null;
    const inB = store.head(store.answer, stack, layer, head);
    const joint = (map, side) => {
      const weights = new Float32Array(T * S).fill(NaN), allowed = new Uint8Array(T * S);
      if (map)
        queries.forEach((pair, r) => keys.forEach((other, c) => {
          if (pair[side] === null || other[side] === null) return;
          const at = pair[side] * map.S + other[side];
          weights[r * S + c] = map.weights[at];
          allowed[r * S + c] = map.allowed[at];
        }));
      return {weights, allowed, T, S};
    };
    const a = joint(inA, 0), b = joint(inB, 1);
    const difference = {weights: b.weights.map((weight, i) => weight - a.weights[i]), allowed: b.allowed, T, S};
    return {a, b, difference};
  }

  function tokens(stack) {
    const ofA = stackOfA(stack), {queries, keys} = axes(stack);
    return {
      rows: queries.map(([a, b]) => b === null ? ofA.queryTokens[a] : stack.queryTokens[b]),
      cols: keys.map(([a, b]) => b === null ? ofA.keyTokens[a] : stack.keyTokens[b]),
    };
  }

  function draw(w = width, h = height) {
    [width, height] = [w, h];
    const {stack, layer, head} = store.chosen(), {rows, cols} = tokens(stack);
    maps = mapsOf(stack, layer, head);
    // Three beside each other where there is room, else A and B above their difference.
    const side = width > 900 ? (width - 32) / 3 : width > 480 ? (width - 16) / 2 : width;
    const top = niceTop(Math.max(largestOf(maps.a), largestOf(maps.b)));
    let far = 0;
    for (const value of maps.difference.weights) if (Math.abs(value) > far) far = Math.abs(value);
    const scales = {A: {log: store.view.log, top}, B: {log: store.view.log, top}, difference: {diverging: true, top: niceTop(far)}};
    const titles = {A: `A · ${page.compare.label_a}`, B: `B · ${page.compare.label_b}`, difference: 'B − A'};
    for (const panel of panels) {
      const map = panel.kind === 'A' ? maps.a : panel.kind === 'B' ? maps.b : maps.difference;
      const whole = {row: 0, rows: map.T, col: 0, cols: map.S};
      const layout = layoutMap(side, Math.min(height, side), whole, rows, cols);
      panel.layout = layout;
      panel.title.textContent = `${titles[panel.kind]} · ${headName(layer, head)}`;
      const {context, ratio} = fitted(panel.canvas, side, layout.height);
      const box = {x: Math.round(layout.x * ratio), y: Math.round(layout.y * ratio), w: Math.round(layout.w * ratio), h: Math.round(layout.h * ratio)};
      const picture = panel.kind === 'difference' ? pooledDifference(map, whole, box.h, box.w) : pooled(map, whole, box.h, box.w);
      drawPicture(context, picture, box, scales[panel.kind]);
      context.scale(ratio, ratio);
      drawLabels(context, layout, ink(), lit && {row: lit.row, col: lit.col});
      if (lit) {
        context.strokeStyle = ink().accent;
        context.lineWidth = 2;
        context.strokeRect(layout.x + lit.col * layout.cell, layout.y + lit.row * layout.cell, Math.max(2, layout.cell), Math.max(2, layout.cell));
      }
      panel.canvas.setAttribute('aria-label', panel.title.textContent);
    }
    if (!lit) sentence.textContent = say('pinned_hint');
    else {
      const at = lit.row * maps.a.S + lit.col, text = (weight) => Number.isNaN(weight) ? say('only_other') : percent(weight);
      sentence.textContent = `\u2068${axisLabel(rows[lit.row])}\u2069 → \u2068${axisLabel(cols[lit.col])}\u2069: A ${text(maps.a.weights[at])}, ` +
        `B ${text(maps.b.weights[at])}${Number.isNaN(maps.difference.weights[at]) ? '' : `, B − A ${signedCellNumber(maps.difference.weights[at]) || '0'}`}`;
    }
  }

  function point(event, kind, pin) {
    const {canvas, layout} = panels.find((panel) => panel.kind === kind), box = canvas.getBoundingClientRect();
    lit = cellAt(layout, event.clientX - box.left, event.clientY - box.top);
    const {stack} = store.chosen(), {queries, keys} = axes(stack);
    if (lit && queries[lit.row][1] !== null && keys[lit.col][1] !== null) {
      const cell = {query: queries[lit.row][1], key: keys[lit.col][1]};
      store.look(pin ? {pinned: cell} : {hovered: cell});
    }
    draw();
  }

  return {draw};
}
