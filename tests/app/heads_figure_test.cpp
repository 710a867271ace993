// Figures of all heads: every cell is there, every head is named, and maps have room on any page.
#include "card/training_card.h"
#include "figure/figure.h"

#include <algorithm>
#include <cmath>

#include "app/figures.h"
#include "app/program.h"
#include "app/shipped.h"
#include "figure/head_name.h"
#include "math/attention.h"
#include "words/relation_words.h"

namespace headlight {
namespace {

using namespace figures;
using program::contains;

/// A head's weights, −1 where the mask blocks.
Matrix shown_weights(const Trace& trace, const HeadRef& head) {
  Matrix weights = attention_rows(trace, head, 0, trace.queries(head.stack));
  for (Index i = 0; i < weights.rows(); ++i)
    for (Index j = 0; j < weights.cols(); ++j)
      if (!trace.mask(head.stack, head.layer).allowed(i, j)) weights(i, j) = -1;
  return weights;
}

TEST(HeadsFigure, TheGridHasEveryCellOfEveryHead) {
  for (const bool causal : {false, true}) {
    Document document = small_document();
    document.mask.causal = causal;
    const auto trace = answer_of(document);
    for (const Theme theme : {Theme::light, Theme::dark}) {
      const Drawing drawing = drawn(document, *trace, {.theme = theme, .width = kSlide});
      const std::vector<Cells> maps = maps_of(drawing);
      ASSERT_EQ(maps.size(), 4u);
      for (std::size_t i = 0; i < maps.size(); ++i) {
        const HeadRef head{static_cast<Index>(i) / 2, static_cast<Index>(i) % 2};
        EXPECT_TRUE(same(*maps[i].weights, shown_weights(*trace, head)));
        EXPECT_EQ(maps[i].scale, weight_scale(*trace, nullptr, theme, Scale::linear));
      }
      EXPECT_TRUE(says(drawing, "L1·H0"));
      EXPECT_EQ(says(drawing, "blocked"), causal) << "the sign is explained where it is used";
    }
  }
}

TEST(HeadsFigure, LayersHaveEveryHeadAsAThumbnail) {
  Document document = document_of(150);
  document.config.num_layers = 3;
  const auto trace = answer_of(document);
  const Drawing drawing = drawn(document, *trace, {.kind = FigureKind::layers});
  const std::vector<Cells> maps = all<Cells>(drawing);
  ASSERT_EQ(maps.size(), 6u);
  for (Index layer = 0; layer < 3; ++layer)
    for (Index head = 0; head < 2; ++head) {
      const Cells& map = maps[static_cast<std::size_t>(2 * layer + head)];
      EXPECT_TRUE(same(*map.weights, trace->head({layer, head}).thumbnail));
      EXPECT_EQ(map.box.y, maps[static_cast<std::size_t>(2 * layer)].box.y) << "a row a layer";
    }
}

TEST(HeadsFigure, ThumbnailsKeepEveryCellAndNoneCoversTheFrameOfAnother) {
  Document document = document_of(103);
  document.config = {.d_model = 48, .num_heads = 12, .num_layers = 12, .ffn = 0};
  const auto trace = answer_of(document);
  const Index tokens = trace->queries(Stack::self);
  FigureOptions options{.kind = FigureKind::layers};
  for (const bool ordered : {false, true}) {
    if (ordered) {
      options.heads = heads_of(*trace);
      std::reverse(options.heads.begin(), options.heads.end());
      for (std::size_t i = 0; i < options.heads.size(); ++i) options.numbers.push_back(0.001f * static_cast<float>(i));
      options.order = {.by = HeadOrder::By::measure, .measure = Measure::previous};
    }
    const Drawing drawing = drawn(document, *trace, options);
    expect_tidy(drawing);
    std::vector<Box> frames;
    for (const Item& item : drawing.items) {
      if (const auto* cells = std::get_if<Cells>(&item); cells && cells->weights->size() > 1) {
        for (const Box& frame : frames) EXPECT_FALSE(overlap(cells->box, frame)) << "an image covers lines below it";
        EXPECT_EQ(cells->weights->rows(), tokens);
      }
      if (const auto* frame = std::get_if<Rectangle>(&item); frame && frame->line && frame->box.h > 1)
        frames.push_back(frame->box);
    }
    ASSERT_GE(frames.size(), 144u) << "one around each map";
    EXPECT_NEAR(frames.front().w, frames.front().h, 0.01f);
    EXPECT_EQ(says(drawing, "L11·H11"), ordered) << "in an order of their own heads have names";
    EXPECT_EQ(says(drawing, "sorted by: previous"), ordered);
    EXPECT_EQ(says(drawing, "0.143"), ordered) << "and the number by which they stand there";
  }
}

TEST(HeadsFigure, ATableHasMapsOnANarrowPageAndHeadsThatAreOffArePale) {
  Document document = document_of(5);
  document.config = {.d_model = 256, .num_heads = 64, .num_layers = 2, .ffn = 0};
  document.edits.off = {{1, 3}};
  const auto trace = answer_of(document);
  const Drawing drawing = drawn(document, *trace, {.width = 40 * kPointsInMm});
  const std::vector<Cells> maps = maps_of(drawing);
  ASSERT_EQ(maps.size(), 128u);
  for (const Cells& map : maps) {
    EXPECT_GT(map.box.w, 0.5f);
    EXPECT_LE(map.box.right(), drawing.width);
  }
  const auto covers = [&](const Rectangle& one) { return one.opacity < 1 && one.box == maps[64 + 3].box; };
  EXPECT_EQ(std::ranges::count_if(all<Rectangle>(drawing), covers), 1);
  EXPECT_TRUE(says(drawing, "faint: heads"));
}

TEST(HeadsFigure, ThumbnailsOfALargeModelKeepTheirLargestWeights) {
  Document document = document_of(100);
  document.config = {.d_model = 64, .num_heads = 32, .num_layers = 48, .ffn = 0};
  const auto trace = answer_of(document);
  const Drawing drawing = drawn(document, *trace, {.kind = FigureKind::layers, .width = kSlide});
  expect_tidy(drawing);
  const std::vector<Cells> maps = all<Cells>(drawing);
  ASSERT_EQ(maps.size(), 48u * 32);
  Index cells = 0;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const HeadRef head{static_cast<Index>(i) / 32, static_cast<Index>(i) % 32};
    cells += maps[i].weights->size();
    EXPECT_EQ(maps[i].weights->maxCoeff(), trace->head(head).thumbnail.maxCoeff());
  }
  EXPECT_LT(cells, 1300000);
}

/// All titles, their lines joined.
std::string titles_of(const Drawing& drawing) {
  std::string all_of_them;
  for (const Text& text : all<Text>(drawing))
    if (text.role == Role::title) all_of_them += text.text + " ";
  return all_of_them;
}

TEST(HeadsFigure, WhatWasMeasuredOfAHeadStandsInItsTitle) {
  const Document document = default_document(fixture::shipped().get());
  const auto trace = answer_of(document);
  const Drawing grid = drawn(document, *trace, {.width = 0.5f * kSlide});
  EXPECT_EQ(maps_of(grid).size(), 16u);
  const auto& relations = document.card->scores->relations;
  const auto vo =
      std::find_if(relations.begin(), relations.end(), [](const auto& one) { return one.relation == "VO"; });
  ASSERT_NE(vo, relations.end());
  EXPECT_TRUE(contains(titles_of(grid), "object → its verb")) << "in words, and no code for them";
  for (const char* code : {"VO", "SP", "DP", "CO", "IT"}) EXPECT_FALSE(says(grid, code)) << code;
  const auto named = names_of(Language::en, document, *trace, heads_of(*trace));
  for (const float width : {0.5f * kSlide, kSlide, 2 * kSlide}) {
    const Drawing every = drawn(document, *trace, {.width = width});
    for (const HeadName& name : named)
      EXPECT_TRUE(contains(titles_of(every), name.words) || contains(titles_of(every), name.brief) ||
                  contains(titles_of(every), brief_name(name.brief)))
          << name.words << " at " << width;
    for (const Item& item : every.items)
      if (const auto* text = std::get_if<Text>(&item); text && text->role == Role::title) {
        const Box box = bounds(item);
        EXPECT_TRUE(box.x >= 0 && box.right() <= every.width) << text->text;
      }
  }
  const HeadRef chosen{vo->chosen.layer, vo->chosen.head};
  const Drawing head = drawn(document, *trace, {.kind = FigureKind::head, .width = kSlide, .head = chosen});
  EXPECT_TRUE(says(head, "L1·H" + std::to_string(chosen.head)));
  EXPECT_TRUE(says(head, "object → its verb"));
  EXPECT_TRUE(says(head, "Headlight's trained model (shipped:encoder) · 我请李雷帮我订了去北京的机票 · mask: none"));
}

}  // namespace
}  // namespace headlight
