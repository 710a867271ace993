#include "page/page_numbers.h"

#include <algorithm>

#include "math/attention.h"
#include "write/arrays.h"

namespace headlight {

void append_float16(const ConstMatrixRef& numbers, std::string& bytes) {
  for (Index row = 0; row < numbers.rows(); ++row)
    for (Index column = 0; column < numbers.cols(); ++column) {
      const auto bits = Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(numbers(row, column)));
      bytes += static_cast<char>(bits & 0xFF);
      bytes += static_cast<char>(bits >> 8);
    }
}

Matrix rounded_to_float16(const ConstMatrixRef& numbers) { return numbers.cast<Eigen::half>().cast<float>(); }

TraceCopy::TraceCopy(const Trace& exact)
    : trace(exact), encoder(exact.encoder ? std::make_shared<StackTrace>(*exact.encoder) : nullptr) {
  trace.encoder = encoder;
}

AttentionTrace& TraceCopy::attention(Stack stack, Index layer) {
  BlockTrace& block = (stack == Stack::encoder ? encoder->blocks : trace.blocks)[static_cast<std::size_t>(layer)];
  return stack == Stack::cross ? *block.cross : block.self;
}

TraceCopy rounded(const Trace& trace, const std::vector<HeadRef>& heads) {
  TraceCopy copy(trace);
  for (const StackNames& names : stacks_of(trace))
    for (Index layer = 0; layer < trace.num_layers(names.stack); ++layer) {
      AttentionTrace& attention = copy.attention(names.stack, layer);
      for (Matrix* numbers : {&attention.query, &attention.key, &attention.value})
        *numbers = rounded_to_float16(*numbers);
      if (attention.distances) {
        auto distances = std::make_shared<DistanceVectors>(*attention.distances);
        for (Matrix* numbers : {&distances->keys, &distances->queries}) *numbers = rounded_to_float16(*numbers);
        attention.distances = std::move(distances);
      }
      if (!attention.patterns) continue;
      auto& patterns = copy.patterns.emplace_back(attention.patterns->size());
      for (const HeadRef& head : heads)
        if (const auto at = static_cast<std::size_t>(head.head); head.stack == names.stack && head.layer == layer)
          patterns[at] = rounded_to_float16((*attention.patterns)[at]);
      attention.patterns = &patterns;
    }
  return copy;
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
  return largest.empty() ? 0.0f : *std::ranges::max_element(largest);
}

}  // namespace headlight
