// One training as a job: it begins or goes on where it was left, takes steps until it is stopped, keeps itself on disk
// and reports what happens. Stopped and run again it goes on to the same bits.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/file_lock.h"
#include "train/network/training.h"
#include "train/run/training_run.h"

namespace headlight {

/// The way in which a training uses its folder.
enum class OutputFolder {
  fresh,        // new, empty, or of the very same training, which begins again
  resumed,      // of a training that is gone on with
  overwritten,  // any: files of the same names are replaced
};

/// Makes the folder where it is missing, holds it, and removes what a killed program had begun to write there.
/// `command` is TrainingCard::command of the training to come. Errors: another training holds it; for
/// OutputFolder::fresh, it holds a file that the training would replace and did not write.
Result<FileLock> take_output_folder(const std::filesystem::path& folder, const std::string& command, OutputFolder use);

/// The files of a training that are not in the folder yet.
std::vector<std::filesystem::path> files_to_come(const std::filesystem::path& folder);

/// Steps whose loss was not finite: they leave the network unchanged; too many in a row end the training.
class LostSteps {
 public:
  /// Whether there have been too many in a row.
  bool add(const StepReport& report);
  Error error(Index step) const;

 private:
  Index in_a_row_ = 0;
};

struct TrainerOptions {
  std::filesystem::path folder = {};        // holds a folder for each training; empty: none can be kept, so none begins
  int threads = 0;                          // 0: all processors but one, which is left to the window
  Index score_sentences = kScoreSentences;  // measured on at the end
  Index sample_sentences = 100;             // … and while it goes on, where that takes little of its time
  double save_seconds = 5;                  // the most that a crash may lose
};

class TrainingJob {
 public:
  /// `wake` is called from the job's thread when there is news.
  TrainingJob(const TrainingRun& run, TrainerOptions options, std::function<void()> wake);

  /// Works until it is done, pauses or is stopped; then all that happened is reported and kept. Nothing comes back
  /// where it was stopped. One thread at a time.
  std::optional<TrainingReply> run(Progress& progress);

  std::uint64_t id() const { return id_; }
  /// From any thread: what was posted since the last call.
  std::vector<TrainingReply> take();
  /// From any thread: the window shows the last model and has time for another.
  void want_model() { wants_model_ = true; }
  /// From any thread while it does not run: gives its folder and its memory back.
  void release();

 private:
  Status prepare(Progress& progress);
  Status go_on_from_disk(Progress& progress);
  Status begin_anew(Progress& progress);
  Status train_on(const Progress& progress);
  void look(const Progress& progress);
  /// Null where it was stopped.
  Result<std::shared_ptr<const TrainingCard>> finish(Progress& progress);
  bool is_taken();
  std::shared_ptr<Model> model(bool finished) const;
  TrainingCard card() const;
  Status keep() const;
  void post(TrainingReply reply);
  void post_news(bool measuring);

  const std::uint64_t id_;
  const TrainerOptions options_;
  const std::function<void()> wake_;
  const std::string resumed_;

  std::mutex mutex_;
  std::vector<TrainingReply> posted_;  // not taken yet
  std::atomic<bool> wants_model_ = true;

  TrainingPlan plan_;
  CorpusChoice choice_;
  Index until_ = 0;
  std::filesystem::path folder_;
  std::optional<FileLock> lock_;
  Corpus corpus_;
  std::optional<Training> training_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  ShotClock clock_;
  double tokens_ = 0;  // words read, those before it was interrupted among them
  double scored_seconds_ = 0, trained_seconds_ = 0;
  double begun_at_ = 0, reported_at_ = 0;  // of this run
  Index begun_step_ = 0;
  double begun_tokens_ = 0;

  // Not reported yet.
  std::vector<StepResult> results_;
  std::vector<Shot> shots_;
  std::vector<ScorePoint> scores_;
};

}  // namespace headlight
