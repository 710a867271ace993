// Files appear whole under their name or not at all, and whatever cannot be read or written gets one line.
#include "base/file.h"
#include "base/folders.h"
#include "base/refusal.h"
#include "base/system.h"
#include "temporary_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace headlight::file_test {
namespace {

namespace fs = std::filesystem;

class File : public testing::Test {
 protected:
  fs::path in(std::string_view name) const { return folder_ / name; }
  void make(std::string_view name, std::string_view bytes) const {
    std::ofstream(in(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::string content(std::string_view name) const {
    std::ifstream file(in(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
};

using FileNames = std::vector<std::string>;

std::string message(const fs::path& path, std::string_view rest) { return path.string() + ": " + std::string(rest); }

TEST_F(File, ReadsWhatWasWrittenByteForByte) {
  std::string bytes;
  for (int i = 0; i < 3'000'000; ++i) bytes += static_cast<char>(i * 7 + i / 256);
  for (const std::string& part : {std::string(), std::string(1, '\0'), std::string("我\r\n\xFF"), bytes}) {
    ASSERT_TRUE(write_file(in("a"), part));
    const auto read = read_file(in("a"));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_TRUE(*read == part);
  }
  EXPECT_EQ(listing(), FileNames{"a"});
}

TEST_F(File, ReadsAtMostTheLimit) {
  make("ten", "0123456789");
  EXPECT_TRUE(read_file(in("ten"), 10));
  const auto read = read_file(in("ten"), 9);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message(), message(in("ten"), "size: expected at most 9 bytes, found 10 bytes"));
  make("empty", "");
  EXPECT_TRUE(read_file(in("empty"), 0));
}

TEST_F(File, ReadingSaysWhatIsWrong) {
  fs::create_directory(in("folder"));
  ASSERT_EQ(::mkfifo(in("pipe").c_str(), 0600), 0);
  fs::create_symlink("nowhere", in("dangling"));
  fs::create_symlink("circle", in("circle"));
  make("file", "x");
  const std::pair<fs::path, std::string> cases[] = {
      {in("missing"), "open: expected a readable file, found No such file or directory"},
      {in("dangling"), "open: expected a readable file, found No such file or directory"},
      {in("circle"), "open: expected a readable file, found Too many levels of symbolic links"},
      {in("file") / "x", "open: expected a readable file, found Not a directory"},
      {in("folder"), "open: expected a regular file, found a folder"},
      {in("pipe"), "open: expected a regular file, found something that is not a file"},
      {"/dev/null", "open: expected a regular file, found something that is not a file"},
  };
  for (const auto& [path, text] : cases) {
    const auto read = read_file(path);
    ASSERT_FALSE(read) << path;
    EXPECT_EQ(read.error().message(), message(path, text));
  }
}

TEST_F(File, NothingIsThereBeforeCommit) {
  make("old", "before");
  for (const char* name : {"new", "old"}) {
    auto output = Output::to_file(in(name));
    ASSERT_TRUE(output);
    output->write(std::string(5'000'000, 'x'));
    EXPECT_FALSE(output->failed());
  }
  EXPECT_EQ(listing(), FileNames{"old"});
  EXPECT_EQ(content("old"), "before");
}

TEST_F(File, AProgramThatIsKilledLeavesNothing) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto output = Output::to_file(in("a"));
    output->write(std::string(5'000'000, 'x'));
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(listing(), FileNames{});
}

TEST_F(File, WhatAnotherLeftIsSweptAndWhatIsBeingWrittenStays) {
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(gone, nullptr, 0), gone);
  const std::string own = ".headlight-" + std::to_string(::getpid()) + "-0";
  make(".headlight-" + std::to_string(gone) + "-3", "half");
  make(own, "half");
  make(".headlight-notes", "mine");
  sweep_temporaries(folder_);
  EXPECT_EQ(listing(), (FileNames{own, ".headlight-notes"}));
  sweep_temporaries(folder_ / "none");
}

TEST_F(File, EveryRefusedCallIsToldAndKeepsTheOldFile) {
  static std::atomic<int> left;
  static std::atomic<SystemCall> refused;
  make("a", "old");
  for (const SystemCall call : {SystemCall::write, SystemCall::sync, SystemCall::rename}) {
    refused = call;
    left = 0;
    refusal = [](SystemCall asked) { return asked == refused && left-- == 0 ? ENOSPC : 0; };
    const Status status = write_file(in("a"), "new");
    refusal = nullptr;
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message(),
              message(in("a"), "write: expected room to write, found No space left on device"));
    EXPECT_EQ(content("a"), "old");
    EXPECT_EQ(listing(), FileNames{"a"});
  }
  EXPECT_TRUE(write_file(in("a"), "new"));
}

TEST_F(File, ANamelessFileIsGoneWhenItIsClosed) {
  const auto file = nameless_file(folder_);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(::write(*file, "x", 1), 1);
  EXPECT_EQ(listing(), FileNames{});
  ::close(*file);
  EXPECT_FALSE(nameless_file(folder_ / "none"));
}

TEST_F(File, CommitReplacesTheOldFileAndKeepsItsPermissions) {
  make("old", "before, and longer");
  ASSERT_EQ(::chmod(in("old").c_str(), 0640), 0);
  ASSERT_TRUE(write_file(in("old"), "after"));
  EXPECT_EQ(content("old"), "after");
  EXPECT_EQ(fs::status(in("old")).permissions(), fs::perms(0640));
  EXPECT_EQ(listing(), FileNames{"old"});
}

TEST_F(File, ANewFileHasThePermissionsOfTheUmask) {
  const mode_t before = ::umask(027);
  const Status status = write_file(in("new"), "x");
  ::umask(before);
  ASSERT_TRUE(status);
  EXPECT_EQ(fs::status(in("new")).permissions(), fs::perms(0640));
}

TEST_F(File, TwoOutputsOfOneNameDoNotMix) {
  auto first = Output::to_file(in("a"));
  auto second = Output::to_file(in("a"));
  ASSERT_TRUE(first && second);
  first->write("first");
  second->write("second");
  EXPECT_TRUE(second->commit());
  EXPECT_EQ(content("a"), "second");
  EXPECT_TRUE(first->commit());
  EXPECT_EQ(content("a"), "first");
  EXPECT_EQ(listing(), FileNames{"a"});
}

TEST_F(File, AMovedOutputIsStillOne) {
  auto made = Output::to_file(in("a"));
  ASSERT_TRUE(made);
  made->write("he");
  Output moved = std::move(*made);
  moved.write("llo");
  EXPECT_TRUE(moved.commit());
  EXPECT_EQ(content("a"), "hello");
  EXPECT_TRUE(moved.commit());  // nothing is left to do
  EXPECT_EQ(content("a"), "hello");
  EXPECT_EQ(listing(), FileNames{"a"});
}

TEST_F(File, SymbolicLinksStayLinks) {
  make("target", "before");
  fs::create_directory(in("folder"));
  fs::create_symlink("target", in("link"));
  fs::create_symlink("../link", in("folder/relative"));
  fs::create_symlink("made", in("dangling"));
  ASSERT_TRUE(write_file(in("folder/relative"), "after"));
  EXPECT_EQ(content("target"), "after");
  ASSERT_TRUE(write_file(in("dangling"), "new"));
  EXPECT_EQ(content("made"), "new");
  EXPECT_TRUE(fs::is_symlink(in("link")) && fs::is_symlink(in("folder/relative")) && fs::is_symlink(in("dangling")));
  EXPECT_EQ(listing(), (FileNames{"dangling", "folder", "link", "made", "target"}));
  fs::create_symlink("circle", in("circle"));
  EXPECT_FALSE(write_file(in("missing/circle"), "x"));
}

TEST_F(File, ANameOfAnyLengthThatAFileMayHave) {
  const std::string name(255, 'n');
  ASSERT_TRUE(write_file(in(name), "x"));
  EXPECT_EQ(listing(), FileNames{name});
  EXPECT_FALSE(write_file(in(name + "n"), "x"));
  EXPECT_EQ(listing(), FileNames{name});
}

TEST_F(File, ARelativeNameGoesToTheCurrentFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  const Status status = write_file("here", "x");
  fs::current_path(before);
  EXPECT_TRUE(status);
  EXPECT_EQ(listing(), FileNames{"here"});
}

TEST_F(File, WritingSaysWhatIsWrongAndLeavesNothing) {
  fs::create_directory(in("folder"));
  make("file", "x");
  const std::pair<fs::path, std::string> cases[] = {
      {in("folder"), "write: expected a file name, found a folder"},
      {in("folder/"), "write: expected a file name, found a folder"},
      {in("new/"), "write: expected a file name, found a folder"},
      {"", "write: expected a file name, found nothing"},
      {in("missing/a"), "write: expected a writable folder, found No such file or directory"},
      {in("file") / "a", "write: expected a writable folder, found Not a directory"},
  };
  for (const auto& [path, text] : cases) {
    const Status status = write_file(path, "x");
    ASSERT_FALSE(status) << path;
    EXPECT_EQ(status.error().message(), message(path, text));
  }
  EXPECT_EQ(listing(), (FileNames{"file", "folder"}));
  EXPECT_TRUE(fs::is_empty(in("folder")));
}

TEST_F(File, FailureAtTheLastMomentLeavesNothing) {
  auto output = Output::to_file(in("a"));
  ASSERT_TRUE(output);
  output->write("x");
  fs::create_directory(in("a"));
  const Status status = output->commit();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), message(in("a"), "write: expected room to write, found Is a directory"));
  { const Output gone = std::move(*output); }
  EXPECT_EQ(listing(), FileNames{"a"});
  EXPECT_TRUE(fs::is_empty(in("a")));
}

/// Root may write anywhere; while this object exists the process runs as the user "nobody".
class AsNobody {
 public:
  AsNobody() : acts_(!was_root_ || ::seteuid(65534) == 0) {}
  ~AsNobody() {
    if (was_root_ && acts_) { EXPECT_EQ(::seteuid(0), 0); }
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

  explicit operator bool() const { return acts_; }

 private:
  bool was_root_ = ::geteuid() == 0, acts_;
};

TEST_F(File, PermissionsAreRespected) {
  if (::geteuid() == 0) { ASSERT_EQ(::chown(folder_.c_str(), 65534, static_cast<gid_t>(-1)), 0); }
  const AsNobody nobody;
  ASSERT_TRUE(nobody);
  make("read-only", "before");
  ASSERT_EQ(::chmod(in("read-only").c_str(), 0444), 0);
  Status status = write_file(in("read-only"), "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(),
            message(in("read-only"), "write: expected a writable file, found Permission denied"));
  EXPECT_EQ(content("read-only"), "before");
  ASSERT_EQ(::chmod(in("read-only").c_str(), 0), 0);
  EXPECT_EQ(read_file(in("read-only")).error().message(),
            message(in("read-only"), "open: expected a readable file, found Permission denied"));
  ASSERT_EQ(::chmod(folder_.c_str(), 0500), 0);
  status = write_file(in("new"), "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), message(in("new"), "write: expected a writable folder, found Permission denied"));
}

TEST_F(File, AFullDiskIsReported) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{5'000'000}}) {
    auto output = Output::to_file("/dev/full");
    ASSERT_TRUE(output);
    output->write(std::string(size, 'x'));
    EXPECT_EQ(output->failed(), size > 1'000'000);  // small writes are buffered
    output->write("more");
    const Status status = output->commit();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message(), "/dev/full: write: expected room to write, found No space left on device");
  }
  fs::create_symlink("/dev/full", in("full"));
  EXPECT_FALSE(write_file(in("full"), "x"));
  EXPECT_TRUE(fs::is_symlink(in("full")));
  EXPECT_TRUE(write_file("/dev/null", "x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(File, AFileTooLargeForItsLimitIsReportedAndRemoved) {
  struct sigaction old {
  }, ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignore, &old);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{100'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = write_file(in("a"), std::string(3'000'000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::sigaction(SIGXFSZ, &old, nullptr);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), message(in("a"), "write: expected room to write, found File too large"));
  EXPECT_EQ(listing(), FileNames{});
}

TEST_F(File, APipeIsWrittenInto) {
  ASSERT_EQ(::mkfifo(in("pipe").c_str(), 0600), 0);
  const Status unread = write_file(in("pipe"), "through");
  ASSERT_FALSE(unread) << "nothing reads it";
  EXPECT_EQ(unread.error().message(),
            message(in("pipe"), "write: expected a writable file, found No such device or address"));
  const int reader = ::open(in("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(write_file(in("pipe"), "through"));
  char bytes[16];
  EXPECT_EQ(::read(reader, bytes, sizeof bytes), 7);
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(in("pipe")));
}

int open_descriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST_F(File, NoDescriptorIsLeftOpen) {
  make("file", "x");
  const int before = open_descriptors();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(read_file(in("file")));
    EXPECT_FALSE(read_file(folder_));
    EXPECT_TRUE(Output::to_file(in("file")));
    EXPECT_TRUE(Output::to_file("/dev/null"));
    EXPECT_TRUE(write_file(in("file"), "x"));
    EXPECT_FALSE(write_file("/dev/full", "x"));
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(File, WhatWasBegunIsRemovedByAFaultAndWhatIsWholeStays) {
  const TemporaryFolder folder;
  const auto begun = folder / "begun", renamed = folder / "renamed", whole = folder / "whole";
  for (const auto& path : {begun, renamed}) ASSERT_TRUE(close_file(open_file(path, Opening::create)));
  ASSERT_TRUE(rename_file(renamed, whole));
  ASSERT_TRUE(write_file(renamed, "another one of that name"));
  remove_temporaries();
  EXPECT_FALSE(path_exists(begun));
  EXPECT_TRUE(path_exists(whole));
  EXPECT_TRUE(path_exists(renamed));
}

}  // namespace
}  // namespace headlight::file_test
