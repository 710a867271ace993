// Short names for keys and for what they change.
#pragma once

#include "gui/harness.h"

namespace headlight {

class KeysTest : public GuiTest {
 protected:
  AppState& state() { return harness->state; }
  Document& document() { return state().document; }
  void key(std::initializer_list<Key> keys) { harness->key(keys); }
  void shift(Key key) { harness->key({Key::left_shift, key}); }
  void alt(Key key) { harness->key({Key::left_alt, key}); }
  void alt_shift(Key key) { harness->key({Key::left_alt, Key::left_shift, key}); }
  void ctrl(Key key) { harness->key({Key::left_ctrl, key}); }
  void ctrl_shift(Key key) { harness->key({Key::left_ctrl, Key::left_shift, key}); }
  Browser::Purpose browsing() { return state().browser.purpose; }
  bool typing() {
    harness->frame(3);
    return ImGui::GetIO().WantTextInput;
  }
  void close_browser() {
    harness->push(Browse{});
    harness->frame(2);
  }
};

}  // namespace headlight
