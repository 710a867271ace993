// Text on paper: the machine's fonts (font_files.h) as cairo draws with them, every character in the first font that
// has it, its outline as designed: no hinting, no kerning, the same at any size.
#pragma once

struct _cairo;

#include <memory>
#include <string_view>

#include "base/result.h"
#include "figure/drawing/drawing.h"

namespace headlight {

/// Not to be used by two threads at once.
class PaperFonts {
 public:
  /// An Error names the Debian package to install.
  static Result<std::shared_ptr<PaperFonts>> open();

  /// The width of a line of text whose em is `size`.
  float width(std::string_view text, float size);
  /// The same as a function, for as long as this object lives.
  TextWidth measure();
  /// Draws a line of text from the current user space's (x, y) on, which lies on its base line.
  void draw(_cairo* cairo, std::string_view text, float size, float x, float y);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Cells are shapes of their own up to this many in a drawing, and pixels of an image that is never smoothed above it.
inline constexpr Index kMostShapes = 4000;

void paint(_cairo* cairo, const Drawing& drawing, PaperFonts& fonts);

}  // namespace headlight
