#include "app/figures.h"
#include "gui/harness.h"

namespace headlight {
namespace {

class FollowedViewTest : public GuiTest {};

TEST_F(FollowedViewTest, TheWindowHasTheBoxesOfItsFigure) {
  harness->push(ShowView{View::followed});
  harness->settle();
  FigureRequest order = figure_order(harness->state);
  order.kind = seen_figure(harness->state);
  EXPECT_EQ(order.kind, FigureKind::followed);
  const auto drawing = draw_ordered(order, figures::roughly);
  ASSERT_TRUE(drawing) << drawing.error().message();
  ASSERT_EQ(drawing->hits.size(), harness->state.trace->request.tokens.size());
  for (const Hit& hit : drawing->hits) EXPECT_TRUE(harness->has(hit.name)) << hit.name;
}

}  // namespace
}  // namespace headlight
