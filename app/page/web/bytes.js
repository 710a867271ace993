// Text → bytes: base64 (RFC 4648, section 4), and what the writer packed.

/** The bytes that a base64 text stands for. */
export function bytesOf(text) {
  const decoded = atob(text), bytes = new Uint8Array(decoded.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = decoded.charCodeAt(i);
  return bytes;
}

/** The same, inflated (RFC 1951); or a file beside the page, {file}, with its checksum (RFC 1950). `told` hears of bytes that came. */
export async function inflated(packed, told = () => {}) {
  if (!packed.file) return unpacked(new Blob([bytesOf(packed)]).stream(), 'deflate-raw');
  const answer = await fetch(packed.file).catch(() => null);
  if (!answer?.ok) throw new Error(`${packed.file}: expected a file beside this page, found ${answer ? `status ${answer.status}` : 'no network'}`);
  const counted = new TransformStream({transform(part, to) { told(part.length); to.enqueue(part); }});
  return unpacked(answer.body.pipeThrough(counted), 'deflate').catch(async () => {
    for (const name of await window.caches?.keys() ?? []) await (await caches.open(name)).delete(packed.file);  // so that the next visit fetches it again
    throw new Error(`${packed.file}: expected the file as it was written, found a damaged one`);
  });
}

async function unpacked(stream, format) {
  return new Uint8Array(await new Response(stream.pipeThrough(new DecompressionStream(format))).arrayBuffer());
}

/** Numbers of two bytes: of a list all low bytes, then all high bytes, deflated a layer. */
export async function numbersOf(stored) {
  if (!Array.isArray(stored)) return bytesOf(stored);
  const layers = [];
  for (const part of stored) {
    const planes = await inflated(part), half = planes.length / 2, bytes = new Uint8Array(planes.length);
    for (let i = 0; i < half; ++i) {
      bytes[2 * i] = planes[i];
      bytes[2 * i + 1] = planes[half + i];
    }
    layers.push(bytes);
  }
  return new Uint8Array(await new Blob(layers).arrayBuffer());
}
