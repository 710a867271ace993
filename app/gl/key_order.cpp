#include "gl/key_order.h"

#include <algorithm>
#include <utility>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

namespace headlight {
namespace {

bool is_modifier(int key) { return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER; }

}  // namespace

void KeyOrder::add(const KeyEvent& event, const Deliver& deliver) {
  const bool modifier = event.character == 0 && is_modifier(event.key);
  const bool release = event.character == 0 && event.action == GLFW_RELEASE;
  const bool after_keys =
      typed_ || std::any_of(fresh_.begin(), fresh_.end(), [](int key) { return !is_modifier(key); });
  const bool after_escape = fresh_.contains(GLFW_KEY_ESCAPE);
  const bool parts = modifier || (event.character == 0 && event.key == GLFW_KEY_ESCAPE);
  const bool early = release ? !fresh_.empty() : after_escape || (parts && after_keys);
  if (all_wait_ || early) {
    held_.push_back(event);
    all_wait_ = all_wait_ || modifier || !release;
    return;
  }
  if (event.character == 0 && event.action == GLFW_PRESS) fresh_.insert(event.key);
  typed_ = typed_ || event.character != 0;
  deliver(event);
}

bool KeyOrder::frame_ended(const Deliver& deliver) {
  fresh_.clear();
  typed_ = all_wait_ = false;
  const auto waited = std::exchange(held_, {});
  for (const KeyEvent& event : waited) add(event, deliver);
  return !waited.empty();
}

}  // namespace headlight
