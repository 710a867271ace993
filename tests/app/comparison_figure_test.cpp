// One head in two answers on a page.
#include <cmath>

#include "app/figures.h"
#include "derived/answer_comparison.h"
#include "figure/difference_words.h"
#include "figure/labels.h"
#include "heads/pattern_difference.h"
#include "math/attention.h"
#include "pictured.h"
#include "question/answer_snapshot.h"
#include "words/compare_words.h"

namespace headlight {
namespace {

using namespace figures;
using fixture::lexicon;

AnswerSnapshot kept(const Document& document) {
  auto answer = answer_to_keep(document, lexicon());
  EXPECT_TRUE(answer);
  return std::move(*answer);
}

std::vector<Cells> cells_of(const Drawing& drawing) {
  std::vector<Cells> cells = all<Cells>(drawing);
  std::erase_if(cells, [](const Cells& one) { return one.weights->size() <= 1; });
  return cells;
}

TEST(ComparisonFigure, HasTheThreeMapsOfTheComparison) {
  const AnswerSnapshot a = kept(small_document("我请李雷帮我订票")), b = kept(small_document("小猫请李雷帮我订票"));
  for (const float width : {kColumnMm * kPointsInMm, kSlideMm * kPointsInMm}) {
    const FigureOptions options{.kind = FigureKind::compare, .width = width, .head = {1, 0}};
    const auto drawing = draw_comparison(a, b, options, roughly);
    ASSERT_TRUE(drawing) << drawing.error().message();
    Progress progress;
    const auto comparison = compare_answers({a.trace, b.trace, {1, 0}}, nullptr, progress);
    const auto maps = cells_of(*drawing);
    ASSERT_EQ(maps.size(), 3u);
    const Matrix* expected[] = {&comparison->maps.a, &comparison->maps.b, &comparison->maps.difference};
    for (std::size_t i = 0; i < 3; ++i)
      for (Index cell = 0; cell < expected[i]->size(); ++cell) {
        const float found = maps[i].weights->data()[cell], wanted = expected[i]->data()[cell];
        EXPECT_TRUE(found == wanted || (std::isnan(found) && std::isnan(wanted)));
      }
    EXPECT_EQ(maps[0].scale, maps[1].scale);
    EXPECT_TRUE(maps[2].scale.diverging);
    expect_tidy(*drawing);
    const std::string text = words_of(*drawing);
    EXPECT_NE(text.find("L1·H0"), std::string::npos);
    EXPECT_NE(text.find("B − A"), std::string::npos);
    EXPECT_NE(text.find("小猫"), std::string::npos);
  }
}

TEST(ComparisonFigure, TwoPicturesAreDrawnUnderTheRowOfAToken) {
  Document other = picture_document();
  Picture darker = other.picture->picture;
  for (std::uint8_t& tone : darker.pixels) tone /= 3;
  ASSERT_TRUE(set_picture(other, std::make_shared<const PictureInput>(
                                     PictureInput{.path = "/pictures/dark.png", .hash = "1", .picture = darker})));
  const AnswerSnapshot a = kept(picture_document()), b = kept(other);
  for (const float width : {20 * kPointsInMm, kColumnMm * kPointsInMm, kSlideMm * kPointsInMm}) {
    const FigureOptions options{.kind = FigureKind::compare, .width = width, .head = {1, 0}, .query = 7};
    const auto drawing = draw_comparison(a, b, options, roughly);
    ASSERT_TRUE(drawing) << drawing.error().message();
    const auto images = all<Image>(*drawing);
    ASSERT_EQ(images.size(), 3u);
    EXPECT_EQ(images[0].picture, a.document.seen);
    EXPECT_EQ(images[1].picture, b.document.seen);
    EXPECT_EQ(images[0].box.y == images[1].box.y, width > 30 * kPointsInMm);
    const auto maps = cells_of(*drawing);
    ASSERT_EQ(maps.size(), 3u);
    const Matrix row_a = attention_rows(*a.trace, {1, 0}, 7, 1), row_b = attention_rows(*b.trace, {1, 0}, 7, 1);
    for (Index patch = 0; patch < 12; ++patch) {
      EXPECT_EQ(maps[0].weights->data()[patch], row_a(2 + patch));
      EXPECT_EQ(maps[1].weights->data()[patch], row_b(2 + patch));
      EXPECT_FLOAT_EQ(maps[2].weights->data()[patch], row_b(2 + patch) - row_a(2 + patch));
    }
    EXPECT_NE(words_of(*drawing).find("1,1"), std::string::npos) << words_of(*drawing);
    expect_tidy(*drawing);
  }
  const FigureOptions beyond{.kind = FigureKind::compare, .head = {1, 0}, .query = 14};
  EXPECT_FALSE(draw_comparison(a, b, beyond, roughly));
}

TEST(ComparisonFigure, TheHeadCanHaveItsOwnRange) {
  const AnswerSnapshot a = kept(small_document("我请李雷帮我订票")), b = kept(small_document("小猫请李雷帮我订票"));
  const FigureOptions options{
      .kind = FigureKind::compare, .width = kSlideMm * kPointsInMm, .head = {1, 0}, .own_range = true};
  const auto drawing = draw_comparison(a, b, options, roughly);
  ASSERT_TRUE(drawing) << drawing.error().message();
  Progress progress;
  const auto comparison = compare_answers({a.trace, b.trace, {1, 0}}, nullptr, progress);
  const auto maps = cells_of(*drawing);
  ASSERT_EQ(maps.size(), 3u);
  EXPECT_EQ(maps[0].scale.top, nice_top(largest_weight(comparison->maps)));
  EXPECT_EQ(maps[0].scale, maps[1].scale) << "A and B can be compared";
  EXPECT_EQ(maps[2].scale.top, nice_range(comparison->heads->head({1, 0})->measured.largest));
}

TEST(ComparisonFigure, WordsOfOneAnswerHaveItsColour) {
  const AnswerSnapshot a = kept(small_document("我请李雷")), b = kept(small_document("小猫请李雷"));
  const FigureOptions options{.kind = FigureKind::compare, .width = kSlideMm * kPointsInMm};
  const auto drawing = draw_comparison(a, b, options, roughly);
  ASSERT_TRUE(drawing);
  int rose = 0, blue = 0;
  for (const Text& text : all<Text>(*drawing)) {
    if (text.role != Role::label) continue;
    if (text.text == "我") rose += text.colour == diverging_map(Theme::light).front();
    if (text.text == "小猫") blue += text.colour == diverging_map(Theme::light).back();
    if (text.text != "请") continue;
    EXPECT_EQ(text.colour, ink_colours(Theme::light).text);
  }
  EXPECT_EQ(rose, 4) << "beside the rows of the first, and above each of the three";
  EXPECT_EQ(blue, 4);
}

TEST(ComparisonFigure, SaysWhereNoTokenIsInBoth) {
  const AnswerSnapshot a = kept(small_document("我请李雷")), b = kept(small_document("two cats sleep"));
  for (const Language language : {Language::en, Language::zh}) {
    const auto drawing = draw_comparison(
        a, b, {.kind = FigureKind::compare, .language = language, .width = kSlideMm * kPointsInMm}, roughly);
    ASSERT_TRUE(drawing);
    EXPECT_TRUE(contains(drawing->caption, words(language, kCompareWords.nothing_aligned))) << drawing->caption;
    EXPECT_EQ(all<Ramp>(*drawing).size(), 1u) << "there are no differences to have a scale";
  }
}

TEST(ComparisonFigure, ItsCaptionSaysWhatBothWereAsked) {
  Document first = small_document("我请李雷帮我订票"), second = small_document("小猫请李雷帮我订票");
  const auto caption = [&](Language language = Language::en) {
    const auto drawing = draw_comparison(kept(first), kept(second),
                                         {.kind = FigureKind::compare, .language = language, .head = {1, 0}}, roughly);
    return drawing ? drawing->caption : drawing.error().message();
  };
  const std::string other_words = caption();
  EXPECT_TRUE(contains(other_words, "A: 我请李雷帮我订票  B: 小猫请李雷帮我订票")) << other_words;
  EXPECT_TRUE(contains(other_words, "In both: " + model_title(Language::en, first))) << other_words;
  EXPECT_TRUE(contains(other_words, "mask: none · scores × 0.5")) << other_words;
  EXPECT_TRUE(contains(caption(Language::zh), "两者相同：")) << caption(Language::zh);
  first.mask.causal = true;
  second.source.text = first.source.text;
  second.edits.off = first.edits.off = {{0, 1}};
  const std::string other_mask = caption();
  EXPECT_TRUE(contains(other_mask, "我请李雷帮我订票 · scores × 0.5")) << other_mask;
  EXPECT_TRUE(contains(other_mask, "L0·H1")) << "what was changed in both: " << other_mask;
  const std::size_t both = other_mask.find("In both: ");
  EXPECT_EQ(other_mask.find("mask", both), std::string::npos) << "it is of one: " << other_mask;
}

TEST(ComparisonFigure, SaysInABlankMapThatNothingDiffers) {
  const AnswerSnapshot a = kept(small_document("我请李雷帮我订票")), b = kept(small_document("小猫请李雷帮我订票"));
  for (const Language language : {Language::en, Language::zh}) {
    const FigureOptions options{.kind = FigureKind::compare, .language = language, .width = kSlide};
    const auto same = draw_comparison(a, a, options, roughly), other = draw_comparison(a, b, options, roughly);
    ASSERT_TRUE(same && other);
    expect_tidy(*same);
    EXPECT_TRUE(says(*same, words(language, kCompareWords.nothing_differs)));
    EXPECT_FALSE(says(*other, words(language, kCompareWords.nothing_differs)));
  }
}

TEST(ComparisonFigure, WhatCannotBeDrawnIsSaid) {
  const AnswerSnapshot a = kept(small_document("我请李雷"));
  Document other = small_document("我请李雷");
  other.config.num_heads = 4;
  const AnswerSnapshot b = kept(other);
  const auto refusal = [&](const AnswerSnapshot& before, const AnswerSnapshot& after, HeadRef head) {
    const auto drawing = draw_comparison(before, after, {.kind = FigureKind::compare, .head = head}, roughly);
    EXPECT_FALSE(drawing);
    return drawing ? std::string() : drawing.error().message();
  };
  EXPECT_NE(refusal(a, b, {0, 3}).find("expected one that A has too"), std::string::npos);
  EXPECT_NE(refusal(a, b, {7, 0}).find("layer"), std::string::npos);
  std::string text = "a";
  for (int i = 0; i < 512; ++i) text += " a";
  EXPECT_NE(refusal(a, kept(small_document(text)), {0, 0}).find("up to 512 tokens"), std::string::npos);
  const Document document = small_document();
  EXPECT_FALSE(draw_figure({*answer_of(document), document}, {.kind = FigureKind::compare}, roughly));
}

}  // namespace
}  // namespace headlight
