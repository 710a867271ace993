#include "derived/head_stats.h"

namespace headlight {

std::vector<HeadOrder> head_orders() {
  std::vector<HeadOrder> orders{{}};
  for (const Measure measure : kMeasures) orders.push_back({HeadOrder::By::measure, measure});
  orders.push_back({HeadOrder::By::effect});
  orders.push_back({HeadOrder::By::found});
  return orders;
}

std::string_view name(const HeadOrder& order) {
  switch (order.by) {
    case HeadOrder::By::measure: return name(order.measure);
    case HeadOrder::By::effect: return "effect";
    case HeadOrder::By::found: return "found";
    case HeadOrder::By::layer: break;
  }
  return "layer";
}

std::optional<HeadOrder> parse_head_order(std::string_view wanted) {
  for (const HeadOrder& order : head_orders())
    if (name(order) == wanted) return order;
  return std::nullopt;
}

bool has_pixel_of_each_cell(const Trace& trace, const HeadRef& head) {
  const Matrix& thumbnail = trace.head(head).thumbnail;
  return thumbnail.rows() == trace.queries(head.stack) && thumbnail.cols() == trace.keys(head.stack);
}

CellRef brightest_of_last_row(const Trace& trace, const HeadRef& head) {
  const auto& tokens = trace.query_tokens(head.stack).tokens;
  Index query = trace.queries(head.stack) - 1;
  while (query > 0 && tokens[static_cast<std::size_t>(query)].pad) --query;
  Index key = 0;
  if (has_pixel_of_each_cell(trace, head)) trace.head(head).thumbnail.row(query).maxCoeff(&key);
  return {query, key};
}

CellRef strongest_cell(const Trace& trace, const HeadRef& head, const FoldedStack* folded) {
  if (!folded && !has_pixel_of_each_cell(trace, head)) return brightest_of_last_row(trace, head);
  const Matrix& weights = folded ? folded->map(head) : trace.head(head).thumbnail;
  const auto& queries = folded ? folded->fold.queries.tokens : trace.query_tokens(head.stack).tokens;
  const auto& keys = folded ? folded->fold.keys.tokens : trace.key_tokens(head.stack).tokens;
  const auto is_typed = [](const Token& token) { return !token.special && !token.pad; };
  CellRef best;
  float most = 0;
  for (Index query = 0; query < weights.rows(); ++query) {
    if (!is_typed(queries[static_cast<std::size_t>(query)])) continue;
    for (Index key = 0; key < weights.cols(); ++key)
      if (is_typed(keys[static_cast<std::size_t>(key)]) && weights(query, key) > most) {
        most = weights(query, key);
        best = {query, key};
      }
  }
  return folded ? folded->fold.cell_of(best) : best;
}

std::optional<float> order_number(const HeadOrder& order, const HeadRef& head, const HeadStats* stats,
                                  const std::vector<HeadEffect>* effects) {
  using By = HeadOrder::By;
  if (order.by == By::effect) {
    const HeadEffect* one = effects ? entry_of(*effects, head) : nullptr;
    return one ? std::optional(one->change) : std::nullopt;
  }
  if (!stats) return std::nullopt;
  if (order.by == By::measure) {
    const HeadMeasures* one = entry_of(stats->measures, head);
    return one ? (*one)[order.measure] : std::nullopt;
  }
  if (order.by != By::found) return std::nullopt;
  const StrongestCell* one = entry_of(stats->found, head);
  return one && one->cell ? std::optional(one->weight) : std::nullopt;
}

std::vector<HeadRef> heads_in_order(const std::vector<HeadRef>& heads, const HeadOrder& order, const HeadStats* stats,
                                    const std::vector<HeadEffect>* effects) {
  std::vector<HeadRef> ordered;
  if (order.by == HeadOrder::By::layer || heads.empty()) return ordered;
  std::vector<std::optional<float>> values;
  for (const HeadRef& head : heads) values.push_back(order_number(order, head, stats, effects));
  if (std::none_of(values.begin(), values.end(), [](const auto& value) { return value.has_value(); })) return {};
  for (const std::size_t at : ranking(values, order.ascending)) ordered.push_back(heads[at]);
  return ordered;
}

std::shared_ptr<const HeadStats> answer_heads(const HeadQuestion& question, const HeadStats* known,
                                              Progress& progress) {
  const auto trace = question.trace.lock();
  if (!trace) return nullptr;
  auto answer = std::make_shared<HeadStats>();
  if (known && known->trace == question.trace) *answer = *known;
  else answer->trace = question.trace;
  if (question.measures && answer->measures.empty()) {
    auto measures = measure_heads(*trace, progress);
    if (!measures) return nullptr;
    answer->measures = std::move(*measures);
  }
  if (question.words && answer->words != question.words) {
    auto found = strongest_cells(*trace, *question.words, progress);
    if (!found) return nullptr;
    answer->found = std::move(*found);
    answer->words = question.words;
  }
  return answer;
}

Result<std::shared_ptr<const std::vector<HeadEffect>>> answer_effects(const EffectQuestion& question,
                                                                      Progress& progress) {
  using Effects = std::vector<HeadEffect>;
  const auto trace = question.trace.lock();
  if (!trace) return std::shared_ptr<const Effects>();
  auto effects = head_effects(*trace, progress);
  if (!effects) return effects.error();
  return *effects ? std::make_shared<const Effects>(std::move(**effects)) : nullptr;
}

}  // namespace headlight
