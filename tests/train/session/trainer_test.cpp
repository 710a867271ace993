// Trainings in the window: what the state becomes, what stays on disk, and that an interruption changes no bit.
#include <thread>

#include "session/model_check.h"
#include "train/session/training_fixture.h"

namespace headlight {
namespace {

using namespace fixture;

class TrainerTest : public testing::Test {
 protected:
  void SetUp() override {
    state = small_state();
    loop = open_loop();
    loop->settle(state);
  }
  std::unique_ptr<Loop> open_loop() {
    return std::make_unique<Loop>([] {}, "", trains(tiny_trainer(folder / "trained")));
  }
  void push(Commands commands) { loop->step(state, commands, 0); }
  /// Pushes the commands and waits until the training stands still.
  void finish(Commands commands) {
    push(std::move(commands));
    loop->settle_tools(state);
  }
  template <class Done>
  bool eventually(Done done) {
    return fixture::eventually(*loop, state, done);
  }
  std::string weights(const fs::path& model) {
    const auto read = read_file(model / "model.safetensors");
    EXPECT_TRUE(read);
    return read ? *read : std::string();
  }
  const TrainingRun& run() { return *trainings(state).run; }

  Folder folder;
  AppState state;
  std::unique_ptr<Loop> loop;
};

TEST_F(TrainerTest, ATrainingAnswersTheSentenceAndIsOneStepOfUndo) {
  const Document before = state.document;
  finish({StartTraining{tiny_plan(), {}}});
  ASSERT_EQ(run().phase, TrainingPhase::done) << message_of(run().failure);
  EXPECT_EQ(state.view.view, View::train);
  EXPECT_EQ(run().step, 12);
  EXPECT_EQ(run().name, "encoder-d8-h2-l1-s5");
  EXPECT_TRUE(shows_training(state));
  ASSERT_FALSE(is_stale(state));
  EXPECT_EQ(state.trace->model, run().live);
  EXPECT_EQ(state.trace->num_layers(), 1);
  EXPECT_EQ(state.document.source.text, before.source.text);
  ASSERT_TRUE(state.document.card && state.document.card->scores) << "its heads carry what was measured";
  EXPECT_EQ(state.document.card->scores->relations.size(), 9u);
  EXPECT_TRUE(findings_of_model(state)) << "and whether it is in order is found out";
  EXPECT_EQ(run().losses.points.size(), 12u);
  EXPECT_EQ(run().shots.size(), 13u);
  ASSERT_FALSE(run().scores.empty());
  EXPECT_EQ(run().scores.front().step, 0);

  ASSERT_EQ(state.undo.size(), 1u);
  push({Undo{}});
  EXPECT_EQ(state.document, before);
  push({Redo{}});
  EXPECT_TRUE(shows_training(state));
  EXPECT_EQ(state.document.model, run().live);
}

TEST_F(TrainerTest, TheFolderHoldsWhatTheWindowShows) {
  finish({StartTraining{tiny_plan(), {}}});
  auto names = std::vector<std::string>();
  for (const auto& entry : fs::directory_iterator(run().folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"README.md", "config.json", "model.safetensors", "tokenizer.json",
                                             "training.json"}));
  const Matrix shown = attention_rows(*state.trace, {0, 1}, 0, state.trace->queries());
  const auto card = read_card(run().folder);
  ASSERT_TRUE(card && *card);
  EXPECT_EQ((*card)->step, 12);
  EXPECT_TRUE((*card)->scores);
  EXPECT_EQ((*card)->command.substr(0, 30), "headlight train --arch encoder");
  AppState other = small_state();
  Commands open{OpenPath{run().folder}};
  loop->step(other, open, 0);
  loop->settle(other);
  ASSERT_TRUE(other.document.model) << (other.notice ? other.notice->text : "");
  ASSERT_FALSE(is_stale(other)) << message_of(problem_of(other));
  EXPECT_EQ(attention_rows(*other.trace, {0, 1}, 0, other.trace->queries()), shown);
  EXPECT_TRUE(takes_shape(other.document)) << "and the controls of the shape lead on from it";
}

TEST_F(TrainerTest, PausedAndGoneOnWithItIsTheSameToTheBit) {
  finish({StartTraining{tiny_plan(), {}}});
  const std::string whole = weights(run().folder);
  finish({StartTraining{tiny_plan(), {}, 5}});
  EXPECT_EQ(run().phase, TrainingPhase::paused);
  EXPECT_EQ(run().step, 5);
  EXPECT_EQ(run().name, "encoder-d8-h2-l1-s5-2");
  EXPECT_NE(weights(run().folder), whole);
  EXPECT_TRUE(fs::exists(fs::path(run().folder) / "resume.safetensors"));
  push({PauseTraining{}});
  EXPECT_EQ(run().phase, TrainingPhase::paused);
  finish({ResumeTraining{}});
  EXPECT_EQ(run().phase, TrainingPhase::done);
  EXPECT_EQ(weights(run().folder), whole);
  EXPECT_EQ(run().losses.points.size(), 12u);
}

TEST_F(TrainerTest, PausedByHandItStandsStill) {
  push({StartTraining{tiny_plan(1000000), tiny_text(folder)}});
  ASSERT_TRUE(eventually([&] { return run().step > 3; }));
  finish({PauseTraining{}});
  EXPECT_EQ(run().phase, TrainingPhase::paused);
  const Index step = run().step;
  push({});
  EXPECT_EQ(run().step, step);
  EXPECT_EQ(run().live->name, run().name + ", step " + std::to_string(step)) << "the newest is there to be seen";
  const auto card = read_card(run().folder);
  ASSERT_TRUE(card && *card);
  EXPECT_EQ((*card)->step, step) << "and kept";
  push({ResumeTraining{}});
  EXPECT_TRUE(eventually([&] { return run().step > step; }));
  finish({StopTraining{}});
  EXPECT_EQ(run().phase, TrainingPhase::stopped);
}

TEST_F(TrainerTest, WhatWasKilledIsOfferedAndGoesOnToTheSameBits) {
  finish({StartTraining{tiny_plan(), {}}});
  const std::string whole = weights(run().folder);
  finish({StartTraining{tiny_plan(), {}, 7}});
  const fs::path left = folder / "trained" / "left";
  fs::copy(run().folder, left);  // as a program that was killed leaves it
  loop.reset();
  state = small_state();
  loop = open_loop();
  loop->settle(state);
  ASSERT_FALSE(trainings(state).run) << "nothing goes on by itself";
  const auto found = std::find_if(trained_folders(state).begin(), trained_folders(state).end(),
                                  [&](const TrainedFolder& one) { return one.folder == left.string(); });
  ASSERT_NE(found, trained_folders(state).end());
  EXPECT_TRUE(found->unfinished);
  EXPECT_EQ(found->step, 7);
  EXPECT_EQ(found->steps, 12);
  EXPECT_EQ(found->corpus, "grammar");
  EXPECT_EQ(message_of(found->problem), "");
  finish({ContinueTraining{left.string()}});
  ASSERT_EQ(run().phase, TrainingPhase::done) << message_of(run().failure);
  EXPECT_EQ(weights(left), whole);
  EXPECT_EQ(run().losses.points.size(), 5u);
  for (const TrainedFolder& one : trained_folders(state)) EXPECT_FALSE(one.folder == left.string() && one.unfinished);
}

TEST_F(TrainerTest, ClosingTheWindowStopsAndKeeps) {
  push({StartTraining{tiny_plan(1000000), tiny_text(folder)}});
  ASSERT_TRUE(eventually([&] { return run().step > 3; }));
  loop.reset();
  const auto list = list_trained(folder / "trained");
  ASSERT_EQ(list.size(), 1u);
  EXPECT_TRUE(list.front().unfinished);
  EXPECT_GE(list.front().step, run().step);
  loop = open_loop();
}

TEST_F(TrainerTest, AStoppedOneIsOfferedInTheSameWindow) {
  finish({StartTraining{tiny_plan(), {}, 4}});
  EXPECT_TRUE(trained_folders(state).empty()) << "no other window may resume the training that is paused here";
  EXPECT_FALSE(lock_folder(run().folder));
  finish({StopTraining{}});
  ASSERT_EQ(trained_folders(state).size(), 1u);
  EXPECT_TRUE(trained_folders(state).front().unfinished);
  finish({ContinueTraining{trained_folders(state).front().folder}});
  EXPECT_EQ(run().phase, TrainingPhase::done) << message_of(run().failure);
}

TEST_F(TrainerTest, DamagedFoldersGiveOneLine) {
  finish({StartTraining{tiny_plan(), {}, 4}});
  finish({StopTraining{}});
  const fs::path left = run().folder;
  const Document before = state.document;
  const auto fails = [&](const std::string& part) {
    finish({ContinueTraining{left.string()}});
    EXPECT_EQ(run().phase, TrainingPhase::failed);
    EXPECT_NE(message_of(run().failure).find(part), std::string::npos) << message_of(run().failure);
    EXPECT_EQ(message_of(run().failure).find('\n'), std::string::npos);
    EXPECT_FALSE(can_resume(run()));
    EXPECT_EQ(state.document, before) << "the question stays";
  };
  const std::string resume = *read_file(left / "resume.safetensors");
  ASSERT_TRUE(write_file(left / "resume.safetensors", resume.substr(0, resume.size() / 2)));
  fails("resume.safetensors");
  ASSERT_TRUE(write_file(left / "resume.safetensors", "nonsense"));
  fails("resume.safetensors");
  ASSERT_TRUE(write_file(left / "resume.safetensors", resume));
  const std::string card = *read_file(left / "training.json");
  std::string other = card;
  other.replace(other.find("\"batch\": 4"), 10, "\"batch\": 5");
  ASSERT_TRUE(write_file(left / "training.json", other));
  fails("the options and the corpus that this training began with");
  ASSERT_TRUE(write_file(left / "training.json", "{"));
  fails("training.json");
  ASSERT_EQ(trained_folders(state).size(), 1u);
  EXPECT_NE(message_of(trained_folders(state).front().problem).find("training.json"), std::string::npos);
  fs::remove(left / "training.json");
  fails("training.json");
  ASSERT_TRUE(write_file(left / "training.json", card));
  finish({ContinueTraining{left.string()}});
  EXPECT_EQ(run().phase, TrainingPhase::done) << message_of(run().failure);
}

TEST_F(TrainerTest, WhatCannotBeDoneIsSaidInOneLine) {
  const auto fails = [&](const TrainingPlan& plan, const CorpusChoice& corpus, const std::string& part) {
    finish({StartTraining{plan, corpus}});
    EXPECT_EQ(run().phase, TrainingPhase::failed);
    EXPECT_NE(message_of(run().failure).find(part), std::string::npos) << message_of(run().failure);
    ASSERT_TRUE(state.notice);
    EXPECT_EQ(state.notice->text, message_of(run().failure));
    EXPECT_TRUE(state.undo.empty());
  };
  TrainingPlan rotary = tiny_plan();
  rotary.config.position = Position::rotary;
  fails(rotary, {}, "position: expected none, sinusoidal or learned, found rotary");
  TrainingPlan nothing = tiny_plan();
  nothing.corruption = {.mask = 0, .swap = 0, .keep = 0};
  fails(nothing, {}, "hide, swap, keep: expected one above 0, found none");
  TrainingPlan biases = tiny_plan();
  biases.config.bias.output = false;
  fails(biases, {}, "bias: expected all of them or none, found some");
  fails(tiny_plan(), {.text = (folder / "missing.txt").string()}, "missing.txt");
  fails(tiny_plan(), {.text = folder.with("empty.txt", "\n\n")}, "empty.txt");
  folder.with("trained", "a file where the folder should be");
  fails(tiny_plan(), {}, (folder / "trained").string());
}

TEST_F(TrainerTest, OneAtATime) {
  finish({StartTraining{tiny_plan(), tiny_text(folder), 4}});
  const std::uint64_t id = run().id;
  push({StartTraining{tiny_plan(), {}}});
  EXPECT_EQ(run().id, id);
  EXPECT_EQ(run().phase, TrainingPhase::paused);
  ASSERT_TRUE(state.notice);
  EXPECT_EQ(state.notice->text, "training: expected the one that goes on to be stopped first, found another one");
  push({ContinueTraining{"/nowhere"}});
  EXPECT_EQ(run().id, id);
}

TEST_F(TrainerTest, NewModelsAreNoStepsOfUndoAndUndoStaysInTheirTime) {
  finish({StartTraining{tiny_plan(), tiny_text(folder), 2}});
  const auto early = run().live;
  push({SetText{"the dog sat"}, EndGesture{}, SetText{"a cat saw"}, EndGesture{}});
  EXPECT_EQ(state.undo.size(), 3u);
  finish({ResumeTraining{}});
  EXPECT_EQ(run().phase, TrainingPhase::done);
  EXPECT_EQ(state.undo.size(), 3u);
  ASSERT_NE(run().live, early);
  push({Undo{}});
  EXPECT_EQ(state.document.source.text, "the dog sat");
  EXPECT_EQ(state.document.model, run().live) << "another question, of the same model";
  push({Undo{}, Undo{}});
  EXPECT_FALSE(shows_training(state));
  EXPECT_EQ(early.use_count(), 1) << "nothing keeps what it was in between";
}

TEST_F(TrainerTest, EarlierStepsAreLookedAt) {
  finish({StartTraining{tiny_plan(), {}}});
  const auto newest = attention_rows(*state.trace, {0, 0}, 0, state.trace->queries());
  const std::size_t undo = state.undo.size();
  push({ChooseShot{3}});
  loop->settle(state);
  EXPECT_EQ(run().shown, 3);
  EXPECT_EQ(state.trace->model->name, run().name + ", step 3");
  EXPECT_NE(attention_rows(*state.trace, {0, 0}, 0, state.trace->queries()), newest);
  EXPECT_EQ(state.undo.size(), undo) << "a look is no edit";
  push({ChooseShot{10000}});
  EXPECT_EQ(run().shown, 12) << "the nearest";
  push({ChooseShot{}});
  loop->settle(state);
  EXPECT_EQ(attention_rows(*state.trace, {0, 0}, 0, state.trace->queries()), newest);

  push({Undo{}});
  ASSERT_FALSE(shows_training(state));
  push({ChooseShot{2}});
  EXPECT_TRUE(shows_training(state)) << "its model is taken first";
  EXPECT_EQ(state.document.model->name, run().name + ", step 2");
  EXPECT_EQ(state.undo.size(), 1u);
}

TEST_F(TrainerTest, AKeptStepStandsBesideTheNewestAndIsSwappedBack) {
  finish({StartTraining{tiny_plan(), {}}});
  push({ChooseShot{3}});
  loop->settle(state);
  push({KeepAnswer{}, ChooseShot{}});
  loop->settle(state);
  const auto early = state.kept->trace->model;
  EXPECT_EQ(state.kept->step, 3);
  EXPECT_EQ(shown_step(state), 12);
  EXPECT_NE(state.trace->model, early);
  const std::size_t undo = state.undo.size();
  push({SwapKept{}});
  loop->settle(state);
  EXPECT_EQ(state.trace->model, early);
  EXPECT_EQ(shown_step(state), 3) << "and stays there, whatever the training says";
  EXPECT_EQ(state.kept->step, 12);
  EXPECT_EQ(state.undo.size(), undo) << "a look is no edit";
  push({SwapKept{}});
  loop->settle(state);
  EXPECT_EQ(shown_step(state), 12);
  push({Undo{}});
  loop->settle(state);
  EXPECT_FALSE(shown_step(state));
  push({SwapKept{}});
  loop->settle(state);
  EXPECT_EQ(state.trace->model, early) << "from another question too";
  EXPECT_EQ(shown_step(state), 3);
}

TEST_F(TrainerTest, GoesOnBehindAnotherDocument) {
  push({StartTraining{tiny_plan(1000000), tiny_text(folder)}});
  ASSERT_TRUE(eventually([&] { return run().step > 1; }));
  push({Undo{}});
  ASSERT_FALSE(shows_training(state));
  const auto model = state.document.model;
  const Index step = run().step;
  ASSERT_TRUE(eventually([&] { return run().step > step + 3; }));
  EXPECT_EQ(state.document.model, model);
  push({ShowTraining{}});
  EXPECT_TRUE(shows_training(state));
  EXPECT_EQ(state.document.model, run().live);
  EXPECT_EQ(state.undo.size(), 1u);
  finish({StopTraining{}});
}

TEST_F(TrainerTest, TheWindowIsNeverOutrun) {
  push({StartTraining{tiny_plan(1000000), tiny_text(folder)}});
  ASSERT_TRUE(eventually([&] { return shows_training(state); }));
  // Without a step of the loop news waits, and is one piece when it is taken.
  std::this_thread::sleep_for(std::chrono::milliseconds(900));
  const auto version = trainings(state).version;
  push({});
  EXPECT_LE(trainings(state).version, version + 2);
  finish({StopTraining{}});
}

TEST_F(TrainerTest, ADecoderIsAskedForTheNextWord) {
  TrainingPlan plan = default_plan({.arch = Arch::decoder, .d_model = 8, .num_heads = 2, .num_layers = 1, .ffn = 8});
  plan.recipe.schedule.steps = 4;
  plan.batch = 4;
  EXPECT_EQ(plan.task, Task::causal);
  finish({StartTraining{plan, tiny_text(folder)}});
  ASSERT_EQ(run().phase, TrainingPhase::done) << message_of(run().failure);
  EXPECT_TRUE(state.document.mask.causal);
  EXPECT_TRUE(can_say_words(state));
  EXPECT_TRUE(run().scores.empty()) << "of a text it is not known which words belong together";
  EXPECT_EQ(state.document.card->corpus, (folder / "sentences.txt").string());
}

TEST_F(TrainerTest, TheCardSaysEveryTerm) {
  TrainingPlan plan = tiny_plan(2);
  plan.corruption = {.mask = 0.2f, .swap = 0.1f, .keep = 0, .family = 0.5f, .restore = 0};
  plan.recipe.objective = {.label_smoothing = 0.1f, .dropout = 0.2f};
  finish({StartTraining{plan, {}}});
  const auto card = read_card(run().folder);
  ASSERT_TRUE(card && *card);
  EXPECT_EQ((*card)->plan.corruption, plan.corruption);
  for (const char* part : {"--hide 0.2", "--swap 0.1", "--keep 0", "--family 0.5", "--restore 0", "--dropout 0.2",
                           "--label-smoothing 0.1", "--seed 5"})
    EXPECT_NE((*card)->command.find(part), std::string::npos) << part << " in " << (*card)->command;
}

TEST(TrainedFolders, AreListedNewestFirstAndNeverAFailure) {
  const Folder folder;
  EXPECT_TRUE(list_trained(folder / "missing").empty());
  folder.with("a file", "x");
  fs::create_directory(folder / "empty");
  const auto list = list_trained(folder.path());
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list.front().name, "empty");
  EXPECT_FALSE(message_of(list.front().problem).empty());
  const auto first = fresh_folder(folder.path(), small_config());
  const auto second = fresh_folder(folder.path(), small_config());
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->filename(), "encoder-d8-h2-l2-s0");
  EXPECT_EQ(second->filename(), "encoder-d8-h2-l2-s0-2");
  auto held = lock_folder(*first);
  ASSERT_TRUE(held);
  EXPECT_FALSE(lock_folder(*first));
  EXPECT_EQ(list_trained(folder.path()).size(), 2u);
  { const FileLock gone = *std::move(held); }
  EXPECT_TRUE(lock_folder(*first));
}

}  // namespace
}  // namespace headlight
