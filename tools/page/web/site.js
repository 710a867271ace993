// A site: the list of models, which are fetched when they are asked; the question in the address; files of the reader's
// disk; exports. Elsewhere the page has none of this.

import { answerOf } from './data.js';
import { byId, fill, link, make, select } from './elements.js';
import { createLessons } from './lessons.js';
import { missingFiles, openModel } from './live.js';
import { either, headName, ink, shapeText, wordsOf } from './look.js';

/** The sentence chooses: the grammar's model where that has every word, else the one for any sentence. */
const AUTO = 'auto', GRAMMAR = 'shipped:encoder', ANY = 'shipped:any-sentence', RANDOM = 'random', DISK = 'disk';
const SHIPPED = 'shipped:', shortOf = (source) => source.replace(SHIPPED, '');
/** What the list has besides the reader's own, in this order. */
const LISTED = [AUTO, ANY, GRAMMAR, 'shipped:decoder', 'shipped:translator', 'shipped:induction', RANDOM];
/** Sizes of fresh weights; the first is the one to begin with. */
const SIZES = {
  d_model: [64, 16, 32, 128, 256], num_heads: [4, 1, 2, 8, 16], layers: [2, 1, 3, 4, 6], seed: [1, 2, 3, 4, 5]};
/** Larger files of a disk than these together do not fit the memory of a page. */
const MOST_BYTES = 900e6, LONGEST_TEXT = 2000, MEGABYTE = 1e6;
const OF_MODEL = /(\.json|\.safetensors|\.model|\.jinja|^vocab\.txt|^merges\.txt)$/;

/** Saves bytes under a name. */
function save(name, type, bytes) {
  const url = URL.createObjectURL(new Blob([bytes], {type})), link = make('a', {href: url, download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** The files behind what was dropped; of folders all that lie in them. */
async function filesOf(items) {
  const found = [], entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  for (const entry of entries) {
    if (entry.isFile) found.push(await new Promise((done, failed) => { entry.file(done, failed); }));
    else for (let reader = entry.createReader(), some = null; some === null || some.length > 0; entries.push(...some))
      some = await new Promise((done, failed) => { reader.readEntries(done, failed); });
  }
  return {files: found, name: entries[0]?.isDirectory ? entries[0].name : ''};
}

export function createSite(store, page, live, api, stage, greeting, redraw) {
  const {core, answer} = store, {models} = page.site, {ask: answerHere} = live, first = page.request.source ?? RANDOM;
  const opening = first === GRAMMAR ? AUTO : first;
  let model = opening, sizes = Object.fromEntries(Object.entries(SIZES).map(([name, [one]]) => [name, one]));
  let onDisk = null, drops = 0, addressed = null, busy = 0, asks = 0;
  const loads = {};  // models whose files are on their way
  const status = make('p', {class: 'quiet of-site', role: 'status'}), bar = byId('site'), lessonArea = byId('lesson');
  const links = make('div', {class: 'options of-site'}), lessonList = make('div', {class: 'of-site'});
  const picker = make('input', {type: 'file', multiple: true, hidden: true,
    on: {change: () => { attempt(() => openFiles([...picker.files], '')); picker.value = ''; }}});
  byId('views').after(lessonList);
  byId('options').before(links);
  byId('ask-area').append(status, picker);
  bar.hidden = false;

  /** Does what may fail, or take long: the reader sees why, or how far it is. */
  async function attempt(act) {
    busy += 1;
    status.className = 'quiet of-site';
    try {
      status.textContent = await act() ?? '';
    } catch (error) {
      status.className = 'doubt of-site';
      status.textContent = error.message;
    }
    busy -= 1;
    redraw();
  }

  const known = (source) => models.find((one) => one.source === source);
  /** Fetches the files of a model that are not there yet. */
  async function load(source) {
    const one = known(source);
    if (!one) throw new RangeError(`model: expected ${listed().join(', ')}, found ${String(source).slice(0, 80)}`);
    const total = missingFiles(one).reduce((sum, {data}) => sum + data.size, 0) / MEGABYTE;
    let came = 0;
    await (loads[source] ??= openModel(core, one, (bytes) => {
      came += bytes / MEGABYTE;
      status.textContent = wordsOf('site_loading', came.toFixed(1), total.toFixed(1));
    }).then(() => { status.textContent = ''; }).finally(() => { delete loads[source]; }));
    return one;
  }
  const listed = () => [...new Set([...(known(first) ? [first] : []), ...LISTED, ...(onDisk ? [DISK] : [])])];

  /** The request of the chosen model for a text, whose files are there. */
  async function requestOf(source, text) {
    if (source === DISK) return {source: onDisk.source, text};
    if (source === RANDOM) {
      await load(GRAMMAR);  // whose words cut the text
      return {random: true, ...sizes, text};
    }
    const one = await load(source);
    return {source, text, ...(one.encoder_decoder && {target: '', write: true})};
  }

  /** Answers a text by the chosen model; of what is typed the last text alone. */
  async function ask(text, target = null, isTyped = false) {
    if (typeof text !== 'string' || text.trim() === '') throw new Error(wordsOf('empty_text'));
    const turn = ++asks, now = live.request();
    let source = model;
    if (model === AUTO) {
      await load(GRAMMAR);
      const stays = isTyped && now.source === ANY;  // the model changes when a text rests
      source = stays || core.knows({source: GRAMMAR, text}, isTyped) === false ? ANY : GRAMMAR;
    }
    const request = await requestOf(source, text), isSame = (name) => source !== RANDOM || now[name] === request[name];
    if (isTyped && turn !== asks) return null;
    if (live.isStarted() && now.source === request.source && Object.keys(sizes).every(isSame))
      return answerHere(text, target, isTyped);
    return live.use({...request, ...(target && request.write && {target, write: false})});
  }

  const textNow = () => live.request().text ?? page.request.text ?? '';
  /** Another model, or another size, for the text of now. */
  const choose = (change) => attempt(async () => {
    const before = [model, sizes];
    [model, sizes] = [change.model ?? model, {...sizes, ...change.sizes}];
    await ask(textNow()).catch((error) => {
      [model, sizes] = before;
      throw error;
    });
  });

  /** Opens a checkpoint of the reader's disk; its files go nowhere but into the memory of this page. */
  async function openFiles(files, name) {
    const own = files.filter((file) => OF_MODEL.test(file.name)), size = own.reduce((sum, file) => sum + file.size, 0);
    const weights = own.filter((file) => file.name.endsWith('.safetensors')), some = files.slice(0, 4);
    if (weights.length === 0) throw new Error(wordsOf('site_no_weights', some.map((file) => file.name).join(', ')));
    const most = MOST_BYTES / MEGABYTE;
    if (size > MOST_BYTES) throw new Error(wordsOf('site_too_large', most, Math.ceil(size / MEGABYTE)));
    const title = name || weights[0].name.replace(/\.safetensors$/, ''), names = [];
    const source = drops++ > 0 ? `${title} ${drops}` : title, drop = (list) => list.forEach((one) => core.forget(one));
    try {
      for (const file of own) {
        names.push(`${source}/${weights.length === 1 && file === weights[0] ? 'model.safetensors' : file.name}`);
        core.put(names.at(-1), [new Uint8Array(await file.arrayBuffer())]);
      }
      live.use({source, text: textNow()});
    } catch (error) {
      drop(names);
      throw error;
    }
    if (onDisk && store.kept?.source !== onDisk.source) drop(onDisk.names);
    onDisk = {source, names};
    model = DISK;
    return wordsOf('site_opened', title, shapeText({...page.card, name: {en: title}}));
  }

  /** Keeps the answer as A: the next ones stand beside it. */
  function keep() {
    const {source} = live.request(), {edits, error} = answer;
    store.kept = Object.assign(answerOf({...core.keep(), edits, error}, 1), {source});
    store.forget();
    page.compare = {axes: core.axes(), label_a: {en: titleNow()}};
    store.look({view: 'compare'});
  }

  /** Saves what the stage shows, as an SVG. */
  function saveSvg() {
    const {layer, head, view} = store.view;
    save(`${view === 'sentence' ? view : headName(layer, head)}.svg`, 'image/svg+xml', stage.toSvg(ink().blocked_tint));
  }

  /** The question and what is looked at, as the address holds it. */
  function address() {
    const {edits, view} = store, state = api.state();
    const given = new URLSearchParams({model: shortOf(model), text: textNow()});
    if (model === RANDOM) for (const [name, value] of Object.entries(sizes)) given.set(name, value);
    const target = live.request().target;
    if (target) given.set('target', target);
    answer.stacks.forEach(({name}, i) => {
      const {kind, painted} = edits.masks[i];
      if (kind !== store.written.masks[i].kind) given.set(`mask.${name}`, kind);
      const cells = [...painted].map(([cell, allowed]) => `${cell},${allowed ? 1 : 0}`);
      if (cells.length > 0) given.set(`paint.${name}`, cells.join(';'));
    });
    if (edits.scale !== null) given.set('scale', edits.scale);
    if (edits.off.size > 0) given.set('off', [...edits.off].join(','));
    if (view.stack > 0) given.set('stack', state.stack);
    given.set('head', `${view.layer}.${view.head}`);
    if (state.pinned) given.set('cell', state.pinned.join(','));
    if (view.view !== 'sentence') given.set('view', view.view);
    return `#${given}`;
  }

  /** Asks what an address holds. It is a text of others: each field is checked where it is used. */
  async function openAddress(text) {
    const given = new URLSearchParams(text.slice(1)), numbers = (list) => list.split(',').map(Number);
    const name = given.get('model') ?? AUTO, names = listed().map(shortOf).join(', ');
    const source = listed().find((one) => shortOf(one) === name) ?? known(`${SHIPPED}${name}`)?.source;
    if (!source || source === DISK) throw new RangeError(`link: model: expected ${names}, found ${name.slice(0, 80)}`);
    model = source;
    for (const size of Object.keys(sizes))
      if (source === RANDOM && given.has(size)) sizes = {...sizes, [size]: Number(given.get(size))};
    await ask((given.get('text') ?? textNow()).slice(0, LONGEST_TEXT), given.get('target'));
    const take = (field, changeOf) => given.has(field) && api.set(changeOf(given.get(field)));
    for (const {name: stack} of answer.stacks) {
      take(`mask.${stack}`, (mask) => ({stack, mask}));
      take(`paint.${stack}`, (cells) => ({stack, painted: cells.split(';').map(numbers)}));
    }
    take('scale', (scale) => ({scale: Number(scale)}));
    take('off', (heads) => ({off: heads.split(',')}));
    api.set({stack: given.get('stack') ?? answer.stacks[0].name});
    const [layer, head] = given.get('head')?.split('.').map(Number) ?? [];
    api.set({layer, head});
    if (given.has('head') || given.has('cell'))
      api.set({pinned: given.has('cell') ? numbers(given.get('cell')) : null});
    take('view', (view) => ({view}));
  }

  /** What lessons do: a step's question and view, a change of the text, a cell. */
  const lessons = createLessons({
    set: (request, view) => attempt(async () => {
      const {source = GRAMMAR, text = page.site.text, scale, off, mask, random, ...rest} = request;
      const chosen = random ? RANDOM : source, {layer, head, pinned} = view;
      model = source === GRAMMAR && !random ? AUTO : chosen;
      live.use({...await requestOf(chosen, text), ...(rest.target && {write: false}), ...rest});
      if (mask) api.set({mask: ['causal', 'padding'].filter((name) => mask[name]).join('+') || 'none'});
      const fold = [view.fold_special && 'special', view.merge_words && 'words'].filter(Boolean);
      api.set({fold, ...(scale && {scale}), ...(off && {off})});
      const stack = answer.stacks.find((one) => one.name.toLowerCase() === view.stack) ?? answer.stacks[0];
      api.set({stack: stack.name, view: view.view === 'flow' ? 'flow' : 'heads',
        ...(stack.hasHead(layer, head) && {layer, head}), pinned: pinned ?? null});
    }),
    change: (edit) => attempt(() => ask(edit(textNow())).then(() => '')),
    redraw,
    point: (query, key) => store.look({pinned: key < 0 ? store.strongest(query) : {query, key}}),
    now() {
      const {edits: {off, masks}, view} = store, {stacks} = answer;
      return {stack: store.stack(), stacks, text: textNow(), pinned: view.pinned, head: `${view.layer}.${view.head}`,
        off, mask: masks[view.stack], scale: store.scale(), dModel: (known(live.request().source) ?? sizes).d_model};
    },
  }, page.site.lessons, lessonArea);

  function titleOf(source) {
    if (source === DISK) return onDisk.source;
    return LISTED.includes(source) ? wordsOf(`model_${shortOf(source)}`) : shortOf(source);
  }

  /** Other sizes of the grammar's model, of which each was trained; or of fresh weights. */
  function sizeControls() {
    const listOf = (name, values, now, change) => select(wordsOf(`size_${name}`),
      [...new Set(values)].sort((a, b) => a - b).map((one) => [one, one]), now, (to) => choose(change(Number(to))));
    if (model === RANDOM)
      return Object.keys(SIZES).map((name) => listOf(name, SIZES[name], sizes[name], (to) => ({sizes: {[name]: to}})));
    const family = models.filter(({source}) => source === GRAMMAR || source.startsWith(`${GRAMMAR}-`));
    const now = family.find(({source}) => source === model);
    if (!now) return [];
    const sourceOf = (d_model, heads) => family.find((one) => one.d_model === d_model && one.heads === heads).source;
    const all = (name) => family.map((one) => one[name]);
    return [listOf('d_model', all('d_model'), now.d_model, (to) => ({model: sourceOf(to, now.heads)})),
      listOf('num_heads', all('heads'), now.heads, (to) => ({model: sourceOf(now.d_model, to)}))];
  }

  const titleNow = () => `${titleOf(live.request().source ?? RANDOM)} · ${textNow()}`;

  function draw() {
    page.card.name = {en: titleOf(live.request().source ?? RANDOM)};
    const family = model.startsWith(`${GRAMMAR}-`) ? GRAMMAR : model;
    const listing = listed().map((one) => [one, titleOf(one)]);
    const exported = () => save('attention.json', 'application/json', core.exported(live.request()));
    fill(bar, select(wordsOf('site_model'), listing, family, (value) => choose({model: value})), ...sizeControls(),
      byId('model'));
    fill(lessonList,
      select(wordsOf('lessons'), [[-1, '—'], ...page.site.lessons.map(({title}, i) => [i, either(title)])],
        lessons.chosen(), (number) => attempt(() => lessons.open(number))));
    fill(links, link('site_open', () => picker.click(), {title: wordsOf('site_stays')}),
      live.isStarted() && link('site_keep', keep, {title: wordsOf('tip_view_compare')}),
      link('site_link', () => attempt(async () => {
        await navigator.clipboard.writeText(location.href);
        return wordsOf('site_link_copied');
      })),
      live.isStarted() && link('JSON', exported, {title: wordsOf('site_json')}),
      link('SVG', saveSvg, {title: wordsOf('site_svg')}));
    lessons.draw();
    if (page.compare) page.compare.label_b = {en: titleNow()};
    if (busy > 0 || !live.isStarted() || live.isTyping() || model === DISK) return;
    addressed = address();
    if (addressed !== location.hash) history.replaceState(null, '', addressed);
  }

  const isElsewhere = () => location.hash.length > 1 && location.hash !== addressed;
  window.addEventListener('hashchange', () => isElsewhere() && attempt(() => openAddress(location.hash)));
  document.addEventListener('dragover', (event) => event.preventDefault());
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    const dropped = filesOf(event.dataTransfer.items);  // the items are gone after this event
    attempt(async () => { const {files, name} = await dropped; return openFiles(files, name); });
  });

  live.ask = ask;
  // Words that the grammar's model does not have may follow: its reader fetches the other one meanwhile.
  byId('ask').addEventListener('focus', () => model === AUTO && load(ANY).catch(() => {}), {once: true});
  return {
    draw,
    /** Keeps the files for a visit without a network, fetches the first model, and asks what the address holds. */
    begin: () => attempt(async () => {
      const workers = navigator.serviceWorker;  // there is none without https
      if (workers && !workers.controller) await new Promise((done) => {
        workers.addEventListener('controllerchange', done);
        workers.register('worker.js').catch(done);
        setTimeout(done, 2000);
      });
      try {
        if (location.hash.length > 1) await openAddress(location.hash);
      } finally {  // where it holds no question, the page's own
        if (!live.isStarted()) {
          model = opening;
          await load(first === RANDOM ? GRAMMAR : first);
          if (greeting === page.request.text) live.start();
          else await ask(greeting);
        }
      }
    }),
  };
}
