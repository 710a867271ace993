// What Compare opens on: the head and the cell that changed most, until the user chooses.
#include <cmath>

#include "app/shipped.h"
#include "gui/actions/look.h"
#include "gui/compare/compare_fixture.h"
#include "models/bundled_models.h"
#include "views/compare/panel/joint_map.h"

namespace headlight {
namespace {

TEST_F(CompareViewTest, ItOpensOnTheHeadThatChangedMost) {
  Harness& h = *harness;
  h.push(ChooseHead{{0, 0}}, SwitchHead{{0, 1}, true}, EndGesture{});  // layer 0 is as before: only later ones change
  h.settle();
  h.push(ShowView{View::compare});
  h.settle();
  ASSERT_TRUE(is_of_now(state()));
  const HeadRef most = heads_by(heads(), Stack::self, DifferenceOrder::largest).front();
  ASSERT_GT(heads().head(most)->measured.largest, 0);
  EXPECT_EQ(state().view.chosen, most);
  EXPECT_EQ(state().comparison->chosen, most);
  // What the reader chooses then stays chosen, whatever is changed.
  h.push(ChooseHead{{0, 0}});
  h.push(SwitchHead{{0, 2}, true}, EndGesture{});
  h.settle();
  EXPECT_EQ(state().view.chosen, (HeadRef{0, 0}));
}

TEST_F(CompareViewTest, ItOpensOnTheCellThatChangedMostUnlessTheUserPinnedOne) {
  const auto difference = [&](const CellRef& cell) {
    const Matrix& map = state().comparison->maps.difference;
    return std::isnan(map(cell.query, cell.key)) ? -1 : std::abs(map(cell.query, cell.key));
  };
  start(default_document(fixture::shipped().get()), {1440, 900});
  harness->state.shipped = fixture::shipped();
  harness->push(SetFold{{.special = true, .words = true}});
  harness->push(SetText{"The trophy does not fit in the suitcase because it is too big."}, EndGesture{}, ChooseStart{});
  harness->settle();
  keep_and_ask("The trophy does not fit in the suitcase because it is too small.");
  const auto opened = pinned_joint_cell(state(), axes());
  ASSERT_TRUE(opened);
  EXPECT_GT(difference(*opened), 0.8f);
  for (Index query = 0; query < static_cast<Index>(axes().queries.size()); ++query)
    for (Index key = 0; key < static_cast<Index>(axes().keys.size()); ++key)
      EXPECT_LE(difference({query, key}), difference(*opened)) << query << "," << key;
  EXPECT_TRUE(harness->says("Special tokens are folded.")) << harness->words_on_screen();
  harness->push(Pin{CellRef{1, 1}});
  key({Key{'1'}});
  keep_and_ask("The trophy does not fit in the suitcase because it is too light.");
  EXPECT_EQ(state().view.pinned, (CellRef{1, 1}));
}

TEST_F(CompareViewTest, ItDoesNotOpenOnACellThatIsMaskedInBoth) {
  harness->push(SetMask{true, true}, SwitchHead{{0, 3}, true}, EndGesture{}, ChooseStart{}, ShowView{View::compare});
  harness->settle();
  const auto opened = pinned_joint_cell(state(), axes());
  ASSERT_TRUE(opened);
  EXPECT_TRUE(std::isfinite(state().comparison->maps.difference(opened->query, opened->key)));
}

}  // namespace
}  // namespace headlight
