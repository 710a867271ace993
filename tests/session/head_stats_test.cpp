// What a session knows of the heads beside their maps: asked for only while it is wanted, about the answer on the
// screen, and kept in the session's file.
#include "session/head_grid.h"

#include <cmath>

#include "app/session_fixture.h"
#include "session/file/session_file.h"

namespace headlight {
namespace {

using fixture::Running;
using By = HeadOrder::By;

TEST(HeadAnswers, NothingIsAskedWithoutNeed) {
  Running running;
  const auto question = head_question(running.state);
  ASSERT_TRUE(question) << "heads are named by their measures";
  EXPECT_TRUE(question->measures);
  EXPECT_FALSE(question->words);
  ASSERT_TRUE(running.state.heads);
  EXPECT_TRUE(running.state.heads.to(*question));
  EXPECT_TRUE(shown_order(running.state).empty());
  EXPECT_FALSE(order_value(running.state, {0, 0}));
  EXPECT_FALSE(effect_question(running.state));
}

TEST(HeadAnswers, AnOrderHasItsNumbersAndStandsByThem) {
  Running running;
  for (const Measure measure : {Measure::entropy, Measure::distance, Measure::previous}) {
    running.push(OrderHeads{{By::measure, measure}});
    const auto order = shown_order(running.state);
    ASSERT_EQ(order.size(), 4u);
    Progress progress;
    const auto expected = measure_heads(*running.state.trace, progress);
    for (const HeadMeasures& one : *expected) EXPECT_EQ(order_value(running.state, one.head), one[measure]);
    for (std::size_t i = 1; i < order.size(); ++i)
      EXPECT_GE(order_value(running.state, order[i - 1]), order_value(running.state, order[i]));
    running.push(OrderHeads{{By::measure, measure, true}});
    for (std::size_t i = 1; i < order.size(); ++i)
      EXPECT_LE(order_value(running.state, shown_order(running.state)[i - 1]),
                order_value(running.state, shown_order(running.state)[i]));
  }
  EXPECT_TRUE(running.state.undo.empty()) << "looking is not editing";
}

TEST(HeadAnswers, TheLastRowIsThatOfTheLastWordBeforePadding) {
  Running running;
  const Index queries = running.state.trace->queries();
  EXPECT_EQ(brightest_of_last_row(*running.state.trace, {0, 0}).query, queries - 1);
  running.push(SetPad{2}, EndGesture{});
  ASSERT_EQ(running.state.trace->queries(), queries);
  EXPECT_EQ(brightest_of_last_row(*running.state.trace, {0, 0}).query, queries - 3);
}

TEST(HeadAnswers, NumbersOfAnEarlierAnswerAreNotShownButHeadsKeepTheirPlaces) {
  Running running;
  running.push(OrderHeads{{By::measure, Measure::entropy}});
  const auto order = shown_order(running.state);
  update(running.state, SetText{"a b c d"});
  update(running.state, fixture::answer(running.state));
  EXPECT_FALSE(known_heads(running.state));
  EXPECT_FALSE(order_value(running.state, {0, 0}));
  EXPECT_EQ(shown_order(running.state), order);
  running.loop.settle(running.state);
  EXPECT_TRUE(order_value(running.state, {0, 0}));
}

TEST(HeadAnswers, AnotherShapeHasAnotherOrder) {
  Running running;
  running.push(OrderHeads{{By::measure, Measure::entropy}});
  EXPECT_EQ(shown_order(running.state).size(), 4u);
  Config config = running.state.document.config;
  config.num_heads = 4;
  update(running.state, SetConfig{config});
  update(running.state, fixture::answer(running.state));
  EXPECT_FALSE(order_value(running.state, {0, 3})) << "until it is known";
  running.loop.settle(running.state);
  const auto order = shown_order(running.state);
  ASSERT_EQ(order.size(), 8u);
  for (const HeadRef& head : order) EXPECT_TRUE(order_value(running.state, head));
}

TEST(HeadAnswers, EffectsAreAskedForWithTheirOrderAndOnce) {
  Running running;
  running.push(OrderHeads{{By::effect}});
  ASSERT_TRUE(known_effects(running.state));
  EXPECT_EQ(known_effects(running.state)->size(), 4u);
  EXPECT_GT(*order_value(running.state, shown_order(running.state).front()), 0.0f);
  const auto effects = running.state.effects;
  running.push(Hover{});
  EXPECT_EQ(running.state.effects, effects);
  running.push(SwitchHead{{0, 1}, true}, EndGesture{});
  EXPECT_NE(running.state.effects, effects) << "another answer";
  EXPECT_EQ(order_value(running.state, {0, 1}), 0.0f) << "it is off already";
  running.push(OrderHeads{});
  EXPECT_TRUE(shown_order(running.state).empty());
}

TEST(HeadAnswers, WhatIsKnownIsTakenOver) {
  Running running;
  running.push(OrderHeads{{By::measure, Measure::entropy}});
  const HeadStats before = *running.state.heads;
  Progress progress;
  const auto more = answer_heads({running.state.trace, true, WordPair{"我", ""}}, &before, progress);
  EXPECT_EQ(more->measures, before.measures);
  EXPECT_EQ(more->found.size(), 4u);
  EXPECT_EQ(more->words, (WordPair{"我", ""}));
  progress.stop = true;
  EXPECT_FALSE(answer_heads({running.state.trace, true, {}}, nullptr, progress));
}

TEST(HeadAnswers, ASearchCountsTheHeadsAndPassesOverTheOthers) {
  Running running;
  running.push(FindHeads{{true, {"我", "北京"}, 0.0f}});
  EXPECT_EQ(count_found(running.state), 4);
  running.push(FindHeads{{true, {"我", "北京"}, 1.0f}});
  EXPECT_EQ(count_found(running.state), 0);
  EXPECT_TRUE(is_passed_over(running.state, {1, 1}));
  float largest = 0;
  for (const StrongestCell& cell : running.state.heads->found) largest = std::max(largest, cell.weight);
  running.push(FindHeads{{true, {"我", "北京"}, std::nextafter(largest, 0.0f)}});
  EXPECT_EQ(count_found(running.state), 1);
  EXPECT_FALSE(lacks_words(running.state));
  running.push(FindHeads{{true, {"nobody", "北京"}, 0.1f}});
  EXPECT_TRUE(lacks_words(running.state));
  EXPECT_EQ(count_found(running.state), 0);
  running.push(FindHeads{{false, {"我", "北京"}, 1.0f}});
  EXPECT_FALSE(is_passed_over(running.state, {1, 1}));
  EXPECT_FALSE(count_found(running.state));
  EXPECT_EQ(words_of_cell(running.state, {2, 7}), (WordPair{"李雷", "北京"}));
}

TEST(HeadAnswers, OrderAndSearchAreKeptWithTheSession) {
  for (const HeadOrder& order : head_orders()) {
    ViewState view;
    view.order = order;
    view.order.ascending = order.by == By::effect;
    view.find = {true, {"我", "a \"b\""}, 0.25f};
    const auto read = session_from_json("s", to_json({fixture::small_document(), view}));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->view.order, view.order) << name(order);
    EXPECT_EQ(read->view.find, view.find);
    EXPECT_EQ(parse_head_order(name(order)), order);
  }
  EXPECT_FALSE(parse_head_order("size"));
}

TEST(HeadAnswers, ABrokenLookTakesItsDefaults) {
  std::string text = to_json({fixture::small_document(), ViewState{}});
  const std::size_t at = text.find("\"scale\": \"linear\"");
  ASSERT_NE(at, std::string::npos);
  text.insert(at, R"("order": "size", "ascending": 3, "find": {"from": 7, "above": 9}, )");
  const auto read = session_from_json("s", text);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->view.order, HeadOrder{});
  EXPECT_EQ(read->view.find, (HeadSearch{true, {}, 1.0f}));
}

}  // namespace
}  // namespace headlight
