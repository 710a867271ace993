// The input that the window begins with.
#include <gtest/gtest.h>

#include "cli/frame/cli.h"
#include "models/bundled_models.h"

namespace headlight {
namespace {

/// The Startup that `headlight ARGUMENTS…` hands to the window.
Startup started(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "headlight");
  Startup handed;
  Frontend frontend;
  frontend.open_window = [&](const Startup& start) -> Status {
    handed = start;
    return Done{};
  };
  EXPECT_EQ(run_command_line(static_cast<int>(arguments.size()), arguments.data(), frontend), 0);
  return handed;
}

constexpr const char* kFolder = HEADLIGHT_TEST_DATA "/golden/gpt2";

TEST(Open, NothingIsTheTrainedModel) {
  const Startup start = started({});
  EXPECT_TRUE(is_shipped(start.session.document));
  EXPECT_EQ(start.session.document.source.text, kDefaultSentence);
  EXPECT_FALSE(start.asked);
  EXPECT_EQ(start.open, "");
}

TEST(Open, ACheckpointAloneIsLeftToTheWindowWhichShowsItsProgress) {
  for (const std::vector<const char*>& words : {std::vector<const char*>{kFolder}, {"open", kFolder}}) {
    const Startup start = started(words);
    EXPECT_EQ(start.open, kFolder);
    EXPECT_TRUE(start.asked);
    EXPECT_EQ(start.session.document.model, nullptr);
  }
}

TEST(Open, ACheckpointThatIsAskedSomethingIsReadAtOnce) {
  const Startup start = started({kFolder, "--ids", "1,2,3"});
  EXPECT_EQ(start.open, "");
  ASSERT_TRUE(start.session.document.model);
  EXPECT_EQ(start.session.document.source.ids, (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(Open, FreshWeightsAreFresh) {
  for (const char* option : {"--random", "--no-bias"}) EXPECT_FALSE(started({option}).session.document.model) << option;
}

}  // namespace
}  // namespace headlight
