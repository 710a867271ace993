// The words of the page, which come with its data from the tables of the window, and the texts of tokens, heads and numbers,
// as the window writes them.

let table = {en: {}, zh: {}}, language = 'en';

export function setWords(words) { table = words; }
export function setLanguage(name) { language = name === 'zh' ? 'zh' : 'en'; }
export function currentLanguage() { return language; }

/** The words of this name in the reader's language; `{0}`, `{1}` … stand for `values`. */
export function wordsOf(name, ...values) {
  const text = table[language][name] ?? name;
  return values.length === 0 ? text : text.replace(/\{(\d)\}/g, (whole, i) => String(values[i] ?? whole));
}

/** One of two texts that the data has in both languages. */
export function either(both) { return both[language] ?? both.en; }

const LONGEST_LABEL = 16;
const BLANK = /^[\0- \x7f-\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]*$/;
/** Marks that turn the direction of the text around them: shown as a box, so that they turn nothing here. */
const TURNS_TEXT = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g;

/** A token as an axis shows it: what has no ink is made visible, long ones end in …. */
export function axisLabel({text}) {
  const characters = Array.from(text.slice(0, 2 * LONGEST_LABEL + 2)), label = characters.slice(0, LONGEST_LABEL).join('')
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
  const own = store.answer.relations.find((one) => one.stack === stack.name && one.layer === layer && one.head === head);
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
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e5) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  return text.replace('-', '−');
}

/** A share: 93 %, 0.4 %. */
export function percent(weight) {
  const share = 100 * weight;
  return `${share >= 9.95 || share === 0 ? share.toFixed(0) : share >= 0.095 ? share.toFixed(1) : '<0.1'} %`;
}

/** A sentence about one cell: `it looks at animal: 93 %`, and its relation where it has one. */
export function cellSentence(from, to, weight, arc = null) {
  const colon = currentLanguage() === 'zh' ? '：' : ': ';
  const relation = arc ? `${colon}${wordsOf('arc', either(arc.label), (100 * arc.precision).toFixed(0))}` : '';
  return `${quoted(from)} ${wordsOf('attends')} ${quoted(to)}${colon}${percent(weight)}${relation}`;
}
