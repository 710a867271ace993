#include "document/export.h"

#include <algorithm>

#include "base/parallel.h"
#include "document/document_json.h"
#include "document/model_choice.h"
#include "write/json.h"

namespace headlight {
namespace {

/// Answers held until they are written, where a text is answered line by line.
constexpr std::size_t kAnswersAtOnce = 16;

}  // namespace

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

Status export_lines(const Document& document, const Lexicon& lexicon, const ExportOptions& options,
                    const std::optional<std::filesystem::path>& file, int jobs, std::vector<std::string>* warnings,
                    bool by_sentence) {
  auto lines = documents_of_lines(document);
  if (!lines) return lines.error();
  if (by_sentence) {
    const Document *of_grammar = &document, *of_any = &document;  // each read once
    for (Document& line : *lines) {
      if (const Status chosen = choose_model(line, nullptr, {of_grammar, of_any}); !chosen) return chosen;
      (is_any_sentence(line) ? of_any : of_grammar) = &line;
    }
  }
  auto output = file ? Output::to_file(*file) : Result<Output>(Output::to_standard_output());
  if (!output) return output.error();
  const std::size_t batch = std::max<std::size_t>(kAnswersAtOnce, static_cast<std::size_t>(jobs));
  for (std::size_t first = 0; first < lines->size(); first += batch) {
    const std::size_t count = std::min(batch, lines->size() - first);
    std::vector<std::optional<Result<std::shared_ptr<const Trace>>>> answers(count);
    parallel_for(static_cast<Index>(count), jobs, [&](Index i) {
      const auto at = static_cast<std::size_t>(i);
      const auto requests = requests_of((*lines)[first + at], lexicon);
      Progress progress;
      if (requests) answers[at] = forward(requests->front(), progress, nullptr, 1);
      else answers[at] = requests.error();
    });
    for (std::size_t i = 0; i < count; ++i) {
      const std::string where = "sentence " + std::to_string(first + i) + ": ";
      const auto& answer = *answers[i];
      if (!answer) return Error{where + answer.error().message};
      if (const Status valid = check_options(**answer, options); !valid) return Error{where + valid.error().message};
      Progress progress;
      Work work(progress, 0);
      const auto written = write_json_object(**answer, request_json((*lines)[first + i]), options, *output, work);
      if (output->failed()) return output->commit();
      if (!written) return Error{where + written.error().message};
      output->write("\n");
      if (warnings)
        for (const auto& warning : (*answer)->warnings) warnings->push_back(where + warning);
    }
  }
  return output->commit();
}

}  // namespace headlight
