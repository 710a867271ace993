// Numbers of one's own by the command line: a board's grid, a range of colours, masks either way, NaN, numbers below 0.
#include <limits>

#include "app/program.h"

namespace headlight {
namespace {

using namespace program;

/// An .npy file of float32 numbers, or with `kind` "|b1" of bytes.
template <class Number>
std::string npy(const std::string& shape, const std::vector<Number>& numbers, const std::string& kind = "<f4") {
  std::string header = "{'descr': '" + kind + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize((header.size() + 10 + 64) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  return bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
}

class BroughtCommand : public testing::Test {
 protected:
  std::string drawn(Strings words) {
    const std::string target = (folder_ / "drawn.svg").string();
    words.insert(words.begin(), "figure");
    words.insert(words.end(), {"-o", target});
    const Ran ran = run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    said_ = ran.err;
    const auto svg = read_file(target);
    return svg ? *svg : "";
  }

  Folder folder_;
  std::string said_;
  const std::string causal_ =
      folder_.with("causal.npy", npy<float>("(3, 3)", {1, 0, 0, 0.5f, 0.5f, 0, 0.2f, 0.3f, 0.5f}));
  const std::string signed_ = folder_.with("signed.npy", npy<float>("(2, 3)", {-2, 0.5f, 1, 3, -0.25f, 0}));
  const std::string board_ = folder_.with("board.npy", npy<float>("(1, 6)", {0.1f, 0.2f, 0.3f, 0.1f, 0.1f, 0.2f}));
};

TEST_F(BroughtCommand, ARangeIsAnotherPictureOrOneLine) {
  const std::string svg = drawn({causal_, "--view", "head", "--range", "0,0.5"});
  EXPECT_NE(svg, drawn({causal_, "--view", "head"}));
  for (const char* range : {"1,0", "a,b", "0", "0,nan", "0,1,2"})
    EXPECT_TRUE(contains(refused({"figure", causal_, "--range", range, "-o", "/dev/null"}), "--range: expected "))
        << range;
  EXPECT_TRUE(
      contains(refused({"figure", causal_, "--view", "flow", "--range", "0,1", "-o", "x.svg"}), "--range: expected "));
}

TEST_F(BroughtCommand, ABoardIsLaidOutAsAnImage) {
  const std::string svg = drawn({board_, "--grid", "2x3", "--view", "text"});
  EXPECT_FALSE(svg.empty());
  for (const char* grid : {"2x4", "0x6", "x", "2", "-1x-6"})
    EXPECT_TRUE(contains(refused({"figure", board_, "--grid", grid, "-o", "x.svg"}), "--grid")) << grid;
}

TEST_F(BroughtCommand, NumbersBelowZeroHaveNoNamesAndNoMeasures) {
  EXPECT_FALSE(drawn({signed_, "--view", "head"}).empty());
  EXPECT_TRUE(contains(said_, "below 0")) << said_;
  const Ran heads = run({"heads", signed_, "--format", "csv"});
  EXPECT_EQ(heads.status, 0) << heads.err;
  EXPECT_TRUE(contains(heads.out, "Self,0,0,,,,,,,,,,,,,,,,,\n")) << heads.out;
  EXPECT_TRUE(contains(refused({"page", signed_, "--against", signed_, "-o", (folder_ / "p.html").string()}),
                       "numbers below 0"));
  EXPECT_TRUE(contains(refused({"figure", signed_, "--view", "sentence", "-o", "x.svg"}), "numbers below 0"));
}

TEST_F(BroughtCommand, NaNIsNamedByItsPlace) {
  const std::string file =
      folder_.with("nan.npy", npy<float>("(2, 2)", {1, 0, std::numeric_limits<float>::quiet_NaN(), 0.5f}));
  EXPECT_FALSE(drawn({file, "--view", "head"}).empty());
  EXPECT_TRUE(contains(said_, "1 NaN in 1 row (the first, L0·H0 query 1 key 0)")) << said_;
}

TEST_F(BroughtCommand, WhichTruthBlocksIsFoundOrAsked) {
  const std::vector<std::uint8_t> blocks{0, 1, 1, 0, 0, 1, 0, 0, 0};
  const std::string mask = folder_.with("mask.npy", npy("(3, 3)", blocks, "|b1"));
  drawn({causal_, "--mask", mask, "--view", "head"});
  EXPECT_TRUE(contains(said_, "true is blocked")) << said_;
  const std::string found = drawn({causal_, "--mask", mask, "--view", "head"});
  EXPECT_EQ(drawn({causal_, "--mask", mask, "--mask-true", "blocks", "--view", "head"}), found);
  EXPECT_NE(drawn({causal_, "--mask", mask, "--mask-true", "keeps", "--view", "head"}), found);
  EXPECT_TRUE(
      contains(refused({"figure", causal_, "--mask", mask, "--mask-true", "maybe", "-o", "x.svg"}), "--mask-true"));
}

}  // namespace
}  // namespace headlight
