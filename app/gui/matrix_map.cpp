#include "gui/matrix_map.h"

#include <cmath>
#include <cstdio>

#include "gui/draw.h"
#include "gui/imgui_compat.h"
#include "gui/map_view.h"
#include "write/number.h"

namespace headlight {

ColourScale picture_scale(const AppState& state, const Picture& picture, bool is_signed) {
  return {.theme = state.settings.theme, .top = nice_range(picture.largest), .diverging = is_signed};
}

void draw_picture(Gui& gui, ImDrawList& list, const Picture& picture, std::uint64_t version, const Box& box,
                  bool is_signed) {
  const bool stale = is_stale(gui.state) || gui.state.inside->question.trace != gui.state.trace;
  gui.maps.draw(list, picture.values, version, top_left(box), bottom_right(box),
                picture_scale(gui.state, picture, is_signed), stale ? kStaleOpacity : 1.0f);
  draw_rect(list, {box.x - 1, box.y - 1}, {box.right() + 1, box.bottom() + 1}, gui.colours().line);
}

// Thumbnails count from 0, details from 1 << 63: these lie between.
std::uint64_t inside_picture_version(const AppState& state, std::size_t node) {
  return std::uint64_t{1} << 62 | state.inside_version << 10 | (node + 1);
}
std::uint64_t inside_matrix_version(const AppState& state) {
  return std::uint64_t{1} << 62 | state.inside_version << 10;
}

std::string brief_number(float value) {
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  char text[32];
  const double size = std::abs(static_cast<double>(value));
  std::snprintf(text, sizeof text, size != 0 && (size < 1e-3 || size >= 1e5) ? "%.2e" : "%.4g",
                static_cast<double>(value));
  return text;
}

std::string exact_number(float value) {
  std::string text;
  return append_number(text, value) ? text : brief_number(value);
}

std::string numbers_in_brief(const Matrix& values) {
  constexpr Index kMost = 16;
  std::string line;
  for (Index i = 0; i < std::min(values.size(), kMost); ++i) {
    if (i > 0) line += "  ";
    line += values.size() == 1 ? exact_number(values.data()[i]) : brief_number(values.data()[i]);
  }
  if (values.size() > kMost) line += "  …";
  return line;
}

}  // namespace headlight
