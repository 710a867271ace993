// A text cut into words as core/text/likely_words cuts it: scripts with spaces by rules, Chinese along the likeliest path
// over a list of words. Offsets count UTF-16 units.

const CHINESE = [[0x4e00, 0x9fff], [0x3400, 0x4dbf], [0x20000, 0x2a6df], [0x2a700, 0x2b73f], [0x2b740, 0x2b81f], [0x2b920, 0x2ceaf],
  [0xf900, 0xfaff], [0x2f800, 0x2fa1f]];
const WHITE = /\p{White_Space}/u, DIGIT = /\p{Nd}/u, WORD = /[\p{L}\p{M}\p{N}]/u, MARK = /\p{P}/u, SYMBOL = /[\p{Sm}\p{Sc}\p{Sk}]/u;
/** Scripts whose words no spaces part, and which have no list here: the browser's own dictionaries cut them. */
const WITHOUT_SPACES = new RegExp(`[${['Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar', 'Tai_Le', 'New_Tai_Lue', 'Tai_Tham',
  'Tai_Viet', 'Ahom'].map((name) => `\\p{Script=${name}}`).join('')}]`, 'u');
const CLITICS = ["n't", "'s", "'m", "'re", "'ve", "'ll", "'d"];
const REPEATED = new Set('.-!?~=*#+_—…。！？·');
const LONGEST_WITH_CLITIC = 64;  // bytes
const STEPS_PER_NAT = 1024, UNKNOWN_NATS = 2;

/** Whether BERT sets the character apart (Devlin et al. 2019). */
export function isChinese(character) {
  const code = character.codePointAt(0);
  return CHINESE.some(([first, last]) => code >= first && code <= last);
}

function kindOf(character) {
  const code = character.codePointAt(0);
  if (WHITE.test(character)) return 'space';
  if (isChinese(character) || code === 0x3005 || code === 0x3007) return 'chinese';
  if (DIGIT.test(character)) return 'digit';
  if (WORD.test(character)) return WITHOUT_SPACES.test(character) ? 'other' : 'letter';
  if (MARK.test(character)) return 'mark';
  return code < 0x1f000 && SYMBOL.test(character) ? 'mark' : 'other';
}

/** Where the word of letters and digits that begins at `at` ends; `all` is the text as {character, kind, end}. */
function endOfWord(all, at) {
  for (;;) {
    const here = all[at].kind, next = all[at + 1], behind = all[at + 2];
    if (!next) return at + 1;
    if (next.kind === 'letter' || next.kind === 'digit') {
      at += 1;
      continue;
    }
    const joinsLetters = here === 'letter' && (next.character === "'" || next.character === '\u2019');
    const joinsDigits = here === 'digit' && '.,:'.includes(next.character);
    if (!(joinsLetters && behind?.kind === 'letter') && !(joinsDigits && behind?.kind === 'digit')) return at + 1;
    at += 2;
  }
}

/** How much of a word stands before its clitic; all of it where it has none. */
function beforeClitic(word) {
  if (new TextEncoder().encode(word).length > LONGEST_WITH_CLITIC) return word.length;
  const lower = word.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).replaceAll('\u2019', "'");
  if (lower === 'cannot') return 3;
  const clitic = CLITICS.find((one) => lower.length > one.length && lower.endsWith(one));
  return word.length - (clitic ? clitic.length : 0);
}

/** Cuts texts by a list [[cost in nats, 'word word …'], …]: cuts(text), and chinese(run) of Chinese characters alone. */
export function createLikely(list) {
  const costs = new Map();
  let highest = 0, longest = 1;
  for (const [nats, words] of list)
    for (const word of words.split(' ')) {
      costs.set(word, Math.round(nats * STEPS_PER_NAT));
      highest = Math.max(highest, Math.round(nats * STEPS_PER_NAT));
      longest = Math.max(longest, word.length);
    }
  const unknown = highest + UNKNOWN_NATS * STEPS_PER_NAT;

  /** The path with the least sum of costs (Viterbi 1967): offsets inside the run. */
  function chinese(run) {
    const best = new Float64Array(run.length + 1).fill(Infinity), from = new Int32Array(run.length + 1);
    best[0] = 0;
    const reach = (at, length, cost) => {
      if (best[at] + cost >= best[at + length]) return;
      best[at + length] = best[at] + cost;
      from[at + length] = at;
    };
    for (let at = 0; at < run.length; ++at) {
      if (best[at] === Infinity) continue;  // inside a character
      const one = run.codePointAt(at) > 0xffff ? 2 : 1;
      for (let length = one; length <= longest && at + length <= run.length; ++length) {
        const cost = costs.get(run.slice(at, at + length));
        if (cost !== undefined) reach(at, length, cost);
        else if (length === one) reach(at, one, unknown);
      }
    }
    const cuts = [];
    for (let at = from[run.length]; at > 0; at = from[at]) cuts.push(at);
    return cuts.reverse();
  }

  function cuts(text) {
    const all = [], found = [];
    for (const character of text) {
      const begin = all.at(-1)?.end ?? 0;
      all.push({character, kind: kindOf(character), begin, end: begin + character.length});
    }
    for (let at = 0; at < all.length;) {
      const {character, kind, begin} = all[at];
      let end = at + 1;
      if (begin > 0) found.push(begin);
      if (kind === 'letter' || kind === 'digit') {
        end = endOfWord(all, at);
        const word = text.slice(begin, all[end - 1].end), stem = beforeClitic(word);
        if (stem < word.length) found.push(begin + stem);
      } else if (kind === 'mark') {
        while (REPEATED.has(character) && all[end]?.character === character) ++end;
      } else {
        while (all[end]?.kind === kind) ++end;
        const run = text.slice(begin, all[end - 1].end);
        if (kind === 'chinese') for (const cut of chinese(run)) found.push(begin + cut);
        if (kind === 'other')
          for (const {index} of new Intl.Segmenter('en', {granularity: 'word'}).segment(run)) if (index > 0) found.push(begin + index);
      }
      at = end;
    }
    return found;
  }

  return {cuts, chinese};
}
