// The reader's sentence: tokens, the forward pass, and the new numbers in place of those that were written.

import { button, byId, make, fill } from './elements.js';
import { percent, wordsOf } from './labels.js';
import { forward, mostProbable, openWeights } from './live_forward.js';
import { openTokenizer, readable } from './live_tokens.js';

/** More words than that are refused: the page would stand still. */
const MOST_TOKENS = 256, MOST_WRITTEN = 32, GUESSES = 8;

export function createLive(store, page) {
  const {live} = page, at = openWeights(live), {stacks, edits: edited} = store.answer;
  const both = live.arch === 'encoder-decoder', mainSide = both ? live.target_side : live.source_side;
  // What belongs to the sentence that was written, and comes back with it.
  const written = {weights: edited.weights, dropout: edited.dropout, relations: store.answer.relations,
    masks: stacks.map(({mask, layerMasks}) => ({mask, layerMasks}))};
  const [self, encoder, cross] = [0, 1, 2].map((number) => stacks.find((stack) => stack.number === number));
  const stackNamed = {self, encoder, cross}, tokenizers = new Map();  // opened when the first sentence is asked
  let answer = null;

  function tokensOf(text, side) {
    if (!tokenizers.has(side)) tokenizers.set(side, openTokenizer(side));
    return tokenizers.get(side)(text);
  }

  for (const stack of stacks) {
    const group = (head) => Math.floor(head * stack.kvHeads / stack.headCount), numbersOf = (layer) => stack.numbers[layer];
    Object.assign(stack, {given: false, hasValues: true, thumbnails: null, q: (layer, head) => numbersOf(layer).q[head],
      k: (layer, head) => numbersOf(layer).k[group(head)], v: (layer, head) => numbersOf(layer).v[group(head)]});
  }

  /** Puts the tokens along the sides of every stack, and the model's new q, k and v into it. */
  function run(source, target) {
    const main = target ?? source, sides = {self: [main, main], encoder: [source, source], cross: [main, source]};
    for (const [name, [queryTokens, keyTokens]] of Object.entries(sides))
      if (stackNamed[name])
        Object.assign(stackNamed[name], {queryTokens, keyTokens, T: queryTokens.length, S: keyTokens.length, numbers: []});
    store.forget();
    return forward(store, live, at, stackNamed, source, target);
  }

  /** Answers these tokens, and again after each edit. */
  function answerTo(source, target) {
    answer = run(source, target);
    store.recompute = () => { answer = run(source, target); };
  }

  /** What a translator writes on its own: the most probable word, until it writes its end. */
  function translate(source) {
    let tokens = [...live.target_side.before];
    while (tokens.length < MOST_WRITTEN) {
      const {logits} = run(source, tokens), id = logits.indexOf(Math.max(...logits));
      if (live.ends.includes(id)) break;
      tokens = [...tokens, {id, text: live.target_side.words[id].trimStart(), special: false, pad: false, known: true}];
    }
    return tokens;
  }

  /** The edits and masks of the sentence that was written; of another one causal masks and padding stay. */
  function takeWritten(same) {
    Object.assign(edited, same ? {weights: written.weights, dropout: written.dropout} : {weights: [], dropout: null});
    const anywhere = ({causal, padding}) => ({causal, padding, painted: new Map()});
    stacks.forEach((stack, i) => {
      const {mask, layerMasks} = written.masks[i];
      Object.assign(stack, same ? {mask, layerMasks} : {mask: anywhere(mask),
        layerMasks: new Map([...layerMasks].map(([layer, one]) => [layer, anywhere(one)]))});
    });
    store.renew();
  }

  /** Answers a sentence; of an encoder-decoder with its target, which is written by the model where there is none. */
  async function ask(text, target = null) {
    if (typeof text !== 'string' || text.trim() === '') throw new Error(wordsOf('empty_text'));
    const source = tokensOf(text, live.source_side), same = text === live.text && (!both || target === live.target);
    if (source.length > MOST_TOKENS) throw new Error(wordsOf('too_many_words', MOST_TOKENS, source.length));
    takeWritten(same);
    const given = both && target !== null && target.trim() !== '';
    const replied = given ? tokensOf(target, live.target_side) : both ? translate(source) : null;
    answerTo(source, replied);
    store.answer.relations = same ? written.relations : [];  // the page names no arcs of its own
    store.notify({answer: true});
    return {tokens: source.map((token) => token.text), target: replied?.map((token) => token.text), next: guesses()};
  }

  function guesses() {
    return answer?.logits ? mostProbable(answer.logits, (id) => readable(mainSide.words[id] ?? String(id), mainSide), GUESSES) : [];
  }

  const input = make('input', {type: 'text', id: 'ask', autocomplete: 'off', spellcheck: 'false', value: live.text, maxlength: '2000'});
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
    const tokens = (self ?? stacks[0]).queryTokens, list = guesses(), unknown = tokens.filter((token) => token.known === false);
    if (list.length === 0) return fill(words);
    const where = tokens[answer.answering].text;
    const name = ['<mask>', '[MASK]'].includes(where) ? 'guess_masked' : live.arch === 'encoder' ? 'guess_same' : 'guess_next';
    fill(words, make('span', {class: 'quiet', text: wordsOf(name, where)}), ...list.map((word) => make('span', {class: 'guess'},
      make('bdi', {text: word.text.trim() || word.text}), make('span', {class: 'number', text: percent(word.probability)}))));
    if (unknown.length > 0) problem.textContent = wordsOf('unknown_words', unknown.slice(0, 6).map((token) => token.text).join(' '));
  }

  // The same numbers as were written, now computed here: so that edits reach the layers above.
  answerTo((encoder ?? self).queryTokens, both ? self.queryTokens : null);
  return {ask, draw, guesses};
}
