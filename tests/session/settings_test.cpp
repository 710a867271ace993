#include "view/settings.h"

#include <gtest/gtest.h>

#include "app/session_fixture.h"

namespace headlight {
namespace {

using fixture::Variable;

class SettingsOf : public testing::Test {
 protected:
  Variable all_{"LC_ALL", nullptr}, messages_{"LC_MESSAGES", nullptr}, lang_{"LANG", "en_GB.UTF-8"};
};

TEST_F(SettingsOf, ReadBackEqual) {
  Settings settings = default_settings();
  settings.language = Language::zh;
  settings.theme = Theme::dark;
  settings.ui_scale = 1.25f;
  settings.colours = ColourMap::cividis;
  settings.greeted = true;
  settings.recent = {"/a/我.npz", "/b \"quoted\".txt"};
  settings.window = {1000, 700, true};
  settings.layout = {
      View::compare, GridShow::relations, MapKind::norms, {true, true, PairPart::b_to_a}, Scale::log, true,
      true,          InsideTab::diagram,  true,           DifferenceOrder::divergence};
  settings.lesson = {"06-masks", "/l/06-masks.json", 3};
  EXPECT_EQ(settings_from_json(to_json(settings)), settings);
}

TEST_F(SettingsOf, TwoWindowsTakeNothingBackFromEachOther) {
  Settings before = default_settings();
  before.recent = {"/old"};
  before.lesson = {"06-masks", "/l/06-masks.json", 3};
  Settings one = before, other = before;
  one.theme = Theme::dark;
  one.lesson = {};
  remember(one, "/one");
  other.ui_scale = 1.5f;
  remember(other, "/other");
  const std::string first = with_changes(to_json(before), before, one);
  const Settings both = settings_from_json(with_changes(first, before, other));
  EXPECT_EQ(both.theme, Theme::dark);
  EXPECT_EQ(both.ui_scale, 1.5f);
  EXPECT_EQ(both.recent, (std::vector<std::string>{"/other", "/old", "/one"}));
  EXPECT_TRUE(both.lesson.name.empty()) << "taken away by one, untouched by the other";
  EXPECT_EQ(settings_from_json(with_changes("broken", before, one)), [&] {
    Settings fresh = default_settings();
    fresh.theme = Theme::dark;
    fresh.recent = one.recent;
    return fresh;
  }());
}

TEST_F(SettingsOf, TheWindowKeepsASizeThatItCanHave) {
  const WindowSize plain;
  for (const char* window :
       {"5", "{}", R"({"width": 0, "height": -3, "maximised": 1})",
        R"({"width": 1e300, "height": 99999999999, "maximised": "yes"})", R"({"width": "800", "height": 700.5})"})
    EXPECT_EQ(settings_from_json("{\"window\": " + std::string(window) + "}").window, plain) << window;
  EXPECT_EQ(settings_from_json(R"({"window": {"width": 1000}})").window, (WindowSize{1000, 900, false}));
  EXPECT_EQ(remembered({900, 700}, {1920, 1080, true}), (WindowSize{900, 700, true})) << "what it goes back to";
  EXPECT_EQ(remembered({1100, 700, true}, {1000, 650, false}), (WindowSize{1000, 650, false}));
  EXPECT_EQ(remembered({900, 700}, {1, 70000, false}), (WindowSize{kLeastWindow.width, 16384, false}));
}

TEST_F(SettingsOf, ALayoutOrALessonThatCannotBeUsedIsThatOfTheStart) {
  const auto layout_from = [](const std::string& layout) {
    return settings_from_json("{\"layout\": " + layout + "}").layout;
  };
  for (const char* layout : {"7", "[]", "null"}) EXPECT_EQ(layout_from(layout), default_settings().layout) << layout;
  for (const char* layout : {"{}", R"({"view": 3, "grid": "all", "maps": null, "fold_special": 1,
                             "pair": "c-d", "scale": 5, "tab": 7, "differences": []})"})
    EXPECT_EQ(layout_from(layout), (Layout{.fold = {.special = true}})) << "what it does not say is off: " << layout;
  EXPECT_EQ(default_settings().layout.fold, (FoldChoice{.special = true, .words = true}))
      << "words alone, at the start";
  EXPECT_FALSE(layout_from(R"({"fold_special": false})").fold.special);
  for (const char* lesson : {"7", "[]", "{}", "\"masks\"", R"({"name": "", "step": 2})", R"({"path": "/x.json"})"})
    EXPECT_EQ(settings_from_json("{\"lesson\": " + std::string(lesson) + "}").lesson, LessonMark{}) << lesson;
}

TEST_F(SettingsOf, NothingUsableGivesTheDefault) {
  for (const char* text :
       {"", "{", "[]", "null", "\xFF\xFE", "{\"theme\": \"dark\", ", "{}",
        R"({"language": "fr", "theme": 5, "ui_scale": "big", "recent": {"a": 1}, "new": true, "colours": 3,
                     "greeted": 1})",
        R"({"ui_scale": null, "recent": [1, null, []]})"})
    EXPECT_EQ(settings_from_json(text), default_settings()) << text;
  const Variable chinese("LANG", "zh_CN.UTF-8");
  EXPECT_EQ(settings_from_json(R"({"language": "fr"})").language, Language::zh);
  EXPECT_EQ(settings_from_json(R"({"language": "en"})").language, Language::en);
}

TEST_F(SettingsOf, ScaleStaysInItsRange) {
  EXPECT_EQ(settings_from_json(R"({"ui_scale": 9})").ui_scale, kMostUiScale);
  EXPECT_EQ(settings_from_json(R"({"ui_scale": -9})").ui_scale, kLeastUiScale);
  EXPECT_EQ(settings_from_json(R"({"ui_scale": 1e300})").ui_scale, kMostUiScale);
}

TEST_F(SettingsOf, RecentFilesAreFewAndEachOnce) {
  Settings settings;
  for (std::size_t i = 0; i < 12; ++i) {
    remember(settings, "/" + std::to_string(i));
    EXPECT_EQ(settings.recent.size(), std::min(i + 1, kMostRecent));
  }
  EXPECT_EQ(settings.recent.front(), "/11");
  remember(settings, "/8");
  EXPECT_EQ(settings.recent.size(), kMostRecent);
  EXPECT_EQ(settings.recent[0], "/8");
  EXPECT_EQ(std::count(settings.recent.begin(), settings.recent.end(), "/8"), 1);
  settings.recent.assign(50, "/x");
  EXPECT_EQ(settings_from_json(to_json(settings)).recent.size(), kMostRecent);
}

TEST_F(SettingsOf, LanguageIsTheSystems) {
  EXPECT_EQ(default_settings().language, Language::en);
  {
    const Variable lang("LANG", "zh_TW.UTF-8");
    EXPECT_EQ(default_settings().language, Language::zh);
    const Variable messages("LC_MESSAGES", "de_DE");
    EXPECT_EQ(default_settings().language, Language::en) << "LC_MESSAGES stands above LANG";
    const Variable all("LC_ALL", "zh_CN");
    EXPECT_EQ(default_settings().language, Language::zh) << "LC_ALL above both";
  }
  const Variable empty("LC_ALL", "");
  EXPECT_EQ(default_settings().language, Language::en);
}

TEST_F(SettingsOf, PlacesFollowTheVariablesOrTheHomeFolder) {
  const Variable config("XDG_CONFIG_HOME", "/c"), state("XDG_STATE_HOME", "/s");
  EXPECT_EQ(settings_path(), "/c/headlight/settings.json");
  EXPECT_EQ(state_folder(), "/s/headlight");
  const Variable no_config("XDG_CONFIG_HOME", "relative"), no_state("XDG_STATE_HOME", nullptr);
  const Variable home("HOME", "/home/someone");
  EXPECT_EQ(settings_path(), "/home/someone/.config/headlight/settings.json");
  EXPECT_EQ(state_folder(), "/home/someone/.local/state/headlight");
}

}  // namespace
}  // namespace headlight
