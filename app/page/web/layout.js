// Where a labelled map puts its cells and labels: arithmetic on boxes, as app/figure/map_layout does it.

import { axisLabel, standsUpright } from './labels.js';

const LABEL_GAP = 5, LONGEST_STACK = 4;
/** Labels may stand this close, in lines of text; where not all have room those that remain stand farther apart. */
const PITCH = 0.86, THINNED = 1.1;

const LABEL_SIZE = 12.5;
const FAMILY = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", "WenQuanYi Micro Hei", sans-serif';

/** The font of a label; of the lit one bold. */
export function labelFont(lit = false) { return `${lit ? '600 ' : ''}${LABEL_SIZE}px ${FAMILY}`; }

let ruler = null;
const widths = new Map();

export function textWidth(text) {
  if (!widths.has(text)) {
    ruler ??= document.createElement('canvas').getContext('2d');
    ruler.font = labelFont();
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

function labelStep(pitch) { return pitch >= LABEL_SIZE * PITCH ? 1 : Math.ceil(LABEL_SIZE * THINNED / pitch); }

/** Fits `part` {row, rows, col, cols} into width × height pixels; tokens name rows and columns. */
export function layoutMap(width, height, part, rowTokens, columnTokens) {
  const rows = rowTokens.slice(part.row, part.row + part.rows).map(axisLabel);
  const columns = columnTokens.slice(part.col, part.col + part.cols).map(axisLabel);
  // Of very many labels only those that can be drawn are measured.
  const some = (labels) => labels.filter((_, i) => i % Math.ceil(labels.length / 400) === 0);
  const widest = (labels) => Math.max(0, ...some(labels).map(textWidth));
  const left = Math.min(widest(rows) + LABEL_GAP, width * 0.3);
  const wide = widest(columns), roomy = Math.min((width - left) / part.cols, height / part.rows);
  const tallest = Math.max(0, ...columns.map((label) => [...label].length));
  let kind = 'rotated', top = Math.min(wide + LABEL_GAP, height * 0.3);
  if (wide + LABEL_GAP <= roomy) kind = 'horizontal', top = LABEL_SIZE + LABEL_GAP + 2;
  else if (tallest <= LONGEST_STACK && columns.every(standsUpright)) kind = 'stacked', top = tallest * (LABEL_SIZE + 1) + LABEL_GAP;
  const cell = Math.min((width - left) / part.cols, (height - top) / part.rows);
  // Whole pixels where cells are large, so that none is wider than its neighbour.
  const side = cell > 4 ? Math.floor(cell) : cell, x = Math.ceil(left), y = Math.ceil(top);
  return {x, y, w: side * part.cols, h: side * part.rows, height: y + side * part.rows, cell: side, kind, step: labelStep(side), part,
    rowLabels: rows, columnLabels: columns};
}

/** The cell of the whole map under a point, or null. */
export function cellAt(layout, x, y) {
  const col = Math.floor((x - layout.x) / layout.cell), row = Math.floor((y - layout.y) / layout.cell);
  if (col < 0 || row < 0 || col >= layout.part.cols || row >= layout.part.rows) return null;
  return {row: layout.part.row + row, col: layout.part.col + col};
}

/** A label above its column, whose middle is x, upwards from y. */
function drawColumnLabel(context, label, kind, x, y) {
  context.textAlign = kind === 'rotated' ? 'left' : 'center';
  if (kind === 'horizontal') return context.fillText(label, x, y - LABEL_SIZE / 2);
  if (kind === 'stacked')
    return [...label].reverse().forEach((character, i) => context.fillText(character, x, y - (i + 0.5) * (LABEL_SIZE + 1)));
  context.save();
  context.translate(x, y);
  context.rotate(-Math.PI / 2);
  context.fillText(clipped(label, y), 0, 0);
  context.restore();
}

/** Draws the labels that have room; `lit` {row, col} of the whole map are in the accent's colour, and then the others are
    left to the drawing below unless `all`. */
export function drawLabels(context, layout, colours, lit, all = true) {
  const {part, cell, x, y, step} = layout, half = LABEL_SIZE * 0.62;
  context.textBaseline = 'middle';
  const each = (labels, first, litOne, clear, draw) => labels.forEach((label, i) => {
    const on = litOne === first + i;
    // A thinned label that stands where the lit one is drawn gives way.
    const gives = step > 1 && Number.isInteger(litOne) && Math.abs(litOne - first - i) < step;
    if (!on && (!all || i % step !== 0 || gives)) return;
    const middle = (i + 0.5) * cell;
    context.fillStyle = colours.background;
    if (on && !all) context.fillRect(...clear(middle, label));
    context.fillStyle = on ? colours.accent : colours.text;
    context.font = labelFont(on);
    draw(middle, label);
  });
  each(layout.rowLabels, part.row, lit?.row, (at) => [0, y + at - half, x - 2, 2 * half], (at, label) => {
    context.textAlign = 'right';
    context.fillText(clipped(label, x - LABEL_GAP), x - LABEL_GAP, y + at);
  });
  const wide = (label) => layout.kind === 'horizontal' ? textWidth(label) / 2 + 2 : half;
  each(layout.columnLabels, part.col, lit?.col, (at, label) => [x + at - wide(label), 0, 2 * wide(label), y - 2],
    (at, label) => drawColumnLabel(context, label, layout.kind, x + at, y - LABEL_GAP));
}
