// The tab Why?: what wrote the score of the pinned cell, from there to the head that wrote it, and back.
#include <fstream>

#include "base/formatted.h"
#include "figure/labels.h"
#include "gui/inside/inside_fixture.h"
#include "gui/sentence/own_sentence.h"
#include "math/attention.h"
#include "words/inside_words.h"

namespace headlight {
namespace {

class WhyTest : public InsideViewTest {
 protected:
  void SetUp() override { begin(Arch::decoder); }
  void begin(Arch arch) {
    start(document_of(arch));
    harness->push(ChooseHead{{2, 1}}, Pin{CellRef{3, 2}});
    harness->settle();
    harness->click("numbers");
    harness->click("tab why");
    harness->settle();
  }
  const WriterSplit& shown() const { return *harness->state.writers; }
  const ScoreTerm& term(std::size_t at) const { return shown().split.terms[shown().order[at]]; }
  std::string word(std::size_t at) const { return axis_label(harness->state.trace->query_tokens().tokens[at]); }
  /// The middle of a cell of the map.
  ImVec2 map_point(CellRef cell) const {
    const DrawnMap map = harness->map("writers");
    return {map.box.x + (static_cast<float>(cell.key) + 0.5f) * map.box.w / static_cast<float>(map.weights.cols()),
            map.box.y + (static_cast<float>(cell.query) + 0.5f) * map.box.h / static_cast<float>(map.weights.rows())};
  }
  /// The first term of the list whose writer on that side is a head.
  std::size_t term_of_head(bool of_query) const {
    std::size_t at = 0;
    while ((of_query ? term(at).query : term(at).key).kind != WriterKind::head) ++at;
    return at;
  }
};

TEST_F(WhyTest, ScoreAndSumStandSideBySideAboveTheTermsBySize) {
  Harness& h = *harness;
  EXPECT_EQ(view().view, View::inside);
  EXPECT_EQ(view().tab, InsideTab::why);
  const ScoreSplit& split = shown().split;
  EXPECT_TRUE(h.says("score " + typeset(formatted("%.4f", split.score)) + ", the sum of " +
                     std::to_string(split.terms.size()) + " terms: " + typeset(formatted("%.4f", split.sum))))
      << h.words_on_screen();
  EXPECT_TRUE(
      h.says(writer_name(term(0).query) + writer_name(term(0).key) + typeset(formatted("%+.4f", term(0).value))))
      << h.words_on_screen();
  EXPECT_TRUE(same(h.map("writers").weights, shown().sums));
  EXPECT_TRUE(h.map("writers").scale.diverging);
  EXPECT_TRUE(h.says("A term is no cause"));
}

TEST_F(WhyTest, ATermLeadsToTheHeadThatWroteItAndBack) {
  Harness& h = *harness;
  for (const bool of_query : {true, false}) {
    SCOPED_TRACE(of_query);
    const std::size_t at = term_of_head(of_query);
    const Writer writer = of_query ? term(at).query : term(at).key;
    click("way", (of_query ? "term " : "times ") + std::to_string(at));
    EXPECT_EQ(view().chosen, writer.head);
    ASSERT_TRUE(view().pinned);
    EXPECT_EQ(view().pinned->query, of_query ? 3 : 2) << "the token in which it wrote";
    EXPECT_TRUE(h.says("From: L2·H1 " + word(3) + " → " + word(2))) << h.words_on_screen();
    EXPECT_EQ(h.state.writers.question()->head, writer.head) << "its own score is split";
    if (of_query) h.click("look back");
    else h.key(Key::backspace);
    h.settle();
    EXPECT_EQ(view().chosen, (HeadRef{2, 1}));
    EXPECT_EQ(view().pinned, (CellRef{3, 2}));
    EXPECT_FALSE(h.has("trail"));
  }
  EXPECT_TRUE(h.state.undo.empty()) << "looking is not editing";
}

TEST_F(WhyTest, ACellOfTheMapLeadsToTheWriterOfTheKeyOrElseOfTheQuery) {
  Harness& h = *harness;
  const auto index_of = [](const WriterAxis& axis, WriterKind kind) {
    const auto is = [&](const Writer& one) { return one.kind == kind; };
    return static_cast<Index>(std::find_if(axis.writers.begin(), axis.writers.end(), is) - axis.writers.begin());
  };
  const CellRef of_key{index_of(shown().queries, WriterKind::embedding), index_of(shown().keys, WriterKind::head)},
      of_query{index_of(shown().queries, WriterKind::head), index_of(shown().keys, WriterKind::embedding)},
      of_none{index_of(shown().queries, WriterKind::embedding), index_of(shown().keys, WriterKind::embedding)};
  const Writer key = shown().keys.writers[static_cast<std::size_t>(of_key.key)],
               query = shown().queries.writers[static_cast<std::size_t>(of_query.query)];
  h.move_to(map_point(of_key));
  EXPECT_TRUE(h.says("embedding × " + writer_name(key) + " " +
                     term_text(static_cast<double>(shown().sums(of_key.query, of_key.key)))))
      << h.words_on_screen();
  h.click_at(map_point(of_key));
  h.settle();
  EXPECT_EQ(view().chosen, key.head);
  EXPECT_EQ(view().pinned->query, 2);
  h.key(Key::backspace);
  h.settle();
  h.click_at(map_point(of_query));
  h.settle();
  EXPECT_EQ(view().chosen, query.head);
  EXPECT_EQ(view().pinned->query, 3);
  h.key(Key::backspace);
  h.settle();
  h.click_at(map_point(of_none));
  h.settle();
  EXPECT_EQ(view().chosen, (HeadRef{2, 1})) << "an embedding is no head";
}

TEST_F(WhyTest, ABarBelowZeroHasTheOtherColour) {
  Harness& h = *harness;
  const float right = h.map("writers").box.x;
  int below = 0, above = 0;
  for (std::size_t at = 0; at < shown().order.size(); ++at) {
    const std::string from = "term " + std::to_string(at), times = "times " + std::to_string(at);
    if (!h.has(from) && !h.has(times)) continue;  // both are no heads, or it is scrolled away
    const Box name = h.box(h.has(from) ? from : times), row{0, name.y, right, name.h};
    const bool negative = term(at).value < 0;
    EXPECT_EQ(h.drew(to_imgui(diverging_map(Theme::light)[40]), row), negative) << at;
    EXPECT_EQ(h.drew(to_imgui(diverging_map(Theme::light)[215]), row), !negative) << at;
    (negative ? below : above) += 1;
  }
  EXPECT_GT(below, 2);
  EXPECT_GT(above, 2);
}

TEST_F(WhyTest, TheArrowsMoveThePinAndTheSplitFollows) {
  Harness& h = *harness;
  h.key(Key::left);
  h.settle();
  EXPECT_EQ(view().pinned, (CellRef{3, 1}));
  EXPECT_EQ(h.state.writers.question()->cell, (CellRef{3, 1}));
  h.push(Pin{});
  h.settle();
  EXPECT_TRUE(h.says(words(Language::en, kInsideWords.pin_for_steps)));
  EXPECT_FALSE(h.has("writers"));
}

TEST_F(WhyTest, OfCrossAttentionTheKeyIsWrittenByTheEncoder) {
  begin(Arch::encoder_decoder);
  Harness& h = *harness;
  h.push(ChooseHead{{1, 0, Stack::cross}}, Pin{CellRef{1, 3}});
  h.settle();
  const std::size_t at = term_of_head(false);
  EXPECT_EQ(term(at).key.head.stack, Stack::encoder);
  click("way", "times " + std::to_string(at));
  EXPECT_EQ(view().chosen.stack, Stack::encoder);
  EXPECT_EQ(view().pinned->query, 3);
  h.key(Key::backspace);
  EXPECT_EQ(view().chosen, (HeadRef{1, 0, Stack::cross}));
  EXPECT_EQ(view().pinned, (CellRef{1, 3}));
}

TEST_F(WhyTest, WhereAnotherProgramComputedTheWeightsALineGivesTheReason) {
  TemporaryFolder folder;
  std::ofstream(folder / "attention.json")
      << R"({"attention": [{"name": null, "attn": [[[[0.25, 0.75], [1, 0]], [[0.5, 0.5], [0, 1.0]]]],
             "left_text": ["[CLS]", " 我"], "right_text": ["[CLS]", " 我"]}],
             "default_filter": "0", "layer": null, "heads": null, "include_layers": [0]})";
  Harness& h = *harness;
  h.push(OpenPath{folder / "attention.json"});
  h.settle();
  h.push(Pin{CellRef{0, 1}});
  h.settle();
  EXPECT_TRUE(h.has("no terms"));
  EXPECT_TRUE(h.says("weights that another program computed")) << h.words_on_screen();
  EXPECT_FALSE(h.has("writers"));
}

/// The words of the stage are those of what is behind it: a word in pieces keeps its name and its sum.
class OwnWhyTest : public InsideViewTest {
 protected:
  void SetUp() override {
    start(fixture::sentence_document("The trophy does not fit in the suitcase because it is too big"));
    harness->state.shipped = fixture::shipped();
    harness->push(ChooseHead{{3, 7}}, Pin{CellRef{12, 4}});  // it → y, the largest piece
    harness->settle();
  }
};

TEST_F(OwnWhyTest, AWordInPiecesIsASumOverItsPiecesInEveryPanel) {
  Harness& h = *harness;
  h.click("numbers");
  h.settle();
  const Matrix row = attention_rows(*h.state.trace, {3, 7}, 12, 1);
  const std::string sum = "trophy " + weight_text(row.middleCols(2, 3).sum());
  for (const char* panel : {"tab numbers", "tab why", "tab diagram", "view code"}) {
    SCOPED_TRACE(panel);
    h.click(panel);
    h.settle();
    EXPECT_TRUE(h.says(sum)) << h.words_on_screen();
    ASSERT_TRUE(h.has("key piece 1"));
    EXPECT_FALSE(h.has("key piece 2")) << "the pinned one";
  }
  h.click("view inside");
  h.click("tab numbers");
  h.settle();
  EXPECT_TRUE(h.says("y of trophy")) << h.words_on_screen();
  h.click("key piece 0");
  h.settle();
  EXPECT_EQ(view().pinned, (CellRef{12, 2}));
  EXPECT_TRUE(h.says(sum)) << "the sum stays";
  EXPECT_TRUE(h.has("key piece 2"));
}

TEST_F(OwnWhyTest, WhyThisWordAndNotItsRivalInLinesThatCanBeSwitchedOff) {
  Harness& h = *harness;
  h.click("why");
  h.settle();
  ASSERT_TRUE(h.state.writers && h.state.writers->rivals);
  const Rivals rivals = *h.state.writers->rivals;
  EXPECT_TRUE(h.says("Why “trophy” and not “suitcase”: 91 % to 8.9 %")) << h.words_on_screen();
  for (std::size_t i = 0; i < rivals.lines.size(); ++i) EXPECT_TRUE(h.has("rival line " + std::to_string(i)));
  const bool explains = rivals.carried() >= kCarried;
  EXPECT_TRUE(h.says(explains ? "largest writers have" : "No few writers decide it")) << h.words_on_screen();
  double sum = 0;
  for (const Rivals::Line& line : rivals.lines) sum += line.value;
  EXPECT_NEAR(rivals.share(), sum / rivals.difference, 1e-9);
  EXPECT_NEAR(sum + rivals.rest, rivals.difference, 1e-9);
  EXPECT_TRUE(h.says("have " + share_text(rivals.share()) + " of this difference")) << h.words_on_screen();
  EXPECT_TRUE(h.has("score and sum")) << "the whole table stays behind it";
  for (std::size_t i = 0; i < rivals.lines.size(); ++i) {
    const std::string name = "rival off " + std::to_string(i);
    if (!h.has(name)) continue;
    h.click(name);
    h.settle();
    EXPECT_TRUE(is_off(h.state.document.edits, rivals.lines[i].writer->head));
    const Matrix row = attention_rows(*h.state.trace, {3, 7}, 12, 1);
    EXPECT_NEAR(row.middleCols(2, 3).sum(), *rivals.lines[i].weight, 1e-5) << "as the button said";
    return;
  }
  FAIL() << "no line is of a head";
}

TEST_F(WhyTest, TheTabsAreStepsOfOneHistory) {
  Harness& h = *harness;
  h.click("tab numbers");
  h.settle();
  h.click("line 1");
  h.settle();
  h.click("tab why");
  h.settle();
  EXPECT_TRUE(h.has("writers"));
  h.click("look back");
  h.settle();
  EXPECT_EQ(view().tab, InsideTab::numbers) << "where the matrix before was looked at";
  EXPECT_EQ(view().pinned, (CellRef{3, 2}));
}

TEST_F(WhyTest, TheFigureIsOfWhatIsSeen) {
  Harness& h = *harness;
  h.key({Key::left_ctrl, Key::left_shift, Key{'E'}});
  h.settle();
  EXPECT_EQ(h.state.browser.figure, FigureKind::writers);
  EXPECT_TRUE(h.state.preview && !h.state.preview->problem);
}

}  // namespace
}  // namespace headlight
