// The words of the sentence: point at one for its row in every head, click to keep it.

import { make, fill } from './elements.js';
import { axisLabel } from './labels.js';
import { say } from './words.js';

/** More words than that are not all shown as buttons. */
const MOST_CHIPS = 2000;

export function createSentence(store, element) {
  let chips = [];

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
      chips.push({chip, side, i});
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
    chips = [];
    const stack = store.stack();
    fill(element, line(stack.queryTokens, 'query', say('queries')),
      stack.keyTokens === stack.queryTokens ? null : line(stack.keyTokens, 'key', say('keys')));
    mark();
  }

  function mark() {
    const {pinned, hovered} = store.view, cell = hovered ?? pinned, one = store.stack().queryTokens === store.stack().keyTokens;
    for (const {chip, side, i} of chips) {
      chip.classList.toggle('from', side === 'query' && cell?.query === i);
      chip.classList.toggle('to', Boolean(cell) && cell.key === i && (side === 'key' || one));
      chip.setAttribute('aria-pressed', String(pinned?.query === i && side === 'query'));
    }
  }

  return {build, mark};
}
