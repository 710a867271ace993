// The random numbers of dropout: SplitMix64 (Steele, Lea & Flood, OOPSLA 2014) in halves of 32 bits, as JavaScript has
// no 64-bit integers that are quick. A weight is dropped here exactly where the program drops it.

/** The product of two 64-bit numbers, each [high, low], modulo 2^64. */
function times(a, b) {
  const a0 = a[1] & 0xffff, a1 = a[1] >>> 16, b0 = b[1] & 0xffff, b1 = b[1] >>> 16;
  const low = a0 * b0, middle = a1 * b0 + (low >>> 16), other = a0 * b1 + (middle & 0xffff);
  const carry = a1 * b1 + Math.floor(middle / 65536) + Math.floor(other / 65536);
  const high = Math.imul(a[0], b[1]) + Math.imul(a[1], b[0]) + carry;
  return [high >>> 0, (other % 65536 * 65536 + (low & 0xffff)) >>> 0];
}

function plus(a, b) {
  const low = a[1] + b[1];
  return [(a[0] + b[0] + (low > 0xffffffff ? 1 : 0)) >>> 0, low >>> 0];
}

/** a xor (a shifted right by `bits`, fewer than 32). */
function mixed(a, bits) {
  return [(a[0] ^ a[0] >>> bits) >>> 0, (a[1] ^ (a[1] >>> bits | a[0] << 32 - bits)) >>> 0];
}

/** The first number that a stream with this seed gives. */
export function firstRandom(seed) {
  let z = plus(seed, [0x9e3779b9, 0x7f4a7c15]);
  z = times(mixed(z, 30), [0xbf58476d, 0x1ce4e5b9]);
  z = times(mixed(z, 27), [0x94d049bb, 0x133111eb]);
  return mixed(z, 31);
}

/** A decimal number below 2^64 as [high, low]. */
export function halves(decimal) {
  const whole = BigInt(decimal);
  return [Number(whole >> 32n & 0xffffffffn), Number(whole & 0xffffffffn)];
}

/** What a weight is multiplied by: 0 with the probability of `dropout.rate`, else 1 / (1 − rate).
    `place`: the stack's number, layer, head, query, key. */
export function dropoutFactor(dropout, place) {
  let state = dropout.seed;
  for (const part of place) state = firstRandom([state[0], (state[1] ^ part) >>> 0]);
  const uniform = (firstRandom(state)[0] >>> 8) * 2 ** -24;
  return uniform < dropout.rate ? 0 : 1 / (1 - dropout.rate);
}
