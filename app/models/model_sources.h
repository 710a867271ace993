// The models that a SOURCE can name: shipped ones, those of the caches of this machine and of the user's folders.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "read/external/held_arrays.h"
#include "read/hub/adapter_choice.h"
#include "read/hub/kept_models.h"
#include "read/hub/model_list.h"
#include "read/tokenizer/tokenizer_file.h"

namespace headlight {

/// The file in config_folder() that lists folders of models, one a line; written by the user alone.
inline constexpr const char* kModelFolders = "model-folders.txt";

/// The value of an environment variable; null: it is not set.
using Variables = std::function<const char*(const char* name)>;

/// HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME/hub, the cache under $XDG_CACHE_HOME or ~/.cache, TRANSFORMERS_CACHE;
/// MODELSCOPE_CACHE and ~/.cache/modelscope, each as the tool's versions lay it out; then `folders`. Each folder once.
/// OLLAMA_MODELS or ~/.ollama/models; ~/.lmstudio/models, ~/.cache/lm-studio/models, LLAMA_CACHE or ~/.cache/llama.cpp.
/// A value may begin with ~/ or be relative to the working folder, but for HOME and XDG_CACHE_HOME.
ModelRoots model_roots(const Variables& variables, std::vector<std::filesystem::path> folders);

/// The same of this process, and of the folders in config_folder()/kModelFolders.
ModelRoots model_roots();

/// A path as a person types it: `~/…` lies in the home folder; others unchanged.
std::string typed_path(const std::string& text);

/// Models that can be opened by name on this disk, and why others cannot. A thousand models take less than a second.
std::vector<ListedModel> models_on_disk(int threads = 0);

/// What a SOURCE says behind its path of how the model is read: MODEL#ids=stored has the ids of tokenizer.json alone,
/// MODEL#adapter=FOLDER (perhaps several) is merged with an adapter, MODEL#adapter=none without the one in its folder;
/// MODEL#part=text is the part of CLIP or SigLIP that reads texts;
/// ARRAYS#sentence=1, #step=, #array=, #axes=, #grid= are which part of arrays is meant, and as what (array_choice).
inline constexpr std::string_view kIdsAsStored = "#ids=stored", kAdapterMark = "#adapter=", kTextPart = "#part=text";
inline constexpr std::string_view kArrayMarks[] = {"#sentence=", "#step=", "#array=", "#axes=", "#grid="};
inline constexpr const char* kArrayOptions[] = {"--sentence", "--step", "--array", "--axes",
                                                "--grid"};  // that write them
/// The mark that `text` begins with; empty: none.
inline std::string_view array_mark(std::string_view text) {
  for (const std::string_view mark : kArrayMarks)
    if (text.starts_with(mark)) return mark;
  return {};
}
struct SourceParts {
  std::filesystem::path path;
  ClassRules rules = ClassRules::applied;
  std::vector<std::string> adapters = {};
  ModelPart part = ModelPart::picture;
};
inline SourceParts parts_of_source(const std::filesystem::path& source) {
  SourceParts parts{source};
  std::string text = source.string();
  for (std::size_t at = text.rfind('#'); at != text.npos; at = text.rfind('#')) {
    const std::string mark = text.substr(at);
    if (mark == kIdsAsStored) parts.rules = ClassRules::left_out;
    else if (mark.starts_with(kAdapterMark))
      parts.adapters.insert(parts.adapters.begin(), mark.substr(kAdapterMark.size()));
    else if (mark == kTextPart) parts.part = ModelPart::text;
    else if (array_mark(mark).empty()) break;
    text.resize(at);
    parts.path = text;
  }
  return parts;
}

/// The SOURCE that has these parts, without what is said of arrays.
std::string source_of_parts(const SourceParts& parts);

/// The SOURCE without the adapters that are merged into it; empty where none is.
std::string base_of_source(const std::filesystem::path& source);

/// What the marks of a SOURCE choose. Errors name the option.
Result<ArrayChoice> array_choice(const std::filesystem::path& source);

/// Whether this can only be the name of a model in one of those folders: it is no path.
bool names_kept_model(const std::filesystem::path& source);

/// The path of a SOURCE: the folder of a shipped model or one in a cache by its name, the folder of a file in it (its
/// configuration, weights, tokenizer); any other path unchanged. `warnings`: which snapshot was taken, where no
/// revision states it. Error: a name that is not there.
Result<std::filesystem::path> path_of_source(const std::filesystem::path& source,
                                             std::vector<Error>* warnings = nullptr);

/// Where the parts of a checkpoint lie: `path` is path_of_source's, of a folder with an adapter alone its base, which
/// is a path (relative to the working folder or beside the adapter) or a name. The tokenizer is the adapter's own where
/// it has one. Errors: no base, several, one that is an adapter itself, a FOLDER without an adapter.
struct CheckpointPlaces {
  std::filesystem::path weights, tokenizer;
  AdapterChoice choice = {};
};
Result<CheckpointPlaces> checkpoint_places(const SourceParts& source, const std::filesystem::path& path);

}  // namespace headlight
