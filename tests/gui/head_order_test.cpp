// The line above the grid: heads in another order, numbers beside their titles, and heads found by words.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

#include "gui/keys_fixture.h"
#include "model/head_text.h"
#include "session/head_grid.h"
#include "words/enum_words.h"

namespace headlight {
namespace {

using By = HeadOrder::By;

class HeadOrderTest : public KeysTest {
 protected:
  std::string name_of(HeadRef head) { return "head " + std::to_string(head.layer) + "." + std::to_string(head.head); }
  void choose(const std::string& order) {
    harness->click("order");
    harness->frame(2);
    harness->click("order " + order);
    harness->settle();
  }
  /// The heads as they stand on the screen, row by row.
  std::vector<HeadRef> on_screen() {
    std::vector<std::pair<std::pair<float, float>, HeadRef>> placed;
    for (const HeadRef& head : heads_of(*state().trace, state().view.chosen.stack))
      if (harness->has(name_of(head)))
        placed.push_back({{std::round(harness->box(name_of(head)).y), harness->box(name_of(head)).x}, head});
    std::sort(placed.begin(), placed.end());
    std::vector<HeadRef> heads;
    for (const auto& [place, head] : placed) heads.push_back(head);
    return heads;
  }
};

TEST_F(HeadOrderTest, BeginsLayerByLayerAndQuiet) {
  EXPECT_TRUE(harness->has("order"));
  EXPECT_FALSE(harness->has("direction"));
  EXPECT_FALSE(harness->has("find from"));
  EXPECT_EQ(on_screen(), heads_of(*state().trace));
  ASSERT_TRUE(state().heads) << "heads are named by what they do";
  EXPECT_TRUE(state().heads->found.empty()) << "and nothing else is asked for";
}

TEST_F(HeadOrderTest, TheMenuPutsTheHeadsInOrderWithTheirNumbers) {
  choose("entropy");
  EXPECT_EQ(state().view.order, (HeadOrder{By::measure, Measure::entropy}));
  const auto order = on_screen();
  ASSERT_EQ(order.size(), 8u);
  EXPECT_EQ(order, shown_order(state()));
  for (std::size_t i = 1; i < order.size(); ++i)
    EXPECT_GE(order_value(state(), order[i - 1]), order_value(state(), order[i]));
  char number[16];
  std::snprintf(number, sizeof number, "%.3f", static_cast<double>(*order_value(state(), order.front())));
  EXPECT_TRUE(harness->says(number)) << harness->words_on_screen();
  EXPECT_TRUE(state().undo.empty());
  for (const HeadRef& head : order)
    EXPECT_TRUE(same(harness->map(name_of(head)).weights, weights_of(*state().trace, head)));

  harness->click("direction");
  harness->settle();
  EXPECT_TRUE(state().view.order.ascending);
  EXPECT_EQ(on_screen().front(), order.back());
}

TEST_F(HeadOrderTest, OneLayerOfManyHeadsIsWrappedToo) {
  Config config = state().document.config;
  config.num_heads = 16;
  config.num_layers = 1;
  harness->push(SetConfig{config}, EndGesture{});
  harness->settle();
  const auto by_layer = on_screen();
  choose("distance");
  const auto seen = on_screen(), all = shown_order(state());
  EXPECT_EQ(seen.size(), by_layer.size()) << "the same places";
  EXPECT_EQ(all.size(), 16u);
  EXPECT_TRUE(std::equal(seen.begin(), seen.end(), all.begin())) << "row by row; the rest is scrolled away";
  harness->click(name_of(seen[1]));
  EXPECT_EQ(state().view.chosen, seen[1]);
}

TEST_F(HeadOrderTest, AtAGlanceSortedHeadsSayWhichTheyAre) {
  Document document;
  document.config = {.d_model = 64, .num_heads = 16, .num_layers = 5, .ffn = 0};
  start(document);
  harness->push(ShowGrid{GridShow::all});
  harness->settle();
  EXPECT_FALSE(harness->has("corner 0.0")) << "rows and columns have numbers";
  choose("entropy");
  for (const HeadRef& head : heads_of(*state().trace)) {
    EXPECT_TRUE(harness->has("corner " + head_text({head.layer, head.head})));
    EXPECT_TRUE(harness->says(head_label(head)));
  }
}

TEST_F(HeadOrderTest, TheHeadsThatAreFoundAreGathered) {
  harness->push(FindHeads{{true, {"我", "北京"}, 0.0f}}, OrderHeads{{By::found}});
  harness->settle();
  const auto order = shown_order(state());
  ASSERT_EQ(order.size(), heads_of(*state().trace).size());
  EXPECT_EQ(on_screen(), order);
  for (std::size_t i = 1; i < order.size(); ++i)
    EXPECT_GE(*order_value(state(), order[i - 1]), *order_value(state(), order[i]));
  EXPECT_EQ(*order_value(state(), order.front()), entry_of(state().heads->found, order.front())->weight);
  harness->click("find off");
  harness->settle();
  EXPECT_TRUE(shown_order(state()).empty()) << "nothing is looked for";
  choose("found");
  EXPECT_TRUE(state().view.find.on) << "asking for that order begins a search";
}

TEST_F(HeadOrderTest, EveryOrderSaysWhatItMeansInBothLanguages) {
  for (const Language language : {Language::en, Language::zh}) {
    Settings settings = state().settings;
    settings.language = language;
    harness->push(SetSettings{settings});
    for (const HeadOrder& order : head_orders()) {
      harness->push(OrderHeads{order});
      harness->settle();
      harness->point_at("order");
      const OrderWords of_order = order_words(order);
      const std::string name = words(language, of_order.name), tip = words(language, of_order.tip);
      EXPECT_TRUE(harness->says(name)) << name;
      if (order.by == By::layer) continue;
      EXPECT_TRUE(harness->says(tip.substr(0, language == Language::zh ? 12 : 16))) << tip;
    }
    harness->push(OrderHeads{});
  }
}

TEST_F(HeadOrderTest, KeysStepThroughTheOrders) {
  const auto orders = head_orders();
  for (std::size_t i = 1; i <= orders.size(); ++i) {
    key({Key::semicolon});
    harness->settle();
    EXPECT_EQ(state().view.order, orders[i % orders.size()]);
  }
  shift(Key::semicolon);
  EXPECT_EQ(state().view.order, orders.back());
}

TEST_F(HeadOrderTest, TheNextHeadIsTheOneBesideIt) {
  choose("confidence");
  const auto order = on_screen();
  harness->push(ChooseHead{order[2]});
  key({Key::right_bracket});
  EXPECT_EQ(state().view.chosen, order[3]);
  key({Key::left_bracket});
  key({Key::left_bracket});
  key({Key::left_bracket});
  key({Key::left_bracket});
  EXPECT_EQ(state().view.chosen, order.back()) << "round the corner";
}

TEST_F(HeadOrderTest, EffectsComeFromASweepThatCanBeCancelled) {
  choose("effect");
  ASSERT_TRUE(known_effects(state()));
  EXPECT_EQ(on_screen(), shown_order(state()));
  EXPECT_GT(*order_value(state(), on_screen().front()), 0.0f);
  EXPECT_FALSE(harness->has("cancel sweep")) << "it is over";

  Config config = state().document.config;
  config.num_layers = 12;
  config.num_heads = 16;
  config.d_model = 256;
  config.ffn = 512;
  harness->push(SetConfig{config}, EndGesture{});
  for (int i = 0; i < 20000 && !harness->has("cancel sweep"); ++i) {
    harness->frame();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(harness->has("cancel sweep"));
  EXPECT_TRUE(harness->has("sweep"));
  harness->click("cancel sweep");
  EXPECT_EQ(state().view.order, HeadOrder{});
  harness->settle();
  EXPECT_FALSE(known_effects(state()));
}

TEST_F(HeadOrderTest, AttentionAloneSaysWhyItHasNoEffects) {
  const TemporaryFolder folder;
  const std::string file = folder.with("patterns.json", R"({"attention": [{"name": "Self", "left_text": ["a", "b"],
    "right_text": ["a", "b"], "attn": [[[[1, 0], [0.5, 0.5]]]]}]})");
  harness->push(OpenPath{file});
  harness->settle();
  harness->push(OrderHeads{{By::effect}});
  harness->settle();
  EXPECT_TRUE(harness->says("found attention alone")) << harness->words_on_screen();
  EXPECT_EQ(on_screen().size(), 1u);
}

TEST_F(HeadOrderTest, ASearchDimsTheOthersAndCounts) {
  harness->click("find heads");
  harness->frame(3);
  EXPECT_TRUE(typing()) << "in the first box";
  harness->type("我");
  harness->key(Key::enter);
  harness->click("find to");
  harness->type("北京");
  harness->key(Key::enter);
  harness->settle();
  EXPECT_EQ(state().view.find.words, (WordPair{"我", "北京"}));
  float largest = 0;
  HeadRef strongest;
  for (const StrongestCell& cell : state().heads->found)
    if (cell.weight > largest) largest = cell.weight, strongest = cell.head;
  harness->push(FindHeads{{true, {"我", "北京"}, std::nextafter(largest, 0.0f)}});
  harness->settle();
  EXPECT_TRUE(harness->says("1 of 8")) << harness->words_on_screen();
  for (const HeadRef& head : heads_of(*state().trace)) {
    const float opacity = harness->map(name_of(head)).opacity;
    EXPECT_EQ(opacity == 1.0f, head == strongest) << name_of(head);
  }
  harness->slide("find above", 0.5f, 0.0f);
  harness->settle();
  EXPECT_TRUE(harness->says("8 of 8")) << harness->words_on_screen();
  harness->click("find off");
  harness->settle();
  EXPECT_FALSE(harness->has("find from"));
  EXPECT_EQ(harness->map("head 0.0").opacity, 1.0f);
  EXPECT_EQ(state().view.find.words.from, "我") << "for the next time";
}

TEST_F(HeadOrderTest, TheKeyTakesTheWordsOfThePinnedCell) {
  harness->push(Pin{CellRef{5, 9}});
  key({Key::slash});
  harness->frame(3);
  EXPECT_EQ(state().view.find.words, (WordPair{"订了", "机票"}));
  EXPECT_TRUE(typing());
  key({Key::escape});
  EXPECT_FALSE(typing());
  EXPECT_TRUE(state().view.find.on);
  harness->push(Pin{CellRef{2, 7}});
  harness->click("find pinned");
  harness->settle();
  EXPECT_EQ(state().view.find.words, (WordPair{"李雷", "北京"}));
  key({Key::escape});
  EXPECT_FALSE(state().view.find.on) << "Escape ends the search before it lets the cell go";
  EXPECT_TRUE(state().view.pinned);
}

TEST_F(HeadOrderTest, AWordThatIsNotThereIsSaid) {
  harness->push(FindHeads{{true, {"nobody", ""}, 0.3f}});
  harness->settle();
  EXPECT_TRUE(harness->says("no such word here"));
}

TEST_F(HeadOrderTest, EscapeInTheBoxKeepsWhatWasTyped) {
  harness->click("find heads");
  harness->frame(3);
  harness->type("我");
  key({Key::escape});
  harness->settle();
  EXPECT_EQ(state().view.find.words.from, "我");
}

TEST_F(HeadOrderTest, EveryAttentionOfAnEncoderDecoderHasItsOrder) {
  harness->click("kind encoder-decoder");
  harness->settle();
  choose("entropy");
  for (const char* tab : {"stack encoder", "stack cross", "stack decoder"}) {
    harness->click(tab);
    harness->settle();
    const auto order = on_screen();
    EXPECT_EQ(order, shown_order(state())) << tab;
    EXPECT_EQ(order.size(), 8u);
    EXPECT_EQ(order.front().stack, state().view.chosen.stack);
  }
  harness->click("stack cross");
  choose("distance");
  EXPECT_TRUE(shown_order(state()).empty()) << "places of two sequences are not compared";
  EXPECT_EQ(on_screen().size(), 8u);
}

}  // namespace
}  // namespace headlight
