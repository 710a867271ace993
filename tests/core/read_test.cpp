// Safetensors, NumPy and JSON from outside: what is whole is read exactly, what is not is refused in one clear line.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zip.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/file.h"
#include "read/array/array.h"
#include "read/array/npy.h"
#include "read/array/npz.h"
#include "read/array/safetensors.h"
#include "read/json/json_document.h"
#include "temporary_folder.h"

namespace headlight {
namespace {

template <class Number>
std::string bytes_of(std::initializer_list<Number> numbers) {
  std::string bytes;
  for (const Number number : numbers) bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  return bytes;
}

std::string safetensors_of(const std::string& header, const std::string& data) {
  return bytes_of<std::uint64_t>({header.size()}) + header + data;
}

std::string npy_of(const std::string& dictionary, const std::string& data, char version = 1) {
  const std::string text = dictionary + "\n";
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += '\0';
  bytes += version == 1 ? bytes_of<std::uint16_t>({static_cast<std::uint16_t>(text.size())})
                        : bytes_of<std::uint32_t>({static_cast<std::uint32_t>(text.size())});
  return bytes + text + data;
}

std::string dictionary_of(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

using Folder = TemporaryFolder;

/// A zip archive in a file, its members stored or deflated.
std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members, int method = ZIP_CM_STORE) {
  const Folder folder;
  const auto path = folder / "archive.zip";
  int code = 0;
  zip_t* archive = zip_open(path.string().c_str(), ZIP_CREATE, &code);
  for (const auto& [name, bytes] : members) {
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const auto index = zip_file_add(archive, name.c_str(), source, 0);
    EXPECT_GE(index, 0) << zip_strerror(archive);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), method, 0);
  }
  EXPECT_EQ(zip_close(archive), 0);
  return *read_file(path);
}

template <class Read>
void expect_line(const Read& result, const std::string& part) {
  ASSERT_FALSE(result) << "accepted, though it should say: " << part;
  const std::string& line = result.error().message();
  EXPECT_NE(line.find(part), std::string::npos) << line;
  EXPECT_NE(line.find(": expected "), std::string::npos) << line;
  EXPECT_NE(line.find(", found "), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  EXPECT_LT(line.size(), 400u) << line;
}

TEST(Array, ElementsOfEveryTypeBecomeFloats) {
  const auto widened = [](Dtype dtype, const std::string& bytes, bool big_endian = false) {
    std::vector<float> values;
    append_widened(dtype, big_endian, bytes, values);
    return values;
  };
  using Floats = std::vector<float>;
  EXPECT_EQ(widened(Dtype::boolean, std::string("\0\1\2", 3)), (Floats{0, 1, 1}));
  EXPECT_EQ(widened(Dtype::u8, bytes_of<std::uint8_t>({0, 255})), (Floats{0, 255}));
  EXPECT_EQ(widened(Dtype::i8, bytes_of<std::int8_t>({-128, 127})), (Floats{-128, 127}));
  EXPECT_EQ(widened(Dtype::u16, bytes_of<std::uint16_t>({65535})), (Floats{65535}));
  EXPECT_EQ(widened(Dtype::i16, bytes_of<std::int16_t>({-300})), (Floats{-300}));
  EXPECT_EQ(widened(Dtype::u32, bytes_of<std::uint32_t>({1u << 31})), (Floats{2147483648.0f}));
  EXPECT_EQ(widened(Dtype::i32, bytes_of<std::int32_t>({-7, 8})), (Floats{-7, 8}));
  EXPECT_EQ(widened(Dtype::u64, bytes_of<std::uint64_t>({9})), (Floats{9}));
  EXPECT_EQ(widened(Dtype::i64, bytes_of<std::int64_t>({-9})), (Floats{-9}));
  EXPECT_EQ(widened(Dtype::f16, bytes_of<std::uint16_t>({0x3C00, 0xC000, 0x0001, 0x7BFF})),
            (Floats{1, -2, 0x1p-24f, 65504}));
  EXPECT_EQ(widened(Dtype::bf16, bytes_of<std::uint16_t>({0x3F80, 0xC040})), (Floats{1, -3}));
  EXPECT_EQ(widened(Dtype::f32, bytes_of<float>({0.1f})), (Floats{0.1f}));
  EXPECT_EQ(widened(Dtype::f64, bytes_of<double>({0.1})), (Floats{0.1f}));
  EXPECT_EQ(widened(Dtype::i32, std::string("\0\0\1\2", 4), true), (Floats{258}));
  EXPECT_EQ(widened(Dtype::f16, std::string("\x3C\0", 2), true), (Floats{1}));
}

TEST(Array, ProductsOfSizesDoNotOverflow) {
  const Index huge = Index{1} << 40;
  EXPECT_EQ(num_elements({}), 1u);
  EXPECT_EQ(num_elements({3, 4}), 12u);
  EXPECT_EQ(num_elements({0, huge}), 0u);
  EXPECT_EQ(num_elements({huge}), kMostElements);
  EXPECT_FALSE(num_elements({huge, 2}));
  EXPECT_FALSE(num_elements({Index{1} << 32, Index{1} << 32}));
  EXPECT_FALSE(num_elements({std::numeric_limits<Index>::max()}));
  EXPECT_FALSE(num_elements({-1, 3}));
}

TEST(Array, NamesInMessagesAreOneShortLine) {
  EXPECT_EQ(printable("q_proj.weight"), "q_proj.weight");
  EXPECT_EQ(printable("a\nb\x7F"), "a?b?");
  EXPECT_EQ(printable("\xFF\xFE"), "??");
  EXPECT_EQ(printable("机票"), "机票");
  EXPECT_EQ(printable("\u001b[2J\u009bx\u202e\u2066\u2028\u200f"), "?[2J?x????");
  EXPECT_EQ(printable(std::string(80, 'a')), std::string(80, 'a'));
  EXPECT_EQ(printable(std::string(81, 'a')), std::string(80, 'a') + "…");
  // 机 has three bytes: the 80th byte lies inside a character, which is left out whole.
  std::string long_name, expected;
  for (int i = 0; i < 30; ++i) long_name += "机";
  for (int i = 0; i < 26; ++i) expected += "机";
  EXPECT_EQ(printable(long_name), expected + "…");
}

TEST(Safetensors, ReadsArraysAndMetadata) {
  const std::string header =
      R"({"__metadata__":{"num_heads":"2"},"odd":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]},)"
      R"("b":{"dtype":"F32","shape":[1,2],"data_offsets":[3,11]},"none":{"dtype":"F32","shape":[0,7],)"
      R"("data_offsets":[11,11]},"one":{"dtype":"I64","shape":[],"data_offsets":[11,19]}}   )";
  const auto file = parse_safetensors(
      "f",
      safetensors_of(header, std::string("\1\0\1", 3) + bytes_of<float>({1.5f, -2.5f}) + bytes_of<std::int64_t>({-4})));
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->metadata.at("num_heads"), "2");
  EXPECT_EQ(file->arrays.size(), 4u);
  EXPECT_EQ(file->arrays.at("odd").dtype, Dtype::boolean);
  EXPECT_EQ(file->arrays.at("odd").values, (std::vector<float>{1, 0, 1}));
  EXPECT_EQ(file->arrays.at("b").shape, (std::vector<Index>{1, 2}));
  EXPECT_EQ(file->arrays.at("b").values, (std::vector<float>{1.5f, -2.5f}));  // begins at an odd offset
  EXPECT_TRUE(file->arrays.at("none").values.empty());
  EXPECT_EQ(file->arrays.at("one").values, std::vector<float>{-4});
}

TEST(Safetensors, RefusesWhatIsMalformed) {
  const std::string f32 = bytes_of<float>({1, 2});
  const auto entry = [](const std::string& fields) { return "{\"a\":{" + fields + "}}"; };
  const struct {
    std::string bytes, says;
  } cases[] = {
      {"", "size: expected a safetensors file"},
      {"1234567", "size: expected a safetensors file"},
      {bytes_of<std::uint64_t>({100}) + "{}", "header length: expected at most 2, found 100"},
      {bytes_of<std::uint64_t>({~std::uint64_t{0}}) + "{}", "header length"},
      {safetensors_of("", ""), "header: expected a JSON object"},
      {safetensors_of("[]", ""), "header: expected a JSON object"},
      {safetensors_of("{\"a\":", ""), "header: line 1, column"},
      {safetensors_of("{} x", ""), "header: line 1, column 4"},
      {safetensors_of("{\"a\":1}", ""), "a: expected an object"},
      {safetensors_of("{\"a\n\":1}", ""), "header: line 1"},
      {safetensors_of(R"({"a":{},"a":{}})", ""), "key \"a\": expected each key once"},
      {safetensors_of("{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}", ""),
       "nesting: expected at most 64"},
      {safetensors_of(R"({"__metadata__":[]})", ""), "__metadata__: expected an object of strings, found array"},
      {safetensors_of(R"({"__metadata__":{"n":3}})", ""), "__metadata__: n: expected a string, found number"},
      {safetensors_of(entry(R"("shape":[2],"data_offsets":[0,8])"), f32), "a: dtype: expected a name"},
      {safetensors_of(entry(R"("dtype":"F8_E5M2","shape":[8],"data_offsets":[0,8])"), f32), "a: dtype: expected BOOL"},
      {safetensors_of(entry(R"("dtype":"F32","data_offsets":[0,8])"), f32), "a: shape: expected a list of sizes"},
      {safetensors_of(entry(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), f32), "a: shape"},
      {safetensors_of(entry(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"), f32), "a: shape"},
      {safetensors_of(entry(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8])"), f32),
       "too large"},
      {safetensors_of(entry(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8])"), f32), "a: shape"},
      {safetensors_of(entry(R"("dtype":"F32","shape":[2])"), f32), "a: data_offsets: expected [begin, end]"},
      {safetensors_of(entry(R"("dtype":"F32","shape":[2],"data_offsets":[8])"), f32), "a: data_offsets"},
      {safetensors_of(entry(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), f32), "a: data_offsets"},
      {safetensors_of(entry(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), f32),
       "a: data_offsets: expected 12 bytes for float32 (3,), found 8"},
      {safetensors_of(entry(R"("dtype":"F32","shape":[2],"data_offsets":[4,12])"), f32), "within the 8 bytes of data"},
      {safetensors_of(entry(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), f32), "a begin of 0"},
      {safetensors_of(entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), f32),
       "size: expected 4 bytes of data, found 8"},
      {safetensors_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                      R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
                      f32.substr(0, 6)),
       "b: data_offsets: expected a begin of 4"},
      {safetensors_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                      R"("b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                      f32),
       "b: data_offsets"},
  };
  for (const auto& [bytes, says] : cases) expect_line(parse_safetensors("f", bytes), says);
}

TEST(Npy, ReadsEveryVersionAndOrder) {
  const std::string six = bytes_of<float>({1, 2, 3, 4, 5, 6});
  for (const char version : {1, 2, 3}) {
    const auto array = parse_npy("f", npy_of(dictionary_of("<f4", "(2, 3)"), six, version));
    ASSERT_TRUE(array) << array.error().message();
    EXPECT_EQ(array->shape, (std::vector<Index>{2, 3}));
    EXPECT_EQ(array->values, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  }
  const auto columns = parse_npy("f", npy_of(dictionary_of("<f4", "(2, 3)", "True"), six));
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->values, (std::vector<float>{1, 3, 5, 2, 4, 6}));
  const auto deep = parse_npy("f", npy_of(dictionary_of("|u1", "(2, 1, 3)", "True"), std::string("\1\2\3\4\5\6")));
  ASSERT_TRUE(deep);
  EXPECT_EQ(deep->values, (std::vector<float>{1, 3, 5, 2, 4, 6}));
  const auto number = parse_npy("f", npy_of(dictionary_of("<i8", "()"), bytes_of<std::int64_t>({12})));
  ASSERT_TRUE(number);
  EXPECT_TRUE(number->shape.empty());
  EXPECT_EQ(number->values, std::vector<float>{12});
  const auto bools = parse_npy("f", npy_of(dictionary_of("|b1", "(2,)"), std::string("\0\1", 2)));
  ASSERT_TRUE(bools);
  EXPECT_EQ(bools->dtype, Dtype::boolean);
  const auto big = parse_npy("f", npy_of("{\"shape\": (1L,), 'descr': '>f8', 'fortran_order': False}",
                                         std::string("\x40\x09\x21\xfb\x54\x44\x2d\x18")));
  ASSERT_TRUE(big) << big.error().message();
  EXPECT_EQ(big->values, std::vector<float>{3.14159265358979323846f});
}

TEST(Npy, RefusesWhatIsMalformed) {
  const std::string good = dictionary_of("<f4", "(2,)"), f32 = bytes_of<float>({1, 2});
  const struct {
    std::string bytes, says;
  } cases[] = {
      {"", "start: expected a NumPy array (.npy), found an empty file"},
      {"PK\3\4 and some more", "start: expected a NumPy array"},
      {npy_of(good, f32, 4), "version: expected 1, 2 or 3, found 4"},
      {npy_of(good, f32).substr(0, 30), "size: expected a header of"},
      {npy_of(std::string(70000, ' ') + good, f32, 2), "header length: expected at most 65536"},
      {npy_of(good, f32 + "x"), "data: expected 8 bytes for float32 (2,), found 9"},
      {npy_of(good, f32.substr(1)), "data: expected 8 bytes for float32 (2,), found 7"},
      {npy_of(dictionary_of("<f4", "(1099511627776, 1099511627776)"), f32), "shape: expected sizes that fit memory"},
      {npy_of(dictionary_of("<f4", "(-1,)"), f32), "shape"},
      {npy_of(dictionary_of("<f4", "(99999999999999999999,)"), f32), "header: expected a dictionary"},
      {npy_of(dictionary_of("<f4", "(2"), f32), "header: expected a dictionary"},
      {npy_of(dictionary_of("<f4", "2"), f32), "header: expected a dictionary"},
      {npy_of(dictionary_of("<f4", "(2 2)"), f32), "header: expected a dictionary"},
      {npy_of(dictionary_of("<f4", "(2,)", "Maybe"), f32), "header: expected a dictionary"},
      {npy_of(dictionary_of("<c8", "(1,)"), f32), "dtype: expected bool, an integer or a float, found '<c8'"},
      {npy_of(dictionary_of("|O", "(1,)"), f32), "found objects of Python"},
      {npy_of("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,)}", f32), "found a structured one"},
      {npy_of("{'descr': '<f4', 'shape': (2,)}", f32), "header: expected a dictionary"},
      {npy_of("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", f32), "header"},
      {npy_of("{'more': '<f4', 'fortran_order': False, 'shape': (2,)}", f32), "header: expected a dictionary"},
      {npy_of(good + "{}", f32), "header: expected a dictionary"},
      {npy_of("", f32), "header: expected a dictionary"},
  };
  for (const auto& [bytes, says] : cases) expect_line(parse_npy("f", bytes), says);
}

TEST(Npz, ReadsStoredAndDeflated) {
  std::string many;
  for (int i = 0; i < 600'000; ++i) many += bytes_of<float>({static_cast<float>(i % 1000)});  // more than one chunk
  for (const int method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    const std::string few = npy_of(dictionary_of("|b1", "(1, 2)"), std::string("\1\0", 2));
    const std::string bytes =
        zip_of({{"a.npy", npy_of(dictionary_of("<f4", "(600000,)"), many)}, {"b.npy", few}}, method);
    const auto file = parse_npz("f", bytes);
    ASSERT_TRUE(file) << file.error().message();
    ASSERT_EQ(file->arrays.size(), 2u);
    ASSERT_EQ(file->arrays.at("a").values.size(), 600'000u);
    EXPECT_EQ(file->arrays.at("a").values[599'999], 999.0f);
    EXPECT_EQ(file->arrays.at("b").values, (std::vector<float>{1, 0}));
    EXPECT_EQ(file->arrays.at("b").dtype, Dtype::boolean);
  }
}

TEST(Npz, RefusesWhatIsMalformed) {
  const std::string array = npy_of(dictionary_of("<f4", "(2,)"), bytes_of<float>({1, 2}));
  expect_line(parse_npz("f", "not a zip archive, whatever its name says"), "archive: expected a readable .npz (zip)");
  expect_line(parse_npz("f", ""), "f: archive: expected at least one array, found none");
  expect_line(parse_npz("f", zip_of({{"a.npy", array}}).substr(0, 60)), "archive: expected a readable .npz");
  expect_line(parse_npz("f", zip_of({{"readme.txt", "hello"}})), "readme.txt: expected an array (.npy)");
  expect_line(parse_npz("f", zip_of({{"a.npy", "x"}})), "a.npy: start: expected a NumPy array");
  expect_line(parse_npz("f", zip_of({{"a.npy", array + "x"}})), "bytes for float32 (2,)");
  expect_line(parse_npz("f", zip_of({{"a.npy", npy_of(dictionary_of("<f4", "(1099511627776,)"), "")}})),
              "a.npy: size: expected 4398046511");
  // Flipped bits in the data of a stored array are found by its checksum.
  std::string flipped = zip_of({{"a.npy", array}});
  const std::size_t data = flipped.find("\n" + bytes_of<float>({1, 2})) + 1;
  flipped[data] = static_cast<char>(flipped[data] ^ 1);
  expect_line(parse_npz("f", flipped), "a.npy: data: expected readable bytes, found CRC error");
  // The same name twice, which libzip itself refuses to write.
  std::string twice = zip_of({{"a.npy", array}, {"b.npy", array}});
  for (std::size_t at = 0; (at = twice.find("b.npy", at)) != std::string::npos;) twice[at] = 'a';
  expect_line(parse_npz("f", twice), "a.npy: expected each name once");
}

TEST(Npz, BombsStayBelowTheLimit) {
  const std::string zeros = npy_of(dictionary_of("|b1", "(3000, 1000)"), std::string(3'000'000, '\0'));
  const std::string bomb = zip_of({{"a.npy", zeros}, {"b.npy", zeros}}, ZIP_CM_DEFLATE);
  EXPECT_LT(bomb.size(), 20'000u);
  EXPECT_TRUE(parse_npz("f", bomb, 24'000'000));
  expect_line(parse_npz("f", bomb, 23'999'999),
              "b.npy: size: expected arrays of at most 23999999 bytes as float32 in an archive of " +
                  std::to_string(bomb.size()) + ", found at least 24000000");
}

TEST(Npz, ASmallFileIsTrustedWithLittleMemory) {
  // 68 Mi bools: 272 MiB as float32, in an archive of some 70 KB.
  const std::string zeros = npy_of(dictionary_of("|b1", "(71303168,)"), std::string(71'303'168, '\0'));
  const std::string bomb = zip_of({{"a.npy", zeros}}, ZIP_CM_DEFLATE);
  ASSERT_LT(bomb.size() * kMostNpzInflation, kAnyNpzBytes);
  expect_line(parse_npz("f", bomb), "a.npy: size: expected arrays of at most 268435456 bytes as float32");
  EXPECT_TRUE(parse_npz("f", zip_of({{"a.npy", zeros}}, ZIP_CM_STORE))) << "what is there is read";
}

TEST(Files, WhatCannotBeReadIsNamed) {
  const Folder folder;
  const auto missing = folder / "missing";
  expect_line(read_npz(missing), missing.string() + ": open: expected a regular file");
  expect_line(read_npy(missing), missing.string() + ": open");
  expect_line(read_safetensors(missing), missing.string() + ": open");
  expect_line(read_npz(testing::TempDir()), "found a folder");
  const auto pipe = folder / "pipe.npz";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_line(read_npz(pipe), "found something that is not a file");
}

TEST(Json, ReadsADocument) {
  const auto document = parse_json("f", "\xEF\xBB\xBF{\"a\": [1, -2, 0.5, true, null, \"机\"], \"b\": {\"a\": {}}}");
  ASSERT_TRUE(document) << document.error().message();
  EXPECT_EQ(document->dump(), "{\"a\":[1,-2,0.5,true,null,\"机\"],\"b\":{\"a\":{}}}");
  EXPECT_EQ(*parse_json("f", " 3 "), 3);
  const std::string deep = std::string(kMostJsonDepth, '[') + std::string(kMostJsonDepth, ']');
  EXPECT_TRUE(parse_json("f", deep));
}

TEST(Json, OneKeyOfTheOutermostObjectIsCheckedAndLeftOut) {
  const std::string text = R"({"a": 1, "b": {"b": [1, {"c": 2}], "d": []}, "e": {"b": [3]}})";
  const auto document = parse_json("f", text, "b");
  ASSERT_TRUE(document) << document.error().message();
  EXPECT_EQ(*document, (nlohmann::json{{"a", 1}, {"e", {{"b", {3}}}}}));
  EXPECT_EQ(*parse_json("f", R"({"b": 1, "c": 2})", "b"), (nlohmann::json{{"c", 2}}));
  EXPECT_FALSE(parse_json("f", R"({"b": [1,}, "c": 2})", "b"));
  EXPECT_FALSE(parse_json("f", R"({"b": )" + std::string(100, '[') + std::string(100, ']') + "}", "b"));
}

TEST(Json, RefusesWhatIsMalformed) {
  const struct {
    std::string text, says;
  } cases[] = {
      {"", "f: line 1, column 1: expected valid JSON, found the end"},
      {"{\n  \"机\": x}", "f: line 2, column 8"},
      {"[1, 2", "column 6: expected valid JSON, found the end"},
      {"[1] [2]", "column 5"},
      {"[NaN]", "column"},
      {"[1e999]", "found '1e999'"},
      {"[\"\xFF\"]", "column"},
      {"[\"a\nb\"]", "column"},
      {"[1,]", "column 4"},
      {"{\"a\":1,\"b\":2,\"a\":3}", "key \"a\": expected each key once, found it twice"},
      {"[{\"a\":{\"x\":1,\"x\":1}}]", "key \"x\""},
      {std::string(65, '[') + std::string(65, ']'), "nesting: expected at most 64 levels, found more"},
      {std::string(1'000'000, '['), "nesting"},
      {"[" + std::string(100'000, 'x'), "line 1, column"},
      {"\"" + std::string(100'000, 'x'), "line 1, column"},
  };
  for (const auto& [text, says] : cases) expect_line(parse_json("f", text), says);
}

}  // namespace
}  // namespace headlight
