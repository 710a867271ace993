// The command line of the whole Transformer: architectures, checkpoints, edits, next words.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "app/program.h"
#include "read/array/npz.h"

namespace headlight {
namespace {

using namespace program;
using fixture::golden;

const Strings kTranslator{"--arch", "encoder-decoder", "--text", "我爱你", "--target", "I love"};

Strings with(Strings words, const Strings& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Strings translator(Strings words) { return small(with(std::move(words), kTranslator)); }

json one_object(const Strings& words) {
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return json::parse(ran.out, nullptr, false);
}

TEST(Transformer, AnEncoderDecoderHasThreeAttentions) {
  const json object =
      exported(translator({"--encoder-layers", "2", "--cross-mask", "causal", "--encoder-mask", "causal"}));
  EXPECT_EQ(texts(object["tokens"]), (Strings{"我", "爱", "你"}));
  EXPECT_EQ(texts(object["target_tokens"]), (Strings{"I", "love"}));
  ASSERT_EQ(object["attention"].size(), 3u);
  EXPECT_EQ(object["attention"][0]["attn"].size(), 2u);
  EXPECT_EQ(object["mask"]["kind"], "causal") << "the decoder's own, by default";
  EXPECT_EQ(object["encoder_mask"]["kind"], "causal");
  EXPECT_EQ(object["attention"][2]["attn"][0][0][0], (json{1, 0, 0}));
  const json by_hand = exported(small({"--arch", "encoder-decoder", "--text", "a", "--target-tokens", "I lo|ve"}));
  EXPECT_EQ(texts(by_hand["target_tokens"]), (Strings{"I lo", "ve"}));
}

TEST(Transformer, OptionsShapeEveryArchitecture) {
  const json object = exported({"--d-model",
                                "12",
                                "--num-heads",
                                "4",
                                "--num-kv-heads",
                                "2",
                                "--head-dim",
                                "6",
                                "--layers",
                                "1",
                                "--position",
                                "rotary",
                                "--norm",
                                "pre",
                                "--norm-type",
                                "rms",
                                "--activation",
                                "silu",
                                "--gated",
                                "--bias",
                                "query,ffn",
                                "--untied",
                                "--arch",
                                "decoder",
                                "--sinks",
                                "--softcap",
                                "2.5",
                                "--rotary-columns",
                                "4"});
  EXPECT_EQ(object["model"]["d_k"], 6);
  EXPECT_EQ(object["model"]["num_kv_heads"], 2);
  const json& request = object["request"];
  EXPECT_EQ(request["position"], "rotary");
  EXPECT_EQ(request["norm_type"], "rms");
  EXPECT_EQ(request["activation"], "silu");
  EXPECT_EQ(request["gated"], true);
  EXPECT_EQ(request["tied"], false);
  EXPECT_EQ(request["sinks"], true);
  EXPECT_EQ(request["softcap"], 2.5);
  EXPECT_EQ(request["rotary_columns"], 4);
  for (const json& row : object["attention"][0]["attn"][0][0]) {
    double sum = 0;
    for (const json& weight : row) sum += weight.get<double>();
    EXPECT_LT(sum, 0.99) << "the sink takes its part of every row";
  }
  EXPECT_EQ(request["bias"], (json{"query", "ffn"}));
  const json plain = exported(small({}));
  for (const Strings& words : {Strings{"--position", "learned"},
                               {"--position", "sinusoidal-halves"},
                               {"--norm-type", "rms"},
                               {"--head-dim", "6"},
                               {"--num-kv-heads", "1"},
                               {"--sinks"},
                               {"--softcap", "0.1"},
                               {"--bias", "query"}})
    EXPECT_NE(exported(with(small({}), words))["next_token"], plain["next_token"]) << words[0];
  EXPECT_EQ(plain["next_token"].size(), 10u);
}

TEST(Transformer, EditsAreAppliedAndKept) {
  const json plain = exported(small({"--text", "我爱你"}));
  const json weight = exported(small({"--text", "我爱你", "--weight", "0.1.2.0=0.875"}));
  EXPECT_EQ(weight, exported(small({"--text", "我爱你", "--weight", "L0.H1.2.0=0.875"})));
  EXPECT_EQ(weight["attention"][0]["attn"][0][1][2][0], 0.875);
  EXPECT_EQ(weight["attention"][0]["attn"][0][0], plain["attention"][0]["attn"][0][0]);
  EXPECT_NE(weight["next_token"], plain["next_token"]);
  const json off = exported(small({"--text", "我爱你", "--off", "0.*", "--off-as", "mean"}));
  EXPECT_EQ(off, exported(small({"--text", "我爱你", "--off", "L0·H0,L0.H1", "--off-as", "mean"})));
  EXPECT_EQ(off["request"]["off"], (json{"0.0", "0.1"}));
  EXPECT_EQ(off["request"]["off_as"], "mean");
  EXPECT_NE(off["next_token"], plain["next_token"]);
  const json layer = exported(small({"--text", "我爱你", "--layer-mask", "0=causal", "--layer-scale", "0=3"}));
  EXPECT_EQ(layer["attention"][0]["attn"][0][0][0], (json{1, 0, 0}));
  const json dropout = exported(small({"--text", "我爱你", "--dropout", "0.9", "--dropout-seed", "2"}));
  EXPECT_NE(dropout["attention"], plain["attention"]);
  EXPECT_NE(exported(small({"--text", "我爱你", "--dropout", "0.9", "--dropout-seed", "3"}))["attention"],
            dropout["attention"]);
  const json parts = exported(small({"--text", "我爱你", "--off", "residual:0,norm:*,scale:0,0.1"}));
  EXPECT_EQ(parts["request"]["layer_edits"],
            (json{{{"stack", "self"}, {"layer", 0}, {"scale", 1}, {"off", {"residual", "norm"}}}}));
  EXPECT_EQ(parts["request"]["off"], (json{"0.1"}));
  EXPECT_NE(parts["next_token"], plain["next_token"]);
  const json cross = exported(translator({"--weight", "cross:0.0.1.2=1", "--off", "encoder:0.1,cross:0.1"}));
  EXPECT_EQ(cross["attention"][2]["attn"][0][0][1], (json{0, 0, 1}));
  EXPECT_EQ(cross["request"]["off"].size(), 2u);
}

TEST(Transformer, WrongEditsAreOneLine) {
  const auto line = [](const Strings& words) { return refused(small(with({"export", "--text", "我爱你"}, words))); };
  EXPECT_EQ(line({"--off", "1.0"}), "--off: layer: expected 0 to 0, found 1\n");
  EXPECT_EQ(line({"--off", "0.2"}), "--off: head: expected 0 to 1, found 2\n");
  EXPECT_EQ(line({"--off", "0"}), "--off: expected LAYER.HEAD, LAYER.* or PART:LAYER, found 0\n");
  EXPECT_EQ(line({"--off", "norm:1"}), "--off: layer: expected 0 to 0, found 1\n");
  EXPECT_EQ(line({"--off", "norm:x"}), "--off: expected PART:LAYER or PART:*, found norm:x\n");
  EXPECT_EQ(line({"--off", "encoder:norm:0"}), "--off: expected no stack, the model has one, found encoder:norm:0\n");
  EXPECT_EQ(line({"--off", "ffn:0"}), "off: ffn:0: expected a part that the model has, found none in this layer\n");
  EXPECT_EQ(line({"--off", "cross:0.0"}), "--off: expected no stack, the model has one, found cross:0.0\n");
  EXPECT_TRUE(contains(line({"--off-as", "gone"}), "--off-as: expected zero or mean"));
  for (const char* weight : {"0.0.0.0", "0.0.0=1", "0.0.0.0=2", "0.0.0.0=-1", "0.0.0.0=x", "0.0.x.0=1", "0.0.0.0=nan"})
    EXPECT_TRUE(contains(line({"--weight", weight}), "--weight: expected LAYER.HEAD.QUERY.KEY=WEIGHT")) << weight;
  EXPECT_TRUE(contains(line({"--weight", "0.0.3.0=1"}), "--weight: query: expected 0 to 2"));
  EXPECT_TRUE(contains(line({"--weight", "0.0.0.9=1"}), "--weight: key: expected 0 to 2"));
  EXPECT_TRUE(contains(line({"--layer-mask", "causal"}), "--layer-mask: expected LAYER=VALUE"));
  EXPECT_TRUE(contains(line({"--layer-mask", "0=some"}), "--layer-mask: expected none, or causal, padding, window:N"));
  EXPECT_TRUE(contains(line({"--layer-mask", "3=none"}), "--layer-mask: layer: expected 0 to 0"));
  EXPECT_TRUE(contains(line({"--layer-scale", "0=wide"}), "--layer-scale: expected LAYER=NUMBER"));
  EXPECT_TRUE(contains(line({"--dropout", "1"}), "--dropout: expected 0 or more and less than 1"));
  EXPECT_TRUE(contains(line({"--dropout-seed", "-1"}), "--dropout-seed"));
  EXPECT_TRUE(contains(line({"--encoder-mask", "none"}), "--encoder-mask: expected an encoder-decoder"));
  EXPECT_TRUE(contains(line({"--target", "a"}), "--target: expected --arch encoder-decoder"));
  EXPECT_TRUE(contains(line({"--bias", "queries"}), "--bias: expected query, key"));
  EXPECT_TRUE(contains(refused(small({"export", "--ids", "1"})), "--ids: expected a checkpoint folder as SOURCE"));
  EXPECT_TRUE(contains(line({"--ids", "1"}), "--text excludes --ids"));
  EXPECT_TRUE(contains(line({"--num-kv-heads", "3"}), "num_kv_heads: expected a divisor"));
  EXPECT_TRUE(contains(refused(small({"export", "--arch", "encoder-decoder", "--text", "a\nb", "--target", "a"})),
                       "target: sentences: expected 2"));
}

std::string listed(const json& numbers) {
  std::string list;
  for (const json& number : numbers) list += (list.empty() ? "" : ",") + number.dump();
  return list;
}

TEST(Transformer, CheckpointsGiveTheReferenceValues) {
  const Folder folder;
  for (const char* name : {"bert", "gpt2", "llama-gqa", "marian"}) {
    const json asked = json::parse(*read_file(golden(std::string(name) + "/case.json")));
    const std::string file = (folder / (std::string(name) + ".npz")).string();
    Strings words{"export", golden(name).string(), "-o", file};
    for (const auto& [key, option] :
         {std::pair{"ids", "--ids"}, {"decoder_ids", "--decoder-ids"}, {"token_type_ids", "--token-type-ids"}})
      if (asked.contains(key)) words = with(words, {option, listed(asked[key])});
    const Ran ran = run(words);
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto written = read_npz(file), expected = read_npz(golden(std::string(name) + "/expected.npz"));
    ASSERT_TRUE(written && expected);
    for (const auto& [array, wanted] : expected->arrays) {
      ASSERT_TRUE(written->arrays.contains(array)) << name << " " << array;
      const Array& found = written->arrays.at(array);
      ASSERT_EQ(found.shape, wanted.shape) << name << " " << array;
      float largest = 1;
      for (const float value : wanted.values) largest = std::max(largest, std::abs(value));
      const bool attention = contains(array, "attentions");
      for (std::size_t i = 0; i < wanted.values.size(); ++i)
        ASSERT_NEAR(found.values[i], wanted.values[i], attention ? 2e-5 : 1e-4 * static_cast<double>(largest))
            << name << " " << array << " " << i;
    }
  }
}

TEST(Transformer, ACheckpointDecides) {
  const std::string gpt2 = golden("gpt2").string(), marian = golden("marian").string();
  EXPECT_TRUE(contains(refused({"export", gpt2}), "ids: expected ids, as --ids 1,2,3 gives them"));
  EXPECT_TRUE(contains(refused({"export", marian, "--ids", "1"}), "decoder ids: expected ids, as --decoder-ids"));
  EXPECT_TRUE(contains(refused({"export", gpt2, "--text", "a"}), "--text: expected --ids"));
  EXPECT_EQ(refused({"export", gpt2, "--ids", "1", "--d-model", "8"}),
            "--d-model: expected 24, as the checkpoint has it, found 8\n");
  EXPECT_EQ(run({"export", gpt2, "--ids", "1", "--d-model", "24", "--arch", "decoder"}).status, 0);
  EXPECT_TRUE(contains(refused({"export", gpt2, "--ids", "1", "--arch", "encoder"}), "--arch: expected decoder"));
  EXPECT_TRUE(contains(refused({"export", gpt2, "--ids", "1", "--random"}), "--random"));
  EXPECT_TRUE(contains(refused({"export", gpt2, "--ids", "1", "--seed", "3"}), "--seed"));
  EXPECT_TRUE(contains(refused({"export", gpt2, "--ids", "1", "--decoder-ids", "3"}),
                       "--decoder-ids: expected an encoder-decoder"));
  EXPECT_TRUE(contains(refused({"export", gpt2, "--ids", "-1"}), "--ids"));
  EXPECT_TRUE(contains(refused({"export", gpt2, "--ids", "1,2", "--token-type-ids", "0"}), "token types: expected 2"));
  const json causal = exported({gpt2, "--ids", "1,2,3"});
  EXPECT_EQ(causal["mask"]["kind"], "causal");
  EXPECT_EQ(texts(causal["tokens"]), (Strings{"1", "2", "3"}));
  EXPECT_EQ(exported({gpt2, "--ids", "1,2,3", "--mask", "none"})["mask"]["kind"], "none");
  EXPECT_EQ(exported({gpt2, "--ids", "1,2,3", "--pad", "1"})["mask"]["kind"], "causal+padding");
}

TEST(Transformer, AnExportOpensAsAttention) {
  const Folder folder;
  const Ran written = run(translator({"export"}));
  ASSERT_EQ(written.status, 0) << written.err;
  const std::string file = folder.with("a.json", written.out);
  const json before = json::parse(written.out), again = exported({file});
  ASSERT_EQ(again["attention"].size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(again["attention"][i]["attn"], before["attention"][i]["attn"]);
    EXPECT_EQ(again["attention"][i]["left_text"], before["attention"][i]["left_text"]);
  }
  EXPECT_TRUE(contains(refused({"export", file, "--text", "a"}), "--text: expected no such option"));
}

TEST(Lines, EachIsAnObjectOfItsOwn) {
  const std::string text = "我爱\nThe cat sat down\n\n你\n";
  const Strings words = small({"export", "--text", "-", "--lines"});
  const Ran ran = run(words, text);
  ASSERT_EQ(ran.status, 0) << ran.err;
  ASSERT_EQ(lines_of(ran.out), 4);
  std::string expected;
  for (const char* line : {"我爱", "The cat sat down", "", "你"})
    expected += *line ? run(small({"export", "--text", line})).out
                      : "{\"error\":\"line 3: text: expected a sentence, found an empty "
                        "line\",\"code\":\"no_tokens\",\"text\":\"\"}\n";
  EXPECT_TRUE(ran.out == expected) << "as if each was asked alone";
  EXPECT_TRUE(run(with(words, {"--jobs", "3"}), text).out == ran.out) << "the order is kept";
  std::string many;
  for (int i = 0; i < 40; ++i) many += "w" + std::to_string(i) + "\n";
  EXPECT_TRUE(run(with(words, {"--jobs", "2"}), many).out == run(words, many).out);
  EXPECT_EQ(
      lines_of(
          run(small({"export", "--lines", "--arch", "encoder-decoder", "--text", "a\nb c", "--target", "x y\nz"})).out),
      2);
  EXPECT_TRUE(contains(refused(with(words, {"--format", "csv"}), text), "--lines: expected the format json"));
  EXPECT_TRUE(contains(refused(small({"export", "--jobs", "2"})), "--lines"));
  EXPECT_TRUE(contains(refused(small({"export", "--lines", "--text", ""})), "at least one"));
}

TEST(Next, ListsWordsByTheirProbability) {
  const Ran ran = run(small({"next", "--arch", "decoder", "--text", "我请", "--top", "3", "--token", "北京"}));
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out.find("after token 1, 请:\n"), 0u) << ran.out;
  EXPECT_EQ(lines_of(ran.out), 5);
  EXPECT_TRUE(contains(ran.out, " 北京\n"));
  const json object =
      one_object(small({"next", "--arch", "decoder", "--text", "我请", "--format", "json", "--token", "北京"}));
  ASSERT_EQ(object["next_token"].size(), 10u);
  EXPECT_EQ(object["tokens"][0]["text"], "北京");
  EXPECT_FALSE(object["next_token"][0].contains("before")) << "nothing was edited";
  const json whole = exported(small({"--arch", "decoder", "--text", "我请"}));
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_EQ(object["next_token"][i]["probability"].get<float>(), whole["next_token"][i]["probability"].get<float>());
}

TEST(Next, WithEditsSaysBeforeAndAfter) {
  const Strings words = small({"next", "--arch", "decoder", "--text", "我请", "--format", "json", "--top", "1000"});
  const json plain = one_object(words), edited = one_object(with(words, {"--off", "0.1"}));
  ASSERT_EQ(plain["next_token"].size(), edited["next_token"].size());
  std::map<std::string, float> before;
  for (const json& word : plain["next_token"]) before[word["text"]] = word["probability"];
  bool changed = false;
  for (const json& word : edited["next_token"]) {
    EXPECT_EQ(word["before"].get<float>(), before[word["text"]]);
    EXPECT_EQ(word["difference"].get<float>(), word["probability"].get<float>() - word["before"].get<float>());
    changed = changed || word["difference"] != 0.0;
  }
  EXPECT_TRUE(changed);
  EXPECT_TRUE(contains(run(small({"next", "--arch", "decoder", "--text", "我请", "--off", "0.1"})).out, "before"));
}

TEST(Next, WhatAnEditTookAwayIsListedToo) {
  const Strings words{"next",  "shipped:decoder", "--text",   "我请李雷帮我订了去北京的",
                      "--off", "0.*,1.*",         "--format", "json"};
  const json few = one_object(with(words, {"--top", "2"})), all = one_object(with(words, {"--top", "100000"}));
  EXPECT_FALSE(all.contains("changed")) << "every word is listed";
  std::vector<json> rest;
  for (const json& word : all["next_token"])
    if (word["id"] != few["next_token"][0]["id"] && word["id"] != few["next_token"][1]["id"]) rest.push_back(word);
  const auto size = [](const json& word) { return std::abs(word["difference"].get<float>()); };
  std::stable_sort(rest.begin(), rest.end(), [&](const json& a, const json& b) { return size(a) > size(b); });
  ASSERT_TRUE(few.contains("changed"));
  EXPECT_LT(few["changed"][0]["difference"].get<float>(), 0) << "the word that fell";
  EXPECT_EQ(few["changed"][0], rest[0]);
}

TEST(Next, AnEncoderSaysItsMaskedWord) {
  const Strings words = small({"next", "--format", "json"});
  EXPECT_EQ(one_object(with(words, {"--tokens", "我|[MASK]|北京"}))["place"]["query"], 1);
  EXPECT_EQ(one_object(with(words, {"--tokens", "我|请|北京"}))["place"]["query"], 2);
  EXPECT_EQ(run(small({"next", "--tokens", "我|[MASK]|北京"})).out.find("in place of token 1, [MASK]:"), 0u);
}

TEST(Next, WhatCannotBeSaidIsOneLine) {
  EXPECT_TRUE(contains(refused(small({"next", "--token", "nonsense"})), "--token: expected a word of the vocabulary"));
  EXPECT_TRUE(contains(refused({"next", golden("tensors-self-6/input.safetensors").string()}), "next: output layer"));
  EXPECT_TRUE(contains(refused({"next", golden("bert").string(), "--ids", "1,2"}), "next: output layer"));
  refused(small({"next", "--top", "-1"}));
}

TEST(GenerateCommand, WritesOnStepByStep) {
  const Strings words = small({"generate", "--arch", "decoder", "--text", "我请", "--count", "4"});
  const Ran ran = run(words);
  ASSERT_EQ(ran.status, 0) << ran.err;
  ASSERT_EQ(lines_of(ran.out), 4);
  const json object = one_object(with(words, {"--format", "json", "--with", "attentions"}));
  ASSERT_EQ(object["steps"].size(), 4u);
  Strings text{"我", "请"};
  std::string marked = "我|请";
  for (const json& step : object["steps"]) {
    EXPECT_EQ(step["tokens"], json(text));
    EXPECT_EQ(step["attention"][0]["attn"][0][0].size(), text.size()) << "it grows";
    const json next =
        one_object(small({"next", "--arch", "decoder", "--format", "json", "--top", "1", "--tokens", marked}));
    EXPECT_EQ(next["next_token"][0]["text"], step["text"]);
    EXPECT_EQ(next["next_token"][0]["probability"], step["probability"]) << "the model's own, whatever the temperature";
    text.push_back(step["text"]);
    marked += "|" + text.back();
    EXPECT_TRUE(contains(ran.out, step["step"].dump() + "\t" + step["text"].get<std::string>() + "\t0."));
  }
  EXPECT_EQ(object["tokens"], json(text));
}

TEST(GenerateCommand, TheSeedDecides) {
  const Strings words =
      small({"generate", "--arch", "decoder", "--text", "我请", "--count", "8", "--temperature", "2"});
  EXPECT_EQ(run(words).out, run(words).out);
  EXPECT_NE(run(words).out, run(with(words, {"--sampling-seed", "1"})).out);
}

TEST(GenerateCommand, CrossAttentionGrows) {
  const json object = one_object(translator({"generate", "--count", "3", "--format", "json", "--with", "attentions"}));
  for (std::size_t i = 0; i < 3; ++i) {
    const json& cross = object["steps"][i]["attention"][2];
    EXPECT_EQ(cross["name"], "Cross");
    EXPECT_EQ(cross["attn"][0][0].size(), 2 + i);
    EXPECT_EQ(cross["attn"][0][0][0].size(), 3u);
  }
}

TEST(GenerateCommand, WhatCannotWriteOnIsOneLine) {
  EXPECT_TRUE(contains(refused(small({"generate"})), "model: arch: expected a decoder"));
  EXPECT_TRUE(contains(refused(small({"generate", "--arch", "decoder", "--temperature", "-1"})), "--temperature"));
  EXPECT_TRUE(contains(refused(small({"generate", "--arch", "decoder", "--with", "attentions"})), "--format json"));
  EXPECT_TRUE(
      contains(refused(small({"generate", "--arch", "decoder", "--with", "all"})), "--with: expected attentions"));
  refused(small({"generate", "--arch", "decoder", "--count", "0"}));
}

TEST(Tokenize, AnEncoderDecoderReadsTwoTexts) {
  const json object = one_object(translator({"tokenize", "--format", "json"}));
  EXPECT_EQ(texts(object["tokens"]), (Strings{"我", "爱", "你"}));
  EXPECT_EQ(texts(object["target_tokens"]), (Strings{"I", "love"}));
  EXPECT_EQ(lines_of(run(translator({"tokenize"})).out), 6);
}

}  // namespace
}  // namespace headlight
