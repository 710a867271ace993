// The words of the sentence: point at one for its row in every head, click to keep it. And the text in lines: the
// background of each word has the colour of a weight, from the chosen words to it, or from it to them.

import { fill, listen, make, noticer, quiet, segmented, worded } from './elements.js';
import { axisLabel, briefNumber, colourOf, niceTop, taste, textOn, wordsOf } from './look.js';
import { groupOf } from './state.js';

/** More words than that are not all shown as buttons. */
const MOST_CHIPS = 2000;
const BESIDE = {ArrowRight: 'nextElementSibling', ArrowLeft: 'previousElementSibling'};

export function createSentence(store, element) {
  const isOther = noticer();
  let chips = {}, marked = [];

  function line(tokens, side, label) {
    chips[side] = tokens.slice(0, MOST_CHIPS).map((token, i) => {
      const unknown = token.known === false && 'unknown', title = unknown ? wordsOf('tip_unknown') : '';
      const kinds = ['chip', token.special && 'special', token.pad && 'pad', unknown].filter(Boolean).join(' ');
      return make('button', {type: 'button', class: kinds, tabindex: i ? '-1' : '0', title, data: {index: i, side}},
        make('bdi', {text: axisLabel(token)}));
    });
    return make('div', {class: 'chips', role: 'group', 'aria-label': wordsOf(label)}, ...chips[side],
      tokens.length > MOST_CHIPS && quiet('span', `… ${tokens.length - MOST_CHIPS}`));
  }

  /** The cell that a chip stands for: of a query the one it looks at most. */
  function cellOf(chip) {
    const at = Number(chip.dataset.index);
    return chip.dataset.side === 'query' ? store.strongest(at) : {query: store.view.pinned?.query ?? 0, key: at};
  }
  element.addEventListener('pointerleave', () => store.look({hovered: null}));
  listen(element, 'pointerover', '.chip', (chip) => store.look({hovered: cellOf(chip)}));
  listen(element, 'click', '.chip', (chip) => {
    store.look({pinned: chip.getAttribute('aria-pressed') === 'true' ? null : cellOf(chip)});
  });
  listen(element, 'keydown', '.chip', (chip, event) => {
    const next = chip[BESIDE[event.key]];
    if (!next?.classList.contains('chip')) return;
    event.preventDefault();
    event.stopPropagation();
    [chip.tabIndex, next.tabIndex] = [-1, 0];
    next.focus();
  });

  /** A chip for each token, where they are others than before. */
  function draw() {
    const {queryTokens, keyTokens} = store.stack();
    if (!isOther(queryTokens, keyTokens, taste.language)) return;
    chips = {};
    fill(element, line(queryTokens, 'query', 'queries'), keyTokens !== queryTokens && line(keyTokens, 'key', 'keys'));
  }

  /** Only what changes is touched: a long sentence has a thousand chips, and the pointer moves often. */
  function mark() {
    const {pinned} = store.view, cell = store.cell();
    for (const chip of marked) {
      chip.classList.remove('from', 'to');
      chip.removeAttribute('aria-pressed');
    }
    // All pieces of a word that is one row.
    const {queries, keys} = store.fold(store.stack());
    const of = (line, groups, at, {first, count} = groups[groupOf(groups, at)] ?? {first: at, count: 1}) =>
      line.slice(first, first + count);
    const [from, kept] = [cell, pinned].map((one) => one ? of(chips.query, queries, one.query) : []);
    const to = cell ? of(chips.key ?? chips.query, keys, cell.key) : [];
    marked = [...from, ...to, ...kept];
    for (const chip of from) chip.classList.add('from');
    for (const chip of to) chip.classList.add('to');
    for (const chip of kept) chip.setAttribute('aria-pressed', 'true');
  }

  return {draw, mark};
}

/** Whether a space stands before a token: its bytes are more than its letters'. Tokens without a text stand apart. */
function isApart(groups, i) {
  const {text, special, bytes} = groups[i].token;
  if (special || groups[i - 1]?.token.special || !bytes || bytes[0] === bytes[1]) return true;
  return bytes[1] - bytes[0] > new TextEncoder().encode(text).length;
}

export function createText(store, controls, element) {
  const isOther = noticer(), isOtherChoice = noticer();
  let words = {}, anchor = null;

  /** The texts of the stack: one, or the queries' and the keys'. */
  function sides() {
    const stack = store.stack();
    return {...store.fold(stack), one: stack.queryTokens === stack.keyTokens};
  }
  /** Chosen tokens: those that were added, else that of the pinned cell. */
  function chosenTokens() {
    const {pinned, textWords, textColumns} = store.view;
    return textWords.length > 0 ? textWords : pinned ? [textColumns ? pinned.key : pinned.query] : [];
  }
  /** Numbers of the other side's words: the mean of the chosen rows, or the sum of chosen columns; −1 where blocked. */
  function shades({isFolded, queries, keys}) {
    const {stack, layer} = store.chosen(), {textColumns: columns, textHeads} = store.view;
    const isRead = {all: () => true, layer: (one) => one.layer === layer}[textHeads] ?? store.isChosen;
    const heads = stack.heads.filter(isRead), picked = columns ? keys : queries;
    const lines = [...new Set(chosenTokens().map((token) => groupOf(picked, token)))].filter((at) => at >= 0);
    const sums = new Float64Array((columns ? queries : keys).length), open = new Uint8Array(sums.length);
    for (const one of heads) {
      const map = columns || isFolded ? store.shown(stack, one.layer, one.head) : null, S = keys.length;
      const allowed = map?.allowed ?? store.allowed(stack, one.layer);
      for (const line of lines) {
        const row = map ? null : store.row(stack, one.layer, one.head, line);
        sums.forEach((_, word) => {
          const at = columns ? word * S + line : line * S + word, weight = row ? row[word] : map.weights[at];
          sums[word] += weight;
          if (allowed[at] || weight > 0) open[word] = 1;
        });
      }
    }
    const divisor = heads.length * (columns ? 1 : lines.length);
    return {lines, numbers: sums.map((sum, word) => open[word] ? sum / divisor : -1)};
  }

  /** A word of a side is chosen; `to`: all from the anchor to it; `add`: it joins the others, or leaves them. */
  function choose({dataset: {side, index: at}}, {to, add}) {
    const index = Number(at), {one, queries, keys} = sides(), {pinned, textColumns} = store.view;
    const columns = one ? textColumns : side === 'keys', groups = columns ? keys : queries, token = groups[index].first;
    const chosen = chosenTokens(), isAdded = columns === textColumns && chosen.length > 0;
    const change = {textColumns: columns, textWords: []};
    if (isAdded && to && anchor !== null)
      change.textWords = groups.slice(Math.min(anchor, index), Math.max(anchor, index) + 1).map(({first}) => first);
    else if (isAdded && add)
      change.textWords = chosen.includes(token) ? chosen.filter((at) => at !== token) : [...chosen, token];
    else change.pinned = columns ? {query: one ? token : pinned?.query ?? 0, key: token} : store.strongest(token);
    if (change.pinned) anchor = index;
    store.look(change);
  }
  listen(element, 'pointerdown', '.word', (word, event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    choose(word, {to: event.shiftKey, add: event.ctrlKey || event.metaKey});
  });
  listen(element, 'pointerover', '.word', (word, {buttons}) => buttons === 1 && choose(word, {to: true}));

  function build(texts) {
    const groups = [texts.queries, texts.keys].map((side) => side.map(({first}) => first).join());
    if (!isOther(...groups, store.stack().index, store.version, taste.language)) return;
    const side = (name) => {
      words[name] = texts[name].map(({token}, index) => make('span',
        {class: token.special ? 'word special' : 'word', data: {side: name, index}, text: axisLabel(token)}));
      return make('p', {class: 'reading'}, ...words[name].flatMap((word, i) => [isApart(texts[name], i) && ' ', word]));
    };
    words = {};
    fill(element, side('queries'), !texts.one && side('keys'));
  }

  /** `all`: anything may be another than before, else the cell. */
  return {draw(width, height, all) {
    if (!isOtherChoice(chosenTokens().join()) && !all) return;
    const texts = sides(), {lines, numbers} = shades(texts), {textColumns: columns, textHeads, log} = store.view;
    build(texts);
    const shaded = texts.one || columns ? 'queries' : 'keys', picked = texts.one || !columns ? 'queries' : 'keys';
    const largest = (special) => Math.max(0, ...numbers.filter((_, i) => texts[shaded][i].token.special === special));
    const scale = {log, top: niceTop(largest(false) || largest(true))}, isKnown = lines.length > 0;
    for (const [name, list] of Object.entries(words)) list.forEach((word, i) => {
      const number = name === shaded && isKnown ? numbers[i] : 0, colour = number > 0 ? colourOf(scale, number) : '';
      word.classList.toggle('blocked', number < 0);
      word.classList.toggle('picked', name === picked && lines.includes(i));
      const color = colour && !texts[name][i].token.special ? textOn(colour) : '';
      Object.assign(word.style, {backgroundColor: colour, color});
      word.title = name !== shaded || !isKnown ? '' : number < 0 ? wordsOf('blocked') : briefNumber(number);
    });
    fill(controls, segmented('view_text', worded('text', ['rows', 'columns']), columns ? 'columns' : 'rows',
      (name) => store.look({textColumns: name === 'columns', textWords: texts.one ? chosenTokens() : []})),
    segmented('heads', worded('text', ['head', 'layer', 'all']), textHeads, (name) => store.look({textHeads: name})),
    quiet('span', isKnown ? wordsOf('text_top', briefNumber(scale.top)) : wordsOf('text_choose')));
  }};
}
