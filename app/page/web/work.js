// Work that takes longer than a frame, in slices: the page answers to the reader between them.

/** A slice ends after so many milliseconds. */
const SLICE = 9;

const waiting = new Map();  // key → {priority, steps: iterator}
const channel = new MessageChannel();
let going = false, finished = () => {};

channel.port1.onmessage = () => {
  const end = performance.now() + SLICE;
  while (performance.now() < end && waiting.size > 0) {
    let best = null;
    for (const [key, task] of waiting) if (best === null || task.priority < waiting.get(best).priority) best = key;
    if (waiting.get(best).steps.next().done) waiting.delete(best);
  }
  going = waiting.size > 0;
  if (going) channel.port2.postMessage(0);
  else finished();
};

/** Does `steps`, a generator that gives way at each yield; lower priorities first. A task of the same key is replaced. */
export function doLater(key, priority, steps) {
  waiting.set(key, {priority, steps});
  if (!going) channel.port2.postMessage(0);
  going = true;
}

export function stopWork() { waiting.clear(); }
export function isWorking() { return waiting.size > 0; }
export function whenFinished(listener) { finished = listener; }
