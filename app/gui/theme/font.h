// One type family in three sizes and a monospaced one for code, found by fontconfig; glyphs are rasterised when text
// needs them, and come from another installed font where the family lacks them. Dear ImGui cannot hold all characters:
// some travel through it as stand-ins (gui/frame/glyph_substitutes.h), so that nothing a user types is lost.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace headlight {

/// An em of 13, 15, 20, 13 and 26 px at 100 %. That of code is monospaced from the frame after it was first pushed. The
/// large one grows with the window (stage_growth of figure/drawing/map_layout.h) and has ASCII and what was asked of
/// it.
enum class TextSize { small, body, title, code, large };

class Fonts {
 public:
  Fonts();
  ~Fonts();
  Fonts(const Fonts&) = delete;

  /// Finds the family; an Error names the Debian package to install.
  Status open();
  /// The words of the interface: their glyphs are always there. Once for each language, before it is shown.
  void keep(std::string_view text);
  /// Whether quotation marks and ellipses are as narrow as in Latin text; a Chinese font has them as wide as
  /// ideographs.
  void use_latin_signs(bool on);
  /// Before ImGui::NewFrame, with the ImGui context current: builds the atlas again where the scale changed or text
  /// asked for glyphs that it lacks. True when it was rebuilt: the caller then renews the backend's font texture, and
  /// what font() gave before is gone. After a successful open().
  bool prepare(float scale);
  /// Counts the atlases that were built: a text measured in one may be wider in the next.
  std::uint64_t atlases() const;
  /// Whether text asked for glyphs since prepare() that are not there yet, so that another frame is needed.
  bool wants_frame() const;

  /// For measuring and for drawing with ImDrawList at the size pixels(); valid until the next prepare().
  ImFont* font(TextSize size) const;
  /// The height of a line.
  float pixels(TextSize size) const;
  /// The font of widgets and ImGui::Text from here to ImGui::PopFont.
  void push(TextSize size) const;

  /// Text on its way to the screen, in visual order (paper/visual_text.h): remembers the glyphs it needs, and puts
  /// stand-ins for what ImGui cannot hold.
  /// Every string that is not kept goes through here in every frame that draws it.
  std::string shown(std::string_view text);
  /// The same for text that is drawn in this size.
  std::string shown(std::string_view text, TextSize size);
  /// Text on its way to an input widget: the same in the order of its characters.
  std::string edited(std::string_view text);
  /// Text on its way back from one: the stand-ins become the characters again. typed(edited(t)) is t.
  std::string typed(std::string_view text) const;
  /// A character from the keyboard or the input method, handed to ImGui's queue.
  void input(char32_t code_point);

 private:
  struct State;
  State* state_;
};

}  // namespace headlight
