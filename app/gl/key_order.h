// Keys and characters in the order in which they came, for a Dear ImGui that sees only which keys are down when a frame
// begins (before 1.87): however many come between two frames, none is lost and none meets a Ctrl it was not typed with.
#pragma once

#include <functional>
#include <set>
#include <vector>

namespace headlight {

/// A key as GLFW reports it, or a character that was typed.
struct KeyEvent {
  int key = 0, scancode = 0, action = 0, mods = 0;
  unsigned character = 0;  // 0: a key

  friend bool operator==(const KeyEvent&, const KeyEvent&) = default;
};

class KeyOrder {
 public:
  using Deliver = std::function<void(const KeyEvent&)>;

  /// Delivers an event now, or when a frame has seen those before it: the release of a key that no frame has seen down;
  /// Ctrl and its like where keys before them were not seen, and all that follows theirs; Escape likewise, and all that
  /// follows it, since a text box forgets the characters of the frame in which Escape leaves it.
  void add(const KeyEvent& event, const Deliver& deliver);

  /// A frame has seen all that was delivered; what waited is. True where anything did: another frame is owed.
  bool frame_ended(const Deliver& deliver);
  /// Whether any waits for the end of a frame.
  bool waits() const { return !held_.empty(); }

 private:
  std::set<int> fresh_;  // keys that went down since the last frame
  std::vector<KeyEvent> held_;
  bool typed_ = false;  // characters came since the last frame: an input method's have no keys
  bool all_wait_ = false;
};

}  // namespace headlight
