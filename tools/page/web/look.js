// How the page looks: its words and its colours, which come with its data from the tables of the window, and texts of
// tokens and numbers, as the window writes them. Colours of weights are the core's.

/** What the reader chose, and the data's tables of words and colours (main.js). `map`: how colours mean weights. */
export const taste = {words: null, language: 'en', themes: null, theme: 'light', map: 'teal'};
const wordsNow = () => taste.words?.[taste.language] ?? {};
export const MAPS = ['teal', 'viridis', 'cividis', 'grey'];

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
export function either(both) { return both?.[taste.language] ?? both?.en ?? ''; }

/** A token as an axis shows it, in a sentence: its direction turns nothing around it. */
export function quoted({label, text}) { return `\u2068${label ?? text}\u2069`; }

/** A line with the words that it quotes: the direction of none turns what stands beside it. */
export function isolated(line) { return line.replace(/“([^”]*)”/g, '“\u2068$1\u2069”'); }

/** `L1·H2`, layers and heads counted from 0. */
export function headName(layer, head) { return `L${layer}·H${head}`; }

/** What a map is called that sums up others, as the data has it in `summedUp`; else the name of its head. */
export function mapName(summedUp, layer, head) {
  const [by, over = ''] = summedUp?.by.split(':') ?? [], of = over.split(',');
  const hasHeads = by !== 'rollout' && !of.includes('heads');
  if (!of.includes('layers')) return hasHeads ? headName(layer, head) : wordsOf('summed_layer', layer);
  return hasHeads ? `H${head}` : by;
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

/** What belongs to no weight: background, text, lines, the accent, the hatching of blocked cells. CSS colours. */
export function ink() { return taste.themes[taste.theme]; }
