// Text on paper: the machine's fonts (font_files.h) as cairo draws with them, every character in the first font that
// has it, its outline as designed: no hinting, no kerning, the same at any size. The marks of a space (␣) and of a line
// break (⏎), which few fonts have, are drawn; a picture (an
// emoji) that no font has is written as its name, any other such character as its number, U+0700.
#pragma once

struct _cairo;

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "figure/drawing/drawing.h"

namespace headlight {

/// Not to be used by two threads at once.
class PaperFonts {
 public:
  /// `preferred`: a font file, or a family's name, that is asked first for each character; without one English text has
  /// a Latin face first, where there is one. An Error names the Debian package to install, or the font that there is
  /// not.
  static Result<std::shared_ptr<PaperFonts>> open(const std::string& preferred = {}, Language language = Language::zh);

  /// The width of a line of text whose em is `size`.
  float width(std::string_view text, float size);
  /// The same as a function, for as long as this object lives.
  TextWidth measure();
  /// Draws a line of text from the current user space's (x, y) on, which lies on its base line.
  void draw(_cairo* cairo, std::string_view text, float size, float x, float y);
  /// How many characters were drawn as the font's sign for what it lacks.
  int num_missing() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Up to this many cells in a drawing are separate shapes; more are pixels of an image that is never smoothed.
inline constexpr Index kMostShapes = 4000;

void paint(_cairo* cairo, const Drawing& drawing, PaperFonts& fonts);

}  // namespace headlight
