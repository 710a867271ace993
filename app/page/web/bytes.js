// Text → numbers: base64 (RFC 4648, section 4), float16 (IEEE 754), and the packing of long pages.

/** The bytes [first, first + count) that a base64 text stands for; without `count` all from `first` on. */
export function bytesOf(text, first = 0, count = Infinity) {
  const group = Math.floor(first / 3), skipped = first - 3 * group;
  const decoded = atob(text.slice(4 * group, 4 * Math.ceil((first + count) / 3)));
  const bytes = new Uint8Array(Math.min(count, decoded.length - skipped));
  for (let i = 0; i < bytes.length; ++i) bytes[i] = decoded.charCodeAt(skipped + i);
  return bytes;
}

/** Every float16 as a float32, by its 16 bits. */
const float16Values = Float32Array.from({length: 65536}, (_, bits) => {
  const exponent = bits >> 10 & 31, fraction = bits & 1023, sign = bits >> 15 ? -1 : 1;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
});

/** Float16 numbers, little-endian, two bytes each. */
export function float16Of(bytes) {
  const numbers = new Float32Array(bytes.length / 2);
  for (let i = 0; i < numbers.length; ++i) numbers[i] = float16Values[bytes[2 * i] | bytes[2 * i + 1] << 8];
  return numbers;
}

/** Float32 numbers, little-endian, four bytes each. */
export function float32Of(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Float32Array.from({length: bytes.length / 4}, (_, i) => view.getFloat32(4 * i, true));
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
