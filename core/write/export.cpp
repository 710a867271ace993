#include "write/export.h"

#include <array>
#include <cassert>

#include "base/file.h"
#include "base/formatted.h"
#include "base/names.h"
#include "write/json.h"
#include "write/npz.h"
#include "write/reduced.h"
#include "write/safetensors.h"

namespace headlight {
namespace {

std::vector<std::string> fields_of(const Tokens& tokens) {
  std::vector<std::string> fields;
  for (const Token& token : tokens.tokens) fields.push_back(csv_field(token.text));
  return fields;
}

/// An attention as lines: its maps one after another, `places` their layers and heads.
struct Lines {
  std::string_view label;
  ArrayStream maps;
  std::vector<std::string> places;
  Tokens queries, keys;
  std::optional<ArrayStream> strongest = {};  // a last column
};

/// `ending` closes every line.
Status write_lines(const Lines& lines, const std::string& ending, Output& output, Work& work) {
  const auto query_tokens = fields_of(lines.queries), key_tokens = fields_of(lines.keys);
  const auto queries = static_cast<Index>(query_tokens.size());
  ArrayReader reader(lines.maps, work);
  std::string text;
  for (Index row = 0, at = 0; !reader.at_end(); ++at) {
    const auto piece = TRY(reader.next());
    const Matrix heads = lines.strongest ? lines.strongest->piece(at) : Matrix();
    for (Index r = 0; r < piece.rows(); ++r, ++row) {
      const Index query = row % queries;
      const std::string start = std::string(lines.label) + "," + lines.places[static_cast<std::size_t>(row / queries)] +
                                "," + std::to_string(query) + ",";
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
        if (lines.strongest) text += "," + std::to_string(static_cast<Index>(heads(r, key)));
        text += ending;
      }
      output.write(text);
    }
    if (output.failed()) return output.commit();
  }
  return Done{};
}

std::vector<Lines> lines_of(const Trace& trace, const ExportOptions& options) {
  std::vector<Lines> all;
  for (const StackNames& names : stacks_of(trace, options)) {
    std::vector<std::string> places;
    const Index heads = trace.num_heads(names.stack), layers = trace.num_layers(names.stack);
    for (const HeadRef& head : options.only)
      places.push_back(std::to_string(head.layer) + "," + std::to_string(head.head));
    for (Index i = 0; options.only.empty() && i < layers * heads; ++i)
      places.push_back(std::to_string(i / heads) + "," + std::to_string(i % heads));
    all.push_back({names.label, attentions_of(trace, names, options), std::move(places),
                   exported_tokens(trace.query_tokens(names.stack), options.special),
                   exported_tokens(trace.key_tokens(names.stack), options.special)});
  }
  return all;
}

/// In place of a layer or head that was summed up stands how: `mean`.
std::vector<Lines> lines_of(const std::vector<ReducedAttention>& reduced) {
  std::vector<Lines> all;
  for (const ReducedAttention& one : reduced) {
    const Reduction& by = one.maps->of.by;
    const bool rolled = by.by == ReduceBy::rollout;
    const auto place = [&](bool summed, Index number) {
      return summed ? std::string(name_in(kReduceNames, by.by)) : std::to_string(number);
    };
    Lines& lines = all.emplace_back(Lines{one.names.label,
                                          reduced_array(one),
                                          {},
                                          {.text = {}, .tokens = one.maps->rows()},
                                          {.text = {}, .tokens = one.maps->columns()}});
    for (const auto& part : one.maps->parts)
      lines.places.push_back(place(by.layers, part.front().layer) + "," + place(by.heads || rolled, part.front().head));
    if (by.by == ReduceBy::strongest) lines.strongest = reduced_array(one, true);
  }
  return all;
}

/// `stack,layer,head,query,key,query_token,key_token,weight`, the stack being Self, or Encoder, Decoder, Cross; for
/// several traces a last column `sentence` counts them; before it stands `strongest` where that was asked for. Tokens
/// that are left out are not counted either.
Status write_csv(const std::vector<std::shared_ptr<const Trace>>& traces, const ExportOptions& options, Output& output,
                 Progress& progress) {
  std::size_t total = 0;
  for (const auto& trace : traces) total += num_elements(attention_arrays(*trace, options));
  Work work(progress, total);
  const bool batch = traces.size() > 1;
  const bool strongest = options.reduce && options.reduce->by == ReduceBy::strongest;
  output.write(std::string("stack,layer,head,query,key,query_token,key_token,weight") +
               (strongest ? ",strongest" : ""));
  output.write(batch && !(options.reduce && options.reduce->sentences) ? ",sentence\n" : "\n");
  if (options.reduce)
    for (const auto& [prefix, reduced] : TRY(reduced_sentences(traces, options)))
      for (const Lines& lines : lines_of(reduced))
        TRY(write_lines(lines, (prefix.empty() ? "" : "," + prefix.substr(0, prefix.size() - 1)) + "\n", output, work));
  for (std::size_t i = 0; !options.reduce && i < traces.size(); ++i) {
    for (const Lines& lines : lines_of(*traces[i], options)) {
      const auto written = write_lines(lines, batch ? "," + std::to_string(i) + "\n" : "\n", output, work);
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
  if (options.reduce) TRY(reduced_sentences(traces, options));
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
