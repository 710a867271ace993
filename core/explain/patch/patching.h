// Activation patching, part by part: how much of an answer comes back where a part of it is put into another answer.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explain/patch/patch_metric.h"
#include "math/forward.h"
#include "math/variants.h"
#include "model/head_text.h"

namespace headlight {

/// Which answer is put into which: the clean one into the corrupt one, where it restores, or the corrupt one into the
/// clean one, where it costs.
enum class PatchDirection { denoise, noise };

/// Tokens of the clean and of the corrupt sentence that correspond to each other.
using TokenPairs = std::vector<std::pair<Index, Index>>;

/// The parts to patch. Empty lists: all of them.
struct PatchWanted {
  PatchAt at = PatchAt::heads;
  Stack stack = Stack::self;
  std::vector<Index> layers = {};
  std::vector<LayerHeads> heads = {};  // of the stack; of ffn its neurons; of residual without meaning
  bool by_token = false;               // a cell a token; of residual and ffn always
  std::vector<Index> tokens = {};      // of the corrupt sentence
  TokenPairs queries = {}, keys = {};  // of the stack's two sides
  PatchDirection direction = PatchDirection::denoise;
  MetricWanted metric = {};
  Index control = 0;  // the number of random draws, always the same ones, each of as many parts as were chosen
  /// Of noise, without a pattern: what is put in place of the corrupt answer's part, at every token of the clean one.
  /// Of resampling the mean of what each other sentence does.
  Baseline baseline = {};
};

/// `token` is that of the sentence that is patched; nothing where all tokens that both have are patched at once.
struct PatchCell {
  Index layer = 0;
  std::optional<Index> head = {}, token = {};  // a head, or of ffn a neuron
  double restored = 0;  // (m − corrupt) / (clean − corrupt): 0 nothing, 1 all of the metric m on its scale (on_scale).
                        // Of noise the share lost: (m − clean) / (corrupt − clean)
  Stack stack = Stack::self;
  std::optional<PatchAt> part =
      {};  // of PathWanted::all: q, k or v, which reads the sender; nothing: the answer itself
};

/// The chosen parts patched all at once, beside as many parts that are drawn at random from the others. Where all parts
/// are chosen: one part at a time, drawn from them.
struct PatchControl {
  Index cells = 1;                      // in a draw
  std::optional<double> together = {};  // what the chosen ones restore; nothing where all parts are wanted
  std::vector<double> restored = {};    // by each draw
};

struct PatchAnswer {
  std::string metric;  // in words
  Metric measure = Metric::logit_difference;
  std::string right = {}, wrong = {};  // its words
  double clean = 0, corrupt = 0;
  std::vector<PatchCell> cells = {};
  std::optional<PatchControl> control = {};
};

/// Puts the numbers of `clean` into the pass that gave `corrupt`, one part after another (math/patch.h), the passes of
/// a layer as one batch (math/variants.h). The metric is that of metric_of (patch_metric.h). Errors: no output layer,
/// attention that another program computed, models of another shape, answers of the same metric, a layer, a head or a
/// token that is not there; check_baseline(); that it was stopped.
Result<PatchAnswer> patch_answers(const Trace& clean, const Trace& corrupt, const PatchWanted& wanted, int threads = 0,
                                  Progress* progress = nullptr);

/// A path from a head to what reads it: `to` of a head, its query, key or value, or all three; without a head the
/// answer itself.
struct PathWanted {
  std::vector<HeadRef> from = {};  // of PatchWanted::stack
  std::optional<HeadRef> to = {};
  std::optional<PatchAt> part = {};  // q, k, v
  bool group = false;                // key and value are read by all heads that share them, not by `to` alone
  bool all = false;  // in place of `to` every reader of one sender: q, k and v of all heads behind it, and the answer
};

/// Path patching (Wang et al. 2022, section 3.1): the z of a head is that of the other answer, all heads between it and
/// `to`, of every stack, are unchanged, feed-forwards follow, and only what `to` reads then is put into the pass. A
/// cell a sender, of PathWanted::all a cell a reader. Errors also: a stack that is not there, a sender that does not
/// stand before the receiver.
Result<PatchAnswer> patch_paths(const Trace& clean, const Trace& corrupt, const PatchWanted& wanted,
                                const PathWanted& path, int threads = 0, Progress* progress = nullptr);

}  // namespace headlight
