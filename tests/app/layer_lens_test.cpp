// The guess after each layer and the parts of a logit, as the views show them.
#include "derived/layer_lens.h"

#include <cmath>

#include "app/figures.h"
#include "derived/guess.h"
#include "gui/shipped_document.h"
#include "views/inside/inside_labels.h"

namespace headlight {
namespace {

using namespace figures;
using fixture::shipped_document;

std::shared_ptr<const LayerLens> lens_of(std::shared_ptr<const Trace> trace, Index query, LensWords words = {}) {
  Progress progress;
  const auto lens = look_through_layers({std::move(trace), query, std::move(words)}, progress);
  EXPECT_TRUE(lens) << lens.error().message();
  return lens ? *lens : nullptr;
}

TEST(LayerLens, EachCellIsTheMostProbableWordAfterItsLayerAndTheLastIsTheAnswersOwn) {
  const auto trace = answer_of(shipped_document("shipped:decoder", "我请李雷帮我订了去北京的机票因为我想回家看我妈妈"));
  ASSERT_GT(trace->queries(), kLensTokens);
  const Index query = trace->queries() - 1;
  const auto lens = lens_of(trace, query);
  EXPECT_FALSE(lens->ranks);
  EXPECT_EQ(lens->trace, trace);
  ASSERT_EQ(lens->cells.size(), trace->blocks.size());
  EXPECT_EQ(lens->cells.front().size(), static_cast<std::size_t>(kLensTokens));
  ASSERT_EQ(lens->chosen_column(), query - lens->first);
  for (Index column = 0; column < kLensTokens; ++column) {
    const auto words = lens_words(*trace, lens->first + column, 1);
    for (std::size_t layer = 0; layer < words.size(); ++layer) {
      EXPECT_EQ(lens->cells[layer][static_cast<std::size_t>(column)], words[layer].front());
      EXPECT_EQ(lens->probabilities(static_cast<Index>(layer), column), words[layer].front().probability);
    }
  }
  EXPECT_EQ(lens->cells.back().back(), most_probable(*trace->model, probabilities(trace->logits), 1).front());
  EXPECT_EQ(lens_of(trace, 3)->first, 0) << "ten tokens at a time";
}

TEST(LayerLens, SaysThatTheSplitIsBeforeTheCapOfTheLogits) {
  const auto trace = answer_of(shipped_document("shipped:decoder", "我请李雷帮"));
  LayerLens lens = *lens_of(trace, 2);
  EXPECT_EQ(logit_line(Language::en, lens).find("soft cap"), std::string::npos);
  Model model = *trace->model;
  model.output->softcap = 30;
  auto capped = std::make_shared<Trace>(*trace);
  capped->model = std::make_shared<const Model>(std::move(model));
  lens.trace = capped;
  EXPECT_NE(logit_line(Language::en, lens).find("(before the soft cap)"), std::string::npos);
}

TEST(LayerLens, ThePartsSumToTheLogitAndToTheDifferenceOfTwo) {
  const auto trace = answer_of(shipped_document("shipped:decoder", "我请李雷帮我订了去北京的"));
  const Index query = trace->answering;
  const auto likeliest = lens_of(trace, query);
  ASSERT_TRUE(likeliest->split && likeliest->word);
  EXPECT_EQ(likeliest->word->row, likeliest->cells.back().back().row);
  EXPECT_NEAR(likeliest->split->sum, likeliest->split->logit, 1e-3);
  const auto words = lens_words(*trace, query, 2).back();
  const auto two = lens_of(trace, query, {words[0].text, words[1].text});
  ASSERT_TRUE(two->split && two->minus);
  const double apart =
      static_cast<double>(trace->logits(words[0].row)) - static_cast<double>(trace->logits(words[1].row));
  EXPECT_NEAR(two->split->logit, apart, 1e-4);
  EXPECT_NEAR(two->split->sum, apart, 1e-3);
  for (std::size_t i = 1; i < two->order.size(); ++i)
    EXPECT_GE(std::abs(two->split->terms[two->order[i - 1]].value), std::abs(two->split->terms[two->order[i]].value));
  const auto same = lens_of(trace, query, {words[0].text, words[0].text});
  for (const LogitTerm& term : same->split->terms) EXPECT_EQ(term.value, 0);
}

TEST(LayerLens, OfAnEncoderTheWordIsHiddenAndTheColumnsAreRanks) {
  const auto trace = answer_of(shipped_document("shipped:encoder", "我请李雷帮我订了去北京的机票"));
  const auto lens = lens_of(trace, 7);
  EXPECT_TRUE(lens->ranks);
  EXPECT_EQ(lens->hidden, "北京");
  const auto hidden = forward(with_hidden(*trace, 7));
  ASSERT_TRUE(hidden);
  EXPECT_EQ(lens->cells, lens_words(**hidden, 7, kLensRanks));
}

TEST(LayerLens, WhatCannotBeIsOneLine) {
  const auto trace = answer_of(shipped_document("shipped:decoder", "我请李雷"));
  EXPECT_EQ(lens_of(trace, 0, {"no such word", ""})->problem->message(),
            "lens: word: expected one of the vocabulary, or its id, found 'no such word'");
  EXPECT_TRUE(lens_of(trace, 0, {"", "no such word"})->problem);
  Progress progress;
  EXPECT_FALSE(look_through_layers({trace, 99, {}}, progress));
  const auto random = answer_of(document_of(4));
  if (random->logits.size() == 0) { EXPECT_FALSE(look_through_layers({random, 0, {}}, progress)); }
  progress.stop = true;
  const auto stopped = look_through_layers({trace, 0, {}}, progress);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(*stopped, nullptr);
}

TEST(LayerLens, TheFigureHasTheTableAndTheTerms) {
  for (const char* source : {"shipped:decoder", "shipped:encoder"})
    for (const Language language : {Language::en, Language::zh})
      for (const float mm : {kColumnMm, kSlideMm}) {
        const Document document = shipped_document(source, "我请李雷帮我订了去北京的机票");
        const auto trace = answer_of(document);
        const auto lens = lens_of(trace, 7);
        const Drawing drawing = drawn(
            document, *trace, {.kind = FigureKind::lens, .language = language, .width = mm * kPointsInMm, .query = 7});
        expect_tidy(drawing);
        ASSERT_FALSE(all<Cells>(drawing).empty());
        EXPECT_TRUE(same(*all<Cells>(drawing).front().weights, lens->probabilities));
        const std::string words = words_of(drawing);
        for (const std::string& part : {std::string("logit"), lens->cells.back().front().text, std::string("L0")})
          EXPECT_NE(words.find(part), std::string::npos) << part << "\n" << words;
      }
}

}  // namespace
}  // namespace headlight
