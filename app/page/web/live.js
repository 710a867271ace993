// The reader's own sentence: tokens, the forward pass, and the new numbers in place of those that were written.

import { headWeights, prepareHead, resolveMask } from './attention.js';
import { make, fill } from './elements.js';
import { percent } from './labels.js';
import { forward, mostProbable, openWeights } from './live_forward.js';
import { isOfOtherWords, openTokenizer, readable } from './live_tokens.js';
import { offKey } from './state.js';
import { say } from './words.js';

/** More words than that are refused: the page would stand still. */
const MOST_TOKENS = 256, MOST_WRITTEN = 32, GUESSES = 8;

export function createLive(store, page, elements) {
  const {live} = page, at = openWeights(live), {stacks} = store.answer;
  const both = live.arch === 'encoder-decoder';
  const written = {text: live.text, target: live.target};
  let sentence = {...written}, answer = null;
  const tokenizers = new Map();  // opened when the first sentence is asked
  function tokensOf(text, side) {
    if (!tokenizers.has(side)) tokenizers.set(side, openTokenizer(side));
    return tokenizers.get(side)(text);
  }

  const stackNamed = {self: stacks.find((stack) => stack.number === 0), encoder: stacks.find((stack) => stack.number === 1),
    cross: stacks.find((stack) => stack.number === 2)};

  /** What the reader's edits mean for the forward pass: weights by the same functions as the maps. */
  const edits = {
    weights(attention, head, q, k) {
      const stack = stackNamed[attention.stack], {layer} = attention;
      const mask = resolveMask(stack, layer, store.edits.masks[stack.index]);
      const view = {...stack, q: () => q, k: () => k};
      return headWeights(prepareHead(store.answer, view, layer, head, store.edits, mask));
    },
    isOff: (attention, head) => store.edits.off.has(offKey(stackNamed[attention.stack], attention.layer, head)),
    offAs: live.off_as,
  };

  /** Of which measured relations the sentence is no reason to believe them: the page knows no grammar, so of a sentence that
      it was not written with it does not know the kind. */
  function doubt(same) {
    store.answer.relations = (page.relations ?? []).map((one) => {
      if (same) return one;
      const stack = stacks.find(({name}) => name === one.stack), {keyTokens} = stack;
      const side = both && stack === stackNamed.self ? live.target_side : live.source_side;
      return {...one, doubted: one.of_grammar || keyTokens.some((token) => token.known === false) || isOfOtherWords(keyTokens, side)};
    });
  }

  /** Puts new tokens along the sides of every stack. */
  function takeTokens(source, target) {
    const sides = {self: [both ? target : source, both ? target : source], encoder: [source, source], cross: [target, source]};
    for (const [name, stack] of Object.entries(stackNamed)) {
      if (!stack) continue;
      const [queries, keys] = sides[name];
      Object.assign(stack, {queryTokens: queries, keyTokens: keys, T: queries.length, S: keys.length, thumbnails: null,
        given: false, hasValues: true});
    }
  }

  function run(source, target) {
    takeTokens(source, target);
    const result = forward(live, at, source, target, edits);
    const take = (stack, layers, which) => {
      if (!stack) return;
      const group = (head) => Math.floor(head * stack.kvHeads / stack.headCount);
      Object.assign(stack, {q: (layer, head) => layers[layer][which].q[head], k: (layer, head) => layers[layer][which].k[group(head)],
        v: (layer, head) => layers[layer][which].v[group(head)]});
    };
    take(stackNamed.self, result.main.layers, 'self');
    take(stackNamed.cross, result.main.layers, 'cross');
    if (result.encoder) take(stackNamed.encoder, result.encoder.layers, 'self');
    return result;
  }

  /** What a translator writes on its own: the most probable word, until it says that it is done. */
  function translate(source) {
    let tokens = [...live.target_side.before];
    while (tokens.length < MOST_WRITTEN) {
      const {logits} = run(source, tokens), id = logits.indexOf(Math.max(...logits));
      if (live.ends.includes(id)) break;
      tokens = [...tokens, {id, text: live.target_side.words[id].trimStart(), special: false, pad: false, known: true}];
    }
    return tokens;
  }

  /** Answers a sentence; of an encoder-decoder with its target, which is written by the model where there is none. */
  async function ask(text, target = null) {
    if (typeof text !== 'string' || text.trim() === '') throw new Error(say('empty_text'));
    const source = tokensOf(text, live.source_side);
    if (source.length > MOST_TOKENS) throw new Error(say('too_many_words', MOST_TOKENS, source.length));
    const mine = both ? (target === null || target.trim() === '' ? translate(source) : tokensOf(target, live.target_side)) : null;
    sentence = {text, target: mine};
    store.answer.edits.weights = [];  // weights set by hand belong to the sentence that was written
    store.answer.edits.dropout = null;
    store.edits = {...store.edits, masks: store.edits.masks.map((mask) => ({...mask, painted: new Map(),
      kind: mask.kind === 'file' ? 'none' : mask.kind}))};
    store.written = {...store.written, masks: store.edits.masks};
    store.done = [];
    store.undone = [];
    answer = run(source, mine);
    doubt(text === written.text && (!both || target === written.target));
    store.recompute = () => { answer = run(source, mine); draw(); };
    store.view = {...store.view, pinned: null, hovered: null, viewport: null};
    store.renewed();
    draw();
    return {tokens: source.map((token) => token.text), target: mine?.map((token) => token.text), next: guesses()};
  }

  function guesses() {
    const side = both ? live.target_side : live.source_side;
    return answer?.logits ? mostProbable(answer.logits, (id) => readable(side.words[id] ?? String(id), side), GUESSES) : [];
  }

  const input = make('input', {type: 'text', id: 'ask', autocomplete: 'off', spellcheck: 'false', value: live.text, maxlength: '2000'});
  const button = make('button', {type: 'submit', class: 'primary'}), problem = make('p', {class: 'doubt', role: 'status'});
  const form = make('form', {class: 'ask', on: {submit: (event) => {
    event.preventDefault();
    problem.textContent = '';
    ask(input.value).catch((error) => { problem.textContent = error.message; });
  }}}, input, button);
  const words = make('div', {class: 'guesses'});
  elements.ask.append(form, problem);
  elements.guesses.append(words);

  function draw() {
    input.setAttribute('aria-label', say('ask_hint'));
    input.placeholder = say('ask_hint');
    button.textContent = say('ask');
    const tokens = (both ? stackNamed.self : stacks[0]).queryTokens, list = guesses();
    if (list.length === 0) return fill(words);
    const where = tokens[answer.answering];
    const masked = where.text === '<mask>' || where.text === '[MASK]';
    const unknown = stacks.some((stack) => stack.keyTokens.some((token) => token.known === false));
    fill(words, make('span', {class: 'quiet', text: masked ? say('guess_masked') : live.arch === 'encoder' ? say('guess_same', where.text)
      : say('guess_next', where.text)}), ...list.map((word) =>
      make('span', {class: 'guess'}, make('bdi', {text: word.text.trim() || word.text}), make('span', {class: 'number', text: percent(word.probability)}))));
    if (unknown) problem.textContent = say('unknown_words', tokens.filter((token) => token.known === false).map((token) => token.text).slice(0, 6).join(' '));
  }

  /** The same numbers as were written, now computed here: so that edits reach the layers above. */
  function begin() {
    const source = (stackNamed.encoder ?? stackNamed.self).queryTokens, target = both ? stackNamed.self.queryTokens : null;
    answer = run(source, target);
    store.recompute = () => { answer = run(source, target); draw(); };
    draw();
  }

  return {ask, draw, begin, guesses, sentence: () => sentence, hidden: () => answer.hidden};
}
