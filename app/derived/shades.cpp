#include "derived/shades.h"

#include <algorithm>
#include <limits>

#include "base/parallel.h"
#include "heads/head_measures.h"
#include "math/attention.h"

namespace headlight {
namespace {

/// Sums of cells, and which of them are not blocked.
struct Sums {
  explicit Sums(Index words) : sums(static_cast<std::size_t>(words)), open(static_cast<std::size_t>(words)) {}
  template <class Allowed>
  void add(Index word, float weight, const Allowed& allowed) {
    const auto at = static_cast<std::size_t>(word);
    const bool counts = weight > 0 || (weight < 0 && allowed());  // of folded cells −1 is blocked
    if (counts) sums[at] += static_cast<double>(weight);
    if (open[at] == 0 && (counts || allowed())) open[at] = 1;
  }
  std::vector<double> sums;
  std::vector<char> open;
};

void add_folded(Sums& to, const Matrix& map, bool columns, const std::vector<Index>& lines) {
  for (Index word = 0; word < static_cast<Index>(to.sums.size()); ++word)
    for (const Index line : lines) {
      const float weight = columns ? map(word, line) : map(line, word);
      to.add(word, weight, [&] { return weight >= 0; });
    }
}

void add_rows(Sums& to, const Trace& trace, const HeadRef& head, const std::vector<Index>& queries,
              const std::atomic<bool>& stop) {
  const Mask& mask = trace.mask_of(head);
  for (std::size_t at = 0; at < queries.size() && !stop;) {
    const Index first = queries[at];
    Index count = 0;  // of neighbours, which are computed together
    for (; at < queries.size() && queries[at] == first + count && count < kRowBlock; ++at) ++count;
    const Matrix rows = attention_rows(trace, head, first, count);
    for (Index r = 0; r < count; ++r)
      for (Index key = 0; key < rows.cols(); ++key)
        to.add(key, rows(r, key), [&] {
          return mask.allowed(first + r, key) && !is_missing(trace, head, {first + r, key});
        });
  }
}

/// A softmax needs its whole row, so every row is computed, a block at a time.
void add_columns(Sums& to, const Trace& trace, const HeadRef& head, const std::vector<Index>& keys,
                 const std::atomic<bool>& stop) {
  const Mask& mask = trace.mask_of(head);
  const Index queries = trace.queries(head.stack);
  parallel_for((queries + kRowBlock - 1) / kRowBlock, Threads(0, &stop), [&](Index block) {
    const Index first = block * kRowBlock;
    const Matrix rows = attention_rows(trace, head, first, std::min(kRowBlock, queries - first));
    for (Index r = 0; r < rows.rows(); ++r)
      for (const Index key : keys)
        to.add(first + r, rows(r, key), [&] {
          return mask.allowed(first + r, key) && !is_missing(trace, head, {first + r, key});
        });
  });
}

}  // namespace

std::vector<HeadRef> shading_heads(const Trace& trace, const ShadeChoice& choice) {
  const HeadRef& head = choice.head;
  if (choice.heads == ShadeHeads::head) return {head};
  std::vector<HeadRef> heads = heads_of(trace, head.stack);
  if (choice.heads == ShadeHeads::layer)
    std::erase_if(heads, [&](const HeadRef& one) { return one.layer != head.layer; });
  return heads;
}

std::vector<Index> words_of_tokens(const FoldedAxis* axis, const std::vector<Index>& tokens) {
  if (!axis) return tokens;
  std::vector<Index> words;
  for (const Index token : tokens)
    if (const auto group = axis->group(token); group && (words.empty() || words.back() != *group))
      words.push_back(*group);
  return words;
}

Vector shades_of(const Trace& trace, const FoldedStack* folded, const ShadeChoice& choice,
                 const std::atomic<bool>& stop) {
  const bool columns = choice.columns;
  const Stack stack = choice.head.stack;
  const std::vector<Index> lines = words_of_tokens(folded_axis(folded, !columns), choice.words);
  if (lines.empty()) return {};
  const std::vector<HeadRef> heads = shading_heads(trace, choice);
  const FoldedAxis* others = folded_axis(folded, columns);
  Sums sums(others ? static_cast<Index>(others->groups.size()) : columns ? trace.queries(stack) : trace.keys(stack));
  for (const HeadRef& head : heads) {
    if (stop) return {};
    if (folded) add_folded(sums, folded->map(head), columns, lines);
    else if (columns) add_columns(sums, trace, head, lines, stop);
    else add_rows(sums, trace, head, lines, stop);
  }
  if (stop) return {};
  const double divisor = static_cast<double>(heads.size()) * (columns ? 1.0 : static_cast<double>(lines.size()));
  Vector shades(static_cast<Index>(sums.sums.size()));
  for (Index word = 0; word < shades.size(); ++word) {
    const auto at = static_cast<std::size_t>(word);
    shades(word) = sums.open[at] != 0 ? static_cast<float>(sums.sums[at] / divisor) : trace.blocked();
  }
  return shades;
}

CellRef PictureGrids::cell_of(const CellRef& square) const {
  const Index token = grid().first() + square.query * grid().cols + square.key, chosen = choice.words.front();
  return choice.columns ? CellRef{token, chosen} : CellRef{chosen, token};
}

std::optional<CellRef> PictureGrids::square_of(const CellRef& cell) const {
  const Index chosen = choice.columns ? cell.key : cell.query, token = choice.columns ? cell.query : cell.key;
  const Index patch = token - grid().first();
  const bool is_chosen = std::binary_search(choice.words.begin(), choice.words.end(), chosen);
  if (!is_chosen || patch < 0) return std::nullopt;
  return CellRef{patch / grid().cols, patch % grid().cols};
}

Matrix grid_of(const PatchGrid& grid, const Vector& of_tokens) {
  return Eigen::Map<const Matrix>(of_tokens.data() + grid.first(), grid.rows, grid.cols);
}

Index first_token(const Trace& trace) {
  if (!is_all_of_picture(trace)) return 0;
  const PatchGrid& grid = trace.key_tokens().picture->grid;
  return grid.first() > 0 ? 0 : grid.rows / 2 * grid.cols + grid.cols / 2;
}

std::shared_ptr<const PictureGrids> picture_grids(std::shared_ptr<const Trace> trace, ShadeChoice choice,
                                                  const std::atomic<bool>& stop) {
  auto grids = std::make_shared<PictureGrids>();
  choice.heads = ShadeHeads::head;
  for (const HeadRef& head : shading_heads(*trace, {.head = {}, .heads = ShadeHeads::all})) {
    choice.head = head;
    const Vector shades = shades_of(*trace, nullptr, choice, stop);
    if (stop) return nullptr;
    grids->maps.push_back(grid_of(trace->key_tokens().picture->grid, shades));
  }
  grids->choice = std::move(choice);
  grids->trace = std::move(trace);
  return grids;
}

}  // namespace headlight
