#include "session/recovery.h"

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

  fixture::Folder folder_;
  fixture::Variable state_{"XDG_STATE_HOME", folder_.path().c_str()};
  fixture::Variable config_{"XDG_CONFIG_HOME", folder_.path().c_str()};
};

TEST_F(Recovery, NothingIsLeftBehindByNobody) {
  EXPECT_FALSE(crashed_session());
  fs::remove_all(state_folder());
  EXPECT_FALSE(crashed_session()) << "not even a folder";
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
  EXPECT_FALSE(crashed_session());
}

TEST_F(Recovery, SessionsOfLivingProgramsAreLeftAlone) {
  left_by(getppid());
  left_by(1);
  EXPECT_FALSE(crashed_session());
}

TEST_F(Recovery, OtherFilesAreNoSessions) {
  for (const char* name : {"autosave-.headlight.json", "autosave-x.headlight.json", "autosave-0.headlight.json",
                           "autosave--5.headlight.json", "settings.json", "autosave-5.json", ".headlight-7-0"})
    EXPECT_TRUE(write_file(state_folder() / name, "{}"));
  EXPECT_FALSE(crashed_session());
}

TEST_F(Recovery, TheNewestOfThoseLeftBehind) {
  const pid_t first = ended(), second = ended();
  ASSERT_NE(first, second);
  left_by(first, 2);
  const fs::path newest = left_by(second, 1);
  left_by(getppid());
  EXPECT_EQ(crashed_session(), newest);
  forget_autosave(newest);
  EXPECT_EQ(crashed_session(), state_folder() / ("autosave-" + std::to_string(first) + ".headlight.json"));
}

TEST_F(Recovery, AProcessNumberThatCameAgainHidesNothing) {
  const fs::path left = left_by(getpid(), 1);
  EXPECT_EQ(crashed_session(), left);
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
