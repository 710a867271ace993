// The tokens of a sentence as core/text/tokenizer makes them: added tokens found as they stand, the text normalised,
// cut into words, each word looked up whole or spelt in pieces.

import { createLikely, cutWords, isChinese } from './live_words.js';

/** The text as characters that go on knowing where they stood in it. */
function lettersOf(text) {
  let end = 0;
  return Array.from(text, (character) => ({character, begin: end, end: end += character.length}));
}

const spelt = (letters) => letters.map((letter) => letter.character).join('');
const GOES_ON = /[\p{M}\u1160-\u11ff]/u;  // marks, and the parts of a Hangul syllable behind its first

const RULES = {
  strip_accents: (letters) => letters.filter((letter) => !/\p{M}/u.test(letter.character)),
  lowercase: (letters) => letters.flatMap(({character, begin, end}) => Array.from(character.toLowerCase(), (one) => ({character: one, begin, end}))),
  /** What cannot interact is normalised apart, so that its characters keep their positions. */
  form(letters, form) {
    const result = [];
    for (let first = 0, last = 0; first < letters.length; first = last) {
      for (last = first + 1; last < letters.length && GOES_ON.test(letters[last].character);) ++last;
      const stretch = letters.slice(first, last), before = spelt(stretch), after = before.normalize(form);
      if (before === after) result.push(...stretch);
      else for (const character of after) result.push({character, begin: stretch[0].begin, end: stretch.at(-1).end});
    }
    return result;
  },
  replace(letters, found, content) {
    const wanted = Array.from(found), result = [];
    for (let at = 0; at < letters.length;) {
      if (!wanted.every((character, i) => letters[at + i]?.character === character)) {
        result.push(letters[at++]);
        continue;
      }
      const begin = letters[at].begin, {end} = letters[at + wanted.length - 1];
      for (const character of content) result.push({character, begin, end});
      at += wanted.length;
    }
    return result;
  },
};

/** WordPiece (Wu et al. 2016): from the left always the longest word of the vocabulary; where none goes on, the character
    alone, a Chinese one as its bytes. Gives {id, first, last}: of the letters [first, last) of the word; no id: unknown. */
function piecesOf(letters, ids, prefix, longest) {
  const found = [];
  for (let first = 0, last = 0; first < letters.length; first = last) {
    const idUpTo = (end) => ids.get((first > 0 ? prefix : '') + spelt(letters.slice(first, end)));
    last = Math.min(letters.length, first + longest);
    while (last > first && idUpTo(last) === undefined) --last;
    if (last > first) {
      found.push({id: idUpTo(last), first, last});
      continue;
    }
    last = first + 1;
    const {character} = letters[first], id = ids.get(character);
    const bytes = isChinese(character) ? Array.from(new TextEncoder().encode(character), (byte) => byte.toString(16).toUpperCase()) : [];
    const byteIds = bytes.map((byte) => ids.get(`<0x${byte}>`));
    if (id !== undefined) found.push({id, first, last});
    else if (bytes.length > 0 && !byteIds.includes(undefined))
      byteIds.forEach((one, i) => found.push({id: one, first, last, text: `⟨${bytes[i]}⟩`}));
    else if (found.length > 0 && found.at(-1).id === undefined) found.at(-1).last = last;
    else found.push({first, last});
  }
  return found;
}

/** What is not seen by its number, a mark without its letter on a dotted circle. */
function visible(text) {
  return text.replace(/\p{Default_Ignorable_Code_Point}/gu, (one) => `⟨U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
    .replace(/^(?=[\p{M}\p{Emoji_Modifier}])/u, '◌');
}

/** Gives tokensOf(text): the tokens of a sentence; `side` describes how its model cuts text (app/page/page_live.cpp). */
export function openTokenizer(side) {
  const ids = new Map(side.words.map((word, id) => [word, id])), special = side.special.map((id) => side.words[id]);
  const likely = side.likely ? createLikely(side.likely) : null, whole = side.prefix === undefined;
  const lexicon = new Set(whole ? [...side.words.filter((_, id) => !side.special.includes(id)), ...side.others] : []);
  const longest = side.words.reduce((most, word) => Math.max(most, word.length), 1);
  const names = special.filter(Boolean).sort((a, b) => b.length - a.length);
  const named = new RegExp(`(${names.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|') || '(?!)'})`);
  const token = (id, text, continues = false) => ({id: id ?? side.unknown, text, special: false, pad: false, known: id !== undefined,
    ...(continues ? {continues} : {})});

  /** The tokens of a stretch without added tokens. */
  function stretch(text) {
    const letters = side.rules.reduce((all, [name, ...options]) => RULES[name](all, ...options), lettersOf(text)), tokens = [];
    const normal = spelt(letters), letterAt = new Map();
    letters.reduce((at, letter, i) => letterAt.set(at, i) && at + letter.character.length, 0);
    let at = 0;
    for (const piece of cutWords(normal, lexicon, likely)) {
      const begin = at + piece.length - piece.trimStart().length, word = piece.trim();
      at += piece.length;
      if (word === '') continue;
      const first = letterAt.get(begin), part = letters.slice(first, letterAt.get(begin + word.length) ?? letters.length);
      const shown = (from, to) => visible(text.slice(part[from].begin, part[to - 1].end));
      if (whole) tokens.push(token(ids.get(word), shown(0, part.length)));
      else
        piecesOf(part, ids, side.prefix, longest).forEach((found, i) =>
          tokens.push(token(found.id, found.text ?? shown(found.first, found.last), i > 0)));
    }
    return tokens;
  }

  return (text) => [...side.before, ...text.split(named).flatMap((part) => names.includes(part) ? [token(ids.get(part), part)]
    : part === '' ? [] : stretch(part)), ...side.after];
}

/** What people read of a word of the vocabulary. */
export function readable(word, side) {
  return side.prefix && word.length > side.prefix.length && word.startsWith(side.prefix) ? word.slice(side.prefix.length) : word;
}
