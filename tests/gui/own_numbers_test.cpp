// Numbers entered by the user in the window: typed, pasted, changed cell by cell, checked.
#include <cmath>

#include "gui/harness.h"
#include "session/number_commands.h"

namespace headlight {
namespace {

class OwnNumbersTest : public GuiTest {
 protected:
  AppState& state() { return harness->state; }
  void open() {
    harness->key({Key::left_ctrl, Key::left_shift, Key{'N'}});
    harness->settle();
    ASSERT_TRUE(state().view.numbers);
  }
  /// Chooses a table, replaces the text in its box, and takes it.
  void take(const std::string& table, const std::string& text) {
    harness->click("table " + table);
    harness->settle();
    harness->click("table text");
    harness->key({Key::left_ctrl, Key{'A'}});
    if (text.empty()) harness->key(Key::del);
    else harness->paste(text);
    harness->settle();
    harness->click("take numbers");
    harness->settle();
  }
  float weight(Index query, Index key) { return weights_of(*state().trace, HeadRef{})(query, key); }
};

TEST_F(OwnNumbersTest, PastedTablesAreAnsweredAndUndone) {
  Harness& h = *harness;
  const Document before = state().document;
  open();
  take("x", "我,1,0\n爱,0,2");
  ASSERT_TRUE(state().document.numbers) << message_of(state().view.numbers->problem);
  EXPECT_EQ(state().trace->query_tokens(Stack::self).tokens[1].text, "爱");
  // Without W_Q and W_K: q = k = x, the scale 1/√2.
  EXPECT_NEAR(weight(1, 1), 1 / (1 + std::exp(-4 / std::sqrt(2.0))), 1e-6);
  take("w_q", "0 0\n0 0");
  EXPECT_EQ(message_of(state().view.numbers->problem), "");
  EXPECT_NEAR(weight(1, 1), 0.5, 1e-6) << "all scores are 0";
  EXPECT_TRUE(h.says("Nothing is wrong"));
  h.click("close numbers");
  h.push(Undo{});
  h.settle();
  EXPECT_NEAR(weight(1, 1), 1 / (1 + std::exp(-4 / std::sqrt(2.0))), 1e-6);
  h.push(Undo{});
  h.settle();
  EXPECT_TRUE(state().document == before);
}

TEST_F(OwnNumbersTest, WhatCannotBeTakenIsSaidInALineAndChangesNothing) {
  Harness& h = *harness;
  open();
  take("x", "1 2\n3 4");
  ASSERT_TRUE(state().document.numbers);
  const Document before = state().document;
  const std::size_t steps = state().undo.size();
  std::string many = "1";
  for (int i = 0; i < 300000; ++i) many += " 1";
  const std::pair<const char*, std::string> bad[] = {{"x: row 1: expected 2 numbers", "1 2\n3"},
                                                     {"expected a number, found 'word'", "1 word"},
                                                     {"expected", "1 nan"},
                                                     {"x: ", many},
                                                     {"w_q: expected 2 rows", "1\n2\n3"}};
  for (const auto& [message, text] : bad) {
    SCOPED_TRACE(message);
    const bool weight = std::string(message).starts_with("w_q");
    if (text.size() < 1000) take(weight ? "w_q" : "x", text);
    else h.push(TakeNumbers{OwnTable::x, 0, text});
    EXPECT_NE(message_of(state().view.numbers->problem).find(message), std::string::npos)
        << message_of(state().view.numbers->problem);
    EXPECT_EQ(message_of(state().view.numbers->problem).find('\n'), std::string::npos);
    EXPECT_TRUE(state().document == before);
    EXPECT_EQ(state().undo.size(), steps);
  }
  h.key(Key::escape);
  h.settle();
  h.key(Key::escape);
  h.settle();
  EXPECT_FALSE(state().view.numbers);
}

TEST_F(OwnNumbersTest, InChineseWhatIsWrongStandsAboveTheLine) {
  Settings chinese;
  chinese.language = Language::zh;
  start({}, {1280, 800}, chinese);
  Harness& h = *harness;
  open();
  const std::tuple<const char*, const char*, const char*> bad[] = {
      {"w_q", "1 0\n0 1", "先要有 X"}, {"x", "1 2\n3", "各行的长度不同"}, {"x", "1 word", "不是数"},
      {"x", "1 ... 3", "省略号"},      {"x", "[[1, 2]", "括号"},          {"weights", "a,b", "不是数"}};
  for (const auto& [table, text, meaning] : bad) {
    take(table, text);
    ASSERT_NE(message_of(state().view.numbers->problem), "") << text;
    EXPECT_TRUE(h.says(meaning)) << message_of(state().view.numbers->problem);
    EXPECT_TRUE(h.says(message_of(state().view.numbers->problem))) << "the line itself stands beneath";
  }
  h.click("numbers printed-row");
  h.settle();
  EXPECT_TRUE(h.says("第 0 行 (机票)加起来是 1.10，不是 1")) << h.words_on_screen();
}

TEST_F(OwnNumbersTest, TablesThatFitOnlyTogetherAreTakenOneAfterTheOther) {
  Harness& h = *harness;
  open();
  take("w_q", "1 0\n0 1\n0 0\n0 0");
  EXPECT_NE(message_of(state().view.numbers->problem).find("x: expected"), std::string::npos)
      << message_of(state().view.numbers->problem);
  EXPECT_FALSE(state().document.numbers);
  take("x", "1 2 3 4\n5 6 7 8");
  EXPECT_NE(message_of(state().view.numbers->problem).find("w_k is missing"), std::string::npos)
      << message_of(state().view.numbers->problem);
  EXPECT_TRUE(h.says("What was taken is kept here")) << h.words_on_screen();
  const auto add_head = [&](const std::string& table, const std::string& text) {
    h.click("table " + table);
    h.settle();
    h.click("table head 1");
    h.settle();
    EXPECT_EQ(state().view.numbers->text, "");
    h.click("table text");
    h.paste(text);
    h.settle();
    h.click("take numbers");
    h.settle();
  };
  add_head("w_q", "0 0\n0 0\n1 0\n0 1");
  EXPECT_EQ(message_of(state().view.numbers->problem), "") << "q of two heads is as wide as x, which is k";
  ASSERT_TRUE(state().document.numbers);
  EXPECT_TRUE(state().document.numbers->w_k.empty());
  const std::size_t steps = state().undo.size();
  take("w_k", "1 0\n0 1\n0 0\n0 0");
  EXPECT_NE(message_of(state().view.numbers->problem).find("w_k: expected 4 columns"), std::string::npos);
  take("w_v", "1 word");
  EXPECT_NE(message_of(state().view.numbers->problem).find("found 'word'"), std::string::npos)
      << message_of(state().view.numbers->problem);
  EXPECT_TRUE(state().document.numbers->w_k.empty()) << "two heads of queries, one of keys";
  EXPECT_EQ(state().undo.size(), steps);
  h.click("table w_k");
  h.settle();
  EXPECT_EQ(state().view.numbers->text, "1\t0\n0\t1\n0\t0\n0\t0\n") << "what waits can be read again";
  add_head("w_k", "0 0\n0 0\n1 0\n0 1");
  EXPECT_EQ(message_of(state().view.numbers->problem), "");
  ASSERT_TRUE(state().document.numbers);
  EXPECT_FALSE(h.says("What was taken is kept here"));
  EXPECT_EQ(state().document.numbers->w_q.size(), 2u);
  EXPECT_EQ(state().document.numbers->w_k.size(), 2u);
  // Head 0: q = k = (1, 2), (5, 6); the scores of row 0 are 5/√2 and 17/√2.
  EXPECT_NEAR(weight(0, 0), 1 / (1 + std::exp(12 / std::sqrt(2.0))), 1e-6);
  EXPECT_EQ(state().undo.size(), steps + 1) << "both of them are one step of undo";
  take("x", "1 2 3\n4 5 6");
  EXPECT_NE(message_of(state().view.numbers->problem).find("expected 3 rows"), std::string::npos);
  h.click("numbers two-heads");
  h.settle();
  EXPECT_FALSE(h.says("What was taken is kept here")) << "other numbers are asked about";
  EXPECT_EQ(state().view.numbers->text, typed_table(*state().document.numbers->x));
}

TEST_F(OwnNumbersTest, TheDialogShowsTheNumbersThatAreThere) {
  Harness& h = *harness;
  open();
  h.click("numbers printed-matrix");
  h.settle();
  EXPECT_EQ(state().view.numbers->table, OwnTable::weights);
  EXPECT_TRUE(h.says("printed-matrix.numbers.json"));
  EXPECT_FALSE(h.says("tensors file"));
  h.click("close numbers");
  h.settle();
  open();
  EXPECT_EQ(state().view.numbers->table, OwnTable::weights);
  EXPECT_EQ(state().view.numbers->text, typed_table(*state().document.numbers->weights));
  const OwnNumbers before = *state().document.numbers;
  const std::size_t steps = state().undo.size();
  h.click("take numbers");
  h.settle();
  EXPECT_EQ(*state().document.numbers, before);
  EXPECT_EQ(state().undo.size(), steps) << "nothing changed";
}

TEST_F(OwnNumbersTest, AnyCellIsChangedInPlaceAndEverythingBelowFollows) {
  Harness& h = *harness;
  open();
  h.click("numbers two-heads");
  h.settle();
  ASSERT_TRUE(state().document.numbers);
  h.click("close numbers");
  const float before = weight(0, 0);
  const std::size_t steps = state().undo.size();
  h.click("view inside");
  h.settle();
  for (const auto& [quantity, cell, table] : {std::tuple{Quantity::query_weight, MatrixCell{1, 3}, OwnTable::w_q},
                                              {Quantity::given_query, MatrixCell{1, 2}, OwnTable::x},
                                              {Quantity::output_weight, MatrixCell{0, 2}, OwnTable::w_o}}) {
    const MatrixId id = matrix_id(quantity, {0, 1});
    h.push(LookAt{{id, cell}});
    h.settle();
    const auto own = own_cell(state(), id, cell);
    ASSERT_TRUE(own);
    EXPECT_EQ(own->table, table);
    EXPECT_EQ(own_table(*state().document.numbers, own->table, own->head)->numbers(own->row, own->column),
              rows_of(*state().trace, id, cell.row, 1)(0, cell.col))
        << "the cell that is changed is the cell that is seen";
    EXPECT_TRUE(h.has("own number"));
  }
  h.push(LookAt{{matrix_id(Quantity::given_query), MatrixCell{0, 0}}});
  h.settle();
  h.double_click("own number");
  h.key({Key::left_ctrl, Key{'A'}});
  h.type("-7.5");
  h.key(Key::enter);
  h.settle();
  EXPECT_EQ(state().document.numbers->x->numbers(0, 0), -7.5f);
  EXPECT_NE(weight(0, 0), before);
  EXPECT_EQ(rows_of(*state().trace, matrix_id(Quantity::given_query), 0, 1)(0, 0), -7.5f);
  EXPECT_EQ(state().undo.size() + (state().gesture ? 1 : 0), steps + 1) << "one step of undo";
  h.push(Undo{});
  h.settle();
  EXPECT_EQ(weight(0, 0), before);
  h.push(LookAt{{matrix_id(Quantity::scores), MatrixCell{0, 0}}});
  h.settle();
  EXPECT_FALSE(own_cell(state(), matrix_id(Quantity::scores), {0, 0})) << "scores of x are computed";
}

TEST_F(OwnNumbersTest, CheckSaysWhatThePagesHaveWrong) {
  Harness& h = *harness;
  open();
  h.click("numbers printed-row");
  h.settle();
  EXPECT_TRUE(h.says("row 0 (机票) sums to 1.10, not to 1")) << h.words_on_screen();
  h.click("numbers printed-matrix");
  h.settle();
  EXPECT_TRUE(h.says("row 2 (李雷) sums to 0.90")) << h.words_on_screen();
  take("weights", "");
  EXPECT_NE(message_of(state().view.numbers->problem), "") << "something must be left to ask about";
  take("weights", "0.5 0.5\n1 0");
  EXPECT_TRUE(h.says("Nothing is wrong"));
}

TEST(OwnNumbersTables, AreTypedAsTheyAreRead) {
  NumberTable table;
  table.numbers = Matrix::Random(2, 3);
  table.numbers(1, 2) = -std::numeric_limits<float>::infinity();
  for (const bool rows : {false, true})
    for (const bool columns : {false, true}) {
      table.row_labels = rows ? std::vector<std::string>{"我", "爱"} : std::vector<std::string>{};
      table.column_labels = columns ? std::vector<std::string>{"甲", "乙", "丙"} : std::vector<std::string>{};
      const auto again = parse_number_table("typed", typed_table(table));
      ASSERT_TRUE(again) << again.error().message() << typed_table(table);
      EXPECT_TRUE(*again == table) << typed_table(table);
    }
}

}  // namespace
}  // namespace headlight
