// `headlight train` over many steps: its lines, and one that is killed. The sanitizers would make them ten times
// longer.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "train/app/train_program.h"

namespace headlight::program {
namespace {

TEST(CliTrain, ATrainingThatEndsAtAThousandthStepSaysItOnce) {
  const Folder folder;
  const Ran ran = run(train({"--text", folder.with("my.txt", kTrainingText), "--steps", "1000"}, folder / "model"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto first = ran.err.find("step 1000 of 1000");
  ASSERT_NE(first, std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("step 1000 of 1000", first + 1), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("loss 0.000"), std::string::npos) << ran.err;
}

TEST(CliTrain, KilledAtAnyMomentItGoesOnToTheSameBytes) {
  const Folder folder;
  const std::string text = folder.with("my.txt", kTrainingText);
  const Strings options{"--text", text, "--steps", "12000", "--save-every", "0.1", "--threads", "1"};
  const auto begun = std::chrono::steady_clock::now();
  ASSERT_EQ(run(train(options, folder / "whole")).status, 0);
  const auto whole = std::chrono::steady_clock::now() - begun;
  const auto model = folder / "model";
  const Strings fresh = train(options, model);
  Strings words = fresh;
  const auto may_go_on = [&] { return fixture::fs::exists(model / "resume.safetensors"); };
  for (int kills = 0; kills < 4; ++kills) {
    const pid_t process = start(words, "/dev/null", "/dev/null", "/dev/null");
    std::this_thread::sleep_for(whole * (kills + 2) / 20);
    kill(process, SIGKILL);
    status_of(process);
    words = fresh;
    if (may_go_on()) words.push_back("--resume");
  }
  if (may_go_on()) {
    // As a kill between the card and the state leaves it: the card is ahead.
    json card = read_json(model / "training.json");
    card["tokens"] = card["tokens"].get<double>() + 1000;
    ASSERT_TRUE(write_file(model / "training.json", card.dump()));
  }
  const Ran ran = run(words);
  ASSERT_EQ(ran.status, 0) << ran.err;
  Strings files;
  for (const auto& entry : fixture::fs::directory_iterator(model)) files.push_back(entry.path().filename());
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (Strings{"README.md", "config.json", "model.safetensors", "tokenizer.json", "training.json"}));
  for (const std::string& file : files)
    EXPECT_TRUE(*read_file(model / file) == *read_file(folder / "whole" / file)) << file;
}

}  // namespace
}  // namespace headlight::program
