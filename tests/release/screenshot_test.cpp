// Pictures that the program draws: under the sanitizers each would take ten seconds.
#include "app/program.h"

namespace headlight {
namespace {

using namespace program;

constexpr const char* kLesson = R"({"schema": "headlight.lesson/1", "title": "T",
  "steps": [{"text": "1"}, {"text": "2"}]})";

TEST(Screenshot, OfALessonHasTheStepAskedFor) {
  const Folder folder;
  const std::string lesson = folder.with("mine.lesson.json", kLesson), broken = folder.with("broken.lesson.json", "{}");
  const std::string line = refused({"export", lesson});
  EXPECT_TRUE(contains(line, lesson)) << line;
  EXPECT_TRUE(contains(line, "headlight FILE")) << line;
  const std::string picture = folder.path() / "x.png";
  EXPECT_TRUE(contains(refused({"screenshot", "--step", "1", "-o", picture}), "--step"));
#if __has_include("gl/app.h")
  EXPECT_TRUE(contains(refused({"screenshot", broken, "-o", picture}), broken + ": schema"));
  EXPECT_TRUE(contains(refused({"screenshot", lesson, "--step", "3", "-o", picture}), "--step"));
  EXPECT_TRUE(contains(refused({"screenshot", lesson, "--lesson", "masks", "-o", picture}), "--lesson"));
  EXPECT_FALSE(std::filesystem::exists(picture));
  const Strings small{"--size", "480x320", "--language", "en", "-o", picture};
  const auto drawn = [&](Strings words) {
    words.insert(words.begin(), "screenshot");
    words.insert(words.end(), small.begin(), small.end());
    const Ran ran = run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return *read_file(picture);
  };
  EXPECT_EQ(drawn({lesson, "--step", "2"}), drawn({"--lesson", lesson, "--step", "2"}));
#endif
}

#if __has_include("gl/app.h")
TEST(Screenshot, MergesThePiecesOfAWordAsTheWindowDoes) {
  const Folder folder;
  const auto drawn = [&](const char* fold) {
    const std::string picture = (folder / "window.png").string();
    Strings words{"screenshot", "--text", "I love rainy days", "--size", "640x480", "-o", picture};
    if (fold) words.insert(words.end(), {"--fold", fold});
    const Ran ran = run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return *read_file(picture);
  };
  const std::string by_default = drawn(nullptr);
  EXPECT_EQ(by_default, drawn("special,words"));
  EXPECT_NE(by_default, drawn("none"));
}
#endif

}  // namespace
}  // namespace headlight
