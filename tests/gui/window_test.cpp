// The window as a whole: its languages, themes and sizes, and the help.
#include "base/utf8.h"
#include "gui/actions/actions.h"
#include "gui/harness.h"

namespace headlight {
namespace {

class WindowTest : public GuiTest {};

TEST_F(WindowTest, EnglishAndChinese) {
  Harness& h = *harness;
  EXPECT_TRUE(h.says("Share"));
  EXPECT_FALSE(h.says("分享"));
  h.click("language");
  EXPECT_EQ(h.state.settings.language, Language::zh);
  EXPECT_TRUE(h.says("分享"));
  EXPECT_FALSE(h.says("Share"));
  h.hover("head 0.1", {0, 2});
  EXPECT_TRUE(h.says("我 看向 李雷"));
  EXPECT_TRUE(h.says("L0·H1"));
  h.click("language");
  EXPECT_TRUE(h.says("Share"));
}

TEST_F(WindowTest, TheMenusHoldWhatIsSeldomNeeded) {
  Harness& h = *harness;
  h.click("theme");
  EXPECT_EQ(h.state.settings.theme, Theme::dark);
  EXPECT_EQ(h.map("head 0.0").scale.theme, Theme::dark);
  h.click("theme");
  EXPECT_EQ(h.state.settings.theme, Theme::light);
  h.click("motion");
  EXPECT_FALSE(h.state.settings.motion);
  EXPECT_FALSE(settings_from_json(to_json(h.state.settings)).motion) << "and is kept";
  h.click("export");
  EXPECT_EQ(h.state.browser.purpose, Browser::Purpose::export_to);
  EXPECT_TRUE(h.state.undo.empty()) << "settings are no edits";
}

TEST_F(WindowTest, EverythingGrowsWithTheSizeThatIsChosen) {
  Harness& h = *harness;
  const float low = h.box("top bar").h;
  EXPECT_EQ(low, 44);
  for (int i = 0; i < 12; ++i)
    h.push(SetSettings{[&] {
      Settings settings = h.state.settings;
      settings.ui_scale = std::min(2.0f, settings.ui_scale + 0.1f);
      return settings;
    }()});
  h.frame(2);
  EXPECT_FLOAT_EQ(h.state.settings.ui_scale, 2);
  EXPECT_EQ(h.box("top bar").h, 2 * low);
  EXPECT_TRUE(h.state.undo.empty()) << "settings are no edits";
}

TEST_F(WindowTest, ANoticeOfSeveralLinesSaysHowManyMoreAndShowsThem) {
  Harness& h = *harness;
  h.push(FileFailed{Error(ErrorCode::bad_value, "the first line\nthe second one\nand the third")});
  h.frame(2);
  EXPECT_TRUE(h.says("the first line +2 more")) << h.words_on_screen();
  EXPECT_FALSE(h.says("the second one"));
  for (const char* place : {"notice", "more of the notice"}) {
    h.point_at(place);
    EXPECT_TRUE(h.says("the second one")) << place;
    EXPECT_TRUE(h.says("and the third"));
    h.point_away();
  }
  h.click("dismiss");
  EXPECT_FALSE(h.state.notice);
  h.push(FileFailed{Error(ErrorCode::bad_value, "one line")});
  h.frame(2);
  EXPECT_FALSE(h.has("more of the notice") && h.says("more"));
}

TEST_F(WindowTest, LargerAndSmallerByButton) {
  Harness& h = *harness;
  h.click("larger");
  h.click("larger");
  EXPECT_NEAR(h.state.settings.ui_scale, 1.2f, 1e-5);
  h.frame(2);
  h.click("smaller");
  EXPECT_NEAR(h.state.settings.ui_scale, 1.1f, 1e-5);
}

TEST_F(WindowTest, TheHelpOpensAndCloses) {
  Harness& h = *harness;
  h.resize({1280, 1500});
  h.frame(2);
  h.click("help");
  EXPECT_TRUE(h.state.view.help);
  for (const Action& action : all_actions())
    EXPECT_TRUE(keys_of(action.id).empty() || h.says(action.name.en)) << action.name.en;
  EXPECT_TRUE(h.has("close help"));
  h.click("close help");
  EXPECT_FALSE(h.state.view.help);
  h.key(Key::f1);
  EXPECT_TRUE(h.state.view.help);
  h.click_at({4, 850});
  EXPECT_FALSE(h.state.view.help) << "a click beside it closes it";
  h.click("language");
  h.click("help");
  EXPECT_TRUE(h.says(action(Act::redo).name.zh));
  h.key(Key::f1);
  EXPECT_FALSE(h.state.view.help) << "its key closes it as well";
}

TEST_F(WindowTest, EveryWordHasItsGlyphs) {
  Harness& h = *harness;
  for (const TextSize size : {TextSize::small, TextSize::body, TextSize::title})
    for (const char32_t c : code_points(window_characters()))
      EXPECT_NE(h.fonts.font(size)->FindGlyphNoFallback(static_cast<ImWchar>(c)), nullptr)
          << std::hex << static_cast<unsigned>(c);
}

TEST_F(WindowTest, AnAnswerThatTookLongIsNotWaitedFor) {
  Harness& h = *harness;
  Config config = h.state.document.config;
  config.d_model = 256;
  config.num_layers = 6;
  h.push(SetConfig{config}, EndGesture{});
  int frames = 0;
  while (is_stale(h.state) && frames < 100000) {
    h.frame();
    ++frames;
    EXPECT_FALSE(h.maps.drawn.empty());
  }
  EXPECT_GT(frames, 1);
  h.frame();
  EXPECT_EQ(h.state.trace->num_layers(), 6);
}

}  // namespace
}  // namespace headlight
