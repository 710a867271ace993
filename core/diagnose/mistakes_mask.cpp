// The mask. Without scores the weights that the believed mask hides are open, and the others keep their proportions.
#include "diagnose/hypotheses.h"

namespace headlight {

namespace {

using namespace mistakes;

/// The usual results for a row that may attend to nothing: NaN, zeros, or, where a mask is a large number, equal
/// weights.
bool is_of_blocked_row(const Grid& row) {
  const double equal = 1 / static_cast<double>(row.cols());
  return row.array().isNaN().all() || row.isZero(0) || ((row.array() - equal).abs() < 1e-6).all();
}

/// Weights under another mask. Without scores the weights that the believed mask hides are
/// open, and the others keep their proportions.
Maybe masked_by(const Known& known, const Heads& found, const Allowed& allowed) {
  const Allowed before = allowed_by(known.mask);
  if ((allowed == before).all()) return kUnknown;
  Prediction prediction;
  if (!known.dot.empty()) {
    prediction.values = attend(known.dot, known.scale, mask_of(allowed));
  } else {
    if (!same_shape(known.weights, found)) return kUnknown;
    Index shown = 0, seen = 0;  // cells that only the other mask shows, and those of them that have a weight
    for (std::size_t head = 0; head < found.size(); ++head) {
      Grid weights = Grid::Zero(known.queries(), known.keys());
      for (Index i = 0; i < known.queries(); ++i) {
        double old_mass = 0, mass = 0;
        for (Index j = 0; j < known.keys(); ++j)
          if (allowed(i, j) && before(i, j)) old_mass += known.weights[head](i, j), mass += found[head](i, j);
        for (Index j = 0; j < known.keys(); ++j) {
          if (!allowed(i, j)) continue;
          if (before(i, j)) weights(i, j) = old_mass > 0 ? known.weights[head](i, j) * mass / old_mass : 0.0;
          else weights(i, j) = kFree, ++shown, seen += found[head](i, j) > 0 ? 1 : 0;
        }
      }
      prediction.values.push_back(std::move(weights));
    }
    if (seen * 2 < shown) return kUnknown;
    prediction.fitted = count_rows(found);
  }
  for (std::size_t head = 0; head < prediction.values.size(); ++head) {
    for (Index i = 0; i < known.queries(); ++i) {
      if (allowed.row(i).any()) continue;
      if (same_shape(prediction.values, found) && !is_of_blocked_row(found[head].row(i))) return kUnknown;
      prediction.values[head].row(i).setConstant(kFree);
    }
  }
  return prediction;
}

/// Key columns that no query may attend to, and whether the rest of the mask is causal.
struct MaskParts {
  Allowed padding, causal;  // each as a pattern of its own
  bool has_padding = false, has_causal = false;
};

MaskParts parts_of(const Grid& mask) {
  const Allowed allowed = allowed_by(mask);
  const Index queries = mask.rows(), keys = mask.cols();
  MaskParts parts{Allowed::Constant(queries, keys, true), Allowed::Constant(queries, keys, true)};
  bool causal = queries == keys && queries > 1;
  for (Index j = 0; j < keys; ++j) {
    if (!allowed.col(j).any()) {
      parts.padding.col(j).setConstant(false);
      parts.has_padding = true;
    } else {
      for (Index i = 0; i < queries; ++i) causal = causal && allowed(i, j) == (j <= i);
    }
  }
  parts.has_causal = causal;
  for (Index i = 0; causal && i < queries; ++i)
    for (Index j = i + 1; j < keys; ++j) parts.causal(i, j) = false;
  return parts;
}

/// A mask without a blocked cell is a bias for pairs of positions; the one in its place is `bias`.
Maybe biased_by(const Known& known, const Grid& bias) {
  if (known.mask.isZero(0)) return kUnknown;
  return Prediction{attend(known.dot, known.scale, bias)};
}

Maybe inverted(const Known& known, const Heads& found) {
  if (!has_mask(known)) return kUnknown;
  return masked_by(known, found, !allowed_by(known.mask));
}

Maybe transposed(const Known& known, const Heads& found) {
  if (known.queries() != known.keys()) return kUnknown;
  if (!known.dot.empty() && !has_mask(known)) return biased_by(known, known.mask.transpose());
  return masked_by(known, found, allowed_by(known.mask).transpose());
}

Maybe missing(const Known& known, const Heads& found) {
  if (!known.dot.empty() && !has_mask(known)) return biased_by(known, Grid::Zero(known.queries(), known.keys()));
  return masked_by(known, found, Allowed::Constant(known.queries(), known.keys(), true));
}

/// Of a mask that is causal and hides padding, one of the two.
Maybe one_missing(const Known& known, const Heads& found, bool padding) {
  const MaskParts parts = parts_of(known.mask);
  if (!parts.has_causal || !parts.has_padding) return kUnknown;
  return masked_by(known, found, padding ? parts.causal : parts.padding);
}

/// Every query's last key moved by one, up or down.
Maybe off_by_one(const Known& known, const Heads& found, Index by) {
  if (!has_mask(known)) return kUnknown;
  auto prediction = masked_by(known, found, shifted(allowed_by(known.mask), by));
  if (prediction) prediction->text = off_by_one_words(parts_of(known.mask).has_causal, by);
  return prediction;
}

/// No token attends to itself, under a mask that is not causal.
Maybe without_diagonal(const Known& known, const Heads& found) {
  if (known.queries() != known.keys() || parts_of(known.mask).has_causal) return kUnknown;
  Allowed allowed = allowed_by(known.mask);
  allowed.matrix().diagonal().setConstant(false);
  return masked_by(known, found, allowed);
}

/// softmax without the mask, times the mask.
Maybe after_softmax(const Known& known, const Heads& found) {
  if (!has_mask(known)) return kUnknown;
  const Grid shown = allowed_by(known.mask).cast<double>().matrix();
  Prediction prediction;
  if (!known.dot.empty()) {
    prediction.values = attend(known.dot, known.scale, Grid::Zero(known.queries(), known.keys()));
    for (Grid& weights : prediction.values) weights = weights.cwiseProduct(shown);
    return prediction;
  }
  if (!same_shape(known.weights, found)) return kUnknown;
  for (std::size_t head = 0; head < found.size(); ++head) {
    const Eigen::VectorXd left = found[head].rowwise().sum();
    if ((left.array() > 1 + 1e-4).any()) return kUnknown;
    prediction.values.push_back(left.asDiagonal() * known.weights[head]);
  }
  prediction.fitted = count_rows(found);
  return prediction;
}

/// A large number masks in place of −inf, which shows where a row may attend to nothing: its weights are equal.
Maybe even_rows(const Known& known) {
  const Allowed allowed = allowed_by(known.mask);
  Prediction prediction{known.dot.empty() ? known.weights : attend(known.dot, known.scale, known.mask)};
  bool any = false;
  for (Index i = 0; i < known.queries(); ++i) {
    if (allowed.row(i).any()) continue;
    any = true;
    for (Grid& weights : prediction.values) weights.row(i).setConstant(1 / static_cast<double>(known.keys()));
  }
  return any ? Maybe(std::move(prediction)) : kUnknown;
}

/// Blocked scores are 0 in place of −inf.
Maybe blocked_zero(const Known& known, const Heads& found) {
  if (!has_mask(known)) return kUnknown;
  const Allowed allowed = allowed_by(known.mask);
  Prediction prediction;
  if (!known.dot.empty()) {
    for (Grid scores : known.dot)
      prediction.values.push_back(reference::softmax(allowed.select(scores.array() * known.scale, 0.0).matrix()));
    return prediction;
  }
  if (!same_shape(known.weights, found)) return kUnknown;
  bool telling = false;  // one blocked cell in a row may hold anything
  for (std::size_t head = 0; head < found.size(); ++head) {
    Grid weights = known.weights[head];
    for (Index i = 0; i < weights.rows(); ++i) {
      double mass = 0, blocked = 0, hidden = 0;
      for (Index j = 0; j < weights.cols(); ++j)
        if (allowed(i, j)) mass += found[head](i, j);
        else ++blocked, hidden += found[head](i, j);
      telling = telling || (blocked > 1 && blocked < static_cast<double>(weights.cols()) && hidden > 0);
      for (Index j = 0; j < weights.cols(); ++j)
        weights(i, j) = allowed(i, j) ? weights(i, j) * mass : hidden / blocked;
    }
    prediction.values.push_back(std::move(weights));
  }
  prediction.fitted = 2 * count_rows(found);
  return telling ? Maybe(prediction) : Maybe();
}

}  // namespace

Allowed shifted(const Allowed& allowed, Index by) {
  Allowed result(allowed.rows(), allowed.cols());
  for (Index i = 0; i < result.rows(); ++i)
    for (Index j = 0; j < result.cols(); ++j) {
      const Index from = j - by;
      result(i, j) = from < 0 || (from < allowed.cols() && allowed(i, from));
    }
  return result;
}

std::string off_by_one_words(bool causal, Index by) {
  if (causal)
    return "causal " +
           words(mask_off_by_one, by < 0 ? "the diagonal is blocked" : "each query attends to the next token");
  return words(mask_off_by_one, by < 0 ? "one key too few" : "one key too many");
}

void add_masks(HypothesisTable& table) {
  table.add(mask_inverted, kWeights, inverted);
  table.add(mask_transposed, kWeights, transposed);
  table.add(mask_after_softmax, kWeights, after_softmax);
  for (const Index by : {-1, 1})
    table.add(mask_off_by_one, kWeights,
              [by](const Known& known, const Heads& found) { return off_by_one(known, found, by); });
  table.add(diagonal_blocked, kWeights, without_diagonal);
  for (const bool padding : {true, false})
    table.add(padding ? padding_mask_missing : causal_mask_missing, kWeights,
              [padding](const Known& known, const Heads& found) { return one_missing(known, found, padding); });
  table.add(empty_rows_even, kWeights, even_rows);
  table.add(blocked_scores_weak, kWeights, blocked_zero, "", words(blocked_scores_weak, "0"));
  table.add(mask_missing, kWeights, missing);
}

}  // namespace headlight
