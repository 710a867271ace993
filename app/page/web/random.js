// The random numbers of dropout: SplitMix64 (Steele, Lea & Flood, OOPSLA 2014). A weight is dropped here exactly where the
// program drops it.

/** The first number that a stream with this seed gives. */
function firstRandom(seed) {
  let z = BigInt.asUintN(64, seed + 0x9e3779b97f4a7c15n);
  z = BigInt.asUintN(64, (z ^ z >> 30n) * 0xbf58476d1ce4e5b9n);
  z = BigInt.asUintN(64, (z ^ z >> 27n) * 0x94d049bb133111ebn);
  return z ^ z >> 31n;
}

/** The seed of what belongs to these numbers: the stack's number, layer, head, query, key. */
export function seedOf(seed, ...numbers) {
  return numbers.reduce((state, number) => firstRandom(state ^ BigInt(number)), seed);
}

/** What a weight is multiplied by: 0 with the probability `rate`, else 1 / (1 − rate). */
export function dropoutFactor(rate, seed) {
  return Number(firstRandom(seed) >> 40n) * 2 ** -24 < rate ? 0 : 1 / (1 - rate);
}
