#include "derived/fold.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "base/parallel.h"
#include "heads/reduce.h"
#include "math/attention.h"
#include "text/tokenizer.h"
#include "text/words.h"

namespace headlight {
namespace {

bool has_long_words(const Tokens& tokens) {
  const auto joined = later_parts(tokens);
  return std::find(joined.begin(), joined.end(), true) != joined.end();
}

std::size_t count_special(const Tokens& tokens) {
  return static_cast<std::size_t>(
      std::count_if(tokens.tokens.begin(), tokens.tokens.end(), [](const Token& token) { return token.special; }));
}

/// Whether the rows, or the columns, of a part are those of sentence B; nothing where all are shown.
std::optional<bool> rows_of_b(PairPart part) {
  if (part == PairPart::all) return std::nullopt;
  return part == PairPart::b_to_a || part == PairPart::b_to_b;
}
std::optional<bool> columns_of_b(PairPart part) {
  if (part == PairPart::all) return std::nullopt;
  return part == PairPart::a_to_b || part == PairPart::b_to_b;
}

/// Whether each sentence of two has a token that special tokens being left out leaves there.
bool has_pair(const Tokens& tokens, bool special) {
  const std::size_t second = second_sentence(tokens);
  const auto shown = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (!special || !tokens.tokens[i].special) return true;
    return false;
  };
  return second > 0 && shown(0, second) && shown(second, tokens.size());
}

/// `of_b`: only the tokens of that sentence.
FoldedAxis axis_of(const Tokens& tokens, FoldChoice choice, std::optional<bool> of_b) {
  const std::size_t second = second_sentence(tokens);
  FoldedAxis axis;
  axis.group_of.assign(tokens.size(), -1);
  const auto joined = choice.words ? later_parts(tokens) : std::vector<bool>(tokens.size(), false);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (choice.special && tokens.tokens[i].special) continue;
    if (of_b && second > 0 && *of_b != (i >= second)) continue;
    if (joined[i]) ++axis.groups.back().count;
    else axis.groups.push_back({static_cast<Index>(i), 1});
    axis.group_of[i] = static_cast<Index>(axis.groups.size()) - 1;
  }
  for (const auto& group : axis.groups) axis.tokens.push_back(headlight::joined(tokens, group));
  return axis;
}

/// The first kMostFolded tokens with their text.
Tokens beginning(const Tokens& tokens) {
  Tokens part;
  const std::size_t count = std::min(tokens.size(), static_cast<std::size_t>(kMostFolded));
  part.tokens.assign(tokens.tokens.begin(), tokens.tokens.begin() + static_cast<std::ptrdiff_t>(count));
  std::size_t end = 0;
  for (const Token& token : part.tokens) end = std::max(end, token.end);
  end = std::min(end, tokens.text.size());
  while (!is_boundary(tokens.text, end)) ++end;
  part.text = tokens.text.substr(0, end);
  part.has_words = tokens.has_words;
  part.word_rows = tokens.word_rows;
  return part;
}

Index longer_side(const Trace& trace, Stack stack) { return std::max(trace.queries(stack), trace.keys(stack)); }

bool is_too_long_to_fold(const Trace& trace, Stack stack) {
  const Index heads = trace.num_layers(stack) * trace.num_heads(stack);
  return longer_side(trace, stack) > kMostFolded ||
         (longer_side(trace, stack) > kThumbnail &&
          heads * trace.queries(stack) * trace.keys(stack) > kMostFoldedCells);
}

/// Of sides longer than that only the beginning is searched for words of several tokens.
FoldedMaps::Possible possible_of(const Trace& trace, Stack stack) {
  if (trace.is_signed) return {};  // sums and means of numbers that are no shares mean nothing
  const Tokens &queries = trace.query_tokens(stack), &keys = trace.key_tokens(stack);
  if (longer_side(trace, stack) <= kMostFolded) {
    const FoldChoice choice = foldable(queries, keys);
    return {choice, choice != FoldChoice{} && is_too_long_to_fold(trace, stack)};
  }
  FoldChoice choice = foldable(beginning(queries), beginning(keys));
  choice.special = count_special(queries) + count_special(keys) > 0;
  choice.pair = second_sentence(queries) + second_sentence(keys) > 0 ? PairPart::b_to_b : PairPart::all;
  return {choice, choice != FoldChoice{}};
}

/// Every weight of a head, −1 where blocked.
Matrix every_weight(const Trace& trace, const HeadRef& head, const std::atomic<bool>& stop) {
  const Index queries = trace.queries(head.stack), keys = trace.keys(head.stack);
  if (std::max(queries, keys) <= kThumbnail) return trace.head(head).thumbnail;
  return region_weights(trace, {.head = head, .num_queries = queries, .num_keys = keys}, kMostFolded, stop);
}

/// The maps of every head of a stack; a part of them when stopped.
FoldedStack fold_stack(const Trace& trace, Stack stack, Fold fold, const std::atomic<bool>& stop, int threads) {
  FoldedStack folds{std::move(fold), trace.num_heads(stack)};
  const Index heads = trace.num_layers(stack) * folds.num_heads;
  folds.maps.resize(static_cast<std::size_t>(heads));
  const auto groups = std::max(folds.fold.queries.groups.size(), folds.fold.keys.groups.size());
  if (groups > static_cast<std::size_t>(kThumbnail)) folds.small.resize(folds.maps.size());
  if (folds.fold.done.special) folds.rests.resize(folds.maps.size());
  parallel_for(heads, longer_side(trace, stack) > kThumbnail ? threads : 1, [&](Index i) {
    if (stop) return;
    const auto at = static_cast<std::size_t>(i);
    const Matrix whole = every_weight(trace, {i / folds.num_heads, i % folds.num_heads, stack}, stop);
    if (stop) return;
    folds.maps[at] = folded(whole, folds.fold);
    if (!folds.rests.empty()) folds.rests[at] = resting(whole, folds.fold);
    if (!folds.small.empty()) folds.small[at] = pooled(folds.maps[at], kThumbnail);
  });
  return folds;
}

}  // namespace

std::optional<Index> FoldedAxis::group(Index token) const {
  if (token < 0 || token >= static_cast<Index>(group_of.size())) return std::nullopt;
  const Index at = group_of[static_cast<std::size_t>(token)];
  return at < 0 ? std::nullopt : std::optional(at);
}

bool FoldedAxis::together(Index a, Index b) const { return a == b || (group(a) && group(a) == group(b)); }

FoldedAxis::Group word_at(const Tokens& tokens, Index token) {
  if (std::ssize(tokens.tokens) > kMostFolded) return {token, 1};
  const auto later = later_parts(tokens);
  const auto is_later = [&](Index at) { return at < std::ssize(later) && later[static_cast<std::size_t>(at)]; };
  Index first = token, end = token + 1;
  while (is_later(first)) --first;
  while (is_later(end)) ++end;
  return {first, end - first};
}

Token joined(const Tokens& tokens, const FoldedAxis::Group& group) {
  return joined_tokens(tokens, group.first, group.count);
}

FoldChoice foldable(const Tokens& queries, const Tokens& keys) {
  if (keys.picture) return {};
  const std::size_t from = count_special(queries), to = count_special(keys);
  return {.special = from + to > 0 && from < queries.size() && to < keys.size(),
          .words = has_long_words(queries) || has_long_words(keys),
          .pair = has_pair(queries, true) || has_pair(keys, true) ? PairPart::b_to_b : PairPart::all};
}

std::optional<Fold> fold_of(const Tokens& queries, const Tokens& keys, FoldChoice wanted) {
  if (wanted == FoldChoice{}) return std::nullopt;
  const FoldChoice possible = foldable(queries, keys);
  const FoldChoice done{.special = wanted.special && possible.special,
                        .words = wanted.words && possible.words,
                        .pair = possible.pair == PairPart::all ? PairPart::all : wanted.pair};
  if (done == FoldChoice{}) return std::nullopt;
  Fold fold{axis_of(queries, done, rows_of_b(done.pair)), axis_of(keys, done, columns_of_b(done.pair)), done};
  for (const Token& key : keys.tokens) fold.rests.push_back(done.special && key.special);
  return fold;
}

std::optional<CellRef> Fold::groups_of(const CellRef& cell) const {
  const auto row = queries.group(cell.query), column = keys.group(cell.key);
  return row && column ? std::optional(CellRef{*row, *column}) : std::nullopt;
}

Fold fold_or_whole(const Tokens& queries, const Tokens& keys, FoldChoice wanted) {
  return fold_of(queries, keys, wanted).value_or(Fold{axis_of(queries, {}, {}), axis_of(keys, {}, {}), {}});
}

Matrix folded(const Matrix& weights, const Fold& fold) {
  assert(weights.rows() == static_cast<Index>(fold.queries.group_of.size()));
  assert(weights.cols() == static_cast<Index>(fold.keys.group_of.size()));
  BlockSums blocks(std::ssize(fold.queries.groups), std::ssize(fold.keys.groups));
  blocks.add(weights, 0, fold.queries.group_of, fold.keys.group_of);
  for (Index row = 0; row < blocks.sums.rows(); ++row)
    blocks.sums.row(row) /= static_cast<double>(fold.queries.tokens_of(row).count);
  return blocks.weights();
}

Vector resting(const Matrix& weights, const Fold& fold) {
  const auto& rows = fold.queries.groups;
  Vector rests = Vector::Zero(static_cast<Index>(rows.size()));
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (Index query = rows[r].first; query < rows[r].first + rows[r].count; ++query)
      for (Index key = 0; key < weights.cols(); ++key)
        if (fold.rests[static_cast<std::size_t>(key)] && weights(query, key) > 0)
          rests(static_cast<Index>(r)) += weights(query, key) / static_cast<float>(rows[r].count);
  return rests;
}

bool is_of_single_tokens(const Fold& fold, const CellRef& cell) {
  const auto is_single = [](const FoldedAxis& axis, Index token) {
    const auto group = axis.group(token);
    return group && axis.tokens_of(*group).count == 1;
  };
  return is_single(fold.queries, cell.query) && is_single(fold.keys, cell.key);
}

CellRef moved(const Fold& fold, CellRef from, Index queries, Index keys) {
  const auto step = [](const FoldedAxis& axis, Index token, Index by) {
    // From a token that is left out one goes to the next that is not.
    const auto next =
        std::find_if(axis.groups.begin(), axis.groups.end(), [&](const auto& group) { return group.first >= token; });
    const auto last = static_cast<Index>(axis.groups.size()) - 1;
    const Index nearest = std::min(static_cast<Index>(next - axis.groups.begin()), last);
    const auto at = axis.group(token);
    return axis.tokens_of(std::clamp<Index>(at ? *at + by : nearest, 0, last)).first;
  };
  return {step(fold.queries, from.query, queries), step(fold.keys, from.key, keys)};
}

Matrix pooled(const Matrix& weights, Index most) {
  const Index rows = std::min(weights.rows(), most), cols = std::min(weights.cols(), most);
  if (rows == weights.rows() && cols == weights.cols()) return weights;
  Matrix small(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      const Index top = i * weights.rows() / rows, left = j * weights.cols() / cols;
      small(i, j) =
          weights.block(top, left, (i + 1) * weights.rows() / rows - top, (j + 1) * weights.cols() / cols - left)
              .maxCoeff();
    }
  return small;
}

bool folds_at_once(const Trace& trace) {
  return std::none_of(std::begin(kStacks), std::end(kStacks), [&](Stack stack) {
    return trace.has(stack) && longer_side(trace, stack) > kThumbnail && longer_side(trace, stack) <= kMostFolded;
  });
}

std::shared_ptr<const FoldedMaps> folded_maps(std::shared_ptr<const Trace> trace, FoldChoice wanted,
                                              const std::atomic<bool>& stop, int threads) {
  auto all = std::make_shared<FoldedMaps>();
  all->wanted = wanted;
  for (const Stack stack : kStacks) {
    if (!trace->has(stack)) continue;
    const auto at = static_cast<std::size_t>(stack);
    all->possible[at] = possible_of(*trace, stack);
    FoldChoice here = wanted;
    const bool merges = wanted.words && all->possible[at].choice.words;
    if (!merges && longer_side(*trace, stack) > kThumbnail) {
      here.special = all->possible[at].choice.special = false;
      if (all->possible[at].choice == FoldChoice{}) all->possible[at].too_long = false;
    }
    auto fold = is_too_long_to_fold(*trace, stack)
                    ? std::nullopt
                    : fold_of(trace->query_tokens(stack), trace->key_tokens(stack), here);
    if (!fold) {
      all->largest = std::max(all->largest, trace->largest_weight);
      continue;
    }
    FoldedStack folds = fold_stack(*trace, stack, std::move(*fold), stop, threads);
    if (stop) return nullptr;
    for (const Matrix& map : folds.maps)
      if (map.size() > 0) all->largest = std::max(all->largest, map.maxCoeff());
    all->stacks[at] = std::move(folds);
  }
  all->trace = std::move(trace);
  return all;
}

}  // namespace headlight
