// The figure of what is seen, and the numbers, written from the window.
#include "figure/figure.h"
#include "gui/files/files_fixture.h"
#include "gui/frame/draw.h"
#include "gui/shell/file_choices.h"

namespace headlight {
namespace {

class FigureFromTheWindow : public FilesTest {
 protected:
  std::string draw(const std::string& name) {
    type_name(name);
    harness->click("file action");
    harness->settle();
    EXPECT_TRUE(harness->says("Exported"));
    EXPECT_TRUE(harness->state.notice && harness->state.notice->text == (folder / name).string());
    return get(name);
  }
};

TEST_F(FigureFromTheWindow, WritesTheViewThatIsSeen) {
  Harness& h = *harness;
  h.click("figure");
  h.settle();
  EXPECT_EQ(h.state.browser.purpose, Browser::Purpose::figure);
  EXPECT_EQ(h.state.browser.figure, FigureKind::grid);
  const std::string grid = draw("grid.svg");
  h.click("view flow");
  h.settle();
  h.key({Key::left_ctrl, Key::left_shift, Key{'E'}});
  h.settle();
  EXPECT_EQ(h.state.browser.figure, FigureKind::flow);
  const std::string flow = draw("flow.svg");
  EXPECT_NE(grid, flow);
  EXPECT_EQ(grid.substr(0, 5), "<?xml");
  EXPECT_EQ(folder.names().size(), 2u);
}

TEST_F(FigureFromTheWindow, EveryViewHasItsFigure) {
  Harness& h = *harness;
  const auto figure_of = [&](auto... commands) {
    h.push(Browse{}, commands...);
    h.settle();
    h.key({Key::left_ctrl, Key::left_shift, Key{'E'}});
    h.settle();
    return h.state.browser.figure;
  };
  EXPECT_EQ(figure_of(ShowGrid{GridShow::all}), FigureKind::grid) << "eight heads are no table";
  EXPECT_EQ(figure_of(ShowView{View::inside}, ShowTab{InsideTab::diagram}), FigureKind::diagram);
  const std::string diagram = draw("diagram.svg");
  EXPECT_EQ(figure_of(ShowTab{InsideTab::numbers}, Pin{CellRef{9, 5}}), FigureKind::steps);
  const std::string steps = draw("steps.svg");
  EXPECT_EQ(figure_of(Pin{CellRef{3, 2}}), FigureKind::steps);
  EXPECT_NE(draw("other.svg"), steps) << "that of the pinned cell";
  EXPECT_NE(steps, diagram);
}

TEST_F(FigureFromTheWindow, WhatAndHowWideCanBeChosen) {
  Harness& h = *harness;
  h.click("figure");
  h.settle();
  h.click("figure head");
  h.click("figure slide");
  EXPECT_EQ(h.state.browser.figure, FigureKind::head);
  EXPECT_EQ(h.state.browser.width, kSlideMm);
  const std::string pdf = draw("head.pdf");
  EXPECT_EQ(pdf.substr(0, 5), "%PDF-");
  EXPECT_NE(pdf.find("/MediaBox [ 0 0 720 "), std::string::npos);
}

TEST_F(FigureFromTheWindow, ItsSceneAndItsSizeAreShownBeforeItIsWritten) {
  Harness& h = *harness;
  h.click("figure");
  h.settle();
  const auto preview = [&] { return h.state.preview; };
  ASSERT_TRUE(preview() && preview()->picture.drawing);
  EXPECT_NEAR(preview()->picture.drawing->width, kColumnMm * kPointsInMm, 0.01f);
  const Box column = h.box("figure preview");
  EXPECT_NEAR(column.w / column.h, preview()->picture.drawing->width / preview()->picture.drawing->height, 0.01f);
  EXPECT_TRUE(h.says("85 × "));
  EXPECT_TRUE(h.says(bytes_in_words(preview()->picture.bytes)));
  h.click("figure head");
  h.settle();
  const auto head = preview();
  EXPECT_EQ(head->question.figure->kind, FigureKind::head);
  h.click("figure width");
  h.key({Key::left_ctrl, Key{'A'}});
  h.type("120");
  h.key(Key::enter);
  h.settle();
  EXPECT_EQ(h.state.browser.width, 120);
  EXPECT_NEAR(preview()->picture.drawing->width, 120 * kPointsInMm, 0.01f);
  EXPECT_TRUE(h.says("120 × "));
  EXPECT_NE(preview()->picture.bytes, head->picture.bytes);
  const std::size_t bytes = preview()->picture.bytes;
  EXPECT_EQ(draw("head.pdf").size(), bytes) << "the size that was said is that of the file";
}

TEST_F(FigureFromTheWindow, ItIsNotDrawnInAWindowWithoutRoomForIt) {
  Harness& h = *harness;
  h.click("figure");
  h.settle();
  ASSERT_TRUE(h.has("figure preview"));
  for (const float height : {200.0f, 120.0f, 60.0f, 20.0f}) {  // Dear ImGui ends the program where text has no size
    h.resize({1280, height});
    h.settle();
  }
  EXPECT_FALSE(h.has("figure preview"));
  h.resize({1280, 800});
  h.settle();
  EXPECT_TRUE(h.has("figure preview"));
}

TEST_F(FigureFromTheWindow, AWidthThatIsNoneBecomesTheNearestThatIs) {
  Harness& h = *harness;
  h.click("figure");
  h.settle();
  h.push(ChooseFigure{FigureKind::grid, 3, {}});
  EXPECT_EQ(h.state.browser.width, kLeastMm);
  h.push(ChooseFigure{FigureKind::grid, 5000, {}});
  EXPECT_EQ(h.state.browser.width, kMostMm);
  h.settle();
  EXPECT_TRUE(h.has("figure size"));
}

TEST(BytesInWords, AreCountedInThousands) {
  EXPECT_EQ(bytes_in_words(0), "0 B");
  EXPECT_EQ(bytes_in_words(999), "999 B");
  EXPECT_EQ(bytes_in_words(1000), "1.0 kB");
  EXPECT_EQ(bytes_in_words(1023), "1.0 kB");
  EXPECT_EQ(bytes_in_words(999'400), "999 kB");
  EXPECT_EQ(bytes_in_words(999'500), "1.0 MB");
  EXPECT_EQ(bytes_in_words(12'000'000'000'000), "12000 GB");
}

TEST_F(FigureFromTheWindow, TheFileOfNumbersSaysItsSizeBeforeItIsWritten) {
  Harness& h = *harness;
  for (const char* ending : {".json", ".npz", ".safetensors", ".csv"}) {
    h.click("export");
    h.settle();
    h.click(std::string("format ") + ending);
    h.settle();
    ASSERT_TRUE(h.state.preview) << ending;
    const std::size_t bytes = h.state.preview->picture.bytes;
    EXPECT_TRUE(h.says(bytes_in_words(bytes))) << ending;
    h.click("export head");
    h.settle();
    EXPECT_LT(h.state.preview->picture.bytes, bytes) << ending;
    h.click("export all");
    h.settle();
    EXPECT_EQ(draw(std::string("numbers") + ending).size(), bytes) << ending;
  }
}

TEST_F(FigureFromTheWindow, AnEndingThatIsNoneIsNotWritten) {
  Harness& h = *harness;
  h.click("figure");
  h.settle();
  type_name("figure.gif");
  h.click("file action");
  h.settle();
  EXPECT_TRUE(folder.empty());
  EXPECT_EQ(h.state.browser.purpose, Browser::Purpose::figure) << "it waits for a name that it can write";
  h.key(Key::escape);
  h.key(Key::escape);
  EXPECT_EQ(h.state.browser.purpose, Browser::Purpose::none);
}

TEST_F(FigureFromTheWindow, InkIsThatOfTheWindow) {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const InkColours ink = ink_colours(theme);
    const Palette& colours = palette(theme);
    EXPECT_EQ(to_imgui(ink.text), colours.text);
    EXPECT_EQ(to_imgui(ink.dim), colours.dim);
    EXPECT_EQ(to_imgui(ink.line), colours.line);
    EXPECT_EQ(to_imgui(ink.accent), colours.accent);
  }
}

}  // namespace
}  // namespace headlight
