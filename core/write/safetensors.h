// The arrays of an export as a .safetensors file.
#pragma once

#include <memory>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "write/arrays.h"

namespace headlight {

/// Arrays as arrays.h names them, for several traces `0.attentions`, `1.attentions`, …; metadata: `format` and the
/// tokens under the names of named_tokens (JSON lists), numbered likewise.
Status write_safetensors(const std::vector<std::shared_ptr<const Trace>>& traces, const ExportOptions& options,
                         Output& output, Progress& progress);

}  // namespace headlight
