// Maps that fade from one answer to the next.
#include <cmath>

#include "gui/frame/motion.h"
#include "gui/harness.h"

namespace headlight {
namespace {

Matrix filled(float value) { return Matrix::Constant(3, 3, value); }

TEST(MotionOfMaps, AMapFadesFromTheOldContentToTheNewOne) {
  Motion motion;
  RecordingPainter painter;
  const ColourScale scale;
  ImDrawList* none = nullptr;
  const auto draw = [&](double now, const Matrix& weights, std::uint64_t version, Box box = {0, 0, 30, 30}) {
    painter.drawn.clear();
    motion.begin_frame(now, true, false);
    motion.draw(painter, *none, 1, weights, version, box, scale, 1);
  };
  draw(0, filled(0.2f), 1);
  ASSERT_EQ(painter.drawn.size(), 1u) << "nothing was there before";
  EXPECT_EQ(painter.drawn[0].opacity, 1);
  draw(1, filled(0.7f), 2);
  ASSERT_EQ(painter.drawn.size(), 2u);
  EXPECT_EQ(painter.drawn[0].version, 1u);
  EXPECT_EQ(painter.drawn[1].opacity, 0);
  EXPECT_TRUE(motion.is_moving());
  draw(1 + Motion::kFade / 2, filled(0.7f), 2);
  ASSERT_EQ(painter.drawn.size(), 2u);
  EXPECT_NEAR(painter.drawn[1].opacity, 0.5f, 1e-3);
  draw(1 + 2 * Motion::kFade, filled(0.7f), 2);
  EXPECT_EQ(painter.drawn.size(), 1u);
  EXPECT_FALSE(motion.is_moving());
  draw(2, filled(0.7f), 3);
  EXPECT_EQ(painter.drawn.size(), 1u) << "the same weights again";
  draw(3, filled(0.1f), 4, {0, 0, 60, 60});
  EXPECT_EQ(painter.drawn.size(), 1u) << "another place";
}

TEST(MotionOfMaps, AnAnswerThatComesSoonNeverPalesTheOldOne) {
  Motion motion;
  motion.begin_frame(1, true, true);
  EXPECT_FALSE(motion.seen_stale());
  EXPECT_TRUE(motion.is_moving()) << "a frame is owed that may show it";
  motion.begin_frame(1.1, true, false);
  motion.begin_frame(1.2, true, true);
  EXPECT_FALSE(motion.seen_stale());
  motion.begin_frame(1.2 + Motion::kPatience, true, true);
  EXPECT_TRUE(motion.seen_stale());
  EXPECT_FALSE(motion.is_moving());
}

// The whole window, its time injected: a sixtieth of a second a frame.
class WindowInMotion : public GuiTest {};

/// How strongly the newest content of the large map is drawn; how often the map is drawn.
std::pair<float, std::size_t> drawn_on_stage(const Harness& h) {
  const Box place = h.box("stage map");
  float opacity = 0;
  std::size_t times = 0;
  for (const DrawnMap& map : h.maps.drawn)
    if (map.box.x == place.x && map.box.y == place.y) opacity = map.opacity, ++times;
  return {opacity, times};
}

TEST_F(WindowInMotion, MapsFadeToTheNextHeadInLessThanAnEighthOfASecond) {
  Harness& h = *harness;
  h.moves = true;
  h.frame(3);
  EXPECT_EQ(drawn_on_stage(h), (std::pair{1.0f, std::size_t{1}})) << "settled";
  h.push(ChooseHead{{1, 3}});
  std::vector<float> shares;
  for (int frame = 0; frame < 12; ++frame, h.frame()) {
    const auto [opacity, times] = drawn_on_stage(h);
    EXPECT_EQ(times, opacity < 1 ? 2u : 1u) << "the old content is below the new one while that fades in";
    if (!shares.empty()) { EXPECT_GE(opacity, shares.back()); }
    shares.push_back(opacity);
  }
  EXPECT_LT(shares.front(), 0.2f);
  EXPECT_EQ(shares[static_cast<std::size_t>(std::ceil(Motion::kFade * 60)) + 1], 1);
  EXPECT_FALSE(h.motion.is_moving()) << "no frame is owed";
}

TEST_F(WindowInMotion, ASettingSwitchesTheFadingOff) {
  Harness& h = *harness;
  h.moves = true;
  h.state.settings.motion = false;
  h.frame(2);
  h.push(ChooseHead{{1, 3}});
  EXPECT_EQ(drawn_on_stage(h), (std::pair{1.0f, std::size_t{1}}));
}

}  // namespace
}  // namespace headlight
