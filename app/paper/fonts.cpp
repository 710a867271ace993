#include "paper/fonts.h"

#include <cairo-ft.h>
#include <cairo.h>

#include <initializer_list>
#include <unordered_map>

#include "base/formatted.h"
#include "base/utf8.h"
#include "paper/font_files.h"
#include "paper/font_list.h"
#include "paper/visual_text.h"

namespace headlight {
namespace {

const cairo_user_data_key_t kOwner{};

/// How far the next character stands from a drawn mark, in ems.
constexpr float kMarkAdvance = 0.62f;

bool is_drawn_mark(char32_t c) { return c == U'␣' || c == U'⏎'; }

/// Draws a mark from (x, y) on, in ems of `size`: ␣ an open box, ⏎ an arrow to the left under a hook.
void draw_mark(cairo_t* cairo, char32_t mark, double size, double x, double y) {
  const auto path = [&](std::initializer_list<std::pair<double, double>> points) {
    for (const auto& [across, up] : points) cairo_line_to(cairo, x + across * size, y - up * size);
    cairo_stroke(cairo);
  };
  cairo_save(cairo);
  cairo_set_line_width(cairo, 0.06 * size);
  cairo_new_path(cairo);
  if (mark == U'␣') {
    path({{0.08, 0.14}, {0.08, -0.06}, {0.54, -0.06}, {0.54, 0.14}});
  } else {
    path({{0.54, 0.62}, {0.54, 0.25}, {0.08, 0.25}});
    path({{0.24, 0.41}, {0.08, 0.25}, {0.24, 0.09}});
  }
  cairo_restore(cairo);
}

}  // namespace

struct PaperFonts::State {
  FontFiles files;
  std::unordered_map<std::size_t, cairo_font_face_t*> faces;
  int missing = 0;

  ~State() {
    for (const auto& [font, face] : faces) cairo_font_face_destroy(face);
  }
  /// The characters of a text that are drawn: no invisible ones, and a number for a character that no font has.
  std::vector<char32_t> shown(std::string_view text);
  /// The font of a character that is shown and no mark.
  std::size_t font_of(char32_t c) { return files.font_with(c).value_or(0); }
  cairo_font_face_t* face(std::size_t font);
};

cairo_font_face_t* PaperFonts::State::face(std::size_t font) {
  cairo_font_face_t*& face = faces[font];
  if (face) return face;
  face = cairo_ft_font_face_create_for_ft_face(files.face(font), 0);
  // cairo keeps fonts for a while after their last user releases them; FreeType's faces must live as long.
  cairo_font_face_set_user_data(face, &kOwner, new std::shared_ptr<const void>(files.keeper()),
                                [](void* owner) { delete static_cast<std::shared_ptr<const void>*>(owner); });
  return face;
}

std::vector<char32_t> PaperFonts::State::shown(std::string_view text) {
  std::vector<char32_t> shown;
  for (const char32_t c : code_points(visual_text(text))) {
    if (is_invisible(c)) continue;
    if (is_drawn_mark(c) || files.font_with(c)) shown.push_back(c);
    else if (!is_picture_modifier(c)) {  // a picture by its name, as in labels
      const std::string name = is_picture(c) ? character_name(c) : formatted("U+%04X", static_cast<unsigned>(c));
      for (const char letter : name) shown.push_back(static_cast<unsigned char>(letter));
    }
  }
  return shown;
}

Result<std::shared_ptr<PaperFonts>> PaperFonts::open(const std::string& preferred, Language language) {
  auto fonts = std::make_shared<PaperFonts>();
  fonts->state_ = std::make_shared<State>();
  TRY(fonts->state_->files.open(preferred, language == Language::en ? kLatinFamilies : ""));
  return fonts;
}

float PaperFonts::width(std::string_view text, float size) {
  float width = 0;
  for (const char32_t c : state_->shown(text))
    width += is_drawn_mark(c) ? kMarkAdvance : state_->files.glyph(state_->font_of(c), c).advance;
  return width * size;
}

int PaperFonts::num_missing() const { return state_->missing; }

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
  for (const char32_t c : state_->shown(text)) {
    if (is_drawn_mark(c)) {
      draw_mark(cairo, c, static_cast<double>(size), static_cast<double>(x), static_cast<double>(y));
      x += kMarkAdvance * size;
      continue;
    }
    const std::size_t wanted = state_->font_of(c);
    if (wanted != font) flush();
    font = wanted;
    const FontGlyph glyph = state_->files.glyph(font, c);
    if (glyph.index == 0) ++state_->missing;
    const std::size_t before = utf8.size();
    append_utf8(utf8, c);
    glyphs.push_back({glyph.index, static_cast<double>(x), static_cast<double>(y)});
    clusters.push_back({static_cast<int>(utf8.size() - before), 1});
    x += glyph.advance * size;
  }
  flush();
}

}  // namespace headlight
