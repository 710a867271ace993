#include "session/head_answers.h"

#include "explain/head_similarity.h"

namespace headlight {

std::vector<HeadOrder> head_orders() {
  std::vector<HeadOrder> orders{{}};
  for (const Measure measure : kMeasures) orders.push_back({HeadOrder::By::measure, measure});
  orders.push_back({HeadOrder::By::effect});
  orders.push_back({HeadOrder::By::similar});
  return orders;
}

std::string_view name(const HeadOrder& order) {
  switch (order.by) {
    case HeadOrder::By::measure: return name(order.measure);
    case HeadOrder::By::effect: return "effect";
    case HeadOrder::By::similar: return "similar";
    case HeadOrder::By::layer: break;
  }
  return "layer";
}

std::optional<HeadOrder> parse_head_order(std::string_view wanted) {
  for (const HeadOrder& order : head_orders())
    if (name(order) == wanted) return order;
  return std::nullopt;
}

bool covers(const HeadAnswer& answer, const HeadQuestion& question) {
  return answer.trace.lock() == question.trace && (!question.measures || !answer.measures.empty()) &&
         (!question.similar || !answer.similar.empty()) && (!question.words || answer.words == question.words);
}

namespace {

bool add_similar(const Trace& trace, Progress& progress, HeadAnswer& answer) {
  for (const Stack stack : kStacks) {
    if (!trace.has(stack)) continue;
    const auto apart = head_divergence(trace, stack, progress);
    if (!apart) return false;
    const std::vector<HeadRef> heads = heads_of(trace, stack);
    std::optional<Index> before;
    for (const Index at : like_beside_like(*apart)) {
      answer.similar.push_back(heads[static_cast<std::size_t>(at)]);
      answer.apart.push_back(before ? std::optional((*apart)(*before, at)) : std::nullopt);
      before = at;
    }
  }
  return true;
}

}  // namespace

std::shared_ptr<const HeadAnswer> answer_heads(const HeadQuestion& question, const HeadAnswer* known,
                                               Progress& progress) {
  auto answer = std::make_shared<HeadAnswer>();
  if (known && known->trace.lock() == question.trace) *answer = *known;
  else answer->trace = question.trace;
  if (question.measures && answer->measures.empty()) {
    auto measures = measure_heads(*question.trace, progress);
    if (!measures) return nullptr;
    answer->measures = std::move(*measures);
  }
  if (question.similar && answer->similar.empty() && !add_similar(*question.trace, progress, *answer)) return nullptr;
  if (question.words && answer->words != question.words) {
    auto found = strongest_cells(*question.trace, *question.words, progress);
    if (!found) return nullptr;
    answer->found = std::move(*found);
    answer->words = question.words;
  }
  return answer;
}

}  // namespace headlight
