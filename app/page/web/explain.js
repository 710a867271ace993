// Every number behind one weight, down to the products of q and k.

import { make, fill } from './elements.js';
import { briefNumber, headName, percent, quoted, wordsOf } from './labels.js';

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
    const {query, key} = cell, why = store.core.why(stack, layer, head, cell), {q, k} = why;
    const from = quoted(stack.queryTokens[query]), to = quoted(stack.keyTokens[key]), steps = [];
    const step = (title, value, ...details) => steps.push(make('li', {}, make('div', {class: 'step'},
      make('span', {class: 'count', text: `${steps.length + 1}`}), make('span', {class: 'what', text: title}),
      make('span', {class: 'number', text: value})), ...details));
    step(wordsOf('step_products', from, to), briefNumber(why.dot), termsTable(q, k, q.map((number, d) => number * k[d])));
    step(wordsOf('step_scale', briefNumber(why.scale)), briefNumber(why.scaled));
    if (why.capped !== undefined) step(wordsOf('step_cap', briefNumber(why.cap)), briefNumber(why.capped));
    if (why.distance !== undefined) step(wordsOf('step_relative', key - query), briefNumber(why.distance));
    step(wordsOf(why.allowed ? 'step_open' : 'blocked'), briefNumber(why.score ?? -Infinity));
    if (why.share !== undefined)
      step(wordsOf('step_softmax', briefNumber(why.score), briefNumber(why.largest), briefNumber(why.sum)), percent(why.share));
    if (why.edited) step(wordsOf('step_edits'), percent(why.weight));
    if (why.z !== undefined)
      step(wordsOf('step_hands', to), `‖${briefNumber(why.weight * why.value)}‖`, make('p', {class: 'quiet',
        text: store.isOff(stack, layer, head) ? wordsOf('hands_nothing') : wordsOf('hands_in_all', stack.S, briefNumber(why.z))}));
    fill(element, make('h2', {text: wordsOf('numbers_title', from, to, headName(layer, head))}),
      make('p', {class: 'formula', text: 'softmax(q·k × scale + mask) · v'}), make('ol', {class: 'steps'}, ...steps));
  }

  return {draw};
}
