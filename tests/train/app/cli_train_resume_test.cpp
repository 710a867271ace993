// `headlight train` that is interrupted, killed, begun twice or pointed at a folder of other files.
#include <sys/stat.h>

#include <signal.h>

#include <chrono>
#include <thread>

#include "train/app/train_program.h"

namespace headlight::program {
namespace {

/// Starts the program, interrupts it once it has taken steps, and gives its exit status.
int interrupted_run(const Strings& words, const fixture::fs::path& model, Index step_before) {
  const pid_t process = start(words, "/dev/null", "/dev/null", "/dev/null");
  for (int tries = 0; tries < 3000; ++tries) {
    const json card = read_json(model / "training.json");
    if (card.is_object() && card["step"] > step_before) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(process, SIGINT);
  return status_of(process);
}

#ifdef HEADLIGHT_ADDRESS_SANITIZER
constexpr Index kSteps = 800;  // enough to be interrupted in between
#else
constexpr Index kSteps = 6000;
#endif

TEST(CliTrain, GoesOnWhereItWasInterruptedToTheSameBits) {
  const Folder folder;
  const std::string text = folder.with("my.txt", kTrainingText);
  const Strings options{"--text", text, "--steps", std::to_string(kSteps), "--save-every", "0.1", "--threads", "1"};
  ASSERT_EQ(interrupted_run(train(options, folder / "model"), folder / "model", 0), 0);
  const Index step = read_json(folder / "model" / "training.json")["step"];
  ASSERT_LT(step, kSteps) << "interrupted before its end";
  ASSERT_TRUE(fixture::fs::exists(folder / "model" / "resume.safetensors"));
  exported({(folder / "model").string(), "--text", "the cat"});

  Strings resume = options, other = options;
  resume.push_back("--resume");
  other.insert(other.end(), {"--resume", "--seed", "9"});
  EXPECT_TRUE(contains(refused(train(other, folder / "model")), "plan: expected the options and the corpus"));
  const Ran ran = run(train(resume, folder / "model"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Ran whole = run(train(options, folder / "whole"));
  ASSERT_EQ(whole.status, 0) << whole.err;
  EXPECT_EQ(*read_file(folder / "model" / "model.safetensors"), *read_file(folder / "whole" / "model.safetensors"));
  const json resumed_card = read_json(folder / "model" / "training.json");
  EXPECT_EQ(resumed_card, read_json(folder / "whole" / "training.json")) << "and read as many words";
  EXPECT_FALSE(fixture::fs::exists(folder / "model" / "resume.safetensors"));
}

TEST(CliTrain, OverwritesNothingThatIsNotItsOwn) {
  const Folder folder;
  const std::string text = folder.with("my.txt", kTrainingText);
  const auto model = folder / "model";
  fixture::fs::create_directory(model);
  ASSERT_TRUE(write_file(model / "README.md", "mine"));
  ASSERT_TRUE(write_file(model / "notes.txt", "mine too"));
  const Strings options{"--text", text, "--steps", "2"};
  EXPECT_TRUE(
      contains(refused(train(options, model)), "expected an empty folder, --resume or --overwrite, found README.md"));
  EXPECT_EQ(*read_file(model / "README.md"), "mine");
  EXPECT_FALSE(fixture::fs::exists(model / "config.json"));
  EXPECT_FALSE(fixture::fs::exists(model / "training.lock"));

  Strings over = options;
  over.push_back("--overwrite");
  ASSERT_EQ(run(train(over, model)).status, 0);
  EXPECT_NE(*read_file(model / "README.md"), "mine");
  EXPECT_EQ(*read_file(model / "notes.txt"), "mine too");
  EXPECT_EQ(run(train(options, model)).status, 0) << "the very same training, again";

  const std::string before = *read_file(model / "model.safetensors");
  Strings other = options;
  other.insert(other.end(), {"--seed", "9"});
  EXPECT_TRUE(contains(refused(train(other, model)), "found training.json of another training"));
  EXPECT_TRUE(*read_file(model / "model.safetensors") == before);
}

TEST(CliTrain, TwoDoNotShareAFolder) {
  const Folder folder;
  const std::string text = folder.with("my.txt", kTrainingText);
  const auto model = folder / "model";
  const Strings options{"--text", text, "--steps", "1000000"};
  const pid_t first = start(train(options, model), "/dev/null", "/dev/null", "/dev/null");
  for (int tries = 0; tries < 3000 && !fixture::fs::exists(model / "resume.safetensors"); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (const char* option : {"--resume", "--overwrite"}) {
    Strings words = options;
    words.push_back(option);
    EXPECT_TRUE(contains(refused(train(words, model)), "expected a folder that nothing is trained in")) << option;
  }
  kill(first, SIGINT);
  EXPECT_EQ(status_of(first), 0);

  // A FIFO without a writer, instead of a file, must not block the program.
  Strings words = options;
  words.push_back("--resume");
  for (const auto& entry : fixture::fs::directory_iterator(model)) {
    const auto kept = folder / "kept";
    fixture::fs::rename(entry.path(), kept);
    ASSERT_EQ(mkfifo(entry.path().c_str(), 0600), 0);
    const Ran ran = run(train(words, model));
    EXPECT_TRUE(ran.status == 2 || entry.path().filename().string().starts_with('.')) << entry.path();
    EXPECT_EQ(lines_of(ran.err), 1) << ran.err;
    fixture::fs::rename(kept, entry.path());
  }
}

}  // namespace
}  // namespace headlight::program
