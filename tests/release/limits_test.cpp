// Limits that only large inputs reach: under the sanitizers they would take minutes.
#include <sys/resource.h>

#include <string>

#include "app/program.h"
#include "read/json/json_document.h"

namespace headlight {
namespace {

using namespace program;

TEST(Limits, ManyEmptyListsAreRefusedBeforeTheyTakeTheMemory) {
  std::string lists = "[[]";
  for (int i = 0; i + 2 < 4'194'304; ++i) lists += ",[]";
  EXPECT_TRUE(parse_json("f", lists + "]"));
  const auto too_many = parse_json("f", lists + ",[]]");
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().message(), "f: size: expected at most 4194304 objects and arrays, found more");
}

TEST(Limits, MoreLinesTakeNoMoreMemory) {
  const Strings words = small({"export", "--random", "--text", "-", "--lines"});
  const Folder folder;
  const auto peak_of = [&](int lines) {
    std::string text;
    for (int i = 0; i < lines; ++i) text += "w" + std::to_string(i) + " x\n";
    const std::string in = folder.with("in", text), err = folder.with("err", "");
    rusage used{};
    int status = 0;
    const pid_t process = start(words, in.c_str(), "/dev/null", err.c_str());
    EXPECT_EQ(wait4(process, &status, 0, &used), process);
    EXPECT_EQ(WEXITSTATUS(status), 0) << *read_file(err);
    return used.ru_maxrss;
  };
  const long few = peak_of(200), many = peak_of(20'000);
  EXPECT_LT(many, few + 40'000) << "kilobytes";
}

TEST(Limits, WhereMemoryIsShortFewerWorkersAnswerAllLines) {
  Strings words = small({"export", "--random", "--text", "-", "--lines", "--jobs", "1024"});
  const Folder folder;
  std::string text;
  for (int i = 0; i < 600; ++i) text += "w" + std::to_string(i) + " x y\n";
  const std::string in = folder.with("in", text), out = folder.with("out", ""), err = folder.with("err", "");
  const pid_t process = start(words, [&] {
    const rlimit room{std::uint64_t{12} << 30, std::uint64_t{12} << 30};
    setrlimit(RLIMIT_AS, &room);
    dup2(open(in.c_str(), O_RDONLY), STDIN_FILENO);
    dup2(open(out.c_str(), O_WRONLY), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY), STDERR_FILENO);
  });
  EXPECT_EQ(status_of(process), 0) << read_file(err)->substr(0, 400);
  const std::string answers = *read_file(out);
  EXPECT_EQ(lines_of(answers), 600);
  EXPECT_FALSE(contains(answers, "{\"error\""));
}

}  // namespace
}  // namespace headlight
