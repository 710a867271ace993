#include "session/loop/recovery.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/session_fixture.h"
#include "view/settings.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

class Recovery : public testing::Test {
 protected:
  Recovery() { fs::create_directories(state_folder()); }

  /// The number of a process that has ended.
  static pid_t ended() {
    const pid_t process = fork();
    if (process == 0) _exit(0);
    waitpid(process, nullptr, 0);
    return process;
  }

  /// The autosave of a process, written `age` hours ago.
  fs::path left_by(pid_t process, int age = 0) {
    const fs::path path = state_folder() / ("autosave-" + std::to_string(process) + ".headlight.json");
    EXPECT_TRUE(write_file(path, "{}"));
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(age));
    return path;
  }

  /// The newest autosave of a window that is gone.
  static std::optional<fs::path> newest() {
    const auto left = left_sessions();
    return left.empty() ? std::nullopt : std::optional(left.front());
  }
  /// The same with a text in it.
  fs::path text_left_by(pid_t process, const std::string& text, int age) {
    const fs::path path = left_by(process, age);
    Session session;
    session.document.source.text = text;
    EXPECT_TRUE(write_file(path, to_json(session)));
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(age));
    return path;
  }

  fixture::Folder folder_;
  fixture::Variable state_{"XDG_STATE_HOME", folder_.path().c_str()};
  fixture::Variable config_{"XDG_CONFIG_HOME", folder_.path().c_str()};
};

TEST_F(Recovery, NothingIsLeftBehindByNobody) {
  EXPECT_FALSE(newest());
  fs::remove_all(state_folder());
  EXPECT_FALSE(newest()) << "not even a folder";
}

TEST_F(Recovery, TheFolderExistsAndTheNameIsOurs) {
  fs::remove_all(state_folder());
  const fs::path path = autosave_path();
  EXPECT_EQ(path.parent_path(), state_folder());
  EXPECT_TRUE(fs::is_directory(state_folder()));
  EXPECT_TRUE(fs::is_directory(settings_path().parent_path()));
  EXPECT_NE(path.filename().string().find(std::to_string(getpid())), std::string::npos);
}

TEST_F(Recovery, WithoutAFolderNothingIsKept) {
  const fixture::Variable nowhere("XDG_STATE_HOME", "/dev/null");
  EXPECT_EQ(autosave_path(), fs::path());
  EXPECT_FALSE(newest());
}

TEST_F(Recovery, SessionsOfLivingProgramsAreLeftAlone) {
  left_by(getppid());
  left_by(1);
  EXPECT_FALSE(newest());
}

TEST_F(Recovery, OtherFilesAreNoSessions) {
  for (const char* name : {"autosave-.headlight.json", "autosave-x.headlight.json", "autosave-0.headlight.json",
                           "autosave--5.headlight.json", "settings.json", "autosave-5.json", ".headlight-7-0"})
    EXPECT_TRUE(write_file(state_folder() / name, "{}"));
  EXPECT_FALSE(newest());
}

TEST_F(Recovery, TheNewestOfThoseLeftBehind) {
  const pid_t first = ended(), second = ended();
  ASSERT_NE(first, second);
  left_by(first, 2);
  const fs::path latest = left_by(second, 1);
  left_by(getppid());
  EXPECT_EQ(newest(), latest);
  forget_autosave(latest);
  EXPECT_EQ(newest(), state_folder() / ("autosave-" + std::to_string(first) + ".headlight.json"));
}

TEST_F(Recovery, AProcessNumberThatCameAgainHidesNothing) {
  const fs::path left = left_by(getpid(), 1);
  EXPECT_EQ(newest(), left);
}

// A window that was asked something restores nothing, and writes its own question beside what an earlier process of its
// number left; one that restores the newest keeps the others.
TEST_F(Recovery, AProcessNumberThatCameAgainOverwritesNothing) {
  const fs::path left = text_left_by(getpid(), "of the same number", 2), newer = text_left_by(ended(), "newer", 1);
  const fs::path own = autosave_path();
  EXPECT_NE(own, left);
  const auto lock = lock_autosave(own);
  ASSERT_TRUE(lock);
  Recovered recovered = recover_session(own);
  ASSERT_TRUE(recovered.session);
  EXPECT_EQ(recovered.session->document.source.text, "newer");
  EXPECT_EQ(left_sessions(), std::vector{left}) << "its own is locked";
  const fs::path next = autosave_path();
  recovered = recover_session(next);
  ASSERT_TRUE(recovered.session);
  EXPECT_EQ(recovered.session->document.source.text, "of the same number");
  forget_autosave(next);
  EXPECT_TRUE(fs::exists(own));
  EXPECT_FALSE(fs::exists(newer));
}

// Times order what is left and do no more: a clock that went back, or a file of tomorrow, loses nothing.
TEST_F(Recovery, AClockThatGoesBackLosesNothing) {
  text_left_by(ended(), "written before the clock went back", -48);
  text_left_by(ended(), "written afterwards", 1);
  std::vector<std::string> texts;
  for (int window = 0; window < 2; ++window) {
    const fs::path own = autosave_path();
    const Recovered recovered = recover_session(own);
    ASSERT_TRUE(recovered.session);
    texts.push_back(recovered.session->document.source.text);
    forget_autosave(own);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"written before the clock went back", "written afterwards"}));
}

// Two windows that start at one time each take a session over, or one of them none.
TEST_F(Recovery, TwoWindowsOnOneFolderLoseNothing) {
  for (int i = 0; i < 2; ++i) text_left_by(ended(), "text " + std::to_string(i), i);
  const fs::path first = state_folder() / "autosave-7.headlight.json",
                 second = state_folder() / "autosave-8.headlight.json";
  const auto lock_of_first = lock_autosave(first), lock_of_second = lock_autosave(second);
  ASSERT_TRUE(lock_of_first && lock_of_second);
  EXPECT_EQ(recover_session(first).session->document.source.text, "text 0");
  EXPECT_EQ(recover_session(second).session->document.source.text, "text 1");
  EXPECT_FALSE(recover_session(state_folder() / "autosave-9.headlight.json").session) << "both have a window";
  EXPECT_EQ(read_session(first)->document.source.text, "text 0");
  EXPECT_EQ(read_session(second)->document.source.text, "text 1");
}

TEST_F(Recovery, TheLockAndNotTheProcessNumberSaysThatAWindowRuns) {
  const fs::path path = left_by(getppid());  // a number that came again, after a restart of the machine
  {
    const auto lock = lock_autosave(path);
    ASSERT_TRUE(lock);
    EXPECT_FALSE(newest());
  }
  EXPECT_EQ(newest(), path);
  const auto ended_window = left_by(ended());
  const auto lock = lock_autosave(ended_window);
  EXPECT_EQ(left_sessions(), std::vector{path});
}

TEST_F(Recovery, ABrokenAutosaveHidesNoOlderOne) {
  const pid_t first = ended(), second = ended(), third = ended();
  text_left_by(first, "older", 3);
  const fs::path good = text_left_by(second, "typed", 2), broken = left_by(third, 1);
  const fs::path own = autosave_path();
  Recovered recovered = recover_session(own);
  ASSERT_TRUE(recovered.session);
  EXPECT_EQ(recovered.session->document.source.text, "typed");
  EXPECT_TRUE(fs::exists(own)) << "it is this window's own from now on";
  EXPECT_FALSE(fs::exists(good));
  ASSERT_EQ(recovered.problems.size(), 1u);
  const fs::path aside = broken.parent_path() / ("unreadable-" + broken.filename().string());
  EXPECT_NE(recovered.problems.front().message().find(aside.string()), std::string::npos);
  EXPECT_TRUE(fs::exists(aside));
  EXPECT_FALSE(fs::exists(broken));
  forget_autosave(own);
  recovered = recover_session(own);
  ASSERT_TRUE(recovered.session) << "the older one is left for the next start";
  EXPECT_EQ(recovered.session->document.source.text, "older");
  EXPECT_TRUE(recovered.problems.empty()) << "the broken one is told of once";
}

TEST_F(Recovery, WhatWasTypedComesBackWhereTheModelIsGone) {
  const fs::path path = left_by(ended());
  ASSERT_TRUE(write_file(path, R"({"schema": "headlight.session/1",
      "request": {"source": "/nowhere/model", "text": "typed for an hour"}})"));
  const Recovered recovered = recover_session(autosave_path());
  ASSERT_TRUE(recovered.session);
  EXPECT_EQ(recovered.session->document.source.text, "typed for an hour");
  ASSERT_EQ(recovered.problems.size(), 1u);
  EXPECT_NE(recovered.problems[0].message().find("/nowhere/model"), std::string::npos);
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(path.parent_path() / ("unreadable-" + path.filename().string()))) << "with all that it asked";
}

TEST_F(Recovery, ASessionOfANewerVersionIsLeftAlone) {
  const fs::path newer = left_by(ended());
  const std::string content = R"({"schema": "headlight.session/2", "request": {"text": "of tomorrow"}})";
  ASSERT_TRUE(write_file(newer, content));
  text_left_by(ended(), "older", 3);
  const Recovered recovered = recover_session(autosave_path());
  ASSERT_TRUE(recovered.session);
  EXPECT_EQ(recovered.session->document.source.text, "older");
  ASSERT_EQ(recovered.problems.size(), 1u);
  EXPECT_EQ(*read_file(newer), content);
}

TEST_F(Recovery, UnfinishedFilesOfKilledProgramsAreSwept) {
  const fs::path left = state_folder() / (".headlight-" + std::to_string(ended()) + "-0"),
                 living = state_folder() / (".headlight-" + std::to_string(getppid()) + "-0");
  EXPECT_TRUE(write_file(left, "{"));
  EXPECT_TRUE(write_file(living, "{"));
  autosave_path();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(living));
}

TEST_F(Recovery, ForgettingTwiceIsForgetting) {
  const fs::path path = left_by(ended());
  forget_autosave(path);
  forget_autosave(path);
  forget_autosave({});
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace headlight
