// The circuits of heads: the same numbers in every format, and a line where there are none.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <string>
#include <tuple>

#include "app/program.h"
#include "read/array/npz.h"

namespace headlight {
namespace {

using namespace program;
using fixture::golden;

json heads_sorted_by(const std::string& order, const std::string& model = "shipped:decoder") {
  const Ran ran = run({"heads", model, "--sort", order, "--format", "json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  return json::parse(ran.out, nullptr, false)["heads"];
}

TEST(CliCircuits, AreArraysWhateverTheSentence) {
  const Folder folder;
  const auto arrays_of = [&](const char* text) {
    const std::string file = (folder / "circuits.npz").string();
    const Ran ran =
        run({"export", "shipped:decoder", "--text", text, "--with", "qk,ov", "--only", "1.3,0.2", "-o", file});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return read_npz(file)->arrays;
  };
  const auto one = arrays_of("我请李雷"), other = arrays_of("他喝了牛奶");
  for (const char* name : {"qk", "ov", "qk_words", "ov_words"}) {
    ASSERT_TRUE(one.contains(name)) << name;
    EXPECT_EQ(one.at(name).shape[1], 2);
    EXPECT_EQ(one.at(name).shape[2], one.at(name).shape[3]);
    EXPECT_EQ(one.at(name).values, other.at(name).values);
  }
}

/// The eigenvalues of a matrix (words, words) are those that one of a head's width gives.
TEST(CliCircuits, CopyingIsThatOfTheWholeMatrix) {
  const Folder folder;
  const std::string file = (folder / "circuits.npz").string();
  ASSERT_EQ(run({"export", "shipped:decoder", "--with", "ov", "--only", "1.3,0.2", "-o", file}).status, 0);
  const Array words = read_npz(file)->arrays.at("ov_words");
  const Index count = words.shape[2];
  const json heads = heads_sorted_by("copying");
  for (const auto& [at, layer, number] : {std::tuple(0, 1, 3), {1, 0, 2}}) {
    const Eigen::Map<const Matrix> whole(words.values.data() + at * count * count, count, count);
    const auto eigenvalues = Eigen::EigenSolver<Eigen::MatrixXd>(whole.cast<double>(), false).eigenvalues().eval();
    for (const json& head : heads)
      if (head["layer"] == layer && head["head"] == number) {
        EXPECT_NEAR(head["copying"].get<double>(), eigenvalues.real().sum() / eigenvalues.cwiseAbs().sum(), 1e-4);
      }
  }
}

TEST(CliCircuits, MeasuresStandInEveryFormat) {
  const json copying = heads_sorted_by("copying"), composition = heads_sorted_by("composition");
  ASSERT_EQ(copying.size(), 16u);
  for (std::size_t i = 0; i < copying.size(); ++i) {
    EXPECT_LE(std::abs(copying[i]["copying"].get<double>()), 1);
    if (i == 0) continue;
    EXPECT_GE(copying[i - 1]["copying"], copying[i]["copying"]);
  }
  for (const json& head : composition) {
    EXPECT_EQ(head.contains("composes_with"), head["layer"] == 1) << "no head is below the lowest layer";
    if (head["layer"] == 0) continue;
    const std::string with = head["composes_with"];
    EXPECT_TRUE(with.starts_with("0."));
    const double most = head[with.substr(with.size() - 1) + "_composition"];
    for (const char* part : {"q_composition", "k_composition", "v_composition"}) {
      EXPECT_LE(head[part].get<double>(), most);
      EXPECT_GT(head[part].get<double>(), 0);
    }
  }
  const Ran text = run({"heads", "--sort", "composition"});
  EXPECT_TRUE(contains(text.out, "composition: the share")) << text.out;
  EXPECT_TRUE(contains(text.out, " of L0·H")) << text.out;
  EXPECT_TRUE(contains(run({"heads", "--sort", "composition", "--format", "csv"}).out, ",composes_with\n"));
}

TEST(CliCircuits, ALineSaysWhereTheyAreNotDefined) {
  const Ran bert = run({"heads", golden("bert").string(), "--ids", "5,6", "--sort", "copying"});
  EXPECT_EQ(bert.status, 0);
  EXPECT_TRUE(contains(bert.err, "copying: expected a model with a linear output layer over the words that it reads"));
  EXPECT_FALSE(contains(bert.out, "copying"));
  const Strings t5{golden("family-t5").string(), "--ids", "5,6", "--decoder-ids", "5"};
  const auto of_t5 = [&](Strings words, const Strings& more) {
    words.insert(words.end(), t5.begin(), t5.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  EXPECT_TRUE(contains(refused(of_t5({"export"}, {"--with", "qk"})),
                       "--with qk: expected scores of queries and keys alone, found relative positions beside them"));
  const Ran heads = run(of_t5({"heads"}, {"--sort", "composition", "--format", "csv"}));
  EXPECT_TRUE(contains(heads.out, "v_composition"));
  EXPECT_FALSE(contains(heads.out, "k_composition"));
  EXPECT_TRUE(contains(refused({"export", golden("tensors-self-6/input.safetensors").string(), "--with", "ov"}),
                       "--with ov: expected a model with weights, found attention alone"));
}

TEST(CliCircuits, AModelIsNotMovedFromItself) {
  const Ran ran = run({"heads", "--against", "shipped:encoder", "--format", "json"});
  for (const json& head : json::parse(ran.out, nullptr, false)["heads"]) {
    EXPECT_EQ(head["qk_change"], 0);
    EXPECT_EQ(head["ov_change"], 0);
  }
}

}  // namespace
}  // namespace headlight
