// Every number behind one weight, down to the products of q and k.

import { make, fill } from './elements.js';
import { briefNumber, headName, percent, quoted, wordsOf } from './labels.js';
import { scoreRows } from './attention.js';

/** The largest products are listed one by one. */
const MOST_TERMS = 16;

/** A bar around zero, as long as the number is large. */
function signedBar(value, largest) {
  const side = value < 0 ? 'right' : 'left', width = `${largest > 0 ? 50 * Math.abs(value) / largest : 0}%`;
  return make('span', {class: 'signed', 'aria-hidden': 'true'},
    make('span', {class: value < 0 ? 'minus' : 'plus', style: {width, [side]: '50%'}}));
}

/** The products of q and k, the largest first. */
function termsTable(q, k, products) {
  const most = Math.max(...products.map(Math.abs));
  const order = [...products.keys()].sort((a, b) => Math.abs(products[b]) - Math.abs(products[a]));
  const rest = order.slice(MOST_TERMS).reduce((total, d) => total + products[d], 0);
  const line = (d) => make('tr', {}, make('th', {scope: 'row', text: `[${d}]`}),
    ...[q[d], k[d], products[d]].map((number) => make('td', {class: 'number', text: briefNumber(number)})),
    make('td', {}, signedBar(products[d], most)));
  return make('details', {open: true}, make('summary', {text: wordsOf('terms_of', products.length)}), make('table', {class: 'terms'},
    make('thead', {}, make('tr', {}, ...['', 'q', 'k', 'q·k', ''].map((text) => make('th', {text})))),
    make('tbody', {}, ...order.slice(0, MOST_TERMS).map(line))),
  order.length > MOST_TERMS && make('p', {class: 'quiet', text: wordsOf('rest_of_terms', order.length - MOST_TERMS, briefNumber(rest))}));
}

export function createExplain(store, element) {
  element.classList.add('explain');

  function draw() {
    const {stack, layer, head} = store.chosen(), cell = store.view.pinned;
    element.hidden = !store.view.explain || !cell || stack.given;
    if (element.hidden) return fill(element);
    const prepared = store.prepared(stack, layer, head), {query, key} = cell, {dk, S} = stack;
    const q = prepared.q.subarray(query * dk, (query + 1) * dk), k = prepared.k.subarray(key * dk, (key + 1) * dk);
    const products = Array.from(q, (number, d) => number * k[d]), dot = products.reduce((a, b) => a + b, 0);
    const row = new Float32Array(S), weights = store.row(stack, layer, head, query);
    scoreRows(prepared, query, 1, row);
    const largest = Math.max(...row), sum = row.reduce((total, score) => total + Math.exp(score - largest), 0);
    const from = quoted(stack.queryTokens[query]), to = quoted(stack.keyTokens[key]), steps = [];
    const step = (title, value, ...details) => steps.push(make('li', {}, make('div', {class: 'step'},
      make('span', {class: 'count', text: `${steps.length + 1}`}), make('span', {class: 'what', text: title}),
      make('span', {class: 'number', text: value})), ...details));
    step(wordsOf('step_products', from, to), briefNumber(dot), termsTable(q, k, products));
    step(wordsOf('step_scale', briefNumber(prepared.scale)), briefNumber(dot * prepared.scale));
    if (prepared.relative)
      step(wordsOf('step_relative', key - query), briefNumber(prepared.relative[key - query + stack.T - 1]));
    step(wordsOf(prepared.mask.allowed[query * S + key] ? 'step_open' : 'blocked'), briefNumber(row[key]));
    if (largest > -Infinity)
      step(wordsOf('step_softmax', briefNumber(row[key]), briefNumber(largest), briefNumber(sum)), percent(Math.exp(row[key] - largest) / sum));
    if (prepared.dropout || prepared.byHand.length > 0) step(wordsOf('step_edits'), percent(weights[key]));
    if (stack.hasValues) {
      const v = stack.v(layer, head), {dv} = stack, z = new Float64Array(dv);
      for (let j = 0; j < S; ++j) for (let d = 0; d < dv; ++d) z[d] += weights[j] * v[j * dv + d];
      const length = Math.hypot(...v.subarray(key * dv, (key + 1) * dv));
      step(wordsOf('step_hands', to), `‖${briefNumber(weights[key] * length)}‖`, make('p', {class: 'quiet',
        text: store.isOff(stack, layer, head) ? wordsOf('hands_nothing') : wordsOf('hands_in_all', S, briefNumber(Math.hypot(...z)))}));
    }
    fill(element, make('h2', {text: wordsOf('numbers_title', from, to, headName(layer, head))}),
      make('p', {class: 'formula', text: 'softmax(q·k × scale + mask) · v'}), make('ol', {class: 'steps'}, ...steps));
  }

  return {draw};
}
