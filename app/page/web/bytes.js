// Text → numbers: base64 (RFC 4648, section 4), float16 (IEEE 754), and the packing of long pages.

/** The bytes [first, first + count) that a base64 text stands for. */
export function bytesOf(text, first = 0, count = byteCount(text) - first) {
  const group = Math.floor(first / 3), end = Math.ceil((first + count) / 3);
  const decoded = atob(text.slice(4 * group, 4 * end));
  const bytes = new Uint8Array(count);
  for (let i = 0, at = first - 3 * group; i < count; ++i, ++at) bytes[i] = decoded.charCodeAt(at);
  return bytes;
}

/** How many bytes a base64 text stands for. */
export function byteCount(text) {
  return text.length / 4 * 3 - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);
}

/** Every float16 as a float32, by its 16 bits. */
const float16Values = (() => {
  const values = new Float32Array(65536);
  for (let bits = 0; bits < 65536; ++bits) {
    const exponent = bits >> 10 & 31, fraction = bits & 1023;
    const size = exponent === 0 ? fraction * 2 ** -24
      : exponent === 31 ? (fraction === 0 ? Infinity : NaN)
      : (1 + fraction / 1024) * 2 ** (exponent - 15);
    values[bits] = bits >> 15 ? -size : size;
  }
  return values;
})();

/** Float16 numbers, little-endian, two bytes each. */
export function float16Of(bytes) {
  const numbers = new Float32Array(bytes.length / 2);
  for (let i = 0; i < numbers.length; ++i) numbers[i] = float16Values[bytes[2 * i] | bytes[2 * i + 1] << 8];
  return numbers;
}

/** Float32 numbers, little-endian, four bytes each. */
export function float32Of(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const numbers = new Float32Array(bytes.length / 4);
  for (let i = 0; i < numbers.length; ++i) numbers[i] = view.getFloat32(4 * i, true);
  return numbers;
}

/** Unpacks what the writer packed: all low bytes, then all high bytes, deflated (RFC 1951). */
export async function unpacked(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const half = planes.length / 2, bytes = new Uint8Array(planes.length);
  for (let i = 0; i < half; ++i) {
    bytes[2 * i] = planes[i];
    bytes[2 * i + 1] = planes[half + i];
  }
  return bytes;
}
