// The line that offers to change a word: what other words do to the row of the pinned cell, the reader's own word as it
// is typed.

import { button, fill, make, quiet } from './elements.js';
import { taste, wordsOf } from './look.js';

/** Milliseconds without a change of the page after which other words are tried: meanwhile it answers nothing. */
const RESTS = 600;

/** `live` answers the sentences; a page without a model has no such line. */
export function createChanges(store, live, element) {
  const lead = quiet('label', ''), offers = make('span', {class: 'offers', 'aria-live': 'polite'});
  const own = make('input', {type: 'text', id: 'own-word', autocomplete: 'off', spellcheck: 'false', maxlength: '40',
    on: {input: () => draw()}});
  lead.htmlFor = own.id;
  element.append(lead, own, offers);
  let asked = '', searched = '', waits = 0;

  const row = () => ({...store.asked(), query: store.view.pinned.query, own: own.value.trim()});
  /** What the line depends on besides the word: another answer, another row. */
  const rowKey = () => [store.version, taste.language, store.view.stack, store.view.layer, store.view.head,
    store.view.pinned?.query, store.view.foldSpecial, store.edits.off.size].join(' ');

  function show(found) {
    element.hidden = !found;
    if (!found) return;
    fill(offers, found.none && quiet('span', found.none), ...found.offers.map(({label, tip, text, key}) =>
      button('link', label, () => take(text, key), {title: tip})));
  }
  /** Asks about the sentence with the word; the cell stays pinned. */
  async function take(text, key) {
    const {layer, head, pinned} = store.view;
    await live.change(text);
    own.value = '';
    store.look({layer, head, pinned: pinned ?? {query: 0, key}});
  }

  function search() {
    if (live.isTyping() || !store.view.pinned || searched === rowKey()) return;
    searched = rowKey();
    show(store.core.changes(row(), true));
  }

  function draw() {
    if (!live.isStarted() || store.view.view !== 'sentence' || !store.view.pinned) {
      element.hidden = true;
      asked = '';
      return;
    }
    lead.textContent = wordsOf('change_a_word');
    Object.assign(own, {placeholder: wordsOf('own_word'), title: wordsOf('tip_own_word')});
    const key = rowKey(), word = own.value.trim(), now = `${key} ${word}`;
    if (now === asked) return;
    asked = now;
    clearTimeout(waits);
    const {rests} = store.core.row({...store.asked(), hovered: null}), isResting = parseFloat(rests) >= 50;
    const isKnown = searched === key, found = isResting ? null : store.core.changes(row(), false);
    show(found);
    if (!found || isKnown) return;
    if (!word) fill(offers, quiet('span', wordsOf('trying_words')));
    waits = setTimeout(search, RESTS);
  }
  return {draw};
}
