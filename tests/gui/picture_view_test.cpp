// A model that reads pictures: the picture on the stage and in the atlas, and what hands and keys do with it.
#include <gtest/gtest.h>

#include "assets/assets.h"
#include "gui/harness.h"
#include "math/attention.h"
#include "pictured.h"
#include "session/shown.h"

namespace headlight {
namespace {

std::string patch(Index token) { return "picture token " + std::to_string(token); }

struct PictureView : GuiTest {
  void SetUp() override {
    start(picture_document());
    harness->state.view.text.form.reset();
    harness->settle();
  }
  const Matrix& shown(const HeadRef& head) const { return harness->state.grids->map(head); }
};

TEST_F(PictureView, TheStageAndEachHeadShowThePicture) {
  EXPECT_EQ(stage_form(harness->state), StageForm::text);
  ASSERT_TRUE(harness->has("stage picture"));
  harness->frame();
  EXPECT_GE(harness->maps.pictures.size(), 1u + 4u);  // large, and a small one a head
  for (const DrawnPicture& drawn : harness->maps.pictures) EXPECT_EQ(drawn.picture, harness->state.document.seen);
  for (Index head = 0; head < 2; ++head) EXPECT_TRUE(harness->has("head 1." + std::to_string(head)));
  EXPECT_TRUE(harness->says("CLS"));
  for (const char* word : {"Sentence", "word", "Examples"})
    EXPECT_FALSE(harness->says(word)) << word << " in " << harness->words_on_screen();
}

TEST_F(PictureView, AClickedPatchIsTheQueryOfEveryHead) {
  const Index token = 2 + 1 * 4 + 2;  // row 1, column 2
  harness->click(patch(token));
  harness->settle();
  ASSERT_TRUE(harness->state.view.pinned);
  EXPECT_EQ(harness->state.view.pinned->query, token);
  EXPECT_TRUE(harness->says("“1,2”"));
  for (Index layer = 0; layer < 2; ++layer)
    for (Index head = 0; head < 2; ++head) {
      const Matrix row = attention_rows(*harness->state.trace, {layer, head}, token, 1);
      for (Index square = 0; square < 12; ++square)
        EXPECT_EQ(shown({layer, head})(square / 4, square % 4), row(0, 2 + square));
    }
  harness->click(patch(1));  // a register
  harness->settle();
  EXPECT_EQ(harness->state.view.pinned->query, 1);
}

TEST_F(PictureView, ColumnsAreThoseWhoLookAtThePatch) {
  harness->click(patch(5));
  harness->click("text columns");
  harness->settle();
  const Index key = harness->state.view.pinned->key;
  const Matrix all = attention_rows(*harness->state.trace, {1, 0}, 0, 14);
  for (Index square = 0; square < 12; ++square) EXPECT_EQ(shown({1, 0})(square / 4, square % 4), all(2 + square, key));
}

TEST_F(PictureView, KeysMoveFromPatchToPatch) {
  harness->click(patch(2 + 5));  // row 1, column 1
  harness->key(Key::right);
  EXPECT_EQ(harness->state.view.pinned->query, 2 + 6);
  harness->key(Key::down);
  EXPECT_EQ(harness->state.view.pinned->query, 2 + 10);
  harness->key(Key::up), harness->key(Key::up), harness->key(Key::up);
  EXPECT_EQ(harness->state.view.pinned->query, 0);  // the class token stands above
  harness->key(Key::down);
  EXPECT_EQ(harness->state.view.pinned->query, 2);
}

TEST_F(PictureView, APictureAloneHasNoWeightsOverIt) {
  harness->click("picture alone");
  harness->settle();
  EXPECT_EQ(harness->state.view.text.cover, 0);
  harness->click("picture alone");
  EXPECT_GT(harness->state.view.text.cover, 0);
  harness->click("stage form map");
  harness->settle();
  EXPECT_EQ(stage_form(harness->state), StageForm::map);
  EXPECT_TRUE(harness->has("stage map"));
}

TEST_F(PictureView, ANarrowStageHasTheCoverOnALineOfItsOwn) {
  bool beside = false, below = false;
  for (const float width : {900.0f, 1000.0f, 1100.0f, 1280.0f, 1440.0f, 1800.0f}) {
    harness->resize({width, 900});
    harness->settle();
    const Box& others = harness->box("text heads all");
    const Box& alone = harness->box("picture alone");
    const bool is_below = alone.y >= others.bottom();
    EXPECT_TRUE(is_below || alone.x >= others.right()) << width;
    (is_below ? below : beside) = true;
  }
  EXPECT_TRUE(beside && below) << "both kinds were seen";
}

TEST_F(PictureView, TwoPicturesAreComparedAtOnePatch) {
  const auto kept = harness->state.document.seen;
  harness->push(KeepAnswer{});
  harness->push(OpenPath{(*asset_folder() / "assets" / "pictures" / "shapes-2.png").string()});
  harness->settle();
  const auto seen = harness->state.document.seen;
  ASSERT_NE(seen, kept);
  harness->click("view compare");
  harness->settle();
  harness->frame();
  for (const auto& picture : {kept, seen})
    EXPECT_TRUE(std::ranges::any_of(harness->maps.pictures, [&](const auto& one) { return one.picture == picture; }));
  for (const char* said : {"drawn.png", "shapes-2.png"}) EXPECT_TRUE(harness->says(said)) << harness->words_on_screen();
  EXPECT_FALSE(harness->says("by word"));
  const Index token = 2 + 1 * 4 + 2;  // row 1, column 2
  for (const char* name : {"A", "B", "B − A"}) ASSERT_TRUE(harness->has(std::string("picture ") + name + " token 8"));
  harness->click("picture A token 8");
  harness->settle();
  ASSERT_TRUE(harness->state.view.pinned);
  EXPECT_EQ(harness->state.view.pinned->query, token);
  EXPECT_TRUE(harness->says("1,2 looks at")) << harness->words_on_screen();
}

/// The same with a classifier.
struct ClassifierView : PictureView {
  void SetUp() override {
    start(picture_document(classifier_model()));
    harness->state.view.text.form.reset();
    harness->settle();
  }
};

TEST_F(ClassifierView, TheClassesStandBelowThePictureWithTheirProbabilities) {
  const Vector shares = probabilities(harness->state.trace->logits);
  const Candidate best = most_probable(*harness->state.document.model, shares, 1).front();
  EXPECT_TRUE(harness->says("Taken for")) << harness->words_on_screen();
  EXPECT_TRUE(harness->has("word " + best.text));
  harness->click(patch(5));
  harness->settle();
  EXPECT_TRUE(harness->has("word " + best.text)) << "whichever token looks";
  EXPECT_FALSE(harness->says("In place of")) << harness->words_on_screen();
  harness->push(LookAt{harness->state.view.look, {}, InsideTab::lens});
  harness->push(ShowView{View::inside});
  harness->settle();
  EXPECT_TRUE(harness->says("The most probable classes")) << harness->words_on_screen();
  for (const char* word : {"word", "sentence"})
    EXPECT_FALSE(harness->says(word)) << word << " in " << harness->words_on_screen();
}

/// Two pictures of one classifier: which parts of A bring its class back, by row and column.
TEST_F(ClassifierView, WhatIsTakenFromAIsNamedByRowAndColumn) {
  Harness& h = *harness;
  h.push(KeepAnswer{});
  h.push(OpenPath{(*asset_folder() / "assets" / "pictures" / "shapes-2.png").string()});
  h.settle();
  h.click("view compare");
  h.settle();
  h.click("take from a");
  h.settle();
  ASSERT_TRUE(h.state.patch) << h.words_on_screen();
  EXPECT_TRUE(h.state.patch->is_whole());
  EXPECT_EQ(h.state.patch->restored.rows(), 2);  // layers
  EXPECT_EQ(h.state.patch->restored.cols(), 2);  // heads
  EXPECT_EQ(h.map("patch").weights, h.state.patch->restored);
  for (const char* word : {"word", "sentence"}) EXPECT_FALSE(h.says(word)) << word << " in " << h.words_on_screen();
  h.click("patch residual");
  h.settle();
  const PatchMap& map = *h.state.patch;
  EXPECT_EQ(map.choice.form, PatchForm::residual);
  ASSERT_EQ(map.restored.cols(), 14) << "the class token, a register and each patch";
  EXPECT_NEAR(map.restored.row(map.restored.rows() - 1).sum(), 1, 0.2) << "the last block alone decides";
  const DrawnMap drawn = h.map("patch");
  const float cell = drawn.box.w / 14;
  h.click_at({drawn.box.x + 8.5f * cell, drawn.box.y + 1});
  h.settle();
  EXPECT_EQ(h.state.patch->choice.form, PatchForm::tokens) << "a cell leads to its layer's heads";
  EXPECT_TRUE(h.says("1,2")) << h.words_on_screen();  // token 8: row 1, column 2
  h.click("compare maps");
  h.settle();
  EXPECT_TRUE(h.has("picture A token 8"));
}

TEST_F(PictureView, ASmallMapChoosesItsHead) {
  harness->click("head 0.1");
  EXPECT_EQ(harness->state.view.chosen, (HeadRef{0, 1}));
}

}  // namespace
}  // namespace headlight
