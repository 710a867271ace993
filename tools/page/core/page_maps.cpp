#include "page/core/page_maps.h"

#include <algorithm>

#include "heads/head_measures.h"
#include "math/attention.h"

namespace headlight {

Matrix PageMaps::whole(const HeadRef& head) {
  const Trace& trace = answer_.trace();
  const Index rows = trace.queries(head.stack), columns = trace.keys(head.stack);
  if (std::max(rows, columns) <= kThumbnail) return answer_.thumbnail(head);
  const Region all{.head = head, .num_queries = rows, .num_keys = columns};
  return region_weights(trace, all, std::max(rows, columns), kNeverStops);
}

const FoldedStack* PageMaps::folded(Stack stack, FoldChoice fold, const std::vector<HeadRef>& heads) {
  const Trace& trace = answer_.trace();
  if (trace.is_signed) return nullptr;  // sums and means of numbers that are no shares mean nothing
  auto known =
      std::ranges::find_if(folded_, [&](const Folded& one) { return one.stack == stack && one.choice == fold; });
  if (known == folded_.end()) {
    auto done = fold_of(trace.query_tokens(stack), trace.key_tokens(stack), fold);
    std::unique_ptr<FoldedStack> maps;
    if (done) {
      const Index count = trace.num_heads(stack);
      maps = std::make_unique<FoldedStack>(FoldedStack{std::move(*done), count});
      maps->maps.resize(static_cast<std::size_t>(trace.num_layers(stack) * count));
      if (maps->fold.done.special) maps->rests.resize(maps->maps.size());
    }
    known = folded_.insert(folded_.end(), {stack, fold, std::move(maps)});
  }
  FoldedStack* maps = known->maps.get();
  if (!maps) return nullptr;
  for (const HeadRef& head : heads) {
    Matrix& own = maps->maps[maps->index_of(head)];
    if (own.size() > 0) continue;
    const Matrix weights = whole(head);
    own = headlight::folded(weights, maps->fold);
    if (!maps->rests.empty()) maps->rests[maps->index_of(head)] = resting(weights, maps->fold);
  }
  return maps;
}

const Matrix& PageMaps::map(const HeadRef& head, FoldChoice fold) {
  if (const FoldedStack* maps = folded(head.stack, fold, {head})) return maps->map(head);
  if (std::max(answer_.trace().queries(head.stack), answer_.trace().keys(head.stack)) <= kThumbnail)
    return answer_.thumbnail(head);
  if (last_ != head) last_map_ = whole(head), last_ = head;
  return last_map_;
}

Matrix PageMaps::small(const HeadRef& head, FoldChoice fold) {
  if (const FoldedStack* maps = folded(head.stack, fold, {head})) return pooled(maps->map(head), kThumbnail);
  return answer_.thumbnail(head);
}

void PageMaps::complete(Stack stack) {
  const Trace& trace = answer_.trace();
  for (const HeadRef& head : heads_of(trace, stack)) answer_.thumbnail(head);
}

const HeadMeasures& PageMaps::measures(const HeadRef& head) {
  if (const auto known = measures_.find(head); known != measures_.end()) return known->second;
  MeasureSums sums{{head}, std::vector<MeasureSums::OfHead>(1)};
  add_sentence(sums, answer_.trace(), unwatched(), 1);
  return measures_.emplace(head, measures_of(sums).front()).first->second;
}

const SentenceArcs& PageMaps::arcs(bool edited) {
  auto& arcs = arcs_[edited ? 1 : 0];
  if (!arcs) arcs = answer_.arcs(edited);
  return *arcs;
}

HeadName PageMaps::name(Language language, const HeadRef& head, bool edited, bool measured) {
  HeadName name = head_name(language, arcs(edited), head, measured ? &measures(head) : nullptr);
  name.label = map_label(language, trace(), head);
  return name;
}

}  // namespace headlight
