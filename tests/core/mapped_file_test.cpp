// A file that is shortened while it is mapped is reported, and does not end the program.
#include "base/mapped_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/file.h"
#include "core/checkpoints.h"
#include "temporary_folder.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

std::size_t sum_of(std::string_view bytes) {
  std::size_t sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  return sum;
}

TEST(MappedFile, WhatIsGoneReadsAsZerosAndIsTold) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a", other = folder.path() / "b";
  std::ofstream(path) << std::string(100'000, '\x01');
  std::ofstream(other) << std::string(100'000, '\x01');
  const auto file = MappedFile::open(path), whole = MappedFile::open(other);
  ASSERT_TRUE(file && whole);
  fs::resize_file(path, 5000);
  EXPECT_FALSE(was_shortened(file->get())) << "nothing was read yet";
  EXPECT_LT(sum_of((*file)->bytes()), 100'000u);
  EXPECT_TRUE(was_shortened(file->get()));
  EXPECT_TRUE(any_was_shortened());
  EXPECT_EQ(sum_of((*whole)->bytes()), 100'000u);
  EXPECT_FALSE(was_shortened(whole->get()));
  EXPECT_FALSE(was_shortened(nullptr));
}

TEST(MappedFile, IsForgottenWithTheFile) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a";
  for (int again = 0; again < 3; ++again) {
    std::ofstream(path) << std::string(100'000, '\x01');
    const auto file = MappedFile::open(path);
    ASSERT_TRUE(file);
    fs::resize_file(path, 0);
    EXPECT_EQ(sum_of((*file)->bytes()), 0u);
  }
  EXPECT_FALSE(any_was_shortened());
}

TEST(MappedFile, WeightsThatAreShortenedAreRefusedByName) {
  const TemporaryFolder folder;
  const fs::path model = folder.path() / "model", weights = model / "model.safetensors";
  fs::copy(checkpoints::kGolden / "bert", model);
  const auto hub = read_hub_config(model / "config.json");
  ASSERT_TRUE(hub);
  auto stored = map_safetensors(weights);
  ASSERT_TRUE(stored);
  fs::resize_file(weights, 4096);
  Progress progress;
  const auto checkpoint = checkpoint_from(weights.string(), *hub, *std::move(stored), progress);
  ASSERT_FALSE(checkpoint);
  EXPECT_EQ(checkpoint.error().message(),
            weights.string() +
                ": read: expected a file that stays as it is, found one that was shortened "
                "meanwhile");
}

}  // namespace
}  // namespace headlight
