// Limits that only large inputs reach: under the sanitizers they would take minutes.
#include <gtest/gtest.h>

#include <string>

#include "read/json/json_document.h"

namespace headlight {
namespace {

TEST(Limits, ManyEmptyListsAreRefusedBeforeTheyTakeTheMemory) {
  std::string lists = "[[]";
  for (int i = 0; i + 2 < 4'194'304; ++i) lists += ",[]";
  EXPECT_TRUE(parse_json("f", lists + "]"));
  const auto refused = parse_json("f", lists + ",[]]");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "f: size: expected at most 4194304 objects and arrays, found more");
}

}  // namespace
}  // namespace headlight
