// The numbers of Compare: each beside its own words, those of A and those of B in their colours.
#include <cmath>

#include "base/formatted.h"
#include "gui/compare/compare_fixture.h"
#include "gui/shipped_document.h"
#include "words/compare_words.h"

namespace headlight {
namespace {

const ImU32 kInkOfA = to_imgui(diverging_map(Theme::light).front()),
            kInkOfB = to_imgui(diverging_map(Theme::light).back());

TEST_F(CompareViewTest, TheMeasuresOfTheChosenHeadHaveTheirNames) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的机票");
  const HeadDifference& head = *heads().head(state().view.chosen);
  std::string line;
  for (const DifferenceOrder order : {DifferenceOrder::largest, DifferenceOrder::mean, DifferenceOrder::divergence})
    line += kCompareWords.orders[static_cast<std::size_t>(order)].name.en +
            formatted(" %.3f ", static_cast<double>(*order_value(head, order)));
  EXPECT_TRUE(h.says(line)) << h.words_on_screen();
}

TEST_F(CompareViewTest, AboveEachHeadStandsTheMeasureThatOrdersThem) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的机票");
  for (const auto& [button, order] : {std::pair{"differences by mean", DifferenceOrder::mean},
                                      {"differences by divergence", DifferenceOrder::divergence},
                                      {"differences by largest", DifferenceOrder::largest}}) {
    h.click(button);
    h.point_away();
    const HeadRef first = heads_by(heads(), Stack::self, order).front();
    const std::string title = "L" + std::to_string(first.layer) + "·H" + std::to_string(first.head);
    EXPECT_TRUE(h.says(title + formatted(" %.3f", static_cast<double>(*order_value(*heads().head(first), order)))))
        << button << ": " << h.words_on_screen();
  }
}

TEST_F(CompareViewTest, WordsOfOneAnswerAloneHaveItsColour) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的机票");
  h.point_away();
  const Box map = h.box("map A");
  const JointAxis& rows = axes().axes.queries;
  const float side = map.h / static_cast<float>(rows.size());
  int alone = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Box label{map.x - 60, map.y + static_cast<float>(i) * side, 60, side};
    EXPECT_EQ(h.drew(kInkOfA, label), !rows[i].b) << i;
    EXPECT_EQ(h.drew(kInkOfB, label), !rows[i].a) << i;
    alone += !rows[i].in_both();
  }
  EXPECT_GE(alone, 3);
}

TEST_F(CompareViewTest, TheBarsOfANextWordAreItsSharesInAAndInB) {
  start(fixture::shipped_document("shipped:decoder", "我请李雷帮我喝了最好的"));
  keep_and_ask("我请李雷帮我看了最好的");
  Harness& h = *harness;
  int told_apart = 0;
  for (const ComparedWord& word : state().comparison->words) {
    if (!h.has("compared word " + word.text) || !word.a || !word.b) continue;
    const Box line = h.box("compared word " + word.text);
    const auto ends = [&](ImU32 ink, float share) {
      return h.drew(ink, {line.x + line.w * share - 0.5f, line.y, 1, line.h});
    };
    EXPECT_TRUE(ends(kInkOfA, *word.a)) << word.text;
    EXPECT_TRUE(ends(kInkOfB, *word.b)) << word.text;
    told_apart += std::abs(*word.a - *word.b) * line.w > 2;
  }
  EXPECT_GT(told_apart, 0);
}

}  // namespace
}  // namespace headlight
