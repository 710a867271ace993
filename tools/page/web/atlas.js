// Every head at a glance: the scene of all maps, and over each map a button.

import { fill, make } from './elements.js';
import { mapName, wordsOf } from './look.js';
import { createScene } from './paint.js';

/** Heads are measured for so many milliseconds at a time: the page answers to the reader between them. */
const MEASURE_SLICE = 9;

/** `redraw`: when the heads that were asked for are measured. */
export function createAtlas(store, element, redraw) {
  const scene = createScene(store.core, 1, element, {role: 'group'});
  let known = new Map(), knownOf = '', isBusy = false, built = '';

  const byLayer = () => store.view.order === 'layer';
  const valueOf = ({key}) => known.get(key)?.[store.view.order];

  /** Measures those that are not measured yet, some at a time; then the order is known. */
  function measure() {
    const stack = store.stack(), now = `${stack.index} ${store.version}`, end = performance.now() + MEASURE_SLICE;
    if (now !== knownOf) [known, knownOf] = [new Map(), now];
    const left = byLayer() ? [] : stack.heads.filter(({key}) => !known.has(key));
    while (left.length > 0 && performance.now() < end) {
      const {layer, head, key} = left.shift();
      known.set(key, store.core.measures(stack, layer, head));
    }
    isBusy = left.length > 0;
    if (isBusy) setTimeout(() => { measure(); if (!isBusy) redraw('all'); });
  }

  function order() {
    const {heads} = store.stack(), value = (one) => valueOf(one) ?? -Infinity;
    return byLayer() ? heads : [...heads].sort((a, b) => value(b) - value(a));
  }

  function buttonOf([name, x, y, width, height]) {
    const [layer, head] = name.slice('head '.length).split('.').map(Number);
    return make('button', {type: 'button', class: 'head', data: {key: `${layer}.${head}`},
      style: {left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px`},
      on: {click: () => store.look({layer, head}), dblclick: () => store.look({layer, head, explain: true})}});
  }

  /** What each button is called, and which is pressed. */
  function nameButtons() {
    const stack = store.stack();
    for (const button of scene.over.children) {
      const [layer, head] = button.dataset.key.split('.').map(Number), {words} = store.nameOf({layer, head});
      const off = store.isOff(stack, layer, head) && wordsOf('head_is_off');
      const texts = [mapName(store.answer.summedUp, layer, head), off, words].filter(Boolean);
      button.setAttribute('aria-pressed', String(store.isChosen({layer, head})));
      button.setAttribute('aria-label', texts.join(', '));
      button.title = texts.join(' · ');
    }
  }

  return {
    order,
    draw(width, height) {
      if (!isBusy) measure();
      const heads = order(), ordered = !byLayer();
      const found = scene.draw({...store.asked(), view: 'atlas', width, height,
        order: ordered ? heads.map(({layer, head}) => [layer, head]) : [],
        numbers: ordered ? heads.map((one) => valueOf(one) ?? null) : []}, store.stamp());
      scene.frame.setAttribute('aria-label', wordsOf('all_heads', heads.length));
      const hits = JSON.stringify(found.hits);
      if (hits !== built) fill(scene.over, ...found.hits.map(buttonOf));
      built = hits;
      nameButtons();
    },
  };
}
