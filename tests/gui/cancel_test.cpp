// Work on files goes on behind the window, with a bar that shows how far it is, and the Esc key ends it.
#include "gui/harness.h"

namespace headlight {
namespace {

TEST_F(GuiTest, EscEndsWorkOnFilesBeforeAnythingElse) {
  const TemporaryFolder folder;
  Document document;
  document.source.split = Split::characters;
  document.source.text = std::string(1500, 'x');
  document.config = {.d_model = 32, .num_heads = 8, .num_layers = 4, .ffn = 0};
  start(document);
  harness->push(Pin{CellRef{1, 0}});
  harness->push(ExportTo{folder / "big.csv"});
  ASSERT_TRUE(harness->has("cancel"));
  harness->key(Key::escape);
  harness->settle();
  EXPECT_FALSE(harness->has("cancel"));
  EXPECT_TRUE(harness->says("cancelled, nothing was written"));
  EXPECT_FALSE(std::filesystem::exists(folder / "big.csv"));
  EXPECT_TRUE(harness->state.view.pinned) << "the cell is let go by the next one";
  harness->key(Key::escape);
  EXPECT_FALSE(harness->state.view.pinned);
}

}  // namespace
}  // namespace headlight
