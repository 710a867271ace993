// Models that are on this disk already, found by the names under which they were downloaded: in the caches of Hugging
// Face's and ModelScope's tools, and in folders of the user. Nothing is downloaded.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headlight {

/// Folders that hold models, by the tool that keeps them. Those that do not exist hold none.
struct ModelRoots {
  std::vector<std::filesystem::path> hugging_face;  // models--ORG--NAME/{refs, snapshots, blobs} (huggingface_hub)
  std::vector<std::filesystem::path> model_scope;   // ORG/NAME, a dot in a name written ___ (modelscope)
  std::vector<std::filesystem::path> folders;       // NAME or GROUP/NAME, each with config.json; GGUF files
  std::vector<std::filesystem::path> ollama = {};   // manifests/ and blobs/
  std::vector<std::filesystem::path> gguf = {};     // GGUF files, perhaps in folders

  friend bool operator==(const ModelRoots&, const ModelRoots&) = default;
};

/// A model in one of these folders.
struct KeptModel {
  std::string name;                   // as the command line takes it: bert-base-chinese, Qwen/Qwen3-0.6B
  std::filesystem::path folder;       // that holds its config.json; of Hugging Face's cache a snapshot; a GGUF file
  std::optional<Error> trouble = {};  // why its files cannot be read: half downloaded, links out of the cache
  std::optional<Error> remark = {};   // which snapshot was taken, where no revision says it
};

/// At most so many models of one folder are looked at, and so many entries of a model's folder.
inline constexpr std::size_t kMostKeptModels = 20000, kMostModelFiles = 4096;

/// Whether the text can be the name of a model, perhaps with @REVISION behind it: one or two parts of letters, digits,
/// `-`, `_` and `.` that begin with none of the signs, not the name of a file of Headlight's or PyTorch's formats; or
/// one of Ollama's, of up to three parts with :TAG behind them.
bool is_model_name(std::string_view text);

/// All models, folder by folder, those of a folder by name; a name that an earlier folder has is not repeated.
std::vector<KeptModel> kept_models(const ModelRoots& roots);

/// The model of this name. In Hugging Face's cache a revision is a branch or tag (refs/), or a commit or its beginning;
/// without one it is the branch main, else the newest snapshot, with a remark. Errors: no such model, with the nearest
/// names that are there and the command that downloads it; no such revision; `trouble`. Of Ollama's models the tag
/// `latest` may be left out.
Result<KeptModel> find_kept_model(const ModelRoots& roots, std::string_view name);

}  // namespace headlight
