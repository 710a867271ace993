#include "page/page_numbers.h"

#include <algorithm>

#include "math/attention.h"

namespace headlight {
namespace {

Matrix rounded_or_empty(const Matrix& numbers) { return numbers.size() == 0 ? Matrix() : rounded_to_float16(numbers); }

void round_numbers(AttentionTrace& attention, std::vector<std::vector<Matrix>>& patterns) {
  if (attention.patterns) {
    std::vector<Matrix> own;
    for (const Matrix& pattern : *attention.patterns) own.push_back(rounded_or_empty(pattern));
    patterns.push_back(std::move(own));
    return;
  }
  attention.query = rounded_or_empty(attention.query);
  attention.key = rounded_or_empty(attention.key);
  attention.value = rounded_or_empty(attention.value);
}

/// Calls visit for every attention of the trace, in an order that is always the same.
template <class Visit>
void each_attention(Trace& trace, StackTrace* encoder, const Visit& visit) {
  if (encoder)
    for (BlockTrace& block : encoder->blocks) visit(block.self);
  for (BlockTrace& block : trace.blocks) {
    visit(block.self);
    if (block.cross) visit(*block.cross);
  }
}

}  // namespace

void append_float16(const ConstMatrixRef& numbers, std::string& bytes) {
  for (Index row = 0; row < numbers.rows(); ++row)
    for (Index column = 0; column < numbers.cols(); ++column) {
      const auto bits = Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(numbers(row, column)));
      bytes += static_cast<char>(bits & 0xFF);
      bytes += static_cast<char>(bits >> 8);
    }
}

Matrix rounded_to_float16(const ConstMatrixRef& numbers) { return numbers.cast<Eigen::half>().cast<float>(); }

RoundedTrace rounded(const Trace& trace) {
  RoundedTrace result{trace, {}};
  std::shared_ptr<StackTrace> encoder = trace.encoder ? std::make_shared<StackTrace>(*trace.encoder) : nullptr;
  each_attention(result.trace, encoder.get(),
                 [&](AttentionTrace& attention) { round_numbers(attention, result.patterns); });
  std::size_t next = 0;
  each_attention(result.trace, encoder.get(), [&](AttentionTrace& attention) {
    if (attention.patterns) attention.patterns = &result.patterns[next++];
  });
  result.trace.encoder = std::move(encoder);
  return result;
}

float rounding_error(const Trace& exact, const Trace& other, const std::vector<HeadRef>& heads,
                     const Threads& threads) {
  std::vector<float> largest(heads.size(), 0.0f);
  parallel_for(static_cast<Index>(heads.size()), threads, [&](Index i) {
    const HeadRef& head = heads[static_cast<std::size_t>(i)];
    const Index queries = exact.queries(head.stack);
    for (Index first = 0; first < queries; first += kRowBlock) {
      const Index count = std::min(kRowBlock, queries - first);
      const Matrix difference = attention_rows(exact, head, first, count) - attention_rows(other, head, first, count);
      float& most = largest[static_cast<std::size_t>(i)];
      most = std::max(most, difference.cwiseAbs().maxCoeff());
    }
  });
  return largest.empty() ? 0.0f : *std::max_element(largest.begin(), largest.end());
}

}  // namespace headlight
