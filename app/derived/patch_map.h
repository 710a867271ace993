// Activation patching: how much of answer A is restored when a part of it is put into B; a map, filled row by row.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "derived/layer_lens.h"
#include "derived/weak_ref.h"
#include "explain/patch/patching.h"
#include "heads/pattern_difference.h"

namespace headlight {

/// What is patched, a cell of the map each: z of each head, all tokens at once; the residual stream after each layer,
/// at each token; z of each head of one layer, at each token.
enum class PatchForm { heads, residual, tokens };
inline constexpr std::string_view kPatchForms[] = {"heads", "residual", "tokens"};

/// By what A and B are compared; what is left out is found (explain/patch_metric.h).
struct PatchMeasure {
  std::optional<Metric> metric = {};
  LensWords words = {};             // the right one, and the wrong one
  std::optional<Index> query = {};  // of B: whose word; an encoder hides it in both sentences

  friend bool operator==(const PatchMeasure&, const PatchMeasure&) = default;
};

/// How the map is made.
struct PatchChoice {
  PatchForm form = PatchForm::heads;
  HeadRef head = {};                        // its stack; of PatchForm::tokens its layer
  std::optional<Alignment> alignment = {};  // nothing: patch_alignment
  PatchMeasure measure = {};

  friend bool operator==(const PatchChoice&, const PatchChoice&) = default;
};
/// Keeps only the parts of the chosen head that the form depends on.
inline PatchChoice patch_choice(PatchForm form, const HeadRef& chosen, const std::optional<Alignment>& alignment,
                                PatchMeasure measure = {}) {
  return {form, {form == PatchForm::tokens ? chosen.layer : 0, 0, chosen.stack}, alignment, std::move(measure)};
}

struct PatchQuestion {
  WeakRef<Trace> a, b;
  PatchChoice choice = {};
  Index known = 0;  // rows that the last answer has

  friend bool operator==(const PatchQuestion&, const PatchQuestion&) = default;
};

/// The first `known` rows; cells of the others are NaN.
struct PatchMap {
  WeakRef<Trace> a, b;
  PatchChoice choice = {};
  Index known = 0;
  Alignment alignment = Alignment::words;
  Metric metric = Metric::logit_difference;
  std::string right = {}, wrong = {};                         // the words of the metric
  std::string token = {};                                     // that of PatchMeasure::query
  std::shared_ptr<const Trace> hidden_a = {}, hidden_b = {};  // the answers that are compared where a word was hidden
  double in_a = 0, in_b = 0;                                  // of the metric
  Matrix restored;                 // (rows, columns): (m − B) / (A − B) on the metric's scale, 0 nothing, 1 all
  std::vector<Index> tokens = {};  // of B, the columns of PatchForm::residual and ::tokens
  Index unaligned = 0;             // tokens of B that have none of A beside them, and keep their own
  double seconds = 0;              // of computing the known rows

  Index rows() const { return restored.rows(); }
  bool is_whole() const { return known == rows(); }
  /// Whether it is the beginning of the answer to these.
  bool is_of(const WeakRef<Trace>& of_a, const WeakRef<Trace>& of_b, const PatchChoice& wanted) const {
    return a == of_a && b == of_b && choice == wanted;
  }
  /// The head that shows a cell: its head, for the residual stream the first of the layer.
  HeadRef head_of(const CellRef& cell) const;
};

/// How the tokens of two sentences belong together in a patch: as `asked`, else by position where there are as many of
/// both, else by their words.
Alignment patch_alignment(std::size_t a, std::size_t b, const std::optional<Alignment>& asked);

/// Those of the queries of a stack that both answers have.
TokenPairs patch_pairs(const Trace& a, const Trace& b, Stack stack, const std::optional<Alignment>& asked);

/// The tokens of A and B that belong together, at most kMostAligned each where words are aligned.
TokenPairs aligned_pairs(const std::vector<Token>& a, const std::vector<Token>& b, Alignment alignment);

/// The names of the rows and columns: `L3`, `H2`, `L3·H2`, tokens of B.
std::vector<Token> patch_rows(const PatchMap& map);
std::vector<Token> patch_columns(const PatchMap& map, const Trace& b);

/// Adds rows to what is known, for about a tenth of a second and at least one. Errors: those of patch_answers; no token
/// is in both. Null when stopped, or an answer is gone.
Result<std::shared_ptr<const PatchMap>> extend_patch_map(const PatchQuestion& question, const PatchMap* known,
                                                         Progress& progress);
/// All rows. The same Errors, and one when stopped.
Result<PatchMap> patch_map(const Trace& a, const Trace& b, const PatchChoice& choice, Progress& progress,
                           int threads = 0);

}  // namespace headlight
