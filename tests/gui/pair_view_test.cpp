// A second sentence typed beside the first, and the part of the pair that the maps show.
#include "base/file.h"
#include "gui/frame/draw.h"
#include "gui/keys_fixture.h"
#include "pair_tokenizer.h"
#include "words/enum_words.h"
#include "words/sentence_words.h"

namespace headlight {
namespace {

/// golden/bert with a tokenizer of pairs.
void make_pair_model(const std::filesystem::path& folder) {
  for (const char* file : {"config.json", "model.safetensors"})
    std::filesystem::copy_file(HEADLIGHT_TEST_DATA "/golden/bert/" + std::string(file), folder / file);
  ASSERT_TRUE(write_file(folder / "tokenizer.json", kPairTokenizer));
}

/// That model, asked about `the cat sat`.
class PairViewTest : public KeysTest {
 protected:
  void SetUp() override {
    KeysTest::SetUp();
    make_pair_model(folder.path());
    harness->push(SetText{"the cat sat"}, EndGesture{}, OpenPath{folder.path().string()});
    harness->settle();
    ASSERT_TRUE(document().model) << (state().notice ? state().notice->text : "");
  }
  void type_second(const std::string& text) {
    if (harness->has("second text")) harness->click("second text");
    else harness->click("add second");
    harness->frame(2);
    harness->type(text);
    harness->key(Key::escape);
    harness->settle();
  }
  /// Whether the menu of what is shown has the parts of a pair.
  bool offers_parts() {
    harness->click("shown menu");
    EXPECT_TRUE(harness->has("maps weights")) << "the menu is open";
    const bool offered = harness->has("pair a-b");
    harness->key(Key::escape);
    return offered;
  }

  TemporaryFolder folder;
};

TEST_F(PairViewTest, ASecondSentenceIsTypedBesideTheFirst) {
  Harness& h = *harness;
  EXPECT_FALSE(h.has("second text")) << "not before it is asked for";
  h.click("add second");
  h.frame(2);
  EXPECT_TRUE(h.says(kPairWords.second_hint.en)) << "empty at first";
  h.key(Key::escape);
  h.frame(2);
  EXPECT_FALSE(h.has("second text")) << "left empty it goes";
  EXPECT_FALSE(offers_parts()) << "one sentence has no parts";
  const Matrix alone = h.map("head 0.0").weights;
  type_second("it was tired");
  EXPECT_EQ(document().text_pair, "it was tired");
  EXPECT_EQ(h.tokens(), "[PAD]|the|cat|sat|[PAD]|it|was|tired|[PAD]");
  EXPECT_EQ(h.map("head 0.0").weights.rows(), 9);
  ctrl(Key{'Z'});
  h.settle();
  EXPECT_EQ(document().text_pair, "");
  EXPECT_EQ(h.map("head 0.0").weights, alone);
  ctrl_shift(Key{'Z'});
  h.settle();
  EXPECT_EQ(document().text_pair, "it was tired");
}

class PairAppearsTest : public KeysTest {};

TEST_F(PairAppearsTest, WhileSomebodyTypesTheKeyboardStaysInTheFirstBox) {
  Harness& h = *harness;
  const TemporaryFolder folder;
  make_pair_model(folder.path());
  h.retype("the cat");
  h.push(OpenPath{folder.path().string()});
  h.type(" sat");  // while it is read
  h.settle();
  h.type(" it");
  EXPECT_EQ(document().source.text, "the cat sat it");
}

TEST_F(PairViewTest, APartIsChosenWithAClickOrAKey) {
  Harness& h = *harness;
  type_second("it was tired");
  const Matrix whole = h.map("head 0.0").weights;
  h.click("pair a-b");
  h.frame(2);
  EXPECT_EQ(state().view.fold.pair, PairPart::a_to_b);
  EXPECT_EQ(h.map("head 0.0").weights, whole.block(0, 5, 5, 4));
  EXPECT_EQ(h.map("stage map").weights.rows(), 5);
  EXPECT_TRUE(h.says(only_words(PairPart::a_to_b).en)) << "what is shown is said, and that rows are not scaled";
  h.key(Key::escape);  // the menu stays open for another choice, and has the keys
  EXPECT_EQ(state().view.fold.pair, PairPart::a_to_b);
  key({Key{'6'}});
  h.frame(2);
  EXPECT_EQ(state().view.fold.pair, PairPart::b_to_a);
  EXPECT_EQ(h.map("head 0.0").weights, whole.block(5, 0, 4, 5));
  shift(Key{'6'});
  shift(Key{'6'});
  EXPECT_EQ(state().view.fold.pair, PairPart::a_to_a);
  shift(Key{'6'});
  h.frame(2);
  EXPECT_EQ(state().view.fold.pair, PairPart::all);
  EXPECT_EQ(h.map("head 0.0").weights, whole);
  EXPECT_FALSE(h.says(only_words(PairPart::a_to_b).en));
}

TEST_F(PairViewTest, ACellOfAPartIsTheCellOfTheWhole) {
  Harness& h = *harness;
  type_second("it was tired");
  h.push(SetFold{{.special = false, .words = false, .pair = PairPart::b_to_a}});
  h.frame(2);
  const Box map = h.box("stage map");
  h.move_to({map.x + map.w * 2.5f / 5, map.y + map.h * 0.5f / 4});
  h.frame(2);
  EXPECT_EQ(state().view.hovered, (CellRef{5, 2}));
  EXPECT_TRUE(h.says("it looks at cat")) << h.words_on_screen();
}

TEST_F(PairViewTest, AWordOfTheOtherSentenceIsNotSaidToBeSpecial) {
  Harness& h = *harness;
  type_second("it was tired");
  h.push(SetFold{{.special = false, .words = false, .pair = PairPart::a_to_b}}, Pin{CellRef{1, 2}});
  h.frame(2);
  EXPECT_TRUE(h.says("cat: not in the part of the pair that is shown")) << h.words_on_screen();
  EXPECT_FALSE(h.says("left out with the special tokens"));
}

TEST_F(PairViewTest, LinesShowThePartToo) {
  Harness& h = *harness;
  type_second("it was tired");
  h.push(ShowView{View::flow});
  h.settle();
  shift(Key{'6'});
  shift(Key{'6'});
  h.settle();
  ASSERT_EQ(state().view.fold.pair, PairPart::b_to_a);
  EXPECT_TRUE(h.says(only_words(PairPart::b_to_a).en));
  const FoldedStack* folded = shown_fold(state(), Stack::self);
  ASSERT_TRUE(folded);
  EXPECT_EQ(folded->fold.queries.tokens.size(), 4u);
  ASSERT_FALSE(state().flow->heads.empty());
  for (const FlowLine& line : state().flow->heads.front()) {
    EXPECT_LT(line.query, 4);
    EXPECT_LT(line.key, 5);
  }
  EXPECT_FALSE(state().flow->heads.front().empty());
}

TEST_F(PairViewTest, AskedByIdsItIsStillAPair) {
  Harness& h = *harness;
  type_second("it was tired");
  const Matrix whole = h.map("head 1.1").weights;
  h.click("ask by ids");
  h.settle();
  EXPECT_EQ(document().source.ids.size(), 9u);
  EXPECT_EQ(h.map("head 1.1").weights, whole) << "with its types";
  EXPECT_TRUE(offers_parts());
  h.push(SetIds{{2, 4, 3, 7, 3, 8}}, EndGesture{});
  EXPECT_EQ(document().token_types.size(), 6u);
  EXPECT_TRUE(message_of(state().problem).empty()) << message_of(state().problem);
  h.click("ask by text");
  h.settle();
  EXPECT_EQ(h.map("head 1.1").weights, whole);
}

TEST_F(PairViewTest, AskingByIdsIsOneStepOfUndo) {
  Harness& h = *harness;
  type_second("it was tired");
  const std::size_t before = state().undo.size();
  h.click("ask by ids");
  h.settle();
  EXPECT_EQ(state().undo.size(), before + 1);
  ctrl(Key{'Z'});
  h.settle();
  EXPECT_TRUE(document().source.ids.empty());
  EXPECT_TRUE(document().token_types.empty());
  EXPECT_EQ(document().text_pair, "it was tired");
}

TEST_F(PairViewTest, ThePaletteHasTheParts) {
  Harness& h = *harness;
  ctrl(Key{'P'});
  h.type("B→B");
  EXPECT_FALSE(h.says("Of the two sentences show")) << "there is one";
  h.key(Key::escape);
  type_second("it was tired");
  ctrl(Key{'P'});
  h.type("two sentences B→B");
  h.key(Key::enter);
  h.frame(2);
  EXPECT_EQ(state().view.fold.pair, PairPart::b_to_b);
  ctrl(Key{'P'});
  h.type("second sentence away");
  h.key(Key::enter);
  h.settle();
  EXPECT_EQ(document().text_pair, "");
}

TEST_F(GuiTest, OtherModelsAreOfferedNoSecondSentence) { EXPECT_FALSE(harness->has("second text")); }

}  // namespace
}  // namespace headlight
