// Each model of the grammar or of random words that comes along has a recipe in its training.json. A recipe gives the
// same weights to the bit for as long as no sum of the training, no drawn number and no sentence of the grammar
// changes: its first fifty steps are held here beside the file that the whole recipe gave, so that no change of the
// kernels goes unnoticed. Where the first number of a row has to change, the model has to be trained again
// (docs/models.md), which gives the second.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/file.h"
#include "base/random.h"
#include "models/bundled_models.h"
#include "models/open_model.h"
#include "train/run/training_files.h"
#include "train/trained_checkpoint.h"

namespace headlight {
namespace {

constexpr Index kFirstSteps = 50;

struct RecipeFile {
  const char* model;
  std::uint64_t begins;   // of the float32 weights after the first steps
  std::uint64_t shipped;  // of model.safetensors
};

constexpr RecipeFile kRecipes[] = {
    {"encoder", 13236841373296870037u, 14264560135500327298u},
    {"encoder-d32-h1", 2901712279965705515u, 4541151276939504074u},
    {"encoder-d32-h2", 5832751962395100730u, 7001131316806848086u},
    {"encoder-d32-h4", 8016048452128583429u, 7942309402465458988u},
    {"encoder-d32-h8", 15067028332536162791u, 9780963266762768155u},
    {"encoder-d64-h1", 15379200610936511325u, 11156473405198292454u},
    {"encoder-d64-h2", 2194968999685304927u, 7844620440542652652u},
    {"encoder-d64-h4", 546187392939485787u, 4239650336933759461u},
    {"encoder-d64-h8", 18379529779267210126u, 18282449984024423748u},
    {"encoder-d128-h1", 13661770562179962748u, 15878284455321397587u},
    {"encoder-d128-h2", 9929487803765604100u, 9109423955555750003u},
    {"encoder-d128-h4", 6324966717726763759u, 9592987210658093728u},
    {"decoder", 5016037969594429847u, 10440202532446056399u},
    {"induction", 9011019652570793470u, 2502093131227546991u},
    {"translator", 5474733470624131978u, 9232635411261736203u},
};

class Recipes : public testing::TestWithParam<RecipeFile> {};

TEST_P(Recipes, BeginWithTheseWeights) {
  const RecipeFile& recipe = GetParam();
  const auto opened = open_model(std::string(kShipped) + recipe.model);
  ASSERT_TRUE(opened) << opened.error().message();
  const Document& shipped = opened->document;
  ASSERT_TRUE(shipped.card);
  TrainingPlan plan = shipped.card->plan;
  const std::uint64_t seed = plan.config.seed;
  plan.config = shipped.model->config;  // the shape stands in config.json
  plan.config.seed = seed;
  Progress progress;
  const std::string& text = shipped.card->corpus;
  const auto corpus = read_corpus({.text = text == "grammar" ? "" : text}, plan.task, progress);
  ASSERT_TRUE(corpus) << corpus.error().message();
  auto training = begin_training(plan, *corpus);
  ASSERT_TRUE(training) << training.error().message();
  Workspace workspace(2);
  train(*training, plan, *corpus, workspace, kFirstSteps, [](const StepReport&, const Batch&) { return true; });
  EXPECT_EQ(training->step, kFirstSteps);
  const Floats& values = training->network.values;
  const std::uint64_t sum =
      derive_seed(0, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  EXPECT_EQ(sum, recipe.begins);
}

TEST_P(Recipes, GaveTheFileThatComesAlong) {
  const RecipeFile& recipe = GetParam();
  const auto folder = resolved_source(std::string(kShipped) + recipe.model);
  ASSERT_TRUE(folder);
  const auto file = read_file(*folder / "model.safetensors");
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(hash_text(*file), recipe.shipped);
}

INSTANTIATE_TEST_SUITE_P(Shipped, Recipes, testing::ValuesIn(kRecipes), [](const auto& one) {
  std::string name = one.param.model;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace headlight
