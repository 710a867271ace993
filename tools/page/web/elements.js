// Elements of the page. Text is set as text, never as markup: a token cannot become an element.

import { wordsOf } from './look.js';

const DRAWN = ['svg', 'g', 'rect', 'path', 'text', 'image'], SVG = 'http://www.w3.org/2000/svg';

/** An element, of a drawing too; `properties` may have `text`, `on` (listeners), `data`, `style`, and any attribute. */
export function make(tag, properties = {}, ...children) {
  const element = DRAWN.includes(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'text') element.textContent = value;
    else if (name === 'on') Object.entries(value).forEach((one) => element.addEventListener(...one));
    else if (name === 'data') Object.assign(element.dataset, value);
    else if (name === 'style') Object.assign(element.style, value);  // by script: the page's policy allows no attribute
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter(Boolean));
  return element;
}

export function byId(id) { return document.getElementById(id); }

/** Replaces the children. The control that had the focus keeps it; a slider that is dragged stays, and all with it. */
export function fill(element, ...children) {
  if (element.querySelector('input[type=range]:active')) return;
  const controls = () => [...element.querySelectorAll('button, input, select')];
  const focused = controls().indexOf(document.activeElement);
  element.replaceChildren(...children.filter(Boolean));
  if (focused >= 0) controls()[focused]?.focus({preventScroll: true});
}

/** A text that stands back. */
export function quiet(tag, text) { return make(tag, {class: 'quiet', text}); }

export function button(kind, text, click, properties = {}) {
  return make('button', {type: 'button', class: kind, text, on: {click}, ...properties});
}

/** A button that looks like a link; `name` of its words. */
export function link(name, click, properties = {}) { return button('link', wordsOf(name), click, properties); }

/** A button with a sign; `name` of its words. */
export function icon(sign, name, click, disabled = false) {
  return button('icon', sign, click, {title: wordsOf(name), 'aria-label': wordsOf(name), disabled});
}

let bars = 0;

/** Choices, each with the words of its name. */
export const worded = (prefix, names) => names.map((name) => [name, wordsOf(`${prefix}_${name}`)]);

/** One choice of several, as one outlined bar; `label` names its words. `choices`: [[value, text, hint]…]. */
export function segmented(label, choices, chosen, choose) {
  const name = `bar${++bars}`, inputOf = (value) =>
    make('input', {type: 'radio', name, value, checked: value === chosen, on: {change: () => choose(value)}});
  return make('div', {class: 'segmented', role: 'radiogroup', 'aria-label': wordsOf(label)},
    ...choices.map(([value, text, hint]) => make('label', {title: hint}, inputOf(value), text)));
}

/** One choice of several, as a list that opens. `choices`: [[value, text]…]. */
export function select(label, choices, chosen, change) {
  const list = make('select', {'aria-label': label, on: {change: (event) => change(event.target.value)}},
    ...choices.map(([value, text]) => make('option', {value, text, selected: value === chosen})));
  return make('label', {class: 'field'}, make('span', {text: label}), list);
}

/** A switch; `name` of its words, and `tip` of those about it. */
export function toggle(name, tip, on, change, disabled = false) {
  const box = make('input', {type: 'checkbox', role: 'switch', checked: on, disabled, on: {change: () => change(!on)}});
  return make('label', {class: 'toggle', title: wordsOf(tip)}, box, wordsOf(name));
}
