// Where a labelled map puts its cells and labels: arithmetic on boxes, as app/figure/map_layout does it.

import { axisLabel, standsUpright } from './labels.js';

const LABEL_GAP = 5, LONGEST_STACK = 4;
/** Labels may stand this close, in lines of text; where not all have room those that remain stand farther apart. */
const PITCH = 0.86, THINNED = 1.1;

export const LABEL_SIZE = 12.5;
export const LABEL_FONT = `${LABEL_SIZE}px system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", "WenQuanYi Micro Hei", sans-serif`;

let ruler = null;
const widths = new Map();

export function textWidth(text, font = LABEL_FONT) {
  const key = `${font}\n${text}`;
  if (!widths.has(key)) {
    ruler ??= document.createElement('canvas').getContext('2d');
    ruler.font = font;
    if (widths.size > 20000) widths.clear();
    widths.set(key, ruler.measureText(text).width);
  }
  return widths.get(key);
}

function labelStep(pitch) {
  if (pitch >= LABEL_SIZE * PITCH) return 1;
  return Math.ceil(LABEL_SIZE * THINNED / pitch);
}

/** Fits `part` {row, rows, col, cols} into width × height pixels; tokens name rows and columns. `upto`: of the side. */
export function layoutMap(width, height, part, rowTokens, columnTokens) {
  const rows = rowTokens.slice(part.row, part.row + part.rows).map(axisLabel);
  const columns = columnTokens.slice(part.col, part.col + part.cols).map(axisLabel);
  // Of very many labels only those that can be drawn are measured.
  const some = (labels) => labels.length > 400 ? labels.filter((_, i) => i % Math.ceil(labels.length / 400) === 0) : labels;
  const widest = (labels) => some(labels).reduce((most, label) => Math.max(most, textWidth(label)), 0);
  const left = Math.min(widest(rows) + LABEL_GAP, width * 0.3);
  const wide = widest(columns), roomy = Math.min((width - left) / part.cols, height / part.rows);
  const upright = columns.every(standsUpright) && columns.every((label) => [...label].length <= LONGEST_STACK);
  const tallest = columns.reduce((most, label) => Math.max(most, [...label].length), 0);
  let kind = 'rotated', top = Math.min(wide + LABEL_GAP, height * 0.3);
  if (wide + LABEL_GAP <= roomy) kind = 'horizontal', top = LABEL_SIZE + LABEL_GAP + 2;
  else if (upright) kind = 'stacked', top = tallest * (LABEL_SIZE + 1) + LABEL_GAP;
  const cell = Math.min((width - left) / part.cols, (height - top) / part.rows);
  // Whole pixels where cells are large, so that none is wider than its neighbour.
  const side = cell > 4 ? Math.floor(cell) : cell;
  return {
    x: Math.ceil(left), y: Math.ceil(top), w: side * part.cols, h: side * part.rows, cell: side, columns: kind,
    rowStep: labelStep(side), columnStep: labelStep(side), part, rowLabels: rows, columnLabels: columns,
    width: Math.ceil(left) + side * part.cols, height: Math.ceil(top) + side * part.rows,
  };
}

/** The cell of the whole map under a point, or null. */
export function cellAt(layout, x, y) {
  const col = Math.floor((x - layout.x) / layout.cell), row = Math.floor((y - layout.y) / layout.cell);
  if (col < 0 || row < 0 || col >= layout.part.cols || row >= layout.part.rows) return null;
  return {row: layout.part.row + row, col: layout.part.col + col};
}

/** Draws the labels that have room; `lit` {row, col} of the whole map are in the accent's colour, and then the others are
    left to the drawing below unless `all`. */
export function drawLabels(context, layout, colours, lit, all = true) {
  const {part, cell} = layout;
  const clear = (x, y, w, h) => {
    if (all) return;
    context.fillStyle = colours.background;
    context.fillRect(x, y, w, h);
  };
  context.font = LABEL_FONT;
  context.textBaseline = 'middle';
  const colourOf = (on) => on ? colours.accent : colours.text;
  context.textAlign = 'right';
  layout.rowLabels.forEach((label, i) => {
    const on = lit && lit.row === part.row + i;
    if (!on && (!all || i % layout.rowStep !== 0 || near(lit?.row, part.row + i, layout.rowStep))) return;
    const y = layout.y + (i + 0.5) * cell;
    if (on) clear(0, y - LABEL_SIZE * 0.62, layout.x - 2, LABEL_SIZE * 1.24);
    context.fillStyle = colourOf(on);
    context.font = on ? `600 ${LABEL_FONT}` : LABEL_FONT;
    context.fillText(clipped(label, layout.x - LABEL_GAP), layout.x - LABEL_GAP, y);
  });
  layout.columnLabels.forEach((label, j) => {
    const on = lit && lit.col === part.col + j;
    if (!on && (!all || j % layout.columnStep !== 0 || near(lit?.col, part.col + j, layout.columnStep))) return;
    const x = layout.x + (j + 0.5) * cell;
    const half = layout.columns === 'horizontal' ? textWidth(label) / 2 + 2 : LABEL_SIZE * 0.62;
    if (on) clear(x - half, 0, 2 * half, layout.y - 2);
    context.fillStyle = colourOf(on);
    context.font = on ? `600 ${LABEL_FONT}` : LABEL_FONT;
    if (layout.columns === 'horizontal') {
      context.textAlign = 'center';
      context.fillText(label, x, layout.y - LABEL_GAP - LABEL_SIZE / 2);
    } else if (layout.columns === 'stacked') {
      context.textAlign = 'center';
      const characters = [...label];
      characters.forEach((character, i) =>
        context.fillText(character, x, layout.y - LABEL_GAP - (characters.length - i - 0.5) * (LABEL_SIZE + 1)));
    } else {
      context.save();
      context.translate(x, layout.y - LABEL_GAP);
      context.rotate(-Math.PI / 2);
      context.textAlign = 'left';
      context.fillText(clipped(label, layout.y - LABEL_GAP), 0, 0);
      context.restore();
    }
  });
}

/** Whether a thinned label stands where the lit one is drawn. */
function near(lit, index, step) { return step > 1 && lit !== undefined && lit !== null && Math.abs(lit - index) < step; }

export function clipped(label, room, font = LABEL_FONT) {
  if (textWidth(label, font) <= room) return label;
  const characters = [...label];
  while (characters.length > 1 && textWidth(characters.join('') + '…', font) > room) characters.pop();
  return characters.join('') + '…';
}
