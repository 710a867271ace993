// The numbers of the training panel: each beside its own words, of the step that is looked at.
#include "base/formatted.h"
#include "figure/drawing/curve.h"
#include "figure/labels.h"
#include "train/app/train_fixture.h"
#include "train/train_words.h"
#include "words/relation_words.h"

namespace headlight {
namespace {

class TrainNumbers : public TrainPanel {
 protected:
  void train(Index steps) {
    harness->click("view train");
    plan_steps(steps);
    harness->click("start training");
    wait();
    ASSERT_TRUE(is(TrainingPhase::done)) << message_of(run().failure);
    ASSERT_FALSE(run().scores.empty());
  }
  /// The scores of a step, made: of every relation the same.
  std::shared_ptr<const RelationReport> scored(double accuracy) {
    RelationReport report = *run().scores.front().report;
    for (RelationScore& one : report.relations) {
      one.score.accuracy = accuracy;
      one.random = one.offset = 0.05;
      one.kind_offset = 0.85;
    }
    return std::make_shared<const RelationReport>(report);
  }
};

TEST_F(TrainNumbers, BesideTheCurvesStandTheScoresOfTheStepThatIsLookedAt) {
  Harness& h = *harness;
  train(20);
  TrainingRun& made = *trainings(h.state).run;
  made.scores = {{0, scored(0.25)}, {20, scored(0.5)}};
  made.losses.points.front().loss_sum += 7;
  h.frame(2);
  EXPECT_TRUE(h.says(kTrainWords.loss.en + formatted("%.3f", run().losses.points.back().loss()))) << "the last";
  const RelationScore& first = run().scores.front().report->relations.front();
  const auto says = [&](double score) {
    return h.says(relation_in_words(Language::en, first) + " " + score_text(score));
  };
  EXPECT_TRUE(says(0.5)) << h.words_on_screen();
  h.push(ChooseShot{Index{0}});
  h.settle();
  ASSERT_EQ(run().shown, 0);
  EXPECT_TRUE(says(0.25)) << h.words_on_screen();

  const Box plot = h.box("score curves");
  const ImU32 ink = to_imgui(series_colour(0, Theme::light));
  const auto has_line = [&](double value) {
    const float y = plot.bottom() - static_cast<float>(value) * plot.h;
    return h.drew(ink, {plot.x, y - 3, plot.w, 6});
  };
  EXPECT_TRUE(has_line(0.85)) << "position alone, for each kind of sentence";
  EXPECT_FALSE(has_line(0.05));
}

TEST_F(TrainNumbers, ProgressIsInStepsAndPercent) {
  Harness& h = *harness;
  h.click("view train");
  plan_steps(1000000);
  h.click("start training");
  ASSERT_TRUE(eventually([&] { return is(TrainingPhase::running) && run().step > 2; }));
  h.click("pause training");
  wait();
  ASSERT_TRUE(is(TrainingPhase::paused));
  trainings(h.state).run->step = 250000;
  EXPECT_TRUE(h.says("step 250000 / 1000000")) << h.words_on_screen();
  h.push(ShowView{View::heads});
  h.frame();
  EXPECT_TRUE(h.says("paused 25 %")) << h.words_on_screen();
  h.push(StopTraining{});
  wait();
}

TEST_F(TrainNumbers, TheTimeIsThatOfAllSentencesInHoursAndMinutes) {
  Harness& h = *harness;
  train(20);
  // 20 steps of 4 sentences of 12 words.
  trainings(h.state).run->tokens_per_second = 20 * 4 * 12 / 7500.0;
  h.frame(2);
  ASSERT_TRUE(h.scroll_into("train", "training estimate"));
  EXPECT_TRUE(h.says("about 2 h 5 min")) << h.words_on_screen();
  trainings(h.state).run->tokens_per_second = 20 * 4 * 12 / 150.0;
  EXPECT_TRUE(h.says("about 2 min 30 s")) << h.words_on_screen();
}

TEST_F(TrainNumbers, ANumberThatIsTypedIsThatOfItsRow) {
  Harness& h = *harness;
  h.click("view train");
  h.click("training advanced");
  h.frame(2);
  const auto type = [&](const char* row, const char* digits) {
    const Box box = h.box(row);
    h.click_at({box.x + 12, box.y + box.h / 2});
    h.key({Key::left_ctrl, Key{'A'}});
    h.type(digits);
    h.key(Key::enter);
    h.frame(2);
  };
  type("training steps", "70");
  type("training batch", "16");
  type("training seed", "9");
  const TrainingPlan& plan = trainings(h.state).plan;
  EXPECT_EQ(plan.steps(), 70);
  EXPECT_EQ(plan.batch, 16);
  EXPECT_EQ(plan.config.seed, 9u);
}

TEST_F(TrainNumbers, TrainingsThatGoOnStandAboveThoseThatAreDone) {
  Harness& h = *harness;
  ASSERT_TRUE(trainings(h.state).trained.question());
  trainings(h.state).trained.put(*trainings(h.state).trained.question(),
                                 std::make_shared<const std::vector<TrainedFolder>>(std::vector<TrainedFolder>{
                                     {.folder = "/a", .name = "whole", .step = 8, .steps = 8},
                                     {.folder = "/b", .name = "part", .step = 3, .steps = 8, .unfinished = true}}));
  h.click("view train");
  h.frame(2);
  ASSERT_TRUE(h.scroll_into("train", "open whole"));
  ASSERT_TRUE(h.has("go on part"));
  EXPECT_LT(h.box("go on part").y, h.box("open whole").y);
}

}  // namespace
}  // namespace headlight
