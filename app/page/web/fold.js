// Maps folded for reading: special tokens left out and the rows scaled back to 1; the pieces of a word as one row and
// one column, weights to a word summed, weights from it averaged (Clark et al. 2019, section 4.1).

/** Groups of tokens that stand for one row or column. */
function axisOf(tokens, choice) {
  const groups = [];
  tokens.forEach((token, i) => {
    if (choice.special && token.special) return;
    const last = groups.at(-1);
    if (choice.words && last && token.continues && last.first + last.count === i) {
      last.count += 1;
      last.token = {...last.token, text: last.token.text + token.text};
    } else {
      groups.push({first: i, count: 1, token});
    }
  });
  return groups;
}

/** What there is to fold in a stack. */
export function foldable({queryTokens, keyTokens}) {
  const both = [queryTokens, keyTokens], has = (tokens, name) => tokens.some((token) => token[name]);
  return {
    special: both.some((tokens) => has(tokens, 'special')) && both.every((tokens) => tokens.some((token) => !token.special)),
    words: both.some((tokens) => has(tokens, 'continues')),
  };
}

/** The fold of a stack; null where every token keeps its row and column. */
export function foldOf(stack, choice) {
  const possible = foldable(stack);
  const done = {special: choice.special && possible.special, words: choice.words && possible.words};
  if (!done.special && !done.words) return null;
  return {special: done.special, queries: axisOf(stack.queryTokens, done), keys: axisOf(stack.keyTokens, done)};
}

/** The group of a token; -1 where the token is left out. */
export function groupOf(groups, token) { return groups.findIndex(({first, count}) => token >= first && token < first + count); }

/** Where a cell of the tokens stands on the map as it is shown; null where it is left out. */
export function shownCell(fold, cell) {
  if (!cell || !fold) return cell && {row: cell.query, col: cell.key};
  const row = groupOf(fold.queries, cell.query), col = groupOf(fold.keys, cell.key);
  return row < 0 || col < 0 ? null : {row, col};
}

/** A map {weights, allowed} of T × S tokens → groups of queries × groups of keys. */
export function folded({weights, allowed}, stack, fold) {
  const {S} = stack, rows = fold.queries.length, cols = fold.keys.length;
  const result = new Float32Array(rows * cols), may = new Uint8Array(rows * cols);
  fold.queries.forEach((group, r) => {
    for (let i = group.first; i < group.first + group.count; ++i) {
      let kept = 0;
      if (fold.special)
        for (let j = 0; j < S; ++j) if (!stack.keyTokens[j].special) kept += weights[i * S + j];
      const divisor = (fold.special && kept > 0 ? kept : 1) * group.count;
      fold.keys.forEach((columns, c) => {
        for (let j = columns.first; j < columns.first + columns.count; ++j) {
          result[r * cols + c] += weights[i * S + j] / divisor;
          if (allowed[i * S + j]) may[r * cols + c] = 1;
        }
      });
    }
  });
  return {weights: result, allowed: may, T: rows, S: cols};
}
