// Words in an .npz: strings of NumPy beside numbers, as safetensors has them in its metadata.
#include <gtest/gtest.h>
#include <zip.h>

#include "read/array/npz.h"
#include "read/external/tensors_file.h"
#include "temporary_folder.h"
#include "write/npz.h"

namespace headlight::npz_strings_test {
namespace {

std::string npy_of(const std::string& descr, const std::string& shape) {
  std::string dictionary = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  dictionary.resize((dictionary.size() + 11 + 63) / 64 * 64 - 11, ' ');
  dictionary += '\n';
  std::string bytes("\x93NUMPY\x01\0", 8);
  bytes += static_cast<char>(dictionary.size() & 255);
  bytes += static_cast<char>(dictionary.size() >> 8);
  return bytes + dictionary;
}

std::string npy_of_strings(const std::string& shape, std::size_t letters, const std::vector<std::u32string>& words) {
  std::string bytes = npy_of("<U" + std::to_string(letters), shape);
  for (std::u32string word : words) {
    word.resize(letters, U'\0');
    for (const char32_t letter : word)
      for (int i = 0; i < 4; ++i) bytes += static_cast<char>(letter >> (8 * i));
  }
  return bytes;
}

std::string npy_of_weights() {
  const std::vector<float> weights{1, 0, 0, 0.5f, 0.5f, 0, 0.25f, 0.25f, 0.5f};
  return npy_header({1, 1, 3, 3}) +
         std::string(reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(float));
}

class NpzStrings : public testing::Test {
 protected:
  std::filesystem::path write(const std::vector<std::pair<std::string, std::string>>& members) const {
    const auto path = folder_ / "words.npz";
    zip_t* archive = zip_open(path.string().c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    for (const auto& [name, bytes] : members)
      EXPECT_GE(zip_file_add(archive, name.c_str(), zip_source_buffer(archive, bytes.data(), bytes.size(), 0), 0), 0);
    EXPECT_EQ(zip_close(archive), 0);
    return path;
  }
  TemporaryFolder folder_;
};

TEST_F(NpzStrings, NameTheRowsOfAttention) {
  const std::vector<std::u32string> words{U"我", U"cat", U"😀é"};
  const auto file =
      read_tensors(write({{"attentions.npy", npy_of_weights()}, {"tokens.npy", npy_of_strings("(3,)", 3, words)}}), {});
  ASSERT_TRUE(file) << file.error().message();
  const Tokens& tokens = file->model->given->stacks.at(Stack::self).query_tokens;
  ASSERT_EQ(tokens.size(), 3u);
  EXPECT_EQ(tokens.tokens[0].text, "我");
  EXPECT_EQ(tokens.tokens[1].text, "cat");
  EXPECT_EQ(tokens.tokens[2].text, "😀é");
  // One string that is the JSON list itself.
  const std::u32string list = U"[\"a\", \"b\", \"c\"]";
  const auto json = read_tensors(
      write({{"attentions.npy", npy_of_weights()}, {"tokens.npy", npy_of_strings("()", list.size(), {list})}}), {});
  ASSERT_TRUE(json) << json.error().message();
  EXPECT_EQ(json->model->given->stacks.at(Stack::self).query_tokens.tokens[2].text, "c");
}

TEST_F(NpzStrings, OfBytesAreText) {
  using namespace std::string_literals;
  const std::string words = npy_of("|S4", "(4,)") + "the\0cat\0\xE6\x88\x91\0\xE4\xBD\0\0"s;
  const auto file = read_npz(write({{"tokens.npy", words}}));
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->metadata.at("tokens"), R"(["the","cat","我","<0xE4><0xBD>"])");
  const auto objects = read_npz(write({{"tokens.npy", npy_of("|O", "(4,)")}}));
  ASSERT_FALSE(objects);
  EXPECT_NE(objects.error().message().find("or strings (U, S), found objects of Python"), std::string::npos)
      << objects.error().message();
}

TEST_F(NpzStrings, ThatAreNoTextAreRefused) {
  const auto refusal = [&](const std::string& tokens) {
    const auto file = read_npz(write({{"tokens.npy", tokens}}));
    return file ? std::string() : file.error().message();
  };
  EXPECT_EQ(refusal(npy_of_strings("(2,)", 1, {U"a", U"b"})), "");
  EXPECT_NE(refusal(npy_of_strings("(2,)", 1, {U"a"})).find("size: expected 8 bytes of text, found 4"),
            std::string::npos);
  EXPECT_NE(refusal(npy_of_strings("(1,)", 1, {std::u32string(1, char32_t{0xD800})})).find("expected UTF-32"),
            std::string::npos);
  EXPECT_NE(refusal(npy_of_strings("(2, 1)", 1, {U"a", U"b"})).find("dtype: expected bool, an integer or a float"),
            std::string::npos);
  EXPECT_NE(refusal(npy_of_strings("(4000000000,)", 999999, {})).find("dtype: expected"), std::string::npos);
  EXPECT_NE(refusal(npy_of_strings("(1000,)", 1000000, {})).find("size: expected at most"), std::string::npos);
}

}  // namespace
}  // namespace headlight::npz_strings_test
