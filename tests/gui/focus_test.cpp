// The keyboard without a pointer: Tab reaches every control, a ring shows where it is, Enter, Space and the arrows do
// what a click and a drag would.
#include <set>

#include "gui/keys_fixture.h"

namespace headlight {
namespace {

bool is_clicked(BoxKind kind) {
  return kind == BoxKind::button || kind == BoxKind::segment || kind == BoxKind::menu || kind == BoxKind::link ||
         kind == BoxKind::field || kind == BoxKind::slider || kind == BoxKind::thumbnail;
}

class FocusTest : public KeysTest {
 protected:
  /// Tab until the ring is around the control; false where it never is.
  bool tab_to(const std::string& name, bool back = false) {
    for (int i = 0; i < 400; ++i) {
      back ? shift(Key::tab) : key({Key::tab});
      if (state().view.focus.name == name) return true;
    }
    return false;
  }
};

TEST_F(FocusTest, TabReachesEveryControlOfEveryViewAndARingShowsIt) {
  Harness& h = *harness;
  h.push(SwitchHead{{0, 1}, true}, EndGesture{}, SwitchHead{{0, 2}, true}, EndGesture{}, Undo{});  // both arrows are on
  h.push(Pin{CellRef{4, 5}}, KeepAnswer{});
  h.settle();
  for (const View view : {View::heads, View::inside, View::code, View::flow, View::train, View::compare}) {
    SCOPED_TRACE(static_cast<int>(view));
    h.push(ShowView{view});
    h.settle();
    const DrawnBoxes boxes = h.boxes;
    std::set<std::string> reached;
    std::string first;
    for (int i = 0; i < 400; ++i) {
      key({Key::tab});
      const std::string name = state().view.focus.name;
      if (i == 0) first = name;
      else if (name == first) break;
      EXPECT_TRUE(reached.insert(name).second || i == 0) << name << " was reached twice on the way";
      const Box box = h.box(name);
      const float edge = 5;
      EXPECT_TRUE(h.drew(h.colours().action, {box.x - edge, box.y - edge, box.w + 2 * edge, box.h + 2 * edge})) << name;
    }
    reached.insert(first);
    for (const DrawnBox& box : boxes)
      if (is_clicked(box.kind)) { EXPECT_TRUE(reached.contains(box.name)) << box.name; }
    key({Key::escape});
    EXPECT_EQ(state().view.focus.item, 0u) << "Escape takes the ring away";
  }
}

TEST_F(FocusTest, ShiftTabGoesBackAndAClickTakesTheRingAway) {
  Harness& h = *harness;
  key({Key::tab});
  key({Key::tab});
  const ControlFocus second = state().view.focus;
  key({Key::tab});
  shift(Key::tab);
  EXPECT_EQ(state().view.focus, second);
  h.click("head 0.3");
  EXPECT_EQ(state().view.focus.item, 0u);
}

TEST_F(FocusTest, EnterAndSpacePressWhatIsInTheRing) {
  ASSERT_TRUE(tab_to("paint"));
  key({Key::enter});
  harness->frame(2);
  EXPECT_TRUE(state().view.painting);
  key({Key::space});
  harness->frame(2);
  EXPECT_FALSE(state().view.painting);
  EXPECT_TRUE(document().edits.off.empty()) << "Space did not switch the head off besides";
  ASSERT_TRUE(tab_to("head 1.2"));
  key({Key::enter});
  harness->frame(2);
  EXPECT_EQ(state().view.chosen, (HeadRef{1, 2}));
}

TEST_F(FocusTest, AMenuKeepsTheRingUntilItIsClosed) {
  ASSERT_TRUE(tab_to("more menu"));
  key({Key::enter});
  harness->frame(2);
  ASSERT_TRUE(harness->has("theme"));
  ASSERT_TRUE(tab_to("theme"));
  std::set<std::string> reached;
  for (int i = 0; i < 30; ++i) {
    key({Key::tab});
    reached.insert(state().view.focus.name);
  }
  EXPECT_FALSE(reached.contains("head 0.0"));
  ASSERT_TRUE(tab_to("theme"));
  key({Key::enter});
  harness->frame(2);
  EXPECT_EQ(state().settings.theme, Theme::dark);
}

TEST_F(FocusTest, TheArrowsMoveASliderAsOneStepOfUndo) {
  ASSERT_TRUE(tab_to("layers"));
  const Index before = document().config.num_layers;
  key({Key::right});
  harness->settle();
  EXPECT_EQ(document().config.num_layers, before + 1);
  EXPECT_EQ(state().undo.size(), 1u);
  ctrl(Key{'Z'});
  harness->settle();
  EXPECT_EQ(document().config.num_layers, before);
}

TEST_F(FocusTest, TheSentenceBoxTakesTheKeyboardAndLetsItGo) {
  ASSERT_TRUE(tab_to("text"));
  EXPECT_TRUE(typing());
  const std::string before = document().source.text;
  key({Key::tab});
  EXPECT_FALSE(typing());
  EXPECT_NE(state().view.focus.name, "text");
  EXPECT_EQ(document().source.text, before);
  shift(Key::tab);
  EXPECT_TRUE(typing());
}

}  // namespace
}  // namespace headlight
