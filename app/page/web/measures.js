// What each head does, in a dozen numbers, by the same formulas as the window (core/heads): means over the rows that
// have any weight and are no padding.

/** The measures of a head from its weights, T × S; null where no row has the measure. */
export function measure(stack, weights, allowed) {
  const {T, S, queryTokens, keyTokens} = stack, self = queryTokens === keyTokens;
  const sums = {}, counts = {};
  const add = (name, value) => {
    sums[name] = (sums[name] ?? 0) + value;
    counts[name] = (counts[name] ?? 0) + 1;
  };
  let largest = null;
  const firstKey = Math.max(0, keyTokens.findIndex((token) => !token.pad));
  const anySpecial = keyTokens.some((token) => token.special);
  const before = new Map();  // of every id, where it stood
  for (let i = 0; i < T; ++i) {
    const row = weights.subarray(i * S, (i + 1) * S), earlier = self ? before.get(queryTokens[i].id) : undefined;
    if (self) before.set(queryTokens[i].id, [...(earlier ?? []), i]);
    let total = 0, most = 0, keys = 0, far = 0, special = 0, spread = 0;
    for (let j = 0; j < S; ++j) {
      const weight = row[j];
      keys += allowed[i * S + j];
      if (weight === 0) continue;
      total += weight;
      if (weight > most) most = weight;
      spread -= weight * Math.log(weight);
      if (self) far += weight * Math.abs(i - j);
      if (keyTokens[j].special) special += weight;
    }
    if (most > (largest ?? -1)) largest = most;
    if (queryTokens[i].pad || total === 0) continue;
    const entropy = Math.max(0, spread / total + Math.log(total));  // of p = weight / total
    add('entropy', entropy);
    if (keys > 1) add('normalized', entropy / Math.log(keys));
    add('confidence', most);
    add('first', row[firstKey]);
    if (anySpecial) add('special', special);
    if (!self) continue;
    add('distance', far / total);
    add('same', row[i]);
    if (i > 0) add('previous', row[i - 1]);
    if (i + 1 < S) add('next', row[i + 1]);
    if (!earlier) continue;
    add('duplicate', earlier.reduce((sum, j) => sum + row[j], 0));
    add('induction', earlier.reduce((sum, j) => sum + row[j + 1], 0));
  }
  const result = {largest};
  for (const name of Object.keys(sums)) result[name] = sums[name] / counts[name];
  return result;
}
