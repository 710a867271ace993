#include "session/state.h"

#include <gtest/gtest.h>

#include "app/session_fixture.h"
#include "session/state_rules.h"
#include "session/typing.h"

namespace headlight {
namespace {

using fixture::answer;
using fixture::answered_state;
using fixture::small_state;

TEST(Update, EveryEditChangesItsPartOfTheDocument) {
  AppState state = small_state();
  update(state, SetText{"我爱"});
  EXPECT_EQ(state.document.source.text, "我爱");
  ASSERT_EQ(state.requests.size(), 1u);
  EXPECT_EQ(state.requests[0].tokens.size(), 2u);

  update(state, ToggleCut{3});
  EXPECT_EQ(state.document.source.hand_cuts, std::optional(std::vector<std::size_t>{}));
  EXPECT_EQ(wanted(state)->tokens.size(), 1u);

  update(state, SetSplit{Split::characters});
  EXPECT_EQ(state.document.source.split, Split::characters);
  EXPECT_FALSE(state.document.source.hand_cuts);

  update(state, SetPad{1});
  EXPECT_EQ(state.document.pad, 1u);
  EXPECT_TRUE(wanted(state)->tokens.tokens[1].pad);

  Config config = fixture::small_config();
  config.seed = 5;
  update(state, SetConfig{config});
  EXPECT_EQ(wanted(state)->config, config);

  update(state, SetScale{0.25f});
  EXPECT_EQ(wanted(state)->edits.scale, 0.25f);
  update(state, SetScale{});
  EXPECT_FALSE(wanted(state)->edits.scale);

  update(state, SetMask{true, false});
  EXPECT_TRUE(wanted(state)->mask.causal);
  EXPECT_FALSE(wanted(state)->mask.padding);

  const auto given = fixture::open_mask(2, 2);
  update(state, GiveMask{given});
  EXPECT_EQ(wanted(state)->mask.given, given);
  update(state, GiveMask{});
  EXPECT_EQ(wanted(state)->mask.given, nullptr);

  update(state, PaintCell{{0, 1}, true});
  EXPECT_EQ(wanted(state)->mask.painted, (std::vector<PaintedCell>{{0, 1, true}}));
  update(state, ClearPaint{});
  EXPECT_TRUE(wanted(state)->mask.painted.empty());

  state.settings.language = Language::zh;
  update(state, Reset{});
  EXPECT_EQ(state.document, Document{});
  state.settings.language = Language::en;
  update(state, Reset{});
  EXPECT_EQ(state.document, first_document(nullptr, Language::en));
}

TEST(Update, ArchitectureBringsItsMaskOnceWhenItChanges) {
  AppState state = small_state();
  Config config = state.document.config;
  config.arch = Arch::decoder;
  update(state, SetConfig{config});
  EXPECT_TRUE(state.document.mask.causal);
  update(state, SetMask{false, true});
  config.seed = 1;
  update(state, SetConfig{config});
  EXPECT_FALSE(state.document.mask.causal) << "a slider does not set the mask again";
  config.arch = Arch::encoder;
  update(state, SetMask{true, true});
  update(state, SetConfig{config});
  EXPECT_FALSE(state.document.mask.causal);
}

TEST(Update, EveryLookChangesItsPartOfTheView) {
  AppState state = answered_state();
  update(state, ChooseHead{{1, 1}});
  EXPECT_EQ(state.view.chosen, (HeadRef{1, 1}));
  update(state, Hover{HeadRef{0, 1}, CellRef{2, 3}});
  EXPECT_EQ(state.view.hovered_head, (HeadRef{0, 1}));
  EXPECT_EQ(state.view.hovered, (CellRef{2, 3}));
  update(state, Hover{});
  EXPECT_FALSE(state.view.hovered_head || state.view.hovered);
  update(state, Pin{CellRef{4, 5}});
  EXPECT_EQ(state.view.pinned, (CellRef{4, 5}));
  update(state, SetColourScale{Scale::log});
  EXPECT_EQ(state.view.scale, Scale::log);
  update(state, SetViewport{{1, 4, 2, 4}});
  EXPECT_EQ(state.view.viewport, (Viewport{1, 4, 2, 4}));
  update(state, SetPainting{true});
  EXPECT_TRUE(state.view.painting);
  update(state, SetStroke{false});
  EXPECT_EQ(state.view.stroke, std::optional(false));
  update(state, ShowHelp{true});
  EXPECT_TRUE(state.view.help);
  Settings settings;
  settings.theme = Theme::dark;
  update(state, SetSettings{settings});
  EXPECT_EQ(state.settings, settings);
  EXPECT_TRUE(state.undo.empty() && !state.gesture) << "a look is never undone";
  EXPECT_FALSE(is_stale(state)) << "nor does it ask anything";

  update(state, SetText{"我爱\n你"});
  update(state, ChooseSentence{1});
  EXPECT_EQ(wanted(state)->tokens.text, "你");
  update(state, ChooseSentence{2});
  EXPECT_EQ(state.view.sentence, 1u) << "there is no third";
  update(state, SetText{"我爱"});
  EXPECT_EQ(state.view.sentence, 0u);
}

TEST(Update, BrowserKeepsItsPlaceAndTakesOnlyTheFolderItShows) {
  AppState state = small_state();
  update(state, Browse{Browser::Purpose::export_to, "/somewhere"});
  EXPECT_EQ(state.browser.purpose, Browser::Purpose::export_to);
  EXPECT_EQ(state.browser.name, "attention.json");
  update(state, FolderListed{"/somewhere", {{"sub", true}, {"a.txt", false}}});
  EXPECT_EQ(state.browser.entries.size(), 2u);
  update(state, FolderListed{"/elsewhere", {}});
  EXPECT_EQ(state.browser.entries.size(), 2u);
  update(state, Browse{Browser::Purpose::export_to, ""});
  EXPECT_EQ(state.browser.folder, "/somewhere");
  EXPECT_EQ(state.browser.entries.size(), 2u);
  update(state, Browse{Browser::Purpose::export_to, "/somewhere/sub"});
  EXPECT_TRUE(state.browser.entries.empty()) << "the entries of another folder are none of this one's";
  update(state, NameFile{"mine.csv"});
  EXPECT_EQ(state.browser.name, "mine.csv");
  update(state, Browse{Browser::Purpose::save, ""});
  EXPECT_EQ(state.browser.name, "session.headlight.json");

  for (const Command& done : Commands{OpenPath{"x"}, SaveSession{"x"}, ExportTo{"x"}, Browse{}}) {
    update(state, Browse{Browser::Purpose::open, ""});
    update(state, done);
    EXPECT_EQ(state.browser.purpose, Browser::Purpose::none);
  }
}

TEST(Update, WhatIsWrittenDoesNotGoIntoAModelsFolder) {
  AppState state = small_state();
  state.settings.folder = "/home/me";
  update(state, Browse{Browser::Purpose::open, "/models/small"});
  update(state, FolderListed{"/models/small", {{"config.json", false}}});
  update(state, Browse{});
  update(state, Browse{Browser::Purpose::save, ""});
  EXPECT_EQ(state.browser.folder, "/home/me");
  EXPECT_TRUE(state.browser.entries.empty());
  update(state, Browse{Browser::Purpose::save, "/models/small"});
  EXPECT_EQ(state.browser.folder, "/models/small") << "unless it is chosen";
}

TEST(Update, NoticesComeAndGo) {
  AppState state = small_state();
  update(state, FileFailed{Error(ErrorCode::bad_value, "a: b: expected c, found d")});
  ASSERT_TRUE(state.notice);
  EXPECT_EQ(state.notice->kind, Notice::Kind::failed);
  EXPECT_EQ(state.notice->text, "a: b: expected c, found d");
  update(state, FileSaved{"/x/attention.json", std::nullopt});
  EXPECT_EQ(state.notice->kind, Notice::Kind::exported);
  EXPECT_EQ(state.session_path, "");
  EXPECT_TRUE(state.settings.recent.empty());
  update(state, CancelFileWork{});
  EXPECT_TRUE(state.notice);
  update(state, DismissNotice{});
  EXPECT_FALSE(state.notice);
  update(state, Quit{});
  EXPECT_TRUE(state.quit);
}

TEST(View, FollowsTheAnswerWhenItGetsSmaller) {
  AppState state = answered_state();
  update(state, ChooseHead{{1, 1}});
  update(state, Pin{CellRef{9, 9}});
  update(state, Hover{HeadRef{1, 1}, CellRef{9, 0}});
  update(state, SetViewport{{5, 5, 5, 5}});
  Config config = state.document.config;
  config.num_layers = config.num_heads = 1;
  update(state, SetConfig{config});
  EXPECT_EQ(state.view.chosen, (HeadRef{1, 1})) << "the answer on the screen is still the old one";
  update(state, answer(state));
  EXPECT_EQ(state.view.chosen, (HeadRef{0, 0}));
  EXPECT_FALSE(state.view.hovered_head);
  EXPECT_EQ(state.view.pinned, (CellRef{9, 9}));
  update(state, SetText{"我爱"});
  update(state, answer(state));
  EXPECT_FALSE(state.view.pinned);
  EXPECT_FALSE(state.view.hovered);
  EXPECT_EQ(state.view.viewport, Viewport{});
  const Region region = shown_region(state);
  EXPECT_EQ(region.num_queries, 2);
  EXPECT_EQ(region.num_keys, 2);
}

TEST(View, CannotLeaveTheAnswer) {
  AppState state = answered_state();
  update(state, ChooseHead{{7, 9}});
  EXPECT_EQ(state.view.chosen, (HeadRef{1, 1}));
  update(state, Pin{CellRef{10, 0}});
  EXPECT_FALSE(state.view.pinned);
  update(state, SetViewport{{8, 4, 0, 4}});
  EXPECT_EQ(state.view.viewport, Viewport{});
}

TEST(View, AnotherTabOfTheSameMatrixIsALookToComeBackFrom) {
  AppState state = answered_state();
  update(state, ShowView{View::inside});
  const InsideTab before = state.view.tab;
  ASSERT_NE(before, InsideTab::why);
  update(state, LookAt{.look = state.view.look, .tab = InsideTab::why});
  EXPECT_EQ(state.view.tab, InsideTab::why);
  const std::size_t looked = state.view.looked.size();
  update(state, LookAt{.look = state.view.look, .tab = InsideTab::why});
  EXPECT_EQ(state.view.looked.size(), looked) << "the same once more";
  update(state, LookBack{});
  EXPECT_EQ(state.view.tab, before);
}

TEST(View, APinMovesToTheSameOneOfEqualWords) {
  const auto trace_of = [](const char* text) {
    const auto trace = forward(*wanted(small_state(text)));
    EXPECT_TRUE(trace) << text;
    return *trace;
  };
  const auto before = trace_of("the cat the dog"), after = trace_of("see the cat the dog");
  EXPECT_EQ(same_words(*before, *after, Stack::self, {2, 0}), (CellRef{3, 1}));
  EXPECT_EQ(same_words(*before, *after, Stack::self, {3, 1}), (CellRef{4, 2}));
  EXPECT_EQ(same_words(*after, *before, Stack::self, {0, 1}), std::nullopt) << "see is gone";
}

TEST(View, AThumbnailIsEnoughForAShortSentence) {
  AppState state = answered_state();
  EXPECT_FALSE(needs_detail(state));
  update(state, SetViewport{{2, 4, 3, 4}});
  EXPECT_TRUE(needs_detail(state));
  EXPECT_EQ(shown_region(state), (Region{{0, 0}, 2, 4, 3, 4}));
}

TEST(View, TokensShownAreThoseOfTheSentence) {
  AppState state = small_state("我爱\n你");
  update(state, ChooseSentence{1});
  ASSERT_NE(shown_tokens(state), nullptr);
  EXPECT_EQ(shown_tokens(state)->text, "你");
  update(state, SetText{""});
  EXPECT_EQ(shown_tokens(state), nullptr);
}

TEST(View, ASentenceKnowsWhereItBegins) {
  AppState state = small_state("ab\r\n\n我爱\ncd");
  std::vector<std::size_t> begins;
  for (std::size_t sentence = 0; sentence < 3; ++sentence) {
    update(state, ChooseSentence{sentence});
    begins.push_back(sentence_begin(state));
  }
  EXPECT_EQ(begins, (std::vector<std::size_t>{0, 5, 12}));
}

TEST(Stale, ExactlyWhenTheAnswerIsToAnotherQuestion) {
  AppState state = small_state();
  EXPECT_TRUE(is_stale(state)) << "nothing was answered";
  update(state, answer(state));
  EXPECT_FALSE(is_stale(state));
  update(state, SetScale{3.0f});
  EXPECT_TRUE(is_stale(state));
  update(state, Undo{});
  EXPECT_FALSE(is_stale(state));
  update(state, Redo{});
  EXPECT_TRUE(is_stale(state));
  update(state, answer(state));
  EXPECT_FALSE(is_stale(state));
  update(state, SetText{""});
  update(state, EndGesture{});
  EXPECT_TRUE(is_stale(state));
  EXPECT_EQ(wanted(state), nullptr);
  EXPECT_EQ(message_of(problem_of(state)), "text: tokens: expected at least one, found none");
  ASSERT_NE(state.trace, nullptr) << "the last picture stays";
}

TEST(Stale, AnUnwantedAnswerDoesNotReplaceTheRightOne) {
  AppState state = answered_state();
  const auto right = state.trace;
  update(state, SetScale{3.0f});
  const Answered late = answer(state);
  update(state, Undo{});
  update(state, late);
  EXPECT_EQ(state.trace, right);
  EXPECT_FALSE(is_stale(state));
}

TEST(Stale, AnAnswerInBetweenIsShownWhileTheRightOneIsComing) {
  AppState state = answered_state();
  update(state, SetText{"我爱"});
  const Request asked = *wanted(state);
  const Answered between = answer(state);
  update(state, SetText{"我爱你"});
  update(state, between);
  EXPECT_EQ(state.trace->request, asked);
  EXPECT_TRUE(is_stale(state));
  EXPECT_EQ(state.trace.version(), 2u);
}

TEST(Problem, BelongsToTheRequestThatFailed) {
  AppState state = answered_state();
  update(state, GiveMask{fixture::open_mask(9, 9)});
  const auto failed = forward(*wanted(state));
  ASSERT_FALSE(failed);
  update(state, reply(&Answers::trace, *wanted(state), failed.error()));
  EXPECT_NE(message_of(problem_of(state)).find("expected (10, 10), found (9, 9)"), std::string::npos)
      << message_of(problem_of(state));
  EXPECT_TRUE(is_stale(state));
  update(state, Undo{});
  EXPECT_EQ(message_of(problem_of(state)), "");
  EXPECT_FALSE(is_stale(state));
  update(state, Redo{});
  EXPECT_NE(message_of(problem_of(state)), "");
}

}  // namespace
}  // namespace headlight
