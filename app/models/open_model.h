// The files that a model comes from, as a Document.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/progress.h"
#include "base/result.h"
#include "question/document.h"
#include "read/array/array.h"

namespace headlight {

/// Whether `path` names something that open_model reads: a folder, a tensors file, a JSON of attention.
bool names_model(const std::filesystem::path& path);

/// A document whose model was read from files.
struct OpenedModel {
  Document document;
  std::vector<Error> model_warnings = {};  // of loading a checkpoint
  std::vector<Error> warnings = {};        // the same, and those of the files beside it
};

/// A page without the model that it was made of: its numbers as a model of weights alone, with those masks and edits.
/// `source` is the page. Behind the path of a page kComparedWith names A of its comparison.
inline constexpr std::string_view kComparedWith = "#A";
Result<OpenedModel> open_page_numbers(const std::string& source, const nlohmann::json& answer, Progress& progress);

/// A shipped model by its name (document/bundled_models.h), a checkpoint folder, a tensors file (.safetensors, .npz) or
/// attention that was computed before (.json), the numbers of a page (.html). `num_heads` is needed where a tensors
/// file lacks it, and refused elsewhere. `progress` follows the bytes of a checkpoint; stopped, it is an Error.
Result<OpenedModel> open_model(const std::filesystem::path& path, std::optional<Index> num_heads = std::nullopt,
                               Progress& progress = unwatched(), Reading reading = Reading::whole);

}  // namespace headlight
