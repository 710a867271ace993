// Maps as pictures: cells pooled to pixels (of the cells that a pixel covers the largest shows, so that a bright cell never
// vanishes), coloured by the map, blocked cells hatched.

import { colourIndex, colourTable, currentMap, currentTheme, ink } from './colour.js';

/** From here on cells (pixels a side) are hatched where they are blocked; smaller ones have the flat tint. */
const LEAST_HATCHED = 3;

/** The part `part` {row, rows, col, cols} of a map {weights, allowed, T, S}, shrunk to at most height × width cells.
    −1 where all cells of a group are blocked. */
export function pooled(map, part, height, width) {
  const rows = Math.min(part.rows, Math.max(1, Math.floor(height))), cols = Math.min(part.cols, Math.max(1, Math.floor(width)));
  const values = new Float32Array(rows * cols).fill(-1);
  const columnOf = new Int32Array(part.cols);
  for (let c = 0; c < cols; ++c)
    columnOf.fill(c, Math.floor(c * part.cols / cols), Math.floor((c + 1) * part.cols / cols));
  for (let r = 0; r < rows; ++r) {
    const end = Math.floor((r + 1) * part.rows / rows);
    for (let i = Math.floor(r * part.rows / rows); i < end; ++i) {
      const from = (part.row + i) * map.S + part.col;
      for (let j = 0; j < part.cols; ++j) {
        const at = r * cols + columnOf[j], weight = map.weights[from + j];
        if (weight > values[at] && (weight > 0 || map.allowed[from + j] !== 0)) values[at] = weight;
      }
    }
  }
  return {values, rows, cols};
}

/** The same of numbers on both sides of zero: the farthest from it shows. NaN: no cell there. */
export function pooledDifference(map, part, height, width) {
  const rows = Math.min(part.rows, Math.max(1, Math.floor(height))), cols = Math.min(part.cols, Math.max(1, Math.floor(width)));
  const values = new Float32Array(rows * cols).fill(NaN);
  for (let i = 0; i < part.rows; ++i)
    for (let j = 0; j < part.cols; ++j) {
      const at = Math.floor(i * rows / part.rows) * cols + Math.floor(j * cols / part.cols);
      const value = map.weights[(part.row + i) * map.S + part.col + j];
      if (Number.isNaN(values[at]) || Math.abs(value) > Math.abs(values[at])) values[at] = value;
    }
  return {values, rows, cols};
}

const scratches = new Map();

/** A canvas of at least rows × cols pixels. Small pictures have one of their own: the browser copies the whole canvas
    when it is written again after it was drawn. */
function scratchOf(rows, cols) {
  const side = 2 ** Math.ceil(Math.log2(Math.max(rows, cols)));
  if (!scratches.has(side)) {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = side;
    scratches.set(side, canvas.getContext('2d', {willReadFrequently: true}));
  }
  return scratches.get(side);
}

/** Writes a picture's colours into the corner of a canvas. */
function paintColours(context, picture, scale) {
  const image = context.createImageData(picture.cols, picture.rows);
  const pixels = new Uint32Array(image.data.buffer), table = colourTable(scale.diverging), {values} = picture, {top} = scale;
  const linear = !scale.diverging && !scale.log;
  for (let i = 0; i < pixels.length; ++i) {
    const value = values[i];
    // Transparent where the hatching, or the tint of a gap, shows through.
    pixels[i] = value !== value || (!scale.diverging && value < 0) ? 0
      : table[!linear ? colourIndex(scale, value) : value >= top ? 255 : Math.floor(value / top * 255 + 0.5)];
  }
  context.putImageData(image, 0, 0);
}

function coloured(picture, scale) {
  const context = scratchOf(picture.rows, picture.cols);
  paintColours(context, picture, scale);
  return context.canvas;
}

/** The same on a canvas of the picture's own, painted again where the scale or the colours are others. */
function keptColours(picture, scale) {
  const key = `${currentTheme()} ${currentMap()} ${scale.log} ${scale.top}`;
  if (picture.kept?.key !== key) {
    const context = picture.kept?.context ?? document.createElement('canvas').getContext('2d');
    if (!picture.kept) [context.canvas.width, context.canvas.height] = [picture.cols, picture.rows];
    paintColours(context, picture, scale);
    picture.kept = {key, context};
  }
  return picture.kept.context.canvas;
}

const patterns = new Map();

/** One calm pixel-wide diagonal every `period` pixels, as shaders/map.frag draws it. */
function hatching(context, period) {
  const key = `${currentTheme()} ${period}`;
  if (!patterns.has(key)) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = period;
    const draw = tile.getContext('2d'), colours = ink();
    draw.fillStyle = colours.background;
    draw.fillRect(0, 0, period, period);
    const image = draw.getImageData(0, 0, period, period);
    const line = colours.blocked_line.match(/\d+/g).map(Number), ground = colours.background.match(/\d+/g).map(Number);
    for (let y = 0; y < period; ++y)
      for (let x = 0; x < period; ++x) {
        const away = Math.abs((x + y) % period - Math.floor(period / 2)) * Math.SQRT1_2;
        const part = Math.max(0, 1 - away);
        for (let c = 0; c < 3; ++c)
          image.data[4 * (y * period + x) + c] = ground[c] + (line[c] - ground[c]) * part;
      }
    draw.putImageData(image, 0, 0);
    patterns.set(key, tile);
  }
  return context.createPattern(patterns.get(key), 'repeat');
}

/** What shows through where nothing is: hatching, or the tint of a gap. */
function background(context, cell, scale) {
  const colours = ink();
  return scale.diverging ? colours.gap : cell < LEAST_HATCHED ? colours.blocked_tint
    : hatching(context, Math.min(12, Math.max(5, Math.floor((cell + 0.5) / 3))));
}

/** Draws a pooled picture into a box of device pixels. */
export function drawPicture(context, picture, box, scale) {
  context.fillStyle = background(context, box.w / picture.cols, scale);
  context.fillRect(box.x, box.y, box.w, box.h);
  context.imageSmoothingEnabled = false;
  context.drawImage(coloured(picture, scale), 0, 0, picture.cols, picture.rows, box.x, box.y, box.w, box.h);
}

/** The same of a picture that is drawn often, over the whole of an empty canvas of w × h pixels. `open`, a picture of the
    same cells with 0 where a query may attend and −1 where not, stands for another mask than that of the picture. */
export function drawKept(context, picture, w, h, scale, open = null) {
  context.imageSmoothingEnabled = false;
  if (open) {
    context.drawImage(keptColours(open, scale), 0, 0, w, h);
    context.globalCompositeOperation = 'source-atop';
  }
  context.drawImage(keptColours(picture, scale), 0, 0, w, h);
  context.globalCompositeOperation = 'destination-over';
  context.fillStyle = background(context, w / picture.cols, scale);
  context.fillRect(0, 0, w, h);
  context.globalCompositeOperation = 'source-over';
}

/** A canvas that is as sharp as the screen; gives its context and size in device pixels. */
export function fitted(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, w, h);
  return {context, ratio, w, h};
}
