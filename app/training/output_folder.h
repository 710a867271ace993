// The folder that `headlight train` writes into, and when a training is given up.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/file_lock.h"
#include "train/network/training.h"

namespace headlight {

/// The way in which a training uses its folder.
enum class OutputFolder {
  fresh,        // new, empty, or of the very same training, which begins again
  resumed,      // of a training that is gone on with
  overwritten,  // any: files of the same names are replaced
};

/// Makes the folder where it is missing, holds it, and removes what a killed program had begun to write there.
/// `command` is TrainingCard::command of the training to come. Errors: another training holds it; for
/// OutputFolder::fresh, it holds a file that the training would replace and that is not its own.
Result<FileLock> take_output_folder(const std::filesystem::path& folder, const std::string& command, OutputFolder use);

/// The files of a training that are not in the folder yet.
std::vector<std::filesystem::path> files_to_come(const std::filesystem::path& folder);

/// Steps whose loss was no number: they leave the network as it was, so many in a row are the end of a training.
class LostSteps {
 public:
  /// Whether there have been too many in a row.
  bool add(const StepReport& report);
  Error error(Index step) const;

 private:
  Index in_a_row_ = 0;
};

}  // namespace headlight
