// What of an answer comes back where a part of it is put into another answer: activation patching, place by place.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "math/forward.h"
#include "model/head_text.h"

namespace headlight {

/// Tokens of the clean and of the corrupt sentence that stand for each other.
using TokenPairs = std::vector<std::pair<Index, Index>>;

/// The places to patch. Empty lists: all of them.
struct PatchWanted {
  PatchAt at = PatchAt::heads;
  Stack stack = Stack::self;
  std::vector<Index> layers = {};
  std::vector<LayerHeads> heads = {};  // of the stack; of residual and ffn without meaning
  bool by_token = false;               // a cell a token; of residual and ffn always
  std::vector<Index> tokens = {};      // of the corrupt sentence
  TokenPairs queries = {}, keys = {};  // of the stack's two sides
};

/// `token` is the corrupt sentence's; nothing where all tokens that both have are patched at once.
struct PatchCell {
  Index layer = 0;
  std::optional<Index> head = {}, token = {};
  double restored = 0;  // (m − corrupt) / (clean − corrupt): 0 nothing, 1 all of the metric m
};

struct PatchAnswer {
  std::string metric;
  double clean = 0, corrupt = 0;
  std::vector<PatchCell> cells = {};
};

/// Puts the numbers of `clean` into the pass that gave `corrupt`, one place after another (math/patch.h), each pass
/// beginning at the layer of its place. The metric is read at Trace::answering: with W the word that is most probable
/// in the clean answer, its logit minus that of the corrupt answer's word where these differ, else the probability of
/// W. Errors: no output layer, attention that another program computed, models of another shape, answers of the same
/// metric, a layer, a head or a token that is not there.
Result<PatchAnswer> patch_answers(const Trace& clean, const Trace& corrupt, const PatchWanted& wanted, int threads = 0);

}  // namespace headlight
