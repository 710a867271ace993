#include "train/run/training_run.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "models/log_folder.h"
#include "models/open_model.h"

namespace headlight {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};
constexpr std::size_t kMostKept = 64;
constexpr std::size_t kMostKeptBytes = std::size_t{256} << 20;

/// Calls visit(matrix) for the weights of every head, always in the same order.
template <class Given, class Visit>
void each_pattern(Given& given, const Visit& visit) {
  for (auto& [stack, external] : given.stacks)
    for (auto& layer : external.patterns)
      for (auto& head : layer) visit(head);
}

Index numbers_of(const Model& model) {
  Index numbers = 0;
  each_pattern(*model.given, [&](const Matrix& weights) { numbers += weights.size(); });
  return numbers;
}

bool is_about_the_same(const Model& a, const Model& b) {
  if (a.given->stacks.size() != b.given->stacks.size() || numbers_of(a) != numbers_of(b)) return false;
  for (const auto& [stack, external] : a.given->stacks) {
    const auto other = b.given->stacks.find(stack);
    if (other == b.given->stacks.end() || external.patterns.size() != other->second.patterns.size() ||
        external.patterns.front().size() != other->second.patterns.front().size() ||
        !(external.query_tokens == other->second.query_tokens) || !(external.key_tokens == other->second.key_tokens))
      return false;
  }
  return true;
}

Shot logged_shot(const Model& model, Index step) {
  auto values = std::make_shared<std::vector<Eigen::half>>();
  values->reserve(static_cast<std::size_t>(numbers_of(model)));
  each_pattern(*model.given, [&](const Matrix& weights) {
    for (Index i = 0; i < weights.size(); ++i) values->push_back(static_cast<Eigen::half>(weights.data()[i]));
  });
  return {step, std::move(values)};
}

/// Attention that was computed; an Error for inputs, which a training does not log.
Result<std::shared_ptr<const Model>> read_step(const LoggedStep& logged, const std::string& name) {
  auto opened = TRY(open_model(logged.file));
  if (opened.document.model->given->stacks.at(Stack::self).patterns.empty())
    return bad_input(logged.file.string(), "", "attentions", "a query");
  auto model = std::make_shared<Model>(*opened.document.model);
  model->name = name + ", step " + std::to_string(logged.step);
  return std::shared_ptr<const Model>(std::move(model));
}

/// The kept steps are the multiples of a stretch, which doubles where they become too many.
class KeptSteps {
 public:
  KeptSteps(const std::vector<LoggedStep>& steps, Index numbers)
      : most_(std::clamp<std::size_t>(kMostKeptBytes / (static_cast<std::size_t>(std::max<Index>(1, numbers)) * 2), 8,
                                      kMostKept)) {
    for (const LoggedStep& logged : steps) add(logged.step);
  }

  /// Whether the step is kept.
  bool add(Index step) {
    divisor_ = std::gcd(divisor_, step);
    if (step % stretch() == 0 && !keeps(step)) steps_.push_back(step);
    thin();
    return keeps(step);
  }
  bool keeps(Index step) const { return std::ranges::find(steps_, step) != steps_.end(); }
  ShotClock clock() const { return {.stretch = stretch(), .most = most_, .count = steps_.size()}; }

 private:
  Index stretch() const { return std::max<Index>(1, divisor_) * times_; }
  void thin() {
    while (steps_.size() > most_) {
      times_ *= 2;
      std::erase_if(steps_, [this](Index step) { return step % stretch() != 0; });
    }
  }

  std::size_t most_;
  Index divisor_ = 0, times_ = 1;
  std::vector<Index> steps_;
};

}  // namespace

std::optional<TrainingReply> watch_log(std::uint64_t run, const std::filesystem::path& folder, const Progress& progress,
                                       const std::function<void(TrainingReply)>& post) {
  const std::string name =
      folder.has_filename() ? folder.filename().string() : folder.parent_path().filename().string();
  std::vector<LoggedStep> known = logged_steps(folder);
  if (known.empty())
    return TrainingFailed{run,
                          bad_input(folder.string(), "", "step-….safetensors files", "none", ErrorCode::no_training)};
  const auto newest = read_step(known.back(), name);
  if (!newest) return TrainingFailed{run, newest.error()};
  TrainingPlan plan{.config = (*newest)->config};
  plan.recipe.schedule.steps = known.back().step;
  post(TrainingBegun{run, plan, {}, folder.string(), known.back().step, 0, nullptr, *newest, nullptr});
  KeptSteps kept(known, numbers_of(**newest));
  const auto post_step = [&](const LoggedStep& logged, bool is_new) {
    const auto model = read_step(logged, name);
    if (!model || !is_about_the_same(**newest, **model)) return;
    TrainingNews news{.run = run};
    if (kept.keeps(logged.step)) news.shots.push_back(logged_shot(**model, logged.step));
    news.clock = kept.clock();
    if (is_new) news.model = *model;
    post(std::move(news));
  };
  for (const LoggedStep& logged : known) {
    if (progress.stop) return std::nullopt;
    if (kept.keeps(logged.step)) post_step(logged, false);
  }
  while (!progress.stop) {
    std::this_thread::sleep_for(kBetweenLooks);
    const std::vector<LoggedStep> now = logged_steps(folder);
    for (const LoggedStep& logged : now) {
      if (logged.step <= known.back().step || progress.stop) continue;
      kept.add(logged.step);
      post_step(logged, true);
    }
    if (!now.empty() && now.back().step > known.back().step) known = now;
  }
  return std::nullopt;
}

std::shared_ptr<const Model> logged_model(const Model& newest, const Shot& shot, std::string name) {
  if (!newest.given || numbers_of(newest) != static_cast<Index>(shot.values->size())) return nullptr;
  auto model = std::make_shared<Model>(newest);
  model->name = std::move(name);
  auto value = shot.values->begin();
  each_pattern(*model->given, [&](Matrix& weights) {
    for (Index i = 0; i < weights.size(); ++i) weights.data()[i] = static_cast<float>(*value++);
  });
  return model;
}

}  // namespace headlight
