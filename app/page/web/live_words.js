// A sentence cut into the words of a model's vocabulary, as core/text/words cuts it: the word boundaries of UAX #29,
// which every browser has (Intl.Segmenter), with the model's own words laid over them.

function segments(text, granularity) {
  const cuts = new Set([0, text.length]);
  for (const {index} of new Intl.Segmenter('en', {granularity}).segment(text)) cuts.add(index);
  return cuts;
}

const SPACED = /[\p{Alphabetic}\p{Number}_]/u, UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const isSpaced = (character) => SPACED.test(character) && !UNSPACED.test(character);

/** Where words of the lexicon may begin or end: not inside a run of letters of a script with spaces. */
function canCut(text, at, clusters) {
  if (!clusters.has(at)) return false;
  if (at === 0 || at === text.length) return true;
  const before = [...text.slice(Math.max(0, at - 2), at)].at(-1), after = String.fromCodePoint(text.codePointAt(at));
  return !(isSpaced(before) && isSpaced(after));
}

/** The words of the lexicon in the text, the longest chosen first, then the leftmost; in the order of the text. */
function findWords(text, clusters, lexicon) {
  const taken = new Uint8Array(text.length), found = [];
  const lengths = [...new Set([...lexicon].map((word) => word.length))].sort((a, b) => b - a);
  for (const length of lengths)
    for (let begin = 0; begin + length <= text.length; ++begin) {
      const end = begin + length;
      if (taken[begin] || taken[end - 1] || !canCut(text, begin, clusters) || !canCut(text, end, clusters)) continue;
      if (!lexicon.has(text.slice(begin, end))) continue;
      taken.fill(1, begin, end);
      found.push([begin, end]);
    }
  return found.sort((a, b) => a[0] - b[0]);
}

/** The pieces of a text, white space at the beginning of the piece after it. */
export function cutWords(text, lexicon) {
  const clusters = segments(text, 'grapheme');
  const cuts = new Set([...segments(text, 'word')].filter((at) => clusters.has(at)));
  const words = findWords(text, clusters, lexicon);
  for (const [begin, end] of words) {  // a word across a boundary is cut out whole
    let across = false;
    for (let at = begin + 1; at < end; ++at) across = cuts.delete(at) || across;
    if (across) cuts.add(begin).add(end);
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

/** The tokens of a sentence: `side` has what the model puts before and after, and its words by id. */
export function tokensOf(text, side) {
  const ids = new Map(side.words.map((word, id) => [word, id]));
  const lexicon = new Set(side.words.filter((_, id) => !side.special.includes(id)));
  const token = (word, id) => ({id: id ?? side.unknown, text: word, special: false, pad: false, known: id !== undefined});
  // Words such as <mask> are found as they stand, before anything is cut.
  const names = side.special.map((id) => side.words[id]).filter((name) => name);
  const special = new RegExp(`(${names.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|') || '(?!)'})`);
  const tokens = text.split(special).flatMap((part) => names.includes(part) ? [token(part, ids.get(part))]
    : part === '' ? [] : cutWords(part, lexicon).filter((piece) => piece.trim() !== '').map((piece) => {
      const word = piece.trimStart();
      return token(word, ids.get(word));
    }));
  return [...side.before, ...tokens, ...side.after];
}
