// The arrays of an export as NumPy's .npz: a zip archive of .npy files, stored, the same bytes every time.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "write/arrays.h"

namespace headlight {

/// The header of a .npy file of this shape in C order, magic string and padding included.
std::string npy_header(std::vector<Index> shape, TensorType type = TensorType::float32, bool is_text = false);

/// Where an archive of this file, or of standard output, may grow: beside the file, where it has the room that it
/// needs.
std::filesystem::path scratch_for(const std::optional<std::filesystem::path>& file);

/// Arrays as arrays.h names them, for several traces `0.attentions`, `1.attentions`, … A zip archive cannot be written
/// front to back (checksums stand before the data), so it grows in a file without a name in the folder `scratch` and is
/// then copied to `output`; that file never remains.
Status write_npz(const std::vector<std::shared_ptr<const Trace>>& traces, const ExportOptions& options,
                 const std::filesystem::path& scratch, Output& output, Progress& progress);

/// The same of these arrays.
Status write_npz(const std::vector<ArrayStream>& arrays, const std::filesystem::path& scratch, Output& output,
                 Progress& progress, TensorType type = TensorType::float32);

}  // namespace headlight
