#include "view/viewport.h"

#include <gtest/gtest.h>

#include "app/session_fixture.h"
#include "base/random.h"
#include "session/shown.h"

namespace headlight {
namespace {

/// The enlarged head of a pattern of queries × keys.
AppState pattern(Index queries, Index keys) {
  auto model = std::make_shared<Model>();
  model->config = {.d_model = 2, .num_heads = 1, .num_layers = 1, .ffn = 0, .position = Position::none};
  model->blocks.resize(1);
  ExternalStack given;
  given.query = Matrix::Ones(queries, 2);
  given.key = given.value = Matrix::Ones(keys, 2);
  given.query_tokens.tokens.resize(static_cast<std::size_t>(queries));
  given.key_tokens.tokens.resize(static_cast<std::size_t>(keys));
  model->given = ExternalInputs{{{Stack::self, given}}};
  Document document;
  document.model = model;
  AppState state = initial_state(fixture::lexicon(), document, Settings{});
  update(state, fixture::answer(state));
  return state;
}

Viewport zoomed(const AppState& state, float factor, const CellRef& around) {
  const Stack stack = state.view.chosen.stack;
  return zoomed(state.view.viewport, state.trace->queries(stack), state.trace->keys(stack), factor, around);
}

Viewport panned(const AppState& state, Index queries, Index keys) {
  const Stack stack = state.view.chosen.stack;
  return panned(state.view.viewport, state.trace->queries(stack), state.trace->keys(stack), {queries, keys});
}

bool contains(const Region& region, const CellRef& cell) {
  return cell.query >= region.first_query && cell.query < region.first_query + region.num_queries &&
         cell.key >= region.first_key && cell.key < region.first_key + region.num_keys;
}

bool inside(const Region& region, const Trace& trace) {
  return region.first_query >= 0 && region.first_key >= 0 && region.num_queries > 0 && region.num_keys > 0 &&
         region.first_query + region.num_queries <= trace.queries() &&
         region.first_key + region.num_keys <= trace.keys();
}

TEST(Viewport, TheCellUnderThePointerStaysInside) {
  AppState state = pattern(40, 23);
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    const Region before = shown_region(state);
    const auto below = [&](Index count) { return static_cast<Index>(random.next() % std::uint64_t(count)); };
    const CellRef around{before.first_query + below(before.num_queries), before.first_key + below(before.num_keys)};
    const float factor = random.next() % 2 ? 1.25f : 0.8f;
    update(state, SetViewport{zoomed(state, factor, around)});
    const Region after = shown_region(state);
    ASSERT_TRUE(inside(after, *state.trace)) << i;
    ASSERT_TRUE(contains(after, around)) << i;
    if (factor > 1) {
      ASSERT_LE(after.num_queries, before.num_queries);
      ASSERT_LE(after.num_keys, before.num_keys);
    } else {
      ASSERT_GE(after.num_queries, before.num_queries);
      ASSERT_GE(after.num_keys, before.num_keys);
    }
  }
}

TEST(Viewport, ZoomingInStopsAtAFewCells) {
  AppState state = pattern(30, 12);
  for (int i = 0; i < 60; ++i) update(state, SetViewport{zoomed(state, 1.2f, {29, 0})});
  EXPECT_EQ(state.view.viewport, (Viewport{30 - kLeastViewport, kLeastViewport, 0, kLeastViewport}));
}

TEST(Viewport, ZoomingOutEndsWithAllOfIt) {
  AppState state = pattern(30, 12);
  update(state, SetViewport{{10, 5, 3, 4}});
  for (int i = 0; i < 60; ++i) update(state, SetViewport{zoomed(state, 0.8f, {12, 4})});
  EXPECT_EQ(state.view.viewport, Viewport{});
  EXPECT_EQ(zoomed(state, 0.5f, {0, 0}), Viewport{});
}

TEST(Viewport, AFactorOfOneChangesNothing) {
  AppState state = pattern(30, 12);
  update(state, SetViewport{{10, 5, 3, 4}});
  EXPECT_EQ(zoomed(state, 1, {11, 4}), state.view.viewport);
}

TEST(Viewport, PatternsSmallerThanTheLeastStayWhole) {
  for (const auto& [queries, keys] : {std::pair<Index, Index>{1, 1}, {2, 3}, {4, 4}}) {
    AppState state = pattern(queries, keys);
    EXPECT_EQ(zoomed(state, 4, {0, 0}), Viewport{});
    EXPECT_EQ(panned(state, 1, 1), Viewport{});
  }
}

TEST(Viewport, PanningStopsAtTheEdges) {
  AppState state = pattern(30, 12);
  update(state, SetViewport{{10, 5, 3, 4}});
  EXPECT_EQ(panned(state, 2, -1), (Viewport{12, 5, 2, 4}));
  EXPECT_EQ(panned(state, -100, -100), (Viewport{0, 5, 0, 4}));
  EXPECT_EQ(panned(state, 100, 100), (Viewport{25, 5, 8, 4}));
  update(state, SetViewport{});
  EXPECT_EQ(panned(state, 3, 3), Viewport{}) << "all of it cannot be moved";
}

TEST(Viewport, OfAMapOfAnySize) {
  EXPECT_EQ(whole_or({}, 30, 12), (Viewport{0, 30, 0, 12}));
  EXPECT_EQ(whole_or({1, 2, 3, 4}, 30, 12), (Viewport{1, 2, 3, 4}));
  const Viewport part = zoomed(Viewport{}, 30, 12, 2, {29, 0});
  EXPECT_EQ(part, (Viewport{15, 15, 0, 6}));
  EXPECT_EQ(panned(part, 30, 12, {-100, 3}), (Viewport{0, 15, 3, 6}));
  EXPECT_EQ(zoomed(part, 30, 12, 0.5f, {29, 0}), Viewport{});
}

TEST(Viewport, FollowsTheAttentionThatIsChosen) {
  Document document = fixture::small_document("a b c d e f g h");
  document.config.arch = Arch::encoder_decoder;
  document.target.text = "1 2 3 4 5";
  AppState state = initial_state(fixture::lexicon(), document, Settings{});
  update(state, fixture::answer(state));
  update(state, ChooseHead{{0, 0, Stack::cross}});
  update(state, SetViewport{zoomed(state, 1.25f, {4, 7})});
  EXPECT_EQ(state.view.viewport.num_queries, 4);
  EXPECT_EQ(state.view.viewport.num_keys, 6);
  const Viewport end = panned(state, 99, 99);
  EXPECT_EQ(end.first_query, 1);
  EXPECT_EQ(end.first_key, 2);
}

TEST(Detail, CountsItsVersions) {
  AppState state = pattern(10, 10);
  const auto detail = [&](const Region& region, float weight) {
    return reply(&Answers::detail, {state.trace, region},
                 std::make_shared<const Detail>(Detail{state.trace, region, Matrix::Constant(4, 4, weight)}));
  };
  update(state, detail({{0, 0}, 0, 4, 0, 4}, 1));
  ASSERT_TRUE(state.detail);
  EXPECT_EQ(state.detail->trace, state.trace);
  const auto version = state.detail.version();
  update(state, detail({{0, 0}, 1, 4, 0, 4}, 0));
  EXPECT_GT(state.detail.version(), version);
  EXPECT_EQ(state.detail->region.first_query, 1);
}

}  // namespace
}  // namespace headlight
