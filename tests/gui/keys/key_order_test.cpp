#include "gl/gui_context.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace headlight {
namespace {

/// What Dear ImGui 1.86 makes of events: a frame sees which keys went down, and whether Ctrl is down at its beginning.
class Frames {
 public:
  void down(int key) { order.add({.key = key, .action = GLFW_PRESS}, deliver); }
  void up(int key) { order.add({.key = key, .action = GLFW_RELEASE}, deliver); }
  void tap(int key) {
    down(key);
    if (key < 128) type(static_cast<char>(key));
    up(key);
  }
  void type(char character) { order.add({.character = static_cast<unsigned>(character)}, deliver); }
  /// Frames until nothing waits: of each the keys that it sees go down, ~ for Escape, with ^ where Ctrl is, and then
  /// the characters.
  std::string seen() {
    std::string all;
    for (bool more = true; more;) {
      for (const int key : keys)
        if (!before.contains(key) && (key < 128 || key == GLFW_KEY_ESCAPE))
          all += (keys.contains(GLFW_KEY_LEFT_CONTROL) ? "^" : "") +
                 std::string(1, key == GLFW_KEY_ESCAPE ? '~' : static_cast<char>(key));
      all += "|" + characters + " ";
      characters.clear();
      before = keys;
      more = order.frame_ended(deliver);
    }
    return all;
  }

 private:
  KeyOrder order;
  std::set<int> keys, before;
  std::string characters;
  KeyOrder::Deliver deliver = [this](const KeyEvent& event) {
    if (event.character) characters += static_cast<char>(event.character);
    else if (event.action == GLFW_RELEASE) keys.erase(event.key);
    else keys.insert(event.key);
  };
};

TEST(KeyOrder, KeysBetweenTwoFramesAreAllSeen) {
  Frames frames;
  frames.tap('A');
  frames.tap('B');
  EXPECT_EQ(frames.seen(), "AB|AB | ");
}

TEST(KeyOrder, WhatFollowsAShortcutIsTypedWithoutItsCtrl) {
  Frames frames;
  frames.down(GLFW_KEY_LEFT_CONTROL);
  frames.down('L');
  frames.up('L');
  frames.up(GLFW_KEY_LEFT_CONTROL);
  frames.tap('Q');
  EXPECT_EQ(frames.seen(), "^L| Q|Q | ");
}

TEST(KeyOrder, WhatComesBeforeAShortcutIsTypedWithoutItsCtrl) {
  Frames frames;
  frames.tap('Q');
  frames.down(GLFW_KEY_LEFT_CONTROL);
  frames.down('S');
  frames.up('S');
  frames.up(GLFW_KEY_LEFT_CONTROL);
  EXPECT_EQ(frames.seen(), "Q|Q ^S| | ");
}

TEST(KeyOrder, EscapeTakesNothingBackThatWasTypedBefore) {
  Frames frames;
  frames.down('A');
  frames.type('A');
  frames.down(GLFW_KEY_ESCAPE);  // before the letter goes up, as by two fingers
  frames.up('A');
  frames.up(GLFW_KEY_ESCAPE);
  frames.tap('B');
  EXPECT_EQ(frames.seen(), "A|A ~| B|B | ");
  frames.type('C');  // an input method's: no key comes with it
  frames.tap(GLFW_KEY_ESCAPE);
  EXPECT_EQ(frames.seen(), "|C ~| | ");
  frames.tap(GLFW_KEY_ESCAPE);
  EXPECT_EQ(frames.seen(), "~| | ") << "alone it is not late";
}

TEST(KeyOrder, ModifiersGoTogether) {
  Frames frames;
  frames.down(GLFW_KEY_LEFT_SHIFT);
  frames.down(GLFW_KEY_LEFT_CONTROL);
  frames.down('P');
  EXPECT_EQ(frames.seen(), "^P| ");
}

}  // namespace
}  // namespace headlight
