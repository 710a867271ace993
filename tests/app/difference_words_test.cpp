// The words for the difference between two questions, and for nothing else.
#include "figure/difference_words.h"

#include "models/open_model.h"
#include "pictured.h"
#include "session_fixture.h"

namespace headlight {
namespace {

using fixture::lexicon;
using fixture::small_document;

std::shared_ptr<const Trace> answer(const Document& document) {
  const auto requests = requests_of(document, lexicon());
  EXPECT_TRUE(requests);
  const auto trace = forward(requests->front());
  EXPECT_TRUE(trace);
  return *trace;
}

/// `what A has | what B has`.
std::string said(const Document& a, const Document& b, Language language = Language::en) {
  const auto before = answer(a), after = answer(b);
  const DifferenceWords words = difference_words(language, {*before, a}, {*after, b});
  EXPECT_EQ(words.a.size(), words.b.size());
  return in_a_line(words.a) + " | " + in_a_line(words.b);
}

class DifferenceWordsTest : public testing::Test {
 protected:
  Document a = small_document("我请李雷"), b = a;
};

TEST_F(DifferenceWordsTest, OfTheSameQuestionThereAreNone) { EXPECT_EQ(said(a, b), " | "); }

TEST_F(DifferenceWordsTest, OneThingIsSaidOfBoth) {
  b.source.text = "我请小猫";
  EXPECT_EQ(said(a, b), "我请李雷 | 我请小猫");
  b = a;
  b.mask.causal = true;
  EXPECT_EQ(said(a, b), "mask: none | mask: causal");
  EXPECT_EQ(said(a, b, Language::zh), "掩码：无 | 掩码：因果");
  b = a;
  b.edits.off = {{0, 1}, {1, 0}};
  EXPECT_EQ(said(a, b), "all heads on | off: L0·H1 L1·H0");
  b = a;
  b.edits.scale = 0.5f;
  EXPECT_EQ(said(a, b), "scale 1/√d_k | scale 0.5");
  b = a;
  b.edits.dropout = 0.1f;
  EXPECT_EQ(said(a, b), "no dropout | dropout 0.1, seed 0");
  EXPECT_EQ(said(a, b, Language::zh), "无随机失活 | 随机失活 0.1，种子 0");
  b = a;
  b.source.hand_cuts = std::vector<std::size_t>{3};
  EXPECT_EQ(said(a, b), "我|请|李雷 | 我|请李雷");
}

TEST_F(DifferenceWordsTest, PicturesHaveTheNamesOfTheirFiles) {
  a = picture_document(), b = a;
  EXPECT_EQ(said(a, b), " | ");
  ASSERT_TRUE(set_picture(b, drawn_picture("/pictures/other.png")));
  EXPECT_EQ(said(a, b), "drawn.png | other.png");
  ASSERT_TRUE(set_picture(b, drawn_picture("/elsewhere/drawn.png")));
  EXPECT_EQ(said(a, b), "/pictures/drawn.png | /elsewhere/drawn.png");
}

TEST_F(DifferenceWordsTest, ValuesThatDifferAreNeverTheSame) {
  const auto differ = [&](const auto& change_a, const auto& change_b) {
    b = a;
    Document c = a;
    change_a(b.edits);
    change_b(c.edits);
    return said(b, c);
  };
  const auto weight = [](HeadRef head, CellRef cell, float value) {
    return [=](Edits& edits) { set_weight(edits, head, cell, value); };
  };
  EXPECT_EQ(differ(weight({0, 0}, {1, 0}, 0.5f), weight({0, 0}, {1, 0}, 0.9f)),
            "weight 0.0.1.0=0.5 | weight 0.0.1.0=0.9");
  const auto window = [](Index layer, Index size) {
    return [=](Edits& edits) {
      LayerEdit edit{.layer = layer};
      edit.mask.emplace().window = size;
      set_layer_edit(edits, edit);
    };
  };
  EXPECT_EQ(differ(window(1, 1), window(1, 2)),
            "by layer: layer 1 mask padding+window:1 | by layer: layer 1 mask padding+window:2");
  // The mask of one layer is not that of the others.
  EXPECT_EQ(differ(window(0, 1), [](Edits&) {}), "by layer: layer 0 mask padding+window:1 | all layers alike");
  // The same number of painted cells.
  b = a;
  paint(a.mask.painted, {0, 1, false});
  paint(b.mask.painted, {0, 2, false});
  EXPECT_EQ(said(a, b), "mask …1,0]]}} | mask …2,0]]}}");
}

TEST_F(DifferenceWordsTest, SpacesAndUnknownWordsStandAsTyped) {
  a.source.text = "the cat  sat";
  b.source.text = "the dog  sat";
  EXPECT_EQ(said(a, b), "the cat  sat | the dog  sat");
  auto translator = open_model("shipped:translator");
  ASSERT_TRUE(translator);
  a = b = translator->document;
  a.target.text = "I asked Li Lei";
  b.target.text = "The quokka asked Li Lei";
  EXPECT_EQ(said(a, b), "I asked Li Lei | The quokka asked Li Lei");
}

TEST_F(DifferenceWordsTest, OfTheModelWhatTellsThemApart) {
  b.config.num_heads = 4;
  b.config.seed = 7;
  EXPECT_EQ(said(a, b), "heads 2 · seed 0 | heads 4 · seed 7");
  b = a;
  b.config.arch = Arch::encoder_decoder;
  EXPECT_TRUE(said(a, b).starts_with("— · encoder · ")) << said(a, b);
}

TEST_F(DifferenceWordsTest, OfATrainingItsSteps) {
  a.model_path = b.model_path = "trained/mine";
  b.config.seed = 1;  // another model
  const auto before = answer(a), after = answer(b);
  const DifferenceWords words = difference_words(Language::en, {*before, a, 200}, {*after, b, 900});
  EXPECT_EQ(in_a_line(words.a), "step 200");
  EXPECT_EQ(in_a_line(words.b), "step 900");
}

TEST_F(DifferenceWordsTest, SeveralThingsStandInALine) {
  b.source.text = "小猫";
  b.mask.causal = true;
  EXPECT_EQ(said(a, b), "我请李雷 · mask: none | 小猫 · mask: causal");
}

}  // namespace
}  // namespace headlight
