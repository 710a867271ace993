#include "app/program.h"

namespace headlight {
namespace {

TEST(FollowedTool, IsThere) { EXPECT_EQ(program::run({"followed"}).out, "the tool is there\n"); }

}  // namespace
}  // namespace headlight
