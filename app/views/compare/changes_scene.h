// What changed between two answers, on the scene of a sentence: the words of both as its axis, arcs for the weights of
// a head that changed most, and one word's row in A, in B and B − A. Window and figure draw the same.
#pragma once

#include "derived/answer_comparison.h"
#include "views/sentence/sentence_scene.h"

namespace headlight {

/// The scales of the rows: of the weights of both, and of their difference.
struct ChangeScales {
  ColourScale weights, difference;
};

/// The content, on the joint axes of the head: at most kMostThinArcs arcs, of changes from kLeastChange up. Nothing
/// where there are more words than kMostWordsOfStage, or none. `cell`: whose row is shown; nothing: that of the largest
/// change.
std::optional<SentenceContent> changes_content(const JointStack& stack, const HeadRef& head, const PatternPair& maps,
                                               const std::optional<CellRef>& cell, const ChangeScales& scales);
inline constexpr float kLeastChange = 0.05f;

}  // namespace headlight
