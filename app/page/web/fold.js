// Where the tokens of a folded map stand; the core folds it (app/derived/fold.h).

/** The fold of a stack {foldable, fold}, from the core; `fold` is null where each token is one row and one column. */
export function foldOf(core, stack, choice) {
  const {foldable, fold = null} = core.fold(stack, choice);
  const groups = (side, tokens) => side.map(([first, count, text]) => ({first, count, token: {...tokens[first], text}}));
  return {foldable, fold: fold && {...fold, queries: groups(fold.queries, stack.queryTokens), keys: groups(fold.keys, stack.keyTokens)}};
}

/** The group of a token; -1 where the token is left out. */
export function groupOf(groups, token) { return groups.findIndex(({first, count}) => token >= first && token < first + count); }

/** Where a cell of the tokens stands on the map as it is shown; null where it is left out. */
export function shownCell(fold, cell) {
  if (!cell || !fold) return cell && {row: cell.query, col: cell.key};
  const row = groupOf(fold.queries, cell.query), col = groupOf(fold.keys, cell.key);
  return row < 0 || col < 0 ? null : {row, col};
}
