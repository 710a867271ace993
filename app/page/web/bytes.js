// Text → bytes: base64 (RFC 4648, section 4), and what the writer packed.

/** The bytes that a base64 text stands for; of a number, the text of the page's script element with that position. */
export function bytesOf(text) {
  if (typeof text === 'number') return bytesOf(document.querySelectorAll('script[type="text/plain"]')[text].textContent);
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const decoded = atob(text), bytes = new Uint8Array(decoded.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = decoded.charCodeAt(i);
  return bytes;
}

/** Not by way of a Blob, whose bytes leave the process and come back. */
const streamOf = (text) => new ReadableStream({start(to) { to.enqueue(bytesOf(text)); to.close(); }});

/** The same, inflated (RFC 1951); or a file beside the page, {file}, with its checksum (RFC 1950). `told` hears of bytes that came. */
export async function inflated(packed, told = () => {}) {
  if (!packed.file) return unpacked(streamOf(packed), 'deflate-raw');
  const answer = await fetch(packed.file).catch(() => null);
  if (!answer?.ok) throw new Error(`${packed.file}: expected a file beside this page, found ${answer ? `status ${answer.status}` : 'no network'}`);
  const counted = new TransformStream({transform(part, to) { told(part.length); to.enqueue(part); }});
  return unpacked(answer.body.pipeThrough(counted), 'deflate').catch(async () => {
    for (const name of await window.caches?.keys() ?? []) await (await caches.open(name)).delete(packed.file);  // so that the next visit fetches it again
    throw new Error(`${packed.file}: expected the file as it was written, found a damaged one`);
  });
}

const unpacked = async (stream, format) => joined(await partsOf(stream, format));
async function partsOf(stream, format) {
  const parts = [], reader = stream.pipeThrough(new DecompressionStream(format)).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
  return parts;
}

export const sizeOf = (parts) => parts.reduce((sum, part) => sum + part.length, 0);

/** The parts one after another, in `all`. */
export function joined(parts, all = new Uint8Array(sizeOf(parts))) {
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Numbers of two bytes, in parts: of a list, of each layer all low bytes, then all high bytes. */
export async function numbersOf(stored) {
  if (!Array.isArray(stored)) return [bytesOf(stored)];
  const layers = [];
  for (const part of stored) layers.push(...await partsOf(streamOf(part), 'deflate-raw'));
  return layers;
}
