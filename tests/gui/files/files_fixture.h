// A folder of files, and the browser of the window in it.
#pragma once

#include <fstream>

#include "base/file.h"
#include "gui/harness.h"

namespace headlight {

class FilesTest : public GuiTest {
 protected:
  void SetUp() override {
    Settings settings;
    settings.folder = folder.path().string();
    start({}, {1280, 800}, settings);
  }
  void put(const std::string& name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  }
  std::string get(const std::string& name) {
    const auto bytes = read_file(folder / name);
    EXPECT_TRUE(bytes) << bytes.error().message();
    return bytes ? *bytes : std::string{};
  }
  /// Clicks a button that opens the browser, and waits for its list.
  void browse(const std::string& button) {
    harness->click(button);
    harness->settle();
  }
  /// Replaces the name in the box.
  void type_name(const std::string& name) {
    harness->click("file name");
    harness->key({Key::left_ctrl, Key{'A'}});
    harness->key(Key::del);
    harness->type(name);
  }
  void enter() {
    harness->key(Key::enter);
    harness->settle();
  }
  AppState& state() { return harness->state; }
  Browser::Purpose browsing() { return state().browser.purpose; }
  Notice::Kind notice() { return state().notice ? state().notice->kind : Notice::Kind::restored; }

  TemporaryFolder folder;
};

}  // namespace headlight
