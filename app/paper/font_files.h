// The outline fonts of this machine in the order in which text should use them: a family for Chinese and Latin first,
// then whatever adds characters. The system lists them (paper/font_list.h), FreeType opens them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct FT_FaceRec_;

namespace headlight {

/// Whether a character is never drawn: joiners, variation selectors and their like.
bool is_invisible(char32_t character);

/// A character of a font: its number there, and how far the next one stands from it, in ems.
struct FontGlyph {
  unsigned index = 0;  // 0: the font's sign for what it lacks
  float advance = 0;
};

/// A character drawn: `coverage` is width · height bytes, the first row on top.
struct DrawnGlyph {
  int width = 0, height = 0;
  int left = 0, top = 0;  // of the bitmap: pixels right of the pen, and above the baseline
  float advance = 0;
  std::vector<std::uint8_t> coverage;
};

class FontFiles {
 public:
  FontFiles();
  ~FontFiles();
  FontFiles(const FontFiles&) = delete;

  /// Finds the fonts. `preferred`: a font file, or a family's name; it stands before all others. `families`: where none
  /// is preferred, the first of these that is there does. An Error names what to install, or the font that is missing.
  Status open(const std::string& preferred = {}, const char* families = "");

  /// The first font with an outline for the character; a font that turns out to be unreadable is passed over.
  std::optional<std::size_t> font_with(char32_t character);
  /// The system's monospaced font, where it has an outline for the character.
  std::optional<std::size_t> monospaced_with(char32_t character);
  /// The file's bytes, for as long as this object lives. `font` is one that font_with() gave.
  std::string_view bytes(std::size_t font) const;
  /// The face's number within the file.
  int face_index(std::size_t font) const;
  /// FreeType's face, for as long as this object or a keeper() lives; its size is whatever was asked for last.
  FT_FaceRec_* face(std::size_t font) const;
  /// Keeps the faces alive.
  std::shared_ptr<const void> keeper() const;
  FontGlyph glyph(std::size_t font, char32_t character) const;
  /// The whole number of pixels from ascender to descender that comes nearest to this em.
  int height_for_em(std::size_t font, float em) const;
  /// The ascender at that height, rounded up.
  int ascent(std::size_t font, int height) const;
  /// The character at an em of `em` pixels; nothing where FreeType fails or the outline is empty.
  std::optional<DrawnGlyph> draw(std::size_t font, char32_t character, float em) const;

 private:
  struct State;
  State* state_;
};

}  // namespace headlight
