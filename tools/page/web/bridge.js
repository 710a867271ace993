// The page in the frame of a notebook's widget (python/headlight/widget.js), which asks for what Python set and hears
// what the reader chose. A frame without an address was made by the document around it, which has the page's text.

import { headText } from './data.js';

/** What tells of a change: a function to call after each. */
export function createBridge(store, api) {
  if (location.href !== 'about:srcdoc' || window.parent === window) return () => {};
  let told = '', number = 0, isTaking = false;

  function stateNow() {
    const {edits: {masks, off}, view: {stack, layer, head, pinned}} = store, {query = null, key = null} = pinned ?? {};
    return {head: headText(store.stack(), layer, head), query, key, mask: masks[stack].kind, off: [...off].sort()};
  }
  function tell(more = {}) {
    const headlight = stateNow(), text = JSON.stringify(headlight);
    if (isTaking || (text === told && !('error' in more))) return;
    told = text;
    window.parent.postMessage({headlight, number, error: '', ...more}, '*');
  }

  /** The cell that is wanted: without a key that at which the query looks most; null: none. */
  function cellOf({query = null, key = null}, now) {
    const isDropped = (wanted, own) => wanted === null && own !== null;
    if (isDropped(query, now.query) || isDropped(key, now.key)) return null;
    return key === null ? Object.values(store.strongest(query)) : [query ?? 0, key];
  }
  function take(wanted) {
    const now = stateNow(), change = {};
    const isOther = (name) => name in wanted && JSON.stringify(wanted[name]) !== JSON.stringify(now[name]);
    const isAsked = (name) => isOther(name) && wanted[name] !== null;
    if (isAsked('head')) {
      const [, kind = '', layer, head] = /^(?:(encoder|cross):)?(\d+)\.(\d+)$/.exec(wanted.head) ?? [];
      if (head === undefined) throw new RangeError(`head: expected L.H, found ${wanted.head}`);
      const of = ['', 'encoder', 'cross'].indexOf(kind);
      const stack = store.answer.stacks.findIndex(({number: one}) => one === of);
      api.set({stack, layer: Number(layer), head: Number(head)});
    }
    for (const name of ['mask', 'off']) if (isAsked(name)) change[name] = wanted[name];
    if (isOther('query') || isOther('key')) api.set({pinned: cellOf(wanted, now)});
    api.set(change);
  }
  window.addEventListener('message', ({source, data}) => {
    if (source !== window.parent || typeof data?.headlight !== 'object') return;
    let error = '';
    isTaking = true;
    try { take(data.headlight); } catch (thrown) { error = thrown.message; }
    isTaking = false;
    number = data.number;
    tell({error, ...(number === 0 && {begins: true})});
  });
  tell({error: '', begins: true});
  return () => tell();
}
