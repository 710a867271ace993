// The effect of each head: every head is switched off in turn, and the answer compared with the one before.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "math/forward.h"
#include "math/variants.h"
#include "model/chosen_heads.h"

namespace headlight {

/// Of one head that is switched off, in the way of the request's Edits::off_as. Zero where it was off already.
struct HeadEffect {
  HeadRef head;
  /// With an output layer: KL(before ‖ after) = Σ_w p_w ln(p_w / p'_w) of the word's distribution, in nats, the mean
  /// over the positions that are asked for. Without one: ‖X' − X‖ / ‖X‖, Frobenius norms of the last hidden states of
  /// all tokens that are not padding.
  float change = 0;
  /// p' − p of the word that was the most probable, the mean over the same positions; none without an output layer.
  std::optional<float> top_word = {};
  std::optional<float> metric = {};  // EffectWanted::metric after − before
  std::optional<float> spread = {};  // of resampling: the standard deviation of `change` over the other sentences

  friend bool operator==(const HeadEffect&, const HeadEffect&) = default;
};

/// By what a head is replaced, and what else is compared.
struct EffectWanted {
  /// Instead of Edits::off_as: z of the same head in other sentences. Of resampling a query beyond the end of such a
  /// sentence keeps its z.
  Baseline baseline = {};
  /// A number of the logits of the first position that is asked for.
  std::function<double(const Vector& logits)> metric = {};
  std::optional<Index> query = {};  // the position that is asked for, instead of asked_positions()
  std::vector<Index> layers = {};   // these alone, of every stack; empty: all
  std::vector<LayerHeads> heads = {};
};

/// The queries whose words are asked for: of an encoder that is no classifier every masked token ([MASK], <mask>),
/// perhaps none; else Trace::answering alone.
std::vector<Index> asked_positions(const Trace& trace);

/// Every head that is wanted, in the order of heads_of(): the passes of a layer's heads are one batch, which begins at
/// that layer (math/variants.h). Nothing when stopped; the same to the bit with any number of threads. Errors:
/// attention that another program computed, which has nothing behind it; a layer or a head that is not there;
/// check_baseline(); an overflow with a head off, which is named.
Result<std::optional<std::vector<HeadEffect>>> head_effects(const Trace& trace, Progress& progress, int threads = 0,
                                                            const EffectWanted& wanted = {});

}  // namespace headlight
