// Special tokens left out and subwords merged, in the window: a checkpoint that spells with pieces of words.
#include "base/file.h"
#include "figure/head_name.h"
#include "gui/frame/draw.h"
#include "gui/harness.h"
#include "gui/theme/theme.h"
#include "session/figure_request.h"

namespace headlight {
namespace {

constexpr const char* kPieces = R"({"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"},
  "post_processor": {"type": "TemplateProcessing",
                     "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}},
                     {"SpecialToken": {"id": "</s>"}}],
                     "special_tokens": {"<s>": {"ids": [0], "tokens": ["<s>"]}, "</s>": {"ids": [6],
                     "tokens": ["</s>"]}}},
  "model": {"type": "WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": "##",
                     "max_input_chars_per_word": 100,
            "vocab": {"<s>": 0, "<unk>": 1, "the": 2, "cat": 3, "play": 4, "##ing": 5, "</s>": 6}}})";

/// `<s> the cat play ##ing </s>`.
class FoldViewTest : public GuiTest {
 protected:
  void SetUp() override {
    start();
    for (const char* file : {"config.json", "model.safetensors"})
      std::filesystem::copy_file(HEADLIGHT_TEST_DATA "/golden/gpt2/" + std::string(file), folder.path() / file);
    ASSERT_TRUE(write_file(folder.path() / "tokenizer.json", kPieces));
    harness->push(SetText{"the cat playing"}, EndGesture{}, OpenPath{folder.path().string()});
    harness->settle();
    ASSERT_TRUE(harness->state.document.model) << (harness->state.notice ? harness->state.notice->text : "");
    ASSERT_EQ(harness->state.trace->queries(), 6) << harness->tokens();
  }
  const FoldedStack& folded() { return *shown_fold(harness->state, Stack::self); }

  TemporaryFolder folder;
};

TEST_F(FoldViewTest, ColumnsOfSpecialTokensAreDrawnPaler) {
  Harness& h = *harness;
  h.push(SetFold{{}});
  h.settle();
  const auto is_covered = [&](const std::string& map, Index column) {
    const Box plot = h.box(map);
    const float cell = plot.w / static_cast<float>(h.state.trace->keys(Stack::self));
    const Box whole{plot.x + static_cast<float>(column) * cell - 1, plot.y - 1, cell + 2, plot.h + 2};
    return h.drew((h.colours().background & ~IM_COL32_A_MASK) | IM_COL32(0, 0, 0, 0xA0), whole);
  };
  for (const char* map : {"stage map", "head 0.1"}) {
    EXPECT_TRUE(is_covered(map, 0)) << map;
    EXPECT_TRUE(is_covered(map, 5)) << map;
    for (const Index word : {Index{2}, Index{3}}) EXPECT_FALSE(is_covered(map, word)) << map;
  }
  h.resize({1920, 1080});  // where every line has room
  h.settle();
  EXPECT_TRUE(h.says("Paler columns: special tokens."));
}

TEST_F(FoldViewTest, LinesAreFoldedAsTheMapsAre) {
  Harness& h = *harness;
  h.push(ShowView{View::flow});
  h.settle();
  EXPECT_TRUE(h.has("flow query 5"));
  h.click("fold special");
  h.key({Key::left_alt, Key::left_shift, Key{'Z'}});
  h.settle();
  h.probe.clear();
  h.frame(2);
  EXPECT_EQ(h.state.view.fold, (FoldChoice{.special = true, .words = true}));
  EXPECT_TRUE(h.says("Special tokens are folded."));
  EXPECT_FALSE(h.says("Grey strip"));
  EXPECT_TRUE(h.says("playing"));
  EXPECT_TRUE(h.has("flow query 2"));
  EXPECT_FALSE(h.has("flow query 3")) << "the, cat, playing";
  const Matrix& map = folded().map({0, 0});
  ASSERT_EQ(h.state.flow->heads.size(), 1u);
  EXPECT_EQ(h.state.flow->heads[0], strongest_lines(map));
  // A word means the cell of its strongest line, by its first token; it is reported as by the maps.
  h.point_at("flow query 2");
  Index key = 0;
  const float weight = map.row(2).maxCoeff(&key);
  EXPECT_EQ(h.state.view.hovered, (CellRef{3, folded().fold.keys.groups[static_cast<std::size_t>(key)].first}));
  EXPECT_TRUE(h.says(weight_text(weight)));
  EXPECT_EQ(figure_order(h.state).fold, (FoldChoice{.words = true})) << "a figure has special tokens";
}

TEST_F(FoldViewTest, MapsAreFoldedAndSaySo) {
  Harness& h = *harness;
  const DrawnMap whole = h.map("head 0.0");
  h.click("fold special");
  h.frame(2);
  EXPECT_EQ(h.state.view.fold, (FoldChoice{.special = true, .words = false}));
  EXPECT_TRUE(h.says("Grey strip beside a row: its share on special tokens, which are folded."));
  const DrawnMap special = h.map("head 0.0");
  EXPECT_TRUE(same(special.weights, folded().map({0, 0})));
  EXPECT_EQ(special.weights.rows(), 4);
  EXPECT_TRUE(same(h.map("stage map").weights, special.weights));
  EXPECT_GE(special.scale.top, std::min(1.0f, folded().map({0, 0}).maxCoeff()));
  h.click("merge words");
  h.resize({2400, 1080});  // where both sentences have room
  h.frame(2);
  EXPECT_TRUE(h.says("Subwords merged to words"));
  const DrawnMap both = h.map("head 0.0");
  EXPECT_EQ(both.weights.rows(), 3);
  EXPECT_TRUE(h.says("playing"));
  EXPECT_NE(both.version, special.version);
  EXPECT_NE(special.version, whole.version);
  EXPECT_TRUE(h.state.undo.size() <= 2) << "a look is nothing to be undone";
  h.click("fold special");
  h.click("merge words");
  h.point_away();
  EXPECT_TRUE(same(h.map("head 0.0").weights, whole.weights));
  EXPECT_FALSE(h.says("Grey strip"));
}

TEST_F(FoldViewTest, CellsAreThoseOfTheFirstTokens) {
  Harness& h = *harness;
  h.push(SetFold{{.special = true, .words = true}});
  h.frame(2);
  const Box plot = h.box("stage map");
  const auto centre = [&](float row, float column) {
    return ImVec2{plot.x + plot.w * (column + 0.5f) / 3, plot.y + plot.h * (row + 0.5f) / 3};
  };
  h.move_to(centre(2, 1));
  EXPECT_EQ(h.state.view.hovered, (CellRef{3, 2}));
  char expected[64];
  std::snprintf(expected, sizeof expected, "playing looks at cat: %.4f",
                static_cast<double>(folded().map({0, 0})(2, 1)));
  EXPECT_TRUE(h.says(expected)) << expected << "\n" << h.words_on_screen();
  const std::string share = share_text(static_cast<double>(folded().map({0, 0})(2, 1)));
  EXPECT_TRUE(h.says("“playing” looks at “cat”, " + share)) << h.words_on_screen();
  const ImU32 accent = palette(h.state.settings.theme).accent;
  for (const char* chip : {"chip 2", "chip 3", "chip 4"}) EXPECT_TRUE(h.drew(accent, h.box(chip))) << chip;
  EXPECT_FALSE(h.drew(accent, h.box("chip 1")));
  h.click_at(centre(2, 1));
  EXPECT_EQ(h.state.view.pinned, (CellRef{3, 2}));
  EXPECT_TRUE(h.says("rests")) << "what the row has on special tokens";
  h.point_away();
  h.key(Key::up);
  EXPECT_EQ(h.state.view.pinned, (CellRef{2, 2}));
  h.key(Key::down);
  h.key(Key::down);
  EXPECT_EQ(h.state.view.pinned, (CellRef{3, 2})) << "the last row";
  h.push(Pin{CellRef{4, 2}});
  h.click_at(centre(2, 1));
  EXPECT_EQ(h.state.view.pinned, (CellRef{4, 2})) << "another token of the same word is the same cell";
  EXPECT_EQ(h.state.view.view, View::inside) << "a click on the pinned cell asks why";
  h.push(ShowView{View::heads});
  h.settle();
  h.point_away();
  h.push(Pin{CellRef{0, 2}});
  h.frame(2);
  EXPECT_TRUE(h.says("<s>: left out with the special tokens"));
  EXPECT_TRUE(is_consistent(h.state));
}

TEST_F(FoldViewTest, InsideABlockTokensAreSpokenOfAsTheyAre) {
  Harness& h = *harness;
  h.push(SetFold{{.special = true, .words = true}}, ShowView{View::inside}, Pin{CellRef{0, 2}});
  h.settle();
  EXPECT_FALSE(h.says("left out with the special tokens"));
  EXPECT_TRUE(h.says("<s> looks at")) << h.words_on_screen();
  h.push(SetFold{});
  h.key({Key::left_alt, Key{'Z'}});
  EXPECT_EQ(h.state.view.fold, FoldChoice{}) << "what is not seen is not changed";
}

TEST_F(FoldViewTest, WhatNeedsSingleTokensRests) {
  Harness& h = *harness;
  h.push(Pin{CellRef{3, 2}});
  h.frame(2);
  EXPECT_TRUE(h.has("weight by hand"));
  h.push(SetFold{{.special = false, .words = true}});
  h.probe.clear();
  h.frame(2);
  EXPECT_TRUE(h.has("weight by hand")) << "of a word in pieces, too";
  const Document before = h.state.document;
  h.key({Key::left_alt, Key{'X'}});
  const Box plot = h.box("stage map");
  h.hold(Key::left_shift, true);
  h.drag({plot.x + 5, plot.y + 5}, {plot.right() - 5, plot.bottom() - 5});
  h.hold(Key::left_shift, false);
  EXPECT_TRUE(h.state.document == before);
  h.key(Key::equal);
  EXPECT_EQ(h.state.view.viewport, Viewport{});
  h.push(Pin{CellRef{2, 1}});
  h.probe.clear();
  h.frame(2);
  EXPECT_TRUE(h.has("weight by hand")) << "a cell of single tokens";
  const bool was_allowed = h.state.trace->mask(Stack::self, 0).allowed(2, 1);
  h.key({Key::left_alt, Key{'X'}});
  h.settle();
  EXPECT_NE(h.state.trace->mask(Stack::self, 0).allowed(2, 1), was_allowed);
  h.push(Undo{});
  h.settle();
  EXPECT_TRUE(h.state.document == before);
  h.push(Pin{CellRef{3, 2}});
  h.click("numbers");
  h.settle();
  EXPECT_EQ(h.state.view.view, View::inside);
  EXPECT_EQ(h.state.view.look.cell, (MatrixCell{3, 2}));
}

TEST_F(FoldViewTest, WordsAreSplitWhileTheMaskIsPainted) {
  Harness& h = *harness;
  const FoldChoice both{.special = true, .words = true};
  const auto merged = [&] { return shown_fold(h.state, Stack::self)->fold.done.words; };
  for (const bool by_key : {false, true}) {
    h.push(SetFold{both});
    h.settle();
    if (by_key) h.key({Key::left_alt, Key{'P'}});
    else h.click("paint");
    EXPECT_TRUE(h.state.view.painting);
    h.settle();
    EXPECT_FALSE(merged());
    h.click_at(h.cell_point("stage map", {1, 1}));
    EXPECT_EQ(h.state.document.mask.painted.size(), 1u);
    h.click("paint");
    EXPECT_FALSE(h.state.view.painting);
    h.settle();
    EXPECT_TRUE(merged());
    EXPECT_EQ(h.state.view.fold, both);
    h.push(Undo{});
  }
}

TEST_F(FoldViewTest, IsOfferedWhereItDoesSomething) {
  Harness& h = *harness;
  // They stand in the menu of what is shown.
  const auto offered = [&] {
    harness->click("shown menu");
    EXPECT_TRUE(harness->has("maps weights")) << "the menu is open";
    const std::pair both(harness->has("fold special"), harness->has("merge words"));
    harness->key(Key::escape);
    EXPECT_FALSE(harness->has("maps weights"));
    return both;
  };
  EXPECT_EQ(offered(), std::pair(true, true));
  h.push(SetText{"the cat"}, EndGesture{});
  h.settle();
  EXPECT_EQ(offered(), std::pair(true, false));
  start();
  EXPECT_EQ(offered(), std::pair(false, false));
}

TEST_F(GuiTest, LongSentencesAreFoldedUpToALimit) {
  Harness& h = *harness;
  std::string text;
  for (int i = 0; i < 40; ++i) text += "word ";
  h.push(SetSplit{Split::characters}, SetText{text}, EndGesture{});
  h.settle();
  h.push(SetTextLook{{.form = StageForm::map}});
  h.click("merge words");
  h.settle();
  EXPECT_EQ(h.map("stage map").weights.rows(), 41) << "words and the last space";
  EXPECT_EQ(h.map("head 0.0").weights.rows(), 41);
  h.point_at("stage map");
  ASSERT_TRUE(h.state.view.hovered);
  EXPECT_EQ(h.state.view.hovered->query % 4, 3) << "the first token of a word, the space before it";
  h.key(Key{'3'});
  h.settle();
  EXPECT_FALSE(h.state.flow->heads[0].empty());
  Index last = 0;
  for (const FlowLine& line : h.state.flow->heads[0]) last = std::max({last, line.query, line.key});
  EXPECT_LE(last, 40);
  h.key(Key{'1'});
  h.key({Key::left_alt, Key::left_shift, Key{'Z'}});
  h.settle();
  EXPECT_GT(h.map("stage map").weights.rows(), kThumbnail);
  for (int i = 0; i < 80; ++i) text += "word ";
  h.push(SetText{text}, EndGesture{});
  h.settle();
  h.click("merge words");
  EXPECT_EQ(h.state.view.fold, FoldChoice{});
  h.key({Key::left_alt, Key::left_shift, Key{'Z'}});
  EXPECT_EQ(h.state.view.fold, FoldChoice{});
  h.point_at("merge words");
  EXPECT_TRUE(h.says("up to 512 tokens"));
}

}  // namespace
}  // namespace headlight
