// A folder for temporary files that is missing, is none, takes no file, or is full: the work is done or one line states
// the reason, and no file is left behind.
#include <stdlib.h>
#include <sys/resource.h>

#include "app/program.h"

namespace headlight {
namespace {

using namespace program;

Ran with_temporary(const Folder& folder, const std::string& temporary, const Strings& words, rlim_t most_bytes = 0) {
  const std::string errors = folder.with("err", "");
  Ran ran;
  ran.status = status_of(start(words, [&] {
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    dup2(open(errors.c_str(), O_WRONLY), STDERR_FILENO);
    ::setenv("TMPDIR", temporary.c_str(), 1);
    if (chdir(folder.path().c_str()) != 0) _exit(126);
    const rlimit limit{most_bytes, most_bytes};
    if (most_bytes > 0) ::setrlimit(RLIMIT_FSIZE, &limit);
  }));
  ran.err = *read_file(errors);
  return ran;
}

/// Values of TMPDIR that cannot be used: a missing folder, a file, and a folder that no process can write to.
Strings unusable(const Folder& folder) { return {(folder / "missing").string(), folder.with("file", "mine"), "/proc"}; }

TEST(CliTemporary, WhatGoesToAFileDoesNotNeedIt) {
  const Folder folder;
  for (const std::string& temporary : unusable(folder))
    for (const char* name : {"a.npz", "a.json", "a.safetensors", "a.csv"}) {
      const std::string file = (folder / name).string();
      const Ran ran = with_temporary(folder, temporary, small({"export", "--text", "我爱", "-o", file}));
      EXPECT_EQ(ran.status, 0) << temporary << " " << name << ran.err;
      EXPECT_TRUE(std::filesystem::remove(file));
    }
}

TEST(CliTemporary, WhatGoesToStandardOutputIsWrittenOrRefusedInALine) {
  const Folder folder;
  for (const std::string& temporary : unusable(folder)) {
    const Ran ran =
        with_temporary(folder, temporary, small({"export", "--random", "--text", "我爱", "--format", "npz"}));
    EXPECT_TRUE(ran.status == 0 || ran.status == 2) << temporary << ran.status;
    EXPECT_EQ(lines_of(ran.err), ran.status == 0 ? 0 : 1) << ran.err;
    if (ran.status == 2) { EXPECT_TRUE(ran.err.starts_with(temporary + ": write: expected")) << ran.err; }
  }
  EXPECT_EQ(*read_file(folder / "file"), "mine");
  EXPECT_EQ(folder.names().size(), 2u) << "err and file";
}

TEST(CliTemporary, WhereItIsFullNothingStaysBehind) {
  const Folder folder, full;
  constexpr rlim_t kRoom = 4096;
  const Strings words{"export", "--random", "--text", "我爱", "--with", "qkv", "--format", "npz"};
  EXPECT_EQ(with_temporary(folder, full.path().string(), words).status, 0) << "there is room";
  const Ran ran = with_temporary(folder, full.path().string(), words, kRoom);
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(lines_of(ran.err), 1) << ran.err;
  EXPECT_TRUE(contains(ran.err, full.path().string() + ": write: expected room to write")) << ran.err;
  EXPECT_TRUE(full.empty());
}

TEST(CliTemporary, APictureOfTheWindowNeedsNone) {
  const Folder folder;
  const std::string picture = (folder / "p.png").string();
  const Ran ran = with_temporary(folder, (folder / "missing").string(),
                                 {"screenshot", "--text", "我爱", "--size", "640x480", "-o", picture});
  if (contains(ran.err, "built without the window")) return;
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(std::filesystem::exists(picture));
}

}  // namespace
}  // namespace headlight
