#include "session/flow_lines.h"

#include <algorithm>
#include <tuple>

#include "math/attention.h"

namespace headlight {
namespace {

bool is_stronger(const FlowLine& a, const FlowLine& b) {
  return std::tuple(-a.weight, a.query, a.key) < std::tuple(-b.weight, b.query, b.key);
}

/// Keeps the strongest `most` of what is added.
void keep_strongest(std::vector<FlowLine>& kept, const FlowLine& line, std::size_t most) {
  const auto place = std::lower_bound(kept.begin(), kept.end(), line, is_stronger);
  if (kept.size() == most && place == kept.end()) return;
  kept.insert(place, line);
  if (kept.size() > most) kept.pop_back();
}

}  // namespace

std::vector<FlowLine> strongest_lines(const Trace& trace, const HeadRef& head, const std::atomic<bool>& stop) {
  const Index queries = trace.queries(head.stack), keys = trace.keys(head.stack);
  const bool all = queries * keys <= kAllLines;
  std::vector<FlowLine> lines, of_query;
  std::vector<std::vector<FlowLine>> of_key(all ? 0 : static_cast<std::size_t>(keys));
  for (Index first = 0; first < queries; first += kRowBlock) {
    if (stop) return {};
    const Matrix rows = attention_rows(trace, head, first, std::min(kRowBlock, queries - first));
    for (Index i = 0; i < rows.rows(); ++i) {
      of_query.clear();
      for (Index key = 0; key < keys; ++key) {
        const FlowLine line{first + i, key, rows(i, key)};
        if (!(line.weight > 0)) continue;
        if (all) {
          lines.push_back(line);
        } else {
          keep_strongest(of_query, line, kLinesOfQuery);
          keep_strongest(of_key[static_cast<std::size_t>(key)], line, kLinesOfKey);
        }
      }
      lines.insert(lines.end(), of_query.begin(), of_query.end());
    }
  }
  for (const auto& kept : of_key) lines.insert(lines.end(), kept.begin(), kept.end());
  std::sort(lines.begin(), lines.end(), is_stronger);
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

std::vector<FlowLine> all_lines(const Matrix& weights) {
  std::vector<FlowLine> lines;
  for (Index query = 0; query < weights.rows(); ++query)
    for (Index key = 0; key < weights.cols(); ++key)
      if (weights(query, key) > 0) lines.push_back({query, key, weights(query, key)});
  std::sort(lines.begin(), lines.end(), is_stronger);
  return lines;
}

const FoldedStack* fold_of(const FlowQuestion& question, Stack stack) {
  if (!question.folded) return nullptr;
  const auto& folded = question.folded->stacks[static_cast<std::size_t>(stack)];
  return folded ? &*folded : nullptr;
}

std::shared_ptr<const FlowLines> look_at_flow(const FlowQuestion& question, const std::atomic<bool>& stop) {
  auto flow = std::make_shared<FlowLines>();
  flow->question = question;
  for (const HeadRef& head : question.heads) {
    const FoldedStack* folded = fold_of(question, head.stack);
    flow->heads.push_back(folded ? all_lines(folded->map(head)) : strongest_lines(*question.trace, head, stop));
    if (stop) return nullptr;
  }
  return flow;
}

}  // namespace headlight
