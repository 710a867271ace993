// Attention as people hold it: every form is taken for what it is, and the line says so.
#include <gtest/gtest.h>

#include <cmath>

#include "read/external/held_arrays.h"
#include "read/external/patterns.h"

namespace headlight {
namespace {

/// Rows that sum to 1 over the last axis, each array another.
Array weights_of(std::vector<Index> shape, float seed = 0) {
  Array array{.dtype = Dtype::f32, .shape = std::move(shape), .values = {}};
  const auto keys = static_cast<std::size_t>(array.shape.back());
  for (std::size_t row = 0; row < *num_elements(array.shape) / keys; ++row) {
    float sum = 0;
    for (std::size_t key = 0; key < keys; ++key) {
      array.values.push_back(1.0f + std::sin(seed + static_cast<float>(row * keys + key)));
      sum += array.values.back();
    }
    for (std::size_t key = 0; key < keys; ++key) array.values[row * keys + key] /= sum;
  }
  return array;
}

struct Taken {
  ArrayFile file;
  std::string line;  // or the error

  std::vector<Index> shape(const std::string& name = "attentions") const {
    const Array* array = find_array(file.arrays, name);
    return array ? array->shape : std::vector<Index>{};
  }
};

Taken taken(const std::map<std::string, Array>& arrays, const ArrayChoice& choice = {},
            std::map<std::string, std::string> metadata = {}) {
  std::vector<Error> notes;
  auto result = held_attention("f", {arrays, std::move(metadata)}, choice, notes);
  if (!result) return {{}, result.error().message()};
  return {*std::move(result), notes.empty() ? "" : notes.front().message()};
}

using Extents = std::vector<Index>;

TEST(HeldArrays, AShapeThatCanBeTwoThingsIsSaidWithItsOption) {
  const Array three = weights_of({3, 5, 5});
  EXPECT_EQ(taken({{"array", three}}).line,
            "f: taken for 1 layer, 3 heads, 5 queries, 5 keys; (3, 5, 5) can also be --axes batch,T,S");
  const Taken second = taken({{"array", three}}, {.sentence = 1});
  EXPECT_EQ(second.shape(), (Extents{1, 1, 5, 5}));
  EXPECT_EQ(second.file.arrays.at("attentions").values[0], three.values[25]);
  EXPECT_EQ(second.line,
            "f: taken for 1 layer, 1 head, 5 queries, 5 keys; 3 sentences, showing sentence 1 (--sentence 0 to 2); "
            "averaged over the heads or of one head; (3, 5, 5) can also be --axes heads,T,S");
  EXPECT_EQ(taken({{"array", three}}, {.sentence = 3}).line, "f: --sentence: expected 0 to 2, found 3");
  EXPECT_EQ(taken({{"array", weights_of({3, 2, 5, 5})}}).shape(), (Extents{3, 2, 5, 5}));
  EXPECT_EQ(taken({{"array", weights_of({3, 2, 5, 5})}}, {.axes = *parse_axes("batch,heads,T,S")}).shape(),
            (Extents{1, 2, 5, 5}));
  EXPECT_EQ(taken({{"array", weights_of({2, 3, 4, 5, 5})}}).shape(), (Extents{2, 4, 5, 5}));
  EXPECT_EQ(taken({{"array", weights_of({1, 2, 4, 5, 5})}}).shape(), (Extents{2, 4, 5, 5}));
  EXPECT_EQ(taken({{"array", weights_of({5, 5})}}).shape(), (Extents{1, 1, 5, 5}));
}

TEST(HeldArrays, AxesInAnyOrderAreNamed) {
  const Array given = weights_of({2, 3, 4, 5});  // (batch, heads, T, S)
  Array turned{.dtype = Dtype::f32, .shape = {4, 5, 2, 3}, .values = {}};
  for (Index t = 0; t < 4; ++t)
    for (Index s = 0; s < 5; ++s)
      for (Index b = 0; b < 2; ++b)
        for (Index h = 0; h < 3; ++h)
          turned.values.push_back(given.values[static_cast<std::size_t>(((b * 3 + h) * 4 + t) * 5 + s)]);
  EXPECT_NE(taken({{"array", turned}}).line.find("the weights sum to 1 over axis 1, not over S"), std::string::npos)
      << taken({{"array", turned}}).line;
  const Taken named = taken({{"array", turned}}, {.sentence = 1, .axes = *parse_axes("T,S,batch,heads")});
  EXPECT_EQ(named.shape(), (Extents{1, 3, 4, 5}));
  EXPECT_EQ(named.file.arrays.at("attentions").values,
            std::vector<float>(given.values.begin() + 60, given.values.end()));
  EXPECT_EQ(taken({{"array", given}}, {.axes = *parse_axes("T,S")}).line,
            "f: --axes: expected 4 names, one for each axis of (2, 3, 4, 5), found T,S");
  for (const char* wrong : {"T", "T,S,S", "T,S,x", ""}) EXPECT_FALSE(parse_axes(wrong)) << wrong;
}

TEST(HeldArrays, NamesSayWhichLayerItIs) {
  const Array layer = weights_of({2, 4, 5, 5});
  for (const char* pattern :
       {"attentions.%", "%", "arr_%", "blocks.%.attn.hook_pattern", "('pattern', %)", "layer_%", "attn_weights_%",
        "encoder.layer.%.attention.self", "transformer.h.%.attn", "model.layers.%.self_attn"}) {
    std::map<std::string, Array> arrays{{"blocks.0.attn.hook_q", weights_of({1, 5, 4, 8})}, {"loss", weights_of({1})}};
    for (const char* number : {"0", "1", "10"}) {
      std::string name = pattern;
      name.replace(name.find('%'), 1, number);
      arrays[name] = layer;
    }
    const Taken found = taken(arrays, {.sentence = 1});
    EXPECT_EQ(found.shape(), (Extents{3, 4, 5, 5})) << pattern << " " << found.line;
    EXPECT_NE(found.line.find("layers 0, 1, 10 of the file, counted from 0 here"), std::string::npos) << found.line;
    EXPECT_NE(found.line.find("2 sentences, showing sentence 1"), std::string::npos) << found.line;
  }
  const Taken two = taken({{"attn_a", layer}, {"attn_b", layer}});
  EXPECT_EQ(two.line, "f: arrays: expected one attention, or --array with a part of its name, found attn_a, attn_b");
  EXPECT_EQ(taken({{"attn_a", layer}, {"attn_b", layer}}, {.array = "attn_b"}).shape(), (Extents{2, 4, 5, 5}));
  EXPECT_TRUE(taken({{"h.0.mlp.weight", layer}}).file.arrays.empty());
}

/// Steps of layers, as generate() returns them.
std::map<std::string, Array> steps_of(const std::string& before, Index prompt, Index steps, Index layers,
                                      std::optional<Index> source = {}) {
  std::map<std::string, Array> arrays;
  for (Index step = 0; step < steps; ++step)
    for (Index layer = 0; layer < layers; ++layer)
      arrays[before + std::to_string(step) + "." + std::to_string(layer)] = weights_of(
          {1, 2, step == 0 ? prompt : 1, source ? *source : prompt + step}, static_cast<float>(10 * step + layer));
  return arrays;
}

TEST(HeldArrays, StepsOfGenerateAreOneMap) {
  const auto steps = steps_of("", 6, 5, 3);
  const Taken whole = taken(steps);
  EXPECT_EQ(whole.shape(), (Extents{3, 2, 10, 10}));
  EXPECT_NE(whole.line.find("5 steps of generate() as one map (--step 0 to 4 shows one)"), std::string::npos);
  // The row of step 2 in layer 1, head 1: query 7, of 8 keys.
  const Array& one = steps.at("2.1");
  const auto* row = whole.file.arrays.at("attentions").values.data() + ((1 * 2 + 1) * 10 + 7) * 10;
  EXPECT_EQ(std::vector<float>(row, row + 8), std::vector<float>(one.values.begin() + 8, one.values.end()));
  EXPECT_EQ(row[8], 0);
  EXPECT_EQ(taken(steps, {.step = 2}).shape(), (Extents{3, 2, 1, 8}));
  EXPECT_EQ(taken(steps, {.step = 5}).line, "f: --step: expected 0 to 4, found 5");
  EXPECT_EQ(taken(steps_of("", 6, 5, 1)).shape(), (Extents{1, 2, 10, 10})) << "of one layer";

  auto seq2seq = steps_of("decoder_attentions.", 1, 4, 2);
  seq2seq.merge(steps_of("cross_attentions.", 1, 4, 2, 7));
  seq2seq["encoder_attentions.0"] = seq2seq["encoder_attentions.1"] = weights_of({1, 2, 7, 7});
  const Taken both = taken(seq2seq);
  EXPECT_EQ(both.shape("encoder_attentions"), (Extents{2, 2, 7, 7}));
  EXPECT_EQ(both.shape("decoder_attentions"), (Extents{2, 2, 4, 4}));
  EXPECT_EQ(both.shape("cross_attentions"), (Extents{2, 2, 4, 7}));

  auto shrinking = steps;
  for (Index layer = 0; layer < 3; ++layer) shrinking["3." + std::to_string(layer)] = weights_of({1, 2, 1, 4});
  EXPECT_EQ(taken(shrinking).line, "f: attentions step 3: expected at least 8 keys, as the step before it, found 4");
}

TEST(HeldArrays, ListsInAListAreStacksHeadsOrSentences) {
  std::map<std::string, Array> three;
  for (Index layer = 0; layer < 2; ++layer) {
    three["0." + std::to_string(layer)] = weights_of({1, 4, 7, 7});
    three["1." + std::to_string(layer)] = weights_of({1, 4, 5, 5});
    three["2." + std::to_string(layer)] = weights_of({1, 4, 5, 7});
  }
  EXPECT_EQ(taken(three).shape("cross_attentions"), (Extents{2, 4, 5, 7}));
  std::map<std::string, Array> heads, sentences, ragged;
  for (Index layer = 0; layer < 2; ++layer)
    for (Index head = 0; head < 3; ++head)
      heads[std::to_string(layer) + "." + std::to_string(head)] = weights_of({5, 5});
  EXPECT_EQ(taken(heads).shape(), (Extents{2, 3, 5, 5}));
  for (Index sentence = 0; sentence < 2; ++sentence)
    for (Index layer = 0; layer < 3; ++layer)
      sentences[std::to_string(sentence) + "." + std::to_string(layer)] = weights_of({1, 4, 6 - 2 * sentence, 6});
  EXPECT_EQ(taken(sentences, {.sentence = 1}).shape(), (Extents{3, 4, 4, 6}));
  ragged["0"] = weights_of({1, 4, 5, 5}), ragged["1"] = weights_of({1, 4, 6, 5});
  EXPECT_EQ(
      taken(ragged).line,
      "f: attentions layer 1: expected layers of one shape, (heads, T, S) = (4, 5, 5), or --sentence of a list of "
      "sentences, found (4, 6, 5)");
  EXPECT_EQ(taken(ragged, {.sentence = 1}).shape(), (Extents{1, 4, 6, 5}));
}

TEST(HeldArrays, WhatGrowsCanBeSentencesAndThreeListsToo) {
  std::map<std::string, Array> layers, list, three;
  for (Index sentence = 0; sentence < 3; ++sentence) {
    const std::string number = std::to_string(sentence);
    list[number] = layers[number + ".0"] = layers[number + ".1"] = weights_of({1, 4, 5 + sentence, 5 + sentence});
    three[number + ".0"] = three[number + ".1"] = weights_of({1, 4, 5, 5}, static_cast<float>(sentence));
  }
  for (const auto& held : {layers, list, three}) {
    EXPECT_NE(taken(held).line.find("can also be 3 sentences (--sentence 0 to 2)"), std::string::npos)
        << taken(held).line;
    const Taken last = taken(held, {.sentence = 2});
    EXPECT_NE(last.line.find("3 sentences, showing sentence 2"), std::string::npos) << last.line;
    EXPECT_EQ(last.file.arrays.size(), 1u);
  }
  EXPECT_EQ(taken(list, {.sentence = 1}).shape(), (Extents{1, 4, 6, 6}));
  EXPECT_EQ(taken(three, {.sentence = 1}).file.arrays.at("attentions").values[0], three.at("1.0").values[0]);
  EXPECT_EQ(taken(steps_of("", 6, 3, 2)).line.find("sentence"), std::string::npos) << "one query a step";
  EXPECT_EQ(taken({{"array", weights_of({2, 5, 5})}}, {.step = 1}).line,
            "f: --step: expected steps of generate(), lists of layers whose keys grow, found 1 layer, 2 heads, 5 "
            "queries, 5 keys");
  std::map<std::string, Array> turned;  // decoder, cross-attention, encoder, as outputs without names have them
  for (const auto& [list_of, shape] :
       {std::pair{"0.", Extents{1, 4, 5, 5}}, {"1.", Extents{1, 4, 5, 7}}, {"2.", Extents{1, 4, 7, 7}}})
    for (const char* layer : {"0", "1"}) turned[std::string(list_of) + layer] = weights_of(shape);
  EXPECT_EQ(taken(turned).shape("encoder_attentions"), (Extents{2, 4, 7, 7}));
  EXPECT_EQ(taken(turned).shape("cross_attentions"), (Extents{2, 4, 5, 7}));
}

TEST(HeldArrays, NumbersOfHeadsAreThoseOfHeads) {
  for (const char* pattern : {"layer_%_head_#", "L%H#", "head#.layer%", "attn.%.heads.#", "l%h#", "block%/head#"}) {
    std::map<std::string, Array> arrays;
    for (int layer = 0; layer < 2; ++layer)
      for (int head = 0; head < 3; ++head) {
        std::string name = pattern;
        name.replace(name.find('%'), 1, std::to_string(layer));
        name.replace(name.find('#'), 1, std::to_string(head));
        arrays[name] = weights_of({5, 5}, static_cast<float>(10 * layer + head));
      }
    const Taken found = taken(arrays);
    ASSERT_EQ(found.shape(), (Extents{2, 3, 5, 5})) << pattern << found.line;
    EXPECT_EQ(found.file.arrays.at("attentions").values[25], weights_of({5, 5}, 1).values[0]) << pattern;
  }
  EXPECT_EQ(taken({{"head_0", weights_of({5, 5})}, {"head_1", weights_of({5, 5})}}).shape(), (Extents{1, 2, 5, 5}));
}

TEST(HeldArrays, APartOfANameIsFirstTheWholeBeginning) {
  const std::map<std::string, Array> both{{"attentions.0", weights_of({1, 4, 5, 5})},
                                          {"global_attentions.0", weights_of({1, 4, 5, 2})}};
  EXPECT_EQ(taken(both, {.array = "attentions"}).shape(), (Extents{1, 4, 5, 5}));
  EXPECT_EQ(taken(both, {.array = "global"}).shape(), (Extents{1, 4, 5, 2}));
}

TEST(HeldArrays, WholeNumbersMayBeTheBitsOfOthers) {
  Array bits{.dtype = Dtype::u16, .shape = {2, 2}, .values = {}};
  for (const int number : {0x3f00, 0x3f00, 0x3e80, 0x3f40}) bits.values.push_back(static_cast<float>(number));
  const Taken found = taken({{"array", bits}});
  EXPECT_EQ(found.file.arrays.at("attentions").values, (std::vector<float>{0.5f, 0.5f, 0.25f, 0.75f}));
  EXPECT_NE(found.line.find("bits of bfloat16"), std::string::npos) << found.line;
  bits.values = {0, 1, 1, 0};
  EXPECT_EQ(taken({{"array", bits}}).file.arrays.at("attentions").values, bits.values);
}

TEST(HeldArrays, WordsOfEachSentenceAreThoseOfTheChosenOne) {
  const std::map<std::string, std::string> words{{"tokens", R"([["a", "b"], ["c", "d"]])"}};
  const Taken second = taken({{"array", weights_of({2, 2, 2})}}, {.sentence = 1}, words);
  EXPECT_EQ(second.file.metadata.at("tokens"), R"(["c","d"])");
  EXPECT_EQ(taken({{"array", weights_of({2, 2, 2})}}, {}, words).shape(), (Extents{1, 1, 2, 2})) << "a list a sentence";
  EXPECT_EQ(taken({{"array", weights_of({2, 2, 2})}}, {}, {{"tokens", R"(["a","b","of the end"])"}})
                .file.metadata.at("tokens"),
            R"(["a","b"])");
}

std::string words_shown(const std::vector<std::string>& texts) {
  const Tokens tokens = tokens_of(texts);
  std::string shown;
  for (const Token& token : tokens.tokens) shown += (token.continues ? "+" : "|") + token.text;
  return shown + " " + tokens.text;
}

TEST(HeldArrays, TokensInTheSpellingOfAnyVocabulary) {
  EXPECT_EQ(words_shown({"Val", "hall", "a", "Ġis", "Ġold", "."}), "|Val+hall+a|is|old+. Valhalla is old.");
  EXPECT_EQ(words_shown({"ä½ł", "å¥½"}), "|你+好 你好");
  EXPECT_EQ(words_shown({"▁Val", "hall", "a", "▁is", "</s>"}), "|Val+hall+a|is|</s>  Valhalla is</s>");
  EXPECT_EQ(words_shown({"val@@", "halla", "is"}), "|val+halla|is valhalla is");
  EXPECT_EQ(words_shown({"val", "halla</w>", "is</w>"}), "|val+halla|is valhalla is");
  EXPECT_EQ(words_shown({"[CLS]", "val", "##halla"}), "|[CLS]|val+##halla [CLS]valhalla");
  EXPECT_EQ(words_shown({"I", "am", "ill", "."}), "|I|am|ill|. I am ill .");
  EXPECT_EQ(words_shown({"我", "请", "李雷"}), "|我|请|李雷 我请李雷");
  EXPECT_EQ(words_shown({"café", "été"}), "|café|été café été");
}

TEST(HeldArrays, ParametersOfAModelAreNoAttention) {
  for (const char* name : {"blocks.0.attn.W_O", "attn.relative_position_bias_table", "attention.out.kernel"})
    EXPECT_TRUE(taken({{name, weights_of({2, 4, 8})}}).file.arrays.empty()) << name;
  EXPECT_TRUE(
      taken({{"cls", weights_of({1, 1, 8})}, {"blocks.0.mlp.fc1.weight", weights_of({8, 8})}}).file.arrays.empty());
  EXPECT_EQ(taken({{"cls", weights_of({1, 4, 8})}}).shape(), (Extents{1, 1, 4, 8}));
}

TEST(HeldArrays, OneArrayOfSavezIsNoListOfLayers) {
  EXPECT_EQ(taken({{"arr_0", weights_of({2, 4, 5, 5})}}).shape(), (Extents{2, 4, 5, 5}));
  EXPECT_EQ(taken({{"arr_0", weights_of({4, 5, 5})}, {"arr_1", weights_of({4, 5, 5})}}).shape(), (Extents{2, 4, 5, 5}));
}

TEST(HeldArrays, WordsThatAreNotShownAreTold) {
  const auto warning = [](std::map<std::string, std::string> words) {
    const auto file = tensors_from("f", {{{"array", weights_of({2, 2})}}, std::move(words)}, std::nullopt);
    return file ? file->warnings.back().message() : file.error().message();
  };
  EXPECT_EQ(warning({{"words", R"(["a","b"])"}}),
            "f: words: words that are not used; tokens, key_tokens and target_tokens are");
  EXPECT_EQ(warning({{"tokens", R"(["a","b","c"])"}}),
            "f: tokens: the last of 3 is left out: generate() did not read it");
}

TEST(HeldArrays, WordsInEachFormAreTheSame) {
  const auto words = [](const Result<TensorsFile>& file) {
    std::string all;
    if (!file) return file.error().message();
    for (const Token& token : file->model->given->stacks.at(Stack::self).key_tokens.tokens) all += token.text + "|";
    return all;
  };
  for (const char* list : {R"(["a","b"])", R"([["a","b"]])", "a b", R"("a b")"}) {
    EXPECT_EQ(words(tensors_from("f", {{{"array", weights_of({2, 2})}}, {{"tokens", list}}}, std::nullopt)), "a|b|")
        << list;
    EXPECT_EQ(words(tensors_from("f", {{{"attentions", weights_of({1, 1, 2, 2})}}, {{"tokens", list}}}, std::nullopt)),
              "a|b|")
        << list;
    if (list[0] == 'a') continue;
    EXPECT_EQ(
        words(parse_attention_json("f", std::string(R"({"attn":[[0.5,0.5],[0.5,0.5]],"tokens":)") + list + "}", {})),
        "a|b|")
        << list;
  }
  EXPECT_EQ(words(parse_attention_json("f", R"({"attn":[[0.5,0.5],[0.5,0.5]],"tokens":[7,8]})", {})), "7|8|");
  Array ids{.dtype = Dtype::i64, .shape = {1, 2}, .values = {7, 8}};
  EXPECT_EQ(words(tensors_from("f", {{{"array", weights_of({2, 2})}, {"tokens", ids}}, {}}, std::nullopt)), "7|8|");
  EXPECT_EQ(words(tensors_from("f", {{{"array", weights_of({2, 2})}}, {{"tokens.0", R"(["a","b"])"}}}, std::nullopt)),
            "a|b|");
}

TEST(HeldArrays, RoundingToHalfPrecisionIsNoMistake) {
  Array half = weights_of({1, 1, 3, 3});
  half.values[0] += 3e-3f;
  for (const auto& [dtype, warned] : {std::pair{Dtype::f32, 1u}, {Dtype::f16, 0u}, {Dtype::bf16, 0u}}) {
    half.dtype = dtype;
    const auto file = tensors_from("f", {{{"attentions", half}}, {}}, std::nullopt);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->warnings.size(), warned);
  }
}

TEST(HeldArrays, WordsOfOneSideNameThatSide) {
  const std::map<std::string, std::string> words{{"tokens", R"(["ich","bin","sehr","krank","."])"}};
  const auto cross = tensors_from("f", {{{"attentions", weights_of({1, 2, 3, 5})}}, words}, std::nullopt);
  ASSERT_TRUE(cross) << cross.error().message();
  const ExternalStack& stack = cross->model->given->stacks.at(Stack::self);
  EXPECT_EQ(stack.key_tokens.tokens[1].text, "bin");
  EXPECT_EQ(stack.query_tokens.tokens[1].text, "1");
  const auto square = tensors_from(
      "f",
      {{{"attentions", weights_of({1, 2, 2, 2})}}, {{"tokens", R"(["a","b"])"}, {"target_tokens", R"(["c","d"])"}}},
      std::nullopt);
  EXPECT_EQ(square->model->given->stacks.at(Stack::self).key_tokens.tokens[1].text, "b");
  EXPECT_EQ(square->model->given->stacks.at(Stack::self).query_tokens.tokens[1].text, "d");
  const auto three = tensors_from("f",
                                  {{{"encoder_attentions", weights_of({1, 2, 5, 5})},
                                    {"decoder_attentions", weights_of({1, 2, 3, 3})},
                                    {"cross_attentions", weights_of({1, 2, 3, 5})}},
                                   words},
                                  std::nullopt);
  ASSERT_TRUE(three) << three.error().message();
  EXPECT_EQ(three->model->given->stacks.at(Stack::encoder).query_tokens.tokens[0].text, "ich");
}

}  // namespace
}  // namespace headlight
