// Where a labelled map puts its cells and labels: arithmetic on boxes, as app/figure/map_layout does it. And maps as pictures:
// cells pooled to pixels (of the cells that a pixel covers the largest shows, so that a bright cell never vanishes),
// coloured by the map, blocked cells hatched.

import { axisLabel, colourIndex, colourTable, currentMap, currentTheme, ink, standsUpright } from './look.js';

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
  const step = side >= LABEL_SIZE * PITCH ? 1 : Math.ceil(LABEL_SIZE * THINNED / side);
  return {x, y, w: side * part.cols, h: side * part.rows, height: y + side * part.rows, cell: side, kind, step, part,
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

/** From here on cells (pixels a side) are hatched where they are blocked; smaller ones have the flat tint. */
const LEAST_HATCHED = 3;

/** The largest weight of a map. */
export function largestOf(map) {
  return map.weights.reduce((largest, weight) => weight > largest ? weight : largest, 0);
}

export function wholePart(map) { return {row: 0, rows: map.T, col: 0, cols: map.S}; }

/** The part `part` {row, rows, col, cols} of a map {weights, allowed, T, S}, shrunk to at most height × width cells.
    −1 where all cells of a group are blocked. Of a difference the number farthest from 0 shows, and NaN is no cell. */
export function pooled(map, part, height, width, difference = false) {
  const rows = Math.min(part.rows, Math.max(1, Math.floor(height))), cols = Math.min(part.cols, Math.max(1, Math.floor(width)));
  const values = new Float32Array(rows * cols).fill(difference ? NaN : -1);
  const columnOf = new Int32Array(part.cols);
  for (let c = 0; c < cols; ++c)
    columnOf.fill(c, Math.floor(c * part.cols / cols), Math.floor((c + 1) * part.cols / cols));
  for (let r = 0; r < rows; ++r) {
    const end = Math.floor((r + 1) * part.rows / rows);
    for (let i = Math.floor(r * part.rows / rows); i < end; ++i) {
      const from = (part.row + i) * map.S + part.col;
      for (let j = 0; j < part.cols; ++j) {
        const at = r * cols + columnOf[j], weight = map.weights[from + j];
        if (difference ? weight === weight && !(Math.abs(weight) <= Math.abs(values[at]))
          : weight > values[at] && (weight > 0 || map.allowed[from + j] !== 0)) values[at] = weight;
      }
    }
  }
  return {values, rows, cols};
}

/** The picture's colours on a canvas that is kept with it, painted again where the scale or the colours are others. */
function coloured(picture, scale) {
  const key = `${currentTheme()} ${currentMap()} ${scale.log} ${scale.top}`;
  if (picture.kept?.key === key) return picture.kept.canvas;
  const canvas = picture.kept?.canvas ?? document.createElement('canvas'), context = canvas.getContext('2d');
  picture.kept = {key, canvas};
  canvas.width = picture.cols;
  canvas.height = picture.rows;
  const image = context.createImageData(picture.cols, picture.rows);
  const pixels = new Uint32Array(image.data.buffer), table = colourTable(scale.diverging), {values} = picture;
  const linear = !scale.diverging && !scale.log, {top} = scale;
  for (let i = 0; i < pixels.length; ++i) {
    const value = values[i];
    // Transparent where the hatching, or the tint of a gap, shows through.
    pixels[i] = value !== value || (!scale.diverging && value < 0) ? 0
      : table[!linear ? colourIndex(scale, value) : value >= top ? 255 : Math.floor(value / top * 255 + 0.5)];
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

const patterns = new Map();

/** One calm pixel-wide diagonal every `period` pixels, as shaders/map.frag draws it. */
function hatching(context, period) {
  const key = `${currentTheme()} ${period}`;
  if (!patterns.has(key)) {
    const tile = document.createElement('canvas'), draw = tile.getContext('2d'), colours = ink();
    tile.width = tile.height = period;
    draw.fillStyle = colours.background;
    draw.fillRect(0, 0, period, period);
    Object.assign(draw, {strokeStyle: colours.blocked_line, lineWidth: 1.4});
    for (const sum of [0, period, 2 * period]) {  // x + y
      draw.moveTo(sum + 1, -1);
      draw.lineTo(-1, sum + 1);
    }
    draw.stroke();
    patterns.set(key, tile);
  }
  return context.createPattern(patterns.get(key), 'repeat');
}

/** Draws a pooled picture, or one row of it, into a box, whose edges lie between pixels of the screen. */
export function drawPicture(context, picture, box, scale, row = null) {
  const ratio = context.getTransform().a, onScreen = (length) => Math.round(length * ratio);
  const [x, y, w, h] = [box.x, box.y, box.w, box.h].map(onScreen), cell = w / picture.cols;
  context.save();
  context.resetTransform();
  // What shows through where nothing is.
  context.fillStyle = scale.diverging ? ink().gap : cell < LEAST_HATCHED ? ink().blocked_tint
    : hatching(context, Math.min(12, Math.max(5, Math.floor((cell + 0.5) / 3))));
  context.fillRect(x, y, w, h);
  context.imageSmoothingEnabled = false;
  context.drawImage(coloured(picture, scale), 0, row ?? 0, picture.cols, row === null ? picture.rows : 1, x, y, w, h);
  context.restore();
}

/** A canvas that is as sharp as the screen; gives its context, emptied, whose unit is a pixel of the page. */
export function fitted(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  Object.assign(canvas.style, {width: `${width}px`, height: `${height}px`});
  const context = canvas.getContext('2d');
  context.reset();
  context.scale(ratio, ratio);
  return {context, ratio};
}

/** Draws a map into the plot of its layout on a canvas of that width. */
export function drawMap(canvas, width, layout, map, scale) {
  const {context, ratio} = fitted(canvas, width, layout.height);
  const picture = pooled(map, layout.part, Math.round(layout.h * ratio), Math.round(layout.w * ratio), scale.diverging);
  drawPicture(context, picture, layout, scale);
  return context;
}
