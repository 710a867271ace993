// A conversation asked in the window: its turns, their roles, and the bands beside the map.
#include "base/file.h"
#include "chat_tokenizer.h"
#include "gui/keys_fixture.h"
#include "words/sentence_words.h"

namespace headlight {
namespace {

/// golden/gpt2 as an instruct model with ChatML's marks, asked about `hi`.
class ChatViewTest : public KeysTest {
 protected:
  void SetUp() override {
    KeysTest::SetUp();
    for (const char* file : {"config.json", "model.safetensors"})
      std::filesystem::copy_file(HEADLIGHT_TEST_DATA "/golden/gpt2/" + std::string(file), folder.path() / file);
    ASSERT_TRUE(write_file(folder.path() / "tokenizer.json", chat_tokenizer_json({"<|im_start|>", "<|im_end|>"})));
    harness->push(SetText{"hi"}, EndGesture{}, OpenPath{folder.path().string()});
    harness->settle();
    ASSERT_TRUE(document().model) << (state().notice ? state().notice->text : "");
  }
  const Chat& chat() { return document().chat; }

  TemporaryFolder folder;
};

TEST_F(ChatViewTest, ATextBecomesAConversationAndBack) {
  Harness& h = *harness;
  EXPECT_TRUE(h.has("ask by conversation"));
  EXPECT_FALSE(h.has("rows user 1"));
  h.click("ask by conversation");
  h.settle();
  EXPECT_EQ(chat(), (Chat{{{ChatRole::user, "hi"}}}));
  EXPECT_FALSE(h.has("text")) << "the turns stand in its place";
  EXPECT_EQ(h.map("head 0.0").weights.rows(), 22);
  h.click("ask by text");
  h.settle();
  EXPECT_EQ(h.map("head 0.0").weights.rows(), 3);
  ctrl(Key{'Z'});
  h.settle();
  EXPECT_EQ(chat(), (Chat{{{ChatRole::user, "hi"}}})) << "one step of undo";
  ctrl(Key{'Z'});
  h.settle();
  EXPECT_EQ(chat(), Chat{});
}

TEST_F(ChatViewTest, TurnsAreAddedTypedChangedAndTakenAway) {
  Harness& h = *harness;
  h.click("ask by conversation");
  h.click("add turn");
  h.settle();
  EXPECT_EQ(chat(), (Chat{{{ChatRole::user, "hi"}, {ChatRole::assistant, ""}}, true}));
  h.click("turn 1 text");
  h.type("yes");
  h.key(Key::enter);
  h.settle();
  EXPECT_EQ(chat().turns[1].text, "yes");
  const Index open = h.map("head 0.0").weights.rows();
  h.click("answer goes on");
  h.settle();
  EXPECT_FALSE(chat().open);
  EXPECT_EQ(h.map("head 0.0").weights.rows(), open + 2) << "its end is two tokens";
  h.click("turn 0 role");
  h.click("turn 0 role system");
  h.settle();
  EXPECT_EQ(chat().turns[0].role, ChatRole::system);
  h.click("turn 1 remove");
  h.settle();
  EXPECT_EQ(chat(), (Chat{{{ChatRole::system, "hi"}}}));
  for (int i = 0; i < 4; ++i) ctrl(Key{'Z'});
  h.settle();
  EXPECT_EQ(chat(), (Chat{{{ChatRole::user, "hi"}, {ChatRole::assistant, ""}}, true}));
}

TEST_F(ChatViewTest, WithoutATurnTheTextIsAskedAgain) {
  Harness& h = *harness;
  h.click("ask by conversation");
  h.click("turn 0 remove");
  h.settle();
  EXPECT_TRUE(h.has("text"));
  EXPECT_EQ(document().source.text, "hi");
}

TEST_F(ChatViewTest, TypingWithoutAFocusGoesIntoTheLastQuestion) {
  Harness& h = *harness;
  h.click("ask by conversation");
  h.settle();
  ctrl(Key{'L'});
  h.type("why");
  h.key(Key::enter);
  h.settle();
  EXPECT_EQ(chat().turns[0].text, "why");
  EXPECT_EQ(document().source.text, "hi");
}

TEST_F(ChatViewTest, BandsNameTheRolesBesideTheMap) {
  Harness& h = *harness;
  h.click("ask by conversation");
  h.settle();
  const Box map = h.box("stage map");
  const float cell = map.w / 22;
  const Box rows = h.box("rows user 1"), columns = h.box("columns user 1"), answer = h.box("rows assistant 11");
  EXPECT_LT(rows.right(), map.x);
  EXPECT_LT(columns.bottom(), map.y);
  EXPECT_NEAR(rows.y, map.y + cell, 2);
  EXPECT_NEAR(rows.h, 10 * cell, 2);
  EXPECT_NEAR(columns.x, map.x + cell, 2);
  EXPECT_NEAR(answer.bottom(), map.bottom(), 2);
  EXPECT_TRUE(h.says(kChatWords.roles[2].en));
  EXPECT_TRUE(h.says("After “⏎” comes")) << "a line break is a sign";
  h.click("ask by text");
  h.settle();
  EXPECT_FALSE(h.has("rows user 1"));
  EXPECT_GT(h.box("stage map").h, map.h) << "the map has their room again";
}

TEST_F(ChatViewTest, AsIdsItKeepsItsBands) {
  Harness& h = *harness;
  h.click("ask by conversation");
  h.settle();
  h.click("ask by ids");
  h.settle();
  EXPECT_EQ(document().source.ids.size(), 22u);
  EXPECT_TRUE(h.has("rows user 1"));
  h.click("ask by conversation");
  h.settle();
  EXPECT_TRUE(document().source.ids.empty());
  EXPECT_EQ(chat(), (Chat{{{ChatRole::user, "hi"}}}));
}

TEST_F(ChatViewTest, AModelThatKnowsNoConversationOffersNone) {
  harness->push(Reset{});
  harness->settle();
  EXPECT_FALSE(harness->has("ask by conversation"));
}

}  // namespace
}  // namespace headlight
