// The reader's sentence: the model in the page answers it, and the new answer replaces the written one.

import { changesOf, inflated, sidesOf, stackOf } from './data.js';
import { byId, fill, make, quiet } from './elements.js';
import { percent, wordsOf } from './look.js';

/** Milliseconds after its last key at which a text rests (app/session/typing.h). */
const TEXT_RESTS = 400;
/** More words than that are refused: the page would stand still. */
const MOST_TOKENS = 256, MOST_WRITTEN = 16384, GUESSES = 8, MODEL = '/model';
/** The fields of a request that belong to the sentence that it was written for. */
const OF_SENTENCE = ['ids', 'decoder_ids', 'cuts', 'target_cuts', 'text_pair', 'chat', 'chat_open', 'token_type_ids',
  'pad', 'target', 'weights', 'dropout', 'dropout_seed'];

const held = new Set();

/** Those of a model's files that the core does not have yet. */
export function missingFiles({files}) { return files.filter(({names}) => !names.every((name) => held.has(name))); }

/** Puts the model's files into the core; `told` hears of bytes that came. */
export async function openModel(core, model, told) {
  for (const {names, data} of missingFiles(model)) {
    const bytes = await inflated(data, told);
    for (const name of names) {
      core.put(name, [bytes]);
      held.add(name);
    }
  }
}

/** What answers sentences; once the model is there, start() or use() begins. */
export function createLive(store, page) {
  const {core, answer} = store, of = (number) => answer.stacks.find((stack) => stack.number === number);
  // The fields that belong to the written sentence, to be restored with it; null where the model is not the page's.
  let written = {edits: answer.edits, masks: answer.stacks.map(({mask}) => mask)};
  let base = {...page.request, ...(page.live && 'source' in page.request && {source: MODEL})}, last = base;
  let answering = 0, likely = [], encoder = false, isStarted = false;  // of the answer: its next words, and where
  const guesses = () => core.guesses(GUESSES), changes = () => changesOf(answer, store.edits);

  /** Puts an answer of the core into the stacks of the page. */
  function take(found) {
    for (const stack of found.stacks) {
      const own = of(stack.number);
      if (own) Object.assign(own, sidesOf(stack, found));
    }
    ({answering, encoder} = found);
    page.card.shape = found.shape;
    answer.warnings = found.warnings;
    store.forget();
    if (store.kept) page.compare.axes = core.axes();
    likely = guesses();
    return found;
  }

  /** The answer to a request, with the edits of now. */
  function asked(request, most = MOST_TOKENS) {
    try {
      const found = core.ask(request, most);
      last = request;
      isStarted = true;
      store.change = (request) => take(core.change(request));
      return found;
    } catch (error) {
      throw error.tooMany ? new Error(wordsOf('too_many_words', most, error.tooMany)) : error;
    }
  }

  /** The same answer as was written, now computed here: so that edits reach the layers above. */
  function start() { take(asked({...base, ...changes(), sentence: page.view.sentence ?? 0}, MOST_WRITTEN)); }

  /** Another model, or fresh weights of other sizes: its request. */
  function use(request) {
    const found = asked(request);
    [base, written] = [request, null];
    answer.stacks = found.stacks.map((stack, i) => stackOf(stack, i, found, 0));
    answer.edits = {off: []};
    store.renew(true);
    store.begin(take(found).start);
    if (typeof request.text === 'string' && document.activeElement !== input) input.value = request.text;
    store.notify({answer: true});
    return said();
  }

  /** The words of the answer, and what may come next. */
  const said = () => ({tokens: (of(1) ?? answer.stacks[0]).queryTokens.map(({text}) => text), next: likely});

  /** The masks and edits of the sentence that was written; of another one those that do not count its tokens. */
  function takeWritten(same) {
    const anywhere = ({given, batch, painted, ...mask}) => mask;
    const {weights, dropout, seed, layer_edits: layers = [], ...edits} = written.edits;
    answer.edits = same ? written.edits
      : {...edits, layer_edits: layers.map((edit) => edit.mask ? {...edit, mask: anywhere(edit.mask)} : edit)};
    answer.stacks.forEach((stack, i) => { stack.mask = same ? written.masks[i] : anywhere(written.masks[i]); });
  }

  /** Answers a sentence; of an encoder-decoder with its target, which is written by the model where there is none. */
  async function ask(text, target = null, isTyped = false) {
    if (typeof text !== 'string' || text.trim() === '') throw new Error(wordsOf('empty_text'));
    const both = Boolean(of(2)), targets = !both ? {} : target?.trim() ? {target} : {target: '', write: true};
    const same = written !== null && text === base.text && (!both || target === base.target), elsewhere = {...base};
    for (const field of OF_SENTENCE) delete elsewhere[field];
    const texts = same ? {...base, sentence: page.view.sentence ?? 0} : {...elsewhere, text, ...targets};
    if (written) takeWritten(same);
    const {pinned} = store.view, before = {...store.stack()};
    store.renew();
    const {start} = take(asked({...texts, ...changes()}));
    if (isTyped || !store.isOwnStart) store.pinAgain(pinned, before);
    else store.begin(start);
    store.notify({answer: true});
    return said();
  }

  let isComposing = false, resting = 0;
  const input = make('input', {type: 'text', id: 'ask', autocomplete: 'off', spellcheck: 'false', maxlength: '2000',
    value: page.request.text ?? '', on: {input: typed, compositionstart: () => { isComposing = true; },
      compositionend: () => { isComposing = false; typed(); }}});
  const problem = make('p', {class: 'doubt', role: 'status'}), words = make('div', {class: 'guesses'});
  byId('ask-area').append(make('form', {class: 'ask', on: {submit: (event) => {
    event.preventDefault();
    if (!isComposing) say();  // an input method's candidates, which Enter confirms
  }}}, input), problem);
  byId('guess-area').append(words);

  function say(isTyped = false) {
    if (!isTyped) resting = clearTimeout(resting);
    problem.textContent = '';
    return parts.ask(input.value, null, isTyped).catch((error) => { problem.textContent = error.message; });
  }
  /** Each key is answered by the model of now; where they rest, the sentence chooses model and cell. */
  function typed() {
    if (isComposing) return;
    resting = clearTimeout(resting);
    problem.textContent = input.value.trim() === '' ? wordsOf('empty_text') : '';
    if (problem.textContent) return;
    resting = setTimeout(say, TEXT_RESTS);
    if (!of(2)) say(true);  // a translator writes its answer word by word
  }

  /** Another sentence than that of the line; head and cell stay. */
  function change(text) {
    resting = clearTimeout(resting);
    input.value = text;
    return say(true);
  }

  function draw() {
    input.setAttribute('aria-label', wordsOf('ask_hint'));
    input.placeholder = wordsOf('ask_hint');
    const {queryTokens: tokens} = of(0) ?? answer.stacks[0], where = tokens[answering]?.text ?? '';
    const doubtful = tokens.filter(({known}) => known === false).slice(0, 6).map(({text}) => text).join(' ');
    const isHidden = ['<mask>', '[MASK]'].includes(where);
    if (doubtful && !resting) problem.textContent = wordsOf('unknown_words', doubtful);
    if (likely.length === 0 || (encoder && !isHidden)) return fill(words);  // which reads the word that it would guess
    const guessOf = ({text, probability}) => make('span', {class: 'guess'}, make('bdi', {text: text.trim() || text}),
      make('span', {class: 'number quiet', text: percent(probability)}));
    fill(words, quiet('span', wordsOf(isHidden ? 'guess_masked' : 'guess_next', where)), ...likely.map(guessOf));
  }

  /** `request`: what was asked last. A site asks by way of `ask`, which may choose the model. */
  const parts = {ask, change, draw, guesses, start, use, isStarted: () => isStarted, isTyping: () => Boolean(resting),
    request: () => ({...last, ...changes()})};
  return parts;
}
