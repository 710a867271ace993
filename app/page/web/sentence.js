// The words of the sentence: point at one for its row in every head, click to keep it.

import { make, fill } from './elements.js';
import { axisLabel } from './labels.js';
import { say } from './words.js';

/** More words than that are not all shown as buttons. */
const MOST_CHIPS = 2000;

export function createSentence(store, element) {
  let chips = new Map(), marked = [];

  /** The key that a query looks at most, in the chosen head. */
  function strongest(query) {
    const {stack, layer, head} = store.chosen(), row = store.row(store.answer, stack, layer, head, query);
    let best = 0;
    for (let j = 1; j < row.length; ++j) if (row[j] > row[best]) best = j;
    return {query, key: best};
  }

  function line(tokens, side, label) {
    const shown = tokens.slice(0, MOST_CHIPS).map((token, i) => {
      const classes = ['chip', token.special ? 'special' : '', token.pad ? 'pad' : '', token.known === false ? 'unknown' : ''];
      const chip = make('button', {type: 'button', class: classes.filter(Boolean).join(' '), tabindex: i === 0 ? '0' : '-1',
        title: token.known === false ? say('tip_unknown') : '', data: {place: i, side}}, make('bdi', {text: axisLabel(token)}));
      chips.set(`${side} ${i}`, chip);
      return chip;
    });
    return make('div', {class: 'chips', role: 'group', 'aria-label': label}, ...shown,
      tokens.length > MOST_CHIPS ? make('span', {class: 'quiet', text: `… ${tokens.length - MOST_CHIPS}`}) : null);
  }

  element.addEventListener('pointerover', (event) => {
    const chip = event.target.closest('.chip');
    if (chip?.dataset.side === 'query') store.look({hovered: strongest(Number(chip.dataset.place))});
    else if (chip) store.look({hovered: {query: store.view.pinned?.query ?? 0, key: Number(chip.dataset.place)}});
  });
  element.addEventListener('pointerleave', () => store.look({hovered: null}));
  element.addEventListener('click', (event) => {
    const chip = event.target.closest('.chip');
    if (!chip) return;
    const place = Number(chip.dataset.place);
    if (chip.dataset.side === 'key') return store.look({pinned: {query: store.view.pinned?.query ?? 0, key: place}});
    store.look({pinned: store.view.pinned?.query === place ? null : strongest(place)});
  });
  element.addEventListener('keydown', (event) => {
    const chip = event.target.closest('.chip'), step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!chip || !step) return;
    event.preventDefault();
    event.stopPropagation();
    const next = step > 0 ? chip.nextElementSibling : chip.previousElementSibling;
    if (!next?.classList.contains('chip')) return;
    chip.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });

  function build() {
    chips = new Map();
    marked = [];
    const stack = store.stack();
    fill(element, line(stack.queryTokens, 'query', say('queries')),
      stack.keyTokens === stack.queryTokens ? null : line(stack.keyTokens, 'key', say('keys')));
    mark();
  }

  function mark() {
    const {pinned, hovered} = store.view, cell = hovered ?? pinned, one = store.stack().queryTokens === store.stack().keyTokens;
    // Only what changes is touched: a long sentence has a thousand chips, and the pointer moves often.
    for (const chip of marked) {
      chip.classList.remove('from', 'to');
      chip.removeAttribute('aria-pressed');
    }
    marked = [];
    const take = (side, i, change) => {
      const chip = chips.get(`${side} ${i}`);
      if (!chip) return;
      change(chip);
      marked.push(chip);
    };
    if (cell) take('query', cell.query, (chip) => chip.classList.add('from'));
    if (cell) take(one ? 'query' : 'key', cell.key, (chip) => chip.classList.add('to'));
    if (pinned) take('query', pinned.query, (chip) => chip.setAttribute('aria-pressed', 'true'));
  }

  return {build, mark};
}
