// Activation patching from A into B: every cell is the share that a separate patch restores.
#include "derived/patch_map.h"

#include <cmath>

#include "app/figures.h"
#include "gui/shipped_document.h"
#include "math/output.h"
#include "question/answer_snapshot.h"

namespace headlight {
namespace {

using namespace figures;
using fixture::shipped_document;

const char* const kA = "我请李雷帮我喝了最好的";
const char* const kB = "我请李雷帮我看了最好的";

std::shared_ptr<const Trace> answer(const char* text) { return answer_of(shipped_document("shipped:decoder", text)); }

PatchMap map_of(const std::shared_ptr<const Trace>& a, const std::shared_ptr<const Trace>& b,
                const PatchChoice& choice) {
  Progress progress;
  const auto map = patch_map(*a, *b, choice, progress);
  EXPECT_TRUE(map) << map.error().message();
  return map ? *map : PatchMap{};
}

TEST(PatchMap, EveryCellIsAPatchOfItsOwn) {
  const auto a = answer(kA), b = answer(kB);
  TokenPairs pairs;
  for (Index i = 0; i < b->queries(); ++i) pairs.emplace_back(i, i);
  for (const PatchForm form : {PatchForm::heads, PatchForm::residual, PatchForm::tokens}) {
    SCOPED_TRACE(name_in(kPatchForms, form));
    const PatchMap map = map_of(a, b, {form, {1, 0}, Alignment::positions});
    EXPECT_TRUE(map.is_whole());
    PatchWanted wanted{.at = form == PatchForm::residual ? PatchAt::residual : PatchAt::heads, .queries = pairs};
    wanted.by_token = form == PatchForm::tokens;
    if (form == PatchForm::tokens) wanted.layers = {1};
    const auto answer = patch_answers(*a, *b, wanted);
    ASSERT_TRUE(answer);
    EXPECT_EQ(map.metric, answer->measure);
    EXPECT_EQ(patch_line(Language::en, map).substr(0, answer->metric.size()), answer->metric);
    EXPECT_EQ(map.in_a, answer->clean);
    EXPECT_EQ(map.in_b, answer->corrupt);
    ASSERT_EQ(map.restored.size(), static_cast<Index>(answer->cells.size()));
    for (std::size_t i = 0; i < answer->cells.size(); ++i)
      EXPECT_EQ(map.restored.data()[i], static_cast<float>(answer->cells[i].restored));
    EXPECT_EQ(patch_rows(map).size(), static_cast<std::size_t>(map.restored.rows()));
    EXPECT_EQ(patch_columns(map, *b).size(), static_cast<std::size_t>(map.restored.cols()));
  }
}

TEST(PatchMap, TheStreamOfTheLastLayerAtTheAnsweringTokenIsAllOfIt) {
  const auto a = answer(kA), b = answer(kB);
  const PatchMap map = map_of(a, b, {PatchForm::residual, {}, Alignment::positions});
  EXPECT_NEAR(map.restored(map.rows() - 1, map.restored.cols() - 1), 1, 1e-5);
  for (Index column = 0; column + 1 < map.restored.cols(); ++column)
    EXPECT_NEAR(map.restored(map.rows() - 1, column), 0, 1e-5) << "no later layer reads it";
}

TEST(PatchMap, AlignmentByWordLeavesOutWhatOnlyOneHas) {
  const auto a = answer(kA), b = answer(kB);
  const PatchMap by_position = map_of(a, b, {PatchForm::residual, {}, Alignment::positions}),
                 by_word = map_of(a, b, {PatchForm::residual, {}, Alignment::words});
  EXPECT_EQ(static_cast<Index>(by_position.tokens.size()), b->queries());
  EXPECT_LT(by_word.tokens.size(), by_position.tokens.size()) << "喝了 and 看了 are two words";
  EXPECT_EQ(by_word.unaligned, 1);
  EXPECT_TRUE(patch_line(Language::en, by_word).ends_with("as none of A is aligned with them: 1"));
  EXPECT_EQ(by_position.unaligned, 0);
}

TEST(PatchMap, GrowsRowByRowToTheSameMapAndStops) {
  const auto a = answer(kA), b = answer(kB);
  const PatchChoice choice{PatchForm::heads, {}, Alignment::words};
  std::shared_ptr<const PatchMap> known;
  int pieces = 0;
  while (!known || !known->is_whole()) {
    Progress progress;
    const Index before = known ? known->known : 0;
    const auto next = extend_patch_map({a, b, choice, before}, known.get(), progress);
    ASSERT_TRUE(next && *next);
    ASSERT_GT((*next)->known, before);
    for (Index row = (*next)->known; row < (*next)->rows(); ++row) EXPECT_TRUE(std::isnan((*next)->restored(row, 0)));
    known = *next;
    ASSERT_LT(++pieces, 100);
  }
  EXPECT_TRUE(same(known->restored, map_of(a, b, choice).restored));
  Progress progress;
  progress.stop = true;
  const auto stopped = extend_patch_map({a, b, choice}, nullptr, progress);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(*stopped, nullptr);
}

TEST(PatchMap, ACellLeadsToItsHead) {
  PatchMap map;
  map.choice = {PatchForm::heads, {0, 0}};
  EXPECT_EQ(map.head_of({2, 3}), (HeadRef{2, 3}));
  map.choice = {PatchForm::tokens, {4, 0}};
  EXPECT_EQ(map.head_of({2, 3}), (HeadRef{4, 2}));
  map.choice = {PatchForm::residual, {0, 0, Stack::encoder}};
  EXPECT_EQ(map.head_of({2, 3}), (HeadRef{2, 0, Stack::encoder}));
}

TEST(PatchMap, TheSameAnswerTwiceIsRefused) {
  const auto a = answer(kA);
  Progress progress;
  EXPECT_FALSE(patch_map(*a, *a, {}, progress));
}

TEST(PatchMap, TheFigureHasTheMap) {
  const Document document = shipped_document("shipped:decoder", kB);
  const auto a = answer_to_keep(shipped_document("shipped:decoder", kA), fixture::lexicon()),
             b = answer_to_keep(document, fixture::lexicon());
  ASSERT_TRUE(a && b);
  for (const PatchForm form : {PatchForm::heads, PatchForm::residual, PatchForm::tokens})
    for (const float mm : {kLeastMm, kColumnMm, kSlideMm}) {
      const FigureOptions options{.kind = FigureKind::patch,
                                  .language = mm == kColumnMm ? Language::en : Language::zh,
                                  .width = mm * kPointsInMm,
                                  .head = {1, 0},
                                  .patch = form,
                                  .alignment = Alignment::positions};
      const auto drawing = draw_patch(*a, *b, options, roughly);
      ASSERT_TRUE(drawing) << drawing.error().message();
      expect_tidy(*drawing);
      const PatchMap map = map_of(a->trace, b->trace, {form, {1, 0}, Alignment::positions});
      EXPECT_TRUE(same(*all<Cells>(*drawing).front().weights, map.restored));
      EXPECT_NE(words_of(*drawing).find(map.right), std::string::npos);
    }
}

TEST(PatchMap, FiguresThatComputeCanBeStopped) {
  const Document document = shipped_document("shipped:decoder", kB);
  const auto a = answer_to_keep(shipped_document("shipped:decoder", kA), fixture::lexicon()),
             b = answer_to_keep(document, fixture::lexicon());
  ASSERT_TRUE(a && b);
  for (const FigureKind kind : {FigureKind::patch, FigureKind::compare, FigureKind::lens}) {
    Progress progress;
    const FigureOptions options{.kind = kind, .alignment = Alignment::positions, .progress = &progress};
    const auto draw = [&] {
      return kind == FigureKind::patch     ? draw_patch(*a, *b, options, roughly)
             : kind == FigureKind::compare ? draw_comparison(*a, *b, options, roughly)
                                           : draw_figure({*b->trace, document}, options, roughly);
    };
    EXPECT_TRUE(draw());
    EXPECT_GT(progress.done, kind == FigureKind::patch ? 0.99f : -1);
    progress.stop = true;
    const auto stopped = draw();
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
  }
}

TEST(PatchMap, SharesOfAlmostNothingAreDoubted) {
  PatchMap map;
  map.known = 1, map.metric = Metric::probability, map.right = ".", map.in_a = 0.9999, map.in_b = 0.9991;
  EXPECT_NE(patch_line(Language::en, map).find("hardly differ"), std::string::npos);
  map.in_b = 0.4;
  EXPECT_EQ(patch_line(Language::en, map), "probability of .: clean (A) 0.9999, corrupt (B) 0.4; tokens by word");
  map.token = "it";
  EXPECT_EQ(patch_line(Language::zh, map), ". 的概率，在“it”处：干净 (A) 0.9999，破坏 (B) 0.4；词元按词对应");
}

TEST(PatchMap, ItsMetricWordsAndPlaceAreThoseThatAreAskedFor) {
  const auto a = answer(kA), b = answer(kB);
  const auto last = most_probable(*a->model, probabilities(logit_rows(*a, 6, 1).row(0)), 5);
  PatchChoice choice{PatchForm::heads, {}, Alignment::positions};
  choice.measure = {Metric::logit_difference, {last[3].text, last[4].text}, 6};
  const PatchMap map = map_of(a, b, choice);
  EXPECT_EQ(map.right + map.wrong, last[3].text + last[4].text);
  EXPECT_EQ(map.token, b->query_tokens().tokens[6].text);
  EXPECT_EQ(map.hidden_b, nullptr) << "a decoder hides nothing";
  const auto difference = [&](const Trace& trace) {
    const Vector logits = logit_rows(trace, 6, 1).row(0);
    return static_cast<double>(logits(last[3].row)) - static_cast<double>(logits(last[4].row));
  };
  EXPECT_EQ(map.in_a, difference(*a));
  EXPECT_EQ(map.in_b, difference(*b));
  choice.measure.words.word = "no such word";
  Progress progress;
  const auto refused = patch_map(*a, *b, choice, progress);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "patch: word: expected one of the vocabulary, or its id, found 'no such word'");
}

TEST(PatchMap, AnEncoderHidesTheWordInBothSentences) {
  const auto of = [](const char* text) { return answer_of(shipped_document("shipped:encoder", text)); };
  const auto a = of("我请李雷帮我订了去北京的机票"), b = of("我请李雷帮我看了去北京的机票");
  PatchChoice choice{PatchForm::heads, {}, Alignment::positions};
  choice.measure.query = 2;
  const PatchMap map = map_of(a, b, choice);
  ASSERT_TRUE(map.hidden_a && map.hidden_b);
  for (const auto& [hidden, seen] : {std::pair(map.hidden_a, a), {map.hidden_b, b}})
    for (std::size_t i = 0; i < seen->query_tokens().size(); ++i)
      EXPECT_EQ(hidden->query_tokens().tokens[i].text == seen->query_tokens().tokens[i].text, i != 2) << i;
  PatchWanted wanted{.at = PatchAt::heads};
  for (Index i = 0; i < b->queries(); ++i) wanted.queries.emplace_back(i, i);
  wanted.metric.query = 2;
  const auto whole = patch_answers(*map.hidden_a, *map.hidden_b, wanted);
  ASSERT_TRUE(whole) << whole.error().message();
  for (std::size_t i = 0; i < whole->cells.size(); ++i)
    EXPECT_EQ(map.restored.data()[i], static_cast<float>(whole->cells[i].restored));
  EXPECT_NE(patch_line(Language::en, map).find("” hidden: clean (A) "), std::string::npos)
      << patch_line(Language::en, map);
}

}  // namespace
}  // namespace headlight
