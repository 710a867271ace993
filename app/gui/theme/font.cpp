#include "gui/theme/font.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/utf8.h"
#include "figure/drawing/map_layout.h"
#include "gui/theme/glyph_substitutes.h"
#include "paper/font_files.h"
#include "paper/visual_text.h"

#if __has_include(<imgui_freetype.h>)
#include <imgui_freetype.h>
#define HEADLIGHT_FREETYPE_BUILDER
#elif __has_include(<misc/freetype/imgui_freetype.h>)
#include <misc/freetype/imgui_freetype.h>
#define HEADLIGHT_FREETYPE_BUILDER
#endif

namespace headlight {
namespace {

constexpr std::array<float, 5> kEm{13, 15, 20, 13, 26};  // by TextSize

// Beside ASCII and Latin-1: punctuation, arrows and signs of the interface.
constexpr std::string_view kSigns =
    "‐‑‒–—―‘’‚“”„†‡•…‰′″‹›€™"
    "←↑→↓↔↕↵⇧⇥⌘⌥⌃⌫␣⏎"
    "−×÷√∑∏∞∂∆Σ≈≠≤≥∈⊙·"
    "■□▪▫▲△▴▵▶▷▸▹▼▽▾▿◀◂◆◇○●◐◦◌"
    "★☆☀☾☼✓✔✕✖✗⟲⟳↺↻⚠�"
    "、。〈〉《》「」『』【】，．：；？！（）～";

// A frame's text seldom has more characters than this; above it, those not shown recently are removed.
constexpr std::size_t kManyGlyphs = 1500;
constexpr int kLateFrames = 60;

/// Quotation marks and the ellipsis, which a Chinese font draws as wide as an ideograph.
bool is_wide_sign(char32_t c) { return c == U'‘' || c == U'’' || c == U'“' || c == U'”' || c == U'…'; }

/// The sign as Latin text has it: as wide as its ink, an ellipsis on the baseline.
DrawnGlyph narrowed(DrawnGlyph glyph, char32_t c, float em) {
  glyph.left = std::max(1, static_cast<int>(std::lround(0.06f * em)));
  glyph.advance = static_cast<float>(glyph.width + 2 * glyph.left);
  if (c == U'…') glyph.top = glyph.height;
  return glyph;
}

DrawnGlyph nothing() { return {1, 1, 0, 0, 0, {0}}; }

/// Into its rectangle of an atlas that is built.
void copy_glyph(ImFontAtlas& atlas, const ImFontAtlasCustomRect& at, const DrawnGlyph& glyph) {
  for (int y = 0; y < glyph.height; ++y) {
    const int texel = (at.Y + y) * atlas.TexWidth + at.X;
    const std::uint8_t* row = glyph.coverage.data() + y * glyph.width;
    if (atlas.TexPixelsAlpha8) std::memcpy(atlas.TexPixelsAlpha8 + texel, row, static_cast<std::size_t>(glyph.width));
    if (!atlas.TexPixelsRGBA32) continue;
    for (int x = 0; x < glyph.width; ++x) atlas.TexPixelsRGBA32[texel + x] = IM_COL32(255, 255, 255, row[x]);
  }
}

using GlyphRanges = std::map<std::size_t, ImVector<ImWchar>>;

GlyphRanges ranges_of(const std::map<std::size_t, std::vector<char32_t>>& by_file) {
  GlyphRanges ranges;
  for (const auto& [file, characters] : by_file) {
    ImFontGlyphRangesBuilder builder;
    for (const char32_t c : characters) builder.AddChar(static_cast<ImWchar>(c));
    builder.BuildRanges(&ranges[file]);
  }
  return ranges;
}

}  // namespace

struct Fonts::State {
  FontFiles files;
  bool opened = false;
  GlyphSubstitutes stand_ins;
  std::unordered_set<char32_t> kept;
  std::unordered_map<char32_t, int> wanted;  // beside the kept ones: to the frame that last asked
  std::unordered_set<char32_t> built;
  std::unordered_map<char32_t, int> large;  // characters of the large font, to the frame that last asked
  std::unordered_set<char32_t> built_large;
  float growth = 1;  // of the large font
  bool lacking = true;
  int frame = 0;
  std::uint64_t atlases = 0;
  bool latin_signs = false;  // quotation marks and ellipses as narrow as Latin text has them
  float scale = 0;
  std::array<ImFont*, kEm.size()> fonts{};
  std::array<float, kEm.size()> pixels{};
  bool has_code = false;  // text was written in the monospaced font

  void want(char32_t c) {
    if (c < 0x20) return;
    if (!kept.contains(c)) wanted[c] = frame;
    if (!built.contains(c)) lacking = true;
  }
  void want_large(char32_t c) {
    if (c < 0x20) return;
    large[c] = frame;
    if (!built_large.contains(c)) lacking = true;
  }
  // The character that ImGui shows for a code point of its text: itself, or the one that it substitutes.
  char32_t meant(char32_t c) const { return stand_ins.behind(c).value_or(c); }

  using Ranges = std::vector<ImWchar>;
  void forget_late();
  ImFont* add_file(std::size_t file, const ImVector<ImWchar>& glyphs, int height, float down, ImFont* into);
  using ByFile = std::map<std::size_t, std::vector<char32_t>>;
  ByFile sorted(std::vector<char32_t>& by_hand);
  ByFile enlarged(std::vector<char32_t>& by_hand);
  ByFile monospaced(const ByFile& by_file);
  void build();
  DrawnGlyph drawn(char32_t c, float em);
  DrawnGlyph name_of(char32_t c, float em);
};

Fonts::Fonts() : state_(new State) { keep(kSigns); }
Fonts::~Fonts() { delete state_; }

Status Fonts::open() {
  auto status = state_->files.open();
  state_->opened = static_cast<bool>(status);
  return status;
}

void Fonts::keep(std::string_view text) {
  const auto add = [&](char32_t c) {
    if (c >= 0x20 && c <= 0xFFFF && state_->kept.insert(c).second) state_->lacking = true;
  };
  for (char32_t c = 0x20; c <= 0x7E; ++c) add(c);
  for (char32_t c = 0xA0; c <= 0xFF; ++c) add(c);
  for (const char32_t c : code_points(text)) add(c);
}

void Fonts::use_latin_signs(bool on) {
  if (state_->latin_signs == on) return;
  state_->latin_signs = on;
  state_->lacking = true;
}

bool Fonts::wants_frame() const { return state_->lacking; }
ImFont* Fonts::font(TextSize size) const { return state_->fonts[static_cast<std::size_t>(size)]; }
float Fonts::pixels(TextSize size) const { return state_->pixels[static_cast<std::size_t>(size)]; }
void Fonts::push(TextSize size) const {
  if (size == TextSize::code && !state_->has_code) state_->has_code = state_->lacking = true;
  ImGui::PushFont(font(size));
}

std::string Fonts::shown(std::string_view text) { return edited(visual_text(text)); }

std::string Fonts::edited(std::string_view text) {
  // What keep() always has, and nothing stands for.
  if (std::ranges::all_of(text, [](char c) { return c >= 0x20 && c <= 0x7E; })) return std::string(text);
  std::string result;
  result.reserve(text.size());
  for (const char32_t character : code_points(text)) state_->stand_ins.put(result, character);
  for (const char32_t c : code_points(result)) state_->want(c);
  return result;
}

std::string Fonts::shown(std::string_view text, TextSize size) {
  std::string result = shown(text);
  if (size == TextSize::large)
    for (const char32_t c : code_points(result)) state_->want_large(c);
  return result;
}

std::string Fonts::typed(std::string_view text) const { return state_->stand_ins.restored(text); }

void Fonts::input(char32_t code_point) {
  std::string text;
  append_utf8(text, code_point);
  ImGui::GetIO().AddInputCharactersUTF8(edited(text).c_str());
}

void Fonts::State::forget_late() {
  constexpr std::size_t kManyLarge = 400;
  if (large.size() > kManyLarge)
    std::erase_if(large, [&](const auto& one) { return one.second < frame - kLateFrames; });
  if (wanted.size() <= kManyGlyphs) return;
  std::erase_if(wanted, [&](const auto& entry) { return entry.second < frame - kLateFrames; });
}

// A glyph that ImGui's builder is not given: a stand-in's character, one that no font has, one that is never seen.
DrawnGlyph Fonts::State::drawn(char32_t c, float em) {
  const char32_t character = meant(c);
  if (GlyphSubstitutes::is_silent(c) || is_invisible(character)) return nothing();
  if (const auto file = files.font_with(character))
    if (auto glyph = files.draw(*file, character, em))
      return latin_signs && is_wide_sign(c) ? narrowed(std::move(*glyph), c, em) : std::move(*glyph);
  return name_of(character, em);
}

// Instead of a character that no font here has: its name in small letters between brackets, as one glyph.
DrawnGlyph Fonts::State::name_of(char32_t c, float em) {
  constexpr float kSmall = 0.72f;
  struct NameLetter {
    DrawnGlyph glyph;
    int x;
  };
  std::vector<NameLetter> letters;
  DrawnGlyph all;
  float pen = 0;
  int bottom = 0;
  for (const char letter : "[" + character_name(c) + "]") {
    const auto file = files.font_with(static_cast<char32_t>(letter));
    auto glyph = file ? files.draw(*file, static_cast<char32_t>(letter), kSmall * em) : std::nullopt;
    if (!glyph) {  // a space has no outline
      pen += 0.25f * em;
      continue;
    }
    all.top = std::max(all.top, glyph->top);
    bottom = std::max(bottom, glyph->height - glyph->top);
    letters.push_back({std::move(*glyph), static_cast<int>(std::lround(pen))});
    pen += letters.back().glyph.advance;
  }
  all.width = static_cast<int>(std::ceil(pen)) + 1;
  all.height = all.top + bottom;
  all.advance = std::ceil(pen) + 1;
  all.coverage.resize(static_cast<std::size_t>(all.width * all.height));
  for (const NameLetter& letter : letters)
    for (int y = 0; y < letter.glyph.height; ++y)
      for (int x = 0; x < letter.glyph.width; ++x) {
        const int column = letter.x + letter.glyph.left + x, row = all.top - letter.glyph.top + y;
        if (column < 0 || column >= all.width) continue;
        std::uint8_t& at = all.coverage[static_cast<std::size_t>(row * all.width + column)];
        at = std::max(at, letter.glyph.coverage[static_cast<std::size_t>(y * letter.glyph.width + x)]);
      }
  return all;
}

// The glyphs of a file, `down` pixels lower, as a font, or merged into one.
ImFont* Fonts::State::add_file(std::size_t file, const ImVector<ImWchar>& glyphs, int height, float down,
                               ImFont* into) {
  const std::string_view bytes = files.bytes(file);
  ImFontConfig config;
  config.FontData = const_cast<char*>(bytes.data());
  config.FontDataSize = static_cast<int>(bytes.size());
  config.FontNo = files.face_index(file);
  config.SizePixels = static_cast<float>(height);
  config.OversampleH = config.OversampleV = 1;
  config.PixelSnapH = true;
  config.GlyphRanges = glyphs.Data;
  config.GlyphOffset.y = down;
  config.MergeMode = into != nullptr;
  config.DstFont = into;
#ifdef HEADLIGHT_FREETYPE_BUILDER
  config.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
#endif
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  ImFont* font = atlas.AddFont(&config);
  // Set only now, or the atlas would copy megabytes at every build.
  atlas.ConfigData.back().FontDataOwnedByAtlas = false;
  return font;
}

// The characters that are wanted, by the file that has them; those that ImGui's builder is not given are `by_hand`.
Fonts::State::ByFile Fonts::State::sorted(std::vector<char32_t>& by_hand) {
  ByFile by_file;
  const auto sort = [&](char32_t c) {
    built.insert(c);
    const bool own = GlyphSubstitutes::is_one(c) || is_invisible(c) || (latin_signs && is_wide_sign(c));
    const auto file = own ? std::nullopt : files.font_with(c);
    if (file) by_file[*file].push_back(c);
    else by_hand.push_back(c);
  };
  built.clear();
  for (const char32_t c : kept) sort(c);
  for (const auto& [c, when] : wanted) sort(c);
  std::ranges::sort(by_hand);  // the atlas does not depend on the order of a hash table
  return by_file;
}

// The characters of the large font.
Fonts::State::ByFile Fonts::State::enlarged(std::vector<char32_t>& by_hand) {
  built_large.clear();
  for (char32_t c = 0x20; c <= 0x7E; ++c) built_large.insert(c);
  for (const auto& [c, when] : large) built_large.insert(c);
  ByFile by_file;
  std::erase_if(by_hand, [&](char32_t c) { return !built_large.contains(c); });
  for (const char32_t c : built_large)
    if (const auto file = files.font_with(c); file && !std::ranges::binary_search(by_hand, c))
      by_file[*file].push_back(c);
  return by_file;
}

// The same characters, in the monospaced font where that has them.
Fonts::State::ByFile Fonts::State::monospaced(const ByFile& by_file) {
  ByFile sorted;
  for (const auto& [file, characters] : by_file)
    for (const char32_t c : characters) sorted[files.monospaced_with(c).value_or(file)].push_back(c);
  return sorted;
}

void Fonts::State::build() {
  std::vector<char32_t> by_hand;
  const ByFile by_file = sorted(by_hand);
  constexpr auto kCode = static_cast<std::size_t>(TextSize::code), kLarge = static_cast<std::size_t>(TextSize::large);
  std::vector<char32_t> large_by_hand = by_hand;
  GlyphRanges of_text = ranges_of(by_file), of_code;  // the atlas reads them until it is built
  GlyphRanges of_large = ranges_of(enlarged(large_by_hand));
  if (has_code) of_code = ranges_of(monospaced(by_file));

  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  atlas.Clear();
  atlas.Flags |= ImFontAtlasFlags_NoMouseCursors;
#ifdef HEADLIGHT_FREETYPE_BUILDER
  atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
#endif
  struct Placed {
    int rectangle;
    DrawnGlyph glyph;
  };
  std::vector<Placed> placed;
  std::array<float, kEm.size()> baselines{};
  for (std::size_t i = 0; i < kEm.size(); ++i) {
    if (i == kCode && !has_code) continue;
    const float em = std::round(kEm[i] * scale * (i == kLarge ? growth : 1));
    // Families differ in the room they leave above and below (Noto's CJK fonts: 1.45 em); here a line is 1.25 em, with
    // the middle of the ideographs, 0.37 em above the baseline, in the middle of the line.
    pixels[i] = std::round(1.25f * em);
    baselines[i] = std::round(pixels[i] / 2 + 0.37f * em);
    fonts[i] = nullptr;
    float ascent = 0;
    for (auto& [file, glyphs] : i == kCode ? of_code : i == kLarge ? of_large : of_text) {
      const int height = files.height_for_em(file, em);
      // Later fonts are laid on the first one's baseline.
      if (!fonts[i]) ascent = static_cast<float>(files.ascent(file, height));
      fonts[i] = add_file(file, glyphs, height, baselines[i] - ascent, fonts[i]);
    }
    for (const char32_t c : i == kLarge ? large_by_hand : by_hand) {
      DrawnGlyph glyph = drawn(c, em);
      const ImVec2 offset(static_cast<float>(glyph.left), baselines[i] - static_cast<float>(glyph.top));
      const int rectangle = atlas.AddCustomRectFontGlyph(fonts[i], static_cast<ImWchar>(c), glyph.width, glyph.height,
                                                         glyph.advance, offset);
      placed.push_back({rectangle, std::move(glyph)});
    }
  }
  [[maybe_unused]] const bool done = atlas.Build();
  assert(done);  // FreeType opened every face before
  for (const auto& [rectangle, glyph] : placed) copy_glyph(atlas, *atlas.GetCustomRectByIndex(rectangle), glyph);
  for (std::size_t i = 0; i < kEm.size(); ++i) {
    if (i == kCode && !has_code) continue;
    fonts[i]->FontSize = pixels[i];
    fonts[i]->Ascent = baselines[i];
    fonts[i]->Descent = baselines[i] - pixels[i];
  }
  if (!has_code) fonts[kCode] = fonts[0], pixels[kCode] = pixels[0];
  for (ImFontConfig& config : atlas.ConfigData) config.GlyphRanges = nullptr;  // they end here
  ImGui::GetIO().FontDefault = fonts[static_cast<std::size_t>(TextSize::body)];
}

std::uint64_t Fonts::atlases() const { return state_->atlases; }

bool Fonts::prepare(float scale) {
  assert(state_->opened && scale > 0);
  ++state_->frame;
  for (const ImWchar c : ImGui::GetIO().InputQueueCharacters) state_->want(c);
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float growth = display.x > 0 ? stage_growth(display.x / scale, display.y / scale) : state_->growth;
  if (!state_->lacking && scale == state_->scale && growth == state_->growth) return false;
  state_->scale = scale;
  state_->growth = growth;
  state_->forget_late();
  state_->build();
  ++state_->atlases;
  state_->lacking = false;
  return true;
}

}  // namespace headlight
