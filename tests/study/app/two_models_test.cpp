// patch --pairs --from MODEL: heads of one model in another, over sentences.
#include <gtest/gtest.h>

#include <string>

#include "app/program.h"

namespace headlight {
namespace {

using namespace program;
using fixture::golden;

json answer_to(const Strings& words) {
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return json::parse(ran.out, nullptr, false);
}

TEST(TwoModels, OfOneSentenceAreWhatPatchSaysOfIt) {
  const Folder folder;
  const std::string model = golden("gpt2").string(), tuned = (folder / "tuned").string();
  std::filesystem::copy(model, tuned);
  std::string weights = *read_file(tuned + "/model.safetensors");
  const std::size_t at = weights.size() - 64;
  for (std::size_t i = 0; i < 60; i += 4) weights[at + i + 1] = static_cast<char>(weights[at + i + 1] ^ 0x40);
  ASSERT_TRUE(write_file(tuned + "/model.safetensors", weights));
  const std::string pairs = folder.with("pairs.csv", "clean\n5 10 12 9\n");
  const Strings how{"--at", "heads", "--metric", "kl", "--format", "json"};
  Strings study{"patch", tuned, "--pairs", pairs, "--from", model},
      one{"patch", tuned, "--ids", "5,10,12,9", "--from", model + " --ids 5,10,12,9"};
  study.insert(study.end(), how.begin(), how.end());
  one.insert(one.end(), how.begin(), how.end());
  const json alone = answer_to(one)["cells"], cells = answer_to(study)["cells"];
  std::size_t found = 0;
  for (const json& cell : cells) {
    if (cell["what"] != "restored") continue;
    for (const json& other : alone)
      if (other["layer"] == cell["layer"] && other["head"] == cell["head"]) {
        EXPECT_NEAR(cell["mean"].get<double>(), other["restored"].get<double>(), 1e-5);
        ++found;
      }
  }
  EXPECT_EQ(found, alone.size());
  // A row is of both models.
  const std::string kept = (folder / "rows.jsonl").string();
  study.insert(study.end(), {"--resume", kept});
  const std::string before = run(study).out;
  EXPECT_EQ(run(study).out, before);
}

TEST(TwoModels, AnotherShapeOrOtherTokensAreOneLine) {
  const Folder folder;
  const std::string pairs = folder.with("pairs.csv", "clean,corrupt\n我请李雷,\n");
  const auto refusal_of = [&](const std::string& from) {
    return refused({"patch", "shipped:decoder", "--pairs", pairs, "--at", "heads", "--from", from});
  };
  EXPECT_TRUE(contains(refusal_of("shipped:any-sentence"), "--from: "));
  EXPECT_TRUE(contains(refusal_of(golden("gpt2").string()), "--from: tokens: expected those of the SOURCE"));
  EXPECT_TRUE(contains(refusal_of(golden("tensors-self-6/input.safetensors").string()), "--from: "));
  EXPECT_TRUE(contains(refusal_of("no such model"), "--from: "));
}

}  // namespace
}  // namespace headlight
