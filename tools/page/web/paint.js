// Paints the scenes of the core (page/core/scene_json.cpp): a drawing (SVG) over canvases for the cells of maps.

import { make } from './elements.js';

const FONT = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", "WenQuanYi Micro Hei", sans-serif';
/** The middle of a text's ink above its base line, in ems. */
const INK_MIDDLE = 0.37;
/** So many pixels of maps are coloured at once; of more a map at a time, for so many milliseconds. */
const AT_ONCE = 2 ** 20, SLICE = 9;
/** From here on cells (pixels a side) are hatched where they are blocked; smaller ones have the flat tint. */
const LEAST_HATCHED = 3;

let ruler = null;
const widths = new Map();

/** The width of a line of text whose em is `size`. */
export function textWidth(text, size) {
  if (!widths.has(text)) {
    ruler ??= document.createElement('canvas').getContext('2d');
    ruler.font = `100px ${FONT}`;
    if (widths.size > 20000) widths.clear();
    widths.set(text, ruler.measureText(text).width / 100);
  }
  return widths.get(text) * size;
}

const fraction = (opacity) => opacity < 1 ? opacity : null;
/** How an item is drawn, by its kind; what follows the kind are the numbers in the order of the core. */
const ITEMS = {
  r: (x, y, width, height, fill, stroke, thick, corner, opacity) => make('rect', {x, y, width, height,
    fill: fill || 'none', 'fill-opacity': fraction(opacity), stroke: stroke || null, 'stroke-width': thick || null,
    rx: corner || null}),
  p: (d, width, stroke, opacity, dash) => make('path', {d, fill: 'none', stroke, 'stroke-width': width,
    'stroke-opacity': fraction(opacity), 'stroke-dasharray': dash ? `${dash} ${dash * 2 / 3}` : null}),
  g: (d, fill) => make('path', {d, fill}),
  t: (x, y, text, size, fill, anchor, turned) => make('text', {text, fill, 'font-size': size,
    'font-family': FONT, 'text-anchor': ['start', 'middle', 'end'][anchor],
    ...(turned ? {transform: `translate(${x + INK_MIDDLE * size} ${y}) rotate(-90)`} : {x, y: y + INK_MIDDLE * size})}),
};

/** Puts the pixels of the core on a canvas that is shown w pixels wide. Blocked cells are bare: there its background
    shows. */
function colour(canvas, {bytes, rows, columns}, w) {
  [canvas.width, canvas.height] = [columns, rows];
  if (rows * columns > 0) canvas.getContext('2d').putImageData(new ImageData(bytes, columns, rows), 0, 0);
  // One calm diagonal every `period` pixels, as shaders/map.frag draws it.
  const cell = w / columns, period = Math.min(12, Math.max(5, Math.floor((cell + 0.5) / 3))) / Math.SQRT2;
  canvas.style.background = cell < LEAST_HATCHED ? 'var(--blocked-tint)'
    : `repeating-linear-gradient(135deg, transparent 0 ${period - 2}px,
      var(--blocked-line) ${period - 1.4}px ${period - 0.6}px, transparent ${period}px)`;
}

const placed = (x, y, w, h) => ({left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${h}px`});

/** A place of the core for scenes (0: the stage, 1: the maps of all heads), in an element. */
export function createScene(core, place, element, properties) {
  const cells = make('div', {class: 'cells', 'aria-hidden': 'true'}), over = make('div', {class: 'over'});
  const drawing = make('svg', {class: 'drawing', 'aria-hidden': 'true'});
  const frame = make('div', {class: 'scene', ...properties}, cells, drawing, over);
  element.append(frame);
  let canvases = new Map(), queue = [], isBusy = false, scene = null;

  /** The picture of a side in a box. */
  function picture(x, y, w, h, side) {
    const bitmap = core.bitmaps[side], {width, height} = bitmap;
    const canvas = make('canvas', {width, height, style: placed(x, y, w, h)});
    canvas.getContext('2d').drawImage(bitmap, 0, 0);
    return canvas;
  }

  function goOn() {
    const end = performance.now() + SLICE;
    while (queue.length > 0 && performance.now() < end) queue.shift()();
    isBusy = queue.length > 0;
    if (isBusy) setTimeout(goOn);
  }

  /** The canvases of its maps; one whose content has the same `stamp` keeps its pixels. */
  function drawCells(maps, stamp, pictures) {
    const before = canvases, ratio = window.devicePixelRatio || 1;
    const all = maps.reduce((sum, [, , , w, h]) => sum + w * h, 0) * ratio * ratio;
    canvases = new Map();
    queue = [];
    for (const [, x, y, w, h, key, n, opacity] of maps) {
      const canvas = before.get(key) ?? make('canvas'), wanted = `${stamp} ${w} ${h}`;
      canvases.set(key, canvas);
      Object.assign(canvas.style, placed(x, y, w, h), {opacity});
      if (canvas.dataset.stamp === wanted) continue;
      const paint = () => {
        colour(canvas, core.pixels(place, n, Math.round(w * ratio), Math.round(h * ratio)), w);
        canvas.dataset.stamp = wanted;
        canvas.classList.remove('stale');
      };
      if (all <= AT_ONCE || maps.length === 1) paint();
      else queue.push(paint);
      canvas.classList.toggle('stale', canvas.dataset.stamp !== wanted);
    }
    cells.replaceChildren(...pictures, ...canvases.values());
    if (queue.length > 0 && !isBusy) setTimeout(goOn);
    isBusy ||= queue.length > 0;
  }

  return {
    frame, over,
    /** Draws what the core makes of a look: the scene, or null where it cannot show so much. */
    draw(look, stamp) {
      scene = core.scene(place, look);
      if (!scene) return null;
      const {items, width, height} = scene, isMap = ([kind]) => kind === 'c';
      Object.assign(frame.style, {width: `${width}px`, height: `${height}px`});
      const pictures = items.filter(([kind]) => kind === 'i').map(([, ...box]) => picture(...box));
      drawCells(items.filter(isMap), stamp, pictures);
      const isGround = (item, next) => next && isMap(next) && item.slice(1, 5).join() === next.slice(1, 5).join();
      drawing.replaceChildren(...items.filter((item, i) => ITEMS[item[0]] && !isGround(item, items[i + 1]))
        .map(([kind, ...rest]) => ITEMS[kind](...rest)));
      return scene;
    },
    /** Where an event is in the scene, and what lies there. */
    placeOf({clientX, clientY}) {
      const box = frame.getBoundingClientRect();
      return [clientX - box.left, clientY - box.top];
    },
    at: ([x, y]) => scene && core.point(place, x, y),
    /** The scene as a text of its own, a rectangle for each cell. */
    toSvg(blocked) {
      const rects = scene.items.filter(([kind]) => kind === 'c').flatMap(([, x, y, w, h, , n, opacity]) => {
        const {bytes, rows, columns} = core.pixels(place, n, w, h), width = w / columns, height = h / rows;
        const like = {class: 'cell', width, height, 'fill-opacity': fraction(opacity)};
        return Array.from({length: rows * columns}, (_, i) => make('rect', {...like,
          x: x + width * (i % columns), y: y + height * Math.floor(i / columns),
          fill: bytes[4 * i + 3] ? `rgb(${bytes.subarray(4 * i, 4 * i + 3).join(' ')})` : blocked}));
      });
      const width = Math.ceil(scene.width), height = Math.ceil(scene.height);
      const items = [...drawing.children].map((one) => one.cloneNode(true));
      const under = scene.items.filter(([kind]) => kind === 'i').map(([, x, y, width, height, side]) =>
        make('image', {x, y, width, height, href: core.pictures[side], style: {imageRendering: 'pixelated'}}));
      const root = make('svg', {width, height, viewBox: `0 0 ${width} ${height}`}, ...under, ...rects, ...items);
      return new XMLSerializer().serializeToString(root);
    },
  };
}
