// The tab Lens: the guess after each layer, what adds to a word, and the way from there to a head.
#include "base/formatted.h"
#include "gui/inside/inside_fixture.h"
#include "gui/shipped_document.h"
#include "views/inside/inside_labels.h"
#include "words/inside_words.h"

namespace headlight {
namespace {

class LensTest : public InsideViewTest {
 protected:
  void SetUp() override { begin("shipped:decoder"); }
  void begin(const char* source) {
    start(fixture::shipped_document(source, "我请李雷帮我订了去北京的机票"));
    harness->push(Pin{CellRef{7, 3}}, ShowView{View::inside});
    harness->settle();
    harness->click("tab lens");
    harness->settle();
  }
  const LayerLens& lens() const { return *harness->state.lens; }
  ImVec2 point(Index layer, Index column) const {
    const Box plot = harness->box("lens");
    return {plot.x + (static_cast<float>(column) + 0.5f) * plot.w / static_cast<float>(lens().probabilities.cols()),
            plot.y + (static_cast<float>(layer) + 0.5f) * plot.h / static_cast<float>(lens().probabilities.rows())};
  }
};

TEST_F(LensTest, TheTableAndTheTermsAreThoseOfTheToken) {
  Harness& h = *harness;
  EXPECT_EQ(lens().query, 7);
  EXPECT_TRUE(same(h.map("lens").weights, lens().probabilities));
  EXPECT_TRUE(h.says(lens().cells.back().front().text));
  EXPECT_TRUE(h.says(logit_line(Language::en, lens()))) << h.words_on_screen();
  EXPECT_TRUE(h.says(formatted("%+.4f", lens().split->terms[lens().order[0]].value)));
}

TEST_F(LensTest, AClickOnACellTakesItsTokenAndItsWord) {
  Harness& h = *harness;
  const Candidate word = lens().cells[0][4];
  h.click_at(point(0, 4));
  h.settle();
  EXPECT_EQ(lens().query, 4);
  EXPECT_EQ(view().pinned->query, 4);
  EXPECT_EQ(lens().word->row, word.row);
}

TEST_F(LensTest, AtACellStandItsLayerItsWordAndItsProbability) {
  Harness& h = *harness;
  const Candidate word = lens().cells[1][4];
  h.move_to(point(1, 4));
  EXPECT_TRUE(h.says("L1 " + word.text + " " + percent(word.probability))) << h.words_on_screen();
}

TEST_F(LensTest, TwoWordsGiveTheirDifferenceAndAnUnknownOneALine) {
  Harness& h = *harness;
  const auto words = lens_words(*h.state.trace, 7, 2).back();
  h.click("lens word");
  h.type(words[0].text);
  h.click("lens minus");
  h.type(words[1].text);
  h.settle();
  ASSERT_TRUE(lens().minus);
  EXPECT_EQ(lens().minus->row, words[1].row);
  EXPECT_TRUE(h.says("− logit of"));
  h.type("zzz");
  h.settle();
  EXPECT_TRUE(h.has("no terms"));
  EXPECT_TRUE(h.has("lens")) << "the table stays";
}

TEST_F(LensTest, ATermLeadsToWhyItsHeadLooksThereAndBack) {
  Harness& h = *harness;
  std::size_t at = 0;
  while (lens().split->terms[lens().order[at]].from.kind != WriterKind::head) ++at;
  const HeadRef head = lens().split->terms[lens().order[at]].from.head;
  click("way", "term " + std::to_string(at));
  EXPECT_EQ(view().tab, InsideTab::why);
  EXPECT_EQ(view().chosen, head);
  EXPECT_EQ(view().pinned->query, 7);
  h.key(Key::backspace);
  h.settle();
  EXPECT_EQ(view().tab, InsideTab::lens);
  EXPECT_EQ(view().pinned, (CellRef{7, 3}));
}

TEST_F(LensTest, OfAnEncoderTheWordIsHidden) {
  begin("shipped:encoder");
  Harness& h = *harness;
  EXPECT_TRUE(lens().ranks);
  EXPECT_TRUE(h.says("“北京” hidden")) << h.words_on_screen();
}

TEST_F(LensTest, AWindowWithoutHeightForItsTextsShowsThemLater) {
  Harness& h = *harness;
  for (const float height : {300.0f, 200.0f, 120.0f, 60.0f, 20.0f}) {  // Dear ImGui ends over a font without height
    h.resize({1440, height});
    h.settle();
  }
  h.resize({1440, 900});
  h.settle();
  EXPECT_TRUE(h.says(lens().cells.back().front().text));
}

TEST_F(LensTest, WithoutAVocabularyOneSentenceGivesTheReason) {
  Harness& h = *harness;
  h.push(OpenPath{HEADLIGHT_TEST_DATA "/golden/tensors-self-6/input.safetensors"});
  h.settle();
  ASSERT_FALSE(can_say_words(h.state));
  h.push(ShowView{View::inside}, ShowTab{InsideTab::lens});
  h.settle();
  EXPECT_TRUE(h.says(words(Language::en, kInsideWords.no_vocabulary)));
  EXPECT_FALSE(h.has("lens"));
}

}  // namespace
}  // namespace headlight
