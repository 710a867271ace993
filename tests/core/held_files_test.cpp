// Files of attention as other programs write them: JSON, a table with a weight a line, and what a name says.
#include <gtest/gtest.h>

#include <fstream>

#include "read/external/held_arrays.h"
#include "read/external/patterns.h"
#include "read/external/tidy_table.h"
#include "temporary_folder.h"

namespace headlight {
namespace {

using Extents = std::vector<Index>;

std::string shape_in_json(const std::string& text, const ArrayChoice& choice = {}) {
  const auto file = parse_attention_json("f", text, choice);
  if (!file) return file.error().message();
  std::string shapes;
  for (const auto& [stack, given] : file->model->given->stacks)
    shapes += shape_text({static_cast<Index>(given.patterns.size()), static_cast<Index>(given.patterns[0].size()),
                          given.patterns[0][0].rows(), given.patterns[0][0].cols()}) +
              given.query_tokens.tokens[0].text;
  return shapes;
}

TEST(HeldArrays, JsonOfBertVizTensor2tensorExbertAndBareLists) {
  const std::string map = "[[0.5,0.5],[0.25,0.75]]", cross = "[[0.5,0.5]]";
  EXPECT_EQ(shape_in_json("[[" + map + "," + map + "]]"), "(1, 2, 2, 2)0");
  EXPECT_EQ(shape_in_json(R"({"attentions":[)" + map + R"(],"tokens":["a","b"]})"), "(1, 1, 2, 2)a");
  EXPECT_EQ(shape_in_json(R"({"layer_0/attention":[)" + map + R"(],"layer_1/attention":[)" + map + R"(]})"),
            "(2, 1, 2, 2)0");
  EXPECT_EQ(shape_in_json("[[0.5,NaN],[0.25,null]]"), "(1, 1, 2, 2)0") << "as Python's json writes it";
  EXPECT_EQ(shape_in_json(R"([{"a":0.5}])"),
            "f: expected attention: lists of numbers in lists, perhaps in an object beside its tokens, found none");
  EXPECT_EQ(
      shape_in_json(R"({"all":{"attn":[[)" + map + R"(]],"left_text":["a","b"],"right_text":["a","b"]},"aa":{"attn":
    [[[[1]]]],"left_text":["x"],"right_text":["x"]}})"),
      "(1, 1, 2, 2)a");
  EXPECT_EQ(
      shape_in_json(R"({"attention":{"inp_inp":{"att":[[)" + map + R"(]],"top_text":["a","b"],"bot_text":["a","b"]},
    "out_out":{"att":[[[[1]]]],"top_text":["x"],"bot_text":["x"]},"out_inp":{"att":[[)" +
                    cross + R"(]],"top_text":["x"],"bot_text":["a","b"]}}})"),
      "(1, 1, 1, 1)x(1, 1, 2, 2)a(1, 1, 1, 2)x");
  EXPECT_EQ(shape_in_json(R"({"aa":{"att":[)" + map + "," + map + R"(],"left":[{"text":"a"},{"text":"b"}],
    "right":[{"text":"a"},{"text":"b"}]}})"),
            "(1, 2, 2, 2)a");
}

TEST(HeldArrays, FilesByTheirNames) {
  TemporaryFolder folder;
  const auto refusal = [](const std::filesystem::path& path) {
    const auto file = read_tensors(path, std::nullopt, {});
    return file ? std::string() : file.error().message();
  };
  EXPECT_EQ(
      refusal("x.pkl"),
      "x.pkl: name: expected a file that is data: torch.save(…, 'x.pt') or numpy.savez writes one, found a pickle, "
      "which is a program and is not run");
  std::ofstream(folder.path() / "w.csv") << ",ich,bin\nI,0.75,0.25\nam,0.5,0.5\n";
  const auto table = read_tensors(folder.path() / "w.csv", std::nullopt, {});
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ(table->model->given->stacks.at(Stack::self).key_tokens.tokens[1].text, "bin");
  EXPECT_EQ(table->warnings.front().message().substr(folder.path().string().size() + 1),
            "w.csv: taken for 1 layer, 1 head, 2 queries, 2 keys; the first column names the queries; the first row "
            "names the keys");
}

ArrayFile tidy(const std::string& text) {
  const auto found = parse_tidy_table("f", text);
  EXPECT_TRUE(found && *found) << text;
  return found && *found ? **found : ArrayFile{};
}

TEST(HeldArrays, TablesWithAWeightALine) {
  const ArrayFile own = tidy(
      "stack,layer,head,query,key,query_token,key_token,weight\n"
      "Self,3,1,0,0,\"a,b\",\"say \"\"x\"\"\",1\nSelf,3,1,1,0,\"c\nd\",\"say \"\"x\"\"\",0.25\n");
  EXPECT_EQ(own.arrays.at("attentions").shape, (Extents{1, 1, 2, 1}));
  EXPECT_EQ(own.arrays.at("attentions").values, (std::vector<float>{1, 0.25f}));
  EXPECT_EQ(own.metadata.at("tokens"), R"(["a,b","c\nd"])");
  EXPECT_EQ(own.metadata.at("key_tokens"), R"(["say \"x\""])");
  const ArrayFile frame = tidy(";layer;head;query;key;weight\r\n0;0;0;1;1;0,5\r\n1;0;1;0;1;0,25\r\n");
  EXPECT_EQ(frame.arrays.at("attentions").values, (std::vector<float>{0, 0, 0, 0.5f, 0, 0.25f, 0, 0}));
  EXPECT_EQ(tidy("sentence,query,key,weight\n0,0,0,1\n1,0,0,0.5\n").arrays.at("1.attentions").values[0], 0.5f);
  EXPECT_EQ(tidy("layer,head,query,key,weight\nmean,2,0,0,1\n").arrays.at("attentions").values.size(), 1u);
  EXPECT_EQ(tidy("layer,head,q,k,attn\n0,0,0,0,0.5\n").arrays.at("attentions").values[0], 0.5f);
  EXPECT_EQ(tidy("Layer,HEAD,Query,key,Weight\n0,0,0,0,0.5\n").arrays.at("attentions").values[0], 0.5f);
  const ArrayFile stacks = tidy("stack,query,key,weight\nencoder,0,0,1\ndecoder,0,0,0.5\nCROSS,0,0,0.25\n");
  EXPECT_EQ(stacks.arrays.at("encoder_attentions").values[0], 1);
  EXPECT_EQ(stacks.arrays.at("decoder_attentions").values[0], 0.5f);
  EXPECT_EQ(stacks.arrays.at("cross_attentions").values[0], 0.25f);
  EXPECT_FALSE(*parse_tidy_table("f", "query,key\n0,0\n"));
  const auto others = parse_tidy_table("f", "layer,head,from,to,weight\n0,0,0,0,1\n");
  EXPECT_EQ(others ? "" : others.error().message(),
            "f: heading: expected query, key and weight beside layer and head, found layer, head, from, to, weight");
  for (const auto& [lines, error] :
       {std::pair{"0,0,1\n0,0,1", "f: attentions: expected each cell once, found layer 0 head 0 query 0 key 0 twice"},
        {"0,0", "f: line 2: expected 3 cells, as the heading has, found 2"},
        {"x,0,1", "f: line 2: query: expected 0 to 16383 (a word stands in query_token), found x"},
        {"0,99999,1", "f: line 2: key: expected 0 to 16383, found 99999"},
        {"0,0,much", "f: line 2: weight: expected a number, found much"},
        {"0,0,1\n,1,1", "f: line 3: query: expected 0 to 16383, found an empty cell"},
        {"0,,1", "f: line 2: key: expected 0 to 16383, found an empty cell"},
        {"9000,0,1\n0,9000,1", "f: attentions: expected a line for most cells of (1, 1, 9001, 9001), found 2 lines"}}) {
    const auto found = parse_tidy_table("f", std::string("query,key,weight\n") + lines);
    EXPECT_EQ(found ? "" : found.error().message(), error);
  }
  for (const auto& [line, error] :
       {std::pair{"Self,,0", "f: line 2: layer: expected 0 to 127, found an empty cell"},
        {"Self,first,0", "f: line 2: layer: expected 0 to 127, found first"},
        {"Self,0,all", "f: line 2: head: expected 0 to 127, found all"},
        {"self-attention,0,0", "f: line 2: stack: expected Self, Encoder, Decoder or Cross, found self-attention"}}) {
    const auto found = parse_tidy_table("f", std::string("stack,layer,head,query,key,weight\n") + line + ",0,0,1\n");
    EXPECT_EQ(found ? "" : found.error().message(), error);
  }
}

/// The shape of the map that is shown, and what is said of it.
std::string shown_of_table(const std::string& text, const ArrayChoice& choice = {}) {
  TemporaryFolder folder;
  const std::string path = folder.path() / "t.csv";
  std::ofstream(path) << text;
  const auto file = read_tensors(path, std::nullopt, choice);
  if (!file) return file.error().message().substr(path.size());
  const auto& patterns = file->model->given->stacks.begin()->second.patterns;
  std::string said = shape_text({static_cast<Index>(patterns.size()), static_cast<Index>(patterns[0].size()),
                                 patterns[0][0].rows(), patterns[0][0].cols()});
  for (const Error& warning : file->warnings) said += warning.message().substr(path.size());
  return said;
}

TEST(HeldArrays, WhatATableCountsFromAnotherNumberThanZeroIsSaid) {
  EXPECT_EQ(shown_of_table("layer,head,query,key,weight\n3,1,0,0,1\n7,1,0,0,1\n"),
            "(2, 1, 1, 1): head 1 of the file, counted from 0 here: layers 3, 7 of the file, counted from 0 here");
  EXPECT_EQ(shown_of_table("query,key,weight\n1,1,1\n2,1,0.5\n2,2,0.5\n"),
            "(1, 1, 2, 2): queries and keys of the file begin at 1, at 0 here");
  const std::string heading = "sentence,layer,head,query,key,weight\n";
  EXPECT_EQ(shown_of_table(heading + "1,0,0,0,0,1\n2,0,0,0,0,1\n"),
            "(1, 1, 1, 1): a batch of 2 sentences: the first is shown (--sentence): sentences 1, 2 of the file, "
            "counted from 0 here");
  EXPECT_EQ(shown_of_table(heading + "0,0,0,0,0,1\n2,0,0,0,0,1\n2,0,0,1,0,1\n", {.sentence = 1}),
            "(1, 1, 2, 1): sentences 0, 2 of the file, counted from 0 here");
  EXPECT_EQ(shown_of_table(heading + "0,0,0,0,0,1\n2,0,0,0,0,1\n", {.sentence = 2}),
            ": --sentence: expected 0 to 1, found 2");
  ArrayFile held;
  for (const char* name : {"1.attentions", "2.attentions"})
    held.arrays[name] = {.dtype = Dtype::f32, .shape = {1, 1, 1, 1}, .values = {1}};
  const auto taken = tensors_from("f", held, std::nullopt, {.sentence = 1});
  EXPECT_EQ(taken ? taken->warnings.front().message() : taken.error().message(),
            "f: sentences 1, 2 of the file, counted from 0 here");
}

TEST(HeldArrays, AChoiceThatNothingReadsIsRefused) {
  const std::string map = ",a,b\nc,0.75,0.25\nd,0.5,0.5\n";
  EXPECT_EQ(shown_of_table(map, {.sentence = 7}), ": --sentence: expected no such option beside one map, found 7");
  EXPECT_EQ(shown_of_table(map, {.array = "nope"}), ": --array: expected no such option beside one map, found nope");
  EXPECT_EQ(shown_of_table(map, {.axes = {HeldAxis::queries, HeldAxis::keys}}),
            ": --axes: expected no such option beside one map, found T,S");
  EXPECT_EQ(shown_of_table(map, {.grid = PatchGrid{0, 9, 9}}),
            ": --grid: expected 9x9 = 81 keys, or more with class tokens before them, found 2");
  const std::string batch = "sentence,query,key,weight\n0,0,0,1\n1,0,0,1\n";
  EXPECT_EQ(shown_of_table(batch, {.step = 1}), ": --step: expected no such option beside a batch of exports, found 1");
  const std::string vizs = R"({"attention":[{"name":null,"attn":[[[[1]]]],"left_text":["a"],"right_text":["a"]}]})";
  EXPECT_EQ(shape_in_json(vizs, {.sentence = 5}),
            "f: --sentence: expected no such option beside attention by its names, found 5");
  EXPECT_EQ(shape_in_json(R"({"batch":[)" + vizs + "]}", {.step = 5}),
            "f: --step: expected no such option beside attention by its names, found 5");
  EXPECT_EQ(shape_in_json(R"({"batch":[)" + vizs + "]}", {.sentence = 0}), "(1, 1, 1, 1)a");
  ArrayFile inputs;
  inputs.arrays["query"] = {.dtype = Dtype::f32, .shape = {1, 1}, .values = {1}};
  const auto taken = tensors_from("f", inputs, 1, {.sentence = 3});
  EXPECT_EQ(taken ? "" : taken.error().message(),
            "f: --sentence: expected no such option beside query, which is no weights, found 3");
}

}  // namespace
}  // namespace headlight
