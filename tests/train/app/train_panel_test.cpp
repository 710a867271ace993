// The training panel: started, paused, stopped and looked through by hand and by key, beside the live heads.
#include "models/bundled_models.h"
#include "read/hub/checkpoint.h"
#include "train/app/train_fixture.h"

namespace headlight {
namespace {

TEST_F(TrainPanel, OneButtonStartsItAndTheRestIsForThoseWhoAskForIt) {
  Harness& h = *harness;
  h.click("view train");
  EXPECT_TRUE(h.has("start training"));
  ASSERT_TRUE(h.has("training estimate"));
  EXPECT_TRUE(h.says("about"));
  EXPECT_FALSE(h.has("training steps"));
  EXPECT_FALSE(h.has("hide"));
  h.click("training advanced");
  h.frame(2);
  EXPECT_TRUE(h.has("training steps"));
  EXPECT_TRUE(h.has("hide"));
}

TEST_F(TrainPanel, StartedByAClickItsHeadsAreSeenWhileItGoesOn) {
  Harness& h = *harness;
  h.click("view train");
  ASSERT_EQ(h.state.view.view, View::train);
  EXPECT_TRUE(h.has("head 0.0")) << "the heads stay";
  EXPECT_FALSE(h.has("stage map")) << "the panel takes the large one's place";
  EXPECT_TRUE(h.says("Asked for: words of the sentence"));
  EXPECT_TRUE(h.says("encoder · d_model 8 · heads 2 · layers 1 · feed-forward 8"));
  plan_steps(1000000);
  h.click("start training");
  ASSERT_TRUE(eventually([&] { return is(TrainingPhase::running) && run().step > 2; }));
  EXPECT_TRUE(h.has("training progress"));
  EXPECT_TRUE(h.has("loss curve"));
  EXPECT_TRUE(h.has("score curves"));
  EXPECT_FALSE(h.has("start training"));
  const auto model = h.state.trace->model;
  EXPECT_TRUE(eventually([&] { return h.state.trace->model != model && shows_training(h.state); })) << "live";
  EXPECT_TRUE(h.says("words/s"));
  for (int frame = 0; frame < 60; ++frame) {
    h.frame();
    for (const DrawnMap& map : h.maps.drawn)
      ASSERT_EQ(map.opacity, 1) << "no map flashes although each answer is soon out of date";
  }

  h.click("pause training");
  ASSERT_TRUE(is(TrainingPhase::paused));
  wait();
  EXPECT_TRUE(h.says("paused"));
  const Index step = run().step;
  h.frame(5);
  EXPECT_EQ(run().step, step);
  h.click("pause training");
  EXPECT_TRUE(eventually([&] { return run().step > step; })) << "and on";
  h.click("stop training");
  EXPECT_TRUE(is(TrainingPhase::stopped));
  wait();
  EXPECT_TRUE(h.says("stopped and kept"));
  EXPECT_TRUE(h.has("start training")) << "the next one can begin";
  EXPECT_TRUE(h.has("continue training"));
}

TEST_F(TrainPanel, TheSliderLeadsThroughTheSteps) {
  Harness& h = *harness;
  h.click("view train");
  plan_steps(20);
  h.click("start training");
  wait();
  ASSERT_TRUE(is(TrainingPhase::done)) << message_of(run().failure);
  EXPECT_TRUE(h.says("done"));
  EXPECT_TRUE(h.has("legend SP"));
  const std::size_t undo = h.state.undo.size();
  std::set<Index> seen;
  h.after_frame = [&] {
    if (run().shown) seen.insert(*run().shown);
  };
  const Box time = h.box("time");
  h.drag({time.right() - 2, time.y + time.h / 2}, {time.x + 1, time.y + time.h / 2}, 0, 30);
  h.after_frame = nullptr;
  EXPECT_EQ(run().shown, 0);
  EXPECT_GT(seen.size(), 10u);
  EXPECT_EQ(h.state.document.model->name, run().name + ", step 0");
  h.settle();
  EXPECT_EQ(h.state.trace->model, h.state.document.model) << "the heads are those of that step";
  EXPECT_TRUE(h.says("step 0"));
  EXPECT_EQ(h.state.undo.size(), undo);

  h.key(Key::page_down);
  EXPECT_EQ(run().shown, 1);
  h.key(Key::page_down);
  h.key(Key::page_up);
  EXPECT_EQ(run().shown, 1);
  h.key(Key::page_up);
  h.key(Key::page_up);
  EXPECT_EQ(run().shown, 0) << "there is none before the first";
  h.key(Key::end);
  EXPECT_FALSE(run().shown);
  h.key(Key::page_up);
  EXPECT_EQ(run().shown, 20);
  h.click("newest");
  EXPECT_FALSE(run().shown);
  EXPECT_EQ(h.state.document.model, run().live);
}

TEST_F(TrainPanel, KeysStartPauseAndStop) {
  Harness& h = *harness;
  h.key({Key::left_ctrl, Key::enter});
  EXPECT_FALSE(trainings(h.state).run) << "only where it can be seen";
  h.key(Key{'4'});
  EXPECT_EQ(h.state.view.view, View::train);
  plan_steps(1000000);
  h.key({Key::left_ctrl, Key::enter});
  ASSERT_TRUE(eventually([&] { return is(TrainingPhase::running); }));
  h.key(Key{'1'});
  EXPECT_EQ(h.state.view.view, View::heads);
  h.key({Key::left_ctrl, Key::enter});
  EXPECT_TRUE(is(TrainingPhase::paused)) << "from any view";
  wait();
  h.key({Key::left_ctrl, Key::enter});
  EXPECT_TRUE(is(TrainingPhase::running));
  h.key({Key::left_ctrl, Key::left_shift, Key::enter});
  EXPECT_TRUE(is(TrainingPhase::stopped));
  wait();
}

TEST_F(TrainPanel, AnotherViewSaysThatItGoesOn) {
  Harness& h = *harness;
  h.click("view train");
  plan_steps(1000000);
  h.click("start training");
  ASSERT_TRUE(eventually([&] { return is(TrainingPhase::running) && shows_training(h.state); }));
  EXPECT_FALSE(h.has("training status"));
  h.click("view heads");
  h.frame(2);
  ASSERT_TRUE(h.has("training status"));
  h.key({Key::left_ctrl, Key{'Z'}});
  EXPECT_FALSE(shows_training(h.state)) << "the question before";
  h.frame(2);
  EXPECT_TRUE(h.has("training status"));
  h.click("training status");
  EXPECT_EQ(h.state.view.view, View::train);
  h.frame(2);
  h.click("show training");
  EXPECT_TRUE(shows_training(h.state));
  h.click("view inside");
  h.frame(2);
  h.click("cancel training");
  EXPECT_TRUE(is(TrainingPhase::stopped));
  wait();
  EXPECT_FALSE(h.has("training status"));
}

TEST_F(TrainPanel, EveryTermIsASwitchThatThePlanAndTheCardHave) {
  Harness& h = *harness;
  h.click("view train");
  h.click("training advanced");
  const auto corruption = [&] { return trainings(h.state).plan.corruption; };
  h.click("swap");
  EXPECT_EQ(corruption().swap, 0);
  h.click("keep");
  EXPECT_EQ(corruption().keep, 0);
  h.click("family");
  EXPECT_EQ(corruption().family, 0);
  h.click("restore");
  EXPECT_EQ(corruption().restore, 0);
  h.click("training dropout");
  EXPECT_FLOAT_EQ(trainings(h.state).plan.recipe.objective.dropout, 0.1f);
  h.click("label smoothing");
  EXPECT_FLOAT_EQ(trainings(h.state).plan.recipe.objective.label_smoothing, 0.1f);
  h.slide("hide share", 0.25f, 0.9f);
  EXPECT_GT(corruption().mask, 0.45f);
  h.click("hide");
  EXPECT_EQ(corruption().mask, 0);
  h.frame(2);
  EXPECT_TRUE(h.has("training problem")) << "nothing would be asked for";
  EXPECT_TRUE(h.says("hide, swap, keep: expected one above 0, found none"));
  h.click("start training");
  EXPECT_FALSE(trainings(h.state).run);
  h.click("hide");
  EXPECT_FLOAT_EQ(corruption().mask, 0.15f);
  plan_steps(3);
  h.click("start training");
  wait();
  ASSERT_TRUE(is(TrainingPhase::done)) << message_of(run().failure);
  EXPECT_FLOAT_EQ(h.state.document.card->plan.corruption.swap, 0);
  EXPECT_FLOAT_EQ(h.state.document.card->plan.recipe.objective.dropout, 0.1f);
}

TEST_F(TrainPanel, AShapeThatCannotBeTrainedSaysWhy) {
  Harness& h = *harness;
  h.click("view train");
  h.click("training advanced");
  Config config = h.state.document.config;
  config.position = Position::rotary;
  h.push(SetConfig{config}, EndGesture{});
  h.frame(2);
  EXPECT_TRUE(h.has("training problem"));
  EXPECT_TRUE(h.says("position: expected none, sinusoidal or learned, found rotary"));
  h.click("start training");
  EXPECT_FALSE(trainings(h.state).run);
  config.position = Position::sinusoidal;
  config.arch = Arch::decoder;
  h.push(SetConfig{config}, EndGesture{});
  h.frame(2);
  EXPECT_FALSE(h.has("training problem"));
  EXPECT_TRUE(h.says("Asked for: the next word"));
  EXPECT_FALSE(h.has("swap")) << "of a decoder's words none are swapped";
  EXPECT_TRUE(h.has("training dropout"));
}

TEST_F(TrainPanel, ATextOfOnesOwnByTheBrowser) {
  Harness& h = *harness;
  folder.with("mine.txt", "the cat sat on the mat\nthe dog sat on the rug\na cat saw a dog\n");
  h.click("view train");
  h.click("training advanced");
  h.click("corpus text");
  ASSERT_EQ(h.state.browser.purpose, Browser::Purpose::corpus);
  h.push(Browse{Browser::Purpose::corpus, folder.path().string()});
  h.settle();
  h.click("entry mine.txt");
  h.click("file action");
  h.frame(2);
  EXPECT_EQ(h.state.browser.purpose, Browser::Purpose::none);
  EXPECT_EQ(trainings(h.state).corpus.text, (folder / "mine.txt").string());
  EXPECT_TRUE(h.has("corpus path"));
  plan_steps(3);
  h.click("start training");
  wait();
  ASSERT_TRUE(is(TrainingPhase::done)) << message_of(run().failure);
  EXPECT_EQ(h.state.document.card->corpus, (folder / "mine.txt").string());
  EXPECT_FALSE(h.has("legend SP"));
  h.scroll_into("train", "corpus repeated");
  h.click("corpus repeated");
  EXPECT_EQ(trainings(h.state).corpus.text, kRepeatedRandom);
  h.frame(2);
  EXPECT_FALSE(h.has("corpus path"));
  h.click("corpus grammar");
  EXPECT_TRUE(trainings(h.state).corpus.text.empty());
}

TEST_F(TrainPanel, RandomRepeatsAreACorpusOfTheirOwn) {
  Harness& h = *harness;
  h.push(SetCorpus{std::string(kRepeatedRandom)});
  h.click("view train");
  plan_steps(3);
  h.click("start training");
  wait();
  ASSERT_TRUE(is(TrainingPhase::done)) << message_of(run().failure);
  EXPECT_EQ(h.state.document.card->corpus, kRepeatedRandom);
  EXPECT_NE(h.state.document.card->command.find("--text repeated-random"), std::string::npos);
}

TEST_F(TrainPanel, WhatWasLeftIsOffered) {
  Harness& h = *harness;
  h.click("view train");
  plan_steps(8);
  h.push(StartTraining{next_training(h.state), {}, 3});
  wait();
  h.click("stop training");
  wait();
  begin({1280, 1400});  // another window
  Harness& again = *harness;
  again.click("view train");
  again.frame(2);
  ASSERT_TRUE(again.scroll_into("train", "go on encoder-d8-h2-l1-s0"));
  EXPECT_TRUE(again.says("3 / 8"));
  again.click("go on encoder-d8-h2-l1-s0");
  wait();
  ASSERT_TRUE(is(TrainingPhase::done)) << message_of(run().failure);
  EXPECT_EQ(run().step, 8);
  again.push(Undo{});
  ASSERT_TRUE(again.scroll_into("train", "open encoder-d8-h2-l1-s0"));
  again.click("open encoder-d8-h2-l1-s0");
  again.settle();
  EXPECT_EQ(again.state.document.model_path, run().folder);
}

TEST_F(TrainPanel, AFolderThatCannotBeWrittenIsSaid) {
  Harness& h = *harness;
  folder.with("trained", "a file");
  h.click("view train");
  plan_steps(8);
  h.click("start training");
  wait();
  EXPECT_TRUE(is(TrainingPhase::failed));
  EXPECT_TRUE(h.has("training message"));
  EXPECT_TRUE(h.says("a folder that can be made"));
  EXPECT_TRUE(h.has("start training"));
}

TEST_F(TrainPanel, AShapeWithoutTrainedWeightsIsTrainedAtOnce) {
  Harness& h = *harness;
  const auto checkpoint = read_checkpoint(std::filesystem::path(HEADLIGHT_TEST_DATA) / "golden" / "family-roberta");
  ASSERT_TRUE(checkpoint);
  h.state.shipped =
      std::make_shared<const BundledModels>(BundledModels{{"shipped:some", checkpoint->model, nullptr, nullptr}});
  h.state.document.trained = true;
  h.frame(2);
  ASSERT_TRUE(h.has("train this shape"));
  h.click("train this shape");
  ASSERT_TRUE(eventually([&] { return is(TrainingPhase::running); }));
  EXPECT_EQ(h.state.view.view, View::train);
  EXPECT_EQ(run().plan.steps(), default_plan({}).steps()) << "by the plan of the shipped models";
  EXPECT_EQ(run().plan.config.d_model, 8);
  h.click("stop training");
  wait();
}

TEST_F(TrainPanel, InChineseAndInASmallWindow) {
  Harness& h = *harness;
  h.resize({1280, 800});
  h.click("language");
  h.click("view train");
  EXPECT_TRUE(h.says("训练一个模型"));
  plan_steps(8);
  h.scroll_into("train", "start training");
  h.click("start training");
  wait();
  ASSERT_TRUE(is(TrainingPhase::done)) << message_of(run().failure);
  EXPECT_TRUE(h.says("完成"));
  EXPECT_TRUE(h.says("损失"));
}

TEST_F(TrainPanel, TheNamesOfTheCurvesStandBesideThemInASmallWindow) {
  begin({960, 600});
  Harness& h = *harness;
  h.click("view train");
  plan_steps(20);
  h.click("start training");
  wait();
  ASSERT_TRUE(is(TrainingPhase::done)) << message_of(run().failure);
  std::size_t names = 0;
  const Box curves = h.box("score curves");
  for (const auto& [name, box] : h.probe) {
    if (!name.starts_with("legend ")) continue;
    ++names;
    EXPECT_GE(box.y, curves.y - box.h) << name;
    EXPECT_LE(box.bottom(), curves.bottom() + 1) << name << " does not reach into what is below";
  }
  ASSERT_FALSE(run().scores.empty());
  EXPECT_EQ(names, run().scores.front().report->relations.size() + 1) << "every curve has its name";
}

}  // namespace
}  // namespace headlight
