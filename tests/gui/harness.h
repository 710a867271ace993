// The window without a display: a Dear ImGui context with no backend, the program's state and loop behind it, and
// functions that point, click and type. Frames run in the order of app/gl/app.cpp.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/frame/kept_texts.h"
#include "gui/frame/map_view.h"
#include "gui/frame/motion.h"
#include "gui/imgui_input.h"
#include "gui/shell/shell.h"
#include "session/loop/loop.h"
#include "temporary_folder.h"

namespace headlight {

/// A map that a panel asked for in the last frame.
struct DrawnMap {
  Matrix weights;
  std::uint64_t version = 0;
  Box box;
  ColourScale scale;
  float opacity = 1;
};

struct DrawnPicture {
  std::shared_ptr<const PatchedPicture> picture;
  Box box;
};

/// Remembers what it was asked to draw. A version that comes back with another content is a failure.
class RecordingPainter : public MapPainter {
 public:
  void draw(ImDrawList&, const Matrix& weights, std::uint64_t version, ImVec2 min, ImVec2 max, const ColourScale& scale,
            float opacity) override;
  void draw_picture(ImDrawList&, const std::shared_ptr<const PatchedPicture>& picture, ImVec2 min,
                    ImVec2 max) override {
    pictures.push_back({picture, {min.x, min.y, max.x - min.x, max.y - min.y}});
  }

  std::vector<DrawnMap> drawn;  // of the last frame
  std::vector<DrawnPicture> pictures;

 private:
  std::map<std::uint64_t, std::size_t> contents_;
};

/// Where a pointer is that points at nothing.
inline constexpr float kFarAway = -1e5f;

class Harness {
 public:
  explicit Harness(Document document = {}, ImVec2 size = {1440, 900}, Settings settings = {});
  ~Harness();
  Harness(const Harness&) = delete;

  /// One turn: commands and answers into the state, then the whole window drawn.
  void frame(int count = 1);
  /// Frames until no work is left and the answers have been drawn.
  void settle();
  /// Pushes commands as a panel would, and draws the outcome.
  template <class... Pushed>
  void push(Pushed... pushed) {
    (commands.emplace_back(std::move(pushed)), ...);
    frame();
  }
  void resize(ImVec2 size) { size_ = size; }

  bool has(const std::string& name) const { return probe.contains(name); }
  /// Where a named control was drawn last; a failure where it was not.
  Box box(const std::string& name) const;
  /// The middle of a cell of the pattern in a map ("head 0.1", "stage map").
  ImVec2 cell_point(const std::string& map, CellRef cell) const;
  /// The map that the last frame drew under this name; a failure where there is none.
  DrawnMap map(const std::string& name) const;

  void move_to(ImVec2 at);  // and the two frames after which hovering is known
  void point_at(const std::string& name);
  void point_away();
  void hover(const std::string& map, CellRef cell) { move_to(cell_point(map, cell)); }
  void press(int button = 0);
  void release(int button = 0);
  /// A click that no later one makes a double click.
  void click(const std::string& name, int button = 0);
  void click_at(ImVec2 at, int button = 0);
  void double_click(const std::string& name);
  void double_click_at(ImVec2 at);
  /// Presses, moves in steps of a few pixels, lets go.
  void drag(ImVec2 from, ImVec2 to, int button = 0, int steps = 12);
  /// Drags a slider from one share of its width to another.
  void slide(const std::string& name, float from, float to);
  void wheel(float up);
  /// Turns the wheel over a region until the named control stands inside it; false where it never does.
  bool scroll_into(const std::string& region, const std::string& name);

  /// Keys go down in this order and up in the reverse.
  void key(std::initializer_list<Key> keys);
  void key(Key key) { this->key({key}); }
  void hold(Key key, bool down);
  /// As the keyboard or the input method gives it, a character a frame; a line break is Shift Enter.
  void type(std::string_view utf8);
  void paste(const std::string& text);
  /// Clicks into the sentence box, replaces what it holds, and stays in it.
  void retype(std::string_view utf8);

  /// Everything legible that the window wrote in one more frame, without spaces; what is cut off is not in it.
  std::string words_on_screen();
  /// Whether that has `part`, spaces aside.
  bool says(const std::string& part);

  /// Whether the last frame drew something in exactly this colour with a corner inside `place`.
  bool drew(ImU32 colour, const Box& place) const;
  /// The box of a cell of a map, a pixel larger on every side: where its outline is.
  Box outline_of(const std::string& map, CellRef cell) const;

  /// The tokens that the window shows, between bars.
  std::string tokens(TextSide side = TextSide::source) const;

  const Palette& colours() const { return palette(state.settings.theme); }

  AppState state;
  Commands commands;
  Fonts& fonts;  // of all windows of this process
  RecordingPainter maps;
  Motion motion;
  KeptTexts texts;
  bool moves = false;  // maps fade as in the window; else everything is drawn as it is in the end
  DrawnBoxes boxes;    // of the last frame
  Probe probe;
  std::string clipboard;
  std::vector<Sample> samples;
  std::unique_ptr<Loop> loop;
  std::function<void()> after_frame;  // called after every frame, where there is one

 private:
  void draw();
  void reach(const std::string& name);
  void scroll_to(const std::string& name);

  Lexicon lexicon_;
  ImGuiContext* context_ = nullptr;
  ImVec2 size_;
  float seconds_ = 1.0f / 60;
  double now_ = 0;
  std::string pasted_, *logged_ = nullptr;
  std::string menu_;  // that was opened to reach what is in it
};

/// A test of the window as it starts: the default sentence, settled.
class GuiTest : public testing::Test {
 protected:
  void SetUp() override { start(); }
  void start(Document document = {}, ImVec2 size = {1440, 900}, Settings settings = {});

  std::unique_ptr<Harness> harness;
};

/// An answer's weights of one head.
Matrix weights_of(const Trace& trace, HeadRef head);

/// What must hold in every state: the model is possible, cuts are cuts, what is lit and shown is inside the answer.
testing::AssertionResult is_consistent(const AppState& state);

}  // namespace headlight
