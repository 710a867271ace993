// Maps as pictures: cells pooled to pixels (of the cells that a pixel covers the largest shows, so that a bright cell never
// vanishes), coloured by the map, blocked cells hatched.

import { colourIndex, colourTable, currentMap, currentTheme, ink } from './colour.js';

/** From here on cells (pixels a side) are hatched where they are blocked; smaller ones have the flat tint. */
const LEAST_HATCHED = 3;

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

/** Draws a pooled picture, or one row of it, into a box of device pixels. */
export function drawPicture(context, picture, {x, y, w, h}, scale, row = null) {
  const cell = w / picture.cols;
  // What shows through where nothing is.
  context.fillStyle = scale.diverging ? ink().gap : cell < LEAST_HATCHED ? ink().blocked_tint
    : hatching(context, Math.min(12, Math.max(5, Math.floor((cell + 0.5) / 3))));
  context.fillRect(x, y, w, h);
  context.imageSmoothingEnabled = false;
  context.drawImage(coloured(picture, scale), 0, row ?? 0, picture.cols, row === null ? picture.rows : 1, x, y, w, h);
}

/** A canvas that is as sharp as the screen; gives its context and size in device pixels. */
export function fitted(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  Object.assign(canvas.style, {width: `${width}px`, height: `${height}px`});
  const context = canvas.getContext('2d');
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.globalAlpha = 1;
  context.clearRect(0, 0, w, h);
  return {context, ratio, w, h};
}

/** Draws a map into the plot of its layout (layout.js) on a canvas of that width; then one unit is a pixel of the page. */
export function drawMap(canvas, width, layout, map, scale) {
  const {context, ratio} = fitted(canvas, width, layout.height);
  const box = {x: layout.x, y: layout.y, w: layout.w, h: layout.h};
  for (const side of Object.keys(box)) box[side] = Math.round(box[side] * ratio);
  drawPicture(context, pooled(map, layout.part, box.h, box.w, scale.diverging), box, scale);
  context.scale(ratio, ratio);
  return context;
}
