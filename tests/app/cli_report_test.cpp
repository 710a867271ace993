// `report`: a text to send.
#include "app/program.h"

namespace headlight {
namespace {

using namespace program;

TEST(Report, HasIdsChecksHeadsAndTimesWithoutPaths) {
  const std::string folder = fixture::golden("bert").string();
  const Ran ran = run({"report", folder, "shipped:decoder"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  for (const char* part : {"# model 0\n", "bert, encoder, ", "# shipped:decoder\n", "ids of ten texts\n",
                           "check\n  good", "heads over ten sentences\n", "opened in ", "L1·H0", "sink"})
    EXPECT_TRUE(contains(ran.out, part)) << part;
  EXPECT_FALSE(contains(ran.out, folder)) << ran.out;
  EXPECT_FALSE(contains(ran.out, "golden")) << ran.out;
}

TEST(Report, AModelThatDoesNotOpenIsALine) {
  const Ran ran = run({"report", "no/such", "shipped:decoder"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(contains(ran.out, "does not open: "));
  EXPECT_TRUE(contains(ran.out, "heads over ten sentences"));
  EXPECT_EQ(lines_of(ran.err), 1) << ran.err;
}

}  // namespace
}  // namespace headlight
