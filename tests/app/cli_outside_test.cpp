// What the command line prints of words and models from outside: nothing that a terminal would obey, at once, and no
// name of a head without the doubt that belongs to it.
#include <gtest/gtest.h>

#include <fcntl.h>

#include "app/program.h"
#include "cli/options/print.h"

namespace headlight {
namespace {

using namespace program;

const std::string kObeyed =
    "a\x1b]0;x\x07|b\xc2\x9b"
    "31m|c\xe2\x80\xae|d\te";

TEST(CliOutside, NoTableHasWhatATerminalObeys) {
  for (const Strings& words :
       {Strings{"tokenize", "--random", "--tokens", kObeyed},
        {"next", "--random", "--arch", "decoder", "--tokens", kObeyed},
        {"generate", "--random", "--arch", "decoder", "--tokens", kObeyed, "--count", "8"},
        {"heads", "--random", "--tokens", kObeyed, "--to",
         "b\xc2\x9b"
         "31m",
         "--above", "0"},
        {"explain", "--random", "--tokens", kObeyed, "--head", "0.0", "--query", "0", "--key", "1"}}) {
    const Ran ran = run(small(words));
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_FALSE(ran.out.empty());
    for (const char* obeyed : {"\x1b", "\x07", "\xc2\x9b", "d\te"})
      EXPECT_FALSE(contains(ran.out, obeyed)) << words[0] << ": " << ran.out.substr(0, 400);
  }
  EXPECT_EQ(word_in_table("d\ne"), "d⏎e") << "as tokens of a checkpoint may be";
}

TEST(CliOutside, TheListOfModelsHasNothingThatATerminalObeys) {
  const Folder folder;
  fixture::fs::create_directories(folder / "models/bad");
  fixture::fs::create_directories(folder / "config/headlight");
  folder.with("models/bad/config.json", R"({"model_type": "\u001b[2J\u009bq", "torch_dtype": "\u001b]0;x"})");
  folder.with("config/headlight/model-folders.txt", (folder / "models").string() + "\n");
  const std::string kept = ::getenv("XDG_CONFIG_HOME") ? ::getenv("XDG_CONFIG_HOME") : "";
  ::setenv("XDG_CONFIG_HOME", (folder / "config").c_str(), 1);
  const Ran ran = run({"models"});
  kept.empty() ? ::unsetenv("XDG_CONFIG_HOME") : ::setenv("XDG_CONFIG_HOME", kept.c_str(), 1);
  EXPECT_TRUE(contains(ran.out, "bad") && contains(ran.out, "?[2J")) << ran.out << ran.err;
  EXPECT_FALSE(contains(ran.out, "\x1b") || contains(ran.out, "\xc2\x9b"));
}

TEST(CliOutside, EachWordIsWrittenWhenItIsFound) {
  int out[2];
  ASSERT_EQ(::pipe2(out, O_DIRECT), 0);  // what is written at once is read at once
  const Strings words = small({"generate", "--random", "--arch", "decoder", "--text", "我请", "--count", "6"});
  const pid_t process = start(words, [&] { dup2(out[1], STDOUT_FILENO); });
  ::close(out[1]);
  EXPECT_EQ(status_of(process), 0);
  int writes = 0;
  char line[4096];
  for (ssize_t size = 0; (size = ::read(out[0], line, sizeof line)) > 0; ++writes) {
    const std::string text(line, static_cast<std::size_t>(size));
    EXPECT_EQ(lines_of(text), 1) << text;
    EXPECT_TRUE(text.starts_with(std::to_string(writes + 1) + "\t")) << text;
  }
  EXPECT_EQ(writes, 6);
  ::close(out[0]);
}

TEST(CliOutside, APictureOfRandomWeightsSaysSo) {
  const Folder folder;
  Strings words = small({"screenshot", "--text", "a b", "--size", "640x480", "-o", (folder / "window.png").string()});
  const Ran ran = run(words);
  if (contains(ran.err, "built without the window")) return;
  EXPECT_EQ(ran.status, 0);
  EXPECT_TRUE(contains(ran.err, "warning: the weights are random, seed 0: no trained model has this shape")) << ran.err;
  words.push_back("--random");
  EXPECT_EQ(run(words).err, "") << "asked for";
}

TEST(CliOutside, ATableCountsTheRelationsOfItsSentences) {
  const std::string of_grammar = "我请李雷帮我订了去北京的机票", other = "机票北京我";
  const auto table = [](const std::string& text) { return run({"heads", "shipped:encoder", "--text", text}).out; };
  EXPECT_TRUE(contains(table(of_grammar), "  object → its verb\n")) << table(of_grammar);
  EXPECT_FALSE(contains(table(other), "object → its verb")) << "no such pair";
  for (const std::string& both : {of_grammar + "\n" + other, other + "\n" + of_grammar})
    EXPECT_TRUE(contains(table(both), "  object → its verb\n")) << table(both);
  EXPECT_TRUE(contains(table(of_grammar + "\n" + of_grammar), "  2 × object → its verb\n"));
}

TEST(CliOutside, AScoreThatPositionAloneReachesIsInBrackets) {
  const Ran ran = run({"heads", "shipped:decoder", "--text", "我请李雷帮我", "--format", "json", "--sort", "learned"});
  const json heads = json::parse(ran.out, nullptr, false)["heads"];
  double before = 2;
  int doubted = 0;
  for (const json& head : heads) {
    double best = -1;
    for (const json& one : head.value("learned", json::array())) {
      EXPECT_EQ(one["worn"], one["accuracy"].get<double>() - one["position"].get<double>() >= 0.15) << one;
      if (one["worn"] == true) best = std::max(best, one["accuracy"].get<double>());
      else ++doubted;
    }
    EXPECT_LE(best, before) << "sorted by what a head wears";
    before = best;
  }
  EXPECT_GT(doubted, 0);
  EXPECT_GT(heads[0]["learned"][0]["accuracy"].get<double>(), 0.5);
  const std::string csv = run({"heads", "shipped:decoder", "--text", "我请李雷帮我", "--format", "csv"}).out;
  EXPECT_TRUE(contains(csv, "(CO 0.0")) << csv;
  EXPECT_FALSE(contains(csv, ",CO 0.0") || contains(csv, "\"CO 0.0")) << csv;
}

}  // namespace
}  // namespace headlight
