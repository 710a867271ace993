// A training that goes on from its files, and files or plans that it cannot go on from.
#include "train/trained_checkpoint.h"

#include <gtest/gtest.h>

#include <limits>

#include "read/array/safetensors.h"
#include "train/grammars.h"
#include "write/safetensors.h"

namespace headlight {
namespace {

using grammars::Folder;
using grammars::small_config;
using grammars::small_plan;
using grammars::toy_corpus;
using grammars::trained;

TEST(Resuming, GoesOnToTheSameBits) {
  const auto grammar = grammars::parsed(grammars::translated_toy());
  for (const Arch arch : {Arch::encoder, Arch::decoder, Arch::encoder_decoder}) {
    Config config = small_config();
    config.arch = arch;
    TrainingPlan plan = small_plan(config, 40);
    EXPECT_EQ(plan.task, task_of(arch));
    const Corpus corpus = corpus_of(grammar, plan.task);
    plan.recipe.objective.dropout = 0.1f;
    const Training whole = trained(plan, corpus, 40);
    for (const Index stop : {0, 1, 25}) {
      const Folder folder;
      ASSERT_TRUE(save_training(folder.path(), trained(plan, corpus, stop), plan, corpus));
      auto resumed = resume_training(folder.path(), plan, corpus);
      ASSERT_TRUE(resumed) << resumed.error().message();
      EXPECT_EQ(resumed->training.step, stop);
      Workspace workspace(1);
      train(resumed->training, plan, corpus, workspace, 40, [](const StepReport&, const Batch&) { return true; });
      EXPECT_EQ(resumed->training.step, 40);
      EXPECT_EQ(resumed->training.network.values, whole.network.values);
      EXPECT_EQ(resumed->training.moments.first, whole.moments.first);
      EXPECT_EQ(resumed->training.moments.second, whole.moments.second);
    }
  }
}

TEST(Training, OfAnEncoderDecoderNeedsEnglish) {
  const TrainingPlan plan = small_plan(small_config(Arch::encoder_decoder), 5);
  const auto refusal = [&](const TrainingPlan& wanted, const Corpus& corpus) {
    const auto training = begin_training(wanted, corpus);
    EXPECT_FALSE(training);
    return training ? std::string() : training.error().message();
  };
  const auto grammar = grammars::parsed(grammars::translated_toy());
  const std::string needs =
      "training: corpus: expected a grammar with English sentences, which an encoder-decoder learns to say, found ";
  EXPECT_EQ(refusal(plan, toy_corpus()), needs + "one without");
  EXPECT_EQ(refusal(plan, corpus_of(grammar)), needs + "one without");
  EXPECT_EQ(refusal(plan, corpus_of(grammars::parsed(grammars::toy()), Task::translation)), needs + "one without");
  EXPECT_EQ(refusal(plan, *corpus_of("a.txt", {{"a", "</s>"}}, 100, 10)), needs + "a.txt");
  EXPECT_TRUE(begin_training(plan, corpus_of(grammar, Task::translation)));
  TrainingPlan other = plan;
  other.task = Task::causal;
  EXPECT_NE(refusal(other, corpus_of(grammar, Task::translation)).find("task: expected translation"),
            std::string::npos);
  other = small_plan(small_config(), 5);
  other.task = Task::translation;
  EXPECT_NE(refusal(other, corpus_of(grammar, Task::translation)).find("expected masked or causal, found translation"),
            std::string::npos);
}

TEST(Resuming, RefusesAnotherPlanAndAnotherText) {
  const TrainingPlan plan = small_plan(small_config(), 40);
  const auto corpus = corpus_of("a.txt", {{"a", "b", "c"}, {"b", "c", "a"}}, 100, 10);
  const Folder folder;
  const auto refusal = [&](const TrainingPlan& other, const Corpus& text) {
    const auto resumed = resume_training(folder.path(), other, text);
    EXPECT_FALSE(resumed);
    return resumed ? std::string() : resumed.error().message();
  };
  EXPECT_NE(refusal(plan, *corpus).find("resume.safetensors"), std::string::npos) << "there is none yet";
  ASSERT_TRUE(save_training(folder.path(), trained(plan, *corpus, 2), plan, *corpus));
  ASSERT_TRUE(resume_training(folder.path(), plan, *corpus));
  const std::string others = (folder.path() / "resume.safetensors").string() +
                             ": plan: expected the options and the corpus that this training began with, found others";
  for (const auto change :
       {+[](TrainingPlan& p) { p.batch = 9; }, +[](TrainingPlan& p) { p.config.seed = 6; },
        +[](TrainingPlan& p) { p.config.num_layers = 1; }, +[](TrainingPlan& p) { p.corruption.mask = 0.5f; },
        +[](TrainingPlan& p) { p.recipe.schedule.peak = 1; }, +[](TrainingPlan& p) { p.recipe.schedule.steps = 41; },
        +[](TrainingPlan& p) { p.config.norm = Norm::post; }, +[](TrainingPlan& p) { p.config.tied = false; }}) {
    TrainingPlan other = plan;
    change(other);
    EXPECT_EQ(refusal(other, *corpus), others);
  }
  EXPECT_EQ(refusal(plan, *corpus_of("a.txt", {{"a", "b", "d"}, {"b", "d", "a"}}, 100, 10)), others);
  EXPECT_EQ(refusal(plan, *corpus_of("a.txt", {{"a", "b", "c"}, {"b", "a", "c"}}, 100, 10)), others)
      << "the same words in another order";
  EXPECT_TRUE(resume_training(folder.path(), plan, *corpus_of("b.txt", {{"a", "b", "c"}, {"b", "c", "a"}}, 100, 10)))
      << "the same text under another name";
}

TEST(Resuming, RefusesMeanSquaresBelowZero) {
  const TrainingPlan plan = small_plan(small_config(), 40);
  const Corpus corpus = toy_corpus();
  const Folder folder;
  Training training = trained(plan, corpus, 2);
  training.moments.second[3] = -1;
  ASSERT_TRUE(save_training(folder.path(), training, plan, corpus));
  const auto resumed = resume_training(folder.path(), plan, corpus);
  ASSERT_FALSE(resumed) << "its steps would be NaN";
  EXPECT_NE(resumed.error().message().find("second: expected mean squares, 0 or more, found a negative number"),
            std::string::npos)
      << resumed.error().message();
}

TEST(Resuming, RefusesABrokenFileInOneLine) {
  const TrainingPlan plan = small_plan(small_config(), 40);
  const Corpus corpus = toy_corpus();
  const Folder folder;
  ASSERT_TRUE(save_training(folder.path(), trained(plan, corpus, 2), plan, corpus));
  const auto path = folder.path() / "resume.safetensors";
  const std::string whole = *read_file(path);
  const auto refusal = [&] {
    const auto resumed = resume_training(folder.path(), plan, corpus);
    EXPECT_FALSE(resumed);
    if (resumed) return std::string();
    EXPECT_EQ(resumed.error().message().find('\n'), std::string::npos) << resumed.error().message();
    return resumed.error().message();
  };
  ASSERT_TRUE(write_file(path, whole.substr(0, whole.size() - 5)));
  EXPECT_TRUE(refusal().starts_with(path.string()));
  ASSERT_TRUE(write_file(path, ""));
  EXPECT_TRUE(refusal().starts_with(path.string()));
  std::string nan = whole;
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(nan.data() + nan.size() - sizeof not_a_number, &not_a_number, sizeof not_a_number);
  ASSERT_TRUE(write_file(path, nan));
  EXPECT_TRUE(refusal().starts_with(path.string())) << refusal();

  ASSERT_TRUE(write_file(path, whole));
  const auto stored = *read_safetensors(path);
  const auto with = [&](const std::string& step, bool moments) {
    std::vector<NamedTensor> tensors;
    for (const auto& [name, array] : stored.arrays)
      if (moments || name == "values") tensors.push_back({name, array.shape, array.values.data()});
    EXPECT_TRUE(write_tensors(path, tensors, {{"step", step}, {"plan", stored.metadata.at("plan")}}));
    return refusal();
  };
  for (const char* step : {"", "two", "-1", "2 "})
    EXPECT_EQ(with(step, true), path.string() + ": step: expected a number, found '" + step + "'");
  EXPECT_NE(with("2", false).find(": first: expected "), std::string::npos);
}

}  // namespace
}  // namespace headlight
