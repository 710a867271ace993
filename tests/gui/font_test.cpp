#include "gui/theme/font.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/utf8.h"
#include "gui/imgui_input.h"
#include "gui/theme/glyph_substitutes.h"

namespace headlight {
namespace {

std::string utf8(const std::vector<char32_t>& points) {
  std::string text;
  for (const char32_t c : points) append_utf8(text, c);
  return text;
}

class FontTest : public testing::Test {
 protected:
  void SetUp() override {
    context_ = ImGui::CreateContext();
    prepare_headless();
    ImGui::GetIO().IniFilename = nullptr;
    ImGui::GetIO().DisplaySize = {800, 600};
    const auto opened = fonts_.open();
    if (!opened) GTEST_SKIP() << opened.error().message();
  }
  void TearDown() override { ImGui::DestroyContext(context_); }

  ImGuiContext* context_ = nullptr;
  Fonts fonts_;
};

TEST(StandInsTest, AnyTextComesBack) {
  Fonts fonts;
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<char32_t> points;
    for (int i = 0; i < 200; ++i) {
      const auto pick = random() % 6;
      char32_t c = 0;
      if (pick == 0) c = random() % 0x80;
      if (pick == 1) c = 0x4E00 + random() % 0x5000;
      if (pick == 2) c = 0xE000 + random() % 0x1900;  // private use
      if (pick == 3) c = 0xA000 + random() % 0x640;   // what stand-ins are taken from
      if (pick == 4) c = 0x10000 + random() % 0x100000;
      if (pick == 5) c = random() % 0x110000;
      if (c >= 0xD800 && c <= 0xDFFF) c = 0xFFFD;
      points.push_back(c);
    }
    const std::string text = utf8(points);
    EXPECT_EQ(fonts.typed(fonts.edited(text)), text);  // far more different ones than there are slots
  }
}

TEST(StandInsTest, NothingThatImGuiMangles) {
  Fonts fonts;
  const std::string text = utf8({U'a', 0, 1, 0x7F, 0xE000, 0xF8FF, 0xFFFE, 0xFFFF, 0x20BB7, 0x1F600, 0x10FFFD});
  for (const char32_t c : code_points(fonts.shown(text))) {
    EXPECT_GE(c, 0x20u);
    EXPECT_FALSE(c >= 0xE000 && c <= 0xF8FF) << std::hex << static_cast<unsigned>(c);
    EXPECT_LE(c, static_cast<char32_t>(IM_UNICODE_CODEPOINT_MAX));
  }
  EXPECT_EQ(fonts.typed(fonts.shown(text)), text);
}

TEST(StandInsTest, OrdinaryTextStaysAsItIs) {
  Fonts fonts;
  for (const std::string text : {"", "head 3 · 0.25\n\t", "我请李雷帮我订了去北京的机票", "café 한국어 ☀"}) {
    EXPECT_EQ(fonts.shown(text), text);
    EXPECT_EQ(fonts.typed(text), text);
  }
}

TEST(StandInsTest, TheSameCharacterHasOneStandIn) {
  GlyphSubstitutes table;
  std::string first, second;
  table.put(first, 0xE123);
  table.put(second, 0xE123);
  EXPECT_EQ(first, second);
  const auto points = code_points(first);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_TRUE(GlyphSubstitutes::is_one(points[0]));
  EXPECT_EQ(table.behind(points[0]), char32_t{0xE123});
  EXPECT_EQ(table.behind(points[0] + 1), std::nullopt);
}

TEST(StandInsTest, ALongStandInCutApartIsReplaced) {
  GlyphSubstitutes table;
  std::string all;
  for (char32_t c = 0xE000; c <= 0xF8FF; ++c) table.put(all, c);  // uses every slot up
  std::string late;
  table.put(late, 0xF8FF);
  const auto points = code_points(late);
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(table.restored(late), utf8({0xF8FF}));
  EXPECT_EQ(table.restored(utf8({points[0], points[1]})), utf8({0xFFFD, 0xFFFD}));
  EXPECT_EQ(table.restored(utf8({points[1], points[2]})), utf8({0xFFFD, 0xFFFD}));
  EXPECT_EQ(table.restored(utf8({points[0], U'x'})), utf8({0xFFFD, U'x'}));
  EXPECT_EQ(table.restored(late + late), utf8({0xF8FF, 0xF8FF}));
}

TEST_F(FontTest, InjectedKeysHaveTheirNames) {
  const Key keys[] = {Key{'M'}, Key{'Z'}, Key{'7'}, Key::f1, Key::left_bracket, Key::slash, Key::escape, Key::right};
  for (const Key key : keys) {
    int pressed = 0, held = 0;
    for (int frame = 0; frame < 4; ++frame) {
      if (frame == 1) inject_key(key, true);
      if (frame == 3) inject_key(key, false);
      fonts_.prepare(1);
      ImGui::NewFrame();
      pressed += key_pressed(key, false);
      held += key_down(key);
      EXPECT_FALSE(key_pressed(Key{'Q'}));
      ImGui::Render();
    }
    EXPECT_EQ(pressed, 1) << static_cast<int>(key);
    EXPECT_EQ(held, 2) << static_cast<int>(key);
  }
  inject_key(Key::left_ctrl, true);
  ImGui::NewFrame();
  EXPECT_TRUE(ImGui::GetIO().KeyCtrl);
  EXPECT_FALSE(ImGui::GetIO().KeyShift);
  ImGui::Render();
}

// How much of a glyph is inked, in whole pixels.
float ink(ImFont* font, const ImFontGlyph& glyph) {
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  font->ContainerAtlas->GetTexDataAsAlpha8(&pixels, &width, &height);
  float sum = 0;
  for (int y = static_cast<int>(glyph.V0 * static_cast<float>(height));
       y < static_cast<int>(std::lround(glyph.V1 * static_cast<float>(height))); ++y)
    for (int x = static_cast<int>(glyph.U0 * static_cast<float>(width));
         x < static_cast<int>(std::lround(glyph.U1 * static_cast<float>(width))); ++x)
      sum += static_cast<float>(pixels[y * width + x]) / 255;
  return sum;
}

TEST_F(FontTest, ChineseAppearsWhenItIsFirstShown) {
  EXPECT_TRUE(fonts_.prepare(1));
  EXPECT_FALSE(fonts_.wants_frame());
  EXPECT_FALSE(fonts_.prepare(1)) << "nothing new was asked for";
  EXPECT_EQ(fonts_.font(TextSize::body)->FindGlyphNoFallback(U'\u8BA2'), nullptr);
  EXPECT_EQ(fonts_.shown("订了"), "订了");
  EXPECT_TRUE(fonts_.wants_frame());
  EXPECT_TRUE(fonts_.prepare(1));
  EXPECT_FALSE(fonts_.wants_frame());
  for (const TextSize size : {TextSize::small, TextSize::body, TextSize::title}) {
    const ImFontGlyph* glyph = fonts_.font(size)->FindGlyphNoFallback(U'\u8BA2');
    ASSERT_NE(glyph, nullptr);
    EXPECT_GT(ink(fonts_.font(size), *glyph), 10);
  }
}

TEST_F(FontTest, KeptWordsAreThereFromTheStart) {
  fonts_.keep("注意力 → head ✓");
  fonts_.prepare(1);
  for (const char32_t c : U"注意力→✓ead") {
    if (c == 0) continue;
    EXPECT_NE(fonts_.font(TextSize::small)->FindGlyphNoFallback(static_cast<ImWchar>(c)), nullptr);
  }
}

TEST_F(FontTest, SizesFollowTheScaleInWholePixels) {
  fonts_.prepare(1);
  const float body = fonts_.pixels(TextSize::body);
  EXPECT_EQ(body, fonts_.font(TextSize::body)->FontSize);
  EXPECT_LT(fonts_.pixels(TextSize::small), body);
  EXPECT_LT(body, fonts_.pixels(TextSize::title));
  const float small_em = fonts_.font(TextSize::small)->CalcTextSizeA(fonts_.pixels(TextSize::small), 1e9f, 0, "—").x;
  EXPECT_GE(small_em, 10);
  for (const float scale : {1.25f, 1.5f, 2.f}) {
    EXPECT_TRUE(fonts_.prepare(scale));
    EXPECT_EQ(std::floor(fonts_.pixels(TextSize::body)), fonts_.pixels(TextSize::body));
    EXPECT_NEAR(fonts_.pixels(TextSize::body), body * scale, 1.5f);
  }
}

TEST_F(FontTest, IdeographsAreASquareOfTheirSize) {
  fonts_.keep("我国");
  fonts_.prepare(2);
  const ImFontGlyph* glyph = fonts_.font(TextSize::body)->FindGlyphNoFallback(U'\u56FD');
  ASSERT_NE(glyph, nullptr);
  EXPECT_NEAR(glyph->AdvanceX, 30, 1.5f);
  const float line = fonts_.pixels(TextSize::body);
  EXPECT_NEAR((glyph->Y0 + glyph->Y1) / 2, line / 2, 2.5f) << "in the middle of the line";
  EXPECT_GE(glyph->Y0, 0);
  EXPECT_LE(glyph->Y1, line);
}

TEST_F(FontTest, WhatNoFontHasIsABox) {
  const std::string text = utf8({0x10FFFD});  // private use: no font here draws it
  const auto stand_in = code_points(fonts_.shown(text));
  ASSERT_EQ(stand_in.size(), 1u);
  fonts_.prepare(1);
  ImFont* font = fonts_.font(TextSize::body);
  const ImFontGlyph* glyph = font->FindGlyphNoFallback(static_cast<ImWchar>(stand_in[0]));
  ASSERT_NE(glyph, nullptr);
  EXPECT_GT(glyph->AdvanceX, 5);
  EXPECT_GT(ink(font, *glyph), 5);
}

TEST_F(FontTest, JoinersTakeNoRoom) {
  const auto shown = code_points(fonts_.shown(utf8({U'a', 0x200D, 0xFE0F, U'b'})));
  fonts_.prepare(1);
  for (const char32_t c : {shown[1], shown[2]}) {
    const ImFontGlyph* glyph = fonts_.font(TextSize::body)->FindGlyphNoFallback(static_cast<ImWchar>(c));
    ASSERT_NE(glyph, nullptr);
    EXPECT_EQ(glyph->AdvanceX, 0);
  }
}

TEST_F(FontTest, FramesGoOnWhileTextChanges) {
  for (char32_t c = 0x4E00; c < 0x4E00 + 4000; c += 400) {
    std::vector<char32_t> points;
    for (char32_t i = 0; i < 400; ++i) points.push_back(c + i);
    const std::string text = fonts_.shown(utf8(points));
    fonts_.prepare(1);
    ImGui::NewFrame();
    ImGui::Begin("text");
    fonts_.push(TextSize::small);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopFont();
    ImGui::End();
    ImGui::Render();
    EXPECT_NE(fonts_.font(TextSize::small)->FindGlyphNoFallback(static_cast<ImWchar>(c + 399)), nullptr);
  }
}

TEST_F(FontTest, LettersOfTheKeyboardPassThroughTheTextField) {
  std::string given = utf8({U'\u6211', 0x20BB7, U'a', 0xE000, 0x1F600});
  char buffer[256] = "";
  for (int frame = 0; frame < 6; ++frame) {
    if (frame == 3)
      for (const char32_t c : code_points(given)) fonts_.input(c);
    fonts_.prepare(1);
    ImGui::NewFrame();
    ImGui::Begin("window");
    if (frame == 1) ImGui::SetKeyboardFocusHere();
    ImGui::InputText("##text", buffer, sizeof buffer);
    ImGui::End();
    ImGui::Render();
  }
  EXPECT_EQ(fonts_.typed(buffer), given);
}

TEST_F(FontTest, QuotationMarksAreNarrowInLatinText) {
  const auto widths = [&] {
    std::vector<float> all;
    for (const char32_t c : {U'“', U'”', U'‘', U'’', U'…'})
      all.push_back(fonts_.font(TextSize::body)->FindGlyph(static_cast<ImWchar>(c))->AdvanceX);
    return all;
  };
  fonts_.prepare(1);
  const auto wide = widths();
  fonts_.use_latin_signs(true);
  EXPECT_TRUE(fonts_.wants_frame());
  EXPECT_TRUE(fonts_.prepare(1));
  const auto narrow = widths();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_LT(narrow[i], 0.62f * 15) << i;
  EXPECT_LE(narrow[4], 15) << "the ellipsis";
  fonts_.use_latin_signs(true);
  EXPECT_FALSE(fonts_.prepare(1)) << "nothing changed";
  fonts_.use_latin_signs(false);
  fonts_.prepare(1);
  EXPECT_EQ(widths(), wide);
}

TEST_F(FontTest, WhatNoFontHasIsItsName) {
  const std::string shown = fonts_.shown(utf8({0x1F9CB, 0xFABCD}));  // bubble tea; private use, without a name
  fonts_.prepare(1);
  for (const char32_t c : code_points(shown)) {
    const ImFontGlyph* glyph = fonts_.font(TextSize::body)->FindGlyphNoFallback(static_cast<ImWchar>(c));
    ASSERT_NE(glyph, nullptr);
    EXPECT_GT(glyph->AdvanceX, 2 * 15) << "letters between brackets, no empty frame";
    EXPECT_GT(ink(fonts_.font(TextSize::body), *glyph), 0);
  }
  EXPECT_EQ(fonts_.typed(shown), utf8({0x1F9CB, 0xFABCD}));
}

}  // namespace
}  // namespace headlight
