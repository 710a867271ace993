#include "question/json/export.h"

#include <algorithm>

#include "math/attention.h"
#include "question/json/document_json.h"
#include "write/arrays.h"

namespace headlight {
namespace {

/// A warning where renormalizing leaves rows with nothing: all of their weight is on special tokens. Empty: none are.
std::string rows_left_with_nothing(const Trace& trace, const ExportOptions& options) {
  constexpr Index kRowsAtATime = 256;
  Index empty = 0, rows = 0;
  for (const StackNames& names : stacks_of(trace, options)) {
    const auto queries = exported_indices(trace.query_tokens(names.stack), options.special);
    const auto keys = exported_indices(trace.key_tokens(names.stack), options.special);
    if (keys.size() == trace.key_tokens(names.stack).size()) continue;
    for (HeadRef head{.layer = 0, .head = 0, .stack = names.stack}; head.layer < trace.num_layers(names.stack);
         ++head.layer)
      for (head.head = 0; head.head < trace.num_heads(names.stack); ++head.head) {
        if (!options.only.empty() && std::find(options.only.begin(), options.only.end(), head) == options.only.end())
          continue;
        Matrix weights;
        Index first = 0;
        for (const Index query : queries) {
          if (weights.rows() == 0 || query >= first + weights.rows()) {
            first = query;
            weights = attention_rows(trace, head, first, std::min(kRowsAtATime, trace.queries(names.stack) - first));
          }
          const auto has_weight = [&](Index key) { return weights(query - first, key) > 0; };
          const bool masked = !(weights.row(query - first).maxCoeff() > 0);  // empty as it is
          ++rows;
          if (!masked && std::none_of(keys.begin(), keys.end(), has_weight)) ++empty;
        }
      }
  }
  if (empty == 0) return {};
  return "--special renormalize: " + std::to_string(empty) + " of " + std::to_string(rows) +
         " rows look at special tokens alone and are written as zeros";
}

}  // namespace

Result<Format> format_for(const std::filesystem::path& path) {
  if (const auto format = format_of(path)) return *format;
  return bad_input(path.string(), "ending", ".json, .npz, .safetensors or .csv",
                   path.has_extension() ? path.extension().string() : "none");
}

Status export_document(const Document& document, const std::vector<Request>& requests, Format format,
                       const ExportOptions& options, const std::optional<std::filesystem::path>& file,
                       Progress& progress, const std::shared_ptr<const Trace>& known, std::vector<Error>* warnings,
                       int threads, const std::function<void(std::size_t)>& announce) {
  if (requests.empty()) return bad_input("export", "tokens", "at least one", "none", ErrorCode::no_tokens);
  std::vector<std::shared_ptr<const Trace>> traces;
  std::vector<std::string> descriptions;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    descriptions.push_back(request_json(document, requests.size() > 1 ? std::optional(i) : std::nullopt));
    if (known && known->request == requests[i]) {
      traces.push_back(known);
      continue;
    }
    auto trace = TRY(forward(requests[i], progress, traces.empty() ? known.get() : traces.back().get(), threads));
    if (!trace) return cancelled("export");
    traces.push_back(std::move(trace));
  }
  if (warnings) {
    for (const auto& trace : traces) {
      warnings->insert(warnings->end(), trace->warnings.begin(), trace->warnings.end());
      if (options.special != SpecialTokens::renormalize) continue;
      if (std::string warning = rows_left_with_nothing(*trace, options); !warning.empty())
        warnings->emplace_back(ErrorCode::bad_value, warning);
    }
  }
  if (announce && (format == Format::npz || format == Format::safetensors)) {
    for (const auto& trace : traces) TRY(check_options(*trace, options));
    announce(bytes_of_export(traces, options));
  }
  return write_export(traces, descriptions, format, options, file, progress);
}

}  // namespace headlight
