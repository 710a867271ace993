// The user's changes inside the computation, besides the mask: each edit affects everything after it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/head.h"
#include "model/mask.h"

namespace headlight {

/// The output of a head that is switched off (ablated): zero, or the mean of its z over the sentence's queries, so that
/// it still contributes its usual amount but the same for every token.
enum class OffAs { zero, mean };

/// One weight set by hand, after the softmax. The other weights of its row are rescaled so that the row sums to 1;
/// where the set weights sum to 1 or more, the others are 0.
struct WeightEdit {
  HeadRef head;
  CellRef cell;
  float weight = 0;

  friend bool operator==(const WeightEdit&, const WeightEdit&) = default;
};

/// A part of a block that can be switched off in one layer, to see why it is there (Vaswani et al. 2017, sections 3.1,
/// 3.2.1 and 3.3). residual: a sublayer gives f(x) instead of x + f(x); norm: the block norms nothing; scale: the
/// scores are q·k, LayerEdit::scale is 1; ffn: no feed-forward, nor its sum and norm.
enum class BlockPart { residual, norm, scale, ffn };
inline constexpr BlockPart kBlockParts[] = {BlockPart::residual, BlockPart::norm, BlockPart::scale, BlockPart::ffn};

std::string_view name(BlockPart part);
std::optional<BlockPart> parse_part(std::string_view name);

/// The parts of a block that are off. Where sublayers stand side by side, x + attention(x) + ffn(x), `residual` takes x
/// away.
struct PartsOff {
  bool residual = false, norm = false, ffn = false;

  bool any() const { return residual || norm || ffn; }
  friend bool operator==(const PartsOff&, const PartsOff&) = default;
};

/// The field of a part; null: `scale` has none.
bool PartsOff::*field_of(BlockPart part);

/// Changes of a single layer. `parts` is that of a block: of Stack::cross it is empty.
struct LayerEdit {
  Stack stack = Stack::self;
  Index layer = 0;
  std::optional<float> scale = {};
  std::optional<MaskSpec> mask = {};
  PartsOff parts = {};

  friend bool operator==(const LayerEdit&, const LayerEdit&) = default;
};

struct Edits {
  std::optional<float> scale = {};  // multiplies the scores instead of 1/sqrt(d_k)
  std::vector<HeadRef> off = {};    // ordered, each once
  OffAs off_as = OffAs::zero;
  std::vector<WeightEdit> weights = {};  // ordered by head, then cell; each cell once
  std::vector<LayerEdit> layers = {};    // ordered by stack, then layer; each once
  float dropout = 0;                     // each weight is 0 with this probability, the others are / (1 - dropout)
  std::uint64_t dropout_seed = 0;

  friend bool operator==(const Edits&, const Edits&) = default;
};

bool is_off(const Edits& edits, const HeadRef& head);
/// Switches a head off, or on again.
void switch_off(Edits& edits, const HeadRef& head, bool off);

/// The weight that was set by hand, if one was.
const WeightEdit* edited_weight(const Edits& edits, const HeadRef& head, const CellRef& cell);
/// Whether any weight of the query's row is set by hand.
bool is_row_edited(const Edits& edits, const HeadRef& head, Index query);
/// Sets a weight by hand; std::nullopt removes the edit.
void set_weight(Edits& edits, const HeadRef& head, const CellRef& cell, std::optional<float> weight);

const LayerEdit* layer_edit(const Edits& edits, Stack stack, Index layer);
/// Replaces the edit of its layer; an edit of nothing removes it.
void set_layer_edit(Edits& edits, LayerEdit edit);
/// The edit of the layer, or an empty one.
LayerEdit layer_edit_or_none(const Edits& edits, Stack stack, Index layer);

/// What is off in the block that this attention is part of.
PartsOff parts_off(const Edits& edits, Stack stack, Index layer);
bool is_off(const Edits& edits, Stack stack, Index layer, BlockPart part);
/// Switches a part of a layer off, or on again.
void switch_off(Edits& edits, Stack stack, Index layer, BlockPart part, bool off);

}  // namespace headlight
