#include <gtest/gtest.h>

#include "model/head_text.h"

namespace headlight {

TEST(Followed, AHeadIsWrittenWithAPoint) { EXPECT_EQ(head_text({1, 2}), "1.2"); }

}  // namespace headlight
