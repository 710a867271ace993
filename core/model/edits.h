// What the user changes inside the computation, beside the mask: each edit has an effect on everything after it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/head.h"
#include "model/mask.h"

namespace headlight {

/// What a head that is switched off hands on: nothing, or the mean of its z over the sentence's queries, so that it
/// still contributes its usual amount but no longer tells one token from another.
enum class OffAs { zero, mean };

/// One weight set by hand, after the softmax. The others of its row share what it leaves of 1 in their old
/// proportions; where every weight of a row is set, or those set reach 1, the row is as it was set.
struct WeightEdit {
  HeadRef head;
  CellRef cell;
  float weight = 0;

  friend bool operator==(const WeightEdit&, const WeightEdit&) = default;
};

/// What differs in one layer from the rest of its stack.
struct LayerEdit {
  Stack stack = Stack::self;
  Index layer = 0;
  std::optional<float> scale = {};
  std::optional<MaskSpec> mask = {};

  friend bool operator==(const LayerEdit&, const LayerEdit&) = default;
};

struct Edits {
  std::optional<float> scale = {};  // multiplies the scores in place of 1/sqrt(d_k)
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
/// Sets a weight by hand; nothing takes the edit away.
void set_weight(Edits& edits, const HeadRef& head, const CellRef& cell, std::optional<float> weight);

const LayerEdit* layer_edit(const Edits& edits, Stack stack, Index layer);
/// Puts the edit in place of what its layer had; one without scale and mask takes it away.
void set_layer_edit(Edits& edits, LayerEdit edit);

}  // namespace headlight
