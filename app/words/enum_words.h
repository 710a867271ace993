// The words of one value of an enumeration.
#pragma once

#include <iterator>

#include "derived/head_stats.h"
#include "model/tokens.h"
#include "view/settings.h"
#include "words/head_words.h"
#include "words/sentence_words.h"

namespace headlight {

/// The name of an order, and one sentence about the measure that it follows, with the source of the measure.
using OrderWords = HeadOrderWords::NameTip;
static_assert(std::size(kHeadOrderWords.measures) == kMeasures.size());

inline const OrderWords& order_words(const HeadOrder& order) {
  switch (order.by) {
    case HeadOrder::By::measure: return kHeadOrderWords.measures[static_cast<std::size_t>(order.measure)];
    case HeadOrder::By::effect: return kHeadOrderWords.effect;
    case HeadOrder::By::found: return kHeadOrderWords.found;
    case HeadOrder::By::layer: break;
  }
  return kHeadOrderWords.layer;
}

inline const Words& role_words(ChatRole role) { return kChatWords.roles[static_cast<std::size_t>(role)]; }
inline const Words& short_role_words(ChatRole role) { return kChatWords.short_roles[static_cast<std::size_t>(role)]; }

inline constexpr int kPairParts = std::size(kPairWords.parts);
inline const auto& pair_words(PairPart part) { return kPairWords.parts[static_cast<std::size_t>(part)]; }
/// What is shown of a pair of which a part is shown alone.
inline const Words& only_words(PairPart part) { return kPairWords.only[static_cast<std::size_t>(part) - 1]; }

}  // namespace headlight
