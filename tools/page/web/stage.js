// The stage: the scene of the chosen view, and what hands do with it. Point to read, click to keep; of the map turn the
// wheel or pinch to zoom, drag to move, paint the mask; of the text choose words.

import { fill, make, quiet, segmented, worded } from './elements.js';
import { briefNumber, either, headName, percent, wordsOf } from './look.js';
import { createScene } from './paint.js';

/** The smallest part of a map that can be zoomed to. */
const LEAST_PART = 6;

const sameCell = (a, b) => a && b && a.query === b.query && a.key === b.key;

export function createStage(store, element, page) {
  const sheet = make('div', {class: 'sheet'}), controls = make('div', {class: 'controls', id: 'text-controls'});
  const compared = make('div', {class: 'compare', id: 'compare-head'}), legend = quiet('p', '');
  element.append(compared, controls, sheet, legend);
  const scene = createScene(store.core, 0, sheet, {id: 'stage-map', role: 'img', tabindex: '0'}), {frame} = scene;
  const pointers = new Map();
  let drawn = null, shown = 'heads', stroke = null, gesture = null, moved = false, anchor = null;

  function draw(width, height) {
    const {view, viewport, painting} = store.view;
    const ask = (name) => scene.draw({...store.asked(), view: name, width, height}, store.stamp());
    frame.style.touchAction = view === 'heads' && (viewport || painting) ? 'none' : 'pan-y pinch-zoom';
    compared.hidden = view !== 'compare';
    const cannot = view === 'compare' && !store.kept;
    sheet.hidden = cannot;
    if (cannot) {
      drawn = null;
      return fill(compared, quiet('p', wordsOf('site_keep_hint')));
    }
    [shown, drawn] = [view, ask(view)];
    if (!drawn) [shown, drawn] = view === 'sentence' ? ['text', ask('text')] : ['heads', ask('heads')];
    sheet.style.maxHeight = ['text', 'flow'].includes(shown) ? `${Math.max(320, height)}px` : '';
    controls.hidden = shown !== 'text';
    const {stack, layer, head} = store.chosen();
    const name = {sentence: 'sentence_of', flow: 'flow_hint'}[shown] ?? 'map_of';
    frame.setAttribute('aria-label', wordsOf(name, headName(layer, head), drawn.beside.rows ?? stack.T,
      drawn.beside.cols ?? stack.S));
    legend.textContent = shown === 'flow' ? wordsOf(drawn.beside.lines ? 'lines_shown' : 'no_line', drawn.beside.lines,
      percent(store.view.threshold)) : drawn.beside.legend ?? (shown === 'text' ? wordsOf('text_choose') : '');
    if (shown === 'compare') drawCompared();
    if (shown === 'text') drawWords();
    else fill(scene.over);
  }

  // The map: its parts.
  function wholePart() { return {row: 0, rows: drawn.beside.rows, col: 0, cols: drawn.beside.cols}; }
  function canZoom() { return shown === 'heads' && Math.max(drawn?.beside.rows, drawn?.beside.cols) > 2 * LEAST_PART; }
  /** Shows a part of the map; the whole where that is all. */
  function showPart({row, rows, col, cols}) {
    const within = (least, value, most) => Math.round(Math.min(most, Math.max(least, value))), all = wholePart();
    rows = within(LEAST_PART, rows, all.rows);
    cols = within(LEAST_PART, cols, all.cols);
    const part = {row: within(0, row, all.rows - rows), rows, col: within(0, col, all.cols - cols), cols};
    store.look({viewport: rows >= all.rows && cols >= all.cols ? null : part});
  }
  /** Enlarges a part by `factor`; what stood at `from`, in shares of the plot, then stands at `to`. */
  function zoom(factor, from = {x: 0.5, y: 0.5}, to = from, part = store.view.viewport ?? wholePart()) {
    const rows = part.rows / factor, cols = part.cols / factor;
    const row = part.row + from.y * part.rows - to.y * rows, col = part.col + from.x * part.cols - to.x * cols;
    showPart({row, rows, col, cols});
  }
  function shareOf([x, y], {x: left, y: top, w, h} = drawn.beside.layout) {
    return {x: (x - left) / w, y: (y - top) / h};
  }
  function paint(cell) {
    const key = cell && `${cell.query},${cell.key}`;
    if (cell && !stroke.cells.has(key)) store.paint(cell, stroke.allow, stroke.cells.add(key).size > 1);
  }
  /** Where one or two fingers are, how far apart in pixels, and what is shown. */
  function fingers() {
    const [a, b = a] = pointers.values();
    return {at: shareOf([(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]),
      apart: Math.max(8, Math.hypot(a[0] - b[0], a[1] - b[1])), part: store.view.viewport ?? wholePart()};
  }

  // Hands.
  frame.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || shown === 'text' || !drawn) return;
    const at = scene.placeOf(event), cell = scene.at(at)?.cell;
    moved = false;
    if (shown !== 'heads') return;
    pointers.set(event.pointerId, at);
    gesture = fingers();
    if (store.view.painting && cell && !store.fold(store.stack()).isFolded) {
      stroke = {allow: !store.isAllowed(cell), cells: new Set()};
      paint(cell);
    }
    if (stroke || store.view.viewport) frame.setPointerCapture(event.pointerId);
  });
  frame.addEventListener('pointermove', (event) => {
    if (shown === 'text' || !drawn) return;
    const at = scene.placeOf(event), found = scene.at(at);
    if (stroke) return paint(found?.cell);
    const isPressed = pointers.has(event.pointerId), isMoving = store.view.viewport || pointers.size > 1;
    if (!isPressed || !isMoving) return point(found, at);
    pointers.set(event.pointerId, at);
    const now = fingers(), {w, h} = drawn.beside.layout;
    moved ||= pointers.size > 1 || Math.hypot((now.at.x - gesture.at.x) * w, (now.at.y - gesture.at.y) * h) > 3;
    if (moved) zoom(now.apart / gesture.apart, gesture.at, now.at, gesture.part);
  });
  /** What lies under the pointer is read; of a comparison in words. */
  function point(found, at) {
    const isOf = shown === 'sentence' && found?.layer !== undefined, pointer = shown === 'heads' ? null : at;
    store.look({hovered: found?.cell ?? null, hoveredHead: isOf ? {layer: found.layer, head: found.head} : null,
      pointer, pointed: shown === 'compare' ? found : null});
  }
  function release(event) {
    const painted = stroke !== null;
    pointers.delete(event.pointerId);
    stroke = null;
    if (pointers.size > 0) gesture = fingers();
    if (event.type !== 'pointerup' || painted || moved || event.button !== 0 || shown === 'text' || !drawn) return;
    const found = scene.at(scene.placeOf(event)), {layer, head} = {...store.view, ...found};
    if (!found?.cell) return;
    // A click keeps; one on what is kept asks for the numbers behind it.
    if (sameCell(found.cell, store.view.pinned) && store.isChosen({layer, head})) store.look({explain: true});
    else store.look({layer, head, pinned: found.cell});
  }
  frame.addEventListener('pointerup', release);
  frame.addEventListener('pointercancel', release);
  frame.addEventListener('pointerleave', () =>
    store.look({hovered: null, hoveredHead: null, pointer: null, pointed: null}));
  frame.addEventListener('wheel', (event) => {
    // A short sentence is seen whole: there the wheel scrolls the page.
    if (!canZoom() || (wholePart().rows <= 24 && !store.view.viewport && !event.ctrlKey)) return;
    event.preventDefault();
    zoom(1.0015 ** -event.deltaY, shareOf(scene.placeOf(event)));
  }, {passive: false});

  // The text: a span over each word.
  function drawWords() {
    const {textColumns: columns, textHeads} = store.view, {tokens, shades, shaded, one} = drawn.beside;
    fill(controls, segmented('view_text', worded('text', ['rows', 'columns']), columns ? 'columns' : 'rows',
      (name) => store.look({textColumns: name === 'columns', textWords: one ? drawn.beside.chosen : []})),
    segmented('heads', worded('text', ['head', 'layer', 'all']), textHeads, (name) => store.look({textHeads: name})));
    const counts = [0, 0];
    fill(scene.over, ...drawn.hits.map(([name, x, y, width, height]) => {
      const side = name.startsWith('text key') ? 1 : 0, index = counts[side]++, token = tokens[side][index];
      const number = side === shaded ? shades[index] : undefined;
      const isBlocked = number === null || (number < 0 && !store.answer.isSigned);
      const title = number === undefined ? null : isBlocked ? wordsOf('blocked') : briefNumber(number);
      return make('span', {class: 'word', title, data: {side, index, token},
        style: {left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px`}});
    }));
  }
  /** A word is chosen; `to`: all from the anchor to it; `add`: it joins the others, or leaves them. */
  function choose({side, index, token}, {to, add}) {
    const {pinned, textColumns} = store.view, {tokens, one, chosen} = drawn.beside, at = Number(token);
    const columns = one ? textColumns : side === '1', isAdded = columns === textColumns && chosen.length > 0;
    const change = {textColumns: columns, textWords: []};
    if (isAdded && to && anchor !== null) {
      const [first, last] = [anchor, Number(index)].sort((a, b) => a - b);
      change.textWords = tokens[side].slice(first, last + 1);
    } else if (isAdded && add) {
      change.textWords = chosen.includes(at) ? chosen.filter((word) => word !== at) : [...chosen, at];
    } else {
      change.pinned = columns ? {query: one ? at : pinned?.query ?? 0, key: at} : store.strongest(at);
      anchor = Number(index);
    }
    store.look(change);
  }
  const wordOf = ({target}) => target.closest('.word')?.dataset;
  scene.over.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || !wordOf(event)) return;
    event.preventDefault();
    choose(wordOf(event), {to: event.shiftKey, add: event.ctrlKey || event.metaKey});
  });
  scene.over.addEventListener('pointerover', (event) =>
    event.buttons === 1 && wordOf(event) && choose(wordOf(event), {to: true}));

  /** The two answers, and the cell under the pointer in both. */
  function drawCompared() {
    const {pointed} = store.view, label = (kind, text) => make('h3', {text: `${kind} · ${either(text)}`});
    fill(compared, label('A', page.compare.label_a), label('B', page.compare.label_b),
      make('p', {class: 'sentence', 'aria-live': 'polite', text: pointed?.line ?? wordsOf('pinned_hint')}));
  }

  return {
    draw, zoom: (factor) => canZoom() && zoom(factor), canZoom, toSvg: scene.toSvg,
    /** Whether the scene has the row of the pinned cell as bars. */
    hasBars: () => shown === 'sentence',
    /** Brings a cell into the part that is shown. */
    reveal(cell) {
      const now = store.view.viewport, at = now && store.shownCell(cell);
      if (!at) return;
      const into = (begin, count, index) => index < begin ? index : index >= begin + count ? index - count + 1 : begin;
      showPart({...now, row: into(now.row, now.rows, at.row), col: into(now.col, now.cols, at.col)});
    },
  };
}
