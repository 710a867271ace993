// Two answers beside each other: A, B and B − A of the chosen head, on the words that both have.

import { ink, niceTop } from './colour.js';
import { make } from './elements.js';
import { either, headName, percent, quoted, signedCellNumber, wordsOf } from './labels.js';
import { cellAt, drawLabels, drawMap, largestOf, layoutMap, wholePart } from './map.js';

export function createCompare(store, element, page) {
  const names = {A: () => `A · ${either(page.compare.label_a)}`, B: () => `B · ${either(page.compare.label_b)}`, difference: () => 'B − A'};
  const panels = Object.entries(names).map(([kind, nameOf]) => {
    const panel = {kind, nameOf, canvas: make('canvas', {class: 'map', role: 'img'}), title: make('h3'), layout: null};
    element.append(make('div', {class: 'panel'}, panel.title, panel.canvas));
    panel.canvas.addEventListener('pointermove', (event) => point(event, panel, 'hovered'));
    panel.canvas.addEventListener('click', (event) => point(event, panel, 'pinned'));
    panel.canvas.addEventListener('pointerleave', () => { lit = null; draw(); });
    return panel;
  });
  const sentence = make('p', {class: 'sentence', 'aria-live': 'polite'});
  element.append(sentence);
  let lit = null, width = 600, height = 400;

  /** The joint axes: pairs [index in A, index in B], null where only the other has the word; with the stack of A. */
  function axes(stack) {
    const ofA = store.kept.stacks.find((one) => one.name === stack.name), joint = page.compare.axes[stack.name];
    const alone = (tokens) => tokens.map((_, i) => [null, i]);
    return {ofA, queries: joint?.queries ?? alone(stack.queryTokens), keys: joint?.keys ?? alone(stack.keyTokens)};
  }

  /** The map of a head of one answer on the joint axes; NaN where a word is not in that answer. */
  function jointMap(stack, layer, head, side, {queries, keys}) {
    const T = queries.length, S = keys.length, map = stack?.hasHead(layer, head) ? store.head(stack, layer, head) : null;
    const weights = new Float32Array(T * S).fill(NaN), allowed = new Uint8Array(T * S);
    queries.forEach((query, r) => keys.forEach((key, c) => {
      if (!map || query[side] === null || key[side] === null) return;
      const at = query[side] * map.S + key[side];
      weights[r * S + c] = map.weights[at];
      allowed[r * S + c] = map.allowed[at];
    }));
    return {weights, allowed, T, S};
  }

  function draw(w = width, h = height) {
    [width, height] = [w, h];
    for (const {title} of panels) title.parentElement.hidden = !store.kept;
    if (!store.kept) return void (sentence.textContent = wordsOf('site_keep_hint'));
    const {stack, layer, head} = store.chosen(), joint = axes(stack), {ofA, queries, keys} = joint;
    const rows = queries.map(([a, b]) => b === null ? ofA.queryTokens[a] : stack.queryTokens[b]);
    const cols = keys.map(([a, b]) => b === null ? ofA.keyTokens[a] : stack.keyTokens[b]);
    const maps = {A: jointMap(ofA, layer, head, 0, joint), B: jointMap(stack, layer, head, 1, joint)};
    maps.difference = {...maps.B, weights: maps.B.weights.map((weight, i) => weight - maps.A.weights[i])};
    // Three beside each other where there is room, else A and B above their difference.
    const side = width > 900 ? (width - 32) / 3 : width > 480 ? (width - 16) / 2 : width;
    const scale = {log: store.view.log, top: niceTop(Math.max(largestOf(maps.A), largestOf(maps.B)))};
    const far = largestOf({weights: maps.difference.weights.map(Math.abs)});
    for (const panel of panels) {
      const map = maps[panel.kind], layout = layoutMap(side, Math.min(height, side), wholePart(map), rows, cols);
      panel.layout = layout;
      panel.title.textContent = `${panel.nameOf()} · ${headName(layer, head)}`;
      const context = drawMap(panel.canvas, side, layout, map, panel.kind === 'difference' ? {diverging: true, top: niceTop(far)} : scale);
      drawLabels(context, layout, ink(), lit);
      if (lit) {
        context.strokeStyle = ink().accent;
        context.lineWidth = 2;
        const extent = Math.max(2, layout.cell);
        context.strokeRect(layout.x + lit.col * layout.cell, layout.y + lit.row * layout.cell, extent, extent);
      }
      panel.canvas.setAttribute('aria-label', panel.title.textContent);
    }
    const at = lit && lit.row * keys.length + lit.col, difference = lit && maps.difference.weights[at];
    const text = ({weights}) => Number.isNaN(weights[at]) ? wordsOf('only_other') : percent(weights[at]);
    sentence.textContent = !lit ? wordsOf('pinned_hint')
      : `${quoted(rows[lit.row])} → ${quoted(cols[lit.col])}: A ${text(maps.A)}, B ${text(maps.B)}` +
        (Number.isNaN(difference) ? '' : `, B − A ${signedCellNumber(difference) || '0'}`);
  }

  function point(event, {layout}, what) {
    if (!layout) return;
    const {queries, keys} = axes(store.stack());
    lit = cellAt(layout, event.offsetX, event.offsetY);
    if (lit && queries[lit.row][1] !== null && keys[lit.col][1] !== null)
      store.look({[what]: {query: queries[lit.row][1], key: keys[lit.col][1]}});
    draw();
  }

  return {draw};
}
