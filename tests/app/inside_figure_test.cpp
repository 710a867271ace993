// Inside a block as a figure: the steps behind one weight, and the way of the data.
#include <numeric>

#include "app/figures.h"
#include "derived/inside.h"
#include "figure/drawing/diagram_layout.h"
#include "figure/head_name.h"
#include "figure/labels.h"
#include "views/inside/inside_labels.h"
#include "views/inside/weight_lines.h"
#include "words/explain_words.h"

namespace headlight {
namespace {

using namespace figures;

TEST(InsideFigure, IsTidyWhateverIsDrawn) {
  for (const Index words : {1, 10, 60})
    for (const Arch arch : {Arch::encoder, Arch::decoder, Arch::encoder_decoder}) {
      const Document document = document_of(words, arch);
      const auto trace = answer_of(document);
      for (const FigureKind kind : {FigureKind::steps, FigureKind::writers, FigureKind::diagram})
        for (const float mm : {kLeastMm, kColumnMm, kSlideMm})
          for (const Stack stack : kStacks)
            for (const Language language : {Language::en, Language::zh}) {
              if (!trace->has(stack)) continue;
              SCOPED_TRACE(std::to_string(words) + " words, kind " + std::to_string(static_cast<int>(kind)) + ", " +
                           std::to_string(mm) + " mm, stack " + std::to_string(static_cast<int>(stack)));
              expect_tidy(
                  drawn(document, *trace,
                        {.kind = kind, .language = language, .width = mm * kPointsInMm, .head = {1, 1, stack}}));
              if (testing::Test::HasFatalFailure()) return;
            }
    }
}

TEST(InsideFigure, EveryStepIsThereWithItsNumbers) {
  const Document document = small_document();
  const auto trace = answer_of(document);
  const auto narrow = [](std::string_view text, float size) { return 0.6f * roughly(text, size); };  // nothing is cut
  for (const Language language : {Language::en, Language::zh}) {
    const FigureOptions options{.kind = FigureKind::steps,
                                .language = language,
                                .width = kSlideMm * kPointsInMm,
                                .head = {1, 0},
                                .query = 9,
                                .key = 5};
    const Drawing drawing = *draw_figure({*trace, document}, options, narrow);
    const std::string words = words_of(drawing);
    EXPECT_NE(words.find("机票 → 订了"), std::string::npos);
    const std::vector<Step> steps = steps_of(*trace, {1, 0}, {9, 5});
    std::vector<Cells> strips = all<Cells>(drawing);
    std::size_t strip = 0;
    std::vector<std::size_t> order(steps.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return weight_line_of(steps[i].name); });
    for (const std::size_t i : order) {
      EXPECT_NE(words.find(std::to_string(i + 1) + "  " + step_title(language, *trace, steps[i])), std::string::npos)
          << steps[i].name;
      if (steps[i].value.size() == 1) {
        EXPECT_NE(words.find(exact_number(steps[i].value(0, 0))), std::string::npos) << steps[i].name;
        continue;
      }
      ASSERT_LT(strip, strips.size());
      EXPECT_TRUE(same(*strips[strip++].weights, picture_of(steps[i]).values)) << steps[i].name;
    }
    EXPECT_EQ(strip, strips.size());
  }
}

TEST(InsideFigure, ALineOfAWeightHasItsNumbersAsBars) {
  const Document document = small_document();
  const auto trace = answer_of(document);
  const HeadRef head{1, 0};
  const CellRef cell{9, 5};
  const std::vector<Step> steps = steps_of(*trace, head, cell);
  std::vector<MatrixPicture> pictures;
  for (const Step& step : steps) pictures.push_back(picture_of(step));
  const Matrix row = attention_rows(*trace, head, cell.query, 1);
  const WeightNumbers of{*trace, head, cell, steps, pictures, row};
  const TextWidth measure = roughly;
  const InsideStyle style{.type = {8, 8, 10, 10, 1}, .ink = ink_colours(Theme::light), .measure = measure};
  const auto line_of = [&](WeightLine line, Drawing& scene) {
    return add_weight_line(scene, style, of, line, {10, 20}, 600, 0);
  };
  Drawing scene;
  const NumberBars bars = line_of(WeightLine::asks, scene);
  const Matrix& query = of.step("q")->value;
  const std::vector<Rectangle> drawn = all<Rectangle>(scene);
  ASSERT_EQ(std::ssize(drawn), query.size());
  const float range = std::max(0.0f, query.maxCoeff()) - std::min(0.0f, query.minCoeff());
  for (Index d = 0; d < query.size(); ++d) {
    const Box& bar = drawn[static_cast<std::size_t>(d)].box;
    EXPECT_NEAR(bar.h / bars.plot.h, std::abs(query.data()[d]) / range, 1e-4f) << d;
    EXPECT_EQ(bars.at({bar.x + bar.w / 2, bars.plot.y + 1}), d);
    EXPECT_EQ(bars.tip(d), "q[" + std::to_string(d) + "] = " + exact_number(query.data()[d]));
  }
  EXPECT_FALSE(bars.at({bars.plot.right() + 9, bars.plot.y + 1}));
  EXPECT_TRUE(says(scene, "1  “机票” asks")) << words_of(scene);
  EXPECT_EQ(scene.hits, (std::vector<Hit>{{"line 1", {10, 20, 600, heading_of_line(style.type)}}}));

  Drawing shares;
  EXPECT_EQ(line_of(WeightLine::share, shares).numbers, nullptr);
  EXPECT_TRUE(says(shares, "订了")) << "the word that is asked about, however small its share";
  const float widest = row.maxCoeff();
  float longest = 0;
  for (const Rectangle& bar : all<Rectangle>(shares)) longest = std::max(longest, bar.box.w);
  for (const Rectangle& bar : all<Rectangle>(shares))
    if (bar.fill != style.faint) { EXPECT_NEAR(bar.box.w / longest, row(0, 5) / widest, 0.01f); }
  EXPECT_TRUE(says(shares, share_text(static_cast<double>(row(0, 5)))));

  Drawing handed;
  EXPECT_EQ(line_of(WeightLine::hands_over, handed).symbol, share_text(static_cast<double>(row(0, 5))) + " × v");
  EXPECT_EQ(step_of_line(of, WeightLine::matches), of.step("scores"));
}

TEST(InsideFigure, TheDiagramHasABoxANodeAndAnArrowAnEdge) {
  for (const Arch arch : {Arch::encoder, Arch::encoder_decoder}) {
    const Document document = document_of(6, arch);
    const auto trace = answer_of(document);
    const HeadRef head{1, 0};
    const Diagram diagram = diagram_of(*trace, head);
    const Drawing drawing =
        drawn(document, *trace, {.kind = FigureKind::diagram, .width = kSlideMm * kPointsInMm, .head = head});
    std::size_t boxes = 0, arrows = 0;
    for (const Rectangle& box : all<Rectangle>(drawing)) boxes += box.fill.has_value();
    for (const Stroke& line : all<Stroke>(drawing)) arrows += line.head > 0;
    EXPECT_EQ(boxes, diagram.nodes.size());
    EXPECT_EQ(arrows, diagram.edges.size());
    const auto squares = std::count_if(diagram.nodes.begin(), diagram.nodes.end(), shows_pairs);
    EXPECT_EQ(std::ssize(all<Ramp>(drawing)), squares);  // their colours, with numbers
    const std::string words = words_of(drawing);
    for (const Node& node : diagram.nodes)
      EXPECT_NE(words.find(node_title(Language::en, node).substr(0, 4)), std::string::npos) << node.id;
  }
}

TEST(InsideFigure, ArrowsPointWhereTheirLinesGo) {
  const auto head = arrow_head({.from = {0, 0}, .to = {0, 10}, .width = 1, .colour = {}, .head = 5});
  EXPECT_EQ(head[0], (Point{0, 10}));
  EXPECT_FLOAT_EQ(head[1].y, 5);
  EXPECT_FLOAT_EQ(std::abs(head[1].x - head[2].x), 8);
  const Box box = bounds(Item{Stroke{.from = {0, 0}, .to = {0, 10}, .width = 1, .colour = {}, .head = 5}});
  EXPECT_LE(box.x, -4);
  EXPECT_GE(box.right(), 4);
}

TEST(InsideParts, WhatHasNoRoomIsCutWithASign) {
  EXPECT_EQ(cut_to("scores", 10, 100, roughly), "scores");
  const std::string cut = cut_to("query times key, component by component", 10, 100, roughly);
  EXPECT_LE(roughly(cut, 10), 100);
  EXPECT_TRUE(cut.ends_with("…"));
  EXPECT_TRUE(cut.starts_with("query times"));
}

}  // namespace
}  // namespace headlight
