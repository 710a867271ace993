// A model beside the base of its adapter, and beside any other model.
#include "app/checkpoint_folder.h"
#include "gui/compare/compare_fixture.h"
#include "question/answer_snapshot.h"
#include "words/compare_words.h"
#include "write/safetensors.h"

namespace headlight {
namespace {

/// llama-gqa (two layers of six heads of width 4) with an adapter beside it that moves the queries of L1·H3 alone.
class AdapterFolder : public worded::CheckpointFolder {
 public:
  AdapterFolder() : CheckpointFolder("llama-gqa", worded::words_json(worded::kWords)) {
    with("adapter_config.json", R"({"peft_type": "LORA", "r": 1, "lora_alpha": 1, "target_modules": ["q_proj"]})");
    const std::string name = "base_model.model.model.layers.1.self_attn.q_proj.lora_";
    std::vector<float> a(24), b(24);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = (i % 3 == 0 ? 1.0f : -0.5f);
    for (std::size_t row = 12; row < 16; ++row) b[row] = 3;
    EXPECT_TRUE(write_tensors(path() / "adapter_model.safetensors",
                              {{name + "A.weight", {1, 24}, a.data()}, {name + "B.weight", {24, 1}, b.data()}}, {},
                              TensorType::float32));
  }
};

class CompareAdapterTest : public CompareViewTest {
 protected:
  void SetUp() override {
    start(folder.document());
    harness->push(SetText{"the cat sat"}, SetMask{false, false}, EndGesture{}, ShowChanges{false});
    key({Key{'5'}});
    harness->settle();
  }
  AdapterFolder folder;
};

TEST_F(CompareAdapterTest, TheBaseIsAskedTheSameAndTheHeadThatTheAdapterMovedIsShown) {
  Harness& h = *harness;
  const Document merged = document();
  ASSERT_TRUE(h.has("base as a"));
  h.click("base as a");
  h.settle();
  ASSERT_TRUE(state().kept && state().kept->trace) << (state().notice ? state().notice->text : "no notice");
  EXPECT_EQ(document(), merged) << "what was open stays";
  EXPECT_EQ(state().kept->document.mask, merged.mask) << "asked the same";
  EXPECT_EQ(state().kept->document.source.text, "the cat sat");
  EXPECT_EQ(state().view.chosen, (HeadRef{1, 3}));
  for (const HeadDifference& head : heads().heads) {
    const bool moved = head.head == HeadRef{1, 3};
    EXPECT_EQ(moved, head.measured.largest > 1e-4f) << head.head.layer << "." << head.head.head;
  }
  const auto base = open_model(folder.folder() + "#adapter=none");
  ASSERT_TRUE(base);
  Document asked = base->document;
  asked.source.text = "the cat sat";
  asked.mask = merged.mask;
  const auto expected = answer_to_keep(asked, *state().lexicon);
  ASSERT_TRUE(expected);
  EXPECT_EQ(state().kept->trace->last_hidden_state(), expected->trace->last_hidden_state());
}

TEST_F(CompareAdapterTest, AModelWithoutAnAdapterHasNoBase) {
  harness->push(OpenPath{folder.folder() + "#adapter=none"});
  harness->settle();
  EXPECT_FALSE(harness->has("base as a"));
  EXPECT_TRUE(harness->has("open as a"));
}

TEST_F(CompareAdapterTest, AnotherModelIsChosenInTheDialog) {
  Harness& h = *harness;
  const worded::CheckpointFolder other("gpt2", worded::words_json(worded::kWords));
  h.click("open as a");
  EXPECT_TRUE(h.says(kCompareWords.open_as_a.en));
  h.type((other.path() / "config.json").string());
  h.click("file action");
  h.settle();
  ASSERT_TRUE(state().kept && state().kept->trace) << (state().notice ? state().notice->text : "no notice");
  EXPECT_EQ(state().kept->document.source.text, "the cat sat");
  EXPECT_NE(state().kept->document.model, document().model);
  EXPECT_TRUE(h.has("map A"));
}

TEST_F(CompareAdapterTest, WhatIsNoModelIsANoticeAndChangesNothing) {
  Harness& h = *harness;
  const Document before = document();
  const fixture::Folder files;
  files.with("a.txt", "the cat");
  for (const std::string& path : std::vector<std::string>{(files / "a.txt").string(), (files / "none").string()}) {
    h.push(OpenPath{path, true});
    h.settle();
    EXPECT_FALSE(state().kept);
    ASSERT_TRUE(state().notice);
    EXPECT_NE(state().notice->text.find("expected "), std::string::npos) << state().notice->text;
    EXPECT_EQ(document(), before);
  }
}

}  // namespace
}  // namespace headlight
