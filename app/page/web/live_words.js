// A sentence cut into words as core/text cuts it: along the word boundaries of UAX #29, which every browser has
// (Intl.Segmenter), Chinese along the likeliest path over a list of words, the words of a lexicon laid over them (words.h);
// or, without a lexicon, by the rules of likely_words.h. Offsets count UTF-16 units.

const CHINESE = '\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{2a6df}\\u{2a700}-\\u{2b73f}\\u{2b740}-\\u{2b81f}' +
  '\\u{2b920}-\\u{2ceaf}\\u{2f800}-\\u{2fa1f}';
const ONE_CHINESE = new RegExp(`[${CHINESE}]`, 'u'), CHINESE_RUNS = new RegExp(`[${CHINESE}]+`, 'gu');
const scripts = (...names) => names.map((name) => `\\p{Script=${name}}`).join('');
const KANA = scripts('Hiragana', 'Katakana'), BEFORE_KANA = new RegExp(`^[${KANA}]`, 'u'), AFTER_KANA = new RegExp(`[${KANA}]$`, 'u');
/** Scripts whose words no spaces part, and which have no list here: the browser's dictionaries cut them. */
const WITHOUT_SPACES = KANA + scripts('Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar', 'Tai_Le', 'New_Tai_Lue', 'Tai_Tham', 'Tai_Viet', 'Ahom');
/** Letters of a script with spaces: inside a run of them no word of a lexicon begins or ends. */
const SPACED = new RegExp(`(?![${scripts('Han', 'Hiragana', 'Thai', 'Lao', 'Khmer', 'Myanmar')}])[\\p{Alphabetic}\\p{Number}_]`, 'u');

/** Classes of characters: white Space, Chinese, Digit, Letter, apostrophe (q), what joins digits (p), Mark; Other is the rest. */
const CLASSES = [['s', /\p{White_Space}/u], ['c', new RegExp(`[${CHINESE}\u3005\u3007]`, 'u')], ['d', /\p{Nd}/u],
  ['o', new RegExp(`(?=[\\p{L}\\p{M}\\p{N}])[${WITHOUT_SPACES}]`, 'u')], ['l', /[\p{L}\p{M}\p{N}]/u], ['q', /['\u2019]/], ['p', /[.,:]/],
  ['m', /\p{P}|(?=[\0-\u{1efff}])[\p{Sm}\p{Sc}\p{Sk}]/u]];
const PIECES = /[ld](?:[ld]|(?<=l)q(?=l)|(?<=d)p(?=d))*|s+|c+|o+|[mqp]/g;
const REPEATED = new Set('.-!?~=*#+_—…。！？·');
const CLITICS = ["n't", "'s", "'m", "'re", "'ve", "'ll", "'d"];
const LONGEST_WITH_CLITIC = 64;  // bytes
const STEPS_PER_NAT = 1024, UNKNOWN_NATS = 2;

/** Whether BERT sets the character apart (Devlin et al. 2019). */
export function isChinese(character) { return ONE_CHINESE.test(character); }

/** How much of a word stands before its clitic; all of it where it has none. */
function beforeClitic(word) {
  if (new TextEncoder().encode(word).length > LONGEST_WITH_CLITIC) return word.length;
  const lower = word.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).replaceAll('\u2019', "'");
  if (lower === 'cannot') return 3;
  return word.length - (CLITICS.find((one) => lower.length > one.length && lower.endsWith(one))?.length ?? 0);
}

function segments(text, granularity) {
  return new Set([0, text.length, ...Array.from(new Intl.Segmenter('en', {granularity}).segment(text), ({index}) => index)]);
}

/** Cuts texts by a list [[cost in nats, 'word word …'], …]: cuts(text), and chinese(run) of Chinese characters alone. */
export function createLikely(list) {
  const costs = new Map(list.flatMap(([nats, words]) => words.split(' ').map((word) => [word, Math.round(nats * STEPS_PER_NAT)])));
  const longest = [...costs.keys()].reduce((most, word) => Math.max(most, word.length), 1);
  const unknown = [...costs.values()].reduce((most, cost) => Math.max(most, cost), 0) + UNKNOWN_NATS * STEPS_PER_NAT;

  /** The path with the least sum of costs (Viterbi 1967): offsets inside the run. */
  function chinese(run) {
    const best = new Float64Array(run.length + 1).fill(Infinity), from = new Int32Array(run.length + 1);
    best[0] = 0;
    for (let at = 0; at < run.length; ++at) {
      if (best[at] === Infinity) continue;  // inside a character
      const one = run.codePointAt(at) > 0xffff ? 2 : 1;
      for (let end = at + one; end <= Math.min(at + longest, run.length); ++end) {
        const cost = best[at] + (costs.get(run.slice(at, end)) ?? (end === at + one ? unknown : Infinity));
        if (cost >= best[end]) continue;
        best[end] = cost;
        from[end] = at;
      }
    }
    const cuts = [];
    for (let at = from[run.length]; at > 0; at = from[at]) cuts.push(at);
    return cuts.reverse();
  }

  function cuts(text) {
    const all = Array.from(text), found = [];
    const classes = all.map((character) => CLASSES.find(([, pattern]) => pattern.test(character))?.[0] ?? 'o').join('');
    let begin = 0;
    for (const {0: kinds, index} of classes.matchAll(PIECES)) {
      const piece = all.slice(index, index + kinds.length).join('');
      const inside = kinds[0] === 'c' ? chinese(piece) : kinds[0] === 'o' ? [...segments(piece, 'word')]
        : 'ld'.includes(kinds[0]) ? [beforeClitic(piece)] : [];
      if (begin > 0 && !(REPEATED.has(piece) && all[index - 1] === piece)) found.push(begin);
      found.push(...inside.filter((cut) => cut > 0 && cut < piece.length).map((cut) => begin + cut));
      begin += piece.length;
    }
    return found;
  }

  return {cuts, chinese};
}

/** The words of the lexicon in the text, the longest chosen first, then the leftmost; in the order of the text. */
function findWords(text, clusters, lexicon) {
  const taken = new Uint8Array(text.length), found = [];
  const canCut = (at) => clusters.has(at) && !(SPACED.test(Array.from(text.slice(0, at)).at(-1) ?? '') &&
    SPACED.test(String.fromCodePoint(text.codePointAt(at) ?? 0)));
  const cuts = new Set([...Array(text.length + 1).keys()].filter(canCut));
  const lengths = [...new Set([...lexicon].map((word) => word.length))].sort((a, b) => b - a);
  for (const length of lengths)
    for (const begin of cuts) {
      const end = begin + length;
      if (taken[begin] || taken[end - 1] || !cuts.has(end) || !lexicon.has(text.slice(begin, end))) continue;
      taken.fill(1, begin, end);
      found.push([begin, end]);
    }
  return found.sort((a, b) => a[0] - b[0]);
}

/** The word boundaries, inside runs of Chinese characters those of the list; beside kana all are those of the browser. */
function boundaries(text, likely) {
  const cuts = segments(text, 'word');
  for (const {0: run, index} of likely ? text.matchAll(CHINESE_RUNS) : []) {
    const end = index + run.length;
    if (AFTER_KANA.test(text.slice(0, index)) || BEFORE_KANA.test(text.slice(end))) continue;
    for (let inside = index + 1; inside < end; ++inside) cuts.delete(inside);
    for (const cut of likely.chinese(run)) cuts.add(index + cut);
  }
  return cuts;
}

/** The pieces of a text, white space at the beginning of the piece after it. `likely`, where there is one, cuts Chinese, and
    without a lexicon everything. */
export function cutWords(text, lexicon, likely = null) {
  const clusters = segments(text, 'grapheme');
  const found = likely && lexicon.size === 0 ? [0, ...likely.cuts(text), text.length] : boundaries(text, likely);
  const cuts = new Set([...found].filter((at) => clusters.has(at))), words = findWords(text, clusters, lexicon);
  for (const [begin, end] of words) {  // a word across a boundary is cut out whole
    const across = [...cuts].filter((at) => at > begin && at < end);
    for (const at of across) cuts.delete(at);
    if (across.length > 0) cuts.add(begin).add(end);
  }
  for (let first = 0; first < words.length;) {  // words that fill a longer piece without a gap cut it
    let last = first;
    while (last + 1 < words.length && words[last + 1][0] === words[last][1] && !cuts.has(words[last][1])) ++last;
    if (cuts.has(words[first][0]) && cuts.has(words[last][1]))
      for (let i = first; i < last; ++i) cuts.add(words[i][1]);
    first = last + 1;
  }
  for (const at of [...cuts]) if (at > 0 && at < text.length && /\s/.test(text[at - 1])) cuts.delete(at);
  const tail = text.trimEnd().length;
  if (clusters.has(tail)) cuts.add(tail);
  const ends = [...cuts].sort((a, b) => a - b);
  return ends.slice(1).map((end, i) => text.slice(ends[i], end)).filter((piece) => piece !== '');
}
