#include "diagnose/mistakes.h"

namespace headlight::mistakes {

namespace {

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

}  // namespace

bool has_mask(const Known& known) { return !allowed_by(known.mask).all(); }

Maybe mask_inverted(const Known& known, const Heads& found) {
  if (!has_mask(known)) return kUnknown;
  return masked_by(known, found, !allowed_by(known.mask));
}

Maybe mask_transposed(const Known& known, const Heads& found) {
  if (known.queries() != known.keys()) return kUnknown;
  if (!known.dot.empty() && !has_mask(known))  // a bias for pairs of places
    return known.mask.isZero(0) ? Maybe() : Prediction{attend(known.dot, known.scale, known.mask.transpose())};
  return masked_by(known, found, allowed_by(known.mask).transpose());
}

Maybe mask_missing(const Known& known, const Heads& found) {
  if (!known.dot.empty() && !has_mask(known))
    return known.mask.isZero(0) ? Maybe()
                                : Prediction{attend(known.dot, known.scale, Grid::Zero(known.queries(), known.keys()))};
  return masked_by(known, found, Allowed::Constant(known.queries(), known.keys(), true));
}

Maybe one_mask_missing(const Known& known, const Heads& found, bool padding) {
  const MaskParts parts = parts_of(known.mask);
  if (!parts.has_causal || !parts.has_padding) return kUnknown;
  return masked_by(known, found, padding ? parts.causal : parts.padding);
}

/// Every query's last key moved by one.
Maybe mask_off_by_one(const Known& known, const Heads& found, Index by) {
  if (!has_mask(known)) return kUnknown;
  const Allowed before = allowed_by(known.mask);
  Allowed shifted(known.queries(), known.keys());
  for (Index i = 0; i < shifted.rows(); ++i) {
    for (Index j = 0; j < shifted.cols(); ++j) {
      const Index from = j - by;
      shifted(i, j) = from < 0 || (from < known.keys() && before(i, from));
    }
  }
  auto prediction = masked_by(known, found, shifted);
  if (prediction)
    prediction->text = parts_of(known.mask).has_causal
                           ? by < 0 ? "causal mask off by one: the diagonal is blocked"
                                    : "causal mask off by one: each query attends to the next token"
                       : by < 0 ? "mask off by one: one key too few"
                                : "mask off by one: one key too many";
  return prediction;
}

Maybe diagonal_blocked(const Known& known, const Heads& found) {
  if (known.queries() != known.keys() || parts_of(known.mask).has_causal) return kUnknown;
  Allowed allowed = allowed_by(known.mask);
  allowed.matrix().diagonal().setConstant(false);
  return masked_by(known, found, allowed);
}

Maybe mask_after_softmax(const Known& known, const Heads& found) {
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

Maybe empty_rows_even(const Known& known) {
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

Maybe blocked_scores_zero(const Known& known, const Heads& found) {
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

}  // namespace headlight::mistakes
