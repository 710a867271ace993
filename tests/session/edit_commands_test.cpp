// Commands that change the inside of the computation: command → document → request → answer, undone in one step.
#include <gtest/gtest.h>

#include "app/session_fixture.h"
#include "explain/matrices.h"
#include "math/attention.h"

namespace headlight {
namespace {

using fixture::answer;
using fixture::small_state;

AppState translation(std::string text = "我 爱 你", std::string target = "I love") {
  Document document = fixture::small_document(std::move(text));
  document.config.arch = Arch::encoder_decoder;
  document.config.encoder_layers = 1;
  document.mask.causal = true;
  document.target.text = std::move(target);
  return initial_state(fixture::lexicon(), std::move(document), Settings{});
}

/// Applies a command, and again after an undo and a redo; gives what was asked in between.
Request asked_after(AppState& state, const Command& command) {
  update(state, EndGesture{});
  const Document before = state.document;
  update(state, command);
  update(state, EndGesture{});
  const Document after = state.document;
  EXPECT_FALSE(before == after);
  update(state, Undo{});
  EXPECT_EQ(state.document, before);
  update(state, Redo{});
  EXPECT_EQ(state.document, after);
  return *wanted(state);
}

TEST(EditCommands, AHeadGoesOffAndOnAgain) {
  AppState state = small_state();
  Request request = asked_after(state, SwitchHead{{1, 0}, true});
  EXPECT_EQ(request.edits.off, (std::vector<HeadRef>{{1, 0}}));
  request = asked_after(state, SetOffAs{OffAs::mean});
  EXPECT_EQ(request.edits.off_as, OffAs::mean);
  update(state, SwitchHead{{0, 1}, true});
  EXPECT_EQ(wanted(state)->edits.off, (std::vector<HeadRef>{{0, 1}, {1, 0}})) << "in order";
  update(state, SwitchHead{{1, 0}, false});
  EXPECT_EQ(wanted(state)->edits.off, (std::vector<HeadRef>{{0, 1}}));
  request = asked_after(state, SwitchAllOn{});
  EXPECT_TRUE(request.edits.off.empty());
}

TEST(EditCommands, AWeightIsSetTakenAwayAndSeen) {
  AppState state = small_state("我 爱 你");
  const HeadRef head{1, 1};
  EXPECT_EQ(asked_after(state, SetWeight{head, {2, 0}, 0.875f}).edits.weights,
            (std::vector<WeightEdit>{{head, {2, 0}, 0.875f}}));
  update(state, answer(state));
  EXPECT_EQ(attention_rows(*state.trace, head, 2, 1)(0, 0), 0.875f);
  update(state, SetWeight{{0, 0}, {0, 0}, 0.5f});
  EXPECT_EQ(wanted(state)->edits.weights.size(), 2u);
  EXPECT_EQ(asked_after(state, ClearWeights{head}).edits.weights.size(), 1u);
  EXPECT_TRUE(asked_after(state, ClearWeights{}).edits.weights.empty());
  update(state, SetWeight{head, {2, 0}, 0.5f});
  EXPECT_TRUE(asked_after(state, SetWeight{head, {2, 0}, std::nullopt}).edits.weights.empty());
}

TEST(EditCommands, DropoutIsSeeded) {
  AppState state = small_state();
  const Request request = asked_after(state, SetDropout{0.25f, 7});
  EXPECT_EQ(request.edits.dropout, 0.25f);
  EXPECT_EQ(request.edits.dropout_seed, 7u);
}

TEST(EditCommands, ALayerHasItsOwnScaleAndMask) {
  AppState state = small_state("我 爱 你");
  Request request = asked_after(state, SetLayerScale{Stack::self, 1, 2.0f});
  EXPECT_EQ(layer_edit(request.edits, Stack::self, 1)->scale, 2.0f);
  EXPECT_FALSE(layer_edit(request.edits, Stack::self, 1)->mask) << "the mask is still its stack's";
  update(state, PaintCell{{0, 1}, false});
  request = asked_after(state, SetMask{.causal = true, .padding = true, .layer = 1});
  const LayerEdit* edit = layer_edit(request.edits, Stack::self, 1);
  ASSERT_TRUE(edit && edit->mask);
  EXPECT_TRUE(edit->mask->causal);
  EXPECT_EQ(edit->mask->painted.size(), 1u) << "it began as its stack's";
  EXPECT_EQ(edit->scale, 2.0f);
  EXPECT_FALSE(request.mask.causal);
  EXPECT_EQ(&mask_of(state.document, Stack::self, 1), &*layer_edit(state.document.edits, Stack::self, 1)->mask);
  EXPECT_EQ(&mask_of(state.document, Stack::self, 0), &state.document.mask);
  update(state, answer(state));
  EXPECT_GT(attention_rows(*state.trace, {0, 0}, 1, 1)(0, 2), 0.0f);
  EXPECT_EQ(attention_rows(*state.trace, {1, 0}, 1, 1)(0, 2), 0.0f);
  request = asked_after(state, PaintCell{{2, 2}, false, Stack::self, 1});
  EXPECT_EQ(layer_edit(request.edits, Stack::self, 1)->mask->painted.size(), 2u);
  EXPECT_EQ(request.mask.painted.size(), 1u);
  request = asked_after(state, ClearPaint{Stack::self, 1});
  EXPECT_TRUE(layer_edit(request.edits, Stack::self, 1)->mask->painted.empty());
  request = asked_after(state, GiveMask{fixture::open_mask(3, 3), Stack::self, 1});
  EXPECT_TRUE(layer_edit(request.edits, Stack::self, 1)->mask->given);
  request = asked_after(state, ClearLayer{Stack::self, 1});
  EXPECT_EQ(layer_edit(request.edits, Stack::self, 1), nullptr);
}

TEST(EditCommands, PartsOfALayerGoOffAndOnAgain) {
  AppState state = small_state("我 爱 你");
  Request request = asked_after(state, SwitchPart{Stack::self, 1, BlockPart::residual, true});
  EXPECT_EQ(parts_off(request.edits, Stack::self, 1), PartsOff{.residual = true});
  request = asked_after(state, SetLayerScale{Stack::self, 1, 2.0f});
  request = asked_after(state, SetMask{.causal = true, .padding = true, .layer = 1});
  request = asked_after(state, SwitchPart{Stack::self, 0, BlockPart::norm, true});
  EXPECT_TRUE(is_off(request.edits, Stack::self, 1, BlockPart::residual)) << "it stays beside scale and mask";
  update(state, answer(state));
  ASSERT_TRUE(state.trace);
  EXPECT_FALSE(exists(*state.trace, matrix_id(Quantity::attention_norm_scale, {0, 0})));
  request = asked_after(state, SwitchPartsOn{});
  EXPECT_FALSE(parts_off(request.edits, Stack::self, 1).any() || parts_off(request.edits, Stack::self, 0).any());
  EXPECT_EQ(layer_edit(request.edits, Stack::self, 1)->scale, 2.0f);
  update(state, SwitchPart{Stack::self, 1, BlockPart::ffn, true});
  Config config = state.document.config;
  config.ffn = 0;
  update(state, SetConfig{config});
  EXPECT_FALSE(parts_off(state.document.edits, Stack::self, 1).any()) << "there is none to be off";
}

TEST(EditCommands, EveryStackHasItsMask) {
  AppState state = translation();
  Request request = asked_after(state, PaintCell{{1, 2}, false, Stack::cross});
  EXPECT_EQ(request.cross_mask.painted.size(), 1u);
  EXPECT_TRUE(request.mask.painted.empty() && request.encoder_mask.painted.empty());
  update(state, answer(state));
  EXPECT_EQ(attention_rows(*state.trace, {1, 0, Stack::cross}, 1, 1)(0, 2), 0.0f);
  EXPECT_GT(attention_rows(*state.trace, {1, 0, Stack::cross}, 0, 1)(0, 2), 0.0f);
  request = asked_after(state, SetMask{.causal = true, .padding = true, .stack = Stack::encoder});
  EXPECT_TRUE(request.encoder_mask.causal);
  request = asked_after(state, ClearPaint{Stack::cross});
  EXPECT_TRUE(request.cross_mask.painted.empty());
}

TEST(EditCommands, AllOfThemAreClearedTogether) {
  AppState state = translation();
  const Document before = state.document;
  for (const Command& command : Commands{SwitchHead{{0, 0}, true}, SetWeight{{0, 0, Stack::cross}, {0, 0}, 0.5f},
                                         SetDropout{0.5f, 1}, SetScale{2.0f}, PaintCell{{0, 0}, false, Stack::encoder}})
    update(state, command);
  update(state, ClearEdits{});
  EXPECT_EQ(state.document, before);
}

TEST(EditCommands, ArchitecturesBringTheirMask) {
  AppState state = small_state();
  Config config = state.document.config;
  for (const Arch arch : {Arch::decoder, Arch::encoder, Arch::encoder_decoder}) {
    config.arch = arch;
    update(state, SetConfig{config});
    EXPECT_EQ(state.document.mask.causal, arch != Arch::encoder);
    EXPECT_FALSE(state.document.encoder_mask.causal || state.document.cross_mask.causal);
    EXPECT_EQ(shown_tokens(state, TextSide::target) != nullptr, arch == Arch::encoder_decoder);
  }
  EXPECT_EQ(shown_tokens(state, TextSide::target)->text, kDefaultTarget);
  EXPECT_EQ(shown_tokens(state)->text, kDefaultSentence);
}

TEST(EditCommands, AnotherShapeKeepsThePaintedCells) {
  AppState state = small_state("我 爱 你");
  update(state, PaintCell{{0, 1}, false});
  Config config = state.document.config;
  config.num_heads = 1;
  EXPECT_EQ(asked_after(state, SetConfig{config}).mask.painted.size(), 1u);
}

TEST(EditCommands, TheTargetIsATextLikeTheSource) {
  AppState state = translation();
  EXPECT_EQ(asked_after(state, SetTarget{"I love you"}).target.size(), 3u);
  Request request = asked_after(state, ToggleCut{1, TextSide::target});
  EXPECT_EQ(request.target.size(), 2u);
  EXPECT_EQ(request.tokens.size(), 3u);
  request = asked_after(state, SetSplit{Split::characters});
  EXPECT_EQ(request.target.size(), 10u);
  EXPECT_FALSE(state.document.target.hand_cuts);
  update(state, SetText{"我爱\n你"});
  update(state, EndGesture{});
  EXPECT_EQ(message_of(problem_of(state)), "target: sentences: expected 2, a line for each line of the text, found 1");
  update(state, SetTarget{"I\nyou"});
  update(state, EndGesture{});
  EXPECT_EQ(message_of(problem_of(state)), "");
  update(state, ChooseSentence{1});
  EXPECT_EQ(sentence_begin(state, TextSide::target), 2u);
  EXPECT_EQ(shown_tokens(state, TextSide::target)->text, "you");
}

TEST(Baseline, IsTheAnswerWithoutEdits) {
  AppState state = small_state();
  update(state, answer(state));
  const auto plain = state.trace;
  EXPECT_EQ(state.baseline, plain);
  EXPECT_FALSE(is_edited(state));
  update(state, SwitchHead{{0, 0}, true});
  update(state, answer(state));
  EXPECT_EQ(state.baseline, plain) << "known already";
  EXPECT_TRUE(is_edited(state));

  update(state, SetText{"我爱"});
  update(state, answer(state));
  EXPECT_EQ(state.baseline, nullptr) << "another question";
  const auto other = forward(unedited(*wanted(state)));
  update(state, reply(&Answers::baseline, plain->request, plain.answer()));
  EXPECT_EQ(state.baseline, nullptr) << "too late";
  update(state, reply(&Answers::baseline, (*other)->request, *other));
  EXPECT_EQ(state.baseline, *other);
  EXPECT_FALSE(same(state.trace->last_hidden_state(), state.baseline->last_hidden_state()));
}

TEST(Baseline, IsComputedByTheLoop) {
  Loop loop([] {}, "");
  Document document = fixture::small_document("我爱你");
  switch_off(document.edits, {1, 1}, true);
  AppState state = initial_state(fixture::lexicon(), document, Settings{});
  loop.settle(state);
  ASSERT_TRUE(state.trace && state.baseline);
  EXPECT_EQ(state.baseline->request, unedited(state.trace->request));
  EXPECT_TRUE(is_edited(state));
  Commands commands{SetText{"爱"}};
  loop.step(state, commands, 0);
  commands = {Undo{}};
  loop.step(state, commands, 0);
  loop.settle(state);
  ASSERT_TRUE(state.baseline);
  EXPECT_EQ(state.baseline->request, unedited(state.trace->request));
}

TEST(StackView, AHeadOfAnotherAttentionHasOtherCells) {
  AppState state = translation("我 爱 你 们", "I love");
  update(state, answer(state));
  update(state, ChooseHead{{0, 1, Stack::encoder}});
  update(state, Pin{CellRef{3, 3}});
  update(state, SetViewport{{0, 4, 0, 3}});
  EXPECT_TRUE(state.view.pinned);
  update(state, ChooseHead{{1, 1, Stack::cross}});
  EXPECT_FALSE(state.view.pinned);
  EXPECT_EQ(state.view.viewport, Viewport{});
  const Region region = shown_region(state);
  EXPECT_EQ(region.head, (HeadRef{1, 1, Stack::cross}));
  EXPECT_EQ(region.num_queries, 2);
  EXPECT_EQ(region.num_keys, 4);
  update(state, Pin{CellRef{1, 3}});
  EXPECT_TRUE(state.view.pinned);
  update(state, Pin{CellRef{2, 3}});
  EXPECT_FALSE(state.view.pinned) << "there are two queries";
  update(state, ChooseHead{{1, 0, Stack::encoder}});
  EXPECT_EQ(state.view.chosen.layer, 0) << "the encoder has one layer";
  Config config = state.document.config;
  config.arch = Arch::encoder;
  update(state, SetConfig{config});
  update(state, answer(state));
  EXPECT_EQ(state.view.chosen.stack, Stack::self);
}

TEST(Batch, PaddingIsAttendedToWhereTheMaskAllowsIt) {
  for (const bool padding : {true, false}) {
    Document document = fixture::small_document("我\n我 爱 你");
    document.mask.padding = padding;
    const auto batch = requests_of(document, fixture::lexicon());
    document.source.text = "我";
    const auto alone = requests_of(document, fixture::lexicon());
    ASSERT_TRUE(batch && alone);
    const auto padded = forward(batch->front()), plain = forward(alone->front());
    ASSERT_TRUE(padded && plain);
    const bool equal =
        ((*padded)->last_hidden_state().row(0) - (*plain)->last_hidden_state().row(0)).cwiseAbs().maxCoeff() < 1e-5f;
    EXPECT_EQ(equal, padding);
  }
}

TEST(Batch, BothSidesArePadded) {
  const AppState state = translation("我\n我 爱 你", "I love you\nyou");
  ASSERT_EQ(state.requests.size(), 2u);
  for (const Request& request : state.requests) {
    EXPECT_EQ(request.tokens.size(), 3u);
    EXPECT_EQ(request.target.size(), 3u);
  }
  EXPECT_TRUE(state.requests[0].tokens.tokens[2].pad && !state.requests[0].target.tokens[2].pad);
  EXPECT_TRUE(!state.requests[1].tokens.tokens[2].pad && state.requests[1].target.tokens[2].pad);
}

}  // namespace
}  // namespace headlight
