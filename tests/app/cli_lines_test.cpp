// `--lines` is a stream: a line in, a line out at once, in order, errors in their order (memory:
// release/limits_test.cpp).
#include <sstream>

#include "app/program.h"

namespace headlight {
namespace {

using namespace program;

const Strings kLines = small({"export", "--random", "--text", "-", "--lines"});

std::vector<json> objects(const std::string& out) {
  std::vector<json> list;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) list.push_back(json::parse(line, nullptr, false));
  return list;
}

TEST(CliLines, EachLineIsAnsweredBeforeTheNextIsWritten) {
  int in[2], out[2];
  ASSERT_EQ(::pipe(in), 0);
  ASSERT_EQ(::pipe(out), 0);
  const pid_t process = start(kLines, [&] {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    for (const int end : {in[0], in[1], out[0], out[1]}) ::close(end);
  });
  ::close(in[0]);
  ::close(out[1]);
  const auto answer = [&] {
    std::string line;
    for (char c = 0; ::read(out[0], &c, 1) == 1 && c != '\n';) line += c;
    return json::parse(line, nullptr, false);
  };
  for (const std::string text : {"a b", "c", "我爱北京"}) {
    const std::string line = text + "\n";
    ASSERT_EQ(::write(in[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
    const json told = answer();
    ASSERT_TRUE(told.is_object());
    EXPECT_EQ(told["request"]["text"], text);
  }
  ::close(in[1]);
  EXPECT_EQ(status_of(process), 0);
  ::close(out[0]);
}

TEST(CliLines, OrderAndErrorsAreThoseOfTheLines) {
  std::string text;
  for (int i = 0; i < 60; ++i) {
    text += i % 10 == 3   ? "\n"
            : i % 10 == 5 ? "bad \xFF byte\n"
            : i % 10 == 7 ? std::string("w ") + std::to_string(i) + "\r\n"
                          : "w " + std::to_string(i) + std::string(static_cast<std::size_t>(i % 4) * 20, 'x') + "\n";
  }
  std::string first;
  for (const char* jobs : {"1", "3"}) {
    Strings words = kLines;
    words.insert(words.end(), {"--jobs", jobs});
    const Ran ran = run(words, text);
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(lines_of(ran.err), 1) << ran.err;
    EXPECT_TRUE(contains(ran.err,
                         "--lines: expected sentences that can be answered, found 6 of 60 lines that cannot; the "
                         "first is line 6: "))
        << ran.err;
    const auto answers = objects(ran.out);
    ASSERT_EQ(answers.size(), 60u);
    for (int i = 0; i < 60; ++i) {
      const json& told = answers[static_cast<std::size_t>(i)];
      ASSERT_TRUE(told.is_object()) << i;
      EXPECT_EQ(told.contains("error"), i % 10 == 3 || i % 10 == 5) << i;
      if (told.contains("error")) {
        EXPECT_TRUE(contains(told["error"], "line " + std::to_string(i + 1) + ": ")) << told["error"];
        EXPECT_TRUE(told.contains("text"));
        EXPECT_EQ(told["code"], i % 10 == 3 ? "no_tokens" : "not_utf8") << told["error"];
      } else {
        EXPECT_TRUE(std::string(told["request"]["text"]).starts_with("w " + std::to_string(i))) << i;
      }
    }
    if (first.empty()) first = ran.out;
    EXPECT_TRUE(ran.out == first) << jobs << " jobs";
  }
}

TEST(CliLines, EmptyLinesAloneAreNoFailure) {
  const Ran ran = run(kLines, "a\n\nb\n");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  const auto answers = objects(ran.out);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_TRUE(contains(answers[1]["error"], "found an empty line"));
  EXPECT_EQ(answers[1]["code"], "no_tokens");
  EXPECT_TRUE(contains(refused(kLines, ""), "text: tokens: expected at least one, found none"));
}

TEST(CliLines, TheTextOfAnOptionIsAnsweredAlike) {
  const Ran ran = run(small({"export", "--random", "--lines", "--text", "a b\nc d\n"}));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, run(kLines, "a b\nc d\n").out);
}

TEST(CliLines, TargetsBelongToTheLinesThatAreNotEmpty) {
  const Strings words =
      small({"export", "--random", "--arch", "encoder-decoder", "--text", "-", "--lines", "--target", "one\ntwo"});
  const Ran ran = run(words, "a\n\nb\nc\n");
  EXPECT_EQ(ran.status, 2);
  const auto answers = objects(ran.out);
  ASSERT_EQ(answers.size(), 4u);
  EXPECT_EQ(answers[0]["request"]["target"], "one");
  EXPECT_EQ(answers[2]["request"]["target"], "two");
  EXPECT_TRUE(contains(answers[3]["error"], "target: sentences: expected a line for each line of the text, found 2"));
  EXPECT_EQ(answers[3]["code"], "lines_differ");
}

TEST(CliLines, AnOutputThatIsClosedEndsIt) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "w" + std::to_string(i) + "\n";
  const Ran ran = run(kLines, text, "/dev/full");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.err, "standard output: write: expected room to write, found No space left on device\n");
}

}  // namespace
}  // namespace headlight
