// The codes of errors: each is made somewhere, is explained in both languages and documented; names of files explain
// nothing.
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "base/file.h"
#include "base/folders.h"
#include "session/file/open_file.h"
#include "temporary_folder.h"
#include "words/words.h"

namespace headlight {
namespace {

const std::filesystem::path kProject = std::filesystem::path(HEADLIGHT_TEST_DATA).parent_path();

std::vector<ErrorCode> all_codes() {
  std::vector<ErrorCode> codes;
  for (std::size_t i = 0; i < kErrorCodes; ++i) codes.push_back(static_cast<ErrorCode>(i));
  return codes;
}

TEST(ErrorCodes, EachIsExplainedInBothLanguagesByWordsOfItsOwn) {
  std::set<std::string> english, chinese;
  for (const ErrorCode code : all_codes()) {
    SCOPED_TRACE(name(code));
    const std::string en = failure_words(code).en, zh = failure_words(code).zh;
    EXPECT_TRUE(en.ends_with('.') || en.ends_with(':')) << en;
    EXPECT_TRUE(zh.ends_with("。") || zh.ends_with("：")) << zh;
    EXPECT_TRUE(english.insert(en).second) << en;
    EXPECT_TRUE(chinese.insert(zh).second) << zh;
    EXPECT_EQ(en.find_first_not_of(' '), 0u);
    EXPECT_NE(en, zh);
  }
}

TEST(ErrorCodes, EachIsMadeSomewhere) {
  std::string sources;
  for (const char* part : {"core", "app", "tools"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kProject / part)) {
      const auto& path = entry.path();
      if (path.extension() != ".cpp" || path.filename() == "failure_words.cpp") continue;
      const auto text = read_file(path);
      ASSERT_TRUE(text) << path;
      sources += *text;
    }
  for (const ErrorCode code : all_codes()) {
    const std::string use = "ErrorCode::" + std::string(name(code));
    const auto goes_on = [&](std::size_t end) {
      return std::isalnum(static_cast<unsigned char>(sources[end])) || sources[end] == '_';
    };
    std::size_t at = sources.find(use);
    while (at != std::string::npos && goes_on(at + use.size())) at = sources.find(use, at + 1);
    EXPECT_NE(at, std::string::npos) << use;
  }
}

TEST(ErrorCodes, TheDocumentsListThem) {
  const auto text = read_file(kProject / "docs" / "formats.md");
  ASSERT_TRUE(text);
  const std::size_t begin = text->find("### Codes of errors\n"), end = text->find("\n#", begin + 1);
  ASSERT_NE(begin, std::string::npos);
  const std::string section = text->substr(begin, end - begin);
  std::set<std::string> listed, known;
  for (std::size_t row = section.find("\n| "); row != std::string::npos; row = section.find("\n| ", row + 1))
    for (std::size_t at = section.find('`', row), stop = section.find('\n', row + 1); at < stop;) {
      const std::size_t close = section.find('`', at + 1);
      EXPECT_TRUE(listed.insert(section.substr(at + 1, close - at - 1)).second);
      at = section.find('`', close + 1);
    }
  for (const ErrorCode code : all_codes()) known.emplace(name(code));
  EXPECT_EQ(listed, known);
}

/// The code with which these bytes are refused under this name.
ErrorCode refused_as(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  EXPECT_TRUE(write_file(path, bytes)) << path;
  Progress progress;
  const auto opened = open_any(path, progress);
  EXPECT_FALSE(opened) << path;
  return opened ? ErrorCode::bad_value : opened.error().code;
}

TEST(ErrorCodes, TheNameOfAFileExplainsNothing) {
  const TemporaryFolder folder;
  const std::string damaged[] = {"", "12345", "\x93NUMPY\xff", "PK\x03\x04 no archive", "{\"a\": [1, 2"};
  for (const std::string ending : {".safetensors", ".npz", ".npy", ".pt", ".json", ".headlight.json", ".html"})
    for (const std::string& bytes : damaged) {
      const ErrorCode plain = refused_as(folder / ("a" + ending), bytes);
      for (const char* name : {"memory", "columns", "tokenizer-demo", "quantized", "schema", "header, archive",
                               "Permission denied", "No such file/a", "3 GiB, at most/NaN or inf", "mask: "})
        EXPECT_EQ(refused_as(folder / (name + ending), bytes), plain) << name << ending << " of '" << bytes << "'";
    }
  EXPECT_EQ(refused_as(folder / "memory.safetensors", "12345"), ErrorCode::file_too_short);
  EXPECT_EQ(refused_as(folder / "columns.safetensors", std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10)),
            ErrorCode::file_damaged);
  EXPECT_EQ(refused_as(folder / "columns.safetensors", ""), ErrorCode::file_empty);
  EXPECT_EQ(refused_as(folder / "tokenizer-demo.npz", "PK"), ErrorCode::file_damaged);
  EXPECT_EQ(refused_as(folder / "quantized.bin", "not what torch.save writes"), ErrorCode::file_damaged);
}

TEST(ErrorCodes, AConfigurationIsExplainedByItsValue) {
  const TemporaryFolder folder;
  Progress progress;
  const auto code_of = [&](const std::string& config) {
    std::filesystem::create_directories(folder / "m");
    EXPECT_TRUE(write_file(folder / "m" / "config.json", config));
    const auto opened = open_any(folder / "m", progress);
    return opened ? ErrorCode::bad_value : opened.error().code;
  };
  EXPECT_EQ(code_of(R"({"model_type": "bert", "hidden_size": -24})"), ErrorCode::bad_config);
  EXPECT_EQ(code_of(R"({"model_type": "columns"})"), ErrorCode::unknown_model_type);
  EXPECT_EQ(code_of(R"({"model_type": "bert", "quantization_config": {}})"), ErrorCode::quantized_weights);
  EXPECT_EQ(code_of("{"), ErrorCode::file_damaged);
}

}  // namespace
}  // namespace headlight
