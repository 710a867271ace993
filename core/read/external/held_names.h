// The names under which programs hold attention: `attentions.0`, `blocks.0.attn.hook_pattern`, `arr_0`, `0.3`.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/head.h"
#include "read/external/held_arrays.h"

namespace headlight {

/// A name without the numbers that count in it: `blocks.#.attn.hook_pattern` and {0}; numbers of heads come last.
struct HeldName {
  std::string stem;
  std::vector<Index> at;
  std::size_t heads = 0;  // how many count heads
};
HeldName held_name(std::string_view name);

/// `layers 4, 9 of the file, counted from 0 here`; empty where they count from 0.
std::string counted_anew(std::string_view of, const std::set<Index>& numbers);

/// `batch,heads,T,S`.
std::string axes_names(const std::vector<HeldAxis>& axes);

/// Arrays of one stem by their numbers; the stack that its words name.
struct HeldGroup {
  std::string stem;
  std::map<std::vector<Index>, Array*> items;
  std::optional<Stack> stack = {};  // none: the name states none
  bool of_heads = false;            // the last number counts heads
};

/// The groups of a file that can be attention, one for each stack, the best by its name: patterns and probabilities
/// before weights, those before lists without a name, scores last. `part`: of names with this in them alone, or where
/// there are such, of those that begin with it. Empty: nothing can be attention. An Error where two names are as good.
Result<std::vector<HeldGroup>> held_groups(std::string_view where, std::map<std::string, Array>& arrays,
                                           const std::string& part);

/// Three lists without names that are an encoder, a decoder and its cross-attention: their sizes belong together. Where
/// all are of one size, in this order, and `either` is set: they can also be sentences.
std::optional<std::vector<HeldGroup>> three_stacks(const std::vector<HeldGroup>& found, bool& either);

}  // namespace headlight
