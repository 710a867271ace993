// Masks from files: booleans and 0/1 block, floats are added, everything else is refused with its index.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <limits>

#include "base/file.h"
#include "model/batch_mask.h"
#include "read/external/mask_file.h"
#include "temporary_folder.h"

namespace headlight::mask_file_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

Array array_of(Dtype dtype, std::vector<Index> shape, std::vector<float> values) {
  return {.dtype = dtype, .shape = std::move(shape), .values = std::move(values)};
}

template <class Mask>
void expect_line(const Result<Mask>& result, const std::string& says) {
  ASSERT_FALSE(result) << "accepted, though it should say: " << says;
  EXPECT_NE(result.error().message().find(says), std::string::npos) << result.error().message();
}

Matrix matrix(Index rows, Index cols, const std::vector<float>& values) {
  return Eigen::Map<const Matrix>(values.data(), rows, cols);
}

Result<Matrix> mask_of(const Array& array) {
  std::vector<Error> notes;
  auto mask = additive_mask("f", "mask", array, notes);
  EXPECT_TRUE(notes.empty()) << notes.front().message();
  return mask;
}

Result<Matrix> mask_in(const std::filesystem::path& path) {
  std::vector<Error> notes;
  const auto mask = read_mask(path, notes);
  EXPECT_TRUE(notes.empty()) << notes.front().message();
  if (!mask) return mask.error();
  EXPECT_TRUE(mask->given) << "of two axes or fewer";
  return *mask->given;
}

TEST(MaskFile, JsonOfTorchMasks) {
  const auto added = parse_json_mask("f", "[[0.0, -Infinity], [0.0, 0.0]]");
  ASSERT_TRUE(added) << added.error().message();
  EXPECT_TRUE(same(*added->given, matrix(2, 2, {0, -kInf, 0, 0})));
  const auto floats = parse_json_mask("f", "[[1.0, 0.0], [1.0, 1.0]]");
  ASSERT_TRUE(floats) << floats.error().message();
  EXPECT_TRUE(same(*floats->given, matrix(2, 2, {0, -kInf, 0, 0})));
}

TEST(MaskFile, FloatsOfNothingButZeroAndOneAreABooleanMask) {
  const auto array = array_of(Dtype::f32, {2, 2}, {1, 0, 1, 1});
  std::vector<Error> notes;
  const auto mask = additive_mask("f", "mask", array, notes);
  ASSERT_TRUE(mask) << mask.error().message();
  EXPECT_TRUE(same(*mask, matrix(2, 2, {0, -kInf, 0, 0})));
  EXPECT_EQ(
      messages_of(notes),
      (std::vector<std::string>{"f: mask: floats of nothing but 0 and 1 are read as a boolean mask, 1 = may attend"}));
  // Nothing but zeros masks nothing where it is added, and nothing but ones neither.
  EXPECT_TRUE(same(*mask_of(array_of(Dtype::f32, {1, 2}, {0, 0})), matrix(1, 2, {0, 0})));
  EXPECT_TRUE(same(*mask_of(array_of(Dtype::f64, {1, 2}, {1, 1})), matrix(1, 2, {1, 1})));
}

TEST(MaskFile, BooleansBlockAndFloatsAreAdded) {
  const Matrix blocked = matrix(2, 2, {0, -kInf, 0, 0});
  for (const Dtype dtype : {Dtype::boolean, Dtype::u8, Dtype::i8, Dtype::i32, Dtype::i64}) {
    const auto mask = mask_of(array_of(dtype, {2, 2}, {1, 0, 1, 1}));
    ASSERT_TRUE(mask) << mask.error().message();
    EXPECT_TRUE(same(*mask, blocked));
  }
  const auto added = mask_of(array_of(Dtype::f16, {2, 2}, {1, 0, -kInf, -0.5f}));
  ASSERT_TRUE(added);
  EXPECT_TRUE(same(*added, matrix(2, 2, {1, 0, -kInf, -0.5f})));
  const auto keys = mask_of(array_of(Dtype::boolean, {3}, {1, 1, 0}));
  ASSERT_TRUE(keys);
  EXPECT_TRUE(same(*keys, matrix(1, 3, {0, 0, -kInf})));
}

TEST(MaskFile, NumbersAreReadByOneRuleFromNpyAndJson) {
  const std::pair<std::string, std::vector<float>> cases[] = {
      {"[[0,-10000],[0,0]]", {0, -10000, 0, 0}},    // whole numbers below 0
      {"[[0.5,-1e4],[0,2]]", {0.5f, -1e4f, 0, 2}},  // floats, some above 0
      {"[[1,0],[1,1]]", {0, -kInf, 0, 0}},          // may attend or not
      {"[[1.0,0.0],[1.0,1.0]]", {0, -kInf, 0, 0}}};
  for (const auto& [text, added] : cases) {
    const auto json = parse_json_mask("f", text);
    ASSERT_TRUE(json) << text << json.error().message();
    EXPECT_TRUE(same(*json->given, matrix(2, 2, added))) << text;
  }
  for (const Dtype dtype : {Dtype::i32, Dtype::i64, Dtype::i8}) {
    const auto mask = mask_of(array_of(dtype, {2, 2}, {0, -100, 0, 0}));
    ASSERT_TRUE(mask) << mask.error().message();
    EXPECT_TRUE(same(*mask, matrix(2, 2, {0, -100, 0, 0})));
  }
  expect_line(mask_of(array_of(Dtype::i32, {1, 2}, {1, -1})), "query 0 key 1: expected 0 or 1, found -1");
  expect_line(mask_of(array_of(Dtype::i32, {1, 2}, {2, 0})), "query 0 key 0: expected 0 or 1, found 2");
}

TEST(MaskFile, ABatchAxisOfOneIsLeftOut) {
  const std::vector<float> values{1, 0, 1, 1, 1, 0};
  const Matrix expected = matrix(2, 3, {0, -kInf, 0, 0, 0, -kInf});
  for (const std::vector<Index>& shape : {std::vector<Index>{2, 3, 1}, {1, 2, 3}}) {
    const auto mask = mask_of(array_of(Dtype::boolean, shape, values));
    ASSERT_TRUE(mask) << mask.error().message();
    EXPECT_TRUE(same(*mask, expected));
  }
  const auto keys = mask_of(array_of(Dtype::boolean, {1, 3, 1}, {1, 1, 0}));
  ASSERT_TRUE(keys);
  EXPECT_TRUE(same(*keys, matrix(1, 3, {0, 0, -kInf})));
}

TEST(MaskFile, AnAxisOfHeadsIsLeftOutWhereTheyAgree) {
  const Matrix expected = matrix(2, 1, {0, -kInf});
  for (const std::vector<Index>& shape : {std::vector<Index>{1, 1, 2, 1}, {1, 3, 2, 1}}) {
    std::vector<float> values;
    for (Index head = 0; head < shape[1]; ++head) values.insert(values.end(), {1, 0});
    const auto mask = mask_of(array_of(Dtype::boolean, shape, values));
    ASSERT_TRUE(mask) << mask.error().message();
    EXPECT_TRUE(same(*mask, expected));
  }
  expect_line(
      mask_of(array_of(Dtype::boolean, {1, 2, 1, 2}, {1, 0, 1, 1})),
      "f: mask: expected one mask for all heads: (sentences, 1, queries, keys), found (1, 2, 1, 2), whose heads "
      "differ");
}

TEST(MaskFile, HeadsThatDifferHaveAMaskEach) {
  std::vector<Error> notes;
  const auto mask = mask_of_array("f", array_of(Dtype::boolean, {2, 2, 1, 2}, {1, 0, 1, 1, 0, 1, 1, 1}), notes);
  ASSERT_TRUE(mask) << mask.error().message();
  const BatchMask expected{{2, 1, 2}, {0, -kInf, 0, 0, -kInf, 0, 0, 0}, true, 2};
  ASSERT_TRUE(mask->batch);
  EXPECT_EQ(*mask->batch, expected);
  const auto json = parse_json_mask("f", "[[[[1,0]],[[1,1]]],[[[0,1]],[[1,1]]]]");
  ASSERT_TRUE(json) << json.error().message();
  EXPECT_EQ(*json->batch, expected);
  const MaskSpec turned = with_true_blocking(*json);
  EXPECT_EQ(turned.batch->heads, 2);
  EXPECT_EQ(turned.batch->addends[1], 0.0f);
}

TEST(MaskFile, RefusesOtherShapesAndNumbers) {
  expect_line(
      mask_of(array_of(Dtype::f32, {2, 1, 2}, {0, 0, 0, 0})),
      "f: mask: expected a batch axis of 1, one mask for all sentences: (keys), (queries, keys), (queries, keys, 1), "
      "(1, queries, keys) or (1, 1, queries, keys), found (2, 1, 2)");
  expect_line(mask_of(array_of(Dtype::f32, {1, 1, 1, 2, 2}, {0, 0, 0, 0})), "found (1, 1, 1, 2, 2)");
  expect_line(mask_of(array_of(Dtype::f32, {}, {0})),
              "expected (keys), (queries, keys), (queries, keys, 1), (1, queries, keys) or (1, 1, queries, keys), "
              "found ()");
  expect_line(mask_of(array_of(Dtype::f32, {0, 3}, {})), "found (0, 3)");
  expect_line(mask_of(array_of(Dtype::i32, {1, 2}, {1, 2})), "f: mask: query 0 key 1: expected 0 or 1, found 2");
  expect_line(mask_of(array_of(Dtype::i8, {1, 2}, {1, -1})), "expected 0 or 1, found -1");
  expect_line(mask_of(array_of(Dtype::f32, {2, 1}, {0, std::numeric_limits<float>::quiet_NaN()})),
              "f: mask: query 1 key 0: expected a finite number or -inf, found nan");
  expect_line(mask_of(array_of(Dtype::f32, {2, 1}, {0, kInf})), "found inf");
}

TEST(MaskFile, JsonIsReadInEveryForm) {
  const Matrix expected = matrix(2, 3, {0, -kInf, 0, 0, 0, 0});
  for (const char* text : {
           "[[true,false,true],[true,true,true]]",
           "[[1,0,1],[1,1,1]]",
           "[[1,false,1],[true,1,1]]",
           "{\"allowed\":[[1,0,1],[1,1,1]]}",
           "{\"kind\":\"custom\",\"allowed\":[[1,0,1],[1,1,1]]}",
           "{\"schema\":\"headlight.attention/1\",\"mask\":{\"kind\":\"custom\",\"allowed\":[[1,0,1],[1,1,1]]}}",
       }) {
    const auto mask = parse_json_mask("f", text);
    ASSERT_TRUE(mask) << text << mask.error().message();
    ASSERT_TRUE(mask->given && !mask->batch) << text;
    EXPECT_TRUE(same(*mask->given, expected)) << text;
  }
}

TEST(MaskFile, JsonHasThreeAxesAsAnArrayHasThem) {
  for (const char* text :
       {"[[[1,0,1],[1,1,0]],[[0,1,1],[1,0,1]]]", "{\"allowed\":[[[1,0,1],[1,1,0]],[[0,1,1],[1,0,1]]]}",
        "[[[true,0,1],[1,true,false]],[[0,1,1],[1,0,1]]]"}) {
    const auto mask = parse_json_mask("f", text);
    ASSERT_TRUE(mask) << text << mask.error().message();
    ASSERT_TRUE(mask->batch && !mask->given) << text;
    EXPECT_EQ(*mask->batch, (BatchMask{{2, 2, 3}, {0, -kInf, 0, 0, 0, -kInf, -kInf, 0, 0, 0, -kInf, 0}})) << text;
  }
  const auto one = parse_json_mask("f", "[[[1]]]");
  ASSERT_TRUE(one && one->batch);
  EXPECT_EQ(*one->batch, (BatchMask{{1, 1, 1}, {0}}));
}

TEST(MaskFile, JsonHasFourAxesAsPyTorchHasThem) {
  const BatchMask expected{{2, 2, 3}, {0, -kInf, 0, 0, 0, -kInf, -kInf, 0, 0, 0, -kInf, 0}, true};
  for (const char* text : {"[[[[1,0,1],[1,1,0]]],[[[0,1,1],[1,0,1]]]]",
                           "[[[[1,0,1],[1,1,0]],[[1,0,1],[1,1,0]]],[[[0,1,1],[1,0,1]],[[false,1,1],[1,0,true]]]]"}) {
    const auto mask = parse_json_mask("f", text);
    ASSERT_TRUE(mask) << text << mask.error().message();
    ASSERT_TRUE(mask->batch && !mask->given) << text;
    EXPECT_EQ(*mask->batch, expected) << text;
  }
}

TEST(MaskFile, JsonRefusesWhatIsNoMask) {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"", "line 1, column 1"},
      {"3", "mask: expected a list of rows [query][key], or of three or four axes, found number"},
      {"{}", "found object"},
      {"{\"mask\":null}", "found null"},
      {"{\"mask\":{\"kind\":\"none\"}}", "found object"},
      {"[]", "found a list without rows"},
      {"[[]]", "found a list without rows"},
      {"[1,0]", "found a list without rows"},
      {"[[1,0],[1]]", "mask: query 1: expected a list of 2 keys, found 1"},
      {"[[1,0],true]", "mask: query 1: expected a list of 2 keys, found boolean"},
      {"[[1,2]]", "mask: query 0 key 1: expected true, false, 1 or 0, found 2"},
      {"[[1,-1]]", "found -1"},
      {"[[1,null]]", "found null"},
      {"[[1,\"0\"]]", "found string"},
      {"[[[[[1]]]]]", "mask: [0, 0, 0, 0]: expected true, false, 1 or 0, found array"},
      {"[[[[1]],[[1]]],[[[1]]]]", "mask: [1]: expected a list of 2 heads, found 1"},
      {"[[[[1],[0]],[[1]]]]", "mask: [0, 1]: expected a list of 2 rows, found 1"},
      {"[[[[1,0],[0]]]]", "mask: [0, 0, 1]: expected a list of 2 cells, found 1"},
      {"[[[[1,2]]]]", "mask: [0, 0, 0, 1]: expected true, false, 1 or 0, found 2"},
      {"[[[[]]]]", "found a list without rows"},
      {"[[[]]]", "found a list without rows"},
      {"[[[1],[0]],[[1]]]", "mask: [1]: expected a list of 2 rows, found 1"},
      {"[[[1],[0]],1]", "mask: [1]: expected a list of 2 rows, found number"},
      {"[[[1,0],[1]]]", "mask: [0, 1]: expected a list of 2 cells, found 1"},
      {"[[[1,0],1]]", "mask: [0, 1]: expected a list of 2 cells, found number"},
      {"[[[1,0],[1,2]]]", "mask: [0, 1, 1]: expected true, false, 1 or 0, found 2"},
      {"[[1,[1]]]", "mask: query 0 key 1: expected true, false, 1 or 0, found array"},
      {"{\"allowed\":[[1]],\"allowed\":[[0]]}", "key \"allowed\": expected each key once"},
  };
  for (const auto& [text, says] : cases) expect_line(parse_json_mask("f", text), says);
}

TEST(MaskFile, TheEndingSaysWhatAFileIs) {
  const TemporaryFolder folder;
  const auto json = folder / "m.json", npy = folder / "m.npy", text = folder / "m.txt";
  ASSERT_TRUE(write_file(json, "[[1,0]]"));
  const std::string header = "{'descr': '|b1', 'fortran_order': False, 'shape': (1, 2)} ";
  ASSERT_TRUE(write_file(npy, std::string("\x93NUMPY\1\0\x3a\0", 10) + header + std::string("\1\0", 2)));
  const auto from_json = mask_in(json), from_npy = mask_in(npy);
  ASSERT_TRUE(from_json) << from_json.error().message();
  ASSERT_TRUE(from_npy) << from_npy.error().message();
  EXPECT_TRUE(same(*from_json, *from_npy));
  expect_line(mask_in(text), "mask: expected a file named .npy or .json, found 'm.txt'");
  expect_line(mask_in(folder / "none.npy"), "none.npy: open: expected a readable file");
  expect_line(mask_in(folder / "none.json"), "none.json: open: expected a readable file");
}

}  // namespace
}  // namespace headlight::mask_file_test
