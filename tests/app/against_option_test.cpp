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

TEST(AgainstOption, AModelAloneReadsTheSameWords) {
  const auto first = question_of("shipped:decoder --text 我请李雷 --pad 1");
  ASSERT_TRUE(first) << first.error().message();
  const auto other = [&](const std::string& against) { return question_of(against, "--against", "", &*first); };
  EXPECT_EQ(other("shipped:encoder-d64-h1")->source.text, "我请李雷");
  EXPECT_EQ(other("shipped:encoder-d64-h1 --mask causal")->pad, 1u);
  EXPECT_EQ(other("shipped:encoder-d64-h1 --text 她")->source.text, "她");
  EXPECT_EQ(other("--mask causal")->source.text, kDefaultSentence) << "no model is named";
  const auto ids = question_of(fixture::golden("llama-gqa").string() + " --ids 1,2,3");
  ASSERT_TRUE(ids) << ids.error().message();
  const auto same = question_of(fixture::golden("llama-gqa").string(), "--against", "", &*ids);
  ASSERT_TRUE(same) << same.error().message();
  EXPECT_EQ(same->source.ids, ids->source.ids);
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
