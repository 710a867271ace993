// The Code view: the chosen head's layer as a program, each line beside the matrix that it makes.
#include <fstream>
#include <sstream>

#include "derived/listing.h"
#include "gui/frame/map_view.h"
#include "gui/harness.h"
#include "session/loop/command_line_of.h"
#include "temporary_folder.h"

namespace headlight {
namespace {

class CodeViewTest : public GuiTest {
 protected:
  const ViewState& view() const { return harness->state.view; }
  const Listing& listing() const { return *harness->state.listing; }
  void open() {
    harness->click("view code");
    harness->settle();
    ASSERT_EQ(view().view, View::code);
    ASSERT_TRUE(harness->state.listing);
    ASSERT_EQ(message_of(listing().problem), "");
  }
  /// The first line that makes a tensor of this name.
  std::size_t line_of(const std::string& tensor) const {
    for (std::size_t i = 0; i < listing().lines.size(); ++i)
      if (listing().lines[i].makes == tensor && listing().lines[i].shows) return i;
    ADD_FAILURE() << "no line makes " << tensor;
    return 0;
  }
  void click_line(std::size_t line) {
    const std::string name = "code line " + std::to_string(line);
    ASSERT_TRUE(harness->scroll_into("code", name)) << name;
    harness->click(name);
    harness->settle();
  }
  bool is_lit(std::size_t line) {
    const std::string name = "code line " + std::to_string(line);
    return harness->scroll_into("code", name) && harness->drew(harness->colours().selected, harness->box(name));
  }
};

TEST_F(CodeViewTest, AClickOnALineShowsItsMatrixAndACellLightsTheLineThatMakesIt) {
  Harness& h = *harness;
  h.click_at(h.cell_point("stage map", {9, 5}));
  open();
  EXPECT_EQ(view().look.matrix, matrix_id(Quantity::weights, view().chosen)) << "it begins with the pinned weight";
  EXPECT_TRUE(is_lit(line_of("weights")));
  const std::size_t scores = line_of("scores"), dot = line_of("dot");
  EXPECT_FALSE(is_lit(dot));
  click_line(dot);
  EXPECT_EQ(view().look, (Look{matrix_id(Quantity::dot, view().chosen), std::nullopt}));
  EXPECT_TRUE(same(h.map("matrix").weights, whole(*h.state.trace, view().look.matrix)));
  EXPECT_TRUE(is_lit(dot));
  EXPECT_FALSE(is_lit(line_of("weights")));
  const Box plot = h.box("matrix");
  h.click_at({plot.x + plot.w * 0.05f, plot.y + plot.h * 0.05f});
  h.settle();
  EXPECT_EQ(view().look.cell, (MatrixCell{0, 0}));
  EXPECT_TRUE(is_lit(dot)) << "the line that makes the cell";
  h.key(Key::page_down);
  h.settle();
  EXPECT_EQ(view().look.matrix, *listing().lines[scores].shows) << "the next line that makes a matrix";
  h.key(Key::page_up);
  h.settle();
  EXPECT_EQ(view().look.matrix, matrix_id(Quantity::dot, view().chosen));
}

TEST_F(CodeViewTest, InEveryDialectLinesLeadToTheirMatricesAndCellsToTheirLines) {
  Harness& h = *harness;
  open();
  for (const char* dialect : {"numpy", "einsum", "matmul", "module"}) {
    SCOPED_TRACE(dialect);
    h.click(std::string("dialect ") + dialect);
    h.settle();
    ASSERT_EQ(message_of(listing().problem), "");
    int clicked = 0;
    for (std::size_t i = 0; i < listing().lines.size(); ++i) {
      const ProgramLine line = listing().lines[i];
      if (!line.shows || line.kind == LineKind::reads_input) continue;
      ++clicked;
      click_line(i);
      EXPECT_EQ(view().look, (Look{*line.shows, std::nullopt})) << line.text;
      EXPECT_TRUE(same(h.map("matrix").weights, whole(*h.state.trace, *line.shows))) << line.text;
    }
    EXPECT_GE(clicked, 3);
    using Q = Quantity;
    for (const Q quantity : {Q::attention_input, Q::query_weight, Q::query, Q::key, Q::value, Q::dot, Q::scores,
                             Q::exponentials, Q::weights, Q::z, Q::concat, Q::attention_output}) {
      const MatrixId id = matrix_id(quantity, view().chosen);
      h.push(LookAt{{id, MatrixCell{1, 0}}});
      h.settle();
      const std::vector<std::size_t> made = listing().lines_that_make(id);
      ASSERT_FALSE(made.empty()) << path(*h.state.trace, id);
      EXPECT_TRUE(is_lit(made.front())) << path(*h.state.trace, id);
      const std::string_view named(dialect);
      if (named == "module" && quantity == Q::query) {
        EXPECT_NE(listing().lines[made.front()].text.find("= attention(x"), std::string::npos);
      } else if (named != "numpy" && named != "module" && quantity == Q::exponentials) {
        EXPECT_EQ(made.size(), 1u) << "within the softmax";
      }
    }
    h.push(LookAt{{matrix_id(Quantity::ffn_output, view().chosen), std::nullopt}});
    h.settle();
    EXPECT_TRUE(listing().lines_that_make(view().look.matrix).empty()) << "what is no part of the program";
  }
}

TEST_F(CodeViewTest, EveryDialectShowsShapesWithTheBatch) {
  Harness& h = *harness;
  h.push(SetText{"我爱北京\n小猫"}, EndGesture{});
  h.settle();
  open();
  const auto queries = static_cast<Index>(h.state.trace->request.tokens.size());
  const auto shape_in = [&](const char* button) {
    h.click(button);
    h.settle();
    EXPECT_EQ(message_of(listing().problem), "") << button;
    return listing().lines[line_of("weights")].shape;
  };
  const Index heads = h.state.trace->num_heads(Stack::self);
  EXPECT_EQ(shape_in("dialect numpy"), (std::vector<Index>{2, heads, queries, queries}));
  EXPECT_EQ(shape_in("dialect einsum"), (std::vector<Index>{queries, queries, 2, heads})) << "i j b h";
  EXPECT_EQ(shape_in("dialect matmul"), (std::vector<Index>{2, heads, queries, queries}));
  h.click("dialect module");
  h.settle();
  EXPECT_NE(program_text({Dialect::module, listing().lines, {}}).find("nn.MultiheadAttention"), std::string::npos);
  const std::size_t attention = listing().lines.size();
  h.click("whole block");
  h.settle();
  EXPECT_GT(listing().lines.size(), attention);
  EXPECT_TRUE(view().code.block);
}

TEST_F(CodeViewTest, ProgramFollowsTheQuestion) {
  Harness& h = *harness;
  open();
  const auto text = [&] { return program_text({view().code.dialect, listing().lines, {}}); };
  const std::string before = text();
  h.push(SetMask{true, true}, EndGesture{});
  h.settle();
  EXPECT_NE(text(), before);
  EXPECT_NE(text().find("mask"), std::string::npos);
  h.push(Undo{});
  h.settle();
  EXPECT_EQ(text(), before);
  h.push(SetDropout{0.5f, 1}, SetCode{{Dialect::module, false}});
  h.settle();
  EXPECT_NE(message_of(listing().problem).find("dropout"), std::string::npos)
      << "what the module does not have is said";
  EXPECT_TRUE(h.says("dropout"));
}

TEST_F(CodeViewTest, IsCopiedAndSavedAsTheCommandLineWritesIt) {
  Harness& h = *harness;
  open();
  h.click("dialect matmul");
  h.settle();
  h.click("copy program");
  h.settle();
  EXPECT_EQ(h.clipboard, program_text({Dialect::matmul, listing().lines, {}}));
  TemporaryFolder folder;
  const std::string file = (folder.path() / "attention.py").string();
  h.click("save program");
  h.settle();
  EXPECT_EQ(h.state.browser.name, "attention.py");
  h.push(ExportTo{file});
  h.settle();
  std::ifstream stream(file);
  std::stringstream written;
  written << stream.rdbuf();
  EXPECT_EQ(written.str(), h.clipboard);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "attention.npz"));
  const auto words = command_words(h.state);
  ASSERT_TRUE(words);
  EXPECT_NE(shell_line(*words).find("headlight code"), std::string::npos);
  EXPECT_NE(shell_line(*words).find("--dialect matmul -o attention.py"), std::string::npos) << shell_line(*words);
}

TEST_F(CodeViewTest, InsideLeadsToItAndTheMatrixStays) {
  Harness& h = *harness;
  h.click("view inside");
  h.settle();
  h.push(LookAt{{matrix_id(Quantity::value, view().chosen), MatrixCell{1, 2}}});
  h.settle();
  h.click("view code");
  h.settle();
  EXPECT_EQ(view().view, View::code);
  EXPECT_EQ(view().look, (Look{matrix_id(Quantity::value, view().chosen), MatrixCell{1, 2}}));
  EXPECT_TRUE(is_lit(line_of("v")));
}

}  // namespace
}  // namespace headlight
