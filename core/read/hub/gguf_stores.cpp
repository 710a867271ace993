#include "read/hub/gguf_stores.h"

#include <algorithm>
#include <system_error>

#include "base/file.h"
#include "base/folders.h"
#include "read/hub/kept_models.h"
#include "read/hub/weight_files.h"
#include "read/json/json_document.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGguf = ".gguf", kFirstShard = "-00001-of-", kUsualHost = "registry.ollama.ai",
                           kUsualOwner = "library";
constexpr std::size_t kMostManifestBytes = std::size_t{1} << 20;

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::directory_iterator at(folder, options, error), end; !error && at != end && paths.size() < kMostModelFiles;
       at.increment(error))
    paths.push_back(at->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// The file of weights that a manifest names (https://github.com/ollama/ollama/blob/main/docs/modelfile.md: a store of
/// layers by their digests).
Result<fs::path> blob_of(const fs::path& root, const fs::path& manifest) {
  constexpr std::string_view kDigest = "sha256:";
  const auto text = TRY(read_file(manifest, kMostManifestBytes));
  const auto document = TRY(parse_json(manifest.string(), text));
  const nlohmann::json none;
  const auto at = [&](const nlohmann::json& object, const char* key) -> const nlohmann::json& {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && found != object.end() ? *found : none;
  };
  const nlohmann::json& layers = at(document, "layers");
  for (const nlohmann::json& layer : layers)
    if (at(layer, "mediaType") == "application/vnd.ollama.image.adapter")
      return bad_input(manifest.string(), "layers", "a model without an adapter, which is not merged with GGUF weights",
                       "one", ErrorCode::not_a_model);
  for (const nlohmann::json& layer : layers) {
    if (at(layer, "mediaType") != "application/vnd.ollama.image.model") continue;
    const auto& digest = at(layer, "digest");
    const std::string name = digest.is_string() ? digest.get<std::string>() : std::string();
    if (!name.starts_with(kDigest) || name.find_first_not_of("0123456789abcdef", kDigest.size()) != name.npos) continue;
    const fs::path blob = root / "blobs" / ("sha256-" + name.substr(kDigest.size()));
    if (path_exists(blob)) return blob;
    return bad_input(blob.string(), "", "the file of weights", "none", ErrorCode::half_downloaded);
  }
  return bad_input(manifest.string(), "layers", "a layer of weights", "none", ErrorCode::not_a_model);
}

void add_gguf_files(const fs::path& folder, int levels, std::vector<StoredModelFile>& found) {
  for (const fs::path& path : sorted_entries(folder)) {
    const std::string file = path.filename().string();
    if (file.starts_with('.') || found.size() >= kMostKeptModels) continue;
    if (is_folder(path)) {
      if (levels > 0) add_gguf_files(path, levels - 1, found);
      continue;
    }
    if (!file.ends_with(kGguf) || file.starts_with("mmproj")) continue;
    std::string name = file.substr(0, file.size() - kGguf.size());
    const std::size_t of = name.rfind("-of-");
    const bool in_several = of != name.npos && of >= 6 && name.size() == of + 9;
    if (in_several && name.find(kFirstShard) == name.npos) continue;
    if (in_several) name.resize(of - 6);
    if (is_model_name(name)) found.push_back({.name = std::move(name), .file = path});
  }
}

}  // namespace

std::vector<StoredModelFile> ollama_models(const fs::path& root) {
  std::vector<StoredModelFile> found;
  for (const fs::path& host : sorted_entries(root / "manifests"))
    for (const fs::path& owner : sorted_entries(host))
      for (const fs::path& model : sorted_entries(owner))
        for (const fs::path& tag : sorted_entries(model)) {
          std::string name = model.filename().string() + ":" + tag.filename().string();
          const bool usual = host.filename() == kUsualHost;
          if (!usual || owner.filename() != kUsualOwner) name = owner.filename().string() + "/" + name;
          if (!usual) name = host.filename().string() + "/" + name;
          if (!is_model_name(name) || found.size() >= kMostKeptModels) continue;
          const auto blob = blob_of(root, tag);
          if (blob) found.push_back({.name = name, .file = *blob});
          else found.push_back({.name = name, .file = tag, .trouble = blob.error()});
        }
  return found;
}

std::vector<StoredModelFile> gguf_files(const fs::path& root) {
  std::vector<StoredModelFile> found;
  add_gguf_files(root, 2, found);
  return found;
}

fs::path only_gguf(const fs::path& folder) {
  std::vector<StoredModelFile> found;
  if (!path_exists(folder / "config.json") || !has_weights(folder)) add_gguf_files(folder, 0, found);
  return found.size() == 1 ? found.front().file : fs::path();
}

}  // namespace headlight
