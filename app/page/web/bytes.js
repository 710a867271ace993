// Text → bytes: base64 (RFC 4648, section 4), and what the writer packed.

/** The bytes that a base64 text stands for. */
export function bytesOf(text) {
  const decoded = atob(text), bytes = new Uint8Array(decoded.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = decoded.charCodeAt(i);
  return bytes;
}

/** The same, inflated (RFC 1951). */
export async function inflated(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
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
