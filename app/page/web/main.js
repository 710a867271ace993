// Opens the page: reads its data, builds the views, draws what changed.

import { createInterface } from './api.js';
import { createAtlas } from './atlas.js';
import { createBars } from './bars.js';
import { currentTheme, ink, niceTop, setColours, setTheme, setMap } from './colour.js';
import { createCompare } from './compare.js';
import { createControls } from './controls.js';
import { answerOf, readPage } from './data.js';
import { byId, make, fill } from './elements.js';
import { createExplain } from './explain.js';
import { createFlow } from './flow.js';
import { createKeys } from './keys.js';
import { briefNumber } from './labels.js';
import { createLive } from './live.js';
import { createRows } from './rows.js';
import { createSentence } from './sentence.js';
import { createStage } from './stage.js';
import { createStore } from './state.js';
import { currentLanguage, either, say, setLanguage, setWords } from './words.js';
import { whenFinished } from './work.js';

const NARROW = 820;

function open(page, answer, kept) {
  setWords(page.words);
  setColours(page.colours);
  setLanguage(page.look?.language ?? (navigator.language.startsWith('zh') ? 'zh' : 'en'));
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  let ownTheme = null;
  if (page.look?.colours) setMap(page.look.colours);

  const store = createStore(answer, kept);
  const views = ['heads', 'row', 'flow', ...(page.compare ? ['compare'] : [])];
  const frame = {stage: byId('map-area'), rows: byId('row-area'), flow: byId('flow-area'), compare: byId('compare-area')};

  /** What colours go up to: one range for every head of every stack, so that maps can be compared. */
  let top = page.largest > 0 ? niceTop(page.largest) : 1;
  const colourTop = () => top;

  const stage = createStage(store, frame.stage, colourTop);
  const bars = createBars(store, {header: byId('stage-head'), body: byId('row-words')}, colourTop);
  const atlas = createAtlas(store, byId('atlas'), colourTop, (measured) => request(measured ? 'atlasOrder' : 'atlasRest'));
  const rows = createRows(store, frame.rows, colourTop, () => atlas.order());
  const flow = createFlow(store, byId('flow-lines'));
  const compare = page.compare ? createCompare(store, frame.compare, page) : null;
  const explain = createExplain(store, byId('explain'));
  const sentence = createSentence(store, byId('sentence'));
  const live = page.live ? createLive(store, page, {ask: byId('ask-area'), guesses: byId('guess-area')}) : null;
  const controls = createControls(store, {mask: byId('mask-controls'), look: byId('look-controls'), folded: byId('folded'),
    atlasHead: byId('atlas-head'), views: byId('views'), flowControls: byId('flow-controls')}, colourTop, () => request('all'));

  const wanted = new Set();
  let scheduled = false;
  function request(...parts) {
    for (const part of parts) wanted.add(part);
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(draw);
  }

  function sizes() {
    const narrow = window.innerWidth < NARROW, stageWidth = byId('stage').clientWidth;
    const below = (id, rest) => window.innerHeight - byId(id).getBoundingClientRect().top - window.scrollY - rest;
    // The sentence below the map is seen without scrolling; the bars may lie below the edge of a low window.
    const height = narrow ? stageWidth : Math.max(300, below('stage', 100));
    return {narrow, stageWidth, stageHeight: Math.min(height, stageWidth * 1.02),
      atlasWidth: byId('atlas').clientWidth, atlasHeight: narrow ? stageWidth * 1.4 : Math.max(240, below('atlas', 80))};
  }

  /** Draws what was asked for since the last frame. */
  function draw() {
    scheduled = false;
    const all = wanted.has('all'), has = (...parts) => all || parts.some((part) => wanted.has(part));
    const {view} = store;
    if (has('size')) {
      const size = sizes();
      stage.resize(size.stageWidth, size.stageHeight);
      atlas.resize(size.atlasWidth, size.atlasHeight);
    }
    for (const [name, element] of Object.entries(frame)) element.hidden = {stage: 'heads', rows: 'row'}[name] !== view.view && name !== view.view;
    if (has('texts')) drawTexts();
    if (has('tokens')) sentence.build();
    else if (has('cell')) sentence.mark();
    if (has('mask', 'view')) controls.drawMask();
    if (has('look', 'mask')) controls.drawLook();
    if (has('atlas', 'size', 'mask', 'look', 'tokens')) {
      atlas.ask();
      const largest = atlas.largest(store.stack()), now = niceTop(largest);
      if (largest > 0 && now !== top && !store.isEdited() && page.largest === undefined) top = now;
    }
    if (has('atlas', 'size', 'tokens', 'atlasOrder')) {
      controls.drawAtlasHead();
      atlas.build();
    } else if (has('mask', 'look')) atlas.redraw(has('off', 'look'));
    else if (has('atlasRest')) atlas.drawOverlay();
    if (has('atlas', 'head')) atlas.mark();
    if (has('mask', 'look', 'head', 'size', 'view', 'cell', 'tokens', 'viewport', 'flow')) {
      if (view.view === 'heads') {
        if (has('mask', 'look', 'head', 'size', 'view', 'tokens', 'viewport')) stage.draw();
        else stage.drawOverlay();
      } else if (view.view === 'row') rows.draw(byId('stage').clientWidth);
      else if (view.view === 'flow') {
        controls.drawFlow();
        flow.draw(byId('stage').clientWidth);
      } else compare?.draw(byId('stage').clientWidth, sizes().stageHeight);
      bars.draw();
    }
    if (has('mask', 'head', 'pinned', 'explain', 'tokens')) explain.draw();
    if (has('atlas', 'cell', 'size', 'head', 'tokens', 'mask', 'look')) atlas.drawOverlay();
    if (has('view', 'texts')) controls.drawViews(views);
    if (has('texts', 'mask')) drawFooter();
    byId('zoom').hidden = view.view !== 'heads' || !stage.canZoom();
    wanted.clear();
    document.documentElement.dataset.ready = 'true';
  }

  function drawFooter() {
    const stack = store.stack(), error = store.answer.error;
    const computed = stack.given ? say('given_weights') : live ? say('computed_live') : say('computed_here');
    const changed = store.isEdited() && !live && !stack.given && store.stack().layers > 1 ? ` ${say('layers_as_written')}` : '';
    fill(byId('footer'), make('span', {text: computed + changed}), make('span', {text: say('rounding_error', briefNumber(error))}),
      make('span', {text: say('written_by', page.version)}));
    fill(byId('warnings'), ...store.answer.warnings.map((text) => make('p', {class: 'doubt', text})));
  }

  function drawTexts() {
    document.documentElement.lang = currentLanguage() === 'zh' ? 'zh-CN' : 'en';
    document.title = `${page.title.slice(0, 80)} · Headlight`;
    const card = page.card;
    fill(byId('model'), make('span', {class: 'model-name', text: either(card.name)}), make('span', {class: 'quiet', text: card.shape}));
    fill(byId('options'),
      make('button', {type: 'button', class: 'link', text: say('language'), lang: currentLanguage() === 'zh' ? 'en' : 'zh-CN', on: {click: () => {
        setLanguage(currentLanguage() === 'zh' ? 'en' : 'zh');
        request('all');
      }}}),
      make('button', {type: 'button', class: 'link', text: say(currentTheme() === 'dark' ? 'light' : 'dark'), on: {click: switchTheme}}),
      make('button', {type: 'button', class: 'link', text: say('print'), on: {click: () => window.print()}}),
      make('button', {type: 'button', class: 'icon', text: '?', title: say('help'), 'aria-label': say('help'), on: {click: () => keys.showHelp()}}));
    byId('skip').textContent = say('skip');
    fill(byId('zoom'), ...[['−', 'zoom_out', () => stage.zoom(1 / 1.6)], ['+', 'zoom_in', () => stage.zoom(1.6)], ['⤢', 'whole_pattern', () => stage.whole()]]
      .map(([text, name, click]) => make('button', {type: 'button', class: 'icon', text, title: say(name), 'aria-label': say(name), on: {click}})));
    live?.draw();
  }

  function takeTheme(name) {
    setTheme(name);
    document.documentElement.dataset.theme = name;
    for (const [key, value] of Object.entries(ink())) document.documentElement.style.setProperty(`--${key.replaceAll('_', '-')}`, value);
    request('all');
  }
  function switchTheme() {
    ownTheme = currentTheme() === 'dark' ? 'light' : 'dark';
    takeTheme(ownTheme);
  }

  const keys = createKeys(store, {reveal: stage.reveal, order: atlas.order, zoom: (factor) => stage.zoom(factor), theme: switchTheme, compare: page.compare});
  store.listen((change) => {
    const parts = [];
    if (change.answer) parts.push('tokens', 'atlas', 'texts', 'mask', 'size');
    if (change.edits) parts.push('mask', ...(change.off ? ['off'] : []));
    if ('hovered' in change || 'pinned' in change) parts.push('cell');
    if ('pinned' in change) parts.push('pinned');
    if ('layer' in change || 'head' in change) parts.push('head');
    if ('stack' in change) parts.push('tokens', 'atlas', 'mask', 'head');
    if ('log' in change || 'ownRange' in change) parts.push('look');
    if ('foldSpecial' in change || 'mergeWords' in change) parts.push('look', 'atlas', 'mask');
    if ('order' in change) parts.push('atlas', 'view');
    if ('painting' in change) parts.push('mask', 'size');
    if ('view' in change) parts.push('view', 'size', 'head');
    if ('viewport' in change) parts.push('viewport', 'size');
    if ('threshold' in change || 'flowAll' in change) parts.push('flow');
    if ('explain' in change) parts.push('explain', 'cell');
    if (parts.length > 0) request(...parts);
  });
  whenFinished(() => {
    document.documentElement.dataset.finished = 'true';
    request('atlas');
  });

  dark.addEventListener('change', () => ownTheme === null && takeTheme(dark.matches ? 'dark' : 'light'));
  new ResizeObserver(() => request('size')).observe(document.body);
  const print = window.matchMedia('print');
  print.addEventListener('change', () => { takeTheme(print.matches ? 'light' : ownTheme ?? (dark.matches ? 'dark' : 'light')); draw(); });

  if (page.look) {
    const {stack, layer, head, pinned} = page.look, index = store.answer.stacks.findIndex((one) => one.name === stack);
    if (index >= 0) store.view.stack = index;
    const own = store.stack();
    if (own.hasHead(layer, head)) Object.assign(store.view, {layer, head});
    if (pinned && pinned[0] < own.T && pinned[1] < own.S) store.view.pinned = {query: pinned[0], key: pinned[1]};
    if (page.compare) store.view.view = 'compare';
    store.view.foldSpecial = page.look.fold_special === true;
    store.view.mergeWords = page.look.merge_words === true;
    store.view.log = page.look.log === true;
    store.view.ownRange = page.look.own_range === true;
  }
  takeTheme(page.look?.theme ?? (dark.matches ? 'dark' : 'light'));
  Object.defineProperty(window, 'headlight', {value: createInterface(store, live), enumerable: true});
  if (live) live.begin();
  return request;
}

async function start() {
  const loading = byId('loading');
  try {
    const page = readPage(document), answer = answerOf(page), kept = page.compare ? answerOf(page.compare) : null;
    if (answer.packed || kept?.packed) {
      // Long pages are packed; the reader sees that something is under way before the browser is busy.
      await new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });
      await answer.unpack();
      await kept?.unpack();
    }
    open(page, answer, kept);
    loading.hidden = true;
  } catch (error) {
    loading.textContent = `headlight: ${error.message}`;
    throw error;
  }
}

start();
