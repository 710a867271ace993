// A turn of the window: what is done in a frame is answered before that frame is shown.
#include "gl/frame.h"
#include "gui/frame/texture_ids.h"

#include <algorithm>

#include "gui/frame/map_view.h"
#include "gui/harness.h"

namespace headlight {
namespace {

constexpr double kLong = 60;  // seconds

class TurnTest : public GuiTest {
 protected:
  void SetUp() override {
    GuiTest::SetUp();
    screen.emplace(Screen{.begin_frame =
                              [this] {
                                ++built;
                                harness->fonts.prepare(1);
                                ImGui::NewFrame();
                              },
                          .end_frame =
                              [this](Rgb) {
                                ++shown;
                                ImGui::Render();
                              },
                          .fonts = harness->fonts,
                          .maps = harness->maps,
                          .samples = harness->samples});
  }
  bool turn(double answer_within) {
    return show_frame(*screen, harness->state, *harness->loop, harness->commands, 1, answer_within);
  }
  /// Whether the maps that were drawn last are of the answer that is known.
  bool drew_the_answer() const {
    const std::uint64_t version = thumbnail_version(harness->state, {0, 0});
    return std::any_of(harness->maps.drawn.rbegin(), harness->maps.drawn.rend(),
                       [&](const DrawnMap& map) { return map.version == version && map.opacity == 1; });
  }

  std::optional<Screen> screen;
  int built = 0, shown = 0;
};

TEST_F(TurnTest, AKeyIsAnsweredInTheFrameThatItIsPressedIn) {
  const auto before = harness->state.trace.version();
  harness->maps.drawn.clear();
  inject_key(Key::left_alt, true);
  inject_key(Key{'M'}, true);
  EXPECT_TRUE(turn(kLong));
  EXPECT_EQ(built, 2);
  EXPECT_EQ(shown, 1);
  EXPECT_GT(harness->state.trace.version(), before);
  EXPECT_TRUE(harness->state.trace->request.mask.causal);
  EXPECT_TRUE(drew_the_answer());

  inject_key(Key{'M'}, false);
  inject_key(Key::left_alt, false);
  EXPECT_FALSE(turn(kLong));
  EXPECT_EQ(built, 3) << "nothing was done: built once";
  EXPECT_EQ(shown, 2);
}

TEST_F(TurnTest, AnAnswerThatTakesLongerIsNotWaitedFor) {
  inject_key(Key::left_alt, true);
  inject_key(Key{'M'}, true);
  EXPECT_TRUE(turn(0));
  EXPECT_EQ(shown, 1);
  EXPECT_TRUE(harness->state.document.mask.causal) << "the control shows it all the same";
  inject_key(Key{'M'}, false);
  inject_key(Key::left_alt, false);
  EXPECT_FALSE(turn(0));
  harness->settle();
  EXPECT_TRUE(harness->state.trace->request.mask.causal);
}

TEST_F(TurnTest, WhatAsksForNoAnswerIsSeenAtOnce) {
  inject_key(Key::left_alt, true);
  inject_key(Key{'G'}, true);
  EXPECT_TRUE(turn(kLong));
  EXPECT_EQ(harness->state.view.scale, Scale::log);
  ASSERT_FALSE(harness->maps.drawn.empty());
  EXPECT_EQ(harness->maps.drawn.back().scale.scale, Scale::log);
  EXPECT_EQ(shown, 1);
  inject_key(Key{'G'}, false);
  inject_key(Key::left_alt, false);
}

TEST_F(TurnTest, FramesAreTakenSlowlyBesideAComputationAndNoneWhileNothingIsToBeSeen) {
  const Loop& loop = *harness->loop;
  EXPECT_EQ(sleep_before_frame(loop, 1, 1), 0);
  EXPECT_GT(sleep_before_frame(loop, 0, 1), 1);
  Commands edit{SetMask{.causal = true}};
  harness->loop->step(harness->state, edit, 1);
  ASSERT_TRUE(loop.computing());
  EXPECT_GT(sleep_before_frame(loop, 3, 1), 0);
  EXPECT_LT(sleep_before_frame(loop, 3, 1), 0.05);
  EXPECT_LT(sleep_before_frame(loop, 0, 1), 0.1);
}

}  // namespace
}  // namespace headlight
