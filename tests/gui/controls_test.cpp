// The column of controls: every edit does what its label promises, is one step of undo, and keeps the question valid.
#include <cmath>
#include <functional>

#include "gui/actions/question.h"
#include "gui/harness.h"
#include "gui/question/question.h"
#include "session/state_rules.h"

namespace headlight {
namespace {

class ControlsTest : public GuiTest {
 protected:
  void slide(const std::string& name, float from, float to) { harness->slide(name, from, to); }
  /// The small buttons at the right end of the seed's field.
  void click_seed(bool more) {
    harness->point_at("seed");
    const Box box = harness->box("seed");
    harness->click_at({box.right() - box.h * (more ? 0.5f : 1.5f) - (more ? 0 : 4), box.y + box.h / 2});
  }
  const Config& config() const { return harness->state.document.config; }
};

TEST_F(ControlsTest, DModelAndHeadsStayInStep) {
  Harness& h = *harness;
  std::set<Index> widths;
  h.after_frame = [&] {
    ASSERT_TRUE(is_consistent(h.state));
    EXPECT_EQ(config().d_model % 4, 0);
    widths.insert(config().d_model);
  };
  slide("d_model", 0.1f, 0.6f);
  h.after_frame = nullptr;
  EXPECT_GT(widths.size(), 10u);
  EXPECT_GT(config().d_model, 200);
  EXPECT_EQ(h.state.undo.size(), 1u) << "a drag is one step";
  EXPECT_FALSE(h.state.gesture);
  EXPECT_TRUE(h.says("d_k " + std::to_string(config().d_k())));
  slide("d_model", 0.9f, -0.2f);
  EXPECT_EQ(config().d_model, 4);
  slide("d_model", 0.1f, 1.2f);
  EXPECT_EQ(config().d_model, 512);
  EXPECT_TRUE(is_consistent(h.state));
  for (int i = 0; i < 3; ++i) h.click("undo");
  EXPECT_EQ(config(), Config{});
}

TEST_F(ControlsTest, TheWindowDrawsWhileASliderMoves) {
  Harness& h = *harness;
  h.after_frame = [&] { EXPECT_GE(h.maps.drawn.size(), 2u); };
  slide("layers", 0.2f, 0.4f);
  h.after_frame = nullptr;
  h.settle();
  EXPECT_EQ(h.state.trace->num_layers(), config().num_layers);
}

TEST_F(ControlsTest, HeadsMoveOverTheDivisors) {
  Harness& h = *harness;
  h.after_frame = [&] { ASSERT_TRUE(is_consistent(h.state)); };
  slide("heads", 0.5f, 1.2f);
  EXPECT_EQ(config().num_heads, 16);
  EXPECT_EQ(config().d_k(), 4);
  slide("heads", 0.9f, -0.2f);
  EXPECT_EQ(config().num_heads, 1);
  EXPECT_EQ(h.state.undo.size(), 2u);
  h.settle();
  EXPECT_TRUE(h.has("head 1.0"));
  EXPECT_FALSE(h.has("head 0.1"));
}

TEST_F(ControlsTest, AWidthThatNothingDividesHasOneHead) {
  Harness& h = *harness;
  Config odd = config();
  odd = with_d_model(odd, 127);
  EXPECT_EQ(odd.num_heads, 1);
  h.push(SetConfig{odd}, EndGesture{});
  h.settle();
  slide("heads", 0.1f, 1.0f);
  EXPECT_EQ(config().num_heads, 1);
  EXPECT_TRUE(is_consistent(h.state));
}

TEST_F(ControlsTest, SeedButtons) {
  Harness& h = *harness;
  const Matrix before = weights_of(*h.state.trace, {0, 0});
  click_seed(true);
  EXPECT_EQ(config().seed, 1u);
  h.settle();
  EXPECT_FALSE(same(weights_of(*h.state.trace, {0, 0}), before));
  click_seed(false);
  EXPECT_EQ(config().seed, 0u);
  click_seed(false);
  EXPECT_EQ(config().seed, 0u) << "there is none below";
  h.settle();
  EXPECT_TRUE(same(weights_of(*h.state.trace, {0, 0}), before));
  EXPECT_EQ(h.state.undo.size(), 2u);
}

TEST_F(ControlsTest, CausalMask) {
  Harness& h = *harness;
  h.click("causal");
  h.settle();
  const Matrix weights = weights_of(*h.state.trace, {1, 3});
  const DrawnMap map = h.map("head 1.3");
  for (Index i = 0; i < 10; ++i) {
    for (Index j = 0; j < 10; ++j) {
      EXPECT_EQ(weights(i, j) == 0, j > i);
      EXPECT_EQ(map.weights(i, j) == -1, j > i);
    }
  }
  EXPECT_TRUE(h.says("mask causal"));
  h.click("causal");
  h.settle();
  EXPECT_GT(weights_of(*h.state.trace, {1, 3})(0, 9), 0);
}

TEST_F(ControlsTest, PaddingMask) {
  Harness& h = *harness;
  slide("pad", 0.02f, 0.31f);
  EXPECT_EQ(h.state.document.pad, 3u);
  EXPECT_EQ(h.state.undo.size(), 1u);
  h.settle();
  EXPECT_EQ(weights_of(*h.state.trace, {0, 0}).rightCols(3).maxCoeff(), 0);
  h.click("padding");
  EXPECT_FALSE(h.state.document.mask.padding);
  h.settle();
  EXPECT_GT(weights_of(*h.state.trace, {0, 0}).rightCols(3).minCoeff(), 0);
  h.click("padding");
  slide("pad", 0.3f, 1.1f);
  EXPECT_EQ(h.state.document.pad, 10u);
  h.settle();
  EXPECT_EQ(weights_of(*h.state.trace, {0, 0}).cwiseAbs().maxCoeff(), 0) << "rows that may attend to nothing";
  h.key(Key::escape);  // closes the menu of the slider
  h.hover("stage map", {3, 3});
  EXPECT_TRUE(h.has("row bars"));
}

TEST_F(ControlsTest, ADecoderBeginsCausal) {
  Harness& h = *harness;
  h.click("kind decoder");
  EXPECT_EQ(config().arch, Arch::decoder);
  EXPECT_TRUE(h.state.document.mask.causal);
  h.click("causal");
  EXPECT_FALSE(h.state.document.mask.causal) << "but need not stay so";
  h.click("kind encoder");
  EXPECT_FALSE(h.state.document.mask.causal);
  h.click("kind decoder");
  h.click("undo");
  EXPECT_FALSE(h.state.document.mask.causal);
  EXPECT_EQ(config().arch, Arch::encoder);
}

TEST_F(ControlsTest, ScaleByHandAndBack) {
  Harness& h = *harness;
  EXPECT_FALSE(h.state.document.edits.scale);
  slide("scale", 0.125f, 0.9f);
  ASSERT_TRUE(h.state.document.edits.scale);
  EXPECT_NEAR(*h.state.document.edits.scale, 1.8f, 0.1f);
  EXPECT_EQ(h.state.undo.size(), 1u);
  h.settle();
  EXPECT_EQ(h.state.trace->attention(Stack::self, 0).scale, *h.state.document.edits.scale);
  h.click("scale automatic");
  EXPECT_FALSE(h.state.document.edits.scale);
  h.settle();
  EXPECT_FLOAT_EQ(h.state.trace->attention(Stack::self, 0).scale, 0.25f);
  h.click("scale automatic");
  ASSERT_TRUE(h.state.document.edits.scale);
  EXPECT_FLOAT_EQ(*h.state.document.edits.scale, 0.25f) << "by hand it begins where it was";
}

TEST_F(ControlsTest, AScaleOfZeroLooksAtAllAlike) {
  Harness& h = *harness;
  slide("scale", 0.125f, -0.2f);
  h.settle();
  EXPECT_EQ(h.state.document.edits.scale, 0.0f);
  EXPECT_NEAR(weights_of(*h.state.trace, {0, 0}).minCoeff(), 0.1f, 1e-6);
}

// Every control that edits: done once, undone and redone with the buttons and with the keys.
TEST_F(ControlsTest, EveryEditIsOneStepOfUndo) {
  Harness& h = *harness;
  const auto clicks = [&](const char* name) { return [&h, name] { h.click(name); }; };
  const std::vector<std::pair<const char*, std::function<void()>>> edits{
      {"causal", clicks("causal")},
      {"padding", clicks("padding")},
      {"pad", [&] { slide("pad", 0.02f, 0.5f); }},
      {"d_model", [&] { slide("d_model", 0.1f, 0.2f); }},
      {"heads", [&] { slide("heads", 0.5f, 0.8f); }},
      {"layers", [&] { slide("layers", 0.1f, 0.3f); }},
      {"seed", [&] { click_seed(true); }},
      {"positions", clicks("positions none")},
      {"scale", [&] { slide("scale", 0.1f, 0.3f); }},
      {"automatic scale", clicks("scale automatic")},
      {"kind", clicks("kind decoder")},
      {"norm", clicks("norm before")},
      {"activation", clicks("gelu")},
      {"feed-forward", [&] { slide("ffn", 0.1f, 0.05f); }},
      {"bias", clicks("bias Q")},
      {"characters", clicks("split characters")},
      {"join", clicks("gap 2")},
      {"cut", clicks("chip 2")},
      {"pad here", [&] { h.click("chip 6", 1); }},
      {"sample",
       [&] {
         h.click("samples");
         h.click("sample 1");
       }},
      {"typing", [&] { h.retype("abc"); }},
      {"painting",
       [&] {
         h.hold(Key::left_shift, true);
         h.drag(h.cell_point("stage map", {1, 1}), h.cell_point("stage map", {1, 4}));
         h.hold(Key::left_shift, false);
       }},
  };
  const Document before = h.state.document;
  for (const auto& [name, edit] : edits) {
    SCOPED_TRACE(name);
    edit();
    h.key(Key::escape);
    const Document after = h.state.document;
    EXPECT_FALSE(after == before);
    EXPECT_EQ(h.state.undo.size(), 1u);
    h.click("undo");
    EXPECT_TRUE(h.state.document == before);
    h.click("redo");
    EXPECT_TRUE(h.state.document == after);
    h.key({Key::left_ctrl, Key{'Z'}});
    EXPECT_TRUE(h.state.document == before);
    h.key({Key::left_ctrl, Key::left_shift, Key{'Z'}});
    EXPECT_TRUE(h.state.document == after);
    h.key({Key::left_ctrl, Key{'Z'}});
    h.key({Key::left_ctrl, Key{'Y'}});
    EXPECT_TRUE(h.state.document == after);
    h.click("undo");
    EXPECT_TRUE(h.state.document == before);
    h.settle();
    ASSERT_FALSE(is_stale(h.state));
  }
}

TEST_F(ControlsTest, StartOverIsUndoneToo) {
  Harness& h = *harness;
  h.click("kind decoder");
  h.retype("abc");
  EXPECT_EQ(h.state.document.source.text, "abc") << "the words of a decoder, which appear on the way, take no key";
  h.click("reset");
  EXPECT_TRUE(h.state.document == first_document(nullptr, Language::en));
  h.click("undo");
  EXPECT_EQ(h.state.document.source.text, "abc");
  EXPECT_EQ(config().arch, Arch::decoder);
}

TEST_F(ControlsTest, UndoWithNothingToUndoDoesNothing) {
  Harness& h = *harness;
  h.click("undo");
  h.click("redo");
  h.key({Key::left_ctrl, Key{'Z'}});
  EXPECT_TRUE(h.state.document == Document{});
}

}  // namespace
}  // namespace headlight
