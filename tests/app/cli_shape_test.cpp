// What the command line takes where no SOURCE is named: a trained model of the requested shape, else random
// weights, which it reports; what a translator's decoder reads; words that a model does not know.
#include <gtest/gtest.h>

#include "app/program.h"

namespace headlight {
namespace {

using namespace program;

TEST(CliShape, ATrainedModelOfTheShapeIsTaken) {
  const json decoder = exported({"--arch", "decoder"});
  EXPECT_EQ(decoder["model"]["arch"], "decoder");
  EXPECT_EQ(decoder["model"]["d_model"], 128);
  EXPECT_EQ(decoder["mask"]["kind"], "causal");
  const json four = exported({"--num-heads", "4"});
  EXPECT_EQ(four["model"]["d_model"], 128);
  EXPECT_EQ(four["attention"], exported({"shipped:encoder-d128-h4"})["attention"]);
  EXPECT_EQ(run({"next", "--arch", "decoder", "--top", "3"}).out, run({"next", "shipped:decoder", "--top", "3"}).out);
  EXPECT_EQ(run({"export", "--arch", "decoder"}).err, "");
}

TEST(CliShape, RandomWeightsAreSaid) {
  const std::string line = "warning: the weights are random, seed 0: no trained model has this shape (--random asks";
  for (const Strings& words : {Strings{"export", "--d-model", "16", "--num-heads", "2"},
                               {"next", "--arch", "decoder", "--layers", "1"},
                               {"generate", "--arch", "decoder", "--d-model", "16", "--num-heads", "2", "--count", "1"},
                               {"heads", "--num-heads", "8", "--norm", "post"},
                               {"explain", "--layers", "1", "--head", "0.0", "--query", "0", "--key", "0"}}) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(contains(ran.err, line)) << words[0] << ": " << ran.err;
  }
  EXPECT_TRUE(contains(run({"export", "--split", "characters"}).err, "seed 0: trained models cut text by themselves"));
  EXPECT_TRUE(contains(run({"export", "--seed", "3"}).err, "the weights are random, seed 3, as --seed asks"));
  EXPECT_EQ(run(small({"export", "--random"})).err, "") << "asked for";
}

TEST(CliShape, WhatADecoderReadsBelongsToItsText) {
  const json asked = exported({"shipped:translator", "--text", "小猫饿坏了"});
  EXPECT_EQ(asked["target_tokens"].size(), 1u) << "the start alone";
  const json by_itself = exported({"shipped:translator"});
  EXPECT_GT(by_itself["target_tokens"].size(), 5u) << "the sentence that it begins with, and its English";
  const json given = exported({"shipped:translator", "--text", "小猫饿坏了", "--target", "the kitten"});
  EXPECT_EQ(given["target_tokens"].size(), 3u);
  const Ran ran = run({"generate", "shipped:translator", "--count", "3"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out.substr(0, 4), "1\tI\t") << ran.out;
}

TEST(CliShape, WordsThatTheModelDoesNotKnowAreNamed) {
  const std::string line = "warning: 2 words are unknown to the model and read as <unk>: Zanzibar, xylophone\n";
  for (const char* command : {"export", "heads", "next", "explain"}) {
    Strings words{command, "shipped:encoder", "--text", "Zanzibar xylophone Zanzibar"};
    if (words[0] == "explain") words.insert(words.end(), {"--head", "0.0", "--query", "0", "--key", "0"});
    EXPECT_TRUE(contains(run(words).err, line)) << command << ": " << run(words).err;
  }
  EXPECT_EQ(run({"export"}).err, "");
}

}  // namespace
}  // namespace headlight
