// GGUF: what is in a file, and every way in which one is broken.
#include "read/gguf/gguf_file.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "core/gguf_files.h"
#include "temporary_folder.h"

namespace headlight {
namespace {

std::string gguf_refusal(const std::string& bytes) {
  const auto file = locate_gguf("m.gguf", bytes);
  return file ? "" : file.error().message();
}

std::string four_floats() {
  return GgufBytes::raw(1.0f) + GgufBytes::raw(2.0f) + GgufBytes::raw(3.0f) + GgufBytes::raw(4.0f);
}

TEST(GgufFiles, GiveMetadataAndTensorsByTheirNames) {
  GgufBytes made;
  made.put("general.architecture", "llama").put("count", 7u).put("share", 0.5f).put("yes", true);
  made.put("words", std::vector<std::string>{"a", "", "好"}).put("types", std::vector<std::int32_t>{1, -3});
  made.put("large", 10, GgufBytes::raw(~std::uint64_t{0})).put("eight", 0, GgufBytes::raw(std::uint8_t{255}));
  made.tensor("a.weight", {4, 1}, 0, four_floats()).tensor("b.weight", {32, 2}, 2, std::string(36, '\1'));
  for (const std::uint32_t version : {2u, 3u}) {
    const std::string bytes = made.bytes(version);
    const auto file = locate_gguf("m.gguf", bytes);
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_EQ(file->value<std::string_view>("general.architecture"), "llama");
    EXPECT_EQ(file->value<std::int64_t>("count"), 7);
    EXPECT_EQ(file->number("count"), 7.0);
    EXPECT_EQ(file->number("share"), 0.5);
    EXPECT_EQ(file->value<bool>("yes"), true);
    EXPECT_EQ(file->value<bool>("count"), std::nullopt);
    EXPECT_EQ(file->number("large"), 18446744073709551615.0);
    EXPECT_EQ(file->number("eight"), 255.0);
    EXPECT_EQ(file->find("absent"), nullptr);
    ASSERT_NE(file->list("words"), nullptr);
    EXPECT_EQ(file->list("words")->texts, (std::vector<std::string_view>{"a", "", "好"}));
    EXPECT_EQ(file->list("types")->numbers(), (std::vector<float>{1, -3}));
    ASSERT_EQ(file->stored.arrays.size(), 2u);
    const StoredArray &plain = file->stored.arrays.at("a.weight"), &blocks = file->stored.arrays.at("b.weight");
    EXPECT_EQ(plain.shape, (std::vector<Index>{1, 4}));
    EXPECT_EQ(plain.bytes, four_floats());
    EXPECT_EQ(blocks.shape, (std::vector<Index>{2, 32}));
    EXPECT_EQ(blocks.dtype, Dtype::q4_0);
    EXPECT_EQ(blocks.bytes, std::string(36, '\1'));
    EXPECT_EQ(in_memory(file->stored).arrays.at("b.weight").values.size(), 64u);
  }
}

TEST(GgufFiles, AreRefusedByWhatIsWrong) {
  const std::string good = GgufBytes().put("k", 1u).tensor("t", {4}, 0, four_floats()).bytes();
  ASSERT_EQ(gguf_refusal(good), "");
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(gguf_refusal(good.substr(0, length)), "") << length;
  const auto expect = [](const std::string& bytes, const std::string& line) {
    EXPECT_NE(gguf_refusal(bytes).find(line), std::string::npos) << gguf_refusal(bytes);
    EXPECT_EQ(gguf_refusal(bytes).find('\n'), std::string::npos);
  };
  const auto number = [](auto value) { return GgufBytes::raw(value); };
  const std::uint64_t huge = std::uint64_t{1} << 62;
  expect("GGML" + good.substr(4), "expected a GGUF file");
  expect(GgufBytes().bytes(1), "version: expected 2 or 3, found 1");
  expect(GgufBytes().bytes(0x03000000), "expected a little-endian file");
  expect("GGUF" + number(3u) + number(huge) + number(std::uint64_t{0}), "tensors: expected at most");
  expect("GGUF" + number(3u) + number(std::uint64_t{0}) + number(huge), "metadata: expected at most");
  expect(GgufBytes().put("k", 8, number(huge)).bytes(), "more bytes at");
  expect(GgufBytes().put("k", 9, number(8u) + number(huge)).bytes(), "k: expected texts within the file");
  expect(GgufBytes().put("k", 9, number(5u) + number(huge)).bytes(), "k: expected numbers within the file");
  expect(GgufBytes().put("k", 9, number(9u) + number(std::uint64_t{1})).bytes(),
         "k: expected a list of numbers or texts");
  expect(GgufBytes().put("k", 13, "").bytes(), "k: expected a value of a type from 0 to 12, found type 13");
  expect(GgufBytes().put("", 1u).bytes(), "expected a name of 1 to");
  expect(GgufBytes().put("\xff", 1u).bytes(), "expected a name in UTF-8");
  expect(GgufBytes().put("k", 1u).put("k", 2u).bytes(), "k: expected one value, found two");
  for (const std::uint32_t alignment : {0u, 24u, 1u << 30})
    expect(GgufBytes().put("general.alignment", alignment).bytes(), "general.alignment: expected a power of two");
  expect(GgufBytes().put("general.alignment", 8, number(std::uint64_t{2}) + "32").bytes(), "expected a power of two");
  for (const float none : {INFINITY, NAN})
    expect(GgufBytes().put("k", 6, number(none)).bytes(), "k: expected a finite number, found ");
  expect(GgufBytes().put("k", 12, number(-double{INFINITY})).bytes(), "k: expected a finite number, found -inf");
  const auto tensor = [&](const std::vector<std::uint64_t>& sizes, std::uint32_t kind, std::uint64_t offset = 0) {
    return GgufBytes().tensor_at("t", sizes, kind, offset, std::string(64, '\0')).bytes();
  };
  expect(tensor({}, 0), "t: shape: expected 1 to 4 axes, found 0");
  expect(tensor({1, 1, 1, 1, 1}, 0), "t: shape: expected 1 to 4 axes, found 5");
  expect(tensor({0}, 0), "t: shape: expected sizes from 1");
  expect(tensor({huge}, 0), "t: shape: expected sizes from 1");
  expect(tensor({1u << 30, 1u << 30, 1u << 30}, 0), "t: shape: expected a tensor that memory can hold");
  expect(tensor({33}, 2), "t: shape: expected rows of whole blocks of 32, found (33,)");
  expect(tensor({32, 8}, 12), "t: shape: expected rows of whole blocks of 256, found (8, 32)");
  expect(tensor({4}, 16),
         "t: expected F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K, IQ4_NL or IQ4_XS, "
         "found IQ2_XXS");
  expect(tensor({4}, 39), "found MXFP4");
  expect(tensor({4}, 4), "found Q4_2");
  expect(tensor({4}, 41), "found type 41");
  expect(tensor({4}, 0, 16), "t: offset: expected a multiple of 32, found 16");
  expect(tensor({4}, 0, huge), "t: offset: expected 16 bytes within the 64 of data");
  expect(tensor({17}, 0), "t: offset: expected 68 bytes within the 64 of data");
  expect(tensor({4}, 0, ~std::uint64_t{31}), "t: offset: expected 16 bytes within the 64 of data");
  GgufBytes twice;
  twice.tensor("t", {4}, 0, four_floats()).tensor("t", {4}, 0, four_floats());
  expect(twice.bytes(), "t: expected one tensor of this name, found two");
  GgufBytes over;
  over.tensor("t", {16}, 0, std::string(64, '\0')).tensor_at("u", {4}, 0, 32, four_floats());
  expect(over.bytes(), "u: offset: expected at least 64, where the tensor before it ends");
}

TEST(GgufFiles, OfAModelInShardsAreOne) {
  const TemporaryFolder folder;
  const auto shard = [](std::uint32_t number, const char* tensor) {
    GgufBytes made;
    if (number == 0) made.put("general.architecture", "llama");
    made.put("split.no", 2, GgufBytes::raw(static_cast<std::uint16_t>(number)));
    made.put("split.count", 2, GgufBytes::raw(std::uint16_t{2}));
    return made.tensor(tensor, {4}, 0, four_floats()).bytes();
  };
  const std::string first = folder.with("m-00001-of-00002.gguf", shard(0, "a"));
  const auto alone = map_gguf(first);
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message().find("m-00002-of-00002.gguf"), std::string::npos) << alone.error().message();
  const std::string second = folder.with("m-00002-of-00002.gguf", shard(1, "b"));
  for (const std::string& path : {first, second}) {
    const auto file = map_gguf(path);
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_EQ(file->value<std::string_view>("general.architecture"), "llama");
    ASSERT_EQ(file->stored.arrays.size(), 2u);
    EXPECT_EQ(file->stored.arrays.at("b").bytes, four_floats());
  }
  folder.with("m-00002-of-00002.gguf", shard(1, "a"));
  const auto both = map_gguf(first);
  ASSERT_FALSE(both);
  EXPECT_NE(both.error().message().find("a: expected each tensor in one shard"), std::string::npos);
  const std::string renamed = folder.with("other.gguf", shard(0, "a"));
  const auto other = map_gguf(renamed);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message().find("expected an ending in -00001-of-00002.gguf"), std::string::npos);
  EXPECT_TRUE(is_gguf(renamed));
  EXPECT_FALSE(is_gguf(folder.with("text.gguf", "GGU")));
  EXPECT_FALSE(is_gguf(folder.path()));
}

}  // namespace
}  // namespace headlight
