// An encoder-decoder in the window: the second text, the three attentions; and a decoder that writes on.
#include "gui/frame/draw.h"
#include "gui/frame/map_view.h"
#include "gui/harness.h"
#include "math/forward.h"
#include "words/answer_words.h"
#include "words/model_words.h"

namespace headlight {
namespace {

Document document_of(Arch arch) {
  Document document;
  document.config = {.arch = arch, .d_model = 16, .num_heads = 2, .num_layers = 2, .ffn = 16};
  document.mask.causal = is_causal_by_default(arch);
  return document;
}

class TwoTextsTest : public GuiTest {
 protected:
  void SetUp() override {
    Document document = document_of(Arch::encoder_decoder);
    document.config.encoder_layers = 1;
    start(document);
  }
  std::string target() const { return harness->tokens(TextSide::target); }
};

TEST_F(TwoTextsTest, TheTargetIsTypedCutAndUndone) {
  Harness& h = *harness;
  const Document before = h.state.document;
  const std::string source = h.tokens();
  h.click("target text");
  h.key({Key::left_ctrl, Key{'A'}});
  h.key(Key::del);
  h.type("The cat sat");
  h.key(Key::escape);
  EXPECT_EQ(h.state.document.target.text, "The cat sat");
  EXPECT_EQ(h.state.document.source.text, before.source.text) << "the source is another box";
  EXPECT_EQ(target(), "The| cat| sat");
  EXPECT_EQ(h.state.undo.size(), 1u);
  h.settle();
  EXPECT_EQ(h.state.trace->queries(Stack::self), 3);
  EXPECT_EQ(h.state.trace->keys(Stack::cross), 10);

  h.click("target gap 1");
  EXPECT_EQ(target(), "The cat| sat");
  h.click("target chip 1");
  EXPECT_NE(target(), "The cat| sat") << "a click inside a chip cuts it";
  EXPECT_EQ(h.tokens(), source);
  EXPECT_TRUE(h.has("split automatic"));
  h.click("undo");
  EXPECT_EQ(target(), "The cat| sat");
  h.click("undo");
  EXPECT_EQ(target(), "The| cat| sat");
  h.click("undo");
  EXPECT_TRUE(h.state.document == before);
  h.click("gap 1");
  EXPECT_NE(h.tokens(), source);
  EXPECT_TRUE(is_consistent(h.state));
}

TEST_F(TwoTextsTest, CharactersAboveTheFirstPlaneSurviveInTheTarget) {
  Harness& h = *harness;
  h.click("target text");
  h.key({Key::left_ctrl, Key{'A'}});
  h.paste("𠮷野家 😀 ok");
  EXPECT_EQ(h.state.document.target.text, "𠮷野家 😀 ok");
}

TEST_F(TwoTextsTest, EachStackHasMapsOfItsOwn) {
  Harness& h = *harness;
  const std::pair<const char*, Stack> tabs[] = {
      {"stack encoder", Stack::encoder}, {"stack cross", Stack::cross}, {"stack decoder", Stack::self}};
  for (const auto& [tab, stack] : tabs) {
    SCOPED_TRACE(tab);
    h.click(tab);
    h.settle();
    EXPECT_EQ(h.state.view.chosen.stack, stack);
    const Trace& trace = *h.state.trace;
    for (Index layer = 0; layer < trace.num_layers(stack); ++layer)
      for (Index head = 0; head < 2; ++head) {
        const Matrix weights = weights_of(trace, {layer, head, stack});
        const Matrix drawn = h.map("head " + std::to_string(layer) + "." + std::to_string(head)).weights;
        ASSERT_EQ(drawn.rows(), trace.queries(stack));
        ASSERT_EQ(drawn.cols(), trace.keys(stack));
        for (Index i = 0; i < weights.size(); ++i) EXPECT_EQ(std::max(0.0f, drawn.data()[i]), weights.data()[i]);
      }
    EXPECT_EQ(h.has("head 1.0"), stack != Stack::encoder) << "the encoder has one layer";
    EXPECT_TRUE(h.says(words(Language::en, stack == Stack::self      ? kModelWords.decoder
                                           : stack == Stack::encoder ? kModelWords.encoder
                                                                     : kAnswerWords.cross)));
  }
  EXPECT_TRUE(h.state.undo.empty());
}

TEST_F(TwoTextsTest, AChipLightsTheRowsAndColumnsThatItIs) {
  Harness& h = *harness;
  h.click("stack cross");
  h.settle();
  h.hover("stage map", {1, 4});
  EXPECT_TRUE(h.drew(palette(Theme::light).accent, h.box("target chip 1"))) << "the row is the target's";
  EXPECT_TRUE(h.drew(palette(Theme::light).accent, h.box("chip 4"))) << "the column is the source's";
  EXPECT_FALSE(h.drew(palette(Theme::light).accent, h.box("chip 1")));
  h.point_at("chip 3");
  EXPECT_EQ(h.state.view.hovered, (CellRef{0, 3}));
  h.point_at("target chip 2");
  EXPECT_EQ(h.state.view.hovered, (CellRef{2, 0}));
  h.click("stack decoder");
  h.point_at("chip 3");
  EXPECT_FALSE(h.state.view.hovered) << "the decoder's own attention does not look at the source";
}

TEST_F(TwoTextsTest, AMaskIsThatOfTheStackLookedAt) {
  Harness& h = *harness;
  h.click("stack encoder");
  h.click("causal");
  EXPECT_TRUE(h.state.document.encoder_mask.causal);
  EXPECT_TRUE(h.state.document.mask.causal);
  EXPECT_FALSE(h.state.document.cross_mask.causal);
  h.click("stack cross");
  h.hold(Key::left_shift, true);
  h.click_at(h.cell_point("stage map", {2, 3}));
  h.hold(Key::left_shift, false);
  EXPECT_EQ(h.state.document.cross_mask.painted, (std::vector<PaintedCell>{{2, 3, false}}));
  h.settle();
  EXPECT_EQ(weights_of(*h.state.trace, {0, 1, Stack::cross})(2, 3), 0);
}

TEST_F(TwoTextsTest, WithoutATargetThereIsASentenceAndNoCrash) {
  Harness& h = *harness;
  h.click("target text");
  h.key({Key::left_ctrl, Key{'A'}});
  h.key(Key::del);
  h.settle();
  h.key(Key::escape);
  EXPECT_EQ(h.state.document.target.text, "");
  EXPECT_TRUE(is_stale(h.state));
  EXPECT_FALSE(message_of(problem_of(h.state)).empty()) << "it is said what is missing";
  EXPECT_TRUE(h.says(message_of(problem_of(h.state))));
  for (const Key key : {Key{'2'}, Key::tab, Key::space, Key::right, Key{'1'}}) h.key(key);
  h.key({Key::left_alt, Key{'Y'}});
  h.key({Key::left_alt, Key{'Y'}});
  h.settle();
  EXPECT_TRUE(is_consistent(h.state));
}

TEST_F(TwoTextsTest, PaddingIsSeenInTheCrossAttention) {
  Harness& h = *harness;
  h.push(SetPad{2}, EndGesture{});  // as a right click on the last but one does
  EXPECT_EQ(h.state.document.pad, 2u);
  h.click("stack cross");
  h.settle();
  EXPECT_EQ(h.map("head 0.0").weights(0, 9), -1);
  EXPECT_EQ(weights_of(*h.state.trace, {1, 1, Stack::cross}).rightCols(2).maxCoeff(), 0);
  h.click("padding");
  h.settle();
  EXPECT_GT(weights_of(*h.state.trace, {1, 1, Stack::cross}).rightCols(2).minCoeff(), 0) << "and switched off";
}

class WritingTest : public GuiTest {
 protected:
  void SetUp() override { start(document_of(Arch::decoder)); }
  Index tokens() const { return static_cast<Index>(shown_tokens(harness->state)->size()); }
};

TEST_F(WritingTest, AClickOnAWordWritesIt) {
  Harness& h = *harness;
  const Candidate word = most_probable(*h.state.trace->model, probabilities(h.state.trace->logits), 1).front();
  ASSERT_TRUE(h.has("word " + word.text));
  h.click("word " + word.text);
  EXPECT_TRUE(h.state.document.source.text.ends_with(word.text)) << h.state.document.source.text;
  EXPECT_EQ(tokens(), 11);
  EXPECT_EQ(h.state.undo.size(), 1u);
  h.click("undo");
  EXPECT_EQ(h.state.document.source.text, kDefaultSentence);
}

TEST_F(WritingTest, FiveWordsAreOneStepOfUndo) {
  Harness& h = *harness;
  h.click("write 5");
  h.settle();
  EXPECT_FALSE(h.state.generation);
  EXPECT_EQ(tokens(), 15);
  EXPECT_FALSE(is_stale(h.state));
  EXPECT_EQ(h.state.undo.size(), 1u);
  h.click("undo");
  EXPECT_EQ(h.state.document.source.text, kDefaultSentence);
  h.settle();
  h.click("redo");
  h.settle();
  EXPECT_EQ(tokens(), 15);
}

TEST_F(WritingTest, ItStopsWhenToldTo) {
  Harness& h = *harness;
  for (const bool by_key : {false, true}) {
    h.click("write 20");
    ASSERT_TRUE(h.has("stop writing"));
    if (by_key) h.key(Key::escape);
    else h.click("stop writing");
    EXPECT_FALSE(h.state.generation);
    h.settle();
    EXPECT_LT(tokens(), 30);
    EXPECT_FALSE(h.has("stop writing"));
    h.key({Key::left_ctrl, Key{'Z'}});
    EXPECT_EQ(h.state.document.source.text, kDefaultSentence) << "what was written is one step";
    h.settle();
  }
}

TEST_F(WritingTest, AnEditEndsIt) {
  Harness& h = *harness;
  h.click("write 20");
  h.click("causal");
  EXPECT_FALSE(h.state.generation);
  EXPECT_EQ(h.state.undo.size(), 2u);
  h.settle();
  EXPECT_TRUE(is_consistent(h.state));
}

TEST_F(WritingTest, TemperatureTakesRisksTheSameWayEveryTime) {
  Harness& h = *harness;
  EXPECT_EQ(h.state.view.sampling.temperature, 0);
  h.slide("temperature", 0.02f, 0.9f);
  EXPECT_GT(h.state.view.sampling.temperature, 1.5f);
  EXPECT_TRUE(h.state.undo.empty()) << "nothing is written by that";
  h.click("write 5");
  h.settle();
  const std::string first = h.state.document.source.text;
  h.click("undo");
  h.settle();
  h.click("write 5");
  h.settle();
  EXPECT_EQ(h.state.document.source.text, first);
}

TEST_F(WritingTest, TheSliderOfThePrefixGoesBackInTime) {
  Harness& h = *harness;
  h.slide("prefix", 0.98f, 0.35f);
  const auto prefix = static_cast<Index>(h.state.view.prefix);
  EXPECT_GT(prefix, 1);
  EXPECT_LT(prefix, 8);
  h.settle();
  EXPECT_EQ(h.state.trace->queries(), prefix);
  EXPECT_EQ(h.state.trace->request, prefix_of(*whole_request(h.state), h.state.view.prefix));
  EXPECT_EQ(h.map("head 0.0").weights.rows(), prefix);
  EXPECT_EQ(tokens(), 10) << "the sentence itself stays";
  EXPECT_TRUE(h.says("after " + std::to_string(prefix) + " of 10 words"));
  h.slide("prefix", 0.35f, 1.1f);
  EXPECT_EQ(h.state.view.prefix, 0u);
  h.settle();
  EXPECT_EQ(h.state.trace->queries(), 10);
  EXPECT_TRUE(h.state.undo.empty());
}

TEST_F(WritingTest, AnyWordCanBeSearchedFor) {
  Harness& h = *harness;
  const Vector now = probabilities(h.state.trace->logits);
  const Candidate rare = most_probable(*h.state.trace->model, now, now.size()).back();
  EXPECT_FALSE(h.has("word " + rare.text));
  h.click("find word");
  h.type(rare.text);
  EXPECT_EQ(h.state.view.word, rare.text);
  EXPECT_TRUE(h.has("word " + rare.text));
  h.type("zzzz");
  EXPECT_TRUE(h.says("not in the vocabulary"));
  EXPECT_TRUE(h.state.document == document_of(Arch::decoder)) << "keys typed there are no shortcuts";
}

TEST_F(WritingTest, AnEncoderHasNoNextWord) {
  start();
  EXPECT_FALSE(harness->has("guess menu")) << "nor the menu that writes on";
  harness->click("kind decoder");
  harness->settle();
  ASSERT_TRUE(harness->has("guess menu"));
  for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{1440, 900}, ImVec2{2560, 1600}}) {
    harness->resize(size);
    harness->settle();
    harness->click("guess menu");
    for (const char* name : {"write 1", "write 5", "write 20", "find word", "prefix", "temperature"}) {
      ASSERT_TRUE(harness->has(name)) << name;
      EXPECT_GE(harness->box(name).y, 0) << name;
      EXPECT_LE(harness->box(name).bottom(), size.y) << name << " is inside the window";
    }
    harness->key(Key::escape);
    EXPECT_FALSE(harness->has("write 1"));
  }
}

}  // namespace
}  // namespace headlight
