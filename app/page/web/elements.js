// Elements of the page. Text is set as text, never as markup: a token cannot become an element.

/** An element; `properties` may have `text`, `on` (listeners), `data`, and any attribute. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'text') element.textContent = value;
    else if (name === 'on') for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (name === 'data') Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function byId(id) { return document.getElementById(id); }

/** Puts these children in place of those that were there. */
export function fill(element, ...children) { element.replaceChildren(...children.filter((child) => child)); }

/** One choice of several, as one outlined bar. `choices`: [[value, text, hint]…]. */
export function segmented(label, choices, chosen, choose) {
  const bar = make('div', {class: 'segmented', role: 'radiogroup', 'aria-label': label});
  choices.forEach(([value, text, hint], i) => {
    const on = value === chosen;
    bar.append(make('button', {type: 'button', role: 'radio', text, title: hint, 'aria-checked': String(on),
      data: {value}, tabindex: on || (i === 0 && !choices.some(([other]) => other === chosen)) ? '0' : '-1',
      on: {click: () => choose(value)}}));
  });
  bar.addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const at = choices.findIndex(([value]) => value === chosen);
    const next = choices[(at + step + choices.length) % choices.length][0];
    choose(next);
    requestAnimationFrame(() => document.querySelector(`.segmented[aria-label="${CSS.escape(label)}"] [aria-checked="true"]`)?.focus());
  });
  return bar;
}

/** A switch with its words. */
export function toggle(text, hint, on, change, disabled = false) {
  return make('button', {type: 'button', class: 'toggle', 'aria-pressed': String(on), title: hint, disabled,
    on: {click: () => change(!on)}}, make('span', {class: 'box', 'aria-hidden': 'true'}), make('span', {text}));
}
