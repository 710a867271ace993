// patch --estimate, as a person runs it.
#include <gtest/gtest.h>

#include "app/program.h"
#include "read/array/npz.h"

namespace headlight {
namespace {

using namespace program;
using fixture::golden;

Strings estimate_words(const Strings& more) {
  Strings words{"patch", golden("gpt2").string(), "--ids", "5,14,12,9", "--from", "--ids 5,3,12,9", "--at", "heads"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

json parsed(const Strings& words) {
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return json::parse(ran.out, nullptr, false);
}

TEST(EstimateCommand, HasAnEstimateOfEveryPlaceAndPatchesSome) {
  const json exact = parsed(estimate_words({"--at-tokens", "all", "--format", "json"}));
  const json all = parsed(estimate_words({"--at-tokens", "all", "--format", "json", "--estimate", "3"}));
  ASSERT_EQ(all["cells"].size(), exact["cells"].size());
  int largest = 0, random = 0;
  for (std::size_t i = 0; i < all["cells"].size(); ++i) {
    const json& cell = all["cells"][i];
    EXPECT_TRUE(cell["estimate"].is_number());
    EXPECT_EQ(cell["token"], exact["cells"][i]["token"]);
    EXPECT_EQ(cell["patched"].is_null(), cell["restored"].is_null());
    if (cell["patched"].is_null()) continue;
    EXPECT_EQ(cell["restored"], exact["cells"][i]["restored"]);
    ++(cell["patched"] == "largest" ? largest : random);
  }
  EXPECT_EQ(largest, 3);
  EXPECT_EQ(random, 3);
  EXPECT_EQ(all["estimate"]["places"], all["cells"].size());
  EXPECT_EQ(all["estimate"]["patched"], 6);
  EXPECT_TRUE(all["estimate"]["missed"].is_array());
}

TEST(EstimateCommand, NamesEveryRandomPlaceThatDoesMoreThanTheLeastOfTheLargest) {
  const json all = parsed(estimate_words({"--format", "json", "--estimate", "2"}));
  double least = 1e9;
  std::size_t missed = 0;
  for (const json& cell : all["cells"])
    if (cell["patched"] == "largest") least = std::min(least, std::abs(cell["restored"].get<double>()));
  for (const json& cell : all["cells"])
    if (cell["patched"] == "random" && std::abs(cell["restored"].get<double>()) > least) ++missed;
  EXPECT_EQ(all["estimate"]["missed"].size(), missed);
}

TEST(EstimateCommand, CountsTheFirstTenAmongTheFirstTwentyWhereAllPlacesWerePatched) {
  const auto size_of = [](const json& cell, const char* column) { return std::abs(cell[column].get<double>()); };
  const json all = parsed(estimate_words({"--at-tokens", "all", "--format", "json", "--estimate", "99"}));
  ASSERT_GT(all["cells"].size(), 20u);
  const auto largest = [&](const char* column, std::size_t count) {
    std::vector<std::size_t> order(all["cells"].size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return size_of(all["cells"][a], column) > size_of(all["cells"][b], column);
    });
    order.resize(count);
    return order;
  };
  const std::vector<std::size_t> estimated = largest("estimate", 20);
  int recalled = 0;
  for (const std::size_t one : largest("restored", 10))
    recalled += static_cast<int>(std::count(estimated.begin(), estimated.end(), one));
  EXPECT_EQ(all["estimate"]["recall"], recalled);
  EXPECT_TRUE(
      parsed(estimate_words({"--at-tokens", "all", "--format", "json", "--estimate", "3"}))["estimate"]["recall"]
          .is_null())
      << "of six places nobody knows";
}

TEST(EstimateCommand, HasEachFormat) {
  const Ran text = run(estimate_words({"--estimate"}));
  EXPECT_EQ(text.status, 0) << text.err;
  for (const char* part :
       {"estimated by the gradient at 6 places", "patched at 6", "correlation of both: ", "missed: "})
    EXPECT_TRUE(contains(text.out, part)) << text.out;
  EXPECT_TRUE(contains(run(estimate_words({"--format", "csv", "--estimate"})).out,
                       "layer,head,token,estimate,restored,patched\n0,0,,"));
  const Folder folder;
  const std::string file = folder.with("x.npz", "");
  ASSERT_EQ(run(estimate_words({"--format", "npz", "--estimate", "2"}), "", file.c_str()).status, 0);
  const auto arrays = read_npz(file);
  ASSERT_TRUE(arrays);
  EXPECT_EQ(arrays->arrays.at("estimate_map").shape, (std::vector<Index>{2, 3}));
  EXPECT_EQ(arrays->arrays.at("patched").values.size(), 4u);
  EXPECT_FALSE(arrays->arrays.contains("restored"));
}

TEST(EstimateCommand, RefusesWhatHasNoGradientOrNoMeaning) {
  EXPECT_TRUE(contains(refused(estimate_words({"--estimate", "--metric", "rank"})), "a metric that has a gradient"));
  EXPECT_TRUE(contains(refused(estimate_words({"--estimate", "--direction", "both"})), "one direction"));
  EXPECT_TRUE(contains(refused(estimate_words({"--estimate", "--control", "random:2"})), "no --control"));
  EXPECT_TRUE(contains(refused(estimate_words({"--estimate", "0"})), "--estimate"));
  EXPECT_TRUE(contains(refused({"patch", golden("family-mixtral").string(), "--ids", "5,14,12,9", "--from",
                                "--ids 5,3,12,9", "--at", "heads", "--estimate"}),
                       "experts"));
}

TEST(EstimateCommand, OfManyPairsAveragesTheEstimates) {
  const Folder folder;
  const std::string pairs = folder.with("p.csv", "clean,corrupt\n5 14 12 9,5 3 12 9\n5 20 12 9,5 31 12 9\n");
  const Strings words{"patch",      golden("gpt2").string(), "--pairs", pairs,      "--at", "heads",
                      "--estimate", "--normalise",           "pairs",   "--format", "json"};
  const json study = parsed(words);
  double sum = 0;
  for (const auto& [clean, corrupt] : {std::pair("5,14,12,9", "5,3,12,9"), {"5,20,12,9", "5,31,12,9"}})
    sum += parsed({"patch", golden("gpt2").string(), "--ids", clean, "--from", std::string("--ids ") + corrupt, "--at",
                   "heads", "--estimate", "--format", "json"})["cells"][4]["estimate"]
               .get<double>();
  double mean = 0;
  for (const json& cell : study["cells"])
    if (cell["what"] == "estimate" && cell["layer"] == 1 && cell["head"] == 1) mean = cell["mean"].get<double>();
  EXPECT_NEAR(mean, sum / 2, 1e-7);
  EXPECT_TRUE(contains(study["metric"].get<std::string>(), "estimated"));
  const std::string rows = (folder / "rows.jsonl").string();
  Strings kept = words;
  kept.insert(kept.end(), {"--resume", rows});
  parsed(kept);
  EXPECT_TRUE(contains(run({"study", rows}).out, " --estimate --")) << "no word where none was given";
}

}  // namespace
}  // namespace headlight
