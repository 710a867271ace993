// The state of a training as the window shows it: how far it is, how its loss fell, which heads found which relation
// when, and the network as it was at some of its steps. Plain values; session/loop/trainer.h does it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/progress.h"
#include "question/tokenizers.h"
#include "train/network/network.h"
#include "train/run/training_files.h"
#include "train/trained_checkpoint.h"

namespace headlight {

/// The report of a step.
struct StepResult {
  double loss = 0;               // cross-entropy in nats per word that was asked for
  Index targets = 0, right = 0;  // words that were asked for, and those predicted right
  Index tokens = 0;              // words that were read
};

/// A stretch of steps.
struct LossPoint {
  Index first = 0, steps = 0;  // the first step, from 1, and how many
  double loss_sum = 0;
  Index targets = 0, right = 0;

  double loss() const { return loss_sum / static_cast<double>(std::max<Index>(1, steps)); }
  double share_right() const { return static_cast<double>(right) / static_cast<double>(std::max<Index>(1, targets)); }
  Index last() const { return first + steps - 1; }
};

/// All steps in at most kMostLossPoints stretches of one length; the last may still be growing.
struct LossCurve {
  Index stretch = 1;  // steps a point
  std::vector<LossPoint> points;
};
inline constexpr std::size_t kMostLossPoints = 512;

/// Adds what step `step`, the one after the last, reported; neighbours are joined where the points become too many.
void add(LossCurve& curve, Index step, const StepResult& result);

/// The network at a step, rounded to half precision.
struct Shot {
  Index step = 0;
  std::shared_ptr<const std::vector<Eigen::half>> values;
};

/// Which steps are kept: multiples of a stretch, which doubles whenever there are too many.
struct ShotClock {
  Index stretch = 1;
  std::size_t most = 64, count = 0;

  bool due(Index step) const { return step % stretch == 0; }
  /// One was kept; true where the stretch doubled, so that every other one is to go.
  bool tick();
};
/// Of a training of so many steps and a network of so many numbers: at most 64, and no more than 256 MiB of them.
ShotClock shot_clock(Index steps, Index numbers);

Shot shot_of(const Network& network, Index step);
/// Drops those that the clock no longer keeps.
void thin(std::vector<Shot>& shots, const ShotClock& clock);

/// Scores of the heads at a step, on a sample of sentences.
struct ScorePoint {
  Index step = 0;
  std::shared_ptr<const RelationReport> report;
};
inline constexpr std::size_t kMostScorePoints = 256;

/// Adds a point; every other one is dropped where they become too many.
void add(std::vector<ScorePoint>& points, ScorePoint point);

enum class TrainingPhase {
  preparing,  // the corpus is read, the folder is made
  running,
  paused,
  measuring,  // all steps are taken: its heads are scored
  done,
  stopped,  // and kept: it can be continued
  failed,
};

struct TrainingRun {
  std::uint64_t id = 0;  // counts the trainings of this window
  TrainingPhase phase = TrainingPhase::preparing;
  std::optional<Error> failure = {};
  TrainingPlan plan = {};
  CorpusChoice corpus = {};
  std::string resumed = {};  // the folder that it goes on from; empty: it begins
  Index until = 0;           // it pauses behind this step; 0: nowhere

  std::string folder = {}, name = {};  // empty before it has begun
  Index step = 0;
  double tokens = 0, tokens_per_second = 0, seconds_left = 0;
  LossCurve losses = {};
  std::vector<ScorePoint> scores = {};
  std::vector<Shot> shots = {};
  std::optional<Index> shown = {};             // the step that is looked at; none: the newest
  std::shared_ptr<const Network> layout = {};  // without its numbers
  std::shared_ptr<const Model> live = {};      // the newest …
  Index live_step = 0;                         // … and the step after which it was taken
  std::shared_ptr<const Tokenizers> tokenizers = {};
  std::shared_ptr<const TrainingCard> card = {};  // with the scores of the end, once it is done
};

/// Whether it goes on, at once or when it is resumed.
inline bool is_active(const TrainingRun& run) { return run.phase <= TrainingPhase::measuring; }
/// Whether it takes steps, is about to, or is being scored.
inline bool is_working(const TrainingRun& run) { return is_active(run) && run.phase != TrainingPhase::paused; }
/// Whether it can be continued at once: paused, or stopped by a full disk.
inline bool can_resume(const TrainingRun& run) {
  return run.phase == TrainingPhase::paused || (run.phase == TrainingPhase::failed && !run.folder.empty());
}

/// The model at a kept step: as a model file of half precision would give it.
std::shared_ptr<const Model> model_at(const TrainingRun& run, const Shot& shot);
/// The kept step that is nearest to `step`; null where none is.
const Shot* nearest_shot(const TrainingRun& run, Index step);
/// The scores that were known at `step`; null: none yet.
const ScorePoint* scores_at(const TrainingRun& run, Index step);
/// A card of what is shown: the plan, and the scores of a sample.
std::shared_ptr<const TrainingCard> card_at(const TrainingRun& run, Index step);

struct TrainingBegun {
  std::uint64_t run = 0;
  TrainingPlan plan;
  CorpusChoice corpus;
  std::string folder;
  Index step = 0;
  double tokens = 0;
  std::shared_ptr<const Network> layout;
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Tokenizers> tokenizers;
};
struct TrainingNews {
  std::uint64_t run = 0;
  std::vector<StepResult> results = {};  // of the steps since the last news
  double tokens_per_second = 0, seconds_left = 0;
  std::vector<Shot> shots = {};
  ShotClock clock = {};
  std::vector<ScorePoint> scores = {};
  std::shared_ptr<const Model> model = {};  // after the last of `results`; null: not asked for
  bool measuring = false;
};
struct TrainingPaused {
  std::uint64_t run = 0;
};  // where it was to pause by itself
struct TrainingDone {
  std::uint64_t run = 0;
  std::shared_ptr<const TrainingCard> card;
};
struct TrainingFailed {
  std::uint64_t run = 0;
  Error error;
};

using TrainingReply = std::variant<TrainingBegun, TrainingNews, TrainingPaused, TrainingDone, TrainingFailed>;

/// Reports what document/log_folder.h finds, the newest step first and then each that comes, until it is stopped. All
/// steps that are kept are about the same tokens: of another sentence, or of another shape, they are left out. At most
/// 64 are kept, rounded to half precision, and no more than 256 MiB. Gives TrainingFailed where the newest cannot be
/// read.
std::optional<TrainingReply> watch_log(std::uint64_t run, const std::filesystem::path& folder, const Progress& progress,
                                       const std::function<void(TrainingReply)>& post);

/// The attention of the model with other weights, those of a kept step; null where they are not as many.
std::shared_ptr<const Model> logged_model(const Model& newest, const Shot& shot, std::string name);

}  // namespace headlight
