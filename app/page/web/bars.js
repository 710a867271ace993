// The row of one word as a table of words and bars, for sighted readers and for screen readers.

import { colourOf } from './colour.js';
import { button, make, fill, toggle } from './elements.js';
import { axisLabel, cellSentence, headName, headNote, percent, quoted, wordsOf } from './labels.js';

/** A row of more keys shows the strongest. */
const MOST_BARS = 12;

export function createBars(store, header, body) {
  const sentence = make('p', {class: 'sentence', 'aria-live': 'polite'});
  const table = make('table', {class: 'bars', id: 'row-table'});
  const why = button('link', '', () => store.look({explain: !store.view.explain}));
  body.append(make('div', {class: 'sentence-line'}, sentence, why), table);

  /** The name of the head, what it did, and its switch. */
  function drawHead() {
    const {stack, layer, head} = store.chosen(), on = !store.isOff(stack, layer, head);
    const note = headNote(store, stack, layer, head);
    fill(header, make('div', {class: 'head-line'},
      make('h2', {class: 'head-title', text: (store.answer.stacks.length > 1 ? `${wordsOf(`stack_${stack.name}`)} ` : '') + headName(layer, head)}),
      make('p', {class: 'notes'}, note && make('span', {class: 'relation', text: note.name})),
      toggle(wordsOf(on ? 'head_is_on' : 'head_is_off'), wordsOf('tip_on_off'), on, () => store.switchHead(store.chosen()))));
  }

  /** The row under the pointer, or of the pinned cell. */
  function draw() {
    const {stack, layer, head} = store.chosen(), cell = store.cell();
    why.hidden = !store.view.pinned || stack.given;
    why.textContent = wordsOf(store.view.explain ? 'close' : 'numbers');
    if (!cell) {
      sentence.textContent = wordsOf('pinned_hint');
      return fill(table);
    }
    const {query, key} = cell, row = store.row(stack, layer, head, query), from = stack.queryTokens[query];
    const allowed = store.mask(stack, layer).allowed.subarray(query * stack.S, (query + 1) * stack.S);
    const isOpen = (j) => allowed[j] !== 0 || row[j] > 0;
    const pinned = store.view.pinned?.query === query && store.view.pinned.key === key;
    const arc = pinned ? headNote(store, stack, layer, head)?.arcs.find((one) => one.query === query && one.key === key) : null;
    sentence.textContent = isOpen(key) ? cellSentence(from, stack.keyTokens[key], row[key], arc)
      : `${quoted(from)} → ${quoted(stack.keyTokens[key])}: ${wordsOf('blocked')}`;
    const all = [...stack.keyTokens.keys()], few = all.length > MOST_BARS;
    const keys = few ? all.sort((a, b) => row[b] - row[a]).slice(0, MOST_BARS) : all;
    const line = (j) => make('tr', {class: j === key && 'lit', on: {click: () => store.look({pinned: {query, key: j}})}},
      make('th', {scope: 'row'}, make('bdi', {text: axisLabel(stack.keyTokens[j])})),
      make('td', {class: 'bar', 'aria-hidden': 'true'}, allowed[j] ? make('span', {class: 'fill',
        style: {width: `${100 * Math.min(1, row[j])}%`, backgroundColor: colourOf({top: store.top}, row[j])}})
        : make('span', {class: 'fill blocked', style: {width: '100%'}})),
      make('td', {class: 'number', text: isOpen(j) ? percent(row[j]) : wordsOf('blocked_short')}));
    const rest = keys.reduce((left, j) => left - row[j], row.reduce((a, b) => a + b, 0));
    fill(table, make('caption', {}, make('bdi', {text: axisLabel(from)}), ` ${wordsOf('attends')}`),
      make('tbody', {}, ...keys.map(line), few && make('tr', {class: 'rest'},
        make('th', {scope: 'row', text: wordsOf('other_words', stack.S - keys.length)}), make('td'),
        make('td', {class: 'number', text: percent(Math.max(0, rest))}))));
  }

  return {draw, drawHead};
}
