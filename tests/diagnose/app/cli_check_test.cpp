// `headlight check`: its report on a checkpoint that is right, on one that is not, and the exit status of each.
#include <gtest/gtest.h>

#include <fstream>

#include "app/program.h"

namespace headlight {
namespace {

using namespace program;

/// A golden checkpoint with its answers as the reference's, to be changed.
class Check : public testing::Test {
 protected:
  void take(const std::string& golden) {
    fixture::fs::remove_all(path_);
    fixture::fs::copy(fixture::golden(golden), path_);
    fixture::fs::rename(path_ / "expected.npz", path_ / "reference.npz");
  }
  void change_config(const std::string& key, const json& value) const {
    json config = json::parse(*read_file(path_ / "config.json"));
    config[key] = value;
    std::ofstream(path_ / "config.json") << config;
  }
  Ran check(const Strings& more = {}) const {
    Strings words{"check", path_.string()};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  Folder folder_;
  fixture::fs::path path_ = folder_ / "model";
};

TEST_F(Check, AModelThatAnswersAsItsReferencePasses) {
  take("family-roberta");
  const Ran ran = check();
  EXPECT_EQ(ran.status, 0) << ran.err << ran.out;
  EXPECT_EQ(ran.err, "");
  EXPECT_TRUE(contains(ran.out, "good     tensors: none is missing, and none is unknown\n")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "good     reference.npz: attentions: as the reference, to within ")) << ran.out;
  EXPECT_FALSE(contains(ran.out, "error"));
}

TEST_F(Check, JsonSaysTheSame) {
  take("family-qwen3");
  const Ran ran = check({"--format", "json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json object = json::parse(ran.out, nullptr, false);
  ASSERT_TRUE(object.is_object()) << ran.out;
  EXPECT_EQ(object["model"], "model");
  EXPECT_EQ(object["agrees_with_reference"], true);
  EXPECT_TRUE(object["worst"] == "note" || object["worst"] == "good");
  std::string text;
  for (const json& finding : object["findings"]) {
    std::string severity = finding["severity"];
    severity.resize(9, ' ');
    text += severity + finding["line"].get<std::string>() + "\n";
  }
  EXPECT_EQ(text, check().out);
}

TEST_F(Check, ADifferenceIsExitStatusOne) {
  take("family-qwen3");
  change_config("rope_theta", 10000.0);
  const Ran ran = check();
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(contains(ran.out, "error    reference.npz: ")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "expected differences of at most 2e-05, found ")) << ran.out;
  const json object = json::parse(check({"--format", "json"}).out, nullptr, false);
  EXPECT_EQ(object["worst"], "error");
  EXPECT_EQ(object["agrees_with_reference"], false);
}

TEST_F(Check, WithoutAReferenceTheSanityChecksStand) {
  take("family-mistral");
  fixture::fs::remove(path_ / "reference.npz");
  const Ran ran = check();
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_TRUE(contains(ran.out, "note     reference.npz: not beside the model")) << ran.out;
  EXPECT_TRUE(json::parse(check({"--format", "json"}).out)["agrees_with_reference"].is_null());
}

TEST_F(Check, HeadsWhoseRowsHaveNoThreeWordsAreCountedApart) {
  take("family-qwen2");
  fixture::fs::remove(path_ / "reference.npz");
  change_config("use_sliding_window", true);
  change_config("sliding_window", 2);
  change_config("layer_types", {"full_attention", "sliding_attention"});
  EXPECT_TRUE(contains(check().out, "0 of 6 heads almost uniform (6 more see no three words at once)\n"))
      << check().out;
}

TEST_F(Check, ASurplusTensorIsAWarning) {
  take("bert");
  fixture::fs::remove(path_ / "reference.npz");
  change_config("num_hidden_layers", 1);
  const Ran ran = check();
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(contains(ran.out, "warning  ")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "encoder.layer.1.attention.self.query.weight: no part of")) << ran.out;
}

TEST_F(Check, AVocabularyLargerThanTheEmbeddingsIsAnError) {
  take("bert");
  fixture::fs::remove(path_ / "reference.npz");
  std::ofstream vocabulary(path_ / "vocab.txt");
  for (const char* word : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) vocabulary << word << "\n";
  for (int i = 5; i < 70; ++i) vocabulary << "w" << i << "\n";
  vocabulary.close();
  const Ran ran = check();
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(contains(ran.out, "error    vocab.txt: ids: expected less than the 61 token vectors, found 69"))
      << ran.out;
}

TEST_F(Check, WhatIsNoCheckpointIsOneLine) {
  EXPECT_TRUE(contains(refused({"check", (folder_ / "none").string()}), "expected a folder with config.json"));
  EXPECT_EQ(refused({"check"}), "check: expected a FOLDER, or numbers (--weights FILE), found neither\n");
  take("gpt2");
  change_config("n_layer", 9);
  EXPECT_TRUE(contains(refused({"check", path_.string(), "--format", "json"}), "h.2.ln_1.weight"));
}

TEST_F(Check, ALessonIsHeldAgainstTheModels) {
  const auto lesson = fixture::assets() / "lessons" / "06-masks.json";
  const Ran right = run({"check", lesson.string()});
  EXPECT_EQ(right.status, 0) << right.err << right.out;
  EXPECT_TRUE(contains(right.out, "good     step 1: L1·H5, 我#1 → 我#2: 0.9")) << right.out;
  json wrong = json::parse(*read_file(lesson));
  wrong["steps"][0]["claims"][0]["above"] = 0.999;
  const Folder folder;
  std::ofstream(folder / "wrong.json") << wrong;
  const Ran ran = run({"check", (folder / "wrong.json").string(), "--format", "json"});
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_EQ(json::parse(ran.out, nullptr, false)["findings"][0]["severity"], "error") << ran.out;
  std::ofstream(folder / "none.json") << "{}";
  const Ran none = run({"check", (folder / "none.json").string()});
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(lines_of(none.err), 1) << none.err;
}

}  // namespace
}  // namespace headlight
