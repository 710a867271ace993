// `--mask` of the program: by name, and from files of one mask or one for each sentence.
#include <cstring>
#include <limits>

#include "app/program.h"

namespace headlight {
namespace {

using namespace program;

/// Whether a query may not attend to a key, by the mask and by the weight of the first head.
bool blocked(const json& object, std::size_t query, std::size_t key) {
  const json& allowed = object["mask"]["allowed"][query][key];
  const double weight = object["attention"][0]["attn"][0][0][query][key];
  EXPECT_EQ(weight == 0, allowed == 0 || allowed == false);
  return weight == 0;
}

TEST(Export, MasksByName) {
  const json none = exported(small({"--mask", "none", "--pad", "3"}));
  EXPECT_FALSE(blocked(none, 0, 9));
  const json causal = exported(small({"--mask", "causal", "--pad", "3"}));
  EXPECT_EQ(causal["mask"]["kind"], "causal");
  EXPECT_TRUE(blocked(causal, 3, 4));
  EXPECT_FALSE(blocked(causal, 9, 8));
  const json padding = exported(small({"--mask", "padding", "--pad", "3"}));
  EXPECT_EQ(padding["mask"]["kind"], "padding");
  EXPECT_TRUE(blocked(padding, 0, 7));
  EXPECT_FALSE(blocked(padding, 3, 4));
  const json both = exported(small({"--mask", "causal+padding", "--pad", "3"}));
  EXPECT_EQ(both["mask"]["kind"], "causal+padding");
  EXPECT_TRUE(blocked(both, 9, 8));
  EXPECT_TRUE(blocked(both, 3, 4));
  EXPECT_EQ(exported(small({"--pad", "3"}))["mask"]["kind"], "padding") << "the default";
  const json window = exported(small({"--mask", "causal+window:3+prefix:1"}));
  EXPECT_EQ(window["mask"]["kind"], "causal+window:3+prefix:1");
  EXPECT_TRUE(blocked(window, 6, 3));
  EXPECT_FALSE(blocked(window, 6, 4));
  EXPECT_FALSE(blocked(window, 6, 0));
}

/// A NumPy file.
std::string numpy(const std::string& type, const std::string& shape, const std::string& bytes) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header += std::string(118 - header.size() - 1, ' ') + "\n";
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + bytes;
}

std::string booleans(const std::string& shape, const std::vector<int>& values) {
  return numpy("|b1", shape, {values.begin(), values.end()});
}

std::string floats(const std::string& shape, const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return numpy("<f4", shape, bytes);
}

TEST(Export, EachSentenceOfABatchMayHaveAMaskOfItsOwn) {
  const Folder folder;
  const auto asked = [&](const std::string& mask) { return Strings{"--tokens", "我|爱|你\n你|爱|我", "--mask", mask}; };
  // The first sentence is blocked at (0, 1), the second at (2, 0).
  const std::string last =
      folder.with("last.npy", booleans("3, 3, 2", {1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1}));
  const std::string first =
      folder.with("first.npy", booleans("2, 3, 3", {1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1}));
  const json by_last = exported(small(asked(last))), by_first = exported(small(asked(first)));
  ASSERT_EQ(by_last["batch"].size(), 2u);
  for (const char* written : {"[[[1,1],[0,1],[1,1]],[[1,1],[1,1],[1,1]],[[1,0],[1,1],[1,1]]]",
                              "[[[1,0,1],[1,1,1],[1,1,1]],[[1,1,1],[1,1,1],[0,1,1]]]"})
    EXPECT_EQ(exported(small(asked(folder.with("both.json", written))))["batch"][0]["attention"],
              by_last["batch"][0]["attention"])
        << written;
  EXPECT_TRUE(blocked(by_last["batch"][0], 0, 1));
  EXPECT_FALSE(blocked(by_last["batch"][0], 2, 0));
  EXPECT_TRUE(blocked(by_last["batch"][1], 2, 0));
  EXPECT_FALSE(blocked(by_last["batch"][1], 0, 1));
  for (std::size_t b = 0; b < 2; ++b) EXPECT_EQ(by_last["batch"][b]["attention"], by_first["batch"][b]["attention"]);

  const std::string shared = folder.with("shared.npy", booleans("1, 3, 3", {1, 0, 0, 1, 1, 0, 1, 1, 1}));
  const json causal = exported(small({"--tokens", "我|爱|你\n你|爱|我", "--mask", "causal"}));
  const json by_shared = exported(small(asked(shared)));
  for (std::size_t b = 0; b < 2; ++b) EXPECT_EQ(by_shared["batch"][b]["attention"], causal["batch"][b]["attention"]);

  const auto program = [&](const std::string& mask, const Strings& more) {
    Strings command = small(asked(mask));
    command.insert(command.begin(), "code");
    command.insert(command.end(), more.begin(), more.end());
    const Ran ran = run(command);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.out;
  };
  const std::string said =
      "# The mask was given as (1, 3, 3), broadcast to (2, 3, 3): axis 0, the sentences, is repeated 2 times.\n";
  for (const char* dialect : {"numpy", "einsum", "matmul", "module"})
    EXPECT_TRUE(contains(program(shared, {"--dialect", dialect}), said)) << dialect;
  EXPECT_TRUE(contains(program(last, {"--dialect", "einsum"}), "# (3, 3, 2)  i j b")) << "one for each sentence";

  const std::string odd = folder.with("odd.npy", booleans("3, 3, 4", std::vector<int>(36, 1)));
  Strings misfit = small(asked(odd));
  misfit.insert(misfit.begin(), "export");
  EXPECT_TRUE(contains(refused(misfit), "in the first order axis 2 is 4 for 2 sentences"));
  Strings other = small(asked(folder.with("odd.json", "[[[1,0,1]],[[1,1,1]],[[1,1,0]],[[1,1,1]],[[1,1,1]]]")));
  other.insert(other.begin(), "export");
  EXPECT_TRUE(contains(refused(other), "in the first order axis 0 is 5 for 3 queries"));
  const std::string cube = folder.with("cube.npy", booleans("3, 3, 3", std::vector<int>(27, 1)));
  const auto of_three = [&](const std::string& mask) {
    return small({"export", "--tokens", "我|爱|你\n你|爱|我\n我|我|我", "--mask", mask});
  };
  EXPECT_TRUE(
      contains(refused(of_three(cube)), "found (3, 3, 3): (queries, keys, sentences) or (sentences, queries, keys)"));
  const std::string four = folder.with("four.npy", booleans("3, 1, 3, 3", std::vector<int>(27, 1)));
  EXPECT_EQ(run(of_three(four)).status, 0) << "as PyTorch programs hold it";
}

TEST(Export, MasksFromFiles) {
  const Folder folder;
  std::string rows;
  for (int query = 0; query < 2; ++query) rows += std::string(query ? "," : "") + (query ? "[1,1]" : "[1,0]");
  const json object = exported(small({"--text", "我爱", "--mask", folder.with("m.json", "[" + rows + "]")}));
  EXPECT_EQ(object["mask"]["kind"], "custom");
  EXPECT_EQ(object["attention"][0]["attn"][0][0][0], (json{1, 0}));

  const std::string npy = booleans("2, 2", {1, 0, 1, 1});
  const json from_npy = exported(small({"--text", "我爱", "--mask", folder.with("m.npy", npy)}));
  EXPECT_EQ(from_npy["attention"], object["attention"]);

  EXPECT_EQ(refused({"export", "--mask", folder.with("m.json", "[" + rows + "]")}),
            "mask: shape (queries, keys): expected (10, 10), found (2, 2)\n");
  EXPECT_TRUE(contains(refused({"export", "--mask", (folder / "missing.npy").string()}), "missing.npy"));
  EXPECT_TRUE(contains(refused({"export", "--mask", folder.with("bad.json", "[[1,")}), "bad.json"));
}

TEST(Export, LargeFiniteNumbersOfAMaskAreMaskedCells) {
  const Folder folder;
  const auto asked = [&](float blocked_by) {
    const std::string mask = folder.with("m.npy", floats("3, 3", {0, blocked_by, 0, 0.5f, 0, blocked_by, 0, 0, 0}));
    return small({"--tokens", "我|爱|你", "--mask", mask});
  };
  const auto said = [&](Strings words, const char* command) {
    words.insert(words.begin(), command);
    const Ran ran = run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.out;
  };
  const json expected = exported(asked(-std::numeric_limits<float>::infinity()));
  const Strings cell{"--layer", "0", "--head", "1", "--query", "0", "--key", "1"};
  for (const float number : {-1e4f, -1e9f, std::numeric_limits<float>::lowest()}) {
    const json object = exported(asked(number));
    EXPECT_TRUE(blocked(object, 0, 1));
    EXPECT_TRUE(blocked(object, 1, 2));
    EXPECT_FALSE(blocked(object, 1, 0));
    EXPECT_EQ(object["mask"]["allowed"], expected["mask"]["allowed"]);
    EXPECT_EQ(object["attention"], expected["attention"]);
    Strings one = asked(number), other = asked(-std::numeric_limits<float>::infinity());
    one.insert(one.end(), cell.begin(), cell.end());
    other.insert(other.end(), cell.begin(), cell.end());
    EXPECT_EQ(said(one, "explain"), said(other, "explain"));
    EXPECT_TRUE(contains(said(one, "explain"), "-inf")) << said(one, "explain");
  }
}

TEST(Export, ARowOfNothingButLargeNumbersIsExportedAsItIsComputed) {
  const Folder folder;
  const json object =
      exported(small({"--tokens", "我|爱", "--mask", folder.with("m.npy", floats("2, 2", {-1e9f, -1e9f, 0, -1e9f}))}));
  EXPECT_EQ(object["mask"]["allowed"], (json{{1, 1}, {1, 0}}));
  EXPECT_EQ(object["attention"][0]["attn"][0][0], (json{{0.5, 0.5}, {1, 0}}));
}

}  // namespace
}  // namespace headlight
