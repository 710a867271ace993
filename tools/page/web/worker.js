// The service worker of a site: what was fetched once is there without a network. Before this text stands VERSION.

const KEPT = `headlight ${self.registration.scope} `, NOW = KEPT + VERSION;
const FIRST = ['./', 'core.bin', 'headlight.svg', 'manifest.webmanifest'];

self.addEventListener('install', (event) => event.waitUntil(caches.open(NOW).then((cache) =>
  cache.addAll(FIRST.map((name) => new Request(name, {cache: 'no-cache'})))).then(() => self.skipWaiting())));

/** Files of an earlier site are dropped; other sites of the same origin have theirs under other names. */
self.addEventListener('activate', (event) => event.waitUntil(caches.keys()
  .then((names) => names.filter((name) => name.startsWith(KEPT) && name !== NOW))
  .then((names) => Promise.all(names.map((name) => caches.delete(name)))).then(() => self.clients.claim())));

self.addEventListener('fetch', (event) => event.respondWith(caches.open(NOW).then(async (cache) => {
  const kept = await cache.match(event.request);
  if (kept) return kept;
  const answer = await fetch(event.request);
  if (answer.ok) await cache.put(event.request, answer.clone());
  return answer;
})));
