#include "read/hub/weight_files.h"

#include <algorithm>
#include <iterator>

#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "read/array/quantized.h"
#include "read/array/safetensors.h"
#include "read/array/torch_file.h"
#include "read/hub/adapter.h"
#include "read/hub/checkpoint.h"
#include "read/hub/folder_kind.h"
#include "read/hub/picture_layout.h"
#include "read/json/json_document.h"
#include "text/nearest.h"

namespace headlight {
namespace {

using nlohmann::json;

/// The files that hold the weights, whole or as the index of their shards; what stands first is taken.
struct Naming {
  const char* whole;
  const char* index;
};
constexpr Naming kNamings[] = {{"model.safetensors", "model.safetensors.index.json"},
                               {"pytorch_model.bin", "pytorch_model.bin.index.json"}};
constexpr std::size_t kMostIndexBytes = std::size_t{64} << 20;
constexpr std::size_t kMostShards = 1024;

/// A name in the same folder and nowhere else.
bool is_plain(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string("/\\\0", 3)) == std::string::npos;
}

/// One file of weights, by its ending in safetensors' format or in PyTorch's.
Result<StoredArrays> map_weights(const std::filesystem::path& path) {
  if (const std::string foreign = foreign_format(path); !foreign.empty())
    return bad_input(path.string(), "", "weights", foreign, ErrorCode::not_a_model);
  return path.extension() == ".safetensors" ? map_safetensors(path) : map_torch(path);
}

/// Each shard once, in order.
std::vector<std::string> shards_of(const std::map<std::string, std::string>& shard_of) {
  std::vector<std::string> names;
  for (const auto& [tensor, shard] : shard_of) names.push_back(shard);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<WeightFiles> open_shards(const std::filesystem::path& index) {
  const auto folder = index.parent_path();
  const auto text = TRY(read_file(index, kMostIndexBytes));
  const auto shard_of = TRY(parse_shard_index(index.string(), text));
  const std::vector<std::string> names = shards_of(shard_of);
  if (names.size() > kMostShards)
    return bad_input(index.string(), "weight_map", "at most " + std::to_string(kMostShards) + " shards",
                     std::to_string(names.size()), ErrorCode::file_damaged);

  WeightFiles files{.where = index.string(), .stored = {}};
  for (const std::string& name : names) {
    auto shard = TRY(map_weights(folder / name));
    for (auto& [tensor, array] : shard.arrays) {
      const auto twice = files.stored.arrays.find(tensor);
      if (twice != files.stored.arrays.end())
        return bad_input(array.where, printable(tensor), "each tensor in one shard",
                         "it in " + std::filesystem::path(twice->second.where).filename().string() + " too",
                         ErrorCode::file_damaged);
      files.stored.arrays.emplace(tensor, std::move(array));
    }
    files.stored.metadata.merge(shard.metadata);
  }
  for (const auto& [tensor, shard] : shard_of) {
    const auto at = files.stored.arrays.find(tensor);
    const std::string where = (folder / shard).string();
    if (at == files.stored.arrays.end() || at->second.where != where)
      return bad_input(where, printable(tensor), "the tensor that " + index.filename().string() + " says is here",
                       at == files.stored.arrays.end()
                           ? "none"
                           : "it in " + std::filesystem::path(at->second.where).filename().string(),
                       ErrorCode::missing_tensor);
  }
  return files;
}

std::string found_instead(const std::filesystem::path& folder) {
  const FolderKind kind = kind_of_folder(folder);
  return kind.what.empty() ? std::string("no ") + kNamings[0].whole : kind.line();
}

/// Shards whose index is not there: their names say how many there are.
Result<WeightFiles> open_unlisted(const std::filesystem::path& folder,
                                  const std::vector<std::filesystem::path>& shards) {
  const std::string last = shards.back().filename().string();
  const auto of = last.rfind("-of-");
  const auto count = parse_number<std::size_t>(last.substr(of + 4, last.find('.', of) - of - 4));
  if (count != shards.size() || shards.size() > kMostShards)
    return bad_input(folder.string(), "shards", "all that " + last + " counts, or model.safetensors.index.json",
                     std::to_string(shards.size()), ErrorCode::file_damaged);
  WeightFiles files{.where = folder.string(), .stored = {}};
  for (const auto& path : shards) {
    auto shard = TRY(map_weights(path));
    for (auto& [tensor, array] : shard.arrays)
      if (!files.stored.arrays.emplace(tensor, array).second)
        return bad_input(array.where, printable(tensor), "each tensor in one shard", "it in another one too",
                         ErrorCode::file_damaged);
  }
  return files;
}

}  // namespace

Result<std::map<std::string, std::string>> parse_shard_index(std::string_view where, std::string_view text) {
  const auto document = parse_json(where, text);
  if (!document) return document.error();
  const bool is_object = document->is_object();
  const auto map = is_object ? document->find("weight_map") : document->end();
  if (!is_object || map == document->end() || !map->is_object() || map->empty())
    return bad_input(where, "weight_map", "an object from tensors to shards", "none", ErrorCode::file_damaged);
  std::map<std::string, std::string> shard_of;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string() || !is_plain(shard.get_ref<const std::string&>()))
      return bad_input(
          where, printable(tensor), "the name of a shard in this folder",
          shard.is_string() ? "'" + printable(shard.get_ref<const std::string&>()) + "'" : shard.type_name(),
          ErrorCode::file_damaged);
    shard_of.emplace(tensor, shard.get_ref<const std::string&>());
  }
  return shard_of;
}

Result<WeightFiles> open_weights(const std::filesystem::path& folder) {
  if (!is_folder(folder)) {
    auto stored = TRY(map_weights(folder));
    return WeightFiles{.where = folder.string(), .stored = std::move(stored)};
  }
  for (const Naming& naming : kNamings) {
    if (path_exists(folder / naming.whole) || !stand_in(folder / naming.whole).empty()) {
      auto stored = TRY(map_weights(folder / naming.whole));
      return WeightFiles{.where = (folder / naming.whole).string(), .stored = std::move(stored)};
    }
    if (path_exists(folder / naming.index)) return open_shards(folder / naming.index);
  }
  if (const auto shards = shards_without_index(folder); !shards.empty()) return open_unlisted(folder, shards);
  const auto others = weights_of_other_names(folder);
  if (others.size() == 1) return open_weights(others[0]);
  const auto name_of = [](const std::filesystem::path& file) { return printable(file.filename().string()); };
  if (!others.empty())
    return bad_input(
        folder.string(), "", "model.safetensors, or one file of weights",
        std::to_string(others.size()) + " (" + first_texts(others, 2, name_of) + "): each is opened by its own path",
        ErrorCode::not_a_model);
  return bad_input(folder.string(), "", "a folder with config.json and model.safetensors", found_instead(folder),
                   ErrorCode::not_a_model);
}

bool has_weights(const std::filesystem::path& folder) {
  return std::any_of(std::begin(kNamings), std::end(kNamings),
                     [&](const Naming& naming) {
                       return path_exists(folder / naming.whole) || path_exists(folder / naming.index);
                     }) ||
         !shards_without_index(folder).empty();
}

std::vector<std::string> missing_weights(const std::filesystem::path& folder) {
  for (const Naming& naming : kNamings) {
    if (path_exists(folder / naming.whole)) return {};
    if (!path_exists(folder / naming.index)) continue;
    const auto text = read_file(folder / naming.index, kMostIndexBytes);
    const auto shard_of = text ? parse_shard_index("", *text) : text.error();
    if (!shard_of) return {};
    std::vector<std::string> names = shards_of(*shard_of);
    std::erase_if(names, [&](const std::string& name) { return path_exists(folder / name); });
    return names;
  }
  return {};
}

bool is_weight_file(std::string_view name) {
  for (const Naming& naming : kNamings) {
    const std::string_view whole = naming.whole;
    if (name == whole || name == naming.index) return true;
    // model-00001-of-00002.safetensors
    const std::size_t dot = whole.rfind('.');
    if (name.starts_with(whole.substr(0, dot)) && name.ends_with(whole.substr(dot)) && name.size() > whole.size() &&
        name[dot] == '-' && name.find("-of-", dot) != name.npos)
      return true;
  }
  return false;
}

std::string found_without_config(const std::filesystem::path& folder) {
  const FolderKind kind = kind_of_folder(folder);
  return kind.what.empty() ? "no config.json" : kind.line();
}

Error error_of_config(const Error& error, const std::filesystem::path& folder) {
  const FolderKind kind = error.code == ErrorCode::unknown_model_type ? kind_of_folder(folder) : FolderKind();
  return kind.what.empty() ? error
                           : bad_input(folder.string(), "", "a folder with config.json and model.safetensors",
                                       kind.line(), ErrorCode::not_a_model);
}

Result<Checkpoint> read_checkpoint(const std::filesystem::path& path, Progress& progress, std::size_t most_widened,
                                   Reading reading, const AdapterChoice& choice) {
  const auto folder = is_regular(path) ? path.parent_path() : path;
  if (const std::string foreign = foreign_format(path); !foreign.empty())
    return bad_input(path.string(), "", "a folder with config.json and model.safetensors", foreign,
                     ErrorCode::not_a_model);
  const auto config = folder / "config.json";
  const bool has_folder = folder.empty() || is_folder(folder);
  if (!has_folder || !path_exists(config))
    return bad_input((folder.empty() ? path : folder).string(), "", "a folder with config.json and model.safetensors",
                     has_folder ? found_without_config(folder) : "no folder",
                     has_folder ? ErrorCode::not_a_model : ErrorCode::file_absent);
  auto read = read_hub_config(config, choice.part);
  if (!read) return error_of_config(read.error(), folder);
  auto hub = *std::move(read);
  std::shared_ptr<const Preprocessing> preprocessing;
  if (hub.picture) preprocessing = TRY(take_preprocessing(folder, hub));
  auto files = TRY(open_weights(path));
  std::vector<Error> warnings;
  auto weights = TRY(put_together(std::move(files.stored), hub.quantization));
  auto stored = TRY(with_adapters(std::move(weights), folder, hub, choice, warnings));
  auto checkpoint = TRY(checkpoint_from(files.where, hub, std::move(stored), progress, most_widened, reading));
  if (checkpoint.model) checkpoint.model->preprocessing = std::move(preprocessing);
  checkpoint.warnings.insert(checkpoint.warnings.begin(), warnings.begin(), warnings.end());
  return checkpoint;
}

Result<Checkpoint> read_checkpoint(const std::filesystem::path& folder) {
  Progress progress;
  return read_checkpoint(folder, progress);
}

}  // namespace headlight
