// Texts of tokens, heads and numbers, as the window writes them.

import { say, either, currentLanguage } from './words.js';

const LONGEST_LABEL = 16;

function isBlank(code) {
  return code <= 0x20 || (code >= 0x7f && code <= 0xa0) || code === 0x1680 || (code >= 0x2000 && code <= 0x200b) ||
    code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f || code === 0x3000 || code === 0xfeff;
}

/** Marks that turn the direction of the text around them: shown as a box, so that they turn nothing here. */
function turnsText(code) {
  return code === 0x200e || code === 0x200f || code === 0x061c || (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2066 && code <= 0x2069);
}

const labels = new WeakMap();

/** A token as an axis shows it: what has no ink is made visible, long ones end in …. */
export function axisLabel(token) {
  const known = labels.get(token);
  if (known !== undefined) return known;
  const codes = [];
  for (const character of token.text) {
    if (codes.length > LONGEST_LABEL) break;
    codes.push(character.codePointAt(0));
  }
  const blank = codes.every(isBlank);
  let label = '';
  codes.forEach((code, i) => {
    if (i === LONGEST_LABEL) label += '…';
    else if (i < LONGEST_LABEL) {
      if (code === 10 || code === 13) label += '⏎';
      else if (turnsText(code)) label += '▯';
      else if (blank || code < 0x20 || (code >= 0x7f && code < 0xa0)) label += '␣';
      else label += String.fromCodePoint(code);
    }
  });
  labels.set(token, label);
  return label;
}

/** Whether a label may be written from top to bottom, one character above the other. */
export function standsUpright(label) {
  return [...label].every((character) => {
    const c = character.codePointAt(0);
    return (c >= 0x2e80 && c <= 0x9fff) || (c >= 0xac00 && c <= 0xd7af) || (c >= 0xf900 && c <= 0xfaff) ||
      (c >= 0xff00 && c <= 0xff60) || (c >= 0x20000 && c <= 0x3ffff);
  });
}

/** `L1·H2`, layers and heads counted from 0. */
export function headName(layer, head) { return `L${layer}·H${head}`; }

export function stackTitle(name) {
  return say({Self: 'stack_self', Encoder: 'stack_encoder', Decoder: 'stack_decoder', Cross: 'stack_cross'}[name] ?? name);
}

/** What is known of a head: the relations that were measured on it, in brackets where the sentence is no reason to believe
    them. */
export function headNotes(answer, stack, layer, head) {
  return answer.relations.filter((one) => one.stack === stack.name && one.layer === layer && one.head === head)
    .map((one) => ({name: one.doubted ? `(${either(one.label)})` : either(one.label), doubted: one.doubted === true, score: one.accuracy, alone: one.offset, random: one.random, of: one}));
}

/** A weight in the room of a cell: two digits, without the zero before the point; nothing that would round to 0. */
export function cellNumber(weight) {
  if (weight < 0.005) return weight === 0 ? '0' : '';
  if (weight >= 0.995 && weight <= 1.005) return '1';
  const text = weight < 9.995 ? weight.toFixed(2) : weight.toFixed(0);
  return text.startsWith('0') ? text.slice(1) : text;
}

/** A difference in the room of a cell. */
export function signedCellNumber(difference) {
  const number = cellNumber(Math.abs(difference));
  return number === '0' || number === '' ? number : (difference < 0 ? '−' : '+') + number;
}

/** A number with as many digits as tell it from its neighbours. */
export function briefNumber(value) {
  if (value === Infinity || value === -Infinity) return value < 0 ? '−∞' : '∞';
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e5) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  return text.replace('-', '−');
}

/** A share: 93 %, 0.4 %. */
export function percent(weight) {
  const share = 100 * weight;
  return `${share >= 9.95 || share === 0 ? share.toFixed(0) : share >= 0.095 ? share.toFixed(1) : '<0.1'} %`;
}

/** A sentence that says what one cell is: `it looks at animal: 93 %`. */
export function cellSentence(from, to, weight) {
  const name = (token) => `\u2068${axisLabel(token)}\u2069`;
  return currentLanguage() === 'zh' ? `${name(from)} ${say('attends')} ${name(to)}：${percent(weight)}`
    : `${name(from)} ${say('attends')} ${name(to)}: ${percent(weight)}`;
}

export function bytesText(count) {
  return count >= 1e6 ? `${(count / 1e6).toFixed(1)} MB` : `${Math.max(1, Math.round(count / 1e3))} kB`;
}
