// Models found by their names in the caches of this machine.
#include "read/hub/kept_models.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "core/checkpoints.h"
#include "read/hub/model_list.h"
#include "read/hub/weight_files.h"
#include "temporary_folder.h"

namespace headlight {
namespace {

using checkpoints::kGolden;
namespace fs = std::filesystem;

/// A cache as huggingface_hub lays it out: blobs, and snapshots of links to them.
class HubCache : public TemporaryFolder {
 public:
  fs::path repository(const std::string& name) const {
    std::string folder = "models--" + name;
    if (const std::size_t slash = folder.find('/'); slash != folder.npos) folder.replace(slash, 1, "--");
    return *this / folder;
  }
  /// The files of a golden folder as one snapshot.
  fs::path put(const std::string& name, const std::string& golden, const std::string& commit = "c0ffee00") const {
    const fs::path repo = repository(name), snapshot = repo / "snapshots" / commit;
    fs::create_directories(snapshot);
    fs::create_directories(repo / "blobs");
    for (const auto& file : fs::directory_iterator(kGolden / golden)) {
      const std::string blob = commit + file.path().filename().string();
      fs::copy_file(file.path(), repo / "blobs" / blob, fs::copy_options::overwrite_existing);
      fs::create_symlink(fs::path("../../blobs") / blob, snapshot / file.path().filename());
    }
    refer(name, "main", commit);
    return snapshot;
  }
  void refer(const std::string& name, const std::string& ref, const std::string& commit) const {
    const fs::path file = repository(name) / "refs" / ref;
    fs::create_directories(file.parent_path());
    EXPECT_TRUE(write_file(file, commit + "\n"));
  }
  ModelRoots roots() const { return {.hugging_face = {path()}, .model_scope = {}, .folders = {}}; }
  std::string refusal(const std::string& name) const {
    const auto found = find_kept_model(roots(), name);
    return found ? "" : found.error().message();
  }
  std::string reason(const std::string& name) const {
    for (const ListedModel& model : listed_models(kept_models(roots()), 1))
      if (model.name == name) return model.reason;
    return "not listed";
  }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST(KeptModels, ANameIsOneOrTwoPlainParts) {
  for (const char* good : {"gpt2", "bert-base-chinese", "Qwen/Qwen3-0.6B", "a/b@main", "a/b@refs/pr/1", "a@0123abc"})
    EXPECT_TRUE(is_model_name(good)) << good;
  for (const char* bad : {"",
                          "/a",
                          "a/",
                          "a/b/c",
                          "..",
                          "../a",
                          "a/..",
                          "a..b",
                          "./a",
                          "-a",
                          "a b",
                          "a@",
                          "a@../b",
                          "a/b@-x",
                          "model.safetensors",
                          "x.npz",
                          "x.lesson.json",
                          "notes.txt",
                          "a\nb",
                          "我"})
    EXPECT_FALSE(is_model_name(bad)) << bad;
  EXPECT_FALSE(is_model_name(std::string(201, 'a')));
}

TEST(KeptModels, ASnapshotIsFoundByItsNameAndRevision) {
  const HubCache cache;
  const fs::path old = cache.put("org/small", "gpt2", "0123456789ab");
  const fs::path now = cache.put("org/small", "bert", "fedcba987654");
  cache.refer("org/small", "v1.0", "0123456789ab");
  cache.refer("org/small", "refs/pr/1", "0123456789ab");
  const auto folder = [&](const std::string& name) { return find_kept_model(cache.roots(), name)->folder; };
  EXPECT_EQ(folder("org/small"), now);
  EXPECT_EQ(folder("org/small@main"), now);
  EXPECT_EQ(folder("org/small@v1.0"), old);
  EXPECT_EQ(folder("org/small@refs/pr/1"), old);
  EXPECT_EQ(folder("org/small@01234"), old);
  EXPECT_EQ(folder("org/small@fedcba987654"), now);
  EXPECT_EQ(cache.refusal("org/small@v2"),
            "org/small: revision: expected one of main, v1.0, 0123456789ab, fedcba987654, found 'v2'");
  fs::remove_all(cache.repository("org/small") / "refs");
  EXPECT_FALSE(find_kept_model(cache.roots(), "org/small@01234")->remark);
  const auto newest = find_kept_model(cache.roots(), "org/small");
  ASSERT_TRUE(newest) << "without a branch the newest snapshot";
  EXPECT_EQ(message_of(newest->remark),
            "org/small: no branch main in the cache (refs/main): the newest snapshot was taken, org/small@" +
                newest->folder.filename().string());
}

TEST(KeptModels, ANameThatIsNotThereHasItsNeighboursAndACommand) {
  const HubCache cache;
  cache.put("bert-base-chinese", "bert");
  cache.put("Qwen/Qwen3-0.6B", "family-qwen3");
  EXPECT_EQ(cache.refusal("bert-base-chinse"),
            "bert-base-chinse: source: expected a file, a folder, or the name of a model on this disk (the nearest: "
            "bert-base-chinese), found none; `hf download bert-base-chinse` would fetch it");
  EXPECT_TRUE(has(cache.refusal("qwen/qwen3-0.6b"), "(the nearest: Qwen/Qwen3-0.6B)"));
  EXPECT_TRUE(has(cache.refusal("qwen3"), "(the nearest: Qwen/Qwen3-0.6B)"));
  EXPECT_TRUE(has(cache.refusal("facebook/opt-125m"), "(`headlight models` lists 2)"));
  EXPECT_TRUE(has(cache.refusal("a/b@v1"), "`hf download a/b --revision v1`"));
  EXPECT_TRUE(has(HubCache().refusal("gpt2"), "(there is none yet)"));
}

TEST(KeptModels, TheListSaysWhatAModelIs) {
  const HubCache cache;
  cache.put("org/halves", "llama-gqa-bf16");
  cache.put("two/stacks", "family-t5");
  const auto models = listed_models(kept_models(cache.roots()), 2);
  ASSERT_EQ(models.size(), 2u);
  const auto files = open_weights(kGolden / "llama-gqa-bf16");
  std::int64_t parameters = 0;
  for (const auto& [name, array] : files->stored.arrays)
    if (is_floating(array.dtype)) parameters += static_cast<std::int64_t>(*num_elements(array.shape));
  EXPECT_EQ(models[0].name, "org/halves");
  EXPECT_EQ(models[0].family, "llama");
  const auto checkpoint = read_checkpoint(kGolden / "llama-gqa-bf16");
  EXPECT_EQ(models[0].layers, checkpoint->model->config.num_layers);
  EXPECT_EQ(models[0].heads, checkpoint->model->config.num_heads);
  EXPECT_EQ(models[0].parameters, parameters);
  EXPECT_EQ(models[0].dtype, "bfloat16");
  EXPECT_EQ(models[0].bytes, static_cast<std::uint64_t>(2 * parameters));
  EXPECT_EQ(models[0].reason, "");
  EXPECT_EQ(models[1].family, "t5");
  EXPECT_TRUE(models[1].opens());
}

// The list refuses a model's tensors with the same line as opening it does.
TEST(KeptModels, TheListRefusesWhatOpeningRefuses) {
  for (const auto& entry : fs::directory_iterator(kGolden)) {
    if (!fs::exists(entry.path() / "config.json")) continue;
    const ListedModel listed = listed_model({.name = "m", .folder = entry.path()});
    const auto opened = read_checkpoint(entry.path());
    EXPECT_EQ(listed.opens(), static_cast<bool>(opened)) << entry.path() << ": " << listed.reason;
  }
  const TemporaryFolder copy;
  fs::copy(kGolden / "bert", copy.path(), fs::copy_options::recursive);
  auto config = *read_file(copy / "config.json");
  config.insert(config.rfind('}'), ", \"max_position_embeddings\": 3");
  const auto at = config.find("\"max_position_embeddings\"");
  config.erase(at, config.find(',', at) - at + 1);
  copy.with("config.json", config);
  const ListedModel listed = listed_model({.name = "m", .folder = copy.path()});
  const auto opened = read_checkpoint(copy.path());
  ASSERT_FALSE(opened);
  EXPECT_EQ(copy.path().string() + "/" + listed.reason, opened.error().message());
}

TEST(KeptModels, HalfADownloadIsToldFromABrokenFile) {
  const HubCache cache;
  const fs::path dangling = cache.put("org/dangling", "bert");
  fs::remove(fs::canonical(dangling / "model.safetensors"));
  EXPECT_EQ(cache.reason("org/dangling"), "half downloaded: without model.safetensors");
  EXPECT_TRUE(
      has(cache.refusal("org/dangling"), "without model.safetensors; `hf download org/dangling` fetches the rest"));

  const fs::path shards = cache.put("org/shards", "family-llama3-sharded");
  fs::remove(shards / "model-00002-of-00002.safetensors");
  EXPECT_EQ(cache.reason("org/shards"), "half downloaded: without model-00002-of-00002.safetensors");

  const fs::path interrupted = cache.put("org/interrupted", "bert");
  fs::remove(interrupted / "model.safetensors");
  EXPECT_TRUE(write_file(cache.repository("org/interrupted") / "blobs" / "abc.incomplete", "half"));
  EXPECT_EQ(cache.reason("org/interrupted"), "half downloaded: without its weights");

  fs::create_directories(cache.repository("org/begun") / "snapshots");
  cache.refer("org/begun", "main", "c0ffee");
  EXPECT_EQ(cache.reason("org/begun"), "half downloaded: none of its files is there");

  const fs::path broken = cache.put("org/broken", "bert");
  EXPECT_TRUE(write_file(fs::canonical(broken / "model.safetensors"), "not weights"));
  EXPECT_TRUE(has(cache.reason("org/broken"), "model.safetensors: expected weights, found a text, not the file"))
      << cache.reason("org/broken");

  const fs::path unknown = cache.put("org/unknown", "bert");
  EXPECT_TRUE(
      write_file(fs::canonical(unknown / "config.json"), R"({"model_type": "whisper", "num_hidden_layers": 4})"));
  EXPECT_TRUE(has(cache.reason("org/unknown"), "model_type")) << cache.reason("org/unknown");
  const auto models = listed_models(kept_models(cache.roots()), 1);
  const auto whisper =
      std::find_if(models.begin(), models.end(), [](const auto& one) { return one.name == "org/unknown"; });
  EXPECT_EQ(whisper->family, "whisper");
  EXPECT_EQ(whisper->layers, 4);

  const fs::path no_config = cache.put("org/other", "bert");
  fs::remove(no_config / "config.json");
  EXPECT_EQ(cache.reason("org/other"), "no config.json: not a model of transformers");
  std::ofstream(no_config / "vocab.txt") << "[UNK]";
  EXPECT_EQ(cache.reason("org/other"), "a tokenizer alone, no config.json: not a model of transformers");
}

TEST(KeptModels, NothingOutsideTheCacheIsRead) {
  const TemporaryFolder outside;
  fs::copy(kGolden / "bert", outside / "bert", fs::copy_options::recursive);
  const HubCache cache;
  const fs::path file = cache.put("evil/file", "bert");
  fs::remove(file / "config.json");
  fs::create_symlink(outside / "bert/config.json", file / "config.json");
  EXPECT_EQ(cache.reason("evil/file"), "config.json is a link out of the cache");
  EXPECT_TRUE(has(cache.refusal("evil/file"), "config.json is a link out of the cache"));

  const fs::path snapshot = cache.put("evil/snapshot", "bert");
  fs::remove_all(snapshot);
  fs::create_directory_symlink(outside / "bert", snapshot);
  EXPECT_EQ(cache.reason("evil/snapshot"), "its folder is a link out of the cache: name the folder itself");

  const fs::path circle = cache.put("evil/circle", "bert");
  fs::remove(circle / "config.json");
  fs::create_symlink("config.json", circle / "config.json");
  EXPECT_EQ(cache.reason("evil/circle"), "config.json is a link in a circle");

  const fs::path pipe = cache.put("evil/pipe", "bert");
  fs::remove(pipe / "config.json");
  ASSERT_EQ(::mkfifo((pipe / "config.json").c_str(), 0600), 0);
  EXPECT_TRUE(has(cache.reason("evil/pipe"), "config.json: open: expected a regular file"))
      << cache.reason("evil/pipe");

  cache.put("evil/ref", "bert");
  for (const char* commit : {"../../../etc", "/etc", "..", "c0ffee\n../x"}) {
    cache.refer("evil/ref", "main", commit);
    EXPECT_EQ(cache.reason("evil/ref"), "") << "the newest snapshot, not " << commit;
  }
  // The cache itself may be a link.
  const TemporaryFolder links;
  fs::create_directory_symlink(cache.path(), links / "hub");
  ModelRoots roots{.hugging_face = {links / "hub"}, .model_scope = {}, .folders = {}};
  EXPECT_TRUE(find_kept_model(roots, "evil/ref"));
}

TEST(KeptModels, ManyEntriesAreNoTrouble) {
  const HubCache cache;
  cache.put("org/one", "bert");
  for (int i = 0; i < 3000; ++i) {
    fs::create_directory(cache / ("datasets--a--" + std::to_string(i)));
    fs::create_directory(cache / ("models--a--" + std::to_string(i)));
  }
  EXPECT_EQ(kept_models(cache.roots()).size(), 3001u);
  EXPECT_TRUE(find_kept_model(cache.roots(), "org/one"));
  const fs::path full = cache.put("org/full", "bert");
  for (std::size_t i = 0; i < kMostModelFiles; ++i) std::ofstream(full / std::to_string(i));
  EXPECT_EQ(cache.reason("org/full"), "at least 4096 files in one model");
}

TEST(KeptModels, ModelScopeAndOwnFolders) {
  const TemporaryFolder cache, own;
  fs::create_directories(cache / "hub/models/Qwen");
  fs::copy(kGolden / "family-qwen3", cache / "hub/models/Qwen/Qwen3-0___6B", fs::copy_options::recursive);
  fs::create_directory_symlink("Qwen3-0___6B", cache / "hub/models/Qwen/Qwen3-0.6B");
  fs::create_directories(cache / "hub/old");
  fs::copy(kGolden / "bert", cache / "hub/old/bert", fs::copy_options::recursive);
  fs::create_directories(own / "runs");
  fs::copy(kGolden / "bert", own / "mine", fs::copy_options::recursive);
  fs::copy(kGolden / "gpt2", own / "runs/checkpoint-500", fs::copy_options::recursive);
  fs::create_directories(own / "runs/notes");
  const ModelRoots roots{
      .hugging_face = {}, .model_scope = {cache / "hub/models", cache / "hub"}, .folders = {own.path()}};
  std::vector<std::string> names;
  for (const KeptModel& model : kept_models(roots)) {
    names.push_back(model.name);
    EXPECT_FALSE(model.trouble) << model.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"Qwen/Qwen3-0.6B", "old/bert", "mine", "runs/checkpoint-500"}));
  EXPECT_EQ(find_kept_model(roots, "Qwen/Qwen3-0.6B")->folder, cache / "hub/models/Qwen/Qwen3-0___6B");
  EXPECT_FALSE(find_kept_model(roots, "mine@main"));
}

}  // namespace
}  // namespace headlight
