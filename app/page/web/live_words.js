// A sentence cut into words, as core/text/words cuts it: the word boundaries of UAX #29, which every browser has
// (Intl.Segmenter), Chinese by a list of words, with the model's own words laid over them.

import { isChinese } from './live_likely.js';

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

const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** The word boundaries, inside runs of Chinese characters those of the list; beside kana the browser says them all. */
function boundaries(text, likely) {
  const cuts = segments(text, 'word');
  if (!likely) return cuts;
  const all = Array.from(text);
  for (let i = 0, at = 0; i < all.length;) {
    let run = all[i], last = i + 1;
    while (isChinese(all[i]) && last < all.length && isChinese(all[last])) run += all[last++];
    if (isChinese(all[i]) && !KANA.test(all[i - 1] ?? '') && !KANA.test(all[last] ?? '')) {
      for (let inside = at + 1; inside < at + run.length; ++inside) cuts.delete(inside);
      for (const cut of likely.chinese(run)) cuts.add(at + cut);
    }
    at += run.length;
    i = last;
  }
  return cuts;
}

/** The pieces of a text, white space at the beginning of the piece after it. `likely` (live_likely.js), where there is one,
    cuts Chinese, and without a lexicon everything. */
export function cutWords(text, lexicon, likely = null) {
  const clusters = segments(text, 'grapheme');
  const found = likely && lexicon.size === 0 ? [0, ...likely.cuts(text), text.length] : boundaries(text, likely);
  const cuts = new Set([...found].filter((at) => clusters.has(at)));
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
