// The files that a model comes from, as a Document.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "document/document.h"
#include "math/forward.h"

namespace headlight {

/// Whether `path` names something that open_model reads: a folder, a tensors file, a JSON of attention.
bool names_model(const std::filesystem::path& path);

/// A document whose model was read from files.
struct OpenedModel {
  Document document;
  std::vector<std::string> model_warnings = {};  // of loading a checkpoint
  std::vector<std::string> warnings = {};        // the same, and those of the files beside it
};

/// A shipped model by its name (document/bundled_models.h), a checkpoint folder, a tensors file (.safetensors, .npz) or
/// attention that was computed before (.json). `num_heads` is needed where a tensors file does not say it, and refused
/// elsewhere. `progress` follows the bytes of a checkpoint; stopped, it is an Error that says so.
Result<OpenedModel> open_model(const std::filesystem::path& path, std::optional<Index> num_heads, Progress& progress);
Result<OpenedModel> open_model(const std::filesystem::path& path, std::optional<Index> num_heads = std::nullopt);

}  // namespace headlight
