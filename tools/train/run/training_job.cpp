#include "train/run/training_job.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/folders.h"
#include "base/seconds.h"
#include "models/log_folder.h"
#include "read/hub/checkpoint.h"
#include "train/run/training_files.h"
#include "train/trained_checkpoint.h"

namespace headlight {
namespace {

/// The files that a training writes into its folder.
constexpr const char* kTrainedFiles[] = {"training.json", "model.safetensors", "config.json",
                                         "README.md",     "tokenizer.json",    "resume.safetensors"};

namespace fs = std::filesystem;

/// Seconds between news at least: four or five pictures a second show how heads form.
constexpr double kNewsSeconds = 0.22;
/// The share of the time that the scores of samples may take.
constexpr double kScoreShare = 0.07;

int training_threads(int wanted) {
  const int all = static_cast<int>(std::thread::hardware_concurrency());
  return wanted > 0 ? wanted : std::max(1, all - 1);
}

}  // namespace

Result<FileLock> take_output_folder(const std::filesystem::path& folder, const std::string& command, OutputFolder use) {
  std::error_code error;
  const bool is_new = !path_exists(folder);
  std::filesystem::create_directories(folder, error);
  if (error)
    return bad_input(folder.string(), "", "a folder that can be made", error.message(), write_fault(error.value()));
  const bool was_trained_in = path_exists(folder / kLockFile);  // by a program that was killed
  auto lock = lock_folder(folder);
  if (!lock || is_new || use != OutputFolder::fresh) return lock;
  const auto card = read_card(folder);
  if (card && *card && (*card)->command == command) return lock;
  if (card && !*card && was_trained_in) return lock;
  for (const char* name : kTrainedFiles) {
    if (!path_exists(folder / name)) continue;
    const bool of_a_training = card && *card;
    std::filesystem::remove(folder / kLockFile, error);
    return bad_input(folder.string(), "", "an empty folder, --resume or --overwrite",
                     std::string(name) + (of_a_training ? " of another training" : ""),
                     of_a_training ? ErrorCode::folder_in_use : ErrorCode::bad_value);
  }
  return lock;
}

std::vector<std::filesystem::path> files_to_come(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const char* name : kTrainedFiles)
    if (!path_exists(folder / name)) files.push_back(folder / name);
  return files;
}

bool LostSteps::add(const StepReport& report) {
  constexpr Index kMost = 20;
  in_a_row_ = std::isfinite(report.loss.mean) && std::isfinite(report.gradient_norm) ? 0 : in_a_row_ + 1;
  return in_a_row_ >= kMost;
}

Error LostSteps::error(Index step) const {
  return bad_input("training",
                   "loss of step " + std::to_string(step) + " and the " + std::to_string(in_a_row_ - 1) + " before",
                   "a finite number", "an overflow: try a smaller learning rate", ErrorCode::overflow);
}

TrainingJob::TrainingJob(const TrainingRun& run, TrainerOptions options, std::function<void()> wake)
    : id_(run.id),
      options_(std::move(options)),
      wake_(std::move(wake)),
      resumed_(run.resumed),
      plan_(run.plan),
      choice_(run.corpus),
      until_(run.until) {}

std::vector<TrainingReply> TrainingJob::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(posted_, {});
}

void TrainingJob::release() {
  training_.reset();
  lock_.reset();
}

bool TrainingJob::is_taken() {
  const std::lock_guard lock(mutex_);
  return posted_.empty();
}

void TrainingJob::post(TrainingReply reply) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(reply));
  }
  if (wake_) wake_();
}

std::shared_ptr<Model> TrainingJob::model(bool finished) const {
  auto made = std::make_shared<Model>(model_of(training_->network));
  made->name = folder_.filename().string();
  if (!finished) made->name += ", step " + std::to_string(training_->step);
  made->vocabulary = vocabulary_;
  return made;
}

TrainingCard TrainingJob::card() const {
  return {.plan = plan_,
          .corpus = corpus_.grammar ? "grammar" : corpus_.name,
          .command = training_command(plan_, choice_, {}, false),
          .step = training_->step,
          .tokens = tokens_};
}

Status TrainingJob::keep() const {
  TRY(save_checkpoint(folder_, *model(true), card()));
  return save_training(folder_, *training_, plan_, corpus_, tokens_);
}

Status TrainingJob::go_on_from_disk(Progress& progress) {
  folder_ = resumed_;
  auto held = TRY(lock_folder(folder_));
  lock_.emplace(std::move(held));
  const auto left = TRY(read_card(folder_));
  if (!left)
    return bad_input((folder_ / "training.json").string(), "", "what a training left", "no such file",
                     ErrorCode::no_training);
  const auto checkpoint = TRY(read_checkpoint(folder_, progress));
  if (!checkpoint.model) return cancelled(folder_.string());
  plan_ = left->plan;
  const std::uint64_t seed = plan_.config.seed;
  plan_.config = checkpoint.model->config;
  plan_.config.seed = seed;
  if (plan_.config.head_dim * plan_.config.num_heads == plan_.config.d_model) plan_.config.head_dim = 0;
  choice_ = {.text = left->corpus == "grammar" ? std::string() : left->corpus};
  corpus_ = TRY(read_corpus(choice_, plan_.task, progress));
  auto resumed = TRY(resume_training(folder_, plan_, corpus_));
  training_ = std::move(resumed.training);
  tokens_ = resumed.tokens;
  return Done{};
}

Status TrainingJob::begin_anew(Progress& progress) {
  TRY(check_plan(plan_));
  corpus_ = TRY(read_corpus(choice_, plan_.task, progress));
  if (options_.folder.empty()) return bad_input("training", "", "a folder to keep it in", "none");
  folder_ = TRY(fresh_folder(options_.folder, plan_.config));
  auto held = TRY(lock_folder(folder_));
  lock_.emplace(std::move(held));
  training_ = TRY(begin_training(plan_, corpus_));
  return Done{};
}

Status TrainingJob::prepare(Progress& progress) {
  TRY(resumed_.empty() ? begin_anew(progress) : go_on_from_disk(progress));
  vocabulary_ = vocabulary_of(corpus_);
  if (const Status kept = keep(); !kept) return kept;  // a folder that cannot be written is known at once
  const auto first = model(false);
  std::vector<Error> warnings;
  auto tokenizers = read_tokenizers(folder_, *first, warnings);
  vocabulary_ = first->vocabulary;
  Network layout = training_->network;
  layout.values = {};
  clock_ = shot_clock(plan_.steps(), training_->network.size());
  post(TrainingBegun{id_, plan_, choice_, folder_.string(), training_->step, tokens_,
                     std::make_shared<const Network>(std::move(layout)), first, std::move(tokenizers)});
  look(progress);
  return Done{};
}

/// Keeps the network of this step, and scores its heads on a few sentences unless that was done too often.
void TrainingJob::look(const Progress& progress) {
  shots_.push_back(shot_of(training_->network, training_->step));
  if (clock_.tick()) thin(shots_, clock_);
  if (!corpus_.grammar || options_.sample_sentences <= 0 || progress.stop) return;
  const double before = seconds_now();
  const double spent = trained_seconds_ + (begun_at_ > 0 ? before - begun_at_ : 0);
  if (scored_seconds_ > kScoreShare * spent) return;
  RelationOptions sample;
  sample.sentences = options_.sample_sentences;
  sample.pairs = 0;
  sample.threads = 1;
  auto report = measure_relations(model(false), *corpus_.grammar, sample, unwatched());
  scored_seconds_ += seconds_now() - before;
  // A model that cannot be scored has no curves of scores.
  if (report && *report)
    scores_.push_back({training_->step, std::make_shared<const RelationReport>(**std::move(report))});
}

void TrainingJob::post_news(bool measuring) {
  const double now = seconds_now(), spent = std::max(1e-9, now - begun_at_);
  const auto steps = static_cast<double>(std::max<Index>(1, training_->step - begun_step_));
  TrainingNews news{.run = id_};
  news.results = std::exchange(results_, {});
  news.shots = std::exchange(shots_, {});
  news.scores = std::exchange(scores_, {});
  news.clock = clock_;
  news.tokens_per_second = (tokens_ - begun_tokens_) / spent;
  news.seconds_left = spent / steps * static_cast<double>(plan_.steps() - training_->step);
  news.measuring = measuring;
  if (wants_model_.exchange(false) || measuring) news.model = model(measuring);
  reported_at_ = now;
  post(std::move(news));
}

/// Steps until it is stopped, paused or through; the first thing that cannot be kept ends it.
Status TrainingJob::train_on(const Progress& progress) {
  begun_at_ = reported_at_ = seconds_now();
  begun_step_ = training_->step;
  begun_tokens_ = tokens_;
  double kept_at = begun_at_;
  Status kept = Done{};
  LostSteps lost;
  Workspace workspace(training_threads(options_.threads));
  const Index last = until_ > 0 ? std::min(until_, plan_.steps()) : plan_.steps();
  train(*training_, plan_, corpus_, workspace, last, [&](const StepReport& report, const Batch& batch) {
    const Index words = batch.input.tokens();
    tokens_ += static_cast<double>(words);
    if (lost.add(report)) kept = lost.error(training_->step);
    results_.push_back({report.loss.mean, report.loss.targets, report.loss.right, words});
    if (clock_.due(training_->step)) look(progress);
    const double now = seconds_now();
    if (now - reported_at_ >= kNewsSeconds && is_taken()) post_news(false);
    if (kept && now - kept_at >= options_.save_seconds) {
      kept_at = now;
      kept = keep();
    }
    return kept && !progress.stop;
  });
  trained_seconds_ += seconds_now() - begun_at_;
  until_ = 0;
  return kept;
}

/// The scores of the end, and the folder as it stays.
Result<std::shared_ptr<const TrainingCard>> TrainingJob::finish(Progress& progress) {
  TrainingCard card = this->card();
  if (corpus_.grammar && options_.score_sentences > 0) {
    RelationOptions wanted;
    wanted.sentences = options_.score_sentences;
    wanted.threads = training_threads(options_.threads);
    auto scores = measure_relations(model(true), *corpus_.grammar, wanted, progress);
    if (progress.stop) return std::shared_ptr<const TrainingCard>();
    if (scores && *scores) card.scores = **std::move(scores);
  }
  TRY(save_checkpoint(folder_, *model(true), card));
  std::error_code ignored;
  for (const char* file : {"resume.safetensors", kLockFile}) fs::remove(folder_ / file, ignored);
  release();
  return std::make_shared<const TrainingCard>(std::move(card));
}

std::optional<TrainingReply> TrainingJob::run(Progress& progress) {
  if (!training_ && !resumed_.empty() && !logged_steps(resumed_).empty())
    return watch_log(id_, resumed_, progress, [this](TrainingReply reply) { post(std::move(reply)); });
  if (!training_) {
    if (const Status ready = prepare(progress); !ready) {
      release();
      if (progress.stop) return std::nullopt;
      return TrainingFailed{id_, ready.error()};
    }
  }
  Status kept = train_on(progress);
  const bool through = training_->step >= plan_.steps() && kept && !progress.stop;
  want_model();
  post_news(through);
  if (through) {
    auto card = finish(progress);
    if (!card) return TrainingFailed{id_, card.error()};
    if (*card) return TrainingDone{id_, *std::move(card)};
  }
  if (const Status last = keep(); kept && !last) kept = last;
  if (!kept) return TrainingFailed{id_, kept.error()};
  if (progress.stop) return std::nullopt;
  return TrainingPaused{id_};
}

}  // namespace headlight
