// The core of the program as WebAssembly (page/core): it computes every number of a page. Texts go in and come out as
// JSON in its memory, numbers are copied out of it.

import { joined, sizeOf, wrong } from './data.js';
import { errorText } from './look.js';
import { textWidth } from './paint.js';
import { unicodeFor } from './unicode.js';

/** In the order of core/heads/head_measures.h. */
export const MEASURES = ['entropy', 'normalized', 'distance', 'confidence', 'previous', 'next', 'same', 'first',
  'special', 'duplicate', 'induction', 'largest'];

/** Starts the core; `bytes` are those of the file. */
export async function startCore(bytes) {
  const encoder = new TextEncoder(), decoder = new TextDecoder(), imports = {};
  let core = null;
  const memory = () => core.memory, page = unicodeFor(memory);
  const bytesAt = (at, size) => new Uint8Array(memory().buffer, at, size);
  const measure = {width: (at, size, em) => textWidth(decoder.decode(bytesAt(at, size)), em)};
  const system = {
    clock_time_get(clock, precision, to) {
      new DataView(memory().buffer).setBigUint64(to, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    proc_exit(status) { throw new Error(`core: ended with ${status}`); },
  };
  const module = await WebAssembly.compile(bytes)
    .catch((error) => { throw new Error(`core: expected a program, found ${error.message}`); });
  // A page has no files and no processes: calls for them return ENOSYS.
  for (const {module: from, name} of WebAssembly.Module.imports(module))
    (imports[from] ??= {})[name] = page[name] ?? measure[name] ?? system[name] ?? (() => 52);
  core = (await WebAssembly.instantiate(module, imports)).exports;
  core._initialize();

  /** Copies parts, one after another, into memory of the core: where they stand. */
  function given(parts, size = sizeOf(parts)) {
    const at = core.take(size);
    if (at === 0) throw wrong('memory: expected enough for this page, found no more', 'no_memory');
    joined(parts, bytesAt(at, size));
    return at;
  }
  /** Gives `use` where the text stands, as long as it runs, and its bytes; then `more`. */
  function giveName(name, use, ...more) {
    const bytes = encoder.encode(name), at = given([bytes]);
    use(at, bytes.length, ...more);
    core.drop(at);
  }
  function reply() {
    const answer = JSON.parse(decoder.decode(bytesAt(core.reply(), core.reply_size())));
    if (answer?.error) throw Object.assign(new Error(errorText(answer)), {tooMany: answer.too_many, code: answer.code});
    return answer;
  }
  const answered = (object, ...use) => { giveName(JSON.stringify(object), ...use); return reply(); };
  const floats = (at, count) => new Float32Array(memory().buffer, at, count).slice();
  const place = (stack, layer, head) => [stack.side, stack.number, layer, head];

  return {
    pictures: [], bitmaps: [],  // of the page and of its A
    /** A file of the core's memory, from its parts. */
    put(name, parts) { giveName(name, (at, size) => core.put(at, size, given(parts), sizeOf(parts))); },
    /** Drops one that no answer reads. */
    forget(name) { giveName(name, core.forget); },
    /** The numbers of an answer: that of the page (0) or A of a comparison (1). */
    open(side, answer) { answered(answer, (at, size) => core.open(side, at, size)); },
    /** Answers a request by the model of the page. */
    ask: (request, most) => answered(request, core.ask, most),
    /** Whether its model knows each word of the text; `isTyped`: the last may be the beginning of one. */
    knows: (request, isTyped) => answered(request, core.knows, isTyped ? 1 : 0),
    /** Other masks and edits for the same tokens. */
    change: (request) => answered(request, core.change),
    /** Keeps the answer as A of a comparison. */
    keep() { core.keep(); return reply(); },
    /** The words of A beside those of the answer. */
    axes() { core.axes(); return reply(); },
    /** The answer as the program exports it, as bytes. */
    exported(request) {
      answered(request, core.export_json);
      return bytesAt(core.exported(), core.exported_size()).slice();
    },
    weights: (stack, layer, head, first, count) =>
      floats(core.weights(...place(stack, layer, head), first, count), count * stack.S),
    allowed: (stack, layer, head) => bytesAt(core.allowed(...place(stack, layer, head)), stack.T * stack.S).slice(),
    /** null where no row has the measure; `ofWords`: the same over whole words. */
    measures(stack, layer, head) {
      const found = floats(core.measures(...place(stack, layer, head)), 2 * MEASURES.length);
      const known = [...found].map((value) => Number.isNaN(value) ? null : value);
      const from = (first) => Object.fromEntries(MEASURES.map((name, i) => [name, known[first + i]]));
      return {...from(0), ofWords: from(MEASURES.length)};
    },
    fold({side, number}, {special, words}) { core.fold(side, number, special ? 1 : 0, words ? 1 : 0); return reply(); },
    /** −1 where blocked. */
    folded: (stack, layer, head, {special, words, queries, keys}) =>
      floats(core.folded(...place(stack, layer, head), special ? 1 : 0, words ? 1 : 0), queries.length * keys.length),
    /** A scene in a place: items to paint (page/core/scene_json.cpp); null where a view cannot show so much. */
    scene: (place, look) => answered(look, (at, size) => core.scene(place, at, size)),
    /** What lies at a point of the scene there. */
    point(place, x, y) { core.point(place, x, y); return reply(); },
    /** The colours of the n-th map of that scene on so many pixels: {bytes, rows, columns}. */
    pixels(place, n, width, height) {
      const at = core.pixels(place, n, width, height), rows = core.pixel_rows(), columns = core.pixel_columns();
      return {bytes: new Uint8ClampedArray(bytesAt(at, 4 * rows * columns)), rows, columns};
    },
    /** 256 colours, four bytes each. */
    colours: (theme, map) => bytesAt(core.colours(theme, map), 1024).slice(),
    names: (look) => answered(look, core.names),
    row: (look) => answered(look, core.row),
    table: (look) => answered(look, core.table),
    ticks: (look) => answered(look, core.ticks),
    why(stack, layer, head, {query, key}) { core.why(...place(stack, layer, head), query, key); return reply(); },
    /** What other words do to a row (page/core/exports/ask.cpp); `searches`: not the reader's word alone. */
    changes: (look, searches) => answered(look, core.changes, searches ? 1 : 0),
    guesses(count) { core.guesses(count); return reply(); },
  };
}
