// Adapters and folders that cannot be read: exit status 2, and one line.
#include "app/program.h"

namespace headlight {
namespace {

using namespace program;
namespace fs = std::filesystem;

class BadFolders : public testing::Test {
 protected:
  BadFolders() { fs::copy(fixture::golden("llama-gqa"), folder_ / "base"); }

  /// An adapter of that base; its own file of weights is never reached.
  std::string adapter(const std::string& base) const {
    fs::create_directories(folder_ / "adapter");
    folder_.with("adapter/adapter_config.json",
                 json{{"peft_type", "LORA"}, {"r", 2}, {"base_model_name_or_path", base}}.dump());
    folder_.with("adapter/adapter_model.safetensors", "");
    return (folder_ / "adapter").string();
  }

  Folder folder_;
};

TEST_F(BadFolders, AnAdaptersBaseMustBeThereAndOne) {
  for (const char* base : {"no/such-base", "."})  // the second is itself
    EXPECT_TRUE(contains(refused({"export", adapter(base), "--ids", "1"}), "base_model_name_or_path: expected "));
  const std::string own = adapter("base");
  EXPECT_TRUE(contains(refused({"export", own, "--ids", "1"}), "adapter_model.safetensors: ")) << "the one beside it";
  fs::copy(folder_ / "base", folder_ / "adapter/base");
  EXPECT_TRUE(contains(refused({"export", own, "--ids", "1"}), "expected one model (BASE --adapter FOLDER names it)"));
}

TEST_F(BadFolders, LinksThatLeadToThemselvesAreNothing) {
  fs::create_directory_symlink("loop", folder_ / "loop");
  const std::string loop = "found a symbolic link that leads back to itself";
  for (const char* command : {"export", "what", "check"})
    EXPECT_TRUE(contains(refused({command, (folder_ / "loop").string()}), loop)) << command;
  const std::string base = (folder_ / "base").string();
  for (const char* name : {"model.safetensors", "config.json"}) {
    fs::rename(folder_ / "base" / name, folder_ / "kept");
    fs::create_symlink(name, folder_ / "base" / name);
    const std::string line = refused({"export", base, "--ids", "1"});
    EXPECT_TRUE(contains(line, name) && contains(line, "a symbolic link that leads back to itself")) << line;
    fs::remove(folder_ / "base" / name);
    fs::create_symlink("../blobs/0a", folder_ / "base" / name);
    EXPECT_TRUE(contains(refused({"export", base, "--ids", "1"}), "a symbolic link to '../blobs/0a', which is not"));
    fs::remove(folder_ / "base" / name);
    fs::rename(folder_ / "kept", folder_ / "base" / name);
  }
  fs::create_symlink("tokenizer.json", folder_ / "base/tokenizer.json");
  EXPECT_TRUE(
      contains(refused({"tokenize", base, "--text", "a"}), "tokenizer.json: expected the file itself, " + loop));
}

TEST_F(BadFolders, WhatStandsInPlaceOfAnAdaptersWeightsIsNamed) {
  const std::string own = adapter("base");
  const auto expect = [&](const std::string& bytes, const std::string& found) {
    for (const char* name : {"adapter_model.safetensors", "adapter_model.bin"}) {
      folder_.with(std::string("adapter/") + name, bytes);
      const std::string line = refused({"export", own, "--ids", "1"});
      EXPECT_TRUE(contains(line, std::string(name) + ": expected ") && contains(line, "found " + found)) << line;
      fs::remove(folder_ / "adapter" / name);
    }
  };
  expect("version https://git-lfs.github.com/spec/v1\noid sha256:0a\nsize 34000000\n",
         "a Git LFS pointer to a file of 34");
  for (const char* page : {"<!DOCTYPE html><p>404", "\xEF\xBB\xBF\n<html>", "<?xml version='1.0'?><Error>"})
    expect(page, "a page of the web, not the file");
}

TEST_F(BadFolders, ConfigurationsOfHundredsOfMegabytesAreNotRead) {
  for (const char* file : {"tokenizer_config.json", "config.json", "adapter_config.json"}) {
    folder_.with(std::string("base/") + file, "{}");
    const auto size = fs::file_size(folder_ / "base" / file);
    fs::resize_file(folder_ / "base" / file, 200 << 20);
    const std::string line = refused({"tokenize", (folder_ / "base").string(), "--text", "a"});
    EXPECT_TRUE(contains(line, std::string(file) + ": ") || contains(line, "tokenizer")) << line;
    fs::resize_file(folder_ / "base" / file, size);
  }
}

}  // namespace
}  // namespace headlight
