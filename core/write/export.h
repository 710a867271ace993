// Export of the numbers: one entry point for the window and the command line, so that both write the same bytes.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "write/arrays.h"

namespace headlight {

enum class Format { json, npz, safetensors, csv };

std::string_view name(Format format);
/// json | npz | safetensors | csv; an Error about `--format` for anything else.
Result<Format> parse_format(std::string_view format_name);
/// The format of a file name's ending, if it is one of them.
std::optional<Format> format_of(const std::filesystem::path& file);

/// Writes the answers, several as a batch, to `file`, or to standard output where there is none. `requests_json` holds
/// one JSON value for each trace (or an empty string), all that is needed to compute it again. The same traces give
/// the same bytes. A file appears whole or not at all; stopped by `progress.stop`, an export is an Error as well.
/// Errors: a number that is not finite, with its index; no room to write.
Status write_export(const std::vector<std::shared_ptr<const Trace>>& traces,
                    const std::vector<std::string>& requests_json, Format format, const ExportOptions& options,
                    const std::optional<std::filesystem::path>& file, Progress& progress);

/// A field as RFC 4180 quotes it: in quotes where it holds a comma, a quote or a line break, quotes doubled.
std::string csv_field(std::string_view text);

}  // namespace headlight
