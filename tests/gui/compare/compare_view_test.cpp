// Two answers side by side: kept with a key or a button, lit together, pinned, swapped, dropped.
#include <cmath>

#include "figure/difference_words.h"
#include "gui/actions/look.h"
#include "gui/compare/compare_fixture.h"
#include "models/open_model.h"
#include "session/file/open_file.h"
#include "views/compare/panel/joint_map.h"
#include "words/compare_words.h"

namespace headlight {
namespace {

TEST_F(CompareViewTest, TheEmptyViewStatesTheNextStep) {
  Harness& h = *harness;
  h.click("view compare");
  EXPECT_EQ(state().view.view, View::compare);
  EXPECT_TRUE(h.says(kCompareWords.nothing_kept.en));
  EXPECT_TRUE(h.says("This answer becomes A"));
  EXPECT_FALSE(h.has("map A"));
  h.click("keep");
  h.settle();
  ASSERT_TRUE(state().kept);
  EXPECT_TRUE(h.has("map A"));
  EXPECT_TRUE(h.says(kCompareWords.same_as_a.en));
}

TEST_F(CompareViewTest, AnswersAreKeptFromEveryView) {
  Harness& h = *harness;
  for (const Key view : {Key{'1'}, Key{'2'}, Key{'3'}, Key{'4'}, Key{'5'}}) {
    h.push(DropKept{});
    key({view});
    shift(Key{'5'});
    EXPECT_TRUE(state().kept) << static_cast<int>(view);
  }
  h.push(DropKept{}, ShowView{View::heads});
  h.click("keep");
  EXPECT_TRUE(state().kept);
}

TEST_F(CompareViewTest, AfterARestartTheKeptAnswerIsThereAgain) {
  keep_and_ask("小猫帮我订了去北京的车票");
  const auto plain = [](const Matrix& map) -> Matrix {  // a cell that one of them lacks is not a number
    return map.unaryExpr([](float value) { return std::isnan(value) ? 9.0f : value; });
  };
  const Matrix before = plain(state().comparison->maps.difference);
  auto session = session_from_json("left.headlight.json", to_json(session_of(state())));
  ASSERT_TRUE(session && session->kept);
  start();
  Harness& h = *harness;
  FileOpened opened{"/x/left.headlight.json", {}};
  opened.opened.kind = OpenFile::Kind::session;
  opened.opened.session = *session;
  key({Key{'5'}});
  EXPECT_TRUE(h.says(kCompareWords.nothing_kept.en));
  h.commands.emplace_back(opened);
  h.frame();
  ASSERT_TRUE(state().kept);
  if (!state().kept->trace) { EXPECT_TRUE(h.says(kCompareWords.computing_a.en)); }
  h.settle();
  ASSERT_TRUE(h.has("map A"));
  EXPECT_EQ(plain(state().comparison->maps.difference), before);
  EXPECT_TRUE(h.says(std::string(kDefaultSentence))) << "what A is";
  alt(Key::home);
  h.settle();
  EXPECT_EQ(document().source.text, kDefaultSentence) << "A's question is asked again";
}

TEST_F(CompareViewTest, TheWordsOfTheRowsStandOnceBesideThreeEqualMaps) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的车票");
  const Box a = h.box("map A"), b = h.box("map B"), difference = h.box("map difference");
  EXPECT_EQ(a.y, b.y);
  EXPECT_EQ(a.y, difference.y);
  EXPECT_EQ(a.w, b.w);
  EXPECT_EQ(b.w, difference.w);
  EXPECT_LT(b.x - a.right(), 0.2f * a.w) << "no column of words between them";
  EXPECT_LT(difference.x - b.right(), 0.2f * a.w);
  EXPECT_GE(a.w, 250) << "they fill the width";
}

TEST_F(CompareViewTest, ThreeMapsShareAxesAndOneScale) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的车票");
  const PatternPair& maps = state().comparison->maps;
  const DrawnMap a = h.map("map A"), b = h.map("map B"), difference = h.map("map difference");
  EXPECT_EQ(a.scale, b.scale);
  EXPECT_FALSE(a.scale.diverging);
  EXPECT_TRUE(difference.scale.diverging);
  EXPECT_EQ(difference.weights.rows(), maps.difference.rows());
  EXPECT_EQ(a.box.w, b.box.w);
  EXPECT_EQ(a.box.w, difference.box.w);
  EXPECT_EQ(h.map("difference 0.0").scale, difference.scale) << "all heads are coloured alike";
  EXPECT_GE(difference.scale.top, heads().largest);
  EXPECT_TRUE(h.says("小猫帮我订了去北京的车票")) << "what B is";
  EXPECT_TRUE(h.says(std::string(kDefaultSentence))) << "what A is";
  EXPECT_FALSE(h.says("mask: none")) << "what both have is not said";
}

TEST_F(CompareViewTest, EachHeadCanHaveItsOwnRange) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的车票");
  h.click("own range");
  h.frame(2);
  EXPECT_TRUE(state().view.own_range);
  for (const HeadRef head : {HeadRef{0, 0}, HeadRef{0, 1}})
    EXPECT_EQ(h.map("difference 0." + std::to_string(head.head)).scale.top,
              nice_range(heads().head(head)->measured.largest));
  const DrawnMap a = h.map("map A"), b = h.map("map B");
  EXPECT_EQ(a.scale, b.scale) << "of one head, so that the two can be compared";
  EXPECT_EQ(a.scale.top, nice_top(largest_weight(state().comparison->maps)));
  h.key({Key::left_alt, Key::left_shift, Key{'G'}});
  h.frame(2);
  EXPECT_EQ(h.map("difference 0.0").scale.top, nice_range(heads().largest));
}

TEST_F(CompareViewTest, HoveringOneLightsTheSameCellInAllAndSaysIt) {
  Harness& h = *harness;
  h.push(KeepAnswer{}, SetMask{true, true}, EndGesture{}, ShowView{View::compare});
  h.settle();
  const CellRef cell{5, 3};
  h.move_to(joint_point("map A", cell));
  h.frame(2);
  EXPECT_EQ(state().view.hovered, cell);
  for (const char* map : {"map A", "map B", "map difference", "difference 0.0", "difference 0.1"})
    EXPECT_TRUE(h.drew(palette(Theme::light).accent, around(map, cell))) << map;
  const float before = weights_of(*state().kept->trace, state().view.chosen)(5, 3);
  const float after = weights_of(*state().trace, state().view.chosen)(5, 3);
  const std::string change = (after < before ? "−" : "+") + weight_text(std::abs(after - before));
  EXPECT_TRUE(h.says("订了 looks at 帮: A " + weight_text(before) + " → B " + weight_text(after) + " (" + change + ")"))
      << h.words_on_screen();
  h.move_to(joint_point("map B", {0, 5}));
  h.frame(2);
  EXPECT_TRUE(h.says("→ B blocked")) << "what the mask took away";
  h.move_to(joint_point("difference 0.1", cell));
  h.frame(2);
  EXPECT_EQ(state().view.hovered_head, (HeadRef{0, 1}));
  EXPECT_TRUE(h.drew(palette(Theme::light).accent, around("map A", cell)));
}

TEST_F(CompareViewTest, AWordThatOnlyAHasIsLitAndPinnedToo) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的机票");
  const CellRef only_a = *joint_cell(axes(), std::nullopt, CellRef{2, 1});  // 李雷 looks at 请
  ASSERT_FALSE(cells_behind(axes(), only_a).b);
  h.click_at(joint_point("map A", only_a));
  EXPECT_FALSE(state().view.pinned);
  EXPECT_EQ(state().view.pinned_kept, (CellRef{2, 1}));
  EXPECT_TRUE(h.says("李雷 looks at 请: A "));
  EXPECT_TRUE(h.says(kCompareWords.not_in_b.en));
  h.point_away();
  EXPECT_TRUE(h.drew(palette(Theme::light).accent, around("map difference", only_a))) << "pinned";
  key({Key::right});
  EXPECT_EQ(lit_joint_cell(state(), axes())->key, only_a.key + 1);
  h.key(Key::escape);
  EXPECT_FALSE(state().view.pinned_kept);
  h.click_at(joint_point("map difference", *joint_cell(axes(), CellRef{1, 1}, std::nullopt)));
  EXPECT_EQ(state().view.pinned, (CellRef{1, 1}));
  h.click_at(joint_point("map difference", *joint_cell(axes(), CellRef{1, 1}, std::nullopt)));
  EXPECT_FALSE(state().view.pinned) << "a second click lets go";
}

TEST_F(CompareViewTest, ArrowsStepOverCellsThatNeitherHas) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的机票");
  h.push(Pin{CellRef{0, 0}});  // 小猫 looks at itself; it is only in B
  const CellRef from = *lit_joint_cell(state(), axes());
  key({Key::right});
  const CellRef to = *lit_joint_cell(state(), axes());
  EXPECT_EQ(to.query, from.query);
  EXPECT_GT(to.key, from.key);
  for (Index between = from.key + 1; between < to.key; ++between) {
    const CellsBehind cells = cells_behind(axes(), {from.query, between});
    EXPECT_FALSE(cells.a || cells.b);
  }
  for (int i = 0; i < 40; ++i) key({Key::down});
  EXPECT_EQ(lit_joint_cell(state(), axes())->query, static_cast<Index>(axes().queries.size()) - 1);
}

TEST_F(CompareViewTest, AHeadSwitchedOffStandsBesideTheQuestionWithoutEdits) {
  Harness& h = *harness;
  key({Key{'5'}});
  h.key(Key::space);
  h.settle();
  EXPECT_TRUE(h.has("map A"));
  EXPECT_TRUE(h.says(kCompareWords.without_edits.en));
  EXPECT_TRUE(h.says("off: L0·H0"));
  EXPECT_FALSE(h.has("swap")) << "there is nothing to swap with yet";
  h.key(Key::space);
  h.settle();
  EXPECT_FALSE(h.has("map A"));
}

TEST_F(CompareViewTest, KeysAndButtonsSwapAndDrop) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我");
  alt(Key::home);
  h.settle();
  EXPECT_EQ(document().source.text, kDefaultSentence);
  h.click("swap");
  h.settle();
  EXPECT_EQ(document().source.text, "小猫帮我");
  h.click("drop");
  EXPECT_FALSE(state().kept);
  h.click("keep");
  key({Key::del});
  EXPECT_FALSE(state().kept);
}

TEST_F(CompareViewTest, HeadsAreOrderedAndChosen) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的机票");
  EXPECT_EQ(state().view.differences, DifferenceOrder::largest) << "what changed most is first";
  const HeadRef first = heads_by(heads(), Stack::self, DifferenceOrder::largest).front();
  const std::string name = "difference " + std::to_string(first.layer) + "." + std::to_string(first.head);
  for (const HeadDifference& head : heads().heads) {
    const std::string other = "difference " + std::to_string(head.head.layer) + "." + std::to_string(head.head.head);
    if (!h.has(other)) continue;
    EXPECT_LE(h.box(name).y, h.box(other).y + 1);
  }
  h.click(name);
  h.settle();
  EXPECT_EQ(state().view.chosen, first);
  EXPECT_EQ(state().comparison->chosen, first);
  shift(Key::semicolon);
  EXPECT_EQ(state().view.differences, DifferenceOrder::layer);
  key({Key::semicolon});
  EXPECT_EQ(state().view.differences, DifferenceOrder::largest);
  h.click("differences by mean");
  EXPECT_EQ(state().view.differences, DifferenceOrder::mean);
}

TEST_F(CompareViewTest, ManyHeadsAreInOnePictureByTheirDifference) {
  Config config = harness->state.document.config;
  config.d_model = 96;
  config.num_heads = config.num_layers = 12;
  harness->push(SetConfig{config}, EndGesture{});
  harness->settle();
  harness->push(KeepAnswer{}, SwitchHead{{0, 3}}, EndGesture{}, ShowView{View::compare});
  harness->settle();
  const auto by_size = heads_by(*harness->state.comparison->heads, Stack::self, harness->state.view.differences);
  ASSERT_EQ(by_size.size(), 144u);
  for (const DifferenceOrder order : {harness->state.view.differences, DifferenceOrder::layer}) {
    harness->push(OrderDifferences{order});
    harness->frame(3);
    Box last;
    for (const HeadRef& head : heads_by(*harness->state.comparison->heads, Stack::self, order)) {
      const std::string name = "difference " + std::to_string(head.layer) + "." + std::to_string(head.head);
      ASSERT_TRUE(harness->has(name)) << name << " is scrolled away";
      const Box box = harness->box(name);
      EXPECT_TRUE(box.y > last.y || box.x > last.x) << name << ": row by row";
      EXPECT_LE(box.bottom(), 900) << name << " is below the window";
      last = box;
    }
  }
}

TEST_F(CompareViewTest, TheLastComparisonStaysUntilTheNewOneIsThere) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的机票");
  const DrawnMap before = h.map("map difference");
  EXPECT_EQ(before.opacity, 1);
  h.push(SetText{"小狗帮我订了去北京的机票"});
  if (!is_of_now(state())) {
    EXPECT_LT(h.map("map difference").opacity, 1) << "the old one, dimmed";
    h.move_to(joint_point("map A", {1, 1}));
  }
  h.settle();
  EXPECT_EQ(h.map("map difference").opacity, 1);
  EXPECT_TRUE(is_consistent(state()));
}

TEST_F(CompareViewTest, WhatOnlyOneModelHasIsSaid) {
  Harness& h = *harness;
  Config other = document().config;
  other.num_heads *= 2;
  h.push(KeepAnswer{}, SetConfig{other}, EndGesture{}, ShowView{View::compare});
  h.settle();
  EXPECT_TRUE(h.says(std::string(kCompareWords.heads_only_b.en) + " 8")) << h.words_on_screen();
  EXPECT_TRUE(h.says("heads 4"));
  EXPECT_TRUE(h.says("heads 8"));
  h.push(ChooseHead{{0, 7}});
  h.settle();
  EXPECT_TRUE(h.says(kCompareWords.no_such_head_in_a.en));
  h.move_to(joint_point("map B", {1, 1}));
  h.frame(2);
  EXPECT_TRUE(h.says(kCompareWords.not_in_a.en));
}

TEST_F(CompareViewTest, AFigureOfItIsWrittenAsSeen) {
  Harness& h = *harness;
  h.push(Browse{Browser::Purpose::figure, testing::TempDir()});
  h.settle();
  EXPECT_FALSE(h.has("figure compare")) << "there is nothing to compare";
  h.push(Browse{});
  keep_and_ask("小猫帮我订了去北京的机票");
  h.push(Browse{Browser::Purpose::figure, testing::TempDir()});
  h.settle();
  EXPECT_EQ(state().browser.figure, FigureKind::compare) << "what is seen";
  EXPECT_TRUE(h.has("figure compare"));
  const TemporaryFolder folder;
  const std::string file = (folder / "compare.svg").string();
  h.push(FigureTo{file});
  h.settle();
  ASSERT_TRUE(state().notice);
  EXPECT_EQ(state().notice->kind, Notice::Kind::exported) << state().notice->text;
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(CompareViewTest, WhereNoTokenIsInBothThereIsNoDifferenceToTell) {
  Harness& h = *harness;
  keep_and_ask("two cats sleep");
  ASSERT_TRUE(shares_no_cell(axes()));
  EXPECT_TRUE(h.says(words(Language::en, kCompareWords.nothing_aligned))) << h.words_on_screen();
  EXPECT_FALSE(h.says(kCompareWords.compare_hint.en));
  EXPECT_FALSE(h.says("largest 0.000"));
  h.click("differences by mean");
  h.point_away();
  EXPECT_FALSE(h.says("0.000")) << "above no head";
  h.probe.clear();
  h.frame(2);
  EXPECT_FALSE(h.has("colour bar")) << "nothing has the colours of a difference";
  h.click("language");
  EXPECT_TRUE(h.says(words(Language::zh, kCompareWords.nothing_aligned)));
  h.push(SetText{"two 我 sleep"}, EndGesture{});
  h.settle();
  EXPECT_FALSE(h.says(words(Language::zh, kCompareWords.nothing_aligned)));
}

TEST_F(CompareViewTest, NextWordsStandBesideEachOther) {
  auto decoder = open_model("shipped:decoder");
  ASSERT_TRUE(decoder);
  start(decoder->document);
  Harness& h = *harness;
  h.push(KeepAnswer{}, SwitchHead{{1, 0}, true}, EndGesture{}, ShowView{View::compare});
  h.settle();
  ASSERT_FALSE(state().comparison->words.empty());
  const ComparedWord& word = state().comparison->words.front();
  EXPECT_TRUE(h.has("compared word " + word.text));
  EXPECT_TRUE(h.says(percent(*word.a)));
  EXPECT_TRUE(h.says(percent(*word.b)));
}

TEST_F(CompareViewTest, OfAHeadThatNoLayerLooksAtTheGuessIsCompared) {
  auto encoder = open_model("shipped:encoder");
  ASSERT_TRUE(encoder);
  start(encoder->document);
  Harness& h = *harness;
  h.push(ChooseHead{{1, 5}}, Pin{CellRef{4, 0}}, SwitchHead{{1, 5}, true}, EndGesture{});
  h.settle();
  h.point_away();
  EXPECT_TRUE(h.says("L1·H5 is off. It is in the last layer: only the guess changes.")) << h.words_on_screen();
  h.key(Key{'5'});
  h.settle();
  EXPECT_TRUE(h.says(kCompareWords.off_in_last_layer.en)) << h.words_on_screen();
  EXPECT_TRUE(h.says(kCompareWords.only_the_guess.en));
  EXPECT_TRUE(h.says("“我” hidden"));
  const auto& words = state().comparison->words;
  const auto word = std::find_if(words.begin(), words.end(), [](const ComparedWord& one) { return one.text == "我"; });
  ASSERT_NE(word, words.end());
  EXPECT_EQ(word->a, state().guess->right->before);
  EXPECT_EQ(word->b, state().guess->right->word.probability);
  EXPECT_GT(*word->a, *word->b + 0.2f);
  EXPECT_TRUE(h.says(percent(*word->a)));

  h.push(SwitchHead{{1, 5}, false}, SwitchHead{{0, 3}, true}, EndGesture{});
  h.settle();
  EXPECT_FALSE(h.says(kCompareWords.off_in_last_layer.en));
  EXPECT_TRUE(h.says(kCompareWords.compare_hint.en));
  h.push(ShowView{View::heads}, ChooseHead{{0, 3}});
  h.settle();
  EXPECT_TRUE(h.says("every later layer reads what is left"));
}

}  // namespace
}  // namespace headlight
