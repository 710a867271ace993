// Tables of numbers as pages print them, and the attention that they come to.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "math/forward.h"
#include "read/external/own_numbers.h"

namespace headlight {
namespace {

NumberTable number_table(std::string_view text) {
  const auto table = parse_number_table("f", text);
  EXPECT_TRUE(table) << text << "\n" << (table ? "" : table.error().message());
  return table ? *table : NumberTable{};
}

std::string number_table_error(std::string_view text) {
  const auto table = parse_number_table("f", text);
  EXPECT_FALSE(table) << text;
  return table ? "" : table.error().message();
}

Matrix two_by_two() { return (Matrix(2, 2) << 1.0f, 2.5f, -3.0f, 0.0f).finished(); }

TEST(NumberTable, EveryFormGivesTheSameNumbers) {
  for (const char* text : {
           "[[1, 2.5], [-3, 0]]",
           "[[ 1.   2.5]\n [-3.   0. ]]",
           "array([[ 1. ,  2.5],\n       [-3. ,  0. ]], dtype=float32)",
           "tensor([[ 1.0000,  2.5000],\n        [-3.0000,  0.0000]], grad_fn=<AddBackward0>)",
           "1,2.5\n-3,0\n",
           "1;2.5\r\n-3;0",
           "1\t2.5\n-3\t0",
           "  1  2.5\n −3  0",
           "\"1\",\"2.5\"\n\"-3\",\"0\"",
           "[1, 2.5]\n[-3, 0]",
           "[1. 2.5], [-3. 0.]",
           "\xEF\xBB\xBF 1, 2.5\n-3, 0",
       })
    EXPECT_TRUE(same(number_table(text).numbers, two_by_two())) << text << "\n" << number_table(text).numbers;
}

TEST(NumberTable, WordsInFrontAndAboveAreLabels) {
  const NumberTable headed = number_table("Token,我,请\n我,-,0.1\n请,0.2,-\n");
  EXPECT_EQ(headed.row_labels, (std::vector<std::string>{"我", "请"}));
  EXPECT_EQ(headed.column_labels, (std::vector<std::string>{"我", "请"}));
  EXPECT_TRUE(same(headed.numbers, (Matrix(2, 2) << 0.0f, 0.1f, 0.2f, 0.0f).finished()));
  const NumberTable one = number_table("机票 1.1 1.4");
  EXPECT_EQ(one.row_labels, (std::vector<std::string>{"机票"}));
  EXPECT_EQ(one.numbers.cols(), 2);
}

TEST(NumberTable, TablesOfOtherProgramsAreThoseOfTheirNumbers) {
  const Matrix two = (Matrix(2, 2) << 0.9f, 0.1f, 0.3f, 0.7f).finished();
  const std::vector<std::string> none, counted{"0", "1"}, i_am{"I", "am"}, ich_bin{"ich", "bin"};
  struct Case {
    const char* text;
    const std::vector<std::string>&rows, &columns;
  };
  for (const auto& [text, rows, columns] : {
           Case{"0,1\n0.9,0.1\n0.3,0.7\n", none, counted},
           {",0,1\n0,0.9,0.1\n1,0.3,0.7\n", counted, counted},
           {";ich;bin\nI;0,9;0,1\nam;0,3;0,7\n", i_am, ich_bin},
           {"\"0,9\",\"0,1\"\n\"0,3\",\"0,7\"", none, none},
           {"0.9,0.1,\n0.3,0.7,\n", none, none},
           {"0.9 & 0.1 \\\\\n\\hline\n0.3 & 0.7 \\\\\n", none, none},
           {"|  | ich | bin |\n|---|:-:|---|\n| I | 0.9 | 0.1 |\n| am | 0.3 | 0.7 |\n", i_am, ich_bin},
       }) {
    const NumberTable table = number_table(text);
    EXPECT_TRUE(same(table.numbers, two)) << text << "\n" << table.numbers;
    EXPECT_EQ(table.row_labels, rows) << text;
    EXPECT_EQ(table.column_labels, columns) << text;
  }
  for (const char* text : {",ich,bin\nI,1,NaN\nam,0.3,0.7\n", ",ich,bin\nI,1,\nam,0.3,0.7\n"})
    EXPECT_EQ(number_table(text).numbers(0, 1), 0.0f) << text;
  // A row of whole numbers is one where others are whole as well, or where the table is square with it.
  for (const char* text : {"0,1\n1,0.5\n0.5,1", "0,1\n0.5,0.5", "0 1 2\n3 4 5"})
    EXPECT_EQ(number_table(text).column_labels, none) << text;
}

TEST(NumberTable, TablesOfPandasSpreadsheetsAndPapers) {
  const Matrix plain = (Matrix(2, 2) << 0.9f, 0.1f, 0.3f, 0.7f).finished();
  for (const char* text :
       {"0,1\n0.9,0.1\n0.3,0.7\n", ",0,1\n0,0.9,0.1\n1,0.3,0.7\n", ";ich;bin\nI;0,9;0,1\nam;0,3;0,7\n",
        "0,9\t0,1\n0,3\t0,7\n", "0.9 & 0.1 \\\\\n0.3 & 0.7 \\\\\n",
        "\\toprule\n & ich & bin \\\\ \\midrule\nI & $0.9$ & \\textbf{0.1} \\\\\nam & 0.3 & 0.7 \\\\\n",
        "|  | ich | bin |\n|---|---|---|\n| I | **0.9** | 0.1 |\n| am | 0.3 | 0.7 |\n", "0.9,0.1,\n0.3,0.7,\n"})
    EXPECT_TRUE(same(number_table(text).numbers, plain)) << text << "\n" << number_table(text).numbers;
  EXPECT_EQ(number_table(",0,1\n0,0.9,0.1\n1,0.3,0.7\n").row_labels, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(number_table("|  | ich | bin |\n|---|---|---|\n| I | 1 | 0 |\n| am | 0.3 | 0.7 |").column_labels,
            (std::vector<std::string>{"ich", "bin"}));
  const Matrix masked = (Matrix(2, 2) << 1.0f, 0.0f, 0.3f, 0.7f).finished();
  for (const std::string blank : {"NaN", "", "None", "NULL", "null", "<NA>", "n/a", "missing"})
    EXPECT_TRUE(same(number_table(",ich,bin\nI,1," + blank + "\nam,0.3,0.7\n").numbers, masked)) << blank;
  const std::string excel(
      "\xFF\xFE\t\0a\0\t\0,N\n\0I\0\t\0"
      "0\0,\0"
      "5\0\t\0"
      "1\0",
      26);  // UTF-16
  EXPECT_EQ(number_table(excel).column_labels, (std::vector<std::string>{"a", "\u4E2C"}));
  EXPECT_EQ(number_table(excel).numbers(0, 0), 0.5f);
  EXPECT_EQ(number_table("0,1\n1,0\n").numbers.rows(), 2) << "whole numbers are weights";
}

TEST(NumberTable, TablesOfSpreadsheetsInOtherPlacesRAndLatex) {
  const Matrix plain = (Matrix(2, 2) << 0.9f, 0.1f, 0.3f, 0.7f).finished();
  const std::vector<std::string> none, i_am{"I", "am"}, ich_bin{"ich", "bin"};
  struct Case {
    const char* text;
    std::vector<std::string> rows, columns;
  };
  for (const auto& [text, rows, columns] : {
           Case{"sep=;\n;ich;bin\nI;0,9;0,1\nam;0,3;0,7\n", i_am, ich_bin},
           {";ich;bin\nI;90 %;10\xC2\xA0%\nam;30%;70%\n", i_am, ich_bin},
           {"\"\",\"V1\",\"V2\"\n\"1\",0.9,0.1\n\"2\",0.3,0.7\n", {"1", "2"}, {"V1", "V2"}},
           {"V1\tV2\n1\t0.9\t0.1\n2\t0.3\t0.7\n", {"1", "2"}, {"V1", "V2"}},
           {"\t0\t1\n0\t0.9\t0.1\n1\t0.3\t0.7\n", {"0", "1"}, {"0", "1"}},
           {",2020,was\n2020,0.9,0.1\nwas,0.3,0.7\n", {"2020", "was"}, {"2020", "was"}},
           {",\"say \"\"hi\"\"\",;\n&,0.9,0.1\n|,0.3,0.7\n", {"&", "|"}, {"say \"hi\"", ";"}},
           {"Some text | with a bar.\n\n| | ich | bin |\n|-|-|-|\n| I | 0.9 | 0.1 |\n| am | 0.3 | 0.7 |\n\nMore | "
            "text.",
            i_am, ich_bin},
           {"\\begin{bmatrix} 0.9 & 0.1 \\\\ 0.3 & 0.7 \\end{bmatrix}", none, none},
           {",ich,bin\rI,0.9,0.1\ram,0.3,0.7\r", i_am, ich_bin},
           {"| | ich | \\| |\n|-|-|-|\n| I | 0.9 | 0.1 |\n| am | 0.3 | 0.7 |", i_am, {"ich", "|"}},
           {" & ich & bin \\\\ I & \\cellcolor[HTML]{EE0000} 0.9 & 0.1 \\\\ am & 0.3 & \\textcolor[rgb]{1,0,0}{0.7} "
            "\\\\",
            i_am, ich_bin},
           {",101,7592\n101,0.9,0.1\n7592,0.3,0.7\n", {"101", "7592"}, {"101", "7592"}},
           {"# ich, bin\n0.9, 0.1\n0.3, 0.7\n", none, ich_bin},
           {"\\caption{A \\& B}\n\\begin{tabular}{lrr}\n & a\\_b & \\#\\# \\\\ \\cmidrule(lr){2-3}\nI & $0{,}9$ & "
            "\\cellcolor{red!50}0.1 \\\\[2pt]\nam & \\num{0.3} & \\textbf{0.7}\n\\\\\n\\bottomrule\n\\end{tabular}",
            i_am,
            {"a_b", "##"}},
       }) {
    const NumberTable table = number_table(text);
    EXPECT_TRUE(same(table.numbers, plain)) << text << "\n" << table.numbers;
    EXPECT_EQ(table.row_labels, rows) << text;
    EXPECT_EQ(table.column_labels, columns) << text;
  }
  EXPECT_EQ(number_table("\ta\tb\na\t1\t\nb\t0.5\t0.5").numbers(0, 1), 0.0f) << "an empty cell at the end";
  EXPECT_EQ(number_table("1 2\n\n3 4\n\n5 6\n").numbers.rows(), 3) << "each line is followed by an empty one";
  EXPECT_EQ(number_table_error("1,2\n3,4\n\n5,6\n7,8\n"),
            "f: table: expected one table, found another one behind an empty line");
}

TEST(NumberTable, ABlockedScoreIsMinusInfinity) {
  const Matrix scores = number_table("[[1, -inf], [2, 3]]").numbers;
  EXPECT_EQ(scores(0, 1), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(same(number_table(table_json(scores)).numbers, scores));
}

TEST(NumberTable, WhatIsNoTableIsRefusedInOneLine) {
  EXPECT_EQ(number_table_error("[[1, 2], [3]]"), "f: row 1: expected 2 numbers, as in row 0, found 1");
  EXPECT_EQ(number_table_error("1 2\n3 4 5"), "f: row 1: expected 2 numbers, as in row 0, found 3");
  EXPECT_EQ(number_table_error("1 2\n3 nan"), "f: row 1, column 1: expected a number, found 'nan'");
  EXPECT_EQ(number_table_error("nan,nan\n0.5,0.5"), "f: row 0, column 0: expected a number, found 'nan'");
  EXPECT_EQ(number_table_error("1,2,3\n-NaN,5,6\n7,8,9"), "f: row 1, column 0: expected a number, found '-NaN'");
  EXPECT_EQ(number_table_error("...,...\n1,2"),
            "f: row 0, column 0: expected every number, none left out, found '...'");
  EXPECT_EQ(number_table_error("[[1, 2], [3, NaN]]"), "f: row 1, column 1: expected a number, found 'NaN'");
  EXPECT_EQ(number_table_error("[[1, inf]]"), "f: row 0, column 1: expected a number, found 'inf'");
  EXPECT_EQ(number_table_error("[[1, x]]"), "f: row 0, column 1: expected a number, found 'x'");
  EXPECT_EQ(number_table_error("[[1, 2, ..., 9]]"),
            "f: row 0, column 2: expected every number, none left out, found '...'");
  EXPECT_EQ(number_table_error("[[1, 2]"), "f: table: expected a ] for every [, found the end of the text");
  EXPECT_EQ(number_table_error("[[1, 2]] [3]"), "f: table: expected one table, found '[3]' behind it");
  EXPECT_EQ(number_table_error("[1, 2]\n[3]"), "f: row 1: expected 2 numbers, as in row 0, found 1");
  EXPECT_EQ(number_table_error("[1, 2]\n[[3, 4]]"),
            "f: row 1: expected rows of numbers, [[1, 2], [3, 4]], found '[3, 4]]'");
  EXPECT_EQ(number_table_error("[[[1]]]"), "f: row 0: expected rows of numbers, [[1, 2], [3, 4]], found '[1]]]'");
  EXPECT_EQ(number_table_error(" \n"), "f: table: expected at least one number, found none");
  EXPECT_EQ(number_table_error("[[]]"), "f: table: expected at least one number, found none");
  EXPECT_EQ(number_table_error("1e99"), "f: row 0, column 0: expected a number, found '1e99'");
  EXPECT_EQ(number_table_error("two words"), "f: row 0, column 0: expected a number, found 'words'");
  std::string much;
  for (int i = 0; i < 1'000'000; ++i) much += "1 ";
  EXPECT_EQ(number_table_error(much), "f: table: expected at most 250000 numbers, found more");
  EXPECT_EQ(number_table_error("[[" + much + "]]"), "f: table: expected at most 250000 numbers, found more");
  EXPECT_NE(number_table_error("[[1, \xFF]]").find("f: "), std::string::npos);
}

std::shared_ptr<const Trace> answer_to(const OwnNumbers& numbers) {
  const auto file = model_of_numbers("numbers", numbers);
  EXPECT_TRUE(file) << (file ? "" : file.error().message());
  Request request{.model = file->model, .config = file->model->config};
  request.mask = file->mask;
  const auto trace = forward(request);
  EXPECT_TRUE(trace) << (trace ? "" : trace.error().message());
  return *trace;
}

OwnNumbers two_heads() {
  OwnNumbers numbers;
  numbers.x = number_table("[[1, 2, 3, 4], [5, 6, 7, 8]]");
  numbers.w_q = {number_table("[[1, 0], [0, 1], [0, 0], [0, 0]]"), number_table("[[0, 0], [0, 0], [1, 0], [0, 1]]")};
  numbers.w_k = numbers.w_v = numbers.w_q;
  numbers.w_o = number_table("[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]]");
  return numbers;
}

TEST(OwnNumbers, AreTheAttentionThatThePageComputes) {
  const auto trace = answer_to(two_heads());
  ASSERT_EQ(trace->num_heads(), 2);
  const AttentionTrace& attention = trace->attention(Stack::self, 0);
  EXPECT_TRUE(same(attention.query, (Matrix(2, 4) << 1, 2, 3, 4, 5, 6, 7, 8).finished()));
  // Head 0: q·kᵀ/√2 of (1, 2), (5, 6) is 5/√2, 17/√2 in row 0; v is (1, 2), (5, 6).
  const double share = 1 / (1 + std::exp(12 / std::sqrt(2.0)));
  EXPECT_NEAR(attention.z(0, 0), share * 1 + (1 - share) * 5, 2e-5);
  EXPECT_NEAR(trace->last_hidden_state()(0, 2), 2 * static_cast<double>(attention.z(0, 2)), 2e-5);
}

TEST(OwnNumbers, ScoresHaveTheirSoftmaxAndWeightsStandAsTheyAre) {
  OwnNumbers numbers;
  numbers.scores = number_table("x,a,b,c\n机票,1,2,−∞\n");
  const auto trace = answer_to(numbers);
  const auto& head = trace->head({});
  EXPECT_NEAR(head.thumbnail(0, 1), 1 / (1 + std::exp(-1.0)), 1e-6);
  EXPECT_EQ(head.thumbnail(0, 2), -1.0f);
  EXPECT_EQ(trace->query_tokens().tokens[0].text, "机票");
  EXPECT_EQ(trace->key_tokens().tokens[2].text, "c");
  OwnNumbers weights;
  weights.weights = number_table("[[0.25, 0.75]]");
  EXPECT_EQ(answer_to(weights)->head({}).thumbnail(0, 1), 0.75f);
}

TEST(OwnNumbers, ReadBackFromTheirJson) {
  OwnNumbers numbers = two_heads();
  numbers.num_heads = 2;
  numbers.x->row_labels = {"a\"b", "机票"};
  numbers.scores = number_table("[[1, -inf], [2, 3]]");
  const auto read = parse_own_numbers("f", numbers_json(numbers));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, numbers);
  EXPECT_EQ(*read_own_numbers("numbers:" + numbers_json(numbers)), numbers);
}

TEST(OwnNumbers, SizesThatDoNotFitAreNamed) {
  const auto refused = [](auto change) {
    OwnNumbers numbers = two_heads();
    change(numbers);
    const auto model = model_of_numbers("f", numbers);
    EXPECT_FALSE(model);
    return model ? "" : model.error().message();
  };
  EXPECT_EQ(refused([](OwnNumbers& n) { n.w_q[1] = number_table("[[1, 0]]"); }),
            "f: w_q of head 1: expected 4 rows, one for each column of x, found (1, 2)");
  EXPECT_EQ(refused([](OwnNumbers& n) { n.w_k.pop_back(); }),
            "f: w_k: expected 4 columns of all heads, as w_q has, found 2");
  EXPECT_EQ(refused([](OwnNumbers& n) {
              n.w_k.clear();
              n.w_q.pop_back();
            }),
            "f: w_k: expected 2 columns of all heads, as w_q has, found 4, those of x: w_k is missing");
  EXPECT_EQ(refused([](OwnNumbers& n) { n.w_o = number_table("[[1, 2]]"); }),
            "f: w_o: expected 4 rows, one for each column of the concatenated heads, found (1, 2)");
  EXPECT_EQ(refused([](OwnNumbers& n) { n.num_heads = 3; }),
            "f: num_heads: expected a divisor of the 4 columns of q and the 4 of v, found 3");
  EXPECT_EQ(refused([](OwnNumbers& n) { n.x.reset(); }),
            "f: x: expected what the weights are multiplied with, found none");
  EXPECT_EQ(refused([](OwnNumbers& n) { n.x = number_table("[[1, 2, 3, -inf]]"); }),
            "f: x: row 0, column 3: expected a finite number, found -inf");
  for (const char* text : {"[]", "{\"y\": 1}", "{\"x\": 3}", "{\"x\": [[1], [2, 3]]}", "{\"num_heads\": 0}",
                           "{\"x\": {\"rows\": []}}", "{\"x\": {\"numbers\": [[1]], \"rows\": [\"a\", \"b\"]}}"}) {
    const auto read = parse_own_numbers("f", text);
    ASSERT_FALSE(read) << text;
    EXPECT_TRUE(read.error().message().starts_with("f: ")) << read.error().message();
  }
}

TEST(NumberTable, ALineOfAnEmptyQuotedCellHasNoCells) {
  for (const char* text : {"\"\"\n1 2\n3 4", "1 2\n\"\"\n3 4", "a 1\n\"\"\nb 2", "\"\"\n\"\""})
    EXPECT_FALSE(parse_number_table("t", text)) << text;
}

}  // namespace
}  // namespace headlight
