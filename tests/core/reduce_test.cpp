// Maps that sum up others, held against plain loops over the textbook's weights in doubles.
#include <algorithm>
#include <cmath>

#include "drawn.h"
#include "exported.h"
#include "heads/reduce.h"
#include "heads/weight_maps.h"
#include "read/array/npz.h"
#include "read/json/json_document.h"
#include "reference.h"
#include "write/reduced.h"

namespace headlight {
namespace {

using exported::TracePtr;
using reference::ask;
using reference::at;
using reference::Grid;

ReducedMaps reduced_of(const std::vector<const Trace*>& traces, const std::string& text, Stack stack = Stack::self,
                       std::vector<HeadRef> only = {}) {
  const auto by = parse_reduction(text);
  EXPECT_TRUE(by) << text;
  auto maps = reduced_maps({.traces = traces, .stack = stack, .by = *by, .only = std::move(only)});
  EXPECT_TRUE(maps) << maps.error().message();
  return *std::move(maps);
}

Matrix map_of(const ReducedMaps& maps, Index map) {
  return reduced_rows(maps, map, 0, static_cast<Index>(maps.rows().size()));
}

std::string refused(const Trace& trace, const std::string& text) {
  const auto by = parse_reduction(text);
  if (!by) return by.error().message();
  const auto maps = reduced_maps({.traces = {&trace}, .by = *by});
  return maps ? "" : maps.error().message();
}

/// −1 where blocked.
Grid weights_of(const Trace& trace, const HeadRef& head) {
  return reference::grid(region_weights(
      trace, {.head = head, .num_queries = trace.queries(head.stack), .num_keys = trace.keys(head.stack)}, 4096,
      kNeverStops));
}

/// What a cell is by the definition, of these heads.
double cell_by_hand(const Trace& trace, const std::vector<HeadRef>& heads, const std::string& by, Index i, Index j) {
  double sum = 0, most = -1;
  bool open = false;
  for (const HeadRef& head : heads) {
    const double weight = weights_of(trace, head)(i, j);
    open |= weight >= 0;
    sum += std::max(weight, 0.0);
    most = std::max(most, weight);
  }
  if (!open) return -1;
  return by == "sum" ? sum : by == "max" ? most : sum / static_cast<double>(heads.size());
}

TEST(Reduce, SumsUpHeadsAndLayersOfEveryAttention) {
  Random random(9);
  int stacks = 0;
  for (int round = 0; round < 25; ++round) {
    const auto trace = ask(reference::drawn_request(random, {.longest = 9}));
    ASSERT_TRUE(trace);
    for (const Stack stack : kStacks) {
      if (!trace->has(stack)) continue;
      const Index layers = trace->num_layers(stack), heads = trace->num_heads(stack);
      for (const std::string by : {"mean", "max", "sum"})
        for (const std::string over : {"heads", "layers", "heads,layers"}) {
          std::vector<std::vector<HeadRef>> parts;
          const bool all = over == "heads,layers", of_layer = over == "heads";
          for (Index a = 0; a < (all ? 1 : of_layer ? layers : heads); ++a) {
            std::vector<HeadRef> part;
            for (Index layer = 0; layer < layers; ++layer)
              for (Index head = 0; head < heads; ++head)
                if ((all || (of_layer ? layer : head) == a) && !is_off(trace->request.edits, {layer, head, stack}))
                  part.push_back({layer, head, stack});
            if (!part.empty()) parts.push_back(part);
          }
          if (parts.empty()) continue;
          const ReducedMaps maps = reduced_of({trace.get()}, by + ":" + over, stack);
          ASSERT_EQ(maps.parts, parts) << over;
          ASSERT_EQ(maps.num_maps(), std::ssize(parts));
          for (Index map = 0; map < maps.num_maps(); ++map) {
            const Matrix found = map_of(maps, map);
            for (Index i = 0; i < found.rows(); ++i)
              for (Index j = 0; j < found.cols(); ++j)
                ASSERT_NEAR(cell_by_hand(*trace, parts[at(map)], by, i, j), found(i, j), 1e-6) << by << over;
          }
        }
      ++stacks;
    }
  }
  EXPECT_GT(stacks, 30);
}

TEST(Reduce, RowsThatAreAskedForApartAreTheSame) {
  Random random(10);
  std::vector<std::string> words(150);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = "w" + std::to_string(i);
  const auto trace = exported::trace_of(words, true);
  for (const std::string by : {"mean:heads", "max:heads,layers", "strongest:heads"}) {
    const ReducedMaps maps = reduced_of({trace.get()}, by);
    const Matrix all = map_of(maps, 0);
    for (const Index first : {0, 47, 48, 149})
      EXPECT_TRUE(same(reduced_rows(maps, 0, first, 1), all.middleRows(first, 1))) << by;
    EXPECT_EQ(all(0, 1), -1) << "blocked in every head";
  }
  const ExportOptions options{.reduce = *parse_reduction("mean:heads")};
  for (const int threads : {1, 3}) {
    ExportOptions with = options;
    with.threads = threads;
    EXPECT_EQ(exported::bytes_written({trace}, Format::json, options),
              exported::bytes_written({trace}, Format::json, with));
  }
}

TEST(Reduce, OneHeadIsThatHeadAndTheMeanKeepsRows) {
  const auto trace = exported::trace_of({"a", "b", "c", "d"}, true);
  for (const std::string by : {"mean", "max", "sum"}) {
    const ReducedMaps maps = reduced_of({trace.get()}, by + ":heads,layers", Stack::self, {{1, 2}});
    EXPECT_TRUE(same(map_of(maps, 0), trace->head({1, 2}).thumbnail)) << by;
  }
  const Matrix mean = map_of(reduced_of({trace.get()}, "mean:heads"), 1).cwiseMax(0.0f);
  EXPECT_LE((mean.rowwise().sum().array() - 1.0f).abs().maxCoeff(), 1e-6f);
}

TEST(Reduce, LeavesOutHeadsThatAreOff) {
  Request request = exported::trace_of({"a", "b", "c"})->request;
  request.edits.off = {{0, 1}, {1, 0}, {1, 1}, {1, 2}};
  const auto trace = forward(request);
  ASSERT_TRUE(trace);
  const ReducedMaps maps = reduced_of({trace->get()}, "mean:heads");
  ASSERT_EQ(maps.parts.size(), 1u) << "layer 1 has none left";
  EXPECT_EQ(maps.parts[0], (std::vector<HeadRef>{{0, 0}, {0, 2}}));
  EXPECT_EQ(maps.off.size(), 4u);
  request.edits.off = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}};
  const auto none = forward(request);
  EXPECT_EQ(refused(**none, "mean:heads"), "--reduce: heads: expected one that is not switched off, found none");
}

TEST(Reduce, TheStrongestHeadIsTheFirstWithTheLargestWeight) {
  const auto trace = exported::trace_of({"a", "b", "c", "d", "e"}, true);
  const ReducedMaps maps = reduced_of({trace.get()}, "strongest:heads");
  for (Index layer = 0; layer < 2; ++layer) {
    Matrix which;
    const Matrix largest = reduced_rows(maps, layer, 0, 5, kNeverStops, &which);
    for (Index i = 0; i < 5; ++i)
      for (Index j = 0; j < 5; ++j) {
        if (j > i) {
          EXPECT_EQ(which(i, j), -1);
          continue;
        }
        Index best = 0;
        for (Index head = 1; head < 3; ++head)
          if (weights_of(*trace, {layer, head})(i, j) > weights_of(*trace, {layer, best})(i, j)) best = head;
        EXPECT_EQ(which(i, j), static_cast<float>(best));
        EXPECT_EQ(largest(i, j), static_cast<float>(weights_of(*trace, {layer, best})(i, j)));
      }
  }
}

TEST(Reduce, RolloutIsThatOfWeightMaps) {
  const auto trace = exported::trace_of({"a", "b", "c", "d"}, false, 3);
  const auto expected = rollout_maps(*trace, Stack::self, unwatched());
  const ReducedMaps each = reduced_of({trace.get()}, "rollout:heads"),
                    last = reduced_of({trace.get()}, "rollout:layers");
  ASSERT_EQ(each.num_maps(), 3);
  ASSERT_EQ(last.num_maps(), 1);
  for (Index layer = 0; layer < 3; ++layer) EXPECT_TRUE(same(map_of(each, layer), (*expected)[at(layer)]));
  EXPECT_TRUE(same(map_of(last, 0), expected->back()));
  const ReducedMaps some = reduced_of({trace.get()}, "rollout:heads", Stack::self, {{2, 1}});
  ASSERT_EQ(some.num_maps(), 1);
  const Grid one = (weights_of(*trace, {2, 1}) + Grid::Identity(4, 4)) / 2;
  EXPECT_LE(reference::difference(map_of(some, 0), one), 1e-6);
}

/// <s> a b </s> c d </s>, of two sentences.
TracePtr pair_of_sentences() {
  Request request = exported::trace_of({"<s>", "a", "b", "</s>", "c", "d", "</s>"})->request;
  for (const std::size_t special : {0, 3, 6}) request.tokens.tokens[special].special = true;
  request.tokens.second = 4;
  const auto trace = forward(request);
  EXPECT_TRUE(trace);
  return *trace;
}

TEST(Reduce, BlocksOfTokensAverageRowsAndSumColumns) {
  const auto trace = pair_of_sentences();
  const std::vector<std::vector<Index>> blocks{{0, 3, 6}, {1, 2}, {4, 5}};
  for (const std::string by : {"mean", "max", "sum"}) {
    const ReducedMaps maps = reduced_of({trace.get()}, by + ":tokens");
    ASSERT_EQ(maps.num_maps(), 6);
    ASSERT_EQ(maps.rows().size(), 3u);
    EXPECT_EQ(maps.rows()[0].text + maps.rows()[1].text + maps.rows()[2].text, "specialAB");
    const Grid weights = weights_of(*trace, {1, 1});
    const Matrix found = map_of(maps, 4);
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t c = 0; c < 3; ++c) {
        double sum = 0, most = 0;
        for (const Index i : blocks[r])
          for (const Index j : blocks[c]) sum += weights(i, j), most = std::max(most, weights(i, j));
        const double expected = by == "max" ? most : by == "sum" ? sum : sum / static_cast<double>(blocks[r].size());
        EXPECT_NEAR(found(static_cast<Index>(r), static_cast<Index>(c)), expected, 1e-6) << by;
      }
    EXPECT_LE(by == "mean" ? (found.rowwise().sum().array() - 1.0f).abs().maxCoeff() : 0, 1e-6f);
  }
  const auto plain = exported::trace_of({"a", "b"});
  EXPECT_EQ(refused(*plain, "mean:tokens"),
            "--reduce: tokens: expected special tokens, two sentences or a conversation (or words), found one block, "
            "text");
  const ReducedMaps word = reduced_of({plain.get()}, "mean:words");
  ASSERT_EQ(word.rows().size(), 1u);
  EXPECT_EQ(word.rows().front().text, "ab");
  EXPECT_NEAR(map_of(word, 0)(0, 0), 1, 1e-6);
  Request apart = plain->request;
  apart.tokens.has_words = true;
  EXPECT_EQ(refused(**forward(apart), "mean:words"),
            "--reduce: words: expected words of several tokens, found each token a word");
}

TEST(Reduce, SentencesAreLaidOverEachOtherByPosition) {
  const auto a = exported::trace_of({"a", "b", "c"}), b = exported::trace_of({"a", "x", "c"}),
             longer = exported::trace_of({"p", "q", "r", "s"});
  const ReducedMaps two = reduced_of({a.get(), b.get()}, "mean:sentences");
  ASSERT_EQ(two.num_maps(), 6);
  EXPECT_EQ(two.rows()[0].text + two.rows()[1].text + two.rows()[2].text, "a1c");
  for (Index map = 0; map < 6; ++map) {
    const HeadRef head{map / 3, map % 3};
    EXPECT_LE(reference::difference(map_of(two, map), (weights_of(*a, head) + weights_of(*b, head)) / 2), 1e-6);
  }
  const ReducedMaps three = reduced_of({a.get(), b.get(), longer.get()}, "max:heads,layers,sentences");
  ASSERT_EQ(three.rows().size(), 3u);
  double most = 0;
  for (const auto& trace : {a, b, longer})
    for (Index i = 0; i < 6; ++i) most = std::max(most, weights_of(*trace, {i / 3, i % 3})(2, 1));
  EXPECT_NEAR(map_of(three, 0)(2, 1), most, 1e-7);
}

TEST(Reduce, FilesHoldTheMapsAndSayWhatWasSummedUp) {
  const auto trace = pair_of_sentences();
  for (const std::string by : {"mean:heads", "mean:layers", "mean:heads,layers", "max:tokens", "strongest:heads"}) {
    const ExportOptions options{.reduce = *parse_reduction(by)};
    const auto npz = parse_npz("f", exported::bytes_written({trace}, Format::npz, options));
    ASSERT_TRUE(npz) << npz.error().message();
    const ReducedMaps maps = reduced_of({trace.get()}, by);
    const Array& array = npz->arrays.at("attentions");
    const auto rows = std::ssize(maps.rows());
    EXPECT_EQ(array.shape, (std::vector<Index>{maps.layers, maps.heads, rows, rows}));
    for (Index map = 0; map < maps.num_maps(); ++map)
      EXPECT_TRUE(
          same(Eigen::Map<const Matrix>(array.values.data() + map * rows * rows, rows, rows), map_of(maps, map)));
    EXPECT_EQ(npz->arrays.contains("strongest"), by == "strongest:heads");
    // The texts beside halves of numbers keep four bytes a character.
    const std::string halves =
        exported::bytes_written({trace}, Format::npz, {.reduce = *parse_reduction(by), .type = TensorType::float16});
    EXPECT_TRUE(parse_npz("f", halves));
    EXPECT_NE(halves.find(std::string("m\0\0\0e\0\0\0a\0\0\0n", 13)) == std::string::npos, by.starts_with("mean"));
    const auto document = parse_json("f", exported::bytes_written({trace}, Format::json, options));
    ASSERT_TRUE(document);
    EXPECT_EQ((*document)["reduce"]["by"], by.substr(0, by.find(':')));
    EXPECT_EQ((*document)["reduce"]["sentences"], 1);
    EXPECT_EQ((*document)["attention"][0]["attn"].size(), static_cast<std::size_t>(maps.layers));
    EXPECT_EQ((*document)["attention"][0]["left_text"].size(), maps.rows().size());
  }
}

TEST(Reduce, SpecialTokensAreLeftOutBeforeAnythingIsSummedUp) {
  const auto trace = pair_of_sentences();
  const ExportOptions options{.special = SpecialTokens::renormalize, .reduce = *parse_reduction("mean:heads")};
  const auto npz = parse_npz("f", exported::bytes_written({trace}, Format::npz, options));
  ASSERT_TRUE(npz);
  const Array& array = npz->arrays.at("attentions");
  ASSERT_EQ(array.shape, (std::vector<Index>{2, 1, 4, 4}));
  const std::vector<Index> kept{1, 2, 4, 5};
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 4; ++j) {
      double mean = 0;
      for (Index head = 0; head < 3; ++head) {
        const Grid weights = weights_of(*trace, {1, head});
        double sum = 0;
        for (const Index key : kept) sum += weights(kept[at(i)], key);
        mean += weights(kept[at(i)], kept[at(j)]) / sum / 3;
      }
      EXPECT_NEAR(array.values[at(16 + i * 4 + j)], mean, 1e-6);
    }
}

TEST(Reduce, RefusesOtherWordsInOneLine) {
  const auto trace = exported::trace_of({"a", "b"});
  const std::string expected =
      "--reduce: expected mean, max, sum, rollout or strongest, a colon and heads, layers, tokens, words or sentences, "
      "as mean:heads,layers, found ";
  for (const std::string text : {"", "mean", "mean:", "heads", "mean:heads,", "median:heads", "mean:head", ":heads",
                                 "mean:heads;layers", "MEAN:heads", "mean heads"})
    EXPECT_EQ(refused(*trace, text), expected + "'" + text + "'");
  EXPECT_EQ(refused(*trace, "rollout:tokens"),
            "--reduce: expected rollout:heads, a map a layer, or rollout:layers, found 'rollout:tokens'");
  EXPECT_EQ(refused(*trace, "strongest:layers"),
            "--reduce: expected strongest:heads or strongest:heads,layers, found 'strongest:layers'");
  EXPECT_EQ(refused(*trace, "mean:tokens,words"),
            "--reduce: expected one of tokens and words, found 'mean:tokens,words'");
  for (const std::string text : {"mean:heads", "sum:heads,layers,words,sentences", "rollout:layers,tokens"})
    EXPECT_EQ(reduction_text(*parse_reduction(text)), text);
}

}  // namespace
}  // namespace headlight
