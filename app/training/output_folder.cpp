#include "training/output_folder.h"

#include <cmath>

#include "base/folders.h"
#include "train/trained_checkpoint.h"
#include "training/training_files.h"

namespace headlight {
namespace {

/// The files that a training writes into its folder.
constexpr const char* kTrainedFiles[] = {"training.json", "model.safetensors", "config.json",
                                         "README.md",     "tokenizer.json",    "resume.safetensors"};

}  // namespace

Result<FileLock> take_output_folder(const std::filesystem::path& folder, const std::string& command, OutputFolder use) {
  std::error_code error;
  const bool is_new = !path_exists(folder);
  std::filesystem::create_directories(folder, error);
  if (error)
    return bad_input(folder.string(), "", "a folder that can be made", error.message(), write_fault(error.value()));
  const bool was_trained_in = path_exists(folder / kLockFile);  // by a program that was killed
  auto lock = lock_folder(folder);
  if (!lock || is_new || use != OutputFolder::fresh) return lock;
  const auto card = read_card(folder);
  if (card && *card && (*card)->command == command) return lock;
  if (card && !*card && was_trained_in) return lock;
  for (const char* name : kTrainedFiles) {
    if (!path_exists(folder / name)) continue;
    const bool of_a_training = card && *card;
    std::filesystem::remove(folder / kLockFile, error);
    return bad_input(folder.string(), "", "an empty folder, --resume or --overwrite",
                     std::string(name) + (of_a_training ? " of another training" : ""),
                     of_a_training ? ErrorCode::folder_in_use : ErrorCode::bad_value);
  }
  return lock;
}

std::vector<std::filesystem::path> files_to_come(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const char* name : kTrainedFiles)
    if (!path_exists(folder / name)) files.push_back(folder / name);
  return files;
}

bool LostSteps::add(const StepReport& report) {
  constexpr Index kMost = 20;
  in_a_row_ = std::isfinite(report.loss.mean) && std::isfinite(report.gradient_norm) ? 0 : in_a_row_ + 1;
  return in_a_row_ >= kMost;
}

Error LostSteps::error(Index step) const {
  return bad_input("training",
                   "loss of step " + std::to_string(step) + " and the " + std::to_string(in_a_row_ - 1) + " before",
                   "a finite number", "an overflow: try a smaller learning rate", ErrorCode::overflow);
}

}  // namespace headlight
