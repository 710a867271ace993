// The lessons of a site, as far as a browser can follow them: a step sets the question and what is looked at, and waits
// for a change. docs/formats.md describes their files; what they ask beyond this page is left out, and a line says so.

import { button, fill, icon, make } from './elements.js';
import { either, wordsOf } from './look.js';

/** The token of a word, `我#2`: the second of that text. */
function positionOf(tokens, word) {
  const [text, number = 1] = word.split('#');
  return [...tokens.keys()].filter((i) => tokens[i].text === text)[number - 1] ?? -1;
}

const maskHas = {causal: ({kind}) => kind.includes('causal'), padding: ({kind}) => kind.includes('padding'),
  painted: ({painted}) => painted.size > 0};
/** Whether the token is the one that a word names; without `#` any of that text. */
const isAt = (tokens, at, word) => word.includes('#') ? at === positionOf(tokens, word) : tokens[at]?.text === word;
/** Whether what a step asks for is so; `now` is of the question and the view. The names and their meanings are those of
    app/lesson/lesson_goal.cpp. */
const GOALS = {
  pinned_query: (word, {stack, pinned}) => pinned !== null && isAt(stack.queryTokens, pinned.query, word),
  pinned_key: (word, {stack, pinned}) => pinned !== null && isAt(stack.keyTokens, pinned.key, word),
  text_contains: (text, now) => now.text.includes(text),
  target_contains: (text, {stacks}) =>
    stacks.some(({number, queryTokens}) => number === 0 && queryTokens.some((token) => token.text === text)),
  mask: (name, {mask}) => name.startsWith('not_') !== maskHas[name.replace('not_', '')](mask),
  chosen_head: (head, now) => now.head === head,
  head_off: (head, {off}) => head === 'any' ? off.size > 0 : off.has(head),
  heads_off_at_most: (count, {off}) => off.size <= count,
  heads_at_most: (count, {stack}) => stack.headCount <= count,
  heads_at_least: (count, {stack}) => stack.headCount >= count,
  scale_at_most: (most, {scale}) => scale <= most,
  scale_at_least: (least, {scale}) => scale >= least,
  d_model_at_least: (least, now) => now.dModel >= least,
};
/** The names of what a text asks to be done, `[#undo]`. */
const ACTIONS = {causal_on: 'mask_causal', causal_off: 'mask_none', padding_on: 'mask_padding', paint_mask: 'paint',
  undo: 'undo', all_heads_on: 'all_on', head_on: 'head_is_on', head_off: 'head_is_off', block_cell: 'key_block',
  larger_scale: 'scale', own_scale_off: 'scale_again'};

/** `site` asks and shows: {set(request, view), change(text), point(query, key), now(), redraw()}. */
export function createLessons(site, list, area) {
  let lesson = null, at = 0, isDone = false;

  /** A step as it is in the reader's language. */
  const contentOf = (step) => ({...step, ...(document.documentElement.lang === 'en' && step.english)});
  const isPossible = (step) => {
    const {set = {}, done = {}} = contentOf(step), {source = '', position} = set.request ?? {};
    return Object.keys(done).every((goal) => goal in GOALS) && !['inside', 'train'].includes(set.view?.view)
      && !source.startsWith('..') && position === undefined;
  };
  const steps = () => lesson.steps.filter(isPossible);

  function go(step) {
    const {set = {}} = contentOf(steps()[step]);
    [at, isDone] = [step, false];
    return site.set(set.request ?? {}, set.view ?? {});
  }

  /** A text with what it points at: a word lights its cell, a change is made, a control is named. */
  function shown(text) {
    return text.split(/(\[[^\]]*\])/).map((part) => {
      if (!/^\[.*[|#]/.test(part)) return make('span', {text: part});
      const [words, target] = part.slice(1, -1).split('|');
      const action = ACTIONS[words.slice(1)];
      if (words.startsWith('#')) return make('b', {text: action ? wordsOf(action) : words.slice(1)});
      if (target.startsWith('@')) return make('b', {text: words});
      const [from, to] = target.split(target.includes('=') ? '=' : '→');
      return button('link', words, () => {
        if (target.includes('=')) return site.change((whole) => from === '' ? to : whole.replace(from, to));
        const {stack} = site.now(), query = positionOf(stack.queryTokens, from);
        if (query >= 0) site.point(query, to === undefined ? -1 : positionOf(stack.keyTokens, to));
      });
    });
  }

  function draw() {
    area.hidden = lesson === null;
    if (lesson === null) return;
    const possible = steps(), step = contentOf(possible[at]), left = lesson.steps.length - possible.length;
    const isReached = ([goal, wanted]) => [wanted].flat().some((one) => GOALS[goal](one, site.now()));
    isDone ||= Object.entries(step.done ?? {}).every(isReached);
    const arrow = (sign, name, to) => icon(sign, name, () => go(to), !possible[to]);
    fill(area, make('h2', {text: `${either(lesson.title)} · ${at + 1} / ${possible.length}`}),
      make('p', {}, ...shown(either(step.text))),
      make('p', {class: isDone ? 'reached' : ''}, ...shown(either(step.try)), isDone && make('b', {text: ' ✓'})),
      left > 0 && make('p', {class: 'quiet', text: wordsOf('lesson_left_out', left)}),
      make('div', {class: 'group'}, arrow('←', 'lesson_before', at - 1), arrow('→', 'lesson_next', at + 1),
        button('link', wordsOf('close'), () => { lesson = null; site.redraw(); })));
  }

  return {
    draw,
    /** The number of the lesson that is open; -1: none is. */
    chosen: () => list.indexOf(lesson),
    /** Sets the first step of a lesson; of none closes the one that is open. */
    async open(number) {
      lesson = list[number] ?? null;
      if (lesson === null || steps().length > 0) return lesson && go(0);
      lesson = null;
      throw new Error(wordsOf('lesson_needs_program'));
    },
  };
}
