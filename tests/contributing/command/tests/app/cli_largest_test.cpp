#include "app/program.h"

namespace headlight {
namespace {

TEST(Largest, IsTheLargestWeightOfItsHead) {
  const auto one = program::run({"largest", "--tokens", "a", "--random", "--head", "0.1"});
  EXPECT_EQ(one.out, "1.000\n") << one.err;
  EXPECT_EQ(program::run({"largest", "--text", "a", "--random", "--head", "9.9"}).status, 2);
}

}  // namespace
}  // namespace headlight
