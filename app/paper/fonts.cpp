#include "paper/fonts.h"

#include <cairo-ft.h>
#include <cairo.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "base/utf8.h"
#include "paper/font_files.h"

namespace headlight {
namespace {

const cairo_user_data_key_t kOwner{};

}  // namespace

struct PaperFonts::State {
  FontFiles files;
  std::unordered_map<std::size_t, cairo_font_face_t*> faces;

  ~State() {
    for (const auto& [font, face] : faces) cairo_font_face_destroy(face);
  }
  /// The font of a character; the first one's sign for the unknown where no font has it.
  std::size_t font_of(char32_t c) { return files.font_with(c).value_or(0); }
  cairo_font_face_t* face(std::size_t font);
};

cairo_font_face_t* PaperFonts::State::face(std::size_t font) {
  cairo_font_face_t*& face = faces[font];
  if (face) return face;
  face = cairo_ft_font_face_create_for_ft_face(files.face(font), 0);
  // cairo keeps fonts for a while after everybody else has let them go; so long FreeType's must be there.
  cairo_font_face_set_user_data(face, &kOwner, new std::shared_ptr<const void>(files.keeper()),
                                [](void* owner) { delete static_cast<std::shared_ptr<const void>*>(owner); });
  return face;
}

Result<std::shared_ptr<PaperFonts>> PaperFonts::open() {
  auto fonts = std::make_shared<PaperFonts>();
  fonts->state_ = std::make_shared<State>();
  if (const Status opened = fonts->state_->files.open(); !opened) return opened.error();
  return fonts;
}

float PaperFonts::width(std::string_view text, float size) {
  float width = 0;
  for (const char32_t c : code_points(text))
    if (!is_invisible(c)) width += state_->files.glyph(state_->font_of(c), c).advance;
  return width * size;
}

TextWidth PaperFonts::measure() {
  return [this](std::string_view text, float size) { return width(text, size); };
}

void PaperFonts::draw(cairo_t* cairo, std::string_view text, float size, float x, float y) {
  cairo_set_font_size(cairo, static_cast<double>(size));
  std::string utf8;
  std::vector<cairo_glyph_t> glyphs;
  std::vector<cairo_text_cluster_t> clusters;
  std::size_t font = 0;
  const auto flush = [&] {
    if (glyphs.empty()) return;
    cairo_set_font_face(cairo, state_->face(font));
    cairo_show_text_glyphs(cairo, utf8.data(), static_cast<int>(utf8.size()), glyphs.data(),
                           static_cast<int>(glyphs.size()), clusters.data(), static_cast<int>(clusters.size()),
                           static_cast<cairo_text_cluster_flags_t>(0));
    utf8.clear(), glyphs.clear(), clusters.clear();
  };
  for (const char32_t c : code_points(text)) {
    if (is_invisible(c)) continue;
    const std::size_t wanted = state_->font_of(c);
    if (wanted != font) flush();
    font = wanted;
    const FontGlyph glyph = state_->files.glyph(font, c);
    const std::size_t before = utf8.size();
    append_utf8(utf8, c);
    glyphs.push_back({glyph.index, static_cast<double>(x), static_cast<double>(y)});
    clusters.push_back({static_cast<int>(utf8.size() - before), 1});
    x += glyph.advance * size;
  }
  flush();
}

}  // namespace headlight
