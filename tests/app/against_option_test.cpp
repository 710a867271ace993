// The other of two questions, in one string.
#include "cli/options/against_option.h"

#include "session_fixture.h"

namespace headlight {
namespace {

TEST(AgainstOption, IsAskedAsItWouldStandAfterTheCommand) {
  const auto document = question_of("--random --text 'a b  c' --mask causal --off 0.1 --d-model 8 --num-heads 2");
  ASSERT_TRUE(document) << document.error().message();
  EXPECT_EQ(document->source.text, "a b  c");
  EXPECT_TRUE(document->mask.causal);
  EXPECT_EQ(document->edits.off, (std::vector<HeadRef>{{0, 1}}));
  EXPECT_EQ(document->config.d_model, 8);
}

TEST(AgainstOption, NothingIsTheDefaultQuestion) {
  const auto document = question_of("");
  ASSERT_TRUE(document) << document.error().message();
  EXPECT_EQ(document->source.text, kDefaultSentence);
  const auto small = question_of("shipped:encoder-d64-h1");
  ASSERT_TRUE(small) << small.error().message();
  EXPECT_EQ(small->model->config.num_heads, 1);
}

TEST(AgainstOption, WhatIsWrongIsNamed) {
  for (const char* wrong : {"--no-such-option", "--text", "a.session b", "--mask sideways", "nowhere.headlight.json"}) {
    const auto document = question_of(wrong);
    ASSERT_FALSE(document) << wrong;
    EXPECT_TRUE(document.error().message().starts_with("--against: ")) << document.error().message();
    EXPECT_EQ(fixture::lines_of(document.error().message()), 0) << document.error().message();
  }
}

}  // namespace
}  // namespace headlight
