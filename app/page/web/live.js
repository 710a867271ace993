// The reader's sentence: the model in the page answers it, and the new answer replaces the written one.

import { inflated } from './bytes.js';
import { changesOf, sidesOf } from './data.js';
import { button, byId, make, fill } from './elements.js';
import { percent, wordsOf } from './labels.js';

/** More words than that are refused: the page would stand still. */
const MOST_TOKENS = 256, MOST_WRITTEN = 16384, GUESSES = 8, MODEL = '/model';
/** The fields of a request that belong to the sentence that it was written for. */
const OF_SENTENCE = ['ids', 'decoder_ids', 'cuts', 'target_cuts', 'text_pair', 'chat', 'chat_open', 'token_type_ids', 'pad', 'target', 'weights',
  'dropout', 'dropout_seed'];

/** Puts the model's files into the core. */
export async function openModel(core, {files}) {
  for (const {names, data} of files) {
    const bytes = await inflated(data);
    for (const name of names) core.put(name, bytes);
  }
}

export function createLive(store, page) {
  const {live, request: asked} = page, {core, answer} = store, {stacks} = answer, both = stacks.some(({number}) => number === 2);
  // The fields that belong to the written sentence, to be restored with it.
  const written = {edits: answer.edits, relations: answer.relations, masks: stacks.map(({mask}) => mask)};
  const base = {...asked, ...(live.source && {source: MODEL})}, elsewhere = {...base};
  for (const field of OF_SENTENCE) delete elsewhere[field];
  let answering = 0, likely = [];  // of the answer: where its next words stand, and these

  /** Puts an answer of the core into the stacks of the page. */
  function take(found) {
    for (const stack of found.stacks) {
      const own = stacks.find(({number}) => number === stack.number);
      if (own) Object.assign(own, sidesOf(stack, found), {thumbnails: null});
    }
    ({answering} = found);
    answer.warnings = found.warnings;
    store.forget();
    likely = guesses();
    return found;
  }

  /** The masks and edits of the sentence that was written; of another one those that do not count its tokens. */
  function takeWritten(same) {
    const anywhere = ({given, batch, painted, ...mask}) => mask, {weights, dropout, seed, layer_edits: layers = [], ...edits} = written.edits;
    answer.edits = same ? written.edits
      : {...edits, layer_edits: layers.map((edit) => edit.mask ? {...edit, mask: anywhere(edit.mask)} : edit)};
    stacks.forEach((stack, i) => { stack.mask = same ? written.masks[i] : anywhere(written.masks[i]); });
  }

  /** Answers a sentence; of an encoder-decoder with its target, which is written by the model where there is none. */
  async function ask(text, target = null) {
    if (typeof text !== 'string' || text.trim() === '') throw new Error(wordsOf('empty_text'));
    const same = text === asked.text && (!both || target === asked.target), given = both && target !== null && target.trim() !== '';
    const texts = same ? {...base, sentence: page.view.sentence ?? 0} : {...elsewhere, text, ...(given ? {target} : both ? {target: '', write: true} : {})};
    takeWritten(same);
    store.renew();
    try {
      take(core.ask({...texts, ...changesOf(answer, store.edits)}, MOST_TOKENS));
    } catch (error) {
      throw error.tooMany ? new Error(wordsOf('too_many_words', MOST_TOKENS, error.tooMany)) : error;
    }
    answer.relations = same ? written.relations : [];  // the page does not compute named arcs
    store.notify({answer: true});
    const [tokens, reply] = both ? [stacks.find(({number}) => number !== 0).keyTokens, stacks.find(({number}) => number === 0)?.queryTokens]
      : [stacks[0].queryTokens, null];
    return {tokens: tokens.map((token) => token.text), target: reply?.map((token) => token.text), next: guesses()};
  }

  function guesses() { return core.guesses(GUESSES); }

  const input = make('input', {type: 'text', id: 'ask', autocomplete: 'off', spellcheck: 'false', value: asked.text ?? '', maxlength: '2000'});
  const submit = button('primary', '', null, {type: 'submit'}), problem = make('p', {class: 'doubt', role: 'status'});
  const words = make('div', {class: 'guesses'});
  byId('ask-area').append(make('form', {class: 'ask', on: {submit: (event) => {
    event.preventDefault();
    problem.textContent = '';
    ask(input.value).catch((error) => { problem.textContent = error.message; });
  }}}, input, submit), problem);
  byId('guess-area').append(words);

  function draw() {
    input.setAttribute('aria-label', wordsOf('ask_hint'));
    input.placeholder = wordsOf('ask_hint');
    submit.textContent = wordsOf('ask');
    const tokens = (stacks.find(({number}) => number === 0) ?? stacks[0]).queryTokens, unknown = tokens.filter((token) => token.known === false);
    if (likely.length === 0) return fill(words);
    const where = tokens[answering]?.text ?? '';
    const name = ['<mask>', '[MASK]'].includes(where) ? 'guess_masked' : live.encoder ? 'guess_same' : 'guess_next';
    fill(words, make('span', {class: 'quiet', text: wordsOf(name, where)}), ...likely.map((word) => make('span', {class: 'guess'},
      make('bdi', {text: word.text.trim() || word.text}), make('span', {class: 'number', text: percent(word.probability)}))));
    if (unknown.length > 0) problem.textContent = wordsOf('unknown_words', unknown.slice(0, 6).map((token) => token.text).join(' '));
  }

  // The same answer as was written, now computed here: so that edits reach the layers above.
  take(core.ask({...base, ...changesOf(answer, store.edits), sentence: page.view.sentence ?? 0}, MOST_WRITTEN));
  store.change = (changes) => take(core.change(changes));
  return {ask, draw, guesses};
}
