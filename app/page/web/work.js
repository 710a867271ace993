// Work that takes longer than a frame, in slices: the page answers to the reader between them.

/** A slice ends after so many milliseconds. */
const SLICE = 9;

const waiting = new Map();  // key → {priority, steps: iterator}
const channel = new MessageChannel();
let going = false, finished = () => {};

channel.port1.onmessage = () => {
  const end = performance.now() + SLICE;
  while (performance.now() < end && waiting.size > 0) {
    const [key, {steps}] = [...waiting].reduce((best, task) => task[1].priority < best[1].priority ? task : best);
    if (steps.next().done) waiting.delete(key);
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
export function whenFinished(listener) { finished = listener; }
