#include "paper/font_list.h"

#include <fontconfig/fontconfig.h>

#include <memory>

#include "base/utf8.h"

namespace headlight {
namespace {

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

const FcChar8* text(const char* ascii) { return reinterpret_cast<const FcChar8*>(ascii); }

/// What fontconfig found, as long as a font of it is asked for characters.
struct Kept {
  std::unique_ptr<FcConfig, Freed> config;
  std::unique_ptr<FcFontSet, Freed> sorted;
  std::unique_ptr<FcPattern, Freed> monospaced, of_family;
};

/// Nothing for a font without outlines or without a file.
std::optional<ListedFont> listed_font(FcPattern* font, const std::shared_ptr<const Kept>& kept) {
  FcCharSet* characters = nullptr;
  FcLangSet* languages = nullptr;
  FcChar8* path = nullptr;
  if (!font || !is_true(font, FC_OUTLINE) || FcPatternGetCharSet(font, FC_CHARSET, 0, &characters) != FcResultMatch ||
      FcPatternGetString(font, FC_FILE, 0, &path) != FcResultMatch)
    return std::nullopt;
  ListedFont found{.file = reinterpret_cast<const char*>(path), .may_have = {}};
  FcPatternGetInteger(font, FC_INDEX, 0, &found.index);
  found.index &= 0xFFFF;  // the upper half numbers named instances of a variable font
  found.chinese = FcPatternGetLangSet(font, FC_LANG, 0, &languages) == FcResultMatch &&
                  FcLangSetHasLang(languages, text(kLanguage)) != FcLangDifferentLang;
  found.may_have = [characters, kept](char32_t character) { return FcCharSetHasChar(characters, character) == FcTrue; };
  return found;
}

/// What fontconfig's rules make of the families that are wanted, the first first.
std::unique_ptr<FcPattern, Freed> pattern_of(FcConfig* config, std::initializer_list<const char*> families,
                                             const char* language) {
  std::unique_ptr<FcPattern, Freed> pattern{FcPatternCreate()};
  for (const char* family : families) FcPatternAddString(pattern.get(), FC_FAMILY, text(family));
  if (language) FcPatternAddString(pattern.get(), FC_LANG, text(language));
  FcPatternAddBool(pattern.get(), FC_OUTLINE, FcTrue);
  FcPatternAddInteger(pattern.get(), FC_WEIGHT, FC_WEIGHT_REGULAR);
  FcPatternAddInteger(pattern.get(), FC_SLANT, FC_SLANT_ROMAN);
  FcConfigSubstitute(config, pattern.get(), FcMatchPattern);
  FcDefaultSubstitute(pattern.get());
  return pattern;
}

}  // namespace

Result<FontList> listed_fonts(const std::string& family) {
  const auto kept = std::make_shared<Kept>();
  kept->config.reset(FcInitLoadConfigAndFonts());
  FcConfig* const config = kept->config.get();
  if (!config) return bad_input("fonts", "fontconfig", "a configuration (package fontconfig-config)", "none");
  FontList found;
  FcResult result = FcResultMatch;
  const auto sans =
      pattern_of(config, {"Noto Sans CJK SC", "Source Han Sans SC", "WenQuanYi Micro Hei", "sans-serif"}, kLanguage);
  kept->sorted.reset(FcFontSort(config, sans.get(), FcTrue, nullptr, &result));
  for (int i = 0; kept->sorted && i < kept->sorted->nfont; ++i) {
    FcPattern* const font = kept->sorted->fonts[i];
    if (auto one = listed_font(font, kept); one && !is_true(font, FC_COLOR)) found.fonts.push_back(*std::move(one));
  }
  kept->monospaced.reset(FcFontMatch(config, pattern_of(config, {"monospace"}, nullptr).get(), &result));
  found.monospaced = listed_font(kept->monospaced.get(), kept);
  for (const std::string_view part : split_at(',', family)) {
    const std::string name(part);
    if (name.empty() || found.of_family) continue;
    kept->of_family.reset(FcFontMatch(config, pattern_of(config, {name.c_str()}, nullptr).get(), &result));
    FcPattern* const font = kept->of_family.get();
    FcChar8* named = nullptr;
    // fontconfig answers any name with some font.
    for (int i = 0; font && FcPatternGetString(font, FC_FAMILY, i, &named) == FcResultMatch && !found.of_family; ++i)
      if (FcStrCmpIgnoreCase(named, text(name.c_str())) == 0) found.of_family = listed_font(font, kept);
  }
  return found;
}

Error no_chinese_font() {
  return bad_input("fonts", "", "an outline font with Chinese (package fonts-noto-cjk or fonts-wqy-microhei)", "none");
}

}  // namespace headlight
