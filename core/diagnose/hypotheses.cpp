#include "diagnose/hypotheses.h"

#include <cmath>
#include <utility>

namespace headlight {
namespace {

using namespace mistakes;

/// A mistake that is computed from what is known alone.
template <class Function>
auto from_known(Function function) {
  return [function](const Known& known, const Heads&) -> Maybe { return function(known); };
}

void add_scale(std::vector<Hypothesis>& table) {
  const auto power = [](double of_d_k) {
    return from_known([of_d_k](const Known& known) { return rescaled_by_power_of_d_k(known, of_d_k); });
  };
  table.push_back({PredictedArray::attentions, "scores not divided by sqrt(d_k)", power(0.5)});
  table.push_back({PredictedArray::attentions, "scores multiplied by sqrt(d_k)", power(1)});
  table.push_back({PredictedArray::attentions, "scores divided by d_k, not by its root", power(-0.5)});
  table.push_back({PredictedArray::attentions, "scores divided by sqrt(d_model), not by sqrt(d_k)",
                   from_known([](const Known& known) -> Maybe {
                     if (known.num_heads < 2) return kUnknown;
                     return rescaled_by(known, 1 / std::sqrt(static_cast<double>(known.num_heads)));
                   })});
}

void add_softmax(std::vector<Hypothesis>& table) {
  table.push_back({PredictedArray::attentions, "softmax over the wrong axis: over the queries", softmax_over_queries});
  table.push_back({PredictedArray::attentions, "softmax over the wrong axis: over the heads", softmax_over_heads});
  table.push_back({PredictedArray::attentions, "dropout left on", dropout});
  table.push_back({PredictedArray::attentions, "weights averaged over the heads", heads_averaged});
}

void add_mask(std::vector<Hypothesis>& table) {
  const auto shifted = [](Index by) {
    return [by](const Known& known, const Heads& found) { return mask_off_by_one(known, found, by); };
  };
  const auto one_of_two = [](bool padding) {
    return [padding](const Known& known, const Heads& found) { return one_mask_missing(known, found, padding); };
  };
  table.push_back({PredictedArray::attentions, "mask inverted", mask_inverted});
  table.push_back({PredictedArray::attentions, "mask transposed", mask_transposed});
  table.push_back(
      {PredictedArray::attentions, "mask applied after the softmax, rows not renormalised", mask_after_softmax});
  table.push_back({PredictedArray::attentions, "mask off by one", shifted(-1)});
  table.push_back({PredictedArray::attentions, "mask off by one", shifted(1)});
  table.push_back({PredictedArray::attentions, "diagonal blocked: no token attends to itself", diagonal_blocked});
  table.push_back({PredictedArray::attentions, "padding mask missing", one_of_two(true)});
  table.push_back({PredictedArray::attentions, "causal mask missing", one_of_two(false)});
  table.push_back({PredictedArray::attentions,
                   "rows that may attend to nothing have equal weights: a large number masks in place of -inf",
                   from_known(empty_rows_even)});
  table.push_back({PredictedArray::attentions, "blocked scores are 0 in place of -inf", blocked_scores_zero});
  table.push_back({PredictedArray::attentions, "mask missing", mask_missing});
}

/// "query and key projections not transposed (x·W in place of x·Wᵀ)".
std::string slip_text(const std::string& which, Slip slip) {
  if (slip == Slip::bias_left_out) return "bias of the " + which + " projection left out";
  if (slip == Slip::left_out) return which + " projection missing";
  return which + " projection not transposed (x·W in place of x·Wᵀ)";
}

void add_heads(std::vector<Hypothesis>& table) {
  const auto split = [](HeadSplit how) {
    return from_known([how](const Known& known) { return heads_split(known, how); });
  };
  table.push_back({PredictedArray::attentions, "heads in another order", heads_permuted});
  table.push_back({PredictedArray::attentions,
                   "heads split in the wrong order: every H-th column in place of d_k neighbours",
                   split(HeadSplit::interleaved)});
  table.push_back({PredictedArray::attentions, "heads split without transposing: (T, H, d_k) read on as (H, T, d_k)",
                   split(HeadSplit::reshaped)});
  table.push_back({PredictedArray::attentions, "query and key swapped", query_and_key_swapped});
  for (const Slip slip : {Slip::transposed, Slip::bias_left_out, Slip::left_out}) {
    const auto slipped = [](Slip of_query, Slip of_key) {
      return from_known([=](const Known& known) { return projected_with(known, of_query, of_key); });
    };
    table.push_back({PredictedArray::attentions, slip_text("query", slip), slipped(slip, Slip::none)});
    table.push_back({PredictedArray::attentions, slip_text("key", slip), slipped(Slip::none, slip)});
    table.push_back({PredictedArray::attentions, slip_text("query and key", slip), slipped(slip, slip)});
  }
}

void add_projections(std::vector<Hypothesis>& table) {
  for (const auto& [subject, side] :
       {std::pair{PredictedArray::queries, kQuery}, {PredictedArray::keys, kKey}, {PredictedArray::values, kValue}}) {
    const std::string name = side.name;
    for (const Slip slip : {Slip::transposed, Slip::bias_left_out, Slip::left_out})
      table.push_back({subject, slip_text(name, slip),
                       from_known([side = side, slip](const Known& known) { return side_with(known, side, slip); })});
    for (const auto& [how, text] : {std::pair{HeadSplit::interleaved, "every H-th column in place of d_k neighbours"},
                                    {HeadSplit::reshaped, "(T, H, d_k) read on as (H, T, d_k)"}})
      table.push_back(
          {subject, name + " heads split in the wrong order: " + text,
           from_known([side = side, how = how](const Known& known) { return side_split(known, side, how); })});
  }
  table.push_back({PredictedArray::queries, "query already divided by sqrt(d_k)", from_known(query_scaled)});
}

void add_output(std::vector<Hypothesis>& table) {
  for (const Slip slip : {Slip::transposed, Slip::bias_left_out, Slip::left_out}) {
    table.push_back({PredictedArray::output, slip_text("output", slip),
                     from_known([slip](const Known& known) { return output_with(known, slip); })});
    table.push_back({PredictedArray::output, slip_text("value", slip), from_known([slip](const Known& known) {
                       return output_with_values(known, side_with(known, kValue, slip));
                     })});
  }
  for (const auto& [how, text] :
       {std::pair{HeadSplit::interleaved, "value heads split in the wrong order: every H-th column"},
        {HeadSplit::reshaped, "value heads split without transposing: (T, H, d_k) read on as (H, T, d_k)"}})
    table.push_back({PredictedArray::output, text, from_known([how = how](const Known& known) {
                       return output_with_values(known, side_split(known, kValue, how));
                     })});
  table.push_back({PredictedArray::output, "heads not transposed back before they are put side by side",
                   from_known(heads_not_brought_together)});
  table.push_back(
      {PredictedArray::output, "weights transposed before they meet the values", from_known(weights_transposed)});
}

}  // namespace

std::vector<Hypothesis> hypotheses() {
  std::vector<Hypothesis> table;
  add_scale(table);
  add_softmax(table);
  add_mask(table);
  add_heads(table);
  add_projections(table);
  add_output(table);
  table.push_back({PredictedArray::attentions, "softmax missing: these are the scores", softmax_missing});
  table.push_back({PredictedArray::attentions, "scores multiplied by a constant", rescaled_by_any, true});
  return table;
}

}  // namespace headlight
