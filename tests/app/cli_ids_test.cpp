// The command line: --ids of several lines.
#include <gtest/gtest.h>

#include "app/program.h"

namespace headlight {
namespace {

using namespace program;
using fixture::golden;

TEST(CliIds, IdsOfSeveralLinesAreABatch) {
  const std::string gpt2 = golden("gpt2").string(), bert = golden("bert").string();
  const json both = exported({gpt2, "--ids", "1,2,3\n4,5"});
  ASSERT_EQ(both["batch"].size(), 2u);
  EXPECT_EQ(texts(both["batch"][1]["tokens"]), (Strings{"4", "5", "<pad>"}));
  const json alone = exported({gpt2, "--ids", "4,5"}), &padded = both["batch"][1]["attention"][0]["attn"];
  for (int query = 0; query < 2; ++query)
    for (int key = 0; key < 2; ++key)
      EXPECT_EQ(padded[1][2][query][key], alone["attention"][0]["attn"][1][2][query][key]) << query << key;
  EXPECT_EQ(exported({gpt2, "--ids", "-"}, "1,2,3\n4,5\n")["batch"], both["batch"]);
  const auto typed = exported({bert, "--ids", "2,9\n2,5,3", "--token-type-ids", "0,1\n0,0,1"})["batch"];
  EXPECT_EQ(typed[1]["tokens"][2]["type"], 1);
  EXPECT_EQ(typed[0]["tokens"][1]["type"], 1);
  const std::string marian = golden("marian").string();
  EXPECT_EQ(exported({marian, "--ids", "1,2\n3", "--decoder-ids", "1\n2,3"})["batch"].size(), 2u);
  EXPECT_TRUE(contains(refused({"export", marian, "--ids", "1,2\n3", "--decoder-ids", "1"}), "target: sentences: "));
}

TEST(CliIds, OfSeveralLinesOfIdsABadOneIsNamedAndTheRestGoesOn) {
  const std::string gpt2 = golden("gpt2").string();
  for (const char* command : {"export", "next", "lens", "heads", "generate", "tokenize"}) {
    const Ran ran = run({command, gpt2, "--ids", "1,2\n\n1,x\n3\n999"}), good = run({command, gpt2, "--ids", "1,2\n3"});
    EXPECT_EQ(ran.status, 0) << command << ran.err;
    EXPECT_TRUE(contains(ran.err, "--ids: line 3: expected whole numbers with a comma between them, found '1,x'"))
        << command << ran.err;
    EXPECT_TRUE(
        contains(ran.err, "--ids: line 5: expected an id below 53, the rows of the table of embeddings, found 999"))
        << command << ran.err;
    EXPECT_EQ(ran.out, good.out) << command;
    EXPECT_GT(good.out.size(), 0u) << command;
  }
  EXPECT_TRUE(contains(refused({"export", gpt2, "--ids", "x\ny"}), "--ids: line 1: "));
  const Ran lines = run({"export", gpt2, "--ids", "1,2\n1,x\n3", "--lines"});
  EXPECT_EQ(lines.status, 2);
  EXPECT_EQ(lines_of(lines.out), 3);
  EXPECT_TRUE(contains(lines.err, "found 1 of 3 lines that cannot; the first is line 2: ids: ")) << lines.err;
  EXPECT_EQ(run({"export", gpt2, "--ids", "-", "--lines"}, "1,2\n1,x\n3").out, lines.out);
  EXPECT_TRUE(contains(lines.out.substr(0, lines.out.find('\n')), "\"ids\":[1,2]"));
}

}  // namespace
}  // namespace headlight
