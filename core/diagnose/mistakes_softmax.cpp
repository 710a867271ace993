#include <algorithm>
#include <cmath>

#include "diagnose/hypotheses.h"

namespace headlight {

namespace {

using namespace mistakes;

/// Scores multiplied by factor, which leaves blocked cells blocked.
Maybe rescaled_by(const Known& known, double factor) {
  if (!known.dot.empty()) return Prediction{attend(known.dot, known.scale * factor, known.mask)};
  Prediction prediction;
  for (const Grid& logits : known.logits)
    prediction.values.push_back(reference::softmax(
        logits.unaryExpr([factor](double logit) { return std::isfinite(logit) ? logit * factor : logit; })));
  return prediction;
}

/// Scores multiplied by the factor that fits best.
Maybe rescaled_by_any(const Known& known, const Heads& found) {
  if (!same_shape(known.logits, found)) return kUnknown;
  constexpr double kTooSmall = 1e-20;
  // The slope of log(found) over the known logits, both less their row's mean.
  double both = 0, squares = 0;
  for (std::size_t head = 0; head < found.size(); ++head) {
    for (Index i = 0; i < known.queries(); ++i) {
      double count = 0, mean_known = 0, mean_found = 0;
      const auto usable = [&](Index j) {
        return std::isfinite(known.logits[head](i, j)) && found[head](i, j) > kTooSmall;
      };
      for (Index j = 0; j < known.keys(); ++j)
        if (usable(j)) ++count, mean_known += known.logits[head](i, j), mean_found += std::log(found[head](i, j));
      for (Index j = 0; j < known.keys(); ++j) {
        if (!usable(j)) continue;
        const double apart = known.logits[head](i, j) - mean_known / count;
        squares += apart * apart;
        both += apart * (std::log(found[head](i, j)) - mean_found / count);
      }
    }
  }
  if (!(squares > 0)) return kUnknown;
  const double factor = both / squares;
  Maybe prediction = rescaled_by(known, factor);
  prediction->fitted = 1;
  prediction->text = words(scale_constant, decimal(factor));
  if (known.d_k > 0) {
    prediction->text +=
        ": scale " + decimal(factor / std::sqrt(static_cast<double>(known.d_k))) + " in place of 1/sqrt(d_k)";
  } else if (const double d_k = factor * factor; factor > 1.01 && std::abs(d_k - std::round(d_k)) < 1e-2) {
    prediction->text += " (d_k is not in the files: if it is " + decimal(std::round(d_k)) +
                        ", they are not divided by sqrt(d_k); if " + decimal(factor) +
                        ", multiplied by sqrt(d_k) instead)";
  }
  return prediction;
}

Grid full_logits(const Known& known, std::size_t head) { return known.dot[head] * known.scale + known.mask; }

Maybe softmax_over_queries(const Known& known, const Heads& found) {
  const bool direct = !known.dot.empty();
  if (!direct && !same_shape(known.logits, found)) return kUnknown;
  Prediction prediction{{}, direct ? 0 : count_rows(found)};
  for (std::size_t head = 0; head < known.logits.size(); ++head)
    prediction.values.push_back(direct ? Grid(reference::softmax(full_logits(known, head).transpose()).transpose())
                                       : softmax_rows_up_to_offsets(known.logits[head], found[head]));
  return prediction;
}

Maybe softmax_over_heads(const Known& known, const Heads& found) {
  const bool direct = !known.dot.empty();
  if (!direct && !same_shape(known.logits, found)) return kUnknown;
  Prediction prediction{known.weights, direct ? 0 : count_rows(found)};
  const auto heads = static_cast<Index>(known.weights.size());
  Heads full;
  for (std::size_t head = 0; direct && head < known.dot.size(); ++head) full.push_back(full_logits(known, head));
  for (Index i = 0; i < known.queries(); ++i) {
    Grid logits(heads, known.keys()), of_found(heads, known.keys());
    for (Index head = 0; head < heads; ++head) {
      const auto h = static_cast<std::size_t>(head);
      logits.row(head) = (direct ? full[h] : known.logits[h]).row(i);
      if (!direct) of_found.row(head) = found[h].row(i);
    }
    const Grid weights = direct ? Grid(reference::softmax(logits.transpose()).transpose())
                                : softmax_rows_up_to_offsets(logits, of_found);
    for (Index head = 0; head < heads; ++head) {
      auto row = prediction.values[static_cast<std::size_t>(head)].row(i);
      row = weights.row(head);
      // Where every head is blocked there is nothing to divide by, and implementations differ.
      for (Index j = 0; j < known.keys(); ++j)
        if ((logits.col(j).array() == -std::numeric_limits<double>::infinity()).all()) row(j) = kFree;
    }
  }
  return prediction;
}

Maybe no_softmax(const Known& known, const Heads& found) {
  if (!same_shape(known.logits, found)) return kUnknown;
  Prediction prediction{{}, count_rows(found)};
  // Both differ from the scores by a number for each row; of a log-softmax the exponentials sum to 1.
  double off = 0;
  for (const Grid& head : found) off = std::max(off, (head.array().exp().rowwise().sum() - 1).abs().maxCoeff());
  if (off < 1e-3)
    prediction.text = words(softmax_replaced, "log_softmax") + ": these are the logarithms of the weights";
  for (std::size_t head = 0; head < found.size(); ++head) {
    Grid scores = known.logits[head];
    for (Index i = 0; i < scores.rows(); ++i) {
      double sum = 0, count = 0;
      for (Index j = 0; j < scores.cols(); ++j)
        if (std::isfinite(scores(i, j)) && std::isfinite(found[head](i, j)))
          sum += found[head](i, j) - scores(i, j), ++count;
      for (Index j = 0; j < scores.cols(); ++j)
        scores(i, j) = std::isfinite(scores(i, j)) && count > 0 ? scores(i, j) + sum / count : kFree;
    }
    prediction.values.push_back(std::move(scores));
  }
  return prediction;
}

/// Weights × {0, 1 / (1 − p)}.
Maybe dropout(const Known& known, const Heads& found) {
  if (!same_shape(known.weights, found)) return kUnknown;
  double sum_found = 0, sum_known = 0;
  Index zeros = 0;
  for (std::size_t head = 0; head < found.size(); ++head) {
    for (Index i = 0; i < found[head].size(); ++i) {
      const double weight = known.weights[head].data()[i];
      if (!(weight > 0)) continue;
      if (found[head].data()[i] == 0) ++zeros;
      else sum_found += found[head].data()[i], sum_known += weight;
    }
  }
  const double factor = sum_found / sum_known;
  constexpr double kRounding = 1e-5;
  if (zeros == 0 || !(factor > 1 - kRounding)) return kUnknown;
  const bool rescaled = factor > 1 + kRounding;
  Prediction prediction{{},
                        1 + zeros,
                        words(dropout_left_on, rescaled ? " (p = " + decimal(1 - 1 / factor) + ")"
                                                        : ", and the weights that are left not divided by 1 − p")};
  for (std::size_t head = 0; head < found.size(); ++head)
    prediction.values.push_back((found[head].array() != 0).select(known.weights[head].array() * factor, 0.0).matrix());
  return prediction;
}

/// The mean of all heads, as one pattern or as that of every head.
Maybe heads_averaged(const Known& known, const Heads& found) {
  const bool one_map = found.size() == 1;
  if ((!one_map && found.size() != known.weights.size()) || known.weights.size() < 2) return kUnknown;
  Grid mean = Grid::Zero(known.queries(), known.keys());
  for (const Grid& weights : known.weights) mean += weights / static_cast<double>(known.weights.size());
  return Prediction{Heads(found.size(), mean)};
}

}  // namespace

std::array<std::pair<MistakeCode, double>, kScales> scale_factors(double d_k, double heads) {
  return {{{scale_missing, std::pow(d_k, 0.5)},
           {scale_inverted, d_k},
           {scale_by_d_k, std::pow(d_k, -0.5)},
           {scale_by_d_model, 1 / std::sqrt(heads)}}};
}

void add_scale_and_softmax(HypothesisTable& table) {
  for (std::size_t row = 0; row < kScales; ++row)
    table.add(scale_factors(4, 4)[row].first, kWeights, [row](const Known& known) -> Maybe {
      const Index needed = row + 1 < kScales ? known.d_k : known.num_heads;
      if (needed < 2) return kUnknown;
      const auto d_k = static_cast<double>(known.d_k), heads = static_cast<double>(known.num_heads);
      return rescaled_by(known, scale_factors(d_k, heads)[row].second);
    });
  table.add(softmax_axis, kWeights, softmax_over_queries, "", words(softmax_axis, "the queries"));
  table.add(softmax_axis, kWeights, softmax_over_heads, "", words(softmax_axis, "the heads"));
  table.add(dropout_left_on, kWeights, dropout);
  table.add(weights_averaged, kWeights, heads_averaged);
}

void add_general_ones(HypothesisTable& table) {
  table.add(softmax_missing, kWeights, no_softmax);
  table.add(scale_constant, kWeights, rescaled_by_any);
  table.rows.back().last_resort = true;
}

std::string words(const MistakeCode& code, std::string_view detail) {
  std::string text(code.words);
  if (const std::size_t gap = text.find("{}"); gap != std::string::npos) text.replace(gap, 2, detail);
  return text;
}

const std::vector<Hypothesis>& hypotheses() {
  static const HypothesisTable table = [] {
    HypothesisTable rows;
    add_scale_and_softmax(rows);
    add_masks(rows);
    add_heads_and_projections(rows);
    add_general_ones(rows);
    return rows;
  }();
  return table.rows;
}

}  // namespace headlight
