#include "views/compare/changes_scene.h"

#include <algorithm>
#include <cmath>

#include "figure/drawing/map_layout.h"
#include "views/compare/comparison_scene.h"

namespace headlight {
namespace {

/// Words that only one answer has are in its colour.
std::vector<SentenceWord> words_along(const JointStack& stack, const JointAxis& axis, const std::vector<Token>& tokens,
                                      Theme theme) {
  std::vector<SentenceWord> words;
  for (std::size_t i = 0; i < axis.size(); ++i) {
    words.push_back({axis_label(tokens[i]), {}, static_cast<Index>(i), tokens[i].special});
    if (stack.in_both && !axis[i].in_both())
      words.back().ink = joint_ink(axis[i].a ? JointSide::a : JointSide::b, theme);
  }
  return words;
}

}  // namespace

std::optional<SentenceContent> changes_content(const JointStack& stack, const HeadRef& head, const PatternPair& maps,
                                               const std::optional<CellRef>& cell, const ChangeScales& scales) {
  const std::size_t most = std::max(stack.queries.size(), stack.keys.size());
  if (stack.queries.empty() || stack.keys.empty() || most > static_cast<std::size_t>(kMostWordsOfStage))
    return std::nullopt;
  const Theme theme = scales.weights.theme;
  SentenceContent content;
  content.queries = words_along(stack, stack.axes.queries, stack.queries, theme);
  content.keys = words_along(stack, stack.axes.keys, stack.keys, theme);
  content.one = head.stack != Stack::cross && stack.axes.queries == stack.axes.keys;
  content.heads.push_back({head, &maps.b, nullptr, false});  // by which words are hidden
  const Index rows = maps.difference.rows(), columns = maps.difference.cols();
  content.best = Matrix::Zero(rows, columns);
  content.by.assign(static_cast<std::size_t>(rows * columns), -1);
  SentenceArc largest;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j) {
      const float change = maps.difference(i, j);
      if (!std::isfinite(change)) continue;
      SentenceArc arc{i, j, head, std::abs(change), {i, j}};
      arc.change = change;
      arc.pinned = cell == CellRef{i, j};
      if (arc.weight > largest.weight) largest = arc;
      if (arc.pinned) content.pinned = arc;
      else if (arc.weight >= kLeastChange && !(content.one && i == j)) content.named.push_back(arc);
    }
  const std::size_t kept = std::min(content.named.size(), kMostThinArcs);
  std::partial_sort(content.named.begin(), content.named.begin() + static_cast<std::ptrdiff_t>(kept),
                    content.named.end(),
                    [](const SentenceArc& a, const SentenceArc& b) { return a.weight > b.weight; });
  content.named.resize(kept);
  content.query = cell ? cell->query : largest.query;
  content.rows = {{"A", joint_ink(JointSide::a, theme), &maps.a, scales.weights},
                  {"B", joint_ink(JointSide::b, theme), &maps.b, scales.weights},
                  {"B − A", joint_ink(JointSide::difference, theme), &maps.difference, scales.difference}};
  return content;
}

}  // namespace headlight
