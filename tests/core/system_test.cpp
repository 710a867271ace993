// What the program asks of the system, wherever it runs: these tests are those of Windows too.
#include "base/system.h"

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "base/file_lock.h"
#include "base/folders.h"
#include "base/mapped_file.h"
#include "base/pages.h"
#include "temporary_folder.h"

namespace headlight {
namespace {

struct System : testing::Test {
  TemporaryFolder temporary;
  const std::filesystem::path folder = temporary / "有 空格";
  const std::filesystem::path file = folder / "é 权重 😀.txt";
  System() { std::filesystem::create_directories(folder); }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      all.push_back(entry.path().filename().string());
    return all;
  }
};

TEST_F(System, NamesAreUtf8) {
  ASSERT_TRUE(write_file(file, "one\r\n"));
  EXPECT_EQ(names(), std::vector<std::string>{"é 权重 😀.txt"});
  ASSERT_TRUE(write_file(file, "two\r\n"));
  const auto read = read_file(file);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, "two\r\n");
  EXPECT_EQ(names().size(), 1u) << "nothing is left beside it";
}

TEST_F(System, AMappedFileIsReplacedAndKeepsItsBytes) {
  ASSERT_TRUE(write_file(file, "old"));
  {
    const auto mapped = MappedFile::open(file);
    ASSERT_TRUE(mapped) << mapped.error().message();
    const Status written = write_file(file, "new");
    ASSERT_TRUE(written) << written.error().message();
    release_pages((*mapped)->bytes());
    EXPECT_EQ((*mapped)->bytes(), "old");
    EXPECT_EQ(*read_file(file), "new");
  }
}

TEST_F(System, ALockIsHeldOnceAndItsFileCanBeRemoved) {
  const auto path = folder / "锁.lock";
  {
    const auto held = FileLock::take(path);
    ASSERT_TRUE(held && *held);
    const auto second = FileLock::take(path);
    ASSERT_TRUE(second);
    EXPECT_FALSE(second->has_value());
    EXPECT_TRUE(is_locked(path));
    EXPECT_TRUE(std::filesystem::remove(path));
  }
  EXPECT_FALSE(is_locked(path));
  const auto again = FileLock::take(path);
  EXPECT_TRUE(again && *again);
}

TEST_F(System, ANamelessFileIsReadWhereItWasWritten) {
  const auto nameless = nameless_file(folder);
  ASSERT_TRUE(nameless) << nameless.error().message();
  char bytes[8] = {};
  EXPECT_EQ(write_at(*nameless, "abc", 3, 5), 3);
  EXPECT_EQ(read_at(*nameless, bytes, 8, 0), 8);
  EXPECT_EQ(std::string(bytes, 8), std::string("\0\0\0\0\0abc", 8));
  EXPECT_EQ(read_at(*nameless, bytes, 8, 8), 0);
  EXPECT_TRUE(close_file(*nameless));
  EXPECT_TRUE(names().empty());
}

TEST_F(System, WhatIsWrongIsTold) {
  const auto opened = read_file(folder);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message().find("expected a regular file, found a folder"), std::string::npos);
  const auto missing = read_file(folder / "none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::file_absent);
  EXPECT_FALSE(write_file(folder / "none" / "file", "bytes"));
  EXPECT_FALSE(MappedFile::open(folder));
}

TEST_F(System, ADeviceTakesBytes) {
  EXPECT_TRUE(is_device(kNowhere));
  EXPECT_FALSE(is_device(file));
  EXPECT_FALSE(is_device(folder / "none"));
  EXPECT_TRUE(write_file(kNowhere, "bytes"));
}

TEST_F(System, APassingFolderGoesWithAllThatIsInIt) {
  std::filesystem::path path;
  {
    const auto passing = PassingFolder::make();
    ASSERT_TRUE(passing) << passing.error().message();
    path = passing->path();
    ASSERT_TRUE(write_file(path / "file", "bytes"));
  }
  EXPECT_FALSE(path_exists(path));
}

TEST_F(System, KnowsProcessesAndMemory) {
  EXPECT_TRUE(is_running(process_number()));
  EXPECT_FALSE(is_running(999999998));
  EXPECT_GT(machine_memory(), 1e8);
  EXPECT_TRUE(is_regular(program_file()));
  EXPECT_TRUE(config_folder().is_absolute());
  EXPECT_EQ(fresh_pages(1 << 20).get()[1000], std::byte{0});
}

}  // namespace
}  // namespace headlight
