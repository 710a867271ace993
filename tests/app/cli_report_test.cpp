// `report`: a text to send.
#include "app/program.h"

namespace headlight {
namespace {

using namespace program;

TEST(Report, HasIdsChecksHeadsAndTimesWithoutPaths) {
  const std::string folder = fixture::golden("bert").string();
  const Ran ran = run({"report", folder, "shipped:decoder"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  for (const char* part : {"# model 0\n", "bert, encoder, ", "# shipped:decoder\n", "ids of ten texts\n",
                           "check\n  good", "heads over ten sentences\n", "opened in ", "L1·H0", "sink"})
    EXPECT_TRUE(contains(ran.out, part)) << part;
  EXPECT_FALSE(contains(ran.out, folder)) << ran.out;
  EXPECT_FALSE(contains(ran.out, "golden")) << ran.out;
}

TEST(Report, OfAnAdapterDoesNotSayWhereItsBaseIs) {
  const Folder folder;
  const std::string base = (folder / "home of somebody/base").string();
  std::filesystem::create_directories(folder / "home of somebody");
  std::filesystem::copy(fixture::golden("llama-gqa"), base);
  std::filesystem::create_directories(folder / "adapter");
  std::filesystem::copy(folder / "home of somebody/base/model.safetensors",
                        folder / "adapter/adapter_model.safetensors");
  for (const char* found : {base.c_str(), "/mnt/somebody/missing"}) {
    folder.with("adapter/adapter_config.json",
                json{{"peft_type", "LORA"}, {"r", 2}, {"base_model_name_or_path", found}}.dump());
    const Ran ran = run({"report", (folder / "adapter").string()});
    EXPECT_EQ(ran.status, found == base ? 0 : 1) << ran.err;
    EXPECT_FALSE(contains(ran.out, "somebody")) << ran.out;
    EXPECT_FALSE(contains(ran.out, "home of")) << ran.out;
    EXPECT_EQ(contains(ran.out, "llama, decoder"), found == base) << "the family is that of the base: " << ran.out;
  }
}

TEST(Report, AModelThatDoesNotOpenIsALine) {
  const Ran ran = run({"report", "no/such", "shipped:decoder"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(contains(ran.out, "does not open: "));
  EXPECT_TRUE(contains(ran.out, "heads over ten sentences"));
  EXPECT_EQ(lines_of(ran.err), 1) << ran.err;
}

}  // namespace
}  // namespace headlight
