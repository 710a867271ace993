// Sentences that are too long for every z to be kept: what is made of them again is what was computed.
#include "core/asking.h"
#include "core/explained.h"
#include "explain/matrices.h"

namespace headlight {
namespace {

using namespace reference;

const Config kNarrow{.arch = Arch::decoder, .d_model = 8, .num_heads = 2, .num_layers = 2, .ffn = 0, .norm = Norm::pre};

Request asked(Index tokens, bool causal = true) {
  return {.config = kNarrow, .tokens = counted(tokens), .mask = {.causal = causal}};
}

TEST(LongSentence, KeepsNoZButSaysTheSame) {
  const Index shown = 70;
  const auto kept = ask(asked(kMostKeptZ)), dropped = ask(asked(kMostKeptZ + 30));
  ASSERT_TRUE(kept && dropped);
  for (Index layer = 0; layer < 2; ++layer) {
    EXPECT_EQ(kept->attention(Stack::self, layer).z.rows(), kMostKeptZ);
    EXPECT_EQ(dropped->attention(Stack::self, layer).z.size(), 0);
    for (const Index first : {Index{0}, Index{1000}, kMostKeptZ - shown})
      for (Index head = 0; head < 2; ++head)
        EXPECT_TRUE(same(z_rows(*kept, {layer, head}, first, shown), z_rows(*dropped, {layer, head}, first, shown)))
            << layer << '.' << head << " from " << first;
    EXPECT_TRUE(same(kept->blocks[static_cast<std::size_t>(layer)].output,
                     dropped->blocks[static_cast<std::size_t>(layer)].output.topRows(kMostKeptZ)));
  }
}

TEST(LongSentence, IsExplainedAsItWasComputed) {
  for (const OffAs as : {OffAs::zero, OffAs::mean}) {
    Request request = asked(kMostKeptZ + 1, false);
    request.edits.off_as = as;
    switch_off(request.edits, {0, 1}, true);
    const auto trace = ask(request);
    ASSERT_TRUE(trace);
    const Matrix z = z_rows(*trace, {0, 1}, 0, trace->queries());
    EXPECT_EQ((z.array() == 0.0f).all(), as == OffAs::zero);
    EXPECT_TRUE(same(z.row(7), z_rows(*trace, {0, 1}, kMostKeptZ, 1))) << "every token hands on the same";
    const Matrix output = whole(*trace, matrix_id(Quantity::attention_output, {0, 0}));
    EXPECT_TRUE(same(trace->blocks[0].output, trace->embedding + output)) << "the same sum to the bit";
    const Matrix side_by_side = whole(*trace, matrix_id(Quantity::concat, {0, 0}));
    EXPECT_TRUE(same(side_by_side.rightCols(4), z));
    EXPECT_TRUE(same(side_by_side.leftCols(4), z_rows(*trace, {0, 0}, 0, trace->queries())));
  }
}

TEST(LongSentence, ContinuesWhereEarlierAnswersKeptOtherThings) {
  const auto shorter = ask(asked(kMostKeptZ)), longer = ask(asked(kMostKeptZ + 1));
  ASSERT_TRUE(shorter && longer);
  EXPECT_TRUE(same_answer(*ask(asked(kMostKeptZ + 1), shorter.get()), *longer)) << "one token more";
  EXPECT_TRUE(same_answer(*ask(asked(kMostKeptZ), longer.get()), *shorter)) << "one token less";
  EXPECT_TRUE(same_answer(*ask(asked(kMostKeptZ + 2), longer.get()), *ask(asked(kMostKeptZ + 2))));
}

}  // namespace
}  // namespace headlight
