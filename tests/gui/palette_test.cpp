// Everything that can be done, by name.
#include "gui/harness.h"
#include "gui/shell/shell.h"

namespace headlight {
namespace {

class PaletteTest : public GuiTest {
 protected:
  void open() {
    harness->key({Key::left_ctrl, Key{'P'}});
    harness->frame(2);
  }
  std::vector<std::string> found() {
    std::vector<std::string> titles;
    with_gui([&](const Gui& gui) {
      for (const PaletteEntry& action : found_entries(gui, harness->state.view.palette->query))
        titles.push_back(action.title);
    });
    return titles;
  }
  void with_gui(const std::function<void(const Gui&)>& look) {
    Harness& h = *harness;
    Commands commands;
    const Gui gui{h.state, commands, h.fonts, h.maps, h.samples, {}, 1, nullptr};
    look(gui);
  }
};

TEST_F(PaletteTest, OpensFindsAndDoes) {
  Harness& h = *harness;
  open();
  ASSERT_TRUE(h.state.view.palette);
  EXPECT_TRUE(h.has("action 5"));
  h.type("causal on");
  h.frame(2);
  EXPECT_EQ(h.state.view.palette->query, "causal on");
  EXPECT_EQ(found().front(), "Hide later words: causal mask on");
  h.key(Key::enter);
  h.settle();
  EXPECT_FALSE(h.state.view.palette);
  EXPECT_TRUE(h.state.document.mask.causal);
  h.key({Key::left_ctrl, Key{'Z'}});
  EXPECT_FALSE(h.state.document.mask.causal) << "one step of undo";
}

TEST_F(PaletteTest, ArrowsChooseAndEscapeCloses) {
  Harness& h = *harness;
  open();
  h.type("theme");
  h.key(Key::escape);
  h.frame(2);
  EXPECT_FALSE(h.state.view.palette);
  EXPECT_EQ(h.state.settings.theme, Theme::light);
  open();
  EXPECT_EQ(h.state.view.palette->query, "");
  h.type("order of the heads:");  // the orders themselves, not the steps to the next one
  h.key(Key::down);
  h.key(Key::down);
  h.key(Key::up);
  EXPECT_EQ(h.state.view.palette->chosen, 1u);
  h.key(Key::enter);
  h.frame(2);
  EXPECT_EQ(h.state.view.order.by, HeadOrder::By::measure);
  EXPECT_EQ(h.state.view.order.measure, Measure::entropy);
}

TEST_F(PaletteTest, AClickDoesAndAClickOutsideLeaves) {
  Harness& h = *harness;
  open();
  h.type("dark");
  h.click("action 0");
  h.frame(2);
  EXPECT_EQ(h.state.settings.theme, Theme::dark);
  EXPECT_FALSE(h.state.view.palette);
  open();
  h.click_at({5, 700});
  h.frame(2);
  EXPECT_FALSE(h.state.view.palette);
}

TEST_F(PaletteTest, KeysOfTheWindowAreLettersWhileItIsOpen) {
  Harness& h = *harness;
  open();
  const Document before = h.state.document;
  for (const Key key : {Key{'M'}, Key{'D'}, Key::space, Key{'2'}, Key{'T'}}) h.key(key);
  EXPECT_TRUE(h.state.document == before);
  EXPECT_EQ(h.state.view.view, View::heads);
  EXPECT_EQ(h.state.settings.theme, Theme::light);
}

TEST_F(PaletteTest, WhatIsNotThereIsSaid) {
  Harness& h = *harness;
  open();
  h.type("xyzzy");
  h.frame(2);
  EXPECT_TRUE(h.says("Nothing is called that."));
  h.key(Key::enter);
  EXPECT_TRUE(h.state.view.palette) << "nothing was done";
}

TEST_F(PaletteTest, FindsInBothLanguages) {
  Settings chinese;
  chinese.language = Language::zh;
  start({}, {1280, 800}, chinese);
  open();
  for (const char* query : {"因果", "causal"}) {
    harness->push(ShowPalette{CommandPalette{query, 0}});
    EXPECT_EQ(found().front(), "遮住后面的词：打开因果掩码") << query;
  }
}

TEST_F(PaletteTest, FindsByNamesAlone) {
  open();
  harness->push(ShowPalette{CommandPalette{"mask", 0}});
  ASSERT_FALSE(found().empty());
  for (const std::string& title : found())
    EXPECT_FALSE(title.starts_with("Order of the heads")) << title << ": its tooltip speaks of masked words";
}

TEST_F(PaletteTest, EveryActionCanBeDone) {
  Harness& h = *harness;
  const AppState before = h.state;
  std::size_t count = 0;
  with_gui([&](const Gui& gui) { count = palette_entries(gui).size(); });
  EXPECT_GT(count, 45u);
  for (std::size_t i = 0; i < count; ++i) {
    h.state = before;
    h.maps = RecordingPainter{};  // the old one would take contents of an earlier state for those of this one
    Gui gui{h.state, h.commands, h.fonts, h.maps, h.samples, {}, 1, nullptr};
    const std::vector<PaletteEntry> all = palette_entries(gui);
    all[i].run(gui);
    h.frame(2);
    EXPECT_TRUE(is_consistent(h.state)) << all[i].title;
  }
  h.settle();
}

TEST_F(PaletteTest, TheStateIsCopiedAsACommand) {
  Harness& h = *harness;
  h.key({Key::left_ctrl, Key::left_shift, Key{'C'}});
  h.frame(2);
  EXPECT_TRUE(h.clipboard.starts_with("headlight figure --text '我请李雷帮我订了去北京的机票' --random --view heads "))
      << h.clipboard;
  EXPECT_TRUE(h.says("Copied: headlight figure"));
  h.key({Key::left_ctrl, Key{'P'}});
  h.type("export of the numbers command");
  h.key(Key::enter);
  h.frame(2);
  EXPECT_EQ(h.clipboard, "headlight export --text '我请李雷帮我订了去北京的机票' --random -o attention.json");
  h.push(PaintCell{{1, 2}, false}, EndGesture{});
  h.clipboard.clear();
  h.key({Key::left_ctrl, Key::left_shift, Key{'C'}});
  h.frame(2);
  EXPECT_EQ(h.clipboard, "");
  EXPECT_TRUE(h.says("found painted cells")) << h.words_on_screen();
}

}  // namespace
}  // namespace headlight
