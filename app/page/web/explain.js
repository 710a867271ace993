// Every number behind one weight, down to the products of q and k.

import { make, fill } from './elements.js';
import { axisLabel, briefNumber, headName, percent } from './labels.js';
import { scoreRows, relativeBucket } from './attention.js';
import { sized } from './bars.js';
import { say } from './words.js';

/** A bar around zero, as long as the number is large. */
function signedBar(value, largest) {
  const share = largest > 0 ? 50 * Math.abs(value) / largest : 0;
  return make('span', {class: 'signed', 'aria-hidden': 'true'},
    sized(make('span', {class: value < 0 ? 'minus' : 'plus'}), 'width', `${share}%`, value < 0 ? 'right' : 'left', '50%'));
}

function step(number, title, value, ...details) {
  return make('li', {}, make('div', {class: 'step'}, make('span', {class: 'count', text: `${number}`}),
    make('span', {class: 'what', text: title}), make('span', {class: 'number', text: value})), ...details);
}

export function createExplain(store, element) {
  element.classList.add('explain');

  function draw() {
    const {stack, layer, head} = store.chosen(), cell = store.view.pinned;
    element.hidden = !store.view.explain || !cell || stack.given;
    if (element.hidden) return fill(element);
    const prepared = store.prepared(store.answer, stack, layer, head), {query, key} = cell, {dk, S} = stack;
    const q = prepared.q.subarray(query * dk, (query + 1) * dk), k = prepared.k.subarray(key * dk, (key + 1) * dk);
    const products = Array.from(q, (number, d) => number * k[d]), dot = products.reduce((a, b) => a + b, 0);
    const row = new Float32Array(S);
    scoreRows(prepared, query, 1, row);
    const weights = store.row(store.answer, stack, layer, head, query);
    const largest = row.reduce((a, b) => Math.max(a, b), -Infinity);
    const sum = largest === -Infinity ? 0 : row.reduce((total, score) => total + Math.exp(score - largest), 0);
    const from = `\u2068${axisLabel(stack.queryTokens[query])}\u2069`, to = `\u2068${axisLabel(stack.keyTokens[key])}\u2069`;
    const most = Math.max(...products.map(Math.abs));
    const order = products.map((_, d) => d).sort((a, b) => Math.abs(products[b]) - Math.abs(products[a]));
    const terms = make('table', {class: 'terms'},
      make('thead', {}, make('tr', {}, ...['', 'q', 'k', 'q·k', ''].map((text) => make('th', {text})))),
      make('tbody', {}, ...order.slice(0, 16).map((d) => make('tr', {}, make('th', {scope: 'row', text: `[${d}]`}),
        make('td', {class: 'number', text: briefNumber(q[d])}), make('td', {class: 'number', text: briefNumber(k[d])}),
        make('td', {class: 'number', text: briefNumber(products[d])}), make('td', {}, signedBar(products[d], most))))));
    const rest = order.slice(16).reduce((total, d) => total + products[d], 0);
    const steps = [];
    const next = (...rest) => steps.push(step(steps.length + 1, ...rest));
    next(say('step_products', from, to), briefNumber(dot), make('details', {open: true},
      make('summary', {text: say('terms_of', dk)}), terms,
      dk > 16 ? make('p', {class: 'quiet', text: say('rest_of_terms', dk - 16, briefNumber(rest))}) : null));
    next(say('step_scale', briefNumber(prepared.scale)), briefNumber(dot * prepared.scale));
    if (prepared.relative)
      next(say('step_relative', key - query, relativeBucket(stack.relative(layer), key - query)),
        briefNumber(prepared.relative[key - query + stack.T - 1]));
    const may = prepared.mask.allowed[query * S + key] !== 0;
    next(may ? say('step_open') : say('blocked'), briefNumber(row[key]));
    if (largest > -Infinity)
      next(say('step_softmax', briefNumber(row[key]), briefNumber(largest), briefNumber(sum)), percent(Math.exp(row[key] - largest) / sum));
    if (prepared.dropout || prepared.byHand.length > 0) next(say('step_edits'), percent(weights[key]));
    if (stack.hasValues) {
      const v = stack.v(layer, head), {dv} = stack, z = new Float64Array(dv);
      for (let j = 0; j < S; ++j) for (let d = 0; d < dv; ++d) z[d] += weights[j] * v[j * dv + d];
      const off = store.isOff(stack, layer, head), part = v.subarray(key * dv, (key + 1) * dv);
      const length = (numbers) => Math.hypot(...numbers);
      next(say('step_hands', to), `‖${briefNumber(weights[key] * length(part))}‖`,
        make('p', {class: 'quiet', text: off ? say('hands_nothing') : say('hands_in_all', S, briefNumber(length(z)))}));
    }
    fill(element, make('h2', {text: say('why_title', from, to, headName(layer, head))}),
      make('p', {class: 'formula', text: 'softmax(q·k × scale + mask) · v'}), make('ol', {class: 'steps'}, ...steps));
  }

  return {draw};
}
