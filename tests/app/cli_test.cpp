#include <gtest/gtest.h>

#include "app/program.h"

namespace headlight {
namespace {

using namespace program;
using fixture::golden;

TEST(CommandLine, SaysWhatItIs) {
  const Ran help = run({"--help"}), version = run({"--version"});
  EXPECT_EQ(help.status, 0);
  for (const char* command : {"open", "export", "screenshot", "tokenize"}) EXPECT_TRUE(contains(help.out, command));
  EXPECT_EQ(help.err, "");
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.find("headlight "), 0u);
  EXPECT_EQ(lines_of(version.out), 1);
  for (const char* command : {"open", "export", "screenshot", "tokenize"}) {
    const Ran ran = run({command, "--help"});
    EXPECT_EQ(ran.status, 0) << command;
    EXPECT_TRUE(contains(ran.out, "--help-request") && !contains(ran.out, "--mask TEXT")) << command;
    EXPECT_EQ(ran.err, "");
    const Ran question = run({command, "--help-request"});
    EXPECT_EQ(question.status, 0) << command;
    EXPECT_TRUE(contains(question.out, "--mask") && contains(question.out, "--text")) << command;
  }
}

TEST(CommandLine, TheHelpOfEachCommandFitsOnAScreen) {
  std::istringstream help(run({"--help"}).out);
  std::string line;
  while (std::getline(help, line) && line != "Subcommands:") continue;
  int commands = 0;
  for (; std::getline(help, line) && line.starts_with("  "); ++commands) {
    const std::string command = line.substr(2, line.find(' ', 2) - 2);
    EXPECT_LT(lines_of(run({command, "--help"}).out), 40) << command;
  }
  EXPECT_GE(commands, 19);
}

TEST(CommandLine, TheOptionsOfAQuestionAreAListForMachines) {
  const json options = json::parse(run({"export", "--help-request", "--format", "json"}).out);
  std::map<std::string, json> by_name;
  for (const json& option : options) by_name[option.at("option")] = option;
  EXPECT_EQ(by_name.at("--pad").at("takes"), "N");
  EXPECT_EQ(by_name.at("--random").at("takes"), "");
  EXPECT_EQ(by_name.at("--weight").at("several"), true);
  EXPECT_EQ(by_name.at("--scale").at("several"), false);
  EXPECT_EQ(by_name.count("--output") + by_name.count("--help"), 0u) << "of the command";
  EXPECT_EQ(options, json::parse(run({"why", "--help-request", "--format=json"}).out)) << "the same of every command";
}

TEST(CommandLine, WrongUseIsOneLine) {
  EXPECT_TRUE(contains(refused({"export", "--no-such-option"}), "--no-such-option"));
  refused({"--no-such-option"});
  refused({"no-such-command"});
  EXPECT_TRUE(contains(refused({"bench", "attention"}), "./run bench"));
  refused({"export", "--d-model", "many"});
  EXPECT_TRUE(contains(refused({"export", "--pad", "-1"}), "--pad: expected a whole number, 0 or more, found -1"));
  refused({"export", "--threads", "-1"});
  refused({"export", "--seed", "-1"});
  refused({"export", "one.npz", "two.npz"});
  refused({"export", "--text"});
  refused({"export", "--text", "a", "--tokens", "a|b"});
  refused({"export", "--tokens", "a|b", "--split", "characters"});
  refused({"tokenize", "--format", "xml"});
  refused({"screenshot"});
  EXPECT_TRUE(contains(refused({"export", "--format", "xml"}), "--format: expected json, npz, safetensors or csv"));
  EXPECT_TRUE(contains(refused({"export", "--with", "everything"}),
                       "--with: expected qkv, scores, norms, rollout, gradient, qk, ov, a part"));
  EXPECT_TRUE(contains(refused({"export", "--arch", "recurrent"}), "--arch: expected encoder or decoder"));
  EXPECT_TRUE(contains(refused({"export", "--position", "relative"}), "--position"));
  EXPECT_TRUE(contains(refused({"export", "--norm", "none"}), "--norm"));
  EXPECT_TRUE(contains(refused({"export", "--activation", "tanh"}), "--activation"));
  EXPECT_TRUE(contains(refused({"export", "--split", "lines"}), "--split"));
  EXPECT_TRUE(contains(refused({"export", "--mask", "some"}), "--mask: expected none, or causal, padding, window:N"));
  EXPECT_TRUE(contains(refused({"export", "--scale", "nan"}), "--scale: expected a finite number"));
  EXPECT_TRUE(contains(refused({"export", "-o", "x.png"}), "x.png: ending: expected .json"));
  EXPECT_EQ(refused({"export", "--num-heads", "5"}), "model: num_heads: expected a divisor of d_model 64, found 5\n");
  EXPECT_TRUE(contains(refused({"export", "--d-model", "0"}), "d_model: expected 1 to"));
}

TEST(CommandLine, TextThatCannotBeAskedIsOneLine) {
  EXPECT_TRUE(contains(refused({"export", "--text", ""}), "text: tokens: expected at least one, found none"));
  EXPECT_TRUE(contains(refused({"export", "--text", "-"}, "\n\n"), "at least one"));
  EXPECT_TRUE(contains(refused({"export", "--text",
                                "a\xFF"
                                "b"}),
                       "--text"));
  EXPECT_TRUE(contains(refused({"tokenize", "--text", "-"}, "\xC3"), "--text"));
  EXPECT_TRUE(contains(refused({"export", "--tokens", "a||b"}), "--tokens: token 2"));
  EXPECT_TRUE(contains(refused({"export", "--tokens", ""}), "--tokens"));
}

TEST(Tokenize, RangesJoinToTheText) {
  const std::string text = "  The cat, 我爱北京 👩‍👩‍👧! ";
  for (const char* split : {"words", "characters"}) {
    const Ran ran = run({"tokenize", "--format", "json", "--split", split, "--text", text});
    ASSERT_EQ(ran.status, 0) << ran.err;
    std::string joined;
    const json tokens = json::parse(ran.out)["tokens"];
    for (const json& token : tokens) {
      const std::size_t begin = token["bytes"][0], end = token["bytes"][1];
      EXPECT_EQ(begin, joined.size());
      joined += text.substr(begin, end - begin);
      EXPECT_EQ(end, joined.size());
    }
    EXPECT_EQ(joined, text);
  }
}

TEST(Tokenize, ATableOfIdRangeAndToken) {
  const Ran ran = run({"tokenize"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(lines_of(ran.out), 10);
  EXPECT_TRUE(contains(ran.out, "\t0\t3\t我\n"));
  EXPECT_TRUE(contains(ran.out, "\t6\t12\t李雷\n"));
  EXPECT_EQ(lines_of(run({"tokenize", "shipped:encoder", "--text", "a b\nc d"}).out), 5)
      << "a blank line between sentences";
  EXPECT_TRUE(contains(run({"tokenize", "--text", "The cat sat"}).out, "1\t0\t0\t<s>")) << "the model for any sentence";
  EXPECT_EQ(lines_of(run({"tokenize", "--format", "json", "--text", "a b\nc d"}).out), 2);
}

TEST(Tokenize, ATensorsFileBringsItsTokens) {
  const Ran ran = run({"tokenize", golden("tensors-cross-4x6/input.safetensors").string(), "--format", "json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(json::parse(ran.out)["tokens"].size(), 4u);
}

TEST(CommandLine, WhatATerminalObeysIsNotPrinted) {
  const Folder folder;
  const std::string session =
      folder.with("a.headlight.json",
                  R"({"schema": "headlight.session/1", "request": {"source": "\u001b]0;x\u0007\u001b[2J\n\u009b\u202e",
                     "text": "a"}})");
  const std::string line = refused({"export", session});
  EXPECT_TRUE(contains(line, "?]0;x??[2J???")) << line;
  EXPECT_TRUE(contains(refused({"export", "\u001b[31m"}), "?[31m: kind: "));
  const std::string long_name(100'000, 'x');
  EXPECT_LT(refused({"figure", "--matrix", long_name, "-o", (folder / "a.svg").string()}).size(), 5000u);
}

TEST(CommandLine, HelpThatCannotBePrintedIsAFailure) {
  for (const Strings& words : {Strings{"--help"}, Strings{"--version"}, Strings{"export", "--help"}}) {
    const Ran full = run(words, "", "/dev/full");
    EXPECT_EQ(full.status, 2) << words[0];
    EXPECT_EQ(full.err, "standard output: write: expected room to write, found No space left on device\n");
    EXPECT_EQ(run(words).status, 0);
  }
  EXPECT_TRUE(contains(run({"export", "--help"}).out, "--lines")) << "of the command";
}

TEST(CommandLine, IdsAreNumbersWithACommaBetweenThem) {
  const std::string model = fixture::golden("bert").string();
  for (const char* ids : {"1,,2", "1,2,", ",1", "1 2", "", "1,x", "99999999999999999999"})
    EXPECT_TRUE(contains(refused({"export", model, "--ids", ids}), "--ids")) << ids;
  EXPECT_EQ(exported({model, "--ids", "1,2,3"})["tokens"].size(), 3u);
}

#if !__has_include("gl/app.h")  // a build without the window
TEST(CommandLine, WithoutTheWindowItSaysSo) {
  EXPECT_TRUE(contains(refused({"screenshot", "-o", "x.png"}), "built without the window"));
  EXPECT_TRUE(contains(refused({}), "built without the window"));
  EXPECT_TRUE(contains(refused({"open", "--text", "a"}), "built without the window"));
}
#endif

}  // namespace
}  // namespace headlight
