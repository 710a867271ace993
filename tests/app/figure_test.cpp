// Figures as data: every cell and every line is there in its colour, and nothing is written over anything else.
#include "figure/figure.h"
#include "figure/head_name.h"

#include <cmath>
#include <cstdio>
#include <set>

#include "app/figures.h"
#include "app/program.h"
#include "figure/labels.h"
#include "math/attention.h"
#include "models/bundled_models.h"
#include "train/trained_checkpoint.h"
#include "views/flow/flow.h"
#include "views/inside/inside_labels.h"
#include "words/relation_words.h"

namespace headlight {
namespace {

using namespace figures;
using program::contains;

TEST(Figure, IsTidyWhateverIsDrawn) {
  for (const Index words : {1, 2, 10, 60, 150})
    for (const Arch arch : {Arch::encoder, Arch::encoder_decoder}) {
      const Document document = document_of(words, arch);
      const auto trace = answer_of(document);
      for (const FigureKind kind : {FigureKind::grid, FigureKind::head, FigureKind::flow, FigureKind::layers})
        for (const float mm : {kLeastMm, kColumnMm, kSlideMm})
          for (const Stack stack : kStacks)
            for (const Language language : {Language::en, Language::zh}) {
              if (!trace->has(stack)) continue;
              SCOPED_TRACE(std::to_string(words) + " words, kind " + std::to_string(static_cast<int>(kind)) + ", " +
                           std::to_string(mm) + " mm, stack " + std::to_string(static_cast<int>(stack)));
              FigureOptions options{
                  .kind = kind, .language = language, .width = mm * kPointsInMm, .head = {1, 1, stack}};
              if (kind == FigureKind::flow && language == Language::zh)
                options.heads = {{0, 0, stack}, {0, 1, stack}, {1, 0, stack}};
              const Drawing drawing = drawn(document, *trace, options);
              expect_tidy(drawing);
              if (testing::Test::HasFatalFailure()) return;
              EXPECT_EQ(drawing.width, options.width);
            }
    }
}

/// Of diagrams the type shrinks with their many boxes.
TEST(Figure, NoTypeIsSmallerThanPrintAsksFor) {
  for (const Index words : {1, 10, 60, 150}) {
    const Document document = document_of(words);
    const auto trace = answer_of(document);
    for (const FigureKind kind : {FigureKind::grid, FigureKind::head, FigureKind::text, FigureKind::flow,
                                  FigureKind::layers, FigureKind::steps})
      for (const float mm : {60.0f, kColumnMm, kSlideMm})
        for (const Text& text : all<Text>(drawn(document, *trace, {.kind = kind, .width = mm * kPointsInMm})))
          EXPECT_GE(text.size, 7) << text.text << ", kind " << static_cast<int>(kind);
  }
}

TEST(Figure, ACaptionIsLeftToTheTextWhereItIsNotDrawn) {
  const Document document = small_document();
  const auto trace = answer_of(document);
  const Drawing with = drawn(document, *trace, {.kind = FigureKind::head}),
                without = drawn(document, *trace, {.kind = FigureKind::head, .caption = false});
  EXPECT_FALSE(with.caption.empty());
  EXPECT_EQ(with.caption, without.caption);
  EXPECT_LT(without.height, with.height);
  for (const Text& text : all<Text>(without)) EXPECT_NE(text.role, Role::caption) << text.text;
}

TEST(Figure, NumbersStandInTheCellsOfALargeHead) {
  const Document document = small_document();
  const auto trace = answer_of(document);
  const Drawing drawing = drawn(document, *trace, {.kind = FigureKind::head, .width = kSlide, .head = {0, 1}});
  const Cells map = maps_of(drawing).front();
  std::vector<Text> values;
  for (const Text& text : all<Text>(drawing))
    if (text.role == Role::value) values.push_back(text);
  std::vector<float> printed;  // smaller weights would be read as .00
  for (Index cell = 0; cell < map.weights->size(); ++cell)
    if (map.weights->data()[cell] > 0.005f) printed.push_back(map.weights->data()[cell]);
  ASSERT_EQ(values.size(), printed.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float weight = printed[i];
    EXPECT_EQ(values[i].text, cell_number(weight));
    EXPECT_NE(values[i].text, ".00");
    EXPECT_EQ(values[i].colour, text_on(colour_of(map.scale, weight)));
    EXPECT_TRUE(map.box.contains(values[i].at.x, values[i].at.y));
  }
  const Drawing column = drawn(document, *trace, {.kind = FigureKind::head, .head = {0, 1}});
  for (const Token& token : trace->query_tokens().tokens)
    EXPECT_TRUE(says(column, token.text)) << "every word has its label";
}

TEST(Figure, WordsAreNamedOnBothAxes) {
  const Document document = small_document();
  const auto trace = answer_of(document);
  const Drawing drawing = drawn(document, *trace, {.kind = FigureKind::head});
  const Cells map = maps_of(drawing).front();
  std::size_t left = 0, above = 0;
  for (const Text& text : all<Text>(drawing)) {
    if (text.role != Role::label) continue;
    left += bounds(text).right() <= map.box.x && text.at.y > map.box.y && text.at.y < map.box.bottom();
    above += bounds(text).bottom() <= map.box.y && text.at.x > map.box.x;
  }
  EXPECT_EQ(left, 10u);
  EXPECT_EQ(above, 10u);
}

TEST(Figure, LinesAreAsThickAsTheirWeights) {
  Document document = small_document();
  document.mask.causal = true;
  const auto trace = answer_of(document);
  const FigureOptions options{.kind = FigureKind::flow, .head = {1, 0}, .threshold = 0.08f};
  const Drawing drawing = drawn(document, *trace, options);
  const Matrix weights = attention_rows(*trace, options.head, 0, 10);
  const std::vector<Curve> curves = all<Curve>(drawing);
  EXPECT_EQ(static_cast<Index>(curves.size()), (weights.array() >= options.threshold).count());
  std::multiset<float> widths, expected;
  const float thickest = curves.empty() ? 1 : curves.back().width / weights.maxCoeff();
  for (const Curve& curve : curves) widths.insert(std::round(curve.width / thickest * 1e4f));
  for (Index i = 0; i < weights.size(); ++i)
    if (weights.data()[i] >= options.threshold) expected.insert(std::round(weights.data()[i] * 1e4f));
  EXPECT_EQ(widths, expected);
  for (std::size_t i = 1; i < curves.size(); ++i) {
    EXPECT_LE(curves[i - 1].width, curves[i].width) << "the strongest lie on top";
    EXPECT_LE(curves[i - 1].opacity, curves[i].opacity);
  }
  for (const Curve& curve : curves) EXPECT_LE(curve.to.y, curve.from.y + 0.01f) << "causal: no token attends ahead";
}

TEST(Figure, TheCaptionNamesEditsAndWhatDiffersByLayer) {
  Document document = small_document();
  const auto caption = [&](FigureKind kind, const HeadRef& head = {}) {
    return drawn(document, *answer_of(document), {.kind = kind, .head = head}).caption;
  };
  EXPECT_TRUE(contains(caption(FigureKind::grid), "mask: none · scores × 0.5"));
  document.edits.layers = {{.layer = 1, .scale = 0.25f, .mask = MaskSpec{.causal = true}}};
  document.edits.off = {{0, 1}};
  document.edits.dropout = 0.3f;
  const std::string of_all = caption(FigureKind::grid);
  for (const char* part : {"masks differ by layer", "scores are scaled by layer", "off: L0·H1", "dropout 0.3"})
    EXPECT_TRUE(contains(of_all, part)) << of_all;
  EXPECT_TRUE(contains(caption(FigureKind::head, {1, 0}), "mask: causal · scores × 0.25"));
  EXPECT_TRUE(contains(caption(FigureKind::head, {0, 0}), "mask: none · scores × 0.5"));
}

TEST(Figure, LinesOfTwoHeadsBetweenTheSameWordsLieBesideEachOther) {
  const std::vector<FlowLine> lines{{1, 2, 0.9f}};
  const FlowLayout layout{.queries = 4, .keys = 4, .top = 0, .pitch = 20, .size = 10};
  Drawing scene;
  add_flow(scene, layout, {{&lines, {255, 0, 0}}, {&lines, {0, 0, 255}}}, {"a", "b", "c", "d"}, {"a", "b", "c", "d"},
           {.threshold = 0.1f, .thickest = 4, .to_y = 100}, ink_colours(Theme::light), roughly);
  const std::vector<Curve> curves = all<Curve>(scene);
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_GE(std::abs(curves[0].from.y - curves[1].from.y), 0.9f * curves[0].width);
  EXPECT_EQ(curves[0].from.y - curves[1].from.y, curves[0].to.y - curves[1].to.y);
}

TEST(Figure, SeveralHeadsHaveColoursOfTheirOwnAndALegend) {
  const Document document = small_document();
  const auto trace = answer_of(document);
  const Drawing drawing = drawn(
      document, *trace, {.kind = FigureKind::flow, .head = {}, .heads = {{0, 0}, {0, 1}, {1, 1}}, .threshold = 0.01f});
  const std::vector<Stroke> legend = all<Stroke>(drawing);
  ASSERT_EQ(legend.size(), 3u);
  for (const char* name : {"L0·H0", "L0·H1", "L1·H1"}) EXPECT_TRUE(says(drawing, name));
  for (const Curve& curve : all<Curve>(drawing))
    EXPECT_TRUE(
        std::any_of(legend.begin(), legend.end(), [&](const Stroke& line) { return line.colour == curve.colour; }));
  const Drawing one_layer = drawn(document, *trace, {.kind = FigureKind::flow, .heads = {{1, 0}, {1, 1}}});
  EXPECT_TRUE(says(one_layer, "Layer 1 · 2 heads"));
}

TEST(Figure, CrossAttentionNamesItsSides) {
  const Document document = document_of(6, Arch::encoder_decoder);
  const auto trace = answer_of(document);
  const Drawing drawing =
      drawn(document, *trace, {.kind = FigureKind::flow, .head = {0, 0, Stack::cross}, .threshold = 0});
  EXPECT_TRUE(says(drawing, "target · query"));
  EXPECT_TRUE(says(drawing, "source · key"));
  EXPECT_TRUE(says(drawing, "cross-attention"));
  EXPECT_EQ(static_cast<Index>(all<Curve>(drawing).size()), trace->queries(Stack::cross) * trace->keys(Stack::cross));
}

TEST(Figure, ANameThatMayNotHoldHereIsGrey) {
  const auto shipped = read_shipped_models();
  ASSERT_TRUE(shipped) << shipped.error().message();
  Document document = default_document(shipped->get());
  const auto ink_of_name = [&](FigureKind kind, HeadRef head) {
    const auto trace = answer_of(document);
    const std::string name = names_of(Language::en, document, *trace, {head}).front().words;
    const Drawing drawing = drawn(document, *trace, {.kind = kind, .width = kSlide, .head = head});
    for (const Text& text : all<Text>(drawing))
      if (text.role == Role::title && (contains(text.text, name) || contains(text.text, brief_name(name)) ||
                                       (text.text.size() > 4 && name.starts_with(text.text))))  // its first line
        return text.colour;
    ADD_FAILURE() << name << " is not there";
    return Rgb{};
  };
  const auto ink = ink_colours(Theme::light);
  for (const FigureKind kind : {FigureKind::grid, FigureKind::head, FigureKind::flow, FigureKind::diagram}) {
    document.source.text = "我请李雷帮我订了去北京的机票";
    EXPECT_EQ(ink_of_name(kind, {1, 6}), ink.accent);
    EXPECT_EQ(ink_of_name(kind, {0, 0}), ink.dim) << "no relation";
    document.source.text = "机票北京我";
    EXPECT_EQ(ink_of_name(kind, {1, 6}), ink.dim) << "a sentence of another kind";
    EXPECT_FALSE(says(drawn(document, *answer_of(document), {.kind = kind, .width = kSlide}), "unknown"));
    document.source.text = "我请 Zanzibar 订了机票";
    EXPECT_EQ(ink_of_name(kind, {1, 6}), ink.dim) << "an unknown word";
    EXPECT_TRUE(says(drawn(document, *answer_of(document), {.kind = kind, .width = kSlide}),
                     "我请 Zanzibar 订了机票 · 1 word unknown to the model · mask: none"));
  }
}

TEST(Figure, WhatIsNotThereIsRefused) {
  const Document document = small_document();
  const auto trace = answer_of(document);
  const auto refusal = [&](const FigureOptions& options) {
    const auto drawing = draw_figure({*trace, document}, options, roughly);
    return drawing ? std::string() : drawing.error().message();
  };
  EXPECT_EQ(refusal({.head = {2, 0}}), "figure: layer: expected 0 to 1, found 2");
  EXPECT_EQ(refusal({.head = {0, 2}}), "figure: head: expected 0 to 1, found 2");
  EXPECT_EQ(refusal({.head = {0, 0, Stack::cross}}),
            "figure: stack: expected self, the model has one stack, found cross");
  EXPECT_EQ(refusal({.kind = FigureKind::flow, .heads = {{0, 5}}}), "figure: head: expected 0 to 1, found 5");
}

TEST(Flow, ColoursOfHeadsAreFarApart) {
  for (const Theme theme : {Theme::light, Theme::dark})
    for (std::size_t i = 0; i < kHeadColours; ++i)
      for (std::size_t j = i + 1; j < kHeadColours; ++j) {
        const Rgb a = head_colour(theme, i), b = head_colour(theme, j);
        const int far = std::abs(a.r - b.r) + std::abs(a.g - b.g) + std::abs(a.b - b.b);
        EXPECT_GT(far, 55) << i << " and " << j;
      }
}

TEST(Flow, AWordAloneHasItsLinesAndTheStrongestIsItsCell) {
  const std::vector<FlowLine> lines{{2, 0, 0.9f}, {1, 1, 0.5f}, {2, 1, 0.1f}, {0, 1, 0.05f}};
  const std::vector<FlowHead> heads{{&lines, {}}};
  const FlowLayout layout{.queries = 3, .keys = 2, .left = 100, .right = 300, .top = 10, .pitch = 20, .size = 10};
  const std::vector<std::string> queries{"a", "b", "c"}, keys{"d", "e"};
  const auto drawn_for = [&](const FlowWishes& wishes) {
    Drawing scene;
    EXPECT_EQ(add_flow(scene, layout, heads, queries, keys, wishes, ink_colours(Theme::light), roughly),
              wishes.most_lines < 4);
    return scene;
  };
  const auto lines_for = [&](const FlowWishes& wishes) { return all<Curve>(drawn_for(wishes)); };
  EXPECT_EQ(lines_for({.threshold = 0}).size(), 4u);
  EXPECT_EQ(lines_for({.threshold = 0.1f}).size(), 3u);
  EXPECT_EQ(lines_for({.threshold = 0, .word = FlowWord{true, 2}}).size(), 2u);
  EXPECT_EQ(lines_for({.threshold = 0, .word = FlowWord{false, 1}}).size(), 3u);
  const std::vector<Curve> cut = lines_for({.threshold = 0, .most_lines = 2});
  EXPECT_EQ(cut.size(), 2u);
  EXPECT_EQ(cut.back().from.y, layout.middle(2));
  // Lines to a pale key let the others be seen, unless a word's lines stand alone.
  const auto widest = [&](const FlowWishes& wishes) { return lines_for(wishes).back().width; };
  EXPECT_FLOAT_EQ(widest({.threshold = 0, .pale = {true, false}}), kPaleLine * widest({.threshold = 0}));
  EXPECT_FLOAT_EQ(widest({.threshold = 0, .word = FlowWord{true, 2}, .pale = {true, false}}), widest({.threshold = 0}));
  EXPECT_EQ(strongest_of(heads, {false, 1}), (CellRef{1, 1}));
  EXPECT_EQ(strongest_of(heads, {true, 2}), (CellRef{2, 0}));
  const std::vector<Hit> hits = flow_hits(layout);
  ASSERT_EQ(hits.size(), 5u);
  EXPECT_EQ(hits[1], (Hit{"flow query 1", {0, 30, 100, 20}}));
  EXPECT_EQ(hits[4].name, "flow key 1");
}

}  // namespace
}  // namespace headlight
