#include "train/run/trainer.h"

#include <iterator>

#include "base/result.h"
#include "train/run/trainings.h"

namespace headlight {

Trainer::Trainer(JobThreads& threads, std::function<void()> wake, TrainerOptions options)
    : wake_(wake), options_(std::move(options)), worker_(threads, std::move(wake)) {}

void Trainer::follow(const AppState& state) {
  if (!trainings(state).run) return;
  const TrainingRun& run = *trainings(state).run;
  const bool is_new = !job_ || job_->id() != run.id;
  if (is_new && run.phase != TrainingPhase::preparing) return;  // stopped before it was seen
  if (is_new) {
    job_ = std::make_shared<TrainingJob>(run, options_, wake_);
    going_ = false;
  }
  const bool wanted = is_working(run);
  if (wanted && !going_)
    worker_.post([job = job_](Progress& progress) -> std::optional<Command> {
      try {
        auto last = job->run(progress);
        if (!last) return std::nullopt;
        return *std::move(last);
      } catch (...) {  // what was kept before stays
        return TrainingReply(TrainingFailed{job->id(), thrown_error()});
      }
    });
  if (!wanted && going_) worker_.cancel();
  going_ = wanted;
  if (!is_active(run) && !can_resume(run) && !worker_.busy()) job_->release();
  // A new model is taken only when the answer of the last one is on the screen, so that no answer is wasted.
  if (!shows_training(state) || !is_stale(state) || problem_of(state)) job_->want_model();
}

std::vector<Command> Trainer::take() {
  std::vector<Command> last = worker_.take();  // before the news: what was posted until then is among them
  if (!job_) return last;
  std::vector<Command> all;
  for (TrainingReply& reply : job_->take()) all.emplace_back(std::move(reply));
  std::move(last.begin(), last.end(), std::back_inserter(all));
  return all;
}

}  // namespace headlight
