// Files of torch.save: every number as PyTorch has it, and nothing executed. The files are made by
// golden/make_torch_files.py.
#include "read/array/torch_file.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "read/array/npz.h"
#include "read/array/pickle.h"
#include "temporary_folder.h"

namespace headlight {
namespace {

const std::filesystem::path kTorchFiles = std::filesystem::path(HEADLIGHT_TEST_DATA) / "golden" / "torch-files";

std::string bytes_of(const std::string& name) { return *read_file(kTorchFiles / name); }

std::string refusal_of(std::string_view bytes) {
  const auto file = locate_torch("f.pt", bytes);
  return file ? "" : file.error().message;
}

void expect_same(const StoredArrays& found, const std::string& numbers) {
  const auto expected = read_npz(kTorchFiles / numbers);
  ASSERT_TRUE(expected) << expected.error().message;
  ASSERT_EQ(found.arrays.size(), expected->arrays.size());
  for (const auto& [name, array] : expected->arrays) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(found.arrays.contains(name));
    const StoredArray& stored = found.arrays.at(name);
    EXPECT_EQ(stored.shape, array.shape);
    std::vector<float> values;
    append_widened(stored.dtype, false, stored.bytes, values);
    EXPECT_EQ(values, array.values);
  }
}

TEST(TorchFile, HoldsTheNumbersThatPyTorchSaved) {
  for (const std::string name : {"state.pt", "legacy.pt"}) {
    SCOPED_TRACE(name);
    const auto file = map_torch(kTorchFiles / name);
    ASSERT_TRUE(file) << file.error().message;
    expect_same(*file, "state.npz");
    EXPECT_EQ(file->arrays.at("half").dtype, Dtype::f16);
    EXPECT_EQ(file->arrays.at("brain").dtype, Dtype::bf16);
    // What lies in the file as it is stays there.
    EXPECT_NE(file->arrays.at("weight").mapped, nullptr);
    EXPECT_EQ(file->arrays.at("transposed").mapped, nullptr);
  }
}

TEST(TorchFile, FindsTheStateDictOfATraining) {
  for (const std::string name : {"module.bin", "training.ckpt", "parameters.pt"}) {
    SCOPED_TRACE(name);
    const auto file = map_torch(kTorchFiles / name);
    ASSERT_TRUE(file) << file.error().message;
    expect_same(*file, "module.npz");
  }
}

TEST(TorchFile, RefusesEveryOtherCallByName) {
  for (const std::string name : {"evil.pt", "evil-legacy.pt"}) {
    const std::string refusal = refusal_of(bytes_of(name));
    EXPECT_NE(refusal.find("expected tensors, storages and plain containers, found 'posix system'"), refusal.npos)
        << name << ": " << refusal;
  }
}

TEST(TorchFile, NoTruncatedFileIsRead) {
  for (const std::string name : {"state.pt", "legacy.pt"}) {
    const std::string whole = bytes_of(name);
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_NE(refusal_of(std::string_view(whole).substr(0, size)), "") << name << " " << size;
  }
}

// Each byte flipped: refused with one line, or read as tensors whose bytes lie in the file.
TEST(TorchFile, NoFlippedByteBreaksIt) {
  for (const std::string name : {"state.pt", "legacy.pt"}) {
    const std::string whole = bytes_of(name);
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (const unsigned char change : {0x01, 0xFF}) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ change);
        const auto file = locate_torch("f.pt", damaged);
        if (!file) {
          EXPECT_EQ(file.error().message.find('\n'), std::string::npos);
          continue;
        }
        for (const auto& [tensor, array] : file->arrays)
          EXPECT_EQ(array.bytes.size(), *num_elements(array.shape) * width(array.dtype)) << tensor;
      }
  }
}

std::string pickle_refusal(std::string_view text) {
  const auto pickle = parse_pickle("p", text, [](std::string_view) { return false; });
  return pickle ? "" : pickle.error().message;
}

TEST(Pickle, KeepsWhatItIsGiven) {
  const std::string_view good("\x80\x02}(X\x01\0\0\0aJ\xFF\xFF\xFF\xFFX\x01\0\0\0b](K\x05G\x3F\xF8\0\0\0\0\0\0eu.", 42);
  const auto read = parse_pickle("p", good, [](std::string_view) { return false; });
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->root->find("a")->integer, -1);
  ASSERT_EQ(read->root->find("b")->items.size(), 2u);
  EXPECT_EQ(read->root->find("b")->items[0]->integer, 5);
  EXPECT_EQ(read->root->find("b")->items[1]->number, 1.5);
}

TEST(Pickle, RefusesWhatIsNoData) {
  EXPECT_NE(pickle_refusal("\x80\x02"
                           "cos\nsystem\n.")
                .find("found 'os system'"),
            std::string::npos);
  EXPECT_NE(pickle_refusal("\x80\x02"
                           "ios\nsystem\n.")
                .find("found 0x69"),
            std::string::npos);
  EXPECT_NE(pickle_refusal("\x80\x02.").find("a value on the stack"), std::string::npos);
  EXPECT_NE(pickle_refusal(std::string_view("\x80\x02h\0.", 5)).find("a value that was remembered"), std::string::npos);
  EXPECT_NE(pickle_refusal("\x80\x02X\xFF\xFF\xFF\x7F").find("more bytes"), std::string::npos);
  EXPECT_NE(pickle_refusal(std::string("\x80\x02") + std::string(5000000, ']')).find("at most"), std::string::npos);
}

// A list that holds itself, and one that holds another many times over: values are not copied, nothing recurses.
TEST(Pickle, CirclesAndBombsCostNothing) {
  EXPECT_EQ(pickle_refusal(std::string_view("\x80\x02]q\0h\0a.", 9)), "");
  std::string bomb("\x80\x02]q\0", 5);
  for (int level = 0; level < 200; ++level) bomb += std::string("](h\0h\0h\0h\0eq\0", 13);
  EXPECT_EQ(pickle_refusal(bomb + "."), "");
}

}  // namespace
}  // namespace headlight
