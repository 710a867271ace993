#include "paper/font_files.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include <unicode/uchar.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>
#include <unordered_map>

#include "base/file.h"
#include "base/folders.h"
#include "paper/font_list.h"

namespace headlight {

bool is_invisible(char32_t c) {
  return c != 0xAD && u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_DEFAULT_IGNORABLE_CODE_POINT);
}

namespace {

/// FreeType's part, which cairo may need for longer than anybody needs fontconfig's.
struct Faces {
  struct Face {
    std::string bytes;
    FT_Face face = nullptr;
  };
  FT_Library library = nullptr;
  std::deque<Face> faces;  // stay where they are

  Faces() = default;
  Faces(const Faces&) = delete;
  ~Faces() {
    for (const Face& one : faces)
      if (one.face) FT_Done_Face(one.face);
    if (library) FT_Done_FreeType(library);
  }
};

}  // namespace

struct FontFiles::State {
  struct Font {
    ListedFont found;
    bool opened = false;
    Faces::Face* file = nullptr;
    FT_Face face = nullptr;
  };
  std::optional<std::size_t> mono;  // its index among the fonts, the last
  std::vector<Font> fonts;
  std::unordered_map<char32_t, std::optional<std::size_t>> found;
  std::shared_ptr<Faces> faces = std::make_shared<Faces>();

  bool usable(Font& font);
  bool has(Font& font, char32_t character);
};

bool FontFiles::State::usable(Font& font) {
  if (font.opened) return font.face != nullptr;
  font.opened = true;
  auto bytes = read_file(font.found.file, std::size_t{1} << 28);
  if (!bytes) return false;
  font.file = &faces->faces.emplace_back();
  font.file->bytes = std::move(*bytes);
  if (FT_New_Memory_Face(faces->library, reinterpret_cast<const FT_Byte*>(font.file->bytes.data()),
                         static_cast<FT_Long>(font.file->bytes.size()), font.found.index, &font.face) != 0)
    font.face = nullptr;
  if (font.face && (FT_Select_Charmap(font.face, FT_ENCODING_UNICODE) != 0 || !FT_IS_SCALABLE(font.face) ||
                    font.face->ascender - font.face->descender <= 0)) {
    FT_Done_Face(font.face);
    font.face = nullptr;
  }
  font.file->face = font.face;
  if (!font.face) font.file->bytes = {};
  return font.face != nullptr;
}

bool FontFiles::State::has(Font& font, char32_t character) {
  return (!font.found.may_have || font.found.may_have(character)) && usable(font) &&
         FT_Get_Char_Index(font.face, character) != 0;
}

FontFiles::FontFiles() : state_(new State) {}

FontFiles::~FontFiles() { delete state_; }

Status FontFiles::open(const std::string& preferred, const char* families) {
  assert(state_->fonts.empty());
  if (FT_Init_FreeType(&state_->faces->library) != 0) {
    state_->faces->library = nullptr;
    return bad_input("fonts", "FreeType", "a library that starts", "a failure of FT_Init_FreeType");
  }
  const bool is_file = !preferred.empty() && is_regular(preferred);
  auto found = TRY(listed_fonts(is_file ? std::string() : preferred.empty() ? families : preferred));
  auto& fonts = state_->fonts;
  for (ListedFont& one : found.fonts) fonts.push_back({.found = std::move(one)});
  const auto chinese = std::ranges::find_if(fonts, [&](State::Font& font) {
    return font.found.chinese && state_->has(font, U'\u6211');  // 我
  });
  if (chinese == fonts.end()) return no_chinese_font();
  std::rotate(fonts.begin(), chinese, chinese + 1);
  std::optional<ListedFont> first = std::move(found.of_family);
  if (is_file) first = ListedFont{.file = preferred, .chinese = true, .may_have = {}};
  if (first) fonts.insert(fonts.begin(), {.found = *std::move(first)});
  if (const bool is_usable = first && state_->usable(fonts.front()); !is_usable && (first || !preferred.empty()))
    return bad_input("--font", "", is_file ? "an outline font" : "a font file, or a family that fc-list names",
                     preferred);
  if (!found.monospaced) return Done{};
  fonts.push_back({.found = *std::move(found.monospaced)});
  if (state_->usable(fonts.back())) state_->mono = fonts.size() - 1;
  else fonts.pop_back();
  return Done{};
}

std::optional<std::size_t> FontFiles::font_with(char32_t character) {
  if (const auto known = state_->found.find(character); known != state_->found.end()) return known->second;
  auto& fonts = state_->fonts;
  const auto with = [&](State::Font& font) { return state_->has(font, character); };
  const auto font = std::ranges::find_if(fonts, with);
  auto& answer = state_->found[character];
  if (font != fonts.end()) answer = static_cast<std::size_t>(font - fonts.begin());
  return answer;
}

std::optional<std::size_t> FontFiles::monospaced_with(char32_t character) {
  const auto& mono = state_->mono;
  return mono && FT_Get_Char_Index(state_->fonts[*mono].face, character) != 0 ? mono : std::nullopt;
}

std::string_view FontFiles::bytes(std::size_t font) const { return state_->fonts[font].file->bytes; }
int FontFiles::face_index(std::size_t font) const { return state_->fonts[font].found.index; }

int FontFiles::height_for_em(std::size_t font, float em) const {
  const FT_Face face = state_->fonts[font].face;
  const auto height = static_cast<float>(face->ascender - face->descender);
  return static_cast<int>(std::lround(em * height / static_cast<float>(face->units_per_EM)));
}

int FontFiles::ascent(std::size_t font, int height) const {
  const FT_Face face = state_->fonts[font].face;
  FT_Size_RequestRec request{FT_SIZE_REQUEST_TYPE_REAL_DIM, 0, height * 64, 0, 0};
  if (FT_Request_Size(face, &request) != 0) return height;
  return static_cast<int>((face->size->metrics.ascender + 63) / 64);
}

FT_FaceRec_* FontFiles::face(std::size_t font) const { return state_->fonts[font].face; }

std::shared_ptr<const void> FontFiles::keeper() const { return state_->faces; }

FontGlyph FontFiles::glyph(std::size_t font, char32_t character) const {
  const FT_Face face = state_->fonts[font].face;
  FontGlyph glyph{FT_Get_Char_Index(face, character), 0};
  if (FT_Load_Glyph(face, glyph.index, FT_LOAD_NO_SCALE) == 0)
    glyph.advance = static_cast<float>(face->glyph->metrics.horiAdvance) / static_cast<float>(face->units_per_EM);
  return glyph;
}

std::optional<DrawnGlyph> FontFiles::draw(std::size_t font, char32_t character, float em) const {
  const FT_Face face = state_->fonts[font].face;
  if (FT_Set_Char_Size(face, 0, static_cast<FT_F26Dot6>(std::lround(em * 64)), 72, 72) != 0) return std::nullopt;
  if (FT_Load_Char(face, character, FT_LOAD_NO_BITMAP | FT_LOAD_TARGET_LIGHT | FT_LOAD_RENDER) != 0)
    return std::nullopt;
  const FT_GlyphSlot slot = face->glyph;
  const FT_Bitmap& bitmap = slot->bitmap;
  if (bitmap.pixel_mode != FT_PIXEL_MODE_GRAY || bitmap.width == 0 || bitmap.rows == 0) return std::nullopt;
  DrawnGlyph glyph;
  glyph.width = static_cast<int>(bitmap.width), glyph.height = static_cast<int>(bitmap.rows);
  glyph.left = slot->bitmap_left, glyph.top = slot->bitmap_top;
  glyph.advance = std::ceil(static_cast<float>(slot->advance.x) / 64);
  glyph.coverage.reserve(static_cast<std::size_t>(glyph.width) * static_cast<std::size_t>(glyph.height));
  for (int y = 0; y < glyph.height; ++y) {
    const std::uint8_t* row = bitmap.buffer + y * bitmap.pitch;
    glyph.coverage.insert(glyph.coverage.end(), row, row + glyph.width);
  }
  return glyph;
}

}  // namespace headlight
