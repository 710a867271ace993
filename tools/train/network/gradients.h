// The loss of a batch and what each number of the network does to it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "card/training_plan.h"
#include "train/network/batch.h"
#include "train/network/network.h"

namespace headlight {

struct Loss {
  double mean = 0;    // cross-entropy in nats per target, weighted
  double weight = 0;  // of all targets; 0: no targets, mean is 0
  Index targets = 0;
  Index right = 0;              // targets that had the largest score
  double attention = 0;         // the weighted mean over Batch::attention of −ln(weight given to the target)
  double attention_weight = 0;  // the sum of the weights of these targets; 0: no targets, attention is 0
  double looked = 0;            // the mean weight that heads give to the right word, rests left out
  Index looks = 0;              // the number of words in this mean

  /// The loss that is minimised.
  double total(float attention_share) const { return mean + static_cast<double>(attention_share) * attention; }
};

/// Memory and threads that are kept from step to step.
class Workspace {
 public:
  /// `threads`: 0 for one for each processor. They change no bit of any result.
  explicit Workspace(int threads = 0);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  struct Memory;
  Memory& memory() { return *memory_; }
  /// For a caller that keeps none.
  Floats& gradients();
  /// Calls part(begin, end) for stretches of 0 … size, each once; on several threads where there are many.
  void split(Index size, const std::function<void(Index, Index)>& part);

 private:
  std::unique_ptr<Memory> memory_;
};

/// Cross-entropy of the softmax over words, averaged over the targets, and its gradients, laid out as network.values.
/// `seed` decides what dropout hides. The same to the bit with any number of threads: the batch is cut into shards by
/// its size, and their gradients are summed in order.
/// Ids are rows of the token table; sentences are no longer than network.longest where positions are learned.
Loss loss_and_gradients(const Network& network, const Batch& batch, const Objective& objective, std::uint64_t seed,
                        Floats& gradients, Workspace& workspace);

/// The loss alone, without dropout and smoothing.
Loss loss(const Network& network, const Batch& batch, Workspace& workspace);

}  // namespace headlight
