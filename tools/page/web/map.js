// Where a labelled map puts its cells and labels: arithmetic on boxes, as app/figure/map_layout does it. And maps as
// pictures: cells pooled to pixels (of cells that a pixel covers the largest shows: a bright cell never vanishes),
// coloured by the map, on a hatched canvas that blocked cells leave bare. What is written over them is a drawing (SVG).

import { make } from './elements.js';
import { colourIndex, colourTable, ink, standsUpright } from './look.js';

const LABEL_GAP = 5, LONGEST_STACK = 4;
/** Cells in rows of a given height are at most so wide. */
const WIDEST = 40;
/** Labels may stand this close, in lines of text; where not all have room those that remain stand farther apart. */
const PITCH = 0.86, THINNED = 1.1;

const LABEL_SIZE = 12.5;
const FONT = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", "WenQuanYi Micro Hei", sans-serif';

let ruler = null;
const widths = new Map();

export function textWidth(text) {
  if (!widths.has(text)) {
    ruler ??= document.createElement('canvas').getContext('2d');
    ruler.font = `${LABEL_SIZE}px ${FONT}`;
    if (widths.size > 20000) widths.clear();
    widths.set(text, ruler.measureText(text).width);
  }
  return widths.get(text);
}

export function clipped(label, room) {
  if (textWidth(label) <= room) return label;
  const characters = [...label];
  while (characters.length > 1 && textWidth(`${characters.join('')}…`) > room) characters.pop();
  return `${characters.join('')}…`;
}

/** Fits `part` {row, rows, col, cols} into width × height pixels, in square cells; or in rows of `pitch` pixels. */
export function layoutMap(width, height, part, rowNames, columnNames, pitch = 0) {
  const rowLabels = rowNames.slice(part.row, part.row + part.rows);
  const columnLabels = columnNames.slice(part.col, part.col + part.cols);
  // Of very many labels only those that can be drawn are measured.
  const some = (labels) => labels.filter((_, i) => i % Math.ceil(labels.length / 400) === 0);
  const widest = (labels) => Math.max(0, ...some(labels).map(textWidth));
  const left = Math.min(widest(rowLabels) + LABEL_GAP, width * 0.3), room = (width - left) / part.cols;
  const wide = widest(columnLabels), tallest = Math.max(0, ...columnLabels.map((label) => [...label].length));
  const kind = wide + LABEL_GAP <= Math.min(room, pitch ? WIDEST : height / part.rows) ? 'horizontal'
    : tallest <= LONGEST_STACK && columnLabels.every(standsUpright) ? 'stacked' : 'rotated';
  const tops = {horizontal: LABEL_SIZE + 2, stacked: tallest * (LABEL_SIZE + 1), rotated: Math.min(wide, height * 0.3)};
  const top = LABEL_GAP + tops[kind];
  const side = Math.min(room, pitch ? WIDEST : (height - top) / part.rows);
  // Whole pixels where cells are large, so that none is wider than its neighbour.
  const cell = side > 4 ? Math.floor(side) : side, tall = pitch || cell, x = Math.ceil(left), y = Math.ceil(top);
  const stepOf = (extent) => extent >= LABEL_SIZE * PITCH ? 1 : Math.ceil(LABEL_SIZE * THINNED / extent);
  return {x, y, w: cell * part.cols, h: tall * part.rows, width, height: y + tall * part.rows, cell, tall, kind, part,
    rows: {labels: rowLabels, first: part.row, extent: tall, step: stepOf(tall)},
    columns: {labels: columnLabels, first: part.col, extent: cell, step: stepOf(cell)}};
}

/** The cell of the whole map under a point, or null. */
export function cellAt(layout, x, y) {
  const col = Math.floor((x - layout.x) / layout.cell), row = Math.floor((y - layout.y) / layout.tall);
  if (col < 0 || row < 0 || col >= layout.part.cols || row >= layout.part.rows) return null;
  return {row: layout.part.row + row, col: layout.part.col + col};
}

/** What `draw` makes of each cell that the layout shows, by its place in the map's lists and its corner. */
export function eachCell({part, cell, x, y}, {S}, draw) {
  return Array.from({length: part.rows * part.cols}, (_, i) => {
    const row = Math.floor(i / part.cols), col = i % part.cols;
    return draw((part.row + row) * S + part.col + col, x + col * cell, y + row * cell);
  });
}

/** A text of a drawing; a lit one (true) is bold, in the accent's colour, another may have a colour for `lit`. */
export function textOf(text, lit, properties) {
  const isLit = lit === true, fill = isLit ? ink().accent : lit || ink().text;
  return make('text', {text, fill, 'font-weight': isLit ? 600 : 400, 'font-size': LABEL_SIZE, 'font-family': FONT,
    'dominant-baseline': 'central', ...properties});
}

/** A label above its column, whose middle is x, upwards from y. */
function columnTexts(label, lit, kind, x, y) {
  const middle = {x, 'text-anchor': 'middle'}, upright = [...label].reverse();
  if (kind === 'horizontal') return [textOf(label, lit, {...middle, y: y - LABEL_SIZE / 2})];
  if (kind === 'stacked')
    return upright.map((character, i) => textOf(character, lit, {...middle, y: y - (i + 0.5) * (LABEL_SIZE + 1)}));
  return [textOf(clipped(label, y), lit, {transform: `translate(${x} ${y}) rotate(-90)`})];
}

/** The labels that have room; those of `lit` {row, col} of the whole map stand out, others may have `inks`. */
export function labelsOf({x, y, rows, columns, kind}, lit) {
  const each = ({labels, first, extent, step, inks}, litOne, draw) => labels.flatMap((label, i) => {
    const on = litOne === first + i;
    // A thinned label that stands where the lit one is drawn gives way.
    const gives = step > 1 && Math.abs(litOne - first - i) < step;
    return on || (i % step === 0 && !gives) ? draw(label, on || inks?.[first + i], (i + 0.5) * extent) : [];
  });
  return [...each(rows, lit?.row, (label, on, at) =>
    textOf(clipped(label, x - LABEL_GAP), on, {x: x - LABEL_GAP, y: y + at, 'text-anchor': 'end'})),
  ...each(columns, lit?.col, (label, on, at) => columnTexts(label, on, kind, x + at, y - LABEL_GAP))];
}

/** From here on cells (pixels a side) are hatched where they are blocked; smaller ones have the flat tint. */
const LEAST_HATCHED = 3;

/** The largest weight of a map. */
export function largestOf(map) {
  return map.weights.reduce((largest, weight) => weight > largest ? weight : largest, 0);
}

export function wholePart(map) { return {row: 0, rows: map.T, col: 0, cols: map.S}; }

/** The part `part` {row, rows, col, cols} of a map {weights, allowed, T, S}, shrunk to at most height × width cells.
    −1 where all cells of a group are blocked. Of a difference the number farthest from 0 shows. NaN is no cell. */
export function pooled(map, part, height, width, difference = false) {
  const rows = Math.min(part.rows, Math.max(1, Math.floor(height)));
  const cols = Math.min(part.cols, Math.max(1, Math.floor(width))), columnOf = new Int32Array(part.cols);
  const values = new Float32Array(rows * cols).fill(NaN);
  for (let c = 0; c < cols; ++c)
    columnOf.fill(c, Math.floor(c * part.cols / cols), Math.floor((c + 1) * part.cols / cols));
  for (let r = 0; r < rows; ++r) {
    const end = Math.floor((r + 1) * part.rows / rows);
    for (let i = Math.floor(r * part.rows / rows); i < end; ++i) {
      const from = (part.row + i) * map.S + part.col;
      for (let j = 0; j < part.cols; ++j) {
        const at = r * cols + columnOf[j], weight = map.weights[from + j], was = values[at];
        const value = difference || weight > 0 || map.allowed[from + j] !== 0 ? weight : -1;
        if (value === value && !(difference ? Math.abs(value) <= Math.abs(was) : value <= was)) values[at] = value;
      }
    }
  }
  return {values, rows, cols};
}

/** Paints a picture on a canvas that is shown in w × h pixels. Blocked cells are bare: there its background shows. */
export function paint(canvas, {values, rows, cols}, scale, {w, h}) {
  [canvas.width, canvas.height] = [cols, rows];
  const context = canvas.getContext('2d'), image = context.createImageData(cols, rows);
  const pixels = new Uint32Array(image.data.buffer), table = colourTable(scale.diverging);
  const linear = !scale.diverging && !scale.log, {top} = scale, cell = w / cols;
  const gap = ink().gap.match(/\d+/g).reduce((packed, channel, i) => packed | channel << 8 * i, 255 << 24);
  for (let i = 0; i < pixels.length; ++i) {
    const value = values[i];
    pixels[i] = value !== value ? gap : !scale.diverging && value < 0 ? 0
      : table[!linear ? colourIndex(scale, value) : value >= top ? 255 : Math.floor(value / top * 255 + 0.5)];
  }
  context.putImageData(image, 0, 0);
  // One calm diagonal every `period` pixels, as shaders/map.frag draws it.
  const period = Math.min(12, Math.max(5, Math.floor((cell + 0.5) / 3))) / Math.SQRT2;
  const background = cell < LEAST_HATCHED ? 'var(--blocked-tint)'
    : `repeating-linear-gradient(135deg, transparent 0 ${period - 2}px,
      var(--blocked-line) ${period - 1.4}px ${period - 0.6}px, transparent ${period}px)`;
  Object.assign(canvas.style, {width: `${w}px`, height: `${h}px`, background});
}

/** A map on the page: its cells, and a drawing of two parts above them. The pointer finds `frame`. */
export function createPlot(element, properties) {
  const canvas = make('canvas', {'aria-hidden': 'true'}), below = make('g'), above = make('g');
  const drawing = make('svg', {class: 'drawing', 'aria-hidden': 'true'}, below, above);
  const frame = make('div', {class: 'map', role: 'img', ...properties}, canvas, drawing);
  element.append(frame);
  return {
    frame,
    /** The cells, where the layout has them; `numbers` stay until the next. */
    paint(layout, map, scale, numbers = []) {
      const ratio = window.devicePixelRatio || 1, extent = (length) => Math.round(length * ratio);
      paint(canvas, pooled(map, layout.part, extent(layout.h), extent(layout.w), scale.diverging), scale, layout);
      Object.assign(canvas.style, {left: `${layout.x}px`, top: `${layout.y}px`});
      Object.assign(frame.style, {width: `${layout.width}px`, height: `${layout.height}px`});
      below.replaceChildren(...numbers);
    },
    /** The labels, and marks around cells. */
    mark(layout, lit, ...marks) { above.replaceChildren(...labelsOf(layout, lit), ...marks); },
  };
}

/** The outline of a box in the accent's colour. */
export function outline(x, y, width, height, strength = 1, opacity = 1) {
  return make('rect', {x, y, width, height, fill: 'none', stroke: ink().accent, 'stroke-width': strength, opacity});
}
