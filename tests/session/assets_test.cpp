#include "assets/assets.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace headlight {
namespace {

namespace fs = std::filesystem;

class Assets : public testing::Test {
 protected:
  fs::path make(const std::string& place, bool shaders = true) {
    fs::create_directories(folder_ / place / "assets");
    if (shaders) fs::create_directories(folder_ / place / "shaders");
    return folder_ / place;
  }

  TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
};

TEST_F(Assets, InstalledProgramFindsItsOwnBeforeTheSourceTree) {
  const fs::path installed = make("a prefix/share/headlight");
  const auto folders = asset_folders(nullptr, folder_ / "a prefix/bin/headlight");
  ASSERT_EQ(folders.size(), 4u);
  const auto found = first_asset_folder(folders);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(*found, installed);
}

TEST_F(Assets, WhatPipInstalledForOneUserOfWindowsIsFound) {
  const fs::path data = make("Roaming/Python/share/headlight");
  const fs::path program = folder_ / "Roaming/Python/Python312/Scripts/headlight.com";
  const auto found = first_asset_folder(asset_folders(nullptr, program));
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(*found, data);
}

TEST_F(Assets, BuildTreeFindsTheSourceTree) {
  const auto found = first_asset_folder(asset_folders("", folder_ / "build/release/headlight"));
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(*found, fs::path(HEADLIGHT_TEST_DATA).parent_path());
  EXPECT_TRUE(asset_folder()) << "the tests themselves run from a build tree";
}

TEST_F(Assets, VariableIsTheOnlyPlaceWhereItIsSet) {
  const fs::path mine = make("mine");
  const auto found = first_asset_folder(asset_folders(mine.c_str(), "/usr/bin/headlight"));
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(*found, mine);

  const fs::path wrong = folder_ / "wrong";
  const auto missed = first_asset_folder(asset_folders(wrong.c_str(), "/usr/bin/headlight"));
  ASSERT_FALSE(missed);
  EXPECT_NE(missed.error().message().find(wrong.string()), std::string::npos) << missed.error().message();
}

TEST_F(Assets, HalfAFolderIsPassedOverAndEveryPlaceIsNamed) {
  const fs::path half = make("half", false), whole = make("whole"), nothing = folder_ / "nothing";
  const auto found = first_asset_folder({half, whole});
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, whole);

  const auto missed = first_asset_folder({half, nothing});
  ASSERT_FALSE(missed);
  EXPECT_EQ(missed.error().message(),
            "HEADLIGHT_DATA: expected a folder with assets/ and shaders/ in it, found neither in " + half.string() +
                " nor in " + nothing.string());
}

}  // namespace
}  // namespace headlight
