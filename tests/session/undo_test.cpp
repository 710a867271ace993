#include <gtest/gtest.h>

#include "app/session_fixture.h"
#include "session/state.h"

namespace headlight {
namespace {

using fixture::answer;
using fixture::small_state;

TEST(Undo, GivesBackTheDocumentExactlyForEveryEdit) {
  Config config = fixture::small_config();
  config.num_layers = 1;
  config.arch = Arch::decoder;
  const Commands edits{SetText{"别的"},
                       SetSplit{Split::characters},
                       ToggleCut{3},
                       SetPad{2},
                       SetConfig{config},
                       SetScale{2.0f},
                       SetMask{true, false},
                       GiveMask{fixture::open_mask(10, 10)},
                       PaintCell{{3, 1}, false},
                       Reset{}};
  AppState state = small_state();
  state.document.mask.painted = {{0, 0, true}};
  for (const Command& edit : edits) {
    const Document before = state.document;
    update(state, edit);
    update(state, EndGesture{});
    const Document after = state.document;
    ASSERT_FALSE(before == after) << edit.kind();
    update(state, Undo{});
    EXPECT_EQ(state.document, before) << edit.kind();
    update(state, Redo{});
    EXPECT_EQ(state.document, after) << edit.kind();
    update(state, Undo{});
    EXPECT_EQ(state.document, before);
  }
  update(state, ClearPaint{});
  EXPECT_TRUE(state.document.mask.painted.empty());
  update(state, Undo{});
  EXPECT_EQ(state.document.mask.painted.size(), 1u);
}

/// The line at the foot names the model that is asked, or none.
TEST(Undo, TakesTheLineOfAnOpenedFileAway) {
  AppState state = small_state();
  update(state, SetText{"别的"});
  update(state, EndGesture{});
  state.notice = Notice{Notice::Kind::opened, "s2.headlight.json"};
  update(state, Undo{});
  EXPECT_FALSE(state.notice);
  update(state, Redo{});
  state.notice = Notice{Notice::Kind::failed, "an error"};
  update(state, Undo{});
  ASSERT_TRUE(state.notice) << "an error stays until it was read";
  EXPECT_EQ(state.notice->text, "an error");
}

TEST(Undo, TheWholeWayBackAndForth) {
  AppState state = small_state();
  std::vector<Document> seen{state.document};
  for (int i = 0; i < 6; ++i) {
    if (i % 2) update(state, SetPad{static_cast<std::size_t>(i)});
    else update(state, SetText{std::string(1, static_cast<char>('a' + i))});
    update(state, EndGesture{});
    seen.push_back(state.document);
  }
  for (std::size_t i = seen.size() - 1; i-- > 0;) {
    update(state, Undo{});
    EXPECT_EQ(state.document, seen[i]);
  }
  update(state, Undo{});
  EXPECT_EQ(state.document, seen.front()) << "nothing is before the beginning";
  for (std::size_t i = 1; i < seen.size(); ++i) {
    update(state, Redo{});
    EXPECT_EQ(state.document, seen[i]);
  }
  update(state, Redo{});
  EXPECT_EQ(state.document, seen.back());
}

TEST(Undo, TypingIsOneStep) {
  AppState state = small_state("");
  std::string text;
  for (const char letter : {'h', 'e', 'l', 'l', 'o'}) update(state, SetText{text += letter});
  update(state, EndGesture{});
  EXPECT_EQ(state.undo.size(), 1u);
  update(state, Undo{});
  EXPECT_EQ(state.document.source.text, "");
  update(state, Redo{});
  EXPECT_EQ(state.document.source.text, "hello");
}

TEST(Undo, AStrokeIsOneStepAndTheNextStrokeAnother) {
  AppState state = small_state();
  update(state, answer(state));
  for (Index key = 0; key < 5; ++key) update(state, PaintCell{{0, key}, false});
  update(state, EndGesture{});
  for (Index key = 0; key < 3; ++key) update(state, PaintCell{{1, key}, false});
  update(state, EndGesture{});
  EXPECT_EQ(state.undo.size(), 2u);
  update(state, Undo{});
  EXPECT_EQ(state.document.mask.painted.size(), 5u);
  update(state, Undo{});
  EXPECT_TRUE(state.document.mask.painted.empty());
}

TEST(Undo, AnotherKindOfEditEndsTheGesture) {
  AppState state = small_state();
  update(state, SetText{"a"});
  update(state, SetText{"ab"});
  update(state, SetPad{1});
  update(state, SetText{"abc"});
  update(state, Undo{});
  EXPECT_EQ(state.document.source.text, "ab");
  EXPECT_EQ(state.document.pad, 1u);
  update(state, Undo{});
  EXPECT_EQ(state.document.pad, 0u);
  EXPECT_EQ(state.document.source.text, "ab");
  update(state, Undo{});
  EXPECT_EQ(state.document.source.text, kDefaultSentence);
}

TEST(Undo, AnEditForgetsWhatWasUndone) {
  AppState state = small_state();
  update(state, SetText{"one"});
  update(state, EndGesture{});
  update(state, Undo{});
  EXPECT_EQ(state.redo.size(), 1u);
  update(state, SetText{"two"});
  update(state, Redo{});
  EXPECT_EQ(state.document.source.text, "two");
  EXPECT_TRUE(state.redo.empty());
}

TEST(Undo, AGestureThatComesBackIsNoStep) {
  AppState state = small_state();
  update(state, SetPad{3});
  update(state, SetPad{0});
  update(state, EndGesture{});
  EXPECT_TRUE(state.undo.empty());
}

TEST(Undo, ForgetsTheOldestBeyondItsLimit) {
  AppState state = small_state("x");
  for (std::size_t i = 1; i <= 520; ++i) {
    update(state, SetPad{i});
    update(state, EndGesture{});
  }
  EXPECT_EQ(state.undo.size(), 500u);
  for (int i = 0; i < 600; ++i) update(state, Undo{});
  EXPECT_EQ(state.document.pad, 20u);
}

}  // namespace
}  // namespace headlight
