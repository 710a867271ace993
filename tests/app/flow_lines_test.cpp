#include "derived/flow_lines.h"

#include "app/figures.h"
#include "math/attention.h"

namespace headlight {
namespace {

using namespace figures;

TEST(FlowLines, OfAShortSentenceAreAllItsWeights) {
  Document document = small_document();
  document.mask.causal = true;
  const auto trace = answer_of(document);
  const std::atomic<bool> stop = false;
  const auto lines = strongest_lines(*trace, {1, 1}, stop);
  const Matrix weights = attention_rows(*trace, {1, 1}, 0, 10);
  EXPECT_EQ(lines.size(), 55u) << "none that is blocked";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].weight, weights(lines[i].query, lines[i].key));
    EXPECT_GE(lines[i > 0 ? i - 1 : 0].weight, lines[i].weight);
  }
}

TEST(FlowLines, OfALongOneEveryWordHasItsStrongest) {
  const Document document = document_of(200);
  const auto trace = answer_of(document);
  const std::atomic<bool> stop = false;
  const HeadRef head{1, 0};
  const auto lines = strongest_lines(*trace, head, stop);
  const Index queries = trace->queries(), keys = trace->keys();
  ASSERT_GT(queries * keys, kAllLines);
  EXPECT_LE(lines.size(),
            static_cast<std::size_t>(queries) * kLinesOfQuery + static_cast<std::size_t>(keys) * kLinesOfKey);
  const Matrix weights = attention_rows(*trace, head, 0, queries);
  const auto has = [&](Index query, Index key) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const FlowLine& line) { return line.query == query && line.key == key; });
  };
  for (Index query = 0; query < queries; ++query) {
    Index key = 0;
    weights.row(query).maxCoeff(&key);
    EXPECT_TRUE(has(query, key)) << query;
  }
  for (Index key = 0; key < keys; ++key) {
    Index query = 0;
    weights.col(key).maxCoeff(&query);
    EXPECT_TRUE(has(query, key)) << key;
  }
  for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_FALSE(lines[i] == lines[i - 1]) << "each once";
}

TEST(FlowLines, StopWhenNobodyWantsThem) {
  const auto trace = answer_of(small_document());
  const std::atomic<bool> stop = true;
  EXPECT_EQ(look_at_flow({trace, {{0, 0}}}, stop), nullptr);
}

}  // namespace
}  // namespace headlight
