// A checkpoint of a folder: its configuration, its files of weights, the adapters that lie beside them.
#include "base/folders.h"
#include "read/hub/adapter.h"
#include "read/hub/checkpoint.h"
#include "read/hub/weight_files.h"
#include "text/nearest.h"

namespace headlight {

Result<Checkpoint> read_checkpoint(const std::filesystem::path& path, Progress& progress, std::size_t most_widened,
                                   Reading reading, const AdapterChoice& adapters) {
  const auto folder = is_regular(path) ? path.parent_path() : path;
  if (const std::string foreign = foreign_format(path); !foreign.empty())
    return bad_input(path.string(), "", "a folder with config.json and model.safetensors", foreign,
                     ErrorCode::not_a_model);
  const auto config = folder / "config.json";
  const bool has_folder = folder.empty() || is_folder(folder);
  if (!has_folder || !path_exists(config))
    return bad_input(folder.string(), "", "a folder with config.json and model.safetensors",
                     has_folder ? found_without_config(folder) : "no folder",
                     has_folder ? ErrorCode::not_a_model : ErrorCode::file_absent);
  const auto hub = TRY(read_hub_config(config));
  auto files = TRY(open_weights(path));
  std::vector<Error> warnings;
  auto stored = TRY(with_adapters(std::move(files.stored), folder, hub, adapters, warnings));
  auto checkpoint = TRY(checkpoint_from(files.where, hub, std::move(stored), progress, most_widened, reading));
  checkpoint.warnings.insert(checkpoint.warnings.begin(), warnings.begin(), warnings.end());
  return checkpoint;
}

Result<Checkpoint> read_checkpoint(const std::filesystem::path& folder) {
  Progress progress;
  return read_checkpoint(folder, progress);
}

}  // namespace headlight
