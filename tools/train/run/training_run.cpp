#include "train/run/training_run.h"

#include <algorithm>
#include <cstdlib>

namespace headlight {
namespace {

/// Shots at the beginning are closer than at the end, where the clock has doubled its stretch some times.
constexpr Index kFirstStretches = 512;
constexpr Index kMostShotBytes = Index{256} << 20;

/// Two neighbouring stretches as one.
LossPoint joined(const LossPoint& a, const LossPoint& b) {
  return {a.first, a.steps + b.steps, a.loss_sum + b.loss_sum, a.targets + b.targets, a.right + b.right};
}

}  // namespace

void add(LossCurve& curve, Index step, const StepResult& result) {
  if (curve.points.empty() || curve.points.back().steps == curve.stretch) {
    if (curve.points.size() == kMostLossPoints) {
      for (std::size_t i = 0; 2 * i < curve.points.size(); ++i)
        curve.points[i] = joined(curve.points[2 * i], curve.points[2 * i + 1]);
      curve.points.resize(kMostLossPoints / 2);
      curve.stretch *= 2;
    }
    curve.points.push_back({.first = step});
  }
  LossPoint& last = curve.points.back();
  last = joined(last, {step, 1, result.loss, result.targets, result.right});
}

bool ShotClock::tick() {
  if (++count <= most) return false;
  stretch *= 2;
  count = (count + 1) / 2;
  return true;
}

ShotClock shot_clock(Index steps, Index numbers) {
  const Index bytes = std::max<Index>(1, numbers) * static_cast<Index>(sizeof(Eigen::half));
  ShotClock clock;
  clock.stretch = std::max<Index>(1, steps / kFirstStretches);
  clock.most = static_cast<std::size_t>(std::clamp<Index>(kMostShotBytes / bytes, 8, 64));
  return clock;
}

Shot shot_of(const Network& network, Index step) {
  auto values = std::make_shared<std::vector<Eigen::half>>(network.values.begin(), network.values.end());
  return {step, std::move(values)};
}

void thin(std::vector<Shot>& shots, const ShotClock& clock) {
  std::erase_if(shots, [&](const Shot& shot) { return !clock.due(shot.step); });
}

void add(std::vector<ScorePoint>& points, ScorePoint point) {
  if (points.size() == kMostScorePoints) {
    for (std::size_t i = 0; 2 * i < points.size(); ++i) points[i] = points[2 * i];
    points.resize(kMostScorePoints / 2);
  }
  points.push_back(std::move(point));
}

std::shared_ptr<const Model> model_at(const TrainingRun& run, const Shot& shot) {
  if (run.live->given) {
    auto model = logged_model(*run.live, shot, run.name + ", step " + std::to_string(shot.step));
    return model ? std::move(model) : run.live;
  }
  Network network = *run.layout;
  network.values.assign(shot.values->begin(), shot.values->end());
  Model model = model_of(network);
  model.name = run.name + ", step " + std::to_string(shot.step);
  model.vocabulary = run.live->vocabulary;
  return std::make_shared<const Model>(std::move(model));
}

const Shot* nearest_shot(const TrainingRun& run, Index step) {
  const auto nearest = std::ranges::min_element(
      run.shots, [&](const Shot& a, const Shot& b) { return std::abs(a.step - step) < std::abs(b.step - step); });
  return nearest == run.shots.end() ? nullptr : &*nearest;
}

const ScorePoint* scores_at(const TrainingRun& run, Index step) {
  const ScorePoint* known = nullptr;
  for (const ScorePoint& point : run.scores)
    if (point.step <= step) known = &point;
  return known;
}

std::shared_ptr<const TrainingCard> card_at(const TrainingRun& run, Index step) {
  if (run.live && run.live->given) return nullptr;  // trained elsewhere
  if (run.card && step >= run.plan.steps()) return run.card;
  TrainingCard card{.plan = run.plan,
                    .corpus = run.corpus.text.empty() ? "grammar" : run.corpus.text,
                    .command = training_command(run.plan, run.corpus, {}, false),
                    .step = step};
  if (const ScorePoint* known = scores_at(run, step)) card.scores = *known->report;
  return std::make_shared<const TrainingCard>(std::move(card));
}

}  // namespace headlight
