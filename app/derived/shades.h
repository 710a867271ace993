// The weights that shade the words of a text: how much the chosen words look at each word, or how much each word looks
// at them.
#pragma once

#include <atomic>
#include <optional>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "derived/fold.h"

namespace headlight {

/// Whose weights: one head's, or the mean of the heads of its layer or of its stack.
enum class ShadeHeads { head, layer, all };
/// Of ShadeHeads, in its order.
inline constexpr std::string_view kShadeHeadNames[] = {"head", "layer", "all"};
inline std::string_view name(ShadeHeads heads) { return name_in(kShadeHeadNames, heads); }

struct ShadeChoice {
  HeadRef head = {};
  ShadeHeads heads = ShadeHeads::head;
  bool columns = false;           // how much each word looks at the chosen ones, else how much these look at it
  std::vector<Index> words = {};  // chosen tokens, ascending: queries, or keys where `columns`

  friend bool operator==(const ShadeChoice&, const ShadeChoice&) = default;
};

/// The heads whose mean is taken.
std::vector<HeadRef> shading_heads(const Trace& trace, const ShadeChoice& choice);

/// The words of a side that the tokens belong to: the tokens themselves, or where they are folded their groups, each
/// once.
std::vector<Index> words_of_tokens(const FoldedAxis* axis, const std::vector<Index>& tokens);

/// Of each key the mean of its weights in the chosen rows (S); of each query, where `columns`, the sum of its weights
/// in the chosen columns (T). Mean over the heads; −1 where every such cell is blocked. Of folded tokens a number for
/// each group, from the folded maps. The cells are those of attention_rows, so of one word and one head each is the
/// exported weight. Empty where no word is chosen or `stop` became true.
Vector shades_of(const Trace& trace, const FoldedStack* folded, const ShadeChoice& choice,
                 const std::atomic<bool>& stop);

}  // namespace headlight
