#include "views/sentence/sentence_content.h"

#include <algorithm>

#include "figure/drawing/map_layout.h"

namespace headlight {
namespace {

std::vector<SentenceWord> words_along(const Tokens& tokens, const FoldedAxis* axis) {
  std::vector<SentenceWord> words;
  if (!axis) {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      words.push_back({axis_label(tokens.tokens[i]), {}, static_cast<Index>(i), tokens.tokens[i].special});
    return words;
  }
  for (std::size_t i = 0; i < axis->groups.size(); ++i) {
    const FoldedAxis::Group& group = axis->groups[i];
    SentenceWord word{axis_label(axis->tokens[i]), {}, group.first, axis->tokens[i].special};
    for (Index t = group.first; group.count > 1 && t < group.first + group.count; ++t)
      word.pieces.push_back(axis_label(tokens.tokens[static_cast<std::size_t>(t)]));
    words.push_back(std::move(word));
  }
  return words;
}

/// The row and the column of a cell of the answer.
std::optional<CellRef> words_of(const CellRef& cell, const FoldedStack* folded) {
  return folded ? folded->fold.groups_of(cell) : cell;
}

/// Of several heads for one pair the heaviest.
void add_named(SentenceContent& content, const SentenceArcs& arcs, Stack stack, const FoldedStack* folded) {
  for (const NamedArc& arc : arcs.named) {
    const SentenceHead* head = arc.head.stack == stack ? content.of(arc.head) : nullptr;
    const auto at = words_of(arc.cell, folded);
    if (!head || head->off || !at || (content.one && at->query == at->key)) continue;
    SentenceArc one = content.arc_of(*head, at->query, at->key);
    one.cell = arc.cell;
    one.relation = arc.relation;
    one.reversed = arc.reversed;
    const auto same = std::ranges::find_if(
        content.named, [&](const SentenceArc& other) { return other.query == one.query && other.key == one.key; });
    if (same == content.named.end()) content.named.push_back(std::move(one));
    else if (same->weight < one.weight) *same = std::move(one);
  }
}

void add_best(SentenceContent& content) {
  const auto rows = static_cast<Index>(content.queries.size()), columns = static_cast<Index>(content.keys.size());
  content.best = Matrix::Zero(rows, columns);
  content.by.assign(static_cast<std::size_t>(rows * columns), -1);
  for (std::size_t h = 0; h < content.heads.size(); ++h) {
    if (content.heads[h].off) continue;
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < columns; ++j) {
        const float weight = SentenceContent::weight(content.heads[h], i, j);
        if (weight <= content.best(i, j)) continue;
        content.best(i, j) = weight;
        content.by[static_cast<std::size_t>(i * columns + j)] = static_cast<int>(h);
      }
  }
}

}  // namespace

const SentenceHead* SentenceContent::of(const HeadRef& head) const {
  const auto found = std::ranges::find(heads, head, &SentenceHead::head);
  return found == heads.end() ? nullptr : &*found;
}

SentenceArc SentenceContent::arc_of(const SentenceHead& head, Index row, Index column) const {
  return {row,
          column,
          head.head,
          weight(head, row, column),
          {queries[static_cast<std::size_t>(row)].token, keys[static_cast<std::size_t>(column)].token},
          {},
          false,
          false,
          head.off};
}

std::optional<SentenceArc> SentenceContent::heaviest_of(Index row) const {
  const SentenceArc* known = nullptr;
  for (const SentenceArc& arc : named)
    if (arc.query == row && (!known || arc.weight > known->weight)) known = &arc;
  if (known) return *known;
  Index column = -1;
  for (Index j = 0; j < std::ssize(keys); ++j) {
    const bool other = !(one && j == row) && !keys[static_cast<std::size_t>(j)].special;
    if (other && best(row, j) > 0 && (column < 0 || best(row, j) > best(row, column))) column = j;
  }
  if (column < 0 && one && best(row, row) > 0) column = row;
  if (column < 0) return std::nullopt;
  const int head = by[static_cast<std::size_t>(row * std::ssize(keys) + column)];
  return arc_of(heads[static_cast<std::size_t>(head)], row, column);
}

std::optional<SentenceContent> sentence_content(const Trace& trace, const FoldedStack* folded, const SentenceArcs& arcs,
                                                const HeadRef& chosen, const std::optional<CellRef>& pinned,
                                                const std::vector<HeadRef>* only) {
  const Stack stack = chosen.stack;
  SentenceContent content;
  content.trace = &trace;
  content.queries = words_along(trace.query_tokens(stack), folded ? &folded->fold.queries : nullptr);
  content.keys = words_along(trace.key_tokens(stack), folded ? &folded->fold.keys : nullptr);
  content.one = stack != Stack::cross && content.queries.size() == content.keys.size();
  const std::size_t most = std::max(content.queries.size(), content.keys.size());
  if (content.queries.empty() || content.keys.empty() || most > static_cast<std::size_t>(kMostWordsOfStage))
    return std::nullopt;
  for (const HeadRef& head : only ? *only : heads_of(trace, stack)) {
    const Matrix* weights = folded ? &folded->map(head) : &trace.head(head).thumbnail;
    if (weights->rows() != std::ssize(content.queries) || weights->cols() != std::ssize(content.keys))
      return std::nullopt;
    const Vector* rests = folded && !folded->rests.empty() ? &folded->rests[folded->index_of(head)] : nullptr;
    content.heads.push_back({head, weights, rests, is_off(trace.request.edits, head)});
  }
  add_named(content, arcs, stack, folded);
  add_best(content);
  const SentenceHead* head = content.of(chosen);
  const auto at = pinned ? words_of(*pinned, folded) : std::nullopt;
  if (head && at && at->query < std::ssize(content.queries) && at->key < std::ssize(content.keys)) {
    SentenceArc arc = content.arc_of(*head, at->query, at->key);
    for (const SentenceArc& one : content.named)
      if (one.query == at->query && one.key == at->key && one.head == chosen) arc = one;
    arc.cell = *pinned;
    arc.pinned = true;
    arc.off = head->off;
    const auto is_its = [&](const WeightEdit& edit) {
      return edit.head == chosen && words_of(edit.cell, folded) == at;
    };
    arc.by_hand = std::ranges::any_of(trace.request.edits.weights, is_its);
    content.pinned = std::move(arc);
    content.query = at->query;
  } else if (pinned && folded) {
    content.query = folded->fold.queries.group(pinned->query).value_or(0);
  }
  return content;
}

}  // namespace headlight
