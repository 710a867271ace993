// Each grammar model that comes along has a recipe in its training.json. A recipe gives the same weights to the bit for as
// long as no sum of the training, no drawn number and no sentence of the grammar changes: its first steps are held here,
// so that a change of the kernels does not go unnoticed until a model is trained again.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/random.h"
#include "document/bundled_models.h"
#include "train/trained_checkpoint.h"
#include "training/training_files.h"

namespace headlight {
namespace {

struct RecipeFile {
  const char* model;
  Index steps;  // fifty, of the larger models fewer: all recipes together take a few seconds
  std::uint64_t weights;
};

constexpr RecipeFile kRecipes[] = {
    {"encoder", 10, 10527209521399191220u},        {"encoder-d128-h1", 10, 17642045557158443850u},
    {"encoder-d128-h2", 10, 8888074054500906310u}, {"encoder-d128-h4", 10, 18307108737408669682u},
    {"encoder-d32-h1", 50, 2901712279965705515u},  {"encoder-d32-h2", 50, 5832751962395100730u},
    {"encoder-d32-h4", 50, 8016048452128583429u},  {"encoder-d32-h8", 50, 15067028332536162791u},
    {"encoder-d64-h1", 50, 15379200610936511325u}, {"encoder-d64-h2", 50, 2194968999685304927u},
    {"encoder-d64-h4", 50, 546187392939485787u},   {"encoder-d64-h8", 50, 18379529779267210126u},
    {"decoder", 10, 15075917179809330643u},        {"translator", 10, 11279919486306989303u},
};

class Recipes : public testing::TestWithParam<RecipeFile> {};

TEST_P(Recipes, BeginWithTheseWeights) {
  const RecipeFile& recipe = GetParam();
  const auto models = read_shipped_models();
  ASSERT_TRUE(models) << models.error().message;
  const std::string source = std::string(kShipped) + recipe.model;
  const auto shipped =
      std::find_if((*models)->begin(), (*models)->end(), [&](const BundledModel& one) { return one.source == source; });
  ASSERT_TRUE(shipped != (*models)->end() && shipped->card);
  TrainingPlan plan = shipped->card->plan;
  const std::uint64_t seed = plan.config.seed;
  plan.config = shipped->model->config;  // the shape stands in config.json
  plan.config.seed = seed;
  Progress progress;
  const auto corpus = read_corpus({}, plan.task, progress);
  ASSERT_TRUE(corpus) << corpus.error().message;
  auto training = begin_training(plan, *corpus);
  ASSERT_TRUE(training) << training.error().message;
  Workspace workspace(2);
  train(*training, plan, *corpus, workspace, recipe.steps, [](const StepReport&, const Batch&) { return true; });
  EXPECT_EQ(training->step, recipe.steps);
  const Floats& values = training->network.values;
  const std::uint64_t sum =
      derive_seed(0, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  EXPECT_EQ(sum, recipe.weights);
}

INSTANTIATE_TEST_SUITE_P(Shipped, Recipes, testing::ValuesIn(kRecipes), [](const auto& one) {
  std::string name = one.param.model;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace headlight
