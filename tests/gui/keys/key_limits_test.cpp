// When the keys do nothing: while a text box has the focus, behind the browser, at a limit.
#include <cmath>

#include "gui/actions/question.h"
#include "gui/keys_fixture.h"

namespace headlight {
namespace {

class KeyLimitsTest : public KeysTest {};

TEST_F(KeyLimitsTest, NothingHappensWhileSomebodyTypes) {
  Harness& h = *harness;
  h.click("text");
  h.frame(2);
  const Document before = document();
  const ViewState view = state().view;
  const Settings settings = state().settings;
  for (int letter = 'A'; letter <= 'Z'; ++letter) {
    key({static_cast<Key>(letter)});
    shift(static_cast<Key>(letter));
  }
  for (const Key other : {Key::left_bracket, Key::right_bracket, Key::equal, Key::minus, Key::slash, Key::left, Key::up,
                          Key::home, Key::space, Key{'1'}, Key{'2'}})
    key({other});
  shift(Key::slash);
  EXPECT_TRUE(document() == before);
  EXPECT_EQ(state().view, view);
  EXPECT_EQ(state().settings, settings);
}

TEST_F(KeyLimitsTest, WhileTypingUndoIsTheBoxesOwn) {
  Harness& h = *harness;
  alt(Key{'D'});
  h.retype("abc");
  ctrl(Key{'Z'});
  EXPECT_EQ(document().config.d_model, 68) << "not the window's";
  EXPECT_NE(document().source.text, "abc");
  EXPECT_TRUE(typing());
}

TEST_F(KeyLimitsTest, WithoutABoxToTypeInTheWindowKeepsItsKeys) {
  harness->push(OpenPath{HEADLIGHT_TEST_DATA "/golden/tensors-causal-7/input.safetensors"});
  harness->settle();
  ctrl(Key{'L'});
  EXPECT_FALSE(typing());
  const HeadRef before = state().view.chosen;
  key({Key::right_bracket});
  EXPECT_NE(state().view.chosen, before);
}

TEST_F(KeyLimitsTest, NothingHappensBehindTheBrowser) {
  Harness& h = *harness;
  h.push(Browse{Browser::Purpose::open, testing::TempDir()});
  h.settle();
  const Box name = h.box("file name");
  h.click_at({name.x + 20, name.y - 60});  // into the list
  const Document before = document();
  for (const Key each : {Key{'M'}, Key{'D'}, Key{'L'}, Key{'S'}, Key{'X'}, Key::backspace}) {
    key({each});
    alt(each);
  }
  EXPECT_TRUE(document() == before);
}

TEST_F(KeyLimitsTest, ModifiersOfTheDesktopAreLeftToIt) {
  harness->key({Key::left_super, Key::left_alt, Key{'M'}});
  harness->key({Key::left_super, Key{'D'}});
  EXPECT_TRUE(document() == Document{});
}

TEST_F(KeyLimitsTest, TabDoesNotBeginToType) {
  Harness& h = *harness;
  for (const char* clicked : {"causal", "text"}) {
    h.click(clicked);
    key({Key::escape});
    key({Key::tab});
    EXPECT_FALSE(typing()) << clicked;
  }
}

// In an encoder-decoder the pinned row is a token of the target, except where the encoder looks at itself.
TEST_F(KeyLimitsTest, JoiningAndCuttingFollowThePinnedRow) {
  Harness& h = *harness;
  h.click("kind encoder-decoder");
  h.settle();
  const std::string source = h.tokens(), target = h.tokens(TextSide::target);
  h.push(Pin{CellRef{1, 0}});
  alt(Key{'J'});
  EXPECT_EQ(h.tokens(), source);
  EXPECT_NE(h.tokens(TextSide::target), target);
  ctrl(Key{'Z'});
  h.push(ChooseHead{{0, 0, Stack::encoder}}, Pin{CellRef{2, 0}});
  alt(Key{'I'});
  EXPECT_NE(h.tokens(), source);
  EXPECT_EQ(h.tokens(TextSide::target), target);
}

TEST_F(KeyLimitsTest, LimitsHold) {
  Harness& h = *harness;
  for (int i = 0; i < 14; ++i) alt(Key::period);
  EXPECT_EQ(document().pad, 10u);
  h.push(SetPad{0}, EndGesture{});
  for (int i = 0; i < 10; ++i) alt_shift(Key{'F'});
  EXPECT_EQ(document().config.ffn, 0);
  h.push(SetScale{3e38f}, EndGesture{});
  alt(Key{'V'});
  h.settle();
  EXPECT_TRUE(std::isfinite(*document().edits.scale));
  EXPECT_FALSE(is_stale(state())) << message_of(problem_of(state()));
  h.push(SetScale{0.0f}, EndGesture{});
  for (int i = 0; i < 3; ++i) alt(Key{'V'});
  EXPECT_GT(*document().edits.scale, 0) << "up again from the least";
  alt(Key{'0'});
  for (int i = 0; i < 14; ++i) alt(Key{'L'});
  EXPECT_EQ(document().config.num_layers, kMostSliderLayers);
  for (int i = 0; i < 14; ++i) alt_shift(Key{'L'});
  EXPECT_EQ(document().config.num_layers, 1);
  for (int i = 0; i < 8; ++i) alt_shift(Key{'H'});
  EXPECT_EQ(document().config.num_heads, 1);
  for (int i = 0; i < 20; ++i) alt_shift(Key{'D'});
  EXPECT_EQ(document().config.d_model, kLeastSliderWidth);
  for (int i = 0; i < 8; ++i) alt(Key{'H'});
  EXPECT_EQ(document().config.num_heads, 4) << "the most that divide 4";
  for (int i = 0; i < 14; ++i) key({Key::equal});
  h.settle();
  EXPECT_EQ(state().view.viewport.num_queries, 4);
  for (int i = 0; i < 14; ++i) key({Key::minus});
  EXPECT_EQ(state().view.viewport, Viewport{});
}

}  // namespace
}  // namespace headlight
