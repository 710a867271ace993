// Files of torch.save: every number as PyTorch has it, and nothing executed. The files are made by
// golden/make_torch_files.py.
#include "read/array/torch_file.h"

#include <gtest/gtest.h>
#include <zip.h>

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
  return file ? "" : file.error().message();
}

void expect_same(const StoredArrays& found, const std::string& numbers) {
  const auto expected = read_npz(kTorchFiles / numbers);
  ASSERT_TRUE(expected) << expected.error().message();
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
    ASSERT_TRUE(file) << file.error().message();
    expect_same(*file, "state.npz");
    EXPECT_EQ(file->arrays.at("half").dtype, Dtype::f16);
    EXPECT_EQ(file->arrays.at("brain").dtype, Dtype::bf16);
    // What lies in the file as it is stays there.
    EXPECT_NE(file->arrays.at("weight").mapped, nullptr);
    EXPECT_EQ(file->arrays.at("transposed").mapped, nullptr);
  }
}

TEST(TorchFile, FindsTheStateDictOfATraining) {
  for (const std::string name : {"module.bin", "training.ckpt", "lightning.ckpt", "parameters.pt"}) {
    SCOPED_TRACE(name);
    const auto file = map_torch(kTorchFiles / name);
    ASSERT_TRUE(file) << file.error().message();
    expect_same(*file, "module.npz");
  }
}

TEST(TorchFile, NumbersOfABigEndianMachineAreRefused) {
  std::string bytes = bytes_of("legacy.pt");
  const std::size_t value = bytes.find("little_endian") + std::string_view("little_endianq\x02").size();
  ASSERT_EQ(bytes[value], '\x88') << "True";
  bytes[value] = '\x89';
  EXPECT_EQ(refusal_of(bytes), "f.pt: system: expected little-endian numbers, found big-endian ones");
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
          EXPECT_EQ(file.error().message().find('\n'), std::string::npos);
          continue;
        }
        for (const auto& [tensor, array] : file->arrays)
          EXPECT_EQ(array.bytes.size(), *num_elements(array.shape) * width(array.dtype)) << tensor;
      }
  }
}

std::string pickle_refusal(std::string_view text) {
  const auto pickle = parse_pickle("p", text, [](std::string_view) { return false; });
  return pickle ? "" : pickle.error().message();
}

TEST(Pickle, KeepsWhatItIsGiven) {
  const std::string_view good("\x80\x02}(X\x01\0\0\0aJ\xFF\xFF\xFF\xFFX\x01\0\0\0b](K\x05G\x3F\xF8\0\0\0\0\0\0eu.", 42);
  const auto read = parse_pickle("p", good, [](std::string_view) { return false; });
  ASSERT_TRUE(read) << read.error().message();
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

std::string op(char code, std::uint32_t number) {
  std::string text(1, code);
  for (int i = 0; i < 4; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

TEST(Pickle, EveryWayToACallIsRefusedByName) {
  const std::string start = "\x80\x02";
  for (const std::string name : {"os system", "builtins eval", "__builtin__ exec", "subprocess Popen", "torch load",
                                 "numpy.core.multiarray _reconstruct", "torch.nn.modules.linear Linear"}) {
    const std::string module = name.substr(0, name.find(' ')), function = name.substr(name.find(' ') + 1);
    const std::string found = "found '" + name + "'";
    const auto refused = [&](const std::string& pickle) {
      const auto read = parse_pickle("p", pickle, is_torch_global);
      return !read && read.error().message().find(found) != std::string::npos;
    };
    EXPECT_TRUE(refused(start + "c" + module + "\n" + function + "\n(tR.")) << name;
    const auto text = [](const std::string& word) { return op('X', static_cast<std::uint32_t>(word.size())) + word; };
    EXPECT_TRUE(refused(start + text(module) + text(function) + "\x93)R.")) << name << " as a stack's global";
  }
  // Objects, instances, extensions and persistent names have separate opcodes; none of them is read.
  for (const char opcode : {'i', 'o', 'P', '\x82', '\x83', '\x84', '\x92', '\x97', '\x98', 'I', 'S', 'V'})
    EXPECT_NE(pickle_refusal(start + "(" + opcode + "x\ny\n.").find("an opcode that holds data"), std::string::npos)
        << opcode;
  // What is known cannot be called upon a thing that is no tuple, and no call can be called.
  EXPECT_NE(pickle_refusal(start + "]]R."), "");
}

TEST(Pickle, SizesAreNotBelievedBeforeTheBytesAreThere) {
  const std::string start = "\x80\x02";
  for (const char opcode : {'X', 'T', 'B'})
    EXPECT_NE(pickle_refusal(start + op(opcode, 0xFFFFFFFFu) + "abc.").find("more bytes, found 4"), std::string::npos);
  EXPECT_NE(pickle_refusal(start + "\x8a\xFF" + "abc."), "");
  EXPECT_NE(pickle_refusal(start + std::string(5000000, '(')).find("marks"), std::string::npos);
  std::string memo = start + "N";
  for (std::uint32_t key = 0; key <= kMostPickleValues; ++key) memo += op('r', key);
  EXPECT_NE(pickle_refusal(memo + ".").find("values in the memo"), std::string::npos);
  std::string deep = start;
  for (int level = 0; level < 1000000; ++level) deep += "]";
  for (int level = 1; level < 1000000; ++level) deep += "a";
  EXPECT_EQ(pickle_refusal(deep + "."), "") << "nested a million deep, and nothing recurses";
}

/// A zip archive of stored members, as torch.save lays it out.
std::string torch_zip_of(const std::vector<std::pair<std::string, std::string>>& members) {
  const auto number = [](std::uint64_t value, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  std::string file, directory;
  for (const auto& [name, bytes] : members) {
    const std::string sizes = number(bytes.size(), 4) + number(bytes.size(), 4) + number(name.size(), 2);
    directory +=
        "PK\1\2" + number(0, 6) + number(0, 2) + number(0, 8) + sizes + number(0, 12) + number(file.size(), 4) + name;
    file += "PK\3\4" + number(0, 4) + number(0, 2) + number(0, 8) + sizes + number(0, 2) + name + bytes;
  }
  return file + directory + "PK\5\6" + number(0, 4) + number(members.size(), 2) + number(members.size(), 2) +
         number(directory.size(), 4) + number(file.size(), 4) + number(0, 2);
}

/// {"w": a float tensor of a storage of `count` elements, from `offset`, of this shape and these strides}.
std::string tensor_pickle(std::uint32_t count, std::uint32_t offset, std::uint32_t rows, std::uint32_t stride,
                          const std::string& storage = "FloatStorage") {
  const auto text = [](const std::string& word) { return op('X', static_cast<std::uint32_t>(word.size())) + word; };
  return "\x80\x02}" + text("w") + "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\n" + storage +
         "\n" + text("0") + text("cpu") + op('J', count) + "tQ" + op('J', offset) + "(" + op('J', rows) + "t(" +
         op('J', stride) + "t\x89}tRs.";
}

std::string state_refusal(const std::string& pickle, const std::string& storage) {
  return refusal_of(torch_zip_of({{"a/data.pkl", pickle}, {"a/data/0", storage}}));
}

TEST(TorchFile, ANamedStateDictGoesBeforeTensorsBesideIt) {
  const std::string pickle = tensor_pickle(8, 0, 8, 1);
  const auto text = [](const std::string& word) { return op('X', static_cast<std::uint32_t>(word.size())) + word; };
  const std::size_t before = std::string("\x80\x02}").size() + text("w").size();
  const std::string tensor = pickle.substr(before, pickle.size() - before - 2),
                    dict = pickle.substr(2, pickle.size() - 3);
  for (const std::string name : {"state_dict", "model_state_dict", "model"}) {
    const std::string training =
        "\x80\x02}" + text("loss") + tensor + "s" + text(name) + dict + "s" + text("rng") + tensor + "s.";
    const std::string file = torch_zip_of({{"a/data.pkl", training}, {"a/data/0", std::string(32, '\0')}});
    const auto found = locate_torch("f.pt", file);
    ASSERT_TRUE(found) << found.error().message();
    ASSERT_EQ(found->arrays.size(), 1u) << name;
    EXPECT_TRUE(found->arrays.contains("w"));
  }
}

TEST(Pickle, Protocol4RemembersFromZero) {
  const std::string_view list(
      "\x80\x04\x95\x0b\0\0\0\0\0\0\0]\x94(\x8c\x01"
      "a\x94h\x01h\0e.",
      24);
  const auto read = parse_pickle("p", list, [](std::string_view) { return false; });
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_EQ(read->root->items.size(), 3u);
  EXPECT_EQ(read->root->items[1]->text, "a");
  EXPECT_EQ(read->root->items[2], read->root) << "0 is the list";
}

TEST(TorchFile, NoTensorReachesBeyondItsStorage) {
  const std::string eight(8 * 4, '\0');
  EXPECT_EQ(state_refusal(tensor_pickle(8, 0, 8, 1), eight), "");
  EXPECT_EQ(state_refusal(tensor_pickle(8, 1, 4, 2), std::string(8 * 4, '\1')), "") << "the last element is the last";
  EXPECT_NE(state_refusal(tensor_pickle(8, 2, 4, 2), eight).find("elements within the 8 of its storage"),
            std::string::npos);
  EXPECT_NE(state_refusal(tensor_pickle(8, 0, 9, 1), eight).find("elements within the 8"), std::string::npos);
  EXPECT_NE(state_refusal(tensor_pickle(8, 0, 2, 0x7FFFFFFF), eight).find("elements within the 8"), std::string::npos);
  EXPECT_NE(state_refusal(tensor_pickle(9, 0, 9, 1), eight).find("9 elements in its storage, found 8"),
            std::string::npos);
  EXPECT_NE(state_refusal(tensor_pickle(8, 0xFFFFFFFF, 1, 1), eight), "");
  EXPECT_NE(state_refusal(tensor_pickle(8, 0, 0xFFFFFFFF, 1), eight), "");
  EXPECT_NE(state_refusal(tensor_pickle(8, 0, 8, 1, "QInt8Storage"), eight).find("found 'torch QInt8Storage'"),
            std::string::npos);
  EXPECT_NE(refusal_of(torch_zip_of({{"a/data.pkl", tensor_pickle(8, 0, 8, 1)}})).find("a member a/data/0, found none"),
            std::string::npos);
  // One element two thousand million times: a copy is not made.
  EXPECT_NE(state_refusal(tensor_pickle(8, 0, 0x7FFFFFFF, 0), eight).find("bytes of strided tensors"),
            std::string::npos);
}

/// A deflated member states how large it will be, and may lie.
TEST(TorchFile, ABombIsNotInflated) {
  const TemporaryFolder folder;
  const auto path = folder / "bomb.pt";
  int code = 0;
  zip_t* archive = zip_open(path.string().c_str(), ZIP_CREATE, &code);
  ASSERT_NE(archive, nullptr);
  const std::string pickle = tensor_pickle(25u << 20, 0, 25u << 20, 1), zeros(std::size_t{100} << 20, '\0');
  for (const auto& [name, bytes] : {std::pair{"a/data.pkl", &pickle}, {"a/data/0", &zeros}})
    ASSERT_GE(zip_file_add(archive, name, zip_source_buffer(archive, bytes->data(), bytes->size(), 0), 0), 0);
  ASSERT_EQ(zip_set_file_compression(archive, 1, ZIP_CM_DEFLATE, 1), 0);
  ASSERT_EQ(zip_close(archive), 0);
  const auto bomb = map_torch(path);
  ASSERT_FALSE(bomb);
  EXPECT_NE(bomb.error().message().find("deflated ones of at most"), std::string::npos) << bomb.error().message();
}

}  // namespace
}  // namespace headlight
