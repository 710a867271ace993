#include "write/export.h"

#include <array>
#include <cassert>

#include "base/file.h"
#include "base/formatted.h"
#include "base/names.h"
#include "write/json.h"
#include "write/npz.h"
#include "write/safetensors.h"

namespace headlight {
namespace {

std::vector<std::string> fields_of(const Tokens& tokens) {
  std::vector<std::string> fields;
  for (const Token& token : tokens.tokens) fields.push_back(csv_field(token.text));
  return fields;
}

/// `ending` closes every line.
Status write_lines(const Trace& trace, const StackNames& names, const ExportOptions& options, const std::string& ending,
                   Output& output, Work& work) {
  const SpecialTokens special = options.special;
  const ArrayStream attentions = attentions_of(trace, names, options);
  const auto query_tokens = fields_of(exported_tokens(trace.query_tokens(names.stack), special));
  const auto key_tokens = fields_of(exported_tokens(trace.key_tokens(names.stack), special));
  const auto queries = static_cast<Index>(query_tokens.size()), heads = trace.num_heads(names.stack);
  ArrayReader reader(attentions, work);
  std::string text;
  Index row = 0;
  while (!reader.at_end()) {
    const auto piece = TRY(reader.next());
    for (Index r = 0; r < piece.rows(); ++r, ++row) {
      const Index query = row % queries;
      const Index at = row / queries;
      const bool all = options.only.empty();
      const HeadRef head = all ? HeadRef{at / heads, at % heads} : options.only[static_cast<std::size_t>(at)];
      const std::string start = std::string(names.label) + "," + std::to_string(head.layer) + "," +
                                std::to_string(head.head) + "," + std::to_string(query) + ",";
      const std::string middle = "," + query_tokens[static_cast<std::size_t>(query)] + ",";
      text.clear();
      for (Index key = 0; key < piece.cols(); ++key) {
        text += start;
        text += std::to_string(key);
        text += middle;
        text += key_tokens[static_cast<std::size_t>(key)];
        text += ',';
        [[maybe_unused]] const bool finite = append_number(text, piece(r, key));
        assert(finite);
        text += ending;
      }
      output.write(text);
    }
    if (output.failed()) return output.commit();
  }
  return Done{};
}

/// `stack,layer,head,query,key,query_token,key_token,weight`, the stack being Self, or Encoder, Decoder, Cross; for
/// several traces a last column `sentence` counts them. Tokens that are left out are not counted either.
Status write_csv(const std::vector<std::shared_ptr<const Trace>>& traces, const ExportOptions& options, Output& output,
                 Progress& progress) {
  std::size_t total = 0;
  for (const auto& trace : traces) total += num_elements(attention_arrays(*trace, options));
  Work work(progress, total);
  const bool batch = traces.size() > 1;
  output.write("stack,layer,head,query,key,query_token,key_token,weight");
  output.write(batch ? ",sentence\n" : "\n");
  for (std::size_t i = 0; i < traces.size(); ++i) {
    for (const StackNames& names : stacks_of(*traces[i], options)) {
      const std::string ending = batch ? "," + std::to_string(i) + "\n" : "\n";
      const auto written = write_lines(*traces[i], names, options, ending, output, work);
      if (!written && batch && !output.failed() && !work.stopped())
        return inside("sentence " + std::to_string(i), written.error());
      if (!written) return written;
    }
  }
  return Done{};
}

constexpr std::array kFormats = {Format::json, Format::npz, Format::safetensors, Format::csv};

constexpr std::string_view kFormatNames[] = {"json", "npz", "safetensors", "csv"};

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + "\"";
}

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
  for (const auto& trace : traces) TRY(check_options(*trace, options));
  if (format == Format::csv && (options.queries_keys_values || options.scores || !options.matrices.empty()))
    return bad_input("export", "--with", "a format other than csv, which holds the attention alone", "csv");
  auto output = TRY(file ? Output::to_file(*file) : Result<Output>(Output::to_standard_output()));
  const auto write = [&]() -> Status {
    switch (format) {
      case Format::json: return write_json(traces, requests_json, options, output, progress);
      case Format::csv: return write_csv(traces, options, output, progress);
      case Format::safetensors: return write_safetensors(traces, options, output, progress);
      case Format::npz: return write_npz(traces, options, scratch_for(file), output, progress);
    }
    return Done{};
  };
  TRY(write());
  progress.done = 1;
  return output.commit();
}

}  // namespace headlight
