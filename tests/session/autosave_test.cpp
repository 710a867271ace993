// The recovery file and the settings: written by the loop while a window runs and when it ends.
#include <gtest/gtest.h>

#include "app/session_fixture.h"
#include "session/loop/recovery.h"

namespace headlight {
namespace {

using fixture::bytes;
using fixture::eventually;
using fixture::Folder;
using fixture::push;
using fixture::small_state;

class Autosave : public testing::Test {
 protected:
  Folder folder_;
  fixture::Variable config_{"XDG_CONFIG_HOME", folder_.path().c_str()};
  fixture::Variable state_{"XDG_STATE_HOME", folder_.path().c_str()};
  std::string path_ = autosave_path().string();

  bool kept() const { return std::filesystem::exists(path_); }

  /// Changes a setting and quits in the same step.
  void quit_with_dark_theme() const {
    AppState state = small_state();
    Loop loop({}, path_);
    push(loop, state, {});
    Settings settings;
    settings.theme = Theme::dark;
    push(loop, state, {SetSettings{settings}, Quit{}}, 0.01);
  }
};

TEST_F(Autosave, HoldsAChangeSoonAndStaysUntilItIsSaved) {
  AppState state = small_state();
  {
    Loop loop({}, path_);
    loop.settle(state);
    push(loop, state, {}, 10);
    EXPECT_FALSE(kept()) << "nothing was changed";
    push(loop, state, {SetText{"我写的字"}}, 20);
    const double due = loop.next_due(20);
    EXPECT_GT(due, 0);
    EXPECT_LE(due, 0.5);
    push(loop, state, {}, 20 + due);
    ASSERT_TRUE(eventually(
        loop, state, [&] { return kept(); }, 21));
    EXPECT_NE(bytes(path_).find("我写的字"), std::string::npos);
    const auto session = read_session(path_);
    ASSERT_TRUE(session) << session.error().message();
    EXPECT_EQ(session->document, state.document);
  }
  EXPECT_TRUE(kept()) << "what was typed was not saved";
  {
    Loop loop({}, path_);
    loop.settle(state);
    push(loop, state, {SaveSession{(folder_ / "mine.headlight.json").string()}});
    loop.settle(state);
    push(loop, state, {Quit{}});
    EXPECT_TRUE(state.quit);
  }
  EXPECT_FALSE(kept()) << "nothing is unsaved";
}

TEST_F(Autosave, QuittingAtOnceKeepsWhatWasTyped) {
  AppState state = small_state();
  {
    Loop loop({}, path_);
    push(loop, state, {}, 0);
    push(loop, state, {SetText{"我写的字"}, Quit{}}, 0.01);
    EXPECT_TRUE(state.quit);
  }
  ASSERT_TRUE(kept());
  EXPECT_NE(bytes(path_).find("我写的字"), std::string::npos);
}

TEST_F(Autosave, ASaveThatFailsTakesTheEndBack) {
  AppState state = small_state();
  {
    Loop loop({}, path_);
    push(loop, state, {}, 0);
    push(loop, state, {SetText{"我写的字"}, SaveSession{"/dev/null/mine.headlight.json"}, Quit{}}, 0.01);
    EXPECT_FALSE(state.quit) << "the save goes on";
    loop.settle(state);
    EXPECT_FALSE(state.quit);
    ASSERT_TRUE(state.notice);
    EXPECT_EQ(state.notice->kind, Notice::Kind::failed);
    push(loop, state, {SaveSession{(folder_ / "mine.headlight.json").string()}, Quit{}}, 0.02);
    loop.settle(state);
    EXPECT_TRUE(state.quit);
  }
  EXPECT_FALSE(kept());
}

TEST_F(Autosave, WhatCannotBeWrittenIsSaidOnceAndTriedAgain) {
  AppState state = small_state();
  const std::filesystem::path folder = folder_ / "full";
  Loop loop({}, (folder / "autosave.headlight.json").string());
  loop.settle(state);
  push(loop, state, {}, 0);
  push(loop, state, {SetText{"我写的字"}}, 1);
  ASSERT_TRUE(eventually(
      loop, state, [&] { return state.notice.has_value(); }, 2));
  EXPECT_EQ(state.notice->kind, Notice::Kind::failed);
  EXPECT_NE(state.notice->text.find("autosave"), std::string::npos);
  push(loop, state, {DismissNotice{}}, 2);
  EXPECT_TRUE(eventually(
      loop, state, [&] { return loop.next_due(2) > 1; }, 2))
      << "but not at once";
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(eventually(
      loop, state, [&] { return std::filesystem::exists(folder / "autosave.headlight.json"); }, 8));
  EXPECT_FALSE(state.notice);
}

TEST_F(Autosave, AFailureIsAnAnswerThatIsSeen) {
  AppState state = small_state();
  Loop loop({}, (folder_ / "none" / "autosave.headlight.json").string());
  loop.settle(state);
  push(loop, state, {SetText{"我写的字"}}, 1);
  Commands none;
  for (double now = 2; !state.notice && now < 2000; ++now) {
    const bool answered = loop.step(state, none, now);
    if (state.notice) { EXPECT_TRUE(answered); }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(state.notice);
}

TEST_F(Autosave, SettingsOfANewerVersionAreLeftAlone) {
  const std::string newer = R"({"schema": "headlight.settings/2", "theme": {"of": "tomorrow"}})";
  ASSERT_TRUE(write_file(settings_path(), newer));
  quit_with_dark_theme();
  EXPECT_EQ(bytes(settings_path()), newer);
}

TEST_F(Autosave, SettingsOfAnotherWindowStay) {
  Settings other;
  other.ui_scale = 1.5f;
  {
    AppState state = small_state();
    Loop loop({}, path_);
    push(loop, state, {}, 0);
    ASSERT_TRUE(write_file(settings_path(), to_json(other)));  // by a window beside this one
    Settings settings = state.settings;
    settings.theme = Theme::dark;
    push(loop, state, {SetSettings{settings}, Quit{}}, 0.01);
  }
  const Settings kept = settings_from_json(bytes(settings_path()));
  EXPECT_EQ(kept.theme, Theme::dark);
  EXPECT_EQ(kept.ui_scale, 1.5f);
}

TEST_F(Autosave, SettingsAreKeptAlsoByQuittingAtOnce) {
  quit_with_dark_theme();
  EXPECT_EQ(settings_from_json(bytes(settings_path())).theme, Theme::dark);
  EXPECT_FALSE(kept());
}

TEST_F(Autosave, WhatACrashLeftIsKeptAgainWithoutAChange) {
  AppState state = small_state("restored");
  state.notice = Notice{Notice::Kind::restored, {}};
  Loop loop({}, path_);
  push(loop, state, {}, 0);
  ASSERT_TRUE(eventually(
      loop, state, [&] { return kept(); }, 1));
  EXPECT_NE(bytes(path_).find("restored"), std::string::npos);
}

}  // namespace
}  // namespace headlight
