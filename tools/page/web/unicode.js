// What the core asks the browser of Unicode: segments (UAX #29), normal forms, properties of characters, regular
// expressions. core/text/web/icu.cpp calls these as `page` functions; texts are UTF-16 in its memory.

const property = (source) => new RegExp(`^${source}$`, 'u');
/** In the order of ICU's UCharCategory. */
const CATEGORIES = 'Cn Lu Ll Lt Lm Lo Mn Me Mc Nd Nl No Zs Zl Zp Cc Cf Co Cs Pd Ps Pe Pc Po Sm Sc Sk So Pi Pf'
  .split(' ').map((name) => property(`\\p{${name}}`));
const scripts = (names) => names.split(' ').map((name) => `\\p{Script=${name}}`);
const WITHOUT_SPACES = scripts('Thai Lao Khmer Myanmar Tai_Le New_Tai_Lue Tai_Tham Tai_Viet Ahom').join('');
/** The bits above the category: white space, alphabetic, ignorable, and scripts as icu.cpp counts them. */
const FLAGS = ['\\p{White_Space}', '\\p{Alphabetic}', '\\p{Default_Ignorable_Code_Point}',
  ...scripts('Hiragana Katakana Hangul'), `(?![\\p{Nd}\\u17f0-\\u17f9\\u1a7f])[${WITHOUT_SPACES}]`].map(property);
/** Letters of scripts with spaces that dictionaries of browsers cut, and what only looks like one. */
const SPACED = /^(?=\p{L})[\p{Script=Hangul}々〻\u{16fe3}]$/u, UNSPACED = /^[\p{Cf}@]$/u;
const KINDS = ['grapheme', 'word'], FORMS = ['NFC', 'NFD', 'NFKC', 'NFKD'];

/** Of words the program's ICU (72) sees a letter in @, and none in :, ：, ¸ between letters. */
const asProgram = (text) => text.replace(/[@:：¸]/g, (one) => one === '@' ? 'a' : '+');

/** `memory` gives the core's memory, which grows. */
export function unicodeFor(memory) {
  const segmenters = KINDS.map((granularity) => new Intl.Segmenter('en', {granularity}));
  const decoder = new TextDecoder('utf-16le', {ignoreBOM: true}), known = new Map(), expressions = [];
  const textAt = (at, size) => decoder.decode(new Uint16Array(memory().buffer, at, size));
  const starts = (text, kind) =>
    Array.from(segmenters[kind].segment(kind === 1 ? asProgram(text) : text), ({index}) => index);

  function propertiesOf(code) {
    const one = String.fromCodePoint(code), has = (pattern) => pattern.test(one), flags = FLAGS.map(has);
    flags.push(has(SPACED) || (!flags.at(-1) && !has(UNSPACED) && starts(`${one}_`, 1).length === 1),  // rule WB13a
      starts(`a${one}`, 0).length === 1);  // a mark on what stands before it (rules GB9, GB9a)
    return flags.reduce((bits, is, i) => is ? bits | 32 << i : bits, CATEGORIES.findIndex(has));
  }

  return {
    segment(at, size, kind, to) {
      const found = [...starts(textAt(at, size), kind), size];
      new Int32Array(memory().buffer, to, found.length).set(found);
      return found.length;
    },
    normalize(at, size, form, to, room) {
      const text = textAt(at, size).normalize(FORMS[form]), units = new Uint16Array(memory().buffer, to, room);
      if (text.length <= room) for (let i = 0; i < text.length; ++i) units[i] = text.charCodeAt(i);
      return text.length;
    },
    character(code) {
      if (!known.has(code)) known.set(code, propertiesOf(code));
      return known.get(code);
    },
    lower: (code) => String.fromCodePoint(code).toLowerCase().codePointAt(0),
    expression(at, size) {
      for (const flags of ['gmu', 'gmv'])  // nested sets are those of v
        try { return expressions.push(new RegExp(textAt(at, size), flags)) - 1; } catch { /* the other flag */ }
      return -1;
    },
    find(number, at, size, from, to) {
      const expression = expressions[number];
      expression.lastIndex = from;
      const found = expression.exec(textAt(at, size));
      if (found) new Int32Array(memory().buffer, to, 2).set([found.index, found.index + found[0].length]);
      return found ? 1 : 0;
    },
  };
}
