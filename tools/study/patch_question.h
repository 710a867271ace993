// What `patch` is asked, of one pair of sentences or of many, and what a pair answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/metric_options.h"
#include "explain/patch/patch_estimate.h"
#include "explain/patch/patching.h"
#include "heads/pattern_difference.h"
#include "study/study.h"

namespace headlight {

/// Both: the corrupt question with parts of the clean one, and the other way.
enum class Directions { denoise, noise, both };
inline constexpr std::string_view kDirectionNames[] = {"denoise", "noise", "both"};

struct PatchOptions {
  std::string from, control, to, baseline;
  std::optional<std::string> stack = {};
  std::optional<PatchAt> at = {};
  bool neurons = false;  // of ffn
  std::optional<Alignment> align = {};
  std::optional<Directions> direction = {};
  Normalise normalise = Normalise::total;
  std::vector<std::string> layers, heads, tokens, senders;
  std::optional<Index> estimate = {};  // how many places are patched beside it, and as many at random
  MetricOptions metric;
  StudyOptions study;

  bool of_paths() const { return !senders.empty(); }
  /// Every reader of a head: the cells are readers.
  bool of_readers() const { return to == "all"; }
  /// Of a baseline noise.
  Directions directions() const {
    return direction.value_or(baseline.empty() ? Directions::denoise : Directions::noise);
  }
  /// What the head of a cell is called.
  const char* head_column() const { return neurons ? "neuron" : "head"; }
  std::string part_text() const { return neurons ? "neurons" : std::string(name(*at)); }
  /// Whether cells may be of another stack than self.
  bool names_stacks() const;
};

/// --at-layers, and --at-heads or --at-neurons, `option`; heads without a stack are of `stack`. Errors: what cannot be
/// read.
Status read_places(const std::vector<std::string>& layers, const char* option, const std::vector<std::string>& heads,
                   Stack stack, std::vector<Index>& numbers, std::vector<LayerHeads>& chosen);

/// How a cell names its reader: q, k, v or output.
std::string_view part_name(const PatchCell& cell);

void add_patch_options(Parser& parser, PatchOptions& options);

/// Errors: options that do not go together, or cannot be read.
Status check_patch(const PatchOptions& options);

/// The stack of the cells: --stack, else that of --at-heads, else self; of a path of its first sender.
Stack stack_of(const PatchOptions& options);

/// What one pair of answers gives, in each direction that is asked for.
Result<std::vector<PatchAnswer>> patched(const Trace& clean, const Trace& corrupt, const PatchOptions& options,
                                         const MetricWanted& metric, const Baseline& baseline, int threads,
                                         Progress& progress);

/// --estimate, with `most` places patched beside it.
Result<PatchEstimate> estimated(const Trace& clean, const Trace& corrupt, const PatchOptions& options,
                                const MetricWanted& metric, const Baseline& baseline, Index most, int threads,
                                Progress& progress);

/// Whether an answer of patched() is of noise.
bool is_noise(const PatchOptions& options, std::size_t answer);
/// Of a cell that the direction of the answer gives: restored or lost, or the estimate of that.
const char* column_of(const PatchOptions& options, std::size_t answer);

/// --pairs.
Result<int> study_patches(const QuestionCommand& command, const PatchOptions& options);

}  // namespace headlight
