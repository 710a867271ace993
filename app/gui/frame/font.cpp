#include "gui/frame/font.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/utf8.h"
#include "gui/frame/glyph_substitutes.h"
#include "gui/frame/imgui_compat.h"
#include "paper/font_files.h"

#if IMGUI_VERSION_NUM < 19200
#if __has_include(<imgui_freetype.h>)
#include <imgui_freetype.h>
#define HEADLIGHT_FREETYPE_BUILDER
#elif __has_include(<misc/freetype/imgui_freetype.h>)
#include <misc/freetype/imgui_freetype.h>
#define HEADLIGHT_FREETYPE_BUILDER
#endif
#endif

namespace headlight {
namespace {

constexpr std::array<float, 3> kEm{13, 15, 20};  // by TextSize

// Beside ASCII and Latin-1: punctuation, arrows and signs of the interface.
constexpr std::string_view kSigns =
    "‐‑‒–—―‘’‚“”„†‡•…‰′″‹›€™"
    "←↑→↓↔↕↵⇧⇥⌘⌥⌃⌫␣⏎"
    "−×÷√∑∏∞∂∆Σ≈≠≤≥∈⊙·"
    "■□▪▫▲△▴▵▶▷▸▹▼▽▾▿◀◂◆◇○●◐◦◌"
    "★☆☀☾☼✓✔✕✖✗⟲⟳↺↻⚠�"
    "、。〈〉《》「」『』【】，．：；？！（）～";

#if IMGUI_VERSION_NUM < 19200

// A frame's text seldom has more characters than this; above it, those not shown of late are let go.
constexpr std::size_t kManyGlyphs = 1500;
constexpr int kLateFrames = 60;

// An empty frame: a character that no font here can draw.
DrawnGlyph box(float em) {
  DrawnGlyph glyph;
  const int line = std::max(1, static_cast<int>(em / 14));
  glyph.width = static_cast<int>(std::lround(0.6f * em)), glyph.height = static_cast<int>(std::lround(0.75f * em));
  glyph.left = line, glyph.top = glyph.height;
  glyph.advance = static_cast<float>(glyph.width + 2 * line);
  for (int y = 0; y < glyph.height; ++y)
    for (int x = 0; x < glyph.width; ++x) {
      const bool edge = x < line || y < line || x >= glyph.width - line || y >= glyph.height - line;
      glyph.coverage.push_back(edge ? 170 : 0);
    }
  return glyph;
}

DrawnGlyph nothing() { return {1, 1, 0, 0, 0, {0}}; }

#endif

}  // namespace

struct Fonts::State {
  FontFiles files;
  bool opened = false;
  GlyphSubstitutes stand_ins;
  std::unordered_set<char32_t> kept;
  std::unordered_map<char32_t, int> wanted;  // beside the kept ones: to the frame that last asked
  std::unordered_set<char32_t> built;
  bool lacking = true;
  int frame = 0;
  float scale = 0;
  std::array<ImFont*, 3> fonts{};
  std::array<float, 3> pixels{};

  void want(char32_t c) {
    if (c < 0x20) return;
    if (!kept.contains(c)) wanted[c] = frame;
    if (!built.contains(c)) lacking = true;
  }
  // What ImGui is to show for a code point of its text: the character itself, or the one that it stands for.
  char32_t meant(char32_t c) const { return stand_ins.behind(c).value_or(c); }

#if IMGUI_VERSION_NUM >= 19200
  std::vector<std::size_t> loaded;
  void load();
#else
  using Ranges = std::vector<ImWchar>;
  void forget_late();
  void build();
  DrawnGlyph drawn(char32_t c, float em);
#endif
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

bool Fonts::wants_frame() const { return state_->lacking; }
ImFont* Fonts::font(TextSize size) const { return state_->fonts[static_cast<std::size_t>(size)]; }
float Fonts::pixels(TextSize size) const { return state_->pixels[static_cast<std::size_t>(size)]; }
void Fonts::push(TextSize size) const { push_font(font(size), pixels(size)); }

std::string Fonts::shown(std::string_view text) {
  // What keep() always has, and nothing stands for.
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7E; })) return std::string(text);
  std::string result;
  result.reserve(text.size());
  for (const char32_t character : code_points(text)) state_->stand_ins.put(result, character);
  for (const char32_t c : code_points(result)) state_->want(c);
  return result;
}

std::string Fonts::typed(std::string_view text) const { return state_->stand_ins.restored(text); }

void Fonts::input(char32_t code_point) {
  std::string text;
  append_utf8(text, code_point);
  ImGui::GetIO().AddInputCharactersUTF8(shown(text).c_str());
}

#if IMGUI_VERSION_NUM >= 19200

// ImGui rasterises by itself here; only the fonts that text needs must be there.
void Fonts::State::load() {
  static constexpr ImWchar kStandIns[] = {GlyphSubstitutes::kFirst, GlyphSubstitutes::kLast, 0};
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  const auto add = [&](std::size_t file) {
    if (std::find(loaded.begin(), loaded.end(), file) != loaded.end()) return;
    ImFontConfig config;
    config.MergeMode = fonts[0] != nullptr;
    config.DstFont = fonts[0];
    config.FontDataOwnedByAtlas = false;
    config.FontNo = static_cast<ImU32>(files.face_index(file));
    config.GlyphExcludeRanges = kStandIns;
    config.PixelSnapH = true;
    const std::string_view bytes = files.bytes(file);
    fonts.fill(atlas.AddFontFromMemoryTTF(const_cast<char*>(bytes.data()), static_cast<int>(bytes.size()), 0, &config));
    loaded.push_back(file);
  };
  add(0);
  const auto need = [&](char32_t c) {
    built.insert(c);
    if (is_invisible(c) || GlyphSubstitutes::is_one(c)) return;
    if (const auto file = files.font_with(c)) add(*file);
  };
  for (const char32_t c : kept) need(c);
  for (const auto& [c, when] : wanted) need(c);
}

bool Fonts::prepare(float scale) {
  assert(state_->opened && scale > 0);
  ++state_->frame;
  if (state_->lacking) state_->load();
  state_->lacking = false;
  state_->scale = scale;
  for (std::size_t i = 0; i < kEm.size(); ++i)
    state_->pixels[i] = static_cast<float>(state_->files.height_for_em(0, std::round(kEm[i] * scale)));
  ImGui::GetIO().FontDefault = font(TextSize::body);
  ImGui::GetStyle().FontSizeBase = pixels(TextSize::body);
  return false;
}

#else

void Fonts::State::forget_late() {
  if (wanted.size() <= kManyGlyphs) return;
  std::erase_if(wanted, [&](const auto& entry) { return entry.second < frame - kLateFrames; });
}

// A glyph that ImGui's builder is not given: a stand-in's character, one that no font has, one that is never seen.
DrawnGlyph Fonts::State::drawn(char32_t c, float em) {
  const char32_t character = meant(c);
  if (GlyphSubstitutes::is_silent(c) || is_invisible(character)) return nothing();
  if (const auto file = files.font_with(character))
    if (auto glyph = files.draw(*file, character, em)) return std::move(*glyph);
  return box(em);
}

void Fonts::State::build() {
  std::map<std::size_t, std::vector<char32_t>> by_file;
  std::vector<char32_t> by_hand;
  const auto sort = [&](char32_t c) {
    built.insert(c);
    const auto file = GlyphSubstitutes::is_one(c) || is_invisible(c) ? std::nullopt : files.font_with(c);
    if (file) by_file[*file].push_back(c);
    else by_hand.push_back(c);
  };
  built.clear();
  for (const char32_t c : kept) sort(c);
  for (const auto& [c, when] : wanted) sort(c);
  std::sort(by_hand.begin(), by_hand.end());  // the atlas does not depend on the order of a hash table

  std::map<std::size_t, ImVector<ImWchar>> ranges;
  for (const auto& [file, characters] : by_file) {
    ImFontGlyphRangesBuilder builder;
    for (const char32_t c : characters) builder.AddChar(static_cast<ImWchar>(c));
    builder.BuildRanges(&ranges[file]);
  }

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
  std::array<float, 3> baselines{};
  for (std::size_t i = 0; i < kEm.size(); ++i) {
    const float em = std::round(kEm[i] * scale);
    // Families differ in the room they leave above and below (Noto's CJK fonts: 1.45 em); here a line is 1.25 em, with
    // the middle of the ideographs, 0.37 em above the baseline, in the middle of the line.
    pixels[i] = std::round(1.25f * em);
    baselines[i] = std::round(pixels[i] / 2 + 0.37f * em);
    fonts[i] = nullptr;
    float ascent = 0;
    for (auto& [file, glyphs] : ranges) {
      const std::string_view bytes = files.bytes(file);
      const int height = files.height_for_em(file, em);
      // Later fonts are laid on the first one's baseline.
      if (!fonts[i]) ascent = static_cast<float>(files.ascent(file, height));
      ImFontConfig config;
      config.FontData = const_cast<char*>(bytes.data());
      config.FontDataSize = static_cast<int>(bytes.size());
      config.FontNo = files.face_index(file);
      config.SizePixels = static_cast<float>(height);
      config.OversampleH = config.OversampleV = 1;
      config.PixelSnapH = true;
      config.GlyphRanges = glyphs.Data;
      config.GlyphOffset.y = baselines[i] - ascent;
      config.MergeMode = fonts[i] != nullptr;
      config.DstFont = fonts[i];
#ifdef HEADLIGHT_FREETYPE_BUILDER
      config.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
#endif
      fonts[i] = atlas.AddFont(&config);
      // Said only now, or the atlas would copy megabytes at every build.
      atlas.ConfigData.back().FontDataOwnedByAtlas = false;
    }
    for (const char32_t c : by_hand) {
      DrawnGlyph glyph = drawn(c, em);
      const ImVec2 offset(static_cast<float>(glyph.left), baselines[i] - static_cast<float>(glyph.top));
      const int rectangle = atlas.AddCustomRectFontGlyph(fonts[i], static_cast<ImWchar>(c), glyph.width, glyph.height,
                                                         glyph.advance, offset);
      placed.push_back({rectangle, std::move(glyph)});
    }
  }
  [[maybe_unused]] const bool done = atlas.Build();
  assert(done);  // FreeType opened every face before
  for (const auto& [rectangle, glyph] : placed) {
    const ImFontAtlasCustomRect& at = *atlas.GetCustomRectByIndex(rectangle);
    for (int y = 0; y < glyph.height; ++y) {
      const int texel = (at.Y + y) * atlas.TexWidth + at.X;
      const std::uint8_t* row = glyph.coverage.data() + y * glyph.width;
      if (atlas.TexPixelsAlpha8) std::memcpy(atlas.TexPixelsAlpha8 + texel, row, static_cast<std::size_t>(glyph.width));
      if (!atlas.TexPixelsRGBA32) continue;
      for (int x = 0; x < glyph.width; ++x) atlas.TexPixelsRGBA32[texel + x] = IM_COL32(255, 255, 255, row[x]);
    }
  }
  for (std::size_t i = 0; i < kEm.size(); ++i) {
    fonts[i]->FontSize = pixels[i];
    fonts[i]->Ascent = baselines[i];
    fonts[i]->Descent = baselines[i] - pixels[i];
  }
  for (ImFontConfig& config : atlas.ConfigData) config.GlyphRanges = nullptr;  // they end here
  ImGui::GetIO().FontDefault = fonts[static_cast<std::size_t>(TextSize::body)];
}

bool Fonts::prepare(float scale) {
  assert(state_->opened && scale > 0);
  ++state_->frame;
  for (const ImWchar c : ImGui::GetIO().InputQueueCharacters) state_->want(c);
  if (!state_->lacking && scale == state_->scale) return false;
  state_->scale = scale;
  state_->forget_late();
  state_->build();
  state_->lacking = false;
  return true;
}

#endif

}  // namespace headlight
