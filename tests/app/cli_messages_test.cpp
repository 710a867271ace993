// The error messages for wrong calls: one line that names what would be right.
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "app/program.h"
#include "cli/options/print.h"

namespace headlight {
namespace {

using namespace program;

std::string tiny_model(const Folder& folder) {
  const std::string model = (folder / "model").string();
  const Ran ran = run({"train", "--steps", "3", "--d-model", "8", "--num-heads", "2", "--ffn", "8", "-o", model});
  EXPECT_EQ(ran.status, 0) << ran.err;
  return model;
}

TEST(CliMessages, AShippedModelThatThereIsNotIsAnsweredWithThoseThereAre) {
  const std::string line = refused({"next", "shipped:nix"});
  EXPECT_TRUE(line.starts_with("shipped: expected one of any-sentence, decoder, encoder, ")) << line;
  EXPECT_NE(line.find("translator, found 'nix'"), std::string::npos) << line;
}

TEST(CliMessages, AMisspeltCommandIsAnsweredWithTheNearest) {
  EXPECT_TRUE(refused({"exprt"}).ends_with("; the nearest command: export\n")) << refused({"exprt"});
  EXPECT_TRUE(refused({"hedas", "--sort", "previous"}).ends_with("; the nearest command: heads\n"));
  EXPECT_TRUE(refused({"foo"}).ends_with("; `headlight --help` lists the commands\n")) << refused({"foo"});
  EXPECT_FALSE(contains(refused({"export", "exprt"}), "command:")) << "there a command stands already";
  EXPECT_FALSE(contains(refused({"exprt.npz"}), "command")) << "the name of a file";
}

TEST(CliMessages, AMisspeltPathIsAnsweredWithTheNearest) {
  const Folder folder;
  fixture::fs::create_directories(folder / "golden");
  EXPECT_TRUE(contains(refused({"export", (folder / "goldn").string()}),
                       "found no such file (the nearest: " + (folder / "golden").string() + ")"));
  const std::string file = folder.with("golden/bert.npz", "");
  EXPECT_TRUE(contains(refused({"export", (folder / "goldn/bert.npz").string()}), "(the nearest: " + file + ")"));
  EXPECT_TRUE(contains(refused({"export", (folder / "golden/brt.npz").string()}), "(the nearest: " + file + ")"));
  EXPECT_FALSE(contains(refused({"export", (folder / "golden/quite-another.npz").string()}), "nearest"));
}

TEST(CliMessages, NumbersAreAskedForInThePatternOfAllMessages) {
  EXPECT_EQ(refused({"export", "--scale", "abc"}), "headlight: --scale: expected a number, found 'abc' (see --help)\n");
  EXPECT_EQ(refused({"train", "--steps", "0", "-o", "x"}),
            "headlight: --steps: expected 1 to 100000000, found 0 (see --help)\n");
}

TEST(CliMessages, NumbersAndWordsAreNotRepeatedWhole) {
  const Ran low = run({"generate", "shipped:decoder", "--text", "我", "--temperature", "-1e38"});
  EXPECT_EQ(low.err, "--temperature: expected 0 or more, found -1e+38\n");
  const std::string word(4000, 'm'), digits(300, '9');
  for (const Strings& words : {Strings{"export", word},
                               {word},
                               {"export", "--" + word},
                               {"export", "--mask", word},
                               {"export", "--off", word},
                               {"export", "--with", word},
                               {"export", "--ids", word},
                               {"export", "--d-model", digits},
                               {"heads", "--sort", word},
                               {"figure", "--view", word, "-o", "f.svg"}}) {
    const std::string line = refused(words);
    EXPECT_TRUE(contains(line, "…")) << line;
    EXPECT_FALSE(contains(line, word.substr(0, 81))) << line;
    EXPECT_FALSE(contains(line, digits.substr(0, 81))) << line;
  }
  const Folder folder;
  const std::string path = (folder / std::string(100, 'f') / std::string(100, 'g')).string();
  EXPECT_TRUE(contains(refused({"export", path}), path)) << "a path is whole";
}

TEST(CliMessages, AModelOfAnotherProgramHasALineThatSaysWhatConvertsIt) {
  const Folder folder;
  fixture::fs::create_directories(folder / "model");
  const std::string gguf = folder.with("m.gguf", "GGUF"), onnx = folder.with("model/model.onnx", "onnx");
  for (const char* command : {"export", "check", "diagnose", "tokenize", "heads"}) {
    const std::string line = refused({command, gguf});
    EXPECT_TRUE(line.starts_with(gguf + ": ")) << line;
    EXPECT_TRUE(contains(line, "more bytes at 4") || command == std::string_view("diagnose")) << line;
    for (const std::string& source : {onnx, (folder / "model").string()})
      EXPECT_TRUE(contains(refused({command, source}), "found an ONNX file, ") || source != onnx) << command << source;
  }
  EXPECT_TRUE(contains(refused({"export", (folder / "model").string()}), "found model.onnx, an ONNX file, "))
      << "in a folder";
}

TEST(CliMessages, ALongCommandReportsFromItsFirstSecondOn) {
  const Folder folder;
  const std::string file = folder.with("err", "");
  Progress progress;
  setenv("HEADLIGHT_PROGRESS", "1", 1);
  {
    const Redirected errors(STDERR_FILENO, file.c_str(), O_WRONLY);
    const ProgressReport outer("export");
    while (read_file(file)->empty()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    progress.done = 0.25f;
    const ProgressReport inner("patch", &progress);
    while (!contains(*read_file(file), "patch")) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  setenv("HEADLIGHT_PROGRESS", "0", 1);
  EXPECT_EQ(*read_file(file), "export: 1 s\npatch: 25 %, 3 s left\n");
}

TEST(CliMessages, ATextThatWouldNotBeReadIsRefused) {
  EXPECT_EQ(refused({"heads", "--relations", "--text", "a"}),
            "--text: expected no --relations, which has sentences of its own, found --text\n");
}

TEST(CliMessages, WeightsByHandThatSumToMoreThanOneAreSaid) {
  const Strings one{"export", "--random", "--text", "a b c", "--weight", "0.1.2.0=0.9"};
  EXPECT_EQ(run(one).err, "");
  Strings two = one;
  two.insert(two.end(), {"--weight", "0.1.2.1=0.9"});
  EXPECT_NE(run(two).err.find("weights by hand: the row of query 2 in head 0.1 sums to 1.8, more than 1"),
            std::string::npos)
      << run(two).err;
  Strings other = one;
  other.insert(other.end(), {"--weight", "0.1.1.1=0.9"});
  EXPECT_EQ(run(other).err, "") << "of another row";
}

TEST(CliMessages, TheMaskThatAModelDoesNotKnowIsSaid) {
  const Ran unmasked = run({"next", "shipped:encoder", "--text", "我请李雷", "--top", "1"});
  EXPECT_NE(unmasked.err.find("no <mask> in the sentence"), std::string::npos) << unmasked.err;
  const Ran masked = run({"next", "shipped:encoder", "--text", "我请<mask>", "--top", "1"});
  EXPECT_EQ(masked.err, "");
}

TEST(CliMessages, EveryOptionOfATrainingSaysWhatItIsAndWhatItIsWithoutIt) {
  std::istringstream help(run({"train", "--help"}).out + run({"train", "--help-model"}).out +
                          run({"train", "--help-teaching"}).out);
  std::string line, before;
  int numbers = 0;
  while (std::getline(help, line)) {
    if (line.starts_with("  --")) {
      before = line;
      // The text begins at column 30 or, for a longer option, on the next line.
      const bool below = line.size() <= 30 || line[29] != ' ';
      if (below) {
        ASSERT_TRUE(std::getline(help, line));
        EXPECT_TRUE(line.starts_with("      ") && line.find_first_not_of(' ') != std::string::npos) << before;
      }
      const bool number = before.find(" INT") != std::string::npos || before.find(" FLOAT") != std::string::npos ||
                          before.find(" UINT") != std::string::npos;
      numbers += number;
      const bool by_task = before.starts_with("  --hide") || before.starts_with("  --swap");
      EXPECT_TRUE(!number || by_task || before.find('=') != std::string::npos) << before;
    }
  }
  EXPECT_GT(numbers, 25);
}

TEST(CliMessages, ATrainingThatCameToItsEndNeedsNoMore) {
  const Folder folder;
  const std::string model = tiny_model(folder);
  const Strings again{"train", "--steps", "3", "--d-model", "8",  "--num-heads",
                      "2",     "--ffn",   "8", "--resume",  "-o", model};
  const std::string weights = *read_file(model + "/model.safetensors");
  const Ran ran = run(again);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, model + ": done before; see its README.md\n");
  Strings longer = again;
  longer[2] = "9";
  EXPECT_EQ(refused(longer), model +
                                 ": expected a training that was interrupted, found one that took all its 3 steps; "
                                 "--from begins another with its weights\n");
  EXPECT_EQ(*read_file(model + "/model.safetensors"), weights);
}

}  // namespace
}  // namespace headlight
