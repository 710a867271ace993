// Models by their names: the command `models`, and a name or any file of a model as SOURCE.
#include <chrono>

#include "app/program.h"
#include "models/model_sources.h"

namespace headlight {
namespace {

using namespace program;
namespace fs = std::filesystem;

/// The caches of this process and of the programs it starts are folders of this test.
class Models : public testing::Test {
 protected:
  Models() {
    for (const char* variable : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE", "MODELSCOPE_CACHE",
                                 "XDG_CACHE_HOME", "XDG_CONFIG_HOME"})
      unset_.push_back(std::make_unique<fixture::Variable>(variable, nullptr));
    home_ = std::make_unique<fixture::Variable>("HOME", folder_.path().c_str());
    hub_ = std::make_unique<fixture::Variable>("HF_HOME", (folder_ / "hf").c_str());
  }

  fs::path put(const std::string& repository, const std::string& golden) const {
    const fs::path snapshot = folder_ / "hf/hub" / repository / "snapshots/0123abcd";
    fs::create_directories(snapshot.parent_path());
    fs::copy(fixture::golden(golden), snapshot, fs::copy_options::recursive);
    return snapshot;
  }

  Folder folder_;
  std::vector<std::unique_ptr<fixture::Variable>> unset_;
  std::unique_ptr<fixture::Variable> home_, hub_;
};

TEST_F(Models, AreListedAndOpenedByName) {
  const fs::path snapshot = put("models--org--small", "gpt2");
  const json list = json::parse(run({"models", "--format", "json"}).out)["models"];
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["name"], "org/small");
  EXPECT_EQ(list[0]["path"], snapshot.string());
  EXPECT_EQ(list[0]["family"], "gpt2");
  EXPECT_EQ(list[0]["dtype"], "float32");
  EXPECT_EQ(list[0]["opens"], true);
  EXPECT_EQ(list[0]["reason"], "");
  EXPECT_TRUE(contains(run({"models"}).out, "org/small  gpt2"));

  const Strings ids{"--ids", "5,9,3"};
  const auto answer = [&](const std::string& source) { return exported({source, ids[0], ids[1]}); };
  const json by_name = answer("org/small");
  EXPECT_EQ(by_name["model"]["name"], "org/small");
  EXPECT_EQ(by_name["request"]["source"], "org/small");
  EXPECT_EQ(answer("org/small@0123")["attention"], by_name["attention"]);
  for (const char* file : {"config.json", "model.safetensors"})
    EXPECT_EQ(answer((snapshot / file).string())["attention"], by_name["attention"]) << file;
  EXPECT_EQ(run({"check", "org/small"}).status, run({"check", snapshot.string()}).status);

  EXPECT_TRUE(contains(refused({"export", "org/smal"}), "(the nearest: org/small)"));
  EXPECT_TRUE(contains(refused({"org/smal"}), "`hf download org/smal` would fetch it"));
  EXPECT_FALSE(contains(refused({"export", "small.npz"}), "nearest")) << "the name of a file";
}

TEST_F(Models, VariablesMayBeginWithTheHomeOrBeRelative) {
  const ModelRoots roots = model_roots(
      [](const char* name) -> const char* {
        const std::string_view asked(name);
        return asked == "HOME"               ? "/home/me"
               : asked == "HF_HUB_CACHE"     ? "~/hub"
               : asked == "HF_HOME"          ? "shared"
               : asked == "MODELSCOPE_CACHE" ? ""
                                             : nullptr;
      },
      {});
  const std::vector<fs::path> expected{"/home/me/hub", fs::current_path() / "shared/hub",
                                       "/home/me/.cache/huggingface/hub"};
  EXPECT_EQ(roots.hugging_face, expected);
  put("models--org--small", "gpt2");
  const fixture::Variable tilde("HF_HOME", "~/hf");
  EXPECT_EQ(exported({"org/small", "--ids", "5"})["model"]["name"], "org/small");
}

TEST_F(Models, FoldersOfOnesOwnHaveNamesToo) {
  fs::create_directories(folder_ / ".config/headlight");
  fs::create_directories(folder_ / "runs");
  fs::copy(fixture::golden("bert"), folder_ / "runs/checkpoint-500", fs::copy_options::recursive);
  folder_.with(".config/headlight/model-folders.txt",
               (folder_ / "runs").string() + "\nrelative\n~/absent\n\n/missing\n");
  EXPECT_EQ(exported({"checkpoint-500", "--ids", "5,9,3"})["model"]["name"], "checkpoint-500");
}

TEST_F(Models, AThousandAreListedSoon) {
  for (int i = 0; i < 1000; ++i) {
    const fs::path snapshot = folder_ / "hf/hub" / ("models--org--" + std::to_string(i)) / "snapshots/0123abcd";
    fs::create_directories(snapshot);
    for (const char* file : {"config.json", "model.safetensors"}) {
      if (i == 0) fs::copy_file(fixture::golden("bert") / file, snapshot / file);
      else fs::create_hard_link(folder_ / "hf/hub/models--org--0/snapshots/0123abcd" / file, snapshot / file);
    }
  }
  const json list = json::parse(run({"models", "--format", "json"}).out)["models"];
  ASSERT_EQ(list.size(), 1000u);
  for (const json& model : list) EXPECT_EQ(model["opens"], true) << model;
}

// A session that was moved together with its model finds it again.
TEST_F(Models, ASessionFindsItsModelBesideIt) {
  fs::create_directories(folder_ / "old/models");
  fs::copy(fixture::golden("gpt2"), folder_ / "old/models/mine", fs::copy_options::recursive);
  const json object = exported({(folder_ / "old/models/mine").string(), "--ids", "5,9,3"});
  const json session{{"schema", "headlight.session/1"}, {"request", object["request"]}};
  folder_.with("old/s.headlight.json", session.dump());
  fs::rename(folder_ / "old", folder_ / "new");
  EXPECT_EQ(exported({(folder_ / "new/s.headlight.json").string()})["attention"], object["attention"]);
  fs::remove_all(folder_ / "new/models");
  EXPECT_TRUE(contains(refused({"export", (folder_ / "new/s.headlight.json").string()}), "no such file"));
}

TEST_F(Models, WeightsUnderANameOfTheirOwn) {
  fs::copy(fixture::golden("gpt2"), folder_ / "run", fs::copy_options::recursive);
  const json whole = exported({(folder_ / "run").string(), "--ids", "5,9,3"});
  fs::copy(fixture::golden("torch-files") / "gpt2.bin", folder_ / "run/step-500.pt");
  EXPECT_EQ(exported({(folder_ / "run/step-500.pt").string(), "--ids", "5,9,3"})["attention"], whole["attention"]);
  fs::rename(folder_ / "run/model.safetensors", folder_ / "run/other.safetensors");
  EXPECT_EQ(exported({(folder_ / "run/other.safetensors").string(), "--ids", "5,9,3"})["attention"],
            whole["attention"]);
  fs::remove(folder_ / "run/config.json");
  EXPECT_TRUE(contains(refused({"export", (folder_ / "run/step-500.pt").string(), "--num-heads", "2"}),
                       "weights of a model are opened beside their config.json"));
}

}  // namespace
}  // namespace headlight
