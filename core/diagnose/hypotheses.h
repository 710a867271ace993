// The usual mistakes as a table, a row each. A row computes what an implementation with that mistake would hold;
// whether it does is decided by comparing (diagnose/diagnosis.h). A new mistake is a new row, and its code.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/formatted.h"
#include "diagnose/mistake.h"
#include "diagnose/variants.h"

namespace headlight {

/// The arrays that an implementation with a mistake would give.
struct Prediction {
  Heads values;           // one a head; of output a single one. NaN where the mistake leaves the cell open
  Index fitted = 0;       // how many numbers were taken from what was found
  std::string text = {};  // replaces the text of the hypothesis where it contains a number
};

/// Nothing where too little is known, or where the mistake cannot be made.
using Maybe = std::optional<Prediction>;
inline constexpr std::nullopt_t kUnknown = std::nullopt;

/// The array of one layer that a hypothesis predicts.
enum class PredictedArray { attentions, queries, keys, values, output };

struct Hypothesis {
  MistakeCode code;
  PredictedArray subject = PredictedArray::attentions;
  /// `found` is the suspected layer, empty where that file does not have it; a mistake may take numbers from it that
  /// the believed file does not contain.
  std::function<Maybe(const Known& known, const Heads& found)> predict;
  std::string role = {};     // the projection that it is about: query, key, value, output, "query and key"
  std::string text = {};     // in place of the words of the code
  bool last_resort = false;  // explains so much that everything else is asked first
};

/// From the particular to the general: of two that explain equally well the earlier is meant.
const std::vector<Hypothesis>& hypotheses();

/// The table while it is filled.
struct HypothesisTable {
  std::vector<Hypothesis> rows = {};

  /// `predict` may take what is known alone.
  template <class Function>
  void add(const MistakeCode& code, PredictedArray subject, Function predict, std::string role = {},
           std::string text = {}) {
    rows.push_back({.code = code, .subject = subject, .predict = {}, .role = std::move(role), .text = std::move(text)});
    if constexpr (std::is_invocable_v<Function, const Known&, const Heads&>) rows.back().predict = predict;
    else rows.back().predict = [predict](const Known& known, const Heads&) -> Maybe { return predict(known); };
  }
};
inline constexpr PredictedArray kWeights = PredictedArray::attentions, kOutput = PredictedArray::output;

/// The rows of each kind of mistake.
void add_scale_and_softmax(HypothesisTable& table);
void add_masks(HypothesisTable& table);
void add_heads_and_projections(HypothesisTable& table);
void add_general_ones(HypothesisTable& table);

/// By what each mistake in the scale multiplies the scores; the last one needs the number of heads.
inline constexpr std::size_t kScales = 4;
std::array<std::pair<MistakeCode, double>, kScales> scale_factors(double d_k, double heads);

/// The output that these weights lead to.
Maybe output_with_weights(const Known& known, const Heads& weights);

/// Whether some cell is blocked.
inline bool has_mask(const Known& known) { return !allowed_by(known.mask).all(); }

inline std::string decimal(double value) { return formatted("%.4g", value); }

inline Index count_rows(const Heads& heads) {
  return heads.empty() ? 0 : static_cast<Index>(heads.size()) * heads[0].rows();
}

inline bool same_shape(const Heads& a, const Heads& b) {
  return a.size() == b.size() && !a.empty() && a[0].rows() == b[0].rows() && a[0].cols() == b[0].cols();
}

}  // namespace headlight
