// Numbers in words, for sighted readers and for screen readers: the row of one word as a table of words and bars; every
// number behind one weight, down to the products of q and k; and what the program computed of the answer besides its
// weights: the guess after each layer, and which parts of A bring its answer back in B.

import { button, fill, make, quiet, toggle } from './elements.js';
import { briefNumber, either, headName, isolated, mapName, percent, quoted, wordsOf } from './look.js';

/** A row of more keys shows the strongest. */
const MOST_BARS = 12;

export function createBars(store, header, line, table) {
  const sentence = make('p', {class: 'sentence', 'aria-live': 'polite'});
  const why = button('link', '', () => store.look({explain: !store.view.explain}));
  line.append(sentence, why);

  /** The name of the head, what it did, and its switch. */
  function drawHead() {
    const {stack, layer, head} = store.chosen(), on = !store.isOff(stack, layer, head);
    const {words, named} = store.nameOf({layer, head});
    const stackName = store.answer.stacks.length > 1 ? `${wordsOf(`stack_${stack.name}`)} ` : '';
    fill(header, make('div', {class: 'head-line'},
      make('h2', {class: 'head-title', text: stackName + mapName(store.answer.summedUp, layer, head)}),
      make('p', {class: 'notes'}, words && make('span', {class: named ? 'relation' : 'quiet', text: words})),
      toggle(on ? 'head_is_on' : 'head_is_off', 'tip_on_off', on, () => store.switchHead(store.chosen()))));
  }

  /** The row under the pointer, or of the pinned cell; `isSeen`: not only by screen readers. */
  function draw(isSeen) {
    const {stack} = store.chosen(), cell = store.cell();
    why.hidden = !store.view.pinned || stack.given;
    why.textContent = wordsOf(store.view.explain ? 'close' : 'numbers');
    table.classList.toggle('unseen', !isSeen);
    const row = cell && store.core.row({...store.asked(), ...(store.view.hovered && store.view.hoveredHead)});
    sentence.textContent = row ? isolated(row.line) : wordsOf('pinned_hint');
    if (!row) return fill(table);
    const {words, lit} = row, few = words.length > MOST_BARS;
    const all = words.map((word, i) => ({...word, isLit: i === lit}));
    const shown = few ? all.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight)).slice(0, MOST_BARS) : all;
    const {isSigned} = store.answer, most = isSigned ? Math.max(...all.map(({weight}) => Math.abs(weight))) : 1;
    const kindOf = (weight, share) => share === '' ? 'fill blocked' : weight < 0 ? 'fill minus' : 'fill';
    const line = ({label, key, weight, share, isLit}) => make('tr', {class: isLit && 'lit',
      on: {click: () => store.look({pinned: {query: cell.query, key}})}},
    make('th', {scope: 'row'}, make('bdi', {text: label})),
    make('td', {class: 'bar', 'aria-hidden': 'true'}, make('span', {class: kindOf(weight, share),
      style: {width: `${share === '' ? 100 : 100 * Math.min(1, Math.abs(weight) / (most || 1))}%`}})),
    make('td', {class: 'number', text: share || wordsOf('blocked_short')}));
    const rest = all.slice(MOST_BARS).reduce((sum, {weight}) => sum + Math.max(0, weight), 0);
    const share = row.rests ? ` · ${wordsOf('rests', row.rests)}` : '';
    fill(table, make('caption', {}, make('bdi', {text: row.from}), share),
      make('tbody', {}, ...shown.map(line), few && make('tr', {class: 'quiet'},
        make('th', {scope: 'row', text: wordsOf('other_words', words.length - shown.length)}), make('td'),
        make('td', {class: 'number', text: isSigned ? '' : percent(rest)}))));
  }

  return {draw, drawHead};
}

/** The largest products are listed one by one. */
const MOST_TERMS = 16;

/** A bar around zero, as long as the number is large. */
function signedBar(value, largest) {
  const side = value < 0 ? 'right' : 'left', width = `${largest > 0 ? 50 * Math.abs(value) / largest : 0}%`;
  return make('span', {class: 'signed', 'aria-hidden': 'true'},
    make('span', {class: value < 0 ? 'minus' : 'plus', style: {width, [side]: '50%'}}));
}

/** The products of q and k, the largest first. */
function termsTable(q, k) {
  const products = q.map((number, d) => number * k[d]), most = Math.max(...products.map(Math.abs));
  const order = [...products.keys()].sort((a, b) => Math.abs(products[b]) - Math.abs(products[a]));
  const rest = order.slice(MOST_TERMS).reduce((total, d) => total + products[d], 0);
  const line = (d) => make('tr', {}, make('th', {scope: 'row', text: `[${d}]`}),
    ...[q[d], k[d], products[d]].map((number) => make('td', {class: 'number', text: briefNumber(number)})),
    make('td', {}, signedBar(products[d], most)));
  const head = make('thead', {}, make('tr', {}, ...['', 'q', 'k', 'q·k', ''].map((text) => make('th', {text}))));
  return make('details', {open: true}, make('summary', {text: wordsOf('terms_of', products.length)}),
    make('table', {class: 'terms'}, head, make('tbody', {}, ...order.slice(0, MOST_TERMS).map(line))),
    order.length > MOST_TERMS && quiet('p', wordsOf('rest_of_terms', order.length - MOST_TERMS, briefNumber(rest))));
}

export function createExplain(store, element) {
  return {draw() {
    const {stack, layer, head} = store.chosen(), cell = store.view.pinned;
    element.hidden = !store.view.explain || !cell || stack.given;
    if (element.hidden) return fill(element);
    const {query, key} = cell, why = store.core.why(stack, layer, head, cell);
    const from = quoted(stack.queryTokens[query]), to = quoted(stack.keyTokens[key]), steps = [];
    const step = (title, value, ...details) => steps.push(make('li', {}, make('div', {class: 'step'},
      make('span', {class: 'count', text: `${steps.length + 1}`}), make('span', {class: 'what', text: title}),
      make('span', {class: 'number', text: value})), ...details));
    step(wordsOf('step_products', from, to), briefNumber(why.dot), termsTable(why.q, why.k));
    step(wordsOf('step_scale', briefNumber(why.scale)), briefNumber(why.scaled));
    if (why.capped !== undefined) step(wordsOf('step_cap', briefNumber(why.cap)), briefNumber(why.capped));
    if (why.distance !== undefined) step(wordsOf('step_relative', key - query), briefNumber(why.distance));
    step(wordsOf(why.allowed ? 'step_open' : 'blocked'), briefNumber(why.score ?? -Infinity));
    if (why.share !== undefined)
      step(wordsOf('step_softmax', ...[why.score, why.largest, why.sum].map(briefNumber)), percent(why.share));
    if (why.edited) step(wordsOf('step_edits'), percent(why.weight));
    if (why.z !== undefined) step(wordsOf('step_hands', to), `‖${briefNumber(why.weight * why.value)}‖`, quiet('p',
      wordsOf(store.isOff(stack, layer, head) ? 'hands_nothing' : 'hands_in_all', stack.S, briefNumber(why.z))));
    fill(element, make('h2', {text: wordsOf('numbers_title', from, to, headName(layer, head))}),
      make('p', {class: 'formula', text: 'softmax(q·k × scale + mask) · v'}), make('ol', {class: 'steps'}, ...steps));
  }};
}

/** A table of the data: its cells are the core's. */
function tableOf(store, table) {
  const {kind, title, note, rows, columns} = table, cells = store.core.table({...store.asked(), table});
  const head = make('tr', {}, make('td'), ...columns.map((text) => make('th', {scope: 'col', text})));
  const cellOf = ([text, title, background, color]) => make('td', {text, title, style: {background, color}});
  const lineOf = (text, i) => make('tr', {}, make('th', {scope: 'row', text}), ...cells[i].map(cellOf));
  return make('figure', {class: 'answer-table', data: {kind}}, make('figcaption', {text: either(title)}),
    make('div', {class: 'scroll'}, make('table', {}, head, ...rows.map(lineOf))), note && quiet('p', either(note)));
}

/** `tables`: those of the data. They belong to the sentence as it was written, without edits. */
export function createTables(store, element, tables) {
  const texts = () => store.answer.stacks.map(({queryTokens}) => queryTokens.map(({text}) => text).join('|')).join();
  const written = texts(), isEdited = () => store.isEdited() || store.edits.off !== store.written.off;
  return {draw() {
    element.hidden = tables.length === 0 || isEdited() || texts() !== written;
    if (!element.hidden) fill(element, ...tables.map((table) => tableOf(store, table)));
  }};
}
