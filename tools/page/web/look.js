// How the page looks: its words and its colours, which come with its data from the tables of the window, and texts of
// tokens, heads and numbers, as the window writes them. Colour means weight: nothing is mixed here (app/figure/colour).

import { bytesOf } from './data.js';

/** What the reader chose, and the data's tables of words and colours (main.js). `map`: how colours mean weights. */
export const taste = {words: null, language: 'en', themes: null, theme: 'light', map: 'teal'};
const wordsNow = () => taste.words[taste.language], themeNow = () => taste.themes[taste.theme];

/** The words of this name in the reader's language; `{0}`, `{1}` … stand for `values`. */
export function wordsOf(name, ...values) {
  const text = wordsNow()[name] ?? name;
  return values.length === 0 ? text : text.replace(/\{(\d)\}/g, (whole, i) => String(values[i] ?? whole));
}

/** A model's shape, `encoder · 2 × 8 heads`, in the reader's language; without its kind where that is its name. */
export function shapeText({name, shape}) {
  const translated = shape.replace(/^[a-z-]+|heads/g, (word) => wordsOf(`model_${word}`));
  return translated.split(' · ').filter((part) => part !== either(name)).join(' · ');
}

/** An error of the core: in Chinese what its code means stands before its line. */
export function errorText({error, code}) { return `${wordsNow()[`error_${code}`] ?? ''} ${error}`.trim(); }

/** One of two texts that the data has in both languages. */
export function either(both) { return both[taste.language] ?? both.en; }

const LONGEST_LABEL = 16;
const BLANK = /^[\0- \x7f-\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]*$/;
/** Marks that turn the direction of the text around them: shown as a box, so that they turn nothing here. */
const TURNS_TEXT = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g;

/** A token as an axis shows it: what has no ink is made visible, long ones end in …. */
export function axisLabel({text}) {
  const characters = [...text.slice(0, 2 * LONGEST_LABEL + 2)], label = characters.slice(0, LONGEST_LABEL).join('')
    .replace(/[\n\r]/g, '⏎').replace(TURNS_TEXT, '▯').replace(BLANK.test(text) ? /[^⏎▯]/g : /[\0-\x1f\x7f-\x9f]/g, '␣');
  return characters.length > LONGEST_LABEL ? `${label}…` : label;
}

/** The same in a sentence: its direction turns nothing around it. */
export function quoted(token) { return `\u2068${axisLabel(token)}\u2069`; }

/** Whether a label may be written from top to bottom, one character above the other. */
export function standsUpright(label) {
  return /^[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60\u{20000}-\u{3ffff}]*$/u.test(label);
}

/** `L1·H2`, layers and heads counted from 0. */
export function headName(layer, head) { return `L${layer}·H${head}`; }

/** What a head did in this sentence: its relations; null where it has none, or where edits may have changed it. */
export function headNote(store, stack, layer, head) {
  if (store.isEdited() || store.edits.off.size > 0) return null;
  const isOwn = (one) => one.stack === stack.name && one.layer === layer && one.head === head;
  const own = store.answer.relations.find(isOwn);
  return own ? {name: either(own.label), brief: either(own.brief), arcs: own.arcs} : null;
}

/** A weight in the room of a cell: two digits, without the zero before the point; nothing that would round to 0. */
export function cellNumber(weight) {
  if (weight < 0.005) return weight === 0 ? '0' : '';
  if (weight >= 0.995 && weight <= 1.005) return '1';
  return weight.toFixed(weight < 9.995 ? 2 : 0).replace(/^0/, '');
}

/** A difference in the room of a cell. */
export function signedCellNumber(difference) {
  const number = cellNumber(Math.abs(difference));
  return number === '0' || number === '' ? number : (difference < 0 ? '−' : '+') + number;
}

/** A number with as many digits as distinguish it from its neighbours. */
export function briefNumber(value) {
  if (value === Infinity || value === -Infinity) return value < 0 ? '−∞' : '∞';
  const size = Math.abs(value), isFar = size !== 0 && (size < 1e-3 || size >= 1e5);
  return (isFar ? value.toExponential(2) : String(Number(value.toPrecision(4)))).replace('-', '−');
}

/** A share: 93 %, 0.4 %. */
export function percent(weight) {
  const share = 100 * weight;
  return `${share >= 9.95 || share === 0 ? share.toFixed(0) : share >= 0.095 ? share.toFixed(1) : '<0.1'} %`;
}

/** A sentence about one cell: `it looks at animal: 93 %`, and its relation where it has one. */
export function cellSentence(from, to, weight, arc = null) {
  const colon = taste.language === 'zh' ? '：' : ': ';
  const relation = arc ? `${colon}${wordsOf('arc', either(arc.label), (100 * arc.precision).toFixed(0))}` : '';
  return `${quoted(from)} ${wordsOf('attends')} ${quoted(to)}${colon}${percent(weight)}${relation}`;
}

/** A logarithmic scale reaches down to top · 10^−DECADES. */
const DECADES = 4;
const packed = new Map();

/** What belongs to no weight: background, text, lines, the accent, the hatching of blocked cells. CSS colours. */
export function ink() { return themeNow().ink; }
export function headColour(index) { return themeNow().heads[index % themeNow().heads.length]; }

/** 256 colours as ImageData has them, four bytes each in one number (little-endian: ABGR). */
export function colourTable(diverging = false) {
  const key = `${taste.theme} ${diverging ? 'diverging' : taste.map}`;
  if (!packed.has(key)) {
    const bytes = bytesOf(diverging ? themeNow().diverging : themeNow().maps[taste.map]);
    packed.set(key, Uint32Array.from({length: 256}, (_, i) =>
      (255 << 24 | bytes[3 * i + 2] << 16 | bytes[3 * i + 1] << 8 | bytes[3 * i]) >>> 0));
  }
  return packed.get(key);
}

/** The index of a weight's colour in the table, 0 … 255. */
export function colourIndex(scale, weight) {
  const part = scale.diverging ? 0.5 + 0.5 * weight / scale.top
    : scale.log && weight > 0 ? 1 + Math.log10(weight / scale.top) / DECADES : weight / scale.top;
  return Math.floor(Math.min(1, Math.max(0, part)) * 255 + 0.5);
}

/** The colour of a weight, for CSS. */
export function colourOf(scale, weight) {
  const packedColour = colourTable(scale.diverging)[colourIndex(scale, weight)];
  return `rgb(${packedColour & 255} ${packedColour >> 8 & 255} ${packedColour >> 16 & 255})`;
}

/** Black or white, whichever reads better on a colour: a contrast of at least 4.5 (WCAG 2.1, 1.4.3). */
export function textOn(css) {
  const [r, g, b] = css.match(/\d+/g).map((channel) => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) ? 'black' : 'white';
}

/** The smallest of 1, 2, 5 × 10^k that is at least `largest`, at most 1: the top of a colour bar. */
export function niceTop(largest) {
  if (!(largest > 0) || largest >= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(largest));
  return Math.min(1, [1, 2, 5, 10].find((step) => step * power >= largest * (1 - 1e-7)) * power);
}

/** Numbers beside the colour bar, from the bottom up. */
export function ticks({top, log}) {
  if (log) return Array.from({length: DECADES + 1}, (_, i) => top * 10 ** (i - DECADES));
  const digits = top / 10 ** Math.floor(Math.log10(top) + 1e-6), parts = digits > 4.5 && digits < 5.5 ? 5 : 4;
  return Array.from({length: parts + 1}, (_, i) => top * i / parts);
}
