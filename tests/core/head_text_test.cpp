// The text of a head, as people read it and as scripts type it.
#include <gtest/gtest.h>

#include "model/head_text.h"

namespace headlight {
namespace {

TEST(HeadText, TwoFormsOfOneHead) {
  EXPECT_EQ(head_label({1, 2}), "L1·H2");
  EXPECT_EQ(head_label({0, 11, Stack::cross}), "L0·H11");
  EXPECT_EQ(head_text({1, 2}), "1.2");
  EXPECT_EQ(head_text({0, 11, Stack::cross}), "cross:0.11");
  EXPECT_EQ(head_text({3, 0, Stack::encoder}), "encoder:3.0");
}

TEST(HeadText, EveryFormIsRead) {
  const HeadRef head{12, 3, Stack::cross};
  for (const char* text : {"cross:12.3", "cross:L12.H3", "cross:L12·H3", "cross:12·3", "cross:L12.3"})
    EXPECT_EQ(parse_head(text), head) << text;
  for (const Stack stack : kStacks)
    for (const HeadRef& one : {HeadRef{0, 0, stack}, HeadRef{7, 15, stack}}) EXPECT_EQ(parse_head(head_text(one)), one);
  EXPECT_EQ(parse_head(head_label({7, 15})), (HeadRef{7, 15}));
  EXPECT_EQ(parse_head("self:0.1"), (HeadRef{0, 1}));
}

TEST(HeadText, OtherTextIsNoHead) {
  for (const char* text : {"", "1", "L1", "1.", ".2", "1.2.3", "1 .2", "-1.2", "1.-2", "H1.L2", "L1..H2", "l1.h2",
                           "1.*", "decoder:1.2", ":1.2", "1.2x", "99999999999999999999.0", "LL1.H2", "1\xC2.2"})
    EXPECT_FALSE(parse_head(text)) << text;
}

TEST(HeadText, AStarIsEveryHeadOfALayer) {
  for (const char* text : {"cross:2.*", "cross:L2.*", "cross:L2·*"}) {
    const auto heads = parse_heads(text);
    ASSERT_TRUE(heads) << text;
    EXPECT_EQ(heads->stack, Stack::cross);
    EXPECT_EQ(heads->layer, 2);
    EXPECT_FALSE(heads->head);
  }
  EXPECT_EQ(parse_heads("L2·H4")->head, 4);
  for (const char* text : {"*", "*.1", "2.H*", "2*", "2.**"}) EXPECT_FALSE(parse_heads(text)) << text;
}

}  // namespace
}  // namespace headlight
