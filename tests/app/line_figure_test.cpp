// One row and one column of every head as bars: what the window and the figure draw, as data.
#include "figure/line_bars.h"

#include <cmath>

#include "app/figures.h"
#include "derived/flow_lines.h"
#include "figure/labels.h"
#include "math/attention.h"

namespace headlight {
namespace {

using namespace figures;

/// The bars of a figure, in its order: rectangles that have no line.
std::vector<Rectangle> bars_of(const Drawing& drawing) {
  std::vector<Rectangle> bars = all<Rectangle>(drawing);
  bars.erase(std::remove_if(bars.begin(), bars.end(), [](const Rectangle& one) { return one.line.has_value(); }),
             bars.end());
  return bars;
}

TEST(LineLayout, BarsStandUnderTheirWords) {
  const LineLayout layout = line_layout(
      {10, 20, 400, 300}, 4, 8, {.widest = 12, .longest = 2, .upright = true},
      {.text = 10, .titles = 100, .tops = 20, .gap = 2, .most_words = 100, .least_pitch = 20, .most_pitch = 50});
  EXPECT_TRUE(layout.level);
  EXPECT_EQ(layout.bars.x, 110);
  EXPECT_EQ(layout.bars.right(), 390);
  EXPECT_EQ(layout.pitch, 50) << "few heads do not fill a high window";
  Vector weights(8);
  weights << 0.0f, 0.5f, 0.25f, 1, 0, 0, 0, 2;
  const std::vector<Bar> bars = bars_of_head(layout, 1, weights, 1);
  ASSERT_EQ(bars.size(), 8u);
  const Box box = layout.bars_of(1);
  EXPECT_EQ(bars[0].box.h, 0);
  EXPECT_FLOAT_EQ(bars[1].box.h, box.h / 2);
  EXPECT_FLOAT_EQ(bars[2].box.bottom(), box.bottom());
  EXPECT_FLOAT_EQ(bars[7].box.h, box.h) << "never higher than its room";
  const auto words =
      words_above(layout, {"a", "b", "c", "d", "e", "f", "g", "h"}, {}, 3, 8, 10, ink_colours(Theme::light), roughly);
  ASSERT_EQ(words.size(), 8u);
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_NEAR(words[i].at.x, bars[i].box.x + bars[i].box.w / 2, 0.01f);
    EXPECT_LE(bounds(words[i]).bottom(), layout.bars.y);
    EXPECT_EQ(words[i].colour == ink_colours(Theme::light).accent, i == 3) << "the lit one";
    EXPECT_EQ(layout.bar_at(words[i].at.x), static_cast<Index>(i));
  }
  EXPECT_FALSE(layout.bar_at(109));
  EXPECT_FALSE(layout.bar_at(391));
}

TEST(LineLayout, ABarOfManyWordsShowsTheLargest) {
  const LineLayout layout =
      line_layout({0, 0, 100, 100}, 1, 1000, {}, {.text = 10, .least_pitch = 20, .most_pitch = 50});
  EXPECT_EQ(layout.bars_drawn(), 100);
  Vector weights = Vector::Zero(1000);
  weights[437] = 0.5f;
  const std::vector<Bar> bars = bars_of_head(layout, 0, weights, 0.5f);
  for (std::size_t i = 0; i < bars.size(); ++i) EXPECT_EQ(bars[i].box.h > 0, i == 43) << i;
  EXPECT_EQ(bars[43].strongest, 437);
  EXPECT_EQ(top_of_line(weights, 0.8f, false), 0.8f);
  EXPECT_EQ(top_of_line(weights, 0.8f, true), 0.5f);
  EXPECT_EQ(top_of_line(Vector::Zero(3), 0.8f, true), 0.8f) << "nothing is no range";
}

TEST(LineFigure, IsTidyWhateverIsDrawn) {
  for (const Index words : {1, 10, 60, 150})
    for (const Arch arch : {Arch::encoder, Arch::encoder_decoder}) {
      const Document document = document_of(words, arch);
      const auto trace = answer_of(document);
      for (const FigureKind kind : {FigureKind::row, FigureKind::column})
        for (const float mm : {kLeastMm, kColumnMm, kSlideMm})
          for (const Stack stack : kStacks) {
            if (!trace->has(stack)) continue;
            SCOPED_TRACE(std::to_string(words) + " words, kind " + std::to_string(static_cast<int>(kind)) + ", " +
                         std::to_string(mm) + " mm, stack " + std::to_string(static_cast<int>(stack)));
            expect_tidy(drawn(document, *trace,
                              {.kind = kind,
                               .language = words > 10 ? Language::zh : Language::en,
                               .width = mm * kPointsInMm,
                               .head = {1, 1, stack},
                               .own_range = words != 10}));
            if (testing::Test::HasFatalFailure()) return;
          }
    }
}

TEST(LineFigure, EveryHeadHasABarAWord) {
  Document document = small_document();
  document.mask.causal = true;
  const auto trace = answer_of(document);
  const float top = weight_scale(*trace, nullptr, Theme::light, Scale::linear).top;
  for (const bool row : {true, false}) {
    const Drawing drawing = drawn(
        document, *trace, {.kind = row ? FigureKind::row : FigureKind::column, .width = kSlide, .query = 9, .key = 2});
    EXPECT_TRUE(says(drawing, row ? "机票\nlooks, in every head, at" : "李雷\nis looked at, in every head, by"));
    EXPECT_TRUE(says(drawing, "L1·H0"));
    EXPECT_TRUE(says(drawing, "causal"));
    const std::vector<Rectangle> bars = bars_of(drawing);
    std::size_t at = 0;
    float full = 0;  // height of a bar of weight 1
    for (const HeadRef head : {HeadRef{0, 0}, HeadRef{0, 1}, HeadRef{1, 0}, HeadRef{1, 1}}) {
      const Matrix weights = attention_rows(*trace, head, 0, 10);
      for (Index i = 0; i < 10; ++i) {
        const float weight = row ? weights(9, i) : weights(i, 2);
        if (!(weight > 0)) continue;
        ASSERT_LT(at, bars.size());
        if (full == 0) full = bars[at].box.h / weight;
        EXPECT_NEAR(bars[at].box.h, full * weight, 1e-3f);
        EXPECT_EQ(bars[at++].fill, colour_map(Theme::light)[150]);
      }
    }
    EXPECT_EQ(at, bars.size());
    EXPECT_TRUE(says(drawing, "all the height: " + tick_number(top)));
  }
}

TEST(LineFigure, EachHeadCanHaveItsOwnRange) {
  const Document document = small_document();
  const auto trace = answer_of(document);
  const Drawing shared = drawn(document, *trace, {.kind = FigureKind::row, .query = 3});
  const Drawing own = drawn(document, *trace, {.kind = FigureKind::row, .query = 3, .own_range = true});
  const auto heights = [](const Drawing& drawing) {
    std::vector<float> highest(4, 0);
    const auto bars = bars_of(drawing);
    for (std::size_t i = 0; i < bars.size(); ++i) highest[i / 10] = std::max(highest[i / 10], bars[i].box.h);
    return highest;
  };
  for (const float height : heights(own)) EXPECT_NEAR(height, heights(own).front(), 1e-3f);
  EXPECT_LT(heights(shared).front(), heights(own).front());
  for (const HeadRef head : {HeadRef{0, 0}, HeadRef{1, 1}})
    EXPECT_TRUE(says(own, tick_number(attention_rows(*trace, head, 3, 1).maxCoeff())))
        << "and its number stands beside it";
}

TEST(LineFigure, HeadsStandInTheOrderThatIsAskedFor) {
  const Document document = small_document();
  const auto trace = answer_of(document);
  const Drawing drawing =
      drawn(document, *trace, {.kind = FigureKind::row, .width = kSlide, .heads = {{1, 1}, {0, 0}}});
  const std::string words = words_of(drawing);
  EXPECT_LT(words.find("L1·H1"), words.find("L0·H0"));
  EXPECT_EQ(bars_of(drawing).size(), 20u);
}

TEST(LineFigure, BarsAndLinesAreFoldedAsMapsAre) {
  Document document = small_document("the cats sat");
  document.source.split = Split::characters;
  const auto trace = answer_of(document);
  const auto folds = folded_maps(trace, {.special = false, .words = true});
  const FoldedStack& stack = *folds->stacks[static_cast<std::size_t>(Stack::self)];
  const auto folded = [&](const FigureOptions& options) {
    auto drawing = draw_figure({*trace, document, folds.get()}, options, roughly);
    EXPECT_TRUE(drawing) << drawing.error().message;
    expect_tidy(*drawing);
    EXPECT_TRUE(says(*drawing, "cats\n"));
    EXPECT_FALSE(says(*drawing, "c\n")) << "no letters";
    EXPECT_TRUE(says(*drawing, "subwords merged")) << "and the caption says so";
    return *drawing;
  };
  const Drawing flow = folded({.kind = FigureKind::flow, .head = {1, 0}, .threshold = 0});
  EXPECT_EQ(all<Curve>(flow).size(), strongest_lines(stack.map({1, 0})).size());
  const Index token = stack.fold.queries.groups[1].first + 1;  // inside of the second word
  const Drawing row = folded({.kind = FigureKind::row, .query = token});
  EXPECT_TRUE(says(row, "cats\nlooks, in every head, at"));
  const std::vector<Rectangle> bars = bars_of(row);
  ASSERT_EQ(bars.size(), 12u);
  const Matrix& map = stack.map({0, 0});
  EXPECT_NEAR(bars[0].box.h / bars[2].box.h, map(1, 0) / map(1, 2), 1e-3f);
}

TEST(LineFigure, WordsThatThereAreNotAreRefused) {
  const Document document = small_document();
  const auto trace = answer_of(document);
  const auto refusal = [&](const FigureOptions& options) {
    const auto drawing = draw_figure({*trace, document}, options, roughly);
    EXPECT_FALSE(drawing);
    return drawing ? std::string() : drawing.error().message;
  };
  EXPECT_EQ(refusal({.kind = FigureKind::row, .query = 10}), "figure: query: expected 0 to 9, found 10");
  EXPECT_EQ(refusal({.kind = FigureKind::column, .key = 99}), "figure: key: expected 0 to 9, found 99");
  EXPECT_EQ(refusal({.kind = FigureKind::steps, .query = 10}), "figure: query: expected 0 to 9, found 10");
  EXPECT_EQ(refusal({.kind = FigureKind::steps, .key = 10}), "figure: key: expected 0 to 9, found 10");
}

TEST(LineBars, WhatIsNextToNothingHasNoBars) {
  EXPECT_EQ(top_of_weights(1e-28f), 1.0f);
  EXPECT_EQ(top_of_weights(0), 1.0f);
  EXPECT_EQ(top_of_weights(0.003f), 0.005f);
  EXPECT_EQ(top_of_weights(1), 1.0f);
}

}  // namespace
}  // namespace headlight
