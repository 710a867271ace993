// Numbers entered by the user on the command line, and programs on standard output.
#include <gtest/gtest.h>

#include <cmath>

#include "app/program.h"
#include "math/forward.h"
#include "models/open_model.h"

namespace headlight {
namespace {

using namespace program;

const std::string kNumbers = std::string(HEADLIGHT_TEST_DATA) + "/../assets/numbers/";

TEST(Numbers, AreAskedLikeAnyModel) {
  const Folder folder;
  const std::string x = folder.with("x.txt", "[[1, 2], [3, 4]]"), q = folder.with("q.csv", "1,0\n0,1\n");
  const json object = exported({"--x", x, "--w-q", q + "," + q, "--w-k", q + "," + q, "--w-v", q + "," + q});
  ASSERT_EQ(object["attention"][0]["attn"][0].size(), 2u);
  // Row 0: scores (5, 11) / √2.
  EXPECT_NEAR(object["attention"][0]["attn"][0][1][0][0].get<double>(), 1 / (1 + std::exp(6 / std::sqrt(2.0))), 2e-5);
  const Ran again = run({"export", "numbers:{\"x\": [[1, 2], [3, 4]], \"num_heads\": 1}"});
  EXPECT_EQ(again.status, 0) << again.err;
}

TEST(Numbers, ASessionHoldsThem) {
  const Folder folder;
  const std::string scores = folder.with("scores.txt", "a 1 2\nb 3 -inf\n");
  const json object = exported({"--scores", scores});
  EXPECT_EQ(object["tokens"][1]["text"], "b");
  EXPECT_EQ(object["attention"][0]["attn"][0][0][1], json({1.0, 0.0}));
  const std::string source = object["request"]["source"].get<std::string>();
  EXPECT_TRUE(source.starts_with("numbers:{\"scores\": ")) << source;
  EXPECT_EQ(exported({source})["attention"], object["attention"]);
}

TEST(Numbers, CheckSaysWhatCannotBeRight) {
  const Ran row = run({"check", kNumbers + "printed-row.numbers.json"});
  EXPECT_EQ(row.status, 1) << row.err;
  EXPECT_NE(row.out.find("row 0 (机票) sums to 1.10, not to 1"), std::string::npos) << row.out;
  EXPECT_NE(row.out.find("not the softmax of its scores"), std::string::npos) << row.out;
  const Ran matrix = run({"check", kNumbers + "printed-matrix.numbers.json"});
  EXPECT_EQ(lines_of(matrix.out), 2) << matrix.out;
  EXPECT_NE(matrix.out.find("row 2 (李雷) sums to 0.90"), std::string::npos) << matrix.out;
  const Ran good = run({"check", kNumbers + "two-heads.numbers.json"});
  EXPECT_EQ(good.status, 0) << good.out << good.err;
  const json found = json::parse(run({"check", "--format", "json", kNumbers + "printed-row.numbers.json"}).out);
  EXPECT_EQ(found["worst"], "warning");
}

TEST(Numbers, WrongOnesAreRefusedInALine) {
  const Folder folder;
  const std::string ragged = folder.with("ragged.txt", "1 2\n3\n"), word = folder.with("word.txt", "1 x\n");
  const std::string x = folder.with("x.txt", "1 2\n3 4\n"), tall = folder.with("tall.txt", "1\n2\n3\n");
  EXPECT_NE(refused({"export", "--x", ragged}).find("ragged.txt: row 1: expected 2 numbers, as in row 0, found 1"),
            std::string::npos);
  EXPECT_NE(refused({"export", "--x", word}).find("column 1: expected a number, found 'x'"), std::string::npos);
  EXPECT_NE(refused({"export", "--x", x, "--w-q", tall}).find("w_q: expected 2 rows"), std::string::npos);
  EXPECT_NE(refused({"export", "shipped:encoder", "--x", x}).find("no SOURCE beside it"), std::string::npos);
  EXPECT_NE(refused({"export", "--x", x, "--text", "a"})
                .find("--text: expected no such option beside numbers of one's own, found numbers: …"),
            std::string::npos);
  EXPECT_NE(refused({"export", "--w-q", x}).find("x: expected what the weights are multiplied with"),
            std::string::npos);
  EXPECT_NE(refused({"check", "--x", x, "folder"}).find("no FOLDER beside it"), std::string::npos);
  EXPECT_NE(refused({"check"}).find("a FOLDER, or numbers"), std::string::npos);
}

TEST(Code, ReadsOneXOfNumbers) {
  for (const char* dialect : {"numpy", "module"}) {
    const Ran ran = run({"code", kNumbers + "two-heads.numbers.json", "--dialect", dialect});
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("\nx = data[\"x\"]"), std::string::npos) << ran.out;
    EXPECT_EQ(ran.out.find("data[\"key\"]"), std::string::npos) << ran.out;
    EXPECT_EQ(ran.out.find("data[\"value\"]"), std::string::npos) << ran.out;
  }
  const Ran cross = run({"code", fixture::golden("tensors-cross-4x6/input.safetensors").string()});
  EXPECT_NE(cross.out.find("query = data[\"query\"]"), std::string::npos) << cross.out << cross.err;
  EXPECT_NE(cross.out.find("key = data[\"key\"]"), std::string::npos) << cross.out;
}

TEST(Code, IsPrintedWithTheShapesOfTheQuestion) {
  const Ran ran = run(small({"code", "--text", "我爱你\n我", "--dialect", "einsum"}));
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find("torch.einsum(\"ibhd,jbhd->ijbh\", q, k)"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("# (3, 2, 2, 4)  i b h d"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("\"attention.npz\""), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace headlight
