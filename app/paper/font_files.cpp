#include "paper/font_files.h"

#include <fontconfig/fontconfig.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include <unicode/uchar.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>
#include <string>
#include <unordered_map>

#include "base/file.h"

namespace headlight {
namespace {

constexpr const char* kFamilies[] = {"Noto Sans CJK SC", "Source Han Sans SC", "WenQuanYi Micro Hei"};
constexpr const char* kLanguage = "zh-cn";

struct Freed {
  void operator()(FcConfig* p) const { FcConfigDestroy(p); }
  void operator()(FcPattern* p) const { FcPatternDestroy(p); }
  void operator()(FcFontSet* p) const { FcFontSetDestroy(p); }
};

bool is_true(FcPattern* font, const char* object) {
  FcBool value = FcFalse;
  return FcPatternGetBool(font, object, 0, &value) == FcResultMatch && value;
}

FcCharSet* characters_of(FcPattern* font) {
  FcCharSet* characters = nullptr;
  return FcPatternGetCharSet(font, FC_CHARSET, 0, &characters) == FcResultMatch ? characters : nullptr;
}

bool is_chinese(FcPattern* font) {
  FcLangSet* languages = nullptr;
  if (FcPatternGetLangSet(font, FC_LANG, 0, &languages) != FcResultMatch) return false;
  if (FcLangSetHasLang(languages, reinterpret_cast<const FcChar8*>(kLanguage)) == FcLangDifferentLang) return false;
  return FcCharSetHasChar(characters_of(font), U'\u6211');  // 我
}

}  // namespace

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
    FcPattern* pattern;  // of `sorted`, or `monospaced`
    FcCharSet* characters;
    bool opened = false;
    Faces::Face* file = nullptr;
    FT_Face face = nullptr;
    int index = 0;
  };
  std::unique_ptr<FcConfig, Freed> config;
  std::unique_ptr<FcFontSet, Freed> sorted;
  std::unique_ptr<FcPattern, Freed> monospaced;
  std::optional<std::size_t> mono;  // its place among the fonts, the last
  std::vector<Font> fonts;
  std::unordered_map<char32_t, std::optional<std::size_t>> found;
  std::shared_ptr<Faces> faces = std::make_shared<Faces>();

  bool usable(Font& font);
  void find_monospaced();
};

void FontFiles::State::find_monospaced() {
  const std::unique_ptr<FcPattern, Freed> wanted{FcPatternCreate()};
  FcPatternAddString(wanted.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>("monospace"));
  FcPatternAddBool(wanted.get(), FC_OUTLINE, FcTrue);
  FcConfigSubstitute(config.get(), wanted.get(), FcMatchPattern);
  FcDefaultSubstitute(wanted.get());
  FcResult result = FcResultMatch;
  monospaced.reset(FcFontMatch(config.get(), wanted.get(), &result));
  if (!monospaced || !is_true(monospaced.get(), FC_OUTLINE) || !characters_of(monospaced.get())) return;
  fonts.push_back({monospaced.get(), characters_of(monospaced.get())});
  if (usable(fonts.back())) mono = fonts.size() - 1;
  else fonts.pop_back();
}

bool FontFiles::State::usable(Font& font) {
  if (font.opened) return font.face != nullptr;
  font.opened = true;
  FcChar8* path = nullptr;
  if (FcPatternGetString(font.pattern, FC_FILE, 0, &path) != FcResultMatch) return false;
  FcPatternGetInteger(font.pattern, FC_INDEX, 0, &font.index);
  font.index &= 0xFFFF;  // the upper half numbers named instances of a variable font
  auto bytes = read_file(reinterpret_cast<const char*>(path), std::size_t{1} << 28);
  if (!bytes) return false;
  font.file = &faces->faces.emplace_back();
  font.file->bytes = std::move(*bytes);
  if (FT_New_Memory_Face(faces->library, reinterpret_cast<const FT_Byte*>(font.file->bytes.data()),
                         static_cast<FT_Long>(font.file->bytes.size()), font.index, &font.face) != 0)
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

FontFiles::FontFiles() : state_(new State) {}

FontFiles::~FontFiles() { delete state_; }

Status FontFiles::open() {
  assert(state_->fonts.empty());
  if (FT_Init_FreeType(&state_->faces->library) != 0) {
    state_->faces->library = nullptr;
    return bad_input("fonts", "FreeType", "a library that starts", "a failure of FT_Init_FreeType");
  }
  state_->config.reset(FcInitLoadConfigAndFonts());
  if (!state_->config) return bad_input("fonts", "fontconfig", "a configuration (package fontconfig-config)", "none");

  const std::unique_ptr<FcPattern, Freed> wanted{FcPatternCreate()};
  for (const char* family : kFamilies)
    FcPatternAddString(wanted.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>(family));
  FcPatternAddString(wanted.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>("sans-serif"));
  FcPatternAddString(wanted.get(), FC_LANG, reinterpret_cast<const FcChar8*>(kLanguage));
  FcPatternAddBool(wanted.get(), FC_OUTLINE, FcTrue);
  FcPatternAddInteger(wanted.get(), FC_WEIGHT, FC_WEIGHT_REGULAR);
  FcPatternAddInteger(wanted.get(), FC_SLANT, FC_SLANT_ROMAN);
  FcConfigSubstitute(state_->config.get(), wanted.get(), FcMatchPattern);
  FcDefaultSubstitute(wanted.get());
  FcResult result = FcResultMatch;
  state_->sorted.reset(FcFontSort(state_->config.get(), wanted.get(), FcTrue, nullptr, &result));

  for (int i = 0; state_->sorted && i < state_->sorted->nfont; ++i) {
    FcPattern* font = state_->sorted->fonts[i];
    if (is_true(font, FC_OUTLINE) && !is_true(font, FC_COLOR) && characters_of(font))
      state_->fonts.push_back({font, characters_of(font)});
  }
  for (auto font = state_->fonts.begin(); font != state_->fonts.end(); ++font) {
    if (!is_chinese(font->pattern) || !state_->usable(*font)) continue;
    std::rotate(state_->fonts.begin(), font, font + 1);
    state_->find_monospaced();
    return Done{};
  }
  return bad_input("fonts", "", "an outline font with Chinese (package fonts-noto-cjk or fonts-wqy-microhei)", "none");
}

std::optional<std::size_t> FontFiles::font_with(char32_t character) {
  if (const auto known = state_->found.find(character); known != state_->found.end()) return known->second;
  auto& answer = state_->found[character];
  for (std::size_t i = 0; i < state_->fonts.size(); ++i) {
    auto& font = state_->fonts[i];
    if (!FcCharSetHasChar(font.characters, character) || !state_->usable(font)) continue;
    if (FT_Get_Char_Index(font.face, character) == 0) continue;
    return answer = i;
  }
  return answer = std::nullopt;
}

std::optional<std::size_t> FontFiles::monospaced_with(char32_t character) {
  const auto& mono = state_->mono;
  return mono && FT_Get_Char_Index(state_->fonts[*mono].face, character) != 0 ? mono : std::nullopt;
}

std::string_view FontFiles::bytes(std::size_t font) const { return state_->fonts[font].file->bytes; }
int FontFiles::face_index(std::size_t font) const { return state_->fonts[font].index; }

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
