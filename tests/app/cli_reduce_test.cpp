// --reduce: maps that sum up others, in exports and figures.
#include <gtest/gtest.h>

#include "app/program.h"
#include "read/json/json_document.h"

namespace headlight {
namespace {

using namespace program;
using nlohmann::json;

json exported(Strings words) {
  words.insert(words.begin(), "export");
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  auto document = parse_json("out", ran.out);
  return document ? *document : json();
}

const json& map_of(const json& document, std::size_t layer = 0, std::size_t head = 0) {
  return document["attention"][0]["attn"][layer][head];
}

TEST(ReduceOption, TheExportIsTheMeanOfTheHeads) {
  const Strings words = small({"--text", "a b c d", "--mask", "causal"});
  Strings reduced = words;
  reduced.insert(reduced.end(), {"--reduce", "mean:heads"});
  const json all = exported(words), mean = exported(reduced);
  const auto& attention = all["attention"][0]["attn"];
  ASSERT_EQ(mean["attention"][0]["attn"].size(), attention.size());
  for (std::size_t layer = 0; layer < attention.size(); ++layer) {
    ASSERT_EQ(mean["attention"][0]["attn"][layer].size(), 1u);
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 4; ++j) {
        double sum = 0;
        for (const json& head : attention[layer]) sum += head[i][j].get<double>();
        EXPECT_NEAR(map_of(mean, layer)[i][j].get<double>(), sum / static_cast<double>(attention[layer].size()), 1e-6);
      }
  }
  EXPECT_EQ(mean["reduce"]["over"], json({"heads"}));
  EXPECT_EQ(mean["tokens"], all["tokens"]);
  EXPECT_FALSE(mean.contains("next_token"));
}

TEST(ReduceOption, ReducedFilesOpen) {
  const Folder folder;
  for (const std::string ending : {"npz", "safetensors", "json"}) {
    const std::string file = (folder / ("mean." + ending)).string();
    EXPECT_EQ(run(small({"export", "--text", "a b c", "--reduce", "mean:heads,layers", "-o", file})).status, 0);
    const json again = exported({file});
    EXPECT_EQ(again["attention"][0]["attn"].size(), 1u) << ending;
    EXPECT_EQ(again["attention"][0]["left_text"], json({"a", "b", "c"})) << ending;
  }
}

TEST(ReduceOption, SentencesOfABatchAreOne) {
  const json both = exported(small({"--text", "a b c\na x", "--reduce", "mean:heads,sentences"}));
  EXPECT_EQ(both["reduce"]["sentences"], 2);
  EXPECT_EQ(both["attention"][0]["left_text"], json({"a", "1"})) << "as far as both have words";
  EXPECT_EQ(both["request"].size(), 2u);
  const Ran csv = run(small({"export", "--text", "a b\na x", "--reduce", "max:heads", "--format", "csv"}));
  EXPECT_TRUE(contains(csv.out, "\nSelf,0,max,0,0,a,a,")) << csv.out;
  EXPECT_TRUE(contains(csv.out, ",weight,sentence\n"));
  const Ran strongest =
      run(small({"export", "--text", "a b", "--reduce", "strongest:heads,layers", "--format", "csv"}));
  EXPECT_TRUE(contains(strongest.out, ",weight,strongest\nSelf,strongest,strongest,0,0,a,a,")) << strongest.out;
}

TEST(ReduceOption, LinesAreReducedOneByOne) {
  const Ran ran = run(small({"export", "--text", "a b\nc d e", "--lines", "--reduce", "mean:heads"}));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(std::ranges::count(ran.out, '\n'), 2);
  EXPECT_TRUE(contains(ran.out, "\"reduce\":{\"by\":\"mean\""));
}

TEST(ReduceOption, WrongUseGetsOneLine) {
  const Folder folder;
  const std::string file = (folder / "x.svg").string();
  EXPECT_TRUE(contains(refused(small({"export", "--reduce", "median:heads"})),
                       "--reduce: expected mean, max, sum, rollout or strongest, a colon and heads, layers, tokens, "));
  EXPECT_TRUE(contains(refused(small({"export", "--reduce", "mean:heads", "--with", "qkv"})),
                       "--reduce: expected the attention alone, found --with"));
  EXPECT_TRUE(contains(refused(small({"export", "--text", "a b", "--reduce", "mean:sentences", "--lines"})),
                       "--reduce: sentences: expected the lines as one batch, without --lines, found --lines"));
  EXPECT_TRUE(contains(refused(small({"figure", "--reduce", "mean:heads", "--view", "flow", "-o", file})),
                       "--reduce mean:heads: expected --view heads, head or glance, found --view flow"));
  EXPECT_TRUE(
      contains(refused(small({"figure", "--reduce", "mean:heads", "--fold", "words", "-o", file})), "found --fold"));
  EXPECT_TRUE(contains(refused(small({"figure", "--reduce", "mean:heads", "--maps", "norms", "-o", file})),
                       "found --maps norms"));
  EXPECT_TRUE(contains(refused(small({"export", "--text", "a b", "--reduce", "mean:tokens"})),
                       "--reduce: tokens: expected special tokens, two sentences or a conversation"));
  EXPECT_TRUE(folder.empty());
}

TEST(ReduceOption, FiguresSayWhatWasSummedUp) {
  const Folder folder;
  const auto caption = [&](Strings words) {
    const std::string file = (folder / "map.svg").string();
    words.insert(words.begin(), "figure");
    words.insert(words.end(), {"--no-caption", "--language", "en", "-o", file});
    const Ran ran = run(small(words));
    EXPECT_EQ(ran.status, 0) << ran.err;
    return *read_file(folder / "map.txt");
  };
  const Strings text{"--text", "a b c"};
  const auto with = [&](Strings words) {
    words.insert(words.begin(), text.begin(), text.end());
    return caption(std::move(words));
  };
  EXPECT_TRUE(
      contains(with({"--reduce", "mean:heads"}), "each cell the mean of the weights of the heads of the layer"));
  const std::string max = with({"--reduce", "max:heads,layers", "--view", "head"});
  EXPECT_TRUE(contains(max, "the largest weight of the heads of all layers · rows need not sum to 1")) << max;
  EXPECT_TRUE(contains(with({"--reduce", "sum:layers"}), "the sum of the weights of that head in all layers"));
  EXPECT_TRUE(contains(with({"--reduce", "rollout:layers", "--view", "head"}),
                       "attention rollout up to the last layer (Abnar & Zuidema 2020)"));
  EXPECT_TRUE(contains(with({"--reduce", "strongest:heads"}), "the colour of the head with the largest weight"));
  const std::string some = with({"--reduce", "mean:heads", "--heads", "0.0", "--off", "0.1"});
  EXPECT_TRUE(contains(some, "of heads 0.0 alone")) << some;
  const std::string off = with({"--reduce", "mean:heads", "--off", "0.1"});
  EXPECT_TRUE(contains(off, "switched off and left out: 0.1")) << off;
  const std::string batch = caption({"--text", "a b\nc d", "--reduce", "mean:heads,sentences"});
  EXPECT_TRUE(contains(batch, "2 sentences laid over each other by position, 2 that all of them have")) << batch;
}

TEST(ReduceOption, TheTableOfHeadsIsOfTheSameMaps) {
  const Folder folder;
  const std::string file = (folder / "mean.npz").string();
  const Strings asked{"--text", "a b c", "--reduce", "mean:heads"};
  const auto with = [&](Strings words, const Strings& more) {
    words.insert(words.end(), asked.begin(), asked.end());
    words.insert(words.end(), more.begin(), more.end());
    return small(words);
  };
  ASSERT_EQ(run(with({"export"}, {"-o", file})).status, 0);
  const Ran heads = run(with({"heads"}, {"--format", "csv"})), of_file = run({"heads", file, "--format", "csv"});
  EXPECT_EQ(heads.status, 0) << heads.err;
  EXPECT_EQ(heads.out, of_file.out) << "measures of the maps that were exported";
  const Ran table = run(with({"heads"}, {}));
  EXPECT_TRUE(contains(table.out, "\nLayer 0 ")) << table.out;
  EXPECT_TRUE(contains(table.out, "each cell the mean of the weights of the heads of the layer\n")) << table.out;
}

TEST(ReduceOption, WhatHasNoMeasureIsSaid) {
  const Strings pair{"--text", "a b", "--reduce"};
  const auto refusal = [&](Strings words, const char* by) {
    words.insert(words.end(), pair.begin(), pair.end());
    words.emplace_back(by);
    return refused(small(words));
  };
  EXPECT_TRUE(contains(refusal({"heads"}, "mean:tokens"),
                       "--reduce: expected heads, layers, words or sentences: between blocks of tokens nothing"));
  EXPECT_TRUE(contains(refusal({"heads"}, "strongest:heads"), "--reduce: expected mean, max, sum or rollout"));
}

}  // namespace
}  // namespace headlight
