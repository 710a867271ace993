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
  EXPECT_TRUE(contains(refused({"export", (folder_ / "loop").string(), "--ids", "1"}), "expected "));
  EXPECT_TRUE(contains(refused({"what", (folder_ / "loop").string()}), "expected "));
  fs::remove(folder_ / "base/model.safetensors");
  fs::create_symlink("model.safetensors", folder_ / "base/model.safetensors");
  EXPECT_TRUE(contains(refused({"export", (folder_ / "base").string(), "--ids", "1"}), "expected "));
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
