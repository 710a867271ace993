// Exports of a document, for the window and the command line alike, so that both write the same bytes.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "question/document.h"
#include "write/export.h"

namespace headlight {

/// The format that a file's ending names; an Error that lists the endings for any other.
Result<Format> format_for(const std::filesystem::path& path);

/// Computes every request of the document (`known`, an earlier answer, is reused where it fits) and writes them to
/// `file`, or to standard output. Warnings of the answers are appended to `warnings`. `announce`
/// hears of how many bytes an npz or safetensors will be, before it is written.
Status export_document(const Document& document, const std::vector<Request>& requests, Format format,
                       const ExportOptions& options, const std::optional<std::filesystem::path>& file,
                       Progress& progress, const std::shared_ptr<const Trace>& known = nullptr,
                       std::vector<Error>* warnings = nullptr, int threads = 0,
                       const std::function<void(std::size_t)>& announce = {});

}  // namespace headlight
