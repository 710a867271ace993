// The words of the sentence: point at one for its row in every head, click to keep it.

import { make, fill } from './elements.js';
import { axisLabel, currentLanguage, wordsOf } from './labels.js';

/** More words than that are not all shown as buttons. */
const MOST_CHIPS = 2000;

export function createSentence(store, element) {
  let chips = {}, marked = [], builtOf = [];

  function line(tokens, side, label) {
    chips[side] = tokens.slice(0, MOST_CHIPS).map((token, i) => {
      const unknown = token.known === false, classes = {special: token.special, pad: token.pad, unknown};
      return make('button', {type: 'button', class: ['chip', ...Object.keys(classes).filter((name) => classes[name])].join(' '),
        tabindex: i === 0 ? '0' : '-1', title: unknown ? wordsOf('tip_unknown') : '', data: {index: i, side}}, make('bdi', {text: axisLabel(token)}));
    });
    return make('div', {class: 'chips', role: 'group', 'aria-label': label}, ...chips[side],
      tokens.length > MOST_CHIPS && make('span', {class: 'quiet', text: `… ${tokens.length - MOST_CHIPS}`}));
  }

  /** The cell that a chip stands for: of a query the one it looks at most. */
  function cellOf(chip) {
    const at = Number(chip.dataset.index);
    return chip.dataset.side === 'query' ? store.strongest(at) : {query: store.view.pinned?.query ?? 0, key: at};
  }
  element.addEventListener('pointerover', (event) => {
    const chip = event.target.closest('.chip');
    if (chip) store.look({hovered: cellOf(chip)});
  });
  element.addEventListener('pointerleave', () => store.look({hovered: null}));
  element.addEventListener('click', (event) => {
    const chip = event.target.closest('.chip');
    if (chip) store.look({pinned: chip.getAttribute('aria-pressed') === 'true' ? null : cellOf(chip)});
  });
  element.addEventListener('keydown', (event) => {
    const chip = event.target.closest('.chip'), next = chip?.[{ArrowRight: 'nextElementSibling', ArrowLeft: 'previousElementSibling'}[event.key]];
    if (!next?.classList.contains('chip')) return;
    event.preventDefault();
    event.stopPropagation();
    [chip.tabIndex, next.tabIndex] = [-1, 0];
    next.focus();
  });

  /** A chip for each token, where they are others than before. */
  function draw() {
    const {queryTokens, keyTokens} = store.stack(), now = [queryTokens, keyTokens, currentLanguage()];
    if (now.every((one, i) => one === builtOf[i])) return;
    builtOf = now;
    chips = {};
    fill(element, line(queryTokens, 'query', wordsOf('queries')), keyTokens !== queryTokens && line(keyTokens, 'key', wordsOf('keys')));
  }

  /** Only what changes is touched: a long sentence has a thousand chips, and the pointer moves often. */
  function mark() {
    const {pinned} = store.view, cell = store.cell();
    for (const chip of marked) {
      chip.classList.remove('from', 'to');
      chip.removeAttribute('aria-pressed');
    }
    const from = cell && chips.query[cell.query], to = cell && (chips.key ?? chips.query)[cell.key];
    const kept = pinned && chips.query[pinned.query];
    marked = [from, to, kept].filter(Boolean);
    from?.classList.add('from');
    to?.classList.add('to');
    kept?.setAttribute('aria-pressed', 'true');
  }

  return {draw, mark};
}
