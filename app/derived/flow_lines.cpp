#include "derived/flow_lines.h"

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
  const auto position = std::lower_bound(kept.begin(), kept.end(), line, is_stronger);
  if (kept.size() == most && position == kept.end()) return;
  kept.insert(position, line);
  if (kept.size() > most) kept.pop_back();
}

/// The lines of a pattern that is given row by row.
class Sieve {
 public:
  Sieve(Index queries, Index keys)
      : all_(queries * keys <= kAllLines), of_key_(all_ ? 0 : static_cast<std::size_t>(keys)) {}

  void add(Index query, const auto& row) {
    of_query_.clear();
    for (Index key = 0; key < row.size(); ++key) {
      const FlowLine line{query, key, row(key)};
      if (!(line.weight > 0)) continue;
      if (all_) {
        lines_.push_back(line);
      } else {
        keep_strongest(of_query_, line, kLinesOfQuery);
        keep_strongest(of_key_[static_cast<std::size_t>(key)], line, kLinesOfKey);
      }
    }
    lines_.insert(lines_.end(), of_query_.begin(), of_query_.end());
  }
  std::vector<FlowLine> take() {
    for (const auto& kept : of_key_) lines_.insert(lines_.end(), kept.begin(), kept.end());
    std::sort(lines_.begin(), lines_.end(), is_stronger);
    lines_.erase(std::unique(lines_.begin(), lines_.end()), lines_.end());
    return std::move(lines_);
  }

 private:
  bool all_;
  std::vector<FlowLine> lines_, of_query_;
  std::vector<std::vector<FlowLine>> of_key_;
};

}  // namespace

std::vector<FlowLine> strongest_lines(const Trace& trace, const HeadRef& head, const std::atomic<bool>& stop) {
  const Index queries = trace.queries(head.stack);
  Sieve sieve(queries, trace.keys(head.stack));
  for (Index first = 0; first < queries; first += kRowBlock) {
    if (stop) return {};
    const Matrix rows = attention_rows(trace, head, first, std::min(kRowBlock, queries - first));
    for (Index i = 0; i < rows.rows(); ++i) sieve.add(first + i, rows.row(i));
  }
  return sieve.take();
}

std::vector<FlowLine> strongest_lines(const Matrix& weights) {
  Sieve sieve(weights.rows(), weights.cols());
  for (Index query = 0; query < weights.rows(); ++query) sieve.add(query, weights.row(query));
  return sieve.take();
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
    flow->heads.push_back(folded ? strongest_lines(folded->map(head)) : strongest_lines(*question.trace, head, stop));
    if (stop) return nullptr;
  }
  return flow;
}

}  // namespace headlight
