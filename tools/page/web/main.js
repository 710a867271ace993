// Opens the page: reads its data, builds the views, draws what changed.

import { createInterface } from './api.js';
import { createAtlas } from './atlas.js';
import { createBridge } from './bridge.js';
import { createChanges } from './changes.js';
import { createControls, createKeys } from './controls.js';
import { startCore } from './core.js';
import { answerOf, inflated, openAnswer, readPage } from './data.js';
import { byId, fill, icon, link, make, quiet } from './elements.js';
import { createLive, openModel } from './live.js';
import { briefNumber, either, ink, shapeText, taste, wordsOf } from './look.js';
import { createBars, createExplain, createTables } from './numbers.js';
import { createSite } from './site.js';
import { createStage } from './stage.js';
import { createStore } from './state.js';

const NARROW = 820, root = document.documentElement, VIEWS = ['sentence', 'heads', 'text', 'flow'];
/** Arcs and lines are as thick as their weights; numbers below 0 have none. */
const OF_SHARES = ['sentence', 'flow'];
/** The forms of the window's stage. */
const STAGE_FORMS = {sentence: 'sentence', map: 'heads', text: 'text'};

/** Says what went wrong in place of the page, or above it; what only the browser has words for is the data's fault. */
function fail(error) {
  const isForeign = error instanceof TypeError || error instanceof WebAssembly.RuntimeError;
  const line = isForeign ? 'headlight-data: expected what Headlight wrote, found other data' : error.message;
  Object.assign(byId('loading'), {hidden: false, textContent: `headlight: ${line}`});
  root.dataset.error = isForeign ? 'bad_value' : error.code ?? 'bad_value';
  throw error;
}

/** What the session that was written looks at. */
function takeView(store, page) {
  const {view, compare} = page;
  const number = {encoder: 1, cross: 2}[view.stack] ?? 0, {layer, head, pinned, text} = view;
  const usual = page.picture ? 'text' : page.signed ? 'heads' : view.view === 'flow' ? 'flow' : 'sentence';
  const own = page.signed && text?.form === 'sentence' ? usual : STAGE_FORMS[text?.form] ?? usual;
  const form = text?.shown ? 'text' : own;
  store.look({
    view: compare ? 'compare' : form, layer, head,
    stack: Math.max(0, store.answer.stacks.findIndex((one) => one.number === number)),
    pinned: pinned ? {query: pinned[0], key: pinned[1]} : null,
    log: view.scale === 'log', range: view.range ?? null, ownRange: view.own_range === true,
    foldSpecial: view.fold_special === true, mergeWords: view.merge_words === true,
    textColumns: text?.columns === true, textHeads: text?.heads ?? 'head', textWords: text?.words ?? [],
  });
}

function open(core, page, answer, kept) {
  const {look} = page;
  taste.map = look.colours ?? taste.map;
  const store = createStore(core, answer, kept, page.largest);
  takeView(store, page);
  store.isOwnStart = true;  // until the reader chooses
  const live = page.live || page.site ? createLive(store, page) : null;

  const stage = createStage(store, byId('stage-area'), page), atlas = createAtlas(store, byId('atlas'), request);
  const bars = createBars(store, byId('stage-head'), byId('row-words'), byId('row-table'));
  const explain = createExplain(store, byId('explain')), tables = createTables(store, byId('answers'), page.tables);
  const changes = live && createChanges(store, live, byId('changes'));
  const controls = createControls(store, () => request());
  const ofPage = VIEWS.filter((name) => !(page.picture && name === 'sentence') &&
    !(page.signed && OF_SHARES.includes(name)));
  const views = [...ofPage, ...(page.compare || page.site ? ['compare'] : [])];

  const greeting = page.site?.greetings?.[taste.language] ?? page.request.text;
  // For what the address asks, or the first sentence in the reader's language.
  let site = null, waiting = Boolean(page.site) && (location.hash.length > 1 || greeting !== page.request.text);
  let wanted = null;  // 'cell': another cell is read, and nothing else changed; 'all'
  function request(what = 'all') {
    if (wanted === null) requestAnimationFrame(draw);
    if (wanted !== 'all') wanted = what;
  }

  const roomBelow = (id) => window.innerHeight - byId(id).getBoundingClientRect().top - window.scrollY;

  function drawAll() {
    site?.draw();
    drawTexts();
    tables.draw();
    live?.draw();
    bars.drawHead();
    controls.draw(views);
    byId('flow-controls').hidden = store.view.view !== 'flow';
  }

  /** The view in the middle, what stands below it, and all heads. */
  function drawScenes() {
    const width = byId('stage').clientWidth, isNarrow = window.innerWidth < NARROW;
    const line = live ? 44 : 0, under = store.view.view === 'sentence' ? 40 + line : 130;  // that changes a word
    const below = Math.max(350, roomBelow('stage-area') - under);
    stage.draw(width, isNarrow ? Math.max(420, width) : Math.min(below, width * 1.02));
    byId('zoom').hidden = store.view.view !== 'heads' || !stage.canZoom();
    bars.draw(!stage.hasBars());
    atlas.draw(byId('atlas').clientWidth, isNarrow ? width * 1.4 : Math.max(240, roomBelow('atlas') - 80));
  }

  /** Draws what was asked for since the last frame. */
  function draw() {
    const all = wanted === 'all';
    wanted = null;
    if (waiting) return;
    try {
      if (all) drawAll();
      drawScenes();
      explain.draw();
      changes?.draw();
    } catch (error) { fail(error); }
    byId('loading').hidden = true;
    root.dataset.ready = 'true';
  }

  function drawTexts() {
    const {given, layers} = store.stack(), isLive = live?.isStarted();
    const still = store.isEdited() && !isLive && !given && layers > 1 ? ` ${wordsOf('layers_as_written')}` : '';
    const texts = [wordsOf(given ? 'given_weights' : isLive ? 'computed_live' : 'computed_here') + still,
      wordsOf('rounding_error', briefNumber(answer.error)), `Headlight ${page.version}`];
    fill(byId('footer'), ...texts.map((text) => make('span', {text})));
    const {summedUp, isSigned} = answer;
    fill(byId('warnings'), summedUp && quiet('p', either(summedUp)),
      isSigned && quiet('p', wordsOf('signed_numbers')),
      ...answer.warnings.map((text) => make('p', {class: 'doubt', text})));
    const zh = taste.language === 'zh', {card} = page;
    root.lang = zh ? 'zh-CN' : 'en';
    document.title = `${String(page.title).slice(0, 80)} · Headlight`;
    fill(byId('model'), make('span', {class: 'model-name', text: either(card.name)}), quiet('span', shapeText(card)));
    byId('model').title = shapeText(card);
    fill(byId('options'),
      link('language', () => { taste.language = zh ? 'en' : 'zh'; request(); }, {lang: zh ? 'en' : 'zh-CN'}),
      link(taste.theme === 'dark' ? 'light' : 'dark', switchTheme), link('print', () => window.print()),
      icon('?', 'help', () => keys.showHelp()));
    byId('sentence').textContent = store.stack().queryTokens.map(({text}) => text).join(' ');
    byId('skip').textContent = wordsOf('skip');
    fill(byId('zoom'), icon('−', 'zoom_out', () => stage.zoom(1 / 1.6)), icon('+', 'zoom_in', () => stage.zoom(1.6)),
      icon('⤢', 'whole_pattern', () => store.look({viewport: null})));
  }

  const dark = window.matchMedia('(prefers-color-scheme: dark)'), print = window.matchMedia('print');
  let chosenTheme = look.theme;
  function takeTheme() {
    taste.theme = print.matches ? 'light' : chosenTheme ?? (dark.matches ? 'dark' : 'light');
    root.dataset.theme = taste.theme;
    for (const [key, value] of Object.entries(ink())) root.style.setProperty(`--${key.replaceAll('_', '-')}`, value);
    request();
  }
  function switchTheme() {
    chosenTheme = taste.theme === 'dark' ? 'light' : 'dark';
    takeTheme();
  }

  const {reveal, zoom} = stage, keys = createKeys(store, {reveal, zoom, order: atlas.order, theme: switchTheme, views});
  const ofCell = (name) => ['hovered', 'hoveredHead', 'pointer', 'pointed', 'pinned'].includes(name);
  let tell = () => {};
  store.notify = (change) => { request(Object.keys(change).every(ofCell) ? 'cell' : 'all'); tell(); };
  dark.addEventListener('change', takeTheme);
  print.addEventListener('change', () => { takeTheme(); draw(); });
  new ResizeObserver(() => request()).observe(document.body);
  takeTheme();
  const api = createInterface(store, live, views);
  Object.defineProperty(window, 'headlight', {value: api, enumerable: true});
  tell = createBridge(store, api);
  if (page.live) live.start();
  if (!page.site) return;
  site = createSite(store, page, live, api, stage, greeting, () => request());
  site.begin().finally(() => { waiting = false; });
}

async function start() {
  try {
    const page = readPage(), own = navigator.language.startsWith('zh') ? 'zh' : 'en';
    Object.assign(taste, {words: page.words, themes: page.colours, language: page.look.language ?? own});
    // Long pages take a moment; the reader sees that something is under way before the browser is busy.
    byId('loading').textContent = wordsOf('opening');
    await new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });
    const core = await startCore(await inflated(page.core));
    if (page.live) await openModel(core, page.live);
    else await openAnswer(core, page, 0);
    if (page.compare) await openAnswer(core, page.compare, 1);
    open(core, page, answerOf(page, 0), page.compare ? answerOf(page.compare, 1) : null);
  } catch (error) { fail(error); }
}

start();
