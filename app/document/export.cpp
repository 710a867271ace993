#include "document/export.h"

#include "document/document_json.h"

namespace headlight {
Result<Format> format_for(const std::filesystem::path& path) {
  if (const auto format = format_of(path)) return *format;
  return bad_input(path.string(), "ending", ".json, .npz, .safetensors or .csv",
                   path.has_extension() ? path.extension().string() : "none");
}

Status export_document(const Document& document, const std::vector<Request>& requests, Format format,
                       const ExportOptions& options, const std::optional<std::filesystem::path>& file,
                       Progress& progress, const std::shared_ptr<const Trace>& known,
                       std::vector<std::string>* warnings, int threads) {
  if (requests.empty()) return bad_input("export", "tokens", "at least one", "none");
  std::vector<std::shared_ptr<const Trace>> traces;
  std::vector<std::string> descriptions;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    descriptions.push_back(request_json(document, requests.size() > 1 ? std::optional(i) : std::nullopt));
    if (known && known->request == requests[i]) {
      traces.push_back(known);
      continue;
    }
    auto trace = forward(requests[i], progress, traces.empty() ? known.get() : traces.back().get(), threads);
    if (!trace) return trace.error();
    if (!*trace) return Error{"export: cancelled"};
    traces.push_back(std::move(*trace));
  }
  if (warnings)
    for (const auto& trace : traces) warnings->insert(warnings->end(), trace->warnings.begin(), trace->warnings.end());
  return write_export(traces, descriptions, format, options, file, progress);
}

}  // namespace headlight
