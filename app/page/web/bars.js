// The row of one word as a table in words and bars: what sighted readers see and what a screen reader reads aloud.

import { colourOf } from './colour.js';
import { make, fill } from './elements.js';
import { axisLabel, cellSentence, headName, headNotes, percent, stackTitle } from './labels.js';
import { offKey } from './state.js';
import { say } from './words.js';

/** A row of more keys shows the strongest. */
const MOST_BARS = 12;

export function createBars(store, element, colourTop) {
  const title = make('h2', {class: 'head-title'}), notes = make('p', {class: 'notes'});
  const sentence = make('p', {class: 'sentence', 'aria-live': 'polite'});
  const table = make('table', {class: 'bars', id: 'row-table'});
  const offButton = make('button', {type: 'button', class: 'toggle', on: {click: () => switchHead(store, store.stack(), store.view.layer, store.view.head)}});
  const why = make('button', {type: 'button', class: 'link', on: {click: () => store.look({explain: !store.view.explain})}});
  element.header.append(make('div', {class: 'head-line'}, title, notes, offButton));
  element.body.append(make('div', {class: 'sentence-line'}, sentence, why), table);

  function drawHeader() {
    const {stack, layer, head} = store.chosen(), off = store.isOff(stack, layer, head);
    title.textContent = (store.answer.stacks.length > 1 ? `${stackTitle(stack.name)} ` : '') + headName(layer, head);
    fill(notes, ...headNotes(store.answer, stack, layer, head).slice(0, 2).map((one) => make('span', {
      class: one.doubted ? 'relation doubted' : 'relation',
      title: say('tip_relation', percent(one.score), percent(one.alone ?? 0), percent(one.random ?? 0)) +
        (one.doubted ? ` ${say('tip_doubted')}` : '')},
      make('span', {text: one.name}),
      make('span', {class: 'meter', 'aria-hidden': 'true'},
        sized(make('span', {class: 'meter-fill'}), 'width', `${100 * one.score}%`),
        one.alone === undefined ? null : sized(make('span', {class: 'meter-tick'}), 'left', `${100 * one.alone}%`)),
      make('span', {class: 'number', text: one.score.toFixed(2)}))));
    fill(offButton, make('span', {class: 'box', 'aria-hidden': 'true'}), make('span', {text: say(off ? 'head_is_off' : 'head_is_on')}));
    offButton.setAttribute('aria-pressed', String(!off));
    offButton.title = say('tip_on_off');
  }

  function draw() {
    drawHeader();
    const {stack, layer, head} = store.chosen(), cell = store.cell();
    why.hidden = !store.view.pinned || stack.given;
    why.textContent = store.view.explain ? say('close_why') : say('why');
    if (!cell) {
      sentence.textContent = say('pinned_hint');
      fill(table);
      return;
    }
    const row = store.row(store.answer, stack, layer, head, cell.query);
    const {allowed} = store.mask(store.answer, stack, layer), from = cell.query * stack.S;
    const may = allowed[from + cell.key] !== 0;
    sentence.textContent = may || row[cell.key] > 0
      ? cellSentence(stack.queryTokens[cell.query], stack.keyTokens[cell.key], row[cell.key])
      : `\u2068${axisLabel(stack.queryTokens[cell.query])}\u2069 → \u2068${axisLabel(stack.keyTokens[cell.key])}\u2069: ${say('blocked')}`;
    let keys = Array.from({length: stack.S}, (_, j) => j);
    const all = keys.length;
    if (all > MOST_BARS) keys = keys.sort((a, b) => row[b] - row[a]).slice(0, MOST_BARS);
    const scale = {log: false, top: colourTop()};
    const line = (j) => make('tr', {class: j === cell.key ? 'lit' : null,
      on: {click: () => store.look({pinned: {query: cell.query, key: j}})}},
      make('th', {scope: 'row'}, make('bdi', {text: axisLabel(stack.keyTokens[j])})),
      make('td', {class: 'bar', 'aria-hidden': 'true'}, sized(make('span', {class: allowed[from + j] ? 'fill' : 'fill blocked'}),
        'width', allowed[from + j] ? `${100 * Math.min(1, row[j])}%` : '100%', 'backgroundColor', allowed[from + j] ? colourOf(scale, row[j]) : '')),
      make('td', {class: 'number', text: allowed[from + j] || row[j] > 0 ? percent(row[j]) : say('blocked_short')}));
    const rest = keys.length < all ? Math.max(0, row.reduce((a, b) => a + b, 0) - keys.reduce((a, j) => a + row[j], 0)) : 0;
    fill(table, make('caption', {}, make('bdi', {text: axisLabel(stack.queryTokens[cell.query])}), ` ${say('row_of')}`),
      make('tbody', {}, ...keys.map(line), keys.length < all ? make('tr', {class: 'rest'},
        make('th', {scope: 'row', text: say('other_words', all - keys.length)}), make('td'),
        make('td', {class: 'number', text: percent(rest)})) : null));
  }

  return {draw};
}

/** Sets styles of an element by script: the page's policy lets no markup have any. */
export function sized(element, ...styles) {
  for (let i = 0; i < styles.length; i += 2) element.style[styles[i]] = styles[i + 1];
  return element;
}

/** Switches a head off, or on again. */
export function switchHead(store, stack, layer, head) {
  const off = new Set(store.edits.off), key = offKey(stack, layer, head);
  if (!off.delete(key)) off.add(key);
  store.edit({off});
}
