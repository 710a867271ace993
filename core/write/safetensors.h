// .safetensors files: the arrays of an export, and the weights of a model.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "write/arrays.h"

namespace headlight {

/// Arrays as arrays.h names them, for several traces `0.attentions`, `1.attentions`, …; metadata: `format` and the
/// tokens under the names of named_tokens (JSON lists), numbered likewise.
Status write_safetensors(const std::vector<std::shared_ptr<const Trace>>& traces, const ExportOptions& options,
                         Output& output, Progress& progress);

/// An array in memory; the caller keeps the numbers.
struct NamedTensor {
  std::string name;
  std::vector<Index> shape;
  const float* values = nullptr;

  std::size_t size() const {
    std::size_t count = 1;
    for (const Index axis : shape) count *= static_cast<std::size_t>(axis);
    return count;
  }
};

/// A file of tensors, whole or not at all. Errors name a tensor whose numbers are not finite.
Status write_tensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                     const std::map<std::string, std::string>& metadata, TensorType type = TensorType::float32);

}  // namespace headlight
