#include "write/export.h"

#include <array>
#include <cassert>
#include <system_error>

#include "base/file.h"
#include "base/names.h"
#include "write/csv.h"
#include "write/json.h"
#include "write/npz.h"
#include "write/safetensors.h"

namespace headlight {
namespace {

constexpr std::array kFormats = {Format::json, Format::npz, Format::safetensors, Format::csv};

constexpr std::string_view kFormatNames[] = {"json", "npz", "safetensors", "csv"};

}  // namespace

std::string_view name(Format format) { return name_in(kFormatNames, format); }

Result<Format> parse_format(std::string_view format_name) {
  if (const auto format = value_named<Format>(kFormatNames, format_name)) return *format;
  return bad_input("--format", "", "json, npz, safetensors or csv", "'" + std::string(format_name) + "'");
}

std::optional<Format> format_of(const std::filesystem::path& file) {
  for (const Format format : kFormats)
    if (file.extension() == "." + std::string(name(format))) return format;
  return std::nullopt;
}

Status write_export(const std::vector<std::shared_ptr<const Trace>>& traces,
                    const std::vector<std::string>& requests_json, Format format, const ExportOptions& options,
                    const std::optional<std::filesystem::path>& file, Progress& progress) {
  assert(!traces.empty() && traces.size() == requests_json.size());
  for (const auto& trace : traces)
    if (const Status valid = check_options(*trace, options); !valid) return valid.error();
  if (format == Format::csv && (options.queries_keys_values || options.scores || !options.matrices.empty()))
    return bad_input("export", "--with", "a format other than csv, which holds the attention alone", "csv");
  auto output = file ? Output::to_file(*file) : Result<Output>(Output::to_standard_output());
  if (!output) return output.error();
  const auto write = [&]() -> Status {
    switch (format) {
      case Format::json: return write_json(traces, requests_json, options, *output, progress);
      case Format::csv: return write_csv(traces, options, *output, progress);
      case Format::safetensors: return write_safetensors(traces, options, *output, progress);
      case Format::npz: return write_npz(traces, options, scratch_for(file), *output, progress);
    }
    return Done{};
  };
  if (const Status written = write(); !written) return written.error();
  progress.done = 1;
  return output->commit();
}

}  // namespace headlight
