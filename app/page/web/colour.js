// Colour means weight. The maps come with the data, from the window's table (app/figure/colour): nothing is mixed here.

import { bytesOf } from './data.js';

/** A logarithmic scale reaches down to top · 10^−DECADES. */
const DECADES = 4;

let themes = {}, theme = 'light', colours = 'teal';
const packed = new Map();

export function setColours(table) { themes = table; }
export function setTheme(name) { theme = name === 'dark' ? 'dark' : 'light'; }
export function setMap(name) { if (name in themes.light.maps) colours = name; }
export function currentTheme() { return theme; }
export function currentMap() { return colours; }
export function mapNames() { return Object.keys(themes.light.maps); }

/** What belongs to no weight: background, text, lines, the accent, the hatching of blocked cells. CSS colours. */
export function ink() { return themes[theme].ink; }
export function headColour(index) { return themes[theme].heads[index % themes[theme].heads.length]; }

/** 256 colours as ImageData has them, four bytes each in one number (little-endian: ABGR). */
export function colourTable(diverging = false) {
  const key = `${theme} ${diverging ? 'diverging' : colours}`;
  if (!packed.has(key)) {
    const bytes = bytesOf(diverging ? themes[theme].diverging : themes[theme].maps[colours]);
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
