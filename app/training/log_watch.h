// A training that goes on in another program and logs its attention: its steps are reported like those of a training
// here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "base/progress.h"
#include "training/training_news.h"

namespace headlight {

/// Reports what document/log_folder.h finds, the newest step first and then each that comes, until it is stopped. All
/// steps that are kept are about the same tokens: of another sentence, or of another shape, they are left out. At most
/// 64 are kept, rounded to half precision, and no more than 256 MiB. Gives TrainingFailed where the newest cannot be
/// read.
std::optional<TrainingReply> watch_log(std::uint64_t run, const std::filesystem::path& folder, const Progress& progress,
                                       const std::function<void(TrainingReply)>& post);

/// The attention of the model with other weights, those of a kept step; null where they are not as many.
std::shared_ptr<const Model> logged_model(const Model& newest, const Shot& shot, std::string name);

}  // namespace headlight
