// A study in the window: opened as a file, drawn as its figure, read again when it has grown.
#include <algorithm>

#include "figure/drawing/drawing.h"
#include "gui/files/files_fixture.h"
#include "study/app/patch_study.h"
#include "study/shown_study.h"

namespace headlight {
namespace {

constexpr const char* kFile = "rows.jsonl";

class StudyInTheWindow : public FilesTest {
 protected:
  /// Appends the row of one pair, in which L0·H1 restores `share`.
  void add_row(Index number, double share) {
    StudyRow row{
        .row = number, .question = "q" + std::to_string(number), .study = "s", .values = {1, 0, share, -share}};
    row.keys = std::make_shared<const CellKeys>(CellKeys{
        {"clean", "", "", ""}, {"corrupt", "", "", ""}, {"restored", "0", "1", ""}, {"restored", "0", "2", ""}});
    std::vector<Error> problems;
    auto kept = StudyRows::open((folder / kFile).string(), {}, true, problems);
    ASSERT_TRUE(kept && problems.empty());
    StudyStatement statement = kPatchStudy;
    statement.pairs = 2;
    ASSERT_TRUE(kept->add(row, statement));
  }
  void open(const std::string& name) {
    browse("open");
    type_name(name);
    enter();
  }
};

TEST_F(StudyInTheWindow, IsItsFigureAndIsReadAgainWhenItHasGrown) {
  Harness& h = *harness;
  EXPECT_FALSE(h.has("view study")) << "none was opened";
  const auto answer = state().trace.answer();
  add_row(1, 0.5);
  put("other.jsonl", "{}");
  browse("open");
  EXPECT_TRUE(h.has("entry rows.jsonl"));
  EXPECT_FALSE(h.has("entry other.jsonl")) << "it is no study";
  h.double_click("entry rows.jsonl");
  h.settle();
  EXPECT_EQ(browsing(), Browser::Purpose::none);
  ASSERT_EQ(state().view.view, View::study);
  h.settle();
  EXPECT_TRUE(h.says("1 of 2 pairs"));
  EXPECT_TRUE(h.says("0.50"));
  const Box first = h.box("bar L0·H1");
  ASSERT_EQ(h.maps.drawn.size(), 1u);
  EXPECT_FLOAT_EQ(h.maps.drawn[0].weights(0, 0), 0.5f);
  EXPECT_EQ(state().trace.answer(), answer) << "the question stays";

  add_row(2, 1);
  h.click("read again");
  h.settle();
  EXPECT_TRUE(h.says("2 pairs"));
  EXPECT_FALSE(h.says("1 of 2"));
  EXPECT_FLOAT_EQ(h.maps.drawn[0].weights(0, 0), 0.75f);
  EXPECT_NE(h.box("bar L0·H1").w, first.w);

  h.click("view heads");
  EXPECT_EQ(state().view.view, View::heads);
  h.click("view study");
  EXPECT_TRUE(h.has("study figure"));
}

TEST_F(StudyInTheWindow, ItsFigureIsWrittenAndItsCommandCopied) {
  Harness& h = *harness;
  add_row(1, 0.5);
  add_row(2, 1);
  open(kFile);
  h.settle();
  h.click("figure");
  h.settle();
  EXPECT_FALSE(h.has("figure grid")) << "no kind of the answer is offered";
  EXPECT_FALSE(h.has("format .html"));
  ASSERT_TRUE(state().preview && state().preview->picture.drawing);
  EXPECT_TRUE(std::ranges::any_of(state().preview->picture.drawing->items, [](const Item& item) {
    const Text* text = std::get_if<Text>(&item);
    return text && text->text == "Activation patching";
  }));
  type_name("study.svg");
  h.click("file action");
  h.settle();
  EXPECT_EQ(get("study.svg").substr(0, 5), "<?xml");
  h.key({Key::left_ctrl, Key::left_shift, Key{'C'}});
  h.settle();
  EXPECT_EQ(h.clipboard, "headlight figure " + (folder / kFile).string() + " -o figure.pdf");
}

TEST_F(StudyInTheWindow, AFileWithoutNumbersIsOneLineAndLeavesWhatWasShown) {
  Harness& h = *harness;
  put("bad.jsonl", R"({"row":1,"question":"q","study":"s","error":"clean: no such word"})");
  open("bad.jsonl");
  EXPECT_EQ(state().view.view, View::heads);
  ASSERT_EQ(notice(), Notice::Kind::failed);
  EXPECT_NE(state().notice->text.find("bad.jsonl: "), std::string::npos) << state().notice->text;
  add_row(1, 0.5);
  open(kFile);
  h.settle();
  open("bad.jsonl");
  EXPECT_EQ(state().view.view, View::study);
  EXPECT_TRUE(h.says("1 of 2 pairs")) << "the study before";
}

TEST_F(StudyInTheWindow, OfALayoutWithoutAStudyNothingIsLeft) {
  state().view.view = View::study;
  harness->push(ShowView{View::study});
  EXPECT_EQ(state().view.view, View::heads);
  EXPECT_FALSE(state().notice);
}

}  // namespace
}  // namespace headlight
