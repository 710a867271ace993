#include "models/model_sources.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "base/system.h"
#include "models/bundled_models.h"
#include "read/external/own_numbers.h"
#include "read/external/patterns.h"
#include "read/gguf/gguf_model.h"
#include "read/hub/adapter.h"
#include "read/hub/folder_kind.h"
#include "read/hub/gguf_stores.h"
#include "read/hub/weight_files.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

/// Beside the weights.
constexpr std::string_view kFilesOfModel[] = {"config.json",     "generation_config.json",
                                              "tokenizer.json",  "tokenizer_config.json",
                                              "tokenizer.model", "special_tokens_map.json",
                                              "vocab.json",      "added_tokens.json",
                                              "merges.txt",      "vocab.txt",
                                              "spiece.model",    "sentencepiece.bpe.model",
                                              "source.spm",      "target.spm"};

/// `~/…` as a shell would have it, since variables in files of settings reach us unexpanded; other texts unchanged.
fs::path with_home(const std::string& text, const fs::path& home) {
  return text.starts_with("~/") && !home.empty() ? home / text.substr(2) : fs::path(text);
}

/// An absolute path; empty where the variable holds none.
fs::path folder_in(const Variables& variables, const char* name) {
  const char* text = variables(name);
  return text != nullptr && fs::path(text).is_absolute() ? fs::path(text) : fs::path();
}

void add_root(std::vector<fs::path>& roots, const fs::path& root) {
  const fs::path plain = root.lexically_normal();
  if (std::find(roots.begin(), roots.end(), plain) == roots.end()) roots.push_back(plain);
}

/// The folders of the user's file: absolute paths, a line each. No file, no folders.
std::vector<fs::path> folders_of_user(const fs::path& home) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  std::vector<fs::path> folders;
  const auto text = read_file(config_folder() / kModelFolders, kMostBytes);
  std::istringstream lines(text ? *text : std::string());
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (fs::path folder = with_home(line, home); folder.is_absolute()) folders.push_back(std::move(folder));
  }
  return folders;
}

/// The folders that the name of a base stands for.
std::vector<fs::path> bases_named(const std::string& name, const fs::path& adapter, std::optional<Error>& why) {
  std::vector<fs::path> found;
  const auto add = [&](const fs::path& folder) {
    std::error_code unknown;
    const fs::path one = fs::canonical(folder, unknown);
    if (!unknown && path_exists(one / "config.json") && std::find(found.begin(), found.end(), one) == found.end())
      found.push_back(one);
  };
  const fs::path path = name;
  add(path);
  if (path.is_relative()) add(adapter / path);
  add(adapter.parent_path() / path.filename());
  if (!is_model_name(name)) return found;
  if (const auto kept = find_kept_model(model_roots(), name)) add(kept->folder);
  else why = kept.error();
  return found;
}

/// The base of an adapter that lies alone in its folder.
Result<fs::path> base_of(const fs::path& adapter) {
  const std::string where = (adapter / "adapter_config.json").string(), key = "base_model_name_or_path";
  const std::string name = TRY(base_of_adapter(adapter));
  if (name.empty()) return bad_input(where, key, "the model that the adapter changes", "none");
  std::optional<Error> why;
  const std::vector<fs::path> bases = bases_named(name, adapter, why);
  if (bases.empty() && why) return bad_input(where, key, "a model that is there", why->message(), why->code);
  if (bases.empty())
    return bad_input(where, key, "a folder with config.json, or the name of a model", quoted_word(name),
                     path_exists(name) ? ErrorCode::not_a_model : ErrorCode::file_absent);
  if (bases.size() > 1)
    return bad_input(where, key, "one model (BASE --adapter FOLDER names it)",
                     bases[0].string() + " and " + bases[1].string());
  return bases.front();
}

/// Whether a file of this name in a model's folder stands for the whole folder.
bool is_file_of_model(std::string_view name) {
  return is_weight_file(name) ||
         std::find(std::begin(kFilesOfModel), std::end(kFilesOfModel), name) != std::end(kFilesOfModel);
}

}  // namespace

ModelRoots model_roots(const Variables& variables, std::vector<fs::path> folders) {
  ModelRoots roots;
  const fs::path home = folder_in(variables, "HOME"), xdg = folder_in(variables, "XDG_CACHE_HOME");
  const fs::path cache = !xdg.empty() ? xdg : home.empty() ? fs::path() : home / ".cache";
  const auto add = [](std::vector<fs::path>& to, const fs::path& base, const char* below) {
    if (!base.empty()) add_root(to, *below == '\0' ? base : base / below);
  };
  // As huggingface_hub has it, ~ is the home and another relative path one of the working folder.
  const auto own = [&](const char* name) {
    const char* text = variables(name);
    if (text == nullptr || *text == '\0') return fs::path();
    std::error_code failure;
    return fs::absolute(with_home(text, home), failure);  // empty where it fails
  };
  add(roots.hugging_face, own("HF_HUB_CACHE"), "");
  add(roots.hugging_face, own("HUGGINGFACE_HUB_CACHE"), "");
  add(roots.hugging_face, own("HF_HOME"), "hub");
  add(roots.hugging_face, cache, "huggingface/hub");
  add(roots.hugging_face, own("TRANSFORMERS_CACHE"), "");
  const fs::path model_scope = own("MODELSCOPE_CACHE");
  for (const char* below : {"models", "hub/models", "hub", ""}) add(roots.model_scope, model_scope, below);
  for (const char* below : {"modelscope/hub/models", "modelscope/hub", "modelscope/models"})
    add(roots.model_scope, cache, below);
  const fs::path ollama = own("OLLAMA_MODELS"), llama = own("LLAMA_CACHE");
  add(roots.ollama, ollama.empty() ? home : ollama, ollama.empty() ? ".ollama/models" : "");
  add(roots.gguf, home, ".lmstudio/models");
  add(roots.gguf, cache, "lm-studio/models");
  add(roots.gguf, llama.empty() ? cache : llama, llama.empty() ? "llama.cpp" : "");
  for (const fs::path& folder : folders) add_root(roots.folders, folder);
  return roots;
}

std::string typed_path(const std::string& text) { return with_home(text, folder_in(environment, "HOME")).string(); }

ModelRoots model_roots() { return model_roots(environment, folders_of_user(folder_in(environment, "HOME"))); }

std::vector<ListedModel> models_on_disk(int threads) {
  return listed_models(kept_models(model_roots()), threads, listed_folder_or_file);
}

Result<ArrayChoice> array_choice(const fs::path& source) {
  ArrayChoice choice;
  std::string text = source.string().substr(parts_of_source(source).path.string().size());
  for (std::size_t at = text.rfind('#'); at != text.npos; text.resize(at), at = text.rfind('#')) {
    const std::string_view mark = array_mark(std::string_view(text).substr(at));
    if (mark.empty()) continue;
    const std::string word = text.substr(at + mark.size());
    const auto number = parse_number<Index>(word);
    if (mark == "#array=") choice.array = word;
    else if (mark == "#axes=") choice.axes = TRY(parse_axes(word));
    else if (mark == "#grid=") choice.grid = TRY(parse_grid(word));
    else if (!number || *number < 0)
      return bad_input("--" + std::string(mark.substr(1, mark.size() - 2)), "", "a whole number, from 0",
                       printable(word));
    else (mark == "#step=" ? choice.step : choice.sentence) = *number;
  }
  return choice;
}

bool names_kept_model(const fs::path& source) {
  const fs::path path = parts_of_source(source).path;
  const std::string name = path.string();  // which a colon may stand in
  return !name.starts_with(kShipped) && !name.starts_with(kNumbersSource) && is_model_name(name) &&
         !path_exists(path) && stand_in(path).empty();
}

Result<fs::path> path_of_source(const fs::path& asked, std::vector<Error>* warnings) {
  const fs::path source = parts_of_source(asked).path;
  if (source.string().starts_with(kShipped)) return resolved_source(source);
  if (path_exists(source / "modules.json"))
    if (const fs::path inside = kind_of_folder(source).inside; !inside.empty()) return inside;
  if (names_kept_model(source)) {
    const auto kept = TRY(find_kept_model(model_roots(), source.string()));
    if (warnings && kept.remark) warnings->push_back(*kept.remark);
    return kept.folder;
  }
  if (is_folder(source))
    if (fs::path file = only_gguf(source); !file.empty()) return file;
  const fs::path folder = source.has_parent_path() ? source.parent_path() : fs::path(".");
  const std::string name = source.filename().string();
  const bool stands_for_it = is_file_of_model(name) && is_regular(source) && path_exists(folder / "config.json");
  return stands_for_it || (name.starts_with("adapter_") && is_regular(source) && has_adapter(folder)) ? folder : source;
}

std::string base_of_source(const fs::path& source) {
  SourceParts parts = parts_of_source(source);
  const bool merged = parts.adapters.empty() ? has_adapter(parts.path) : parts.adapters.front() != "none";
  if (!merged) return {};
  parts.adapters = {"none"};
  return source_of_parts(parts);
}

std::string source_of_parts(const SourceParts& parts) {
  std::string source = parts.path.string();
  for (const std::string& adapter : parts.adapters) source.append(kAdapterMark).append(adapter);
  if (parts.part == ModelPart::text) source.append(kTextPart);
  return parts.rules == ClassRules::applied ? source : source.append(kIdsAsStored);
}

Result<CheckpointPlaces> checkpoint_places(const SourceParts& source, const fs::path& path) {
  CheckpointPlaces places{.weights = path, .tokenizer = is_folder(path) || is_gguf(path) ? path : path.parent_path()};
  places.choice.part = source.part;
  for (const std::string& one : source.adapters) {
    if (one == "none") {
      places.choice.none = true;
      continue;
    }
    const fs::path folder = TRY(path_of_source(one));
    if (!has_adapter(folder))
      return bad_input("--adapter", "", "a folder with adapter_config.json, or none",
                       path_exists(folder) ? folder.string() : "no such folder: " + folder.string());
    places.choice.folders.push_back(folder);
  }
  if (places.choice.none && source.adapters.size() > 1)
    return bad_input("--adapter", "", "none alone, or folders", "none and others");
  if (is_folder(path) && has_adapter(path) && !path_exists(path / "config.json")) {
    places.weights = TRY(base_of(path));
    if (!has_tokenizer(path)) places.tokenizer = places.weights;
    if (!places.choice.none) places.choice.folders.insert(places.choice.folders.begin(), path);
  } else if (!places.choice.folders.empty() && has_tokenizer(places.choice.folders.front())) {
    places.tokenizer = places.choice.folders.front();
  }
  return places;
}

}  // namespace headlight
